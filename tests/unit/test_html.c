/* The page: its data compared with the graph, and its JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/paths.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/pages/pages.h>
#include <gcdumpc/writer.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "write/html/html_data.h"
#include "write/json_put.h"

static struct gcd_error err = GCD_ERROR_INIT;
static const struct gcd_write_options plain;

/* ---- JSON ---- */

static void check_json(struct json_put *j, const char *expected)
{
    size_t n;
    assert_int_equal(gcd_sink_commit(j->s, &err), GCD_OK);
    const uint8_t *bytes = gcd_sink_memory(j->s, &n);
    assert_int_equal(n, strlen(expected));
    assert_memory_equal(bytes, expected, n);
    gcd_sink_free(j->s);
}

static struct json_put new_json(bool html)
{
    struct json_put j = { .html = html };
    assert_int_equal(gcd_sink_new_memory(NULL, &j.s, &err), GCD_OK);
    return j;
}

static void commas_are_where_they_belong(void **state)
{
    (void)state;
    struct json_put j = new_json(false);
    json_put_open(&j, NULL, '{');
    json_put_number(&j, "a", UINT64_MAX);
    json_put_signed(&j, "b", INT64_MIN);
    json_put_open(&j, "c", '[');
    json_put_close(&j, ']');
    json_put_open(&j, "d", '[');
    json_put_bool(&j, NULL, true);
    json_put_hex(&j, NULL, 0xab);
    json_put_hex(&j, NULL, 0);
    json_put_open(&j, NULL, '{');
    json_put_close(&j, '}');
    json_put_close(&j, ']');
    json_put_text(&j, "e", "f", 10);
    json_put_close(&j, '}');
    check_json(&j, "{\"a\":18446744073709551615,\"b\":-9223372036854775808,\"c\":[],\"d\":[true,"
                   "\"0xab\",null,{}],\"e\":\"f\"}");
}

static void texts_are_escaped(void **state)
{
    (void)state;
    struct json_put j = new_json(false);
    json_put_text(&j, NULL, "<a \"b\\\n\x01\xc3\xa4>", 100);
    check_json(&j, "\"<a \\\"b\\\\\\u000a\\u0001\xc3\xa4>\"");
    j = new_json(true);
    json_put_text(&j, NULL, "</script><!--", 100);
    check_json(&j, "\"\\u003c/script>\\u003c!--\"");
}

/* First and last of each range of control characters, their printable neighbours, and invalid
 * UTF-8. */
