/*
 * Roots: handles, the finalizer queue, and thread-static variables.
 *
 * The handle table map has buckets, each with one handle table per processor (DAC and ClrMD look at
 * one per heap and miss some: dotnet/runtime#124872).  A table is a list of segments of 64 KiB
 * (gc/handletablepriv.h): 120 blocks of 64 handles behind a header of 4 KiB.  A segment is believed
 * only if it points back to its table.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "image/clr/clr.h"
#include "image/clr/clr_dac.h"

#define ROOTS_MAX          (UINT64_C(256) << 20)
#define BUCKETS_MAX        64u
#define TABLES_MAX         4096u
#define TABLE_SEGMENTS_MAX (UINT64_C(1) << 20)
#define HOLES_MAX          (UINT64_C(64) << 20)

enum {
    SEGMENT_BYTES = 65536,
    BLOCKS = 120,
    BLOCK_HANDLES = 64,
    SEGMENT_TYPES = 1560,  /* a byte for each block */
    SEGMENT_BLOCKS = 1680, /* a byte for each block: the one with its user data */
    SEGMENT_HANDLES = 4096,
    NO_TYPE = 0xff
};
enum {
    HANDLE_WEAK_SHORT,
    HANDLE_WEAK_LONG,
    HANDLE_STRONG,
    HANDLE_PINNED,
    HANDLE_VARIABLE,
    HANDLE_REFCOUNTED,
    HANDLE_DEPENDENT,
    HANDLE_ASYNC_PINNED,
    HANDLE_SIZED,
    HANDLE_WEAK_COM,
    HANDLE_WEAK_INTERIOR,
    HANDLE_CROSS
};
enum { ROOT_PINNED = 1, ROOT_REFCOUNTED = 8 }; /* GCRootFlags, as CLR_ROOT_WEAK */

gcd_status clr_add_root(struct clr *c, enum clr_root_kind kind, uint64_t object, uint32_t flags,
                        uint64_t id, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&c->alloc, &c->roots, &c->root_cap, c->root_count + 1, sizeof *c->roots,
                         ROOTS_MAX))
        return gcd_fail_nomem(err, "reading the roots of a heap");
    c->roots[c->root_count++] = (struct clr_root){
        .object = object, .id = id, .flags = flags, .kind = (uint8_t)kind, .frame = CLR_NONE
    };
    return GCD_OK;
}

/* ---- handles ---- */

static uint32_t flags_of(unsigned type)
{
    switch (type) {
    case HANDLE_WEAK_SHORT:
    case HANDLE_WEAK_LONG:
    case HANDLE_WEAK_COM:
    case HANDLE_WEAK_INTERIOR:
        return CLR_ROOT_WEAK;
    case HANDLE_PINNED:
    case HANDLE_ASYNC_PINNED:
        return ROOT_PINNED;
    case HANDLE_REFCOUNTED:
        return ROOT_REFCOUNTED;
    default:
        return 0;
    }
}

static gcd_status add_handle(struct clr *c, uint64_t segment, unsigned block, unsigned i,
                             unsigned type, struct gcd_error *err)
{
    uint64_t at = segment + SEGMENT_HANDLES + 8 * ((uint64_t)block * BLOCK_HANDLES + i);
    uint64_t object = image_u64(c->image, at), value = 0;
    if (object == 0 || clr_region_at(c, object) == NULL)
        return GCD_OK;
    if (type != HANDLE_DEPENDENT)
        return clr_add_root(c, CLR_ROOT_HANDLE, object, flags_of(type), at, err);
    uint8_t user[1];
    if (image_read(c->image, segment + SEGMENT_BLOCKS + block, user, 1) && user[0] < BLOCKS)
        value = image_u64(c->image,
                          segment + SEGMENT_HANDLES + 8 * ((uint64_t)user[0] * BLOCK_HANDLES + i));
    if (!gcd_vec_reserve(&c->alloc, &c->dependents, &c->dependent_cap, c->dependent_count + 1,
                         sizeof *c->dependents, ROOTS_MAX))
        return gcd_fail_nomem(err, "reading the handles of a heap");
    c->dependents[c->dependent_count++] =
        (struct clr_dependent){ .key = object, .value = value, .id = at };
    return GCD_OK;
}

