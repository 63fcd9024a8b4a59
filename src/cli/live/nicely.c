#include <pthread.h>
#include <sys/resource.h>

#include "live/live.h"
#include "signals.h"

#ifdef GCDUMPC_HAVE_IPC

/* Gives a tenth of the scheduling weight of a normal thread (sched(7)). */
#define NICER 10

struct work {
    live_work_fn fn;
    void *ctx;
};

static void *run(void *ctx)
{
    const struct work *w = ctx;
    /* On Linux this affects only this thread.  That is why there is a thread: without privileges,
     * priority cannot be raised again. */
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
