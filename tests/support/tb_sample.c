/*
 * The ready-made traces of tb.h.
 */
#include "tb.h"
#include "tb_names.h"

#include <stdlib.h>
#include <string.h>

#define HEAP      0x10100u /* first address of the heap: changing one byte never gives null */
#define OBJECT(i) (HEAP + 0x20u * (i))
#define TYPE(i)   (0x7000u + 0x10u * (i))
#define MODULE    0x6000u

static void sample_types(struct tb *t)
{
    tb_types(t,
             TB_LIST(struct tb_type,
                     { .id = TYPE(0),
                       .module = MODULE,
                       .token = 0x02000001,
                       .element_type = 0x12,
                       .name = "Shop.Customer" },
                     { .id = TYPE(1),
                       .token = 0x02000002,
                       .flags = 2,
                       .element_type = 0x0e,
                       .name = "System.String" },
                     { .id = TYPE(2),
                       .token = 0x02000000,
                       .flags = 8,
                       .element_type = 0x1d,
                       .name = "Größe[]",
                       .parameter = TYPE(0) },
                     { .id = TYPE(3), .module = MODULE, .token = 0x02000003, .element_type = 0x12 },
                     { .id = TYPE(4), .token = 0x02000004, .element_type = 0x12, .name = "" }));
}

/* Seven objects in two events, eight references in three; two types without a name. */
static void sample_walk(struct tb *t)
{
    tb_statics(t, TB_LIST(struct tb_static, { OBJECT(2), 0x5000, TYPE(2), "s_all" },
                          { 0, 0x5008, TYPE(0), "s_none" },
                          { OBJECT(0), 0x5010, TYPE(0), "s_\U0001F600" }));
    tb_edges(t, TB_LIST(uint64_t, OBJECT(1), OBJECT(2)));
    tb_nodes(t, TB_LIST(struct tb_node, { OBJECT(0), 32, TYPE(0), 2 },
                        { OBJECT(1), 26, TYPE(1), 0 }, { OBJECT(2), 88, TYPE(2), 4 }));
    tb_edges(t, TB_LIST(uint64_t, OBJECT(0), OBJECT(0), OBJECT(3)));
    tb_rcws(t, TB_LIST(uint64_t, OBJECT(6)));
    tb_ccws(t, TB_LIST(uint64_t, OBJECT(5), 0));
    tb_roots(t, TB_LIST(struct tb_root, { OBJECT(0), 0, 0, 0x8000 }, { 0, 0, 0, 0 },
                        { OBJECT(3), 1, 0, 0 }, { OBJECT(4), 2, 2, 0x9000 },
                        { OBJECT(1), 2, 1, 0x9008 }, { OBJECT(6), 9, 8, 0 }));
    tb_dependents(t, TB_LIST(struct tb_dependent, { OBJECT(4), OBJECT(5) },
                             { OBJECT(0), OBJECT(6) }, { 0, OBJECT(1) }));
    tb_nodes(t,
             TB_LIST(struct tb_node, { OBJECT(3), 24, TYPE(3), 1 }, { OBJECT(4), 24, TYPE(4), 0 },
                     { OBJECT(5), 22, TYPE(1), 0 }, { OBJECT(6), 24, TYPE(0), 1 }));
    tb_edges(t, TB_LIST(uint64_t, OBJECT(4), OBJECT(6), OBJECT(0)));
    tb_range(t, 0, HEAP, 0x100, 0x1000);
    tb_range(t, 3, 0x90000, 0, 0x10000);
}
#define SAMPLE_OBJECTS 7
#define SAMPLE_EDGES   8

static void sample_rundown(struct tb *t)
{
    uint64_t thread = t->thread;
    t->thread = 99;
    tb_runtime_info(t, 10, 0, 12, "/opt/shop");
    tb_module(t, MODULE, "/opt/shop/Shop.dll");
    tb_process_info(t, "/opt/shop --all", "Linux", "x64");
    t->thread = thread;
}

static void sample_dump(struct tb *t, uint32_t number)
{
    static const uint8_t other[4] = { 1, 2, 3, 4 };
    tb_event(t, "Shop-Events", 1, 0, other, sizeof other);
    tb_gc_start(t, number);
    tb_heap_count(t, 1);
    tb_range(t, 0, HEAP, 0x80, 0x1000); /* the layout before the GC */
    sample_types(t);
    sample_walk(t);
    tb_gc_end(t, number);
}