static void control_characters_are_escaped(void **state)
{
    (void)state;
    static const struct {
        const char *text, *json;
    } cases[] = {
        { "\x1f ~\x7f\xc2\x80\xc2\x9f\xc2\xa0", "\\u001f ~\\u007f\\u0080\\u009f\xc2\xa0" },
        { "\xd8\x9b\xd8\x9c\xd8\x9d", "\xd8\x9b\\u061c\xd8\x9d" },
        { "\xe2\x80\x8d\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\x90",
          "\xe2\x80\x8d\\u200e\\u200f\xe2\x80\x90" },
        { "\xe2\x80\xa7\xe2\x80\xa8\xe2\x80\xae\xe2\x80\xaf",
          "\xe2\x80\xa7\\u2028\\u202e\xe2\x80\xaf" },
        { "\xe2\x81\xa5\xe2\x81\xa6\xe2\x81\xa9\xe2\x81\xaa",
          "\xe2\x81\xa5\\u2066\\u2069\xe2\x81\xaa" },
        { "\xef\xbf\xb8\xef\xbf\xb9\xef\xbf\xbb\xef\xbf\xbd\xf0\x90\x80\x80",
          "\xef\xbf\xb8\\ufff9\\ufffb\xef\xbf\xbd\xf0\x90\x80\x80" },
        { "\xf3\x9f\xbf\xbf\xf3\xa0\x80\x80\xf3\xa0\x81\xbf\xf3\xa0\x82\x80",
          "\xf3\x9f\xbf\xbf\\udb40\\udc00\\udb40\\udc7f\xf3\xa0\x82\x80" },
        { "\x9b"
          "1\xc2",
          "\\ufffd1\\ufffd" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char want[128];
        struct json_put j = new_json(false);
        (void)snprintf(want, sizeof want, "\"%s\"", cases[i].json);
        assert_int_equal(json_put_measure(&j, cases[i].text), strlen(cases[i].json));
        json_put_text(&j, NULL, cases[i].text, SIZE_MAX);
        check_json(&j, want);
    }
}

static void texts_are_cut_between_characters(void **state)
{
    (void)state;
    struct json_put j = new_json(true);
    json_put_open(&j, NULL, '[');
    json_put_text(&j, NULL, "ab\xc3\xa4", 4);
    json_put_text(&j, NULL, "ab\xc3\xa4", 3); /* not half of a character */
    json_put_text(&j, NULL, "a<", 7);
    json_put_text(&j, NULL, "a<", 6);                /* nor of an escape */
    json_put_text(&j, NULL, "\xf3\xa0\x80\x80", 11); /* of two units */
    json_put_close(&j, ']');
    assert_int_equal(json_put_measure(&j, "a<\"\n"), 1 + 6 + 2 + 6);
    check_json(
        &j, "[\"ab\xc3\xa4\",\"ab\xe2\x80\xa6\",\"a\\u003c\",\"a\xe2\x80\xa6\",\"\xe2\x80\xa6\"]");
}

/* ---- data ---- */

static uint64_t add(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* Parents come first; a step's total is its own plus its children's.  Returns the sum of the
 * objects at the top. */
static uint64_t check_tree(const struct gcd_merged_tree *t, bool whole)
{
    uint64_t top = 0;
    size_t n;
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &n);
    uint64_t *objects = calloc(n + 1, sizeof *objects), *bytes = calloc(n + 1, sizeof *bytes);
    for (size_t i = n; i-- > 0;) {
        const struct gcd_merged_step *s = &steps[i];
        objects[i] += s->own_count;
        bytes[i] = add(bytes[i], s->own_bytes);
        assert_true(whole ? objects[i] == s->count : objects[i] <= s->count);
        assert_true(whole ? bytes[i] == s->bytes : bytes[i] <= s->bytes);
        assert_true(s->parent == GCD_STEP_NONE || s->parent < i);
        if (s->parent == GCD_STEP_NONE) {
            top += s->count;
        } else {
            objects[s->parent] += s->count;
            bytes[s->parent] = add(bytes[s->parent], s->bytes);
        }
    }
    free(objects);
    free(bytes);
    return top;
}

static bool is_outermost(const struct gcd_graph *g, const struct gcd_dominators *d, uint32_t node)
{
    uint32_t parent = gcd_dominators_parent(d, node);
    return parent != GCD_NODE_NONE && (parent == GCD_NODE_ROOT || gcd_graph_node_type(g, parent) !=
                                                                      gcd_graph_node_type(g, node));
}

/* The list has the largest objects: none outside of it is larger than its last. */
static void check_large(const struct html_data *h, const struct gcd_dominators *d)
{
    size_t outermost = 0;
    for (size_t i = 0; i < h->large_count; i++) {
        const struct html_large *l = &h->large[i];
        assert_true(is_outermost(h->g, d, l->node));
        assert_true(l->retained == gcd_dominators_retained(d, l->node));
        assert_true(i == 0 || l->retained < l[-1].retained ||
                    (l->retained == l[-1].retained && l->node > l[-1].node));
        assert_true(l->holders > 0 && l->holder + l->holders <= h->holder_count);
    }
    for (uint32_t node = 0; node < gcd_graph_node_count(h->g); node++) {
        if (!is_outermost(h->g, d, node))
            continue;
        bool there = false;
        for (size_t i = 0; i < h->large_count; i++)
            there |= h->large[i].node == node;
        assert_true(there ||
                    (h->large_count == HTML_LARGE &&
                     gcd_dominators_retained(d, node) <= h->large[HTML_LARGE - 1].retained));
        outermost++;
    }
    assert_int_equal(h->large_count, outermost < HTML_LARGE ? outermost : HTML_LARGE);
}

/* The paths of a type hold all of its objects: the sum of the frames that end with it. */
static void check_paths(const struct html_data *h)
{
    for (size_t i = 0; i < h->path_count; i++) {
        const struct html_path *p = &h->paths[i];
        size_t n;
        const struct gcd_merged_step *steps = gcd_merged_tree_steps(p->tree, &n);
        bool whole = n < HTML_PATH_NODES;
        uint64_t objects = check_tree(p->tree, whole),
                 of_type = gcd_graph_summary(h->g)->types[p->type].objects;
        assert_true(whole ? objects == of_type : objects <= of_type);
        for (size_t k = 0; k < n; k++)
            assert_true(steps[k].own_count == 0 || steps[k].label == p->type ||
                        gcd_merged_tree_name(h->by_paths, steps[k].label).kind == GCD_STEP_DEEPER);
        for (size_t k = 0; k < i; k++)
            assert_true(h->paths[k].type != p->type);
    }
}

static void check_data(uint64_t seed)
{
    struct gcd_graph *g = graph_gen_random(seed, seed % 5 == 0 ? 3000 : 60);
    struct gcd_dominators *d;
    struct html_data h;
    size_t n = 0;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    assert_int_equal(html_data_make(&h, g, &plain, &(struct html_role){ .start = "map" }, &err),
                     GCD_OK);
    assert_int_equal(check_tree(h.tree, true), gcd_graph_node_count(g));
    assert_int_equal(h.reachable_objects, gcd_dominators_reachable(d));
    check_large(&h, d);
    check_paths(&h);
    for (uint32_t i = 0; i < gcd_graph_summary(g)->type_count; i++)
        n += gcd_graph_summary(g)->types[i].objects > 0;
    assert_int_equal(h.type_count, n);
    assert_int_equal(h.path_count, n < HTML_PATHS ? n : HTML_PATHS);
    for (size_t i = 1; i < n; i++)
        assert_true(gcd_graph_summary(g)->types[h.types[i]].bytes <=
                    gcd_graph_summary(g)->types[h.types[i - 1]].bytes);
    html_data_done(&h);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

static void the_page_shows_the_graph(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++)
        check_data(seed);
}

/* A tree that is too large keeps the largest steps, and no step without its parent. */
static void check_largest(const struct gcd_merged_tree *whole, size_t max)
{
    struct gcd_merged_tree *part;
    size_t n, m, at = 0;
    assert_int_equal(gcd_merged_tree_largest(whole, NULL, 0, max, &part, &err), GCD_OK);
    const struct gcd_merged_step *all = gcd_merged_tree_steps(whole, &n),
                                 *steps = gcd_merged_tree_steps(part, &m);
    uint64_t smallest = UINT64_MAX, largest_out = 0;
    (void)check_tree(part, false);
    for (size_t i = 0; i < m; i++)
        smallest = steps[i].bytes < smallest ? steps[i].bytes : smallest;
    for (size_t i = 0; i < n; i++) { /* both in the same order */
        bool in = at < m && steps[at].label == all[i].label && steps[at].bytes == all[i].bytes;
        at += in;
        if (!in && all[i].bytes > largest_out)
            largest_out = all[i].bytes;
    }
    assert_int_equal(m, max < n ? max : n);
    assert_true(m == 0 || largest_out <= smallest);
    gcd_merged_tree_free(part);
}

static void small_steps_are_left_out(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, 400);
        struct gcd_paths *p;
        struct gcd_merged_tree *t;
        size_t n;
        assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
        assert_int_equal(
            gcd_merged_tree_new(g, &(struct gcd_merged_tree_options){ .paths = p, .stacks = true },
                                &t, &err),
            GCD_OK);
        (void)gcd_merged_tree_steps(t, &n);
        for (size_t max = 0; max <= n; max += 1 + max / 3)
            check_largest(t, max);
        gcd_merged_tree_free(t);
        gcd_paths_free(p);
        gcd_graph_free(g);
    }
}

