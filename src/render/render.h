/*
 * Renderers: they know the columns of an answer (answer/answer.h), and no command.
 *
 * A function that returns false has set errno: TO cannot be written, ENOMEM, or EINVAL for an
 * answer that was filled wrongly.
 */
#ifndef GCD_RENDER_RENDER_H
#define GCD_RENDER_RENDER_H

#include <stdbool.h>
#include <stdio.h>

#include <jansson.h>

#include "answer/answer.h"

/* ---- text and CSV ---- */

/* For people.  On a terminal, rows that are too wide take several lines (term/wrap.h).  The middle
 * of very long texts is left out (cli_shorten). */
bool render_text(const struct answer *a, FILE *to);
/* RFC 4180, with a line of keys.  Text that a spreadsheet would take for a formula gets an
 * apostrophe in front (src/write/README.md, csv). */
bool render_csv(const struct answer *a, FILE *to);
/* Writes one CSV field. */
void render_csv_text(const char *s, FILE *to);

/* ---- JSON ---- */

/* Whom JSON is for. */
struct render_json {
    bool brief; /* for agents: without details and unknown cells */
    /* NULL, or makes the value of a text */
    json_t *(*text)(void *ctx, const char *text);
    void *ctx;
};
/* Adds the cells of ROW to the object O.  HOW may be NULL, here and below. */
void render_json_row(const struct answer *a, size_t row, const struct render_json *how, json_t *o);
/* All rows but the sums as an array of objects; NULL when memory was exhausted. */
json_t *render_json_rows(const struct answer *a, const struct render_json *how);
/* Is column I of SHAPE in JSON for agents? */
bool render_is_brief(const struct answer_column *column);

/* JSON integers end at 2^63-1; larger values come only from damaged data and are clamped. */
json_t *cli_json_number(uint64_t n);
/* S, with "?" for bytes beyond ASCII when it is not UTF-8, as file names may be. */
json_t *cli_json_text(const char *s);
/* The same; null for "". */
json_t *cli_json_text_or_null(const char *s);
/* Call it before any other function of this file. */
void cli_json_prepare(void);
/* Was memory exhausted for any JSON value since the last call, by any thread? */
bool cli_json_no_memory(void);
/*
 * Prints and releases J.  0, or -1 with errno: TO cannot be written, or ENOMEM if memory was
 * exhausted at any time (then TO has nothing or a part).
 */
int cli_json_print(json_t *j, FILE *to);
/* What is printed from now on goes through CONVERT, which releases its argument; SCHEMA is its
 * number. */
void cli_json_convert(json_t *(*convert)(json_t *document), int schema);
/* The number of the schema that is printed. */
int cli_json_schema(void);
/* J, which is released, as one line with its newline; free() it.  NULL when memory was exhausted at
 * any time. */
char *cli_json_line(json_t *j);
/* json_dumpf in ASCII without control characters, so that no name can command a terminal that shows
 * it. */
int cli_json_dump(const json_t *j, FILE *to, size_t flags);
/* Add a number to O; a text, null for "" and NULL. */
void cli_json_count(json_t *o, const char *key, uint64_t n);
void cli_json_put_text(json_t *o, const char *key, const char *text);

/* Has A been filled without an error?  Else errno is set. */
bool render_ready(const struct answer *a);

#endif
