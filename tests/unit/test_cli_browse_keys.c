/*
 * What keys do in browse: the program with a screen that is a list of keys and remembers what was
 * drawn.
 */
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "browse/ui.h"
#include "support/async_graph.h"
#include "support/browse_model.h"
#include "term/message.h"

/* ---- the screen ---- */

static struct {
    uint32_t keys[20000];
    size_t key_count, next;
    /* keys that come while work runs */
    uint32_t work_keys[UI_AHEAD + 10];
    size_t work_count, work_next;
    size_t columns, lines;
    unsigned drawn, redrawn, suspended, busy;
    /* of the last picture, and the last message of work */
    char title[4096], message[UI_MESSAGE_BYTES], prompt[UI_TYPED_BYTES + 64], typed[UI_TYPED_BYTES],
        working[UI_MESSAGE_BYTES];
    size_t typed_at;
    const struct browse_view *view;
    bool after_report; /* keys come when the work has reported its progress */
} screen;

static atomic_bool reported;

size_t __wrap_screen_columns(void);
size_t __wrap_screen_lines(void);
uint32_t __wrap_screen_key(int timeout_ms, int ready);
void __wrap_screen_suspend(void);
void __wrap_screen_redraw(void);
void __wrap_screen_draw(const struct screen_picture *p);

size_t __wrap_screen_columns(void)
{
    return screen.columns;
}

size_t __wrap_screen_lines(void)
{
    return screen.lines;
}

uint32_t __wrap_screen_key(int timeout_ms, int ready)
{
    if (ready < 0) {
        assert_int_equal(timeout_ms, -1);
        assert_true(screen.next < screen.key_count);
        return screen.keys[screen.next++];
    }
    assert_true(timeout_ms > 0);
    while (screen.after_report && !atomic_load(&reported))
        (void)usleep(100);
    if (screen.work_next < screen.work_count)
        return screen.work_keys[screen.work_next++];
    struct pollfd end = { .fd = ready, .events = POLLIN };
    assert_int_equal(poll(&end, 1, -1), 1);
    return SCREEN_KEY_READY;
}

void __wrap_screen_suspend(void)
{
    screen.suspended++;
}

void __wrap_screen_redraw(void)
{
    screen.redrawn++;
}

static void keep_text(char *to, size_t cap, const char *text)
{
    (void)snprintf(to, cap, "%s", text != NULL ? text : "");
}

void __wrap_screen_draw(const struct screen_picture *p)
{
    screen.drawn++;
    screen.view = p->view;
    assert_non_null(p->model);
    keep_text(screen.title, sizeof screen.title, p->title);
    if (p->busy) {
        screen.busy++;
        keep_text(screen.working, sizeof screen.working, p->message);
        return;
    }
    keep_text(screen.message, sizeof screen.message, p->message);
    keep_text(screen.prompt, sizeof screen.prompt, p->prompt);
    keep_text(screen.typed, sizeof screen.typed, p->typed);
    screen.typed_at = p->typed_at;
}

/* ---- a browser ---- */

static struct opened o;
static struct cli_args args;
static struct ui ui;

static void type(const char *text)
{
    for (; *text != '\0'; text++)
        screen.keys[screen.key_count++] = *text == '\n' ? '\r' : (unsigned char)*text;
}

static void queue_key(uint32_t key)
{
    screen.keys[screen.key_count++] = key;
}

/* Presses KEY, which may ask for TEXT. */
static void press_with(uint32_t key, const char *text)
{
    type(text);
    ui_press(&ui, key);
    assert_int_equal(screen.next, screen.key_count);
}

static void press(uint32_t key)
{
    press_with(key, "");
}

static void begin(struct gcd_graph *g)
{
    memset(&screen, 0, sizeof screen);
    screen.columns = 80;
    screen.lines = 24;
    open_model(&o, g);
    ui = (struct ui){ .args = &args, .model = o.m };
    assert_true(ui_open_main(&ui, BROWSE_SUSPECTS));
}

static int setup(void **state)
{
    (void)state;
    begin(fan());
    return 0;
}

static void end(void)
{
    ui_free(&ui);
    close_model(&o);
}

static int teardown(void **state)
{
    (void)state;
    end();
    return 0;
}

static void expect_view(enum browse_kind kind, uint32_t subject)
{
    assert_int_equal(ui.view->kind, kind);
    assert_int_equal(ui.view->subject, subject);
}

static void expect_message(const char *text)
{
    assert_string_equal(ui.message, text);
}

