#ifndef NAMES_MEMORY_H
#define NAMES_MEMORY_H

#include <gcdumpc/summary.h>

/* Makes the names of a summary with each allocation failing in turn; each must end with GCD_E_NOMEM
 * and without a leak. */
void check_names_memory(const struct gcd_summary *summary);

#endif
