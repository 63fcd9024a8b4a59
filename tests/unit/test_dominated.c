/* What objects of some types retain by type, and which objects dominate them, against brute force;
 * and the answers that tell it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/session.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/root_order.h>
#include <gcdumpc/unstable/session/views.h>

#include "answer/answers.h"
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

/* ---- the same as answers: which rows, in which order, and one that sums up the others ---- */

#define SEVERAL "(several)"

static uint64_t number(const struct answer *a, size_t row, const char *key)
{
    const struct answer_cell *c = answer_find(a, row, key);
    assert_true(c != NULL && c->known);
    return c->number;
}

/* NULL: not known. */
static const char *text(const struct answer *a, size_t row, const char *key)
{
    const struct answer_cell *c = answer_find(a, row, key);
    return c != NULL && c->known ? c->text : NULL;
}

static void expect_share(const struct answer *a, size_t row, uint64_t part, uint64_t whole)
{
    double share = whole > 0 ? (double)part / (double)whole : 0;
    assert_true(answer_find(a, row, "share")->share == share);
}

static bool is_unknown(const struct answer *a, size_t row, const char *key)
{
    return !answer_find(a, row, key)->known;
}

/* A row for SUMS; the types themselves in NAME. */
static void expect_sums(const struct answer *a, size_t row, const struct gcd_dominating_type *sums,
                        uint64_t whole, const char *name)
{
    assert_int_equal(number(a, row, "bytes"), sums->bytes);
    assert_int_equal(number(a, row, "count"), sums->objects);
    expect_share(a, row, sums->bytes, whole);
    assert_string_equal(text(a, row, "type"), name);
    if (!answer_has(a, "dominators"))
        return;
    if (strcmp(name, "(roots)") == 0) {
        assert_true(is_unknown(a, row, "dominators") && is_unknown(a, row, "dominator_bytes"));
        return;
    }
    assert_int_equal(number(a, row, "dominators"), sums->dominators);
    assert_int_equal(number(a, row, "dominator_bytes"), sums->dominator_bytes);
}

/* The place of type T among those of SUMS[TYPES + 1] with objects: how many come before it. */
static size_t place_of(const struct gcd_dominating_type *sums, const char *const *names,
                       uint32_t types, uint32_t t)
{
    size_t before = 0;
    for (uint32_t i = 0; i <= types; i++) {
        int name = strcmp(names[i], names[t]);
        before += sums[i].objects > 0 && i != t &&
                  (sums[i].bytes != sums[t].bytes ? sums[i].bytes > sums[t].bytes
                   : name != 0                    ? name < 0
                                                  : i < t);
    }
    return before;
}

/* A has the rows of PAGE from SUMS[TYPES + 1], the last of which is for the roots. */
static void expect_page(const struct answer *a, const struct answer_page *page,
                        const struct gcd_dominating_type *sums, const char *const *names,
                        uint32_t types, uint64_t whole)
{
    struct gcd_dominating_type rest = { .objects = 0 };
    uint64_t total = 0, left_out = 0;
    size_t row = 0;
    for (uint32_t t = 0; t <= types; t++)
        total += sums[t].objects > 0;
    assert_int_equal(a->total, total);
    assert_int_equal(a->first, page->first);
    for (size_t place = 0; place < total; place++) {
        uint32_t t = 0;
        while (sums[t].objects == 0 || place_of(sums, names, types, t) != place)
            t++;
        if (place < page->first || (page->no_rest && row == page->most))
            continue;
        if (t == types || ((page->most == 0 || place < page->first + page->most) &&
                           sums[t].bytes >= page->min_bytes)) {
            expect_sums(a, row++, &sums[t], whole, names[t]);
            continue;
        }
        left_out++;
        rest.objects += sums[t].objects;
        add(&rest.bytes, sums[t].bytes);
        rest.dominators += sums[t].dominators;
        rest.dominator_bytes += sums[t].dominator_bytes;
    }
    if (left_out > 0) {
        char note[40];
        (void)snprintf(note, sizeof note, left_out == 1 ? "(%u more type)" : "(%u more types)",
                       (unsigned)left_out);
        expect_sums(a, row, &rest, whole, note);
        assert_int_equal(number(a, row++, "folded_types"), left_out);
    }
    assert_int_equal(a->rows, row);
}

static struct answer_page random_page(uint64_t *seed)
{
    struct answer_page page = { .first = run_random(seed) % 2 == 0 ? 0 : run_random(seed) % 5,
                                .most = run_random(seed) % 5,
                                .min_bytes =
                                    run_random(seed) % 2 == 0 ? 0 : run_random(seed) % 500 };
    page.no_rest = page.most > 0 && page.min_bytes == 0 && run_random(seed) % 3 == 0;
    return page;
}

