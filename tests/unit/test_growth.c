/* Growth between two dumps is told once: no two rows are the same bytes, whatever kinds of suspects
 * they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "answer/answers.h"
#include "support/check.h"
#include "support/expected.h"
#include "support/failalloc.h"
/* its struct of this name is another one */
#define answer pile_answer
#include "support/pile.h"
#undef answer

#define TASK "System.Threading.Tasks.Task`1[Shop.Reply]"
#define BOX                                                                                   \
    "System.Runtime.CompilerServices.AsyncTaskMethodBuilder`1+AsyncStateMachineBox`1[System." \
    "Int32,Shop.Rpc+<CallAsync>d__2]"
#define LIST   "System.Collections.Generic.List`1[System.Object]"
#define STORES 5u

static struct gcd_error err = GCD_ERROR_INIT;

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *seed >> 33;
}

/* What one store has: calls that wait, each for its own task, and plain orders, in LISTS lists. */
struct store {
    unsigned tasks, orders, lists;
};

static void fill(struct pile *p, uint32_t into, const struct store *s)
{
    uint32_t items = child(p, into, "System.Object[]", 64);
    for (unsigned i = 0; i < s->tasks / s->lists; i++) {
        uint32_t task = child(p, items, TASK, 72), box = child(p, task, BOX, 96);
        edge(p, box, box);
        child(p, box, "Shop.Client", 200);
    }
    for (unsigned i = 0; i < s->orders / s->lists; i++)
        child(p, items, "Shop.Order", 150);
}

/* A session with the graph of P, which is *RET_GRAPH, with the limits of comparisons. */
static struct gcd_session *session_of(struct pile *p, struct gcd_graph **ret_graph)
{
    struct gcd_session *s = NULL;
    *ret_graph = pile_graph(p);
    assert_int_equal(
        gcd_session_new(*ret_graph,
                        &(struct gcd_session_options){ .share = ANSWER_GROWN_SHARE,
                                                       .min_bytes = ANSWER_GROWN_BYTES },
                        &s, &err),
        GCD_OK);
    return s;
}

static struct gcd_session *heap_of(const struct store stores[STORES], bool complete,
                                   struct gcd_graph **ret_graph)
{
    static const struct gcd_reason lost = {
        .code = GCD_REASON_EVENTS_LOST, .name = "events_lost", .amount = 7, .text = "7 events lost"
    };
    struct pile *p = pile_new();
    static char names[STORES][20];
    p->incomplete = complete ? NULL : &lost;
    for (unsigned i = 0; i < STORES; i++) {
        (void)snprintf(names[i], sizeof names[i], "Shop.Store%u", i);
        uint32_t store = node(p, names[i], 24), all = child(p, store, LIST, 32),
                 items = child(p, all, "System.Object[]", 64);
        static_root(p, store, "s_store");
        for (unsigned k = 0; k < stores[i].lists; k++)
            fill(p, child(p, items, LIST, 32), &stores[i]);
    }
    return session_of(p, ret_graph);
}

/* Two dumps that are compared. */
struct pair_of_dumps {
    bool complete[2];
    struct gcd_graph *graphs[2];
    struct gcd_session *older, *newer;
    const struct gcd_suspects *before, *now;
    struct answer_older *o;
    struct answer_grown grown;
};

/* The graphs and sessions of D are there. */
static void compare_sessions(struct pair_of_dumps *d)
{
    assert_int_equal(gcd_session_suspects(d->older, NULL, &d->before, &err), GCD_OK);
    assert_int_equal(gcd_session_suspects(d->newer, NULL, &d->now, &err), GCD_OK);
    assert_int_equal(answer_older_new(d->older, d->before, true, NULL, &d->o, &err), GCD_OK);
    assert_int_equal(answer_grown_suspects(d->o, d->newer, d->now, NULL, &d->grown, &err), GCD_OK);
}

static void compare_heaps(struct pair_of_dumps *d, const struct store was[STORES],
                          const struct store is[STORES])
{
    d->older = heap_of(was, d->complete[0], &d->graphs[0]);
    d->newer = heap_of(is, d->complete[1], &d->graphs[1]);
    compare_sessions(d);
}

