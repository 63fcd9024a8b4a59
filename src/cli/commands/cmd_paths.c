#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/merged_tree.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/object_paths.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "output/folded_paths.h"
#include "output/json_out.h"
#include "output/output.h"
#include "output/root_labels.h"
#include "term/message.h"
#include "term/progress.h"

struct tree {
    const struct cli_args *args;
    const struct cli_dump *d;
    const struct gcd_names *names;
    const struct gcd_merged_tree *tree;
    const struct gcd_merged_step *steps;
    uint32_t count;
    bool *shown;                 /* [count] */
    const struct cli_folding *folding;
    struct gcd_fold_step *folds; /* [count] of the shown ones */
    uint32_t *depths;            /* [count] of their lines */
    struct gcd_merged_tree_totals totals;
    struct cli_table *table;
};

/* ---- lines ---- */

static const struct cli_column columns[] = {
    { "depth", NULL, CLI_CELL_COUNT }, { "kind", NULL, CLI_CELL_TEXT }, { "count", "Count", CLI_CELL_COUNT },
    { "bytes", "Bytes", CLI_CELL_BYTES }, { "share", "Share", CLI_CELL_SHARE }, { "objects", "Through", CLI_CELL_COUNT },
    { NULL, "Path", CLI_CELL_TREE }, { "type", NULL, CLI_CELL_TEXT }, { "root", NULL, CLI_CELL_TEXT }, { "field", NULL, CLI_CELL_TEXT },
    { "own_count", NULL, CLI_CELL_COUNT }, { "own_bytes", NULL, CLI_CELL_BYTES }, { "flags", NULL, CLI_CELL_TEXT },
    { "class", NULL, CLI_CELL_TEXT }, { "label", NULL, CLI_CELL_TEXT }, { "origin", NULL, CLI_CELL_TEXT }, { "fold", NULL, CLI_CELL_TEXT },
};

struct line {
    uint32_t depth;
    const char *kind;            /* "root", "type", "rest", "dead" */
    uint64_t count, bytes, objects, own_count, own_bytes;
    char *text;                  /* for people; freed with the line */
    const char *type, *root, *flags;     /* for programs; NULL = none */
    const struct gcd_root *of_root;      /* NULL = none */
    const struct gcd_fold_step *fold;    /* NULL = no type */
};

static void put_text(struct cli_table *t, const char *text)
{
    if (text != NULL && text[0] != '\0')
        cli_table_text(t, text);
    else
        cli_table_none(t);
}

static void put(const struct tree *t, struct line l)
{
    cli_table_count(t->table, l.depth);
    cli_table_text(t->table, l.kind);
    cli_table_count(t->table, l.count);
    cli_table_count(t->table, l.bytes);
    cli_table_share(t->table, l.bytes, t->totals.bytes + t->totals.dead_bytes);
    if (l.objects > 0)
        cli_table_count(t->table, l.objects);
    else
        cli_table_none(t->table);
    cli_table_branch(t->table, l.depth, l.text);
    put_text(t->table, l.type);
    put_text(t->table, l.root);
    cli_field_cell(t->table, l.of_root);
    cli_table_count(t->table, l.own_count);
    cli_table_count(t->table, l.own_bytes);
    put_text(t->table, l.flags);
    cli_static_cells(t->table, t->d->graph, t->names, l.of_root);
    cli_fold_cells(t->table, t->folding->origins, l.fold != NULL ? l.fold->type : GCD_TYPE_NONE, l.fold != NULL ? l.fold->fold : GCD_FOLD_SHOWN);
    free(l.text);
}

static void put_root(const struct tree *t, struct gcd_step_name name, struct line l)
{
    const struct gcd_root *root = name.root != SIZE_MAX ? &gcd_graph_summary(t->d->graph)->roots[name.root] : NULL;
    const struct gcd_root_label *group = name.kind == GCD_STEP_GROUP ? gcd_root_group_label(name.group) : NULL;
    l.kind = "root";
    l.root = group != NULL ? group->key : cli_root_key(root);
    if (group != NULL)
        l.text = strdup(name.group == GCD_GROUP_STATICS ? group->many : group->one);
    else
        l.text = cli_root_label(t->d->graph, t->names, root);
    l.of_root = root;
    put(t, l);
}

