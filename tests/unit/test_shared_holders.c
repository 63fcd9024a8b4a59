/* What several hold together, compared with a search for every object. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/shared.h>

#include "graph/graph_build.h"
#include "support/failalloc.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define NODES_MAX 24u
#define FIELDS    3u
#define ROWS_MAX  512u

/* Objects of "Own" and "Also" hold by three fields, all of them set; those of "Other" hold nothing
 * themselves. */
enum { OWN, ALSO, OTHER, TYPES };

struct heap {
    struct gcd_graph *graph;
    struct gcd_dominators *dominators;
    struct gcd_paths *paths;
    struct gcd_fields *fields;
    uint8_t types[TYPES], roots[8];
};

static void add_root(struct gcd_build *b, uint32_t node, enum gcd_root_kind kind)
{
    struct gcd_root r = { .object = 0x1000 + 64 * (uint64_t)node,
                          .name = "s_field",
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
        { .name = "Also", .module_path = "", .layout = layout },
        { .name = "Other", .module_path = "" },
    };
    struct heap h = { .types = { 1, 1, 0 } };
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
        for (unsigned k = 0; k < FIELDS; k++)
            edges[k] = run_random(&seed) % 4 == 0 ? (uint32_t)(run_random(&seed) % n)
                                                  : (i + 1 + (uint32_t)(run_random(&seed) % 2)) % n;
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, edges, FIELDS, &err), GCD_OK);
    }
    size_t roots = 1 + run_random(&seed) % 4;
    for (size_t i = 0; i < roots; i++)
        add_root(b, (uint32_t)(run_random(&seed) % n),
                 run_random(&seed) % 4 == 0 ? GCD_ROOT_STACK : GCD_ROOT_STATIC);
    for (size_t i = run_random(&seed) % 3; i > 0; i--)
        assert_int_equal(gcd_build_dependent(b, (uint32_t)(run_random(&seed) % n),
                                             (uint32_t)(run_random(&seed) % n), &err),
                         GCD_OK);
    assert_int_equal(gcd_build_seal(b, &h.graph, &err), GCD_OK);
    assert_int_equal(gcd_paths_with_dominators_new(h.graph, NULL, &h.dominators, &h.paths, &err),
                     GCD_OK);
    assert_int_equal(gcd_fields_new(h.graph, NULL, &h.fields, &err), GCD_OK);
    for (size_t i = 0; i < roots; i++)
        h.roots[i] = gcd_graph_summary(h.graph)->roots[i].kind == GCD_ROOT_STATIC &&
                     run_random(&seed) % 4 != 0;
    return h;
}

static void free_heap(struct heap *h)
{
    gcd_fields_free(h->fields);
    gcd_paths_free(h->paths);
    gcd_dominators_free(h->dominators);
    gcd_graph_free(h->graph);
}

/* ---- the same by search ---- */

/* By class and field, or the number of a root. */
struct key {
    uint32_t type, field;
};

struct keys {
    struct key items[64];
    size_t count;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    return (x->field > y->field) - (x->field < y->field);
}

static void add_key(struct keys *k, struct key key)
{
    for (size_t i = 0; i < k->count; i++)
        if (compare_keys(&k->items[i], &key) == 0)
            return;
    k->items[k->count++] = key;
}

static struct key key_of_edge(const struct heap *h, uint32_t from, size_t edge)
{
    return (struct key){ gcd_graph_node_type(h->graph, from),
                         gcd_fields_get(h->fields, from, edge).slot };
}

/* The holder before NODE on its path; false: nobody. */
static bool find_via(const struct heap *h, uint32_t node, struct key *ret)
{
    uint32_t up;
    for (; (up = gcd_paths_parent(h->paths, node)) != GCD_NODE_ROOT; node = up) {
        size_t n, i = 0;
        const uint32_t *edges = gcd_graph_node_edges(h->graph, up, &n);
        if (h->types[gcd_graph_node_type(h->graph, up)] == 0)
            continue;
        while (i < n && edges[i] != node)
            i++;
        *ret = i < n ? key_of_edge(h, up, i)
                     : (struct key){ gcd_graph_node_type(h->graph, up), GCD_SLOT_NONE };
        return true;
    }
    for (size_t i = 0; i < gcd_graph_summary(h->graph)->root_count; i++)
        if (h->roots[i] != 0 && gcd_graph_summary(h->graph)->roots[i].node == node) {
            *ret = (struct key){ GCD_TYPE_NONE, (uint32_t)i };
            return true;
        }
    return false;
}

