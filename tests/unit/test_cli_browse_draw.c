/*
 * What browse draws, cell by cell: a terminal of ncurses whose output goes nowhere.  A row reads
 *
 *     text |style and width of each run of cells
 *
 * with R reverse, B bold, 1 bars, 2 problems, 3 headings, . none.
 */
#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "browse/opening.h"
#include "browse/screen.h"
#include "support/browse_model.h"
#include "support/expected.h"

static struct gcd_error err = GCD_ERROR_INIT;
static struct opened o;
static char *all;
static size_t all_bytes;
static FILE *shown;
static int screens_cursor; /* what curs_set was told last */

int __wrap_curs_set(int visible);

int __wrap_curs_set(int visible)
{
    screens_cursor = visible;
    return OK;
}

static int begin(void **state)
{
    (void)state;
    if (setlocale(LC_ALL, "C.UTF-8") == NULL || setenv("TERMINFO", browse_fallback, 1) != 0)
        return 1;
    FILE *out = fopen("/dev/null", "w"), *in = fopen("/dev/null", "r");
    if (out == NULL || in == NULL || newterm(browse_fallback_name, out, in) == NULL)
        return 1;
    (void)start_color();
    for (short i = 1; i <= 3; i++)
        (void)init_pair(i, i, COLOR_BLACK);
    shown = open_memstream(&all, &all_bytes);
    return shown == NULL;
}

static int teardown(void **state)
{
    (void)state;
    close_model(&o);
    return 0;
}

/* ---- a picture as text ---- */

static void put_style(const cchar_t *cell, char to[4])
{
    wchar_t text[CCHARW_MAX + 1];
    attr_t attributes;
    short pair;
    size_t n = 0;
    (void)getcchar(cell, text, &attributes, &pair, NULL);
    if ((attributes & A_REVERSE) != 0)
        to[n++] = 'R';
    if ((attributes & A_BOLD) != 0)
        to[n++] = 'B';
    if (pair > 0)
        to[n++] = (char)('0' + pair);
    if (n == 0)
        to[n++] = '.';
    to[n] = '\0';
}

static void put_row(int y)
{
    char style[4], before[4] = "";
    size_t run = 0, blanks = 0;
    for (int x = 0; x < COLS; x++) {
        cchar_t cell;
        wchar_t text[CCHARW_MAX + 1];
        attr_t attributes;
        short pair;
        assert_int_equal(mvin_wch(y, x, &cell), OK);
        (void)getcchar(&cell, text, &attributes, &pair, NULL);
        if (wcscmp(text, L" ") == 0) {
            blanks++;
            continue;
        }
        for (; blanks > 0; blanks--)
            putc(' ', shown);
        fprintf(shown, "%ls", text);
        if (wcwidth(text[0]) == 2)
            x++;
    }
    fputs(" |", shown);
    for (int x = 0; x < COLS; x++) {
        cchar_t cell;
        (void)mvin_wch(y, x, &cell);
        put_style(&cell, style);
        if (run > 0 && strcmp(style, before) != 0) {
            fprintf(shown, "%s*%zu ", before, run);
            run = 0;
        }
        run++;
        (void)strcpy(before, style);
    }
    fprintf(shown, "%s*%zu\n", before, run);
}

static void draw(struct screen_picture p, int columns, int lines)
{
    int y, x;
    (void)resizeterm(lines, columns);
    if (p.view != NULL && p.view->section_count > 0) {
        assert_true(browse_wrap((struct browse_view *)(uintptr_t)p.view, (size_t)columns));
        browse_fit((struct browse_view *)(uintptr_t)p.view, (uint64_t)(lines > 4 ? lines - 4 : 1));
    }
    screens_cursor = -1;
    p.model = &o.m;
    p.message = p.message != NULL ? p.message : "";
    screen_draw(&p);
    getyx(stdscr, y, x);
    for (int i = 0; i < lines; i++)
        put_row(i);
    fprintf(shown, "%d columns", columns);
    if (screens_cursor > 0)
        fprintf(shown, ", cursor at %d, %d", y, x);
    fputs("\n\n", shown);
}

