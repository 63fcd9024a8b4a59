/*
 * Memory that another thread asks of the system while the calling one begins to fill it: the system clears every page at its first use, which
 * takes a third of the time to read objects.
 */
#ifndef GCD_GRAPH_GRAPH_TOUCH_H
#define GCD_GRAPH_GRAPH_TOUCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define TOUCH_ARRAYS 5u

/* Zeroed, it is over. */
struct graph_touch {
    pthread_t thread;
    bool started;
    atomic_bool ended;
    struct {
        void *items;             /* stay where they are until graph_touch_end */
        size_t bytes;
    } arrays[TOUCH_ARRAYS];
    size_t together;             /* the first so many arrays are filled at the same time, the first is the largest; then the others, one by one */
};

/* Begins, if another thread may run; contents stay as they are, and nothing fails. */
void graph_touch_begin(struct graph_touch *t, unsigned threads);
/* No thread touches anything any more. */
void graph_touch_end(struct graph_touch *t);

#endif
