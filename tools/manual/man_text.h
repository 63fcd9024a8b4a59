/*
 * Converts text to lines of a manual page.
 */
#ifndef GCD_CLI_MANUAL_MAN_TEXT_H
#define GCD_CLI_MANUAL_MAN_TEXT_H

/* Prints a macro with its arguments verbatim, for example ".SH NAME". */
void man_line(const char *line);
/* Prints filled text: paragraphs, tables and examples of a help text. */
void man_text(const char *text);
/* Prints pieces of one line in bold (B), italics (I) or roman (R), without spaces between them:
 * "B", "--pid", "R", " ", ... */
#define man_words(...) man_put_words((const char *const[]){ __VA_ARGS__, NULL })
void man_put_words(const char *const *words);

#endif
