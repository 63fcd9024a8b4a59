/*
 * How many objects of one type each owner has: "24,000 Account have at most 8 Entry, and 21,582
 * have as many".  Between two dumps that tells owners that fill up to a limit from a leak.
 *
 * The owner of an object is the nearest object that dominates it, of a class of the program that is
 * not its own type.
 */
#ifndef GCDUMPC_UNSTABLE_OWNER_FILLS_H
#define GCDUMPC_UNSTABLE_OWNER_FILLS_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/origins.h>

/* Of the objects of a type: the class that owns most of them. */
struct gcd_owner_fill {
    uint32_t owner, element;   /* types */
    uint64_t owners, elements; /* the owners that have any, and what they have */
    uint32_t most;             /* one has so many, */
    uint64_t full;             /* so have these, */
    uint64_t nearly;           /* and these at least three quarters as many */
};

/* Only the most numerous types are counted. */
#define GCD_OWNER_FILLS_MAX 16u
struct gcd_owner_fills {
    struct gcd_owner_fill rows[GCD_OWNER_FILLS_MAX];
    size_t count;
};

/*
 * D and ORIGINS: of G.  Time: linear.  Memory during the call: up to 12 bytes per object.  CONTEXT
 * may be NULL.  GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_owner_fills(const struct gcd_graph *g, const struct gcd_dominators *d,
                                          const struct gcd_origins *origins,
                                          const struct gcd_context *context,
                                          struct gcd_owner_fills *ret, struct gcd_error *err);

#endif
