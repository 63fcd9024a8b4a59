#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/tree_diff.h>

#include "args.h"
#include "commands/compare_paths.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "term/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/root_labels.h"

/* Default number of lines for people, besides sums. */
#define LINES_MAX 200u

/* ---- the steps of one dump ---- */

/* Static variables come one by one, so they get a common parent: the top then has one row for each kind of root. */
static const char statics[] = "static variables";
static const char unreachable[] = "(not reachable)";

struct steps {
    struct gcd_tree_diff_step *items;    /* [tree steps + 2] */
    uint32_t count;
    const char **names;          /* [types + tree steps + 2] */
    uint32_t name_count;
    char **texts;                /* [tree steps], TEXT_COUNT of roots, among NAMES */
    size_t text_count;
    uint32_t *place;             /* [tree steps] in ITEMS */
    size_t tree_steps, types;    /* room of these */
    uint32_t statics;            /* the step of that name, GCD_STEP_NONE = none yet */
};

static uint32_t add_step(struct steps *s, uint32_t parent, uint32_t name, uint64_t objects, uint64_t bytes)
{
    s->items[s->count] = (struct gcd_tree_diff_step){ parent, name, objects, bytes };
    return s->count++;
}

static uint32_t add_name(struct steps *s, const char *name)
{
    s->names[s->name_count] = name;
    return s->name_count++;
}

/* R as all dumps know it. */
static char *label_of(const struct cli_dump *d, const struct cli_view *v, const struct gcd_root *r)
{
    if (r == NULL || v->by == CLI_BY_NAME)
        return cli_root_label(d->graph, v->names, r);
    struct gcd_root bare = *r;
    bare.class_name = "";
    bare.label = bare.name;
    return cli_root_label(d->graph, v->names, &bare);
}

/* Adds a root below its kind. */
static bool add_root(struct steps *s, const struct cli_dump *d, const struct cli_view *v, struct gcd_step_name name,
                     const struct gcd_merged_step *t, uint32_t *ret)
{
    uint32_t parent = GCD_STEP_NONE;
    if (name.kind != GCD_STEP_PSEUDO_ROOTS && name.group == GCD_GROUP_STATICS) {
        if (s->statics == GCD_STEP_NONE)
            s->statics = add_step(s, GCD_STEP_NONE, add_name(s, statics), 0, 0);
        s->items[s->statics].objects += t->count;
        s->items[s->statics].bytes += t->bytes;
        parent = s->statics;
    }
    *ret = parent;
    if (parent != GCD_STEP_NONE && name.kind == GCD_STEP_GROUP)  /* there are too many of them */
        return true;
    char *text = name.kind == GCD_STEP_GROUP ? strdup(gcd_root_group_label(name.group)->one)
                                             : label_of(d, v, name.root != SIZE_MAX ? &gcd_graph_summary(d->graph)->roots[name.root] : NULL);
    if (text == NULL)
        return false;
    s->texts[s->text_count++] = text;
    *ret = add_step(s, parent, add_name(s, text), t->count, t->bytes);
    return true;
}

static bool convert(struct steps *s, const struct cli_dump *d, const struct cli_view *v, const struct gcd_merged_tree *tree)
{
    size_t n;
    const struct gcd_merged_step *t = gcd_merged_tree_steps(tree, &n);
    struct gcd_merged_tree_totals totals = gcd_merged_tree_totals(tree);
    uint32_t types = gcd_graph_summary(d->graph)->type_count;
    s->tree_steps = n;
    s->types = types;
    s->items = cli_array_new(cli_alloc(), n + 2, sizeof *s->items);
    s->names = cli_array_new(cli_alloc(), types + n + 2, sizeof *s->names);
    s->texts = cli_array_new(cli_alloc(), n, sizeof *s->texts);
    s->place = cli_array_new(cli_alloc(), n, sizeof *s->place);
    if (s->items == NULL || s->names == NULL || s->texts == NULL || s->place == NULL)
        return false;
    for (uint32_t i = 0; i < types; i++)
        add_name(s, gcd_names_plain(v->names, i));
    for (size_t i = 0; i < n; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(tree, t[i].label);
        if (name.kind == GCD_STEP_TYPE)
            s->place[i] = add_step(s, t[i].parent == GCD_STEP_NONE ? GCD_STEP_NONE : s->place[t[i].parent], name.type, t[i].count, t[i].bytes);
        else if (!add_root(s, d, v, name, &t[i], &s->place[i]))
            return false;
    }
    if (totals.dead_count > 0)
        add_step(s, GCD_STEP_NONE, add_name(s, unreachable), totals.dead_count, totals.dead_bytes);
    return true;
}

