/* What fields retain, compared with a search for every field of every object. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/field_sizes.h>

#include "graph/graph_build.h"
#include "support/cases.h"
#include "support/failalloc.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define NODES_MAX 24u
#define FIELDS    3u
#define ROWS_MAX  512u

/*
 * Objects of "Own" and "Other" have three fields that can refer to anything, and all are set, so
 * each reference is of a certain field.  Of "Vague" nothing is known.
 */
enum { OWN, OTHER, VAGUE, TYPES };

struct heap {
    struct gcd_graph *graph;
    struct gcd_dominators *dominators;
    struct gcd_fields *fields;
    uint8_t types[TYPES], roots[8];
};

static void add_root(struct gcd_build *b, uint32_t node, enum gcd_root_kind kind)
{
    struct gcd_root r = { .object = 0x1000 + 64 * (uint64_t)node,
                          .name = kind == GCD_ROOT_STATIC ? "s_field" : "",
                          .class_name = "",
                          .label = "",
                          .node = node,
                          .type = OWN,
                          .kind = kind };
    assert_int_equal(gcd_build_root(b, &r, &err), GCD_OK);
}

static struct heap random_heap(uint64_t seed)
{
    static const char layout[] = "o *\n0 _a\n0 _b\n0 _c";
    static const struct gcd_type types[TYPES] = {
        { .name = "Own", .module_path = "", .layout = layout },
        { .name = "Other", .module_path = "", .layout = layout },
        { .name = "Vague", .module_path = "" },
    };
    struct heap h = { .types = { 1, 0, 1 } };
    struct gcd_build *b;
    uint32_t n = 1 + (uint32_t)(run_random(&seed) % NODES_MAX), type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (unsigned i = 0; i < TYPES; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(gcd_build_node(b, 0x1000 + 64 * (uint64_t)i,
                                        (uint32_t)(run_random(&seed) % TYPES),
                                        24 + run_random(&seed) % 100, &err),
                         GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t edges[FIELDS];
        for (unsigned k = 0; k < FIELDS; k++) /* near ones: more levels */
            edges[k] = run_random(&seed) % 3 == 0 ? (uint32_t)(run_random(&seed) % n)
                                                  : (i + 1 + (uint32_t)(run_random(&seed) % 4)) % n;
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, edges, FIELDS, &err), GCD_OK);
    }
    size_t roots = 1 + run_random(&seed) % 4;
    for (size_t i = 0; i < roots; i++) {
        static const enum gcd_root_kind kinds[] = { GCD_ROOT_STATIC, GCD_ROOT_STATIC,
                                                    GCD_ROOT_STACK, GCD_ROOT_FINALIZER };
        add_root(b, (uint32_t)(run_random(&seed) % n), kinds[run_random(&seed) % 4]);
    }
    for (size_t i = run_random(&seed) % 3; i > 0; i--)
        assert_int_equal(gcd_build_dependent(b, (uint32_t)(run_random(&seed) % n),
                                             (uint32_t)(run_random(&seed) % n), &err),
                         GCD_OK);
    assert_int_equal(gcd_build_seal(b, &h.graph, &err), GCD_OK);
    assert_int_equal(gcd_dominators_new(h.graph, NULL, &h.dominators, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(h.graph, NULL, &h.fields, &err), GCD_OK);
    for (size_t i = 0; i < roots; i++)
        h.roots[i] = gcd_graph_summary(h.graph)->roots[i].kind == GCD_ROOT_STATIC &&
                     run_random(&seed) % 4 != 0;
    return h;
}

static void free_heap(struct heap *h)
{
    gcd_fields_free(h->fields);
    gcd_dominators_free(h->dominators);
    gcd_graph_free(h->graph);
}

/* ---- the same by search ---- */