/* Puts the cursor on the first line with GOAL. */
static bool go_to(enum browse_goal goal, struct browse_line *ret)
{
    for (uint64_t i = 0; i < browse_lines(ui.view); i++) {
        browse_line_at(ui.view, i, ret);
        if (ret->goal == goal) {
            browse_go(ui.view, i, ui_height());
            return true;
        }
    }
    return false;
}

/* ---- going ---- */

static void main_views_stay_and_others_go(void **state)
{
    (void)state;
    struct browse_view *first = ui.view;
    press('2');
    expect_view(BROWSE_TREE, GCD_NODE_ROOT);
    struct browse_view *tree = ui.view;
    press('\r');
    expect_view(BROWSE_TREE, 0);
    assert_ptr_equal(ui.view->below, tree);
    press('1');
    assert_ptr_equal(ui.view, first);
    press('2');
    assert_ptr_equal(ui.view, tree);
    press('3');
    expect_view(BROWSE_TYPES, GCD_NODE_ROOT);
    press('4');
    expect_view(BROWSE_ASYNC, GCD_NODE_ROOT);
    press('h');
    expect_message("this is where it began; q ends");
    assert_false(ui.done);
    press('q');
    assert_true(ui.done);
    ui.done = false;
    press('Q');
    assert_true(ui.done);
}

/* Enter on every line of every view opens what the line says, and the keys that go back do. */
static void enter_opens_what_the_line_is_about(void **state)
{
    (void)state;
    static const uint32_t opens[] = { '\r', SCREEN_KEY_RIGHT, 'l' },
                          closes[] = { 'h', SCREEN_KEY_LEFT, SCREEN_KEY_BACKSPACE };
    size_t n = 0, nothing = 0;
    for (uint32_t view = '1'; view <= '4'; view++) {
        press(view);
        struct browse_view *v = ui.view;
        for (uint64_t i = 0; i < browse_lines(v); i++, n++) {
            struct browse_line line;
            browse_go(v, i, ui_height());
            browse_line_at(v, i, &line);
            press(opens[n % 3]);
            if (line.goal == GOAL_NONE) {
                expect_message("there is nothing to open on this line");
                nothing++;
                continue;
            }
            static const enum browse_kind kinds[] = { [GOAL_OBJECT] = BROWSE_OBJECT,
                                                      [GOAL_TYPE] = BROWSE_TYPE,
                                                      [GOAL_SUSPECT] = BROWSE_SUSPECT,
                                                      [GOAL_TREE] = BROWSE_TREE };
            expect_view(kinds[line.goal], line.to);
            assert_ptr_equal(ui.view->below, v);
            expect_message("");
            press(closes[n % 3]);
            assert_ptr_equal(ui.view, v);
        }
    }
    assert_true(nothing > 2 && n > nothing + 4);
    press('2');
    press('\r');
    press('\r'); /* the largest keeps nothing alive: the object itself */
    expect_view(BROWSE_OBJECT, 9);
}

static void the_object_its_type_and_its_tree(void **state)
{
    (void)state;
    struct browse_line line;
    press('2');
    press('v');
    expect_view(BROWSE_OBJECT, 0);
    browse_go(ui.view, 0, ui_height()); /* no object here: the one that the view is about */
    press('t');
    expect_view(BROWSE_TYPE, 0);
    browse_go(ui.view, 0, ui_height()); /* and now there is none */
    press('v');
    expect_message("there is no object on this line");
    press('d');
    expect_message("there is no object on this line");
    press('h');
    press('d');
    expect_view(BROWSE_TREE, 0);
    assert_true(go_to(GOAL_TREE, &line));
    assert_int_equal(line.to, 9);
    press('t');
    expect_view(BROWSE_TYPE, 2);
    assert_true(go_to(GOAL_TYPE, &line));
    press('t');
    expect_view(BROWSE_TYPE, line.to);
    press('3');
    assert_true(go_to(GOAL_TYPE, &line));
    press('v');
    expect_message("there is no object on this line");
    press('i');
    expect_view(BROWSE_DUMP, 0);
    press('t');
    expect_message("there is no type on this line");
    press('2');
    press('\r');
    press('\r');
    press('h');
    press('d'); /* a leaf of the tree, whose text is about the object of the view */
    expect_view(BROWSE_TREE, 9);
    browse_go(ui.view, 0, ui_height());
    press('v');
    expect_view(BROWSE_OBJECT, 9);
}