/* In the tree of the objects OF[n] alone, each step holds those that the tree of all objects has in
 * it or below it. */
static void check_some(const struct gcd_graph *g, const struct gcd_paths *p, const uint32_t *of,
                       size_t n)
{
    struct gcd_merged_tree *all, *some;
    uint32_t places[400];
    size_t steps, m, at = 0;
    struct gcd_merged_tree_options o = { .paths = p,
                                         .stacks = true,
                                         .keep_places = true,
                                         .find = of,
                                         .find_count = n,
                                         .ret_found = places };
    assert_int_equal(gcd_merged_tree_new(g, &o, &all, &err), GCD_OK);
    assert_int_equal(gcd_merged_tree_largest(all, of, n, SIZE_MAX, &some, &err), GCD_OK);
    const struct gcd_merged_step *a = gcd_merged_tree_steps(all, &steps),
                                 *b = gcd_merged_tree_steps(some, &m);
    assert_int_equal(check_tree(some, true), n);
    for (uint32_t i = 0; i < steps; i++) { /* both in the same order */
        uint64_t own = 0, count = 0;
        for (size_t k = 0; k < n; k++) {
            own += places[k] == i;
            for (uint32_t up = places[k]; up != GCD_STEP_NONE; up = a[up].parent)
                count += up == i;
        }
        if (count == 0)
            continue;
        assert_true(at < m);
        assert_int_equal(b[at].label, a[i].label);
        assert_int_equal(b[at].own_count, own);
        assert_int_equal(b[at++].count, count);
    }
    assert_int_equal(at, m);
    gcd_merged_tree_free(some);
    gcd_merged_tree_free(all);
}

