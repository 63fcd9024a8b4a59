/*
 * How a collection is done, chosen from the runtime's version before anything is asked of it.  No I/O and no libuv.
 * The reasons and the figures are in the README of this folder.
 */
#ifndef GCD_IPC_PLAN_H
#define GCD_IPC_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>

#include "ipc/ipc_wire.h"

struct gcd_plan {
    enum gcd_ipc_strategy strategy; /* SINGLE or DRAIN */
    enum gcd_wire_command command;  /* where the ladder is entered */
    bool flush;                     /* make the runtime forget which types it has described */
    bool single_needs_block;        /* without CollectTracing6 it becomes DRAIN */
    bool answers_after_walk;        /* the request that forces the GC is answered when that and the walk are over */
    uint64_t spent_ms;              /* of the time that the options allow */
};

/*
 * VERSION: of the runtime, like "10.0.12"; "" when it does not tell (.NET 5 and 6), NULL when it does not know the question
 * (.NET Core 3).
 */
struct gcd_plan gcd_plan_make(const struct gcd_ipc_collect_options *options, const char *version);

/* The sessions of a collection, in the order in which they are opened and stopped. */
enum gcd_leg { GCD_LEG_FLUSH, GCD_LEG_RECORD, GCD_LEG_TRIGGER, GCD_LEG_COUNT };

/* The request that opens the session LEG, as the command COMMAND; as gcd_wire_encode_collect. */
GCD_MUST_CHECK gcd_status gcd_plan_encode(const struct gcd_ipc_collect_options *options, enum gcd_ipc_strategy strategy,
                                          enum gcd_leg leg, enum gcd_wire_command command, uint8_t *buf, size_t cap,
                                          size_t *ret_n, struct gcd_error *err);

#endif