static void stacks_are_opened(void **state)
{
    (void)state;
    static const struct async_object objects[] = {
        OBJECT("Shop.Kept", 1, 4),
        OBJECT(BOX("Shop.Rpc+<Call>d__2"), 5, 0, 1, 2),
        OBJECT(BOX("Shop.Rpc+<Send>d__3"), 5, 1, 0, 2, 3),
        OBJECT(TASKS "Task`1[Shop.Reply]", 2),
        OBJECT(TASKS "TaskCompletionSource`1[Shop.Reply]", 3),
        LEAF(CONTEXT),
    };
    struct browse_line line;
    end();
    begin(async_graph(objects, sizeof objects / sizeof *objects, 0));
    press('4');
    assert_true(go_to(GOAL_STACK, &line));
    press('\r');
    expect_view(BROWSE_STACK, line.to);
}

static void objects_by_address_or_number(void **state)
{
    (void)state;
    static const struct {
        const char *typed;
        uint32_t node;
        const char *message;
    } rows[] = {
        { "9\n", 9, "" },
        { "0\n", 0, "" },
        { "10\n", GCD_NODE_NONE, "there is no object 10" },
        { "0x7f0000002000\n", 1, "" },
        { "0X7F0000002000\n", 1, "" },
        { "0x7f0000002008\n", GCD_NODE_NONE, "there is no object 0x7f0000002008" },
        { "99999999999999999999\n", GCD_NODE_NONE,
          "\"99999999999999999999\" is neither an address nor a number" },
        { "1x\n", GCD_NODE_NONE, "\"1x\" is neither an address nor a number" },
        { "x1\n", GCD_NODE_NONE, "\"x1\" is neither an address nor a number" },
        { ":1\n", GCD_NODE_NONE, "\":1\" is neither an address nor a number" },
        { " 1\n", GCD_NODE_NONE, "\" 1\" is neither an address nor a number" },
        { "\n", GCD_NODE_NONE, "" },
        { "5\033", GCD_NODE_NONE, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct browse_view *v = ui.view;
        press_with('o', rows[i].typed);
        assert_string_equal(screen.prompt, "Object (address 0x... or number): ");
        expect_message(rows[i].message);
        if (rows[i].node == GCD_NODE_NONE) {
            assert_ptr_equal(ui.view, v);
            continue;
        }
        expect_view(BROWSE_OBJECT, rows[i].node);
        press('h');
    }
    queue_key(SCREEN_KEY_UP); /* the last one that was not given up */
    press_with('o', "\n");
    expect_message("\" 1\" is neither an address nor a number");
}

static void help_is_left_like_a_page(void **state)
{
    (void)state;
    static const uint32_t leaves[] = { 'q', 'Q', SCREEN_ESCAPE, 'h' };
    for (size_t i = 0; i < sizeof leaves / sizeof *leaves; i++) {
        press('?');
        assert_int_equal(ui.view->kind, BROWSE_HELP);
        struct browse_view *v = ui.view;
        press('?'); /* not once more */
        assert_ptr_equal(ui.view, v);
        press(leaves[i]);
        assert_int_equal(ui.view->kind, BROWSE_SUSPECTS);
        assert_false(ui.done);
    }
    press(SCREEN_ESCAPE);
    assert_int_equal(ui.view->kind, BROWSE_SUSPECTS);
    expect_message("");
}

static void titles_are_ways(void **state)
{
    (void)state;
    press('2');
    press('\r');
    press('\r');
    ui_draw(&ui);
    assert_string_equal(screen.title, "Dominator tree > Shop.App > Object 0x7f000000a000");
    browse_go(ui.view, 0, ui_height());
    press('w');
    assert_int_equal(ui.view->kind, BROWSE_OBJECT);
    expect_message("this line is whole"); /* texts are wrapped */
    press('h');
    press('w');
    ui_draw(&ui);
    assert_string_equal(ui.view->title, "The whole line");
    struct browse_line line;
    browse_line_at(ui.view, 0, &line);
    assert_int_equal(line.name_bytes, strlen("Shop.Even  0x7f000000a000"));
    assert_memory_equal(line.name, "Shop.Even  0x7f000000a000", line.name_bytes);
    browse_line_at(ui.view, 2, &line);
    assert_int_equal(line.name_bytes, strlen("Dominator tree > Shop.App"));
    assert_memory_equal(line.name, "Dominator tree > Shop.App", line.name_bytes);
    press('w');
    expect_message("this line is whole");
    /* of a long way, the end is shown: as much as a window of this width can need */
    for (unsigned i = 0; i < 200; i++)
        press_with('o', "1\n");
    ui_draw(&ui);
    assert_null(strstr(screen.title, "Dominator tree"));
    assert_true(strlen(screen.title) >= 16 * screen.columns);
    assert_non_null(strstr(screen.title, "> Object 0x7f0000002000"));
}

/* ---- moving ---- */

static void keys_that_move(void **state)
{
    (void)state;
    static const struct {
        uint32_t key;
        uint64_t cursor;
    } steps[] = {
        { SCREEN_KEY_DOWN, 1 },
        { 'j', 2 },
        { SCREEN_CTRL('n'), 3 },
        { SCREEN_KEY_UP, 2 },
        { 'k', 1 },
        { SCREEN_CTRL('p'), 0 },
        { 'G', 8 },
        { 'g', 0 },
        { SCREEN_KEY_FINISH, 8 },
        { SCREEN_KEY_HOME, 0 },
        { SCREEN_KEY_PAGE_DOWN, 5 },
        { SCREEN_KEY_PAGE_UP, 0 },
        { ' ', 5 },
        { 'b', 0 },
        { SCREEN_CTRL('f'), 5 },
        { SCREEN_CTRL('b'), 0 },
    };
    screen.lines = 10;
    press('2');
    press('\r');
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        press(steps[i].key);
        assert_int_equal(ui.view->cursor, steps[i].cursor);
    }
    press('v');
    press('\t');
    uint64_t at = ui.view->cursor;
    press('\t');
    assert_true(ui.view->cursor > at);
    press(SCREEN_KEY_BACK_TAB);
    assert_int_equal(ui.view->cursor, at);
    assert_int_equal(ui_height(), 6);
    screen.lines = 4;
    assert_int_equal(ui_height(), 1);
    screen.lines = 5;
    assert_int_equal(ui_height(), 1);
}

