/*
 * The values in objects that are no texts: what the fields of each type are, and a row of bytes for
 * each object.
 *
 *     value_rows.c    types, rows, objects
 *     rows_pack.c     rows as the payloads of events
 */
#ifndef GCD_VALUES_VALUE_ROWS_H
#define GCD_VALUES_VALUE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>
#include <gcdumpc/unstable/image_numbers.h>

#include "base/idmap.h"
#include "base/text.h"

/* How the bytes of a field are read. */
enum value_form {
    FORM_OTHER, /* none are kept: another value type, or its place is unknown */
    FORM_NUMBER,
    FORM_REFERENCE,
    FORM_DATE_TIME,
    FORM_DATE_TIME_OFFSET,
    FORM_TIME_SPAN,
    FORM_DATE,
    FORM_TIME,
    FORM_GUID,
    FORM_DECIMAL,
    FORM_INT128,
    FORM_UINT128,
    FORM_HALF,
    VALUE_FORMS
};

/* Bytes of a number of this CorElementType; 0 = it is none. */
uint32_t value_number_bytes(uint32_t element);
/* Bytes of a value, of FORM_NUMBER of this CorElementType, and what they are aligned to. */
uint32_t value_form_bytes(enum value_form form, uint32_t element, uint32_t *ret_alignment);

#define VALUE_BOXED      1u /* not a field, but the whole of a boxed value; before all fields */
#define VALUE_NULLABLE   2u /* a byte before the value says whether there is one */
#define VALUE_FLAGS      (VALUE_BOXED | VALUE_NULLABLE)
#define VALUE_ROW_BYTES  ((size_t)16384)
#define VALUE_NAME_BYTES ((size_t)1024) /* of a field or of a literal */

struct value_column {
    const char *name;
    uint32_t of;        /* the enum + 1, 0 = of none */
    uint32_t at, bytes; /* in the row */
    uint8_t form, element, flags;
};
struct value_type {
    uint64_t id;           /* method table */
    uint32_t first, count; /* columns */
    uint32_t row_bytes, row_count;
    uint32_t stride; /* 0, or ID is of an array of structs whose elements are so many bytes: each
                        has a row, with its own address */
    uint8_t *rows;   /* [row_count] of row_bytes, in the order in which they came */
    size_t room;
};
struct value_literal {
    uint64_t value;
    const char *name;
};
struct value_enum {
    size_t first, count; /* literals */
    uint8_t element;
    bool flags;
};
struct value_object {
    uint64_t address; /* the first: gcd_sort_by_u64 */
    uint32_t type, row;
};

struct value_rows {
    const struct gcd_alloc *alloc;
    struct gcd_textpool text;
    uint64_t bytes, most; /* of rows, objects and plans, without names */
    struct value_type *types;
    struct value_column *columns;
    struct value_enum *enums;
    struct value_literal *literals;
    struct value_object *objects; /* by address after value_rows_sort */
    size_t type_count, type_cap, column_count, column_cap, enum_count, enum_cap;
    size_t literal_count, literal_cap, object_count, object_cap;
    size_t element_count; /* of the objects: elements of arrays */
};
/* Behind its method table and its length. */
#define VALUE_ELEMENTS_AT 16u
/* Elements that are kept of an array whose elements have no references, so that they are no keys of
 * objects. */
#define VALUE_PLAIN_ELEMENTS GCD_ELEMENTS_LISTED

/* ALLOC outlives R; at most MOST bytes of rows and plans. */
void value_rows_init(struct value_rows *r, const struct gcd_alloc *alloc, uint64_t most);
void value_rows_done(struct value_rows *r);

/* A new enum, and a literal of the last one.  Errors of these and of the next: GCD_E_NOMEM;
 * GCD_E_LIMIT; GCD_E_FORMAT: it cannot be. */
gcd_status value_rows_add_enum(struct value_rows *r, uint8_t element, bool flags);
gcd_status value_rows_add_literal(struct value_rows *r, uint64_t value, const char *name, size_t n);
/* A new type, and a column of the last one, which has no rows yet: form, element, flags and OF of
 * LIKE. */
gcd_status value_rows_add_type(struct value_rows *r, uint64_t id);
gcd_status value_rows_add_column(struct value_rows *r, const struct value_column *like,
                                 const char *name, size_t n);
/* The last type, which has no columns yet, is an array. */
gcd_status value_rows_set_stride(struct value_rows *r, uint32_t stride);
/* May more elements come?  They leave room for objects. */
static inline bool value_rows_has_room(const struct value_rows *r)
{
    return r->bytes < r->most / 2;
}
/* Room for a row of type number TYPE, for the object at ADDRESS; the caller fills it in. */
gcd_status value_rows_add(struct value_rows *r, uint32_t type, uint64_t address, uint8_t **ret);
/* Keeps the objects for whose numbers KEEP says so, as long as they are in the order in which they
 * came. */
void value_rows_keep(struct value_rows *r, bool (*keep)(void *ctx, size_t i), void *ctx);
/* Puts the objects in order. */
gcd_status value_rows_sort(struct value_rows *r);

/* The row of object O, [row_bytes]; NULL if it has no bytes. */
static inline const uint8_t *value_rows_of(const struct value_rows *r, const struct value_object *o)
{
    const struct value_type *t = &r->types[o->type];
    return t->row_bytes > 0 ? t->rows + (size_t)o->row * t->row_bytes : NULL;
}
/* The row of the object at ADDRESS; NULL = there is none. */
const uint8_t *value_rows_find(const struct value_rows *r, uint64_t address, uint32_t *ret_type);
/* The elements of the array at ADDRESS that have rows, from the first on; 0 = none, or it is no
 * array of structs. */
uint64_t value_rows_elements(const struct value_rows *r, uint64_t address, uint32_t *ret_type);

/* ---- rows_pack.c ---- */

/*
 * A part has records; each begins with its kind:
 * ROWS_ENUM     CorElementType u8, flags u8
 * ROWS_LITERAL  of the enum before it: value, bytes of the name, the name
 * ROWS_TYPE     id
 * ROWS_ELEMENTS the type before it is an array: bytes of an element
 * ROWS_COLUMN   of the type before it: form u8, CorElementType u8, flags u8, number of its enum + 1
 *               or 0, bytes of the name, the name
 * ROWS_ROWS     number of the type, count, for each object its address as the difference to the one
 *               before (the first: to 0), then for each column the bytes of all objects.  A
 *               reference is the difference to the address of its object, null is 1
 * Other numbers have seven bits a byte.
 */
enum { ROWS_ENUM = 1, ROWS_LITERAL, ROWS_TYPE, ROWS_COLUMN, ROWS_ROWS, ROWS_ELEMENTS };

struct gcd_put;
struct rows_writing {
    const struct value_rows *r;
    uint64_t *addresses; /* [object_count] of the rows, type by type */
    uint8_t step;        /* the kind of the next record */
    size_t next_enum, next_literal, next_type, next_column, first_of_type;
    uint32_t next_row;
};
gcd_status rows_writing_init(struct rows_writing *w, const struct value_rows *r);
void rows_writing_done(struct rows_writing *w);
/* Adds the records that fit; false: there were none left. */
bool rows_writing_next(struct rows_writing *w, struct gcd_put *to);

/* Adds the records of N bytes at P.  GCD_E_FORMAT; GCD_E_NOMEM; GCD_E_LIMIT. */
gcd_status rows_read(struct value_rows *r, const uint8_t *p, size_t n);

#endif
