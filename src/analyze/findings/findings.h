/*
 * Findings: kinds of suspects that are recognized by their types, such as timers that pile up.
 *
 * All rules share one pass over the objects.  A rule tells its types, whether an object counts, and
 * in which group (the registrations of one CancellationTokenSource are a group).  A group with
 * enough objects is a finding.  The type behind an object ("who") is the nearest type of the
 * program below it: what a timer calls.
 */
#ifndef GCD_ANALYZE_FINDINGS_H
#define GCD_ANALYZE_FINDINGS_H

#include "analyze/suspects/suspects.h"

struct findings;

/* An object that a rule counts. */
struct finding_member {
    uint32_t group; /* a node or a type, the rule decides; 0 if all are one group */
    /* represents the group, as its owner; GCD_NODE_NONE: the first object with the most frequent
     * type behind it */
    uint32_t node;
    uint32_t type; /* of the suspect */
    /* an array of the counted objects; GCD_NODE_NONE: the object itself counts */
    uint32_t list;
    uint64_t objects;                /* number in LIST, else 1 */
    const struct finding_rule *rule; /* another rule that counts it; NULL = this one */
};

struct finding_rule {
    enum gcd_suspect_kind kind;
    uint32_t least; /* this many objects of a group are a finding at any size */
    /* this many objects are enough to replace another suspect; 0 = FINDING_FEW */
    uint32_t few;
    uint32_t beside; /* objects of each group that LOOK leaves out at first */
    /* its objects refer to each other: the type behind one is not behind its neighbour */
    bool chained;
    /* their number alone harms nobody: they must also keep a suspect's share alive */
    bool only_large;
    bool replaces; /* a large finding replaces suspects that consist of its objects */
    bool (*is_type)(const struct gcd_type *t);
    bool (*look)(const struct findings *f, uint32_t node, struct finding_member *ret);
    /* The type behind NODE; NULL = findings_who. */
    uint32_t (*who)(const struct findings *f, uint32_t node);
    /* Does NODE, which it counts, count as linked (suspect.linked), too?  NULL = none does. */
    bool (*is_linked)(const struct findings *f, uint32_t node);
};

/* Traits of a type, one bit each. */
#define FINDING_OWN 1u /* of the program */
/* the search skips it: it links the objects of a rule, or is shared by everything */
#define FINDING_SKIP 2u
#define FINDING_RUNS 4u /* what a task runs when it completes */
#define FINDING_FLOW 8u /* an ExecutionContext: where the work was started, not what it is for */

/* Kinds of roots, one bit each, for objects where that matters. */
#define FINDING_IN_HANDLE 1u
#define FINDING_IN_THREAD 2u

struct findings {
    struct suspects_work *w;
    const struct gcd_type *types;
    uint8_t *rule;          /* [types] 1 + the number of the rule that counts it, 0 = none */
    uint8_t *traits;        /* [types] */
    struct gcd_idmap roots; /* node -> its roots, for objects of INTERNED's types */
    bool all;               /* LOOK leaves out nothing */
    const struct callbacks *callbacks; /* NULL = all references count */
};

/* The rules, by number; NULL after the last. */
const struct finding_rule *findings_rule(size_t i);
/* Fills RULE and TRAITS. */
gcd_status findings_classify(struct findings *f, struct gcd_error *err);
bool findings_has(const struct findings *f, uint32_t node, uint8_t trait);
bool findings_is_of(const struct findings *f, uint32_t node, enum gcd_suspect_kind kind);
/* The type behind NODE: its own or the nearest type of the program below it, else the first type
 * the search met; GCD_TYPE_NONE = nothing is below. */
uint32_t findings_who(const struct findings *f, uint32_t node);
/* The type of the program that keeps the most bytes, in an object near below NODE that only NODE
 * keeps alive; GCD_TYPE_NONE = none is near. */
uint32_t findings_heaviest(const struct findings *f, uint32_t node, uint64_t *ret_bytes);
/* The nearest type of the program that dominates NODE, else the nearest type but collections, else
 * the nearest; GCD_TYPE_NONE = only roots do. */
uint32_t findings_holder(const struct findings *f, uint32_t node);
/* Does a timer or a registration keep anything that nothing else does?  Of 1,000 sessions in a
 * dictionary, each with its timer, no timer is to blame. */
bool findings_holds(const struct findings *f, uint32_t node);
/* Is it the box of an asynchronous method? */
bool findings_is_box(const char *name);
/* Is NAME, in the runtime's spelling, the type LAST in namespace SPACE, or nested in a type of
 * SPACE; with any type arguments? */
bool findings_is_named(const char *name, const char *space, const char *last);

/* For rules that count all objects of their types, as one group. */
bool findings_any(const struct findings *f, uint32_t node, struct finding_member *ret);

/* For rules with no type behind their objects.  The next one: for rules that only other rules refer
 * to. */
uint32_t findings_nobody(const struct findings *f, uint32_t node);
bool findings_no_type(const struct gcd_type *t);

extern const struct finding_rule finding_timers, finding_cancellation, finding_tasks,
    finding_continuations, finding_async, finding_boxed;
extern const struct finding_rule finding_tracker, finding_http, finding_code, finding_waits,
    finding_interned, finding_flows;
extern const struct finding_rule finding_thread_statics;
extern const struct finding_rule finding_pool_shared, finding_pool_made, finding_pool_memory,
    finding_pool_objects, finding_pool_http;

#endif
