/*
 * The parts of a collection that tests set.  The entrance is gcd_ipc_collect.
 */
#ifndef GCD_IPC_SESSION_H
#define GCD_IPC_SESSION_H

#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/status.h>

#include "ipc/ipc_plan.h"

/* How long to wait for a runtime once the collection is given up, or has all it needs. */
struct gcd_session_graces {
    /*
     * For the answer to the collect command: without it there is no session number, and nothing can be stopped.  Then
     * the connection is closed, and the runtime drops the session at its first write, right after the heap walk.
     */
    uint64_t reply_ms;
    /* For the answer to StopTracing and the end of the stream, once one of both is there or the collection has failed. */
    uint64_t stop_ms;
    /*
     * For what needs no heap walk, while nothing has gone wrong: who it is, a session that only records, StopTracing, and the first
     * bytes of a walk that is said to be over.  A GC of the program's own delays all of them.
     */
    uint64_t answer_ms;
    /* For all of the farewell while bytes keep coming, each of which is waited for by the above: a process could send them for ever. */
    uint64_t farewell_ms;
};

/* gcd_ipc_collect with PLAN instead of asking the runtime, and GRACES for the built-in ones (2 s, 5 s, 10 s, 10 min). */
GCD_MUST_CHECK gcd_status gcd_session_collect(const struct gcd_ipc_collect_options *options, const struct gcd_plan *plan,
                                              const struct gcd_session_graces *graces,
                                              struct gcd_ipc_collect_result *ret, struct gcd_error *err);

#endif
