#include "support/tb_gcdump.h"

#include <stdlib.h>
#include <string.h>

void tb_gcdump_init(struct tb_gcdump *g, unsigned label_bytes)
{
    memset(g, 0, sizeof *g);
    g->label_bytes = label_bytes;
    tb_u32(&g->out, 20);
    tb_put(&g->out, "!FastSerialization.1", 20);
}

void tb_gcdump_done(struct tb_gcdump *g)
{
    tb_free(&g->out);
}

void tb_gcdump_label(struct tb_gcdump *g, uint64_t label)
{
    if (g->label_bytes == 8)
        tb_u64(&g->out, label);
    else
        tb_u32(&g->out, (uint32_t)label);
}

void tb_gcdump_string(struct tb_gcdump *g, const char *utf8)
{
    struct tb_bytes units = { NULL, 0, 0 };
    if (utf8 == NULL) {
        tb_u32(&g->out, UINT32_MAX);
        return;
    }
    tb_utf16z(&units, utf8);
    tb_u32(&g->out, (uint32_t)(units.n / 2 - 1));
    for (size_t i = 0; i + 2 < units.n; i += 2) {
        unsigned u = units.p[i] | (unsigned)units.p[i + 1] << 8;
        if (u > 0x7ff)
            tb_u8(&g->out, 0xe0 | u >> 12);
        if (u > 0x7f)
            tb_u8(&g->out, u > 0x7ff ? 0x80 | (u >> 6 & 0x3f) : 0xc0 | u >> 6);
        tb_u8(&g->out, u > 0x7f ? 0x80 | (u & 0x3f) : u);
    }
    tb_free(&units);
}

uint64_t tb_gcdump_begin(struct tb_gcdump *g, const char *class_name, uint32_t version,
                         uint32_t minimum)
{
    uint64_t label = g->out.n;
    tb_u8(&g->out, 4);
    for (size_t i = 0; i < g->class_count; i++)
        if (strcmp(g->classes[i].name, class_name) == 0) {
            tb_u8(&g->out, 2);
            tb_gcdump_label(g, g->classes[i].label);
            return label;
        }
    if (g->class_count == sizeof g->classes / sizeof *g->classes)
        abort();
    (void)strcpy(g->classes[g->class_count].name, class_name);
    g->classes[g->class_count++].label = g->out.n;
    tb_u8(&g->out, 4);
    tb_u8(&g->out, 1);
    tb_u32(&g->out, version);
    tb_u32(&g->out, minimum);
    tb_gcdump_string(g, class_name);
    tb_u8(&g->out, 6);
    return label;
}

void tb_gcdump_end(struct tb_gcdump *g)
{
    tb_u8(&g->out, 6);
}

void tb_gcdump_null(struct tb_gcdump *g)
{
    tb_u8(&g->out, 1);
}

uint32_t tb_gcdump_region(struct tb_gcdump *g)
{
    tb_u32(&g->out, (uint32_t)g->forward_count);
    return (uint32_t)g->forward_count++;
}

void tb_gcdump_region_end(struct tb_gcdump *g, uint32_t region)
{
    g->forward[region] = g->out.n;
}

void tb_gcdump_cint(struct tb_bytes *b, int32_t v)
{
    int n = 1;
    while (n < 5 && (v < -(INT32_C(1) << (7 * n - 1)) || v >= INT32_C(1) << (7 * n - 1)))
        n++;
    for (int i = n - 1; i >= 0; i--)
        tb_u8(b, ((uint32_t)v >> (7 * i) & 0x7f) | (i > 0 ? 0x80u : 0));
}

void tb_gcdump_close(struct tb_gcdump *g)
{
    tb_u8(&g->out, 6);
    uint64_t table = g->out.n;
    tb_u32(&g->out, (uint32_t)g->forward_count);
    for (size_t i = 0; i < g->forward_count; i++)
        tb_gcdump_label(g, g->forward[i]);
    uint64_t trailer = g->out.n;
    tb_gcdump_label(g, table);
    tb_gcdump_label(g, trailer);
}

/* ---- whole files ---- */

static void put_count(struct tb_gcdump *g, const struct tb_gcdump_options *o, size_t n)
{
    if (o->wide)
        tb_u64(&g->out, n);
    else
        tb_u32(&g->out, (uint32_t)n);
}

