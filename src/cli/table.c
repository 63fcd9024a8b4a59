#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct cell {
    bool none;
    bool negative;               /* of a delta */
    uint64_t number;             /* the magnitude; of a branch its depth */
    double share;
    char *text;
};

struct cli_table {
    const struct cli_column *columns;
    size_t n;                    /* columns */
    struct cell *cells;          /* row by row */
    size_t count, room;
    size_t sums;                 /* cells before those that sum up; SIZE_MAX = all */
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
        struct cell *cells = room < SIZE_MAX / sizeof *cells ? realloc(t->cells, room * sizeof *cells) : NULL;
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
    put(t, (struct cell){ .negative = after < before, .number = after < before ? before - after : after - before });
}

void cli_table_share(struct cli_table *t, uint64_t part, uint64_t whole)
{
    put(t, (struct cell){ .share = whole > 0 ? (double)part / (double)whole : 0 });
}

void cli_table_growth(struct cli_table *t, uint64_t before, uint64_t after)
{
    put(t, (struct cell){ .none = before == 0, .share = before > 0 ? ((double)after - (double)before) / (double)before : 0 });
}

void cli_table_address(struct cli_table *t, uint64_t address)
{
    put(t, (struct cell){ .number = address });
}

void cli_table_text(struct cli_table *t, const char *text)
{
    char *copy = strdup(text);
    if (t != NULL && copy == NULL)
        t->no_memory = true;
    put(t, (struct cell){ .text = copy });
}

void cli_table_branch(struct cli_table *t, uint32_t depth, const char *text)
{
    char *copy = strdup(text);
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

/* Without those that sum up. */
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

/* Any cell but a text. */
static const char *format(const struct cell *c, enum cli_cell kind, bool separators, char buf[NUMBER_BYTES])
{
    char n[CLI_NUMBER_BYTES];
    if (c->none)
        return "";
    switch (kind) {
    case CLI_CELL_COUNT:
        (void)snprintf(buf, NUMBER_BYTES, "%s", cli_number(c->number, separators, n));
        break;
    case CLI_CELL_DELTA:
        (void)snprintf(buf, NUMBER_BYTES, "%s%s", c->negative ? "-" : c->number > 0 ? "+" : "", cli_number(c->number, separators, n));
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
    case CLI_CELL_TEXT:
    case CLI_CELL_TREE:
        return c->text != NULL ? c->text : "";
    }
    return buf;
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

/* The characters that each column needs. */
static void measure(const struct cli_table *t, bool separators, size_t *ret)
{
    char buf[NUMBER_BYTES];
    size_t rows = cli_table_rows(t);
    for (size_t k = 0; k < t->n; k++) {
        if (t->columns[k].title == NULL)
            continue;
        ret[k] = strlen(t->columns[k].title);
        for (size_t i = 0; i < rows; i++) {
            const struct cell *c = &t->cells[i * t->n + k];
            size_t w = indent(c, t->columns[k].kind) + cli_print_cut(NULL, format(c, t->columns[k].kind, separators, buf), SIZE_MAX);
            ret[k] = w > ret[k] ? w : ret[k];
        }
    }
}

/* Numbers to the right, texts to the left; nothing behind the last text. */
static void print_cell(const struct cli_table *t, size_t k, const char *s, size_t indented, const size_t *width, FILE *to)
{
    bool left = t->columns[k].kind >= CLI_CELL_ADDRESS;
    size_t w = indented + cli_print_cut(NULL, s, SIZE_MAX), pad = width[k] > w ? width[k] - w : 0;
    bool last = true;
    for (size_t i = k + 1; i < t->n; i++)
        last = last && t->columns[i].title == NULL;
    if (!left)
        fprintf(to, "%*s", (int)pad, "");
    fprintf(to, "%*s", (int)indented, "");
    cli_print_clean(to, s);
    if (last)
        putc('\n', to);
    else
        fprintf(to, "%*s", (int)(left ? pad + 2 : 2), "");
}

bool cli_table_print(const struct cli_table *t, FILE *to)
{
    char buf[NUMBER_BYTES];
    bool separators = cli_is_terminal(to);
    if (!ready(t))
        return false;
    size_t *width = calloc(t->n + 1, sizeof *width);
    if (width == NULL)
        return false;
    measure(t, separators, width);
    for (size_t k = 0; k < t->n; k++)
        if (t->columns[k].title != NULL)
            print_cell(t, k, t->columns[k].title, 0, width, to);
    for (size_t i = 0; i < cli_table_rows(t); i++)
        for (size_t k = 0; k < t->n; k++)
            if (t->columns[k].title != NULL) {
                const struct cell *c = &t->cells[i * t->n + k];
                print_cell(t, k, format(c, t->columns[k].kind, separators, buf), indent(c, t->columns[k].kind), width, to);
            }
    free(width);
    return !ferror(to);
}

static void print_csv_text(const char *s, FILE *to)
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
        print_csv_text(c->text, to);
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
                json_object_set_new(row, t->columns[k].key, json_cell(&t->cells[i * t->n + k], t->columns[k].kind));
        json_array_append_new(rows, row);
    }
    return rows;
}
