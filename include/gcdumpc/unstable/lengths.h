/*
 * Lengths of arrays and strings, where they follow from the size.
 *
 * CoreCLR reports exact sizes: a header that depends on rank and pointer size, then elements
 * without gaps.  The element size is known for primitives, enums and references, but not for other
 * value types.  In recordings, gcd_type.parameters gives the element type; in other dumps, the name
 * does.  The length of a multi-dimensional array is the number of all elements.
 */
#ifndef GCDUMPC_UNSTABLE_LENGTHS_H
#define GCDUMPC_UNSTABLE_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

/* The layout of the objects of a type. */
struct gcd_length_rule {
    uint16_t header_bytes;
    uint8_t element_bytes; /* 0: objects have no length, or it is unknown */
};

/*
 * Fills RET_RULES, one per type of the dump or graph; all have element_bytes 0 when sizes are not
 * exact (Mono rounds them up). ALLOC may be NULL.  GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_length_rules(const struct gcd_summary *summary,
                                           const struct gcd_alloc *alloc,
                                           struct gcd_length_rule *ret_rules,
                                           struct gcd_error *err);

/* Does an object of SIZE_BYTES have a length?  If so, *RET is the length. */
static inline bool gcd_length_of(const struct gcd_length_rule *rule, uint64_t size_bytes,
                                 uint64_t *ret)
{
    if (rule->element_bytes == 0 || size_bytes < rule->header_bytes ||
        (size_bytes - rule->header_bytes) % rule->element_bytes != 0)
        return false;
    *ret = (size_bytes - rule->header_bytes) / rule->element_bytes;
    return true;
}

#endif
