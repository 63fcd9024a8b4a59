#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/root_order.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "commands/retained/retained.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "output/filter.h"
#include "output/json_out.h"
#include "output/output.h"
#include "output/root_labels.h"
#include "term/message.h"
#include "term/term.h"

#define DEFAULT_LINES 20u

/* ---- the largest objects ---- */

static const struct cli_column object_columns[] = {
    { "retained", "Retained", CLI_CELL_BYTES }, { "share", "Share", CLI_CELL_SHARE },
    { "bytes", "Bytes", CLI_CELL_BYTES },       { "object", "Object", CLI_CELL_TEXT },
    { "address", NULL, CLI_CELL_ADDRESS },      { "node", NULL, CLI_CELL_COUNT },
    { "type", "Type", CLI_CELL_TEXT },          { "held_by", "Held by", CLI_CELL_TEXT },
    { "dominator", NULL, CLI_CELL_COUNT },      { "field", NULL, CLI_CELL_TEXT },
    { "class", NULL, CLI_CELL_TEXT },           { "label", NULL, CLI_CELL_TEXT },
};

struct holder {
    uint32_t node;
    size_t root; /* index of the root that holds it; SIZE_MAX = none */
};

static int compare_holders(const void *a, const void *b)
{
    uint32_t x = ((const struct holder *)a)->node, y = ((const struct holder *)b)->node;
    return (x > y) - (x < y);
}

static enum gcd_root_group group_of(const struct gcd_graph *g, size_t root)
{
    return gcd_root_group(&gcd_graph_summary(g)->roots[root]);
}

/* A root of a late GROUP does not count as the holder of objects that earlier groups also reach. */
static enum cli_exit leave_to_others(const struct retained *r, enum gcd_root_group group,
                                     uint64_t *reached, struct holder *holders, size_t n)
{
    const struct gcd_graph *g = r->d.graph;
    struct gcd_error err = GCD_ERROR_INIT;
    size_t first = 0;
    while (first < n &&
           (holders[first].root == SIZE_MAX || group_of(g, holders[first].root) != group))
        first++;
    if (first == n)
        return CLI_DONE;
    struct gcd_context context = cli_context(r->args, NULL);
    if (gcd_reached_before(g, group, &context, reached, &err) != GCD_OK)
        return cli_fail(r->d.subject, &err);
    for (size_t i = first; i < n; i++) {
        struct holder *h = &holders[i];
        if (h->root != SIZE_MAX && group_of(g, h->root) == group &&
            (reached[h->node / 64] >> h->node % 64 & 1) != 0)
            h->root = SIZE_MAX;
    }
    return CLI_DONE;
}

/* Fills HOLDERS[N] for NODES, sorted by node. */
static enum cli_exit find_roots(const struct retained *r, const uint32_t *nodes, size_t n,
                                struct holder *holders)
{
    const struct gcd_graph *g = r->d.graph;
    const struct gcd_summary *summary = gcd_graph_summary(g);
    uint64_t *reached = calloc(((size_t)gcd_graph_node_count(g) + 63) / 64 + 1, sizeof *reached);
    enum cli_exit e = reached != NULL ? CLI_DONE : cli_no_memory(r->d.subject);
    for (size_t i = 0; i < n; i++)
        holders[i] = (struct holder){ nodes[i], SIZE_MAX };
    qsort(holders, n, sizeof *holders, compare_holders);
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *root = &summary->roots[i];
        struct holder key = { root->node, 0 },
                      *h = bsearch(&key, holders, n, sizeof *holders, compare_holders);
        if (h != NULL && gcd_root_group(root) != GCD_GROUP_WEAK &&
            (h->root == SIZE_MAX || gcd_root_group(root) < group_of(g, h->root)))
            h->root = i;
    }
    for (unsigned group = 0; group < GCD_GROUP_WEAK && e == CLI_DONE; group++)
        if (gcd_group_is_late((enum gcd_root_group)group))
            e = leave_to_others(r, (enum gcd_root_group)group, reached, holders, n);
    free(reached);
    return e;
}

