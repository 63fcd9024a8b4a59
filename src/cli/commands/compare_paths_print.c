/* diff --paths: which changed steps are printed, and how they fold. */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/tree_diff.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/compare_paths.h"
#include "exit.h"
#include "output/folded_paths.h"
#include "term/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Default number of lines for people, besides sums. */
#define LINES_MAX 200u

/* The sums of LEFT_OUT rows that are not printed. */
struct rest {
    uint64_t left_out;
    struct gcd_diff_sum sums[2];
};

/* The rows to print, parents before children. */
struct shown {
    const struct cli_args *args;
    const struct gcd_tree_diff_row *rows;
    size_t row_count;
    uint32_t *row;               /* [count] index in ROWS */
    struct gcd_fold_node *nodes; /* [count] the same rows as a tree */
    /* [count + 1] children that are not shown; the last one: rows at the top */
    struct rest *rests;
    uint32_t *depths; /* [count] indentation of the line */
    uint32_t count;
    bool folds;
};

static uint64_t change(const struct gcd_diff_sum *sums)
{
    return sums[0].bytes > sums[1].bytes ? sums[0].bytes - sums[1].bytes
                                         : sums[1].bytes - sums[0].bytes;
}

/* The smallest power of 2 such that at most LINES_MAX rows changed by at least that; 0 when all
 * rows fit. */
static uint64_t largest_changes(const struct gcd_tree_diff_row *rows, size_t n)
{
    size_t with_bits[65] = { 0 }, lines = 0;
    unsigned bits = 64;
    for (size_t i = 0; i < n; i++) {
        uint64_t c = change(rows[i].sums);
        with_bits[c > 0 ? 64 - __builtin_clzll(c) : 0]++;
    }
    while (bits > 0 && lines + with_bits[bits] <= LINES_MAX)
        lines += with_bits[bits--];
    return bits == 0 ? 0 : bits == 64 ? UINT64_MAX : UINT64_C(1) << bits;
}

/* The least change worth showing to people when there are many. */
static uint64_t large_change(const struct shown *s)
{
    uint64_t most = 0, least = largest_changes(s->rows, s->row_count);
    for (size_t i = 0; i < s->row_count; i = s->rows[i].end)
        most = change(s->rows[i].sums) > most ? change(s->rows[i].sums) : most;
    return most / 100 > least ? most / 100 : least;
}

/* The least change to print.  People do not need small changes among many large ones; programs get
 * everything that they do not exclude. */
static uint64_t least_change(const struct shown *s)
{
    bool given = s->args->view.min_bytes != 0 || s->args->view.json || s->args->view.csv;
    return given ? s->args->view.min_bytes : large_change(s);
}

static bool has_changed(const struct gcd_diff_sum *sums)
{
    return memcmp(&sums[0], &sums[1], sizeof *sums) != 0;
}

static void add(struct rest *to, const struct rest *r)
{
    to->left_out += r->left_out;
    for (int i = 0; i < 2; i++) {
        to->sums[i].objects += r->sums[i].objects;
        to->sums[i].bytes += r->sums[i].bytes;
    }
}

/* ---- which rows ---- */

/* Rows with the same parent: their end, the parent's index among the shown rows, and the number
 * shown. */
struct level {
    uint32_t end, parent;
    uint64_t lines;
};

static uint32_t show(struct shown *s, uint32_t row, uint32_t parent)
{
    s->row[s->count] = row;
    s->nodes[s->count] = (struct gcd_fold_node){ .parent = parent, .facts = s->rows[row].facts };
    return s->count++;
}

