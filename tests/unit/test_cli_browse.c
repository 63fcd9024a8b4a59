/* What browse shows, without a terminal: lines, moves, orders, search, files. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "browse/opening.h"
#include "support/browse_model.h"
#include "support/graph_gen.h"
#include "term/message.h"
#include "term/term.h"

static struct gcd_error err = GCD_ERROR_INIT;

static struct browse_view *open_view(struct opened *o, enum browse_kind kind, uint32_t number)
{
    struct browse_view *v = NULL;
    assert_int_equal(browse_open(&o->m, &(struct browse_subject){ .kind = kind, .number = number },
                                 NULL, &v, &err),
                     GCD_OK);
    browse_learn(&o->m, kind);
    browse_begin(v, 110, 30);
    return v;
}

static const struct browse_line *line_of(const struct browse_view *v, uint64_t i)
{
    static struct browse_line line;
    browse_line_at(v, i, &line);
    return &line;
}

/* A text that fills the window is read from its beginning. */
static void the_cursor_begins_where_it_is_seen(void **state)
{
    (void)state;
    struct opened o;
    open_model(&o, fan());
    struct browse_view *v = open_view(&o, BROWSE_OBJECT, 0);
    uint64_t first = v->cursor;
    assert_true(first > 2);
    assert_int_not_equal(line_of(v, first)->goal, GOAL_NONE);
    browse_begin(v, 110, first);
    assert_int_equal(v->cursor, 0);
    browse_begin(v, 110, first + 1);
    assert_int_equal(v->cursor, first);
    browse_begin(v, 20, first + 1); /* the text has more lines then */
    assert_int_equal(v->cursor, 0);
    browse_free(v);
    close_model(&o);
}

/* ---- lines ---- */

static void tree_has_the_largest_first(void **state)
{
    (void)state;
    struct opened o;
    open_model(&o, fan());
    struct browse_view *v = open_view(&o, BROWSE_TREE, GCD_NODE_ROOT);
    assert_int_equal(browse_lines(v), 1);
    assert_int_equal(line_of(v, 0)->to, 0);
    assert_int_equal(line_of(v, 0)->numbers[0], 24 + 4500);
    assert_int_equal(line_of(v, 0)->goal, GOAL_TREE);
    struct browse_view *below = open_view(&o, BROWSE_TREE, 0);
    assert_int_equal(browse_lines(below), 9);
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(line_of(below, i)->to, 9 - i);
        assert_int_equal(line_of(below, i)->numbers[1], 100 * (9 - i));
        assert_int_equal(line_of(below, i)->whole, 4524);
    }
    assert_string_equal(below->title, "Shop.App");
    browse_free(below);
    below = open_view(&o, BROWSE_TREE, 1); /* nothing is below it */
    assert_int_equal(browse_lines(below), 1);
    assert_int_equal(line_of(below, 0)->style, STYLE_TEXT);
    browse_free(below);
    browse_free(v);
    close_model(&o);
}

static void random_heaps_have_every_view(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct opened o;
        open_model(&o, graph_gen_random(seed, 40));
        uint32_t nodes = gcd_graph_node_count(o.g);
        for (unsigned kind = 0; kind <= BROWSE_DUMP; kind++) {
            if (kind == BROWSE_SUSPECT || kind == BROWSE_STACK ||
                ((kind == BROWSE_OBJECT || kind == BROWSE_TYPE) && nodes == 0))
                continue;
            uint32_t number = kind == BROWSE_TREE   ? GCD_NODE_ROOT
                              : kind == BROWSE_TYPE ? gcd_graph_node_type(o.g, 0)
                                                    : 0;
            struct browse_view *v = open_view(&o, (enum browse_kind)kind, number);
            for (size_t width = 40; width <= 160; width += 60) {
                assert_true(browse_wrap(v, width));
                for (uint64_t i = 0; i < browse_lines(v); i++)
                    assert_non_null(line_of(v, i)->name);
            }
            uint64_t at;
            assert_int_equal(browse_find(v, &(struct browse_search){ .pattern = "no such name 0" },
                                         NULL, &at, &err),
                             GCD_OK);
            assert_true(at == UINT64_MAX);
            browse_free(v);
        }
        close_model(&o);
    }
}