/* Adds the holder of NODE: its dominator, its root, or a note that several paths lead to it. */
static void put_holder(const struct retained *r, struct cli_table *t, uint32_t node,
                       const struct holder *holders, size_t n)
{
    const struct gcd_graph *g = r->d.graph;
    uint32_t parent = gcd_dominators_parent(r->dominators, node);
    if (parent != GCD_NODE_ROOT) {
        cli_table_text(t, gcd_names_get(r->names, gcd_graph_node_type(g, parent)));
        cli_table_count(t, parent);
        cli_field_cell(t, NULL);
        cli_static_cells(t, g, r->names, NULL);
        return;
    }
    struct holder key = { node, 0 };
    const struct holder *h = bsearch(&key, holders, n, sizeof *holders, compare_holders);
    const struct gcd_root *root =
        h->root != SIZE_MAX ? &gcd_graph_summary(g)->roots[h->root] : NULL;
    if (root != NULL || gcd_dominators_pseudo_roots(r->dominators) > 0) {
        char *text = cli_root_label(g, r->names, root);
        cli_table_text(t, text);
        free(text);
    } else {
        cli_table_text(t, "(several)");
    }
    cli_table_none(t);
    cli_field_cell(t, root);
    cli_static_cells(t, g, r->names, root);
}

static enum cli_exit objects_table(const struct retained *r, struct cli_table **ret)
{
    const struct gcd_graph *g = r->d.graph;
    uint32_t nodes = gcd_graph_node_count(g), n = r->lines < nodes ? r->lines : nodes;
    uint32_t *largest = calloc((size_t)n + 1, sizeof *largest);
    struct holder *holders = calloc((size_t)n + 1, sizeof *holders);
    struct cli_table *t =
        largest != NULL && holders != NULL
            ? cli_table_new(object_columns, sizeof object_columns / sizeof *object_columns)
            : NULL;
    enum cli_exit e = t != NULL ? CLI_DONE : cli_no_memory(r->d.subject);
    if (e == CLI_DONE) {
        gcd_retained_largest(g, r->dominators, r->types, r->args->view.min_bytes, largest, &n);
        e = find_roots(r, largest, n, holders);
    }
    for (uint32_t i = 0; e == CLI_DONE && i < n; i++) {
        char buf[CLI_NUMBER_BYTES];
        uint64_t retained = gcd_dominators_retained(r->dominators, largest[i]);
        cli_table_count(t, retained);
        cli_table_share(t, retained, r->alive_bytes);
        cli_table_count(t, gcd_graph_node_size(g, largest[i]));
        cli_table_text(t, cli_object_text(g, largest[i], buf));
        cli_object_address(t, g, largest[i]);
        cli_table_count(t, largest[i]);
        cli_table_text(t, gcd_names_get(r->names, gcd_graph_node_type(g, largest[i])));
        put_holder(r, t, largest[i], holders, n);
    }
    free(largest);
    free(holders);
    *ret = t;
    return e;
}

/* ---- the largest types ---- */

/* Titles of a lower bound, and of the exact size. */
static const struct cli_column type_columns[] = {
    { "retained", "Retained >=", CLI_CELL_BYTES },
    { "share", "Share", CLI_CELL_SHARE },
    { "count", "Count", CLI_CELL_COUNT },
    { "bytes", "Bytes", CLI_CELL_BYTES }, { "type", "Type", CLI_CELL_TEXT },
}, exact_columns[] = {
    { "retained", "Retained", CLI_CELL_BYTES },
    { "share", "Share", CLI_CELL_SHARE },
    { "count", "Count", CLI_CELL_COUNT },
    { "bytes", "Bytes", CLI_CELL_BYTES }, { "type", "Type", CLI_CELL_TEXT },
};

struct type_line {
    uint64_t retained;
    uint32_t type;
    const struct retained *r;
};

static int compare_lines(const void *pa, const void *pb)
{
    const struct type_line *a = pa, *b = pb;
    if (a->retained != b->retained)
        return a->retained < b->retained ? 1 : -1;
    int by_name = strcmp(gcd_names_get(a->r->names, a->type), gcd_names_get(b->r->names, b->type));
    return by_name != 0 ? by_name : (a->type > b->type) - (a->type < b->type);
}

