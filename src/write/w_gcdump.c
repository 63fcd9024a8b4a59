/*
 * .gcdump: a graph in a FastSerialization container, as written by dotnet-gcdump and PerfView.
 *
 *     "!FastSerialization.1", then one object GCHeapDump: {
 *         the object Graphs.MemoryGraph: { total size, number of the root node,
 *             types: name, size, module;                 offset in the blob of each node;
 *             blob: per node type, size unless equal to the type's, number of children, each child
 *                 minus the number of the node;
 *             address of each node; 64 bit? }
 *         log, time, process ... }
 *     table of forward references: one, then a mark and the checksum of all before; trailer
 *
 * Offsets come before the blob and lengths before their data, so the graph is walked several times;
 * nothing is stored per object.  In a file, offsets are left out until the blob is written;
 * otherwise the references are walked once to count and once to write.  Node 0 is the root, node 1
 * + i is object i, then come the artificial nodes that group the roots. README.md in this folder
 * says what is left out and why.
 */
#include <string.h>

#include <gcdumpc/unstable/static_names.h>

#include "base/error.h"
#include "base/file_sums.h"
#include "base/mem.h"
#include "io/sink_hole.h"
#include "io/sink_sum.h"
#include "write/gcdump_put.h"
#include "write/node_parts.h"
#include "write/write.h"

const struct gcdump_limits gcdump_limits = {
    .nodes = INT32_MAX,
    .types = (UINT32_C(1) << 30) - 1,
    .blob_bytes = INT32_MAX,
    .file_bytes = UINT32_MAX,
};

/* The artificial nodes, with the names that dotnet-gcdump uses.  A parent comes before its
 * children. */
enum place {
    PLACE_ROOT,
    PLACE_STATICS,
    PLACE_LOCALS,
    PLACE_OTHER_ROOTS,
    PLACE_COM,
    PLACE_STRONG,
    PLACE_PINNING,
    PLACE_FINALIZER,
    PLACE_REFCOUNTED,
    PLACE_OTHER,
    PLACES
};

static const struct {
    const char *name;
    enum place parent;
} place_info[PLACES] = {
    [PLACE_ROOT] = { "[.NET Roots]", PLACES },
    [PLACE_STATICS] = { "[static vars]", PLACE_ROOT },
    [PLACE_LOCALS] = { "[local vars]", PLACE_ROOT },
    [PLACE_OTHER_ROOTS] = { "[other roots]", PLACE_ROOT },
    [PLACE_COM] = { "[COM/WinRT Objects]", PLACE_ROOT },
    [PLACE_STRONG] = { "[strong Handles]", PLACE_OTHER_ROOTS },
    [PLACE_PINNING] = { "[pinning Handles]", PLACE_OTHER_ROOTS },
    [PLACE_FINALIZER] = { "[finalizer Handles]", PLACE_OTHER_ROOTS },
    [PLACE_REFCOUNTED] = { "[COM/WinRT Objects]", PLACE_OTHER_ROOTS },
    [PLACE_OTHER] = { "[other Handles]", PLACE_OTHER_ROOTS },
};

struct gcdump {
    const struct gcd_graph *graph;
    const struct gcd_write_options *options;
    const struct gcdump_limits *limits;
    struct gcd_write_notes *notes;
    struct gcdump_out out;
    struct gcdump_out later; /* offsets, if they are written with the blob */
    uint32_t objects;        /* nodes of the graph, including the unknown one */
    uint32_t unknown;
    /* of the graph; type t has number 1 + t here, the artificial ones follow */
    uint32_t types;
    int32_t *type_size; /* [types] the size of the first object, -1 = none */
    uint64_t total_size;
    uint64_t blob_bytes; /* counted or written so far */
    uint64_t clamped;    /* objects above the maximum size */
    /* the first dependent handle whose key this walk has not reached */
    size_t dependent;
    /* artificial nodes */
    uint32_t place_node[PLACES]; /* node number; 0 = unused, except for the root */
    uint32_t place_type[PLACES];
    uint64_t place_children[PLACES];
    uint32_t node_count, type_count;
    uint32_t first_static, first_static_type; /* node and type of the first "[static var ...]" */
};

