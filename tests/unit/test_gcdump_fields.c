/*
 * The reader of .gcdump field by field: false counts, the log in our own files, times, generations,
 * versions, at the limits of what is valid.
 */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "read/read.h"
#include "support/run_graph.h"
#include "support/tb_gcdump.h"

static struct gcd_graph *g;
static struct gcd_error err;

static int teardown(void **state)
{
    (void)state;
    gcd_graph_free(g);
    g = NULL;
    return 0;
}

/* Writes into G, over what was there. */
static gcd_status read_bytes(const void *p, size_t n, const struct gcd_graph_options *options)
{
    gcd_graph_free(g);
    g = NULL;
    err = (struct gcd_error)GCD_ERROR_INIT;
    return run_graph_read(&gcd_r_gcdump, p, n, options, &g, &err);
}

static const struct tb_gcdump_type two_types[] = { { "UNDEFINED", 0, NULL }, { "A", 8, NULL } };
/* the root; with an address it would be an object, which is damage */
static const struct tb_gcdump_node one_node = { .type = 1, .size = -1 };

static gcd_status read_with(const struct tb_gcdump_options *o)
{
    struct tb_bytes b;
    tb_gcdump_file(&b, o, two_types, 2, &one_node, 1);
    gcd_status st = read_bytes(b.p, b.n, NULL);
    tb_free(&b);
    return st;
}

/* ---- counts ---- */

/* A file with TYPES types without names and COUNT entries that name them later; all entries are
 * present. */
static void deferred_file(struct tb_bytes *ret, uint32_t types, uint32_t count)
{
    struct tb_gcdump f;
    tb_gcdump_init(&f, 4);
    tb_gcdump_begin(&f, "GCHeapDump", 10, 8);
    tb_gcdump_begin(&f, "Graphs.MemoryGraph", 1, 1);
    tb_u64(&f.out, 8);
    tb_u32(&f.out, 0);
    tb_u32(&f.out, types);
    for (uint32_t i = 0; i < types; i++) {
        tb_gcdump_string(&f, i == 0 ? "UNDEFINED" : NULL);
        tb_u32(&f.out, 8);
        tb_gcdump_string(&f, NULL);
    }
    tb_u32(&f.out, 1);
    tb_u32(&f.out, 2);
    tb_u32(&f.out, 4);
    tb_put(&f.out, "\0\0\x02\0", 4); /* the undefined one; type 1, no children */
    uint32_t region = tb_gcdump_region(&f);
    tb_u32(&f.out, count);
    for (uint32_t i = 0; i < count; i++) {
        tb_u32(&f.out, 0x700 + i);
        tb_gcdump_null(&f);
        tb_gcdump_string(&f, NULL);
    }
    tb_gcdump_region_end(&f, region);
    tb_u32(&f.out, 1);
    tb_u64(&f.out, 0x1000);
    tb_gcdump_end(&f);
    tb_u8(&f.out, 1);
    tb_u32(&f.out, 0x3f800000);
    tb_u32(&f.out, 0x3f800000);
    tb_gcdump_null(&f);
    tb_gcdump_null(&f);
    for (unsigned i = 0; i < 5; i++)
        if (i == 1)
            tb_u64(&f.out, 0);
        else if (i == 4)
            tb_u32(&f.out, 77);
        else
            tb_gcdump_string(&f, NULL);
    tb_zeros(&f.out, 16);
    tb_u32(&f.out, 0);
    tb_gcdump_end(&f);
    tb_gcdump_close(&f);
    *ret = f.out;
}

static void not_more_deferred_types_than_types(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= 5; count++) {
        struct tb_bytes b;
        deferred_file(&b, 3, count);
        assert_int_equal(read_bytes(b.p, b.n, NULL), count <= 3 ? GCD_OK : GCD_E_FORMAT);
        if (count <= 3)
            assert_string_equal(gcd_graph_summary(g)->types[0].name,
                                count >= 2 ? "TypeID(0x701)" : "Type(0x1)");
        tb_free(&b);
    }
}

/* Each count or length that is one too large, by its position; everything else in the file is
 * right. */
