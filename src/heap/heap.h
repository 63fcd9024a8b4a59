/*
 * Turns the events of one process into a heap dump: which GC counts, what belongs to it, what is
 * missing.
 *
 *     heap_asm.c     the events, one by one: the only file that knows in which order they may come
 *     heap_walk.c    heap walks: beginning, end, which one is chosen
 *     heap_type.c    types, modules, process and runtime: accepted anywhere in the trace
 *     heap_known.c   which description of an id is valid when an id is reused
 *     heap_pause.c   how long the process was paused
 *     heap_runs.c    which references belong to which object when events are missing
 *     heap_loss.c    the verdict
 *     heap_addr.c    a set of object addresses in bounded memory
 *     heap_recorded.c  what gcdumpc added to the recording
 *     heap_values.c  values among it
 *     heap_maps.c    null maps among it
 */
#ifndef GCD_HEAP_HEAP_H
#define GCD_HEAP_HEAP_H

#include <gcdumpc/dump.h>
#include <gcdumpc/event.h>

#include "base/container.h"
#include "base/idmap.h"
#include "base/text.h"
#include "clr/clr_gc.h"
#include "recorded/recorded_names.h"
#include "values/null_maps.h"
#include "values/values.h"

/* The bulk events with an index: 0, 1, 2 … per kind and walk. */
enum heap_bulk { HEAP_ROOTS, HEAP_DEPENDENTS, HEAP_NODES, HEAP_EDGES, HEAP_BULKS };

struct heap_index {
    uint32_t next; /* expected number */
    uint64_t events, missing;
};

/* Events of one kind with consecutive numbers; at least one event is missing before the next run.
 */
struct heap_run {
    uint32_t index; /* of the first event */
    uint32_t events;
    /* nothing is missing between the start of the walk and its last event */
    bool sure;
    uint64_t items; /* records of its events */
    uint64_t edges; /* of objects: the sum of their counts, saturating */
    /* position of its first reference in the sequence of all references, HEAP_UNPLACED = not
     * certain */
    uint64_t start;
};
#define HEAP_UNPLACED UINT64_MAX

/* Runs beyond this number are combined; 8 MiB. */
#define HEAP_RUNS_MAX ((size_t)1 << 18)

/* All events of one kind; the runs partition its records in trace order. */
struct heap_runs {
    struct heap_run *items;
    size_t count, cap;
    uint32_t last_index, last_items; /* of the last event */
    uint32_t full;                   /* records of a full event */
    bool uneven;                     /* an event before the last is not full */
    bool full_seen;
    bool disordered; /* numbers step back, or there are too many runs */
    /* a gap that the thread's numbers do not show, although they must */
    bool doubtful;
    uint64_t last_gaps; /* before the last event */
};
enum { HEAP_RUNS_NODES, HEAP_RUNS_EDGES, HEAP_RUNS_KINDS };

/* What a walk has lost; see heap_runs.c. */
struct heap_loss {
    uint64_t objects, edges; /* not received: exactly, or at least */
    bool objects_exact, edges_exact;
    uint64_t edges_dropped; /* received, but their owner is lost or uncertain */
};

struct heap_gc_start {
    struct gcd_clr_gc_start gc;
    int64_t time_ns;
};

/* Number of GCStart events kept: at most a few from other threads come between a GCStart and its
 * walk. */
#define HEAP_GC_STARTS 256u

/* Walks kept with all details, including 16 MiB of addresses each, until the choice is clear. */
#define HEAP_DETAILED 3u

enum heap_walk_state {
    HEAP_WALK_UNDECIDED, /* its GCStart has not been seen yet */
    HEAP_WALK_CONFIRMED, /* inside a blocking GC of generation 2 */
    HEAP_WALK_OTHER      /* inside another GC */
};

/* A GCSuspendEEBegin or a GCRestartEEEnd. */
struct heap_pause_mark {
    int64_t time_ns;
    uint64_t thread;
    bool restart;
};

/* A power of two; 16 KiB. */
#define HEAP_RECENT_TYPES 4096u

struct heap_type_count {
    uint64_t id; /* of the type, once it has objects */
    uint64_t objects, bytes, edges;
    uint64_t size_bits; /* all sizes of objects, by OR */
};

struct heap_addrs;

/*
 * When an id is known to have had a description.  Ids are addresses: after an unload, something
 * else can get the same id (see README.md). Each item of the tables below begins with this struct.
 * The id leads to the item with the latest description; earlier ones are in further items of the
 * table.
 */
