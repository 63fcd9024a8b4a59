/*
 * Calls that wait for one semaphore and may hold another: they have two in their variables, or they
 * have passed the place where others of their method wait for one.
 */
#include "analyze/async/async_gates.h"

#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/origins.h>

#include "analyze/dominators/live_edges.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"

#define CHECK_EVERY 4096u
#define CALLERS_MAX 16u

static const char *type_name(const struct gates *w, uint32_t node)
{
    return gcd_graph_summary(w->g)->types[gcd_graph_type_at(&w->type_of, node)].name;
}

/* The call that waits for NODE, which waits for FROM; GCD_NODE_NONE. */
static uint32_t caller_of(const struct gates *w, uint32_t node, uint32_t from)
{
    size_t n;
    const uint32_t *edges = gcd_graph_few_edges(w->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i] != node && edges[i] != from &&
            strstr(type_name(w, edges[i]), "StateMachineBox`") != NULL)
            return edges[i];
    return GCD_NODE_NONE;
}

/* The calls that wait for NODE of a queue, the innermost first. */
static size_t callers_of(const struct gates *w, uint32_t node, uint32_t ret[CALLERS_MAX])
{
    size_t n = 0;
    uint32_t from = node, at = caller_of(w, node, node);
    while (n < CALLERS_MAX && at != GCD_NODE_NONE) {
        uint32_t next = caller_of(w, at, from);
        ret[n++] = from = at;
        at = next;
    }
    return n;
}

/* In a debug build the variables of the call BOX are in an object of their own; else BOX. */
static uint32_t variables_of(const struct gates *w, uint32_t box)
{
    size_t n;
    const uint32_t *edges = gcd_graph_few_edges(w->g, box, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i] != box && gcd_made_of(type_name(w, edges[i])) == GCD_MADE_OF_STATE)
            return edges[i];
    return box;
}

/* ---- calls with two semaphores ---- */

/* Does NODE refer to a semaphore that calls wait for, other than *FIRST?  That is the first one,
 * GCD_NODE_NONE = none so far. */
static bool has_other(const struct gates *w, uint32_t node, uint32_t *first)
{
    size_t n;
    const uint32_t *edges = gcd_graph_few_edges(w->g, node, &n);
    for (size_t i = 0; i < n; i++) {
        if (gcd_graph_type_at(&w->type_of, edges[i]) != w->semaphore ||
            !bits_get(w->seen, edges[i]))
            continue;
        if (*first != GCD_NODE_NONE && *first != edges[i])
            return true;
        *first = edges[i];
    }
    return false;
}

/* Has one of the CALLERS[N], which wait for one semaphore, another one in its variables? */
static bool crosses(const struct gates *w, const uint32_t *callers, size_t n)
{
    uint32_t first = GCD_NODE_NONE;
    for (size_t i = 0; i < n; i++) {
        uint32_t variables = variables_of(w, callers[i]);
        if (has_other(w, callers[i], &first) ||
            (variables != callers[i] && has_other(w, variables, &first)))
            return true;
    }
    return false;
}

/* ---- calls in a later step ---- */

/* Where calls of a method first wait for semaphores. */
struct first_step {
    uint32_t gate; /* one of these semaphores; GCD_NODE_NONE: no call is known to wait */
    uint32_t step;
    bool several; /* semaphores */
};

/* Which await the call BOX has come to. */
static uint32_t step_of(const struct gates *w, uint32_t box)
{
    return w->of->step(w->of->steps, gcd_graph_node_address(w->g, variables_of(w, box)));
}

static bool is_own(const struct gates *w, uint32_t box)
{
    uint32_t type = gcd_graph_type_at(&w->type_of, box);
    return gcd_origins_get(w->of->origins, type) == GCD_ORIGIN_OWN;
}

