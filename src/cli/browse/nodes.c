/* Lines of objects and of paths. */
#include "browse/opening.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "render/render.h"
#include "term/term.h"

/* The retained size of NODE; false when dominators are not computed yet. */
static bool get_retained(const struct browse_model *m, uint32_t node, uint64_t *ret)
{
    *ret = m->dominators != NULL ? gcd_dominators_retained(m->dominators, node) : 0;
    return m->dominators != NULL;
}

void browse_put_node(const struct browse_view *v, uint32_t node, struct browse_line *ret)
{
    const struct browse_model *m = v->model;
    char text[CLI_NUMBER_BYTES];
    browse_put_type(ret, m, gcd_graph_node_type(m->graph, node));
    (void)snprintf(ret->tail, sizeof ret->tail, "  %s", answer_object_text(m->graph, node, text));
    ret->has[0] = get_retained(m, node, &ret->numbers[0]);
    ret->has[1] = true;
    ret->numbers[1] = gcd_graph_node_size(m->graph, node);
    ret->part = ret->numbers[0];
    ret->whole = ret->has[0] ? gcd_dominators_retained(m->dominators, GCD_NODE_ROOT) : 0;
    ret->goal = GOAL_OBJECT;
    ret->to = node;
}

void browse_node_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                      struct browse_line *ret)
{
    browse_put_node(v, s->ids[i], ret);
}

/* Adds the field of the only reference from FROM to TO, one of which the line is about. */
static void put_reference(const struct browse_view *v, uint32_t from, uint32_t to,
                          struct browse_line *ret)
{
    const struct gcd_fields *fields; /* the session has had them since the view was opened */
    if (gcd_session_fields(v->model->session, NULL, &fields, NULL) != GCD_OK)
        return;
    struct gcd_field f = gcd_fields_only(fields, from, to);
    size_t used = strlen(ret->tail);
    if (f.element != GCD_ELEMENT_NONE)
        (void)snprintf(ret->tail + used, sizeof ret->tail - used, "  [%" PRIu64 "]", f.element);
    else if (f.name != NULL && f.other == NULL && f.name[0] != '\0')
        (void)snprintf(ret->tail + used, sizeof ret->tail - used, "  ");
    else
        return;
    ret->more = f.name != NULL && f.name[0] != '\0' ? f.name : NULL;
}

void browse_referrer_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                          struct browse_line *ret)
{
    browse_put_node(v, s->ids[i], ret);
    put_reference(v, s->ids[i], v->subject, ret);
}

void browse_reference_line(const struct browse_view *v, const struct browse_section *s, uint64_t i,
                           struct browse_line *ret)
{
    browse_put_node(v, s->ids[i], ret);
    put_reference(v, v->subject, s->ids[i], ret);
}

void browse_node_heads(struct browse_section *s)
{
    s->heads[0] = "Retained";
    s->heads[1] = "Size";
    s->what = "Object";
    s->orders = 1u << ORDER_RETAINED | 1u << ORDER_BYTES | 1u << ORDER_NAME;
}

/* ---- paths ---- */

static gcd_status add_step(struct browse_view *v, const struct answer *a, size_t row,
                           struct gcd_error *err)
{
    const struct answer_cell *step = answer_find(a, row, "step"),
                             *node = answer_find(a, row, "node"),
                             *object = answer_find(a, row, "object");
    bool is_object = answer_find(a, row, "type")->known;
    struct browse_made made = { .indent = (unsigned)step->number };
    if (is_object) {
        made.goal = GOAL_OBJECT;
        made.to = (uint32_t)node->number;
        made.has[0] = get_retained(v->model, made.to, &made.numbers[0]);
        made.has[1] = true;
        made.numbers[1] = gcd_graph_node_size(v->model->graph, made.to);
    }
    if (asprintf(&made.text, "%s%s%s", step->text, is_object ? "  " : "",
                 is_object ? object->text : "") < 0)
        made.text = NULL;
    return browse_add_made(v, made, err);
}

gcd_status browse_add_path(struct browse_view *v, gcd_status st, struct answer *a,
                           struct gcd_error *err)
{
    struct browse_section *s = browse_add_made_section(v);
    s->title = "Path from the root";
    browse_node_heads(s);
    s->orders = 0;
    s->hidden_share = true;
    if (st == GCD_OK && !render_ready(a))
        st = browse_no_memory(err);
    for (size_t i = 0; st == GCD_OK && i < a->rows; i++)
        st = add_step(v, a, i, err);
    answer_free(a);
    return st;
}
