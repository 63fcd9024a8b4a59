#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/text/spreadsheet.h>

#include "render/render.h"
#include "render/render_cells.h"
#include "term/term.h"

void render_csv_text(const char *s, FILE *to)
{
    fputs(gcd_is_formula(s) ? "\"'" : "\"", to);
    while (*s != '\0') {
        if (*s == '"')
            putc('"', to);
        s += cli_print_char(to, s); /* one line for each row, whatever names contain */
    }
    putc('"', to);
}

static bool is_in_csv(const struct answer *a, size_t column)
{
    const struct answer_column *c = &a->shape.columns[column];
    return !answer_is_hidden(a, column) && c->kind != ANSWER_ROWS &&
           c->audience != ANSWER_FOR_PEOPLE;
}

static void print_cell(const struct answer_cell *c, enum answer_kind kind, FILE *to)
{
    char buf[CELL_BYTES];
    if (c->known && (answer_is_text(kind) || kind == ANSWER_TIME))
        render_csv_text(render_cell(c, kind, false, buf), to);
    else if (c->known && render_is_share(kind))
        fprintf(to, "%.6g", c->share);
    else
        fputs(render_cell(c, kind, false, buf), to);
}

/* Prints row I, or the keys for SIZE_MAX. */
static void print_row(const struct answer *a, size_t row, FILE *to)
{
    const char *comma = "";
    for (size_t k = 0; k < a->shape.count; k++) {
        if (!is_in_csv(a, k))
            continue;
        fputs(comma, to);
        if (row == SIZE_MAX)
            fputs(a->shape.columns[k].key, to);
        else
            print_cell(answer_cell(a, row, k), a->shape.columns[k].kind, to);
        comma = ",";
    }
    putc('\n', to);
}

bool render_csv(const struct answer *a, FILE *to)
{
    if (!render_ready(a))
        return false;
    print_row(a, SIZE_MAX, to);
    for (size_t i = 0; i < answer_plain_rows(a); i++)
        print_row(a, i, to);
    return !ferror(to);
}
