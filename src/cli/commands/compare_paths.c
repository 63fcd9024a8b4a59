#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>
#include <gcdumpc/unstable/tree_diff.h>

#include "answer/answers.h"
#include "commands/compare_paths.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "term/message.h"
#include "term/progress.h"

#include <string.h>

static enum cli_exit add_view(struct gcd_tree_diff *to, const struct cli_dump *d,
                              const struct cli_view *v, const struct gcd_merged_tree *tree)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer_of_tree of = { .alloc = cli_alloc(),
                                 .session = d->session,
                                 .names = v->names,
                                 .raw = v->by != CLI_BY_NAME,
                                 .tree = tree };
    return answer_tree_add(to, &of, &err) == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
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
        if (e == CLI_DONE && i == 0 && gcd_merged_tree_totals(tree).cut_count > 0)
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
    if (e == CLI_DONE)
        cli_say_pseudo_roots(d->subject, gcd_paths_pseudo_roots(paths));
    return e;
}