static void put_type(const struct tree *t, const struct gcd_merged_step *s, struct line l)
{
    static const struct {
        const char *people, *programs;
    } flags[] = {
        { "", "" }, { " (by a dependent handle)", "dependent" }, { " (repeated)", "repeats" },
        { " (by a dependent handle, repeated)", "dependent repeats" }, { " (and what is below)", "cut" },
        { " (by a dependent handle, and what is below)", "dependent cut" }, { " (repeated, and what is below)", "repeats cut" },
        { " (by a dependent handle, repeated, and what is below)", "dependent repeats cut" },
    };
    unsigned which = (unsigned)s->dependent + 2 * (unsigned)s->repeats + 4 * (unsigned)s->cut;
    l.kind = "type";
    l.type = gcd_names_get(t->names, s->label);
    l.flags = flags[which].programs;
    if (asprintf(&l.text, "%s%s", l.type, flags[which].people) < 0)
        l.text = NULL;
    put(t, l);
}

static void put_step(const struct tree *t, const struct gcd_merged_step *s)
{
    size_t i = (size_t)(s - t->steps);
    struct line l = { .depth = t->depths[i], .count = s->count, .bytes = s->bytes, .objects = s->objects, .own_count = s->own_count,
                      .own_bytes = s->own_bytes };
    struct gcd_step_name name = gcd_merged_tree_name(t->tree, s->label);
    if (name.kind != GCD_STEP_TYPE) {
        put_root(t, name, l);
        return;
    }
    l.fold = &t->folds[i];
    put_type(t, s, l);
}

static bool is_hidden(const struct tree *t, uint32_t step)
{
    return t->folds[step].fold == GCD_FOLD_HIDDEN;
}

/* One line for hidden steps, each the only one below the one before, from FIRST on. */
static void put_hidden(const struct tree *t, uint32_t first)
{
    const struct gcd_merged_step *s = &t->steps[first];
    struct line l = { .depth = t->depths[first], .kind = "folded", .count = s->count, .bytes = s->bytes };
    char buf[CLI_HIDDEN_BYTES];
    uint64_t n = 0, library = 0;
    for (uint32_t i = first; i < s->end && is_hidden(t, i); i++, n++)
        library += gcd_origins_get(t->folding->origins, t->folds[i].type) == GCD_ORIGIN_LIBRARY;
    l.text = strdup(cli_hidden_text(n, library, buf));
    put(t, l);
}

/* One line for the hidden steps from FIRST up to END of the same parent, so that lines always add up. */
static void put_rest(const struct tree *t, uint32_t first, uint32_t end, uint32_t depth)
{
    struct line l = { .depth = depth, .kind = "rest" };
    uint64_t left_out = 0;
    for (uint32_t i = first; i < end; i = t->steps[i].end)
        if (!t->shown[i]) {
            left_out++;
            l.count += t->steps[i].count;
            l.bytes += t->steps[i].bytes;
        }
    if (left_out == 0)
        return;
    if (asprintf(&l.text, "(%" PRIu64 " more)", left_out) < 0)
        l.text = NULL;
    put(t, l);
}

static void put_dead(const struct tree *t)
{
    struct line l = { .kind = "dead", .count = t->totals.dead_count, .bytes = t->totals.dead_bytes, .text = strdup("(not reachable from roots)") };
    if (l.count > 0)
        put(t, l);
    else
        free(l.text);
}

/* ---- which steps ---- */

struct end {
    uint64_t bytes, count;
    uint32_t step;
};

static int compare_ends(const struct end *a, const struct end *b)
{
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return (a->step > b->step) - (a->step < b->step);
}

/* Keeps the N steps at ENDS with the most bytes in a min-heap. */
static void sift_down(struct end *ends, size_t n)
{
    struct end moving = ends[0];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare_ends(&ends[child + 1], &ends[child]) > 0)
            child++;
        if (compare_ends(&ends[child], &moving) <= 0)
            break;
        ends[at] = ends[child];
    }
    ends[at] = moving;
}

static void sift_up(struct end *ends, size_t at)
{
    struct end moving = ends[at];
    for (; at > 0 && compare_ends(&moving, &ends[(at - 1) / 2]) > 0; at = (at - 1) / 2)
        ends[at] = ends[(at - 1) / 2];
    ends[at] = moving;
}

