#include "browse/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/opening.h"
#include "input/memory.h"
#include "term/lists.h"
#include "term/term.h"

/* ---- views ---- */

gcd_status browse_fail(struct gcd_error *err, gcd_status status, const char *fmt, ...)
{
    va_list ap;
    if (err == NULL)
        return status;
    *err = (struct gcd_error)GCD_ERROR_INIT;
    err->code = status;
    va_start(ap, fmt);
    (void)vsnprintf(err->msg, sizeof err->msg, fmt, ap);
    va_end(ap);
    return status;
}

gcd_status browse_no_memory(struct gcd_error *err)
{
    return browse_fail(err, GCD_E_NOMEM, "out of memory");
}

gcd_status browse_step(const struct gcd_context *call, uint64_t done, uint64_t total,
                       struct gcd_error *err)
{
    if (call == NULL)
        return GCD_OK;
    if (call->progress != NULL)
        call->progress(call->progress_ctx, done, total);
    if (call->cancel != NULL && atomic_load_explicit(call->cancel, memory_order_relaxed))
        return browse_fail(err, GCD_E_CANCELED, "canceled");
    return GCD_OK;
}

static struct browse_view *new_view(const struct browse_model *m,
                                    const struct browse_subject *subject)
{
    struct browse_view *v = calloc(1, sizeof *v);
    if (v == NULL)
        return NULL;
    v->kind = subject->kind;
    v->subject = subject->number;
    v->full = subject->full;
    v->model = m;
    return v;
}

void browse_free(struct browse_view *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; i < v->section_count; i++) {
        free(v->sections[i].text);
        free(v->sections[i].breaks);
        cli_array_free(cli_alloc(), v->sections[i].sorted, (size_t)v->sections[i].count,
                       sizeof(uint32_t));
    }
    for (size_t i = 0; i < v->made_count; i++)
        free(v->made[i].text);
    free(v->made);
    for (size_t i = 0; i < 2; i++) {
        free(v->amounts[i]);
        free(v->lists[i]);
    }
    free(v->title);
    free(v->question);
    free(v->heading);
    free(v);
}

void browse_begin(struct browse_view *v, size_t width, uint64_t height)
{
    (void)browse_wrap(v, width); /* without memory, as it was */
    uint64_t n = browse_lines(v), goal = 0;
    struct browse_line line = { .goal = GOAL_NONE };
    for (uint64_t i = 0; i < n && i < height && line.goal == GOAL_NONE; i++) {
        browse_line_at(v, i, &line);
        goal = i;
    }
    v->cursor = line.goal != GOAL_NONE ? goal : 0;
}

gcd_status browse_open(const struct browse_model *m, const struct browse_subject *subject,
                       const struct gcd_context *call, struct browse_view **ret,
                       struct gcd_error *err)
{
    static gcd_status (*const opens[])(struct browse_view *, const struct gcd_context *,
                                       struct gcd_error *) = {
        [BROWSE_SUSPECTS] = browse_open_suspects, [BROWSE_TREE] = browse_open_tree,
        [BROWSE_TYPES] = browse_open_types,       [BROWSE_ASYNC] = browse_open_async,
        [BROWSE_SUSPECT] = browse_open_suspect,   [BROWSE_OBJECT] = browse_open_object,
        [BROWSE_TYPE] = browse_open_type,         [BROWSE_STACK] = browse_open_stack,
        [BROWSE_DUMP] = browse_open_dump,         [BROWSE_ROWS] = browse_open_rows,
    };
    struct browse_view *v = new_view(m, subject);
    if (v != NULL && subject->text != NULL)
        v->question = strdup(subject->text);
    bool ok = v != NULL && (subject->text == NULL || v->question != NULL);
    gcd_status st = ok ? opens[subject->kind](v, call, err) : browse_no_memory(err);
    if (st == GCD_OK)
        *ret = v;
    else
        browse_free(v);
    return st;
}

struct browse_view *browse_text_view(const struct browse_model *m, const char *title,
                                     const char *text)
{
    struct browse_view *v = new_view(m, &(struct browse_subject){ .kind = BROWSE_HELP });
    if (v == NULL)
        return NULL;
    v->title = strdup(title);
    if (v->title != NULL && browse_add_text(v, strdup(text), NULL) == GCD_OK)
        return v;
    browse_free(v);
    return NULL;
}

