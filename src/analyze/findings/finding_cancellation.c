/*
 * Callbacks registered with one CancellationTokenSource, including those of sources linked to it.
 * They form a list.  At first only its inner nodes are counted, so sources with one or two
 * callbacks cost nothing; there may be millions of them.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

#define ENDS 2u

static bool is_type(const struct gcd_type *t)
{
    return findings_is_named(t->name, "System.Threading.", "CallbackNode");
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    size_t n, neighbours = 0;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        neighbours += edges[i] != node && findings_is_of(f, edges[i], GCD_SUSPECT_CANCELLATION);
    if (neighbours < (f->all ? 1 : ENDS) ||
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

const struct finding_rule finding_cancellation = {
    .kind = GCD_SUSPECT_CANCELLATION,
    .least = FINDING_REGISTRATIONS,
    .beside = ENDS,
    .chained = true,
    .replaces = true,
    .is_type = is_type,
    .look = look,
};

void suspects_tell_cancellation(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects, "callback is", "callbacks are");
    suspects_put(s, " registered with one CancellationTokenSource");
    suspects_put_behind(s, x, " for ");
}

void suspects_say_cancellation(struct suspect_words *s, const struct suspect *x)
{
    suspects_tell_cancellation(s, x);
    suspects_put(s, ". They");
    suspects_put_kept(s, &x->pub, true);
    suspects_put(s, ".");
    suspects_put_held_by(s, x, "The source is");
}

void suspects_advise_cancellation(struct suspect_words *s, const struct suspect *x)
{
    bool linked = false;
    for (size_t i = 0; i < x->pub.held_count; i++)
        linked = linked || suspects_is_linked_source(s, x->pub.held[i].type);
    suspects_put(s, "The source lives longer than what registers: ");
    if (suspects_put_holders(s, x, suspects_put_who))
        suspects_put(s, " should ");
    suspects_put(s, "dispose of each CancellationTokenRegistration%s when its work is done.",
                 linked ? ", and of each source that CreateLinkedTokenSource makes," : "");
}
