/*
 * Every view of browse, line by line: names, numbers, shares, what Enter opens.  A line reads
 *
 *     name | numbers of the columns, - for none | part of whole | what Enter opens
 *
 * and begins with blanks for its indentation; "= " is a title, "+ " the title of the columns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/opening.h"
#include "support/async_graph.h"
#include "support/browse_model.h"
#include "support/expected.h"

#define MIB (UINT64_C(1) << 20)

static struct gcd_error err = GCD_ERROR_INIT;
static struct opened o;

static int teardown(void **state)
{
    (void)state;
    close_model(&o);
    return 0;
}

static void put_columns(FILE *to, const struct browse_section *s)
{
    fprintf(to, "+ %s |", s->what);
    for (size_t i = 0; i < BROWSE_NUMBERS; i++)
        if (s->heads[i] != NULL)
            fprintf(to, " %s%s", s->heads[i], s->counts[i] ? "#" : "");
    fprintf(to, " |%s | orders %x by %s\n", s->hidden_share ? "" : " share", s->orders,
            browse_order_name(s->order));
}

static void put_line(FILE *to, const struct browse_section *s, const struct browse_line *line)
{
    static const char *const goals[] = { "", "object", "type", "suspect", "stack", "tree" };
    bool said = line->goal == GOAL_SUSPECT; /* what they say is tested elsewhere */
    fprintf(to, "%*s%.*s%s%s |", (int)(2 * line->indent), "", said ? 10 : (int)line->name_bytes,
            said ? "(sentence)" : line->name, line->tail, line->more != NULL ? line->more : "");
    for (size_t i = 0; i < BROWSE_NUMBERS; i++)
        if (s->heads[i] != NULL && line->has[i])
            fprintf(to, " %llu", (unsigned long long)line->numbers[i]);
        else if (s->heads[i] != NULL)
            fputs(" -", to);
    fprintf(to, " | ");
    if (line->whole > 0)
        fprintf(to, "%llu of %llu", (unsigned long long)line->part,
                (unsigned long long)line->whole);
    fprintf(to, " | %s", goals[line->goal]);
    if (line->goal != GOAL_NONE)
        fprintf(to, " %u", line->to);
    fputs("\n", to);
}

/* The lines of V, which is freed, from line FIRST on; free() it. */
static char *text_of(struct browse_view *v, uint64_t first)
{
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    assert_non_null(to);
    fprintf(to, "%s\n", v->title);
    for (uint64_t i = first; i < browse_lines(v); i++) {
        struct browse_line line;
        uint64_t in;
        const struct browse_section *s = browse_section_at(v, i, &in);
        browse_line_at(v, i, &line);
        if (s->line != NULL && in == 0)
            put_columns(to, s);
        if (line.style == STYLE_ITEM)
            put_line(to, s, &line);
        else
            fprintf(to, "%s%.*s%s\n", line.style == STYLE_HEADING ? "= " : "", (int)line.name_bytes,
                    line.name, line.tail);
    }
    assert_int_equal(fclose(to), 0);
    browse_free(v);
    return text;
}

static struct browse_view *view_of(const struct browse_subject *subject)
{
    struct browse_view *v;
    if (browse_open(&o.m, subject, NULL, &v, &err) != GCD_OK)
        fail_msg("%s", err.msg);
    browse_learn(&o.m, subject->kind);
    return v;
}

static char *all;
static size_t all_bytes;
static FILE *shown;

/* Adds what a view shows from line FIRST on. */
static void show_from(const struct browse_subject *subject, uint64_t first)
{
    char *text = text_of(view_of(subject), first);
    fprintf(shown, "%s\n", text);
    free(text);
}

static void show(const struct browse_subject *subject)
{
    show_from(subject, 0);
}

static const struct browse_subject whole_tree = { .kind = BROWSE_TREE, .number = GCD_NODE_ROOT };
static const struct browse_subject types = { .kind = BROWSE_TYPES };

