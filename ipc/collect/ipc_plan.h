/*
 * Plans a collection from the runtime's version before asking it for anything.  No I/O and no
 * libuv.  The README of this folder has the reasons and measurements.
 */
#ifndef GCD_IPC_PLAN_H
#define GCD_IPC_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>

#include "ipc/wire/ipc_wire.h"

struct gcd_plan {
    enum gcd_ipc_strategy strategy; /* SINGLE or DRAIN */
    enum gcd_wire_command command;  /* the first command to try */
    /* make the runtime forget which types it has already reported */
    bool flush;
    /* it sends during the walk only if it knows CollectTracing6; without, it becomes DRAIN */
    bool single_needs_6;
    /* the answer to the request that forces the GC comes after GC and walk */
    bool answers_after_walk;
    uint64_t spent_ms; /* the part of the allowed time already used */
};

/* VERSION of the runtime, like "10.0.12"; "" if it does not report it (.NET 5 and 6), NULL if it
 * does not support the command (.NET Core 3). */
struct gcd_plan gcd_plan_make(const struct gcd_ipc_collect_options *options, const char *version);

/* The sessions of a collection, in the order in which they are opened and stopped. */
enum gcd_leg { GCD_LEG_FLUSH, GCD_LEG_RECORD, GCD_LEG_TRIGGER, GCD_LEG_COUNT };

struct gcd_plan_request {
    uint8_t bytes[GCD_WIRE_REQUEST_MAX];
    size_t n;
};

/* Encodes the request that opens session LEG with COMMAND; as gcd_wire_encode_collect. */
GCD_MUST_CHECK gcd_status gcd_plan_encode(const struct gcd_ipc_collect_options *options,
                                          enum gcd_ipc_strategy strategy, enum gcd_leg leg,
                                          enum gcd_wire_command command,
                                          struct gcd_plan_request *ret, struct gcd_error *err);

#endif
