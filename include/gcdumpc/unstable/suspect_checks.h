/*
 * What to show besides suspects: what was found of each kind, even below its threshold; suspects
 * that are only a clause of another one; and the largest consumer of a heap without suspects,
 * described like a suspect.
 */
#ifndef GCDUMPC_UNSTABLE_SUSPECT_CHECKS_H
#define GCDUMPC_UNSTABLE_SUSPECT_CHECKS_H

#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/type_names.h>

/* Are the bytes of a suspect of KIND free memory?  If so, they are not part of the heap's bytes and
 * have no share of it. */
bool gcd_suspect_kind_is_free(enum gcd_suspect_kind kind);
/* Does it describe what nobody has to mend? */
bool gcd_suspect_kind_is_note(enum gcd_suspect_kind kind);

struct gcd_suspect_check {
    /* suspects of the kind, including those that are only a clause of another one */
    size_t found;
    uint64_t objects, bytes; /* of the largest group found, suspect or not: timers, the callbacks of
                                one source, the handlers of one event ...; 0 = none */
    /* thresholds: one is enough for a suspect; 0 = not used */
    uint64_t least_objects, least_bytes;
    const char *what; /* what OBJECTS counts, in the plural: "timers"; static */
    /* could not be checked: the dump has no memory ranges or no modules, or it lacks references and
     * the kind tells by what is not there, or most types have no name and it is known by names */
    bool unknown;
};

/* The check of KIND; belongs to S. */
const struct gcd_suspect_check *gcd_suspects_check(const struct gcd_suspects *s,
                                                   enum gcd_suspect_kind kind);

/* Which types have no name, so that kinds which are known by names may be missing; belongs to S. */
#define GCD_SUSPECTS_BY_NAMES \
    "Timers, event handlers, collections and all else that is known by names"
const struct gcd_unnamed *gcd_suspects_unnamed(const struct gcd_suspects *s);
/* May references or objects be missing, so that what is not there proves nothing? */
bool gcd_suspects_lack_references(const struct gcd_suspects *s);

/* The objects of findings whose bytes do not overlap those of other suspects, beside the object
 * (NODE) or the type of each suspect.  [*RET_N], the suspects'. */
const uint32_t *gcd_suspects_objects(const struct gcd_suspects *s, size_t *ret_n);

/* Number I of the ALSO_COUNT suspects that consist of the objects of X, a suspect of S; each has
 * its own sentence. */
const struct gcd_suspect *gcd_suspects_also(const struct gcd_suspects *s,
                                            const struct gcd_suspect *x, size_t i);

/* Of the bytes that X, a suspect of S that OVERLAPS, keeps alive, those that none of the N in TOLD
 * has; *RET_ALL: all of X's, 0 = not known. */
uint64_t gcd_suspects_beside(const struct gcd_suspects *s, const struct gcd_suspect *x,
                             const struct gcd_suspect *const *told, size_t n, uint64_t *ret_all);

/* By which field the object of step I of the path of X holds that of the next one.  FIELDS may be
 * NULL. */
struct gcd_field gcd_suspect_field(const struct gcd_suspect *x, size_t i,
                                   const struct gcd_fields *fields);

/*
 * NONE: the result of gcd_suspects_new for the same arguments, without suspects.  *RET: suspects,
 * of which the first is the largest consumer; NULL if there is none, as in an empty heap.  Ignores
 * the thresholds in OPTIONS.  Fails like gcd_suspects_new.
 */
GCD_MUST_CHECK gcd_status gcd_largest_consumer(const struct gcd_graph *g,
                                               const struct gcd_dominators *d,
                                               const struct gcd_suspects_options *options,
                                               const struct gcd_suspects *none,
                                               struct gcd_suspects **ret, struct gcd_error *err);

/* What is said first of a heap: "Nothing looks like a leak. Largest: Catalogue 2.1 MiB (6,000
 * Product).", or what the suspects are: "1 large holder: Carts._items, 1.8 MiB, 12 % of the heap
 * (4,667 Cart)."  LARGEST: of a heap without suspects, the result of gcd_largest_consumer. */
#define GCD_HEADLINE_BYTES 4096
void gcd_suspects_headline(const struct gcd_graph *g, const struct gcd_names *names,
                           const struct gcd_origins *origins, const struct gcd_suspects *all,
                           const struct gcd_suspects *largest, char ret[GCD_HEADLINE_BYTES]);

/* The types of G whose objects can own native memory and of which there are many, the most numerous
 * first: handles of the framework, and what others gave a finalizer.  Fills RET and tells how many.
 */
#define GCD_NATIVE_OWNERS 4u
size_t gcd_native_owners(const struct gcd_graph *g, const struct gcd_origins *origins,
                         uint32_t ret[GCD_NATIVE_OWNERS]);

/* Is FIELD, found by gcd_suspects_options.limit, named like the length of an array, which grows
 * when it is full?  Then it limits no object with an array. */
bool gcd_limit_is_capacity(const char *field);

#endif
