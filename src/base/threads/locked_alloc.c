#include "base/threads/locked_alloc.h"

static void *resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    struct gcd_locked_alloc *l = ctx;
    (void)pthread_mutex_lock(&l->lock);
    void *p = l->user.resize(l->user.ctx, ptr, old_bytes, new_bytes);
    (void)pthread_mutex_unlock(&l->lock);
    return p;
}

struct gcd_alloc gcd_locked_alloc_init(struct gcd_locked_alloc *l, const struct gcd_alloc *user)
{
    l->user = *user;
    (void)pthread_mutex_init(&l->lock, NULL); /* the default kind: cannot fail */
    return (struct gcd_alloc){ .resize = resize, .ctx = l };
}

void gcd_locked_alloc_done(struct gcd_locked_alloc *l)
{
    (void)pthread_mutex_destroy(&l->lock);
}