/* ---- the places of roots ---- */

/* PLACES: the root is left out, because it keeps nothing alive. */
static enum place place_of(const struct gcd_root *r)
{
    static const enum place places[GCD_GROUPS] = {
        [GCD_GROUP_STATICS] = PLACE_STATICS,
        [GCD_GROUP_LOCALS] = PLACE_LOCALS,
        [GCD_GROUP_FINALIZER] = PLACE_FINALIZER,
        [GCD_GROUP_STRONG_HANDLES] = PLACE_STRONG,
        [GCD_GROUP_PINNED_HANDLES] = PLACE_PINNING,
        [GCD_GROUP_REFCOUNTED] = PLACE_REFCOUNTED,
        [GCD_GROUP_OTHER] = PLACE_OTHER,
        [GCD_GROUP_WEAK] = PLACES,
    };
    return r->kind == GCD_ROOT_COM ? PLACE_COM : places[gcd_root_group(r)];
}

static gcd_status number_places(struct gcdump *w, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(w->graph);
    for (size_t i = 0; i < summary->root_count; i++) {
        enum place place = place_of(&summary->roots[i]);
        if (place != PLACES) {
            w->place_children[place]++;
            w->notes->roots++;
        }
    }
    uint64_t node = UINT64_C(1) + w->objects, type = UINT64_C(1) + w->types;
    for (int p = PLACE_STRONG; p < PLACES; p++)
        w->place_children[PLACE_OTHER_ROOTS] += w->place_children[p] > 0;
    for (int p = PLACE_STATICS; p <= PLACE_COM; p++)
        w->place_children[PLACE_ROOT] += w->place_children[p] > 0;
    uint64_t statics = w->place_children[PLACE_STATICS];
    if (node > w->limits->nodes || statics > w->limits->nodes ||
        node + statics + PLACES > w->limits->nodes)
        return gcd_fail(err, GCD_E_LIMIT, "the gcdump format is limited to %llu nodes",
                        (unsigned long long)w->limits->nodes);
    if (type > w->limits->types || statics > w->limits->types ||
        type + statics + PLACES > w->limits->types)
        return gcd_fail(err, GCD_E_LIMIT, "the gcdump format is limited to %llu types",
                        (unsigned long long)w->limits->types);
    for (int p = PLACE_ROOT; p < PLACES; p++)
        if (p == PLACE_ROOT || w->place_children[p] > 0) {
            w->place_node[p] = p == PLACE_ROOT ? 0 : (uint32_t)node++;
            w->place_type[p] = (uint32_t)type++;
        }
    w->first_static = (uint32_t)node;
    w->first_static_type = (uint32_t)type;
    w->node_count = (uint32_t)(node + statics);
    w->type_count = (uint32_t)(type + statics);
    return GCD_OK;
}

/* ---- nodes: the same code counts and writes, so that both always agree ---- */

#define BOTH_WAYS static inline __attribute__((always_inline)) void

BOTH_WAYS cint(struct gcdump *w, bool write, int64_t v)
{
    w->blob_bytes += gcdump_cint_bytes((int32_t)v);
    if (write)
        gcdump_put_cint(&w->out, (int32_t)v);
}

static int32_t stored_size(uint64_t size_bytes)
{
    return size_bytes > INT32_MAX ? INT32_MAX : (int32_t)size_bytes;
}

/*
 * The value of a dependent handle is a child of its key, because the key keeps it alive.
 * (dotnet-gcdump puts it below a root, as if it lived forever.)
 */
