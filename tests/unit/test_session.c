/* Sessions: the same answers as without, once each, for several threads; lists of nodes against
 * brute force. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/retained.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/paths_around.h>
#include <gcdumpc/unstable/session/views.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/run.h"
#include "support/shop.h"

static struct gcd_error err = GCD_ERROR_INIT;

static struct gcd_graph *graph_of(uint64_t seed, uint32_t nodes)
{
    return graph_gen(&(struct graph_gen){
        .seed = seed, .max_nodes = nodes, .plain_names = true, .keep_unknown = seed % 3 == 0 });
}

static struct gcd_session *session_of(const struct gcd_graph *g)
{
    struct gcd_session *s;
    assert_int_equal(gcd_session_new(g, NULL, &s, &err), GCD_OK);
    return s;
}

/* ---- lists ---- */

struct wanted {
    uint32_t *nodes, *slots;
    size_t count, room;
};

static void want(struct wanted *w, uint32_t node, uint32_t slot)
{
    if (w->count == w->room) {
        w->room = 2 * w->room + 8;
        w->nodes = realloc(w->nodes, w->room * sizeof *w->nodes);
        w->slots = realloc(w->slots, w->room * sizeof *w->slots);
    }
    w->nodes[w->count] = node;
    w->slots[w->count++] = slot;
}

static void check_list(const struct wanted *w, const struct gcd_node_list *got)
{
    assert_int_equal(got->count, w->count);
    if (w->count > 0)
        assert_memory_equal(got->nodes, w->nodes, w->count * sizeof *w->nodes);
}

static void check_types(struct gcd_session *s, const struct gcd_graph *g, struct wanted *w)
{
    struct gcd_node_list got;
    for (uint32_t t = 0; t < gcd_graph_summary(g)->type_count; t++) {
        w->count = 0;
        for (uint32_t i = 0; i < gcd_graph_node_count(g); i++)
            if (gcd_graph_node_type(g, i) == t)
                want(w, i, 0);
        assert_int_equal(gcd_session_objects_of_type(s, NULL, t, &got, &err), GCD_OK);
        check_list(w, &got);
    }
}

static void check_dominated(struct gcd_session *s, const struct gcd_graph *g,
                            const struct gcd_dominators *d, struct wanted *w)
{
    uint32_t n = gcd_graph_node_count(g);
    struct gcd_node_list got;
    for (uint32_t k = 0; k <= n; k++) {
        uint32_t parent = k < n ? k : GCD_NODE_ROOT;
        w->count = 0;
        for (uint32_t i = 0; i < n; i++)
            if (gcd_dominators_parent(d, i) == parent)
                want(w, i, 0);
        assert_int_equal(gcd_session_dominated_by(s, NULL, parent, &got, &err), GCD_OK);
        check_list(w, &got);
    }
}

static void check_largest_first(struct gcd_session *s, const struct gcd_graph *g,
                                const struct gcd_dominators *d)
{
    uint32_t n = gcd_graph_node_count(g);
    struct gcd_node_list list, got;
    for (uint32_t k = 0; k <= n; k++) {
        uint32_t parent = k < n ? k : GCD_NODE_ROOT;
        assert_int_equal(gcd_session_dominated_by(s, NULL, parent, &list, &err), GCD_OK);
        assert_int_equal(gcd_session_dominated_largest(s, NULL, parent, &got, &err), GCD_OK);
        assert_int_equal(got.count, list.count);
        for (uint64_t i = 0; i < got.count; i++) {
            uint64_t bytes = gcd_dominators_retained(d, got.nodes[i]), before = 0;
            assert_int_equal(gcd_dominators_parent(d, got.nodes[i]), parent);
            for (uint64_t o = 0; o < list.count; o++) {
                uint64_t other = gcd_dominators_retained(d, list.nodes[o]);
                before += other > bytes || (other == bytes && list.nodes[o] < got.nodes[i]);
            }
            assert_int_equal(before, i);
        }
    }
}

