/*
 * Tasks that something waits for.  An incomplete task refers to what it will run; a completed one
 * refers to a plain object instead, or to nothing. Boxes of asynchronous methods are tasks, too,
 * but have their own kind; a Task.Delay is a timer.
 */
#include "analyze/findings/findings.h"
#include "analyze/suspects/suspects_words.h"

#include <string.h>

/* A call that waits in SemaphoreSlim.WaitAsync. */
static bool is_waiter(const char *name)
{
    return findings_is_named(name, "System.Threading.", "TaskNode");
}

static bool is_task(const char *name)
{
    static const char *const words[] = { "Task",
                                         "WhenAllPromise",
                                         "TwoTaskWhenAnyPromise",
                                         "UnwrapPromise",
                                         "ContinuationTaskFromTask",
                                         "ContinuationResultTaskFromTask",
                                         "ContinuationTaskFromResultTask",
                                         "ContinuationResultTaskFromResultTask" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (findings_is_named(name, "System.Threading.Tasks.", words[i]))
            return true;
    return is_waiter(name);
}

static bool is_type(const struct gcd_type *t)
{
    return is_task(t->name);
}

static bool look(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(f->w->g, node, &n);
    ret->group = ret->type;
    for (size_t i = 0; i < n; i++)
        if (edges[i] != node && findings_has(f, edges[i], FINDING_RUNS))
            return true;
    return false;
}

const struct finding_rule finding_tasks = {
    .kind = GCD_SUSPECT_TASKS,
    .least = FINDING_TASKS,
    .is_type = is_type,
    .look = look,
};

void suspects_tell_tasks(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects, "task has", "tasks have");
    suspects_put(s, " not completed (");
    suspects_put_type(s, x->pub.type);
    suspects_put(s, "), and something waits for each");
    suspects_put_behind(s, x, " waited for by ");
}

void suspects_advise_tasks(struct suspect_words *s, const struct suspect *x)
{
    if (is_waiter(gcd_graph_summary(s->w->g)->types[x->pub.type].name)) {
        suspects_put(s, "They wait for a semaphore that calls hold: look for a path without its "
                        "Release, such as an exception where finally is missing, and for calls "
                        "that hold one and wait for another.");
        return;
    }
    suspects_put(s, "Look for what should complete them: a TaskCompletionSource that gets no "
                    "result on some path, or work that never ends.");
}

/* ---- one task with many continuations ---- */

static bool is_list(const struct gcd_type *t)
{
    return strcmp(t->name, "System.Collections.Generic.List`1[System.Object]") == 0 ||
           strcmp(t->name, "System.Collections.Generic.List<System.Object>") == 0;
}

/* Is the list NODE the list of continuations of the task that refers to it? */
static bool look_list(const struct findings *f, uint32_t node, struct finding_member *ret)
{
    const struct suspects_work *w = f->w;
    uint32_t task = suspects_parent(w, node);
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    if (n != 1 || task >= GCD_NODE_ROOT)
        return false;
    ret->list = edges[0];
    edges = gcd_graph_node_edges(w->g, ret->list, &n);
    if (n < FINDING_FEW || !findings_has(f, edges[0], FINDING_RUNS))
        return false;
    if (!findings_is_of(f, task, GCD_SUSPECT_TASKS) && !findings_is_of(f, task, GCD_SUSPECT_ASYNC))
        return false;
    ret->objects = n;
    ret->group = node;
    ret->node = task;
    ret->type = suspects_type_of(w, task);
    return true;
}

const struct finding_rule finding_continuations = {
    .kind = GCD_SUSPECT_CONTINUATIONS,
    .least = FINDING_CONTINUATIONS,
    .replaces = true,
    .is_type = is_list,
    .look = look_list,
};

void suspects_tell_continuations(struct suspect_words *s, const struct suspect *x)
{
    suspects_put_count(s, x->pub.objects, "continuation waits", "continuations wait");
    suspects_put(s, " for one ");
    suspects_put_type(s, x->pub.type);
    suspects_put(s, " to complete");
    suspects_put_behind(s, x, " of ");
}

void suspects_say_continuations(struct suspect_words *s, const struct suspect *x)
{
    suspects_tell_continuations(s, x);
    suspects_put(s, ". They");
    suspects_put_kept(s, &x->pub, true);
    suspects_put(s, ".");
    suspects_put_held_by(s, x, "The task is");
    /* a lambda does not tell what its variables keep */
    if (x->pub.held_count > 0 && suspects_is_lambda(s, x->pub.held[0].type) && x->pub.own_count > 0)
        suspects_put_own(s, &x->pub);
}