static gcd_status read_segment(struct clr *c, uint64_t segment, struct gcd_error *err)
{
    uint8_t types[BLOCKS];
    if (!image_read(c->image, segment + SEGMENT_TYPES, types, sizeof types)) {
        c->gaps.unread_tables++;
        return GCD_OK;
    }
    for (unsigned b = 0; b < BLOCKS; b++) {
        /* the last type is internal: user data of other blocks */
        if (types[b] == NO_TYPE || types[b] + 1u >= c->layout.handle_types)
            continue;
        for (unsigned i = 0; i < BLOCK_HANDLES; i++)
            GCD_TRY(add_handle(c, segment, b, i, types[b], err));
    }
    return GCD_OK;
}

/* *RET_IS_TABLE: there is a table at this address. */
static gcd_status read_table(struct clr *c, uint64_t table, bool *ret_is_table,
                             struct gcd_error *err)
{
    uint32_t n = c->layout.handle_types;
    uint64_t list = table + (4 * (uint64_t)n + 7) / 8 * 8, owner = 1928 + 6 * (uint64_t)n;
    uint64_t segment = image_u64(c->image, list);
    *ret_is_table = false;
    for (uint64_t steps = 0; segment != 0 && steps < TABLE_SEGMENTS_MAX; steps++) {
        if (segment % SEGMENT_BYTES != 0 || image_u64(c->image, segment + owner) != table) {
            c->gaps.unread_tables += *ret_is_table;
            return GCD_OK;
        }
        *ret_is_table = true;
        GCD_TRY(read_segment(c, segment, err));
        segment = image_u64(c->image, segment + owner - 8);
    }
    return GCD_OK;
}

static gcd_status read_handles(struct clr *c, struct gcd_error *err)
{
    uint64_t map = image_u64(c->image, c->gc + GC_HANDLE_TABLES);
    unsigned tables = 0;
    for (unsigned maps = 0; map != 0 && maps < BUCKETS_MAX; maps++) {
        uint64_t buckets = image_u64(c->image, map);
        uint32_t count = image_u32(c->image, map + 16);
        for (uint32_t b = 0; b < count && b < BUCKETS_MAX; b++) {
            uint64_t bucket = image_u64(c->image, buckets + 8 * (uint64_t)b);
            uint64_t list = bucket != 0 ? image_u64(c->image, bucket) : 0;
            bool is_table = list != 0;
            for (unsigned t = 0; is_table && t < TABLES_MAX; t++) {
                GCD_TRY(read_table(c, image_u64(c->image, list + 8 * (uint64_t)t), &is_table, err));
                tables += is_table;
            }
        }
        map = image_u64(c->image, map + 8);
    }
    c->gaps.unread_tables += tables == 0;
    return GCD_OK;
}

/* ---- objects that wait for their finalizers ---- */

/* CFinalize (gc/gcpriv.h): an array with seven fill pointers; from the fifth to the seventh lie the
 * objects whose finalizers have to run. */
static gcd_status read_queue(struct clr *c, uint64_t queue, struct gcd_error *err)
{
    uint64_t from = image_u64(c->image, queue + 8 * 4), to = image_u64(c->image, queue + 8 * 6);
    if (queue == 0 || from == 0 || to < from || (to - from) / 8 > ROOTS_MAX)
        return GCD_OK;
    for (uint64_t at = from; at < to; at += 8) {
        uint64_t object = image_u64(c->image, at);
        if (object != 0 && clr_region_at(c, object) != NULL)
            GCD_TRY(clr_add_root(c, CLR_ROOT_FINALIZER, object, 0, at, err));
    }
    return GCD_OK;
}

