/*
 * The data of the pages of small heaps, of two dumps and of several, compared with a file: every
 * number of the page is there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/session.h>
#include <gcdumpc/unstable/pages/pages.h>
#include <gcdumpc/unstable/tree_diff.h>
#include <gcdumpc/writer.h>

#include "support/async_graph.h"
#include "support/expected.h"
#include "support/graph_gen.h"
#include "support/shop.h"

static struct gcd_error err = GCD_ERROR_INIT;
static FILE *shown;
static char *all;
static size_t all_bytes;

static int begin(void **state)
{
    (void)state;
    shown = open_memstream(&all, &all_bytes);
    return shown == NULL;
}

static struct gcd_sink *new_sink(void)
{
    struct gcd_sink *s;
    assert_int_equal(gcd_sink_new_memory(NULL, &s, &err), GCD_OK);
    return s;
}

/* Shows the data of the page in S, a list or object per line; frees S. */
static void show(const char *title, struct gcd_sink *s)
{
    static const char before[] = "id=\"data\">";
    size_t n;
    assert_int_equal(gcd_sink_commit(s, &err), GCD_OK);
    const char *page = (const char *)gcd_sink_memory(s, &n);
    const char *at = memmem(page, n, before, strlen(before));
    assert_non_null(at);
    at += strlen(before);
    const char *end = memmem(at, n - (size_t)(at - page), "</script>", 9);
    assert_non_null(end);
    fprintf(shown, "%s\n", title);
    for (const char *line = at; at < end; at++) {
        if (at + 1 < end && (*at != ',' || (at[-1] != ']' && at[-1] != '}')))
            continue;
        size_t length = (size_t)(at + 1 - line);
        const char *version = memmem(line, length, "\"gcdumpc\":", 10);
        if (version != NULL) { /* not our version, and not what is said about suspects */
            line = memmem(line, length, "\"verdict\"", 9);
            assert_non_null(line);
            length = (size_t)(at + 1 - line);
        }
        if (memmem(line, length, "\"sentence\"", 10) == NULL)
            fprintf(shown, "%.*s\n", (int)length, line);
        line = at + 1;
    }
    fputs("\n", shown);
    gcd_sink_free(s);
}

static void show_graph(const char *title, struct gcd_graph *g)
{
    static const struct gcd_write_options options = { .name = "x.nettrace" };
    struct gcd_sink *s = new_sink();
    assert_int_equal(gcd_write_graph(gcd_format_by_name("html"), g, s, &options, NULL, &err),
                     GCD_OK);
    show(title, s);
    gcd_graph_free(g);
}

static void pages_of_graphs(void **state)
{
    (void)state;
    show_graph("the shop", shop_graph(32, true));
    for (uint64_t seed = 1; seed < 6; seed++) {
        char title[40];
        (void)snprintf(title, sizeof title, "random %llu", (unsigned long long)seed);
        show_graph(title, graph_gen_random(seed, 12));
    }
    static const struct async_object objects[] = {
        OBJECT("Shop.Kept", 1, 4, 6, 8),
        OBJECT(BOX("Shop.Rpc+<Call>d__2"), 5, 0, 1, 2),
        OBJECT(BOX("Shop.Rpc+<Send>d__3"), 5, 1, 0, 2, 3),
        OBJECT(TASKS "Task`1[Shop.Reply]", 2),
        OBJECT(TASKS "TaskCompletionSource`1[Shop.Reply]", 3),
        LEAF(CONTEXT),
        OBJECT(BOX("Shop.Web+<Get>d__4"), 6, 7),
        OBJECT(TASK "+DelayPromise", 6),
        OBJECT(BOX("Shop.Web+<Get>d__4"), 8, 7),
    };
    show_graph("what waits", async_graph(objects, sizeof objects / sizeof *objects, ASYNC_RANGES));
    static const struct gcd_reason reason = { .code = GCD_REASON_EVENTS_LOST,
                                              .name = "events_lost",
                                              .amount = 3,
                                              .text = "3 events were lost" };
    show_graph(
        "incomplete",
        shop_build(&(struct shop){
            SHOP_TYPES(
                { .id = 1, .name = "Shop.A</script>", .module_path = "/srv/a.dll", .named = true }),
            SHOP_NODES({ 0, 24 }, { 0, 1000 }, { 0, 5 }), SHOP_EDGES({ 0, 1 }),
            .incomplete = &reason, .used_bytes = 5000, .generation = 2 }));
}

/* Two dumps, and a third: types that grow, shrink, come, go and stay. */
static const struct gcd_diff_type before[] = { { "Shop.Grows", "/a/Shop.dll", { 3, 300, 400 } },
                                               { "Shop.Shrinks", "", { 9, 900, 1000 } },
                                               { "Shop.Goes", "/a/Shop.dll", { 1, 50, 60 } },
                                               { "Shop.Stays", "", { 2, 20, 22 } } };