static void steps_done(struct steps *s)
{
    for (size_t i = 0; i < s->text_count; i++)
        free(s->texts[i]);
    cli_array_free(cli_alloc(), s->items, s->tree_steps + 2, sizeof *s->items);
    cli_array_free(cli_alloc(), s->names, s->types + s->tree_steps + 2, sizeof *s->names);
    cli_array_free(cli_alloc(), s->texts, s->tree_steps, sizeof *s->texts);
    cli_array_free(cli_alloc(), s->place, s->tree_steps, sizeof *s->place);
}

static enum cli_exit add_view(const struct cli_comparison *c, const struct cli_dump *d, const struct cli_view *v, const struct gcd_merged_tree *tree)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct steps s = { .statics = GCD_STEP_NONE };
    gcd_status st = GCD_OK;
    bool converted = convert(&s, d, v, tree);
    if (converted)
        st = gcd_tree_diff_add(c->matchings[v->by].paths, s.names, s.name_count, s.items, s.count, &err);
    steps_done(&s);
    if (st != GCD_OK)
        return cli_fail(d->subject, &err);
    return converted ? CLI_DONE : cli_no_memory(d->subject);
}

/* The next view nearly always has the same types: then it needs no other tree. */
static enum cli_exit add_views(const struct cli_comparison *c, const struct cli_dump *d, const struct cli_view *views, const struct gcd_paths *paths)
{
    struct gcd_merged_tree *tree = NULL;
    enum cli_exit e = CLI_DONE;
    for (size_t i = 0; i < CLI_MATCHED_BYS && e == CLI_DONE; i++) {
        const struct cli_view *v = &views[i];
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_merged_tree_options options = { .context = cli_context_steps(c->args, "merging paths"), .types = v->set, .paths = paths };
        if (i == 0 || memcmp(v->set, v[-1].set, v->summary->type_count) != 0) {
            gcd_merged_tree_free(tree);
            tree = NULL;
            if (gcd_merged_tree_new(d->graph, &options, &tree, &err) != GCD_OK)
                e = cli_fail(d->subject, &err);
        }
        if (e == CLI_DONE)
            e = add_view(c, d, v, tree);
        if (e == CLI_DONE && i == 0 && gcd_merged_tree_totals(tree).cut_count > 0)
            cli_say(d->subject, "%" PRIu64 " objects are deeper than the merged paths and are counted higher up",
                    gcd_merged_tree_totals(tree).cut_count);
    }
    gcd_merged_tree_free(tree);
    return e;
}

