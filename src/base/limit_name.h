/* Names of fields and constants that limit how many there are of something. */
#ifndef GCD_BASE_LIMIT_NAME_H
#define GCD_BASE_LIMIT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Smaller limits are near many numbers. */
#define GCD_LEAST_LIMIT 16u

/* Does NAME[N] say that its number limits how many there are?  "_limit", "maxEntries", "Capacity";
 * not "maxId", which is the highest so far.  If FIELD is not "": how many are in FIELD,
 * "MaxVisited" of "_visited"? */
bool gcd_is_limit_name(const char *name, size_t n, const char *field);

/* Could NAME be one of these, whatever the fields are called? */
bool gcd_may_be_limit(const char *name);

#endif
