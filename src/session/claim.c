#include <time.h>

#include "base/context.h"
#include "session/session.h"

/* How often a waiting thread checks its cancel flag. */
#define WAIT_NS 20000000L

static void wait_a_little(struct gcd_session *s)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WAIT_NS;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    (void)pthread_cond_timedwait(&s->moved, &s->lock, &until);
}

/* Waits until no thread computes any of PARTS, then claims the missing ones: *RET_MINE. */
static gcd_status claim(struct gcd_session *s, unsigned parts, const struct gcd_context *context,
                        unsigned *ret_mine, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    (void)pthread_mutex_lock(&s->lock);
    while ((s->running & parts) != 0 && (st = gcd_check_canceled(context->cancel, err)) == GCD_OK)
        wait_a_little(s);
    *ret_mine = st == GCD_OK ? parts & ~atomic_load_explicit(&s->done, memory_order_acquire) : 0;
    s->running |= *ret_mine;
    (void)pthread_mutex_unlock(&s->lock);
    return st;
}

static void release(struct gcd_session *s, unsigned mine, bool done)
{
    (void)pthread_mutex_lock(&s->lock);
    s->running &= ~mine;
    if (done)
        (void)atomic_fetch_or_explicit(&s->done, mine, memory_order_release);
    (void)pthread_cond_broadcast(&s->moved);
    (void)pthread_mutex_unlock(&s->lock);
}

gcd_status session_need(struct gcd_session *s, unsigned parts, const struct gcd_context *context,
                        struct gcd_error *err)
{
    unsigned mine;
    if ((parts & ~atomic_load_explicit(&s->done, memory_order_acquire)) == 0)
        return GCD_OK;
    GCD_TRY(claim(s, parts, context, &mine, err));
    if (mine == 0)
        return GCD_OK;
    gcd_status st = session_make(s, mine, context, err);
    release(s, mine, st == GCD_OK);
    return st;
}