static void forget_heaps(struct pair_of_dumps *d)
{
    answer_grown_done(&d->grown);
    answer_older_free(d->o);
    gcd_session_free(d->older);
    gcd_session_free(d->newer);
    gcd_graph_free(d->graphs[0]);
    gcd_graph_free(d->graphs[1]);
}

static void put_text(FILE *to, const char *what, const char *text)
{
    if (text != NULL && text[0] != '\0')
        fprintf(to, "  %s: %s\n", what, text);
}

static void put_all(FILE *to, const struct pair_of_dumps *d)
{
    const struct answer *said = d->grown.said;
    struct answer_of_suspects of = {
        .session = d->newer, .suspects = d->now, .shown = d->now, .older = d->o
    };
    char line[ANSWER_LINE_BYTES];
    bool any;
    assert_int_equal(answer_older_heap_bytes(d->o), gcd_suspects_heap_bytes(d->before));
    assert_int_equal(answer_growth_line(&of, line, &any, &err), GCD_OK);
    put_text(to, "line", any ? line : NULL);
    put_text(to, "before", d->grown.before.sentence);
    put_text(to, "advice", d->grown.before.advice);
    put_text(to, "evidence", d->grown.before.evidence);
    for (size_t c = 3; c < said->shape.count; c++) {
        const struct answer_cell *cell = answer_cell(said, 0, c);
        const char *key = said->shape.columns[c].key;
        if (cell->known && answer_is_text(said->shape.columns[c].kind))
            put_text(to, key, cell->text);
        else if (cell->known && said->shape.columns[c].kind == ANSWER_SHARE)
            fprintf(to, "  %s: %.4f\n", key, cell->share);
        else if (cell->known)
            fprintf(to, "  %s: %lu\n", key, (unsigned long)cell->number);
    }
    for (size_t i = 0; i < d->grown.count; i++) {
        const struct gcd_page_growth *row = &d->grown.rows[i];
        fprintf(to, " %u %s%ld: %s\n", (unsigned)row->suspect, row->worth ? "grown " : "",
                (long)row->grown, row->said);
        put_text(to, "advice", row->worth ? row->advice : NULL);
        put_text(to, "evidence", row->worth ? row->evidence : NULL);
    }
}

/* Do the objects of TYPE, or only NODE if that is one, keep NODE alive? */
static bool keeps(const struct gcd_graph *g, const struct gcd_dominators *d,
                  const struct gcd_suspect *s, uint32_t node)
{
    bool typed = s->kind == GCD_SUSPECT_TASKS || s->kind == GCD_SUSPECT_ASYNC;
    for (; node < GCD_NODE_ROOT; node = gcd_dominators_parent(d, node))
        if (typed ? gcd_graph_node_type(g, node) == s->type : node == s->node)
            return true;
    return false;
}

/* The bytes of X that none of the N in TOLD has, by a look at each object; *RET_ALL: all of X's. */
static uint64_t beside(const struct gcd_graph *g, const struct gcd_dominators *d,
                       const struct gcd_suspect *x, const struct gcd_suspect **told, size_t n,
                       uint64_t *ret_all)
{
    uint64_t sum = 0;
    *ret_all = 0;
    for (uint32_t node = 0; node < gcd_graph_node_count(g); node++) {
        bool in_told = false;
        if (!keeps(g, d, x, node))
            continue;
        for (size_t i = 0; i < n && !in_told; i++)
            in_told = keeps(g, d, told[i], node);
        *ret_all += gcd_graph_node_size(g, node);
        sum += in_told ? 0 : gcd_graph_node_size(g, node);
    }
    return sum;
}

/* The percentage that SAID ends with; 0 = none. */
static unsigned percent(const char *said)
{
    const char *end = strstr(said, " % of the growth"), *at = end;
    while (end != NULL && at > said && strchr("0123456789", at[-1]) != NULL)
        at--;
    return end != NULL ? (unsigned)strtoul(at, NULL, 10) : 0;
}

