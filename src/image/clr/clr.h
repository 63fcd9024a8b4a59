/*
 * The .NET runtime in a memory image: its heap, types and roots.
 *
 *     clr_runtime.c   finds the runtime, its version and what its collector publishes
 *     clr_types.c     method tables: sizes, references, what they are instances of
 *     clr_instances.c  instances of generic types without objects
 *     clr_names.c     names of types and static fields, from the metadata in the image
 *     clr_regions.c   the memory of the heap
 *     clr_objects.c   objects and their references
 *     clr_roots.c     handles, finalizer queue, thread-static variables
 *     clr_stacks.c    stacks: words, and the frames of calls
 *     clr_frames.c    the methods of these calls;
 *     clr_precompiled.c  those whose code was compiled beforehand;
 *     clr_code_files.c  that code, and programs of one file, from files, if the image leaves it out
 *     clr_threads.c   threads and their names
 *     clr_blocked.c   which of them wait for a lock or a task
 *     clr_statics.c   static variables with class and field
 *     clr_live.c      what the roots reach
 *     clr_sum.c       how many objects that are, of each type
 *     clr_facts.c     how the process ended, and what is missing
 *     clr_values.c    texts of strings, hashes of arrays
 *
 * Facts are from dotnet/runtime and were measured on .NET 8 to 11, linux-x64, against ClrMD.
 */
#ifndef GCD_IMAGE_CLR_H
#define GCD_IMAGE_CLR_H

#include <gcdumpc/context.h>
#include <gcdumpc/unstable/full_names.h>
#include <gcdumpc/unstable/values.h>

#include "base/bits.h"
#include "base/container.h"
#include "base/idmap.h"
#include "image/space/image.h"

#define CLR_NONE        UINT32_MAX
#define CLR_KNOWN_TYPES 1024u /* a power of two */
/* Of memory in pieces of this size, whose regions are found at once; the collector aligns its
 * regions to it. */
#define CLR_PIECE_SHIFT 22
#define CLR_PIECES      1024u /* a power of two */
#define CLR_STRING_TEXT 12u   /* of a System.String: its UTF-16, with a final zero unit */

#define CLR_METHOD_BYTES 512u /* of the name of a method; longer ones are cut */

/* Offsets that differ between versions; 0 where noted = not there. */
struct clr_layout {
    unsigned major;
    uint32_t handle_types; /* internal ones included */
    uint32_t thread_list;  /* ThreadStore: the first link */
    uint32_t thread_link;  /* Thread: its link */
    bool list_of_threads;  /* links point at the thread, not at its link */
    uint32_t thread_os_id;
    uint32_t thread_stack_base; /* the limit comes after it */
    uint32_t thread_last_thrown;
    uint32_t thread_locals;  /* Thread: RuntimeThreadLocals; 0: the context is in Thread */
    uint32_t alloc_context;  /* in RuntimeThreadLocals, or in Thread */
    uint32_t thread_statics; /* Thread: ThreadLocalData; 0 = none */
    uint32_t module_base;    /* 0 = none: by PEAssembly */
    uint32_t module_path;    /* 0 = none: by PEAssembly */
    uint32_t module_assembly;
    uint32_t assembly_module;    /* Assembly: the way back */
    bool list_of_assemblies;     /* of an AppDomain; otherwise of what begins with its Assembly */
    uint32_t module_pe;          /* PEAssembly, if these two are 0 */
    uint32_t module_allocator;   /* LoaderAllocator; 0 = unknown */
    uint32_t module_types;       /* TypeDefToMethodTableMap */
    uint32_t module_instances;   /* EETypeHashTable of generic types; 0 = unknown */
    uint32_t module_statics;     /* DomainLocalModule (8); 0: statics are beside the method table */
    uint32_t module_dynamic;     /* metadata of a dynamic assembly; 0 = unknown */
    uint32_t module_precompiled; /* ReadyToRunInfo */
    uint32_t precompiled_map;    /* in it: buckets of the methods by their code; 0 = unknown */
    uint32_t allocator_handle;   /* LoaderAllocator: handle of its object; 0 = found by search */
};

