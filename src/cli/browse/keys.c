/* What keys do. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "browse/ui.h"

static const char help_text[] =
    "Moving\n"
    "  Up Down k j          a line\n"
    "  PgUp PgDn b Space    a page\n"
    "  Home End g G         the first line, the last one\n"
    "  Tab Shift-Tab        the next list, the one before\n"
    "  < >                  scroll long names\n"
    "  w                    the whole of a line that the window cuts\n"
    "\n"
    "Going\n"
    "  Enter Right l        open what the cursor is on; in the tree, go down\n"
    "  Left h Backspace     back\n"
    "  1 2 3 4              suspects, dominator tree, types, asynchronous operations\n"
    "  v                    the object: path from the root, what refers to it ...\n"
    "  t                    the type, or that of the object\n"
    "  d                    the dominator tree below the object\n"
    "  o                    an object by its address 0x..., or its number\n"
    "  i                    what the dump is, and what it lacks\n"
    "\n"
    "Looking\n"
    "  / n N                search, the next one, the one before\n"
    "  s                    another order of the list at the cursor\n"
    "  f                    all steps of paths; again: folded\n"
    "  e                    write all of this view to a file\n"
    "  :                    ask in SQL\n"
    "\n"
    "  ? this help    Ctrl-L draw again    Ctrl-Z to the shell    q end\n"
    "  Ctrl-C gives up what is computed.\n"
    "\n"
    "A search finds text anywhere in a line: * is any text, ? one character, and /REGEX/ a regular "
    "expression; case matters only if there are "
    "capitals. Retained is what would be freed with an object. Shares in the tree are of all that "
    "is alive. Retained sizes of types are lower "
    "bounds.\n";

/* Most bytes for a cell of a title: a character and the marks on it. */
#define TITLE_CELL_BYTES 16

/* ---- the frame ---- */

void ui_say(struct ui *ui, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(ui->message, sizeof ui->message, fmt, ap);
    va_end(ap);
}

uint64_t ui_height(void)
{
    size_t lines = screen_lines();
    return lines > SCREEN_FRAME_LINES ? lines - SCREEN_FRAME_LINES : 1;
}

/* "Dominator tree > Shop.Store > System.Object[]", at least the last MOST bytes; free() it. */
static char *title_of(const struct browse_view *v, size_t most)
{
    char *text = strdup(v->title);
    for (v = v->below; v != NULL && text != NULL; v = v->below) {
        char *longer = NULL;
        if (strlen(text) > most)
            break;
        int n = asprintf(&longer, "%s > %s", v->title, text);
        free(text);
        text = n >= 0 ? longer : NULL;
    }
    return text;
}

void ui_draw(struct ui *ui)
{
    char *title = ui->view != NULL ? title_of(ui->view, screen_columns() * TITLE_CELL_BYTES) : NULL;
    if (ui->view != NULL && browse_wrap(ui->view, screen_columns()))
        browse_fit(ui->view, ui_height());
    screen_draw(&(struct screen_picture){ .view = ui->view,
                                          .model = &ui->model,
                                          .title = title != NULL ? title : "gcdumpc browse",
                                          .message = ui->message });
    free(title);
}

uint32_t ui_key(struct ui *ui)
{
    uint32_t key;
    if (ui->ahead_count > 0) {
        key = ui->ahead[0];
        memmove(ui->ahead, ui->ahead + 1, --ui->ahead_count * sizeof *ui->ahead);
    } else {
        key = screen_key(-1, -1);
    }
    ui->gone = ui->gone || key == SCREEN_KEY_END;
    return key;
}

/* ---- views ---- */

static bool is_main(const struct ui *ui, const struct browse_view *v)
{
    return v->kind < BROWSE_MAIN_VIEWS && ui->mains[v->kind] == v;
}

/* Frees the views on top of the main view. */
static void drop(struct ui *ui)
{
    while (ui->view != NULL && !is_main(ui, ui->view)) {
        struct browse_view *below = ui->view->below;
        browse_free(ui->view);
        ui->view = below;
    }
}

void ui_free(struct ui *ui)
{
    drop(ui);
    for (size_t i = 0; i < BROWSE_MAIN_VIEWS; i++)
        browse_free(ui->mains[i]);
}

