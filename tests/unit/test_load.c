/*
 * Two passes over one input: what happens if the second one finds something else or is impossible.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <gcdumpc/gcdumpc.h>

#include "base/mem.h"
#include "clr/clr_ids.h"
#include "load/load.h"
#include "support/check.h"
#include "support/run.h"
#include "support/tb.h"

static struct tb t;

static int setup(void **state)
{
    (void)state;
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    for (uint64_t i = 0; i < 10; i++) {
        tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000 + 24 * i, 24, 0x100, 1 }));
        tb_edges(&t, TB_LIST(uint64_t, 0x1000));
        tb_flush(&t);
    }
    tb_gc_end(&t, 1);
    tb_close(&t);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tb_done(&t);
    return 0;
}

/* Reads all objects of D; returns the final status. */
static gcd_status read_objects(struct gcd_dump *d, uint64_t *ret_count, struct gcd_error *err)
{
    struct gcd_objects *o;
    struct gcd_object object;
    gcd_status st = gcd_objects_new(d, &o, err);
    if (st != GCD_OK)
        return st;
    *ret_count = 0;
    while ((st = gcd_objects_next(o, &object, err)) == GCD_OK)
        ++*ret_count;
    gcd_objects_free(o);
    return st;
}

static void an_input_that_shrinks_is_no_complete_dump(void **state)
{
    (void)state;
    for (size_t cut = 200; cut < t.out.n; cut += 97) {
        uint8_t *copy = malloc(t.out.n);
        assert_non_null(copy);
        memcpy(copy, t.out.p, t.out.n);
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_input *in;
        struct gcd_dump *d;
        uint64_t count = 0;
        assert_int_equal(gcd_input_from_memory(copy, t.out.n, NULL, &in, &err), GCD_OK);
        assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
        assert_true(gcd_dump_summary(d)->verdict.complete);
        assert_int_equal(read_objects(d, &count, &err), GCD_END);
        assert_true(count == 10);
        memset(copy + cut, 0xee, t.out.n - cut);
        gcd_status st = read_objects(d, &count, &err);
        bool same = st == GCD_END && count == 10;
        if (!same) {
            assert_int_equal(st, GCD_E_FORMAT);
            assert_non_null(strstr(err.msg, "changed"));
        }
        struct gcd_graph *g = NULL;
        st = gcd_graph_from_dump(d, NULL, &g, &err);
        assert_int_equal(st, same ? GCD_OK : GCD_E_FORMAT);
        assert_true(same || strstr(err.msg, "changed") != NULL);
        gcd_graph_free(g);
        gcd_dump_free(d);
        gcd_input_free(in);
        free(copy);
    }
}

/* The bytes of the header of the file; a change there makes another format. */
#define HEADER ((size_t)64)

/* A byte changes between the two passes: objects and references that do not fit together make no
 * graph. */