static void names_are_scrolled(void **state)
{
    (void)state;
    static const struct {
        uint32_t key;
        size_t shift;
    } steps[] = { { '<', 0 }, { '>', 10 }, { '>', 20 }, { '<', 10 }, { '<', 0 } };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        press(steps[i].key);
        assert_int_equal(ui.view->shift, steps[i].shift);
    }
    ui.view->shift = 9;
    press('<');
    assert_int_equal(ui.view->shift, 0);
}

static void keys_without_a_view(void **state)
{
    (void)state;
    struct ui empty = { .args = &args, .model = o.m };
    static const uint32_t keys[] = { 'v', '\r', 'h', 'w', '<', '?', '/', 'j', SCREEN_KEY_REDRAW };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ui_press(&empty, keys[i]);
    assert_null(empty.view);
    assert_false(empty.done);
    ui_draw(&empty);
    assert_string_equal(screen.title, "gcdumpc browse");
    ui_press(&empty, 'q');
    assert_true(empty.done);
}

static void keys_about_the_terminal(void **state)
{
    (void)state;
    static const uint32_t silent[] = { SCREEN_KEY_END, SCREEN_KEY_REDRAW, SCREEN_KEY_NONE };
    press(SCREEN_CTRL('z'));
    assert_int_equal(screen.suspended, 1);
    press(SCREEN_CTRL('l'));
    assert_int_equal(screen.redrawn, 1);
    press(SCREEN_CTRL('c'));
    expect_message("q ends");
    for (size_t i = 0; i < 3; i++) {
        press(silent[i]);
        expect_message("");
    }
    press('x');
    expect_message("? shows the keys");
    press('j');
    expect_message("");
    queue_key(SCREEN_KEY_END);
    assert_int_equal(ui_key(&ui), SCREEN_KEY_END);
    assert_true(ui.gone);
}

/* ---- looking ---- */

static void searches(void **state)
{
    (void)state;
    press('2');
    press('\r');
    press('n');
    expect_message("/ searches first");
    press_with('/', "Even\n");
    assert_string_equal(screen.prompt, "/");
    assert_int_equal(ui.view->cursor, 2);
    expect_message("");
    press('n');
    assert_int_equal(ui.view->cursor, 4);
    press_with('/', "\n"); /* the last one again */
    assert_int_equal(ui.view->cursor, 6);
    press('N');
    assert_int_equal(ui.view->cursor, 4);
    press('N');
    press('N');
    assert_int_equal(ui.view->cursor, 0);
    expect_message("");
    press('N');
    assert_int_equal(ui.view->cursor, 8);
    expect_message("found after the beginning, from the end on");
    press('n');
    assert_int_equal(ui.view->cursor, 0);
    expect_message("found after the end, from the beginning on");
    press_with('/', "App\n");
    expect_message("not found: App");
    assert_int_equal(ui.view->cursor, 0);
    press_with('/', "9000\n"); /* only the cursor's own line */
    assert_int_equal(ui.view->cursor, 1);
    press('n');
    expect_message("found after the end, from the beginning on");
    press('N');
    expect_message("found after the beginning, from the end on");
    press_with('/', "x\033");
    press('n');
    assert_int_equal(ui.view->cursor, 1);
    press_with('/', "/(/\n");
    assert_non_null(strstr(ui.message, "/(/: "));
}