static void put_nodes(struct tb_gcdump *g, const struct tb_gcdump_options *o,
                      const struct tb_gcdump_node *nodes, size_t count)
{
    struct tb_bytes blob = { NULL, 0, 0 };
    tb_u16(&blob, 0);
    put_count(g, o, count);
    for (size_t i = 0; i < count; i++) {
        const struct tb_gcdump_node *n = &nodes[i];
        tb_u32(&g->out, n->undefined ? 0 : (uint32_t)blob.n);
        if (n->undefined)
            continue;
        tb_gcdump_cint(&blob, (int32_t)(n->type << 1 | (n->size >= 0)));
        if (n->size >= 0)
            tb_gcdump_cint(&blob, n->size);
        tb_gcdump_cint(&blob, (int32_t)n->child_count);
        for (uint32_t k = 0; k < n->child_count; k++)
            tb_gcdump_cint(&blob, (int32_t)n->children[k] - (int32_t)i);
    }
    tb_u32(&g->out, (uint32_t)blob.n);
    tb_put(&g->out, blob.p, blob.n);
    tb_free(&blob);
}

/* Types with a name have an entry, too; all are of the same module. */
static void put_deferred(struct tb_gcdump *g, const struct tb_gcdump_type *types, size_t count)
{
    uint32_t region = tb_gcdump_region(g);
    uint64_t module = 0;
    tb_u32(&g->out, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        tb_u32(&g->out, types[i].name == NULL ? 0x1230 + (uint32_t)i : 0);
        if (types[i].name != NULL) {
            tb_gcdump_null(g);
        } else if (module != 0) {
            tb_u8(&g->out, 2);
            tb_gcdump_label(g, module);
        } else {
            module = tb_gcdump_begin(g, "Graphs.Module", 0, 0);
            tb_gcdump_string(g, "/app/Native.so");
            tb_zeros(&g->out, 20); /* base, size, time */
            tb_gcdump_string(g, "Native.pdb");
            tb_zeros(&g->out, 20);
            tb_gcdump_end(g);
        }
        tb_gcdump_string(g, i % 2 == 0 ? NULL : " (Bytes > 1K)");
    }
    tb_u8(&g->out, 0x77); /* something of a later version */
    tb_gcdump_region_end(g, region);
}

static void put_segments(struct tb_gcdump *g, const struct tb_gcdump_options *o)
{
    tb_u32(&g->out, o->segments);
    for (unsigned i = 0; i < o->segments; i++) {
        uint64_t start = UINT64_C(0x10000) * (i + 1);
        tb_gcdump_begin(g, "GCHeapDumpSegment", o->segment_version, o->segment_version);
        tb_u64(&g->out, start);
        tb_u64(&g->out, start + 0x8000);
        /* generations 0, 1, 2, one after the other */
        tb_u64(&g->out, i == 0 ? start + 0x3000 : 0);
        tb_u64(&g->out, i == 0 ? start + 0x2000 : 0);
        tb_u64(&g->out, i == 0 ? start + 0x1000 : 0);
        tb_u64(&g->out, i == 1 ? start + 0x8000 : 0); /* large objects */
        if (o->segment_version >= 1)
            tb_u64(&g->out, i == 2 ? start + 0x8000 : 0); /* pinned objects */
        tb_gcdump_end(g);
    }
}

static void put_process(struct tb_gcdump *g, const struct tb_gcdump_options *o)
{
    tb_gcdump_string(g, o->log);
    tb_u64(&g->out, o->ticks);
    tb_gcdump_string(g, NULL);
    tb_gcdump_string(g, o->process);
    tb_u32(&g->out, o->pid);
    tb_zeros(&g->out, 16);
}

