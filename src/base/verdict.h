/* Fills in a verdict. */
#ifndef GCD_BASE_VERDICT_H
#define GCD_BASE_VERDICT_H

#include <gcdumpc/dump.h>

/* Adds a reason, which makes the dump incomplete; the reasons stay in the order of their codes, and
 * the first of each code stays. */
void gcd_verdict_add(struct gcd_verdict *v, enum gcd_reason_code code, uint64_t amount,
                     const char *fmt, ...) GCD_PRINTF(4, 5);

/* Takes a reason back: without any, the dump is complete. */
void gcd_verdict_remove(struct gcd_verdict *v, enum gcd_reason_code code);

#endif
