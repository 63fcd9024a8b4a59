/*
 * Text on the wire is UTF-16, text in the library is UTF-8.
 */
#ifndef GCD_IPC_TEXT_H
#define GCD_IPC_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

/*
 * N_UNITS little-endian UTF-16 units as NUL-terminated UTF-8.  One NUL at the end is the terminator
 * and not text; any other NUL and every unpaired surrogate becomes U+FFFD.  NULL when out of
 * memory.
 */
char *gcd_text_from_utf16(const struct gcd_alloc *alloc, const uint8_t *units, size_t n_units);
void gcd_text_free(const struct gcd_alloc *alloc, char *s);

#endif