static void check_referrers(struct gcd_session *s, const struct gcd_graph *g, struct wanted *w)
{
    uint32_t n = gcd_graph_node_count(g);
    struct gcd_node_list got;
    for (uint32_t to = 0; to < n; to++) {
        const uint32_t *slots;
        w->count = 0;
        for (uint32_t from = 0; from < n; from++) {
            size_t edges;
            const uint32_t *e = gcd_graph_node_edges(g, from, &edges);
            for (size_t i = 0; i < edges; i++)
                if (e[i] == to)
                    want(w, from, (uint32_t)i);
        }
        assert_int_equal(gcd_session_referrers(s, NULL, to, &got, &err), GCD_OK);
        assert_int_equal(gcd_session_referrer_slots(s, NULL, to, &slots, &err), GCD_OK);
        check_list(w, &got);
        if (w->count > 0)
            assert_memory_equal(slots, w->slots, w->count * sizeof *slots);
    }
}

static void check_depths(struct gcd_session *s, const struct gcd_graph *g)
{
    const uint32_t *depths;
    const struct gcd_paths *p;
    assert_int_equal(gcd_session_depths(s, NULL, &depths, &err), GCD_OK);
    assert_int_equal(gcd_session_paths(s, NULL, &p, &err), GCD_OK);
    for (uint32_t i = 0; i < gcd_graph_node_count(g); i++) {
        uint32_t up = gcd_paths_parent(p, i), depth = up == GCD_NODE_NONE ? GCD_DEPTH_NONE : 0;
        for (; up != GCD_NODE_ROOT && up != GCD_NODE_NONE; up = gcd_paths_parent(p, up))
            depth++;
        assert_int_equal(depths[i], depth);
    }
}

static void lists_agree_with_brute_force(void **state)
{
    (void)state;
    struct wanted w = { .nodes = NULL };
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct gcd_graph *g = graph_of(seed, 3 + (uint32_t)(seed % 60));
        struct gcd_session *s = session_of(g);
        const struct gcd_dominators *d;
        check_types(s, g, &w);
        check_referrers(s, g, &w);
        assert_int_equal(gcd_session_dominators(s, NULL, &d, &err), GCD_OK);
        check_dominated(s, g, d, &w);
        check_largest_first(s, g, d);
        check_depths(s, g);
        gcd_session_free(s);
        gcd_graph_free(g);
    }
    free(w.nodes);
    free(w.slots);
}

/* ---- all parts, as text ---- */

#define TEXT_BYTES 4096

static void add(char *text, const char *what, uint64_t a, uint64_t b)
{
    size_t n = strlen(text);
    (void)snprintf(text + n, TEXT_BYTES - n, "%s %llu %llu\n", what, (unsigned long long)a,
                   (unsigned long long)b);
}

#define PART_COUNT 15u

