/*
 * paths: what holds one object, or all objects of some types.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "commands/object_paths.h"
#include "mcp/mcp_call.h"
#include "mcp/mcp_words.h"
#include "output/folded_paths.h"
#include "output/root_labels.h"

/* Objects shown at each end of a path; the ones in between become one line. */
#define ENDS_SHOWN 10u
#define STEPS_MAX  (2 * ENDS_SHOWN + 1)
/* More paths to an object than this are only counted. */
#define WAYS_MAX 100000u

/* ---- one object ---- */

/* Copies the steps of P from the root on, at most STEPS_MAX; *RET_CUT: how many objects the step
 * without a node represents. */
static size_t choose_steps(const struct gcd_object_path *p, struct gcd_object_step *ret,
                           size_t *ret_cut)
{
    size_t n = 0;
    *ret_cut = p->count > STEPS_MAX ? p->count - 2 * ENDS_SHOWN : 0;
    for (size_t k = 0; k < p->count; k++) {
        ret[n++] = p->steps[p->count - 1 - k];
        if (*ret_cut > 0 && k + 1 == ENDS_SHOWN) {
            ret[n++] = (struct gcd_object_step){ .node = GCD_NODE_NONE };
            k += *ret_cut;
        }
    }
    return n;
}

/* Folds the STEPS[N] in FOLDS[N]. */
static gcd_status fold(struct mcp_call *c, const struct gcd_object_step *steps,
                       struct gcd_fold_step *folds, size_t n, struct gcd_error *err)
{
    for (size_t i = 0; i < n; i++)
        folds[i] = (struct gcd_fold_step){
            .type = steps[i].node != GCD_NODE_NONE
                        ? gcd_graph_node_type(c->heap->d.graph, steps[i].node)
                        : GCD_TYPE_NONE,
            .keep = i + 1 == n,
        };
    return mcp_flag(c, "full") ? GCD_OK
                               : gcd_session_fold_path(c->heap->d.session, NULL, folds, n, err);
}

static gcd_status add_object(struct mcp_path *p, const struct gcd_object_step *s,
                             struct gcd_error *err)
{
    struct mcp_call *c = p->c;
    char elements[ANSWER_ELEMENTS_BYTES], remark[ANSWER_ELEMENTS_BYTES + 24];
    gcd_status st = answer_elements_of(c->heap->d.session, NULL, s->node, elements, err);
    (void)snprintf(remark, sizeof remark, "%s%s", elements,
                   s->dependent ? " (dependent handle)" : "");
    if (st == GCD_OK)
        mcp_path_step(p, gcd_graph_node_type(c->heap->d.graph, s->node), s->node, remark);
    return st;
}

static gcd_status make_row(struct mcp_call *c, const struct gcd_object_path *way, json_t **ret,
                           struct gcd_error *err)
{
    struct gcd_object_step steps[STEPS_MAX];
    struct gcd_fold_step folds[STEPS_MAX];
    struct mcp_path p;
    const struct gcd_origins *origins;
    size_t cut, n = choose_steps(way, steps, &cut);
    char text[64];
    mcp_path_begin(&p, c);
    mcp_path_root(&p, way->root);
    gcd_status st = fold(c, steps, folds, n, err);
    if (st == GCD_OK)
        st = gcd_session_origins(c->heap->d.session, NULL, &origins, err);
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        (void)snprintf(text, sizeof text, "(%s more objects)", GCD_DIGITS(cut));
        if (folds[i].fold == GCD_FOLD_HIDDEN)
            mcp_path_hide(&p, gcd_origins_get(origins, folds[i].type) == GCD_ORIGIN_LIBRARY);
        else if (folds[i].fold == GCD_FOLD_SHOWN && steps[i].node == GCD_NODE_NONE)
            mcp_path_text(&p, text);
        else if (folds[i].fold == GCD_FOLD_SHOWN)
            st = add_object(&p, &steps[i], err);
    }
    *ret = json_object();
    mcp_put(*ret, "path", mcp_path_end(&p));
    return st;
}

static gcd_status list_ways(struct mcp_call *c, struct gcd_object_paths *all, struct gcd_error *err)
{
    uint64_t more;
    size_t n = gcd_object_paths_count(all, &more);
    struct gcd_object_path way;
    json_t *row;
    gcd_status st = GCD_OK;
    mcp_page_total_capped(c, n + more, WAYS_MAX);
    while (mcp_page_wants(c) && c->page.next < n && st == GCD_OK) {
        st = gcd_object_paths_get(all, (size_t)c->page.next, &way, err);
        if (st == GCD_OK && (st = make_row(c, &way, &row, err)) == GCD_OK)
            mcp_page_add(c, row);
        else if (st != GCD_OK)
            break;
    }
    mcp_page_end(c, "paths");
    return st;
}

