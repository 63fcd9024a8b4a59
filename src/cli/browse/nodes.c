/* Lines of objects and of paths. */
#include "browse/opening.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>

#include "input/memory.h"
#include "output/folded_paths.h"
#include "output/root_labels.h"
#include "term/term.h"

bool browse_retained(const struct browse_model *m, uint32_t node, uint64_t *ret)
{
    *ret = m->dominators != NULL ? gcd_dominators_retained(m->dominators, node) : 0;
    return m->dominators != NULL;
}

void browse_put_node(const struct browse_view *v, uint32_t node, struct browse_line *ret)
{
    const struct browse_model *m = v->model;
    char text[CLI_NUMBER_BYTES];
    browse_put_name(ret, gcd_names_get(m->names, gcd_graph_node_type(m->graph, node)));
    (void)snprintf(ret->tail, sizeof ret->tail, "  %s", answer_object_text(m->graph, node, text));
    ret->has[0] = browse_retained(m, node, &ret->numbers[0]);
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

void browse_node_heads(struct browse_section *s)
{
    s->heads[0] = "Retained";
    s->heads[1] = "Size";
    s->what = "Object";
    s->orders = 1u << ORDER_RETAINED | 1u << ORDER_BYTES | 1u << ORDER_NAME;
}

/* ---- paths ---- */

gcd_status browse_fold(const struct browse_view *v, struct browse_step *steps, size_t n,
                       const struct gcd_context *call, struct gcd_error *err)
{
    struct gcd_fold_step *folds = calloc(n + 1, sizeof *folds);
    if (folds == NULL)
        return browse_no_memory(err);
    for (size_t i = 0; i < n; i++)
        folds[i] = (struct gcd_fold_step){ .type = steps[i].node != GCD_NODE_NONE ? steps[i].type
                                                                                  : GCD_TYPE_NONE,
                                           .keep = i + 1 == n };
    gcd_status st = gcd_session_fold_path(v->model->session, call, folds, n, err);
    for (size_t i = 0; i < n; i++)
        steps[i].fold = folds[i].fold;
    free(folds);
    return st;
}

/* Adds one line for the hidden steps from *I on; *I becomes their end. */
static gcd_status add_hidden(struct browse_view *v, const struct browse_step *steps, size_t n,
                             size_t *i, unsigned indent, struct gcd_error *err)
{
    const struct gcd_origins *o;
    char buf[ANSWER_HIDDEN_BYTES];
    uint64_t hidden = 0, library = 0;
    gcd_status st = gcd_session_origins(v->model->session, NULL, &o, err);
    if (st != GCD_OK)
        return st;
    for (; *i < n && steps[*i].fold == GCD_FOLD_HIDDEN; ++*i, hidden++)
        library += gcd_origins_get(o, steps[*i].type) == GCD_ORIGIN_LIBRARY;
    return browse_add_made(
        v,
        (struct browse_made){ .text = strdup(answer_hidden_text(hidden, library, buf)),
                              .indent = indent },
        err);
}

static gcd_status add_step(struct browse_view *v, const struct browse_step *s, unsigned indent,
                           struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    const char *type = s->type != GCD_TYPE_NONE ? gcd_names_get(m->names, s->type) : "";
    const char *how = s->dependent ? " (by a dependent handle)" : "";
    char number[CLI_NUMBER_BYTES], object[CLI_NUMBER_BYTES];
    struct browse_made made = { .indent = indent };
    int n;
    if (s->node == GCD_NODE_NONE || s->type == GCD_TYPE_NONE) {
        n = asprintf(&made.text, "(%s more object%s)", cli_number(s->repeats, true, number),
                     gcd_plural(s->repeats));
    } else {
        made.has[0] = browse_retained(m, s->node, &made.numbers[0]);
        made.has[1] = true;
        made.numbers[1] = gcd_graph_node_size(m->graph, s->node);
        made.goal = GOAL_OBJECT;
        made.to = s->node;
        if (s->repeats > 1)
            n = asprintf(&made.text, "%s, %s of them one behind the other%s", type,
                         cli_number(s->repeats, true, number), how);
        else
            n = asprintf(&made.text, "%s  %s%s", type,
                         answer_object_text(m->graph, s->node, object), how);
    }
    made.text = n >= 0 ? made.text : NULL;
    return browse_add_made(v, made, err);
}

gcd_status browse_add_path(struct browse_view *v, size_t root, const struct browse_step *steps,
                           size_t n, struct gcd_error *err)
{
    const struct gcd_root *r = root != SIZE_MAX ? &v->model->summary->roots[root] : NULL;
    struct browse_section *s = browse_add_made_section(v);
    unsigned indent = 0;
    s->title = "Path from the root";
    browse_node_heads(s);
    s->orders = 0;
    s->hidden_share = true;
    gcd_status st = browse_add_made(
        v, (struct browse_made){ .text = cli_root_label(v->model->graph, v->model->names, r) },
        err);
    for (size_t i = 0; i < n && st == GCD_OK;) {
        if (!v->full && steps[i].fold == GCD_FOLD_HIDDEN)
            st = add_hidden(v, steps, n, &i, ++indent, err);
        else if (!v->full && steps[i].fold == GCD_FOLD_INSIDE)
            i++;
        else
            st = add_step(v, &steps[i++], ++indent, err);
    }
    return st;
}
