/*
 * What each field of some classes keeps alive, static variables included: which of the two caches
 * of a class is the large one.
 *
 *     struct gcd_field_sizes *s;
 *     struct gcd_field_sizes_of of = { .fields = fields, .types = own, .roots = own_statics };
 *     if (gcd_field_sizes_new(g, d, &of, &s, &err) == GCD_OK) {
 *         const struct gcd_field_size *rows = gcd_field_sizes_rows(s, &n);
 *         ...
 *         gcd_field_sizes_free(s);
 *     }
 *
 * A field keeps an object alive if an object of the class dominates it and every reference to it
 * from there begins with that field: directly, or through other objects that the same object
 * dominates.  What two fields lead to belongs to both together and is in neither's own row.  A
 * subtree below another one of the same row counts once, so the fields of a linked list are right,
 * too.
 */
#ifndef GCDUMPC_UNSTABLE_FIELD_SIZES_H
#define GCDUMPC_UNSTABLE_FIELD_SIZES_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/fields.h>

struct gcd_field_sizes;

struct gcd_field_sizes_of {
    struct gcd_context context;
    const struct gcd_fields *fields; /* of the graph */
    const uint8_t *types; /* [type_count of the graph] not 0: the fields of its objects; NULL = none
                           */
    const uint8_t *roots; /* [root_count] not 0: this static variable, too; NULL = none */
};

enum gcd_field_holder {
    GCD_HOLDER_FIELD,   /* fields[0] alone */
    GCD_HOLDER_TWO,     /* fields[0] and fields[1] together */
    GCD_HOLDER_SEVERAL, /* three or more fields */
    GCD_HOLDER_UNKNOWN, /* it is not certain which field, or no field: a dependent handle */
    GCD_HOLDERS
};

struct gcd_field_size {
    enum gcd_field_holder holder;
    /* of the objects that have the field; GCD_TYPE_NONE: static variables */
    uint32_t type;
    /* for gcd_fields_slot_name; of static variables, numbers of gcd_summary.roots; GCD_SLOT_NONE =
     * none */
    uint32_t fields[2];
    uint64_t objects; /* topmost objects that it keeps alive */
    uint64_t bytes;   /* what it retains: these and all they dominate; saturates */
};

/*
 * G, D, its dominators, and OF need only outlive the call.  Without recursion.  Time: linear, but
 * for objects with many fields (gcd_fields_get is linear in them).  Memory during the call: 36
 * bytes per live object and 16 for each reference between objects that one object of the classes
 * dominates.  GCD_E_NOMEM, GCD_E_CANCELED, GCD_E_LIMIT (2^32 fields and roots).
 */
GCD_MUST_CHECK gcd_status gcd_field_sizes_new(const struct gcd_graph *g,
                                              const struct gcd_dominators *d,
                                              const struct gcd_field_sizes_of *of,
                                              struct gcd_field_sizes **ret, struct gcd_error *err);
void gcd_field_sizes_free(struct gcd_field_sizes *s);

/* [*ret_n] the most bytes first, equal ones by class and field; owned by S. */
const struct gcd_field_size *gcd_field_sizes_rows(const struct gcd_field_sizes *s, size_t *ret_n);

#endif
