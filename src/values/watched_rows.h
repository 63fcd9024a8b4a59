/* The values in objects that are read beside a walk, but for texts. */
#ifndef GCD_VALUES_WATCHED_ROWS_H
#define GCD_VALUES_WATCHED_ROWS_H

#include "values/value_source.h"

struct watched_type {
    uint64_t table;
    struct value_shape shape; /* once it was asked for */
    bool asked, asked_as_keys;
};

struct watched_rows {
    struct gcd_alloc alloc;
    struct gcd_value_source *source; /* NULL: nothing is read */
    struct value_rows *rows;
    struct watched_type *types; /* [type_count] that the walk had */
    size_t type_count, type_cap;
    uint32_t *batches; /* [rows->object_count] in which they were read */
    size_t batch_cap;
    uint64_t listed;  /* objects of the walk that may have values, */
    uint64_t without; /* have none, */
    uint64_t arrays;  /* were arrays that were read, */
    uint64_t changed; /* were no longer there, or changed while they were read */
};

void watched_rows_init(struct watched_rows *w, const struct gcd_alloc *alloc,
                       struct gcd_value_source *source);
void watched_rows_done(struct watched_rows *w);
/* Adds a type; *RET: its number. */
gcd_status watched_rows_add_type(struct watched_rows *w, uint64_t table, uint32_t *ret,
                                 struct gcd_error *err);
/* The walk is over: what is read goes to ROWS. */
gcd_status watched_rows_begin(struct watched_rows *w, struct value_rows *rows,
                              struct gcd_error *err);
/* Asks for the shape of type NUMBER, or for that of arrays of keys. */
gcd_status watched_rows_ask(struct watched_rows *w, uint32_t number, bool of_keys,
                            struct gcd_error *err);
/* Takes the values of an object of type NUMBER at ADDRESS, of which OBJECT was read, and AGAIN
 * later, if its shape is wide. */
struct watched_copy {
    uint64_t address;
    uint32_t number, batch;
    const uint8_t *object, *again;
    bool element; /* of an array: it has no method table */
};
gcd_status watched_rows_take(struct watched_rows *w, const struct watched_copy *o,
                             struct gcd_error *err);

#endif
