#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/static_names.h>
#include <gcdumpc/unstable/text/plural.h>
#include <gcdumpc/unstable/tree_diff.h>

#include "commands/compare_paths.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "term/message.h"
#include "term/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/root_labels.h"

/* ---- the steps of one dump ---- */

/* Static variables are roots of their own, so they get a common parent; then the top has one row
 * per kind of root. */
static const char statics[] = "static variables";
/* frozen or dead: a dump without ranges cannot tell which */
static const char unreachable[] = "(no root)";

struct steps {
    struct gcd_tree_diff_step *items; /* [tree steps + 2] */
    uint32_t count;
    const char **names; /* [types + 2 * tree steps + 2] */
    uint32_t name_count;
    char **texts; /* [2 * tree steps] TEXT_COUNT names of roots, also in NAMES */
    size_t text_count;
    uint32_t *place;          /* [tree steps] index in ITEMS */
    size_t tree_steps, types; /* allocated sizes */
    uint32_t statics;         /* the step "static variables"; GCD_STEP_NONE = none yet */
};

static uint32_t add_step(struct steps *s, uint32_t parent, uint32_t name, uint64_t objects,
                         uint64_t bytes)
{
    s->items[s->count] = (struct gcd_tree_diff_step){ .parent = parent,
                                                      .name = name,
                                                      .objects = objects,
                                                      .bytes = bytes,
                                                      .field = GCD_NAME_NONE,
                                                      .facts = GCD_FOLD_FACT_SHOWN,
                                                      .short_name = GCD_NAME_NONE };
    return s->count++;
}

static uint32_t add_name(struct steps *s, const char *name)
{
    s->names[s->name_count] = name;
    return s->name_count++;
}

/* Keeps TEXT, unless it is NULL: there is no memory. */
static bool keep_text(struct steps *s, char *text, uint32_t *ret_name)
{
    if (text == NULL)
        return false;
    s->texts[s->text_count++] = text;
    *ret_name = add_name(s, text);
    return true;
}

/*
 * The names of a root, or of a group of roots.  Of a static variable: with its class, and without
 * it, as a dump names it that does not know the class; matched by raw names only the latter.
 * Whether it is a property not all dumps tell.
 */
static bool name_root(struct steps *s, const struct cli_dump *d, const struct cli_view *v,
                      struct gcd_step_name name, uint32_t ret[2])
{
    static const char prefix[] = "static variable ";
    char *text = NULL, *brief = NULL;
    if (name.kind == GCD_STEP_GROUP)
        return keep_text(s, strdup(gcd_root_group_label(name.group)->one), &ret[0]);
    if (name.root == SIZE_MAX)
        return keep_text(s, cli_root_label(d->graph, v->names, NULL), &ret[0]);
    const struct gcd_root *r = &gcd_graph_summary(d->graph)->roots[name.root];
    size_t n = strlen(r->name);
    if (name.group != GCD_GROUP_STATICS)
        return asprintf(&text, "%s \"%s\"", gcd_root_group_label(name.group)->one, r->name) >= 0 &&
               keep_text(s, text, &ret[0]);
    if (n == 0)
        return keep_text(s, cli_root_label(d->graph, v->names, r), &ret[0]);
    if ((brief = malloc(sizeof prefix + n)) == NULL)
        return false;
    memcpy(brief, prefix, sizeof prefix - 1);
    brief[sizeof prefix - 1 + gcd_static_source_label(r->name, n, brief + sizeof prefix - 1)] =
        '\0';
    if (v->by != CLI_BY_NAME)
        return keep_text(s, brief, &ret[0]);
    const struct gcd_static_words w = gcd_static_words(d->graph, v->names, r);
    if (asprintf(&text, "%s%s%s%s", prefix, w.label[0], w.label[1], w.label[2]) < 0)
        text = NULL;
    if (text == NULL || strcmp(text, brief) == 0) {
        free(brief);
        return keep_text(s, text, &ret[0]);
    }
    return keep_text(s, text, &ret[0]) && keep_text(s, brief, &ret[1]);
}

