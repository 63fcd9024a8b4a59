/*
 * How many elements an array or characters a string has, where that follows from its size.
 *
 * CoreCLR tells exact sizes: a header that depends on rank and pointer size, then elements without a gap.  The size of an element is
 * known when it is a primitive, an enum or a reference; that of other value types is not.
 */
#ifndef GCD_WRITE_DART_LENGTHS_H
#define GCD_WRITE_DART_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

struct dart_length {
    uint16_t header_bytes;
    uint8_t element_bytes;       /* 0: its objects have no length, or nobody can tell it */
};

/* Fill RET ([types]) for the types of G.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status dart_lengths(const struct gcd_graph *g, const struct gcd_alloc *alloc, struct dart_length *ret,
                                       struct gcd_error *err);

/* Does an object of SIZE_BYTES have a length?  Then it is *RET. */
static inline bool dart_length_of(const struct dart_length *l, uint64_t size_bytes, uint64_t *ret)
{
    if (l->element_bytes == 0 || size_bytes < l->header_bytes || (size_bytes - l->header_bytes) % l->element_bytes != 0)
        return false;
    *ret = (size_bytes - l->header_bytes) / l->element_bytes;
    return true;
}

#endif
