/*
 * Foreign text as source code has it.
 */
#ifndef GCDUMPC_UNSTABLE_TEXT_QUOTED_H
#define GCDUMPC_UNSTABLE_TEXT_QUOTED_H

#include <stdbool.h>
#include <stddef.h>

/* The first MOST of the characters in N bytes of UTF-8 in quotes, with escapes for those that no
 * terminal should get; an ellipsis for what is missing.  CUT: they are only the beginning. */
#define GCD_QUOTED_BYTES 512
const char *gcd_quoted(const char *utf8, size_t n, bool cut, size_t most,
                       char ret[GCD_QUOTED_BYTES]);

#endif