static bool is_below(const struct heap *h, uint32_t node, uint32_t top)
{
    while (node < GCD_NODE_ROOT && node != top)
        node = gcd_dominators_parent(h->dominators, node);
    return node == top;
}

/* Only local variables lead to NODE. */
static bool is_late(const struct heap *h, uint32_t node)
{
    size_t root = gcd_paths_root(h->paths, node);
    return root != SIZE_MAX && gcd_graph_summary(h->graph)->roots[root].kind == GCD_ROOT_STACK;
}

static void add_from(const struct heap *h, uint32_t from, uint32_t to, struct key own,
                     struct keys *k)
{
    if (gcd_dominators_parent(h->dominators, from) == GCD_NODE_NONE || is_below(h, from, to) ||
        (is_late(h, from) && !is_late(h, to)))
        return;
    bool holds = h->types[gcd_graph_node_type(h->graph, from)] != 0 || find_via(h, from, &own);
    if (holds && own.type != gcd_graph_node_type(h->graph, to))
        add_key(k, own);
}

static struct keys keys_of(const struct heap *h, uint32_t to)
{
    struct keys k = { .count = 0 };
    const struct gcd_summary *s = gcd_graph_summary(h->graph);
    if (gcd_dominators_parent(h->dominators, to) == GCD_NODE_NONE)
        return k;
    for (size_t i = 0; i < s->root_count; i++)
        if (h->roots[i] != 0 && s->roots[i].node == to)
            add_key(&k, (struct key){ GCD_TYPE_NONE, (uint32_t)i });
    for (uint32_t from = 0; from < gcd_graph_node_count(h->graph); from++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(h->graph, from, &n);
        for (size_t i = 0; i < n; i++)
            if (edges[i] == to)
                add_from(h, from, to, key_of_edge(h, from, i), &k);
    }
    for (size_t i = 0; i < gcd_graph_dependent_count(h->graph); i++) {
        const struct gcd_graph_dependent *d = gcd_graph_dependent(h->graph, i);
        if (d->value == to)
            add_from(h, d->key, to,
                     (struct key){ gcd_graph_node_type(h->graph, d->key), GCD_SLOT_NONE }, &k);
    }
    qsort(k.items, k.count, sizeof *k.items, compare_keys);
    return k;
}

static bool same_keys(const struct keys *a, const struct keys *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = compare_keys(&a->items[i], &b->items[i]) == 0;
    return same;
}

struct expected {
    struct keys keys;
    uint64_t objects, bytes;
};

static size_t expect(const struct heap *h, struct expected *rows)
{
    size_t count = 0;
    for (uint32_t i = 0; i < gcd_graph_node_count(h->graph); i++) {
        struct keys own = keys_of(h, i);
        size_t at = 0;
        bool below = false;
        if (own.count < 2 || own.count > GCD_SHARED_HOLDERS)
            continue;
        for (uint32_t up = gcd_dominators_parent(h->dominators, i); up != GCD_NODE_ROOT;
             up = gcd_dominators_parent(h->dominators, up)) {
            struct keys other = keys_of(h, up);
            below = below || same_keys(&own, &other);
        }
        while (at < count && !same_keys(&rows[at].keys, &own))
            at++;
        if (at == count)
            rows[count++] = (struct expected){ .keys = own };
        rows[at].objects += !below;
        rows[at].bytes += below ? 0 : gcd_dominators_retained(h->dominators, i);
    }
    return count;
}

/* ---- tests ---- */

static struct keys keys_of_row(const struct gcd_shared_row *r)
{
    struct keys k = { .count = 0 };
    for (size_t i = 0; i < r->holder_count; i++) {
        const struct gcd_shared_holder *x = &r->holders[i];
        add_key(&k,
                (struct key){ x->type, x->type == GCD_TYPE_NONE ? (uint32_t)x->root : x->slot });
    }
    qsort(k.items, k.count, sizeof *k.items, compare_keys);
    return k;
}

static struct gcd_shared_of all_of(const struct heap *h)
{
    return (struct gcd_shared_of){
        .fields = h->fields, .types = h->types, .roots = h->roots, .max = ROWS_MAX
    };
}

