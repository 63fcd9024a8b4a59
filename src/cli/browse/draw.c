#include <curses.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "browse/screen.h"
#include "term/term.h"

#define BARS  COLOR_PAIR(1)
#define WRONG COLOR_PAIR(2)
#define HEADS COLOR_PAIR(3)

/* Most combining marks on one character; terminals agree up to this number. */
#define MARKS_MAX 3u
#define ROOM      4096u

/* ---- text ---- */

/* Text for COLUMNS cells, after skipping the first SKIP ones. */
struct pen {
    bool ascii;
    size_t skip, columns;
    size_t used;
    bool cut;
    unsigned marks;
    wchar_t out[ROOM];
    size_t n;
};

static void put_char(struct pen *p, uint32_t c, unsigned columns)
{
    if (columns == 0 && (p->used == 0 || p->skip > 0)) { /* there is nothing to combine with */
        c = '?';
        columns = 1;
    }
    if (columns == 0) {
        if (p->marks++ < MARKS_MAX && p->n + 1 < ROOM)
            p->out[p->n++] = (wchar_t)c;
        return;
    }
    p->marks = 0;
    if (p->skip > 0) {
        p->skip -= columns < p->skip ? columns : p->skip;
        return;
    }
    if (p->used + columns > p->columns || p->n + 1 >= ROOM) {
        p->cut = true;
        return;
    }
    p->out[p->n++] = (wchar_t)c;
    p->used += columns;
}

static void put_text(struct pen *p, const char *s, size_t n)
{
    for (size_t i = 0; i < n && !p->cut;) {
        uint32_t c;
        unsigned columns;
        i += cli_screen_char(s + i, p->ascii, &c, &columns);
        put_char(p, c, columns);
    }
}

/* Ends cut text with a mark, in place of the last cells. */
static void mark_cut(struct pen *p)
{
    while (p->n > 0 && p->used + 1 > p->columns) {
        int w = wcwidth(p->out[--p->n]);
        p->used -= w > 0 ? (size_t)w : 0;
    }
    if (p->columns > 0) {
        p->out[p->n++] = p->ascii ? L'>' : L'\u2026';
        p->used++;
    }
}

/* Writes the text at Y, X and fills the rest with blanks. */
static void flush_pen(struct pen *p, int y, int x)
{
    if (p->cut)
        mark_cut(p);
    (void)mvaddnwstr(y, x, p->out, (int)p->n);
    for (size_t i = p->used; i < p->columns; i++)
        (void)mvaddch(y, x + (int)i, ' ');
}

static void draw_text(bool ascii, int y, int x, size_t columns, const char *s)
{
    struct pen p = { .ascii = ascii, .columns = columns };
    put_text(&p, s, strlen(s));
    flush_pen(&p, y, x);
}

/* The number of columns that S takes. */
static size_t columns_of(bool ascii, const char *s)
{
    size_t all = 0;
    while (*s != '\0') {
        uint32_t c;
        unsigned columns;
        s += cli_screen_char(s, ascii, &c, &columns);
        all += columns;
    }
    return all;
}

/* Draws the end of a long title: where the view is matters more than where it began. */
static void draw_end(bool ascii, int y, int x, size_t columns, const char *s)
{
    size_t all = columns_of(ascii, s);
    bool cut = all > columns;
    struct pen p = { .ascii = ascii, .columns = columns, .skip = cut ? all - columns : 0 };
    put_text(&p, s, strlen(s));
    p.cut = false;
    flush_pen(&p, y, x);
    if (cut && columns > 0)
        (void)mvaddwstr(y, x, ascii ? L"<" : L"\u2026");
}

/* ---- columns ---- */

static int draw_number(int y, int x, size_t columns, const char *text)
{
    (void)mvprintw(y, x, "%*s ", (int)columns, text);
    return x + (int)columns + 1;
}

static int draw_share(int y, int x, const struct browse_line *line)
{
    char text[32] = "";
    if (line->whole > 0)
        (void)snprintf(text, sizeof text, "%5.1f %%",
                       100.0 * (double)line->part / (double)line->whole);
    return draw_number(y, x, BROWSE_SHARE_COLUMNS, text);
}