/* Adds a root below its kind. */
static bool add_root(struct steps *s, const struct cli_dump *d, const struct cli_view *v,
                     struct gcd_step_name name, const struct gcd_merged_step *t, uint32_t *ret)
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
    if (parent != GCD_STEP_NONE &&
        name.kind == GCD_STEP_GROUP) /* too many to list: their common parent stands for all */
        return true;
    uint32_t names[2] = { GCD_NAME_NONE, GCD_NAME_NONE };
    if (!name_root(s, d, v, name, names))
        return false;
    *ret = add_step(s, parent, names[0], t->count, t->bytes);
    s->items[*ret].short_name = names[1];
    return true;
}

/* Sets the fold facts of all steps that have a type. */
static enum cli_exit add_facts(struct steps *s, const struct cli_dump *d,
                               const struct gcd_merged_tree *tree)
{
    size_t n;
    const struct gcd_merged_step *t = gcd_merged_tree_steps(tree, &n);
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_fold_node *nodes = cli_array_new(cli_alloc(), n, sizeof *nodes);
    if (nodes == NULL)
        return cli_no_memory(d->subject);
    for (size_t i = 0; i < n; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(tree, t[i].label);
        nodes[i] = (struct gcd_fold_node){ .parent = t[i].parent,
                                           .type = name.kind == GCD_STEP_TYPE ? name.type
                                                                              : GCD_TYPE_NONE };
    }
    gcd_status st = gcd_session_fold_facts(d->session, NULL, nodes, n, &err);
    for (size_t i = 0; i < n; i++)
        if (s->place[i] != GCD_STEP_NONE)
            s->items[s->place[i]].facts = nodes[i].facts;
    cli_array_free(cli_alloc(), nodes, n, sizeof *nodes);
    return st == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

static bool convert(struct steps *s, const struct cli_dump *d, const struct cli_view *v,
                    const struct gcd_merged_tree *tree)
{
    size_t n;
    const struct gcd_merged_step *t = gcd_merged_tree_steps(tree, &n);
    struct gcd_merged_tree_totals totals = gcd_merged_tree_totals(tree);
    uint32_t types = gcd_graph_summary(d->graph)->type_count;
    s->tree_steps = n;
    s->types = types;
    s->items = cli_array_new(cli_alloc(), n + 2, sizeof *s->items);
    s->names = cli_array_new(cli_alloc(), types + 2 * n + 2, sizeof *s->names);
    s->texts = cli_array_new(cli_alloc(), 2 * n, sizeof *s->texts);
    s->place = cli_array_new(cli_alloc(), n, sizeof *s->place);
    if (s->items == NULL || s->names == NULL || s->texts == NULL || s->place == NULL)
        return false;
    for (uint32_t i = 0; i < types; i++)
        add_name(s, gcd_names_plain(v->names, i));
    for (size_t i = 0; i < n; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(tree, t[i].label);
        if (name.kind != GCD_STEP_TYPE) {
            if (!add_root(s, d, v, name, &t[i], &s->place[i]))
                return false;
            continue;
        }
        const char *field = gcd_merged_tree_field(tree, &t[i]);
        s->place[i] =
            add_step(s, t[i].parent == GCD_STEP_NONE ? GCD_STEP_NONE : s->place[t[i].parent],
                     name.type, t[i].count, t[i].bytes);
        if (field != NULL && field[0] != '\0')
            s->items[s->place[i]].field = add_name(s, field);
    }
    if (totals.dead_count > 0 || totals.frozen_count > 0)
        add_step(s, GCD_STEP_NONE, add_name(s, unreachable),
                 totals.dead_count + totals.frozen_count, totals.dead_bytes + totals.frozen_bytes);
    return true;
}

static void steps_done(struct steps *s)
{
    for (size_t i = 0; i < s->text_count; i++)
        free(s->texts[i]);
    cli_array_free(cli_alloc(), s->items, s->tree_steps + 2, sizeof *s->items);
    cli_array_free(cli_alloc(), s->names, s->types + 2 * s->tree_steps + 2, sizeof *s->names);
    cli_array_free(cli_alloc(), s->texts, 2 * s->tree_steps, sizeof *s->texts);
    cli_array_free(cli_alloc(), s->place, s->tree_steps, sizeof *s->place);
}

static enum cli_exit add_view(struct gcd_tree_diff *to, const struct cli_dump *d,
                              const struct cli_view *v, const struct gcd_merged_tree *tree)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct steps s = { .statics = GCD_STEP_NONE };
    gcd_status st = GCD_OK;
    enum cli_exit e = convert(&s, d, v, tree) ? add_facts(&s, d, tree) : cli_no_memory(d->subject);
    if (e == CLI_DONE)
        st = gcd_tree_diff_add(to, s.names, s.name_count, s.items, s.count, &err);
    steps_done(&s);
    return st == GCD_OK ? e : cli_fail(d->subject, &err);
}

