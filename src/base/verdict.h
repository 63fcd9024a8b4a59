/* Fills in a verdict. */
#ifndef GCD_BASE_VERDICT_H
#define GCD_BASE_VERDICT_H

#include <gcdumpc/dump.h>

/* Adds a reason, which makes the dump incomplete.  Call in the order of the codes. */
void gcd_verdict_add(struct gcd_verdict *v, enum gcd_reason_code code, uint64_t amount,
                     const char *fmt, ...) GCD_PRINTF(4, 5);

#endif