BOTH_WAYS object(struct gcdump *w, bool write, uint32_t n)
{
    uint32_t type = gcd_graph_node_type(w->graph, n);
    int32_t size = stored_size(gcd_graph_node_size(w->graph, n));
    bool has_size = size != w->type_size[type];
    cint(w, write, (int64_t)((type + 1) << 1 | has_size));
    if (has_size)
        cint(w, write, size);
    size_t edges, dependents = 0;
    const uint32_t *edge = gcd_graph_node_edges(w->graph, n, &edges);
    size_t all = gcd_graph_dependent_count(w->graph);
    while (w->dependent + dependents < all &&
           gcd_graph_dependent(w->graph, w->dependent + dependents)->key == n)
        dependents++;
    /* a count above int32 would not fit into the blob either, which is checked */
    cint(w, write, (int32_t)(uint32_t)(edges + dependents));
    for (size_t i = 0; i < edges; i++)
        cint(w, write, (int64_t)edge[i] - n);
    for (; dependents > 0; dependents--)
        cint(w, write, (int64_t)gcd_graph_dependent(w->graph, w->dependent++)->value - n);
    if (write)
        w->notes->edges += edges;
}

/* The beginning of an artificial node.  Each of their types occurs once, so the type's size of 0
 * applies to the node. */
BOTH_WAYS made_up(struct gcdump *w, bool write, uint32_t type, uint64_t children)
{
    cint(w, write, (int64_t)type << 1);
    cint(w, write, (int64_t)children);
}

BOTH_WAYS place(struct gcdump *w, bool write, enum place p)
{
    int64_t self = w->place_node[p];
    made_up(w, write, w->place_type[p], w->place_children[p]);
    for (int child = (int)p + 1; child < PLACES; child++)
        if (place_info[child].parent == p && w->place_children[child] > 0)
            cint(w, write, w->place_node[child] - self);
    if (p == PLACE_STATICS)
        for (uint64_t i = 0; i < w->place_children[p]; i++)
            cint(w, write, w->first_static + (int64_t)i - self);
    else if (p != PLACE_ROOT && p != PLACE_OTHER_ROOTS)
        for (size_t i = 0; i < gcd_graph_summary(w->graph)->root_count; i++) {
            const struct gcd_root *r = &gcd_graph_summary(w->graph)->roots[i];
            if (place_of(r) == p)
                cint(w, write, 1 + (int64_t)r->node - self);
        }
}

BOTH_WAYS static_var(struct gcdump *w, bool write, const struct gcd_root *r, uint32_t number)
{
    made_up(w, write, w->first_static_type + number, 1);
    cint(w, write, 1 + (int64_t)r->node - (int64_t)(w->first_static + number));
}

/* ---- the walks ---- */

/* Walks over the objects: sizes; offsets, then blob, or both; addresses. */
#define WALKS 4
enum walk { WALK_SIZES, WALK_OFFSETS, WALK_BLOB, WALK_ADDRESSES, WALK_BOTH };

static gcd_status check(struct gcdump *w, enum walk walk, uint32_t n, struct gcd_error *err)
{
    if (n % WRITE_CHECK_EVERY != 0)
        return GCD_OK;
    if (w->blob_bytes > w->limits->blob_bytes)
        return gcd_fail(err, GCD_E_LIMIT,
                        "the gcdump format is limited to %llu bytes of nodes and references",
                        (unsigned long long)w->limits->blob_bytes);
    uint64_t done =
        walk == WALK_BOTH ? w->objects + UINT64_C(2) * n : (uint64_t)walk * w->objects + n;
    return write_check(w->options, w->out.sink, done, (uint64_t)WALKS * w->objects, err);
}

/* The size of a type is that of its first object: readers rely on it, and dotnet-gcdump report
 * shows it. */
