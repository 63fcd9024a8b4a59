#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/object_paths.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
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
    struct cli_type_paths paths;
    const struct cli_folding *folding;
    struct gcd_merged_tree_totals totals;
    struct cli_table *table;
};

/* ---- lines ---- */

static const struct cli_column columns[] = {
    { "depth", NULL, CLI_CELL_COUNT },     { "kind", NULL, CLI_CELL_TEXT },
    { "count", "Count", CLI_CELL_COUNT },  { "bytes", "Bytes", CLI_CELL_BYTES },
    { "share", "Share", CLI_CELL_SHARE },  { "objects", "Through", CLI_CELL_COUNT },
    { NULL, "Path", CLI_CELL_TREE },       { "type", NULL, CLI_CELL_TEXT },
    { "root", NULL, CLI_CELL_TEXT },       { "field", NULL, CLI_CELL_TEXT },
    { "own_count", NULL, CLI_CELL_COUNT }, { "own_bytes", NULL, CLI_CELL_BYTES },
    { "flags", NULL, CLI_CELL_TEXT },      { "class", NULL, CLI_CELL_TEXT },
    { "label", NULL, CLI_CELL_TEXT },      { "origin", NULL, CLI_CELL_TEXT },
    { "fold", NULL, CLI_CELL_TEXT },
};

struct line {
    uint32_t depth;
    const char *kind; /* "root", "type", "rest", "dead" */
    uint64_t count, bytes, objects, own_count, own_bytes;
    char *text;                       /* for people; freed with the line */
    const char *type, *root, *flags;  /* for programs; NULL = none */
    const struct gcd_root *of_root;   /* NULL = none */
    const struct gcd_fold_step *fold; /* NULL = no type */
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
    cli_fold_cells(t->table, t->folding->origins, l.fold != NULL ? l.fold->type : GCD_TYPE_NONE,
                   l.fold != NULL ? l.fold->fold : GCD_FOLD_SHOWN);
    free(l.text);
}

static void put_root(const struct tree *t, struct gcd_step_name name, struct line l)
{
    const struct gcd_root *root =
        name.root != SIZE_MAX ? &gcd_graph_summary(t->d->graph)->roots[name.root] : NULL;
    const struct gcd_root_label *group =
        name.kind == GCD_STEP_GROUP ? gcd_root_group_label(name.group) : NULL;
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
        { "", "" },
        { " (by a dependent handle)", "dependent" },
        { " (repeated)", "repeats" },
        { " (by a dependent handle, repeated)", "dependent repeats" },
        { " (and what is below)", "cut" },
        { " (by a dependent handle, and what is below)", "dependent cut" },
        { " (repeated, and what is below)", "repeats cut" },
        { " (by a dependent handle, repeated, and what is below)", "dependent repeats cut" },
    };
    unsigned which = (unsigned)s->dependent + 2 * (unsigned)s->repeats + 4 * (unsigned)s->cut;
    l.kind = "type";
    l.type = gcd_names_get(t->names, s->label);
    l.flags = flags[which].programs;
    char call[GCD_ASYNC_STEP_BYTES];
    if (asprintf(&l.text, "%s%s", gcd_async_step_name(l.type, call), flags[which].people) < 0)
        l.text = NULL;
    put(t, l);
}

static void put_step(const struct tree *t, const struct gcd_merged_step *s)
{
    size_t i = (size_t)(s - t->paths.steps);
    struct line l = { .depth = t->paths.depths[i],
                      .count = s->count,
                      .bytes = s->bytes,
                      .objects = s->objects,
                      .own_count = s->own_count,
                      .own_bytes = s->own_bytes };
    struct gcd_step_name name = gcd_merged_tree_name(t->paths.tree, s->label);
    if (name.kind != GCD_STEP_TYPE) {
        put_root(t, name, l);
        return;
    }
    l.fold = &t->paths.folded[i];
    put_type(t, s, l);
}

