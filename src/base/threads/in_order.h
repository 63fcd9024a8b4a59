/*
 * The calling thread hands out work in slots, other threads do it, and the caller takes it back in
 * the order in which it was handed out: for outputs, which must not depend on the number of
 * threads.
 */
#ifndef GCD_BASE_IN_ORDER_H
#define GCD_BASE_IN_ORDER_H

#include "base/threads/queue.h"

/* More threads would wait for slots. */
#define GCD_IN_ORDER_THREADS (GCD_QUEUE_SLOTS - 1)

/* Does what SLOT asks for, on any thread; neither allocates nor calls back. */
typedef void (*gcd_in_order_fn)(void *ctx, struct gcd_slot *slot);

struct gcd_in_order {
    struct gcd_queue queue;
    gcd_in_order_fn work;
    void *ctx;
    pthread_t threads[GCD_IN_ORDER_THREADS];
    unsigned thread_count;
};

/*
 * Up to THREADS threads besides the calling one; without any, gcd_in_order_put works itself.  False
 * when out of memory; O then needs no gcd_in_order_done.
 */
bool gcd_in_order_init(struct gcd_in_order *o, const struct gcd_alloc *a, size_t slot_bytes,
                       unsigned threads, gcd_in_order_fn work, void *ctx);
/* Waits for all work that was handed out. */
void gcd_in_order_done(struct gcd_in_order *o);

/* Waits for the oldest slot not yet returned by this function; its work is done, or it was never
 * handed out (USED is 0). */
struct gcd_slot *gcd_in_order_next(struct gcd_in_order *o);
/* Hands out the slot that gcd_in_order_next has returned, or gives it back unused (USED is 0). */
void gcd_in_order_put(struct gcd_in_order *o, struct gcd_slot *slot);

#endif