/* ---- sections ---- */

struct browse_section *browse_add_section(struct browse_view *v)
{
    return &v->sections[v->section_count++];
}

/* The number of lines above the first one of section I: a blank one and the title. */
static uint64_t head_lines(const struct browse_view *v, size_t i)
{
    return v->sections[i].title == NULL ? 0 : i == 0 ? 1 : 2;
}

/* Least width of a name; numbers are dropped first, if the window is that wide. */
#define NAME_COLUMNS 30u
/* Of one that is wrapped: in the narrowest window there is room for size and share beside it; and
 * beside a bar. */
#define WRAPPED_COLUMNS  20u
#define WRAPPED_WITH_BAR 40u

static size_t width_of(const struct browse_layout *l)
{
    size_t n = l->numbers[0] ? BROWSE_FIRST_COLUMNS + 1 : 0;
    n += l->share ? BROWSE_SHARE_COLUMNS + 1 : 0;
    n += l->bar ? BROWSE_BAR_COLUMNS + 1 : 0;
    for (size_t i = 1; i < BROWSE_NUMBERS; i++)
        n += l->numbers[i] ? BROWSE_NUMBER_COLUMNS + 1 : 0;
    return n;
}

struct browse_layout browse_layout_of(const struct browse_section *s, size_t columns)
{
    struct browse_layout l = { .share = s->heads[0] != NULL && !s->hidden_share };
    size_t name = NAME_COLUMNS < columns * 6 / 10 ? NAME_COLUMNS : columns * 6 / 10;
    for (size_t i = 0; i < BROWSE_NUMBERS; i++)
        l.numbers[i] = s->heads[i] != NULL;
    l.bar = l.share;
    if (s->text != NULL) {
        name = WRAPPED_COLUMNS;
        l.bar = l.bar && width_of(&l) + WRAPPED_WITH_BAR <= columns;
    }
    bool *const less[] = { &l.bar, &l.share, &l.numbers[2], &l.numbers[1], &l.numbers[0] };
    for (size_t i = 0; i < sizeof less / sizeof *less && width_of(&l) + name > columns; i++)
        *less[i] = false;
    l.name_at = width_of(&l);
    return l;
}

/* The bytes of S that go on a line of WIDTH columns; *RET_SHOWN: how many of these are shown. */
static size_t break_line(const char *s, size_t width, bool ascii, size_t *ret_shown)
{
    size_t n = 0, used = 0, space = 0;
    while (s[n] != '\0' && s[n] != '\n') {
        uint32_t c;
        unsigned columns;
        size_t bytes = cli_screen_char(s + n, ascii, &c, &columns);
        if (used + columns > width && n > 0)
            break;
        used += columns;
        n += bytes;
        if (c == ' ')
            space = n;
    }
    bool whole = s[n] == '\0' || s[n] == '\n';
    if (!whole && s[n] != ' ' && space > 0)
        n = space;
    *ret_shown = n;
    while (!whole && s[n] == ' ')
        n++;
    return s[n] == '\n' && whole ? n + 1 : n;
}

/* Wraps the text for a window of WIDTH columns. */
static bool wrap(struct browse_section *s, size_t width, bool ascii)
{
    width -= s->line != NULL ? browse_layout_of(s, width).name_at : 0;
    width = width > 0 ? width : 1;
    size_t lines = 0, shown, *breaks;
    for (size_t at = 0; s->text[at] != '\0'; lines++)
        at += break_line(s->text + at, width, ascii, &shown);
    breaks = calloc(lines + 1, sizeof *breaks);
    if (breaks == NULL)
        return false;
    for (size_t i = 0; i < lines; i++)
        breaks[i + 1] = breaks[i] + break_line(s->text + breaks[i], width, ascii, &shown);
    free(s->breaks);
    s->breaks = breaks;
    s->count = lines;
    return true;
}

static bool is_wrapped_list(const struct browse_section *s)
{
    return s->text != NULL && s->line != NULL;
}

