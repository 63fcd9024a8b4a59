/*
 * Unfinished calls of one asynchronous method.  The box of a call contains the builder, which
 * refers to the box as its task: a box that refers to itself has not completed.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

static bool is_type(const struct gcd_type *t)
{
    return findings_is_box(t->name);
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    ret->group = ret->type;
    return gcd_graph_refers(f->w->g, node, node);
}

const struct finding_rule finding_async = {
    .kind = GCD_SUSPECT_ASYNC,
    .least = FINDING_CALLS,
    .is_type = is_type,
    .look = look,
    .who = findings_nobody,
};

void suspects_tell_async(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects, "call", "calls");
    suspects_put(s, " of the asynchronous method ");
    suspects_put_who(s, x->pub.type);
    suspects_put(s, x->pub.objects == 1 ? " waits" : " wait");
}

void suspects_say_async(struct suspect_words *s, const struct suspect *x)
{
    suspects_tell_async(s, x);
    suspects_put(s, x->pub.objects == 1 ? ". It" : ". They");
    suspects_put_kept(s, &x->pub, x->pub.objects != 1);
    suspects_put(s, ".");
}