/* The innermost call of the program waits for GATE. */
static void add_first(const struct gates *w, const uint32_t *callers, size_t n, uint32_t gate,
                      struct first_step *firsts)
{
    size_t i = 0;
    while (i < n && !is_own(w, callers[i]))
        i++;
    uint32_t step = i < n ? step_of(w, callers[i]) : GCD_STEP_UNKNOWN;
    if (step == GCD_STEP_UNKNOWN)
        return;
    struct first_step *f = &firsts[gcd_graph_type_at(&w->type_of, callers[i])];
    if (f->gate == GCD_NODE_NONE || step < f->step)
        *f = (struct first_step){ .gate = gate, .step = step };
    else
        f->several = f->several || (step == f->step && gate != f->gate);
}

/* Has one of CALLERS[N], which wait for GATE, passed the step where others of its method wait?  If
 * so, *RET tells whether those wait for another semaphore, too. */
static bool is_later(const struct gates *w, const uint32_t *callers, size_t n, uint32_t gate,
                     const struct first_step *firsts, bool *ret)
{
    for (size_t i = 0; i < n; i++) {
        const struct first_step *f = &firsts[gcd_graph_type_at(&w->type_of, callers[i])];
        uint32_t step = f->gate != GCD_NODE_NONE ? step_of(w, callers[i]) : GCD_STEP_UNKNOWN;
        if (step == GCD_STEP_UNKNOWN || step <= f->step)
            continue;
        *ret = f->several || f->gate != gate;
        return true;
    }
    return false;
}

/* FIRSTS are known. */
static gcd_status count_later(const struct gates *w, const struct first_step *firsts,
                              struct gcd_async_jam *jam, struct gcd_error *err)
{
    uint32_t callers[CALLERS_MAX], gate = GCD_NODE_NONE; /* that of the first in a later step */
    for (size_t i = 0; i < w->queued; i++) {
        bool other;
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(w->cancel, err));
        size_t n = callers_of(w, w->queue[i].node, callers);
        if (!is_later(w, callers, n, w->queue[i].gate, firsts, &other))
            continue;
        jam->later += other;
        jam->again += !other;
        jam->later_differ =
            jam->later_differ || (other && gate != GCD_NODE_NONE && gate != w->queue[i].gate);
        gate = other ? w->queue[i].gate : gate;
    }
    return GCD_OK;
}

/* ---- all of them ---- */

static gcd_status look_at_all(const struct gates *w, struct first_step *firsts,
                              struct gcd_async_jam *jam, struct gcd_error *err)
{
    uint32_t callers[CALLERS_MAX];
    for (size_t i = 0; i < w->queued; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(w->cancel, err));
        size_t n = callers_of(w, w->queue[i].node, callers);
        jam->crossing += jam->gates > 1 && crosses(w, callers, n);
        if (firsts != NULL)
            add_first(w, callers, n, w->queue[i].gate, firsts);
    }
    return firsts != NULL ? count_later(w, firsts, jam, err) : GCD_OK;
}

gcd_status async_find_order(const struct gates *w, struct gcd_async_jam *jam, struct gcd_error *err)
{
    const struct gcd_alloc alloc = gcd_alloc_or_default(w->of->context.alloc);
    size_t types = (size_t)gcd_graph_summary(w->g)->type_count + 1;
    struct first_step *firsts = NULL;
    if (w->of->step != NULL) {
        firsts = gcd_mem_new_uncleared(&alloc, types, sizeof *firsts);
        if (firsts == NULL)
            return gcd_fail_nomem(err, "finding which calls hold semaphores");
        for (size_t i = 0; i < types; i++)
            firsts[i] = (struct first_step){ .gate = GCD_NODE_NONE };
    }
    gcd_status st = look_at_all(w, firsts, jam, err);
    for (size_t i = 0; i < types && firsts != NULL; i++)
        jam->steps_known = jam->steps_known || firsts[i].gate != GCD_NODE_NONE;
    gcd_mem_free(&alloc, firsts, firsts != NULL ? types * sizeof *firsts : 0);
    return st;
}