/* The requested types, largest first. */
static enum cli_exit sort_types(const struct retained *r, struct type_line **ret, uint32_t *ret_n)
{
    const struct gcd_graph *g = r->d.graph;
    uint32_t count = gcd_graph_summary(g)->type_count, n = 0;
    struct gcd_error err = GCD_ERROR_INIT;
    const uint64_t *bytes;
    struct type_line *lines = calloc((size_t)count + 1, sizeof *lines);
    enum cli_exit e = lines != NULL ? CLI_DONE : cli_no_memory(r->d.subject);
    if (e == CLI_DONE && gcd_session_retained_by_type(r->d.session, NULL, &bytes, &err) != GCD_OK)
        e = cli_fail(r->d.subject, &err);
    for (uint32_t t = 0; e == CLI_DONE && t < count; t++)
        if (gcd_graph_summary(g)->types[t].objects > 0 && (r->types == NULL || r->types[t]))
            lines[n++] = (struct type_line){ bytes[t], t, r };
    if (e == CLI_DONE)
        qsort(lines, n, sizeof *lines, compare_lines);
    if (e != CLI_DONE)
        free(lines);
    *ret = e == CLI_DONE ? lines : NULL;
    *ret_n = n;
    return e;
}

static void put_type(const struct retained *r, struct cli_table *t, uint64_t retained,
                     uint64_t count, uint64_t bytes, const char *name)
{
    cli_table_count(t, retained);
    cli_table_share(t, retained, r->alive_bytes);
    cli_table_count(t, count);
    cli_table_count(t, bytes);
    cli_table_text(t, name);
}

static enum cli_exit types_table(const struct retained *r, struct cli_table **ret)
{
    struct type_line *lines;
    uint32_t n;
    enum cli_exit e = sort_types(r, &lines, &n);
    if (e != CLI_DONE)
        return e;
    *ret = cli_table_new(type_columns, sizeof type_columns / sizeof *type_columns);
    for (uint32_t i = 0; i < n && i < r->lines && lines[i].retained >= r->args->view.min_bytes;
         i++) {
        const struct gcd_type *type = &gcd_graph_summary(r->d.graph)->types[lines[i].type];
        put_type(r, *ret, lines[i].retained, type->objects, type->bytes,
                 gcd_names_get(r->names, lines[i].type));
    }
    free(lines);
    return CLI_DONE;
}

/* ---- exact sizes of a few types ---- */

/* COUNT and BYTES cover all objects of the types; dead objects retain nothing. */
static enum cli_exit exact(const struct retained *r, const uint8_t *types, uint64_t count,
                           uint64_t bytes, const char *name, struct cli_table *t)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_retained_set set;
    struct gcd_context context = cli_context(r->args, NULL);
    if (gcd_retained_set(r->d.graph, types, &context, &set, &err) != GCD_OK)
        return cli_fail(r->d.subject, &err);
    if (set.retained_bytes >= r->args->view.min_bytes)
        put_type(r, t, set.retained_bytes, count, bytes, name);
    return CLI_DONE;
}

/* One line for each of the first types, and one for all types together. */
static enum cli_exit exact_table(const struct retained *r, struct cli_table **ret)
{
    const struct gcd_summary *summary = gcd_graph_summary(r->d.graph);
    struct type_line *lines;
    uint32_t n;
    enum cli_exit e = sort_types(r, &lines, &n);
    if (e != CLI_DONE)
        return e;
    uint8_t *one = calloc((size_t)summary->type_count + 1, 1);
    struct cli_table *t = *ret =
        one != NULL ? cli_table_new(exact_columns, sizeof exact_columns / sizeof *exact_columns)
                    : NULL;
    uint64_t count = 0, bytes = 0;
    for (uint32_t i = 0; i < n && t != NULL && e == CLI_DONE; i++) {
        const struct gcd_type *type = &summary->types[lines[i].type];
        count += type->objects;
        bytes += type->bytes;
        if (i >= r->lines)
            continue;
        one[lines[i].type] = 1;
        e = exact(r, one, type->objects, type->bytes, gcd_names_get(r->names, lines[i].type), t);
        one[lines[i].type] = 0;
    }
    char all[64];
    (void)snprintf(all, sizeof all, "(%" PRIu32 " types together)", n);
    if (t != NULL && n > 1 && e == CLI_DONE)
        e = exact(r, r->types, count, bytes, all, t);
    free(lines);
    free(one);
    return t != NULL ? e : cli_no_memory(r->d.subject);
}

/* ---- the dominator tree ---- */