/* ---- a heap with a large cache ---- */

/* The cache holds an array of three pages; the third is of another type, and a text keeps it, too.
 * Two roots hold the text; it is the value of a dependent handle of the cache.  Nothing holds the
 * last object. */
enum { CACHE, PAGES, PAGE, PAGE_2, BIG, TEXT, LOST, NODES };

static struct gcd_graph *shop(void)
{
    return shop_build(&(struct shop){
        SHOP_TYPES({ .id = 1,
                     .name = "Shop.Cache",
                     .module_path = "/srv/Shop.dll",
                     .named = true,
                     .described = true },
                   { .id = 2, .name = "Shop.Page[]", .named = true, .described = true },
                   { .id = 3, .name = "Shop.Page", .named = true, .described = true },
                   { .id = 4, .name = "Shop.Big", .named = true, .described = true },
                   { .id = 5, .name = "System.String", .named = true, .described = true },
                   { .id = 6, .name = "Shop.Unused", .named = true, .described = true }),
        SHOP_NODES({ 0, 24 }, { 1, 48 }, { 2, 3 * MIB }, { 2, 2 * MIB }, { 3, 4 * MIB },
                   { 4, 1000 }, { 2, 500 }),
        SHOP_EDGES({ CACHE, PAGES }, { PAGES, PAGE }, { PAGES, PAGE_2 }, { PAGES, BIG },
                   { TEXT, BIG }),
        SHOP_ROOTS({ .node = CACHE, .object = 1, .kind = GCD_ROOT_STATIC, .name = "s_cache" },
                   { .node = TEXT, .kind = GCD_ROOT_STACK },
                   { .node = TEXT, .kind = GCD_ROOT_HANDLE }),
        SHOP_DEPENDENTS({ CACHE, TEXT }) });
}

static void trees(void **state)
{
    (void)state;
    open_model(&o, shop());
    show(&whole_tree);
    show(&(struct browse_subject){ .kind = BROWSE_TREE, .number = CACHE });
    show(&(struct browse_subject){ .kind = BROWSE_TREE, .number = TEXT });
}

static void lists_of_types(void **state)
{
    (void)state;
    open_model(&o, shop());
    show(&types);
    browse_free(view_of(&whole_tree)); /* from now on there are dominators */
    show(&types);
    show(&(struct browse_subject){ .kind = BROWSE_TYPE, .number = 2 });
}

static void objects(void **state)
{
    (void)state;
    open_model(&o, shop());
    browse_free(view_of(&whole_tree));
    show(&(struct browse_subject){ .kind = BROWSE_OBJECT, .number = BIG });
    show(&(struct browse_subject){ .kind = BROWSE_OBJECT, .number = PAGE });
    show(&(struct browse_subject){ .kind = BROWSE_OBJECT, .number = TEXT });
    show(&(struct browse_subject){ .kind = BROWSE_OBJECT, .number = CACHE });
    show(&(struct browse_subject){ .kind = BROWSE_OBJECT, .number = LOST });
}

/* ---- suspects ---- */

static void suspects(void **state)
{
    (void)state;
    open_model(&o, shop());
    struct browse_view *v = view_of(&(struct browse_subject){ .kind = BROWSE_SUSPECTS });
    size_t n = gcd_suspects_count(o.m.suspects);
    uint64_t headline = v->sections[0].count;
    assert_true(n > 0 && headline > 0 && browse_lines(v) > headline + n);
    for (uint64_t i = 0; i < n; i++) {
        struct browse_line line;
        const struct gcd_suspect *s = gcd_suspects_get(o.m.suspects, (size_t)i);
        size_t k = strlen(s->place);
        browse_line_at(v, headline + i, &line);
        assert_memory_equal(line.name, s->place, k);
        assert_memory_equal(line.name + k, ": ", 2);
        assert_memory_equal(line.name + k + 2, s->what, line.name_bytes - k - 2);
        assert_int_equal(line.name_bytes, k + 2 + strlen(s->what));
    }
    browse_free(v);
    show_from(&(struct browse_subject){ .kind = BROWSE_SUSPECTS }, headline);
    for (uint32_t i = 0; i < n; i++) {
        const struct gcd_suspect *s = gcd_suspects_get(o.m.suspects, i);
        const struct browse_subject one = { .kind = BROWSE_SUSPECT, .number = i };
        v = view_of(&one);
        uint64_t first = v->sections[0].count;
        size_t k = strlen(s->sentence);
        assert_memory_equal(v->sections[0].text, s->sentence, k);
        k += s->advice[0] != '\0';
        assert_memory_equal(v->sections[0].text + k, s->advice, strlen(s->advice));
        k += strlen(s->advice) + (s->evidence[0] != '\0');
        assert_string_equal(v->sections[0].text + k, s->evidence);
        browse_free(v);
        show_from(&one, first);
    }
}