static gcd_status walk_sizes(struct gcdump *w, struct gcd_error *err)
{
    for (uint32_t t = 0; t < w->types; t++)
        w->type_size[t] = -1;
    for (uint32_t n = 0; n < w->objects; n++) {
        GCD_TRY(check(w, WALK_SIZES, n, err));
        if (n == w->unknown)
            continue;
        uint64_t size = gcd_graph_node_size(w->graph, n);
        int32_t *type_size = &w->type_size[gcd_graph_node_type(w->graph, n)];
        w->clamped += size > INT32_MAX;
        w->total_size += (uint64_t)stored_size(size);
        if (*type_size < 0)
            *type_size = stored_size(size);
    }
    return GCD_OK;
}

/* Size of the undefined node at the start of a blob, so that offset 0 can mean "never described".
 */
#define UNDEFINED_BYTES 2

/* ---- objects: directly, or in parts by copies of the writer ---- */

/* Maximum bytes of a number in the blob, and of an object, which has type, size and number of
 * children. */
#define CINT_BYTES   ((size_t)5)
#define OBJECT_BYTES (3 * CINT_BYTES)
#define OFFSET_BYTES sizeof(uint32_t)

/* Indexes of the counts of a part. */
enum { PART_BLOB, PART_EDGES };

struct walker {
    enum walk walk;
    struct gcdump *w;
    struct gcdump start; /* what W was before the walk: other threads copy it */
};

static inline void put_offset(struct gcdump *w, enum walk walk, uint32_t off)
{
    if (walk == WALK_OFFSETS || walk == WALK_BOTH)
        gcdump_put_u32(walk == WALK_BOTH ? &w->later : &w->out, off);
}

/* Writes what WALK writes for an object. */
BOTH_WAYS put_object(struct gcdump *w, enum walk walk, uint32_t n)
{
    put_offset(w, walk, n == w->unknown ? 0 : (uint32_t)w->blob_bytes);
    if (walk == WALK_ADDRESSES)
        gcdump_put_u64(&w->out, gcd_graph_node_address(w->graph, n));
    else if (n != w->unknown)
        object(w, walk != WALK_OFFSETS, n);
}

BOTH_WAYS put_objects(struct gcdump *w, enum walk walk, uint32_t first, uint32_t end)
{
    for (uint32_t n = first; n < end; n++)
        put_object(w, walk, n);
}

/* The loop is compiled for each walk. */
static void put_range(struct gcdump *w, enum walk walk, uint32_t first, uint32_t end)
{
    if (walk == WALK_OFFSETS)
        put_objects(w, WALK_OFFSETS, first, end);
    else if (walk == WALK_BLOB)
        put_objects(w, WALK_BLOB, first, end);
    else if (walk == WALK_BOTH)
        put_objects(w, WALK_BOTH, first, end);
    else
        put_objects(w, WALK_ADDRESSES, first, end);
}

static gcd_status put_nodes(void *ctx, uint32_t first, uint32_t end, struct gcd_error *err)
{
    struct walker *k = ctx;
    for (uint32_t n = first, next; n < end; n = next) {
        GCD_TRY(check(k->w, k->walk, n, err));
        next = end - n < WRITE_CHECK_EVERY ? end : (n / WRITE_CHECK_EVERY + 1) * WRITE_CHECK_EVERY;
        put_range(k->w, k->walk, n, next);
    }
    return GCD_OK;
}

/* Offsets begin with 0 in each part.  Those written together with the blob are at the end of the
 * part. */
static void fill_part(const void *ctx, struct node_part *part)
{
    const struct walker *k = ctx;
    struct gcd_write_notes notes = { .edges = 0 };
    struct gcdump copy = k->start;
    copy.blob_bytes = 0;
    copy.dependent = part->dependent;
    copy.notes = &notes;
    size_t offsets = k->walk == WALK_BOTH ? (part->end - part->first) * OFFSET_BYTES : 0;
    gcdump_out_window(&copy.out, part->bytes, NODE_PART_BYTES - offsets);
    gcdump_out_window(&copy.later, part->bytes + (NODE_PART_BYTES - offsets), offsets);
    put_range(&copy, k->walk, part->first, part->end);
    part->used = (size_t)(copy.out.p - copy.out.begin);
    part->counts[PART_BLOB] = copy.blob_bytes;
    part->counts[PART_EDGES] = notes.edges;
    part->dependent = copy.dependent;
}