static struct browse_view *open_view(enum browse_kind kind, uint32_t number)
{
    struct browse_view *v;
    assert_int_equal(browse_open(&o.m, &(struct browse_subject){ .kind = kind, .number = number },
                                 NULL, &v, &err),
                     GCD_OK);
    browse_learn(&o.m, kind);
    return v;
}

/* ---- pictures ---- */

static void windows_of_all_widths(void **state)
{
    (void)state;
    static const int columns[] = { 40, 46, 50, 61, 62, 72, 73, 80, 81, 82, 90, 120 };
    open_model(&o, fan());
    browse_free(open_view(BROWSE_TREE, GCD_NODE_ROOT));
    struct browse_view *v = open_view(BROWSE_TYPES, 0);
    v->cursor = 1;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        draw((struct screen_picture){ .view = v, .title = "Types" }, columns[i], 10);
    browse_free(v);
    v = open_view(BROWSE_TREE, 0);
    draw((struct screen_picture){ .view = v, .title = "Dominator tree" }, 80, 14);
    o.m.ascii = true;
    v->cursor = v->top = 3;
    draw((struct screen_picture){ .view = v, .title = "Dominator tree" }, 80, 10);
    browse_free(v);
}

/* Where a stack does not fit: a method keeps its class. */
static void short_steps(void **state)
{
    (void)state;
    static const char *const steps[][2] = {
        { "Shop.Sagas.ReplyRouter.Ask", "ReplyRouter.Ask" },
        { "TaskCompletionSource<Shop.Sagas.Reply>", "TaskCompletionSource<Reply>" },
        { "Shop.Cache<Shop.Key>.Load", "Cache<Key>.Load" },
        { "Task.Delay", "Task.Delay" },
        { "Main", "Main" },
        { "", "" },
    };
    char buf[GCD_ASYNC_STEP_BYTES];
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_string_equal(answer_short_step(steps[i][0], buf), steps[i][1]);
}

static void names_of_all_kinds(void **state)
{
    (void)state;
    static const char *const names[] = { "Plain",
                                         "tab\tand\x1b[31m",
                                         "\u6570\u636e\u6570\u636e\u6570\u636e\u6570\u636e\u6570",
                                         "x\u6570\u636e\u6570\u636e\u6570\u636e\u6570\u636e\u6570",
                                         "e\u0301e\u0301",
                                         "\u0301lead",
                                         "Z\u0301\u0301\u0301\u0301\u0301z",
                                         "Shop.Book<System.String, Sys>",
                                         "Shop.Book<System.String, Syst>" };
    enum { COUNT = sizeof names / sizeof *names };
    struct gcd_type types[COUNT];
    struct shop_node nodes[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        types[i] = (struct gcd_type){ .id = i + 1, .name = names[i], .named = true };
        nodes[i] = (struct shop_node){ i, 3000 - 100 * i };
    }
    open_model(&o, shop_build(&(struct shop){
                       .types = types, .type_count = COUNT, .nodes = nodes, .node_count = COUNT }));
    struct browse_view *v = open_view(BROWSE_TYPES, 0);
    for (unsigned ascii = 0; ascii < 2; ascii++)
        for (size_t shift = 0; shift < 4; shift++) {
            o.m.ascii = ascii;
            v->shift = shift;
            draw((struct screen_picture){ .view = v, .title = "Types" }, 40, 14);
        }
    browse_free(v);
}

