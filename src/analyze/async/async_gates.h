/* Semaphores that calls wait for: between async_jam.c and async_order.c. */
#ifndef GCD_ANALYZE_ASYNC_ASYNC_GATES_H
#define GCD_ANALYZE_ASYNC_ASYNC_GATES_H

#include <gcdumpc/unstable/async.h>
#include <gcdumpc/unstable/graph/graph_types.h>

/* NODE, in the queue of a semaphore, waits for that: GATE. */
struct gate_waiter {
    uint32_t node, gate;
};

struct gates {
    const struct gcd_graph *g;
    const struct gcd_async_jam_of *of;
    struct gcd_graph_types type_of;
    const gcd_cancel_flag *cancel;
    uint32_t semaphore, waiter; /* types; GCD_TYPE_NONE = there is none */
    uint8_t *passages;          /* [types] enum passage */
    /* bits of nodes: counted waiters and what they wait for, then what is known to lead to the
     * semaphores; what a pass looks for, first the semaphores; what the next one looks for */
    uint64_t *seen, *wanted, *next;
    struct gate_waiter *queue; /* [waiters] of all semaphores, the first QUEUED are found */
    size_t waiters, queued;
    uint64_t count; /* of semaphores */
    bool more;      /* something is in NEXT */
};

/* Which of those who wait may hold another semaphore of W: JAM->crossing, and the steps. */
gcd_status async_find_order(const struct gates *w, struct gcd_async_jam *jam,
                            struct gcd_error *err);

/* async_blocked.c: the method of the program in which most threads block for tasks, in RET[CAP];
 * nothing if the dump does not tell. */
void async_find_blocked(const struct gcd_async_jam_of *of, struct gcd_async_jam *jam, char *ret,
                        size_t cap);

#endif