/* Adds all views.  The next view nearly always has the same types and then needs no other tree. */
static enum cli_exit add_views(const struct cli_comparison *c, const struct cli_dump *d,
                               const struct cli_view *views, const struct gcd_paths *paths)
{
    struct gcd_merged_tree *tree = NULL;
    enum cli_exit e = CLI_DONE;
    for (size_t i = 0; i < CLI_MATCHED_BYS && e == CLI_DONE; i++) {
        const struct cli_view *v = &views[i];
        struct gcd_error err = GCD_ERROR_INIT;
        struct gcd_merged_tree_options options = {
            .context = cli_context_steps(c->args, "merging paths"), .types = v->set, .paths = paths
        };
        if (i == 0 || memcmp(v->set, v[-1].set, v->summary->type_count) != 0) {
            gcd_merged_tree_free(tree);
            tree = NULL;
            if (gcd_merged_tree_new(d->graph, &options, &tree, &err) != GCD_OK)
                e = cli_fail(d->subject, &err);
        }
        if (e == CLI_DONE)
            e = add_view(c->matchings[i].paths, d, v, tree);
        if (e == CLI_DONE && i == 0 && c->args->view.paths &&
            gcd_merged_tree_totals(tree).cut_count > 0)
            cli_say(d->subject, "%s object%s deeper than the merged paths and counted higher up",
                    GCD_DIGITS(gcd_merged_tree_totals(tree).cut_count),
                    gcd_by_number(gcd_merged_tree_totals(tree).cut_count, " is", "s are"));
    }
    gcd_merged_tree_free(tree);
    return e;
}

/*
 * Adds the paths by name with fields, as long as all dumps know some.  Without, the trees of the
 * other dumps would have other steps.
 */
static enum cli_exit add_fields(struct cli_comparison *c, const struct cli_dump *d,
                                const struct cli_view *v, const struct gcd_paths *paths)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context_steps(c->args, "merging paths");
    struct gcd_merged_tree_options options = { .context = context,
                                               .types = v->set,
                                               .paths = paths };
    const struct gcd_fields *fields;
    struct gcd_merged_tree *tree;
    if (c->with_fields == NULL)
        return CLI_DONE;
    if (gcd_session_fields(d->session, &context, &fields, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    if (gcd_fields_type_count(fields) == 0) {
        gcd_tree_diff_free(c->with_fields);
        c->with_fields = NULL;
        return CLI_DONE;
    }
    if (gcd_session_merge(d->session, &context, &options, &tree, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    enum cli_exit e = add_view(c->with_fields, d, v, tree);
    gcd_merged_tree_free(tree);
    return e;
}

enum cli_exit cli_paths_add(struct cli_comparison *c, const struct cli_dump *d,
                            const struct cli_view *views)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context_steps(c->args, "finding paths");
    const struct gcd_paths *paths;
    if (gcd_session_paths(d->session, &context, &paths, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    enum cli_exit e = add_views(c, d, views, paths);
    if (e == CLI_DONE)
        e = add_fields(c, d, &views[CLI_BY_NAME], paths);
    cli_progress_end();
    if (e == CLI_DONE && c->args->view.paths)
        cli_say_pseudo_roots(d->subject, gcd_paths_pseudo_roots(paths));
    else if (e == CLI_DONE && gcd_paths_pseudo_roots(paths) > 0)
        c->wants_answer = false; /* it would be a guess */
    return e;
}
