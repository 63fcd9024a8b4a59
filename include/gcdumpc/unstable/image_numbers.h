/*
 * Values in the objects of a memory image, or of a recording that keeps them: fields that are no
 * references, and boxed values.
 *
 *     struct gcd_values_view view = { .memory = in, .values = gcd_dump_values(dump) };
 *     struct gcd_image_numbers *n;
 *     struct gcd_number x;
 *     if (gcd_image_numbers_new(&view, "State", NULL, &n, &err) == GCD_OK) {
 *         if (gcd_image_number(n, address, &x) == GCD_OK)
 *             puts(gcd_number_text(&x, (char[GCD_NUMBER_BYTES]){ 0 }));     "Failed", "42", "true"
 *         gcd_image_numbers_free(n);
 *     }
 */
#ifndef GCDUMPC_UNSTABLE_IMAGE_NUMBERS_H
#define GCDUMPC_UNSTABLE_IMAGE_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>
#include <gcdumpc/unstable/values.h>

struct gcd_image_numbers;

enum gcd_number_kind {
    GCD_NUMBER_BOOL,
    GCD_NUMBER_CHAR,
    GCD_NUMBER_SIGNED,
    GCD_NUMBER_UNSIGNED,
    GCD_NUMBER_REAL,             /* BITS is a double; HIGH: the bytes that the program has for it
                                    if they are fewer: 4, 2 */
    GCD_NUMBER_DATE_TIME,        /* ticks of 100 ns since the year 1, and DateTimeKind in the two
                                    highest bits */
    GCD_NUMBER_DATE_TIME_OFFSET, /* the same in UTC; HIGH: the offset in minutes */
    GCD_NUMBER_TIME_SPAN,        /* ticks, negative ones with their sign */
    GCD_NUMBER_DATE,             /* days since the year 1 */
    GCD_NUMBER_TIME,             /* ticks since midnight */
    GCD_NUMBER_GUID,             /* its 16 bytes: BITS, HIGH */
    GCD_NUMBER_DECIMAL,          /* 96 bits, then a word with sign and scale */
    GCD_NUMBER_INT128,           /* BITS are the lower 64 bits */
    GCD_NUMBER_UINT128,
    GCD_NUMBER_POINTER,   /* to something else than an object */
    GCD_NUMBER_NULL,      /* a nullable without value */
    GCD_NUMBER_REFERENCE, /* of gcd_image_field: the address of an object, 0 = null */
    GCD_NUMBER_OTHER      /* of gcd_image_field: a struct whose fields are not known */
};

struct gcd_number {
    enum gcd_number_kind kind;
    uint64_t bits, high; /* negative numbers with their sign in all bits */
    const char *name;    /* of a value of an enum, "Read | Write" of flags; NULL = it has none.
                            Lives as long as the numbers */
    uint32_t of;         /* number of the enum, 0 = of none */
};

/*
 * For the field with this name, as in the source ("State" for its backing field, "Place.X" in a
 * struct) or in the metadata (a recording has only the former), of objects of any type; FIELD NULL:
 * for all fields.
 * The memory of VIEW, whose dump was opened, and its values must outlive the numbers; one thread at
 * a time.  GCD_END: there is neither a memory image nor are there such values; GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_image_numbers_new(const struct gcd_values_view *view,
                                                const char *field, const struct gcd_alloc *alloc,
                                                struct gcd_image_numbers **ret,
                                                struct gcd_error *err);
void gcd_image_numbers_free(struct gcd_image_numbers *n);
/* Are they those of a recording, which has neither hash codes nor stack traces? */
bool gcd_image_numbers_recorded(const struct gcd_image_numbers *n);

/* Of the object at ADDRESS.  GCD_END: its type has no such field, or the field is no number, or
 * what tells about it is not in the image; GCD_E_TRUNCATED: the image lacks the number. */
GCD_MUST_CHECK gcd_status gcd_image_number(struct gcd_image_numbers *n, uint64_t address,
                                           struct gcd_number *ret);

/* What the field is for objects with the method table TABLE: GCD_NUMBER_REFERENCE, GCD_NUMBER_OTHER
 * of a struct, or another kind, also of a nullable.  GCD_END: they have no such
 * field; GCD_E_NOT_FOUND: what they have is not known. */
GCD_MUST_CHECK gcd_status gcd_image_field_kind(struct gcd_image_numbers *n, uint64_t table,
                                               enum gcd_number_kind *ret);

/* The address to which the field refers, 0 = null.  GCD_END: it is no reference, or not known;
 * GCD_E_TRUNCATED. */
