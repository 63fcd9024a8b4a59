/*
 * Why not libsmartcols (tried with 2.38.1): Debian has no static library of it, it breaks names in
 * the middle of a word, passes U+202E through to the terminal, and its widths depend on the locale
 * of the process.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/render.h"
#include "render/render_cells.h"
#include "term/term.h"
#include "term/wrap.h"

static size_t indent(const struct answer_cell *c, enum answer_kind kind)
{
    return kind == ANSWER_TREE ? 2 * (size_t)c->number : 0;
}

/* A cell for people: the middle of very long names is left out. */
static const char *shown(const struct answer *a, const struct answer_cell *c, enum answer_kind kind,
                         bool people, char buf[CLI_SHORT_BYTES])
{
    const char *s = render_cell(c, kind, people, buf);
    return answer_is_text(kind) && !a->whole ? cli_shorten(s, buf) : s;
}

/* Computes the width that each column needs, and its place. */
static void place_columns(const struct answer *t, bool people, size_t window,
                          struct cli_wrapped_column *places)
{
    char buf[CLI_SHORT_BYTES];
    for (size_t k = 0; k < t->shape.count; k++) {
        const struct answer_column *column = &t->shape.columns[k];
        struct cli_wrapped_column *p = &places[k];
        p->shown = column->title != NULL && !answer_is_hidden(t, k);
        p->text = column->kind >= ANSWER_ADDRESS;
        p->width = p->shown ? strlen(column->title) : 0;
        for (size_t i = 0; i < t->rows && p->shown; i++) {
            const struct answer_cell *c = answer_cell(t, i, k);
            size_t w = indent(c, column->kind) +
                       cli_print_cut(NULL, shown(t, c, column->kind, people, buf), SIZE_MAX);
            p->width = w > p->width ? w : p->width;
        }
    }
    cli_wrap_columns(places, t->shape.count, window);
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
static void print_row(const struct answer *t, struct rest *rests,
                      const struct cli_wrapped_column *places, FILE *to)
{
    size_t lines = 0;
    for (size_t k = 0; k < t->shape.count; k++)
        lines = places[k].shown && places[k].line + 1 > lines ? places[k].line + 1 : lines;
    for (size_t line = 0; line < lines; line++) {
        bool more = true, first = true;
        while (more) {
            size_t x = 0, printed = 0;
            more = false;
            for (size_t k = 0; k < t->shape.count; k++) {
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

bool render_text(const struct answer *t, FILE *to)
{
    bool people = cli_is_terminal(to);
    if (!render_ready(t))
        return false;
    struct cli_wrapped_column *places = calloc(t->shape.count + 1, sizeof *places);
    struct rest *rests = calloc(t->shape.count + 1, sizeof *rests);
    bool ok = places != NULL && rests != NULL;
    if (ok)
        place_columns(t, people, people ? cli_window_columns(to) : SIZE_MAX, places);
    for (size_t i = 0; ok && i <= t->rows; i++) { /* the first row is the titles */
        for (size_t k = 0; k < t->shape.count; k++) {
            const struct answer_cell *c = i > 0 ? answer_cell(t, i - 1, k) : NULL;
            enum answer_kind kind = t->shape.columns[k].kind;
            const char *title = t->shape.columns[k].title;
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