/* Counts the rows that are the same bytes again in *RET_FOLDED; returns those told. */
static size_t check(const struct answer_grown *grown, const struct gcd_suspects *all,
                    struct gcd_session *newer, const struct gcd_graph *g, size_t *ret_folded)
{
    const struct gcd_suspect *told[64];
    const struct gcd_dominators *d;
    bool worth[64] = { false };
    size_t n = 0;
    unsigned sum = 0;
    assert_int_equal(gcd_session_dominators(newer, NULL, &d, &err), GCD_OK);
    assert_true(grown->count <= 64);
    for (size_t i = 0; i < grown->count; i++) {
        worth[grown->rows[i].suspect] = grown->rows[i].worth;
        sum += grown->rows[i].worth ? percent(grown->rows[i].said) : 0;
    }
    for (size_t i = 0; i < gcd_suspects_count(all); i++) {
        const struct gcd_suspect *s = gcd_suspects_get(all, i);
        uint64_t bytes, left = beside(g, d, s, told, n, &bytes), known;
        if (s->overlaps) {
            assert_int_equal(gcd_suspects_beside(all, s, told, n, &known), left);
            assert_int_equal(known, bytes);
        }
        *ret_folded += s->overlaps && !worth[i] && left < bytes / 2;
        if (!worth[i])
            continue;
        if (s->overlaps ? left < bytes / 2 : left < s->bytes)
            fail_msg("%s: %lu of %lu bytes are told already", s->place,
                     (unsigned long)(bytes - left), (unsigned long)bytes);
        told[n++] = s;
    }
    if (sum > 100 + n) /* each is rounded */
        fail_msg("%u %% of the growth in %zu rows", sum, n);
    return n;
}

static void one_growth_is_one_row(void **state)
{
    (void)state;
    size_t told = 0, folded = 0;
    for (uint64_t round = 0; round < 60; round++) {
        struct store was[STORES], is[STORES];
        uint64_t seed = round;
        for (unsigned i = 0; i < STORES; i++) {
            was[i] = (struct store){ (unsigned)(next(&seed) % 3 * 200),
                                     (unsigned)(next(&seed) % 3 * 300),
                                     (unsigned)(next(&seed) % 3 + 1) };
            is[i] = was[i];
            is[i].tasks += (unsigned)(next(&seed) % 4 * 250);
            is[i].orders += (unsigned)(next(&seed) % 2 * 800);
        }
        struct pair_of_dumps d = { .complete = { true, true } };
        compare_heaps(&d, was, is);
        told += check(&d.grown, d.now, d.newer, d.graphs[1], &folded);
        forget_heaps(&d);
    }
    /* both happen */
    assert_true(told > 60);
    assert_true(folded > 10);
}

/* A list of COUNT objects of TYPE, with a buffer each. */
static struct gcd_session *list_of(const char *type, unsigned count, struct gcd_graph **ret_graph)
{
    struct pile *p = pile_new();
    struct gcd_session *s = NULL;
    uint32_t writer = node(p, "Shop.Writer", 24), last = writer;
    static_root(p, writer, "s_writer");
    for (unsigned i = 0; i < count; i++) {
        last = child(p, last, type, 32);
        child(p, last, "System.Byte[]", 2000);
    }
    *ret_graph = pile_graph(p);
    assert_int_equal(gcd_session_new(*ret_graph, NULL, &s, &err), GCD_OK);
    return s;
}

#define SEEN  "System.Collections.Concurrent.ConcurrentDictionary`2"
#define TIMES "[System.String,System.DateTime]"

/* Times by name, with the locks of their table, of which there are more if there are more times. */
static struct gcd_session *times_of(const char *type, unsigned count, struct gcd_graph **ret_graph)
{
    struct pile *p = pile_new();
    struct gcd_session *s = NULL;
    uint32_t crawler = node(p, "Shop.Crawler", 24), seen = child(p, crawler, type, 40),
             tables = child(p, seen, SEEN "+Tables" TIMES, 40),
             locks = child(p, tables, "System.Object[]", 24 + count),
             buckets = child(p, tables, SEEN "+VolatileNode" TIMES "[]", 24 + 8 * count);
    static_root(p, crawler, "s_crawler");
    for (unsigned i = 0; i < count; i++) {
        child(p, child(p, buckets, SEEN "+Node" TIMES, 48), "System.String", 2000);
        if (i % 8 == 0)
            child(p, locks, "System.Object", 24);
    }
    *ret_graph = pile_graph(p);
    assert_int_equal(gcd_session_new(*ret_graph, NULL, &s, &err), GCD_OK);
    return s;
}