static void an_object_knows_its_neighbours(void **state)
{
    (void)state;
    struct opened o;
    open_model(&o, fan());
    struct browse_view *v = open_view(&o, BROWSE_OBJECT, 9);
    uint64_t at, in;
    assert_int_equal(
        browse_find(v, &(struct browse_search){ .pattern = "Referred to by" }, NULL, &at, &err),
        GCD_OK);
    const struct browse_section *s = browse_section_at(v, at + 1, &in);
    assert_int_equal(s->count, 2);
    assert_int_equal(s->ids[0], 0);
    assert_int_equal(s->ids[1], 8);
    assert_string_equal(line_of(v, at)->tail, " (2)");
    assert_int_equal(line_of(v, at - 1)->style, STYLE_BLANK);
    assert_int_equal(line_of(v, at)->style, STYLE_HEADING);
    assert_int_equal(line_of(v, at + 2)->to, 8);
    browse_free(v);
    close_model(&o);
}

/* Nodes 2, 4, 6 and 8 of fan, which 0 refers to, and node 9 of another type, to and from. */
static void a_type_knows_its_objects_and_neighbours(void **state)
{
    (void)state;
    static const char *const titles[] = { "Referred to by", "Refers to", "Objects" };
    static const uint64_t counts[] = { 2, 1, 4 };
    struct opened o;
    open_model(&o, fan());
    struct browse_view *v = open_view(&o, BROWSE_TYPE, 1);
    assert_string_equal(v->title, "Shop.Odd");
    for (size_t i = 0; i < 3; i++) {
        const struct browse_section *s = &v->sections[v->section_count - 3 + i];
        assert_string_equal(s->title, titles[i]);
        assert_int_equal(s->count, counts[i]);
    }
    uint64_t at = browse_lines(v) - 4;
    for (uint32_t i = 0; i < 4; i++) { /* the largest first */
        assert_int_equal(line_of(v, at + i)->to, 8 - 2 * i);
        assert_int_equal(line_of(v, at + i)->goal, GOAL_OBJECT);
    }
    assert_int_equal(
        browse_find(v, &(struct browse_search){ .pattern = "Referred to by" }, NULL, &at, &err),
        GCD_OK);
    assert_string_equal(line_of(v, at + 1)->name, "Shop.App");
    assert_int_equal(line_of(v, at + 1)->numbers[0], 4);
    assert_string_equal(line_of(v, at + 2)->name, "Shop.Even");
    assert_int_equal(line_of(v, at + 2)->numbers[0], 1);
    browse_free(v);
    close_model(&o);
}

/* The ends of a long path, and how much is between them. */
static void a_long_path_is_cut_in_the_middle(void **state)
{
    (void)state;
    enum { LENGTH = 100, ENDS = 20 };
    struct shop_node nodes[LENGTH];
    struct shop_edge edges[LENGTH - 1];
    for (uint32_t i = 0; i < LENGTH; i++) {
        nodes[i] = (struct shop_node){ 0, 24 };
        if (i > 0)
            edges[i - 1] = (struct shop_edge){ i - 1, i };
    }
    struct gcd_type types[] = { { .id = 1, .name = "Shop.Link", .named = true } };
    struct gcd_root roots[] = {
        { .object = 0, .kind = GCD_ROOT_STATIC, .name = "s_first", .node = 0 }
    };
    struct opened o;
    open_model(&o, shop_build(&(struct shop){ .types = types,
                                              .type_count = 1,
                                              .nodes = nodes,
                                              .node_count = LENGTH,
                                              .edges = edges,
                                              .edge_count = LENGTH - 1,
                                              .roots = roots,
                                              .root_count = 1 }));
    struct browse_view *v;
    uint64_t at;
    const struct browse_subject last = { .kind = BROWSE_OBJECT,
                                         .number = LENGTH - 1,
                                         .full = true };
    assert_int_equal(browse_open(&o.m, &last, NULL, &v, &err), GCD_OK);
    browse_learn(&o.m, BROWSE_OBJECT);
    assert_int_equal(
        browse_find(v, &(struct browse_search){ .pattern = "Path from" }, NULL, &at, &err), GCD_OK);
    assert_string_equal(line_of(v, at)->tail, " (42)");
    assert_string_equal(line_of(v, at + 1)->name, "static variable s_first");
    for (uint32_t i = 0; i < ENDS; i++) {
        assert_int_equal(line_of(v, at + 2 + i)->to, i);
        assert_int_equal(line_of(v, at + 3 + ENDS + i)->to, LENGTH - ENDS + i);
    }
    assert_string_equal(line_of(v, at + 2 + ENDS)->name, "(60 more objects)");
    browse_free(v);
    close_model(&o);
}

