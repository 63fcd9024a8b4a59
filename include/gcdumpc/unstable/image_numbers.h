/*
 * Numbers in the objects of a memory image: the values of one field that is no reference.
 *
 *     struct gcd_image_numbers *n;
 *     struct gcd_number x;
 *     if (gcd_image_numbers_new(in, "State", NULL, &n, &err) == GCD_OK) {
 *         if (gcd_image_number(n, address, &x) == GCD_OK)
 *             puts(gcd_number_text(&x, (char[GCD_NUMBER_BYTES]){ 0 }));     "Failed", "42", "true"
 *         gcd_image_numbers_free(n);
 *     }
 */
#ifndef GCDUMPC_UNSTABLE_IMAGE_NUMBERS_H
#define GCDUMPC_UNSTABLE_IMAGE_NUMBERS_H

#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

struct gcd_image_numbers;

enum gcd_number_kind {
    GCD_NUMBER_BOOL,
    GCD_NUMBER_CHAR,
    GCD_NUMBER_SIGNED,
    GCD_NUMBER_UNSIGNED,
    GCD_NUMBER_REAL /* BITS is a double */
};

struct gcd_number {
    enum gcd_number_kind kind;
    uint64_t bits;    /* negative numbers with their sign in all bits */
    const char *name; /* of a value of an enum; NULL = it has none.  Lives as long as the numbers */
    uint32_t of;      /* number of the enum, 0 = of none */
};

/*
 * For the field with this name, as in the source ("State" for its backing field) or in the
 * metadata, of objects of any type.  IN, whose dump was opened, must outlive the numbers; one
 * thread at a time.  GCD_END: IN is no memory image; GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_image_numbers_new(struct gcd_input *in, const char *field,
                                                const struct gcd_alloc *alloc,
                                                struct gcd_image_numbers **ret,
                                                struct gcd_error *err);
void gcd_image_numbers_free(struct gcd_image_numbers *n);

/* Of the object at ADDRESS.  GCD_END: its type has no such field, or the field is no number, or
 * what tells about it is not in the image; GCD_E_TRUNCATED: the image lacks the number. */
GCD_MUST_CHECK gcd_status gcd_image_number(struct gcd_image_numbers *n, uint64_t address,
                                           struct gcd_number *ret);

/* The names of such fields of the type of the object at ADDRESS, its base classes included: calls
 * FN for each. */
void gcd_image_number_fields(struct gcd_image_numbers *n, uint64_t address,
                             void (*fn)(void *ctx, const char *name), void *ctx);

/* X for people, in BUF: "Failed", "-1", "true", "'x'", "0.5". */
#define GCD_NUMBER_BYTES 64u
const char *gcd_number_text(const struct gcd_number *x, char buf[GCD_NUMBER_BYTES]);

#endif