static enum mcp_outcome paths_of_object(struct mcp_call *c, const struct gcd_paths *p)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_object_paths *all;
    uint32_t node;
    enum mcp_outcome e = mcp_find_object(c, "object", &node);
    if (e != MCP_DONE)
        return e;
    uint64_t most = c->page.from < WAYS_MAX ? c->page.from + c->page.limit : WAYS_MAX;
    struct gcd_object_paths_options options = { .context = mcp_context(c, NULL),
                                                .object = node,
                                                .max = (uint32_t)most };
    if (gcd_object_paths_new(c->heap->d.graph, p, &options, &all, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    gcd_status st = list_ways(c, all, &err);
    gcd_object_paths_free(all);
    mcp_put(c->out, "alive", json_boolean(gcd_paths_parent(p, node) != GCD_NODE_NONE));
    return mcp_status(c, st, &err);
}

/* ---- types ---- */

static enum mcp_outcome paths_of_types(struct mcp_call *c, const struct gcd_paths *p)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_merged_tree *tree;
    uint8_t *types;
    enum mcp_outcome e = mcp_find_types(c, "type", &types);
    if (e != MCP_DONE)
        return e;
    struct gcd_merged_tree_options options = { .context = mcp_context(c, "merging paths"),
                                               .paths = p,
                                               .types = types,
                                               .to_root = mcp_flag(c, "to_root") };
    gcd_status st = gcd_merged_tree_new(c->heap->d.graph, &options, &tree, &err);
    free(types);
    if (st != GCD_OK)
        return mcp_fail_by(c, &err);
    struct cli_type_paths paths = { .session = c->heap->d.session,
                                    .tree = tree,
                                    .to_root = options.to_root,
                                    .folds = !mcp_flag(c, "full"),
                                    .max =
                                        (uint64_t)mcp_number(c, "max_paths", CLI_DEFAULT_PATHS) };
    struct answer *a;
    st = cli_paths_answer(&c->heap->d, &paths, &options.context, &a, &err);
    (void)cli_paths_head(c->out, tree);
    mcp_put_count(c->out, "dead_objects", gcd_merged_tree_totals(tree).dead_count);
    gcd_merged_tree_free(tree);
    return mcp_page_answer(c, "lines", st, a, &err);
}

/* ---- the tool ---- */

static enum mcp_outcome run_paths(struct mcp_call *c)
{
    struct gcd_context context = mcp_context(c, "finding paths");
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_paths *p;
    const json_t *object = json_object_get(c->arguments, "object");
    bool has_object = object != NULL && !json_is_null(object),
         has_type = mcp_text(c, "type") != NULL;
    if (has_object == has_type)
        return mcp_fail(c, "paths needs one of \"object\" and \"type\"");
    if (gcd_session_paths(c->heap->d.session, &context, &p, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    mcp_put_count(c->out, "guessed_roots", gcd_paths_pseudo_roots(p));
    return has_object ? paths_of_object(c, p) : paths_of_types(c, p);
}

static const struct mcp_arg paths_args[] = {
    { "type", MCP_TEXT, false, 0, 0, NULL, "all objects of types " MCP_PATTERN_TEXT },
    { "object", MCP_OBJECT, false, 0, 0, NULL,
      "or one object by its id from another answer: an address \"0x...\", or a number" },
    { "max_paths", MCP_NUMBER, false, 1, 1000, NULL,
      "of types: the paths with the most bytes (10)" },
    { "to_root", MCP_FLAG, false, 0, 0, NULL,
      "of types: from the objects to the roots, merged from the objects on" },
    { "full", MCP_FLAG, false, 0, 0, NULL,
      "also the steps of the framework, of libraries and inside of collections" },
    { .name = NULL },
};

const struct mcp_tool mcp_paths = {
    "paths",
    "What holds objects",
    "Paths from the roots to the objects of a type, merged, as lines of a tree; or the ways by "
    "which "
    "one object is held.",
    paths_args,
    "guessed_roots:i paths[path[]]~ alive:b~ lines[*]~ "
    "objects:i~ bytes:i~ dead_objects:i~",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_paths,
    { &cli_paths_shape }
};