static void orders(void **state)
{
    (void)state;
    static const char *const names[] = { "by count", "by name", "by retained", "by bytes" };
    press('3');
    for (size_t i = 0; i < 4; i++) {
        press('G');
        press('s');
        expect_message(names[i]);
        assert_int_equal(ui.view->cursor, 0);
    }
    press('?');
    press('s');
    expect_message("this list has one order");
    press('q');
    press('1');
    press('s');
    expect_message("this list has one order");
    /* sorting by retained size shows it, in a heap of which nothing was asked yet */
    end();
    begin(fan());
    press('3');
    ui.model.by_type = NULL;
    press('s');
    press('s');
    assert_null(ui.model.by_type);
    press('s');
    assert_non_null(ui.model.by_type);
    screen.work_keys[screen.work_count++] = SCREEN_CTRL('c');
    ui.view->sections[0].order = ORDER_BYTES;
    press('s');
    if (strcmp(ui.message, "by count") != 0) { /* else the work was done before the key came */
        expect_message("given up: sorting");
        assert_int_equal(ui.view->sections[0].order, ORDER_BYTES);
    }
}

static void paths_are_unfolded(void **state)
{
    (void)state;
    struct browse_line line;
    press('f');
    expect_message("there are no paths here");
    press('2');
    press('f');
    expect_message("there are no paths here");
    press('v');
    struct browse_view *below = ui.view->below;
    press('f');
    expect_message("all steps of paths");
    assert_true(ui.view->full);
    expect_view(BROWSE_OBJECT, 0);
    assert_ptr_equal(ui.view->below, below);
    press('f');
    expect_message("folded paths");
    assert_false(ui.view->full);
    press('t');
    press('f');
    expect_message("all steps of paths");
    press('1');
    assert_true(go_to(GOAL_SUSPECT, &line));
    press('\r');
    press('f');
    expect_message("all steps of paths");
    args.view.full = true;
    press('f');
    expect_message("folded paths");
    press_with('o', "1\n");
    assert_true(ui.view->full);
    args.view.full = false;
}

static void questions(void **state)
{
    (void)state;
    press_with(':', "\n");
    assert_string_equal(screen.prompt, "SQL: ");
    assert_int_equal(ui.view->kind, BROWSE_SUSPECTS);
    press_with(':', "SELECT 2 AS object_id\n");
    assert_int_equal(ui.view->kind, BROWSE_ROWS);
    assert_string_equal(ui.view->title, "SELECT 2 AS object_id");
    press('\r');
    expect_view(BROWSE_OBJECT, 2);
    press('h');
    press_with(':', "SELEC\n");
    assert_int_equal(ui.view->kind, BROWSE_ROWS);
    expect_message("near \"SELEC\": syntax error (at byte 1)");
    press('h');
    queue_key(SCREEN_KEY_UP);
    press_with(':', "\n");
    expect_message("near \"SELEC\": syntax error (at byte 1)");
    press_with(':', "SELECT 1\033");
    assert_int_equal(ui.view->kind, BROWSE_SUSPECTS);
}

/* ---- files ---- */

static long bytes_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (long)st.st_size : -1;
}

static void views_are_written(void **state)
{
    (void)state;
    char dir[] = "/tmp/gcdumpc-keys-XXXXXX", path[80], typed[200];
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof path, "%s/x", dir);
    (void)snprintf(typed, sizeof typed, "%s\n", path);
    press_with('e', typed);
    assert_string_equal(screen.prompt, "Write this view to: ");
    (void)snprintf(typed, sizeof typed, "written: %s", path);
    expect_message(typed);
    assert_true(bytes_of(path) > 100);
    assert_int_equal(truncate(path, 3), 0);
    /* only a yes replaces it */
    static const struct {
        const char *answer;
        bool yes;
    } answers[] = {
        { "n", false }, { "\n", false }, { "\033", false }, { "y", true }, { "Y", true }
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        assert_int_equal(truncate(path, 3), 0);
        queue_key(SCREEN_KEY_UP); /* the last name */
        queue_key('\r');
        queue_key(SCREEN_KEY_REDRAW);
        press_with('e', answers[i].answer);
        (void)snprintf(typed, sizeof typed, "%s exists. Replace it? (y/n) ", path);
        assert_string_equal(screen.prompt, typed);
        assert_int_equal(bytes_of(path) > 3, answers[i].yes);
        if (!answers[i].yes)
            expect_message("not written");
    }
    assert_int_equal(unlink(path), 0);
    press_with('e', "\n");
    expect_message("");
    press_with('e', "-\n");
    expect_message("give the name of a file");
    press_with('e', "x\033");
    expect_message("");
    /* the home folder */
    assert_int_equal(setenv("HOME", dir, 1), 0);
    press_with('e', "~/x\n");
    expect_message("written: ~/x");
    assert_true(bytes_of(path) > 100);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(typed, sizeof typed, "%s/none/x\n", dir);
    press_with('e', typed);
    assert_non_null(strstr(ui.message, "No such file or directory"));
    assert_int_equal(rmdir(dir), 0);
}