/* ---- moves ---- */

static void the_cursor_stays_on_lines(void **state)
{
    (void)state;
    struct opened o;
    open_model(&o, fan());
    struct browse_view *v = open_view(&o, BROWSE_TREE, 0);
    static const struct {
        enum browse_move move;
        uint64_t cursor, top;
    } steps[] = {
        { MOVE_UP, 0, 0 },        { MOVE_DOWN, 1, 0 },      { MOVE_PAGE_DOWN, 4, 1 },
        { MOVE_PAGE_DOWN, 7, 4 }, { MOVE_PAGE_DOWN, 8, 5 }, { MOVE_DOWN, 8, 5 },
        { MOVE_PAGE_UP, 5, 5 },   { MOVE_UP, 4, 4 },        { MOVE_FIRST, 0, 0 },
        { MOVE_LAST, 8, 5 },      { MOVE_PAGE_UP, 5, 5 },   { MOVE_PAGE_UP, 2, 2 },
        { MOVE_PAGE_UP, 0, 0 },
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        browse_move(v, steps[i].move, 4);
        assert_int_equal(v->cursor, steps[i].cursor);
        assert_int_equal(v->top, steps[i].top);
    }
    browse_go(v, 100, 4);
    assert_int_equal(v->cursor, 8);
    browse_fit(v, 100); /* all of it fits */
    assert_int_equal(v->top, 0);
    browse_fit(v, 0);
    assert_int_equal(v->top, 8);
    browse_free(v);
    v = open_view(&o, BROWSE_OBJECT, 9);
    browse_go(v, 0, 5);
    uint64_t last = 0, begin[3];
    for (unsigned i = 0; i < 3; i++) {
        browse_move(v, MOVE_NEXT_SECTION, 5);
        assert_true(v->cursor > last);
        assert_int_equal(line_of(v, v->cursor - 1)->style, STYLE_HEADING);
        begin[i] = last = v->cursor;
    }
    browse_move(v, MOVE_NEXT_SECTION, 5);
    assert_int_equal(v->cursor, last);
    for (unsigned i = 2; i-- > 0;) {
        browse_move(v, MOVE_PREVIOUS_SECTION, 5);
        assert_int_equal(v->cursor, begin[i]);
    }
    browse_free(v);
    close_model(&o);
}

static void texts_are_wrapped_between_words(void **state)
{
    (void)state;
    struct browse_model m = { .ascii = false };
    struct browse_view *v = browse_text_view(
        &m, "t", "one two three\n\nlooooooooong \u6570\u636e\u6570 e\u0301e\u0301e\u0301\n");
    static const char *const narrow[] = {
        "one",   "two", "three",        "",       "loooo",
        "ooooo", "ng",  "\u6570\u636e", "\u6570", "e\u0301e\u0301e\u0301"
    };
    assert_true(browse_wrap(v, 5));
    assert_int_equal(browse_lines(v), sizeof narrow / sizeof *narrow);
    for (uint64_t i = 0; i < browse_lines(v); i++) {
        assert_int_equal(line_of(v, i)->name_bytes, strlen(narrow[i]));
        assert_memory_equal(line_of(v, i)->name, narrow[i], strlen(narrow[i]));
    }
    assert_true(browse_wrap(v, 100));
    assert_int_equal(browse_lines(v), 3);
    assert_true(browse_wrap(v, 1)); /* a wide character is wider than that: each is a line */
    assert_true(browse_lines(v) > 20);
    browse_free(v);
}

/* ---- order ---- */