enum cli_exit cli_paths_add(const struct cli_comparison *c, const struct cli_dump *d, const struct cli_view *views)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context_steps(c->args, "finding paths");
    const struct gcd_paths *paths;
    if (gcd_session_paths(d->session, &context, &paths, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    enum cli_exit e = add_views(c, d, views, paths);
    if (e == CLI_DONE)
        cli_say_pseudo_roots(d->subject, gcd_paths_pseudo_roots(paths));
    return e;
}

/* ---- printing ---- */

static const struct cli_column columns[] = {
    { "count_before", NULL, CLI_CELL_COUNT }, { "count_after", "Count", CLI_CELL_COUNT }, { "count_delta", "+/-", CLI_CELL_DELTA },
    { "bytes_before", NULL, CLI_CELL_BYTES }, { "bytes_after", "Bytes", CLI_CELL_BYTES }, { "bytes_delta", "+/-", CLI_CELL_BYTES_DELTA },
    { "growth", "Growth", CLI_CELL_GROWTH }, { "change", "", CLI_CELL_TEXT }, { "depth", NULL, CLI_CELL_COUNT },
    { "name", "Path", CLI_CELL_TREE },
};

static uint64_t change(const struct gcd_diff_sum *sums)
{
    return sums[0].bytes > sums[1].bytes ? sums[0].bytes - sums[1].bytes : sums[1].bytes - sums[0].bytes;
}

static void put_row(struct cli_table *t, const struct gcd_diff_sum *sums, uint32_t depth, const char *name)
{
    cli_compare_put_sums(t, sums);
    cli_compare_put_change(t, sums);
    cli_table_count(t, depth);
    cli_table_branch(t, depth, name);
}

/* The smallest power of 2 by which at most LINES_MAX rows have changed; 0 when there are no more rows. */
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

/* People do not need small changes among many large ones; programs get everything that they do not exclude. */
static uint64_t least_change(const struct cli_args *args, const struct gcd_tree_diff_row *rows, size_t n)
{
    uint64_t most = 0, least = largest_changes(rows, n);
    if (args->view.min_bytes != 0 || args->view.json || args->view.csv)
        return args->view.min_bytes;
    for (size_t i = 0; i < n; i = rows[i].end)
        most = change(rows[i].sums) > most ? change(rows[i].sums) : most;
    return most / 100 > least ? most / 100 : least;
}

static bool has_changed(const struct gcd_diff_sum *sums)
{
    return memcmp(&sums[0], &sums[1], sizeof *sums) != 0;
}

/* Rows with the same parent: their end, the number printed, and the sums of the hidden ones. */
struct level {
    uint32_t end;
    uint64_t lines, left_out;
    struct gcd_diff_sum rest[2];
};

/* One line for hidden rows, for people, so that the rows below a row add up to it. */
static void put_rest(const struct cli_args *args, const struct level *l, uint32_t depth, struct cli_table *t)
{
    char text[64];
    (void)snprintf(text, sizeof text, "(%" PRIu64 " more)", l->left_out);
    if (l->left_out > 0 && !args->view.json && !args->view.csv)
        put_row(t, l->rest, depth, text);
}

static void leave_out(struct level *l, const struct gcd_diff_sum *sums)
{
    l->left_out++;
    for (int i = 0; i < 2; i++) {
        l->rest[i].objects += sums[i].objects;
        l->rest[i].bytes += sums[i].bytes;
    }
}

/* LEVELS: one more than the deepest row. */
static void fill(const struct cli_args *args, const struct gcd_tree_diff_row *rows, size_t n, struct level *levels, struct cli_table *t)
{
    uint64_t least = least_change(args, rows, n);
    uint32_t depth = 0, i = 0;
    levels[0] = (struct level){ .end = (uint32_t)n };
    for (;;) {
        struct level *l = &levels[depth];
        if (i == l->end) {
            put_rest(args, l, depth, t);
            if (depth-- == 0)
                break;
        } else if (!has_changed(rows[i].sums)) {
            i = rows[i].end;
        } else if (change(rows[i].sums) < least || (args->view.top != 0 && l->lines == args->view.top)) {
            leave_out(l, rows[i].sums);
            i = rows[i].end;
        } else {
            l->lines++;
            put_row(t, rows[i].sums, depth, rows[i].name);
            levels[++depth] = (struct level){ .end = rows[i].end };
            i++;
        }
    }
}

static void put_totals(const struct cli_comparison *c, struct cli_table *t)
{
    struct gcd_diff_sum total[2];
    for (int i = 0; i < 2; i++)
        total[i] = (struct gcd_diff_sum){ .objects = c->sides[i].sum.objects, .bytes = c->sides[i].sum.bytes };
    if (!c->args->view.json && !c->args->view.csv)
        put_row(t, total, 0, "total");
}

enum cli_exit cli_paths_print(const struct cli_comparison *c)
{
    size_t n, deepest = 0;
    const struct gcd_tree_diff_row *rows = gcd_tree_diff_rows(c->paths, &n);
    for (size_t i = 0; i < n; i++)
        deepest = rows[i].depth > deepest ? rows[i].depth : deepest;
    struct level *levels = calloc(deepest + 2, sizeof *levels);
    struct cli_table *t = cli_table_new(columns, sizeof columns / sizeof *columns);
    enum cli_exit e = CLI_FAILED;
    if (levels != NULL && t != NULL) {
        fill(c->args, rows, n, levels, t);
        put_totals(c, t);
        e = cli_compare_print(c, "paths", t);
    } else {
        cli_say(NULL, "out of memory");
    }
    cli_table_free(t);
    free(levels);
    return e;
}