static void an_input_that_changes(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in;
    struct gcd_dump *d;
    bool noticed = false;
    uint8_t *copy = malloc(t.out.n);
    assert_non_null(copy);
    memcpy(copy, t.out.p, t.out.n);
    assert_int_equal(gcd_input_from_memory(copy, t.out.n, NULL, &in, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
    for (size_t at = HEADER; at < t.out.n; at++) {
        struct gcd_graph *g = NULL;
        copy[at] ^= 1;
        gcd_status st = gcd_graph_from_dump(d, NULL, &g, &err);
        bool changed = st == GCD_E_FORMAT && strstr(err.msg, "changed") != NULL;
        assert_true(st == GCD_OK || changed);
        noticed |= changed;
        gcd_graph_free(g);
        copy[at] ^= 1;
    }
    assert_true(noticed);
    gcd_dump_free(d);
    gcd_input_free(in);
    free(copy);
}

static void without_an_input_there_are_no_objects(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dump *d;
    uint64_t count = 0;
    assert_int_equal(gcd_dump_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_dump_feed(d, t.out.p, t.out.n, &err), GCD_END);
    assert_true(gcd_dump_walk_events(d) > 0);
    assert_int_equal(read_objects(d, &count, &err), GCD_E_STATE);
    assert_int_equal(gcd_dump_close(d, NULL, &err), GCD_OK);
    assert_true(gcd_dump_summary(d)->objects == 10);
    assert_int_equal(read_objects(d, &count, &err), GCD_E_STATE);
    assert_int_equal(gcd_dump_feed(d, "x", 1, &err), GCD_E_STATE);
    assert_string_equal(err.msg, "the dump is closed");
    assert_int_equal(gcd_dump_close(d, NULL, &err), GCD_E_STATE);
    gcd_dump_free(d);
}

static void a_dump_says_how_far_its_bytes_can_be_decoded(void **state)
{
    (void)state;
    uint8_t *copy = malloc(t.out.n);
    assert_non_null(copy);
    memcpy(copy, t.out.p, t.out.n);
    memset(copy + t.out.n / 2, 0xff, t.out.n / 2);
    for (unsigned damaged = 0; damaged < 2; damaged++) {
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_dump *d;
        assert_int_equal(gcd_dump_new(NULL, &d, NULL), GCD_OK);
        assert_int_equal(gcd_dump_feed(d, t.out.p, t.out.n / 2, NULL), GCD_OK);
        assert_int_equal(gcd_dump_decoded(d, &err), GCD_NEED_MORE);
        const uint8_t *rest = (damaged ? copy : t.out.p) + t.out.n / 2;
        assert_int_equal(gcd_dump_feed(d, rest, t.out.n - t.out.n / 2, NULL),
                         damaged ? GCD_OK : GCD_END);
        assert_int_equal(gcd_dump_decoded(d, &err), damaged ? GCD_E_FORMAT : GCD_END);
        assert_int_equal(err.code, damaged ? GCD_E_FORMAT : GCD_OK);
        gcd_dump_free(d);
    }
    free(copy);
}

static void a_dump_that_is_none_is_empty(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dump *d;
    uint64_t count = 0;
    assert_int_equal(gcd_dump_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_dump_feed(d, t.out.p, 150, &err), GCD_OK);
    assert_int_equal(gcd_dump_walk_events(d), 0);
    assert_int_equal(gcd_dump_close(d, NULL, &err), GCD_E_TRUNCATED);
    assert_true(err.off == 150);
    assert_int_equal(gcd_dump_summary(d)->type_count, 0);
    assert_true(gcd_dump_summary(d)->root_count == 0 && gcd_dump_dependent_count(d) == 0);
    assert_int_equal(read_objects(d, &count, &err), GCD_E_STATE);
    gcd_dump_free(d);
}

static void a_walk_is_whole_when_its_gc_ends(void **state)
{
    (void)state;
    struct gcd_dump *d;
    size_t whole_at = 0;
    assert_int_equal(gcd_dump_new(NULL, &d, NULL), GCD_OK);
    for (size_t i = 0; i < t.out.n; i++) {
        gcd_status st = gcd_dump_feed(d, t.out.p + i, 1, NULL);
        if (st == GCD_END && whole_at == 0)
            whole_at = i + 1;
        assert_int_equal(st, whole_at == 0 ? GCD_OK : GCD_END);
    }
    assert_true(whole_at > 0 && whole_at < t.out.n); /* before the final sequence point */
    gcd_dump_free(d);
}

/* A complete recording in incomplete gzip data: its contents are not verified. */
static void a_sum_that_is_wrong_around_a_whole_recording(void **state)
{
    (void)state;
    for (unsigned damaged = 0; damaged < 2; damaged++) {
        struct tb_bytes packed = { NULL, 0, 0 };
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_input *in;
        struct gcd_dump *d;
        z_stream z = { .next_in = t.out.p, .avail_in = (uInt)t.out.n };
        assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        tb_zeros(&packed, deflateBound(&z, (uLong)t.out.n));
        z.next_out = packed.p;
        z.avail_out = (uInt)packed.n;
        assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
        packed.n = z.total_out;
        (void)deflateEnd(&z);
        packed.p[packed.n - 6] ^= (uint8_t)damaged;
        assert_int_equal(gcd_input_from_memory(packed.p, packed.n, NULL, &in, &err), GCD_OK);
        assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
        const struct gcd_verdict *v = &gcd_dump_summary(d)->verdict;
        assert_int_equal(v->complete, !damaged);
        assert_true(!damaged ||
                    (v->reason_count > 0 && v->reasons[0].code == GCD_REASON_INPUT_DAMAGED));
        gcd_dump_free(d);
        gcd_input_free(in);
        tb_free(&packed);
    }
}

static void who_is_told_to_stop_stops(void **state)
{
    (void)state;
    gcd_cancel_flag stop = true;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in;
    struct gcd_dump *d;
    uint64_t count;
    assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n, NULL, &in, &err), GCD_OK);
    assert_int_equal(
        gcd_dump_open(in, &(struct gcd_dump_options){ .context.cancel = &stop }, &d, &err),
        GCD_E_CANCELED);
    atomic_store(&stop, false);
    assert_int_equal(
        gcd_dump_open(in, &(struct gcd_dump_options){ .context.cancel = &stop }, &d, &err), GCD_OK);
    atomic_store(&stop, true);
    assert_int_equal(read_objects(d, &count, &err), GCD_E_CANCELED);
    gcd_dump_free(d);
    gcd_input_free(in);
}

