/*
 * What is said about the symbols of a program that was compiled ahead of time (Native AOT), which
 * name its types.
 */
#ifndef GCD_CLI_NATIVE_SYMBOLS_H
#define GCD_CLI_NATIVE_SYMBOLS_H

#include <gcdumpc/summary.h>

#define CLI_SYMBOLS_BYTES 400

/* Where they are, or what is missing; in BUF. */
const char *cli_symbols_text(const struct gcd_summary *s, const struct gcd_module *m,
                             char buf[CLI_SYMBOLS_BYTES]);
/* How M, which has no names, gets them; in BUF. */
const char *cli_symbols_wanted(const struct gcd_summary *s, const struct gcd_module *m,
                               char buf[CLI_SYMBOLS_BYTES]);

#endif
