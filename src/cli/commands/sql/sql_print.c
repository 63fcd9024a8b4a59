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

#include "commands/sql/sql_command.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "output/json_out.h"
#include "output/table.h"
#include "term/message.h"
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

/* Rows that wait until the column widths are known. */
struct block {
    const struct gcd_sql_query *q;
    struct cli_column *columns; /* [n] */
    size_t n, rows;
    char **cells; /* [rows * n]; a NULL pointer is the value NULL */
    size_t room;
    bool no_memory;
};

static void add_cell(struct block *b, size_t column)
{
    char buf[CELL_BYTES], *copy = NULL;
    struct gcd_sql_value v = gcd_sql_value(b->q, column);
    const char *number = number_text(&v, buf);
    if (number != NULL)
        copy = strdup(number);
    else if (v.kind != GCD_SQL_NULL)
        copy = cell_text(&v);
    b->no_memory = b->no_memory || (copy == NULL && v.kind != GCD_SQL_NULL);
    if (number == NULL && v.kind != GCD_SQL_NULL)
        b->columns[column].kind = CLI_CELL_TEXT;
    b->cells[b->rows * b->n + column] = copy;
}

static bool add_row(struct block *b)
{
    if (b->rows * b->n >= b->room) {
        size_t room = b->room > 0 ? 2 * b->room : 64 * b->n;
        char **cells = realloc(b->cells, room * sizeof *cells);
        if (cells == NULL)
            return false;
        b->cells = cells;
        b->room = room;
    }
    for (size_t i = 0; i < b->n; i++)
        add_cell(b, i);
    b->rows++;
    return !b->no_memory;
}

/* Prints the rows of the block and clears it. */
static bool print_block(struct block *b)
{
    struct cli_table *t = cli_table_new(b->columns, b->n);
    bool ok = !b->no_memory;
    for (size_t i = 0; i < b->rows * b->n; i++) {
        if (b->cells[i] != NULL)
            cli_table_text(t, b->cells[i]);
        else
            cli_table_none(t);
        free(b->cells[i]);
    }
    cli_table_whole(t);
    ok = ok && cli_table_print(t, stdout);
    cli_table_free(t);
    b->rows = 0;
    for (size_t i = 0; i < b->n; i++)
        b->columns[i].kind = CLI_CELL_DIGITS;
    return ok;
}

static bool print_table(struct gcd_sql_query *q, gcd_status *ret_st, struct gcd_error *err)
{
    struct block b = { .q = q, .n = gcd_sql_column_count(q) };
    bool ok = true, any = false;
    b.columns = calloc(b.n + 1, sizeof *b.columns);
    for (size_t i = 0; i < b.n && b.columns != NULL; i++)
        b.columns[i] =
            (struct cli_column){ .title = gcd_sql_column_name(q, i), .kind = CLI_CELL_DIGITS };
    ok = b.columns != NULL;
    while (ok && (*ret_st = gcd_sql_step(q, err)) == GCD_OK) {
        any = true;
        ok = add_row(&b);
        if (ok && b.rows == TABLE_ROWS)
            ok = print_block(&b);
    }
    cli_progress_end();
    if (b.columns != NULL && (b.rows > 0 || (!any && ok && *ret_st == GCD_END)))
        ok = print_block(&b) && ok;
    free(b.cells);
    free(b.columns);
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
        cli_csv_text(text, stdout);
    free(text);
    return text != NULL;
}

static bool print_csv(struct gcd_sql_query *q, gcd_status *ret_st, struct gcd_error *err)
{
    size_t n = gcd_sql_column_count(q);
    bool ok = true;
    for (size_t i = 0; i < n; i++) {
        fputs(i > 0 ? "," : "", stdout);
        cli_csv_text(gcd_sql_column_name(q, i), stdout);
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
    fputs("\n  ],\n  \"verdict\": ", stdout);
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