/* Draws a bar in eighths of a cell, where the terminal has such characters. */
static int draw_bar(bool ascii, int y, int x, const struct browse_line *line)
{
    double share = line->whole > 0 ? (double)line->part / (double)line->whole : 0;
    unsigned eighths = (unsigned)((share < 1 ? share : 1) * BROWSE_BAR_COLUMNS * 8 + 0.5);
    (void)attron(BARS);
    for (unsigned i = 0; i < BROWSE_BAR_COLUMNS; i++, eighths -= eighths < 8 ? eighths : 8) {
        wchar_t cell[2] = { L' ', L'\0' };
        if (ascii)
            cell[0] = eighths >= 4 ? L'#' : L' ';
        else if (eighths > 0)
            cell[0] = (wchar_t)(0x2590 -
                                (eighths < 8 ? eighths
                                             : 8)); /* U+2588 is the full block, U+258F an eighth */
        (void)mvaddwstr(y, x + (int)i, cell);
    }
    (void)attroff(BARS);
    (void)mvaddch(y, x + (int)BROWSE_BAR_COLUMNS, ' ');
    return x + (int)BROWSE_BAR_COLUMNS + 1;
}

static const char *number_text(const struct browse_section *s, const struct browse_line *line,
                               size_t i, char buf[CLI_NUMBER_BYTES])
{
    if (!line->has[i])
        return "";
    return s->counts[i] ? cli_number(line->numbers[i], true, buf) : cli_size(line->numbers[i], buf);
}

/* The type that LINE is about, or the type of its object; GCD_TYPE_NONE. */
static uint32_t line_type(const struct browse_model *m, const struct browse_line *line)
{
    if (line->goal == GOAL_OBJECT || line->goal == GOAL_TREE)
        return gcd_graph_node_type(m->graph, line->to);
    return line->goal == GOAL_TYPE ? line->to : GCD_TYPE_NONE;
}

/* The bytes at the beginning of the name of LINE that are the name of a type, and not that of a
 * method or of what a compiler makes; 0 = none. */
static size_t type_bytes(const struct browse_model *m, const struct browse_line *line)
{
    uint32_t type = line_type(m, line);
    const char *name = type != GCD_TYPE_NONE ? gcd_names_get(m->names, type) : "";
    size_t n = strlen(name);
    return n <= line->name_bytes && memcmp(name, line->name, n) == 0 ? n : 0;
}

static void put_step(struct pen *pen, const char *name)
{
    char brief[GCD_ASYNC_STEP_BYTES];
    (void)answer_short_step(name, brief);
    put_text(pen, brief, strlen(brief));
}

/* Puts the text of LINE; the type in its first SHORTENED bytes without namespaces. */
static void put_item(struct pen *pen, const struct screen_picture *p,
                     const struct browse_line *line, size_t shortened)
{
    char brief[GCD_ASYNC_STEP_BYTES];
    size_t columns = pen->columns, indent = 2 * (size_t)line->indent;
    *pen = (struct pen){ .ascii = p->model->ascii, .columns = columns, .skip = p->view->shift };
    for (size_t i = 0; i < indent && i < columns / 2; i++)
        put_char(pen, ' ', 1);
    if (shortened > 0 && line->goal == GOAL_STACK) {
        put_step(pen, line->name);
        put_text(pen, line->tail, strlen(line->tail));
        if (line->more != NULL)
            put_step(pen, line->more);
        return;
    }
    if (shortened > 0) {
        (void)answer_short_type(p->model->session, line_type(p->model, line), brief);
        put_text(pen, brief, strlen(brief));
    }
    put_text(pen, line->name + shortened, line->name_bytes - shortened);
    put_text(pen, line->tail, strlen(line->tail));
    if (line->more != NULL)
        put_text(pen, line->more, strlen(line->more));
}