/* ---- work ---- */

struct job {
    gcd_status status;
    bool wait; /* until it is canceled */
    uint64_t done, total;
};

static gcd_status do_job(void *ctx, const struct gcd_context *call, struct gcd_error *err)
{
    struct job *job = ctx;
    if (call->progress != NULL)
        call->progress(call->progress_ctx, job->done, job->total);
    atomic_store(&reported, true);
    while (job->wait && !atomic_load(call->cancel))
        (void)usleep(100);
    *err = (struct gcd_error)GCD_ERROR_INIT;
    err->code = job->status;
    (void)snprintf(err->msg, sizeof err->msg, "it went wrong");
    return job->wait ? GCD_E_CANCELED : job->status;
}

static void work_is_given_up(void **state)
{
    (void)state;
    static const uint32_t keys[] = { SCREEN_CTRL('c'), SCREEN_ESCAPE, SCREEN_KEY_END };
    struct gcd_error e = GCD_ERROR_INIT;
    for (size_t i = 0; i < 3; i++) {
        struct job job = { .wait = true, .done = 1, .total = 4 };
        screen.busy = 0;
        screen.work_next = screen.work_count = 0;
        screen.work_keys[screen.work_count++] = SCREEN_KEY_REDRAW;
        screen.work_keys[screen.work_count++] = 'a';
        screen.work_keys[screen.work_count++] = SCREEN_CTRL('z');
        screen.work_keys[screen.work_count++] = SCREEN_KEY_NONE;
        screen.work_keys[screen.work_count++] = keys[i];
        assert_int_equal(ui_work(&ui, "digging", do_job, &job, &e), GCD_E_CANCELED);
        expect_message("given up: digging");
        assert_string_equal(screen.title, "digging");
        assert_ptr_equal(screen.view, ui.view);
        assert_int_equal(ui.gone, keys[i] == SCREEN_KEY_END);
        /* drawn at once when the window changes, and then after every wait and key */
        assert_int_equal(screen.busy, keys[i] == SCREEN_KEY_END ? 4 : 5);
        assert_int_equal(screen.suspended, i + 1);
        assert_int_equal(ui_key(&ui), 'a'); /* typed ahead */
        assert_int_equal(ui.ahead_count, 0);
    }
    /* the terminal is gone: no key is asked for */
    struct job job = { .status = GCD_OK };
    assert_int_equal(ui_work(&ui, "digging", do_job, &job, &e), GCD_OK);
}

static void a_key_at_once_draws_nothing(void **state)
{
    (void)state;
    struct gcd_error e = GCD_ERROR_INIT;
    struct job job = { .status = GCD_OK };
    screen.work_keys[screen.work_count++] = 'a';
    screen.work_keys[screen.work_count++] = 'b';
    screen.drawn = 0;
    assert_int_equal(ui_work(&ui, "digging", do_job, &job, &e), GCD_OK);
    assert_int_equal(screen.drawn, 0);
    assert_int_equal(ui_key(&ui), 'a');
    assert_int_equal(ui_key(&ui), 'b');
    /* as many as there is room for */
    screen.work_next = screen.work_count = 0;
    for (unsigned i = 0; i < UI_AHEAD + 5; i++)
        screen.work_keys[screen.work_count++] = 'a' + i % 20;
    assert_int_equal(ui_work(&ui, "digging", do_job, &job, &e), GCD_OK);
    assert_int_equal(ui.ahead_count, UI_AHEAD);
    for (unsigned i = 0; i < UI_AHEAD; i++)
        assert_int_equal(ui_key(&ui), 'a' + i % 20);
}

static void progress_in_percent(void **state)
{
    (void)state;
    static const struct {
        uint64_t done, total;
        const char *line;
    } rows[] = { { 1, 4, "digging: 25 %   Ctrl-C gives up" },
                 { 4, 4, "digging: 100 %   Ctrl-C gives up" },
                 { 0, 1, "digging: 0 %   Ctrl-C gives up" },
                 { 5, 4, "digging   Ctrl-C gives up" },
                 { 0, 0, "digging   Ctrl-C gives up" } };
    struct gcd_error e = GCD_ERROR_INIT;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct job job = { .wait = true, .done = rows[i].done, .total = rows[i].total };
        screen.work_next = screen.work_count = 0;
        screen.after_report = true;
        atomic_store(&reported, false);
        screen.work_keys[screen.work_count++] = SCREEN_KEY_NONE;
        screen.work_keys[screen.work_count++] = SCREEN_CTRL('c');
        assert_int_equal(ui_work(&ui, "digging", do_job, &job, &e), GCD_E_CANCELED);
        assert_string_equal(screen.working, rows[i].line);
    }
}

