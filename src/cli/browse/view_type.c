/* One type: the paths that hold its objects, the types that they refer to and that refer to them,
 * and the objects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/text/plural.h>

#include "browse/opening.h"
#include "commands/object_paths.h"
#include "output/folded_paths.h"
#include "render/render.h"
#include "term/term.h"

/* Most paths shown. */
#define PATHS_SHOWN 10u

static gcd_status add_facts(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    const struct gcd_type *t = &m->summary->types[v->subject];
    const char *module = t->module_path[0] != '\0' ? t->module_path : "unknown module";
    char count[CLI_NUMBER_BYTES], size[CLI_NUMBER_BYTES], retained[CLI_NUMBER_BYTES], *text = NULL;
    const uint64_t *by_type;
    gcd_status st = gcd_session_retained_by_type(m->session, call, &by_type, err);
    if (st != GCD_OK)
        return st;
    if (asprintf(&text, "%s\n%s\n%s object%s, %s, retain%s at least %s.",
                 gcd_names_get(m->names, v->subject), module, cli_number(t->objects, true, count),
                 gcd_plural(t->objects), cli_size(t->bytes, size),
                 gcd_by_number(t->objects, "s", ""), cli_size(by_type[v->subject], retained)) < 0)
        text = NULL;
    return browse_add_text(v, text, err);
}

/* ---- paths ---- */

static gcd_status add_path_line(struct browse_view *v, const struct answer *a, size_t row,
                                struct gcd_error *err)
{
    const struct answer_cell *step = answer_find(a, row, "step"),
                             *type = answer_find(a, row, "type_id");
    struct browse_made made = { .indent = (unsigned)step->number,
                                .text = strdup(step->text),
                                .has = { true, true },
                                .numbers = { answer_find(a, row, "bytes")->number,
                                             answer_find(a, row, "count")->number } };
    if (type->known) {
        made.goal = GOAL_TYPE;
        made.to = (uint32_t)type->number;
    }
    return browse_add_made(v, made, err);
}

static gcd_status add_paths(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    struct gcd_merged_tree_options o = { .context = call != NULL
                                                        ? *call
                                                        : (struct gcd_context){ .threads = 1 } };
    struct gcd_merged_tree *tree;
    struct answer *a;
    uint8_t *types = calloc((size_t)m->summary->type_count + 1, 1);
    if (types == NULL)
        return browse_no_memory(err);
    types[v->subject] = 1;
    o.types = types;
    gcd_status st = gcd_session_merge_paths(m->session, call, &o, &tree, err);
    free(types);
    if (st != GCD_OK)
        return st;
    struct cli_type_paths paths = {
        .session = m->session, .tree = tree, .max = PATHS_SHOWN, .folds = !v->full
    };
    struct browse_section *s = browse_add_made_section(v);
    *s = (struct browse_section){ .title = "Paths from the roots",
                                  .heads = { "Bytes", "Objects" },
                                  .counts = { [1] = true },
                                  .what = "Path",
                                  .hidden_share = true,
                                  .line = s->line };
    st = cli_paths_answer(&paths, call, &a, err);
    gcd_merged_tree_free(tree);
    if (st == GCD_OK && !render_ready(a))
        st = browse_no_memory(err);
    for (size_t i = 0; st == GCD_OK && i < a->rows; i++)
        st = add_path_line(v, a, i, err);
    answer_free(a);
    return st;
}

/* ---- lines that allocated it ---- */

static gcd_status add_sites(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    struct answer_of_sites of = { .summary = m->summary, .names = m->names, .type = &v->subject };
    struct answer *a;
    gcd_status st = gcd_session_site_list(m->session, call, &of.list, err);
    if (st == GCD_OK && of.list == NULL)
        return GCD_OK;
    if (st == GCD_OK)
        st = answer_sites(&of, &a, err);
    if (st != GCD_OK)
        return st;
    if (!render_ready(a))
        st = browse_no_memory(err);
    if (a->rows > 0) {
        struct browse_section *s = browse_add_made_section(v);
        *s = (struct browse_section){ .title = "Allocated in (estimated)",
                                      .heads = { "Bytes", "Objects" },
                                      .counts = { [1] = true },
                                      .what = "Line",
                                      .hidden_share = true,
                                      .line = s->line };
    }
    for (size_t i = 0; st == GCD_OK && i < a->rows; i++) {
        struct browse_made made = { .text = strdup(answer_find(a, i, "site")->text),
                                    .has = { true, true },
                                    .numbers = { answer_find(a, i, "bytes")->number,
                                                 answer_find(a, i, "count")->number } };
        st = browse_add_made(v, made, err);
    }
    answer_free(a);
    return st;
}