/* In the unit that the row has, not in objects that the reader never sees. */
static void growth_has_the_unit_of_its_row(void **state)
{
    (void)state;
    static const struct {
        const char *type, *said;
        struct gcd_session *(*make)(const char *type, unsigned count, struct gcd_graph **ret_graph);
    } rows[] = {
        { "System.Threading.ThreadLocal`1+LinkedSlot[Shop.Buffer]",
          "Writer: 3,000 -> 5,000 values of threads, +", list_of },
        { "Shop.Page", "Writer: 3,001 -> 5,001 Page, +", list_of },
        { SEEN TIMES, "Crawler: 3,001 -> 5,001 elements, +", times_of },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct gcd_graph *graphs[2];
        struct gcd_session *older = rows[i].make(rows[i].type, 3001, &graphs[0]),
                           *newer = rows[i].make(rows[i].type, 5001, &graphs[1]);
        const struct gcd_suspects *before, *now;
        struct answer_older *o = NULL;
        struct answer_grown grown = { .count = 0 };
        assert_int_equal(gcd_session_suspects(older, NULL, &before, &err), GCD_OK);
        assert_int_equal(gcd_session_suspects(newer, NULL, &now, &err), GCD_OK);
        assert_int_equal(answer_older_new(older, before, true, NULL, &o, &err), GCD_OK);
        assert_int_equal(answer_grown_suspects(o, newer, now, NULL, &grown, &err), GCD_OK);
        assert_int_equal(grown.count, 1);
        if (strncmp(grown.rows[0].said, rows[i].said, strlen(rows[i].said)) != 0)
            fail_msg("%s", grown.rows[0].said);
        answer_grown_done(&grown);
        answer_older_free(o);
        for (unsigned k = 0; k < 2; k++) {
            gcd_session_free(k == 0 ? older : newer);
            gcd_graph_free(graphs[k]);
        }
    }
}

/* Carts in one list, or each with a handle of its own, and the lines in each: EVERY so-manyth
 * has no more than FIRST. */
struct carts {
    unsigned count, lines, every, first;
    bool apart;
};

static struct gcd_session *carts_of(const struct carts *c, struct gcd_graph **ret_graph)
{
    struct pile *p = pile_new();
    uint32_t shop = node(p, "Shop.Checkout", 24), items = 0;
    static_root(p, shop, "s_checkout");
    if (!c->apart)
        items = child(p, child(p, shop, LIST, 32), "System.Object[]", 24 + 8 * 1000);
    for (unsigned i = 0; i < c->count; i++) {
        uint32_t cart = c->apart ? node(p, "Shop.Cart", 40) : child(p, items, "Shop.Cart", 40),
                 all = child(p, child(p, cart, LIST, 32), "System.Object[]", 24 + 8 * 64);
        unsigned n = c->every > 0 && i % c->every == 0 ? c->first : c->lines;
        if (c->apart)
            root(p, cart, GCD_ROOT_HANDLE, 0, "");
        for (unsigned k = 0; k < n; k++)
            child(p, all, "Shop.Line", 200);
    }
    return session_of(p, ret_graph);
}

/* Owners, of which there are more, or which have more; up to a limit or not; in one place or all
 * over the heap. */
