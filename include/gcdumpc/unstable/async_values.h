/*
 * What tasks, timers and requests of Kestrel are about, from the memory of their objects: the state
 * of tasks, when timers are due, the method and path of requests.
 *
 *     struct gcd_async_values_of of = { .view = { .memory = in, .values = values } };
 *     struct gcd_async_values *v;
 *     if (gcd_async_values_new(graph, &of, &v, &err) == GCD_OK) {
 *         printf("%" PRIu64 " failed\n", gcd_async_tasks(v)[GCD_TASK_FAULTED].count);
 *         gcd_async_values_free(v);
 *     }
 *
 * Known to hold for .NET 8 to 11.
 */
#ifndef GCDUMPC_UNSTABLE_ASYNC_VALUES_H
#define GCDUMPC_UNSTABLE_ASYNC_VALUES_H

#include <gcdumpc/context.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/values.h>

struct gcd_async_values;

struct gcd_async_values_of {
    struct gcd_context context;
    struct gcd_values_view view; /* outlives the result; without texts, requests have no paths */
};

/* As Task.Status, in the order in which a task goes through them. */
enum gcd_task_state {
    GCD_TASK_CREATED,
    GCD_TASK_QUEUED,  /* waits for a thread */
    GCD_TASK_RUNNING, /* its delegate */
    GCD_TASK_WAITING, /* for what completes it: an async method, a promise; or for children */
    GCD_TASK_COMPLETED,
    GCD_TASK_CANCELED,
    GCD_TASK_FAULTED,
    GCD_TASK_STATES
};

/* All tasks in one state. */
struct gcd_tasks {
    uint64_t count, bytes; /* shallow; saturates */
    uint32_t node;         /* the first of them; GCD_NODE_NONE: there is none */
};

/* All timers that are set alike, for objects of one type. */
#define GCD_TIMER_NEVER UINT32_MAX
struct gcd_timers {
    uint32_t due_ms;    /* after it was set, or has fired; GCD_TIMER_NEVER: it is not set */
    uint32_t period_ms; /* GCD_TIMER_NEVER: it fires once */
    uint32_t type;      /* of the object that it calls, or gives to a method; GCD_TYPE_NONE */
    uint32_t node;      /* the first of them */
    uint64_t count;
};

/* All requests with one method and path that Kestrel has given to the program and not ended. */
struct gcd_requests {
    const char *method; /* as the enum of Kestrel: "Get"; "" = unknown, or a custom one */
    uint32_t path;      /* a text of the values, without the query; GCD_TEXT_NONE: unknown */
    uint32_t node;      /* the first of them */
    uint64_t count;
};

/* G must outlive the result.  One pass over all objects.  GCD_END: no memory is at hand;
 * GCD_E_NOMEM, GCD_E_CANCELED. */
GCD_MUST_CHECK gcd_status gcd_async_values_new(const struct gcd_graph *g,
                                               const struct gcd_async_values_of *of,
                                               struct gcd_async_values **ret,
                                               struct gcd_error *err);
void gcd_async_values_free(struct gcd_async_values *v);

/* Everything returned below belongs to V.  [GCD_TASK_STATES] */
const struct gcd_tasks *gcd_async_tasks(const struct gcd_async_values *v);
/* The most frequent first, then those that are due first.  [*RET_N] */
const struct gcd_timers *gcd_async_timers(const struct gcd_async_values *v, size_t *ret_n);
/* The most frequent first, then in the order of the heap.  [*RET_N] */
const struct gcd_requests *gcd_async_requests(const struct gcd_async_values *v, size_t *ret_n);

/* Its name in JSON and for people: "running". */
const char *gcd_task_state_name(enum gcd_task_state state);

#endif
