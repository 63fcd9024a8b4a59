/*
 * Findings: kinds of suspects that are known by the types that take part in them, such as timers that pile up.
 *
 * All rules share one pass over the objects.  A rule says which types it is about and whether an object is one of those it counts, and in which group
 * (the registrations of one CancellationTokenSource are a group).  A group with enough objects is a finding.  Who is behind a finding is the type of
 * the program that is nearest below each object: what a timer calls.
 */
#ifndef GCD_ANALYZE_FINDINGS_H
#define GCD_ANALYZE_FINDINGS_H

#include "analyze/suspects/suspects.h"

struct findings;

/* An object that a rule counts. */
struct finding_member {
    uint32_t group;              /* a node or a type, as the rule likes; 0 when all are one group */
    uint32_t node;               /* that describes the group, as its owner; GCD_NODE_NONE: the first object of those that are behind most */
    uint32_t type;               /* of the suspect */
    uint32_t list;               /* an array of what is counted; GCD_NODE_NONE: the object itself */
    uint64_t objects;            /* in it, else 1 */
    const struct finding_rule *rule;     /* another rule that counts it; NULL = this one */
};

struct finding_rule {
    enum gcd_suspect_kind kind;
    uint32_t least;              /* objects of a group that are a finding at any size */
    uint32_t few;                /* objects that are enough to take the place of another suspect; 0 = FINDING_FEW */
    uint32_t beside;             /* objects of each group that LOOK leaves out at first */
    bool chained;                /* its objects refer to each other: what is behind one is not behind its neighbour */
    bool replaces;               /* a large finding takes the place of suspects made of its objects */
    bool (*is_type)(const struct gcd_type *t);
    bool (*look)(const struct findings *f, uint32_t node, struct finding_member *ret);
    /* Who is behind NODE, other than whom the search finds; NULL = the search. */
    uint32_t (*who)(const struct findings *f, uint32_t node);
};

/* What a type is for the search; a bit each. */
#define FINDING_OWN 1u           /* of the program */
#define FINDING_SKIP 2u          /* the search does not look at it: it links the objects of a rule, or is of everybody */
#define FINDING_RUNS 4u          /* what a task runs when it completes */

/* Roots of objects for which that matters. */
#define FINDING_IN_HANDLE 1u
#define FINDING_IN_THREAD 2u

struct findings {
    struct suspects_work *w;
    const struct gcd_type *types;
    uint8_t *rule;               /* [types] 1 + the number of the rule that counts it, 0 = none */
    uint8_t *traits;             /* [types] */
    struct gcd_idmap roots;      /* node -> its roots, for objects of INTERNED's types */
    bool all;                    /* LOOK leaves out nothing */
};

/* The rules, by number; NULL after the last. */
const struct finding_rule *findings_rule(size_t i);
/* Fills RULE and TRAITS. */
gcd_status findings_classify(struct findings *f, struct gcd_error *err);
bool findings_has(const struct findings *f, uint32_t node, uint8_t trait);
bool findings_is_of(const struct findings *f, uint32_t node, enum gcd_suspect_kind kind);
/* The nearest type of the program below NODE, or that of NODE, else the first type that the search met; GCD_TYPE_NONE = nothing is below. */
uint32_t findings_who(const struct findings *f, uint32_t node);
/* The type of the program that keeps the most bytes below NODE, which alone keeps them; GCD_TYPE_NONE = there is none near. */
uint32_t findings_heaviest(const struct findings *f, uint32_t node, uint64_t *ret_bytes);
/* The nearest type of the program that keeps NODE alive, else the nearest that is no collection, else that; GCD_TYPE_NONE = only roots do. */
uint32_t findings_holder(const struct findings *f, uint32_t node);
/* Is it the box of an asynchronous method? */
bool findings_is_box(const char *name);
/* Is NAME, in the runtime's spelling, the type LAST in the namespace SPACE, or nested in a type of it; with any type arguments? */
bool findings_is_named(const char *name, const char *space, const char *last);

/* For rules that count all objects of their types, as one group. */
bool findings_any(const struct findings *f, uint32_t node, struct finding_member *ret);

/* For rules that name nobody, and for those that only another rule leads to. */
uint32_t findings_nobody(const struct findings *f, uint32_t node);
bool findings_no_type(const struct gcd_type *t);

extern const struct finding_rule finding_timers, finding_cancellation, finding_tasks, finding_continuations, finding_async, finding_boxed;
extern const struct finding_rule finding_tracker, finding_http, finding_code, finding_waits, finding_interned;
extern const struct finding_rule finding_thread_statics;

#endif