static void some_objects_have_their_own_tree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct gcd_graph *g = graph_gen_random(seed, 400);
        struct gcd_paths *p;
        uint32_t of[400];
        size_t n = 0;
        assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
        for (uint32_t node = 0; node < gcd_graph_node_count(g) && n < 400; node++)
            if ((node * seed) % 7 < 3)
                of[n++] = node;
        check_some(g, p, of, n);
        gcd_paths_free(p);
        gcd_graph_free(g);
    }
}

static void every_allocation_may_fail_with(const struct gcd_graph *g, unsigned threads)
{
    for (uint64_t at = 1;; at++) {
        struct failalloc f;
        struct gcd_sink *s;
        failalloc_init(&f);
        f.fail_at = at;
        err = (struct gcd_error)GCD_ERROR_INIT;
        struct gcd_write_options o = { .context.alloc = &f.alloc, .context.threads = threads };
        assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
        gcd_status st = gcd_write_graph(gcd_format_by_name("html"), g, s, &o, NULL, &err);
        if (st != GCD_OK || f.failed == 0) /* a memo may be left out */
            assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
        assert_int_equal(err.code, st == GCD_OK ? err.code : GCD_E_NOMEM);
        gcd_sink_free(s);
        assert_null(failalloc_complaint(&f));
        if (f.failed == 0)
            break;
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_gen_random(3, 60);
    every_allocation_may_fail_with(g, 1);
    every_allocation_may_fail_with(g, 2);
    gcd_graph_free(g);
}

static void canceled(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_gen_random(3, 60);
    struct gcd_sink *s;
    gcd_cancel_flag cancel = true;
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct gcd_write_options o = { .context.cancel = &cancel, .context.threads = threads };
        assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
        assert_int_equal(gcd_write_graph(gcd_format_by_name("html"), g, s, &o, NULL, &err),
                         GCD_E_CANCELED);
        gcd_sink_free(s);
    }
    gcd_graph_free(g);
}

/* The progress of all stages together only rises, and ends at the total. */
static void forward(void *ctx, uint64_t done, uint64_t total)
{
    double *last = ctx, now = (double)done / (double)total;
    assert_true(now >= *last && now <= 1);
    *last = now;
}