/* Asks for one part; its answer in TEXT. */
static gcd_status ask(struct gcd_session *s, const struct gcd_context *call, unsigned part,
                      char *text, struct gcd_error *e)
{
    const struct gcd_graph *g = gcd_session_graph(s);
    const struct gcd_dominators *d;
    const struct gcd_paths *p;
    const struct gcd_suspects *suspects;
    const struct gcd_async *async;
    const struct gcd_origins *origins;
    const struct gcd_merged_tree *tree;
    const struct gcd_generations *generations;
    const struct gcd_collections *collections;
    const struct gcd_root_sets *sets;
    const uint64_t *bytes;
    const uint32_t *slots;
    struct gcd_node_list list;
    struct gcd_collection collection;
    uint32_t types = gcd_graph_summary(g)->type_count, nodes = gcd_graph_node_count(g);
    uint64_t sum = 0;
    size_t n = 0;
    gcd_status st = GCD_OK;
    switch (part) {
    case 0:
        if ((st = gcd_session_dominators(s, call, &d, e)) == GCD_OK)
            add(text, "dominators", gcd_dominators_reachable(d),
                gcd_dominators_retained(d, GCD_NODE_ROOT));
        break;
    case 1:
        if ((st = gcd_session_paths(s, call, &p, e)) == GCD_OK)
            add(text, "paths", gcd_paths_reachable(p), gcd_paths_pseudo_roots(p));
        break;
    case 2:
        if ((st = gcd_session_paths_with_dominators(s, call, &d, &p, e)) == GCD_OK)
            add(text, "both", gcd_dominators_reachable(d), gcd_paths_reachable(p));
        break;
    case 3:
        if ((st = gcd_session_retained_by_type(s, call, &bytes, e)) == GCD_OK)
            for (uint32_t t = 0; t < types; t++)
                sum += bytes[t] * (t + 1);
        add(text, "by type", sum, types);
        break;
    case 4:
        if ((st = gcd_session_root_sets(s, call, &sets, e)) == GCD_OK)
            add(text, "root sets", sets->unreachable_objects, sets->shared_bytes);
        break;
    case 5:
        if ((st = gcd_session_suspects(s, call, &suspects, e)) == GCD_OK)
            add(text, "suspects", gcd_suspects_count(suspects), gcd_suspects_threshold(suspects));
        break;
    case 6:
        if ((st = gcd_session_largest_consumer(s, call, &suspects, e)) == GCD_OK)
            add(text, "largest", suspects != NULL,
                suspects != NULL ? gcd_suspects_get(suspects, 0)->bytes : 0);
        break;
    case 7:
        if ((st = gcd_session_async(s, call, &async, e)) == GCD_OK)
            add(text, "async", gcd_async_totals(async).operations, gcd_async_totals(async).stacks);
        if (st == GCD_OK && (st = gcd_session_waits(s, call, &async, e)) == GCD_OK)
            add(text, "waits", gcd_async_totals(async).stacks, gcd_async_totals(async).bytes);
        break;
    case 8:
        if ((st = gcd_session_dominator_tree(s, call, &tree, e)) == GCD_OK) {
            (void)gcd_merged_tree_steps(tree, &n);
            add(text, "tree", n, gcd_merged_tree_totals(tree).bytes);
        }
        break;
    case 9:
        if ((st = gcd_session_generations(s, call, &generations, e)) == GCD_OK)
            add(text, "generations", gcd_generations_get(generations, 2)->ranges,
                gcd_generations_get(generations, 2)->used_bytes);
        break;
    case 10:
        if ((st = gcd_session_origins(s, call, &origins, e)) == GCD_OK)
            for (uint32_t t = 0; t < types; t++)
                sum += gcd_origins_get(origins, t);
        add(text, "origins", sum, types);
        break;
    case 11:
        if ((st = gcd_session_collections(s, call, &collections, e)) == GCD_OK)
            for (uint32_t t = 0; t < types; t++)
                sum += gcd_collections_kind(collections, t);
        for (uint32_t i = 0; i < nodes && st >= 0; i++) {
            st = gcd_session_collection(s, call, i, &collection, e);
            sum += st == GCD_OK;
        }
        st = st == GCD_END ? GCD_OK : st;
        add(text, "collections", sum, types);
        break;
    case 12:
        if (nodes > 0 &&
            (st = gcd_session_dominated_by(s, call, GCD_NODE_ROOT, &list, e)) == GCD_OK)
            add(text, "dominated", list.count, 0);
        if (nodes > 0 && st == GCD_OK &&
            (st = gcd_session_dominated_largest(s, call, GCD_NODE_ROOT, &list, e)) == GCD_OK)
            add(text, "largest", list.count, list.count > 0 ? list.nodes[0] : 0);
        break;
    case 13:
        if ((st = gcd_session_depths(s, call, &slots, e)) == GCD_OK)
            for (uint32_t i = 0; i < nodes; i++)
                sum += (uint64_t)slots[i] * (i + 1);
        add(text, "depths", sum, nodes);
        break;
    default:
        if (nodes > 0 && (st = gcd_session_referrers(s, call, 0, &list, e)) == GCD_OK &&
            types > 0 && (st = gcd_session_referrer_slots(s, call, 0, &slots, e)) == GCD_OK) {
            add(text, "referrers", list.count, list.count > 0 ? slots[0] : 0);
            st = gcd_session_objects_of_type(s, call, 0, &list, e);
            add(text, "of type", list.count, 0);
        }
        break;
    }
    return st;
}