static void put_facts(struct tb_gcdump *g, const struct tb_gcdump_options *o)
{
    tb_u8(&g->out, o->is_64bit);
    tb_u32(&g->out, o->multipliers > 0 ? 0x40000000 : 0x3f800000);
    tb_u32(&g->out, 0x3f800000);
    if (o->js) {
        tb_gcdump_begin(g, "JSHeapInfo", 0, 0);
        tb_gcdump_end(g);
    } else {
        tb_gcdump_null(g);
    }
    if (o->segments > 0) {
        tb_gcdump_begin(g, "DotNetHeapInfo", 0, 0);
        tb_u64(&g->out, 0);
        put_segments(g, o);
        tb_gcdump_end(g);
    } else {
        tb_gcdump_null(g);
    }
    put_process(g, o);
    tb_u32(&g->out, o->multipliers);
    for (uint32_t i = 0; i < o->multipliers; i++)
        tb_u32(&g->out, 0x40000000);
    if (o->no_tail)
        return;
    tb_u8(&g->out, 12);
    uint32_t region = tb_gcdump_region(g);
    if (o->interop) {
        tb_gcdump_begin(g, "InteropInfo", 0, 0);
        tb_u32(&g->out, 3);
        tb_u32(&g->out, 2);
        tb_u32(&g->out, 1);
        tb_u32(&g->out, 1);
        tb_u32(&g->out, 1);
        tb_zeros(&g->out, 2 * 40 + 32 + 33 + 16);
        tb_gcdump_string(g, "com.dll");
        tb_gcdump_end(g);
    } else {
        tb_gcdump_null(g);
    }
    tb_gcdump_region_end(g, region);
    tb_u8(&g->out, 13);
    tb_gcdump_string(g, "dotnet-gcdump");
    tb_u8(&g->out, 10); /* something of a later version */
    tb_u32(&g->out, 99);
}

/* A node may have a type that does not exist, which a reader has to notice. */
static uint64_t total_size(const struct tb_gcdump_type *types, size_t type_count,
                           const struct tb_gcdump_node *nodes, size_t node_count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < node_count; i++)
        if (!nodes[i].undefined && (nodes[i].size >= 0 || (size_t)nodes[i].type < type_count))
            sum += (uint64_t)(nodes[i].size >= 0 ? nodes[i].size : types[nodes[i].type].size);
    return sum;
}

void tb_gcdump_file(struct tb_bytes *ret, const struct tb_gcdump_options *o,
                    const struct tb_gcdump_type *types, size_t type_count,
                    const struct tb_gcdump_node *nodes, size_t node_count)
{
    struct tb_gcdump g;
    tb_gcdump_init(&g, o->label_bytes);
    tb_gcdump_begin(&g, "GCHeapDump", o->version, o->version < 8 ? 4 : 8);
    tb_gcdump_begin(&g, "Graphs.MemoryGraph", 1, o->deferred);
    tb_u64(&g.out, total_size(types, type_count, nodes, node_count));
    tb_u32(&g.out, o->root);
    tb_u32(&g.out, (uint32_t)type_count);
    for (size_t i = 0; i < type_count; i++) {
        tb_gcdump_string(&g, types[i].name);
        tb_u32(&g.out, (uint32_t)types[i].size);
        tb_gcdump_string(&g, types[i].module);
    }
    put_nodes(&g, o, nodes, node_count);
    if (o->deferred)
        put_deferred(&g, types, type_count);
    put_count(&g, o, node_count);
    for (size_t i = 0; i < node_count; i++)
        tb_u64(&g.out, o->no_addresses ? 0 : nodes[i].address);
    tb_u8(&g.out, 8);
    tb_u8(&g.out, o->is_64bit);
    tb_gcdump_end(&g);
    if (o->version >= 8) {
        put_facts(&g, o);
    } else {
        tb_zeros(&g.out, 25);
        if (o->version >= 5)
            put_process(&g, o);
        if (o->version >= 6)
            put_segments(&g, o);
        if (o->version >= 7)
            tb_u8(&g.out, o->is_64bit);
    }
    tb_gcdump_end(&g);
    tb_gcdump_close(&g);
    *ret = g.out;
}

/* ---- samples ---- */

static const struct tb_gcdump_type sample_types[] = {
    { "UNDEFINED", 0, NULL },
    { "Demo.Node[]", 32, "/app/Demo.dll" },
    { "Demo.Stra\xc3\x9f"
      "e\xf0\x9f\x98\x80",
      24, "/app/Demo.dll" },
    { "Demo.Never", -1, "" },
    { "[.NET Roots]", 0, NULL },
    { "[local vars]", 0, NULL },
    { "[other roots]", 0, NULL },
    { "[pinning Handles]", 0, NULL },
    { "[static vars]", 0, NULL },
    { "[static var Demo.Node[].First]", 0, NULL },
    { "[static var Demo.Never.<A.B>k__Field]", 0, NULL },
    { "[COM/WinRT Objects]", 0, NULL },
    { "[CCW 0x10 for type Demo.Node[]]", 200, NULL },
    { "[FinalizerQueue]", 0, NULL },
    { "[static var Demo.Lost+Inner.Field]", 0, NULL },
};

