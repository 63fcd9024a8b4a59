#ifndef GCD_NAMES_FRAMEWORK_KEYS_H
#define GCD_NAMES_FRAMEWORK_KEYS_H

#include <stdbool.h>
#include <stdint.h>

/* Is TOKEN a public key token of Microsoft's assemblies: of the framework, ASP.NET Core, Entity
 * Framework? */
bool gcd_is_framework_key(const uint8_t token[8]);

#endif
