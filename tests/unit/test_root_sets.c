/* What the roots of a group keep alive, compared with a search for every set of groups. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/generations.h>
#include <gcdumpc/root_sets.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/graph_roots.h"
#include "support/shop.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define NODES 64

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* By relaxation: the nodes reachable from the roots of GROUPS. */
static void search(const struct gcd_graph *g, unsigned groups, bool *ret)
{
    memset(ret, 0, NODES * sizeof *ret);
    for (size_t i = 0; i < gcd_graph_summary(g)->root_count; i++) {
        const struct gcd_root *r = &gcd_graph_summary(g)->roots[i];
        unsigned group = gcd_root_group(r);
        if (group != GCD_GROUP_WEAK && (groups >> group & 1) != 0)
            ret[r->node] = true;
    }
    for (uint32_t round = 0; round < gcd_graph_node_count(g); round++)
        for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
            size_t n;
            const uint32_t *edges = gcd_graph_node_edges(g, i, &n);
            for (size_t k = 0; k < n && ret[i]; k++)
                ret[edges[k]] = ret[edges[k]] || graph_leads(g, i, edges[k]);
            for (size_t k = 0; k < gcd_graph_dependent_count(g) && ret[i]; k++)
                if (gcd_graph_dependent(g, k)->key == i)
                    ret[gcd_graph_dependent(g, k)->value] = true;
        }
}

static void add(const struct gcd_graph *g, uint32_t node, uint64_t *objects, uint64_t *bytes)
{
    ++*objects;
    *bytes = sum(*bytes, gcd_graph_node_size(g, node));
}

/* "Retained" means not reachable from other groups: computed literally, with one search without
 * each group. */
static void expect(const struct gcd_graph *g, struct gcd_root_sets *ret)
{
    struct gcd_generations *ages;
    size_t hint = 0;
    assert_int_equal(gcd_frozen_new(gcd_graph_summary(g), 0, NULL, &ages, &err), GCD_OK);
    const unsigned all = (1u << GCD_GROUPS) - 1;
    bool by_all[NODES], by_one[NODES], by_others[NODES], by_earlier[NODES],
        alone[NODES] = { false };
    *ret = (struct gcd_root_sets){ 0 };
    search(g, all, by_all);
    for (size_t i = 0; i < gcd_graph_summary(g)->root_count; i++)
        ret->groups[gcd_root_group(&gcd_graph_summary(g)->roots[i])].roots++;
    for (unsigned group = 0; group < GCD_GROUPS; group++) {
        search(g, 1u << group, by_one);
        search(g, (1u << group) - 1, by_earlier);
        search(g, all & ~(1u << group), by_others);
        for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
            if (by_one[i])
                add(g, i, &ret->groups[group].objects, &ret->groups[group].bytes);
            if (by_one[i] && !by_earlier[i])
                add(g, i, &ret->groups[group].claimed_objects, &ret->groups[group].claimed_bytes);
            if (by_all[i] && !by_others[i]) {
                add(g, i, &ret->groups[group].retained_objects, &ret->groups[group].retained_bytes);
                alone[i] = true;
            }
        }
    }
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++)
        if (!by_all[i] && gcd_is_frozen(ages, gcd_graph_node_address(g, i), &hint))
            add(g, i, &ret->frozen_objects, &ret->frozen_bytes);
        else if (!by_all[i])
            add(g, i, &ret->unreachable_objects, &ret->unreachable_bytes);
        else if (!alone[i])
            add(g, i, &ret->shared_objects, &ret->shared_bytes);
    gcd_generations_free(ages);
}

static bool no_strong_root(const struct gcd_root_sets *s)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < GCD_GROUPS; i++)
        n += i != GCD_GROUP_WEAK ? s->groups[i].roots : 0;
    return n == 0;
}

/* Without strong roots, pseudo-roots hold everything; test_dominators tests which objects these
 * are. */
static size_t pseudo_roots(const struct gcd_graph *g, struct gcd_root_sets *ret)
{
    size_t n;
    uint64_t objects = ret->unreachable_objects + ret->frozen_objects,
             bytes = ret->unreachable_bytes + ret->frozen_bytes;
    free(graph_roots(g, &n));
    ret->pseudo_roots = (struct gcd_root_set){ n, objects, bytes, objects, bytes, objects, bytes };
    ret->unreachable_objects = ret->unreachable_bytes = 0;
    ret->frozen_objects = ret->frozen_bytes = 0;
    return n;
}

static void random_graphs_agree_with_a_search(void **state)
{
    (void)state;
    uint64_t shared = 0, unreachable = 0, frozen = 0, without_roots = 0;
    for (uint64_t seed = 0; seed < 600; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .callbacks = seed % 3 == 0,
                                                             .snapshots = seed % 4 == 1,
                                                             .seed = seed,
                                                             .max_nodes = 40,
                                                             .plain_names = true,
                                                             .plain_sizes = seed % 4 != 0,
                                                             .keep_unknown = seed % 3 == 0 });
        struct gcd_root_sets wanted, got;
        assert_true(gcd_graph_node_count(g) <= NODES);
        expect(g, &wanted);
        without_roots += no_strong_root(&wanted) ? pseudo_roots(g, &wanted) : 0;
        assert_int_equal(gcd_root_sets_of(g, NULL, &got, &err), GCD_OK);
        assert_memory_equal(&got, &wanted, sizeof got);
        shared += got.shared_objects;
        unreachable += got.unreachable_objects;
        frozen += got.frozen_objects;
        gcd_graph_free(g);
    }
    /* else the test shows nothing */
    assert_true(shared > 0 && unreachable > 0 && frozen > 0 && without_roots > 0);
}

