/*
 * Random graphs to .gcdump and back.
 */
#include "support/check.h"

#include <string.h>

#include "graph/graph_build.h"
#include "support/graph_gen.h"
#include "support/run_graph.h"

#define SEEDS 400

/* Only what the format cannot store. */
#define NOT_KEPT                                                                            \
    (GRAPH_EQ_BIG_SIZES | GRAPH_EQ_ROOT_FLAGS | GRAPH_EQ_ROOT_ORDER | GRAPH_EQ_ROOT_NAMES | \
     GRAPH_EQ_WEAK_ROOTS | GRAPH_EQ_DEPENDENTS | GRAPH_EQ_RANGES | GRAPH_EQ_TYPE_IDS |      \
     GRAPH_EQ_UNUSED_TYPES)

static struct gcd_graph *round_trip(const struct gcd_graph *g, bool keep_unknown)
{
    struct tb_bytes out, again;
    struct gcd_graph *back = NULL;
    struct gcd_write_notes notes = { 0 };
    struct gcd_error err = GCD_ERROR_INIT;
    if (run_graph_write("gcdump", g, NULL, &out, &notes, &err) != GCD_OK ||
        run_graph_read(&gcd_r_gcdump, out.p, out.n,
                       &(struct gcd_graph_options){ .keep_unknown = keep_unknown }, &back,
                       &err) != GCD_OK)
        fail_msg("%s", err.msg);
    /* same graph, same bytes */
    assert_int_equal(run_graph_write("gcdump", g, NULL, &again, &notes, NULL), GCD_OK);
    assert_int_equal(out.n, again.n);
    assert_memory_equal(out.p, again.p, out.n);
    tb_free(&out);
    tb_free(&again);
    return back;
}

/* Static variables keep their order, field and class. */
static size_t compare_statics(const struct gcd_graph *a, const struct gcd_graph *b)
{
    const struct gcd_summary *summary = gcd_graph_summary(a);
    size_t n = 0;
    for (; n < summary->root_count && summary->roots[n].kind == GCD_ROOT_STATIC; n++) {
        const struct gcd_root *r = &summary->roots[n], *s = &gcd_graph_summary(b)->roots[n];
        assert_int_equal(s->kind, GCD_ROOT_STATIC);
        assert_int_equal(r->node, s->node);
        assert_string_equal(gcd_graph_summary(b)->types[s->type].name,
                            summary->types[r->type].name);
        assert_string_equal(s->name, r->name);
    }
    return n;
}

static void test_random(void **state)
{
    (void)state;
    size_t statics = 0, roots = 0, dependents = 0, nodes = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        bool keep_unknown = seed % 3 == 0;
        struct gcd_graph *g = graph_gen(&(struct graph_gen){
            .seed = seed,
            .max_nodes = seed % 10 == 0 ? 3000 : 60,
            .keep_unknown = keep_unknown,
            .no_addresses = seed % 7 == 0,
        });
        struct gcd_graph *back = round_trip(g, keep_unknown);
        const char *d = graph_eq(g, back, NOT_KEPT);
        if (d != NULL)
            fail_msg("seed %d: %s", (int)seed, d);
        statics += compare_statics(g, back);
        roots += gcd_graph_summary(back)->root_count;
        dependents += gcd_graph_dependent_count(g);
        nodes += gcd_graph_node_count(g);
        gcd_graph_free(g);
        gcd_graph_free(back);
    }
    assert_true(nodes > 10000 && statics > 500 && roots > statics + 500 && dependents > 100);
}

/* With ordinary types, types and their numbers stay the same too; writing the result again gives
 * the same bytes. */
static void test_stable(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){
            .seed = seed, .max_nodes = 60, .plain_names = true, .plain_sizes = true });
        struct gcd_graph *back = round_trip(g, false), *again = round_trip(back, false);
        const char *d = graph_eq(g, back, NOT_KEPT & ~(GRAPH_EQ_UNUSED_TYPES | GRAPH_EQ_BIG_SIZES));
        if (d == NULL)
            d = graph_eq(back, again, 0);
        if (d != NULL)
            fail_msg("seed %d: %s", (int)seed, d);
        gcd_graph_free(g);
        gcd_graph_free(back);
        gcd_graph_free(again);
    }
}

