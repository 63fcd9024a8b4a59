/* Makes the user's allocator usable by two threads, although it need not be thread-safe. */
#ifndef GCD_BASE_LOCKED_ALLOC_H
#define GCD_BASE_LOCKED_ALLOC_H

#include <pthread.h>

#include <gcdumpc/alloc.h>

struct gcd_locked_alloc {
    struct gcd_alloc user;
    pthread_mutex_t lock;
};

/* An allocator that forwards to USER, one call at a time; its memory may be freed with either.  L
 * must not move, and must outlive its use. */
struct gcd_alloc gcd_locked_alloc_init(struct gcd_locked_alloc *l, const struct gcd_alloc *user);
void gcd_locked_alloc_done(struct gcd_locked_alloc *l);

#endif