/* One series of references in an object: COUNT from OFFSET on. */
struct clr_series {
    uint64_t offset;
    uint64_t bytes; /* without the size of the object, modulo 2^64 */
};
/* One group of references in an array of structs. */
struct clr_group {
    uint32_t references, skip_bytes;
};

struct clr_type {
    uint64_t id; /* of its method table */
    uint64_t module, canonical, parent, element;
    uint64_t loader_allocator; /* object; 0 = not collectible */
    uint32_t flags, component_bytes, token;
    uint32_t base_bytes;          /* 0 = it has no objects: an interface */
    uint32_t rank;                /* 0 = not an array */
    bool known;                   /* there is a method table at ID */
    bool references;              /* has any */
    bool collectible;             /* it can be unloaded */
    bool calls_back;              /* a timer or a registration; from clr_mark on */
    uint8_t element_type;         /* CorElementType; after clr_find_allocators */
    bool is_free;                 /* a gap between objects */
    bool repeated;                /* GROUPS repeat; otherwise SERIES */
    uint32_t first, count;        /* of clr.series or clr.groups */
    uint64_t array_offset;        /* repeated: of the first group */
    uint32_t args, arg_count;     /* in clr.args */
    struct gcd_type_sum sum;      /* after clr_walk of all its objects; clr_sum */
    const char *raw_name, *outer; /* as the runtime names it; of a nested type its outer types */
    const char *noted;            /* gcd_type.events */
};

static inline bool clr_is_value_type(const struct clr_type *t)
{
    return (t->flags & UINT32_C(0x000c0000)) == UINT32_C(0x00040000);
}

struct clr_region {
    uint64_t start, end; /* of the objects; START is the first: gcd_sort_by_u64 */
    uint64_t reserved_end;
    uint8_t generation;       /* 0 to 2, 3 = large objects, 4 = pinned; CLR_FROZEN */
    struct clr_block *blocks; /* of clr.blocks; NULL before clr_walk */
    size_t first_mark;
    bool is_dense; /* all of it has marks */
};
#define CLR_FROZEN 5u

/* Marks of 512 bytes of the heap in which an object begins, a bit for each 8 of them: what is
 * alive, and what needs no visit: it has no references, or had its visit. */
struct clr_mark {
    uint64_t live, done;
};
#define CLR_MARK_BYTES  512u
#define CLR_BLOCK_MARKS 64u
#define CLR_BLOCK_BYTES (CLR_MARK_BYTES * CLR_BLOCK_MARKS)
/* Which parts of 32 KiB of a region have marks; these lie one behind the other. */
struct clr_block {
    uint64_t first; /* of clr.marks; ascending, also where the block has none */
    uint64_t has;
};
/* The next mark of a region. */
struct clr_mark_cursor {
    size_t block, mark;
    uint64_t has; /* left of the block before */
};

struct clr_module {
    uint64_t id, base;
    const char *path, *assembly;
    uint8_t mvid[16], token[8];
    bool has_token, named; /* its metadata could be read */
    bool is_dynamic;       /* it was generated at run time */
    uint32_t used;         /* types that need it for their names */
    bool replaced;         /* only files of other builds were found */
};

/* The file of a program that contains its assemblies, as far as an image lacks them: modules were
 * found in this candidate (gcd_module_files) for PATH to be the build that was loaded. */
struct clr_program {
    const char *path; /* NULL = none was */
    unsigned candidate;
    bool several; /* some in others: it proves nothing */
};

enum clr_root_kind { CLR_ROOT_STACK, CLR_ROOT_FINALIZER, CLR_ROOT_HANDLE };
#define CLR_ROOT_WEAK 2u /* GCRootFlags */