/* Shows V on top. */
static void push(struct ui *ui, struct browse_view *v)
{
    v->below = ui->view;
    ui->view = v;
}

struct opening {
    const struct browse_model *model;
    struct browse_subject subject;
    struct browse_view *view;
};

static gcd_status do_open(void *ctx, const struct gcd_context *call, struct gcd_error *err)
{
    struct opening *o = ctx;
    return browse_open(o->model, &o->subject, call, &o->view, err);
}

static struct browse_view *open_view(struct ui *ui, const struct browse_subject *subject)
{
    static const char *const verbs[] = {
        [BROWSE_SUSPECTS] = "looking for suspects",
        [BROWSE_TREE] = "finding dominators",
        [BROWSE_TYPES] = "listing types",
        [BROWSE_ASYNC] = "finding asynchronous operations",
        [BROWSE_SUSPECT] = "showing the suspect",
        [BROWSE_OBJECT] = "looking at the object",
        [BROWSE_TYPE] = "looking at the objects of the type",
        [BROWSE_STACK] = "showing the stack",
        [BROWSE_DUMP] = "showing the dump",
        [BROWSE_ROWS] = "asking in SQL",
    };
    struct opening o = { .model = &ui->model, .subject = *subject };
    struct gcd_error err = GCD_ERROR_INIT;
    if (ui_work(ui, verbs[subject->kind], do_open, &o, &err) != GCD_OK)
        return NULL;
    browse_learn(&ui->model, subject->kind);
    browse_begin(o.view, screen_columns(), ui_height());
    return o.view;
}

/* Opens a view on top of the current one.  Fails after a message. */
static void open_above(struct ui *ui, enum browse_kind kind, uint32_t subject)
{
    struct browse_view *v = open_view(
        ui,
        &(struct browse_subject){ .kind = kind, .number = subject, .full = ui->args->view.full });
    if (v != NULL)
        push(ui, v);
}

bool ui_open_main(struct ui *ui, enum browse_kind kind)
{
    if (ui->mains[kind] == NULL)
        ui->mains[kind] =
            open_view(ui, &(struct browse_subject){ .kind = kind, .number = GCD_NODE_ROOT });
    if (ui->mains[kind] == NULL)
        return false;
    drop(ui);
    ui->view = ui->mains[kind];
    return true;
}

static void back(struct ui *ui)
{
    struct browse_view *v = ui->view;
    if (v->below == NULL) {
        ui_say(ui, "this is where it began; q ends");
        return;
    }
    ui->view = v->below;
    browse_free(v);
}

/* ---- navigation ---- */

static bool has_children(const struct ui *ui, uint32_t node)
{
    struct gcd_node_list list;
    return gcd_session_dominated_largest(ui->model.session, NULL, node, &list, NULL) == GCD_OK &&
           list.count > 0;
}

static void open_line(struct ui *ui)
{
    struct browse_line line;
    browse_line_at(ui->view, ui->view->cursor, &line);
    switch (line.goal) {
    case GOAL_OBJECT:
        open_above(ui, BROWSE_OBJECT, line.to);
        break;
    case GOAL_TYPE:
        open_above(ui, BROWSE_TYPE, line.to);
        break;
    case GOAL_SUSPECT:
        open_above(ui, BROWSE_SUSPECT, line.to);
        break;
    case GOAL_STACK:
        open_above(ui, BROWSE_STACK, line.to);
        break;
    case GOAL_TREE:
        open_above(ui, has_children(ui, line.to) ? BROWSE_TREE : BROWSE_OBJECT, line.to);
        break;
    default:
        ui_say(ui, "there is nothing to open on this line");
        break;
    }
}

/* The object on the line, or the subject of the view. */
static bool object_here(const struct ui *ui, uint32_t *ret)
{
    struct browse_line line;
    browse_line_at(ui->view, ui->view->cursor, &line);
    bool found = line.goal == GOAL_OBJECT || line.goal == GOAL_TREE;
    *ret = found ? line.to : ui->view->subject;
    return found || ui->view->kind == BROWSE_OBJECT ||
           (ui->view->kind == BROWSE_TREE && ui->view->subject != GCD_NODE_ROOT);
}