static gcd_status read_queues(struct clr *c, struct gcd_error *err)
{
    struct image *m = c->image;
    if (!c->server)
        return read_queue(c, image_u64(m, image_u64(m, c->gc + GC_FINALIZE_QUEUE)), err);
    uint64_t heaps = image_u64(m, image_u64(m, c->gc + GC_HEAPS));
    uint32_t offset =
        image_u32(m, image_u64(m, c->gc + GC_HEAP_FIELDS) + 4 * GC_HEAP_FINALIZE_QUEUE);
    for (uint32_t i = 0; i < c->heaps; i++) {
        uint64_t heap = image_u64(m, heaps + 8 * (uint64_t)i);
        GCD_TRY(read_queue(c, image_u64(m, heap + offset), err));
    }
    return GCD_OK;
}

/* ---- thread statics ---- */

/* ThreadLocalData (vm/threadstatics.h, .NET 9 and later): the array of the thread's variables; that
 * of collectible types is held by handles, and on .NET 8 all of them are. */
static gcd_status read_thread_statics(struct clr *c, uint64_t thread, struct gcd_error *err)
{
    /* they come in the order in which their stacks were read; some have none */
    struct clr_thread *t = c->next_thread < c->thread_count ? &c->threads[c->next_thread] : NULL;
    t = t != NULL && t->thread == thread ? t : NULL;
    c->next_thread += t != NULL;
    uint64_t at = c->layout.thread_statics != 0 ? thread + c->layout.thread_statics : 0;
    uint64_t data = at != 0 ? image_u64(c->image, at) : 0;
    uint64_t array = data != 0 ? image_u64(c->image, data + 8) : 0;
    struct clr_object o;
    gcd_status st = GCD_OK;
    if (array == 0 || clr_region_at(c, array) == NULL || !clr_object_at(c, array, &o, &st))
        return GCD_OK;
    if (t != NULL) {
        t->statics = data + 8;
        c->thread_statics++;
    }
    /* as in the events of the runtime */
    return clr_add_root(c, CLR_ROOT_STACK, array, 0, data + 8, err);
}

/* ---- allocation contexts ---- */

static gcd_status add_hole(struct clr *c, uint64_t thread, struct gcd_error *err)
{
    uint64_t at = thread;
    if (c->layout.thread_locals != 0)
        at = image_u64(c->image, thread + c->layout.thread_locals);
    uint64_t start = at != 0 ? image_u64(c->image, at + c->layout.alloc_context) : 0;
    uint64_t limit = at != 0 ? image_u64(c->image, at + c->layout.alloc_context + 8) : 0;
    if (start == 0 || start % 8 != 0 || limit < start || clr_region_at(c, start) == NULL)
        return GCD_OK;
    if (!gcd_vec_reserve(&c->alloc, &c->holes, &c->hole_cap, c->hole_count + 1, sizeof *c->holes,
                         HOLES_MAX))
        return gcd_fail_nomem(err, "reading the threads of a process");
    /* the collector keeps room for one smallest object behind the limit */
    c->holes[c->hole_count++] = (struct clr_hole){ .start = start, .end = limit / 8 * 8 + 24 };
    return GCD_OK;
}

gcd_status clr_find_holes(struct clr *c, struct gcd_error *err)
{
    GCD_TRY(clr_each_thread(c, add_hole, err));
    return gcd_sort_by_u64(&c->alloc, c->holes, c->hole_count, sizeof *c->holes)
               ? GCD_OK
               : gcd_fail_nomem(err, "reading the threads of a process");
}

gcd_status clr_find_roots(struct clr *c, struct gcd_error *err)
{
    GCD_TRY(read_handles(c, err));
    GCD_TRY(read_queues(c, err));
    GCD_TRY(clr_read_stacks(c, err));
    c->next_thread = 0;
    return clr_each_thread(c, read_thread_statics, err);
}