static void draw_item(const struct screen_picture *p, int y, const struct browse_section *s,
                      const struct browse_line *line)
{
    size_t columns = screen_columns();
    struct browse_layout l = browse_layout_of(s, columns);
    char buf[CLI_NUMBER_BYTES];
    int x = 0;
    if (l.numbers[0])
        x = draw_number(y, x, BROWSE_FIRST_COLUMNS, number_text(s, line, 0, buf));
    if (l.share)
        x = draw_share(y, x, line);
    if (l.bar)
        x = draw_bar(p->model->ascii, y, x, line);
    for (size_t i = 1; i < BROWSE_NUMBERS; i++)
        if (l.numbers[i])
            x = draw_number(y, x, BROWSE_NUMBER_COLUMNS, number_text(s, line, i, buf));
    struct pen pen = { .columns = columns - l.name_at };
    size_t type;
    put_item(&pen, p, line, 0);
    if (pen.cut && p->view->shift == 0 &&
        (type = line->goal == GOAL_STACK ? 1 : type_bytes(p->model, line)) > 0)
        put_item(&pen, p, line, type);
    flush_pen(&pen, y, x);
}

static void draw_line(const struct screen_picture *p, int y, uint64_t i)
{
    uint64_t in;
    struct browse_line line;
    const struct browse_section *s = browse_section_at(p->view, i, &in);
    browse_line_at(p->view, i, &line);
    bool here = i == p->view->cursor;
    attr_t style = (here ? A_REVERSE : 0) | (line.style == STYLE_HEADING ? A_BOLD | HEADS : 0);
    (void)attron((int)style);
    if (line.style == STYLE_ITEM) {
        draw_item(p, y, s, &line);
    } else {
        struct pen pen = { .ascii = p->model->ascii, .columns = screen_columns() };
        put_text(&pen, line.name, line.name_bytes);
        put_text(&pen, line.tail, strlen(line.tail));
        flush_pen(&pen, y, 0);
    }
    (void)attroff((int)style);
}

/* ---- around the list ---- */

/* Draws the heads of the section at the cursor. */
static void draw_heads(const struct screen_picture *p, int y)
{
    uint64_t in;
    const struct browse_section *s = browse_section_at(p->view, p->view->cursor, &in);
    size_t columns = screen_columns();
    if (s->line == NULL) {
        draw_text(p->model->ascii, y, 0, columns, "");
        return;
    }
    struct browse_layout l = browse_layout_of(s, columns);
    int x = 0;
    (void)attron(A_BOLD | HEADS);
    for (size_t i = 0; i < BROWSE_NUMBERS; i++) {
        if (l.numbers[i])
            x = draw_number(y, x, i == 0 ? BROWSE_FIRST_COLUMNS : BROWSE_NUMBER_COLUMNS,
                            s->heads[i]);
        if (i == 0 && l.share)
            x = draw_number(y, x, BROWSE_SHARE_COLUMNS, "Share");
        if (i == 0 && l.bar)
            x = draw_number(y, x, BROWSE_BAR_COLUMNS, "");
    }
    draw_text(p->model->ascii, y, x, columns - (size_t)x, s->what);
    (void)attroff(A_BOLD | HEADS);
}

/* The status text, verdict first, so that it is visible in any width. */
static void put_verdict(const struct screen_picture *p, char *to, size_t cap)
{
    const struct gcd_summary *s = p->model->summary;
    char objects[CLI_NUMBER_BYTES], bytes[CLI_NUMBER_BYTES];
    const char *guess =
        p->model->dominators != NULL && gcd_dominators_pseudo_roots(p->model->dominators) > 0
            ? ", no roots: sizes are a guess"
            : "";
    if (!s->verdict.complete)
        (void)snprintf(to, cap, "INCOMPLETE%s: %s  ", guess,
                       s->verdict.reason_count > 0 ? s->verdict.reasons[0].text : "");
    else
        (void)snprintf(to, cap, "%s%s  ",
                       s->verdict.unverified ? "not known to be complete" : "complete", guess);
    size_t n = strlen(to);
    (void)snprintf(to + n, cap - n, "%s object%s, %s  %s", cli_number(s->objects, true, objects),
                   gcd_plural(s->objects), cli_size(s->bytes, bytes), p->model->dump->subject);
}

