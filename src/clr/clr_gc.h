/*
 * Payloads of the heap walk's events as typed records: views into the payload, no allocation; every
 * count is checked against the bytes present.  Payloads of later versions are longer: only the
 * known beginning is read.  Bulk events of version 0 with bytes after the last record are damaged
 * (GCD_E_FORMAT): no runtime writes them, and their record count cannot be trusted.  P = pointer of
 * the target, 4 or 8 bytes; z = UTF-16 with terminator.
 */
#ifndef GCD_CLR_GC_H
#define GCD_CLR_GC_H

#include <gcdumpc/event.h>
#include <gcdumpc/summary.h>

#include "base/cur.h"
#include "clr/clr_ids.h"

/* A payload as a cursor that knows its position in the trace. */
static inline struct gcd_cur gcd_clr_payload(const struct gcd_event *ev)
{
    return gcd_cur_make(ev->payload, ev->payload_bytes, ev->off);
}

/*
 * Do the keywords of an event of the runtime, or the payload of one of the rundown, belong to its
 * id?  If not, its description is damaged, and it is another event.  True where a container does
 * not tell the keywords.
 */
bool gcd_clr_description_fits(const struct gcd_event *ev);

/* Is it one of the events that a heap walk consists of? */
static inline bool gcd_clr_is_bulk(const struct gcd_event *ev)
{
    return ev->provider == GCD_PROVIDER_RUNTIME &&
           ((ev->id >= GCD_EV_BULK_TYPE && ev->id <= GCD_EV_BULK_EDGE) ||
            (ev->id >= GCD_EV_BULK_ROOT_CCW && ev->id <= GCD_EV_BULK_ROOT_STATIC_VAR));
}

/* GCStart V0 {count u32, reason u32}; V1 {count u32, depth u32, reason u32, type u32, ...}. */
struct gcd_clr_gc_start {
    uint32_t number, depth, reason, type;
};
gcd_status gcd_clr_gc_start(const struct gcd_event *ev, struct gcd_clr_gc_start *ret);

/*
 * Is it a blocking collection of everything?  Only then are the objects of its heap walk those that
 * live.  Whoever asked for it: the runtime counts full collections, and one that the program forces
 * at the right moment stands for the one that a dump forces (gc.cpp, GarbageCollectGeneration;
 * measured, .NET 10 and 11: the walk of the dump was in a compacting one of the program).
 */
static inline bool gcd_clr_gc_is_full(const struct gcd_clr_gc_start *gc)
{
    return gc->depth >= 2 && gc->type == GCD_GC_BLOCKING;
}

/* Was it asked for, in any way? */
static inline bool gcd_clr_gc_is_induced(uint32_t reason)
{
    return reason == GCD_GC_REASON_INDUCED || reason == GCD_GC_REASON_INDUCED_NOT_FORCED ||
           reason == GCD_GC_REASON_INDUCED_COMPACTING || reason == GCD_GC_REASON_INDUCED_AGGRESSIVE;
}

/* GCEnd V0, V1 {count u32, ...}. */
gcd_status gcd_clr_gc_end(const struct gcd_event *ev, uint32_t *ret_number);

/* Records of fixed size after a header with an index. */
struct gcd_clr_bulk {
    uint32_t index, count;
    const uint8_t *items; /* count * item_bytes */
    size_t item_bytes;
};
/*
 * The record bytes that the runtime collects before it sends a bulk event with an index; the last
 * event of a kind has the rest (CoreCLR, Native AOT; measured, .NET 8 to 10).
 */
#define GCD_CLR_BULK_BYTES UINT32_C(64256)
static inline uint32_t gcd_clr_bulk_full(const struct gcd_clr_bulk *b)
{
    return GCD_CLR_BULK_BYTES / (uint32_t)b->item_bytes;
}

/* GCBulkNode V0 {address P, size u64, type u64, edge count u64}. */
struct gcd_clr_node {
    uint64_t address, size, type, edge_count;
};
gcd_status gcd_clr_bulk_node(const struct gcd_event *ev, struct gcd_clr_bulk *ret);
static inline struct gcd_clr_node gcd_clr_node_at(const struct gcd_clr_bulk *b, uint32_t i)
{
    const uint8_t *p = b->items + i * b->item_bytes;
    unsigned ptr_bytes = (unsigned)(b->item_bytes - 24);
    struct gcd_clr_node n = { .address = gcd_leptr(p, ptr_bytes) };
    p += ptr_bytes;
    n.size = gcd_le64(p);
    n.type = gcd_le64(p + 8);
    n.edge_count = gcd_le64(p + 16);
    return n;
}

/* GCBulkEdge V0 {target P, field id u32}; runtimes send 0 as field id, gcdumpc the place of the
 * reference in a recording made of an image (src/recorded/README.md, MemoryImage). */
gcd_status gcd_clr_bulk_edge(const struct gcd_event *ev, struct gcd_clr_bulk *ret);
static inline uint64_t gcd_clr_edge_at(const struct gcd_clr_bulk *b, uint32_t i)
{
    return gcd_leptr(b->items + i * b->item_bytes, (unsigned)(b->item_bytes - 4));
}
#define GCD_CLR_EDGE_FOLLOWS  UINT32_C(0) /* the one before it; the first of an object: place 0 */
#define GCD_CLR_EDGE_UNPLACED UINT32_MAX
/* One of these, or the place + 1. */
static inline uint32_t gcd_clr_edge_place(const struct gcd_clr_bulk *b, uint32_t i)
{
    return gcd_le32(b->items + (i + 1) * b->item_bytes - 4);
}

