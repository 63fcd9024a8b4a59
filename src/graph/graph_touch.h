/*
 * Another thread touches memory while the calling thread begins to fill it: the system clears each
 * page at its first use, which takes a third of the time for reading objects.
 */
#ifndef GCD_GRAPH_GRAPH_TOUCH_H
#define GCD_GRAPH_GRAPH_TOUCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define TOUCH_ARRAYS 5u

/* Zeroed means finished. */
struct graph_touch {
    pthread_t thread;
    bool started;
    atomic_bool ended;
    struct {
        void *items; /* must not move until graph_touch_end */
        size_t bytes;
    } arrays[TOUCH_ARRAYS];
    size_t together; /* this many arrays from the first on are filled at the same time, and the
                        first is the largest; then the others, one by one */
};

/* Starts, if another thread is allowed; does not change contents and cannot fail. */
void graph_touch_begin(struct graph_touch *t, unsigned threads);
/* No thread touches anything any more. */
void graph_touch_end(struct graph_touch *t);

#endif