static void put_part_offsets(const struct gcdump *w, const struct node_part *part,
                             const void *offsets, struct gcdump_out *to)
{
    const uint8_t *p = offsets;
    for (uint32_t n = part->first; n < part->end; n++, p += OFFSET_BYTES)
        gcdump_put_u32(to, n == w->unknown ? 0 : (uint32_t)w->blob_bytes + gcdump_get_u32(p));
}

static gcd_status put_part(void *ctx, const struct node_part *part, struct gcd_error *err)
{
    struct walker *k = ctx;
    struct gcdump *w = k->w;
    if (k->walk == WALK_BOTH)
        put_part_offsets(w, part,
                         part->bytes + (NODE_PART_BYTES - (part->end - part->first) * OFFSET_BYTES),
                         &w->later);
    if (k->walk == WALK_OFFSETS)
        put_part_offsets(w, part, part->bytes, &w->out);
    else
        gcdump_put_bytes(&w->out, part->bytes, part->used);
    w->blob_bytes += part->counts[PART_BLOB];
    w->notes->edges += part->counts[PART_EDGES];
    w->dependent = part->dependent;
    return node_part_ends_step(part)
               ? check(w, k->walk, part->end / WRITE_CHECK_EVERY * WRITE_CHECK_EVERY, err)
               : GCD_OK;
}

/* Writes at most NODE_BYTES per object and EDGE_BYTES per child. */
static gcd_status walk_objects(struct gcdump *w, enum walk walk, size_t node_bytes,
                               size_t edge_bytes, struct gcd_error *err)
{
    struct walker k = { .walk = walk, .w = w, .start = *w };
    const struct node_writer writer = {
        .ctx = &k,
        .node_bytes = node_bytes,
        .edge_bytes = edge_bytes,
        .fill = fill_part,
        .put = put_part,
        .put_nodes = put_nodes,
    };
    return node_parts_write(w->graph, &writer, &w->options->context, err);
}

/* Writes the offsets, the blob or both, for all nodes. */
static gcd_status walk_nodes(struct gcdump *w, enum walk walk, size_t node_bytes, size_t edge_bytes,
                             struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(w->graph);
    bool write = walk != WALK_OFFSETS;
    w->blob_bytes = UNDEFINED_BYTES;
    w->dependent = 0;
    for (size_t i = 0; i < UNDEFINED_BYTES && write; i++)
        gcdump_put_cint(&w->out, 0);
    put_offset(w, walk, (uint32_t)w->blob_bytes);
    place(w, write, PLACE_ROOT);
    GCD_TRY(walk_objects(w, walk, node_bytes, edge_bytes, err));
    for (int p = PLACE_STATICS; p < PLACES; p++)
        if (w->place_children[p] > 0) {
            put_offset(w, walk, (uint32_t)w->blob_bytes);
            place(w, write, (enum place)p);
        }
    for (size_t i = 0, k = 0; i < summary->root_count; i++)
        if (place_of(&summary->roots[i]) == PLACE_STATICS) {
            put_offset(w, walk, (uint32_t)w->blob_bytes);
            static_var(w, write, &summary->roots[i], (uint32_t)k++);
        }
    if (write) {
        w->notes->edges += w->dependent;
        w->notes->objects = w->objects - (w->unknown != GCD_NODE_NONE);
    }
    return GCD_OK;
}