/* Marks what FROM reaches without going through NOT. */
static void reach(const struct gcd_graph *g, uint32_t from, uint32_t not, bool *seen)
{
    if (from == not )
        return;
    seen[from] = true;
    for (uint32_t round = 0; round < gcd_graph_node_count(g); round++)
        for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
            size_t n;
            const uint32_t *edges = gcd_graph_node_edges(g, i, &n);
            for (size_t k = 0; k < n && seen[i]; k++)
                if (edges[k] != not )
                    seen[edges[k]] = true;
            for (size_t k = 0; k < gcd_graph_dependent_count(g) && seen[i]; k++)
                if (gcd_graph_dependent(g, k)->key == i && gcd_graph_dependent(g, k)->value != not )
                    seen[gcd_graph_dependent(g, k)->value] = true;
        }
}

/* The ways from an object, or the roots: a field that is known, one that is not, or no field. */
struct ways {
    uint32_t known[8];
    size_t count;
    bool unknown, no_field;
};

static void add_way(struct ways *w, uint32_t field)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->known[i] == field)
            return;
    w->known[w->count++] = field;
}

static struct ways ways_to(const struct heap *h, uint32_t above, uint32_t to)
{
    struct ways w = { .count = 0 };
    const struct gcd_summary *s = gcd_graph_summary(h->graph);
    if (above == GCD_NODE_ROOT) {
        for (size_t i = 0; i < s->root_count; i++) {
            bool seen[NODES_MAX] = { false };
            reach(h->graph, s->roots[i].node, GCD_NODE_NONE, seen);
            if (!seen[to] || s->roots[i].kind != GCD_ROOT_STATIC) /* the others are late */
                continue;
            if (h->roots[i] != 0)
                add_way(&w, (uint32_t)i);
            else
                w.no_field = true;
        }
        return w;
    }
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(h->graph, above, &n);
    bool vague = gcd_graph_node_type(h->graph, above) == VAGUE;
    uint32_t first = gcd_graph_node_type(h->graph, above) == OWN ? 0 : FIELDS;
    for (size_t i = 0; i < n; i++) {
        bool seen[NODES_MAX] = { false };
        reach(h->graph, edges[i], above, seen);
        if (seen[to] && vague)
            w.unknown = true;
        else if (seen[to])
            add_way(&w, first + (uint32_t)i);
    }
    for (size_t k = 0; k < gcd_graph_dependent_count(h->graph); k++) {
        bool seen[NODES_MAX] = { false };
        if (gcd_graph_dependent(h->graph, k)->key != above)
            continue;
        reach(h->graph, gcd_graph_dependent(h->graph, k)->value, above, seen);
        w.unknown = w.unknown || seen[to];
    }
    return w;
}

/* The row that NODE belongs to; false: to none. */
static bool row_of(const struct heap *h, uint32_t node, struct gcd_field_size *ret)
{
    uint32_t above = gcd_dominators_parent(h->dominators, node);
    if (above == GCD_NODE_NONE ||
        (above != GCD_NODE_ROOT && h->types[gcd_graph_node_type(h->graph, above)] == 0))
        return false;
    struct ways w = ways_to(h, above, node);
    if (w.no_field || (w.count == 0 && !w.unknown))
        return false;
    *ret = (struct gcd_field_size){ .type = above != GCD_NODE_ROOT
                                                ? gcd_graph_node_type(h->graph, above)
                                                : GCD_TYPE_NONE,
                                    .fields = { GCD_SLOT_NONE, GCD_SLOT_NONE } };
    ret->holder = w.unknown      ? GCD_HOLDER_UNKNOWN
                  : w.count > 2  ? GCD_HOLDER_SEVERAL
                  : w.count == 2 ? GCD_HOLDER_TWO
                                 : GCD_HOLDER_FIELD;
    for (size_t i = 0; i < w.count && ret->holder <= GCD_HOLDER_TWO; i++)
        ret->fields[i] = w.known[i];
    if (ret->holder == GCD_HOLDER_TWO && ret->fields[0] > ret->fields[1]) {
        uint32_t t = ret->fields[0];
        ret->fields[0] = ret->fields[1];
        ret->fields[1] = t;
    }
    return true;
}

static bool same_row(const struct gcd_field_size *a, const struct gcd_field_size *b)
{
    return a->type == b->type && a->holder == b->holder && a->fields[0] == b->fields[0] &&
           a->fields[1] == b->fields[1];
}

