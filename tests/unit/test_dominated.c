/* What objects of some types retain by type, and which objects dominate them, against brute force.
 */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/root_order.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/graph_roots.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* A random graph with everything that is known of it by taking away one object after another. */
struct known {
    struct gcd_graph *g;
    struct gcd_dominators *d;
    uint32_t n, types;
    uint8_t *alive;     /* [n] */
    uint8_t *dominates; /* [n * n] does the first dominate the second?  Not itself */
    uint32_t *roots;
    size_t root_count;
};

static void know(struct known *k, uint64_t seed)
{
    *k = (struct known){ .g = graph_gen(&(struct graph_gen){ .seed = seed,
                                                             .max_nodes = 3 + (uint32_t)(seed % 40),
                                                             .plain_names = true,
                                                             .keep_unknown = seed % 3 == 0 }) };
    k->n = gcd_graph_node_count(k->g);
    k->types = gcd_graph_summary(k->g)->type_count;
    k->roots = graph_roots(k->g, &k->root_count);
    k->alive = malloc(k->n + 1);
    k->dominates = calloc((size_t)k->n * k->n + 1, 1);
    uint8_t *without = calloc(k->n + 1, 1), *seen = malloc(k->n + 1);
    graph_mark(k->g, k->roots, k->root_count, NULL, k->alive);
    for (uint32_t u = 0; u < k->n; u++) {
        without[u] = 1;
        graph_live(k->g, without, seen);
        without[u] = 0;
        for (uint32_t v = 0; v < k->n; v++)
            k->dominates[(size_t)u * k->n + v] = u != v && k->alive[v] && !seen[v];
    }
    free(without);
    free(seen);
    assert_int_equal(gcd_dominators_new(k->g, NULL, &k->d, &err), GCD_OK);
}

static void forget(struct known *k)
{
    gcd_dominators_free(k->d);
    gcd_graph_free(k->g);
    free(k->roots);
    free(k->alive);
    free(k->dominates);
}

/* The nearest dominator of V whose type is not in SKIP: no other one of these is between them. */
static uint32_t nearest(const struct known *k, uint32_t v, const uint8_t *skip)
{
    uint32_t best = k->n;
    for (uint32_t u = 0; u < k->n; u++)
        if (k->dominates[(size_t)u * k->n + v] && skip[gcd_graph_node_type(k->g, u)] == 0 &&
            (best == k->n || k->dominates[(size_t)best * k->n + u]))
            best = u;
    return best;
}

static void add(uint64_t *to, uint64_t n)
{
    *to = *to <= UINT64_MAX - n ? *to + n : UINT64_MAX;
}

static void expect_dominators(const struct known *k, const uint8_t *types, const uint8_t *skip,
                              bool no_skip)
{
    struct gcd_dominating_type *want = calloc(k->types + 1, sizeof *want),
                               *got = malloc((k->types + 1) * sizeof *got);
    uint8_t *counted = calloc(k->n + 1, 1);
    for (uint32_t v = 0; v < k->n; v++) {
        if (!k->alive[v] || types[gcd_graph_node_type(k->g, v)] == 0)
            continue;
        uint32_t u = nearest(k, v, skip);
        struct gcd_dominating_type *to = &want[u < k->n ? gcd_graph_node_type(k->g, u) : k->types];
        to->objects++;
        add(&to->bytes, gcd_graph_node_size(k->g, v));
        if (u == k->n || counted[u])
            continue;
        counted[u] = 1;
        to->dominators++;
        add(&to->dominator_bytes, gcd_graph_node_size(k->g, u));
    }
    assert_int_equal(gcd_immediate_dominators(
                         k->g, k->d, &(struct gcd_dominators_of){ types, no_skip ? NULL : skip },
                         NULL, got, &err),
                     GCD_OK);
    assert_memory_equal(got, want, (k->types + 1) * sizeof *got);
    free(want);
    free(got);
    free(counted);
}

static void expect_content(const struct known *k, const uint8_t *types)
{
    struct gcd_content *want = calloc(k->types + 1, sizeof *want),
                       *got = malloc((k->types + 1) * sizeof *got);
    uint8_t *without = malloc(k->n + 1), *seen = malloc(k->n + 1);
    struct gcd_retained_set set, same;
    uint64_t objects = 0;
    for (uint32_t i = 0; i < k->n; i++)
        without[i] = types[gcd_graph_node_type(k->g, i)];
    graph_live(k->g, without, seen);
    for (uint32_t i = 0; i < k->n; i++) {
        struct gcd_content *to = &want[gcd_graph_node_type(k->g, i)];
        if (!k->alive[i] || seen[i])
            continue;
        to->objects++;
        add(&to->bytes, gcd_graph_node_size(k->g, i));
        objects++;
    }
    assert_int_equal(gcd_retained_content(k->g, types, NULL, &set, got, &err), GCD_OK);
    assert_memory_equal(got, want, k->types * sizeof *got);
    assert_int_equal(set.retained_objects, objects);
    assert_int_equal(gcd_retained_set(k->g, types, NULL, &same, &err), GCD_OK);
    assert_memory_equal(&set, &same, sizeof set);
    free(want);
    free(got);
    free(without);
    free(seen);
}

static void random_graphs_agree_with_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 600; seed++) {
        struct known k;
        uint64_t s = seed;
        know(&k, seed);
        uint8_t *types = calloc(k.types + 1, 1), *skip = calloc(k.types + 1, 1);
        for (int round = 0; round < 4; round++) {
            for (uint32_t t = 0; t < k.types; t++) {
                types[t] = round == 0 || run_random(&s) % 2 == 0;
                skip[t] = round > 1 && run_random(&s) % 2 == 0;
            }
            expect_dominators(&k, types, skip, round == 1);
            expect_content(&k, types);
        }
        free(types);
        free(skip);
        forget(&k);
    }
}

static void what_may_go_wrong(void **state)
{
    (void)state;
    struct known k;
    know(&k, 35);
    struct gcd_dominating_type *of = malloc((k.types + 1) * sizeof *of);
    struct gcd_content *content = malloc((k.types + 1) * sizeof *content);
    uint8_t *types = malloc(k.types + 1);
    memset(types, 1, k.types + 1);
    const struct gcd_dominators_of which = { .types = types };
    gcd_cancel_flag stop = true;
    struct gcd_retained_set set;
    assert_int_equal(gcd_immediate_dominators(k.g, k.d, &which,
                                              &(struct gcd_context){ .cancel = &stop }, of, &err),
                     GCD_E_CANCELED);
    assert_int_equal(gcd_retained_content(k.g, types, &(struct gcd_context){ .cancel = &stop },
                                          &set, content, &err),
                     GCD_E_CANCELED);
    for (int i = 0; i < 2; i++) {
        struct failalloc f = { .failed = 1 };
        for (uint64_t at = 1; f.failed > 0; at++) {
            failalloc_init(&f);
            f.fail_at = at;
            struct gcd_context context = { .alloc = &f.alloc };
            gcd_status st = i == 0
                                ? gcd_immediate_dominators(k.g, k.d, &which, &context, of, &err)
                                : gcd_retained_content(k.g, types, &context, &set, content, &err);
            assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
            assert_null(failalloc_complaint(&f));
        }
    }
    free(of);
    free(content);
    free(types);
    forget(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(random_graphs_agree_with_brute_force),
                                        cmocka_unit_test(what_may_go_wrong) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