static void answers_of(struct gcd_session *s, char text[PART_COUNT][TEXT_BYTES])
{
    for (unsigned i = 0; i < PART_COUNT; i++) {
        text[i][0] = '\0';
        assert_int_equal(ask(s, NULL, i, text[i], &err), GCD_OK);
    }
}

static void a_part_is_computed_once(void **state)
{
    (void)state;
    static char first[PART_COUNT][TEXT_BYTES], second[PART_COUNT][TEXT_BYTES];
    struct failalloc f;
    failalloc_init(&f);
    struct gcd_graph *g = graph_of(7, 300);
    struct gcd_session *s;
    assert_int_equal(
        gcd_session_new(g, &(struct gcd_session_options){ .context.alloc = &f.alloc }, &s, &err),
        GCD_OK);
    answers_of(s, first);
    uint64_t calls = f.calls;
    const struct gcd_dominators *d, *again;
    assert_int_equal(gcd_session_dominators(s, NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_session_dominators(s, NULL, &again, &err), GCD_OK);
    assert_ptr_equal(d, again);
    for (unsigned i = 0; i < PART_COUNT; i++)
        if (i != 11) { /* describing a collection takes memory each time */
            second[i][0] = '\0';
            assert_int_equal(ask(s, NULL, i, second[i], &err), GCD_OK);
            assert_string_equal(first[i], second[i]);
        }
    assert_true(f.calls == calls);
    gcd_session_free(s);
    assert_null(failalloc_complaint(&f));
    gcd_graph_free(g);
}

static void known_answers_are_those_of_the_analyses(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_graph(1000, false);
    struct gcd_session *s = session_of(g);
    const struct gcd_dominators *d;
    const uint64_t *bytes;
    const struct gcd_paths *p;
    struct gcd_names *names;
    assert_int_equal(gcd_session_retained_by_type(s, NULL, &bytes, &err), GCD_OK);
    assert_int_equal(gcd_session_dominators(s, NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_session_paths(s, NULL, &p, &err), GCD_OK);
    assert_true(gcd_dominators_retained(d, GCD_NODE_ROOT) == 24 + 40 + 1000);
    assert_true(bytes[gcd_graph_node_type(g, 0)] == gcd_dominators_retained(d, 0));
    assert_int_equal(gcd_paths_parent(p, 0), GCD_NODE_ROOT);
    assert_int_equal(gcd_names_new(gcd_graph_summary(g), GCD_NAMES_CSHARP, NULL, &names, &err),
                     GCD_OK);
    for (uint32_t t = 0; t < gcd_graph_summary(g)->type_count; t++)
        assert_string_equal(gcd_names_get(gcd_session_names(s), t), gcd_names_get(names, t));
    gcd_names_free(names);
    assert_ptr_equal(gcd_session_graph(s), g);
    const struct gcd_suspects *largest = NULL;
    assert_int_equal(gcd_session_largest_consumer(s, NULL, &largest, &err), GCD_OK);
    assert_non_null(largest); /* it has no suspects */
    gcd_session_free(s);
    gcd_graph_free(g);
}

static void own_types_and_names_are_those_of_the_options(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_graph(1000, false);
    uint8_t mine[16] = { 0 };
    uint32_t store = gcd_graph_node_type(g, 0), order = gcd_graph_node_type(g, 2);
    struct gcd_names *names;
    struct gcd_session *s;
    const struct gcd_origins *o;
    mine[order] = 1;
    assert_int_equal(gcd_names_new(gcd_graph_summary(g), GCD_NAMES_RAW, NULL, &names, &err),
                     GCD_OK);
    assert_int_equal(
        gcd_session_new(g, &(struct gcd_session_options){ .names = names, .mine = mine }, &s, &err),
        GCD_OK);
    mine[order] = 0; /* it has a copy */
    assert_int_equal(gcd_session_origins(s, NULL, &o, &err), GCD_OK);
    assert_int_equal(gcd_origins_get(o, order), GCD_ORIGIN_OWN);
    assert_int_not_equal(gcd_origins_get(o, store), GCD_ORIGIN_OWN);
    assert_ptr_equal(gcd_session_names(s), names);
    gcd_session_free(s);
    gcd_names_free(names);
    gcd_graph_free(g);
}

static void folding_is_that_of_origins(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_graph(1000, false);
    struct gcd_session *s = session_of(g);
    struct gcd_fold_step steps[3] = { { .type = gcd_graph_node_type(g, 0) },
                                      { .type = gcd_graph_node_type(g, 1) },
                                      { .type = gcd_graph_node_type(g, 2),
                                        .fold = GCD_FOLD_HIDDEN } };
    assert_int_equal(gcd_session_fold_path(s, NULL, steps, 3, &err), GCD_OK);
    assert_int_equal(steps[2].fold, GCD_FOLD_SHOWN);
    gcd_session_free(s);
    gcd_graph_free(g);
}

/* ---- several threads ---- */

struct asker {
    struct gcd_session *s;
    unsigned number;
    pthread_t thread;
    char text[PART_COUNT][TEXT_BYTES];
    gcd_status st;
};

/* Each thread begins with another part. */
static void *ask_all(void *ctx)
{
    struct asker *a = ctx;
    struct gcd_error e = GCD_ERROR_INIT;
    for (unsigned i = 0; i < PART_COUNT && a->st == GCD_OK; i++) {
        unsigned part = (i * 7 + a->number * 4) % PART_COUNT;
        a->st = ask(a->s, NULL, part, a->text[part], &e);
    }
    return NULL;
}

static void four_threads_get_the_same(void **state)
{
    (void)state;
    static char alone[PART_COUNT][TEXT_BYTES];
    static struct asker askers[4];
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct gcd_graph *g = graph_of(seed, seed % 4 == 0 ? 4000 : 200);
        struct failalloc f;
        failalloc_init(&f);
        struct gcd_session *s = session_of(g);
        answers_of(s, alone);
        gcd_session_free(s);
        struct gcd_session_options options = { .context = { .alloc = &f.alloc,
                                                            .threads = 1 + (unsigned)seed % 3 } };
        assert_int_equal(gcd_session_new(g, &options, &s, &err), GCD_OK);
        for (unsigned i = 0; i < 4; i++) {
            memset(&askers[i], 0, sizeof askers[i]);
            askers[i].s = s;
            askers[i].number = i;
            assert_int_equal(pthread_create(&askers[i].thread, NULL, ask_all, &askers[i]), 0);
        }
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(pthread_join(askers[i].thread, NULL), 0);
        for (unsigned i = 0; i < 4; i++) {
            assert_int_equal(askers[i].st, GCD_OK);
            for (unsigned part = 0; part < PART_COUNT; part++)
                assert_string_equal(askers[i].text[part], alone[part]);
        }
        gcd_session_free(s);
        assert_null(failalloc_complaint(&f));
        gcd_graph_free(g);
    }
}

/* The computing thread stops in its progress until the other one has been canceled. */
struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    bool computing, may_go_on;
};

