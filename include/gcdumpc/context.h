/*
 * What long calls share: memory, limits, a flag that cancels them, threads and progress.  Every struct of options has one as its first field,
 * and all of it may be zero:
 *
 *     struct gcd_context context = { .cancel = &flag, .threads = 4 };
 *     gcd_graph_from_dump(dump, &(struct gcd_graph_options){ .context = context }, &graph, &err);
 *
 * What is made with options keeps a copy; memory and flag must live as long as that.
 */
#ifndef GCDUMPC_CONTEXT_H
#define GCDUMPC_CONTEXT_H

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Called now and then in the thread of the caller.  DONE of TOTAL: while an input is read, the position in it (gcd_reader_position) and its size
 * or the options' progress_total; of computations steps.
 */
typedef void (*gcd_progress_fn)(void *ctx, uint64_t done, uint64_t total);

/* Each call uses what it needs of this. */
struct gcd_context {
    const struct gcd_alloc *alloc;   /* NULL: malloc */
    const struct gcd_limits *limits; /* NULL: defaults */
    const gcd_cancel_flag *cancel;   /* polled; a set flag ends the call with GCD_E_CANCELED.  NULL: never */
    unsigned threads;                /* 0 and 1: only the caller's thread.  The result does not depend on it */
    gcd_progress_fn progress;        /* NULL: none */
    void *progress_ctx;
};

#ifdef __cplusplus
}
#endif
#endif
