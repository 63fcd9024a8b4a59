#include <gcdumpc/names.h>
const char *gcd_names_get(const struct gcd_names *n, uint32_t type) { (void)n; (void)type; return ""; }
