/*
 * Names come from foreign processes and files.  A character that controls a terminal or the display
 * of a file, instead of being shown, must not reach either.
 */
#ifndef GCDUMPC_UNSTABLE_TEXT_SHOWN_H
#define GCDUMPC_UNSTABLE_TEXT_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>

/*
 * The length of the first character of the N > 0 bytes at S.  *RET_SHOWN false: it is a control
 * character, changes the direction of text, separates lines, or is an annotation or an invisible
 * tag; or the byte is not UTF-8, and *RET_CODE is 0xfffd.
 */
size_t gcd_text_next(const char *s, size_t n, uint32_t *ret_code, bool *ret_shown);

#endif