static void open_object(struct ui *ui, enum browse_kind kind)
{
    uint32_t node;
    if (object_here(ui, &node))
        open_above(ui, kind, node);
    else
        ui_say(ui, "there is no object on this line");
}

static void open_type(struct ui *ui)
{
    struct browse_line line;
    uint32_t node;
    browse_line_at(ui->view, ui->view->cursor, &line);
    if (line.goal == GOAL_TYPE)
        open_above(ui, BROWSE_TYPE, line.to);
    else if (object_here(ui, &node))
        open_above(ui, BROWSE_TYPE, gcd_graph_node_type(ui->model.graph, node));
    else
        ui_say(ui, "there is no type on this line");
}

static void ask_object(struct ui *ui)
{
    char typed[UI_TYPED_BYTES] = "", *end;
    const struct gcd_graph *g = ui->model.graph;
    if (!ui_ask(ui, "Object (address 0x... or number): ", typed, &ui->object) || typed[0] == '\0')
        return;
    (void)snprintf(ui->object.last, sizeof ui->object.last, "%s", typed);
    errno = 0;
    bool address = strncmp(typed, "0x", 2) == 0 || strncmp(typed, "0X", 2) == 0;
    uint64_t number = strtoull(typed, &end, address ? 16 : 10);
    uint32_t node = GCD_NODE_NONE;
    if (typed[0] < '0' || typed[0] > '9' || *end != '\0' || errno != 0)
        ui_say(ui, "\"%s\" is neither an address nor a number", typed);
    else if (address && gcd_graph_notes(g)->addresses_made_up)
        ui_say(ui, "there are no addresses in this dump: give the number of an object");
    else if (address)
        node = gcd_graph_find(g, number);
    else if (number < gcd_graph_node_count(g))
        node = (uint32_t)number;
    if (node != GCD_NODE_NONE)
        open_above(ui, BROWSE_OBJECT, node);
    else if (ui->message[0] == '\0')
        ui_say(ui, "there is no object %s", typed);
}

static void help(struct ui *ui)
{
    struct browse_view *v =
        ui->view->kind == BROWSE_HELP ? NULL : browse_text_view(&ui->model, "Help", help_text);
    if (v != NULL)
        push(ui, v);
}

/* The line at the cursor and where it is, wrapped: a name can be longer than any window. */
static void show_whole(struct ui *ui)
{
    struct browse_line line;
    uint64_t in;
    const struct browse_section *s = browse_section_at(ui->view, ui->view->cursor, &in);
    browse_line_at(ui->view, ui->view->cursor, &line);
    if (line.style != STYLE_ITEM || s->text != NULL) {
        ui_say(ui, "this line is whole");
        return;
    }
    char *title = title_of(ui->view, SIZE_MAX), *text = NULL;
    if (title != NULL && asprintf(&text, "%.*s%s%s\n\n%s\n", (int)line.name_bytes, line.name,
                                  line.tail, line.more != NULL ? line.more : "", title) < 0)
        text = NULL;
    struct browse_view *v =
        text != NULL ? browse_text_view(&ui->model, "The whole line", text) : NULL;
    if (v != NULL)
        push(ui, v);
    else
        ui_say(ui, "not enough memory");
    free(title);
    free(text);
}

/* ---- search and order ---- */

struct finding {
    const struct browse_view *view;
    struct browse_search search;
    uint64_t line;
};

static gcd_status do_find(void *ctx, const struct gcd_context *call, struct gcd_error *err)
{
    struct finding *f = ctx;
    return browse_find(f->view, &f->search, call, &f->line, err);
}

static void find(struct ui *ui, bool back_wards)
{
    struct finding f = { .view = ui->view,
                         .search = { .pattern = ui->search.last,
                                     .from = back_wards ? ui->view->cursor : ui->view->cursor + 1,
                                     .back = back_wards } };
    struct gcd_error err = GCD_ERROR_INIT;
    if (ui->search.last[0] == '\0') {
        ui_say(ui, "/ searches first");
        return;
    }
    if (ui_work(ui, "searching", do_find, &f, &err) != GCD_OK)
        return;
    if (f.line == UINT64_MAX)
        ui_say(ui, "not found: %s", ui->search.last);
    else if (back_wards ? f.line >= ui->view->cursor : f.line <= ui->view->cursor)
        ui_say(ui, "found after the %s",
               back_wards ? "beginning, from the end on" : "end, from the beginning on");
    if (f.line != UINT64_MAX)
        browse_go(ui->view, f.line, ui_height());
}