static const struct cli_column tree_columns[] = {
    { "depth", NULL, CLI_CELL_COUNT },        { "retained", "Retained", CLI_CELL_BYTES },
    { "share", "Share", CLI_CELL_SHARE },     { "count", "Count", CLI_CELL_COUNT },
    { "bytes", "Bytes", CLI_CELL_BYTES },     { "type", "Type", CLI_CELL_TREE },
    { "folded_types", NULL, CLI_CELL_COUNT },
};

static void put_step(const struct retained *r, struct cli_table *t, uint32_t depth,
                     uint64_t retained)
{
    cli_table_count(t, depth);
    cli_table_count(t, retained);
    cli_table_share(t, retained, r->alive_bytes);
}

/* Adds one line for the hidden part below a step, or at the top, so that the lines always add up.
 */
static void put_rest(const struct retained *r, struct cli_table *t, uint32_t depth, uint64_t types,
                     uint64_t retained)
{
    char text[64];
    if (types == 0)
        return;
    (void)snprintf(text, sizeof text, "(%s more type%s)", GCD_DIGITS(types), gcd_plural(types));
    put_step(r, t, depth, retained);
    cli_table_none(t);
    cli_table_none(t);
    cli_table_branch(t, depth, text);
    cli_table_count(t, types);
}

/* An open level: its end, the number of its lines, and the sums of what it hides. */
struct level {
    uint32_t end, lines;
    uint64_t rest_types, rest_retained;
};

static void fill_tree(const struct retained *r, const struct gcd_merged_step *s, uint32_t n,
                      uint64_t min_bytes, struct cli_table *t)
{
    struct level levels[256] = { { .end = n } };
    uint32_t depth = 0, i = 0, max_lines = r->args->view.top != 0 ? r->lines : UINT32_MAX;
    for (;;) {
        struct level *l = &levels[depth];
        if (i == l->end) {
            put_rest(r, t, depth, l->rest_types, l->rest_retained);
            if (depth == 0)
                break;
            depth--;
            continue;
        }
        if (s[i].bytes < min_bytes || l->lines == max_lines) {
            l->rest_types++;
            l->rest_retained += s[i].bytes;
            i = s[i].end;
            continue;
        }
        l->lines++;
        put_step(r, t, depth, s[i].bytes);
        cli_table_count(t, s[i].objects);
        cli_table_count(t, s[i].own_bytes);
        cli_table_branch(t, depth, gcd_names_get(r->names, s[i].label));
        cli_table_none(t);
        if (depth + 1 < r->args->view.tree && s[i].end > i + 1) {
            levels[++depth] = (struct level){ .end = s[i].end };
            i++;
        } else {
            i = s[i].end;
        }
    }
}

static enum cli_exit tree_table(const struct retained *r, struct cli_table **ret)
{
    /* one level more than shown, so that the last shown level does not include the sizes below it
     */
    struct gcd_merged_tree_options o = { .context = cli_context(r->args, NULL),
                                         .dominators = r->dominators,
                                         .max_depth = (uint32_t)r->args->view.tree + 1 };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_merged_tree *tree;
    size_t n;
    if (gcd_merged_tree_new(r->d.graph, &o, &tree, &err) != GCD_OK)
        return cli_fail(r->d.subject, &err);
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(tree, &n);
    *ret = cli_table_new(tree_columns, sizeof tree_columns / sizeof *tree_columns);
    fill_tree(r, steps, (uint32_t)n,
              r->args->view.min_bytes != 0 ? r->args->view.min_bytes : r->alive_bytes / 100, *ret);
    gcd_merged_tree_free(tree);
    return CLI_DONE;
}

/* ---- the command ---- */

/* SET: for --content; NULL = another table. */
static json_t *json_head(const struct retained *r, const struct gcd_retained_set *set)
{
    const struct gcd_summary *f = cli_summary(&r->d);
    uint32_t alive = gcd_dominators_reachable(r->dominators);
    json_t *o = cli_json_head(r->d.subject);
    cli_json_count(o, "objects", f->objects);
    cli_json_count(o, "bytes", f->bytes);
    cli_json_count(o, "alive_objects", alive);
    cli_json_count(o, "alive_bytes", r->alive_bytes);
    cli_json_count(o, "stand_ins", gcd_dominators_pseudo_roots(r->dominators));
    if (set != NULL) {
        cli_json_count(o, "set_objects", set->objects);
        cli_json_count(o, "set_bytes", set->bytes);
        cli_json_count(o, "retained_objects", set->retained_objects);
        cli_json_count(o, "retained_bytes", set->retained_bytes);
    }
    return o;
}