static gcd_status check_blob(struct gcdump *w, enum walk next, uint64_t blob_at,
                             struct gcd_error *err)
{
    GCD_TRY(check(w, next, 0, err)); /* progress does not go back */
    if (blob_at + w->blob_bytes + UINT64_C(8) * w->node_count > w->limits->file_bytes)
        return gcd_fail(err, GCD_E_LIMIT, "the gcdump format is limited to %llu bytes",
                        (unsigned long long)w->limits->file_bytes);
    return GCD_OK;
}

/* Writes first the offsets, then the blob.  Fails before gigabytes are written; the part after the
 * addresses is checked at the end. */
static gcd_status put_one_by_one(struct gcdump *w, struct gcd_error *err)
{
    GCD_TRY(walk_nodes(w, WALK_OFFSETS, OFFSET_BYTES, 0, err));
    GCD_TRY(check_blob(w, WALK_BLOB, gcdump_out_offset(&w->out), err));
    gcdump_put_u32(&w->out, (uint32_t)w->blob_bytes);
    return walk_nodes(w, WALK_BLOB, OBJECT_BYTES, CINT_BYTES, err);
}

/* Buffer for offsets that are written later. */
#define LATER_BYTES ((size_t)16 * 1024)

/* Writes offsets and blob together. */
static gcd_status put_both(struct gcdump *w, struct gcd_error *err)
{
    uint8_t buffer[LATER_BYTES];
    uint64_t left_out = UINT64_C(4) * w->node_count + sizeof(uint32_t);
    gcdump_out_flush(&w->out);
    uint64_t at = gcd_sink_bytes(w->out.sink);
    if (!gcd_sink_leave(w->out.sink, left_out))
        return put_one_by_one(w, err);
    uint64_t blob_at = gcdump_out_offset(&w->out) - sizeof(uint32_t);
    gcdump_out_later(&w->later, w->out.sink, at, buffer, sizeof buffer);
    GCD_TRY(walk_nodes(w, WALK_BOTH, OBJECT_BYTES + OFFSET_BYTES, CINT_BYTES, err));
    GCD_TRY(check_blob(w, WALK_ADDRESSES, blob_at, err));
    gcdump_put_u32(&w->later, (uint32_t)w->blob_bytes);
    gcdump_out_flush(&w->later);
    return GCD_OK;
}

static gcd_status walk_addresses(struct gcdump *w, struct gcd_error *err)
{
    gcdump_put_u64(&w->out, 0);
    GCD_TRY(walk_objects(w, WALK_ADDRESSES, sizeof(uint64_t), 0, err));
    for (uint32_t n = 1 + w->objects; n < w->node_count; n++)
        gcdump_put_u64(&w->out, 0);
    return GCD_OK;
}

/* ---- the file ---- */

static void put_type(struct gcdump *w, const struct gcdump_text *parts, size_t count, int32_t size,
                     const char *module)
{
    gcdump_put_text(&w->out, parts, count);
    gcdump_put_u32(&w->out, (uint32_t)size);
    gcdump_put_string_or_null(&w->out, module);
}

static struct gcdump_text text(const char *s)
{
    return (struct gcdump_text){ s, strlen(s) };
}

/* Like dotnet-gcdump: "[static var TYPE.FIELD]".  There, TYPE is the type of the object; here, only
 * if the class is unknown. */
static void put_static(struct gcdump *w, const struct gcd_root *r)
{
    const struct gcd_static_words known = gcd_static_words(w->graph, w->options->names, r);
    const char *type = known.class_name[0] != '\0' ? known.class_name
                                                   : write_type_name(w->options, w->graph, r->type);
    bool several = known.class_name[0] == '\0' && gcd_static_is_labelled(r);
    const struct gcdump_text name[] = {
        text("[static var "),
        text(several ? r->label : type),
        text(several ? "" : "."),
        text(several ? "" : r->name),
        text("]"),
    };
    put_type(w, name, sizeof name / sizeof *name, 0, "");
}

