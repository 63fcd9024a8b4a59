/*
 * Loops on several threads.  Who starts threads was told how many it may have (the option "threads" of the public headers); a result never
 * depends on that number, or on which thread has done what.
 *
 * In loops only the thread that calls allocates: the allocator is the user's and need not bear several.
 */
#ifndef GCD_BASE_PARALLEL_H
#define GCD_BASE_PARALLEL_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* More are of no use here: all that is done with them waits for memory. */
#define GCD_THREADS_MAX 64u

/*
 * A thread in which no signal arrives: those are for the program's own.  STACK_BYTES 0: what is usual.  Returns 0, or an errno when the
 * system has none left: then do without.
 */
int gcd_thread_start(pthread_t *t, size_t stack_bytes, void *(*run)(void *ctx), void *ctx);

typedef void (*gcd_part_fn)(void *ctx, uint32_t part);

/*
 * WORK for the parts 0 ... PARTS - 1 in any order, on up to THREADS threads, of which the calling one is one; returns when all are done.
 * With 0 or 1 threads, or when there are no more to be had, all of it is done here.
 */
void gcd_parallel(unsigned threads, uint32_t parts, gcd_part_fn work, void *ctx);

/*
 * Two pieces of work at the same time: HERE by the calling thread, so that it may call back the user, BESIDE by another one; returns when both
 * are done.  With 0 or 1 threads, or when there are no more to be had, first HERE, then BESIDE.  Both may allocate, from a
 * struct gcd_locked_alloc.
 */
void gcd_parallel_invoke(unsigned threads, void (*here)(void *ctx), void (*beside)(void *ctx), void *ctx);

/* [*RET_FIRST, *RET_END): part PART of PARTS of COUNT things, each but the last a multiple of GRAIN. */
void gcd_part_range(uint32_t count, uint32_t grain, uint32_t part, uint32_t parts, uint32_t *ret_first, uint32_t *ret_end);

#endif
