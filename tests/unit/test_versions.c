/* Immutable collections whose versions share elements: each version is counted alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/static_names.h>

#include "answer/answers.h"
#include "base/mem.h"
#include "support/check.h"
#include "support/failalloc.h"
/* its struct of this name is another one */
#define answer pile_answer
#include "support/pile.h"
#undef answer

#define PART "System.Collections.Immutable.ImmutableList`1+Node[Shop.Item]"

static struct gcd_error err = GCD_ERROR_INIT;
static struct gcd_alloc alloc;

struct heap {
    struct gcd_graph *g;
    struct gcd_session *s;
    struct answer_versions v;
};

static struct heap heap_of(struct pile *p)
{
    struct heap h = { .g = pile_graph(p) };
    alloc = gcd_alloc_or_default(NULL);
    assert_int_equal(
        gcd_session_new(h.g, &(struct gcd_session_options){ .share = 0.1 }, &h.s, &err), GCD_OK);
    assert_int_equal(answer_versions_count(h.s, &alloc, &h.v, &err), GCD_OK);
    return h;
}

static void done(struct heap *h)
{
    answer_versions_done(&h->v);
    gcd_session_free(h->s);
    gcd_graph_free(h->g);
}

static const struct answer_version *row(const struct heap *h, const char *owner,
                                        const char *element)
{
    for (size_t i = 0; i < h->v.count; i++)
        if (strcmp(h->v.items[i].owner, owner) == 0 && strcmp(h->v.items[i].element, element) == 0)
            return &h->v.items[i];
    return NULL;
}

/* ---- against a plain count ---- */

enum { KINDS = 6, NODES = 40, EDGES = 200 };

static const char *const kinds[KINDS] = {
    "Shop.Store",
    "Shop.Desk",
    "Shop.Item",
    PART,
    "Microsoft.FSharp.Collections.FSharpMap`2[Shop.Key,Shop.Item]",
    "System.Text.Holder"
};
static const char *const said[KINDS] = {
    "Shop.Store",
    "Shop.Desk",
    "Shop.Item",
    "System.Collections.Immutable.ImmutableList<Shop.Item>.Node",
    "Microsoft.FSharp.Collections.FSharpMap<Shop.Key, Shop.Item>",
    "System.Text.Holder"
};

struct plain {
    unsigned kind[NODES], n, from[EDGES], to[EDGES], edges, roots[NODES], root_count;
    uint64_t versions[KINDS + NODES][KINDS], most[KINDS + NODES][KINDS], sum[KINDS + NODES][KINDS];
};

static bool is_part(unsigned kind)
{
    return kind == 3 || kind == 4;
}

static void reach(const struct plain *x, unsigned node, bool *seen)
{
    if (seen[node])
        return;
    seen[node] = true;
    for (unsigned e = 0; e < x->edges; e++)
        if (x->from[e] == node && is_part(x->kind[x->to[e]]))
            reach(x, x->to[e], seen);
}