struct clr_root {
    /* ID: address of the handle or of the slot; of a stack, its Thread, and after clr_tell_frames
     * the slot of the frame, if its method has a name */
    uint64_t object, id;
    uint32_t flags;  /* GCRootFlags */
    uint8_t kind;    /* enum clr_root_kind */
    bool guess;      /* a word of a stack, perhaps left over from a call that has returned */
    uint32_t thread; /* a guess: of clr.threads */
    uint32_t frame;  /* a guess: of clr.frames, if that one is of its thread */
};
struct clr_dependent {
    uint64_t key, value, id;
};
struct clr_static {
    uint64_t object, address;
    const char *field, *class_name;
    const char *spelled; /* the class, in C# */
    uint32_t type;       /* instance of a generic class that declares it, else CLR_NONE */
};
/* A thread whose stack was read. */
struct clr_thread {
    uint64_t thread; /* address of its Thread */
    uint64_t object; /* the System.Threading.Thread; 0 = none */
    uint32_t id;     /* as in struct image_thread, like the next one */
    char kernel_name[IMAGE_THREAD_NAME_BYTES];
    const char *name; /* that the program gave it; "" = none, NULL = not yet read */
    uint64_t statics; /* id of the root with its thread-static variables; 0 = none */
    bool idle;        /* of the thread pool, without work; from clr_tell_frames on */
};
/* A call on a stack.  Those of a thread come from the inside out. */
struct clr_frame {
    uint64_t slot, code;   /* SLOT has the return address CODE; the frame begins above it */
    uint64_t link;         /* the frame pointer of its caller: below its slot */
    uint32_t next, chain;  /* the frame at LINK, and how many there are from here on */
    uint64_t module;       /* of the method; 0 = unknown */
    uint32_t type, method; /* without the kind of the tokens */
    uint32_t thread;       /* of clr.threads */
    uint32_t named;        /* the first from this one outwards that has a name, or CLR_NONE */
    bool keeps_pointer;    /* the method has a frame pointer, LINK: its frame ends there */
    uint32_t bytes;        /* else of its frame, up to its return address; CLR_NONE = unknown */
    bool is_hidden;        /* found by BYTES of the one before: frame pointers leave it out */
    bool is_linked;        /* leads to the next frame: no call is hidden between */
    const char *name;      /* of the method: "Shop.Pump.Run"; or NULL */
    bool is_framework;     /* the module of NAME */
    uint8_t saved;         /* registers of its caller that the method saves */
    bool holds;            /* a root is in it */
};
/* A word of a stack that may point into an object. */
struct clr_stack_word {
    uint64_t word;   /* the first: gcd_sort_by_u64 */
    uint64_t at;     /* its address; 0 = in a register */
    uint32_t thread; /* of clr.threads */
    uint32_t frame;  /* of clr.frames, if that one is of this thread */
};
/* Part of an allocation context that has no objects yet. */
struct clr_hole {
    uint64_t start, end; /* START is the first: gcd_sort_by_u64 */
};

/* Regions in which a walk met something that is no object, and their bytes from there on. */
struct clr_lost {
    uint64_t regions, bytes;
};

/* What could not be read; each is one line of 'info'. */
struct clr_gaps {
    uint64_t broken_regions, lost_bytes; /* before the objects were read */
    uint64_t dangling;                   /* references to no object */
    uint64_t unread_tables;              /* handle tables */
    uint64_t unread_threads, unread_modules;
    uint64_t unread_assemblies; /* of which no object was met */
    bool unread_code;           /* of calls */
    bool no_assembly_list;      /* such assemblies cannot be found */
    bool collecting;            /* a garbage collection was under way */
    bool in_background;         /* one beside the program: most of it harms nothing */
};

struct clr {
    struct gcd_alloc alloc;
    struct image *image;
    const struct gcd_context *context;
    struct clr_layout layout;
    uint64_t dac;         /* g_dacTable */
    unsigned dac_index;   /* of GcDacVars in it */
    uint64_t gc;          /* GcDacVars */
    uint64_t module_base; /* of the runtime */
    const char *runtime_path;
    bool server;
    bool with_dead; /* the events have all objects */
    const struct gcd_module_files
        *files;                       /* for modules without metadata in the image; may be NULL */
    struct gcd_values_options values; /* that the events have */
    uint32_t heaps;

    struct clr_type *types;
    size_t type_count, type_cap;
    size_t told_types; /* by events; those met later only say where parts of structs lie */
    struct gcd_idmap type_by_id;
    /* direct-mapped: types of objects met before */
    struct clr_known_type {
        uint64_t id;
        uint32_t type, base_bytes, component_bytes; /* BASE_BYTES 0: it is of none */
        bool is_free, is_leaf;
    } known_types[CLR_KNOWN_TYPES];
    struct clr_series *series;
    size_t series_count, series_cap;
    struct clr_group *groups;
    size_t group_count, group_cap;
    uint64_t *args; /* type handles */
    size_t arg_count, arg_cap;

