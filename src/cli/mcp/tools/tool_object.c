/*
 * object, tree: one object with its neighbours, and what it dominates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/views.h>

#include "mcp/mcp_call.h"
#include "output/root_labels.h"
#include "output/type_pattern.h"
#include "render/render.h"

/* Most roots and handles listed for one object. */
#define HOLDERS_SHOWN 10u
/* Most fields with their values. */
#define VALUES_SHOWN 50u

/* ---- object ---- */

static enum mcp_outcome put_generation(struct mcp_call *c, uint32_t node)
{
    static const char *const names[] = { "0", "1", "2", "large objects", "pinned objects" };
    const struct gcd_graph *g = c->heap->d.graph;
    struct gcd_context context = mcp_context(c, "finding generations");
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_generations *all;
    size_t hint = 0;
    cli_json_put_text(c->out, "generation", NULL);
    if (gcd_graph_summary(g)->range_count == 0)
        return MCP_DONE;
    if (gcd_session_generations(c->heap->d.session, &context, &all, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    unsigned n = gcd_generations_find(all, gcd_graph_node_address(g, node), &hint);
    cli_json_put_text(c->out, "generation", n < sizeof names / sizeof *names ? names[n] : "none");
    return MCP_DONE;
}

static enum mcp_outcome put_elements(struct mcp_call *c, uint32_t node)
{
    struct gcd_context context = mcp_context(c, "finding collections");
    struct gcd_error err = GCD_ERROR_INIT;
    char text[ANSWER_ELEMENTS_BYTES];
    if (answer_elements_of(c->heap->d.session, &context, node, text, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    size_t n = strlen(text); /* drop its brackets */
    if (n > 3)
        text[n - 1] = '\0';
    cli_json_put_text(c->out, "elements", n > 3 ? text + 2 : NULL);
    return MCP_DONE;
}

/* Adds some of the roots and dependent handles that hold NODE itself, and the number of all. */
static void put_holders(struct mcp_call *c, uint32_t node)
{
    const struct gcd_graph *g = c->heap->d.graph;
    const struct gcd_summary *f = gcd_graph_summary(g);
    json_t *roots = json_array();
    uint64_t n = 0;
    for (size_t i = 0; i < f->root_count; i++) {
        if (f->roots[i].node != node || n++ >= HOLDERS_SHOWN)
            continue;
        char *text = cli_root_label(g, c->heap->d.names, &f->roots[i]);
        (void)json_array_append_new(roots, text != NULL ? mcp_name(c, text) : NULL);
        free(text);
    }
    mcp_put(c->out, "roots", roots);
    cli_json_count(c->out, "root_count", n);
    n = 0;
    for (size_t i = 0; i < gcd_graph_dependent_count(g); i++)
        n += gcd_graph_dependent(g, i)->value == node;
    cli_json_count(c->out, "dependent_handle_count", n);
}

/* The row of NODE, which must exist; NULL: out of memory. */
static json_t *object_row(struct mcp_call *c, uint32_t node)
{
    struct answer_of_heap of = { .session = c->heap->d.session };
    struct gcd_node_list list = { &node, 1 };
    struct answer *a;
    json_t *row =
        answer_list(&of, &list, &a, NULL) == GCD_OK && render_ready(a) ? mcp_row(c, a, 0) : NULL;
    answer_free(a);
    return row;
}

static enum mcp_outcome put_facts(struct mcp_call *c, const struct gcd_dominators *d, uint32_t node)
{
    const struct gcd_graph *g = c->heap->d.graph;
    uint32_t above = gcd_dominators_parent(d, node);
    json_t *row = object_row(c, node);
    if (row == NULL)
        return mcp_no_memory(c);
    (void)json_object_update(c->out, row);
    json_decref(row);
    mcp_put_name(c, c->out, "module",
                 cli_module_file(&gcd_graph_summary(g)->types[gcd_graph_node_type(g, node)]));
    mcp_put(c->out, "alive", json_boolean(above != GCD_NODE_NONE));
    mcp_put(c->out, "dominator",
            above == GCD_NODE_NONE || above == GCD_NODE_ROOT ? json_null() : object_row(c, above));
    put_holders(c, node);
    enum mcp_outcome e = put_generation(c, node);
    return e == MCP_DONE ? put_elements(c, node) : e;
}

/* The first fields of NODE with their values, if the operator lets clients see values. */
static enum mcp_outcome put_values(struct mcp_call *c, uint32_t node)
{
    struct gcd_context context = mcp_context(c, "reading values");
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer *a;
    if (answer_object_values(c->heap->d.session, &context, node, &a, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    if (a == NULL)
        return MCP_DONE;
    json_t *fields = json_array();
    size_t n = answer_plain_rows(a);
    bool ok = render_ready(a);
    for (size_t i = 0; i < n && i < VALUES_SHOWN && ok; i++)
        ok = json_array_append_new(fields, mcp_row(c, a, i)) == 0;
    answer_free(a);
    mcp_put(c->out, "values", fields);
    cli_json_count(c->out, "value_count", n);
    return ok ? MCP_DONE : mcp_no_memory(c);
}

/* The requested one of the three lists, and the lengths of all. */
static gcd_status neighbours(struct mcp_call *c, uint32_t node, struct gcd_node_list *ret,
                             struct gcd_error *err)
{
    struct gcd_context context = mcp_context(c, "finding references");
    const char *which = mcp_text(c, "list") != NULL ? mcp_text(c, "list") : "referred_by";
    struct gcd_node_list lists[3];
    static const char *const names[] = { "referred_by", "refers_to", "dominates" };
    size_t n;
    gcd_status st = gcd_session_referrers(c->heap->d.session, &context, node, &lists[0], err);
    lists[1].nodes = gcd_graph_node_edges(c->heap->d.graph, node, &n);
    lists[1].count = n;
    if (st == GCD_OK)
        st = gcd_session_dominated_largest(c->heap->d.session, &context, node, &lists[2], err);
    for (size_t i = 0; i < 3 && st == GCD_OK; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "%s_count", names[i]);
        cli_json_count(c->out, key, lists[i].count);
        if (strcmp(which, names[i]) == 0)
            *ret = lists[i];
    }
    mcp_put(c->out, "list", json_string(which));
    return st;
}

/* The objects of LIST, of KIND, in an answer about SUBJECT. */
static enum mcp_outcome list_nodes(struct mcp_call *c, const struct gcd_node_list *list,
                                   enum answer_list_kind kind, uint32_t subject)
{
    struct answer_of_heap of = {
        .session = c->heap->d.session, .page = mcp_page_wanted(c), .list = kind, .subject = subject
    };
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer *a;
    gcd_status st = answer_list(&of, list, &a, &err);
    return mcp_page_answer(c, "objects", st, a, &err);
}

static enum mcp_outcome run_object(struct mcp_call *c)
{
    struct gcd_context context = mcp_context(c, "finding dominators");
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_dominators *d;
    struct gcd_node_list list;
    uint32_t node;
    enum mcp_outcome e = mcp_find_object(c, "object", &node);
    if (e == MCP_DONE)
        e = mcp_status(c, gcd_session_dominators(c->heap->d.session, &context, &d, &err), &err);
    if (e == MCP_DONE)
        e = put_facts(c, d, node);
    if (e == MCP_DONE)
        e = put_values(c, node);
    if (e == MCP_DONE)
        e = mcp_status(c, neighbours(c, node, &list, &err), &err);
    if (e != MCP_DONE)
        return e;
    const char *which = mcp_text(c, "list");
    bool dominates = which != NULL && strcmp(which, "dominates") == 0,
         refers_to = which != NULL && strcmp(which, "refers_to") == 0;
    return list_nodes(c, &list, dominates || refers_to ? ANSWER_REFERENCES : ANSWER_REFERRERS,
                      node);
}

#define OBJECT_TEXT "its id from another answer: an address \"0x...\", or a number"

static const struct mcp_arg object_args[] = {
    { "object", MCP_OBJECT, true, 0, 0, NULL, OBJECT_TEXT },
    { "list", MCP_TEXT, false, 0, 0, "referred_by|refers_to|dominates",
      "which objects to list (referred_by)" },
    { .name = NULL },
};

const struct mcp_tool mcp_object = {
    "object",
    "One object",
    "What an object is, what it retains, which object dominates it, the roots that hold it, and "
    "the objects that refer to it, that it refers to, or that it dominates, with the field of the "
    "reference where it is certain; with --show-values its fields with their values.",
    object_args,
    "* module:s? alive:b generation:s? elements:s? dominator{*}? roots[] root_count:i "
    "dependent_handle_count:i referred_by_count:i refers_to_count:i "
    "dominates_count:i list:s values[*]~ value_count:i~ objects[*]",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_object,
    { &answer_objects_shape, &answer_objects_shape, &answer_object_values_shape,
      &answer_neighbours_shape }
};

/* ---- tree ---- */

/* Lists the children of the object, or of the root. */
static enum mcp_outcome list_children(struct mcp_call *c, const struct gcd_dominators *d)
{
    struct gcd_context context = mcp_context(c, "sorting by retained size");
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_node_list list;
    uint32_t node = GCD_NODE_ROOT;
    enum mcp_outcome e = json_is_null(json_object_get(c->arguments, "object")) ||
                                 json_object_get(c->arguments, "object") == NULL
                             ? MCP_DONE
                             : mcp_find_object(c, "object", &node);
    if (e == MCP_DONE)
        e = mcp_status(
            c, gcd_session_dominated_largest(c->heap->d.session, &context, node, &list, &err),
            &err);
    if (e != MCP_DONE)
        return e;
    cli_json_count(c->out, "retained_bytes", gcd_dominators_retained(d, node));
    return list_nodes(c, &list, node != GCD_NODE_ROOT ? ANSWER_REFERENCES : ANSWER_OBJECTS, node);
}

/* The same, merged by type, without steps that retain less than a hundredth of the heap. */
static enum mcp_outcome list_types(struct mcp_call *c, const struct gcd_dominators *d)
{
    struct gcd_context context = mcp_context(c, "merging the tree");
    struct answer_of_heap of = { .session = c->heap->d.session, .call = &context };
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_merged_tree *tree;
    struct answer *a = NULL;
    gcd_status st = gcd_session_dominator_tree(c->heap->d.session, &context, &tree, &err);
    if (st == GCD_OK)
        st = answer_tree(&of, tree, (uint32_t)mcp_number(c, "depth", 5), &a, &err);
    cli_json_count(c->out, "retained_bytes", gcd_dominators_retained(d, GCD_NODE_ROOT));
    return mcp_page_answer(c, "types", st, a, &err);
}

static enum mcp_outcome run_tree(struct mcp_call *c)
{
    struct gcd_context context = mcp_context(c, "finding dominators");
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_dominators *d;
    bool types = mcp_text(c, "by") != NULL && strcmp(mcp_text(c, "by"), "types") == 0;
    if (types && json_object_get(c->arguments, "object") != NULL)
        return mcp_fail(c, "tree by types is of the whole heap; leave out \"object\", or \"by\"");
    if (gcd_session_dominators(c->heap->d.session, &context, &d, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    return types ? list_types(c, d) : list_children(c, d);
}

static const struct mcp_arg tree_args[] = {
    { "object", MCP_OBJECT, false, 0, 0, NULL,
      "what this object dominates, " OBJECT_TEXT "; without it, the top of the tree" },
    { "by", MCP_TEXT, false, 0, 0, "objects|types",
      "objects: one level (default); types: several levels of the whole tree, merged by "
      "type, without what retains less than 1 % of the heap" },
    { "depth", MCP_NUMBER, false, 1, 256, NULL, "by types: the levels to show (5)" },
    { .name = NULL },
};

const struct mcp_tool mcp_tree = { "tree",
                                   "Dominator tree",
                                   "What an object retains, one level down, the largest first: "
                                   "each is freed with the object above it.  "
                                   "Or the tree merged by type.",
                                   tree_args,
                                   "retained_bytes:i objects[*]~ types[*]~",
                                   MCP_TAKES_HEAP | MCP_PAGED,
                                   run_tree,
                                   { &answer_neighbours_shape, &answer_tree_shape } };