/* The item that line I of a wrapped list is about. */
static uint64_t item_of(const struct browse_section *s, uint64_t i)
{
    uint64_t item = 0;
    for (size_t at = 0; at < s->breaks[i]; at++)
        item += s->text[at] == '\n';
    return item;
}

static uint64_t first_line_of(const struct browse_section *s, uint64_t item)
{
    uint64_t i = 0;
    if (!is_wrapped_list(s))
        return item;
    while (i + 1 < s->count && item_of(s, i) < item)
        i++;
    return i;
}

bool browse_wrap(struct browse_view *v, size_t width)
{
    if (v->width == width)
        return true;
    uint64_t in, cursor = v->cursor;
    size_t at = (size_t)(browse_section_at(v, cursor, &in) - v->sections);
    if (in != UINT64_MAX && is_wrapped_list(&v->sections[at]))
        in = item_of(&v->sections[at], in);
    bool ok = true;
    for (size_t i = 0; i < v->section_count; i++)
        if (v->sections[i].text != NULL)
            ok = wrap(&v->sections[i], width, v->model->ascii) && ok;
    v->width = width;
    /* keep the cursor on its line of a list; the texts may have other lines now */
    uint64_t line = 0;
    for (size_t i = 0; i < at; i++)
        line += head_lines(v, i) + v->sections[i].count;
    if (v->section_count > 0 && v->sections[at].line != NULL && in != UINT64_MAX)
        v->cursor = line + head_lines(v, at) + first_line_of(&v->sections[at], in);
    return ok;
}

gcd_status browse_add_text(struct browse_view *v, char *text, struct gcd_error *err)
{
    return browse_put_text(v, browse_add_section(v), text, err);
}

gcd_status browse_put_text(const struct browse_view *v, struct browse_section *s, char *text,
                           struct gcd_error *err)
{
    s->text = text;
    return text != NULL && wrap(s, CLI_PROSE_COLUMNS, v->model->ascii) ? GCD_OK
                                                                       : browse_no_memory(err);
}

static void made_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                      struct browse_line *ret)
{
    const struct browse_made *m = &v->made[v->first_made[s - v->sections] + (size_t)i];
    browse_put_name(ret, m->text);
    ret->indent = m->indent;
    memcpy(ret->has, m->has, sizeof ret->has);
    memcpy(ret->numbers, m->numbers, sizeof ret->numbers);
    ret->goal = m->goal;
    ret->to = m->to;
}

struct browse_section *browse_add_made_section(struct browse_view *v)
{
    struct browse_section *s = browse_add_section(v);
    s->line = made_line;
    v->first_made[s - v->sections] = v->made_count;
    return s;
}

gcd_status browse_add_made(struct browse_view *v, struct browse_made made, struct gcd_error *err)
{
    if (made.text == NULL ||
        !cli_list_grow(&v->made, v->made_count, &v->made_room, sizeof *v->made)) {
        free(made.text);
        return browse_no_memory(err);
    }
    v->made[v->made_count++] = made;
    v->sections[v->section_count - 1].count++;
    return GCD_OK;
}

/* ---- lines ---- */

uint64_t browse_lines(const struct browse_view *v)
{
    uint64_t n = 0;
    for (size_t i = 0; i < v->section_count; i++)
        n += head_lines(v, i) + v->sections[i].count;
    return n;
}

const struct browse_section *browse_section_at(const struct browse_view *v, uint64_t line,
                                               uint64_t *ret)
{
    for (size_t i = 0; i < v->section_count; i++) {
        uint64_t head = head_lines(v, i);
        if (line < head + v->sections[i].count || i + 1 == v->section_count) {
            *ret = line < head ? UINT64_MAX : line - head;
            return &v->sections[i];
        }
        line -= head + v->sections[i].count;
    }
    *ret = UINT64_MAX;
    return v->sections;
}

void browse_put_name(struct browse_line *ret, const char *name)
{
    ret->name = name;
    ret->name_bytes = strlen(name);
}

void browse_put_type(struct browse_line *ret, const struct browse_model *m, uint32_t type)
{
    browse_put_name(ret, gcd_names_step(m->names, type, ret->made));
}

