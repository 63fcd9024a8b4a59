/* The fields of objects, whether a memory image or a recording has their values. */
#ifndef GCD_IMAGE_IMAGE_NUMBERS_H
#define GCD_IMAGE_IMAGE_NUMBERS_H

#include <gcdumpc/unstable/image_numbers.h>

#include "base/idmap.h"
#include "image/heap_image.h"
#include "image/image_enums.h"
#include "image/image_modules.h"
#include "values/value_rows.h"

/* Where a type has a field. */
struct image_place {
    const char *name; /* as in the source */
    uint32_t offset;  /* from the address of the object, or in its row */
    uint32_t of;      /* the enum + 1, 0 = of none */
    uint8_t form;
    uint8_t element;  /* FORM_NUMBER: CorElementType, of an enum that of its number; FORM_OTHER:
                         what is not read, 0 = its place is not known */
    uint8_t value_at; /* of a nullable: where its value is, behind the flag; 0 = it is none */
};

/* What objects of one type have. */
struct image_plan {
    uint32_t first, count; /* places */
    uint32_t wanted;       /* the place of the field that is asked for; CLR_NONE: there is none */
    bool wanted_parts;     /* that field is a struct, and WANTED the first of its parts */
    struct image_place boxed; /* of their value; FORM_OTHER: they are no boxed values */
    uint32_t element_bytes;   /* of an array of structs; its places are those of an element, */
    uint32_t element_fields;  /* so many, and COUNT is 0 */
    bool lacking;             /* there are no metadata of one of the classes */
};

struct gcd_image_numbers {
    struct gcd_alloc alloc;
    struct heap_image *image;      /* NULL: they are those of ROWS */
    const struct value_rows *rows; /* of a recording, whose types have the numbers of PLANS */
    uint64_t row_address;          /* the object that was asked for last, */
    const uint8_t *row;            /* and its row; NULL = it has none */
    uint32_t row_type;
    uint64_t elements_of, elements; /* the array whose elements were counted, and how many it has */
    uint32_t element_type;
    const char *field;        /* NULL: all */
    struct gcd_idmap by_type; /* method table -> a plan */
    struct image_plan *plans; /* [plan_count] */
    size_t plan_count, plan_cap;
    struct image_place *places; /* [place_count] those of a plan together */
    size_t place_count, place_cap;
    struct gcd_idmap by_method;   /* MethodDesc -> a call */
    struct gcd_image_call *calls; /* [call_count] */
    size_t call_count, call_cap;
    struct image_enums enums;
    bool has_instances;          /* clr_add_instances was called */
    struct gcd_idmap by_generic; /* hash of a generic struct -> the last type of the image that is
                                    an instance of it, */
    uint32_t *same_generic;      /* [generic_count] and the next one before; CLR_NONE = none */
    size_t generic_count, generic_cap;
    struct gcd_textpool text;
    /* of the class whose fields are read; of the arguments of its type meanwhile */
    struct image_modules classes, arguments;
};

/* Those of H, of all fields.  GCD_E_NOMEM. */
gcd_status image_numbers_of(struct heap_image *h, const struct gcd_alloc *alloc,
                            struct gcd_image_numbers **ret, struct gcd_error *err);

/* What objects with the method table TABLE of an image have; NULL = it is not known. */
const struct image_plan *image_plan_of_table(struct gcd_image_numbers *n, uint64_t table);
/* What the object at ADDRESS has; NULL = it is not known. */
const struct image_plan *image_plan_of(struct gcd_image_numbers *n, uint64_t address);
/* Bytes of the value at P, and what they are aligned to. */
uint32_t image_place_bytes(const struct image_place *p, uint32_t *ret_alignment);
/* The bytes of the value at P of the object at ADDRESS, and whether a nullable has one.  False:
 * they are not there. */
bool image_read_place(struct gcd_image_numbers *n, uint64_t address, const struct image_place *p,
                      uint8_t ret[16], bool *ret_has_value);

/* ---- image_parts.c ---- */

/* The struct, of clr.types, that field TOKEN of type OWNER is, or one whose fields lie alike;
 * CLR_NONE = it is none, or not known. */
uint32_t image_part_type(struct gcd_image_numbers *n, const struct clr_type *owner, uint32_t token);
/* Has M of the types of fields: the core library itself? */
bool image_is_core(struct gcd_metadata *m);
/* Is reference TOKEN of M to an assembly of the platform?  Those that define or forward its types
 * have such names. */
bool image_is_of_platform(struct gcd_metadata *m, uint32_t token);
/* CorElementType of the primitive type NAME of the core library, 0 = it is none. */
uint32_t image_primitive_element(const char *name);

/* ---- recorded_numbers.c ---- */

/* The plans of N->rows.  GCD_E_NOMEM, GCD_E_LIMIT. */
gcd_status recorded_numbers_open(struct gcd_image_numbers *n);
const struct image_plan *recorded_plan_of_table(const struct gcd_image_numbers *n, uint64_t table);
const struct image_plan *recorded_plan_of(struct gcd_image_numbers *n, uint64_t address);
/* What the elements of the array at ADDRESS have, and how many there are; NULL = none. */
const struct image_plan *recorded_elements_of(struct gcd_image_numbers *n, uint64_t address,
                                              uint64_t *ret_count);
/* [image_read_place] */
bool recorded_read_place(struct gcd_image_numbers *n, uint64_t address, const struct image_place *p,
                         uint8_t ret[16], bool *ret_has_value);

#endif