static size_t find_ends(const struct tree *t, struct end *ends, size_t most)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        struct end e = { t->steps[i].own_bytes, t->steps[i].own_count, i };
        if (e.count == 0)
            continue;
        if (n < most) {
            ends[n] = e;
            sift_up(ends, n++);
        } else if (n > 0 && compare_ends(&e, &ends[0]) < 0) {
            ends[0] = e;
            sift_down(ends, n);
        }
    }
    return n;
}

/* A path ends at a step with wanted objects; the paths with the most bytes are shown. */
static bool choose(struct tree *t, uint64_t paths)
{
    size_t most = paths < t->count ? (size_t)paths : t->count;
    struct end *ends = cli_array_new(cli_alloc(), most, sizeof *ends);
    t->shown = cli_array_new(cli_alloc(), t->count, sizeof *t->shown);
    bool ok = ends != NULL && t->shown != NULL;
    size_t n = ok ? find_ends(t, ends, most) : 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t up = ends[i].step; up != GCD_STEP_NONE && !t->shown[up]; up = t->steps[up].parent)
            t->shown[up] = true;
    cli_array_free(cli_alloc(), ends, most, sizeof *ends);
    return ok;
}

/* ---- folding ---- */

/* Is the step that follows I, the only one below it, the next of the same path? */
static bool goes_on(const struct tree *t, uint32_t i)
{
    return t->steps[i].own_count == 0 && i + 1 < t->steps[i].end && t->shown[i + 1] && t->steps[i + 1].end == t->steps[i].end;
}

/* Folds the steps from FIRST up to END, of which each is the only one below the one before.  ROOM[END - FIRST]: for the other direction. */
static bool fold_chain(const struct tree *t, uint32_t first, uint32_t end, struct gcd_fold_step *room)
{
    uint32_t n = end - first;
    if (!t->args->view.to_root)
        return gcd_session_fold_path(t->folding->session, NULL, &t->folds[first], n, NULL) == GCD_OK;
    for (uint32_t i = 0; i < n; i++)
        room[i] = t->folds[end - 1 - i];
    gcd_status st = gcd_session_fold_path(t->folding->session, NULL, room, n, NULL);
    for (uint32_t i = 0; i < n; i++)
        t->folds[end - 1 - i] = room[i];
    return st == GCD_OK;
}

/* Where the line of step I stands. */
static uint32_t depth_of(const struct tree *t, uint32_t i)
{
    uint32_t up = t->steps[i].parent;
    if (up == GCD_STEP_NONE || !cli_folds(t->args))
        return t->steps[i].depth;
    bool same = t->folds[i].fold == GCD_FOLD_INSIDE || (is_hidden(t, i) && is_hidden(t, up));
    return t->depths[up] + (same ? 0 : 1);
}

static bool fold(struct tree *t)
{
    struct gcd_fold_step *room = cli_array_new(cli_alloc(), t->count, sizeof *room);
    t->folds = cli_array_new(cli_alloc(), t->count, sizeof *t->folds);
    t->depths = cli_array_new(cli_alloc(), t->count, sizeof *t->depths);
    bool ok = room != NULL && t->folds != NULL && t->depths != NULL;
    for (uint32_t i = 0; i < t->count && ok; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(t->tree, t->steps[i].label);
        t->folds[i].type = name.kind == GCD_STEP_TYPE ? name.type : GCD_TYPE_NONE;
        t->folds[i].keep = t->steps[i].own_count > 0;
    }
    for (uint32_t i = 0, end; i < t->count && ok; i = end) {
        for (end = i; goes_on(t, end); end++)
            ;
        ok = fold_chain(t, i, ++end, room);
    }
    for (uint32_t i = 0; i < t->count && ok; i++)
        t->depths[i] = depth_of(t, i);
    cli_array_free(cli_alloc(), room, t->count, sizeof *room);
    return ok;
}

static void put_folded(const struct tree *t, uint32_t i)
{
    bool folds = cli_folds(t->args);
    if (!folds || t->folds[i].fold == GCD_FOLD_SHOWN)
        put_step(t, &t->steps[i]);
    else if (is_hidden(t, i) && (t->steps[i].parent == GCD_STEP_NONE || !is_hidden(t, t->steps[i].parent)))
        put_hidden(t, i);
}

