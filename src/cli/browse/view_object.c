/* One object: what it is, its path from the root, what holds it, what refers to it and what it
 * refers to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>

#include "browse/opening.h"
#include "output/root_labels.h"
#include "term/term.h"

/* Most roots and handles listed for one object. */
#define HOLDERS_SHOWN 100u

/* The name of the generation of NODE; "" without memory ranges. */
static gcd_status generation_of(const struct browse_model *m, uint32_t node,
                                const struct gcd_context *call, const char **ret,
                                struct gcd_error *err)
{
    static const char *const names[] = { "generation 0", "generation 1", "generation 2",
                                         "large object heap", "pinned object heap" };
    const struct gcd_generations *g;
    size_t hint = 0;
    *ret = "";
    if (m->summary->range_count == 0)
        return GCD_OK;
    gcd_status st = gcd_session_generations(m->session, call, &g, err);
    unsigned n = st == GCD_OK
                     ? gcd_generations_find(g, gcd_graph_node_address(m->graph, node), &hint)
                     : GCD_GENERATION_NONE;
    *ret = n < sizeof names / sizeof *names ? names[n] : "in no generation";
    return st;
}

/* A sentence about what keeps NODE alive; NULL: out of memory. */
static char *holder_text(const struct browse_model *m, uint32_t node)
{
    uint32_t above = gcd_dominators_parent(m->dominators, node);
    char object[CLI_NUMBER_BYTES], step[GCD_ASYNC_STEP_BYTES], *text = NULL;
    if (above == GCD_NODE_NONE)
        return strdup(m->summary->verdict.complete
                          ? "No root leads to it."
                          : "No root leads to it; what is missing in the dump may.");
    if (above == GCD_NODE_ROOT)
        return strdup("No single object keeps it alive.");
    int n =
        asprintf(&text, "It lives as long as %s, %s.", answer_object_text(m->graph, above, object),
                 gcd_names_step(m->names, gcd_graph_node_type(m->graph, above), step));
    return n >= 0 ? text : NULL;
}

static gcd_status add_facts(struct browse_view *v, const struct gcd_context *call,
                            struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    uint32_t node = v->subject, type = gcd_graph_node_type(m->graph, node);
    char elements[ANSWER_ELEMENTS_BYTES], object[CLI_NUMBER_BYTES], size[CLI_NUMBER_BYTES],
        retained[CLI_NUMBER_BYTES], step[GCD_ASYNC_STEP_BYTES], *text = NULL;
    const char *module = m->summary->types[type].module_path, *slash = strrchr(module, '/'),
               *generation;
    gcd_status st = answer_elements_of(m->session, call, node, elements, err);
    if (st == GCD_OK)
        st = generation_of(m, node, call, &generation, err);
    if (st != GCD_OK)
        return st;
    char *holder = holder_text(m, node);
    int n = -1;
    if (holder != NULL)
        n = asprintf(&text, "%s%s%s%s%s\n%s, %s, retains %s%s%s. %s",
                     gcd_names_step(m->names, type, step), elements, module[0] != '\0' ? "  [" : "",
                     slash != NULL ? slash + 1 : module, module[0] != '\0' ? "]" : "",
                     answer_object_text(m->graph, node, object),
                     cli_size(gcd_graph_node_size(m->graph, node), size),
                     cli_size(gcd_dominators_retained(m->dominators, node), retained),
                     generation[0] != '\0' ? ", " : "", generation, holder);
    free(holder);
    return browse_add_text(v, n >= 0 ? text : NULL, err);
}

static gcd_status add_path(struct browse_view *v, const struct gcd_context *call,
                           struct gcd_error *err)
{
    struct answer_of_paths of = { .session = v->model->session,
                                  .call = call,
                                  .object = v->subject,
                                  .max = 1,
                                  .folds = !v->full };
    struct answer *a = NULL;
    gcd_status st = gcd_session_paths(of.session, call, &of.paths, err);
    if (st != GCD_OK || gcd_paths_parent(of.paths, v->subject) == GCD_NODE_NONE)
        return st;
    st = answer_object_paths(&of, &a, err);
    return browse_add_path(v, st, a, err);
}

/* Lists the roots, including weak ones, and the dependent handles of the object, which are few;
 * beyond the limit they are only counted. */