/* Selects the rows to print.  LEVELS: one more than the depth of the deepest row. */
static void choose(struct shown *s, struct level *levels)
{
    uint64_t least = least_change(s);
    uint32_t depth = 0, i = 0;
    levels[0] = (struct level){ .end = (uint32_t)s->row_count, .parent = GCD_STEP_NONE };
    for (;;) {
        struct level *l = &levels[depth];
        if (i == l->end) {
            if (depth-- == 0)
                break;
        } else if (!has_changed(s->rows[i].sums)) {
            i = s->rows[i].end;
        } else if (change(s->rows[i].sums) < least ||
                   (s->args->view.top != 0 && l->lines == s->args->view.top)) {
            struct rest one = { 1, { s->rows[i].sums[0], s->rows[i].sums[1] } };
            add(&s->rests[l->parent != GCD_STEP_NONE ? l->parent : s->row_count], &one);
            i = s->rows[i].end;
        } else {
            l->lines++;
            levels[++depth] =
                (struct level){ .end = s->rows[i].end, .parent = show(s, i, l->parent) };
            i++;
        }
    }
}

/* ---- folding ---- */

/* A path continues through a row when only one child changed, by about as much as the row itself.
 */
static void fold(struct shown *s, int64_t *own)
{
    uint64_t large = large_change(s);
    for (uint32_t i = s->count; i-- > 0;) {
        const struct gcd_diff_sum *sums = s->rows[s->row[i]].sums;
        int64_t changed = (int64_t)(sums[1].bytes - sums[0].bytes);
        uint32_t parent = s->nodes[i].parent;
        own[i] = (int64_t)((uint64_t)own[i] + (uint64_t)changed);
        if (parent != GCD_STEP_NONE)
            own[parent] = (int64_t)((uint64_t)own[parent] - (uint64_t)changed);
        uint64_t size = own[i] < 0 ? 0 - (uint64_t)own[i] : (uint64_t)own[i];
        s->nodes[i].ends = s->rests[i].left_out > 0 || (size > 0 && size >= large);
    }
    gcd_fold_tree(s->nodes, s->count);
    for (uint32_t i = 0; i < s->count && s->folds; i++)
        if (s->nodes[i].unit != i)
            add(&s->rests[s->nodes[i].unit], &s->rests[i]);
}

static bool is_hidden(const struct shown *s, uint32_t i)
{
    return s->folds && s->nodes[i].fold == GCD_FOLD_HIDDEN;
}

/* The row under which the line of I is indented; GCD_STEP_NONE = at the top. */
static uint32_t above(const struct shown *s, uint32_t i)
{
    uint32_t up = s->nodes[i].parent;
    return up != GCD_STEP_NONE && s->folds ? s->nodes[up].unit : up;
}

static void find_depths(struct shown *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t up = above(s, i);
        if (s->folds && s->nodes[i].unit != i)
            s->depths[i] = s->depths[s->nodes[i].unit];
        else if (up != GCD_STEP_NONE)
            s->depths[i] = s->depths[up] + (is_hidden(s, i) && is_hidden(s, up) ? 0 : 1);
    }
}

/* ---- lines ---- */

static void put_row(struct answer *t, const struct gcd_diff_sum *sums, uint32_t depth,
                    const char *name)
{
    answer_row(t);
    answer_change(t, sums, false);
    answer_count(t, "depth", depth);
    answer_text(t, "name", name);
    answer_depth(t, "name", depth);
}

/* Adds one line for rows that are left out, for people, so that the rows below a row add up to it.
 */
static void put_rest(const struct shown *s, const struct rest *r, uint32_t depth, struct answer *t)
{
    char text[64];
    if (r->left_out == 0 || s->args->view.json || s->args->view.csv)
        return;
    (void)snprintf(text, sizeof text, "(%s more)", GCD_DIGITS(r->left_out));
    put_row(t, r->sums, depth, text);
}

/* Adds one line for the chain of hidden rows that begins at FIRST. */
static void put_hidden(const struct shown *s, uint32_t first, struct answer *t)
{
    char text[ANSWER_HIDDEN_BYTES];
    uint64_t n = 0, library = 0;
    for (uint32_t i = first; i < s->count && is_hidden(s, i); i++, n++)
        library += (s->nodes[i].facts & GCD_FOLD_FACT_LIBRARY) != 0;
    put_row(t, s->rows[s->row[first]].sums, s->depths[first], answer_hidden_text(n, library, text));
}