static enum cli_exit print(const struct retained *r)
{
    const struct cli_args *args = r->args;
    struct cli_titled tables[2];
    size_t n = 0;
    char *title = NULL;
    struct gcd_retained_set set;
    enum cli_exit e = CLI_DONE;
    if (args->view.content != NULL) {
        tables[n++] = (struct cli_titled){ .key = "content" };
        e = cli_content_table(r, &tables[0].table, &set);
        title =
            e == CLI_DONE && !args->view.json && !args->view.csv ? cli_content_title(&set) : NULL;
        tables[0].title = title;
    } else if (args->view.by_dominator != NULL) {
        tables[n++] = (struct cli_titled){ .key = "dominators" };
        e = cli_dominator_table(r, &tables[0].table);
    } else if (args->view.tree != 0) {
        tables[n++] = (struct cli_titled){ .key = "tree" };
        e = tree_table(r, &tables[0].table);
    } else if (args->view.type != NULL) {
        tables[n++] = (struct cli_titled){ .key = "types" };
        e = exact_table(r, &tables[0].table);
    } else {
        bool both = args->view.largest == CLI_LARGEST_BOTH && !args->view.csv;
        if (args->view.largest != CLI_LARGEST_TYPES) {
            tables[n++] = (struct cli_titled){ .key = "largest_objects",
                                               .title = both ? "Objects that retain most:" : NULL };
            e = objects_table(r, &tables[n - 1].table);
        }
        if (e == CLI_DONE && (both || args->view.largest == CLI_LARGEST_TYPES)) {
            tables[n++] = (struct cli_titled){ .key = "largest_types",
                                               .title = both ? "Types that retain most:" : NULL };
            e = types_table(r, &tables[n - 1].table);
        }
    }
    if (e == CLI_DONE)
        e = cli_print_tables(
            args, &r->d,
            args->view.json ? json_head(r, args->view.content != NULL ? &set : NULL) : NULL, tables,
            n);
    while (n > 0)
        cli_table_free(tables[--n].table);
    free(title);
    return e;
}

static const char *pattern_of(const struct cli_view_args *view)
{
    const char *const all[] = { view->content, view->by_dominator, view->type, view->filter };
    size_t i = 0;
    while (i < 3 && all[i] == NULL)
        i++;
    return all[i];
}

/* --skip need not match anything: a program may use none of the framework's types. */
static enum cli_exit skipped_types(struct retained *r, const char *pattern)
{
    const struct gcd_summary *summary = gcd_graph_summary(r->d.graph);
    struct cli_filter *filter;
    enum cli_exit e = cli_filter_new(pattern, &filter);
    r->skip = calloc((size_t)summary->type_count + 1, 1);
    if (e == CLI_DONE)
        e = r->skip != NULL
                ? cli_filter_select(filter, r->d.subject, summary, r->names, NULL, r->skip)
                : cli_no_memory(r->d.subject);
    cli_filter_free(filter);
    return e;
}

static enum cli_exit run(struct retained *r)
{
    const char *pattern = pattern_of(&r->args->view);
    enum cli_exit e = cli_open_session(r->args, CLI_NEED_RETAINED, &r->d);
    r->names = r->d.names;
    if (e == CLI_DONE && pattern != NULL)
        e = cli_match_types(pattern, &r->d, r->names, &r->types);
    if (e == CLI_DONE && r->args->view.skip != NULL)
        e = skipped_types(r, r->args->view.skip);
    if (e == CLI_DONE)
        e = cli_find_dominators(r->args, &r->d, &r->dominators);
    if (e != CLI_DONE)
        return e;
    r->alive_bytes = gcd_dominators_retained(r->dominators, GCD_NODE_ROOT);
    return cli_finish(r->args, &r->d, print(r), gcd_dominators_pseudo_roots(r->dominators));
}

enum cli_exit cmd_retained(const struct cli_args *args)
{
    struct retained r = { .args = args,
                          .lines = args->view.top != 0 ? (uint32_t)args->view.top : DEFAULT_LINES };
    enum cli_exit e = run(&r);
    free(r.types);
    free(r.skip);
    cli_close(&r.d);
    return e;
}