/* OWNER: a kind, or KINDS and the number of a root. */
static void count_version(struct plain *x, unsigned owner, unsigned node)
{
    bool seen[NODES] = { false }, has[NODES] = { false };
    uint64_t now[KINDS] = { 0 };
    reach(x, node, seen);
    for (unsigned e = 0; e < x->edges; e++) {
        has[x->from[e]] = true;
        if (seen[x->from[e]] && !is_part(x->kind[x->to[e]]))
            now[x->kind[x->to[e]]]++;
    }
    for (unsigned i = 0; i < x->n; i++)
        now[x->kind[i]] += seen[i] && has[i];
    for (unsigned k = 0; k < KINDS; k++) {
        x->versions[owner][k] += now[k] > 0;
        x->sum[owner][k] += now[k];
        if (now[k] > x->most[owner][k])
            x->most[owner][k] = now[k];
    }
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* Parts refer to parts and items behind them, all others to anything. */
static struct pile *invent(struct plain *x, uint64_t seed)
{
    struct pile *p = pile_new();
    static char names[NODES][20];
    x->n = NODES;
    for (unsigned i = 0; i < x->n; i++) {
        x->kind[i] = i < 10 ? (unsigned)next(&seed) % 2 : 2 + (unsigned)next(&seed) % 4;
        (void)node(p, kinds[x->kind[i]], 24 + 8 * (next(&seed) % 4));
    }
    for (unsigned i = 0; i + 1 < x->n; i++)
        for (uint64_t k = next(&seed) % 4; k > 0; k--) {
            x->from[x->edges] = i;
            x->to[x->edges] = i + 1 + (unsigned)(next(&seed) % (x->n - 1 - i));
            edge(p, x->from[x->edges], x->to[x->edges]);
            x->edges++;
        }
    for (; x->root_count < 6; x->root_count++) {
        (void)snprintf(names[x->root_count], sizeof names[0], "s_%u", x->root_count);
        x->roots[x->root_count] = (unsigned)(next(&seed) % x->n);
        static_root(p, x->roots[x->root_count], names[x->root_count]);
    }
    return p;
}

static void check(const struct heap *h, const struct plain *x, unsigned owner, const char *name,
                  size_t *rows)
{
    for (unsigned k = 0; k < KINDS; k++) {
        const struct answer_version *v = row(h, name, said[k]);
        if (x->versions[owner][k] == 0) {
            assert_null(v);
            continue;
        }
        assert_non_null(v);
        assert_int_equal(v->versions, x->versions[owner][k]);
        assert_int_equal(v->most, x->most[owner][k]);
        assert_int_equal(v->sum, x->sum[owner][k]);
        (*rows)++;
    }
}

static void static_name(const struct heap *h, unsigned i, char ret[ANSWER_COME_BYTES])
{
    char end[20];
    (void)snprintf(end, sizeof end, "s_%u", i);
    const struct gcd_summary *f = gcd_graph_summary(h->g);
    for (size_t k = 0; k < f->root_count; k++)
        if (strcmp(f->roots[k].name, end) == 0) {
            const struct gcd_static_words w =
                gcd_static_words(h->g, gcd_session_names(h->s), &f->roots[k]);
            (void)snprintf(ret, ANSWER_COME_BYTES, "static variable %s%s%s", w.label[0], w.label[1],
                           w.label[2]);
        }
}

static void test_a_plain_count_finds_the_same(void **state)
{
    (void)state;
    size_t all = 0;
    for (uint64_t round = 1; round <= 100; round++) {
        struct plain x = { .n = 0 };
        struct heap h = heap_of(invent(&x, round));
        size_t rows = 0;
        char name[ANSWER_COME_BYTES];
        for (unsigned e = 0; e < x.edges; e++)
            if (x.kind[x.from[e]] < 3 && is_part(x.kind[x.to[e]]))
                count_version(&x, x.kind[x.from[e]], x.to[e]);
        for (unsigned i = 0; i < x.root_count; i++)
            if (is_part(x.kind[x.roots[i]]))
                count_version(&x, KINDS + i, x.roots[i]);
        for (unsigned k = 0; k < 3; k++)
            check(&h, &x, k, said[k], &rows);
        for (unsigned i = 0; i < x.root_count; i++) {
            static_name(&h, i, name);
            check(&h, &x, KINDS + i, name, &rows);
        }
        assert_int_equal(h.v.count, rows);
        all += rows;
        done(&h);
    }
    assert_true(all > 500);
}

/* ---- limits ---- */

/* OWNERS have one list of PARTS each; they share it. */
static struct pile *shared_list(unsigned owners, unsigned parts, unsigned others)
{
    struct pile *p = pile_new();
    uint32_t first = node(p, PART, 48), last = first;
    static_root(p, first, "");
    for (unsigned i = 1; i < parts; i++)
        last = child(p, last, PART, 48);
    for (unsigned i = 0; i < owners; i++)
        edge(p, node(p, "Shop.Store", 24), first);
    for (unsigned i = 0; i < others; i++)
        (void)node(p, "Shop.Item", 24);
    return p;
}

static void test_four_visits_for_each_object_are_enough(void **state)
{
    (void)state;
    for (unsigned others = 1; others <= 2; others++) {
        struct heap h = heap_of(shared_list(8, 10, others));
        const struct answer_version *v = row(&h, "Shop.Store", said[3]);
        assert_int_equal(h.v.count, others == 2 ? 1 : 0);
        if (others == 2) {
            assert_int_equal(v->versions, 8);
            assert_int_equal(v->most, 9); /* the last part is empty */
            assert_int_equal(v->sum, 72);
        }
        done(&h);
    }
}

static void test_without_memory_it_fails_and_says_so(void **state)
{
    (void)state;
    struct plain x = { .n = 0 };
    struct heap h = heap_of(invent(&x, 3));
    size_t count = h.v.count;
    uint64_t n = 1;
    for (bool failed = true; failed; n++) {
        struct failalloc f;
        struct answer_versions v = { .count = 0 };
        struct gcd_error said_of = GCD_ERROR_INIT;
        failalloc_init(&f);
        f.fail_at = n;
        gcd_status st = answer_versions_count(h.s, &f.alloc, &v, &said_of);
        failed = f.failed > 0;
        assert_int_equal(st, failed ? GCD_E_NOMEM : GCD_OK);
        if (failed)
            assert_non_null(strstr(said_of.msg, "counting the versions of collections"));
        else
            assert_int_equal(v.count, count);
        answer_versions_done(&v);
        assert_null(failalloc_complaint(&f));
    }
    assert_true(n > 5);
    done(&h);
}

/* ---- correction ---- */

static void test_what_seems_to_have_come_is_corrected(void **state)
{
    (void)state;
    static const struct {
        struct answer_version was, is;
        uint64_t objects[2], bytes, then[2], then_bytes;
        bool few, corrected;
    } cases[] = {
        /* as many as before, whatever seems to be in them */
        { { .versions = 2, .most = 50, .sum = 80 },
          { .versions = 2, .most = 50, .sum = 80 },
          { 50, 70 },
          1000,
          { 50, 50 },
          1000,
          false,
          true },
        { { .versions = 1, .most = 50, .sum = 50 },
          { .versions = 2, .most = 40, .sum = 80 },
          { 60, 70 },
          1000,
          { 50, 40 },
          1000,
          false,
          true },
        /* grown, and nothing seems to be missing */
        { { .versions = 1, .most = 50, .sum = 50 },
          { .versions = 1, .most = 60, .sum = 60 },
          { 50, 60 },
          1000,
          { 50, 60 },
          1000,
          false,
          false },
        /* some seem to be missing, of the older or the newer dump */
        { { .versions = 1, .most = 51, .sum = 51 },
          { .versions = 1, .most = 60, .sum = 60 },
          { 50, 60 },
          1000,
          { 51, 60 },
          900,
          true,
          false },
        { { .versions = 1, .most = 50, .sum = 50 },
          { .versions = 1, .most = 61, .sum = 61 },
          { 50, 60 },
          1000,
          { 50, 61 },
          1000,
          true,
          false },
        /* less than half of it has come, or just half */
        { { .versions = 1, .most = 55, .sum = 55 },
          { .versions = 1, .most = 60, .sum = 60 },
          { 50, 60 },
          1000,
          { 55, 60 },
          500,
          true,
          false },
        { { .versions = 1, .most = 56, .sum = 56 },
          { .versions = 1, .most = 60, .sum = 60 },
          { 50, 60 },
          1000,
          { 56, 60 },
          400,
          true,
          true },
        /* only others than the largest have grown */
        { { .versions = 2, .most = 60, .sum = 80 },
          { .versions = 2, .most = 60, .sum = 90 },
          { 50, 60 },
          1000,
          { 60, 60 },
          0,
          true,
          true },
        { { .versions = 2, .most = 60, .sum = 80 },
          { .versions = 2, .most = 55, .sum = 90 },
          { 50, 40 },
          1000,
          { 60, 55 },
          1000,
          true,
          false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answer_version rows[2][2] = {
            { { .owner = "A", .element = "C", .most = 7 }, cases[i].was },
            { { .owner = "B", .element = "D", .most = 8 }, cases[i].is },
        };
        struct answer_versions v[2] = { { .items = rows[0], .count = 2 },
                                        { .items = rows[1], .count = 2 } };
        struct answer_version_counts to = { .objects = { cases[i].objects[0], cases[i].objects[1] },
                                            .bytes = cases[i].bytes };
        for (unsigned k = 0; k < 2; k++) {
            rows[k][1].owner = "A";
            rows[k][1].element = "D";
        }
        assert_int_equal(answer_versions_correct(v, "A", "D", &to), cases[i].corrected);
        assert_true(to.known);
        assert_int_equal(to.few, cases[i].few);
        assert_int_equal(to.objects[0], cases[i].then[0]);
        assert_int_equal(to.objects[1], cases[i].then[1]);
        assert_int_equal(to.bytes, cases[i].then_bytes);
        for (unsigned k = 0; k < 2; k++) { /* known of one dump only */
            v[k].count = 1;
            to.known = true;
            assert_false(answer_versions_correct(v, "A", "D", &to));
            assert_false(to.known);
            v[k].count = 2;
        }
    }
}

static void test_what_is_said(void **state)
{
    (void)state;
    char text[ANSWER_COME_BYTES];
    const struct gcd_diff_sum sums[2] = { { .objects = 1200 }, { .objects = 3400 } };
    const struct gcd_diff_row all = { .sums = sums };
    struct answer_come come = { .owner_said = "Store",
                                .field = "_all",
                                .element_said = "Item",
                                .objects = { 1000, 1001 },
                                .bytes = 3 << 20 };
    const char *rest =
        " In the heap are 1,200 -> 3,400 of them, +3.0 MiB, in other versions of that "
        "immutable collection, too, which share with it what has not changed.";
    char wanted[ANSWER_COME_BYTES];
    (void)snprintf(wanted, sizeof wanted, "Store._all has 1,000 -> 1,001 Item.%s", rest);
    assert_string_equal(answer_versions_text(&come, &all, text), wanted);
    come.objects[0] = 1001;
    come.field = NULL;
    (void)snprintf(wanted, sizeof wanted, "Store has 1,001 Item, as before.%s", rest);
    assert_string_equal(answer_versions_text(&come, &all, text), wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plain_count_finds_the_same),
        cmocka_unit_test(test_four_visits_for_each_object_are_enough),
        cmocka_unit_test(test_without_memory_it_fails_and_says_so),
        cmocka_unit_test(test_what_seems_to_have_come_is_corrected),
        cmocka_unit_test(test_what_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