static void put_types(struct gcdump *w)
{
    const struct gcd_summary *summary = gcd_graph_summary(w->graph);
    gcdump_put_u32(&w->out, w->type_count);
    put_type(w, &(struct gcdump_text){ "UNDEFINED", 9 }, 1, 0, "");
    for (uint32_t t = 0; t < w->types; t++) {
        struct gcdump_text name = text(write_type_name(w->options, w->graph, t));
        put_type(w, &name, 1, w->type_size[t], summary->types[t].module_path);
        w->notes->types += w->type_size[t] >= 0;
    }
    for (int p = PLACE_ROOT; p < PLACES; p++)
        if (p == PLACE_ROOT || w->place_children[p] > 0) {
            struct gcdump_text name = text(place_info[p].name);
            put_type(w, &name, 1, 0, "");
        }
    for (size_t i = 0; i < summary->root_count; i++) {
        if (place_of(&summary->roots[i]) == PLACE_STATICS)
            put_static(w, &summary->roots[i]);
    }
}

/* Time of the GC in units of 100 ns since the year 1, UTC; 0 = unknown.  .NET rejects the whole
 * file if this is outside its calendar. */
static uint64_t collected_ticks(const struct gcd_summary *f)
{
    const int64_t unix_epoch = INT64_C(621355968000000000), last = INT64_C(3155378975999999999);
    int64_t ticks;
    if (f->trace.start_unix_ms == INT64_MIN ||
        __builtin_mul_overflow(f->trace.start_unix_ms, INT64_C(10000), &ticks) ||
        __builtin_add_overflow(ticks, unix_epoch, &ticks) ||
        __builtin_add_overflow(ticks, f->gc_start_ns / 100, &ticks))
        return 0;
    return ticks < 0 || ticks > last ? 0 : (uint64_t)ticks;
}

#define ONE_AS_FLOAT UINT32_C(0x3f800000)

/* Everything after the graph. */
static gcd_status put_facts(struct gcdump *w, unsigned is_64bit, struct gcd_error *err)
{
    struct gcdump_out *o = &w->out;
    const struct gcd_summary *f = gcd_graph_summary(w->graph);
    gcdump_put_u8(o, is_64bit);
    gcdump_put_u32(o, ONE_AS_FLOAT); /* fractions of objects and bytes: all, not sampled */
    gcdump_put_u32(o, ONE_AS_FLOAT);
    gcdump_put_u8(o, GCDUMP_NULL); /* JSHeapInfo */
    gcdump_put_u8(o, GCDUMP_NULL); /* DotNetHeapInfo */
    GCD_TRY(gcdump_put_log(o, w->graph, w->notes, w->options->context.alloc, err));
    gcdump_put_u64(o, collected_ticks(f));
    gcdump_put_string_or_null(o, ""); /* machine */
    gcdump_put_string_or_null(o, f->process_name[0] == '\0' && w->options->name != NULL
                                     ? w->options->name
                                     : f->process_name);
    gcdump_put_u32(o, f->process <= INT32_MAX ? (uint32_t)f->process : 0);
    gcdump_put_u64(o, 0); /* memory committed, working set: unknown */
    gcdump_put_u64(o, 0);
    gcdump_put_u32(o, 0); /* multipliers of the types: none */
    return GCD_OK;
}