    struct clr_region *regions; /* by address */
    size_t region_count, region_cap;
    /* [bucket_count]: how many regions begin before the end of each part of the address space from
     * the first region on */
    uint32_t *buckets;
    size_t bucket_count;
    unsigned bucket_shift;
    uint32_t pieces[CLR_PIECES]; /* direct-mapped: a region in such a piece */
    struct clr_mark *marks;      /* [mark_count] of all regions, one behind the other */
    uint64_t *starts;            /* [mark_count] the same bits: where an object begins */
    size_t mark_count, mark_cap;
    struct clr_block *blocks; /* [block_count] the same */
    size_t block_count;
    struct clr_hole *holes; /* by address */
    size_t hole_count, hole_cap;
    struct clr_module *modules;
    size_t module_count, module_cap;
    struct gcd_idmap module_by_id;
    struct clr_root *roots;
    size_t root_count, root_cap;
    struct clr_dependent *dependents;
    size_t dependent_count, dependent_cap;
    struct clr_static *statics;
    size_t static_count, static_cap;
    struct clr_stack_word *stack_words; /* [stack_word_count] sorted */
    size_t stack_word_count, stack_word_cap;
    struct clr_frame *frames; /* after clr_tell_frames those that hold something */
    size_t frame_count, frame_cap;
    struct clr_program program;
    uint32_t method_lookups;            /* clr_precompiled.c */
    struct gcd_module_file *code_files; /* open: clr_code_files.c */
    size_t code_file_count, code_file_cap;
    uint32_t code_tried;      /* files that were looked for, */
    uint64_t code_compared;   /* bytes of them */
    const char *missing_code; /* the first one that was not found, or NULL */
    gcd_status code_st;       /* not GCD_OK: why that failed */
    uint32_t gap_words;       /* that were looked at for hidden calls */
    struct clr_thread *threads;
    size_t thread_count, thread_cap;
    size_t next_thread, thread_statics; /* clr_roots.c; how many of them have such a root */
    uint32_t thread_object;             /* Thread: handle of its object; 0 = not found */
    unsigned thread_searches;           /* for it, in vain */
    uint64_t sync_table;                /* of sync blocks; 0 = not found */
    unsigned sync_searches;             /* for it */
    struct gcd_textpool text;
    struct clr_gaps gaps;
    struct clr_lost walked; /* by clr_walk; the events find it again */
    bool summed;            /* clr_sum has done its part: */
    uint64_t summed_objects;
    uint64_t stop_ns; /* how long a living process was stopped; 0 = a core file */
    const char *last_thrown, *ended_by, *gap_text; /* clr_facts.c */
    const char *blocked_text;                      /* clr_blocked.c */
};

/* clr_runtime.c.  GCD_E_UNSUPPORTED with a sentence that says what the image is instead. */
gcd_status clr_open(struct clr *c, struct image *image, const struct gcd_context *context,
                    const struct gcd_alloc *alloc, struct gcd_error *err);
void clr_close(struct clr *c);

/* clr_regions.c: CLR_FORGET_REGIONS undoes CLR_FIND_REGIONS, to find them again. */
void clr_forget_regions(struct clr *c);
gcd_status clr_find_regions(struct clr *c, struct gcd_error *err);
/* The region with ADDRESS, or NULL. */
struct clr_region *clr_far_region_at(const struct clr *c, uint64_t address);
static inline struct clr_region *clr_region_at(const struct clr *c, uint64_t address)
{
    struct clr_region *r = &c->regions[c->pieces[(address >> CLR_PIECE_SHIFT) % CLR_PIECES]];
    return address - r->start < r->end - r->start ? r : clr_far_region_at(c, address);
}

/* clr_types.c: the type of a method table, read when first met; CLR_NONE if it is none, or if
 * memory is short (*RET_ST, sticky). */