/* A list held at its head by a static variable and in the middle by a local variable, twice; a weak
 * root with its own node. */
static void a_list_with_two_ends(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .id = 1, .name = "Node" }),
        SHOP_NODES({ 0, 10 }, { 0, 20 }, { 0, 40 }, { 0, 80 }, { 0, 160 }),
        SHOP_EDGES({ 0, 1 }, { 1, 2 }, { 2, 3 }, { 3, 2 }),
        SHOP_ROOTS({ .node = 0, .kind = GCD_ROOT_STATIC, .name = "head" },
                   { .node = 2, .kind = GCD_ROOT_STACK }, { .node = 2, .kind = GCD_ROOT_STACK },
                   { .node = 4, .kind = GCD_ROOT_HANDLE, .flags = GCD_ROOT_WEAK }) });
    struct gcd_root_sets s;
    assert_int_equal(gcd_root_sets_of(g, NULL, &s, &err), GCD_OK);
    const struct gcd_root_set statics = { 1, 4, 150, 2, 30, 4, 150 },
                              locals = { 2, 2, 120, 0, 0, 0, 0 }, weak = { 1, 0, 0, 0, 0, 0, 0 };
    assert_memory_equal(&s.groups[GCD_GROUP_STATICS], &statics, sizeof statics);
    assert_memory_equal(&s.groups[GCD_GROUP_LOCALS], &locals, sizeof locals);
    assert_memory_equal(&s.groups[GCD_GROUP_WEAK], &weak, sizeof weak);
    assert_int_equal(s.shared_bytes, 120);
    assert_int_equal(s.unreachable_bytes, 160);
    gcd_graph_free(g);
}

/* A chain that jumps back and forth, so that no sweep gets far along it. */
static void a_chain_across_the_heap(void **state)
{
    (void)state;
    enum { N = 4000 };
    struct shop_node nodes[N];
    struct shop_edge edges[N];
    uint32_t next[N], at = 0;
    for (uint32_t i = 0; i < N; i++) {
        nodes[i] = (struct shop_node){ 0, 1 };
        at = i % 2 == 0 ? i / 2 : N - 1 - i / 2; /* 0, N-1, 1, N-2 ... */
        next[at] = i + 1 == N         ? GCD_NODE_NONE
                   : (i + 1) % 2 == 0 ? (i + 1) / 2
                                      : N - 1 - (i + 1) / 2;
    }
    for (uint32_t i = 0; i < N; i++)
        edges[i] = (struct shop_edge){ i, next[i] };
    const struct gcd_type type = { .id = 1, .name = "Node" };
    const struct gcd_root roots[] = { { .node = 0, .kind = GCD_ROOT_STATIC, .name = "head" },
                                      { .node = N / 4, .kind = GCD_ROOT_STACK } };
    struct gcd_graph *g = shop_build(&(struct shop){ .types = &type,
                                                     .type_count = 1,
                                                     .nodes = nodes,
                                                     .node_count = N,
                                                     .edges = edges,
                                                     .edge_count = N,
                                                     .roots = roots,
                                                     .root_count = 2 });
    struct gcd_root_sets s;
    assert_int_equal(gcd_root_sets_of(g, NULL, &s, &err), GCD_OK);
    assert_int_equal(s.groups[GCD_GROUP_STATICS].objects, N);
    assert_int_equal(s.groups[GCD_GROUP_STATICS].retained_objects, N / 2);
    assert_int_equal(s.groups[GCD_GROUP_LOCALS].objects, N / 2);
    assert_int_equal(s.groups[GCD_GROUP_LOCALS].claimed_objects, 0);
    gcd_graph_free(g);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct gcd_graph *g =
        graph_gen(&(struct graph_gen){ .seed = 3, .max_nodes = 40, .plain_names = true });
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_root_sets sets;
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st =
            gcd_root_sets_of(g, &(struct gcd_context){ .alloc = &f.alloc }, &sets, &err);
        assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
    gcd_graph_free(g);
}

static void it_can_be_canceled(void **state)
{
    (void)state;
    struct gcd_graph *g =
        graph_gen(&(struct graph_gen){ .seed = 3, .max_nodes = 40, .plain_names = true });
    gcd_cancel_flag stop = true;
    struct gcd_root_sets sets;
    assert_int_equal(gcd_root_sets_of(g, &(struct gcd_context){ .cancel = &stop }, &sets, &err),
                     GCD_E_CANCELED);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_agree_with_a_search),
        cmocka_unit_test(a_list_with_two_ends),
        cmocka_unit_test(a_chain_across_the_heap),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_can_be_canceled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