static gcd_status put_file(struct gcdump *w, struct gcd_error *err)
{
    struct gcdump_out *o = &w->out;
    unsigned is_64bit = gcd_graph_summary(w->graph)->trace.ptr_bytes != 4;
    GCD_TRY(walk_sizes(w, err));
    gcdump_put_string(o, "!FastSerialization.1");
    gcdump_put_begin(o, "GCHeapDump", 10, 8);
    gcdump_put_begin(o, "Graphs.MemoryGraph", 1, 0);
    gcdump_put_u64(o, w->total_size);
    gcdump_put_u32(o, 0); /* the root's number */
    put_types(w);
    gcdump_put_u32(o, w->node_count);
    GCD_TRY(put_both(w, err));
    gcdump_put_u32(o, w->node_count);
    GCD_TRY(walk_addresses(w, err));
    gcdump_put_u8(o, GCDUMP_BYTE);
    gcdump_put_u8(o, is_64bit);
    gcdump_put_u8(o, GCDUMP_END);
    GCD_TRY(put_facts(w, is_64bit, err));
    gcdump_put_u8(o, GCDUMP_SKIP); /* InteropInfo: null */
    gcdump_put_u32(o, 0);
    gcdump_put_u8(o, GCDUMP_NULL);
    uint64_t region_end = gcdump_out_offset(o);
    gcdump_put_u8(o, GCDUMP_STRING);
    gcdump_put_string(o, "gcdumpc");
    gcdump_put_u8(o, GCDUMP_END);
    gcdump_put_u8(o, GCDUMP_END); /* of all objects */
    uint64_t table = gcdump_out_offset(o);
    /* no reader looks at references that nothing uses */
    gcdump_put_u32(o, 3);
    gcdump_put_u32(o, (uint32_t)region_end);
    gcdump_put_u32(o, GCDUMP_SUM_MARK);
    gcdump_out_flush(o);
    gcdump_put_u32(o, gcd_sink_sum(o->sink));
    uint64_t trailer = gcdump_out_offset(o);
    gcdump_put_u32(o, (uint32_t)table);
    gcdump_put_u32(o, (uint32_t)trailer);
    if (o->st != GCD_OK || trailer > w->limits->file_bytes)
        return gcd_fail(err, GCD_E_LIMIT, "the names do not fit into a gcdump");
    return GCD_OK;
}

gcd_status gcdump_write(const struct gcd_graph *g, struct gcd_sink *s,
                        const struct gcd_write_options *options, const struct gcdump_limits *limits,
                        struct gcd_write_notes *notes, struct gcd_error *err)
{
    struct gcdump w = {
        .graph = g,
        .options = options,
        .limits = limits,
        .notes = notes,
        .objects = gcd_graph_node_count(g),
        .unknown = gcd_graph_unknown(g),
        .types = gcd_graph_summary(g)->type_count,
    };
    struct gcd_alloc alloc = gcd_alloc_or_default(options->context.alloc);
    GCD_TRY(number_places(&w, err));
    w.type_size = gcd_mem_new_array(&alloc, w.types, sizeof *w.type_size);
    if (w.type_size == NULL)
        return gcd_fail_nomem(err, "writing the types");
    gcd_sink_sum_begin(s);
    gcdump_out_init(&w.out, s);
    gcd_status st = put_file(&w, err);
    gcdump_out_flush(&w.out);
    gcd_mem_free(&alloc, w.type_size, w.types * sizeof *w.type_size);
    GCD_TRY(st);
    write_note_root_losses(notes, g, false);
    write_note_fields(notes, gcd_graph_summary(g));
    write_note_loss(notes, gcd_graph_dependent_count(g),
                    "dependent handle becomes a reference of its key",
                    "dependent handles become references of their keys");
    write_note_loss(
        notes, w.clamped,
        "object is larger than the 2 GiB that a gcdump can store: it counts as 2147483647 bytes",
        "objects are larger than the 2 GiB that a gcdump can store: they count as 2147483647 "
        "bytes");
    return gcd_sink_status(s, err);
}

static gcd_status write_graph(const struct gcd_graph *g, struct gcd_sink *s,
                              const struct gcd_write_options *options,
                              struct gcd_write_notes *notes, struct gcd_error *err)
{
    return gcdump_write(g, s, options, &gcdump_limits, notes, err);
}

const struct gcd_format gcd_w_gcdump = {
    .name = "gcdump",
    .suffix = ".gcdump",
    .about = "heap graph of dotnet-gcdump, PerfView, Visual Studio",
    .size_percent = 40,
    .names = GCD_NAMES_CSHARP,
    .write_graph = write_graph,
};