/* The verdict and the facts of the dump are stored in the log. */
static void test_log(void **state)
{
    (void)state;
    struct gcd_build *b;
    struct gcd_graph *g;
    assert_int_equal(gcd_build_new(NULL, &b, NULL), GCD_OK);
    struct gcd_verdict *v = &gcd_build_summary(b)->verdict;
    v->reason_count = 2;
    v->reasons[0] = (struct gcd_reason){ .code = GCD_REASON_EVENTS_LOST,
                                         .name = "events_lost",
                                         .amount = UINT64_MAX,
                                         .text = "so many\nare lost" };
    v->reasons[1] =
        (struct gcd_reason){ .code = GCD_REASON_NO_GC_END, .name = "no_gc_end", .text = "no end" };
    struct gcd_summary *f = gcd_build_summary(b);
    assert_int_equal(gcd_build_text(b, "dotnet a: b\r\nc", 14, &f->command_line, NULL), GCD_OK);
    assert_int_equal(gcd_build_text(b, "Linux", 5, &f->os, NULL), GCD_OK);
    assert_int_equal(gcd_build_text(b, "x64", 3, &f->arch, NULL), GCD_OK);
    assert_int_equal(gcd_build_text(b, "10.0.1", 6, &f->runtime_version, NULL), GCD_OK);
    f->gc_number = 3;
    f->gc_depth = 2;
    f->gc_reason = 1;
    f->gc_type = 4;
    f->gc_heaps = 5;
    f->gc_start_ns = 1234567;
    f->gc_end_ns = 7654321;
    f->trace.start_unix_ms = 1700000000123;
    struct gcd_graph_notes *n = gcd_build_notes(b);
    n->edges_missing = 11;
    n->edges_dangling = 12;
    n->roots_dangling = 13;
    n->dependents_dropped = 14;
    n->objects_dropped = 15;
    assert_int_equal(gcd_build_nodes_end(b, NULL), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, NULL), GCD_OK);
    struct gcd_graph *back = round_trip(g, false);
    const struct gcd_verdict *w = &gcd_graph_summary(back)->verdict;
    assert_false(w->complete);
    assert_int_equal(w->reason_count, 2);
    assert_int_equal(w->reasons[0].code, GCD_REASON_EVENTS_LOST);
    assert_string_equal(w->reasons[0].name, "events_lost");
    assert_true(w->reasons[0].amount == UINT64_MAX);
    assert_string_equal(w->reasons[0].text, "so many are lost");
    assert_int_equal(w->reasons[1].code, GCD_REASON_NO_GC_END);
    assert_string_equal(w->reasons[1].text, "no end");
    const struct gcd_summary *h = gcd_graph_summary(back);
    assert_string_equal(h->command_line, "dotnet a: b c");
    assert_string_equal(h->os, "Linux");
    assert_string_equal(h->arch, "x64");
    assert_string_equal(h->runtime_version, "10.0.1");
    assert_true(h->gc_number == 3 && h->gc_depth == 2 && h->gc_reason == 1 && h->gc_type == 4 &&
                h->gc_heaps == 5);
    assert_true(h->gc_start_ns == 1234567 && h->gc_end_ns == 7654321);
    assert_true(h->trace.start_unix_ms == 1700000000123);
    const struct gcd_graph_notes *m = gcd_graph_notes(back);
    assert_true(m->edges_missing == 11 && m->edges_dangling == 12 && m->roots_dangling == 13);
    assert_true(m->dependents_dropped == 14 && m->objects_dropped == 15);
    gcd_graph_free(g);
    gcd_graph_free(back);
}

/* Writing does not make an unknown fact certain. */
static void test_unverified(void **state)
{
    (void)state;
    for (int unverified = 0; unverified < 2; unverified++) {
        struct gcd_build *b;
        struct gcd_graph *g;
        assert_int_equal(gcd_build_new(NULL, &b, NULL), GCD_OK);
        gcd_build_summary(b)->verdict.complete = true;
        gcd_build_summary(b)->verdict.unverified = unverified;
        assert_int_equal(gcd_build_nodes_end(b, NULL), GCD_OK);
        assert_int_equal(gcd_build_seal(b, &g, NULL), GCD_OK);
        struct gcd_graph *back = round_trip(g, false);
        assert_true(gcd_graph_summary(back)->verdict.complete);
        assert_int_equal(gcd_graph_summary(back)->verdict.unverified, unverified);
        gcd_graph_free(g);
        gcd_graph_free(back);
    }
}

/* Variables that cannot be told apart keep all their names, and the field of the first one. */
static void test_several_names(void **state)
{
    (void)state;
    static const char label[] = "Shop.A.s_items or Shop.B.s_all";
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, NULL), GCD_OK);
    assert_int_equal(
        gcd_build_type(b, &(struct gcd_type){ .id = 0x71, .name = "Shop.Item", .module_path = "" },
                       &type, NULL),
        GCD_OK);
    assert_int_equal(gcd_build_node(b, 0x1000, type, 24, NULL), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, NULL), GCD_OK);
    assert_int_equal(gcd_build_root(b,
                                    &(struct gcd_root){ .kind = GCD_ROOT_STATIC,
                                                        .node = 0,
                                                        .type = type,
                                                        .name = "s_items",
                                                        .label = label },
                                    NULL),
                     GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, NULL), GCD_OK);
    struct gcd_graph *back = round_trip(g, false);
    const struct gcd_summary *s = gcd_graph_summary(back);
    assert_int_equal(s->root_count, 1);
    assert_int_equal(s->roots[0].kind, GCD_ROOT_STATIC);
    assert_string_equal(s->roots[0].name, "s_items");
    assert_string_equal(s->roots[0].label, label);
    assert_int_equal(s->roots[0].node, 0);
    assert_int_equal(s->type_count, 1);
    gcd_graph_free(g);
    gcd_graph_free(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_random),
                                        cmocka_unit_test(test_stable), cmocka_unit_test(test_log),
                                        cmocka_unit_test(test_unverified),
                                        cmocka_unit_test(test_several_names) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
