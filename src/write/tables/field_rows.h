/* The fields of objects with their values, as rows of a table: of the sqlite and csv formats, and
 * of queries (src/sql). */
#ifndef GCD_WRITE_FIELD_ROWS_H
#define GCD_WRITE_FIELD_ROWS_H

#include <gcdumpc/graph.h>
#include <gcdumpc/unstable/image_numbers.h>
#include <gcdumpc/unstable/values.h>

struct field_rows {
    const struct gcd_graph *graph;
    struct gcd_values_view view;
    struct gcd_image_numbers *numbers; /* NULL: there are no rows */
};

struct field_row {
    struct gcd_image_field of;
    uint32_t target; /* the object that it refers to, or GCD_NODE_NONE */
    uint32_t text;   /* of that string, or GCD_TEXT_NONE */
    /* the name of a field of an element, "[3].key"; "" = of none */
    char element[GCD_ELEMENT_NAME_BYTES];
};

/* How many rows NODE has: one for each field, or one for the whole of a boxed value, or those of
 * the first elements of an array of structs. */
uint32_t field_rows_count(const struct field_rows *f, uint32_t node);
void field_rows_read(const struct field_rows *f, uint32_t node, uint32_t i, struct field_row *ret);

/* "" = it has none. */
static inline const char *field_row_name(const struct field_row *r)
{
    const char *field = r->of.name != NULL ? r->of.name : "";
    return r->element[0] != '\0' ? r->element : field;
}
const char *field_row_kind(const struct field_row *r);
/* The number as SQL has it: of dates and times their ticks or days.  False: it is none. */
bool field_row_integer(const struct field_row *r, int64_t *ret);
bool field_row_real(const struct field_row *r, double *ret);
/* Its text, or if it is MASKED what it looks like; BUF is for numbers.  NULL: it has none. */
const char *field_row_text(const struct field_rows *f, const struct field_row *r, bool masked,
                           char buf[GCD_NUMBER_BYTES], size_t *ret_n);

#endif