static gcd_status add_holders(struct browse_view *v, struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    size_t more = 0, first = v->made_count;
    gcd_status st = GCD_OK;
    struct browse_section *s = browse_add_made_section(v);
    s->title = "Held by roots and dependent handles";
    s->what = "Root or key";
    for (size_t i = 0; i < m->summary->root_count && st == GCD_OK; i++) {
        if (m->summary->roots[i].node != v->subject)
            continue;
        if (v->made_count - first < HOLDERS_SHOWN)
            st = browse_add_made(
                v,
                (struct browse_made){
                    .text = cli_root_label(m->graph, m->names, &m->summary->roots[i]) },
                err);
        else
            more++;
    }
    for (size_t i = 0; i < gcd_graph_dependent_count(m->graph) && st == GCD_OK; i++) {
        const struct gcd_graph_dependent *d = gcd_graph_dependent(m->graph, i);
        struct browse_made made = { .goal = GOAL_OBJECT, .to = d->key };
        char object[CLI_NUMBER_BYTES], step[GCD_ASYNC_STEP_BYTES];
        if (d->value != v->subject || (v->made_count - first >= HOLDERS_SHOWN && ++more > 0))
            continue;
        if (asprintf(&made.text, "dependent handle of %s  %s",
                     gcd_names_step(m->names, gcd_graph_node_type(m->graph, d->key), step),
                     answer_object_text(m->graph, d->key, object)) < 0)
            made.text = NULL;
        st = browse_add_made(v, made, err);
    }
    char *rest = NULL;
    if (more > 0 && st == GCD_OK)
        st = browse_add_made(
            v,
            (struct browse_made){
                .text = asprintf(&rest, "(%s more)", GCD_DIGITS(more)) >= 0 ? rest : NULL },
            err);
    if (s->count == 0 && st == GCD_OK)
        v->section_count--;
    return st;
}

/* The fields with their values, where these are shown. */
static gcd_status add_values(struct browse_view *v, const struct gcd_context *call,
                             struct gcd_error *err)
{
    struct answer *a;
    gcd_status st = answer_object_values(v->model->session, call, v->subject, &a, err);
    size_t n = st == GCD_OK && a != NULL ? answer_plain_rows(a) : 0;
    if (n > 0) {
        struct browse_section *s = browse_add_made_section(v);
        s->title = "Values";
        s->what = "Field";
    }
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        const struct answer_cell *node = answer_find(a, i, "node");
        bool refers = node != NULL && node->known;
        st = browse_add_made(v,
                             (struct browse_made){ .text = strdup(answer_value_line(a, i)),
                                                   .goal = refers ? GOAL_OBJECT : GOAL_NONE,
                                                   .to = refers ? (uint32_t)node->number : 0 },
                             err);
    }
    answer_free(a);
    return st;
}

static void add_list(struct browse_view *v, const char *title, browse_line_fn line,
                     const uint32_t *nodes, uint64_t n)
{
    struct browse_section *s = browse_add_section(v);
    *s = (struct browse_section){ .title = title, .line = line, .ids = nodes, .count = n };
    browse_node_heads(s);
    s->orders |= 1u << ORDER_AS_IS;
}

gcd_status browse_open_object(struct browse_view *v, const struct gcd_context *call,
                              struct gcd_error *err)
{
    const struct browse_model *m = v->model;
    struct browse_model now = *m;
    struct gcd_node_list referrers;
    const struct gcd_fields *fields;
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(m->graph, v->subject, &n);
    gcd_status st = gcd_session_dominators(m->session, call, &now.dominators, err);
    if (st == GCD_OK)
        st = gcd_session_fields(m->session, call, &fields, err);
    if (st == GCD_OK)
        st = gcd_session_referrers(m->session, call, v->subject, &referrers, err);
    if (st != GCD_OK)
        return st;
    /* a model that knows the dominators; nobody uses the view yet */
    v->model = &now;
    st = add_facts(v, call, err);
    if (st == GCD_OK)
        st = add_path(v, call, err);
    if (st == GCD_OK)
        st = add_values(v, call, err);
    if (st == GCD_OK)
        st = add_holders(v, err);
    v->model = m;
    if (st != GCD_OK)
        return st;
    add_list(v, "Referred to by", browse_referrer_line, referrers.nodes, referrers.count);
    add_list(v, "Refers to", browse_reference_line, edges, n);
    char object[CLI_NUMBER_BYTES];
    if (asprintf(&v->title, "Object %s", answer_object_text(m->graph, v->subject, object)) < 0)
        v->title = NULL;
    return v->title != NULL ? GCD_OK : browse_no_memory(err);
}