static void not_as_many_multipliers_as_types(void **state)
{
    (void)state;
    for (uint32_t n = 0; n <= 3; n++) {
        assert_int_equal(read_with(&(struct tb_gcdump_options){
                             .label_bytes = 4, .version = 10, .multipliers = n }),
                         n == 0 || n == 2 ? GCD_OK : GCD_E_FORMAT);
        if (g != NULL) /* with them it is a sample */
            assert_int_equal(gcd_graph_summary(g)->verdict.complete, n == 0);
    }
}

static void the_root_is_one_of_the_nodes(void **state)
{
    (void)state;
    assert_int_equal(
        read_with(&(struct tb_gcdump_options){ .label_bytes = 4, .version = 10, .root = 0 }),
        GCD_OK);
    assert_int_equal(gcd_graph_summary(g)->root_count, 1);
    assert_int_equal(
        read_with(&(struct tb_gcdump_options){ .label_bytes = 4, .version = 10, .root = 1 }),
        GCD_E_FORMAT);
    assert_non_null(strstr(err.msg, "the root is not one of the nodes"));
}

/* Largest block that was asked for. */
static void *note_largest(void *ctx, void *p, size_t old_bytes, size_t new_bytes)
{
    size_t *largest = ctx;
    (void)old_bytes;
    *largest = new_bytes > *largest ? new_bytes : *largest;
    if (new_bytes > 0)
        return realloc(p, new_bytes);
    free(p);
    return NULL;
}

/* A count larger than the bytes after it could hold gets no memory: the u32 at AT, in a large file.
 */
static void expect_no_room_for(const struct tb_bytes *b, const uint8_t *at, uint32_t count)
{
    size_t largest = 0, off = (size_t)(at - b->p);
    struct gcd_alloc alloc = { .resize = note_largest, .ctx = &largest };
    for (unsigned i = 0; i < 4; i++)
        b->p[off + i] = (uint8_t)(count >> 8 * i);
    assert_int_equal(read_bytes(b->p, b->n, &(struct gcd_graph_options){ .context.alloc = &alloc }),
                     GCD_E_FORMAT);
    if (largest > 3 * b->n)
        fail_msg("count %u: %zu bytes for a file of %zu", (unsigned)count, largest, b->n);
}

static void counts_beyond_the_file_get_no_memory(void **state)
{
    (void)state;
    enum { LOG = 1 << 20 };
    static const char total[] = "\x08\0\0\0\0\0\0\0\0\0\0\0\x02",
                      segment[] = "\x11\0\0\0GCHeapDumpSegment";
    char *log = malloc(LOG);
    struct tb_bytes b;
    assert_non_null(log);
    memset(log, 'x', LOG - 1);
    log[LOG - 1] = '\0';
    for (unsigned i = 0; i < 2; i++) {
        tb_gcdump_file(&b,
                       &(struct tb_gcdump_options){
                           .label_bytes = 4, .version = 10, .segments = 1, .log = log },
                       two_types, 2, &one_node, 1);
        assert_int_equal(read_bytes(b.p, b.n, NULL), GCD_OK);
        uint8_t *found = i == 0 ? memmem(b.p, b.n, total, sizeof total - 1)
                                : memmem(b.p, b.n, segment, sizeof segment - 1);
        assert_non_null(found);
        /* after the root; before the first segment, of a class that is new */
        const uint8_t *count = i == 0 ? found + 12 : found - 15;
        assert_int_equal(*count, i == 0 ? 2 : 1);
        expect_no_room_for(&b, count, LOG);
        expect_no_room_for(&b, count, LOG / 2);
        expect_no_room_for(&b, count, UINT32_MAX);
        tb_free(&b);
    }
    free(log);
}

/* ---- nodes ---- */

/* Nodes of two_types without children, the offset of the first one at *RET_OFFSET in B. */
static void node_file(struct tb_bytes *b, uint32_t *ret_blob_bytes, uint8_t **ret_offset)
{
    /* two offsets, the size of the blob, the blob */
    static const char nodes[] = "\x02\0\0\0\x04\0\0\0\x06\0\0\0\0\0\x02\0\x02\0";
    const struct tb_gcdump_node two[] = { one_node, { .type = 1, .size = -1, .address = 16 } };
    tb_gcdump_file(b, &(struct tb_gcdump_options){ .label_bytes = 4, .version = 10 }, two_types, 2,
                   two, 2);
    *ret_blob_bytes = 6;
    *ret_offset = memmem(b->p, b->n, nodes, sizeof nodes - 1);
    assert_non_null(*ret_offset);
}

