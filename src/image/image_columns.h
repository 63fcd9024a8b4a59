/* What a recording keeps of the values in the objects of a memory image. */
#ifndef GCD_IMAGE_IMAGE_COLUMNS_H
#define GCD_IMAGE_IMAGE_COLUMNS_H

#include <gcdumpc/unstable/image_numbers.h>

#include "base/idmap.h"
#include "image/image_numbers.h"
#include "values/value_rows.h"

struct image_columns {
    struct gcd_image_numbers *numbers; /* of all fields */
    struct value_rows *rows;
    struct gcd_idmap types; /* method table -> a type of ROWS, or that none is kept */
    struct gcd_idmap enums; /* of the image -> of ROWS, both + 1 */
    uint64_t unread;        /* objects without a row: the image lacks some of them */
};

void image_columns_init(struct image_columns *c, struct gcd_image_numbers *numbers,
                        struct value_rows *rows);
void image_columns_done(struct image_columns *c);
/* What objects with the method table TABLE have, and their type of ROWS, whose columns are the
 * boxed value, if there is one, then the places; IMAGE_NO_ROWS: none are kept.  OF_KEYS: it is an
 * array of keys, which may be of numbers, too.  *RET_PLAN NULL: it is not known.  GCD_E_NOMEM;
 * GCD_E_LIMIT. */
#define IMAGE_NO_ROWS (GCD_IDMAP_NONE - 1)
gcd_status image_columns_type(struct image_columns *c, uint64_t table, bool of_keys,
                              const struct image_plan **ret_plan, uint32_t *ret);
/* How many elements are kept of an array with the elements of PLAN that is none of keys. */
uint32_t image_columns_most(const struct gcd_image_numbers *n, const struct image_plan *plan);
/* The reference of a collection with the fields of PLAN to the array of its keys; NULL = none.
 * *RET_FIXED: it cannot change. */
const struct image_place *image_columns_keys(const struct gcd_image_numbers *n,
                                             const struct image_plan *plan, bool *ret_fixed);
/* Adds the row of the object at ADDRESS, or those of its elements, of a type with the method table
 * TABLE, if its fields are
 * known.  GCD_E_NOMEM; GCD_E_LIMIT. */
gcd_status image_columns_add(struct image_columns *c, uint64_t table, uint64_t address);

#endif