static void put_shown(const struct shown *s, uint32_t i, struct answer *t)
{
    char call[GCD_ASYNC_STEP_BYTES];
    const struct gcd_tree_diff_row *row = &s->rows[s->row[i]];
    if (is_hidden(s, i)) {
        if (i == 0 || !is_hidden(s, i - 1) || s->nodes[i].parent != i - 1)
            put_hidden(s, i, t);
    } else if (!s->folds || s->nodes[i].fold == GCD_FOLD_SHOWN) {
        put_row(t, row->sums, s->depths[i], row->name);
        if (!s->args->view.json && !s->args->view.csv)
            answer_format(t, "name", "%s%s%s", row->field != NULL ? row->field : "",
                          row->field != NULL ? ": " : "",
                          gcd_async_step_name(row->name, false, false, call));
        answer_text(t, "field", row->field);
        answer_text(t, "fold", answer_fold_name(s->nodes[i].fold));
    }
}

static void put_all(const struct shown *s, struct answer *t)
{
    uint32_t open = GCD_STEP_NONE;
    for (uint32_t i = 0; i <= s->count; i++) {
        while (open != GCD_STEP_NONE && (i == s->count || s->rows[s->row[open]].end <= s->row[i])) {
            put_rest(s, &s->rests[open], s->depths[open] + 1, t);
            open = above(s, open);
        }
        if (i == s->count)
            break;
        put_shown(s, i, t);
        if (!s->folds || s->nodes[i].unit == i)
            open = i;
    }
    put_rest(s, &s->rests[s->row_count], 0, t);
}

static void put_totals(const struct cli_comparison *c, struct answer *t)
{
    struct gcd_diff_sum total[2];
    for (int i = 0; i < 2; i++)
        total[i] = (struct gcd_diff_sum){ .objects = c->sides[i].sum.objects,
                                          .bytes = c->sides[i].sum.bytes };
    if (!c->args->view.json && !c->args->view.csv) {
        put_row(t, total, 0, "total");
    }
}

/* Selects and folds the rows, in temporary arrays.  False: out of memory. */
static bool arrange(struct shown *s)
{
    size_t deepest = 0;
    for (size_t i = 0; i < s->row_count; i++)
        deepest = s->rows[i].depth > deepest ? s->rows[i].depth : deepest;
    struct level *levels = calloc(deepest + 2, sizeof *levels);
    int64_t *own = calloc(s->row_count + 1, sizeof *own);
    bool ok = levels != NULL && own != NULL;
    if (ok) {
        choose(s, levels);
        fold(s, own);
        find_depths(s);
    }
    free(own);
    free(levels);
    return ok;
}

enum cli_exit cli_paths_print(const struct cli_comparison *c)
{
    struct shown s = { .args = c->args, .folds = cli_folds(c->args) };
    s.rows = gcd_tree_diff_rows(c->paths, &s.row_count);
    s.row = calloc(s.row_count + 1, sizeof *s.row);
    s.nodes = calloc(s.row_count + 1, sizeof *s.nodes);
    s.rests = calloc(s.row_count + 1, sizeof *s.rests);
    s.depths = calloc(s.row_count + 1, sizeof *s.depths);
    struct answer *t = answer_new(NULL, &answer_changed_paths_shape);
    enum cli_exit e = CLI_FAILED;
    if (s.row != NULL && s.nodes != NULL && s.rests != NULL && s.depths != NULL && t != NULL &&
        arrange(&s)) {
        put_all(&s, t);
        put_totals(c, t);
        e = cli_compare_print_rows(c, "paths", t);
        t = NULL;
    } else {
        cli_say(NULL, "out of memory");
    }
    answer_free(t);
    free(s.row);
    free(s.nodes);
    free(s.rests);
    free(s.depths);
    return e;
}
