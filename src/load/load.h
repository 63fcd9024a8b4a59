/*
 * Combines an input, a trace and a heap: see gcdumpc/dump.h.
 *
 *     dump.c            the first pass: which GC counts, types, roots, the verdict
 *     modules.c         the list of modules; types with their outer types
 *     borrowed_names.c  names of a native program from another dump
 *     merge_loads.c     merges types that are loaded several times
 *     recorded_apply.c  names that the recording holds
 *     process_memory.c  the memory of the process
 *     dump_values.c     values of objects
 *     places_from_values.c  places of references, by values
 *     places_from_maps.c    and by null maps
 *     recording.c       a copy of the recording, with names and memory added
 *     objects.c         the second pass: objects and their references
 *     process_start.c   the command line of each process of a machine
 */
#ifndef GCD_LOAD_LOAD_H
#define GCD_LOAD_LOAD_H

#include <string.h>

#include <gcdumpc/dump.h>
#include <gcdumpc/graph.h>

#include "heap/heap.h"

/* Command lines of processes, by process id. */
struct load_process_start {
    const struct gcd_alloc *alloc;
    struct gcd_textpool text;
    const char **lines;
    size_t count, cap;
    struct gcd_idmap by_process; /* -> index in lines */
};

struct gcd_dump {
    struct gcd_alloc alloc;
    struct gcd_limits limits;
    struct gcd_dump_options options;
    struct gcd_trace *trace;
    struct gcd_heap **heaps; /* one per process */
    size_t heap_count, heap_cap;
    struct gcd_heap *heap; /* the heap of this dump; NULL until it is closed */
    uint32_t addr_pages_left;
    uint64_t other_process; /* a process whose heap walk was ignored */
    bool has_other_process;
    struct gcd_input *input; /* for the second pass; NULL = none */
    bool closed;
    gcd_status decoded; /* gcd_dump_decoded */
    /* from an event that could not be processed: none is processed after it */
    struct gcd_error failure;
    struct gcd_error trace_error; /* how the trace ended, if badly */
    struct gcd_error input_error; /* how the input ended, if it was damaged itself */
    struct gcd_summary summary;
    const struct gcd_values *values;       /* of the recording, or OWN_VALUES; NULL = none */
    struct gcd_values *own_values;         /* that are not in the recording */
    const struct gcd_null_maps *null_maps; /* as above */
    struct gcd_null_maps *own_null_maps;
    /* where the recording has values: behind all else, from BEGIN on; 0 = elsewhere */
    struct {
        uint64_t events, begin;
    } recorded_values;
    bool has_sites;
    uint64_t last_off;  /* of the last event without values */
    bool memory_is_new; /* the memory of the process is not in the recording */
    /* used types only; a list of the summary, like roots and processes */
    struct gcd_type *types;
    uint32_t type_count;
    size_t type_cap;
    /* [type_number_count], by index into heap->types; GCD_TYPE_NONE = unused */
    uint32_t *type_number;
    size_t type_number_count;
    struct gcd_root *roots; /* [root_room] */
    size_t root_room;
    struct load_process_start started;
    struct gcd_module *modules; /* [module_room] */
    size_t module_room;
    struct gcd_process *processes; /* those with a dump */
    size_t process_count, process_cap;
};

/*
 * Two-phase read: all objects, then all references, without reading the objects twice.  After this
 * call, gcd_objects_next stores the number of references of each object, in a byte or two; after
 * its GCD_END, gcd_objects_replay delivers the objects again, with their references by
 * gcd_objects_edges.
 */
GCD_MUST_CHECK gcd_status gcd_objects_keep_for_replay(struct gcd_objects *o, struct gcd_error *err);
void gcd_objects_replay(struct gcd_objects *o);
GCD_MUST_CHECK gcd_status gcd_objects_replay_next(struct gcd_objects *o, bool *ret_has_address,
                                                  uint64_t *ret_edges, struct gcd_error *err);

