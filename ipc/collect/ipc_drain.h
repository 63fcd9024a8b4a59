/* The parts of a collection that tests set.  The entry point is gcd_ipc_collect. */
#ifndef GCD_IPC_SESSION_H
#define GCD_IPC_SESSION_H

#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

#include "ipc/collect/ipc_plan.h"

/* How long to wait for a runtime after the collection was given up or is complete. */
struct gcd_session_graces {
    /*
     * For the answer to the collect command: without it there is no session number, and nothing can
     * be stopped.  After this time the connection is closed, and the runtime drops the session at
     * its first write, right after the heap walk.
     */
    uint64_t reply_ms;
    /* For the answer to StopTracing and the end of the stream, once one of the two arrived or the
     * collection failed. */
    uint64_t stop_ms;
    /*
     * For everything that needs no heap walk, before any failure: process information, a session
     * that only records, StopTracing, and the first bytes of a walk that is reported as over.  A GC
     * of the program itself delays all of them.
     */
    uint64_t answer_ms;
    /*
     * For the answer to StopTracing of a recording, from the last byte on.  The runtime lists its
     * modules first, which may take it minutes (measured, .NET 10, a composite image of ASP.NET
     * Core: 6 s of processor time without a byte).
     */
    uint64_t rundown_ms;
    /* For the whole shutdown while bytes keep coming, because a process could send bytes forever.
     */
    uint64_t farewell_ms;
};

/* gcd_ipc_collect with PLAN instead of asking the runtime, and GRACES instead of the defaults (2 s,
 * 5 s, 10 s, 2 min, 10 min). */
GCD_MUST_CHECK gcd_status gcd_session_collect(const struct gcd_ipc_collect_options *options,
                                              const struct gcd_plan *plan,
                                              const struct gcd_session_graces *graces,
                                              struct gcd_ipc_collect_result *ret,
                                              struct gcd_error *err);

#endif