uint32_t clr_type_of(struct clr *c, uint64_t method_table, gcd_status *ret_st);
/* A type handle is a method table, or a TypeDesc of a pointer type: its target, 0 = none. */
static inline bool clr_is_type_desc(uint64_t handle)
{
    return (handle & 2) != 0;
}
uint64_t clr_type_desc_target(struct clr *c, uint64_t handle);
/* The method table of a type handle: of a pointer type that of its last target; 0 = none. */
uint64_t clr_table_of(struct clr *c, uint64_t handle);
/* The class of a method table: module and token, without its kind; 0 = an array. */
void clr_definition_of(struct clr *c, uint64_t table, uint64_t *ret_module, uint32_t *ret_token);
/* clr_instances.c: adds the instances of generic types that the program has loaded.  GCD_E_NOMEM.
 */
gcd_status clr_add_instances(struct clr *c);
/* Adds element types, type arguments and base types, of which there may be no objects. */
gcd_status clr_complete_types(struct clr *c, struct gcd_error *err);

/* clr_names.c: names of all types, the modules, and their static variables. */
gcd_status clr_name_types(struct clr *c, struct gcd_error *err);
/* clr_types.c: element types, and which object each collectible type keeps alive; needs their
 * names. */
void clr_find_allocators(struct clr *c);

/* clr_objects.c: the objects of one region, in the order of their addresses. */
struct clr_scan {
    struct clr *c;
    const struct clr_region *region;
    uint64_t at;
    size_t hole;         /* the next one, */
    uint64_t hole_start; /* which begins here; UINT64_MAX = there is none */
    struct clr_lost *lost;
    gcd_status st;
    struct clr_mark_cursor marks, ahead; /* clr_scan_next_live; AHEAD is fetched */
    uint64_t live, live_at; /* left of the mark before, which is of memory from there on */
    bool dead;              /* it is not what lives that is looked for */
};
struct clr_object {
    uint64_t address, bytes; /* BYTES as the runtime reports it, not rounded */
    uint32_t type;
    bool is_free, is_leaf; /* a gap; it has no references */
};
/* Adds what is lost to LOST. */
void clr_scan_begin(struct clr_scan *s, struct clr *c, const struct clr_region *r,
                    struct clr_lost *lost);
bool clr_scan_next(struct clr_scan *s, struct clr_object *ret);
/* The next one that is marked, or with S->dead that is not, in a region with marks: they say where
 * it begins. */
bool clr_scan_next_live(struct clr_scan *s, struct clr_object *ret);
/* The object at ADDRESS, whose first word is WORD; false if there is none. */
#define CLR_TABLE_MASK (~UINT64_C(7)) /* without mark and pin bits of the collector */
bool clr_know_type(struct clr *c, uint64_t table, gcd_status *ret_st);
static inline bool clr_object_with(struct clr *c, uint64_t address, uint64_t word,
                                   struct clr_object *ret, gcd_status *ret_st)
{
    uint64_t table = word & CLR_TABLE_MASK;
    const struct clr_known_type *t = &c->known_types[table / 8 % CLR_KNOWN_TYPES];
    if ((t->id != table || t->base_bytes == 0) && !clr_know_type(c, table, ret_st))
        return false;
    uint64_t bytes = t->base_bytes;
    if (t->component_bytes != 0)
        bytes += (uint64_t)t->component_bytes * image_u32(c->image, address + 8);
    *ret = (struct clr_object){ .address = address,
                                .bytes = bytes,
                                .type = t->type,
                                .is_free = t->is_free,
                                .is_leaf = t->is_leaf };
    return true;
}
static inline bool clr_object_at(struct clr *c, uint64_t address, struct clr_object *ret,
                                 gcd_status *ret_st)
{
    return clr_object_with(c, address, image_u64(c->image, address), ret, ret_st);
}

/* The references of an object that are not null, in the order of their slots; first that of a
 * collectible type to its LoaderAllocator, as the runtime reports it. */
