#include "base/threads/parallel.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

int gcd_thread_start(pthread_t *t, size_t stack_bytes, void *(*run)(void *ctx), void *ctx)
{
    sigset_t all, old;
    pthread_attr_t attr;
    int e = pthread_attr_init(&attr);
    if (e != 0)
        return e;
    if (stack_bytes > 0)
        e = pthread_attr_setstacksize(&attr, stack_bytes);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    if (e == 0)
        e = pthread_create(t, &attr, run, ctx);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attr);
    return e;
}

struct loop {
    gcd_part_fn work;
    void *ctx;
    atomic_uint_least32_t next;
    uint32_t parts;
};

static void *take_parts(void *ctx)
{
    struct loop *l = ctx;
    uint32_t part;
    while ((part = atomic_fetch_add_explicit(&l->next, 1, memory_order_relaxed)) < l->parts)
        l->work(l->ctx, part);
    return NULL;
}

void gcd_parallel(unsigned threads, uint32_t parts, gcd_part_fn work, void *ctx)
{
    struct loop l = { .work = work, .ctx = ctx, .parts = parts };
    pthread_t others[GCD_THREADS_MAX];
    unsigned started = 0;
    if (threads > GCD_THREADS_MAX)
        threads = GCD_THREADS_MAX;
    while (started + 1 < threads && started + 1 < parts &&
           gcd_thread_start(&others[started], 0, take_parts, &l) == 0)
        started++;
    (void)take_parts(&l);
    for (unsigned i = 0; i < started; i++)
        (void)pthread_join(others[i], NULL);
}

struct other_work {
    void (*run)(void *ctx);
    void *ctx;
};

static void *run_other(void *ctx)
{
    const struct other_work *w = ctx;
    w->run(w->ctx);
    return NULL;
}

void gcd_parallel_invoke(unsigned threads, void (*here)(void *ctx), void (*beside)(void *ctx),
                         void *ctx)
{
    struct other_work w = { .run = beside, .ctx = ctx };
    pthread_t other;
    bool started = threads > 1 && gcd_thread_start(&other, 0, run_other, &w) == 0;
    here(ctx);
    if (started)
        (void)pthread_join(other, NULL);
    else
        beside(ctx);
}

void gcd_part_range(uint32_t count, uint32_t grain, uint32_t part, uint32_t parts,
                    uint32_t *ret_first, uint32_t *ret_end)
{
    uint64_t grains = ((uint64_t)count + grain - 1) / grain;
    uint64_t first = grains * part / parts * grain, end = grains * (part + 1) / parts * grain;
    *ret_first = (uint32_t)(first < count ? first : count);
    *ret_end = (uint32_t)(end < count ? end : count);
}