static void the_rows_are_those_of_a_search(void **state)
{
    (void)state;
    size_t two = 0, three = 0, four = 0, statics = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        struct heap h = random_heap(seed);
        struct gcd_shared_of of = all_of(&h);
        struct gcd_shared *s;
        struct expected expected[ROWS_MAX];
        size_t n = expect(&h, expected), got_n;
        assert_int_equal(gcd_shared_new(h.graph, h.dominators, h.paths, &of, &s, &err), GCD_OK);
        const struct gcd_shared_row *got = gcd_shared_rows(s, &got_n);
        assert_int_equal(got_n, n);
        for (size_t i = 0; i < n; i++) {
            struct keys k = keys_of_row(&got[i]);
            size_t at = 0;
            uint64_t objects = 0;
            while (at < n && !same_keys(&k, &expected[at].keys))
                at++;
            assert_true(at < n);
            assert_int_equal(got[i].objects, expected[at].objects);
            assert_int_equal(got[i].bytes, expected[at].bytes);
            assert_true(i == 0 || got[i - 1].bytes >= got[i].bytes);
            for (size_t part = 0; part < got[i].part_count; part++)
                objects += got[i].parts[part].objects;
            assert_int_equal(objects, got[i].objects); /* there are three types */
            two += got[i].holder_count == 2;
            three += got[i].holder_count == 3;
            four += got[i].holder_count == 4;
            statics += got[i].holders[0].type == GCD_TYPE_NONE;
        }
        gcd_shared_free(s);
        free_heap(&h);
    }
    assert_true(two > 100 && three > 100 && four > 100 && statics > 100);
}

static void few_rows_are_the_largest(void **state)
{
    (void)state;
    struct heap h;
    struct gcd_shared *s = NULL;
    size_t n = 0, few_n;
    uint64_t seed = 1;
    struct gcd_shared_of of;
    for (;; seed++) { /* one with some rows */
        h = random_heap(seed);
        of = all_of(&h);
        assert_int_equal(gcd_shared_new(h.graph, h.dominators, h.paths, &of, &s, &err), GCD_OK);
        const struct gcd_shared_row *rows = gcd_shared_rows(s, &n);
        if (n >= 4 && rows[2].bytes > rows[3].bytes && rows[1].bytes > rows[2].bytes)
            break;
        gcd_shared_free(s);
        free_heap(&h);
    }
    const struct gcd_shared_row *all = gcd_shared_rows(s, &n), *few;
    struct gcd_shared *some;
    of.max = 2;
    assert_int_equal(gcd_shared_new(h.graph, h.dominators, h.paths, &of, &some, &err), GCD_OK);
    few = gcd_shared_rows(some, &few_n);
    assert_int_equal(few_n, 2);
    assert_int_equal(few[1].bytes, all[1].bytes);
    assert_int_equal(few[1].parts[0].bytes, all[1].parts[0].bytes);
    gcd_shared_free(some);
    of.max = ROWS_MAX;
    of.min_bytes = all[2].bytes;
    assert_int_equal(gcd_shared_new(h.graph, h.dominators, h.paths, &of, &some, &err), GCD_OK);
    few = gcd_shared_rows(some, &few_n);
    assert_int_equal(few_n, 3);
    gcd_shared_free(some);
    gcd_shared_free(s);
    gcd_shared_free(NULL);
    free_heap(&h);
}

static void every_allocation_may_fail_and_it_can_be_canceled(void **state)
{
    (void)state;
    struct heap h = random_heap(11);
    struct gcd_shared_of of = all_of(&h);
    struct gcd_shared *s;
    gcd_cancel_flag stop = true;
    struct failalloc f;
    failalloc_init(&f);
    for (f.fail_at = 1;; f.fail_at++) {
        f.calls = f.failed = 0;
        of.context.alloc = &f.alloc;
        gcd_status st = gcd_shared_new(h.graph, h.dominators, h.paths, &of, &s, &err);
        assert_int_equal(st, f.failed > 0 ? GCD_E_NOMEM : GCD_OK);
        if (st == GCD_OK)
            gcd_shared_free(s);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    assert_true(f.fail_at > 8);
    of.context = (struct gcd_context){ .cancel = &stop };
    assert_int_equal(gcd_shared_new(h.graph, h.dominators, h.paths, &of, &s, &err), GCD_E_CANCELED);
    free_heap(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rows_are_those_of_a_search),
        cmocka_unit_test(few_rows_are_the_largest),
        cmocka_unit_test(every_allocation_may_fail_and_it_can_be_canceled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