static void expect_answers_by_type(const struct known *k, const struct answer_of_heap *of)
{
    const char **names = malloc((k->types + 1) * sizeof *names);
    struct gcd_dominating_type *sums = calloc(k->types + 1, sizeof *sums);
    struct gcd_content *content = malloc((k->types + 1) * sizeof *content);
    struct gcd_retained_set set, same;
    struct answer *a;
    uint64_t whole = 0;
    for (uint32_t t = 0; t < k->types; t++)
        names[t] = gcd_names_get(gcd_session_names(of->session), t);
    names[k->types] = "(roots)";
    assert_int_equal(gcd_retained_content(k->g, of->types, NULL, &set, content, &err), GCD_OK);
    for (uint32_t t = 0; t < k->types; t++)
        sums[t] = (struct gcd_dominating_type){ .objects = content[t].objects,
                                                .bytes = content[t].bytes };
    assert_int_equal(answer_content(of, &a, &same, &err), GCD_OK);
    assert_memory_equal(&set, &same, sizeof set);
    expect_page(a, &of->page, sums, names, k->types, set.retained_bytes);
    answer_free(a);
    assert_int_equal(gcd_immediate_dominators(k->g, k->d,
                                              &(struct gcd_dominators_of){ of->types, of->skip },
                                              NULL, sums, &err),
                     GCD_OK);
    for (uint32_t t = 0; t <= k->types; t++)
        add(&whole, sums[t].bytes);
    assert_int_equal(answer_dominators(of, &a, &err), GCD_OK);
    expect_page(a, &of->page, sums, names, k->types, whole);
    answer_free(a);
    free(names);
    free(sums);
    free(content);
}

/* What the objects of TYPES retain together, and how many there are, also dead ones. */
static bool is_exact_row(const struct known *k, const struct answer *a, size_t row,
                         const uint8_t *types, uint64_t min_bytes)
{
    const struct gcd_summary *s = gcd_graph_summary(k->g);
    struct gcd_retained_set set;
    struct gcd_content all = { .objects = 0 };
    for (uint32_t t = 0; t < k->types; t++)
        if (types[t] != 0) {
            all.objects += s->types[t].objects;
            all.bytes += s->types[t].bytes;
        }
    assert_int_equal(gcd_retained_set(k->g, types, NULL, &set, &err), GCD_OK);
    if (set.retained_bytes < min_bytes)
        return false;
    assert_true(row < a->rows);
    assert_int_equal(number(a, row, "count"), all.objects);
    assert_int_equal(number(a, row, "bytes"), all.bytes);
    expect_share(a, row, all.bytes, s->bytes);
    assert_int_equal(number(a, row, "retained_bytes"), set.retained_bytes);
    return true;
}

/* The first MOST types by what the sums of all types say; then all of OF together. */
static void expect_exact(const struct known *k, const struct answer_of_heap *of)
{
    const struct gcd_summary *s = gcd_graph_summary(k->g);
    struct gcd_dominating_type *sums = calloc(k->types + 1, sizeof *sums);
    const char **names = malloc((k->types + 1) * sizeof *names);
    uint8_t *one = calloc(k->types + 1, 1), *used = calloc(k->types + 1, 1);
    const uint64_t *retained;
    struct answer *a;
    size_t row = 0, n = 0;
    char note[40];
    assert_int_equal(gcd_session_retained_by_type(of->session, NULL, &retained, &err), GCD_OK);
    names[k->types] = "";
    for (uint32_t t = 0; t < k->types; t++) {
        names[t] = gcd_names_get(gcd_session_names(of->session), t);
        used[t] = of->types[t] != 0 && s->types[t].objects > 0;
        sums[t] = (struct gcd_dominating_type){ .objects = used[t], .bytes = retained[t] };
        n += used[t];
    }
    assert_int_equal(answer_exact(of, &a, &err), GCD_OK);
    for (size_t place = 0; place < n && place < of->page.most; place++) {
        uint32_t t = 0;
        while (used[t] == 0 || place_of(sums, names, k->types, t) != place)
            t++;
        one[t] = 1;
        if (is_exact_row(k, a, row, one, of->page.min_bytes))
            assert_string_equal(text(a, row++, "type"), names[t]);
        one[t] = 0;
    }
    if (n > 1 && is_exact_row(k, a, row, used, of->page.min_bytes)) {
        (void)snprintf(note, sizeof note, "(%u types together)", (unsigned)n);
        assert_string_equal(text(a, row++, "type"), note);
    }
    assert_int_equal(a->rows, row);
    answer_free(a);
    free(sums);
    free(names);
    free(one);
    free(used);
}

