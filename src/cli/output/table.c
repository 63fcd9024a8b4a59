/*
 * Why not libsmartcols (tried with 2.38.1): Debian has no static library of it, it breaks names in
 * the middle of a word, passes U+202E through to the terminal, and its widths depend on the locale
 * of the process.
 */
#include "output/table.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/json_out.h"
#include "term/term.h"
#include "term/wrap.h"

struct cell {
    bool none;
    bool negative;   /* a change below 0 */
    uint64_t number; /* magnitude; for a branch its depth */
    double share;
    char *text;
};

struct cli_table {
    const struct cli_column *columns;
    size_t n;           /* columns */
    struct cell *cells; /* row by row */
    size_t count, room;
    size_t sums; /* number of cells before the sums; SIZE_MAX = there are no sums */
    bool whole;  /* long names, too */
    bool no_memory;
};

struct cli_table *cli_table_new(const struct cli_column *columns, size_t n)
{
    struct cli_table *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->columns = columns;
        t->n = n;
        t->sums = SIZE_MAX;
    }
    return t;
}

void cli_table_free(struct cli_table *t)
{
    if (t == NULL)
        return;
    for (size_t i = 0; i < t->count; i++)
        free(t->cells[i].text);
    free(t->cells);
    free(t);
}

static void put(struct cli_table *t, struct cell c)
{
    if (t == NULL || t->no_memory) {
        free(c.text);
        return;
    }
    if (t->count == t->room) {
        size_t room = t->room > 0 ? 2 * t->room : 64;
        struct cell *cells =
            room < SIZE_MAX / sizeof *cells ? realloc(t->cells, room * sizeof *cells) : NULL;
        if (cells == NULL) {
            t->no_memory = true;
            free(c.text);
            return;
        }
        t->cells = cells;
        t->room = room;
    }
    t->cells[t->count++] = c;
}

void cli_table_count(struct cli_table *t, uint64_t n)
{
    put(t, (struct cell){ .number = n });
}

void cli_table_delta(struct cli_table *t, uint64_t before, uint64_t after)
{
    put(t, (struct cell){ .negative = after < before,
                          .number = after < before ? before - after : after - before });
}

void cli_table_share(struct cli_table *t, uint64_t part, uint64_t whole)
{
    put(t, (struct cell){ .share = whole > 0 ? (double)part / (double)whole : 0 });
}

void cli_table_growth(struct cli_table *t, uint64_t before, uint64_t after)
{
    put(t, (struct cell){ .none = before == 0,
                          .share =
                              before > 0 ? ((double)after - (double)before) / (double)before : 0 });
}

void cli_table_address(struct cli_table *t, uint64_t address)
{
    put(t, (struct cell){ .number = address });
}

void cli_table_text(struct cli_table *t, const char *text)
{
    cli_table_branch(t, 0, text);
}

void cli_table_branch(struct cli_table *t, uint32_t depth, const char *text)
{
    char *copy = text != NULL ? strdup(text) : NULL;
    if (t != NULL && copy == NULL)
        t->no_memory = true;
    put(t, (struct cell){ .text = copy, .number = depth });
}

void cli_table_none(struct cli_table *t)
{
    put(t, (struct cell){ .none = true });
}

void cli_table_sums(struct cli_table *t)
{
    if (t != NULL)
        t->sums = t->count;
}

void cli_table_whole(struct cli_table *t)
{
    if (t != NULL)
        t->whole = true;
}

/* The number of rows without the sums. */
static size_t plain_rows(const struct cli_table *t)
{
    return (t->sums < t->count ? t->sums : t->count) / t->n;
}

size_t cli_table_rows(const struct cli_table *t)
{
    return t != NULL && t->n > 0 ? t->count / t->n : 0;
}

/* ---- printing ---- */

#define NUMBER_BYTES 48

static bool is_share(enum cli_cell kind)
{
    return kind == CLI_CELL_SHARE || kind == CLI_CELL_GROWTH;
}

static const char *sign(const struct cell *c, enum cli_cell kind)
{
    bool delta = kind == CLI_CELL_DELTA || kind == CLI_CELL_BYTES_DELTA;
    return !delta || c->number == 0 ? "" : c->negative ? "-" : "+";
}