static void stop_here(void *ctx, uint64_t done, uint64_t total)
{
    struct meeting *m = ctx;
    (void)done;
    (void)total;
    (void)pthread_mutex_lock(&m->lock);
    m->computing = true;
    (void)pthread_cond_broadcast(&m->moved);
    while (!m->may_go_on)
        (void)pthread_cond_wait(&m->moved, &m->lock);
    (void)pthread_mutex_unlock(&m->lock);
}

struct computing {
    struct gcd_session *s;
    struct meeting *m;
    gcd_status st;
};

static void *compute(void *ctx)
{
    struct computing *c = ctx;
    struct gcd_error e = GCD_ERROR_INIT;
    const struct gcd_dominators *d;
    c->st = gcd_session_dominators(
        c->s, &(struct gcd_context){ .progress = stop_here, .progress_ctx = c->m }, &d, &e);
    return NULL;
}

static void who_waits_can_be_canceled(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_of(4, 5000);
    struct meeting m = { .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER };
    struct computing c = { .s = session_of(g), .m = &m };
    gcd_cancel_flag stop = true;
    const struct gcd_suspects *suspects;
    const struct gcd_paths *p;
    const struct gcd_dominators *d;
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, compute, &c), 0);
    (void)pthread_mutex_lock(&m.lock);
    while (!m.computing)
        (void)pthread_cond_wait(&m.moved, &m.lock);
    (void)pthread_mutex_unlock(&m.lock);
    /* something else goes on meanwhile */
    assert_int_equal(gcd_session_paths(c.s, NULL, &p, &err), GCD_OK);
    assert_int_equal(
        gcd_session_dominators(c.s, &(struct gcd_context){ .cancel = &stop }, &d, &err),
        GCD_E_CANCELED);
    assert_int_equal(
        gcd_session_suspects(c.s, &(struct gcd_context){ .cancel = &stop }, &suspects, &err),
        GCD_E_CANCELED);
    (void)pthread_mutex_lock(&m.lock);
    m.may_go_on = true;
    (void)pthread_cond_broadcast(&m.moved);
    (void)pthread_mutex_unlock(&m.lock);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(c.st, GCD_OK);
    assert_int_equal(gcd_session_suspects(c.s, NULL, &suspects, &err), GCD_OK);
    gcd_session_free(c.s);
    gcd_graph_free(g);
}