static const struct gcd_diff_type after[] = { { "Shop.Grows", "/b/Shop.dll", { 5, 500, 640 } },
                                              { "Shop.Shrinks", "", { 4, 400, 410 } },
                                              { "Shop.Comes", "/a/New.dll", { 7, 70, 77 } },
                                              { "Shop.Stays", "", { 2, 20, 22 } } };
#define COUNT(a) (sizeof(a) / sizeof *(a))

static const char *const names[] = { "stack", "s_cache", "Shop.Cache", "Shop.Item", "_items" };
static const struct gcd_tree_diff_step
    old_steps[] = { { GCD_STEP_NONE, 0, 1, 30, GCD_NAME_NONE, 0, GCD_NAME_NONE },
                    { GCD_STEP_NONE, 1, 4, 300, GCD_NAME_NONE, 0, GCD_NAME_NONE },
                    { 1, 2, 3, 280, GCD_NAME_NONE, 0, GCD_NAME_NONE },
                    { 2, 3, 2, 100, 4, 0, GCD_NAME_NONE } },
    new_steps[] = { { GCD_STEP_NONE, 1, 5, 900, GCD_NAME_NONE, 0, GCD_NAME_NONE },
                    { 0, 2, 5, 880, GCD_NAME_NONE, 0, GCD_NAME_NONE },
                    { 1, 3, 4, 700, 4, 0, GCD_NAME_NONE } };

static const struct gcd_verdict complete = { .complete = true };
static const struct gcd_verdict lossy = { .reason_count = 1,
                                          .reasons = { { .code = GCD_REASON_EVENTS_LOST,
                                                         .name = "events_lost",
                                                         .amount = 7,
                                                         .text = "7 events were lost" } } };
static const struct gcd_page_dump dumps[] = {
    { "a.nettrace", "shop", "shop --all", 12, 1795415132296, &complete, { 15, 1270, 1482 }, false },
    { "b.nettrace", "", "", 0, INT64_MIN, &lossy, { 18, 990, 1149 }, true },
    { "c.nettrace", "shop", "", 13, 1795415192296, &complete, { 19, 991, 1150 }, false },
};

static struct gcd_diff *types_of(size_t n)
{
    struct gcd_diff *d;
    assert_int_equal(gcd_diff_new(NULL, &d, &err), GCD_OK);
    assert_int_equal(gcd_diff_add(d, before, COUNT(before), &err), GCD_OK);
    assert_int_equal(gcd_diff_add(d, after, COUNT(after), &err), GCD_OK);
    if (n > 2)
        assert_int_equal(gcd_diff_add(d, before + 1, 2, &err), GCD_OK);
    assert_int_equal(gcd_diff_match(d, &err), GCD_OK);
    return d;
}

static void pages_of_two_dumps(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 4; which++) {
        struct gcd_tree_diff *paths;
        struct gcd_session *newer = NULL;
        struct gcd_graph *g = graph_gen_random(7, 10);
        assert_int_equal(gcd_session_new(g, NULL, &newer, &err), GCD_OK);
        assert_int_equal(gcd_tree_diff_new(NULL, &paths, &err), GCD_OK);
        assert_int_equal(
            gcd_tree_diff_add(paths, names, COUNT(names), old_steps, COUNT(old_steps), &err),
            GCD_OK);
        assert_int_equal(
            gcd_tree_diff_add(paths, names, COUNT(names), new_steps, COUNT(new_steps), &err),
            GCD_OK);
        assert_int_equal(gcd_tree_diff_match(paths, &err), GCD_OK);
        struct gcd_diff *types = types_of(2);
        struct gcd_diff_page page = { .sides = { dumps[0], dumps[which == 1 ? 2 : 1] },
                                      .types = types,
                                      .paths = which > 0 ? paths : NULL,
                                      .retained = which > 1,
                                      .newer = which > 2 ? newer : NULL };
        struct gcd_sink *s = new_sink();
        assert_int_equal(gcd_write_diff_page(&page, s, &err), GCD_OK);
        char title[40];
        (void)snprintf(title, sizeof title, "two dumps %u", which);
        show(title, s);
        gcd_diff_free(types);
        gcd_tree_diff_free(paths);
        gcd_session_free(newer);
        gcd_graph_free(g);
    }
}

static void pages_of_several_dumps(void **state)
{
    (void)state;
    for (unsigned retained = 0; retained < 2; retained++) {
        struct gcd_diff *types = types_of(3);
        struct gcd_trend_page page = {
            .dumps = dumps, .dump_count = 3, .types = types, .retained = retained
        };
        struct gcd_sink *s = new_sink();
        assert_int_equal(gcd_write_trend_page(&page, s, &err), GCD_OK);
        show(retained ? "three dumps, retained" : "three dumps", s);
        gcd_diff_free(types);
    }
}

static void as_expected(void **state)
{
    (void)state;
    assert_int_equal(fclose(shown), 0);
    expect_file("html_pages.txt", all);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_of_graphs),
        cmocka_unit_test(pages_of_two_dumps),
        cmocka_unit_test(pages_of_several_dumps),
        cmocka_unit_test(as_expected),
    };
    return cmocka_run_group_tests_name("test_html_pages", tests, begin, NULL);
}
