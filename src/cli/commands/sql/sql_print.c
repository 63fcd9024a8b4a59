/*
 * Prints rows as a table, JSON or CSV.  JSON and CSV are written row by row.  A table needs the
 * widths of its rows, so a long one is split into several with the same titles.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include <gcdumpc/gcdumpc.h>

#include "answer/answer.h"
#include "commands/sql/sql_command.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "output/json_out.h"
#include "term/progress.h"
#include "term/term.h"

/* Rows of one text table. */
#define TABLE_ROWS 10000u

#define CELL_BYTES 40

/* ---- cells ---- */

/* The number V as SQLite prints it; NULL = V is not a number. */
static const char *number_text(const struct gcd_sql_value *v, char buf[CELL_BYTES])
{
    if (v->kind == GCD_SQL_INTEGER)
        (void)snprintf(buf, CELL_BYTES, "%" PRId64, v->integer);
    else if (v->kind == GCD_SQL_REAL)
        (void)snprintf(buf, CELL_BYTES, "%.15g", v->real);
    else
        return NULL;
    return buf;
}

/* A text, or a blob in SQL notation, X'01ff'; to be freed. */
static char *cell_text(const struct gcd_sql_value *v)
{
    if (v->kind == GCD_SQL_TEXT)
        return cli_text_copy(v->text, v->bytes);
    char *text = v->bytes < SIZE_MAX / 4 ? malloc(2 * v->bytes + 4) : NULL, *at = text;
    if (text == NULL)
        return NULL;
    at += sprintf(at, "X'");
    for (size_t i = 0; i < v->bytes; i++)
        at += sprintf(at, "%02x", (unsigned char)v->text[i]);
    (void)sprintf(at, "'");
    return text;
}

/* ---- a table ---- */

/* The text of V in one line: ends of lines and tabs as source code has them.  To be freed. */
static char *line_text(const struct gcd_sql_value *v)
{
    char *text = v->bytes < SIZE_MAX / 4 ? malloc(2 * v->bytes + 1) : NULL, *at = text;
    for (size_t i = 0; i < v->bytes && text != NULL; i++) {
        static const char escaped[] = "\n\t\r", letters[] = "ntr0";
        const char *e = memchr(escaped, v->text[i], sizeof escaped); /* also a NUL */
        if (e != NULL)
            *at++ = '\\';
        *at++ = e != NULL ? letters[e - escaped] : v->text[i];
    }
    if (text != NULL)
        *at = '\0';
    return text;
}

/* Adds the row of Q to A: numbers are to the right, and a column with any text to the left. */
static bool add_row(const struct gcd_sql_query *q, struct answer *a)
{
    bool ok = true;
    answer_row(a);
    for (size_t i = 0; i < a->shape.count; i++) {
        char buf[CELL_BYTES], *copy = NULL;
        struct gcd_sql_value v = gcd_sql_value(q, i);
        const char *text = number_text(&v, buf);
        if (text == NULL && v.kind != GCD_SQL_NULL) {
            a->own_columns[i].kind = ANSWER_TEXT;
            text = copy = v.kind == GCD_SQL_TEXT ? line_text(&v) : cell_text(&v);
            ok = ok && copy != NULL;
        }
        a->next = i; /* names of columns can be equal */
        answer_text(a, a->shape.columns[i].key, text);
        free(copy);
    }
    return ok && render_ready(a);
}

static struct answer *block_of(const struct gcd_sql_query *q)
{
    size_t n = gcd_sql_column_count(q);
    struct answer *a = answer_new_columns(NULL, n);
    if (a != NULL)
        a->whole = true;
    for (size_t i = 0; a != NULL && i < n; i++)
        a->own_columns[i] = (struct answer_column)COLUMN(gcd_sql_column_name(q, i),
                                                         gcd_sql_column_name(q, i), ANSWER_DIGITS);
    return a;
}

static bool print_table(struct gcd_sql_query *q, gcd_status *ret_st, struct gcd_error *err)
{
    struct answer *a = block_of(q);
    bool ok = a != NULL, any = false;
    while (ok && (*ret_st = gcd_sql_step(q, err)) == GCD_OK) {
        any = true;
        ok = add_row(q, a);
        if (!ok || a->rows < TABLE_ROWS)
            continue;
        ok = render_text(a, stdout);
        answer_free(a);
        a = block_of(q);
        ok = ok && a != NULL;
    }
    cli_progress_end();
    if (a != NULL && (a->rows > 0 || (!any && ok && *ret_st == GCD_END)))
        ok = render_text(a, stdout) && ok;
    answer_free(a);
    return ok;
}