static void failures_of_work_are_told(void **state)
{
    (void)state;
    struct gcd_error e = GCD_ERROR_INIT;
    struct job job = { .status = GCD_E_NOMEM };
    assert_int_equal(ui_work(&ui, "digging", do_job, &job, &e), GCD_E_NOMEM);
    expect_message("it went wrong");
    ui.message[0] = '\0';
    job.status = GCD_OK;
    assert_int_equal(ui_work(&ui, "digging", do_job, &job, &e), GCD_OK);
    expect_message("");
}

/* ---- the prompt ---- */

/* What an editor with an array of characters does. */
struct model {
    uint32_t text[200];
    size_t n, at;
};

static void model_cut(struct model *m, size_t from, size_t to)
{
    memmove(m->text + from, m->text + to, (m->n - to) * sizeof *m->text);
    m->n -= to - from;
    m->at = from;
}

static void model_press(struct model *m, uint32_t key)
{
    size_t word = m->at;
    while (word > 0 && m->text[word - 1] == ' ')
        word--;
    while (word > 0 && m->text[word - 1] != ' ')
        word--;
    switch (key) {
    case SCREEN_KEY_LEFT:
    case SCREEN_CTRL('b'):
        m->at -= m->at > 0;
        break;
    case SCREEN_KEY_RIGHT:
    case SCREEN_CTRL('f'):
        m->at += m->at < m->n;
        break;
    case SCREEN_KEY_HOME:
    case SCREEN_CTRL('a'):
        m->at = 0;
        break;
    case SCREEN_KEY_FINISH:
    case SCREEN_CTRL('e'):
        m->at = m->n;
        break;
    case SCREEN_KEY_BACKSPACE:
        if (m->at > 0)
            model_cut(m, m->at - 1, m->at);
        break;
    case SCREEN_KEY_DELETE:
    case SCREEN_CTRL('d'):
        if (m->at < m->n)
            model_cut(m, m->at, m->at + 1);
        break;
    case SCREEN_CTRL('u'):
        model_cut(m, 0, m->at);
        break;
    case SCREEN_CTRL('k'):
        m->n = m->at;
        break;
    case SCREEN_CTRL('w'):
        model_cut(m, word, m->at);
        break;
    case SCREEN_KEY_UP:
    case SCREEN_CTRL('p'):
        m->n = m->at = 0;
        for (const char *c = "a %s b"; *c != '\0'; c++)
            m->text[m->n++] = (unsigned char)*c;
        m->at = m->n;
        break;
    case SCREEN_CTRL('x'):
    case SCREEN_KEY_PAGE_UP:
    case SCREEN_KEY_NONE:
    case 0x7f:
        break;
    default:
        memmove(m->text + m->at + 1, m->text + m->at, (m->n - m->at) * sizeof *m->text);
        m->text[m->at++] = key;
        m->n++;
    }
}

/* The bytes of the first N characters. */
static size_t encode(const struct model *m, size_t n, char *to)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t c = m->text[i];
        unsigned more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const unsigned char marks[] = { 0, 0xc0, 0xe0, 0xf0 };
        to[k++] = (char)(marks[more] | c >> 6 * more);
        while (more-- > 0)
            to[k++] = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
    to[k] = '\0';
    return k;
}