static void headings_texts_and_paths(void **state)
{
    (void)state;
    open_model(&o, fan());
    struct browse_view *v = open_view(BROWSE_OBJECT, 9);
    draw((struct screen_picture){ .view = v, .title = "Object" }, 60, 30);
    v->shift = 10;
    v->cursor = 5;
    draw((struct screen_picture){ .view = v, .title = "Object" }, 40, 20);
    browse_free(v);
    v = open_view(BROWSE_OBJECT, 1); /* deeper than half of the window */
    for (size_t i = 0; i < v->made_count; i++)
        v->made[i].indent = 8 + 4 * (unsigned)i;
    draw((struct screen_picture){ .view = v, .title = "Object" }, 40, 20);
    browse_free(v);
}

static void around_the_list(void **state)
{
    (void)state;
    static const struct gcd_reason reason = { .code = GCD_REASON_EVENTS_LOST,
                                              .text = "3 events were lost" };
    static const char way[] = "Dominator tree > Shop.Store > Shop.Orders > \u6570\u636e > Order";
    open_model(&o, fan());
    struct browse_view *v = open_view(BROWSE_TYPES, 0);
    draw((struct screen_picture){ .view = v, .title = way, .message = "by bytes" }, 40, 10);
    draw((struct screen_picture){ .view = v, .title = way }, 57, 10);
    draw((struct screen_picture){ .view = v, .title = way }, 58, 10);
    draw((struct screen_picture){ .view = v, .title = way }, 59, 10);
    draw((struct screen_picture){ .view = v, .title = way, .busy = true, .message = "digging" }, 80,
         10);
    draw((struct screen_picture){ .title = "gcdumpc browse" }, 80, 10);
    draw((struct screen_picture){ .title = "gcdumpc browse" }, 73, 10);
    draw((struct screen_picture){ .title = "gcdumpc browse" }, 74, 10);
    draw((struct screen_picture){ .title = "gcdumpc browse" }, 75, 10);
    o.m.ascii = true;
    draw((struct screen_picture){ .view = v, .title = way }, 40, 10);
    browse_free(v);
    static const int sizes[][2] = { { 39, 10 }, { 40, 9 }, { 10, 3 }, { 1, 1 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        draw((struct screen_picture){ .title = "x" }, sizes[i][0], sizes[i][1]);
    close_model(&o);
    open_model(&o, shop_build(&(struct shop){ SHOP_TYPES({ .id = 1, .name = "A", .named = true }),
                                              SHOP_NODES({ 0, 24 }), .incomplete = &reason }));
    v = open_view(BROWSE_TREE, GCD_NODE_ROOT); /* without roots */
    draw((struct screen_picture){ .view = v, .title = "Dominator tree" }, 120, 10);
    browse_free(v);
}

static void prompts(void **state)
{
    (void)state;
    static const char typed[] = "SELECT '\u6570\u636e' AS a, 'abcdefghijklmnopqrstuvwxyz'";
    open_model(&o, fan());
    struct browse_view *v = open_view(BROWSE_TYPES, 0);
    static const size_t at[] = { 0, 7, 11, 14, 20, 31, 32, 33, 40, sizeof typed - 1 };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
        draw((struct screen_picture){ .view = v,
                                      .title = "Types",
                                      .message = "not shown",
                                      .prompt = "SQL: ",
                                      .typed = typed,
                                      .typed_at = at[i] },
             40, 10);
    draw((struct screen_picture){ .view = v,
                                  .title = "Types",
                                  .prompt = "a question that is longer than the window is wide: ",
                                  .typed = "yes",
                                  .typed_at = 1 },
         40, 10);
    browse_free(v);
}

static void as_expected(void **state)
{
    (void)state;
    assert_int_equal(fclose(shown), 0);
    expect_file("browse_screens.txt", all);
    free(all);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_teardown(f, teardown)
    const struct CMUnitTest tests[] = {
        TEST(windows_of_all_widths),
        TEST(names_of_all_kinds),
        TEST(headings_texts_and_paths),
        TEST(around_the_list),
        TEST(prompts),
        cmocka_unit_test(short_steps),
        cmocka_unit_test(as_expected),
    };
    return cmocka_run_group_tests_name("test_cli_browse_draw", tests, begin, NULL);
}