static void search(struct ui *ui)
{
    char typed[UI_TYPED_BYTES] = "";
    if (!ui_ask(ui, "/", typed, &ui->search))
        return;
    if (typed[0] != '\0') /* nothing typed: repeat the last search */
        (void)snprintf(ui->search.last, sizeof ui->search.last, "%s", typed);
    find(ui, false);
}

struct sorting {
    struct browse_view *view;
    size_t section;
    enum browse_order order;
};

static gcd_status do_sort(void *ctx, const struct gcd_context *call, struct gcd_error *err)
{
    struct sorting *s = ctx;
    return browse_sort(s->view, s->section, s->order, call, err);
}

static void sort(struct ui *ui)
{
    struct sorting s = { .view = ui->view };
    struct gcd_error err = GCD_ERROR_INIT;
    s.order = browse_next_order(ui->view, &s.section);
    if (ui->view->section_count == 0 || ui->view->sections[s.section].orders == 0) {
        ui_say(ui, "this list has one order");
        return;
    }
    if (ui_work(ui, "sorting", do_sort, &s, &err) != GCD_OK)
        return;
    if (s.order == ORDER_RETAINED) /* sorting may have computed retained sizes */
        browse_learn(&ui->model, ui->view->kind == BROWSE_TYPES ? BROWSE_TYPE : BROWSE_TREE);
    browse_first_of(ui->view, s.section, ui_height());
    ui_say(ui, "by %s", browse_order_name(s.order));
}

static void unfold(struct ui *ui)
{
    struct browse_view *old = ui->view;
    if (old->kind != BROWSE_SUSPECT && old->kind != BROWSE_OBJECT && old->kind != BROWSE_TYPE) {
        ui_say(ui, "there are no paths here");
        return;
    }
    struct browse_view *v = open_view(
        ui,
        &(struct browse_subject){ .kind = old->kind, .number = old->subject, .full = !old->full });
    if (v == NULL)
        return;
    v->below = old->below;
    ui->view = v;
    ui_say(ui, v->full ? "all steps of paths" : "folded paths");
    browse_free(old);
}

/* ---- files ---- */

struct writing {
    const struct browse_view *view;
    const char *path;
};

static gcd_status do_write(void *ctx, const struct gcd_context *call, struct gcd_error *err)
{
    struct writing *w = ctx;
    return browse_write(w->view, w->path, call, err);
}

/* Expands "~/x" as the shell does; free() it. */
static char *full_path(const char *typed)
{
    const char *home = getenv("HOME");
    char *path = NULL;
    if (strncmp(typed, "~/", 2) != 0 || home == NULL)
        return strdup(typed);
    return asprintf(&path, "%s/%s", home, typed + 2) >= 0 ? path : NULL;
}

static void write_view(struct ui *ui)
{
    char typed[UI_TYPED_BYTES] = "", question[UI_TYPED_BYTES + 64];
    struct gcd_error err = GCD_ERROR_INIT;
    struct stat there;
    if (!ui_ask(ui, "Write this view to: ", typed, &ui->file) || typed[0] == '\0')
        return;
    (void)snprintf(ui->file.last, sizeof ui->file.last, "%s", typed);
    struct writing w = { .view = ui->view, .path = full_path(typed) };
    (void)snprintf(question, sizeof question, "%s exists. Replace it? (y/n) ", typed);
    bool wanted = w.path != NULL && (lstat(w.path, &there) != 0 || ui_confirm(ui, question));
    if (strcmp(typed, "-") == 0)
        ui_say(ui, "give the name of a file");
    else if (!wanted)
        ui_say(ui, "not written");
    else if (ui_work(ui, "writing", do_write, (void *)&w, &err) == GCD_OK)
        ui_say(ui, "written: %s", typed);
    free((char *)(uintptr_t)w.path);
}