static void progress_goes_forward(void **state)
{
    (void)state;
    struct gcd_graph *g = graph_gen_random(3, 60);
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct gcd_sink *s;
        double last = 0;
        assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
        struct gcd_write_options o = { .context.threads = threads,
                                       .context.progress = forward,
                                       .context.progress_ctx = &last };
        assert_int_equal(gcd_write_graph(gcd_format_by_name("html"), g, s, &o, NULL, &err), GCD_OK);
        assert_true(last == 1);
        gcd_sink_free(s);
    }
    gcd_graph_free(g);
}

/* ---- several dumps ---- */

#define MOST_DUMPS 1000u

/* N dumps with everything as long as it can be; each has types of its own. */
static gcd_status write_dumps(size_t n, size_t dumps, struct gcd_sink *s)
{
    static char text[3000], names[3][3000];
    struct gcd_page_dump *all = calloc(dumps, sizeof *all);
    struct gcd_verdict verdict = { .reason_count = GCD_REASON_COUNT };
    struct gcd_diff *d;
    memset(text, '<', sizeof text - 1);
    for (size_t i = 0; i < GCD_REASON_COUNT; i++)
        memset(verdict.reasons[i].text, '<', sizeof verdict.reasons[i].text - 1);
    assert_int_equal(gcd_diff_new(NULL, &d, &err), GCD_OK);
    for (size_t i = 0; i < n; i++) {
        struct gcd_diff_type types[3];
        for (size_t k = 0; k < 3; k++) {
            memset(names[k], 'x', sizeof names[k] - 1);
            (void)snprintf(names[k], 30, "%zu.%zu.", i, k);
            names[k][strlen(names[k])] = '<';
            types[k] = (struct gcd_diff_type){ names[k],
                                               text,
                                               { UINT64_MAX - i, UINT64_MAX - k, UINT64_MAX } };
        }
        assert_int_equal(gcd_diff_add(d, types, 3, &err), GCD_OK);
    }
    assert_int_equal(gcd_diff_match(d, &err), GCD_OK);
    for (size_t i = 0; i < dumps; i++)
        all[i] = (struct gcd_page_dump){ text,
                                         text,
                                         text,
                                         UINT64_MAX,
                                         (int64_t)i,
                                         &verdict,
                                         { UINT64_MAX, UINT64_MAX, UINT64_MAX },
                                         i % 2 };
    struct gcd_trend_page page = {
        .dumps = all, .dump_count = dumps, .types = d, .retained = true
    };
    gcd_status st = gcd_write_trend_page(&page, s, &err);
    gcd_diff_free(d);
    free(all);
    return st;
}

static gcd_status status_of_dumps(size_t n, size_t dumps, size_t *ret_bytes)
{
    struct gcd_sink *s;
    assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
    gcd_status st = write_dumps(n, dumps, s);
    *ret_bytes = (size_t)gcd_sink_bytes(s);
    gcd_sink_free(s);
    return st;
}

static void a_page_of_dumps_is_bounded(void **state)
{
    (void)state;
    size_t bytes;
    for (size_t n = 1; n <= MOST_DUMPS; n = n < 64 ? n * 4 : n < MOST_DUMPS ? MOST_DUMPS : n + 1) {
        assert_int_equal(status_of_dumps(n, n, &bytes), GCD_OK);
        assert_in_range(bytes, 100000, 5000000);
    }
    assert_int_equal(status_of_dumps(MOST_DUMPS + 1, MOST_DUMPS + 1, &bytes), GCD_E_LIMIT);
    assert_int_equal(status_of_dumps(3, 2, &bytes), GCD_E_ARG);
    assert_int_equal(status_of_dumps(0, 0, &bytes), GCD_E_ARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_are_where_they_belong),
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(control_characters_are_escaped),
        cmocka_unit_test(texts_are_cut_between_characters),
        cmocka_unit_test(the_page_shows_the_graph),
        cmocka_unit_test(small_steps_are_left_out),
        cmocka_unit_test(some_objects_have_their_own_tree),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(canceled),
        cmocka_unit_test(progress_goes_forward),
        cmocka_unit_test(a_page_of_dumps_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
