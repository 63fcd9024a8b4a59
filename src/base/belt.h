/*
 * A belt between threads: one side fills boxes, the other one empties them in the same order.  The number of boxes bounds how far the one
 * gets ahead, and so the memory.
 */
#ifndef GCD_BASE_BELT_H
#define GCD_BASE_BELT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

#define GCD_BELT_BOXES 4u

enum gcd_box_state { GCD_BOX_EMPTY, GCD_BOX_FULL, GCD_BOX_TAKEN };

struct gcd_box {
    void *bytes;                 /* [box_bytes] */
    size_t used;                 /* the user's, like the next two */
    uint64_t at;
    int status;
    enum gcd_box_state state;    /* the belt's */
};

struct gcd_belt {
    const struct gcd_alloc *alloc;
    size_t box_bytes;
    struct gcd_box boxes[GCD_BELT_BOXES];
    unsigned fill, take;         /* the next one on each side */
    bool ended;
    pthread_mutex_t lock;
    pthread_cond_t moved;
};

/* False when out of memory.  B is then as good as done. */
bool gcd_belt_init(struct gcd_belt *b, const struct gcd_alloc *a, size_t box_bytes);
/* No thread may be at the belt any more.  Fine for one of zeros, too. */
void gcd_belt_done(struct gcd_belt *b);

/* The next empty box, when there is one; the same one until it is put.  NULL when the belt has ended. */
struct gcd_box *gcd_belt_empty(struct gcd_belt *b);
/* It is full now. */
void gcd_belt_put(struct gcd_belt *b, struct gcd_box *box);

/* The next full box, when there is one; several threads may take.  NULL when the belt has ended and all are taken. */
struct gcd_box *gcd_belt_take(struct gcd_belt *b);
/* It can be filled again. */
void gcd_belt_give_back(struct gcd_belt *b, struct gcd_box *box);

/* Waits until all boxes that were put have been given back. */
void gcd_belt_settle(struct gcd_belt *b);
/* Nobody will put a box any more, or, from the other side, take one. */
void gcd_belt_end(struct gcd_belt *b);

#endif
