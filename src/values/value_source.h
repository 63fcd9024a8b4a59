/*
 * Where the values in the objects of a living process lie.  Who reads its memory (values_watch)
 * asks; who knows types (src/image/process_types.c) answers.
 */
#ifndef GCD_VALUES_VALUE_SOURCE_H
#define GCD_VALUES_VALUE_SOURCE_H

#include <gcdumpc/unstable/values_watch.h>

#include "values/value_rows.h"

/* A column of a row: where an object has its value. */
struct value_cell {
    uint32_t offset; /* from the address of the object */
    uint32_t flag;   /* of a nullable: where the byte is that says whether it has a value; else 0 */
    bool wide;       /* it is no machine word, so that half of it may be older than the rest */
};

/* What the objects with one method table have. */
struct value_shape {
    uint32_t type;   /* of the rows; VALUE_NO_TYPE: nothing is read */
    uint32_t bytes;  /* up to the end of the last value; at least VALUE_HEAD_BYTES */
    bool wide;       /* a cell is */
    uint32_t stride; /* of an array: bytes of an element, to which the cells belong; else 0, */
    uint32_t most;   /* and how many of them are read */
    uint32_t keys;   /* of a collection: where it refers to the array of its keys; else 0 */
    bool unknown;    /* nothing is read: what there is, is not known */
};
#define VALUE_NO_TYPE    UINT32_MAX
#define VALUE_HEAD_BYTES 8u /* of an object: its method table */

struct gcd_value_source {
    /* The walk is over, and had objects with these method tables, [n]; types go to ROWS.
     * GCD_E_NOMEM; GCD_E_LIMIT. */
    gcd_status (*begin)(struct gcd_value_source *s, struct value_rows *rows, const uint64_t *tables,
                        size_t n, struct gcd_error *err);
    /* Of one of them, asked for once; once more if OF_KEYS: of an array of keys, which may be of
     * numbers, and of which MOST elements are read without that. */
    gcd_status (*shape)(struct gcd_value_source *s, uint64_t table, bool of_keys,
                        struct value_shape *ret, struct gcd_error *err);
    const struct value_cell *cells; /* for each column of the rows */
};

#endif
