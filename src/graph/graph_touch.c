#include "graph/graph_touch.h"

#include <stdint.h>
#include <sys/mman.h>

#include "base/threads/parallel.h"

/* How much of an array to touch before the next one. */
#define STEP_BYTES ((uintptr_t)2 << 20)

#ifdef MADV_POPULATE_WRITE
static void touch(const struct graph_touch *t, size_t array, uintptr_t done)
{
    uintptr_t start = (uintptr_t)t->arrays[array].items, end = start + t->arrays[array].bytes;
    uintptr_t from = (start + done) / STEP_BYTES * STEP_BYTES, to = from + STEP_BYTES;
    if (from >= start && to <= end)
        (void)madvise((void *)from, STEP_BYTES, MADV_POPULATE_WRITE);
}

static void *touch_all(void *ctx)
{
    struct graph_touch *t = ctx;
    for (size_t first = 0, count = t->together; first < TOUCH_ARRAYS; first += count, count = 1)
        for (uintptr_t done = 0; done < t->arrays[first].bytes &&
                                 !atomic_load_explicit(&t->ended, memory_order_relaxed);
             done += STEP_BYTES)
            for (size_t i = 0; i < count; i++)
                touch(t, first + i, done);
    return NULL;
}

void graph_touch_begin(struct graph_touch *t, unsigned threads)
{
    t->started = threads > 1 && gcd_thread_start(&t->thread, 0, touch_all, t) == 0;
}
#else
void graph_touch_begin(struct graph_touch *t, unsigned threads)
{
    (void)t;
    (void)threads;
}
#endif

void graph_touch_end(struct graph_touch *t)
{
    if (!t->started)
        return;
    atomic_store_explicit(&t->ended, true, memory_order_relaxed);
    (void)pthread_join(t->thread, NULL);
    t->started = false;
}