/* ---- CSV ---- */

static bool print_csv_cell(const struct gcd_sql_value *v)
{
    char buf[CELL_BYTES];
    const char *number = number_text(v, buf);
    if (number != NULL)
        fputs(number, stdout);
    if (number != NULL || v->kind == GCD_SQL_NULL)
        return true;
    char *text = cell_text(v);
    if (text != NULL)
        render_csv_text(text, stdout);
    free(text);
    return text != NULL;
}

static bool print_csv(struct gcd_sql_query *q, gcd_status *ret_st, struct gcd_error *err)
{
    size_t n = gcd_sql_column_count(q);
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? "," : "", stdout);
        render_csv_text(gcd_sql_column_name(q, i), stdout);
    }
    putchar('\n');
    while (ok && !ferror(stdout) && (*ret_st = gcd_sql_step(q, err)) == GCD_OK) {
        for (size_t i = 0; i < n && ok; i++) {
            struct gcd_sql_value v = gcd_sql_value(q, i);
            fputs(i > 0 ? "," : "", stdout);
            ok = print_csv_cell(&v);
        }
        putchar('\n');
    }
    cli_progress_end();
    return ok;
}

/* ---- JSON ---- */

static json_t *json_cell(const struct gcd_sql_value *v)
{
    char *text;
    json_t *j;
    switch (v->kind) {
    case GCD_SQL_INTEGER:
        return json_integer(v->integer);
    case GCD_SQL_REAL:
        j = json_real(v->real);
        return j != NULL ? j : json_null(); /* JSON has no infinity */
    case GCD_SQL_TEXT:
    case GCD_SQL_BLOB:
        j = v->kind == GCD_SQL_TEXT ? json_stringn(v->text, v->bytes) : NULL;
        if (j != NULL)
            return j;
        text = cell_text(v);
        j = text != NULL ? cli_json_text(text) : NULL;
        free(text);
        return j;
    default:
        return json_null();
    }
}

/* Prints and releases J, on one line. */
static bool put_json(json_t *j)
{
    bool ok = j != NULL && cli_json_dump(j, stdout, JSON_ENCODE_ANY) == 0;
    json_decref(j);
    return ok || ferror(stdout); /* a write error is found when it is flushed */
}

static bool print_json(const struct sql_shell *s, struct gcd_sql_query *q, gcd_status *ret_st,
                       struct gcd_error *err)
{
    size_t n = gcd_sql_column_count(q);
    json_t *names = json_array();
    bool ok = names != NULL;
    for (size_t i = 0; i < n && ok; i++)
        ok = json_array_append_new(names, cli_json_text(gcd_sql_column_name(q, i))) == 0;
    printf("{\n  \"schema\": %d,\n  \"recording\": ", cli_json_schema());
    ok = put_json(cli_json_text(s->d.subject)) && ok;
    fputs(",\n  \"columns\": ", stdout);
    ok = put_json(names) && ok;
    fputs(",\n  \"rows\": [", stdout);
    const char *comma = "";
    while (ok && !ferror(stdout) && (*ret_st = gcd_sql_step(q, err)) == GCD_OK) {
        json_t *row = json_array();
        for (size_t i = 0; i < n && ok; i++) {
            struct gcd_sql_value v = gcd_sql_value(q, i);
            ok = json_array_append_new(row, json_cell(&v)) == 0;
        }
        printf("%s\n    ", comma);
        ok = put_json(row) && ok;
        comma = ",";
    }
    cli_progress_end();
    fputs("\n  ],\n", stdout);
    if (s->d.no_values[0] != '\0') {
        fputs("  \"values_missing\": ", stdout);
        ok = put_json(cli_json_text(s->d.no_values)) && ok;
        fputs(",\n", stdout);
    }
    fputs("  \"verdict\": ", stdout);
    ok = put_json(cli_json_verdict(&cli_summary(&s->d)->verdict)) && ok;
    fputs("\n}\n", stdout);
    return ok;
}

enum cli_exit sql_print(const struct sql_shell *s, struct gcd_sql_query *q)
{
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = GCD_END;
    errno = 0;
    if (s->mode == SQL_TABLE)
        cli_mark_incomplete(stdout, s->d.subject, &cli_summary(&s->d)->verdict);
    bool ok = s->mode == SQL_JSON  ? print_json(s, q, &st, &err)
              : s->mode == SQL_CSV ? print_csv(q, &st, &err)
                                   : print_table(q, &st, &err);
    if (st < 0)
        return cli_fail(s->d.subject, &err);
    return ok || ferror(stdout) ? CLI_DONE : cli_no_memory(s->d.subject);
}