/* ---- the graph of a dump ---- */

static void what_a_graph_takes_from_a_dump(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in;
    struct gcd_dump *d;
    struct gcd_graph *g;
    tb_done(&t);
    tb_init(&t, TB_V4, 8);
    tb_gc_start(&t, 1);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 24, 0x100, 1 }, { 0, 24, 0x100, 0 },
                         { 0x2000, 24, 0x100, 4 }));
    tb_edges(&t, TB_LIST(uint64_t, 0x2000, 0x1000)); /* three are missing, so none is certain */
    tb_statics(&t, TB_LIST(struct tb_static, { 0x1000, 0x77, 0x100, "cache" }));
    tb_roots(&t, TB_LIST(struct tb_root, { .object = 0x2000, .kind = 2, .flags = 1, .id = 0x88 }));
    tb_ccws(&t, TB_LIST(uint64_t, 0x1000));
    tb_gc_end(&t, 1);
    tb_close(&t);
    assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n, NULL, &in, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
    const struct gcd_verdict *v = &gcd_dump_summary(d)->verdict;
    assert_int_equal(v->reasons[v->reason_count - 1].code, GCD_REASON_EVENTS_DAMAGED);
    assert_string_equal(v->reasons[v->reason_count - 1].text, "1 object has no address");
    assert_int_equal(gcd_graph_from_dump(d, NULL, &g, &err), GCD_OK);
    assert_true(gcd_graph_node_count(g) == 2 && gcd_graph_notes(g)->objects_dropped == 1 &&
                gcd_graph_notes(g)->edges_missing == 5);
    assert_int_equal(gcd_graph_summary(g)->root_count, 3);
    const struct gcd_root *a = &gcd_graph_summary(g)->roots[0],
                          *b = &gcd_graph_summary(g)->roots[1],
                          *c = &gcd_graph_summary(g)->roots[2];
    assert_true(a->kind == GCD_ROOT_STATIC && a->id == 0x77 && a->node == 0 &&
                strcmp(a->name, "cache") == 0);
    assert_true(b->kind == 2 && b->id == 0x88 && b->node == 1 && b->flags == 1);
    assert_true(c->kind == GCD_ROOT_COM && c->node == 0 && c->flags == GCD_ROOT_REFCOUNTED);
    gcd_graph_free(g);
    gcd_dump_free(d);
    gcd_input_free(in);
}

/* ---- command lines of all processes of a machine ---- */

static void tell_process(struct load_process_start *s, unsigned id, uint32_t process,
                         const char *image, const char *line)
{
    struct tb_bytes b = { NULL, 0, 0 };
    struct gcd_error err = GCD_ERROR_INIT;
    tb_u64(&b, 0);
    tb_u32(&b, process);
    tb_zeros(&b, 12 + 8 + 4 + 4); /* parent and so on; no user */
    tb_put(&b, image, strlen(image) + 1);
    tb_utf16z(&b, line);
    const struct gcd_event ev = {
        .id = id, .version = 4, .ptr_bytes = 8, .payload = b.p, .payload_bytes = b.n
    };
    assert_int_equal(load_process_start_event(s, &ev, &err), GCD_OK);
    tb_free(&b);
}

/* A running process is reported once; a start means a new process, which may have a reused pid. */
static void a_type_knows_what_its_parameters_are(void **state)
{
    (void)state;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in;
    struct gcd_dump *d;
    tb_done(&t);
    tb_init(&t, TB_V4, 8);
    tb_types(&t, TB_LIST(struct tb_type, { .id = 0x100, .name = "N.I[]", .parameter = 0x200 },
                         { .id = 0x300, .name = "N.X[]", .parameter = 0x400 },
                         { .id = 0x200, .element_type = 0x12, .name = "N.I" },
                         { .id = 0x500, .name = "N.Y" }));
    tb_gc_start(&t, 1);
    tb_nodes(&t, TB_LIST(struct tb_node, { 0x1000, 40, 0x100, 0 }, { 0x1040, 40, 0x300, 0 },
                         { 0x1080, 24, 0x500, 0 }));
    tb_gc_end(&t, 1);
    tb_close(&t);
    assert_int_equal(gcd_input_from_memory(t.out.p, t.out.n, NULL, &in, &err), GCD_OK);
    assert_int_equal(gcd_dump_open(in, NULL, &d, &err), GCD_OK);
    const struct gcd_type *types = gcd_dump_summary(d)->types;
    assert_int_equal(gcd_dump_summary(d)->type_count, 3);
    assert_int_equal(types[0].parameters[0], 0x12);
    assert_int_equal(types[0].parameters[1], 0);
    assert_int_equal(types[1].parameters[0], 0); /* never described */
    assert_int_equal(types[2].parameters[0], 0); /* none */
    gcd_dump_free(d);
    gcd_input_free(in);
}

