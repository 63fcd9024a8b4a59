#include "base/threads/in_order.h"

#include "base/threads/parallel.h"

/* False: no more work will come. */
static bool work_next(struct gcd_in_order *o)
{
    struct gcd_slot *slot = gcd_queue_take(&o->queue);
    if (slot == NULL)
        return false;
    if (slot->used > 0)
        o->work(o->ctx, slot);
    gcd_queue_give_back(&o->queue, slot);
    return true;
}

static void *work_all(void *ctx)
{
    while (work_next(ctx))
        ;
    return NULL;
}

bool gcd_in_order_init(struct gcd_in_order *o, const struct gcd_alloc *a, size_t slot_bytes,
                       unsigned threads, gcd_in_order_fn work, void *ctx)
{
    *o = (struct gcd_in_order){ .work = work, .ctx = ctx };
    if (!gcd_queue_init(&o->queue, a, slot_bytes))
        return false;
    if (threads > GCD_IN_ORDER_THREADS)
        threads = GCD_IN_ORDER_THREADS;
    while (o->thread_count < threads &&
           gcd_thread_start(&o->threads[o->thread_count], 0, work_all, o) == 0)
        o->thread_count++;
    return true;
}

void gcd_in_order_done(struct gcd_in_order *o)
{
    gcd_queue_end(&o->queue);
    for (unsigned i = 0; i < o->thread_count; i++)
        (void)pthread_join(o->threads[i], NULL);
    gcd_queue_done(&o->queue);
}

struct gcd_slot *gcd_in_order_next(struct gcd_in_order *o)
{
    return gcd_queue_empty(&o->queue);
}

void gcd_in_order_put(struct gcd_in_order *o, struct gcd_slot *slot)
{
    gcd_queue_put(&o->queue, slot);
    if (o->thread_count == 0)
        (void)work_next(o);
}
