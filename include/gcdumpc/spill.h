/*
 * A memory budget: an allocator whose large blocks go to a temporary file when they would take more memory than they may.
 *
 *     struct gcd_spill *s;
 *     const char *const folders[] = { "/var/tmp", NULL };
    struct gcd_spill_options o = { .budget_bytes = UINT64_C(300) << 20, .folders = folders };
 *     if (gcd_spill_new(&o, &s, &err) == GCD_OK) {
 *         struct gcd_graph_options options = { .alloc = gcd_spill_alloc(s) };
 *         ...
 *     }
 *
 * Blocks of GCD_SPILL_BLOCK bytes and more that shall not be in memory (gcd_spill_plan) are parts of one file without a name that are mapped into
 * memory, so that everything works on them as on other memory, slower.  A thread of the allocator's own looks at how much memory of the
 * process is resident and gives pages of these parts back to the file before that is more than the budget.  It starts with the
 * first such block, blocks all signals, and ends in gcd_spill_free.
 *
 * Room on the disk is taken when a block is made, so a full disk is a failed allocation and never a SIGBUS; only a disk that cannot be read
 * any more is.  The file is gone when the process ends, however it does.  What the system keeps of it in its page cache is not resident
 * memory of the process, and given up when somebody else needs it.
 *
 * May be used from several threads.
 */
#ifndef GCDUMPC_SPILL_H
#define GCDUMPC_SPILL_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Smaller blocks are never spilled. */
#define GCD_SPILL_BLOCK 65536u
/* The least budget: the program itself, small blocks, and what must be resident to get on at all. */
#define GCD_SPILL_BUDGET_MIN (UINT64_C(16) << 20)

struct gcd_spill;

struct gcd_spill_options {
    uint64_t budget_bytes;       /* of resident memory of the whole process; GCD_SPILL_BUDGET_MIN or more */
    const char *const *folders;  /* for the file: the first that is no memory (tmpfs) and can be written to; NULL behind the last.  Must outlive S */
    bool relieved_by_caller;     /* no thread is started: the caller calls gcd_spill_relieve a thousand times a second or more */
};

/* The file is made when it is needed.  GCD_E_ARG: the budget is too small.  GCD_E_UNSUPPORTED: the system does not tell what is resident. */
GCD_API GCD_MUST_CHECK gcd_status gcd_spill_new(const struct gcd_spill_options *options, struct gcd_spill **ret, struct gcd_error *err);
/* All blocks have been freed before. */
GCD_API void gcd_spill_free(struct gcd_spill *s);

/*
 * It is known now how much memory what follows will need.  What fits into the budget will not be spilled.  If it does not fit, large blocks
 * are spilled from now on, and the file is made.  Without this call the first half of the budget is memory as usual.
 * GCD_E_IO: there is no folder for the file, or its disk has not so much room.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_spill_plan(struct gcd_spill *s, uint64_t need_bytes, struct gcd_error *err);

/* As long as S lives. */
GCD_API const struct gcd_alloc *gcd_spill_alloc(const struct gcd_spill *s);

/*
 * What that thread does, once.  On a busy machine it comes late; a signal of a timer on the thread that uses the memory does not: this may be
 * called from a signal handler.  It does nothing while memory is being taken.
 */
GCD_API void gcd_spill_relieve(struct gcd_spill *s);

struct gcd_spill_facts {
    uint64_t in_memory_bytes;    /* large blocks that are no part of the file */
    uint64_t file_bytes;         /* those that are */
    uint64_t file_bytes_most;    /* at any time */
    const char *folder;          /* where the file is; NULL = none has been made */
};
/* As it is at this moment. */
GCD_API void gcd_spill_facts(struct gcd_spill *s, struct gcd_spill_facts *ret);

/* Why the last large block could not be had; GCD_OK when all could.  An allocator can only return NULL. */
GCD_API gcd_status gcd_spill_status(struct gcd_spill *s, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
