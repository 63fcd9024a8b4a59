/*
 * What two holders keep alive together: "3,000 Parcel are in Complaints.Open and
 * SortingHall.Unsorted".  Neither retains them, so they are in no retained size but that of what is
 * above both.
 *
 * A holder is a field of a class, or a static variable.  Each reference to an object, but those
 * from what the object itself dominates, has the holder that comes last on the shortest path to the
 * object that refers; references from objects of the same type do not count (the next one of a
 * list).  A row has all objects with the same holders, two to four; of those below another one of
 * the row only the topmost count.  An object can be below one of another row, so rows overlap.
 * Objects with more holders are in no row: that is how services and settings are.
 */
#ifndef GCDUMPC_UNSTABLE_SHARED_H
#define GCDUMPC_UNSTABLE_SHARED_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/status.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/merged_tree.h>

struct gcd_shared;

struct gcd_shared_of {
    struct gcd_context context;
    const struct gcd_fields *fields;     /* of the graph */
    const struct gcd_preorder *preorder; /* of the dominators; NULL = made during the call */
    const uint8_t *types;                /* [type_count] not 0: its objects are holders */
    const uint8_t *roots;                /* [root_count] not 0: this static variable is one */
    uint64_t min_bytes;                  /* rows with fewer are left out */
    size_t max;                          /* rows to keep, the largest */
};

#define GCD_SHARED_HOLDERS 4
#define GCD_SHARED_PARTS   3

struct gcd_shared_holder {
    uint32_t type; /* GCD_TYPE_NONE: the static variable ROOT */
    uint32_t slot; /* gcd_fields_slot_name; GCD_SLOT_NONE = not known */
    uint32_t node; /* one of the objects that hold, with a shortest path; for a static variable what
                      it refers to */
    size_t root;   /* SIZE_MAX = none */
};

struct gcd_shared_row {
    struct gcd_shared_holder holders[GCD_SHARED_HOLDERS];
    size_t holder_count; /* at least 2 */
    uint64_t objects;
    uint64_t bytes; /* what they retain; saturates */
    /* the topmost objects by type, with retained bytes, the largest first */
    struct gcd_suspect_part parts[GCD_SHARED_PARTS];
    size_t part_count;
};

/*
 * G, its dominators D and paths P, and OF need only outlive the call.  Without recursion.  Time:
 * linear, but for objects with many fields (gcd_fields_get is linear in them).  Memory during the
 * call: 12 bytes per object, and those of the preorder.  GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_shared_new(const struct gcd_graph *g, const struct gcd_dominators *d,
                                         const struct gcd_paths *p, const struct gcd_shared_of *of,
                                         struct gcd_shared **ret, struct gcd_error *err);
void gcd_shared_free(struct gcd_shared *s);

/* [*ret_n] the most bytes first; owned by S. */
const struct gcd_shared_row *gcd_shared_rows(const struct gcd_shared *s, size_t *ret_n);

#endif