struct heap_known {
    int64_t first_ns, last_ns; /* of the events with this description */
    uint64_t text_hash;        /* of its name, for a type together with its module; 0 = none */
    uint32_t before;           /* another description of the same id; GCD_IDMAP_NONE = none */
    bool copy;                 /* one of the further items */
    bool listed;               /* a rundown names it */
    bool whole;                /* of an assembly, after heap_bind: its module is known, too */
    bool loaded, unloaded;     /* the first event reports it as new, the last as gone */
    bool reused;               /* of a module: one of its types was replaced after the walk */
    bool doubtful;             /* after heap_bind: another description may be the valid one */
};

/* What an event says about the id besides its description. */
enum heap_moment { HEAP_SEEN, HEAP_LOADED, HEAP_UNLOADED };

struct heap_type {
    struct heap_known known;
    struct gcd_type type; /* the sums unused */
    /* id of the element type of an array, or of the target type of a pointer; 0 = none */
    uint64_t element;
    size_t first_parameter; /* ids of its type arguments, in heap.parameters */
    uint32_t parameter_count;
    /* its name begins with the name of the definition that has its token; false for arrays and
     * pointers */
    bool definition;
};

struct heap_module {
    struct heap_known known;
    const char *path; /* "" for a module created in memory */
    const char *pdb_path;
    uint64_t id, assembly;
    uint32_t flags, pdb_age;
    uint8_t pdb_guid[16];
};

struct heap_assembly {
    struct heap_known known;
    const char *name; /* simple */
};

/* The names that gcdumpc added to the recording for one heap walk; see src/recorded. */
struct heap_batch {
    struct recorded_start start;
    size_t first[RECORDED_KINDS];  /* its items in the lists of struct heap_recorded */
    size_t counts[RECORDED_KINDS]; /* items received */
};

struct heap_recorded_item {
    uint64_t id; /* as in struct recorded_item, like the texts */
    const char *text[3];
    uint8_t mvid[16], public_key_token[8];
    bool has_public_key;
};

struct heap_recorded {
    struct heap_batch *batches;
    size_t batch_count, batch_cap;
    struct recorded_memory *memories;
    size_t memory_count, memory_cap;
    struct gcd_image_facts image; /* of this walk: */
    uint32_t image_gc, image_walk;
    struct heap_recorded_item *items[RECORDED_KINDS];
    size_t counts[RECORDED_KINDS], caps[RECORDED_KINDS];
    uint64_t damaged; /* events that could not be read, or that belong to no batch */
};

/* The values that the recording has last; see src/values. */
struct heap_values {
    struct recorded_values start; /* kind 0 = there are none */
    struct recorded_values_end end;
    uint32_t parts;            /* received, in order */
    bool whole;                /* up to their end, and not damaged */
    struct gcd_values *values; /* NULL: nobody wants them */
};

/* Null maps of the recording, the last ones; see src/values. */
struct heap_maps {
    struct recorded_null_maps start;
    struct recorded_null_maps_end end;
    struct null_maps_reading reading; /* .m NULL: there are none, or they are damaged */
    bool begun, whole;
};

/* One heap walk: the bulk events written by one thread up to a GCEnd. */
struct heap_walk {
    uint64_t thread;
    unsigned number; /* 1 = the first walk with objects; 0 = none yet */
    int64_t first_ns, last_ns;
    uint64_t first_off, last_off; /* payload offsets of its first and last bulk event */
    bool closed;                  /* GCEnd seen */
    /* after heap_finish: inside its own GC from start to end, and in order */
    bool whole;
    bool light; /* counts only: not in heap.detailed */
    enum heap_walk_state state;
    uint32_t gc_number; /* set when closed, or when a GCStart was found */
    bool have_start;
    struct heap_gc_start start;
    int64_t end_ns;
    uint32_t heaps;
    struct heap_index index[HEAP_BULKS];
    uint64_t events; /* bulk events */
    uint64_t static_events;
    int64_t range_ns; /* of the last range before it */
    /* missing events of its thread between them, according to the thread's numbers */
    uint64_t gaps;
    bool disorder; /* some events are out of place */
    /* events among those of the walk that are not of it; since its last bulk event */
    uint64_t strangers, others;
    uint64_t objects, bytes, edges, edges_declared, damaged;
    uint64_t nowhere;      /* objects without an address */
    struct heap_loss loss; /* after heap_runs_place */
    uint64_t root_counts[GCD_ROOT_KINDS], weak_roots, pinned_roots, null_roots, rcws;

