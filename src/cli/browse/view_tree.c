/* The dominator tree, one level at a time; and all types. */
#include <stdlib.h>
#include <string.h>

#include "browse/opening.h"

static void tree_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                      struct browse_line *ret)
{
    browse_put_node(v, s->ids[i], ret);
    ret->goal = GOAL_TREE;
}

gcd_status browse_open_tree(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    struct gcd_node_list list;
    char step[GCD_ASYNC_STEP_BYTES];
    gcd_status st = gcd_session_dominated_largest(m->session, call, v->subject, &list, err);
    if (st != GCD_OK)
        return st;
    if (list.count == 0)
        st = browse_add_text(v, strdup("It keeps nothing else alive."), err);
    struct browse_section *s = browse_add_section(v);
    *s = (struct browse_section){
        .line = tree_line, .ids = list.nodes, .count = list.count, .order = ORDER_RETAINED
    };
    browse_node_heads(s);
    if (v->subject == GCD_NODE_ROOT)
        v->title = strdup("Dominator tree");
    else
        v->title =
            strdup(gcd_names_step(m->names, gcd_graph_node_type(m->graph, v->subject), step));
    return st != GCD_OK || v->title != NULL ? st : browse_no_memory(err);
}

static void type_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                      struct browse_line *ret)
{
    const struct browse_model *m = v->model;
    const struct gcd_type *t = &m->summary->types[s->ids[i]];
    browse_put_type(ret, m, s->ids[i]);
    ret->has[0] = ret->has[1] = true;
    ret->numbers[0] = t->bytes;
    ret->numbers[1] = t->objects;
    ret->has[2] = m->by_type != NULL;
    ret->numbers[2] = m->by_type != NULL ? m->by_type[s->ids[i]] : 0;
    ret->part = t->bytes;
    ret->whole = m->summary->bytes;
    ret->goal = GOAL_TYPE;
    ret->to = s->ids[i];
}

/* Shows retained sizes only if dominators exist: a heap that is too large for dominators still has
 * types. */
gcd_status browse_open_types(struct browse_view *v, const struct gcd_context *call,
                             struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    const uint64_t *by_type;
    size_t n = 0;
    gcd_status st = m->dominators != NULL
                        ? gcd_session_retained_by_type(m->session, call, &by_type, err)
                        : GCD_OK;
    v->title = strdup("Types");
    v->lists[0] = calloc((size_t)m->summary->type_count + 1, sizeof *v->lists[0]);
    if (st == GCD_OK && (v->title == NULL || v->lists[0] == NULL))
        st = browse_no_memory(err);
    if (st != GCD_OK)
        return st;
    for (uint32_t i = 0; i < m->summary->type_count; i++)
        if (m->summary->types[i].objects > 0)
            v->lists[0][n++] = i;
    struct browse_section *s = browse_add_section(v);
    *s = (struct browse_section){
        .heads = { "Bytes", "Objects", "Retained" },
        .counts = { [1] = true },
        .what = "Type",
        .line = type_line,
        .ids = v->lists[0],
        .are_types = true,
        .count = n,
        .orders = 1u << ORDER_BYTES | 1u << ORDER_COUNT | 1u << ORDER_RETAINED | 1u << ORDER_NAME,
    };
    return browse_sort(v, 0, ORDER_BYTES, call, err);
}