/* PEOPLE: with separators and units. */
static const char *format(const struct cell *c, enum cli_cell kind, bool people,
                          char buf[NUMBER_BYTES])
{
    char n[CLI_NUMBER_BYTES];
    if (c->none)
        return "";
    switch (kind) {
    case CLI_CELL_COUNT:
    case CLI_CELL_DELTA:
        (void)snprintf(buf, NUMBER_BYTES, "%s%s", sign(c, kind), cli_number(c->number, people, n));
        break;
    case CLI_CELL_BYTES:
    case CLI_CELL_BYTES_DELTA:
        (void)snprintf(buf, NUMBER_BYTES, "%s%s", sign(c, kind),
                       people ? cli_size(c->number, n) : cli_number(c->number, false, n));
        break;
    case CLI_CELL_SHARE:
        (void)snprintf(buf, NUMBER_BYTES, "%.2f%%", 100 * c->share);
        break;
    case CLI_CELL_GROWTH:
        (void)snprintf(buf, NUMBER_BYTES, "%+.2f%%", 100 * c->share);
        break;
    case CLI_CELL_ADDRESS:
        (void)snprintf(buf, NUMBER_BYTES, "0x%" PRIx64, c->number);
        break;
    case CLI_CELL_DIGITS:
    case CLI_CELL_TEXT:
    case CLI_CELL_TREE:
        return c->text != NULL ? c->text : "";
    }
    return buf;
}

/* FORMAT for people, with long names shortened. */
static const char *shown(const struct cli_table *t, const struct cell *c, enum cli_cell kind,
                         bool people, char buf[CLI_SHORT_BYTES])
{
    const char *s = format(c, kind, people, buf);
    return kind >= CLI_CELL_TEXT && !t->whole ? cli_shorten(s, buf) : s;
}

static bool ready(const struct cli_table *t)
{
    if (t != NULL && !t->no_memory)
        return true;
    errno = ENOMEM;
    return false;
}

static size_t indent(const struct cell *c, enum cli_cell kind)
{
    return kind == CLI_CELL_TREE ? 2 * (size_t)c->number : 0;
}

/* Computes the width that each column needs, and its place. */
static void place_columns(const struct cli_table *t, bool people, size_t window,
                          struct cli_wrapped_column *places)
{
    char buf[CLI_SHORT_BYTES];
    size_t rows = cli_table_rows(t);
    for (size_t k = 0; k < t->n; k++) {
        const struct cli_column *column = &t->columns[k];
        struct cli_wrapped_column *p = &places[k];
        p->shown = column->title != NULL;
        p->text = column->kind >= CLI_CELL_ADDRESS;
        p->width = p->shown ? strlen(column->title) : 0;
        for (size_t i = 0; i < rows && p->shown; i++) {
            const struct cell *c = &t->cells[i * t->n + k];
            size_t w = indent(c, column->kind) +
                       cli_print_cut(NULL, shown(t, c, column->kind, people, buf), SIZE_MAX);
            p->width = w > p->width ? w : p->width;
        }
    }
    cli_wrap_columns(places, t->n, window);
}

/* The part of a cell or title that is not printed yet. */
struct rest {
    char buf[CLI_SHORT_BYTES];
    const char *text;
    size_t indent;
    bool begun;
};

/* Numbers right-aligned, texts left-aligned.  *X is the current end of the line. */
static void print_part(struct rest *r, const struct cli_wrapped_column *p, size_t *x, FILE *to)
{
    size_t indented = r->indent + (r->begun ? CLI_GAP : 0);
    if (indented + cli_print_cut(NULL, r->text, SIZE_MAX) > p->width && indented > p->width / 2)
        indented = p->width / 2; /* a deep tree on a narrow terminal */
    size_t bytes = p->text ? cli_break(r->text, p->width - indented) : strlen(r->text);
    size_t w = cli_print_bytes(NULL, r->text, bytes);
    size_t start = p->at + (p->text ? indented : p->width > w ? p->width - w : 0);
    fprintf(to, "%*s", (int)(start > *x ? start - *x : 0), "");
    (void)cli_print_bytes(to, r->text, bytes);
    *x = start + w;
    r->text += bytes + strspn(r->text + bytes, " ");
    r->begun = true;
}

/* Prints a row, which takes several lines if its columns wrap or a text is longer than its column.
 */