/*
 * The same for a dump of which nothing is missing (gcd_objects_whole; otherwise each reference has
 * to be positioned): first all objects, at most *N at a time, and *N becomes their number; then all
 * references, in the order of their objects.  *RET_NULL: some of these objects have address 0, or
 * some references are null; the functions for single objects omit them.  GCD_END after the last;
 * errors as gcd_objects_next.
 */
bool gcd_objects_whole(const struct gcd_objects *o);
GCD_MUST_CHECK gcd_status gcd_objects_block(struct gcd_objects *o, struct gcd_object *ret,
                                            uint32_t *n, bool *ret_null, struct gcd_error *err);
/* The references are valid until the next call on O. */
GCD_MUST_CHECK gcd_status gcd_objects_edge_block(struct gcd_objects *o,
                                                 const uint64_t **ret_targets, size_t *ret_n,
                                                 bool *ret_null, struct gcd_error *err);
/* The places of the references that gcd_objects_edge_block returned last, as
 * gcd_build_placed_edges wants them; NULL = unknown. */
const uint32_t *gcd_objects_edge_places(const struct gcd_objects *o);

/* modules.c: the modules of the summary, and the module number of each type; the name of T gets the
 * outer type OUTER[N] unless N is 0. */
GCD_MUST_CHECK gcd_status load_modules(struct gcd_dump *d, struct gcd_error *err);
GCD_MUST_CHECK gcd_status load_nest(struct gcd_dump *d, struct gcd_type *t, const char *outer,
                                    size_t n, struct gcd_error *err);

/* modules.c: gives T, of a native program, its name NAME[N]; after the last one, takes back that no
 * type has a name. */
GCD_MUST_CHECK gcd_status load_name_native(struct gcd_dump *d, struct gcd_type *t, const char *name,
                                           size_t n, struct gcd_error *err);
void load_native_named(struct gcd_dump *d);

/* What the file of module M says about itself; TOKEN NULL = it has no public key. */
static inline void load_identify(struct gcd_module *m, enum gcd_module_state state,
                                 const uint8_t mvid[16], const uint8_t *token)
{
    m->state = state;
    memcpy(m->mvid, mvid, sizeof m->mvid);
    m->has_public_key = token != NULL;
    if (token != NULL)
        memcpy(m->public_key_token, token, sizeof m->public_key_token);
}

/* recorded_apply.c: names that the recording holds for its types, static variables and modules. */
GCD_MUST_CHECK gcd_status load_recorded_names(struct gcd_dump *d, struct gcd_error *err);

/* places_from_maps.c: the places of the references of NODE of G, by its null map. */
struct load_maps {
    const struct gcd_alloc *alloc;
    const struct gcd_null_maps *maps; /* NULL: there are none */
    uint32_t *slots; /* [types] of an object, or of an element, of each type of G; 0 = unknown */
    uint32_t types;
    size_t next;
};
gcd_status load_maps_init(struct load_maps *m, const struct gcd_dump *d, const struct gcd_graph *g,
                          struct gcd_error *err);
void load_maps_done(struct load_maps *m);
/* [graph_placer] */
gcd_status load_maps_place(struct load_maps *m, const struct gcd_graph *g, uint32_t node,
                           uint32_t *ret);

/* places_from_values.c: the places of references in G, made of D, from the null maps and the values
 * of D.
 * GCD_E_NOMEM, GCD_E_CANCELED. */
GCD_MUST_CHECK gcd_status load_place_references(const struct gcd_dump *d, struct gcd_graph *g,
                                                const gcd_cancel_flag *cancel,
                                                struct gcd_error *err);

/* process_start.c */
void load_process_start_init(struct load_process_start *s, const struct gcd_alloc *a,
                             uint64_t max_text_bytes);
void load_process_start_done(struct load_process_start *s);
/* Takes an event of the Windows kernel; ignores those that do not matter. */
gcd_status load_process_start_event(struct load_process_start *s, const struct gcd_event *ev,
                                    struct gcd_error *err);
/* "" when unknown. */
const char *load_process_start_line(const struct load_process_start *s, uint64_t process);

#endif
