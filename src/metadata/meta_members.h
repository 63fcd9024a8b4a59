/*
 * What the layout of a type depends on: its instance fields, and where the types that it refers to
 * are defined.
 */
#ifndef GCD_METADATA_META_MEMBERS_H
#define GCD_METADATA_META_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/unstable/metadata.h>

#define META_NO_OFFSET UINT32_MAX

struct meta_member {
    uint32_t row;     /* in the table of fields; 0 at the start */
    const char *name; /* in a module of VB or F# as in the source, where that needs more than
                         the name; this and the next: valid until the next call on M */
    const uint8_t *signature; /* [signature_bytes] its type, II.23.2.12 */
    size_t signature_bytes;
    uint32_t offset; /* that the source demands, or META_NO_OFFSET */
};

/* The next instance field of type TOKEN after X->row.  GCD_END after the last. */
gcd_status meta_next_member(struct gcd_metadata *m, uint32_t token, struct meta_member *x,
                            struct gcd_error *err);

/* N of [InlineArray(N)] of type TOKEN, 0 = it has no such attribute. */
gcd_status meta_inline_length(struct gcd_metadata *m, uint32_t token, uint32_t *ret,
                              struct gcd_error *err);

/* The signature of type specification TOKEN, valid until the next call on M. */
gcd_status meta_specification(struct gcd_metadata *m, uint32_t token, const uint8_t **ret,
                              size_t *ret_n, struct gcd_error *err);

/* Where a type of another name space of types is. */
struct meta_origin {
    const char *name;     /* as reflection spells it; this and the next: until the next call on M */
    const char *assembly; /* "" = this module */
    size_t outermost;     /* length in NAME of the type that is nested in no other */
};

/* The type that reference TOKEN names. */
gcd_status meta_reference(struct gcd_metadata *m, uint32_t token, struct meta_origin *ret,
                          struct gcd_error *err);
/* Forwarder ROW, from 1 on.  GCD_END after the last; an empty name: not a forwarder. */
gcd_status meta_forwarder(struct gcd_metadata *m, uint32_t row, struct meta_origin *ret,
                          struct gcd_error *err);

#endif
