/*
 * Callbacks registered with one CancellationTokenSource, including those of sources linked to it.
 * They form a list.  At first only its inner nodes are counted, so sources with one or two
 * callbacks cost nothing; there may be millions of them.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#include "base/short_name.h"

#define ENDS 2u

static bool is_type(const struct gcd_type *t)
{
    return findings_is_named(t->name, "System.Threading.", "CallbackNode");
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    size_t n, neighbours = 0, others = 0;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    if (!f->all && !findings_holds(f, node))
        return false;
    for (size_t i = 0; i < n; i++) {
        bool is_neighbour = findings_is_of(f, edges[i], GCD_SUSPECT_CANCELLATION);
        neighbours += edges[i] != node && is_neighbour;
        others += !is_neighbour;
    }
    /* a node without a callback is kept for the next one */
    if (neighbours < (f->all ? 1 : ENDS) || others < 2 ||
        !findings_is_named(f->types[suspects_type_of(f->w, edges[0])].name, "System.Threading.",
                           "Registrations"))
        return false;
    ret->group = ret->node = edges[0];
    edges = gcd_graph_node_edges(f->w->g, edges[0], &n);
    for (size_t i = 0; i < n && ret->node == ret->group; i++)
        if (strstr(f->types[suspects_type_of(f->w, edges[i])].name, "CancellationTokenSource") !=
                NULL &&
            !findings_is_of(f, edges[i], GCD_SUSPECT_CANCELLATION))
            ret->node = edges[i];
    return true;
}

static bool is_linked(const struct findings *f, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (strstr(f->types[suspects_type_of(f->w, edges[i])].name, GCD_LINKED_SOURCE) != NULL)
            return true;
    return false;
}

const struct finding_rule finding_cancellation = {
    .kind = GCD_SUSPECT_CANCELLATION,
    .least = FINDING_REGISTRATIONS,
    .beside = ENDS,
    .chained = true,
    .replaces = true,
    .is_type = is_type,
    .look = look,
    .is_linked = is_linked,
};

void suspects_tell_cancellation(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    suspects_put_count(s, p->objects, "callback is", "callbacks are");
    suspects_put(s, " registered with one CancellationTokenSource");
    /* else the words behind say it */
    if (x->linked > 0 && p->held_count > 0 && !suspects_is_linked_source(s, p->held[0].type)) {
        suspects_put(s, ", ");
        if (x->linked < p->objects) {
            suspects_put_number(s, x->linked);
            suspects_put(s, " of them ");
        }
        suspects_put(s, "by sources linked to it (CreateLinkedTokenSource)");
    }
    suspects_put_behind(s, x, " for ");
}

void suspects_advise_cancellation(struct suspect_words *s, const struct suspect *x)
{
    bool linked = x->linked > 0, all = x->linked >= x->pub.objects;
    suspects_put(s,
                 "The source lives longer than what %s: ", all ? "is linked to it" : "registers");
    if (suspects_put_holders(s, x, suspects_put_where))
        suspects_put(s, " should ");
    suspects_put(s, "dispose of each %s", all ? "" : "CancellationTokenRegistration");
    if (linked) {
        suspects_put(s, "%ssource that CreateLinkedTokenSource makes", all ? "" : ", and of each ");
        (void)suspects_put_variable(s, " from ", x);
    }
    suspects_put(s, "%s when its work is done.", linked && !all ? "," : "");
}