static void draw_status(const struct screen_picture *p, int y)
{
    char left[1024], right[3 * CLI_NUMBER_BYTES] = "", a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES];
    size_t columns = screen_columns();
    put_verdict(p, left, sizeof left);
    if (p->view != NULL && !p->busy) {
        uint64_t in, n = browse_lines(p->view);
        const struct browse_section *s = browse_section_at(p->view, p->view->cursor, &in);
        (void)snprintf(right, sizeof right, "%s%s  %s/%s", s->orders != 0 ? "by " : "",
                       s->orders != 0 ? browse_order_name(s->order) : "",
                       cli_number(n > 0 ? p->view->cursor + 1 : 0, true, a),
                       cli_number(n, true, b));
    }
    size_t n = strlen(right) + 2 < columns / 2 ? strlen(right) + 2 : 0;
    attr_t style = A_REVERSE | (p->model->summary->verdict.complete ? 0 : A_BOLD | WRONG);
    (void)attron((int)style);
    draw_text(p->model->ascii, y, 0, columns - n, left);
    (void)attroff((int)style);
    (void)attron(A_REVERSE);
    if (n > 0)
        draw_text(true, y, (int)(columns - n), n, "  ");
    if (n > 0)
        (void)mvaddstr(y, (int)(columns - n + 2), right);
    (void)attroff(A_REVERSE);
}

/* Draws the prompt; the end of the typed text stays visible. */
static void draw_prompt(const struct screen_picture *p, int y)
{
    size_t columns = screen_columns(), at = columns_of(p->model->ascii, p->prompt);
    size_t room = columns > at + 1 ? columns - at - 1 : 1;
    char before[ROOM];
    (void)snprintf(before, sizeof before, "%.*s", (int)p->typed_at, p->typed);
    size_t cursor = columns_of(p->model->ascii, before);
    struct pen pen = { .ascii = p->model->ascii,
                       .columns = room,
                       .skip = cursor >= room ? cursor - room + 1 : 0 };
    size_t skipped = pen.skip;
    draw_text(p->model->ascii, y, 0, columns, p->prompt);
    put_text(&pen, p->typed, strlen(p->typed));
    pen.cut = false;
    flush_pen(&pen, y, (int)at);
    (void)move(y, (int)(at + cursor - skipped));
}

static void draw_small(void)
{
    char text[80];
    (void)snprintf(text, sizeof text, "%zux%zu is too small: %ux%u", screen_columns(),
                   screen_lines(), SCREEN_COLUMNS_MIN, SCREEN_LINES_MIN);
    draw_text(true, 0, 0, screen_columns(), text);
}

static void draw_list(const struct screen_picture *p, int lines)
{
    uint64_t n = browse_lines(p->view);
    draw_heads(p, 1);
    for (int y = 0; y < lines; y++)
        if (p->view->top + (uint64_t)y < n)
            draw_line(p, y + 2, p->view->top + (uint64_t)y);
}

void screen_redraw(void)
{
    (void)clearok(curscr, TRUE);
}

void screen_draw(const struct screen_picture *p)
{
    static const char keys[] =
        "?:help 1:suspects 2:tree 3:types 4:async Enter:open /:search s:sort q:quit";
    static const char few_keys[] = "?:help 1-4:views /:search q:quit";
    size_t columns = screen_columns(), lines = screen_lines();
    (void)erase();
    (void)curs_set(p->prompt != NULL ? 1 : 0);
    if (columns < SCREEN_COLUMNS_MIN || lines < SCREEN_LINES_MIN) {
        draw_small();
        (void)refresh();
        return;
    }
    int last = (int)lines - 1;
    (void)attron(A_REVERSE | A_BOLD);
    draw_end(p->model->ascii, 0, 0, columns, p->title);
    (void)attroff(A_REVERSE | A_BOLD);
    if (p->view != NULL && !p->busy)
        draw_list(p, (int)(lines - SCREEN_FRAME_LINES));
    draw_status(p, last - 1);
    if (p->prompt != NULL)
        draw_prompt(p, last);
    else
        draw_text(p->model->ascii, last, 0, columns,
                  p->message[0] != '\0'   ? p->message
                  : columns < sizeof keys ? few_keys
                                          : keys);
    (void)refresh();
}