/* ---- what may go wrong ---- */

static void a_failure_leaves_nothing_behind(void **state)
{
    (void)state;
    static char text[TEXT_BYTES], want_text[TEXT_BYTES];
    struct gcd_graph *g = graph_of(3, 80);
    for (unsigned part = 0; part < PART_COUNT; part++)
        for (uint64_t at = 1;; at++) {
            struct failalloc f;
            struct gcd_session *s = NULL;
            failalloc_init(&f);
            f.fail_at = at;
            gcd_status st = gcd_session_new(
                g, &(struct gcd_session_options){ .context.alloc = &f.alloc }, &s, &err);
            text[0] = want_text[0] = '\0';
            if (st == GCD_OK)
                st = ask(s, NULL, part, text, &err);
            bool failed = f.failed > 0;
            assert_int_equal(st, failed ? GCD_E_NOMEM : GCD_OK);
            if (s != NULL && failed) { /* the next call begins again */
                text[0] = '\0';
                assert_int_equal(ask(s, NULL, part, text, &err), GCD_OK);
            }
            gcd_session_free(s);
            assert_null(failalloc_complaint(&f));
            if (!failed)
                break;
        }
    gcd_graph_free(g);
}

static void it_can_be_canceled(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_of(4, 5000);
    struct gcd_session *s = session_of(g);
    gcd_cancel_flag stop = true;
    struct gcd_context call = { .cancel = &stop };
    static const unsigned parts[] = { 0, 1, 2, 4, 5, 7, 8, 12 };
    static char text[TEXT_BYTES];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(ask(s, &call, parts[i], text, &err), GCD_E_CANCELED);
    struct gcd_node_list list;
    const struct gcd_dominators *d;
    assert_int_equal(gcd_session_dominators(s, NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_session_dominated_by(s, &call, 0, &list, &err), GCD_E_CANCELED);
    assert_int_equal(gcd_session_referrers(s, &call, 0, &list, &err), GCD_E_CANCELED);
    stop = false;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_int_equal(ask(s, &call, parts[i], text, &err), GCD_OK);
    gcd_session_free(s);
    gcd_graph_free(g);
}

/* The dominator tree of a session has a step for each field of the program's own classes. */
static void the_dominator_tree_tells_fields_apart(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .id = 1, .name = "Shop.Store", .layout = "o 9\n3 _open\n3 _closed" },
                   { .id = 2, .name = "Shop.Order", .layout = "o 3" }),
        SHOP_NODES({ 0, 24 }, { 1, 100 }, { 1, 200 }), SHOP_EDGES({ 0, 1 }, { 0, 2 }),
        SHOP_ROOTS({ .node = 0, .kind = GCD_ROOT_STACK }) });
    struct gcd_session_options options = { .mine = (const uint8_t[]){ 1, 1, 0 } };
    struct gcd_session *s;
    const struct gcd_merged_tree *tree;
    size_t n;
    assert_int_equal(gcd_session_new(g, &options, &s, &err), GCD_OK);
    assert_int_equal(gcd_session_dominator_tree(s, NULL, &tree, &err), GCD_OK);
    const struct gcd_merged_step *step = gcd_merged_tree_steps(tree, &n);
    assert_int_equal(n, 3);
    assert_null(gcd_merged_tree_field(tree, &step[0]));
    assert_string_equal(gcd_merged_tree_field(tree, &step[1]), "_closed");
    assert_string_equal(gcd_merged_tree_field(tree, &step[2]), "_open");
    gcd_session_free(s);
    gcd_graph_free(g);
}

