/*
 * Text to the lines of a manual page.
 */
#ifndef GCD_CLI_MANUAL_MAN_TEXT_H
#define GCD_CLI_MANUAL_MAN_TEXT_H

/* A macro and its arguments as they are, for example ".SH NAME". */
void man_line(const char *line);
/* Text that is filled: paragraphs, tables and examples of a help text. */
void man_text(const char *text);
/* Words in a line of their own, set in bold (B) or italics (I), or plainly (R), without a space between pieces: "B", "--pid", "R", " ", ... */
#define man_words(...) man_put_words((const char *const[]){ __VA_ARGS__, NULL })
void man_put_words(const char *const *words);

#endif
