#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/commands.h"
#include "commands/object_paths.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/document.h"
#include "output/filter.h"
#include "output/folded_paths.h"
#include "output/json_out.h"
#include "term/progress.h"

struct tree {
    const struct gcd_names *names;
    struct cli_type_paths paths;
    const struct gcd_origins *origins;
    struct gcd_merged_tree_totals totals;
    struct answer *answer;
};

/* ---- lines ---- */

static const struct answer_column columns[] = {
    FIELD("depth", ANSWER_COUNT),
    DETAIL("kind", ANSWER_TEXT),
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("share", "Share", ANSWER_SHARE),
    { "objects", "Through", ANSWER_COUNT, ANSWER_FOR_PROGRAMS, NULL },
    COLUMN("step", "Path", ANSWER_TREE),
    DETAIL("type", ANSWER_TEXT),
    DETAIL("type_id", ANSWER_COUNT),
    DETAIL("root", ANSWER_TEXT),
    DETAIL("field", ANSWER_TEXT),
    DETAIL("own_count", ANSWER_COUNT),
    DETAIL("own_bytes", ANSWER_BYTES),
    DETAIL("flags", ANSWER_TEXT),
    DETAIL("class", ANSWER_TEXT),
    DETAIL("label", ANSWER_TEXT),
    DETAIL("origin", ANSWER_TEXT),
    DETAIL("fold", ANSWER_TEXT),
};
const struct answer_shape cli_paths_shape = ANSWER_SHAPE(columns);

/* KIND: "root", "type", "folded", "rest", "dead", "frozen". */
static void put(const struct tree *t, const struct cli_path_line *l, const char *kind)
{
    struct answer *a = t->answer;
    answer_row(a);
    answer_count(a, "depth", l->depth);
    answer_text(a, "kind", kind);
    answer_count(a, "count", l->count);
    answer_count(a, "bytes", l->bytes);
    answer_share(a, "share", l->bytes,
                 t->totals.bytes + t->totals.dead_bytes + t->totals.frozen_bytes);
    answer_depth(a, "step", l->depth);
    answer_count(a, "own_count", 0);
    answer_count(a, "own_bytes", 0);
}

static void put_root(const struct tree *t, struct gcd_step_name name)
{
    const struct gcd_root *root =
        name.root != SIZE_MAX
            ? &gcd_graph_summary(gcd_session_graph(t->paths.session))->roots[name.root]
            : NULL;
    const struct gcd_root_label *group =
        name.kind == GCD_STEP_GROUP ? gcd_root_group_label(name.group) : NULL;
    answer_text(t->answer, "root", group != NULL ? group->key : answer_root_key(root));
    if (group != NULL) {
        answer_text(t->answer, "step", name.group == GCD_GROUP_STATICS ? group->many : group->one);
    } else if (name.kind == GCD_STEP_VARIABLE && name.group != GCD_GROUP_STATICS) {
        answer_format(t->answer, "step", "%s \"%s\"", gcd_root_group_label(name.group)->one,
                      root->name);
        answer_text(t->answer, "label", root->name); /* there may be several of this name */
    } else {
        answer_root_label(t->answer, "step", t->paths.session, root);
        answer_static(t->answer, t->paths.session, root);
    }
}

static void put_type(const struct tree *t, const struct gcd_merged_step *s,
                     struct gcd_step_name name, const struct gcd_fold_step *fold)
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
    const char *type = gcd_names_get(t->names, name.type),
               *known = gcd_merged_tree_field(t->paths.tree, s),
               *field = known != NULL ? known : "";
    bool before = field[0] != '\0' && !t->paths.to_root, behind = field[0] != '\0' && !before;
    char call[GCD_ASYNC_STEP_BYTES];
    answer_text(t->answer, "type", type);
    answer_count(t->answer, "type_id", name.type);
    answer_text(t->answer, "field", known);
    answer_known(t->answer, "flags", flags[which].programs);
    answer_format(t->answer, "step", "%s%s%s%s%s%s", before ? field : "", before ? ": " : "",
                  gcd_names_step(t->names, name.type, call), behind ? "." : "", behind ? field : "",
                  flags[which].people);
    answer_fold(t->answer, t->origins, fold->type, fold->fold);
}

static void put_step(const struct tree *t, const struct cli_path_line *l)
{
    const struct gcd_merged_step *s = &t->paths.steps[l->step];
    struct gcd_step_name name = gcd_merged_tree_name(t->paths.tree, s->label);
    put(t, l, name.kind != GCD_STEP_TYPE ? "root" : "type");
    if (s->objects > 0)
        answer_count(t->answer, "objects", s->objects);
    answer_count(t->answer, "own_count", s->own_count);
    answer_count(t->answer, "own_bytes", s->own_bytes);
    if (name.kind != GCD_STEP_TYPE)
        put_root(t, name);
    else
        put_type(t, s, name, &t->paths.folded[l->step]);
}

/* Adds one line for hidden steps, or for steps that are not shown. */
static void put_others(const struct tree *t, const struct cli_path_line *l)
{
    char buf[ANSWER_HIDDEN_BYTES];
    put(t, l, l->kind == CLI_PATH_HIDDEN ? "folded" : "rest");
    if (l->kind != CLI_PATH_HIDDEN) {
        answer_format(t->answer, "step", "(%s more)", GCD_DIGITS(l->hidden));
        return;
    }
    /* from the roots, the first hidden step has the field of the shown one before it */
    const char *field =
        t->paths.to_root ? NULL : gcd_merged_tree_field(t->paths.tree, &t->paths.steps[l->step]);
    answer_format(t->answer, "step", "%s%s%s", field != NULL ? field : "",
                  field != NULL && field[0] != '\0' ? ": " : "",
                  answer_hidden_text(l->hidden, l->library, buf));
}

