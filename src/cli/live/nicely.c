#include <pthread.h>
#include <sys/resource.h>

#include "live/live.h"
#include "signals.h"

#ifdef GCDUMPC_HAVE_IPC

/* A tenth of the weight of a thread of the process that is dumped (sched(7)). */
#define NICER 10

struct work {
    live_work_fn fn;
    void *ctx;
};

static void *run(void *ctx)
{
    const struct work *w = ctx;
    /* Linux: of this thread alone, which is why there is one: without privileges nobody gets a higher priority back */
    (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + NICER);
    w->fn(w->ctx);
    return NULL;
}

void live_nicely(live_work_fn fn, void *ctx)
{
    struct work w = { .fn = fn, .ctx = ctx };
    pthread_t t;
    if (cli_thread_start(&t, run, &w) == 0)
        (void)pthread_join(t, NULL);
    else
        fn(ctx);
}

#endif
