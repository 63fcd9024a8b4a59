/*
 * Waiting until a process needs a dump, at almost no cost: nothing is asked of the process, and
 * where the kernel can report that memory grows, it wakes the caller.  Part of libgcdumpc_ipc.
 */
#ifndef GCDUMPC_UNSTABLE_IPC_WATCH_H
#define GCDUMPC_UNSTABLE_IPC_WATCH_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/ipc_target.h>

/* ---- which processes ---- */

/* Remembers which processes were found, so that each is asked for its name only once. */
struct gcd_ipc_finder;

/* ALLOC may be NULL.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status gcd_ipc_finder_new(const struct gcd_alloc *alloc,
                                             struct gcd_ipc_finder **ret, struct gcd_error *err);
void gcd_ipc_finder_free(struct gcd_ipc_finder *f);

/*
 * The .NET processes that are new since the last call, all of them in the first call.  One whose
 * name is not known yet, because it has just started or does not answer, is returned again in later
 * calls, after half of its age and at most a minute.  A process that is not .NET is looked at again
 * in the same way, because it may start .NET by exec.  NOW_MS: a clock that never goes back.
 * OPTIONS as for gcd_ipc_list, but processes that /proc does not show are left out.  Errors and RET
 * as there.
 */
GCD_MUST_CHECK gcd_status gcd_ipc_finder_next(struct gcd_ipc_finder *f, uint64_t now_ms,
                                              const struct gcd_ipc_list_options *options,
                                              struct gcd_ipc_process_list *ret,
                                              struct gcd_error *err);
/* The process PID has ended: another one with this number is new. */
void gcd_ipc_finder_forget(struct gcd_ipc_finder *f, uint32_t pid);

/* ---- the memory of one ---- */

struct gcd_ipc_watch;

/* What gcd_ipc_watch_read reads, as bits.  The resident memory and the limit always. */
#define GCD_IPC_WATCH_HEAP     1u
#define GCD_IPC_WATCH_LEFT     2u
#define GCD_IPC_WATCH_PRESSURE 4u

struct gcd_ipc_watch_values {
    uint64_t rss_bytes; /* resident */
    /* the limit of the cgroup with the least room, else the memory of the machine; 0 = unknown */
    uint64_t limit_bytes;
    enum gcd_ipc_limit limit; /* whose */
    /* what is left before a limit; UINT64_MAX = unknown, or not asked for */
    uint64_t left_bytes;
    uint64_t heap_bytes; /* gcd_ipc_heap_most; 0 = unknown, or not asked for */
    /* hundredths of a percent of the last 10 s in which some task of its cgroup of version 2, else
     * of the machine, waited for memory (PSI); UINT32_MAX = unknown, or not asked for */
    uint32_t pressure;
    /* of the machine, not of a cgroup */
    bool machine_pressure;
};

/*
 * Watches the process PID.  ALLOC may be NULL.  GCD_E_NOT_FOUND (NO_PROCESS): it has ended;
 * GCD_E_NOMEM; GCD_E_IO.
 */
GCD_MUST_CHECK gcd_status gcd_ipc_watch_new(uint32_t pid, const struct gcd_alloc *alloc,
                                            struct gcd_ipc_watch **ret, struct gcd_error *err);
void gcd_ipc_watch_free(struct gcd_ipc_watch *w);

/* Reads PARTS, GCD_IPC_WATCH_….  False: the process has ended. */
bool gcd_ipc_watch_read(struct gcd_ipc_watch *w, unsigned parts, struct gcd_ipc_watch_values *ret);

/*
 * Asks the kernel to wake the caller when the limiting cgroup has GROWTH_BYTES more than now (0 =
 * never), with the files in its cache; and, with PRESSURE, when its tasks wait for memory.  True:
 * it will, before the process itself has grown so much, unless another cgroup has to pay for its
 * memory.  Only version 1 has such thresholds, and only for a user who may write to its
 * cgroup.event_control; with version 2 the caller is woken when the limit is reached
 * (memory.events).
 */
bool gcd_ipc_watch_arm(struct gcd_ipc_watch *w, uint64_t growth_bytes, bool pressure);

/* Descriptors for poll(2): RET[0..n).  They may change with each call of a function of W. */
#define GCD_IPC_WATCH_DESCRIPTORS 4
size_t gcd_ipc_watch_descriptors(const struct gcd_ipc_watch *w,
                                 struct pollfd ret[GCD_IPC_WATCH_DESCRIPTORS]);
/* After poll(2) has filled in ITEMS[N]: must the memory be read now?  *RET_ENDED: the process has
 * ended. */
bool gcd_ipc_watch_woken(struct gcd_ipc_watch *w, const struct pollfd *items, size_t n,
                         bool *ret_ended);

#endif