/* What NODE, which no object dominates, is held by: a root before whose group nothing reaches it,
 * the one of the first group, or several. */
static const struct gcd_root *root_of(const struct known *k, uint32_t node)
{
    const struct gcd_summary *s = gcd_graph_summary(k->g);
    const struct gcd_root *best = NULL;
    for (size_t i = 0; i < s->root_count; i++) {
        const struct gcd_root *r = &s->roots[i];
        uint64_t *reached = calloc(k->n / 64 + 1, sizeof *reached);
        enum gcd_root_group group = gcd_root_group(r);
        if (r->node == node && group != GCD_GROUP_WEAK) {
            if (gcd_group_is_late(group))
                assert_int_equal(gcd_reached_before(k->g, group, NULL, reached, &err), GCD_OK);
            if ((reached[node / 64] >> node % 64 & 1) == 0 &&
                (best == NULL || group < gcd_root_group(best)))
                best = r;
        }
        free(reached);
    }
    return best;
}

static void expect_holder(const struct known *k, const struct answer_of_heap *of,
                          const struct answer *a, size_t row, uint32_t node)
{
    static const struct answer_column label_columns[] = { FIELD("held_by", ANSWER_TEXT) };
    static const struct answer_shape label_shape = ANSWER_SHAPE(label_columns);
    uint8_t *none = calloc(k->types + 1, 1);
    uint32_t by = nearest(k, node, none);
    const struct gcd_names *names = gcd_session_names(of->session);
    struct answer *label = answer_new(NULL, &label_shape);
    answer_row(label);
    if (by < k->n) {
        assert_int_equal(number(a, row, "dominator"), by);
        answer_text(label, "held_by", gcd_names_get(names, gcd_graph_node_type(k->g, by)));
    } else {
        const struct gcd_root *root = root_of(k, node);
        assert_true(is_unknown(a, row, "dominator"));
        if (root != NULL || gcd_dominators_pseudo_roots(k->d) > 0)
            answer_root_label(label, "held_by", of->session, root);
        else
            answer_text(label, "held_by", SEVERAL);
        if (root != NULL && root->kind == GCD_ROOT_STATIC && root->name[0] != '\0')
            assert_string_equal(text(a, row, "field"), root->name);
    }
    assert_string_equal(text(a, row, "held_by"), text(label, 0, "held_by"));
    answer_free(label);
    free(none);
}

static uint64_t retained_of(const struct known *k, uint32_t node)
{
    uint64_t sum = gcd_graph_node_size(k->g, node);
    for (uint32_t v = 0; v < k->n; v++)
        if (k->dominates[(size_t)node * k->n + v])
            add(&sum, gcd_graph_node_size(k->g, v));
    return sum;
}

static void expect_largest(const struct known *k, const struct answer_of_heap *of)
{
    const struct gcd_summary *s = gcd_graph_summary(k->g);
    uint64_t *retained = malloc((k->n + 1) * sizeof *retained), whole = 0, found = 0, objects = 0;
    uint32_t *place = malloc((k->n + 1) * sizeof *place);
    struct answer *a;
    assert_int_equal(answer_largest_objects(of, &a, &err), GCD_OK);
    for (uint32_t v = 0; v < k->n; v++) {
        bool wanted = k->alive[v] && (of->types == NULL || of->types[gcd_graph_node_type(k->g, v)]);
        retained[v] = retained_of(k, v);
        add(&whole, k->alive[v] ? gcd_graph_node_size(k->g, v) : 0);
        place[v] = wanted && retained[v] >= of->page.min_bytes ? 0 : UINT32_MAX;
        found += place[v] == 0;
    }
    for (uint32_t t = 0; t < k->types; t++)
        objects += of->types == NULL || of->types[t] != 0 ? s->types[t].objects : 0;
    uint64_t end = of->page.most == 0 ? UINT64_MAX : of->page.first + of->page.most;
    assert_int_equal(a->total, found < end || end == 0 ? found : objects);
    assert_int_equal(a->first, of->page.first < found ? of->page.first : found);
    assert_int_equal(a->rows, (found < end ? found : end) - a->first);
    for (uint32_t v = 0; v < k->n; v++) {
        uint32_t before = 0;
        for (uint32_t u = 0; u < k->n && place[v] != UINT32_MAX; u++)
            before += place[u] != UINT32_MAX &&
                      (retained[u] != retained[v] ? retained[u] > retained[v] : u < v);
        if (place[v] == UINT32_MAX || before < a->first || before >= end)
            continue;
        size_t row = (size_t)(before - a->first);
        assert_int_equal(number(a, row, "node"), v);
        assert_int_equal(number(a, row, "retained_bytes"), retained[v]);
        assert_int_equal(number(a, row, "bytes"), gcd_graph_node_size(k->g, v));
        expect_share(a, row, retained[v], whole);
        assert_string_equal(text(a, row, "type"), gcd_names_get(gcd_session_names(of->session),
                                                                gcd_graph_node_type(k->g, v)));
        assert_int_equal(answer_has(a, "held_by"), of->holders);
        if (of->holders)
            expect_holder(k, of, a, row, v);
    }
    answer_free(a);
    free(retained);
    free(place);
}

