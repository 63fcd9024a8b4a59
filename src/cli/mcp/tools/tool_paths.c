/*
 * paths: what holds one object, or all objects of some types.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/object_paths.h"
#include "mcp/mcp_call.h"
#include "render/render.h"
#include "output/folded_paths.h"

/* At most this many paths to an object. */
#define PATHS_MAX 1000u

/* ---- one object ---- */

static enum mcp_outcome paths_of_object(struct mcp_call *c, const struct gcd_paths *p)
{
    struct gcd_context context = mcp_context(c, NULL);
    struct answer_of_paths of = { .session = c->heap->d.session,
                                  .call = &context,
                                  .paths = p,
                                  .max = PATHS_MAX,
                                  .to_root = mcp_flag(c, "to_root"),
                                  .folds = !mcp_flag(c, "full") };
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer *a;
    enum mcp_outcome e = mcp_find_object(c, "object", &of.object);
    if (e != MCP_DONE)
        return e;
    gcd_status st = answer_object_paths(&of, &a, &err);
    mcp_put(c->out, "reachable", json_boolean(gcd_paths_parent(p, of.object) != GCD_NODE_NONE));
    return mcp_page_answer(c, "paths", st, a, &err);
}

/* ---- types ---- */

static enum mcp_outcome paths_of_types(struct mcp_call *c)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_merged_tree *tree;
    uint8_t *types;
    enum mcp_outcome e = mcp_find_types(c, "type", &types);
    if (e != MCP_DONE)
        return e;
    struct gcd_merged_tree_options options = { .context = mcp_context(c, "merging paths"),
                                               .types = types,
                                               .to_root = mcp_flag(c, "to_root") };
    gcd_status st =
        gcd_session_merge_paths(c->heap->d.session, &options.context, &options, &tree, &err);
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
    st = cli_paths_answer(&paths, &options.context, &a, &err);
    (void)cli_paths_head(c->out, tree);
    cli_json_count(c->out, "dead_objects", gcd_merged_tree_totals(tree).dead_count);
    cli_json_count(c->out, "frozen_objects", gcd_merged_tree_totals(tree).frozen_count);
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
    cli_json_count(c->out, "guessed_roots", gcd_paths_pseudo_roots(p));
    return has_object ? paths_of_object(c, p) : paths_of_types(c);
}

static const struct mcp_arg paths_args[] = {
    { "type", MCP_TEXT, false, 0, 0, NULL, "all objects of types " MCP_PATTERN_TEXT },
    { "object", MCP_OBJECT, false, 0, 0, NULL,
      "or one object by its id from another answer: an address \"0x...\", or a number" },
    { "max_paths", MCP_NUMBER, false, 1, 1000, NULL,
      "of types: the paths with the most bytes (10)" },
    { "to_root", MCP_FLAG, false, 0, 0, NULL,
      "from the objects to the roots; of types, merged from the objects on" },
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
    "guessed_roots:i paths[*]~ reachable:b~ lines[*]~ "
    "objects:i~ bytes:i~ dead_objects:i~ frozen_objects:i~",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_paths,
    { &answer_object_paths_shape, &cli_paths_shape }
};