/* A narrow window wraps what a suspect is; the numbers are beside the first line, Enter opens it on
 * each, and the cursor stays on its suspect. */
static void suspects_in_a_narrow_window(void **state)
{
    (void)state;
    open_model(&o, shop());
    struct browse_view *v = view_of(&(struct browse_subject){ .kind = BROWSE_SUSPECTS });
    assert_true(browse_wrap(v, 160));
    uint64_t wide = v->sections[1].count;
    assert_int_equal(wide, gcd_suspects_count(o.m.suspects));
    browse_first_of(v, 1, 20);
    v->cursor += wide - 1;
    assert_true(browse_wrap(v, 40));
    uint64_t narrow = v->sections[1].count, first = v->sections[0].count, numbers = 0;
    assert_true(narrow > wide);
    for (uint64_t i = 0; i < narrow; i++) {
        struct browse_line line;
        browse_line_at(v, first + i, &line);
        numbers += line.has[0];
        assert_int_equal(line.goal, GOAL_SUSPECT);
        assert_int_equal(line.to + 1, numbers);
        assert_true(line.name_bytes <= 21);
        assert_int_equal(line.whole > 0, line.has[0]);
        if (first + i == v->cursor)
            assert_true(line.has[0] && line.to + 1 == wide);
    }
    assert_int_equal(numbers, wide);
    browse_free(v);
}

static void no_suspects(void **state)
{
    (void)state;
    open_model(&o, fan());
    show_from(&(struct browse_subject){ .kind = BROWSE_SUSPECTS }, 0);
    assert_non_null(o.m.largest);
    show_from(&(struct browse_subject){ .kind = BROWSE_SUSPECT, .number = 0 }, 0);
}

/* ---- asynchronous operations ---- */

static void waits(void **state)
{
    (void)state;
    /* a call that waits for another, two that wait for a delay, three that are over */
    static const struct async_object objects[] = {
        OBJECT("Shop.Kept", 1, 4, 6, 8, 10, 11, 12),
        OBJECT(BOX("Shop.Rpc+<Call>d__2"), 5, 0, 1, 2),
        OBJECT(BOX("Shop.Rpc+<Send>d__3"), 5, 1, 0, 2, 3),
        OBJECT(TASKS "Task`1[Shop.Reply]", 2),
        OBJECT(TASKS "TaskCompletionSource`1[Shop.Reply]", 3),
        LEAF(CONTEXT),
        OBJECT(BOX("Shop.Web+<Get>d__4"), 6, 7),
        OBJECT(TASK "+DelayPromise", 6),
        OBJECT(BOX("Shop.Web+<Get>d__4"), 8, 9),
        OBJECT(TASK "+DelayPromise", 8),
        OBJECT(BOX("Shop.Job+<Run>d__5"), 13),
        OBJECT(BOX("Shop.Job+<Run>d__5"), 13),
        OBJECT(BOX("Shop.Job+<Stop>d__6"), 13),
        LEAF(SENTINEL),
    };
    open_model(&o, async_graph(objects, sizeof objects / sizeof *objects, ASYNC_RANGES));
    show(&(struct browse_subject){ .kind = BROWSE_ASYNC });
    size_t n;
    const uint32_t *stacks = gcd_async_stacks(o.m.async, &n);
    for (size_t i = 0; i < n; i++)
        show(&(struct browse_subject){ .kind = BROWSE_STACK, .number = stacks[i] });
}