static void command_lines_of_processes(void **state)
{
    (void)state;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    struct load_process_start s;
    load_process_start_init(&s, &a, 1000);
    assert_string_equal(load_process_start_line(&s, 1), "");
    tell_process(&s, GCD_WIN_PROCESS_DC_START, 1, "one.exe", "one --first");
    tell_process(&s, GCD_WIN_PROCESS_DC_START, 2, "two.exe", "");
    tell_process(&s, GCD_WIN_PROCESS_END, 1, "one.exe", "one --end");
    tell_process(&s, GCD_WIN_PROCESS_DC_END, 1, "one.exe", "one --last");
    tell_process(&s, GCD_WIN_PROCESS_START - 1, 3, "three.exe", "three");
    tell_process(&s, GCD_WIN_PROCESS_DC_END + 1, 3, "three.exe", "three");
    assert_string_equal(load_process_start_line(&s, 1), "one --first");
    assert_string_equal(load_process_start_line(&s, 2), "two.exe");
    assert_string_equal(load_process_start_line(&s, 3), "");
    tell_process(&s, GCD_WIN_PROCESS_START, 1, "new.exe", "new --one");
    assert_string_equal(load_process_start_line(&s, 1), "new --one");
    load_process_start_done(&s);
}

/* ---- objects first, then their references ---- */

/* A hash of all references of O's object. */
static uint64_t hash_edges(struct gcd_objects *o, struct gcd_error *err)
{
    const uint64_t *targets;
    size_t n;
    gcd_status st;
    uint64_t h = 1;
    while ((st = gcd_objects_edges(o, &targets, &n, err)) == GCD_OK)
        for (size_t i = 0; i < n; i++)
            h = (h ^ targets[i]) * UINT64_C(0x100000001b3);
    assert_int_equal(st, GCD_END);
    return h;
}

static void compare_with_counts_kept(struct gcd_dump *d, uint64_t seed)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_objects *a, *b;
    struct gcd_object object, first;
    gcd_status st;
    assert_int_equal(gcd_objects_new(d, &a, &err), GCD_OK);
    assert_int_equal(gcd_objects_new(d, &b, &err), GCD_OK);
    assert_int_equal(gcd_objects_keep_for_replay(b, &err), GCD_OK);
    while ((st = gcd_objects_next(b, &first, &err)) == GCD_OK)
        ;
    assert_int_equal(st, GCD_END);
    gcd_objects_replay(b);
    for (;;) {
        bool has_address = false;
        uint64_t edges = 0;
        st = gcd_objects_next(a, &object, &err);
        assert_int_equal(gcd_objects_replay_next(b, &has_address, &edges, &err), st);
        if (st != GCD_OK)
            break;
        assert_int_equal(has_address, object.address != 0);
        assert_true(edges == object.edges);
        if (run_random(&seed) % 4 != 0) /* otherwise no caller asks for them */
            assert_true(hash_edges(a, &err) == hash_edges(b, &err));
    }
    assert_int_equal(st, GCD_END);
    gcd_objects_free(a);
    gcd_objects_free(b);
}

/* The graph has the objects and references that the cursor shows; dangling references lead to the
 * unknown node. */
