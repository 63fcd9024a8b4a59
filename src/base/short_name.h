/* Names of types without their namespaces.  C# writes a dot after a namespace and after an outer
 * type; the runtime's spelling, RAW ("List`1[Shop.Cart+Item]"), tells one from the other. */
#ifndef GCD_BASE_SHORT_NAME_H
#define GCD_BASE_SHORT_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* Part of the names of the classes that CreateLinkedTokenSource makes; nobody looks for them. */
#define GCD_LINKED_SOURCE "CancellationTokenSource+Linked"

/* Is C part of a word, which is identifiers with dots between them? */
bool gcd_short_is_part(char c);

/* The number of types without parameters in which the word P[N] is nested. */
unsigned gcd_short_outer(const char *raw, const char *p, size_t n);

/* Where the last SEGMENTS of the word P[N], with the dots after them, begin. */
size_t gcd_short_begin(const char *p, size_t n, unsigned segments);

/* "Dictionary<Int32, Cart.Item>" of "System.Collections.Generic.Dictionary<System.Int32,
 * Shop.Cart.Item>", cut to CAP. */
const char *gcd_short_name(const char *name, const char *raw, char *ret, size_t cap);

#endif