/* The GCStart is older than the walk, but another thread wrote it and its run comes later in the
 * file. */
static void sample_server(struct tb *t)
{
    t->time_ns = 20000;
    sample_types(t);
    sample_walk(t);
    tb_gc_end(t, 3);
    tb_flush(t);
    t->thread = 8;
    t->time_ns = 10000;
    tb_gc_start(t, 3);
    tb_heap_count(t, 2);
    t->thread = 7;
    t->time_ns = 90000;
}

static void sample_two(struct tb *t)
{
    sample_dump(t, 1);
    tb_sequence_point(t, 3);
    sample_dump(t, 2);
}

/*
 * Another process in the same file, with its own walk at the same time, on a thread that ends.  The
 * GCStart has version 2 in its description, and version 0 in its label: {count, reason}.
 */
static void sample_processes(struct tb *t)
{
    static const uint8_t start[8] = { 1, 0, 0, 0, 1, 0, 0, 0 };
    tb_label_version(t, 5, 0);
    t->labels = 5;
    tb_event(t, TB_RUNTIME, 1, 2, start, sizeof start);
    t->labels = 0;
    sample_types(t);
    t->thread = 50;
    t->process = 4321;
    tb_gc_start(t, 9);
    t->thread = 7;
    sample_walk(t);
    uint32_t index[TB_BULKS];
    memcpy(index, t->index, sizeof index);
    memset(t->index, 0, sizeof t->index);
    bool statics = t->statics;
    t->thread = 50;
    tb_nodes(t,
             TB_LIST(struct tb_node, { OBJECT(0), 48, TYPE(0), 1 }, { OBJECT(9), 48, TYPE(9), 0 }));
    tb_edges(t, TB_LIST(uint64_t, OBJECT(9)));
    tb_gc_end(t, 9);
    tb_remove_thread(t);
    t->thread = 7;
    t->process = 1234;
    memcpy(t->index, index, sizeof index);
    t->statics = statics;
    tb_gc_end(t, 1);
}

/* Names from the files of modules: a complete batch, then one that lacks a variable. */
static void sample_names(struct tb *t)
{
    sample_dump(t, 1);
    t->thread = 98;
    for (uint32_t missing = 0; missing < 2; missing++) {
        tb_names(t, 1, 1, 1, 2, 1 + missing);
        tb_named_module(t, MODULE, "Shop", "0123456789abcdef");
        tb_named_type(t, TYPE(0), "Shop.Outer", 0);
        tb_named_type(t, TYPE(2), "Größen`1+Inner", 0);
        tb_named_static(t, 0x5000, "s_all", "Shop.Holder", "Shop.Holder.s_all");
    }
    t->thread = 7;
}

const struct tb_sample *tb_sample(size_t i, struct tb_bytes *ret)
{
    static const struct {
        struct tb_sample about;
        enum tb_format format;
        unsigned ptr_bytes;
        void (*fill)(struct tb *t);
    } samples[] = {
        { { "v4", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V4, 8, NULL },
        { { "v4-plain", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V4_PLAIN, 8, NULL },
        { { "v4-32bit", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V4, 4, NULL },
        { { "v4-server", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V4, 8, sample_server },
        { { "v4-two-dumps", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V4, 8, sample_two },
        { { "v3", SAMPLE_OBJECTS, SAMPLE_EDGES, false }, TB_V3, 8, NULL },
        { { "v3-32bit", SAMPLE_OBJECTS, SAMPLE_EDGES, false }, TB_V3, 4, NULL },
        { { "v6", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V6, 8, NULL },
        { { "v6-plain", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V6_PLAIN, 8, NULL },
        { { "v6-two-dumps", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V6, 8, sample_two },
        { { "v6-two-processes", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V6, 8, sample_processes },
        { { "v4-names", SAMPLE_OBJECTS, SAMPLE_EDGES, true }, TB_V4, 8, sample_names },
    };
    if (i >= sizeof samples / sizeof *samples)
        return NULL;
    struct tb t;
    tb_init(&t, samples[i].format, samples[i].ptr_bytes);
    t.block_bytes = 300; /* several blocks, so that something is cut and carried over */
    if (samples[i].fill != NULL)
        samples[i].fill(&t);
    else
        sample_dump(&t, 1);
    sample_rundown(&t);
    tb_close(&t);
    *ret = t.out;
    t.out = (struct tb_bytes){ NULL, 0, 0 };
    tb_done(&t);
    return &samples[i].about;
}
