/*
 * What to show besides suspects: the numbers of each kind that was looked for, also below its threshold; suspects that others tell in a clause; and
 * the largest consumer of a heap without suspects, described like one.
 */
#ifndef GCDUMPC_UNSTABLE_SUSPECT_CHECKS_H
#define GCDUMPC_UNSTABLE_SUSPECT_CHECKS_H

#include <gcdumpc/suspects.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Are the bytes of a suspect of KIND free memory?  Then they are no part of the heap's, and have no share in it. */
GCD_API bool gcd_suspect_kind_is_free(enum gcd_suspect_kind kind);

struct gcd_suspect_check {
    size_t found;                /* suspects of the kind, also those that are told in a clause of another one */
    uint64_t objects, bytes;     /* of the largest group that was seen, suspect or not: timers, the callbacks of one source, the handlers of one
                                    event ...; 0 = there is none */
    uint64_t least_objects, least_bytes;     /* a suspect has one of these; 0 = does not count */
    const char *what;            /* what OBJECTS counts, in the plural: "timers"; static */
    bool unknown;                /* could not be looked for: the dump has no memory ranges, or no modules */
};

/* Of KIND; the suspects'. */
GCD_API const struct gcd_suspect_check *gcd_suspects_check(const struct gcd_suspects *s, enum gcd_suspect_kind kind);

/* Number I of the ALSO_COUNT suspects that consist of the objects of X, which is one of S; with a sentence of its own. */
GCD_API const struct gcd_suspect *gcd_suspects_also(const struct gcd_suspects *s, const struct gcd_suspect *x, size_t i);

/*
 * NONE: the answer of gcd_suspects_new to the same questions, which has no suspects.  *RET: suspects of which the first is the largest consumer,
 * or NULL when there is none, as in an empty heap.  Thresholds in OPTIONS do not count.  Fails like gcd_suspects_new.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_largest_consumer(const struct gcd_graph *g, const struct gcd_dominators *d,
                                                       const struct gcd_suspects_options *options, const struct gcd_suspects *none,
                                                       struct gcd_suspects **ret, struct gcd_error *err);

#ifdef __cplusplus
}
#endif
#endif