static void orders_are_stable(void **state)
{
    (void)state;
    struct opened o;
    open_model(&o, fan());
    struct browse_view *v = open_view(&o, BROWSE_TREE, 0);
    size_t section;
    assert_int_equal(browse_next_order(v, &section), ORDER_BYTES);
    assert_int_equal(browse_sort(v, section, ORDER_NAME, NULL, &err), GCD_OK);
    /* Shop.Even are the odd ones: types are 1 + number % 2 */
    static const uint32_t by_name[] = { 9, 7, 5, 3, 1, 8, 6, 4, 2 };
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(line_of(v, i)->to, by_name[i]);
    assert_int_equal(browse_next_order(v, &section), ORDER_RETAINED);
    assert_int_equal(browse_sort(v, section, ORDER_RETAINED, NULL, &err), GCD_OK);
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(line_of(v, i)->to, 9 - i);
    browse_free(v);
    v = open_view(&o, BROWSE_TYPES, 0);
    assert_int_equal(line_of(v, 0)->numbers[0], 2500);
    assert_int_equal(browse_next_order(v, &section), ORDER_COUNT);
    assert_int_equal(browse_sort(v, section, ORDER_COUNT, NULL, &err), GCD_OK);
    assert_int_equal(line_of(v, 0)->numbers[1], 5);
    assert_int_equal(line_of(v, 2)->numbers[1], 1);
    browse_free(v);
    close_model(&o);
}

static int down(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? 1 : *x > *y ? -1 : 0;
}

static void sorting_agrees_with_the_c_library(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct opened o;
        open_model(&o, graph_gen_random(seed, 300));
        uint32_t n = gcd_graph_node_count(o.g), ids[301], got[301];
        uint64_t sizes[301];
        for (uint32_t i = 0; i < n; i++) {
            ids[i] = i;
            sizes[i] = gcd_graph_node_size(o.g, i);
        }
        qsort(sizes, n, sizeof *sizes, down);
        struct browse_sorting what = { .ids = ids, .count = n, .order = ORDER_BYTES };
        assert_int_equal(browse_sort_ids(&o.m, &what, NULL, got, &err), GCD_OK);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(gcd_graph_node_size(o.g, got[i]) == sizes[i]);
            assert_true(i == 0 || sizes[i - 1] != sizes[i] || got[i - 1] < got[i]);
        }
        close_model(&o);
    }
}

static void sorting_can_be_given_up(void **state)
{
    (void)state;
    struct opened o;
    gcd_cancel_flag cancel;
    atomic_init(&cancel, true);
    open_model(&o, fan());
    struct browse_view *v = open_view(&o, BROWSE_TREE, 0);
    assert_int_equal(
        browse_sort(v, 0, ORDER_BYTES, &(struct gcd_context){ .cancel = &cancel }, &err),
        GCD_E_CANCELED);
    assert_int_equal(v->sections[0].order, ORDER_RETAINED); /* as before */
    assert_int_equal(line_of(v, 0)->to, 9);
    uint64_t at;
    const struct gcd_context call = { .cancel = &cancel };
    assert_int_equal(browse_find(v, &(struct browse_search){ .pattern = "zz" }, &call, &at, &err),
                     GCD_E_CANCELED);
    browse_free(v);
    close_model(&o);
}

/* ---- search ---- */

