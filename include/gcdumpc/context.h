/*
 * What long calls share: memory, limits, a cancel flag, threads and progress.  It is the first
 * field of every options structure and may be all zero:
 *
 *     struct gcd_context context = { .cancel = &flag, .threads = 4 };
 *     gcd_graph_from_dump(dump, &(struct gcd_graph_options){ .context = context }, &graph, &err);
 *
 * An object made with options keeps a copy of this; allocator and flag must outlive the object.
 */
#ifndef GCDUMPC_CONTEXT_H
#define GCDUMPC_CONTEXT_H

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Called now and then in the caller's thread with DONE of TOTAL.  While an input is read, DONE is
 * the position in it (gcd_reader_position), and TOTAL its size or the options' progress_total.
 * Computations count steps.
 */
typedef void (*gcd_progress_fn)(void *ctx, uint64_t done, uint64_t total);

/* A call uses only the fields that it needs. */
struct gcd_context {
    const struct gcd_alloc *alloc;   /* NULL: malloc */
    const struct gcd_limits *limits; /* NULL: defaults */
    /* polled; when set, the call fails with GCD_E_CANCELED.  NULL: never canceled */
    const gcd_cancel_flag *cancel;
    /* 0 and 1: only the caller's thread.  The result does not depend on it */
    unsigned threads;
    gcd_progress_fn progress; /* NULL: none */
    void *progress_ctx;
};

#ifdef __cplusplus
}
#endif
#endif
