/*
 * The user's allocator for two threads at the same time: it need not bear more than one.
 */
#ifndef GCD_BASE_LOCKED_ALLOC_H
#define GCD_BASE_LOCKED_ALLOC_H

#include <pthread.h>

#include <gcdumpc/alloc.h>

struct gcd_locked_alloc {
    struct gcd_alloc user;
    pthread_mutex_t lock;
};

/* An allocator that hands on to USER, one call at a time; what it gives may be freed with either.  L must not move, nor end before it. */
struct gcd_alloc gcd_locked_alloc_init(struct gcd_locked_alloc *l, const struct gcd_alloc *user);
void gcd_locked_alloc_done(struct gcd_locked_alloc *l);

#endif