    /* details; freed when another walk is chosen */
    struct heap_type_count *counts; /* by index into heap.types */
    size_t counts_cap;
    uint32_t *used_types; /* in order of first use */
    size_t used_count, used_cap;
    /* .type of a static variable = index into heap.types until the dump is built */
    struct gcd_root *roots;
    size_t root_count, root_cap;
    struct gcd_dependent *dependent_items;
    size_t dependent_count, dependent_cap;
    struct gcd_range *range_items;
    size_t range_count, range_cap;
    struct heap_addrs *addrs;
    struct heap_runs runs[HEAP_RUNS_KINDS];
};

/* Strange events of a thread since its last event of the runtime; see heap_stranger. */
struct heap_strangers {
    uint64_t thread, count;
};
/* Threads remembered; more share a place, and the last one has it. */
#define HEAP_STRANGERS 64u

struct gcd_heap {
    struct gcd_alloc alloc;
    struct gcd_limits limits;
    bool check_references;
    const struct gcd_trace *trace; /* that may have sums instead of objects; NULL = it has none */
    /* number of the requested walk; 0 = the first one inside the right GC */
    unsigned wanted;
    uint64_t process;
    unsigned ptr_bytes;        /* of its events; one trace can have processes of both kinds */
    uint32_t *addr_pages_left; /* shared by the heaps of all processes */

    struct gcd_textpool text;
    struct heap_type *types; /* in order of appearance */
    size_t type_count, type_cap;
    struct gcd_idmap type_by_id;
    uint64_t *parameters; /* [parameter_count] of all types */
    size_t parameter_count, parameter_cap;
    uint32_t recent_types[HEAP_RECENT_TYPES]; /* by some bits of the id: the type last counted */
    struct heap_module *modules;
    size_t module_count, module_cap;
    struct gcd_idmap module_by_id;
    struct heap_assembly *assemblies;
    size_t assembly_count, assembly_cap;
    struct gcd_idmap assembly_by_id;
    struct heap_recorded recorded;
    bool wants_values;
    struct heap_values values;
    struct heap_maps maps;
    const char *command_line, *os, *arch, *runtime_version;

    struct heap_gc_start starts[HEAP_GC_STARTS];
    size_t start_count; /* total; the last HEAP_GC_STARTS are kept */
    uint32_t last_heaps;
    int64_t last_heaps_ns;
    int64_t last_range_ns; /* of the layout before a GC */

    struct heap_walk **walks;
    size_t walk_count, walk_cap;
    struct gcd_idmap open_by_thread;           /* thread -> index of its open walk */
    struct heap_walk *detailed[HEAP_DETAILED]; /* in order of their start */
    size_t detailed_count;
    unsigned with_objects;               /* walks that have objects */
    struct heap_walk overflow;           /* counts for walks beyond the maximum */
    struct heap_walk *chosen;            /* chosen as early as possible, final at the end */
    bool whole;                          /* a walk with objects has arrived up to its end */
    struct heap_pause_mark *pause_marks; /* in file order until heap_pauses */
    size_t pause_count, pause_cap;
    uint64_t damaged_outside; /* events outside any walk that could not be decoded */
    uint64_t misdescribed;    /* events whose description contradicts itself */
    /* after heap_bind: modules and assemblies whose other half a rundown does not list */
    uint64_t halves;
    bool in_rundown; /* of RUNDOWN_THREAD */
    uint64_t rundown_thread;
    uint64_t rundown_strangers; /* events of other providers meanwhile */
    struct heap_strangers before[HEAP_STRANGERS];
    /* after heap_finish: bulk events outside complete walks, without those of HEAP.CHOSEN */
    uint64_t outside;
};

gcd_status heap_new(const struct gcd_dump_options *options, uint64_t process,
                    uint32_t *addr_pages_left, struct gcd_heap **ret, struct gcd_error *err);
void heap_free(struct gcd_heap *h);

/* Takes one event; ignores those that do not matter.  Keeps no borrowed views of EV. */
gcd_status heap_event(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err);
/* EV is of a provider that the heap does not need. */
void heap_stranger(struct gcd_heap *h, const struct gcd_event *ev);
/* There is a gap before EV, which may be of any provider. */
void heap_gap(struct gcd_heap *h, const struct gcd_event *ev);

static inline struct heap_strangers *heap_strangers_of(struct gcd_heap *h, uint64_t thread)
{
    return &h->before[(thread ^ thread >> 12) % HEAP_STRANGERS];
}

/* No more events: makes the final choice.  heap.chosen is NULL when no walk has objects, or the
 * requested one is missing. */
void heap_finish(struct gcd_heap *h);