/* The rows of A from ROW on for steps FROM to END of a tree; returns the row after them. */
static size_t expect_steps(const struct answer *a, size_t row, const struct answer_of_heap *of,
                           const struct gcd_merged_step *s, const uint32_t range[2], uint32_t depth,
                           uint32_t max_depth)
{
    const struct gcd_names *names = gcd_session_names(of->session);
    uint64_t left_out = 0, left_bytes = 0, lines = 0;
    for (uint32_t i = range[0]; i < range[1]; i = s[i].end) {
        if (s[i].bytes < of->page.min_bytes || (of->page.most > 0 && lines == of->page.most)) {
            left_out++;
            left_bytes += s[i].bytes;
            continue;
        }
        lines++;
        assert_int_equal(number(a, row, "depth"), depth);
        assert_int_equal(number(a, row, "retained_bytes"), s[i].bytes);
        assert_int_equal(number(a, row, "bytes"), s[i].own_bytes);
        assert_int_equal(number(a, row, "count"), s[i].objects);
        assert_int_equal(answer_find(a, row, "shown")->number, depth);
        assert_string_equal(text(a, row, "type"), gcd_names_get(names, s[i].label));
        assert_true(is_unknown(a, row++, "folded_types"));
        if (depth + 1 < max_depth)
            row =
                expect_steps(a, row, of, s, (uint32_t[]){ i + 1, s[i].end }, depth + 1, max_depth);
    }
    if (left_out == 0)
        return row;
    assert_int_equal(number(a, row, "depth"), depth);
    assert_int_equal(number(a, row, "retained_bytes"), left_bytes);
    assert_int_equal(answer_find(a, row, "shown")->number, depth);
    assert_int_equal(number(a, row, "folded_types"), left_out);
    return row + 1;
}

static void expect_tree(const struct known *k, const struct answer_of_heap *of, uint32_t max_depth)
{
    struct gcd_merged_tree *tree;
    struct answer *a;
    size_t n;
    uint64_t whole = gcd_dominators_retained(k->d, GCD_NODE_ROOT);
    struct answer_of_heap shown = *of;
    assert_int_equal(gcd_merged_tree_new(k->g,
                                         &(struct gcd_merged_tree_options){ .dominators = k->d },
                                         &tree, &err),
                     GCD_OK);
    const struct gcd_merged_step *s = gcd_merged_tree_steps(tree, &n);
    assert_int_equal(answer_tree(of, tree, max_depth, &a, &err), GCD_OK);
    if (of->page.min_bytes == 0) /* then parts of a hundredth are lines */
        shown.page.min_bytes = whole / 100;
    assert_int_equal(expect_steps(a, 0, &shown, s, (uint32_t[]){ 0, (uint32_t)n }, 0, max_depth),
                     a->rows);
    assert_int_equal(a->total, a->rows);
    for (size_t row = 0; row < a->rows; row++)
        expect_share(a, row, number(a, row, "retained_bytes"), whole);
    answer_free(a);
    gcd_merged_tree_free(tree);
}

static void answers_agree_with_brute_force(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct known k;
        uint64_t s = seed;
        know(&k, seed);
        struct answer_of_heap of = { .holders = seed % 4 != 0 };
        uint8_t *types = calloc(k.types + 1, 1), *skip = calloc(k.types + 1, 1);
        assert_int_equal(gcd_session_new(k.g, NULL, &of.session, &err), GCD_OK);
        for (int round = 0; round < 4; round++) {
            for (uint32_t t = 0; t < k.types; t++) {
                types[t] = round == 0 || run_random(&s) % 2 == 0;
                skip[t] = round > 1 && run_random(&s) % 2 == 0;
            }
            of.types = types;
            of.skip = round == 1 ? NULL : skip;
            of.page = random_page(&s);
            expect_answers_by_type(&k, &of);
            expect_exact(&k, &of);
            of.types = round == 0 ? NULL : types;
            expect_largest(&k, &of);
            expect_tree(&k, &of, 1 + (uint32_t)(run_random(&s) % 5));
        }
        gcd_session_free(of.session);
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
                                        cmocka_unit_test(answers_agree_with_brute_force),
                                        cmocka_unit_test(what_may_go_wrong) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