/* GCBulkRootEdge V0 {object P, kind u8, flags u32, root id P}. */
struct gcd_clr_root {
    uint64_t object, id;
    uint32_t flags;
    uint8_t kind;
};
gcd_status gcd_clr_bulk_root(const struct gcd_event *ev, struct gcd_clr_bulk *ret);
struct gcd_clr_root gcd_clr_root_at(const struct gcd_clr_bulk *b, uint32_t i);

/* GCBulkRootConditionalWeakTableElementEdge V0 {key P, value P, handle P}. */
struct gcd_clr_dependent {
    uint64_t key, value, id;
};
gcd_status gcd_clr_bulk_dependent(const struct gcd_event *ev, struct gcd_clr_bulk *ret);
struct gcd_clr_dependent gcd_clr_dependent_at(const struct gcd_clr_bulk *b, uint32_t i);

/* GCBulkRootCCW V0 {root id, object, type, IUnknown u64; reference counts and flags u32}: a root.
 * No index. */
struct gcd_clr_ccw {
    uint64_t id, object, type;
};
gcd_status gcd_clr_bulk_ccw(const struct gcd_event *ev, struct gcd_clr_bulk *ret);
struct gcd_clr_ccw gcd_clr_ccw_at(const struct gcd_clr_bulk *b, uint32_t i);

/* GCBulkRCW V0: only the count. */
gcd_status gcd_clr_bulk_rcw(const struct gcd_event *ev, struct gcd_clr_bulk *ret);

/* GCBulkRootStaticVar V0 {root id, object, type u64; flags u32; field name z}. */
struct gcd_clr_static {
    uint64_t id, object, type;
    uint32_t flags;
    const uint8_t *name; /* UTF-16LE */
    size_t name_units;
};
/* Records of variable size, read one by one from the cursor: *RET_COUNT of them, as long as
 * gcd_clr_next_… returns true. */
gcd_status gcd_clr_bulk_static(const struct gcd_event *ev, struct gcd_cur *ret_items,
                               uint32_t *ret_count);
bool gcd_clr_next_static(struct gcd_cur *items, struct gcd_clr_static *ret);

/* BulkType V0 {type, module u64; name token, flags u32; element type u8; name z; parameter count
 * u32; parameters u64}. */
struct gcd_clr_type {
    uint64_t id, module;
    uint32_t name_token, flags;
    uint8_t element_type;
    const uint8_t *name; /* UTF-16LE */
    size_t name_units;
    uint32_t parameter_count;
    const uint8_t *parameters; /* u64 each */
};
gcd_status gcd_clr_bulk_type(const struct gcd_event *ev, struct gcd_cur *ret_items,
                             uint32_t *ret_count);
bool gcd_clr_next_type(struct gcd_cur *items, struct gcd_clr_type *ret);

/* GCGenerationRange V0 {generation u8, start P, used u64, reserved u64}. */
struct gcd_clr_range {
    uint8_t generation;
    uint64_t start, used_bytes, reserved_bytes;
};
gcd_status gcd_clr_range(const struct gcd_event *ev, struct gcd_clr_range *ret);

/* GCGlobalHeapHistory: the number of heaps; more than one means server GC. */
gcd_status gcd_clr_heap_count(const struct gcd_event *ev, uint32_t *ret_heaps);

/*
 * Module events {module, assembly u64; flags, reserved u32; IL path z, native path z, instance
 * u16}; from version 2 on also {GUID, age u32, path z} of the symbol file of the IL, and of the
 * native code.
 */
struct gcd_clr_module {
    uint64_t id, assembly;
    uint32_t flags;
    const uint8_t *path; /* UTF-16LE */
    size_t path_units;
    uint8_t pdb_guid[16]; /* zeros: version 0 or 1, or the file has no CodeView record */
    uint32_t pdb_age;
    const uint8_t *pdb_path; /* UTF-16LE, ManagedPdbBuildPath; none: no units */
    size_t pdb_path_units;
};
gcd_status gcd_clr_module(const struct gcd_event *ev, struct gcd_clr_module *ret);

/* Assembly events {assembly, application domain, binding u64; flags u32; full name z, ...}. */
struct gcd_clr_assembly {
    uint64_t id;
    const uint8_t *name; /* UTF-16LE */
    size_t name_units;
};
gcd_status gcd_clr_assembly(const struct gcd_event *ev, struct gcd_clr_assembly *ret);

#define GCD_CLR_SKU_CORE 2 /* not .NET Framework */

/* RuntimeInformation {instance u16, sku u16, product version 4 × u16, VM file version 4 × u16,
 * flags u32, mode u8, command line z}. */
struct gcd_clr_runtime {
    uint16_t sku, version[4];
    const uint8_t *command_line; /* UTF-16LE, may be NULL */
    size_t command_line_units;
};
gcd_status gcd_clr_runtime(const struct gcd_event *ev, struct gcd_clr_runtime *ret);

/* ProcessInfo {command line z, operating system z, architecture z}. */
struct gcd_clr_process {
    /* UTF-16LE: command line, operating system, architecture; NULL when missing */
    const uint8_t *text[3];
    size_t units[3];
};
gcd_status gcd_clr_process(const struct gcd_event *ev, struct gcd_clr_process *ret);

#endif