struct clr_slots {
    struct clr *c;
    const struct clr_type *type;
    uint64_t object, bytes;
    uint64_t at, run_end;           /* the run of slots at hand, from behind VIEW on, */
    uint64_t end;                   /* as far as the object has it */
    const uint8_t *view, *view_end; /* slots that come before AT, in memory */
    const uint8_t *page;            /* [page_bytes] memory at PAGE_AT, until others read it */
    uint64_t page_at, page_bytes;
    uint32_t next; /* series that comes next; group at hand */
    bool begun;
    bool is_last;   /* no run comes after this one */
    bool allocator; /* that reference comes first */
    uint64_t place; /* of the reference at hand: slots up to it, those with null, too */
};
/* The first run, of an object that is in memory as a whole, as most are: nothing is looked up. */
static inline void clr_slots_first_run(struct clr_slots *s)
{
    const struct clr_series *r = &s->c->series[s->type->first];
    const uint8_t *p = image_cached(s->c->image, s->object, s->bytes);
    uint64_t at = s->object + r->offset, run_end = at + (r->bytes + s->bytes),
             object_end = s->object + s->bytes, end = run_end < object_end ? run_end : object_end;
    if (p == NULL || end <= at)
        return;
    uint64_t n = (end - at - 1) / 8 + 1;
    s->view = p + r->offset;
    s->view_end = s->view + 8 * n;
    s->at = at + 8 * n;
    s->end = s->run_end = end;
    s->next = 1;
    s->is_last = s->type->count == 1;
}
static inline void clr_slots_begin(struct clr_slots *s, struct clr *c, const struct clr_object *o)
{
    const struct clr_type *t = &c->types[o->type];
    s->c = c;
    s->type = t;
    s->object = o->address;
    s->bytes = o->bytes;
    s->at = s->end = s->run_end = o->address + t->array_offset;
    s->view = s->view_end = NULL;
    s->page_bytes = 0;
    s->next = 0;
    s->begun = s->is_last = false;
    s->allocator = t->loader_allocator != 0;
    s->place = 0;
    if (t->references && !t->repeated && !s->allocator && o->bytes % 8 == 0)
        clr_slots_first_run(s);
}
/* The image has been read since the last reference. */
static inline void clr_slots_resume(struct clr_slots *s)
{
    s->at -= (uint64_t)(s->view_end - s->view);
    s->view = s->view_end = NULL;
    s->page_bytes = 0;
    s->is_last = false;
}
/* How many there are; none is left then. */
uint64_t clr_slots_count(struct clr_slots *s);
/* *RET_SLOT: its address, 0 for the LoaderAllocator. */
bool clr_slots_next_run(struct clr_slots *s, uint64_t *ret_target, uint64_t *ret_slot);
static inline bool clr_slots_next(struct clr_slots *s, uint64_t *ret_target, uint64_t *ret_slot)
{
    while (s->view < s->view_end) {
        *ret_target = gcd_le64(s->view);
        s->view += 8;
        s->place++;
        if (*ret_target != 0) {
            *ret_slot = s->at - (uint64_t)(s->view_end - s->view) - 8;
            return true;
        }
    }
    return !s->is_last && clr_slots_next_run(s, ret_target, ret_slot);
}

/* clr_roots.c and clr_statics.c */
gcd_status clr_find_holes(struct clr *c, struct gcd_error *err);
gcd_status clr_find_roots(struct clr *c, struct gcd_error *err);
gcd_status clr_add_root(struct clr *c, enum clr_root_kind kind, uint64_t object, uint32_t flags,
                        uint64_t id, struct gcd_error *err);
/* Walks all threads of the runtime: calls FN with the address of each Thread. */
gcd_status clr_each_thread(struct clr *c,
                           gcd_status (*fn)(struct clr *c, uint64_t thread, struct gcd_error *err),
                           struct gcd_error *err);

/* clr_stacks.c */
gcd_status clr_read_stacks(struct clr *c, struct gcd_error *err);
/* clr_frames.c: finds the methods of the frames; before types get their names. */
gcd_status clr_find_methods(struct clr *c, struct gcd_error *err);
/* What the code of the method that F returns to says, at BEGIN: how many registers it saves first,
 * "push rbp; push r15; push rbx ...", then room for variables; and whether it keeps a frame
 * pointer, "lea rbp, [rsp + n]", or else how large its frame is.  Nothing if the image lacks the
 * code. */
void clr_read_prolog(struct clr *c, uint64_t begin, struct clr_frame *f);
/* What the runtime notes about the precompiled code of an assembly: addresses of its image, of the
 * table of COUNT functions and of the header of ReadyToRun. */
struct clr_code {
    uint64_t base, table, header;
    uint32_t count;
};
#define CLR_READY_TO_RUN UINT32_C(0x00525452) /* "RTR" */
/* clr_code_files.c: the image may leave out CODE, such as that at ADDRESS.  From here on it has the
 * memory of the file, if that is found; a failure is in CODE_ST. */
