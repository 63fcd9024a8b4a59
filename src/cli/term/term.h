/*
 * Text for a terminal or a pipe.
 */
#ifndef GCD_CLI_TERM_TERM_H
#define GCD_CLI_TERM_TERM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool cli_is_terminal(FILE *f);
/* With HUMAN, standard output counts as a terminal without a width.  COLOR says when to print bold.
 */
enum cli_color { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER };
void cli_style(bool human, enum cli_color color);
/* Switches bold on or off; CLI_COLOR_AUTO: only on a terminal and without NO_COLOR. */
void cli_bold(FILE *f, bool on);
/* The width of the terminal F in columns; SIZE_MAX when F is not a terminal. */
size_t cli_window_columns(FILE *f);
/* Prints the line S, which begins at COLUMN; wrapped lines begin at column HANG. */
void cli_print_wrapped(FILE *to, const char *s, size_t column, size_t hang);
/* Prints TEXT after INDENT columns already on the line and a space, wrapped between words, also in
 * files.  False: out of memory. */
bool cli_print_paragraph(int indent, const char *text);
/* Prints text with lines of at most this many columns; on a narrower terminal wraps its paragraphs
 * again. */
#define CLI_PROSE_COLUMNS 110
void cli_print_prose(FILE *to, const char *s);
/* N in BUF, with thousands separators if SEPARATORS. */
#define CLI_NUMBER_BYTES 32
const char *cli_number(uint64_t n, bool separators, char buf[CLI_NUMBER_BYTES]);
/* The size N for people in BUF, such as "1.3 MiB". */
const char *cli_size(uint64_t n, char buf[CLI_NUMBER_BYTES]);
/* "2026-11-21T16:00:00.000Z" in BUF; "" for INT64_MIN, unknown. */
#define CLI_TIME_BYTES 64
const char *cli_time(int64_t unix_ms, char buf[CLI_TIME_BYTES]);

/* Prints foreign text: control characters (including those for direction) and bytes that are not
 * UTF-8 become "?". */
void cli_print_sanitized(FILE *to, const char *s);
/* A copy of the N bytes at S, which may contain NUL, as a text with "?" for each; to be freed. */
char *cli_text_copy(const char *s, size_t n);
/* Prints the first character of S, which is not empty.  Returns its length in bytes. */
size_t cli_print_char(FILE *to, const char *s);
/*
 * The first character of S, which is not empty, for a screen made of cells.  *RET is "?" for what a
 * terminal would obey or not show, and with ASCII for all other alphabets.  *RET_COLUMNS is 2 for
 * wide characters, 0 for combining ones.  The locale must be UTF-8 unless ASCII.  Returns its
 * length in bytes.
 */
size_t cli_screen_char(const char *s, bool ascii, uint32_t *ret, unsigned *ret_columns);
/* The same for all of S, cut after COLUMNS characters.  Returns the number of characters; TO NULL:
 * only counts. */
size_t cli_print_cut(FILE *to, const char *s, size_t columns);
/* The same for the first N bytes, which end at a character. */
size_t cli_print_bytes(FILE *to, const char *s, size_t n);
/* S, or in BUF its beginning and end with "..." between them, if it has more than CLI_SHORT_COLUMNS
 * characters.  Patterns take "..." for anything. */
#define CLI_SHORT_COLUMNS 200u
#define CLI_SHORT_BYTES   (4 * CLI_SHORT_COLUMNS)
const char *cli_shorten(const char *s, char buf[CLI_SHORT_BYTES]);

#endif