static void text_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                      struct browse_line *ret)
{
    const char *from = s->text + s->breaks[i];
    size_t n = s->breaks[i + 1] - s->breaks[i];
    while (n > 0 && (from[n - 1] == '\n' || from[n - 1] == ' '))
        n--;
    (void)v;
    ret->style = STYLE_TEXT;
    ret->name = from;
    ret->name_bytes = n;
}

/* A line of a list with wrapped names; the numbers are beside the first one. */
static void wrapped_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                         struct browse_line *ret)
{
    s->line(v, s, item_of(s, i), ret);
    if (i > 0 && s->text[s->breaks[i] - 1] != '\n') {
        memset(ret->has, 0, sizeof ret->has);
        ret->whole = 0;
    }
    text_line(v, s, i, ret);
    ret->style = STYLE_ITEM;
}

void browse_line_at(const struct browse_view *v, uint64_t line, struct browse_line *ret)
{
    uint64_t in;
    const struct browse_section *s = browse_section_at(v, line, &in);
    *ret = (struct browse_line){ .style = STYLE_BLANK, .name = "" };
    if (line >= browse_lines(v))
        return;
    if (in != UINT64_MAX) {
        ret->style = STYLE_ITEM;
        (s->line == NULL ? text_line : s->text != NULL ? wrapped_line : s->line)(v, s, in, ret);
        return;
    }
    uint64_t below;
    if (s != v->sections && browse_section_at(v, line + 1, &below) == s && below == UINT64_MAX)
        return; /* the blank line */
    ret->style = STYLE_HEADING;
    browse_put_name(ret, s->title);
    if (s->line != NULL) {
        char n[CLI_NUMBER_BYTES];
        (void)snprintf(ret->tail, sizeof ret->tail, " (%s)", cli_number(s->count, true, n));
    }
}

/* ---- moves ---- */

void browse_fit(struct browse_view *v, uint64_t height)
{
    uint64_t n = browse_lines(v);
    height = height > 0 ? height : 1;
    if (v->cursor >= n)
        v->cursor = n > 0 ? n - 1 : 0;
    if (v->top > v->cursor)
        v->top = v->cursor;
    if (v->cursor - v->top >= height)
        v->top = v->cursor - height + 1;
    if (n <= height)
        v->top = 0;
    else if (v->top > n - height)
        v->top = n - height;
}

void browse_go(struct browse_view *v, uint64_t line, uint64_t height)
{
    v->cursor = line;
    browse_fit(v, height);
}

void browse_first_of(struct browse_view *v, size_t section, uint64_t height)
{
    uint64_t line = 0;
    for (size_t i = 0; i < section; i++)
        line += head_lines(v, i) + v->sections[i].count;
    browse_go(v, line + head_lines(v, section), height);
}

/* The first line of the next section, or of the one before. */
static uint64_t section_line(const struct browse_view *v, bool next)
{
    uint64_t at = 0, before = 0;
    for (size_t i = 0; i < v->section_count; i++) {
        uint64_t first = at + head_lines(v, i);
        if (next && first > v->cursor && v->sections[i].count > 0)
            return first;
        if (!next && first < v->cursor)
            before = first;
        at = first + v->sections[i].count;
    }
    return next ? v->cursor : before;
}

void browse_move(struct browse_view *v, enum browse_move move, uint64_t height)
{
    uint64_t n = browse_lines(v), page = height > 1 ? height - 1 : 1, last = n > 0 ? n - 1 : 0,
             at = v->cursor;
    switch (move) {
    case MOVE_UP:
        at -= at > 0;
        break;
    case MOVE_DOWN:
        at += at < last;
        break;
    case MOVE_PAGE_UP:
        at = at > page ? at - page : 0;
        break;
    case MOVE_PAGE_DOWN:
        at = last - at > page ? at + page : last;
        break;
    case MOVE_FIRST:
        at = 0;
        break;
    case MOVE_LAST:
        at = last;
        break;
    case MOVE_NEXT_SECTION:
        at = section_line(v, true);
        break;
    case MOVE_PREVIOUS_SECTION:
        at = section_line(v, false);
        break;
    }
    browse_go(v, at, height);
}