/* ---- paths to objects of one type that hold each other lead around them ---- */

static void check_merged(struct gcd_session *s, const struct gcd_graph *g, const uint8_t *types,
                         bool around)
{
    struct gcd_merged_tree_options o = { .types = types };
    struct gcd_merged_tree *got, *want;
    struct gcd_paths *paths;
    size_t n, m;
    assert_int_equal(gcd_session_merge_paths(s, NULL, &o, &got, &err), GCD_OK);
    assert_int_equal(around ? gcd_paths_around_new(g, types, NULL, &paths, &err)
                            : gcd_paths_new(g, NULL, &paths, &err),
                     GCD_OK);
    o.paths = paths;
    assert_int_equal(gcd_session_merge(s, NULL, &o, &want, &err), GCD_OK);
    const struct gcd_merged_step *a = gcd_merged_tree_steps(got, &n),
                                 *b = gcd_merged_tree_steps(want, &m);
    assert_int_equal(n, m);
    for (size_t i = 0; i < n; i++)
        assert_true(a[i].end == b[i].end && a[i].bytes == b[i].bytes && a[i].count == b[i].count);
    gcd_merged_tree_free(got);
    gcd_merged_tree_free(want);
    gcd_paths_free(paths);
}

static void paths_of_one_type_lead_around_it(void **state)
{
    (void)state;
    size_t meet = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct gcd_graph *g = graph_of(seed, 3 + (uint32_t)(seed % 60));
        struct gcd_session *s = session_of(g);
        uint32_t n = gcd_graph_summary(g)->type_count;
        uint8_t *types = calloc(n + 1, 1);
        const struct gcd_paths *paths;
        assert_int_equal(gcd_session_paths(s, NULL, &paths, &err), GCD_OK);
        for (uint32_t t = 0; t < n; t++) {
            bool meets;
            types[t] = 1;
            assert_int_equal(gcd_paths_meet(paths, g, types, NULL, &meets, &err), GCD_OK);
            check_merged(s, g, types, meets);
            meet += meets;
            if (t > 0) { /* of two types they do not */
                types[t - 1] = 1;
                check_merged(s, g, types, false);
                types[t - 1] = 0;
            }
            types[t] = 0;
        }
        free(types);
        gcd_session_free(s);
        gcd_graph_free(g);
    }
    assert_true(meet > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_agree_with_brute_force),
        cmocka_unit_test(paths_of_one_type_lead_around_it),
        cmocka_unit_test(a_part_is_computed_once),
        cmocka_unit_test(known_answers_are_those_of_the_analyses),
        cmocka_unit_test(own_types_and_names_are_those_of_the_options),
        cmocka_unit_test(folding_is_that_of_origins),
        cmocka_unit_test(four_threads_get_the_same),
        cmocka_unit_test(who_waits_can_be_canceled),
        cmocka_unit_test(the_dominator_tree_tells_fields_apart),
        cmocka_unit_test(a_failure_leaves_nothing_behind),
        cmocka_unit_test(it_can_be_canceled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