/* Nodes 1 .. 5 are objects, 6 was never described; 7 is the root. */
static const struct tb_gcdump_node sample_nodes[] = {
    { .type = 6, .size = -1, .child_count = 4, .children = { 9, 15, 16, 3 } },
    { .type = 1, .size = -1, .address = 0x1000, .child_count = 2, .children = { 2, 1 } },
    { .type = 1, .size = 300, .address = 0x1020, .child_count = 1, .children = { 1 } },
    { .type = 2, .size = -1, .address = 0x2000, .child_count = 1, .children = { 6 } },
    { .type = 2, .size = 0x7fffffff, .address = 0x3000, .child_count = 2, .children = { 5, 5 } },
    { .type = 1, .size = 0, .address = 0x8000000000 },
    { .undefined = true, .address = 0x7000 },
    { .type = 4, .size = -1, .child_count = 4, .children = { 8, 0, 10, 13 } },
    { .type = 5, .size = -1, .child_count = 2, .children = { 1, 1 } },
    { .type = 7, .size = -1, .child_count = 1, .children = { 4 } },
    { .type = 8, .size = -1, .child_count = 3, .children = { 11, 12, 17 } },
    { .type = 9, .size = -1, .child_count = 1, .children = { 2 } },
    { .type = 10, .size = -1, .child_count = 1, .children = { 3 } },
    { .type = 11, .size = -1, .child_count = 1, .children = { 14 } },
    { .type = 12, .size = -1, .child_count = 1, .children = { 2 } },
    { .type = 11, .size = -1, .child_count = 1, .children = { 5 } },
    { .type = 13, .size = -1, .child_count = 1, .children = { 6 } },
    { .type = 14, .size = -1, .child_count = 1, .children = { 1 } },
};

static const struct {
    const char *name;
    struct tb_gcdump_options o;
} samples[] = {
    { "plain", { .label_bytes = 4, .version = 10, .is_64bit = true } },
    { "full",
      { .label_bytes = 4,
        .version = 10,
        .segments = 3,
        .segment_version = 1,
        .interop = true,
        .multipliers = 15,
        .log = "a log",
        .process = "demo",
        .ticks = 635560373200000000,
        .pid = 77 } },
    { "deferred", { .label_bytes = 4, .version = 10, .deferred = true, .segments = 2 } },
    { "labels-8",
      { .label_bytes = 8,
        .version = 10,
        .segments = 3,
        .segment_version = 1,
        .deferred = true,
        .is_64bit = true } },
    { "wide", { .label_bytes = 4, .version = 10, .wide = true, .is_64bit = true } },
    { "wide-labels-8", { .label_bytes = 8, .version = 10, .wide = true, .deferred = true } },
    { "version-4", { .label_bytes = 4, .version = 4 } },
    { "version-5", { .label_bytes = 4, .version = 5, .process = "demo", .pid = 77 } },
    { "version-6", { .label_bytes = 4, .version = 6, .segments = 2 } },
    { "version-7", { .label_bytes = 4, .version = 7, .segments = 1, .is_64bit = true } },
    { "version-9", { .label_bytes = 4, .version = 9, .no_tail = true, .js = true } },
};

const char *tb_gcdump_sample(size_t i, struct tb_bytes *ret)
{
    struct tb_gcdump_type types[sizeof sample_types / sizeof *sample_types];
    if (i >= sizeof samples / sizeof *samples)
        return NULL;
    memcpy(types, sample_types, sizeof types);
    if (samples[i].o.deferred)
        types[2].name = types[1].name = NULL;
    struct tb_gcdump_options o = samples[i].o;
    o.root = 7;
    tb_gcdump_file(ret, &o, types, sizeof types / sizeof *types, sample_nodes,
                   sizeof sample_nodes / sizeof *sample_nodes);
    return samples[i].name;
}