/* ---- neighbours ---- */

/* References between the objects of the type and others, counted by type: to[0] from the type,
 * to[1] to it. */
static gcd_status count_references(const struct browse_view *v, uint64_t *to[2],
                                   const struct gcd_context *call, struct gcd_error *err)
{
    const struct gcd_graph *g = v->model->graph;
    uint32_t nodes = gcd_graph_node_count(g);
    for (uint32_t node = 0; node < nodes; node++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
        uint32_t type = gcd_graph_node_type(g, node);
        for (size_t i = 0; i < n; i++) {
            uint32_t target = gcd_graph_node_type(g, edges[i]);
            to[0][target] += type == v->subject;
            to[1][type] += target == v->subject;
        }
        gcd_status st = node % BROWSE_STEP == 0 ? browse_step(call, node, nodes, err) : GCD_OK;
        if (st != GCD_OK)
            return st;
    }
    return GCD_OK;
}

static void neighbour_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                           struct browse_line *ret)
{
    uint32_t type = s->ids[i];
    browse_put_type(ret, v->model, type);
    ret->has[0] = true;
    ret->numbers[0] = s->amounts[type];
    ret->goal = GOAL_TYPE;
    ret->to = type;
}

static gcd_status add_neighbours(struct browse_view *v, size_t which, const char *title,
                                 const struct gcd_context *call, struct gcd_error *err)
{
    uint32_t n = v->model->summary->type_count, count = 0;
    v->lists[which] = calloc((size_t)n + 1, sizeof *v->lists[which]);
    if (v->lists[which] == NULL)
        return browse_no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        if (v->amounts[which][i] > 0)
            v->lists[which][count++] = i;
    struct browse_section *s = browse_add_section(v);
    *s = (struct browse_section){
        .title = title,
        .heads = { "References" },
        .counts = { true },
        .what = "Type",
        .hidden_share = true,
        .line = neighbour_line,
        .ids = v->lists[which],
        .amounts = v->amounts[which],
        .are_types = true,
        .count = count,
        .orders = 1u << ORDER_COUNT | 1u << ORDER_NAME,
    };
    return browse_sort(v, v->section_count - 1, ORDER_COUNT, call, err);
}

static gcd_status add_objects(struct browse_view *v, const struct gcd_context *call,
                              struct gcd_error *err)
{
    struct gcd_node_list list;
    gcd_status st = gcd_session_objects_of_type(v->model->session, call, v->subject, &list, err);
    if (st != GCD_OK)
        return st;
    struct browse_section *s = browse_add_section(v);
    *s = (struct browse_section){
        .title = "Objects", .line = browse_node_line, .ids = list.nodes, .count = list.count
    };
    browse_node_heads(s);
    s->orders |= 1u << ORDER_AS_IS;
    return browse_sort(v, v->section_count - 1, ORDER_RETAINED, call, err);
}

gcd_status browse_open_type(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err)
{
    size_t n = (size_t)v->model->summary->type_count + 1;
    char step[GCD_ASYNC_STEP_BYTES];
    v->title = strdup(gcd_names_step(v->model->names, v->subject, step));
    for (size_t i = 0; i < 2; i++)
        v->amounts[i] = calloc(n, sizeof *v->amounts[i]);
    if (v->title == NULL || v->amounts[0] == NULL || v->amounts[1] == NULL)
        return browse_no_memory(err);
    gcd_status st = add_facts(v, call, err);
    if (st == GCD_OK)
        st = add_paths(v, call, err);
    if (st == GCD_OK)
        st = add_sites(v, call, err);
    if (st == GCD_OK)
        st = count_references(v, v->amounts, call, err);
    if (st == GCD_OK)
        st = add_neighbours(v, 1, "Referred to by", call, err);
    if (st == GCD_OK)
        st = add_neighbours(v, 0, "Refers to", call, err);
    return st == GCD_OK ? add_objects(v, call, err) : st;
}