void clr_need_code(struct clr *c, uint64_t address, const struct clr_code *code);
/* From here on the image has the memory of C->program, too. */
GCD_MUST_CHECK gcd_status clr_take_program(struct clr *c, struct gcd_error *err);
void clr_code_files_close(struct clr *c);
/* clr_precompiled.c: finds the method of F in SECTION, a range of code of a ReadyToRun image. */
void clr_find_precompiled(struct clr *c, uint64_t section, struct clr_frame *f);
/* Then, the frame that W belongs to, of clr.frames, if that one is of its thread. */
uint32_t clr_frame_of(const struct clr *c, const struct clr_stack_word *w);
/* Tells the roots on stacks by the methods, when these have their names. */
void clr_tell_frames(struct clr *c);

/* clr_threads.c: the object of a thread, 0 = none is found.  While the process is stopped, and when
 * the heap has been copied. */
uint64_t clr_thread_object(struct clr *c, uint64_t thread);
/* Names the threads, when types have their names. */
gcd_status clr_name_threads(struct clr *c, struct gcd_error *err);

/* "4711", with the name that the program gave it, and what the kernel calls it if that is more than
 * the beginning of the name, then PREFIX and WHAT. */
void clr_thread_label(const struct clr_thread *t, const char *prefix, const char *what, char *ret,
                      size_t cap);
bool clr_is_finalizer(const struct clr *c, const struct clr_thread *t);

/* clr_blocked.c: fills in blocked_text, when methods have their names; before clr_tell_frames. */
gcd_status clr_find_blocked(struct clr *c, struct gcd_error *err);

/* clr_facts.c: fills in ended_by and gap_text, when types have their names. */
gcd_status clr_find_facts(struct clr *c, struct gcd_error *err);

/* clr_live.c: a walk over all objects, which finds the types and turns words of the stacks into
 * roots. */
gcd_status clr_walk(struct clr *c, struct gcd_error *err);
/* Adds references of dead objects that lead to nothing to the gaps; after clr_mark. */
gcd_status clr_check_dead(struct clr *c, struct gcd_error *err);
/* Marks what the roots reach. */
gcd_status clr_mark(struct clr *c, struct gcd_error *err);
/* In a heap with damage only a walk finds what the process had. */
static inline bool clr_is_intact(const struct clr *c)
{
    return c->walked.regions == 0 && c->gaps.lost_bytes == 0 && c->gaps.dangling == 0;
}
/* clr_sum.c: what the objects of each type that the events have sum up to, once.  *RET: the number
 * of objects; 0 = it would take longer than to look at each of them, or there is damage. */
GCD_MUST_CHECK gcd_status clr_sum(struct clr *c, uint64_t *ret, struct gcd_error *err);
static inline size_t clr_marks_of(const struct clr_region *r)
{
    return (size_t)((r->end - r->start) / CLR_MARK_BYTES + 1);
}
static inline size_t clr_blocks_of(const struct clr_region *r)
{
    return (size_t)((r->end - r->start) / CLR_BLOCK_BYTES + 1);
}
/* The mark of ADDRESS, and its bit there; NULL: no object begins near it. */
static inline struct clr_mark *clr_mark_at(const struct clr *c, const struct clr_region *r,
                                           uint64_t address, uint64_t *ret_bit)
{
    uint64_t bit = (address - r->start) / 8, place = bit / 64;
    const struct clr_block *b = &r->blocks[place / CLR_BLOCK_MARKS];
    uint64_t here = UINT64_C(1) << place % CLR_BLOCK_MARKS;
    *ret_bit = UINT64_C(1) << bit % 64;
    if (r->is_dense)
        return &c->marks[r->first_mark + place];
    return (b->has & here) != 0 ? &c->marks[b->first + gcd_count_bits(b->has & (here - 1))] : NULL;
}
/* Frozen objects are always alive. */
static inline bool clr_is_marked(const struct clr *c, const struct clr_region *r, uint64_t address)
{
    uint64_t bit;
    if (r->generation == CLR_FROZEN)
        return true;
    const struct clr_mark *m = clr_mark_at(c, r, address, &bit);
    return m != NULL && (m->live & bit) != 0;
}

#endif