static void print_row(const struct cli_table *t, struct rest *rests,
                      const struct cli_wrapped_column *places, FILE *to)
{
    size_t lines = 0;
    for (size_t k = 0; k < t->n; k++)
        lines = places[k].shown && places[k].line + 1 > lines ? places[k].line + 1 : lines;
    for (size_t line = 0; line < lines; line++) {
        bool more = true, first = true;
        while (more) {
            size_t x = 0, printed = 0;
            more = false;
            for (size_t k = 0; k < t->n; k++) {
                if (!places[k].shown || places[k].line != line)
                    continue;
                if (rests[k].text[0] != '\0') {
                    print_part(&rests[k], &places[k], &x, to);
                    printed++;
                }
                more = more || rests[k].text[0] != '\0';
            }
            if (printed > 0 || (first && line == 0))
                putc('\n', to);
            first = false;
        }
    }
}

bool cli_table_print(const struct cli_table *t, FILE *to)
{
    bool people = cli_is_terminal(to);
    if (!ready(t))
        return false;
    struct cli_wrapped_column *places = calloc(t->n + 1, sizeof *places);
    struct rest *rests = calloc(t->n + 1, sizeof *rests);
    bool ok = places != NULL && rests != NULL;
    if (ok)
        place_columns(t, people, people ? cli_window_columns(to) : SIZE_MAX, places);
    for (size_t i = 0; ok && i <= cli_table_rows(t); i++) { /* the first row is the titles */
        for (size_t k = 0; k < t->n; k++) {
            const struct cell *c = i > 0 ? &t->cells[(i - 1) * t->n + k] : NULL;
            enum cli_cell kind = t->columns[k].kind;
            const char *title = t->columns[k].title;
            rests[k].begun = false;
            rests[k].indent = c != NULL ? indent(c, kind) : 0;
            rests[k].text = c != NULL       ? shown(t, c, kind, people, rests[k].buf)
                            : title != NULL ? title
                                            : "";
        }
        if (i == 0)
            cli_bold(to, true);
        print_row(t, rests, places, to);
        if (i == 0)
            cli_bold(to, false);
    }
    free(places);
    free(rests);
    return ok && !ferror(to);
}

void cli_csv_text(const char *s, FILE *to)
{
    const char *first = s + strspn(s, " ");
    putc('"', to);
    if (*s == '\'' || (*first != '\0' && strchr("=+-@\t\r\n", *first) != NULL))
        putc('\'', to);
    while (*s != '\0') {
        if (*s == '"')
            putc('"', to);
        s += cli_print_char(to, s);
    }
    putc('"', to);
}

static void print_csv_cell(const struct cell *c, enum cli_cell kind, FILE *to)
{
    char buf[NUMBER_BYTES];
    if (!c->none && kind >= CLI_CELL_TEXT)
        cli_csv_text(c->text, to);
    else if (!c->none && is_share(kind))
        fprintf(to, "%.6g", c->share);
    else
        fputs(format(c, kind, false, buf), to);
}

bool cli_table_csv(const struct cli_table *t, FILE *to)
{
    if (!ready(t))
        return false;
    const char *comma = "";
    for (size_t k = 0; k < t->n; k++)
        if (t->columns[k].key != NULL) {
            fprintf(to, "%s%s", comma, t->columns[k].key);
            comma = ",";
        }
    putc('\n', to);
    for (size_t i = 0; i < plain_rows(t); i++) {
        comma = "";
        for (size_t k = 0; k < t->n; k++)
            if (t->columns[k].key != NULL) {
                fputs(comma, to);
                print_csv_cell(&t->cells[i * t->n + k], t->columns[k].kind, to);
                comma = ",";
            }
        putc('\n', to);
    }
    return !ferror(to);
}

static json_t *json_number(const struct cell *c)
{
    json_t *n = cli_json_number(c->number);
    if (c->negative)
        json_integer_set(n, -json_integer_value(n));
    return n;
}

static json_t *json_cell(const struct cell *c, enum cli_cell kind)
{
    char buf[NUMBER_BYTES];
    if (c->none)
        return json_null();
    if (is_share(kind))
        return json_real(c->share);
    if (kind >= CLI_CELL_ADDRESS)
        return cli_json_text(format(c, kind, false, buf));
    return json_number(c);
}

json_t *cli_table_json(const struct cli_table *t)
{
    json_t *rows = ready(t) ? json_array() : NULL;
    for (size_t i = 0; rows != NULL && i < plain_rows(t); i++) {
        json_t *row = json_object();
        for (size_t k = 0; k < t->n; k++)
            if (t->columns[k].key != NULL)
                json_object_set_new(row, t->columns[k].key,
                                    json_cell(&t->cells[i * t->n + k], t->columns[k].kind));
        json_array_append_new(rows, row);
    }
    return rows;
}
