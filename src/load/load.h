/*
 * What joins an input, a trace and a heap: see gcdumpc/dump.h.
 *
 *     dump.c            the first pass: which GC counts, types, roots, the verdict
 *     objects.c         the second one: objects and their references
 *     process_start.c   which command line each process of a machine was started with
 */
#ifndef GCD_LOAD_LOAD_H
#define GCD_LOAD_LOAD_H

#include <gcdumpc/dump.h>

#include "heap/heap.h"

#define GCD_TYPE_NONE UINT32_MAX

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
    struct gcd_heap **heaps;         /* one a process */
    size_t heap_count, heap_cap;
    struct gcd_heap *heap;           /* the one whose dump this is; NULL until it is closed */
    uint32_t addr_pages_left;
    uint64_t other_process;          /* whose heap walk was ignored */
    bool has_other_process;
    struct gcd_input *input;         /* for the second pass; NULL = none */
    bool closed;
    struct gcd_error failure;        /* of an event that could not be taken: nothing comes after it */
    struct gcd_error trace_error;    /* how the trace ended, when it ended badly */
    struct gcd_error input_error;    /* how the input ended, when it was damaged itself */
    struct gcd_dump_facts facts;
    struct gcd_verdict verdict;
    struct gcd_type *types;          /* those in use */
    uint32_t type_count;
    size_t type_cap;
    uint32_t *type_number;           /* [type_number_count], by index into heap->types; GCD_TYPE_NONE = not in use */
    size_t type_number_count;
    struct load_process_start started;
    struct gcd_dump_process *processes;  /* those with a dump */
    size_t process_count, process_cap;
};

/*
 * For who needs all objects first and then all references, and not the objects twice: the counts are kept, a byte or two an object,
 * while gcd_objects_next alone is called; after its GCD_END the objects come once more, with their references by gcd_objects_edges.
 */
GCD_MUST_CHECK gcd_status gcd_objects_keep_for_replay(struct gcd_objects *o, struct gcd_error *err);
void gcd_objects_replay(struct gcd_objects *o);
GCD_MUST_CHECK gcd_status gcd_objects_replay_next(struct gcd_objects *o, bool *ret_has_address, uint64_t *ret_edges, struct gcd_error *err);

/* process_start.c */
void load_process_start_init(struct load_process_start *s, const struct gcd_alloc *a, uint64_t max_text_bytes);
void load_process_start_done(struct load_process_start *s);
/* An event of the kernel of Windows; those that do not matter are ignored. */
gcd_status load_process_start_event(struct load_process_start *s, const struct gcd_event *ev, struct gcd_error *err);
/* "" when it is not known. */
const char *load_process_start_line(const struct load_process_start *s, uint64_t process);

#endif
