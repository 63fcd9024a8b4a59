/*
 * How many elements an array or characters a string has, where that follows from its size.
 *
 * CoreCLR tells exact sizes: a header that depends on rank and pointer size, then elements without a gap.  The size of an element is
 * known when it is a primitive, an enum or a reference; that of other value types is not.  Of an array of several dimensions it is the
 * number of all elements.
 */
#ifndef GCDUMPC_UNSTABLE_LENGTHS_H
#define GCDUMPC_UNSTABLE_LENGTHS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>
#include <gcdumpc/summary.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the objects of a type are laid out. */
struct gcd_length_rule {
    uint16_t header_bytes;
    uint8_t element_bytes;       /* 0: its objects have no length, or nobody can tell it */
};

/*
 * Fill RET_RULES, one a type of the dump or graph; all with element_bytes 0 when the sizes are not exact (Mono rounds them up).
 * ALLOC may be NULL.  GCD_E_NOMEM.
 */
GCD_API GCD_MUST_CHECK gcd_status gcd_length_rules(const struct gcd_summary *summary, const struct gcd_alloc *alloc,
                                                   struct gcd_length_rule *ret_rules, struct gcd_error *err);

/* Does an object of SIZE_BYTES have a length?  Then it is *RET. */
static inline bool gcd_length_of(const struct gcd_length_rule *rule, uint64_t size_bytes, uint64_t *ret)
{
    if (rule->element_bytes == 0 || size_bytes < rule->header_bytes || (size_bytes - rule->header_bytes) % rule->element_bytes != 0)
        return false;
    *ret = (size_bytes - rule->header_bytes) / rule->element_bytes;
    return true;
}

#ifdef __cplusplus
}
#endif
#endif
