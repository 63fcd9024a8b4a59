/*
 * Timers that pile up.  A timer in a queue refers to its neighbours; a timer that is disposed or
 * was never set does not.  A Task.Delay and a CancellationTokenSource with a timeout are timers,
 * too.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

static bool is_type(const struct gcd_type *t)
{
    return findings_is_named(t->name, "System.Threading.", "TimerQueueTimer");
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i] != node && findings_is_of(f, edges[i], GCD_SUSPECT_TIMERS)) {
            ret->node = GCD_NODE_NONE;
            return true;
        }
    return false;
}

const struct finding_rule finding_timers = {
    .kind = GCD_SUSPECT_TIMERS,
    .least = FINDING_TIMERS,
    .chained = true,
    .replaces = true,
    .is_type = is_type,
    .look = look,
};

void suspects_tell_timers(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects, "timer is set", "timers are set");
    suspects_put_behind(s, x, " for ");
}

void suspects_say_timers(struct suspect_words *s, const struct suspect *x)
{
    suspects_tell_timers(s, x);
    suspects_put(s, x->pub.objects == 1 ? ". It" : ". They");
    suspects_put_kept(s, &x->pub, x->pub.objects != 1);
    if (x->heaviest_type != GCD_TYPE_NONE) {
        suspects_put(s, ", mostly by way of ");
        suspects_put_who(s, x->heaviest_type);
    }
    suspects_put(s, ".");
}

void suspects_advise_timers(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, "Dispose of timers whose work is done, and cancel a Task.Delay that nobody "
                    "waits for any more");
    if (x->pub.held_count > 0) {
        suspects_put(s, ": look in ");
        (void)suspects_put_holders(s, x, suspects_put_who);
    }
    suspects_put(s, ".");
}
