/*
 * An allocator with a bound on memory: large blocks that do not fit go to files.
 *
 *     struct gcd_spill *s;
 *     const char *const folders[] = { "/var/tmp", NULL };
 *     struct gcd_spill_options o = { .budget_bytes = UINT64_C(300) << 20, .folders = folders };
 *     if (gcd_spill_new(&o, &s, &err) == GCD_OK) {
 *         struct gcd_graph_options options = { .context.alloc = gcd_spill_alloc(s) };
 *         ...
 *     }
 *
 * All blocks together take at most the budget of anonymous memory (RssAnon), unless small blocks
 * alone take more.  A block of GCD_SPILL_BLOCK bytes or more that does not fit becomes a shared
 * mapping of a file without a name.  It is used like any other memory.  The kernel keeps its pages
 * in the page cache, writes them to the disk, and takes them back when memory is scarce, in a
 * memory cgroup as well.
 *
 * The allocator reserves the disk space of a file before mapping it, so a full disk makes an
 * allocation fail instead of raising SIGBUS.  This needs a file system that keeps what it has
 * reserved: ext4 and xfs do; those that never overwrite in place (btrfs, ZFS) do not.  The files
 * disappear with their blocks and when the process ends, however it ends.
 *
 * Several threads may use it.
 */
#ifndef GCDUMPC_UNSTABLE_SPILL_H
#define GCDUMPC_UNSTABLE_SPILL_H

#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>

/* Smaller blocks always stay in memory. */
#define GCD_SPILL_BLOCK 65536u
/* The smallest budget: small blocks need some memory in any case. */
#define GCD_SPILL_BUDGET_MIN (UINT64_C(16) << 20)

struct gcd_spill;

struct gcd_spill_options {
    uint64_t budget_bytes; /* GCD_SPILL_BUDGET_MIN or more */
    /* for the files: uses the first one with room that is on a disk (not tmpfs); NULL after the
     * last.  Must outlive S */
    const char *const *folders;
};

/* Makes no file yet.  GCD_E_ARG: the budget is too small. */
GCD_MUST_CHECK gcd_status gcd_spill_new(const struct gcd_spill_options *options,
                                        struct gcd_spill **ret, struct gcd_error *err);
/* All blocks must have been freed. */
void gcd_spill_free(struct gcd_spill *s);

/* Valid as long as S. */
const struct gcd_alloc *gcd_spill_alloc(const struct gcd_spill *s);

/* A smaller budget for the blocks from now on, at least GCD_SPILL_BUDGET_MIN; a larger one is
 * ignored.  Not while other threads use S. */
void gcd_spill_lower_budget(struct gcd_spill *s, uint64_t budget_bytes);

/*
 * Checks whether NEED_BYTES could be allocated now.  RET_FOLDER is the folder for files, NULL if
 * the budget suffices. GCD_E_IO: no folder can hold the files, or their disks do not have enough
 * room.
 */
GCD_MUST_CHECK gcd_status gcd_spill_check(const struct gcd_spill *s, uint64_t need_bytes,
                                          const char **ret_folder, struct gcd_error *err);

/* Why the last large block failed; GCD_OK if none did.  An allocator can only return NULL. */
gcd_status gcd_spill_status(struct gcd_spill *s, struct gcd_error *err);

#endif
