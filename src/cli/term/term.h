/*
 * Text for a terminal or a pipe.
 */
#ifndef GCD_CLI_TERM_TERM_H
#define GCD_CLI_TERM_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool cli_is_terminal(FILE *f);
/* Bold from here, or no more: on a terminal, unless NO_COLOR says no. */
void cli_bold(FILE *f, bool on);
/* Columns of the window that F is, SIZE_MAX when it is none: a pipe gets everything. */
size_t cli_window_columns(FILE *f);
/* The line S, which begins at COLUMN of the window; what does not fit goes on below, from column HANG. */
void cli_print_wrapped(FILE *to, const char *s, size_t column, size_t hang);
/* Text of several lines, none longer than this; in a narrower window its paragraphs are broken anew. */
#define CLI_PROSE_COLUMNS 110
void cli_print_prose(FILE *to, const char *s);
/* N with thousands separators when they are wanted, in BUF. */
#define CLI_NUMBER_BYTES 32
const char *cli_number(uint64_t n, bool separators, char buf[CLI_NUMBER_BYTES]);
/* N bytes for people, "1.3 MiB", in BUF. */
const char *cli_size(uint64_t n, char buf[CLI_NUMBER_BYTES]);
/* "2026-11-21T16:00:00.000Z" in BUF; "" when it is not known, INT64_MIN. */
#define CLI_TIME_BYTES 64
const char *cli_time(int64_t unix_ms, char buf[CLI_TIME_BYTES]);

/* Text of an input for a terminal or a line of text: what would command it (also the direction of writing), or is no UTF-8, becomes "?". */
void cli_print_sanitized(FILE *to, const char *s);
/* The first character of S, which is not empty.  Returns its bytes. */
size_t cli_print_char(FILE *to, const char *s);
/* The same, cut after COLUMNS characters.  Returns how many there were; TO may be NULL, to count. */
size_t cli_print_cut(FILE *to, const char *s, size_t columns);
/* The same of the first N bytes, which end with a character. */
size_t cli_print_bytes(FILE *to, const char *s, size_t n);

#endif
