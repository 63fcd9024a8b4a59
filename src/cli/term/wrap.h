/*
 * Where the columns of a table go when they have to fit a window.  What is too wide gets several lines: nothing is cut, because the
 * name of a type is what the next command is asked about.
 */
#ifndef GCD_CLI_WRAP_H
#define GCD_CLI_WRAP_H

#include <stdbool.h>
#include <stddef.h>

/* Between two columns, and before what goes on in the next line. */
#define CLI_GAP 2u

struct cli_column_box {
    bool shown;
    bool text;                   /* can be broken, else a number */
    size_t width;                /* in characters: what the column needs; cli_wrap_columns makes it what it gets */
    size_t line, at;             /* of the lines that a row takes; first column of the window */
};

/*
 * Set line, at and width of PLACES[N] for a window of so many columns, SIZE_MAX for none.  Side by side, long texts as narrow as
 * need be; when they would become too narrow, each in a line of its own below the numbers.
 */
void cli_wrap_columns(struct cli_column_box *places, size_t n, size_t window);

/* How many bytes of S go into a line of WIDTH characters, 1 at least: up to where a name, or a sentence, can be broken. */
size_t cli_break(const char *s, size_t width);
size_t cli_break_words(const char *s, size_t width);

#endif