static size_t expect(const struct heap *h, struct gcd_field_size *rows)
{
    size_t count = 0;
    for (uint32_t i = 0; i < gcd_graph_node_count(h->graph); i++) {
        struct gcd_field_size own, other;
        size_t at = 0;
        bool below = false;
        if (!row_of(h, i, &own))
            continue;
        for (uint32_t up = gcd_dominators_parent(h->dominators, i); up != GCD_NODE_ROOT;
             up = gcd_dominators_parent(h->dominators, up))
            below = below || (row_of(h, up, &other) && same_row(&own, &other));
        while (at < count && !same_row(&rows[at], &own))
            at++;
        if (at == count)
            rows[count++] = own;
        rows[at].objects++;
        if (!below)
            rows[at].bytes += gcd_dominators_retained(h->dominators, i);
    }
    return count;
}

/* ---- tests ---- */

static void the_rows_are_those_of_a_search(void **state)
{
    (void)state;
    size_t seen[GCD_HOLDERS] = { 0 }, statics = 0;
    for (uint64_t seed = 1; seed <= CASES(4000); seed++) {
        struct heap h = random_heap(seed);
        struct gcd_field_sizes_of of = { .fields = h.fields, .types = h.types, .roots = h.roots };
        struct gcd_field_sizes *sizes;
        struct gcd_field_size expected[ROWS_MAX];
        size_t n = expect(&h, expected), got_n;
        assert_int_equal(gcd_field_sizes_new(h.graph, h.dominators, &of, &sizes, &err), GCD_OK);
        const struct gcd_field_size *got = gcd_field_sizes_rows(sizes, &got_n);
        assert_int_equal(got_n, n);
        for (size_t i = 0; i < n; i++) {
            size_t at = 0;
            while (at < n && !same_row(&got[i], &expected[at]))
                at++;
            assert_true(at < n);
            assert_int_equal(got[i].objects, expected[at].objects);
            assert_int_equal(got[i].bytes, expected[at].bytes);
            assert_true(i == 0 || got[i - 1].bytes >= got[i].bytes);
            seen[got[i].holder]++;
            statics += got[i].type == GCD_TYPE_NONE;
        }
        gcd_field_sizes_free(sizes);
        free_heap(&h);
    }
    for (size_t i = 0; i < GCD_HOLDERS; i++)
        assert_true(seen[i] > 100);
    assert_true(statics > 100);
}

static void no_class_has_no_rows(void **state)
{
    (void)state;
    struct heap h = random_heap(7);
    struct gcd_field_sizes_of of = { .fields = h.fields };
    struct gcd_field_sizes *sizes;
    size_t n;
    assert_int_equal(gcd_field_sizes_new(h.graph, h.dominators, &of, &sizes, &err), GCD_OK);
    (void)gcd_field_sizes_rows(sizes, &n);
    assert_int_equal(n, 0);
    gcd_field_sizes_free(sizes);
    gcd_field_sizes_free(NULL);
    free_heap(&h);
}

static void every_allocation_may_fail_and_it_can_be_canceled(void **state)
{
    (void)state;
    struct heap h = random_heap(11);
    struct gcd_field_sizes_of of = { .fields = h.fields, .types = h.types, .roots = h.roots };
    struct gcd_field_sizes *sizes;
    gcd_cancel_flag stop = true;
    struct failalloc f;
    failalloc_init(&f);
    for (f.fail_at = 1;; f.fail_at++) {
        f.calls = f.failed = 0;
        of.context.alloc = &f.alloc;
        gcd_status st = gcd_field_sizes_new(h.graph, h.dominators, &of, &sizes, &err);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        if (st == GCD_OK)
            gcd_field_sizes_free(sizes);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    assert_true(f.fail_at > 8);
    of.context = (struct gcd_context){ .cancel = &stop };
    assert_int_equal(gcd_field_sizes_new(h.graph, h.dominators, &of, &sizes, &err), GCD_E_CANCELED);
    free_heap(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rows_are_those_of_a_search),
        cmocka_unit_test(no_class_has_no_rows),
        cmocka_unit_test(every_allocation_may_fail_and_it_can_be_canceled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