/* ---- questions, and the dump ---- */

static void rows(void **state)
{
    (void)state;
    static const char mixed[] =
        "SELECT 'a' AS t, 1 AS n, 2.5 AS r, NULL AS z, x'0102' AS b UNION ALL "
        "SELECT 'long', 1000, 1e10, 3, x''";
    static const char *const questions[] = {
        "SELECT id, size_bytes, address FROM objects ORDER BY id",
        "SELECT id, name, raw_name FROM types ORDER BY id",
        mixed,
        "SELECT 1 AS from_id, 99 AS to_id UNION ALL SELECT 99, 2 UNION ALL SELECT -1, -1",
        "SELECT 5 AS TYPE_ID, 6 AS x UNION ALL SELECT 6, 1",
        "SELECT 3 AS id, 2 AS key_id, 1 AS type",
        "SELECT 3 AS id",
        "SELECT 2 AS type_id, 4 AS dominator, 'x' AS source",
        "SELECT 1 WHERE 0;",
    };
    open_model(&o, shop());
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        show(&(struct browse_subject){ .kind = BROWSE_ROWS, .text = questions[i] });
}

static void questions_that_are_none(void **state)
{
    (void)state;
    static const char *const wrong[][2] = { { "-- no", "there is no statement" },
                                            { "SELECT 1; SELECT 2", "one statement at a time" },
                                            { "SELECT 1; SELEC", "one statement at a time" },
                                            { "SELEC", "near \"SELEC\": syntax error" } };
    open_model(&o, shop());
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct browse_view *v;
        assert_int_equal(
            browse_open(&o.m, &(struct browse_subject){ .kind = BROWSE_ROWS, .text = wrong[i][0] },
                        NULL, &v, &err),
            GCD_E_ARG);
        assert_string_equal(err.msg, wrong[i][1]);
    }
}

static void the_dump(void **state)
{
    (void)state;
    static const struct gcd_reason reason = { .code = GCD_REASON_EVENTS_LOST,
                                              .text = "3 events were lost" };
    open_model(&o, shop());
    show(&(struct browse_subject){ .kind = BROWSE_DUMP });
    browse_free(view_of(&whole_tree));
    show(&(struct browse_subject){ .kind = BROWSE_DUMP });
    close_model(&o);
    open_model(&o,
               shop_build(&(struct shop){ SHOP_TYPES({ .id = 1, .name = "A", .named = true }),
                                          SHOP_NODES({ 0, 24 }, { 0, 24 }),
                                          SHOP_EDGES({ 0, 1 }, { 1, 0 }), .incomplete = &reason }));
    browse_free(view_of(&whole_tree));
    show(&(struct browse_subject){ .kind = BROWSE_DUMP });
}

static int begin(void **state)
{
    (void)state;
    shown = open_memstream(&all, &all_bytes);
    return shown == NULL;
}

static void as_expected(void **state)
{
    (void)state;
    assert_int_equal(fclose(shown), 0);
    expect_file("browse_views.txt", all);
    free(all);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, teardown)
    const struct CMUnitTest tests[] = { TEST(trees),
                                        TEST(lists_of_types),
                                        TEST(objects),
                                        TEST(suspects),
                                        TEST(suspects_in_a_narrow_window),
                                        TEST(no_suspects),
                                        TEST(waits),
                                        TEST(rows),
                                        TEST(questions_that_are_none),
                                        TEST(the_dump),
                                        cmocka_unit_test(as_expected) };
    return cmocka_run_group_tests_name("test_cli_browse_views", tests, begin, NULL);
}