static void compare_with_graph(struct gcd_dump *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_objects *o;
    struct gcd_object object;
    struct gcd_graph *g;
    gcd_status st;
    uint32_t node = 0;
    uint64_t missing = 0, dropped = 0;
    assert_int_equal(
        gcd_graph_from_dump(d, &(struct gcd_graph_options){ .keep_unknown = true }, &g, &err),
        GCD_OK);
    assert_int_equal(gcd_objects_new(d, &o, &err), GCD_OK);
    while ((st = gcd_objects_next(o, &object, &err)) == GCD_OK) {
        const uint64_t *targets;
        size_t n, at = 0, all = 0;
        dropped += object.address == 0;
        if (object.address == 0)
            continue;
        assert_true(gcd_graph_node_address(g, node) == object.address &&
                    gcd_graph_node_size(g, node) == object.size_bytes);
        const uint32_t *edges = gcd_graph_node_edges(g, node++, &all);
        while ((st = gcd_objects_edges(o, &targets, &n, &err)) == GCD_OK)
            for (size_t i = 0; i < n; i++, at++) {
                uint32_t to = gcd_graph_find(g, targets[i]);
                assert_true(at < all &&
                            edges[at] == (to != GCD_NODE_NONE ? to : gcd_graph_unknown(g)));
            }
        assert_true(st == GCD_END && at == all);
        missing += object.edges - all;
    }
    assert_int_equal(st, GCD_END);
    assert_int_equal(node, gcd_graph_node_count(g) - (gcd_graph_unknown(g) != GCD_NODE_NONE));
    assert_true(gcd_graph_notes(g)->edges_missing == missing &&
                gcd_graph_notes(g)->objects_dropped == dropped);
    gcd_objects_free(o);
    gcd_graph_free(g);
}

/* Counts of one to ten bytes, objects without an address, lost events of both kinds. */
static void objects_come_a_second_time_with_their_references(void **state)
{
    (void)state;
    static const uint64_t counts[] = { 0, 0, 0, 1, 2, 63, 64, 127, 128, 8191, 8192 };
    bool holed = false, whole = false;
    for (uint64_t seed = 0; seed < 80; seed++) {
        uint64_t s = seed, left = 0;
        unsigned lossy = (unsigned)(seed % 4); /* 1, 3: huge counts, lost events */
        bool null_objects = seed / 4 % 2 == 1, null_targets = seed / 8 % 2 == 1;
        struct tb r;
        struct gcd_input *in;
        struct gcd_dump *d;
        tb_init(&r, TB_V4, 8);
        tb_gc_start(&r, 1);
        tb_types(&r, TB_LIST(struct tb_type, { .id = 0x100, .name = "Node" }));
        for (uint64_t i = 0; i < 30; i++) {
            uint64_t count = counts[run_random(&s) % (sizeof counts / sizeof *counts)];
            if (lossy == 1 && run_random(&s) % 40 == 0)
                count = UINT64_MAX >> run_random(&s) % 50;
            else
                left += count;
            tb_nodes(&r, TB_LIST(struct tb_node, { null_objects && i % 7 == 6 ? 0 : 0x1000 + 24 * i,
                                                   24, 0x100, count }));
            /* else they come after the next objects */
            while (left > 0 && run_random(&s) % 8 != 0) {
                uint64_t targets[1000];
                size_t n = 1 + (size_t)(run_random(&s) % (left < 1000 ? left : 1000));
                for (size_t k = 0; k < n; k++)
                    targets[k] = null_targets && run_random(&s) % 9 == 0
                                     ? 0
                                     : 0x1000 + 24 * (run_random(&s) % 33);
                tb_edges(&r, targets, n);
                left -= n;
            }
            if (lossy == 3 && run_random(&s) % 20 == 0) {
                r.index[run_random(&s) % 2 == 0 ? TB_NODES : TB_EDGES]++;
                tb_lose(&r, 1);
            }
        }
        for (; left > 0; left--)
            tb_edges(&r, TB_LIST(uint64_t, left));
        tb_gc_end(&r, 1);
        tb_close(&r);
        assert_int_equal(gcd_input_from_memory(r.out.p, r.out.n, NULL, &in, NULL), GCD_OK);
        assert_int_equal(gcd_dump_open(in, NULL, &d, NULL), GCD_OK);
        holed |= !gcd_dump_summary(d)->verdict.complete;
        whole |= gcd_dump_summary(d)->verdict.complete;
        compare_with_counts_kept(d, seed);
        compare_with_graph(d);
        gcd_dump_free(d);
        gcd_input_free(in);
        tb_done(&r);
    }
    assert_true(holed && whole);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(an_input_that_shrinks_is_no_complete_dump),
        TEST(an_input_that_changes),
        TEST(without_an_input_there_are_no_objects),
        TEST(a_dump_that_is_none_is_empty),
        TEST(a_dump_says_how_far_its_bytes_can_be_decoded),
        TEST(a_walk_is_whole_when_its_gc_ends),
        TEST(a_sum_that_is_wrong_around_a_whole_recording),
        TEST(who_is_told_to_stop_stops),
        TEST(what_a_graph_takes_from_a_dump),
        cmocka_unit_test_setup_teardown(a_type_knows_what_its_parameters_are, setup, teardown),
        cmocka_unit_test(command_lines_of_processes),
        cmocka_unit_test(objects_come_a_second_time_with_their_references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