static void searches_go_around(void **state)
{
    (void)state;
    struct opened o;
    open_model(&o, fan());
    /* Even: 0, 2, 4, 6, 8; Odd: 1, 3, 5, 7 */
    struct browse_view *v = open_view(&o, BROWSE_TREE, 0);
    static const struct {
        const char *pattern;
        uint64_t from;
        bool back;
        uint64_t found;
    } rows[] = {
        { "odd", 0, false, 1 },
        { "odd", 2, false, 3 },
        { "odd", 8, false, 1 },
        { "odd", 9, false, 1 },
        { "odd", 1, true, 7 },
        { "odd", 0, true, 7 },
        { "odd", 7, true, 5 },
        { "Odd", 0, false, 1 },
        { "ODD", 0, false, UINT64_MAX },
        { "p.o?d", 0, false, 1 },
        { "s*odd", 0, false, 1 },
        { "/^Shop\\.O/", 0, false, 1 },
        { "/odd$/", 0, false, UINT64_MAX },
        { "0x", 3, false, 3 },
        { "even", 1, true, 0 },
        { "even", 0, true, 8 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t at;
        struct browse_search s = { .pattern = rows[i].pattern,
                                   .from = rows[i].from,
                                   .back = rows[i].back };
        assert_int_equal(browse_find(v, &s, NULL, &at, &err), GCD_OK);
        if (at != rows[i].found)
            fail_msg("%s from %u: %u, not %u", rows[i].pattern, (unsigned)rows[i].from,
                     (unsigned)at, (unsigned)rows[i].found);
    }
    uint64_t at;
    assert_int_equal(browse_find(v, &(struct browse_search){ .pattern = "/(/" }, NULL, &at, &err),
                     GCD_E_ARG);
    browse_free(v);
    close_model(&o);
}

/* ---- files ---- */

static void a_file_has_all_lines(void **state)
{
    (void)state;
    struct opened o;
    char path[] = "browse-test-XXXXXX", text[8192] = "";
    struct stat st;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(chmod(path, 0644), 0);
    open_model(&o, fan());
    struct browse_view *v = open_view(&o, BROWSE_TREE, 0);
    assert_int_equal(browse_write(v, path, NULL, &err), GCD_OK);
    FILE *f = fopen(path, "r");
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    unlink(path);
    assert_non_null(strstr(text, "x.nettrace: Shop.App\n"));
    assert_non_null(strstr(text, "            900              900   19.89 %  Shop.Even  0x"));
    unsigned lines = 0;
    for (const char *p = text; *p != '\0'; p++)
        lines += *p == '\n';
    assert_int_equal(lines, 2 + 1 + 9);
    cli_hold(true); /* as the browser does */
    assert_int_equal(browse_write(v, "/nonexistent/x", NULL, &err), GCD_E_IO);
    cli_hold(false);
    assert_non_null(strstr(err.msg, "cannot create a file"));
    browse_free(v);
    close_model(&o);
}

/* ---- cells ---- */

static void characters_of_a_screen(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t c;
        unsigned columns;
        size_t bytes;
    } rows[] = {
        { "a", 'a', 1, 1 },        { "\x1b", '?', 1, 1 },       { "\x7f", '?', 1, 1 },
        { "\xc2\x9b", '?', 1, 2 }, { "\u00e4", 0xe4, 1, 2 },    { "\u6570", 0x6570, 2, 3 },
        { "\u0301", 0x301, 0, 2 }, { "\u202e", '?', 1, 3 },     { "\u200b", '?', 1, 3 },
        { "\ufeff", '?', 1, 3 },   { "\xff", '?', 1, 1 },       { "\U0001f600", 0x1f600, 2, 4 },
        { "\ufe0f", '?', 1, 3 },   { "\U000e0041", '?', 1, 4 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t c;
        unsigned columns;
        assert_int_equal(cli_screen_char(rows[i].text, false, &c, &columns), rows[i].bytes);
        assert_int_equal(c, rows[i].c);
        assert_int_equal(columns, rows[i].columns);
        assert_int_equal(cli_screen_char(rows[i].text, true, &c, &columns), rows[i].bytes);
        assert_int_equal(c, i == 0 ? 'a' : '?');
        assert_int_equal(columns, 1);
    }
}

int main(void)
{
    (void)setlocale(LC_CTYPE, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_cursor_begins_where_it_is_seen),
        cmocka_unit_test(tree_has_the_largest_first),
        cmocka_unit_test(random_heaps_have_every_view),
        cmocka_unit_test(an_object_knows_its_neighbours),
        cmocka_unit_test(a_type_knows_its_objects_and_neighbours),
        cmocka_unit_test(a_long_path_is_cut_in_the_middle),
        cmocka_unit_test(the_cursor_stays_on_lines),
        cmocka_unit_test(texts_are_wrapped_between_words),
        cmocka_unit_test(orders_are_stable),
        cmocka_unit_test(sorting_agrees_with_the_c_library),
        cmocka_unit_test(sorting_can_be_given_up),
        cmocka_unit_test(searches_go_around),
        cmocka_unit_test(a_file_has_all_lines),
        cmocka_unit_test(characters_of_a_screen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