/* Adds one line for hidden steps, or for steps that are not shown. */
static void put_others(const struct tree *t, const struct cli_path_line *of)
{
    struct line l = { .depth = of->depth,
                      .kind = of->kind == CLI_PATH_HIDDEN ? "folded" : "rest",
                      .count = of->count,
                      .bytes = of->bytes };
    char buf[CLI_HIDDEN_BYTES];
    if (of->kind == CLI_PATH_HIDDEN)
        l.text = strdup(cli_hidden_text(of->hidden, of->library, buf));
    else if (asprintf(&l.text, "(%s more)", GCD_DIGITS(of->hidden)) < 0)
        l.text = NULL;
    put(t, l);
}

static bool put_line(void *ctx, const struct cli_path_line *l)
{
    const struct tree *t = ctx;
    if (l->kind == CLI_PATH_STEP)
        put_step(t, &t->paths.steps[l->step]);
    else
        put_others(t, l);
    return true;
}

static void put_dead(const struct tree *t)
{
    struct line l = { .kind = "dead",
                      .count = t->totals.dead_count,
                      .bytes = t->totals.dead_bytes,
                      .text = strdup("(not reachable from roots)") };
    if (l.count > 0)
        put(t, l);
    else
        free(l.text);
}

/* ---- the command ---- */

static json_t *json_head(const struct tree *t, uint32_t pseudo_roots)
{
    json_t *o = cli_json_head(t->d->subject);
    json_object_set_new(o, "orientation",
                        json_string(t->args->view.to_root ? "to_root" : "from_root"));
    cli_json_count(o, "objects", t->totals.count + t->totals.dead_count);
    cli_json_count(o, "bytes", t->totals.bytes + t->totals.dead_bytes);
    cli_json_count(o, "guessed_roots", pseudo_roots);
    return o;
}

/* Prints the paths to all objects of TYPES. */
static enum cli_exit type_paths(const struct cli_args *args, const struct cli_dump *d,
                                const struct gcd_paths *p, const uint8_t *types,
                                const struct cli_folding *folding)
{
    struct gcd_merged_tree_options o = { .context = cli_context_steps(args, "merging paths"),
                                         .paths = p,
                                         .types = types,
                                         .to_root = args->view.to_root };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_merged_tree *tree;
    if (gcd_merged_tree_new(d->graph, &o, &tree, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    cli_progress_end();
    struct tree t = { .args = args,
                      .d = d,
                      .names = d->names,
                      .folding = folding,
                      .totals = gcd_merged_tree_totals(tree),
                      .table = cli_table_new(columns, sizeof columns / sizeof *columns) };
    t.paths = (struct cli_type_paths){ .session = d->session,
                                       .tree = tree,
                                       .to_root = args->view.to_root,
                                       .folds = cli_folds(args),
                                       .max = args->view.max_paths != 0 ? args->view.max_paths
                                                                        : CLI_DEFAULT_PATHS };
    enum cli_exit e = CLI_DONE;
    if (cli_type_paths_choose(&t.paths, NULL)) {
        (void)cli_type_paths_lines(&t.paths, folding->origins, put_line, &t);
        put_dead(&t);
        struct cli_titled_table titled = { .key = "paths", .table = t.table };
        e = cli_print_tables(
            args, d, args->view.json ? json_head(&t, gcd_paths_pseudo_roots(p)) : NULL, &titled, 1);
    } else {
        e = cli_no_memory(d->subject);
    }
    cli_type_paths_done(&t.paths);
    cli_table_free(t.table);
    gcd_merged_tree_free(tree);
    return e;
}

static enum cli_exit find_paths(const struct cli_args *args, const struct cli_dump *d,
                                const uint8_t *types, uint32_t object)
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
        e = types != NULL ? type_paths(args, d, p, types, &folding)
                          : cli_object_paths(args, d, p, object, &folding);
    return cli_finish(args, d, e, gcd_paths_pseudo_roots(p));
}

enum cli_exit cmd_paths(const struct cli_args *args)
{
    struct cli_dump d;
    uint8_t *types = NULL;
    uint32_t object = GCD_NODE_NONE;
    enum cli_exit e = cli_open_session(args, CLI_NEED_PATHS, &d);
    if (e == CLI_DONE)
        e = args->view.type != NULL ? cli_match_types(args->view.type, &d, d.names, &types)
                                    : cli_find_object(args->view.object, &d, &object);
    if (e == CLI_DONE)
        e = find_paths(args, &d, types, object);
    free(types);
    cli_close(&d);
    return e;
}
