/* Values in the objects of three types, with all forms of fields. */
#ifndef ROWS_SAMPLE_H
#define ROWS_SAMPLE_H

#include <stdlib.h>

#include "base/cur.h"
#include "values/value_rows.h"

#define ROWS_SAMPLE_ORDER UINT64_C(0x7f0000001000) /* of 3 * N objects, 64 bytes apart */

static inline void rows_sample_need(gcd_status st)
{
    if (st != GCD_OK)
        abort();
}

static inline void rows_sample_column(struct value_rows *r, const char *name,
                                      struct value_column like)
{
    rows_sample_need(value_rows_add_column(r, &like, name, strlen(name)));
}

/* N objects of each type, in turn: an order with all forms, a boxed enum, and one whose only field
 * is not known. */
static inline void rows_sample(struct value_rows *r, unsigned n)
{
    static const char *const states[] = { "None", "Open", "Failed" };
    rows_sample_need(value_rows_add_enum(r, 8, false));
    for (uint64_t i = 0; i < 3; i++)
        rows_sample_need(value_rows_add_literal(r, i, states[i], strlen(states[i])));
    rows_sample_need(value_rows_add_enum(r, 5, true));
    rows_sample_need(value_rows_add_literal(r, 1, "Read", 4));
    rows_sample_need(value_rows_add_literal(r, 2, "Write", 5));
    rows_sample_need(value_rows_add_type(r, 0x7f01));
    rows_sample_column(r, "Id", (struct value_column){ .form = FORM_NUMBER, .element = 8 });
    rows_sample_column(r, "State",
                       (struct value_column){ .form = FORM_NUMBER, .element = 8, .of = 1 });
    rows_sample_column(r, "Customer", (struct value_column){ .form = FORM_REFERENCE });
    rows_sample_column(r, "Total", (struct value_column){ .form = FORM_OTHER });
    for (uint8_t form = FORM_DATE_TIME; form < VALUE_FORMS; form++)
        rows_sample_column(r, "", (struct value_column){ .form = form });
    rows_sample_column(
        r, "Maybe",
        (struct value_column){ .form = FORM_NUMBER, .element = 13, .flags = VALUE_NULLABLE });
    rows_sample_need(value_rows_add_type(r, 0x7f02));
    rows_sample_column(
        r, "",
        (struct value_column){ .form = FORM_NUMBER, .element = 5, .of = 2, .flags = VALUE_BOXED });
    rows_sample_column(r, "value__",
                       (struct value_column){ .form = FORM_NUMBER, .element = 5, .of = 2 });
    rows_sample_need(value_rows_add_type(r, 0x7f03));
    rows_sample_column(r, "_thing", (struct value_column){ .form = FORM_OTHER });
    for (unsigned i = 0; i < 3 * n; i++) {
        uint8_t *row;
        uint64_t address = ROWS_SAMPLE_ORDER + UINT64_C(64) * i;
        rows_sample_need(value_rows_add(r, i % 3, address, &row));
        const struct value_type *t = &r->types[i % 3];
        for (uint32_t k = 0; k < t->row_bytes; k++)
            row[k] = (uint8_t)(i % 3 == 0 ? (k == 0 || k == 4) * (i / 3 % 3) : i / 3 % 4);
        if (i % 6 != 0)
            continue;
        /* every second order has a customer: the object behind it */
        struct gcd_put w = gcd_put_make(row + 8, t->row_bytes - 8u);
        gcd_put_le(&w, address + 64, 8);
        row[t->row_bytes - 9] = 1; /* and a number */
    }
}

#endif