/* heap_walk.c */
/* The walk of a bulk event.  KIND and INDEX if it has them, otherwise HEAP_BULKS. */
gcd_status heap_walk_for(struct gcd_heap *h, const struct gcd_event *ev, enum heap_bulk kind,
                         uint32_t index, struct heap_walk **ret, struct gcd_error *err);
/* W has received its first objects. */
void heap_walk_has_objects(struct gcd_heap *h, struct heap_walk *w);
/* The number of walks with objects inside a blocking GC of generation 2. */
unsigned heap_forced_walks(const struct gcd_heap *h);
void heap_gc_start(struct gcd_heap *h, const struct gcd_clr_gc_start *gc, int64_t time_ns);
void heap_gc_end(struct gcd_heap *h, const struct gcd_event *ev, uint32_t number);
void heap_walk_free(struct gcd_heap *h, struct heap_walk *w);
void heap_walk_free_roots(struct gcd_heap *h, struct heap_walk *w);

/* Ids are addresses of method tables, which are multiples of 8 and at least 64 bytes apart. */
static inline size_t heap_recent_place(uint64_t id)
{
    return (size_t)(id >> 3 ^ id >> 15) % HEAP_RECENT_TYPES;
}

/* The index of the type ID if it has objects in W and was the last one looked up in its slot; else
 * GCD_IDMAP_NONE. */
static inline uint32_t heap_recent_type(const struct gcd_heap *h, const struct heap_walk *w,
                                        uint64_t id)
{
    uint32_t i = h->recent_types[heap_recent_place(id)];
    return i < w->counts_cap && w->counts[i].id == id && w->counts[i].objects > 0 ? i
                                                                                  : GCD_IDMAP_NONE;
}

/* heap_type.c */
/* The index of the type ID, which is created if new. */
gcd_status heap_type_index(struct gcd_heap *h, uint64_t id, uint32_t *ret, struct gcd_error *err);
gcd_status heap_bulk_type(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err);
gcd_status heap_module(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err);
gcd_status heap_assembly(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err);
/* The path of a module, or the name of its assembly if it has no path; "" when unknown.  After
 * heap_bind, like the next two functions. */
const char *heap_module_path(const struct gcd_heap *h, uint64_t module);
/* The simple name of an assembly; "" when unknown. */
const char *heap_assembly_name(const struct gcd_heap *h, uint64_t assembly);
/* The element type of type ID; 0 = unknown, or there were two types with this id. */
uint8_t heap_element_type(const struct gcd_heap *h, uint64_t id);
/* May the name or module of T belong to another type? */
bool heap_type_doubtful(const struct gcd_heap *h, const struct heap_type *t);
gcd_status heap_runtime_info(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err);
gcd_status heap_process_info(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err);
/* The process name derived from its command line, see the definition.  In the pool, "" when
 * unknown. */
gcd_status heap_process_name(struct gcd_heap *h, const char **ret, struct gcd_error *err);
/* Stores a text; failures set ERR. */
gcd_status heap_text_utf16(struct gcd_heap *h, const uint8_t *p, size_t units, const char **ret,
                           struct gcd_error *err);
gcd_status heap_text(struct gcd_heap *h, const char *s, size_t n, const char **ret,
                     struct gcd_error *err);

/* heap_known.c */
/* Descriptions of an id among ITEMS, which begin with a struct heap_known each; is one of them the
 * DESCRIPTION of an event? */
struct heap_known_query {
    const char *items;
    size_t item_bytes;
    bool (*is_same)(const struct heap_known *k, const void *description);
    const void *description;
};

/*
 * Among the items of the id of item I, the one that an event at NS repeats; GCD_IDMAP_NONE if the
 * event begins a new one.  Loads and unloads come from two threads, whose events have any order in
 * the file, and a description can recur after another one; so this is the item that no other
 * description separates from NS.
 */
uint32_t heap_known_find(const struct heap_known_query *q, uint32_t i, int64_t ns);
void heap_known_begin(struct heap_known *k, int64_t ns, uint64_t text_hash,
                      enum heap_moment moment);
/* The same description again, see heap_known_find. */
void heap_known_extend(struct heap_known *k, int64_t ns, enum heap_moment moment);
/* The chosen walk is known: binds each id to the description that is valid for it. */
void heap_bind(struct gcd_heap *h);

/* heap_recorded.c */
/* Damage among them: events, and the batch of the chosen walk. */
uint64_t heap_recorded_damaged(const struct gcd_heap *h);
gcd_status heap_recorded_event(struct gcd_heap *h, const struct gcd_event *ev,
                               struct gcd_error *err);
