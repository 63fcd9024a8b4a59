/*
 * Loops on several threads.  The caller says how many threads may run (the option "threads" of the
 * public headers); a result never depends on that number or on the distribution of work.
 *
 * Within a loop only the calling thread allocates: the user's allocator need not be thread-safe.
 */
#ifndef GCD_BASE_PARALLEL_H
#define GCD_BASE_PARALLEL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* More would not help: all this work waits for memory. */
#define GCD_THREADS_MAX 64u

/*
 * Starts a thread that receives no signals: those are for the program's own threads.  STACK_BYTES
 * 0: the default.  Returns 0, or an errno when the system has no more threads; the caller then
 * works without.
 */
int gcd_thread_start(pthread_t *t, size_t stack_bytes, void *(*run)(void *ctx), void *ctx);

typedef void (*gcd_part_fn)(void *ctx, uint32_t part);

/*
 * Runs WORK for the parts 0 ... PARTS - 1 in any order, on up to THREADS threads including the
 * calling one, and returns when all are done. With 0 or 1 threads, or when no thread can be
 * started, the calling thread does everything.
 */
void gcd_parallel(unsigned threads, uint32_t parts, gcd_part_fn work, void *ctx);

/*
 * Runs two functions at the same time: HERE on the calling thread, so that it may call back the
 * user, BESIDE on another one.  Returns when both are done.  With 0 or 1 threads, or when no thread
 * can be started, runs HERE, then BESIDE.  Both may allocate from a struct gcd_locked_alloc.
 */
void gcd_parallel_invoke(unsigned threads, void (*here)(void *ctx), void (*beside)(void *ctx),
                         void *ctx);

/* [*RET_FIRST, *RET_END): part PART of PARTS of COUNT items; every size except the last is a
 * multiple of GRAIN. */
void gcd_part_range(uint32_t count, uint32_t grain, uint32_t part, uint32_t parts,
                    uint32_t *ret_first, uint32_t *ret_end);

#endif