static void put_carts(FILE *to)
{
    static const struct carts rows[][2] = {
        { { .count = 200, .lines = 5 }, { .count = 600, .lines = 5 } },
        { { .count = 200, .lines = 5 }, { .count = 200, .lines = 25 } },
        { { .count = 200, .lines = 5, .every = 3, .first = 25 }, { .count = 200, .lines = 25 } },
        { { .count = 200, .lines = 5, .every = 3, .first = 23 },
          { .count = 200, .lines = 25, .every = 4, .first = 9 } },
        { { .count = 200, .lines = 25 }, { .count = 200, .lines = 5 } },
        { { .count = 300, .lines = 5, .apart = true },
          { .count = 300, .lines = 25, .apart = true } },
        { { .count = 300, .lines = 5, .apart = true },
          { .count = 900, .lines = 5, .apart = true } },
        { { .count = 300, .lines = 5 }, { .count = 300, .lines = 5, .apart = true } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pair_of_dumps d = { .complete = { true, true } };
        for (unsigned k = 0; k < 2; k++) {
            const struct carts *c = &rows[i][k];
            fprintf(to, "%s%u carts%s of %u lines", k > 0 ? " -> " : "\n", c->count,
                    c->apart ? " apart" : "", c->lines);
            if (c->every > 0)
                fprintf(to, ", one in %u of %u", c->every, c->first);
        }
        fputs("\n", to);
        d.older = carts_of(&rows[i][0], &d.graphs[0]);
        d.newer = carts_of(&rows[i][1], &d.graphs[1]);
        compare_sessions(&d);
        put_all(to, &d);
        forget_heaps(&d);
    }
}

/* What has grown, in all words: compared with a file.  Stores come, grow, stay, shrink and go; now
 * and then a dump is incomplete. */
static void all_that_is_said_of_growth(void **state)
{
    (void)state;
    char *all;
    size_t bytes;
    FILE *to = open_memstream(&all, &bytes);
    assert_non_null(to);
    for (uint64_t round = 0; round < 24; round++) {
        struct store was[STORES], is[STORES];
        uint64_t seed = 1000 + round;
        for (unsigned i = 0; i < STORES; i++) {
            was[i] = (struct store){ (unsigned)(next(&seed) % 3 * 200),
                                     (unsigned)(next(&seed) % 3 * 300), 1 };
            is[i] = was[i];
            unsigned how = (unsigned)(next(&seed) % 6);
            is[i].orders = how == 0 ? 0 : how == 1 ? was[i].orders / 2 : was[i].orders;
            is[i].orders += how == 2 ? 900 : how == 3 ? 20 : 0;
            is[i].tasks += how == 4 ? 800 : 0;
            fprintf(to, "%s%u+%u -> %u+%u", i > 0 ? ", " : "\n", was[i].tasks, was[i].orders,
                    is[i].tasks, is[i].orders);
        }
        struct pair_of_dumps d = { .complete = { round % 5 != 1, round % 5 != 2 } };
        compare_heaps(&d, was, is);
        fprintf(to, "%s%s\n", d.complete[0] ? "" : " older incomplete",
                d.complete[1] ? "" : " newer incomplete");
        put_all(to, &d);
        forget_heaps(&d);
    }
    put_carts(to);
    assert_int_equal(fclose(to), 0);
    expect_file("growth.txt", all);
    free(all);
}

/* Whatever allocation fails, that is said, and nothing is left. */
static void growth_needs_memory(void **state)
{
    (void)state;
    static const struct carts before = { .count = 300, .lines = 5, .apart = true },
                              after = { .count = 300, .lines = 25, .apart = true };
    struct pair_of_dumps d = { .complete = { true, true } };
    d.older = carts_of(&before, &d.graphs[0]);
    d.newer = carts_of(&after, &d.graphs[1]);
    assert_int_equal(gcd_session_suspects(d.older, NULL, &d.before, &err), GCD_OK);
    assert_int_equal(gcd_session_suspects(d.newer, NULL, &d.now, &err), GCD_OK);
    bool failed = true;
    for (uint64_t at = 1; failed; at += 1 + at / 8) {
        struct failalloc f;
        struct answer_grown grown = { .count = 0 };
        failalloc_init(&f);
        f.fail_at = at;
        gcd_status st = answer_older_new(d.older, d.before, true, &f.alloc, &d.o, &err);
        if (st == GCD_OK)
            st = answer_grown_suspects(d.o, d.newer, d.now, NULL, &grown, &err);
        failed = f.failed > 0;
        assert_int_equal(st, failed ? GCD_E_NOMEM : GCD_OK);
        answer_grown_done(&grown);
        answer_older_free(d.o);
        d.o = NULL;
        assert_null(failalloc_complaint(&f));
    }
    forget_heaps(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_growth_is_one_row),
        cmocka_unit_test(growth_has_the_unit_of_its_row),
        cmocka_unit_test(all_that_is_said_of_growth),
        cmocka_unit_test(growth_needs_memory),
    };
    return cmocka_run_group_tests_name("test_growth", tests, NULL, NULL);
}