/* In the order of the steps; after the last child of a step comes what is hidden below it. */
static void fill(const struct tree *t)
{
    uint32_t open = GCD_STEP_NONE;
    for (uint32_t i = 0; i <= t->count; i++) {
        while (open != GCD_STEP_NONE && i == t->steps[open].end) {
            put_rest(t, open + 1, i, t->depths[open] + 1);
            open = t->steps[open].parent;
        }
        if (i == t->count || !t->shown[i])
            continue;
        put_folded(t, i);
        open = i;
    }
    put_rest(t, 0, t->count, 0);
    put_dead(t);
}

/* ---- the command ---- */

static json_t *json_head(const struct tree *t, uint32_t pseudo_roots)
{
    json_t *o = cli_json_head(t->d->subject);
    json_object_set_new(o, "orientation", json_string(t->args->view.to_root ? "to_root" : "from_root"));
    cli_json_count(o, "objects", t->totals.count + t->totals.dead_count);
    cli_json_count(o, "bytes", t->totals.bytes + t->totals.dead_bytes);
    cli_json_count(o, "stand_ins", pseudo_roots);
    return o;
}

/* Prints the paths to all objects of TYPES. */
static enum cli_exit type_paths(const struct cli_args *args, const struct cli_dump *d, const struct gcd_paths *p, const uint8_t *types,
                                const struct cli_folding *folding)
{
    struct gcd_merged_tree_options o = { .context = cli_context_steps(args, "merging paths"), .paths = p, .types = types,
                                         .to_root = args->view.to_root };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_merged_tree *tree;
    size_t n;
    if (gcd_merged_tree_new(d->graph, &o, &tree, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    cli_progress_end();
    struct tree t = { .args = args, .d = d, .names = d->names, .tree = tree, .folding = folding,
                      .steps = gcd_merged_tree_steps(tree, &n), .totals = gcd_merged_tree_totals(tree),
                      .table = cli_table_new(columns, sizeof columns / sizeof *columns) };
    t.count = (uint32_t)n;
    enum cli_exit e = CLI_DONE;
    if (choose(&t, args->view.max_paths != 0 ? args->view.max_paths : CLI_DEFAULT_PATHS) && fold(&t)) {
        fill(&t);
        struct cli_titled titled = { .key = "paths", .table = t.table };
        e = cli_print_tables(args, d, args->view.json ? json_head(&t, gcd_paths_pseudo_roots(p)) : NULL, &titled, 1);
    } else {
        e = cli_no_memory(d->subject);
    }
    cli_array_free(cli_alloc(), t.shown, t.count, sizeof *t.shown);
    cli_array_free(cli_alloc(), t.folds, t.count, sizeof *t.folds);
    cli_array_free(cli_alloc(), t.depths, t.count, sizeof *t.depths);
    cli_table_free(t.table);
    gcd_merged_tree_free(tree);
    return e;
}

static enum cli_exit find_paths(const struct cli_args *args, const struct cli_dump *d, const uint8_t *types, uint32_t object)
{
    struct gcd_context context = cli_context_steps(args, "finding paths");
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_paths *p;
    if (gcd_session_paths(d->session, &context, &p, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    cli_progress_end();
    struct cli_folding folding;
    enum cli_exit e = cli_folding_of(d, &folding);
    if (e == CLI_DONE)
        e = types != NULL ? type_paths(args, d, p, types, &folding) : cli_object_paths(args, d, p, object, &folding);
    return cli_finish(args, d, e, gcd_paths_pseudo_roots(p));
}

enum cli_exit cmd_paths(const struct cli_args *args)
{
    struct cli_dump d;
    uint8_t *types = NULL;
    uint32_t object = GCD_NODE_NONE;
    enum cli_exit e = cli_open_session(args, CLI_NEED_PATHS, &d);
    if (e == CLI_DONE)
        e = args->view.type != NULL ? cli_match_types(args->view.type, &d, d.names, &types) : cli_find_object(args->view.object, &d, &object);
    if (e == CLI_DONE)
        e = find_paths(args, &d, types, object);
    free(types);
    cli_close(&d);
    return e;
}
