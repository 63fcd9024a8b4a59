/*
 * Converts events of any recording to records of an .etl.
 */
#ifndef WRAP_H
#define WRAP_H

#include <gcdumpc/event.h>

#include "etl_out.h"

/* Processor numbers have 11 bits; a thread takes two. */
#define WRAP_THREADS 1000u
/* Between the process ids of two inputs. */
#define WRAP_PROCESS_STEP 100000u

struct wrap_thread {
    size_t input;
    uint64_t id;
    uint64_t last_ticks;
    unsigned side; /* which of its two processors it runs on */
    unsigned events;
};

/* Zero it, then begin OUT. */
struct wrap {
    struct out out;
    struct wrap_thread threads[WRAP_THREADS];
    size_t thread_count;
    unsigned long events;
    const char *problem; /* why wrap_event failed */
};

/* Adds EV of input number INPUT.  False if it does not fit into an .etl. */
bool wrap_event(struct wrap *w, size_t input, const struct gcd_event *ev);

#endif