static void places_of_nodes(void **state)
{
    (void)state;
    struct tb_bytes b;
    uint32_t n;
    uint8_t *offset;
    node_file(&b, &n, &offset);
    const struct {
        uint32_t at;
        const char *why;
    } rows[] = {
        { 2, "" },
        { 4, "" },
        { n - 1, "impossible size" },
        { n, "outside the block" },
        { n + 1, "outside the block" },
        { UINT32_MAX, "outside the block" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned second = 0; second < 2; second++) {
            tb_free(&b);
            node_file(&b, &n, &offset);
            for (unsigned k = 0; k < 4; k++)
                offset[4 * second + k] = (uint8_t)(rows[i].at >> 8 * k);
            gcd_status st = read_bytes(b.p, b.n, NULL);
            assert_int_equal(st, rows[i].why[0] == '\0' ? GCD_OK : GCD_E_FORMAT);
            if (strstr(err.msg, rows[i].why) == NULL)
                fail_msg("row %zu: %s", i, err.msg);
        }
    tb_free(&b);
}

static void sizes_of_nodes(void **state)
{
    (void)state;
    static const struct {
        int32_t of_type, own;
        bool good;
        uint64_t size;
    } rows[] = {
        { 8, -1, true, 8 },   { 0, -1, true, 0 },          { INT32_MAX, -1, true, INT32_MAX },
        { -1, -1, false, 0 }, { INT32_MIN, -1, false, 0 }, { -1, 24, true, 24 },
        { 8, 0, true, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tb_gcdump_type types[] = { { "UNDEFINED", 0, NULL },
                                                { "A", rows[i].of_type, NULL } };
        const struct tb_gcdump_node only = { .type = 1, .size = rows[i].own, .address = 8 };
        struct tb_bytes b;
        tb_gcdump_file(&b, &(struct tb_gcdump_options){ .label_bytes = 4, .version = 10 }, types, 2,
                       &only, 1);
        assert_int_equal(read_bytes(b.p, b.n, NULL), rows[i].good ? GCD_OK : GCD_E_FORMAT);
        assert_true(rows[i].good ? gcd_graph_node_size(g, 0) == rows[i].size
                                 : strstr(err.msg, "impossible size") != NULL);
        tb_free(&b);
    }
}

/* A node that is referred to but never described is no object, and is not counted as skipped.  With
 * addresses, the one at 0 is null. */
static void nodes_without_description(void **state)
{
    (void)state;
    for (unsigned without = 0; without < 2; without++) {
        const struct tb_gcdump_node nodes[] = {
            { .type = 1, .size = -1, .address = 8, .child_count = 3, .children = { 1, 2, 3 } },
            { .undefined = true, .address = 16 },
            { .undefined = true },
            { .type = 1, .size = -1, .address = 32 },
        };
        struct tb_bytes b;
        tb_gcdump_file(&b,
                       &(struct tb_gcdump_options){
                           .label_bytes = 4, .version = 10, .no_addresses = without == 1 },
                       two_types, 2, nodes, 4);
        assert_int_equal(read_bytes(b.p, b.n, NULL), GCD_OK);
        const struct gcd_graph_notes *n = gcd_graph_notes(g);
        assert_true(gcd_graph_node_count(g) == 2 && gcd_graph_edge_count(g) == 1 &&
                    n->edges_dangling == 1 + without && n->objects_dropped == 0);
        tb_free(&b);
    }
}

/* Nodes that share one description are detected early, not after all of them have been read. */
static void made_up_nodes_one_upon_the_other(void **state)
{
    (void)state;
    enum { NODES = 200, CHILDREN = 6 };
    const struct tb_gcdump_type types[] = { { "UNDEFINED", 0, NULL }, { "[made up]", 0, NULL } };
    struct tb_gcdump_node nodes[NODES];
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i] = (struct tb_gcdump_node){ .type = 1, .size = -1 };
    nodes[0].child_count = CHILDREN;
    for (uint32_t i = 0; i < CHILDREN; i++)
        nodes[0].children[i] = 1; /* the next one: if it belongs to the last node, none */
    struct tb_bytes b;
    tb_gcdump_file(
        &b, &(struct tb_gcdump_options){ .label_bytes = 4, .version = 10, .no_addresses = true },
        types, 2, nodes, NODES);
    assert_int_equal(read_bytes(b.p, b.n, NULL), GCD_OK);
    static const char begin[] = "\x02\0\0\0\x0a\0\0\0\x0c\0\0\0";
    uint8_t *offsets = memmem(b.p, b.n, begin, sizeof begin - 1);
    assert_non_null(offsets);
    for (size_t i = 1; i < NODES; i++)
        memcpy(offsets + 4 * i, offsets, 4);
    assert_int_equal(read_bytes(b.p, b.n, NULL), GCD_E_FORMAT);
    assert_non_null(strstr(err.msg, "the nodes overlap"));
    tb_free(&b);
}

/* ---- compressed files ---- */

/* The file is kept in memory, so its size is bounded by the bytes read: 256 MiB, beyond that 64
 * to 1. */
static void compressed_by_too_much(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    static uint8_t zeros[MIB];
    struct tb_bytes one = { NULL, 0, 0 }, b = { NULL, 0, 0 };
    z_stream z = { .next_in = zeros, .avail_in = MIB };
    tb_zeros(&one, 8192);
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = one.p;
    z.avail_out = (uInt)one.n;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    (void)deflateEnd(&z);
    for (unsigned i = 0; i < 300; i++)
        tb_put(&b, one.p, z.total_out);
    assert_int_equal(read_bytes(b.p, b.n, NULL), GCD_E_LIMIT);
    assert_string_equal(err.msg, "its compression ratio is above 64 to 1, which no heap reaches");
    b.n = 200 * z.total_out;
    assert_int_equal(read_bytes(b.p, b.n, NULL), GCD_E_UNSUPPORTED); /* all of it was read */
    tb_free(&one);
    tb_free(&b);
}

/* ---- versions ---- */

static void versions_of_files(void **state)
{
    (void)state;
    for (uint32_t version = 2; version <= 12; version++)
        for (unsigned wide = 0; wide < 2; wide++) {
            struct tb_gcdump_options o = {
                .label_bytes = 4, .version = version, .wide = wide != 0, .is_64bit = true, .pid = 5
            };
            gcd_status st = read_with(&o);
            assert_int_equal(st, version >= 4 && version != 8 ? GCD_OK : GCD_E_UNSUPPORTED);
            if (st != GCD_OK)
                continue;
            const struct gcd_summary *f = gcd_graph_summary(g);
            assert_true(f->trace.format_version == version &&
                        f->process == (version >= 5 ? 5 : 0) && f->trace.process == f->process);
            assert_true(f->trace.ptr_bytes == 8 && f->dumps == 1 && f->walk_number == 1 &&
                        f->objects == 1);
        }
}

/* ---- the process ---- */

static void times(void **state)
{
    (void)state;
    const uint64_t epoch = UINT64_C(621355968000000000), last = UINT64_C(3155378975999999999);
    const struct {
        uint64_t ticks;
        const char *log;
        int64_t ms;
    } rows[] = {
        { 0, NULL, INT64_MIN },
        { 1, NULL, INT64_C(-62135596799999) },
        { epoch, NULL, 0 },
        { epoch + 12345678, NULL, 1234 },
        { last, NULL, INT64_C(253402300799999) },
        { last + 1, NULL, INT64_MIN },
        { UINT64_MAX, NULL, INT64_MIN },
        /* time of the GC; the recording started earlier */
        { epoch + 12345678, "gcdumpc: complete\ngc start ns: 1000000000\n", 234 },
        /* not our log */
        { epoch + 12345678, "gc start ns: 1000000000\n", 1234 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tb_gcdump_options o = {
            .label_bytes = 4, .version = 10, .ticks = rows[i].ticks, .log = rows[i].log
        };
        assert_int_equal(read_with(&o), GCD_OK);
        if (gcd_graph_summary(g)->trace.start_unix_ms != rows[i].ms)
            fail_msg("row %zu: %lld", i, (long long)gcd_graph_summary(g)->trace.start_unix_ms);
    }
}

static void read_log(const char *log)
{
    assert_int_equal(
        read_with(&(struct tb_gcdump_options){ .label_bytes = 4, .version = 10, .log = log }),
        GCD_OK);
}

static void each_line_of_our_log(void **state)
{
    (void)state;
    read_log("gcdumpc: complete\ncommand line: a b: c\nos: o\narch: r\nruntime: 1.2.3\ngc number: "
             "11\ngc depth: 12\ngc reason: 13\ngc type: 14\n"
             "gc heaps: 15\ngc start ns: 16\ngc end ns: 17\nreferences missing: 18\nreferences "
             "dangling: 19\nroots dangling: 20\n"
             "dependent handles dropped: 21\nobjects dropped: 22\n");
    const struct gcd_summary *f = gcd_graph_summary(g);
    const struct gcd_graph_notes *n = gcd_graph_notes(g);
    assert_string_equal(f->command_line, "a b: c");
    assert_string_equal(f->os, "o");
    assert_string_equal(f->arch, "r");
    assert_string_equal(f->runtime_version, "1.2.3");
    assert_true(f->gc_number == 11 && f->gc_depth == 12 && f->gc_reason == 13 && f->gc_type == 14 &&
                f->gc_heaps == 15);
    assert_true(f->gc_start_ns == 16 && f->gc_end_ns == 17);
    assert_true(n->edges_missing == 18 && n->edges_dangling == 19 && n->roots_dangling == 20);
    assert_true(n->dependents_dropped == 21 && n->objects_dropped == 22);
    const struct gcd_verdict *v = &gcd_graph_summary(g)->verdict;
    assert_true(v->complete && !v->unverified && v->reason_count == 0);
}

static void numbers_of_our_log(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t small;
        int64_t time;
        uint64_t large;
    } rows[] = {
        { "4294967295", UINT32_MAX, UINT32_MAX, UINT32_MAX },
        { "4294967296", UINT32_MAX, INT64_C(4294967296), UINT64_C(4294967296) },
        { "9223372036854775807", UINT32_MAX, INT64_MAX, INT64_MAX },
        { "9223372036854775808", UINT32_MAX, INT64_MAX, UINT64_C(9223372036854775808) },
        { "18446744073709551615", UINT32_MAX, INT64_MAX, UINT64_MAX },
        { "18446744073709551616", UINT32_MAX, INT64_MAX, UINT64_MAX },
        { "99999999999999999999", UINT32_MAX, INT64_MAX, UINT64_MAX },
        { "12x3", 12, 12, 12 },
        { "x", 0, 0, 0 },
        { "", 0, 0, 0 },
        { "/0", 0, 0, 0 },
        { ":0", 0, 0, 0 },
        { "09", 9, 9, 9 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char log[200];
        (void)snprintf(log, sizeof log,
                       "gcdumpc: complete\ngc number: %s\ngc end ns: %s\nobjects dropped: %s\n"
                       "gc numbers: 7\n gc depth: 8\ngc type:9\n",
                       rows[i].text, rows[i].text, rows[i].text);
        read_log(log);
        const struct gcd_summary *f = gcd_graph_summary(g);
        assert_true(f->gc_number == rows[i].small && f->gc_end_ns == rows[i].time &&
                    gcd_graph_notes(g)->objects_dropped == rows[i].large);
        assert_true(f->gc_depth == 0 && f->gc_type == 0);
    }
}

static void verdicts_of_logs(void **state)
{
    (void)state;
    static const struct {
        const char *log;
        bool complete, unverified;
        size_t reasons;
    } rows[] = {
        { "gcdumpc: complete\n", true, false, 0 },
        { "gcdumpc: unverified\n", true, true, 0 },
        { "gcdumpc: complete", true, true, 0 },
        { "gcdumpc: completed\n", true, true, 0 },
        { "x\ngcdumpc: complete\n", true, true, 0 },
        { "", true, true, 0 },
        { "gcdumpc: incomplete: events_lost=1\n", false, false, 1 },
        { "gcdumpc: incomplete:\n", true, true, 0 },
        { "gcdumpc: incomplete: nothing_known=1\n", true, true, 0 },
        { "gcdumpc: incomplete: events_lost=1 no_gc_end=0 edges_lost=77\n", false, false, 3 },
        { "gcdumpc: incomplete: xevents_lost=1\n", true, true, 0 },
        { "gcdumpc: incomplete: events_lost\n", true, true, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        read_log(rows[i].log);
        const struct gcd_verdict *v = &gcd_graph_summary(g)->verdict;
        if (v->complete != rows[i].complete || v->unverified != rows[i].unverified ||
            v->reason_count != rows[i].reasons)
            fail_msg("row %zu: %d %d %zu", i, v->complete, v->unverified, v->reason_count);
    }
}

static const struct gcd_reason *reason_of(enum gcd_reason_code code)
{
    const struct gcd_verdict *v = &gcd_graph_summary(g)->verdict;
    for (size_t i = 0; i < v->reason_count; i++)
        if (v->reasons[i].code == code)
            return &v->reasons[i];
    fail_msg("no such reason");
    return NULL;
}

/* Text from other tools: without control characters, cut between two characters. */
static void reasons_of_logs(void **state)
{
    (void)state;
    read_log("gcdumpc: incomplete: events_lost=12 no_gc_end=0 edges_lost=18446744073709551615\n"
             "events_lost: a\x1b[31mb\tc\x01\x1f\x20~\x7f"
             "d\xc3\xa4\n"
             "edges_lost:none\nno_gc_end: \n");
    const struct gcd_reason *r = reason_of(GCD_REASON_EVENTS_LOST);
    assert_true(r->amount == 12);
    assert_string_equal(r->text, "a_[31mb_c__ ~_d\xc3\xa4");
    assert_string_equal(r->name, "events_lost");
    r = reason_of(GCD_REASON_EDGES_LOST);
    assert_true(r->amount == UINT64_MAX);
    assert_string_equal(r->text, "edges_lost"); /* no further line */
    assert_string_equal(reason_of(GCD_REASON_NO_GC_END)->text, "");
    const size_t room = sizeof r->text - 1;
    for (size_t before = room - 4; before <= room; before++) {
        char log[1000] = "gcdumpc: incomplete: events_lost=1\nevents_lost: ",
             expected[sizeof r->text] = "";
        size_t n = strlen(log);
        memset(log + n, 'x', before);
        memset(expected, 'x', before);
        (void)strcpy(log + n + before, "\xe2\x82\xac\xe2\x82\xac\n");
        if (before + 3 <= room)
            (void)strcpy(expected + before, "\xe2\x82\xac");
        else
            expected[before] = '\0';
        read_log(log);
        assert_string_equal(reason_of(GCD_REASON_EVENTS_LOST)->text, expected);
    }
}

/* ---- generations ---- */

static void generations_in_segments(void **state)
{
    (void)state;
    for (uint32_t version = 0; version < 2; version++) {
        struct tb_gcdump_options o = {
            .label_bytes = 4, .version = 10, .segments = 3, .segment_version = version
        };
        assert_int_equal(read_with(&o), GCD_OK);
        static const struct gcd_range expected[] = {
            { .start = 0x10000, .used_bytes = 0x1000, .generation = 2 },
            { .start = 0x11000, .used_bytes = 0x1000, .generation = 1 },
            { .start = 0x12000, .used_bytes = 0x1000, .generation = 0 },
            { .start = 0x20000, .used_bytes = 0x8000, .generation = 3 },
            { .start = 0x30000, .used_bytes = 0x8000, .generation = 4 },
        };
        assert_int_equal(gcd_graph_summary(g)->range_count, version == 1 ? 5 : 4);
        for (size_t i = 0; i < gcd_graph_summary(g)->range_count; i++) {
            const struct gcd_range *r = &gcd_graph_summary(g)->ranges[i];
            assert_true(r->start == expected[i].start && r->used_bytes == expected[i].used_bytes &&
                        r->reserved_bytes == r->used_bytes);
            assert_int_equal(r->generation, expected[i].generation);
        }
    }
}

/* ---- roots and their kinds ---- */

static void kinds_of_made_up_nodes(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool below_others;
        unsigned kind;
        uint32_t flags;
        const char *field;
    } rows[] = {
        { "[static vars]", false, GCD_ROOT_STATIC, 0, "" },
        { "[thread static vars]", false, GCD_ROOT_STATIC, 0, "" },
        { "[local vars]", false, GCD_ROOT_STACK, 0, "" },
        { "[other roots]", false, GCD_ROOT_OTHER, 0, "" },
        { "[strong Handles]", true, GCD_ROOT_HANDLE, 0, "" },
        { "[StrongHandle]", true, GCD_ROOT_HANDLE, 0, "" },
        { "[pinning Handles]", true, GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "" },
        { "[PinnedHandle]", true, GCD_ROOT_HANDLE, GCD_ROOT_PINNED, "" },
        { "[finalizer Handles]", true, GCD_ROOT_FINALIZER, 0, "" },
        { "[FinalizerQueue]", true, GCD_ROOT_FINALIZER, 0, "" },
        { "[other Handles]", true, GCD_ROOT_OTHER, 0, "" },
        { "[Dependent Handles]", true, GCD_ROOT_OTHER, 0, "" },
        { "[COM/WinRT Objects]", false, GCD_ROOT_COM, GCD_ROOT_REFCOUNTED, "" },
        { "[COM/WinRT Objects]", true, GCD_ROOT_HANDLE, GCD_ROOT_REFCOUNTED, "" },
        { "[static var A.field]", false, GCD_ROOT_STATIC, 0, "field" },
        { "[thread static var A.field]", true, GCD_ROOT_STATIC, 0, "field" },
        { "[what nobody knows]", false, GCD_ROOT_OTHER, 0, "" },
        { "[what nobody knows]", true, GCD_ROOT_OTHER, 0, "" },
        { "[static var A.b.c]", false, GCD_ROOT_STATIC, 0, "b.c" },
        { "[static var B.b.c]", false, GCD_ROOT_STATIC, 0, "c" },
        { "[static var nodot]", false, GCD_ROOT_STATIC, 0, "nodot" },
        { "[static var A.<x.y>z]", false, GCD_ROOT_STATIC, 0, "<x.y>z" },
        { "[static var B.<x.y>z]", false, GCD_ROOT_STATIC, 0, "<x.y>z" },
        { "[static var B<C.D>.e]", false, GCD_ROOT_STATIC, 0, "e" },
        { "[static var B[C.D].e]", false, GCD_ROOT_STATIC, 0, "e" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tb_gcdump_type types[] = { { "UNDEFINED", 0, NULL },
                                                { "[.NET Roots]", 0, NULL },
                                                { "[other roots]", 0, NULL },
                                                { rows[i].name, 0, NULL },
                                                { "A", 8, "/m.dll" } };
        const struct tb_gcdump_node nodes[] = {
            { .type = 1,
              .size = -1,
              .child_count = 1,
              .children = { rows[i].below_others ? 1 : 2 } },
            { .type = 2, .size = -1, .child_count = 1, .children = { 2 } },
            { .type = 3, .size = -1, .child_count = 1, .children = { 3 } },
            { .type = 4, .size = -1, .address = 0x1000 },
        };
        struct tb_bytes b;
        tb_gcdump_file(&b, &(struct tb_gcdump_options){ .label_bytes = 4, .version = 10 }, types, 5,
                       nodes, 4);
        assert_int_equal(read_bytes(b.p, b.n, NULL), GCD_OK);
        tb_free(&b);
        assert_int_equal(gcd_graph_summary(g)->root_count, 1);
        const struct gcd_root *r = &gcd_graph_summary(g)->roots[0];
        if (r->kind != rows[i].kind || r->flags != rows[i].flags ||
            strcmp(r->name, rows[i].field) != 0 || r->node != 0)
            fail_msg("%s: kind %u, flags %u, \"%s\"", rows[i].name, r->kind, r->flags, r->name);
        assert_int_equal(gcd_graph_node_count(g), 1);
    }
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, teardown)
    const struct CMUnitTest tests[] = {
        TEST(not_more_deferred_types_than_types),
        TEST(not_as_many_multipliers_as_types),
        TEST(the_root_is_one_of_the_nodes),
        TEST(counts_beyond_the_file_get_no_memory),
        TEST(places_of_nodes),
        TEST(sizes_of_nodes),
        TEST(nodes_without_description),
        TEST(made_up_nodes_one_upon_the_other),
        TEST(compressed_by_too_much),
        TEST(versions_of_files),
        TEST(times),
        TEST(each_line_of_our_log),
        TEST(numbers_of_our_log),
        TEST(verdicts_of_logs),
        TEST(reasons_of_logs),
        TEST(generations_in_segments),
        TEST(kinds_of_made_up_nodes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
