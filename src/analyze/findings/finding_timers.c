/*
 * Timers that pile up.  A timer in a queue refers to its neighbours; a timer that is disposed or
 * was never set does not.  A Task.Delay and a CancellationTokenSource with a timeout are timers,
 * too.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

static bool is_type(const struct gcd_type *t)
{
    return findings_is_named(t->name, "System.Threading.", "TimerQueueTimer");
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    if (!f->all && !findings_holds(f, node))
        return false;
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

/* This part of all timers, or more, is for one method that waits: a sentence about that method. */
#define NEARLY_ALL(n) ((n) - (n) / 10)

static bool is_delay(const struct suspects_work *w, uint32_t timer)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, timer, &n);
    for (size_t i = 0; i < n; i++)
        if (strstr(gcd_graph_summary(w->g)->types[suspects_type_of(w, edges[i])].name,
                   "Task+DelayPromise") != NULL)
            return true;
    return false;
}

bool suspects_are_delays(const struct suspect_words *s, const struct suspect *x)
{
    uint64_t delays = 0, least = NEARLY_ALL(x->pub.objects);
    if (x->pub.kind != GCD_SUSPECT_TIMERS || x->pub.held_count == 0 ||
        !suspects_is_call(s, x->pub.held[0].type) || x->pub.held[0].objects < least)
        return false;
    for (size_t i = 0; i < s->w->owned_count; i++)
        delays += s->w->owned[i].id == x->id && is_delay(s->w, s->w->owned[i].node);
    return delays >= least;
}

void suspects_tell_timers(struct suspect_words *s, const struct suspect *x)
{
    if (suspects_are_delays(s, x)) {
        suspects_put_count(s, x->pub.held[0].objects, "call of ", "calls of ");
        suspects_put_where(s, x->pub.held[0].type);
        suspects_put(s,
                     x->pub.held[0].objects == 1 ? " waits in Task.Delay" : " wait in Task.Delay");
        return;
    }
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
    if (suspects_are_delays(s, x)) {
        suspects_put(s, "Pass a CancellationToken to the Task.Delay in ");
        suspects_put_where(s, x->pub.held[0].type);
        suspects_put(s, ", and cancel it when nobody waits for the call any more.");
        return;
    }
    suspects_put(s, "Dispose of timers whose work is done, and cancel a Task.Delay that nobody "
                    "waits for any more");
    if (x->pub.held_count > 0) {
        suspects_put(s, ": look in ");
        (void)suspects_put_holders(s, x, suspects_put_where);
    }
    suspects_put(s, ".");
}
