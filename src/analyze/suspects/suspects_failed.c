/*
 * Queues whose reader may have ended: an object of the program that refers to the queue, or to what
 * has it in a field, and to a task that has failed.  Its loop took the elements out, until an
 * exception ended it that nobody looked at; the writers go on.
 */
#include "analyze/suspects/suspects.h"

#include <string.h>

#include "base/error.h"

/* From a failed task to its first exception. */
static const char *const steps[] = {
    "System.Threading.Tasks.Task+ContingentProperties",
    "System.Threading.Tasks.TaskExceptionHolder",
    "System.Collections.Generic.List`1[System.Runtime.ExceptionServices.ExceptionDispatchInfo]",
    "System.Runtime.ExceptionServices.ExceptionDispatchInfo[]",
    "System.Runtime.ExceptionServices.ExceptionDispatchInfo",
};
#define STEPS (sizeof steps / sizeof *steps)

/* The type of the exception with which TASK has failed; GCD_TYPE_NONE: it has not.  TYPES: of the
 * steps. */
static uint32_t failure_of(const struct suspects_work *w, const uint32_t *types, uint32_t task)
{
    size_t n;
    for (size_t i = 0; i < STEPS && task != GCD_NODE_NONE; i++)
        task = suspects_field_of(w, task, types[i]);
    if (task == GCD_NODE_NONE)
        return GCD_TYPE_NONE;
    const uint32_t *edges = gcd_graph_few_edges(w->g, task, &n);
    return n > 0 ? suspects_type_of(w, edges[0]) : GCD_TYPE_NONE;
}

/* Does NODE refer to the queue of X, or to what has it in a field? */
static bool knows(const struct suspects_work *w, const struct suspect *x, uint32_t node)
{
    size_t n, k;
    const uint32_t *edges = gcd_graph_few_edges(w->g, node, &n);
    for (size_t i = 0; i < n; i++) {
        if (edges[i] == x->collection.node)
            return true;
        const uint32_t *inner = gcd_graph_few_edges(w->g, edges[i], &k);
        for (size_t j = 0; j < k; j++)
            if (inner[j] == x->collection.node)
                return true;
    }
    return false;
}

static gcd_status find(struct suspects_work *w, struct suspect *x, const uint32_t *types,
                       struct gcd_error *err)
{
    for (uint32_t node = 0; node < w->nodes && x->failure == GCD_TYPE_NONE; node++) {
        size_t n;
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        if (!w->is_own[suspects_type_of(w, node)] || suspects_parent(w, node) == GCD_NODE_NONE)
            continue;
        const uint32_t *edges = gcd_graph_few_edges(w->g, node, &n);
        for (size_t i = 0; i < n && x->failure == GCD_TYPE_NONE; i++)
            x->failure = failure_of(w, types, edges[i]);
        if (x->failure != GCD_TYPE_NONE && !knows(w, x, node))
            x->failure = GCD_TYPE_NONE;
        x->failed = suspects_type_of(w, node);
    }
    return GCD_OK;
}

/* The numbers of the types of all STEPS; false: one is not in the heap. */
static bool find_types(const struct suspects_work *w, uint32_t ret[STEPS])
{
    size_t found = 0;
    for (size_t k = 0; k < STEPS; k++)
        for (uint32_t i = 0; i < w->types && found == k; i++)
            if (strcmp(gcd_graph_summary(w->g)->types[i].name, steps[k]) == 0)
                ret[found++] = i;
    return found == STEPS;
}

gcd_status suspects_find_failed(struct suspects_work *w, struct gcd_error *err)
{
    uint32_t types[STEPS];
    bool any = find_types(w, types);
    for (size_t i = 0; i < w->s->count; i++) {
        struct suspect *x = &w->s->items[i];
        x->failure = GCD_TYPE_NONE;
        if (any && x->pub.kind == GCD_SUSPECT_OBJECT && suspects_is_queue(x->collection.kind))
            GCD_TRY(find(w, x, types, err));
    }
    return GCD_OK;
}