void heap_recorded_free(struct gcd_heap *h);
/* The names of the chosen walk; NULL: none.  *RET_WHOLE: all of them have arrived. */
const struct heap_batch *heap_recorded_batch(const struct gcd_heap *h, bool *ret_whole);
/* The memory of the process at the chosen walk; NULL = not recorded. */
const struct gcd_process_memory *heap_recorded_memory(const struct gcd_heap *h);
/* The memory image that the chosen walk was made from. */
struct gcd_image_facts heap_recorded_image(const struct gcd_heap *h);

/* heap_values.c */
gcd_status heap_values_event(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err);
void heap_values_free(struct gcd_heap *h);
/* What is recorded of the values of the chosen walk. */
struct gcd_values_facts heap_values_facts(const struct gcd_heap *h);
/* The values of the chosen walk; NULL = none, or nobody wants them.  In order. */
gcd_status heap_values_of(struct gcd_heap *h, const struct gcd_values **ret, struct gcd_error *err);

/* heap_maps.c */
gcd_status heap_maps_event(struct gcd_heap *h, const struct gcd_event *ev, struct gcd_error *err);
void heap_maps_free(struct gcd_heap *h);
/* The null maps of the chosen walk; NULL = none.  In order. */
gcd_status heap_maps_of(struct gcd_heap *h, const struct gcd_null_maps **ret,
                        struct gcd_error *err);

/* heap_pause.c */
gcd_status heap_pause_mark(struct gcd_heap *h, const struct gcd_event *ev, bool restart,
                           struct gcd_error *err);
struct heap_pauses {
    uint64_t walk_ns;         /* the pause of the GC at GC_START_NS; 0 = not seen */
    uint64_t count, total_ns; /* of all pauses */
};
void heap_pauses(struct gcd_heap *h, int64_t gc_start_ns, struct heap_pauses *ret);

/* heap_runs.c */
/* Adds an event; EDGES: for objects the sum of their counts; GAPS: of the walk so far; SURE:
 * nothing of the walk is missing so far.  False when out of memory. */
bool heap_runs_add(const struct gcd_alloc *a, struct heap_runs *r, const struct gcd_clr_bulk *b,
                   uint64_t edges, uint64_t gaps, bool sure);
void heap_runs_free(const struct gcd_alloc *a, struct heap_runs *r);
/* How much of what was received certainly belongs to one walk. */
enum heap_certain {
    HEAP_CERTAIN_NOTHING,
    HEAP_CERTAIN_DOUBTFUL, /* as the next, but only if its sums are equal */
    HEAP_CERTAIN_FRONT,    /* up to the first missing event */
    HEAP_CERTAIN_ALL,      /* its GCStart and GCEnd are present, and everything is in order */
    HEAP_CERTAIN_HOLES     /* also, only the index numbers show losses */
};
/* All events have arrived: places W's runs and calculates its loss. */
void heap_runs_place(struct heap_walk *w, enum heap_certain certain);

/*
 * heap_loss.c, on the chosen walk.  THREAD_CLOSED: result of gcd_trace_thread_closed for its
 * thread.  DAMAGE_TEXT: of the trace, used if its end was damaged.  INPUT_DAMAGE_TEXT: NULL when
 * the input around the trace was intact.
 */
void heap_verdict(const struct gcd_heap *h, const struct gcd_trace_info *trace, bool thread_closed,
                  const char *damage_text, const char *input_damage_text, struct gcd_verdict *ret);

/*
 * heap_addr.c: see gcd_dump_knows.  A set takes pages of 16 KiB, at most 1024, while *PAGES_LEFT
 * allows; all sets of a trace share that budget.  HEAP_ADDR_PAGES are enough for three heaps of 1
 * GiB.
 */
#define HEAP_ADDR_PAGES UINT32_C(3072)
struct heap_addrs *heap_addrs_new(const struct gcd_alloc *a, unsigned ptr_bytes,
                                  uint32_t *pages_left);
void heap_addrs_free(struct heap_addrs *s, const struct gcd_alloc *a);
bool heap_addrs_add(struct heap_addrs *s, const struct gcd_alloc *a, uint64_t address);
bool heap_addrs_has(const struct heap_addrs *s, uint64_t address);
/* How many of N addresses are missing; looked up together, so that memory accesses overlap. */
uint64_t heap_addrs_missing(const struct heap_addrs *s, const uint64_t *addresses, size_t n);
bool heap_addrs_exact(const struct heap_addrs *s);

#endif