static void ask_sql(struct ui *ui)
{
    char typed[UI_TYPED_BYTES] = "";
    if (!ui_ask(ui, "SQL: ", typed, &ui->sql) || typed[0] == '\0')
        return;
    (void)snprintf(ui->sql.last, sizeof ui->sql.last, "%s", typed);
    struct browse_view *v =
        open_view(ui, &(struct browse_subject){ .kind = BROWSE_ROWS, .text = typed });
    if (v != NULL)
        push(ui, v);
}

/* ---- keys ---- */

static bool move(struct ui *ui, uint32_t key)
{
    static const struct {
        uint32_t key;
        enum browse_move move;
    } moves[] = {
        { SCREEN_KEY_UP, MOVE_UP },
        { 'k', MOVE_UP },
        { SCREEN_CTRL('p'), MOVE_UP },
        { SCREEN_KEY_DOWN, MOVE_DOWN },
        { 'j', MOVE_DOWN },
        { SCREEN_CTRL('n'), MOVE_DOWN },
        { SCREEN_KEY_PAGE_UP, MOVE_PAGE_UP },
        { 'b', MOVE_PAGE_UP },
        { SCREEN_CTRL('b'), MOVE_PAGE_UP },
        { SCREEN_KEY_PAGE_DOWN, MOVE_PAGE_DOWN },
        { ' ', MOVE_PAGE_DOWN },
        { SCREEN_CTRL('f'), MOVE_PAGE_DOWN },
        { SCREEN_KEY_HOME, MOVE_FIRST },
        { 'g', MOVE_FIRST },
        { SCREEN_KEY_FINISH, MOVE_LAST },
        { 'G', MOVE_LAST },
        { '\t', MOVE_NEXT_SECTION },
        { SCREEN_KEY_BACK_TAB, MOVE_PREVIOUS_SECTION },
    };
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
        if (moves[i].key == key) {
            browse_move(ui->view, moves[i].move, ui_height());
            return true;
        }
    return false;
}

/* Keys that need no view. */
static bool general(struct ui *ui, uint32_t key)
{
    switch (key) {
    case 'q':
    case 'Q':
        if (ui->view != NULL && ui->view->kind == BROWSE_HELP)
            back(ui);
        else
            ui->done = true;
        return true;
    case '1':
    case '2':
    case '3':
    case '4':
        (void)ui_open_main(ui, (enum browse_kind)(key - '1'));
        return true;
    case SCREEN_CTRL('z'):
        screen_suspend();
        return true;
    case SCREEN_CTRL('c'):
        ui_say(ui, "q ends");
        return true;
    case SCREEN_KEY_END:
    case SCREEN_KEY_REDRAW:
    case SCREEN_KEY_NONE:
        return true;
    default:
        return ui->view == NULL;
    }
}

void ui_press(struct ui *ui, uint32_t key)
{
    ui->message[0] = '\0';
    if (general(ui, key) || move(ui, key))
        return;
    switch (key) {
    case '\r':
    case SCREEN_KEY_RIGHT:
    case 'l':
        open_line(ui);
        break;
    case SCREEN_KEY_LEFT:
    case 'h':
    case SCREEN_KEY_BACKSPACE:
        back(ui);
        break;
    case SCREEN_ESCAPE:
        if (ui->view->kind == BROWSE_HELP)
            back(ui);
        break;
    case '<':
        ui->view->shift -= ui->view->shift < 10 ? ui->view->shift : 10;
        break;
    case '>':
        ui->view->shift += 10;
        break;
    case 'w':
        show_whole(ui);
        break;
    case 'v':
        open_object(ui, BROWSE_OBJECT);
        break;
    case 'd':
        open_object(ui, BROWSE_TREE);
        break;
    case 't':
        open_type(ui);
        break;
    case 'o':
        ask_object(ui);
        break;
    case 'i':
        open_above(ui, BROWSE_DUMP, 0);
        break;
    case '?':
        help(ui);
        break;
    case '/':
        search(ui);
        break;
    case 'n':
        find(ui, false);
        break;
    case 'N':
        find(ui, true);
        break;
    case 's':
        sort(ui);
        break;
    case 'f':
        unfold(ui);
        break;
    case 'e':
        write_view(ui);
        break;
    case ':':
        ask_sql(ui);
        break;
    case SCREEN_CTRL('l'):
        screen_redraw();
        break;
    default:
        ui_say(ui, "? shows the keys");
        break;
    }
}