static void editing_agrees_with_an_array_of_characters(void **state)
{
    (void)state;
    static const uint32_t edits[] = {
        SCREEN_KEY_LEFT,
        SCREEN_CTRL('b'),
        SCREEN_KEY_RIGHT,
        SCREEN_CTRL('f'),
        SCREEN_KEY_HOME,
        SCREEN_CTRL('a'),
        SCREEN_KEY_FINISH,
        SCREEN_CTRL('e'),
        SCREEN_KEY_BACKSPACE,
        SCREEN_KEY_DELETE,
        SCREEN_CTRL('d'),
        SCREEN_CTRL('u'),
        SCREEN_CTRL('k'),
        SCREEN_CTRL('w'),
        SCREEN_KEY_UP,
        SCREEN_CTRL('p'),
        SCREEN_CTRL('x'),
        SCREEN_KEY_PAGE_UP,
        0x7f,
        SCREEN_KEY_NONE,
    };
    static const uint32_t letters[] = { 'a',   ' ',   ' ',    '~',    0x80,    0xe4,
                                        0x7ff, 0x800, 0x6570, 0xffff, 0x10000, 0x1f600 };
    struct ui_prompt last = { .last = "a %s b" };
    for (uint64_t seed = 1; seed < 400; seed++) {
        struct model m = { .n = 0 };
        uint64_t r = seed;
        char typed[UI_TYPED_BYTES] = "", want[UI_TYPED_BYTES];
        screen.next = screen.key_count = 0;
        for (unsigned i = 0; i < 50; i++) {
            r = r * UINT64_C(6364136223846793005) + 1442695040888963407;
            unsigned k = (unsigned)(r >> 33);
            uint32_t key =
                k % 5 < 3 ? letters[k / 5 % 12] : edits[k / 5 % (sizeof edits / sizeof *edits)];
            if (key == SCREEN_KEY_BACKSPACE && m.n == 0) /* it would give up */
                continue;
            queue_key(key);
            model_press(&m, key);
        }
        queue_key('\r');
        assert_true(ui_ask(&ui, "Say: ", typed, &last));
        (void)encode(&m, m.n, want);
        assert_string_equal(typed, want);
        assert_string_equal(screen.typed, want);
        assert_string_equal(screen.prompt, "Say: ");
        assert_string_equal(screen.title, "Suspects");
        assert_ptr_equal(screen.view, ui.view);
        assert_int_equal(screen.typed_at, encode(&m, m.at, want));
    }
}

static void prompts_end(void **state)
{
    (void)state;
    static const uint32_t gives_up[] = { SCREEN_KEY_END, SCREEN_ESCAPE, SCREEN_CTRL('c'),
                                         SCREEN_CTRL('g'), SCREEN_KEY_BACKSPACE };
    struct ui_prompt last = { .last = "" };
    char typed[UI_TYPED_BYTES] = "";
    for (size_t i = 0; i < sizeof gives_up / sizeof *gives_up; i++) {
        queue_key(gives_up[i]);
        assert_false(ui_ask(&ui, "Say: ", typed, &last));
    }
    /* with a beginning, and the cursor behind it */
    (void)snprintf(typed, sizeof typed, "ab");
    type("c\n");
    assert_true(ui_ask(&ui, "Say: ", typed, &last));
    assert_string_equal(typed, "abc");
    queue_key(SCREEN_KEY_HOME);
    queue_key(SCREEN_KEY_BACKSPACE); /* there is text, so it only has nothing to delete */
    type("\n");
    assert_true(ui_ask(&ui, "Say: ", typed, &last));
    assert_string_equal(typed, "abc");
    /* a prompt is as long as its room; a character is whole or not there */
    memset(typed, 'x', UI_TYPED_BYTES - 2);
    typed[UI_TYPED_BYTES - 2] = '\0';
    queue_key(0xe4);
    type("yz\n");
    assert_true(ui_ask(&ui, "Say: ", typed, &last));
    assert_int_equal(strlen(typed), UI_TYPED_BYTES - 1);
    assert_string_equal(typed + UI_TYPED_BYTES - 4, "xxy");
    /* a window that changes meanwhile: texts are wrapped anew, and the cursor stays in it */
    press('?');
    queue_key(SCREEN_KEY_REDRAW);
    screen.columns = 40;
    screen.lines = 10;
    ui.view->cursor = 20;
    type("\033");
    assert_false(ui_ask(&ui, "Say: ", typed, &last));
    assert_int_equal(ui.view->width, 40);
    assert_int_equal(ui.view->top, 15);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(main_views_stay_and_others_go),
        TEST(enter_opens_what_the_line_is_about),
        TEST(the_object_its_type_and_its_tree),
        TEST(stacks_are_opened),
        TEST(objects_by_address_or_number),
        TEST(help_is_left_like_a_page),
        TEST(titles_are_ways),
        TEST(keys_that_move),
        TEST(names_are_scrolled),
        TEST(keys_without_a_view),
        TEST(keys_about_the_terminal),
        TEST(searches),
        TEST(orders),
        TEST(paths_are_unfolded),
        TEST(questions),
        TEST(views_are_written),
        TEST(work_is_given_up),
        TEST(a_key_at_once_draws_nothing),
        TEST(progress_in_percent),
        TEST(failures_of_work_are_told),
        TEST(editing_agrees_with_an_array_of_characters),
        TEST(prompts_end),
    };
    return cmocka_run_group_tests_name("test_cli_browse_keys", tests, NULL, NULL);
}
