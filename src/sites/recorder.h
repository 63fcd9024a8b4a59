/*
 * What gcd_site_recorder collects.
 */
#ifndef GCD_SITES_RECORDER_H
#define GCD_SITES_RECORDER_H

#include <stdatomic.h>

#include <gcdumpc/trace.h>
#include <gcdumpc/unstable/sites.h>

#include "sites/code.h"
#include "sites/follow.h"

/* An event about a collection, of the stream of collections. */
struct recorder_gc {
    uint64_t time; /* must be first; gcd_sort_key */
    uint32_t id;   /* GCStart, GCGlobalHeapHistory */
    uint32_t number, depth, type;
    bool compacts;
};

struct gcd_site_recorder {
    struct gcd_context context;
    struct gcd_alloc alloc;
    struct gcd_trace *traces[GCD_SITE_STREAMS];
    struct follow follow; /* of the allocations */
    struct code code;
    struct recorder_gc *gcs; /* of the collections */
    size_t gc_count, gc_cap;
    int64_t begin_unix_ms, first_ns, close_ns, last_ns;
    int64_t walk_unix_ms; /* of the walk's collection */
    uint64_t lost_events;

    atomic_bool closed; /* the window */
    atomic_bool held;
    _Atomic uint64_t samples, longest_pause_ns;
    atomic_bool background_runs;
    uint32_t background_number; /* of the one that runs, in the stream of collections */
    uint64_t pausing_thread;    /* which suspended the process for a background collection */
    int64_t pause_begin_ns;     /* INT64_MIN = none */
};

#endif