static void put_line(void *ctx, const struct cli_path_line *l)
{
    const struct tree *t = ctx;
    if (l->kind == CLI_PATH_STEP)
        put_step(t, l);
    else
        put_others(t, l);
}

gcd_status cli_paths_answer(const struct cli_type_paths *paths, const struct gcd_context *call,
                            struct answer **ret, struct gcd_error *err)
{
    struct tree t = { .names = gcd_session_names(paths->session),
                      .paths = *paths,
                      .totals = gcd_merged_tree_totals(paths->tree) };
    *ret = NULL;
    gcd_status st = gcd_session_origins(paths->session, call, &t.origins, err);
    if (st == GCD_OK && cli_type_paths_choose(&t.paths, call) &&
        (t.answer = *ret = answer_new(NULL, &cli_paths_shape)) != NULL) {
        struct cli_path_line dead = { .count = t.totals.dead_count, .bytes = t.totals.dead_bytes },
                             frozen = { .count = t.totals.frozen_count,
                                        .bytes = t.totals.frozen_bytes };
        cli_type_paths_lines(&t.paths, t.origins, put_line, &t);
        if (dead.count > 0) {
            put(&t, &dead, "dead");
            answer_text(t.answer, "step", "(not reachable from roots)");
        }
        if (frozen.count > 0) {
            put(&t, &frozen, "frozen");
            answer_text(t.answer, "step", ANSWER_FROZEN);
        }
        t.answer->total = t.answer->rows;
    } else if (st == GCD_OK) {
        st = GCD_E_NOMEM;
    }
    cli_type_paths_done(&t.paths);
    return st;
}

/* ---- the command ---- */

json_t *cli_paths_head(json_t *o, const struct gcd_merged_tree *tree)
{
    struct gcd_merged_tree_totals t = gcd_merged_tree_totals(tree);
    cli_json_count(o, "objects", t.count + t.dead_count + t.frozen_count);
    cli_json_count(o, "bytes", t.bytes + t.dead_bytes + t.frozen_bytes);
    return o;
}

static json_t *json_head(const struct cli_args *args, const struct cli_dump *d,
                         const struct gcd_merged_tree *tree, uint32_t pseudo_roots)
{
    json_t *o = cli_json_head(d->subject);
    json_object_set_new(o, "orientation",
                        json_string(args->view.to_root ? "to_root" : "from_root"));
    (void)cli_paths_head(o, tree);
    cli_json_count(o, "guessed_roots", pseudo_roots);
    return o;
}

/* Prints the paths to all objects of TYPES. */
static enum cli_exit type_paths(const struct cli_args *args, const struct cli_dump *d,
                                const struct gcd_paths *p, const uint8_t *types)
{
    struct gcd_merged_tree_options o = { .context = cli_context_steps(args, "merging paths"),
                                         .types = types,
                                         .to_root = args->view.to_root };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_merged_tree *tree;
    if (gcd_session_merge_paths(d->session, NULL, &o, &tree, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    cli_progress_end();
    struct cli_type_paths paths = { .session = d->session,
                                    .tree = tree,
                                    .to_root = args->view.to_root,
                                    .folds = cli_folds(args),
                                    .max = args->view.max_paths != 0 ? args->view.max_paths
                                                                     : CLI_DEFAULT_PATHS };
    struct cli_titled titled = { .key = "paths" };
    enum cli_exit e = CLI_DONE;
    if (cli_paths_answer(&paths, NULL, &titled.answer, &err) != GCD_OK)
        e = titled.answer == NULL ? cli_no_memory(d->subject) : cli_fail(d->subject, &err);
    if (e == CLI_DONE)
        e = cli_print_answers(
            args, d, args->view.json ? json_head(args, d, tree, gcd_paths_pseudo_roots(p)) : NULL,
            &titled, 1);
    answer_free(titled.answer);
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
    enum cli_exit e =
        types != NULL ? type_paths(args, d, p, types) : cli_object_paths(args, d, p, object);
    return cli_finish(args, d, e, gcd_paths_pseudo_roots(p));
}

enum cli_exit cmd_paths(const struct cli_args *args)
{
    struct cli_dump d;
    uint8_t *types = NULL;
    uint32_t object = GCD_NODE_NONE;
    struct cli_args own = *args;
    if (args->view.object != NULL && !cli_is_live(args) && args->view.values == CLI_VALUES_HIDDEN &&
        !args->view.no_values)
        own.view.values = CLI_VALUES_MASKED; /* it shows its fields and the keys that hold it */
    enum cli_exit e = cli_open_session(&own, CLI_NEED_PATHS, &d);
    if (e == CLI_DONE)
        e = args->view.type != NULL ? cli_match_types(args->view.type, &d, d.names, &types)
                                    : cli_find_object(args->view.object, &d, &object);
    if (e == CLI_DONE)
        e = find_paths(args, &d, types, object);
    free(types);
    cli_close(&d);
    return e;
}