GCD_MUST_CHECK gcd_status gcd_image_reference(struct gcd_image_numbers *n, uint64_t address,
                                              uint64_t *ret);

/* The value in the object at ADDRESS, if it is a boxed number, enum, date or the like; else
 * GCD_END. GCD_E_TRUNCATED. */
GCD_MUST_CHECK gcd_status gcd_image_boxed(struct gcd_image_numbers *n, uint64_t address,
                                          struct gcd_number *ret);

/* The identity hash code (RuntimeHelpers.GetHashCode) in the header of the object at ADDRESS; 0 =
 * it has none, or the runtime keeps it elsewhere because the object is also locked, or a recording
 * does not have it. */
uint32_t gcd_image_hash_code(struct gcd_image_numbers *n, uint64_t address);

struct gcd_image_field {
    const char *name; /* as in the source; lives as long as the numbers */
    bool known;       /* false: its memory is missing */
    struct gcd_number number;
};
/*
 * All instance fields of the object at ADDRESS: those of its class in the order of the source, then
 * those of the base classes.  A struct is its fields, "Place.X", also in structs in it, up to five
 * of them and 256 fields of structs in a type.  0: it has none, or what tells about them is not in
 * the image.
 */
uint32_t gcd_image_field_count(struct gcd_image_numbers *n, uint64_t address);
struct gcd_image_field gcd_image_field(struct gcd_image_numbers *n, uint64_t address, uint32_t i);

/* The array of structs or numbers at ADDRESS. */
struct gcd_image_elements {
    uint64_t count;  /* a recording may have only the first ones, and has none of numbers */
    uint32_t fields; /* of each */
    uint32_t bytes;
    bool numbers; /* each is a number or an enum, and no struct */
};
/* False: it is none, or what tells about it is not there. */
bool gcd_image_elements(struct gcd_image_numbers *n, uint64_t address,
                        struct gcd_image_elements *ret);
/* So many elements of an array are listed. */
#define GCD_ELEMENTS_LISTED 100u
/* Field I of element INDEX; its name is "" where it is a value of its own: a number, a date. */
struct gcd_image_field gcd_image_element(struct gcd_image_numbers *n, uint64_t address,
                                         uint64_t index, uint32_t i);
/* "[3].key" for FIELD of element 3, "[3]" if that has no name; cut to CAP > 0 bytes with its NUL,
 * of which GCD_ELEMENT_NAME_BYTES are enough for any.  Returns RET. */
#define GCD_ELEMENT_NAME_BYTES 2080u
const char *gcd_element_name(uint64_t index, const char *field, char *ret, size_t cap);

/* Bytes of an array without elements, of 64-bit runtimes. */
#define GCD_ARRAY_BASE_BYTES 24u

/*
 * The calls in the stack trace of an exception, an array at ADDRESS (its field "_stackTrace"), from
 * the one that threw it outwards.  Recordings have none.
 */
struct gcd_image_call {
    const char *name; /* "Shop.Pump.Run", "" = unknown; lives as long as the numbers */
    bool framework;   /* of the framework, or unknown */
};
/* The first calls in RET[MAX]; returns how many.  0: there is no trace that can be read. */
size_t gcd_image_calls(struct gcd_image_numbers *n, uint64_t address, struct gcd_image_call *ret,
                       size_t max);

/*
 * D, opened from the memory image IN with values of the kind GCD_VALUES_ALL, keeps the values in
 * its objects, so that gcd_recording_write writes them, too: 16 bytes and those of its fields for
 * each object.  GCD_END: IN is no memory image, D has no such values, or it keeps them already.
 * GCD_E_NOMEM; GCD_E_LIMIT: they take more than limits.text_bytes; GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status gcd_dump_keep_numbers(struct gcd_dump *d, struct gcd_input *in,
                                                const struct gcd_context *context,
                                                struct gcd_error *err);

/* X for people, in BUF, numbers as .NET writes them without a culture: "Failed", "-1", "true",
 * "'x'", "0.5", "1E-05", "NaN", "2026-11-28 12:00:00Z", "1.50". */
#define GCD_NUMBER_BYTES 64u
const char *gcd_number_text(const struct gcd_number *x, char buf[GCD_NUMBER_BYTES]);
/* What X is, for programs: "bool", "char", "integer", "real", "enum", "datetime", "datetimeoffset",
 * "timespan", "date", "time", "guid", "decimal", "null", "object", "struct", "pointer". */
const char *gcd_number_kind_name(const struct gcd_number *x);

#endif
