/*
 * A bounded queue between threads: one side fills slots, the other empties them in the same order.
 * The number of slots limits how far the filling side can get ahead, and thereby the memory.
 */
#ifndef GCD_BASE_QUEUE_H
#define GCD_BASE_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

#define GCD_QUEUE_SLOTS 4u

enum gcd_slot_state { GCD_SLOT_EMPTY, GCD_SLOT_FULL, GCD_SLOT_TAKEN };

struct gcd_slot {
    void *bytes; /* [slot_bytes] */
    size_t used; /* set by the user of the queue, like the next two */
    uint64_t at;
    int status;
    enum gcd_slot_state state; /* set by the queue */
};

struct gcd_queue {
    const struct gcd_alloc *alloc;
    size_t slot_bytes;
    struct gcd_slot slots[GCD_QUEUE_SLOTS];
    unsigned fill, take; /* next slot of each side */
    bool ended;
    pthread_mutex_t lock;
    pthread_cond_t moved;
};

/* False when out of memory; Q then needs no gcd_queue_done. */
bool gcd_queue_init(struct gcd_queue *q, const struct gcd_alloc *a, size_t slot_bytes);
/* No thread may still use the queue.  A zeroed queue is fine. */
void gcd_queue_done(struct gcd_queue *q);

/* Waits for an empty slot; returns the same one until it is put.  NULL: the queue was ended. */
struct gcd_slot *gcd_queue_empty(struct gcd_queue *q);
/* Passes a filled slot on. */
void gcd_queue_put(struct gcd_queue *q, struct gcd_slot *slot);

/* Waits for a full slot; several threads may take.  NULL: the queue was ended and no full slot is
 * left. */
struct gcd_slot *gcd_queue_take(struct gcd_queue *q);
/* Makes the slot available for filling again. */
void gcd_queue_give_back(struct gcd_queue *q, struct gcd_slot *slot);

/* Waits until every put slot has been given back. */
void gcd_queue_drain(struct gcd_queue *q);
/* Wakes both sides: no more slots will be put or, called by the other side, taken. */
void gcd_queue_end(struct gcd_queue *q);

#endif
