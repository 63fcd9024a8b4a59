/*
 * Fits the columns of a table into a terminal.  Text that is too wide takes several lines.  Nothing
 * is cut, because people copy names of types into the next command.
 */
#ifndef GCD_CLI_WRAP_H
#define GCD_CLI_WRAP_H

#include <stdbool.h>
#include <stddef.h>

/* Blanks between two columns, and before a continuation line. */
#define CLI_GAP 2u

struct cli_wrapped_column {
    bool shown;
    bool text;       /* may be wrapped; false for a number */
    size_t width;    /* in characters: in what the column needs, out what it gets */
    size_t line, at; /* line within the row; first column on the terminal */
};

/*
 * Sets line, at and width of PLACES[N] for a window of WINDOW columns, SIZE_MAX = no window.  Puts
 * columns side by side and narrows long texts as needed; if they would become too narrow, each text
 * gets a line of its own below the numbers.
 */
void cli_wrap_columns(struct cli_wrapped_column *places, size_t n, size_t window);

/* How many bytes of S, at least 1, go on a line of WIDTH characters: up to a place where a name or
 * a sentence may break. */
size_t cli_break(const char *s, size_t width);
size_t cli_break_words(const char *s, size_t width);

#endif
