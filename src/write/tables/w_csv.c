/* A folder of CSV files, one per table (tables.h).  RFC 4180 with LF; README.md in the folder above
 * explains the protection of spreadsheets. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/io/sink_room.h>
#include <gcdumpc/unstable/staged_file.h>

#include <gcdumpc/unstable/text/spreadsheet.h>

#include "base/dec.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/mem.h"
#include "write/tables/tables.h"
#include "write/write.h"

/* Room for any value other than text, with its separator. */
#define CELL_BYTES ((size_t)48)

struct csv {
    struct tables tables;
    const struct gcd_staged *staged;
    const struct gcd_write_options *options;
    uint64_t done, total; /* rows */
};

/* gcd_is_formula of BYTES[N], whose beginning decides unless it is a number. */
static bool is_formula(const char *bytes, size_t n)
{
    char begin[CELL_BYTES];
    size_t k = 0;
    if (n > 0 && bytes[0] == ' ')
        begin[k++] = ' ';
    for (; n > 0 && *bytes == ' '; n--)
        bytes++;
    for (; n > 0 && k < sizeof begin - 2; n--)
        begin[k++] = *bytes++;
    if (n > 0) /* no number that anybody wants to add up */
        begin[k++] = 'x';
    begin[k] = '\0';
    return gcd_is_formula(begin);
}

/* BYTES[N], which may end without a NUL. */
static void put_text(struct gcd_sink *out, const char *bytes, size_t n)
{
    gcd_sink_text(out, is_formula(bytes, n) ? "\"'" : "\"");
    for (;;) {
        const char *quote = n > 0 ? memchr(bytes, '"', n) : NULL;
        size_t before = quote != NULL ? (size_t)(quote - bytes) : n;
        write_shown(out, bytes, before);
        if (quote == NULL)
            break;
        gcd_sink_text(out, "\"\"");
        bytes += before + 1;
        n -= before + 1;
    }
    gcd_sink_text(out, "\"");
}

/* 17 digits tell every double apart.  Those that are no number or not finite have only a text. */
static char *put_real(char *p, double real)
{
    bool finite = real - real == 0;
    return finite ? p + snprintf(p, CELL_BYTES - 1, "%.17g", real) : p;
}

static char *put_signed(char *p, int64_t n)
{
    if (n < 0)
        *p++ = '-';
    return gcd_dec_put(p, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

static void put_value(struct gcd_sink *out, const struct table_value *v, char end)
{
    if (v->kind == TABLE_TEXT)
        put_text(out, v->text, strlen(v->text));
    if (v->kind == TABLE_BYTES)
        put_text(out, v->text, (size_t)v->number);
    char *p = gcd_sink_reserve(out, CELL_BYTES), *q = p;
    if (v->kind == TABLE_NUMBER) {
        q = gcd_dec_put(q, v->number);
    } else if (v->kind == TABLE_SIGNED) {
        q = put_signed(q, (int64_t)v->number);
    } else if (v->kind == TABLE_REAL) {
        q = put_real(q, v->real);
    } else if (v->kind == TABLE_ADDRESS) {
        *q++ = '0';
        *q++ = 'x';
        q = gcd_hex_put(q, v->number);
    }
    *q++ = end;
    gcd_sink_advance(out, (size_t)(q - p));
}

static gcd_status put_table(struct csv *w, const struct table *table, struct gcd_sink *out,
                            struct gcd_error *err)
{
    size_t last = table->column_count - 1;
    for (size_t i = 0; i <= last; i++) {
        gcd_sink_text(out, table->columns[i]);
        gcd_sink_text(out, i == last ? "\n" : ",");
    }
    struct table_cursor c;
    for (table_start(&c, &w->tables, table); table_more(&c); table_next(&c)) {
        for (size_t i = 0; i <= last; i++) {
            struct table_value v;
            table_value(&c, i, &v);
            put_value(out, &v, i == last ? '\n' : ',');
        }
        if (++w->done % WRITE_CHECK_EVERY == 0)
            GCD_TRY(write_check(w->options, out, w->done, w->total, err));
    }
    return GCD_OK;
}

static gcd_status put_file(struct csv *w, const struct table *table, struct gcd_error *err)
{
    const struct gcd_alloc *a = &w->tables.alloc;
    const char *folder = gcd_staged_temporary(w->staged);
    size_t n = strlen(folder) + strlen(table->name) + sizeof "/.csv";
    char *path = gcd_mem_new(a, n);
    if (path == NULL)
        return gcd_fail_nomem(err, "opening the output");
    (void)snprintf(path, n, "%s/%s.csv", folder, table->name);
    struct gcd_sink *out = NULL;
    struct gcd_sink_options options = { .context = w->options->context,
                                        .keep_room = gcd_staged_keeps_room(w->staged) };
    options.context.threads = 0; /* most tables are small */
    gcd_status st = gcd_sink_open(path, &options, &out, err);
    gcd_mem_free(a, path, n);
    if (st == GCD_OK)
        st = put_table(w, table, out, err);
    if (st == GCD_OK)
        st = gcd_sink_commit(out, err);
    gcd_sink_free(out);
    if (st != GCD_OK)
        gcd_error_wrap(err, "%s.csv", table->name);
    return st;
}

static gcd_status csv_write(const struct gcd_graph *g, struct gcd_staged *p,
                            const struct gcd_write_options *options, struct gcd_write_notes *notes,
                            struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    struct csv *w = gcd_mem_new(&a, sizeof *w);
    if (w == NULL)
        return gcd_fail_nomem(err, "writing tables");
    w->staged = p;
    w->options = options;
    gcd_status st = tables_init(&w->tables, g, NULL, options, err);
    for (size_t i = 0; i < TABLE_OF_DOMINATORS && st == GCD_OK; i++)
        w->total += table_list[i]->rows(&w->tables);
    for (size_t i = 0; i < TABLE_OF_DOMINATORS && st == GCD_OK; i++)
        if (tables_has(&w->tables, i))
            st = put_file(w, table_list[i], err);
    if (st == GCD_OK)
        tables_note(&w->tables, notes);
    tables_done(&w->tables);
    gcd_mem_free(&a, w, sizeof *w);
    return st;
}

const struct gcd_format gcd_w_csv = {
    .name = "csv",
    .suffix = ".csv",
    .about = "a folder of CSV files: tables of objects, references, roots ...",
    .size_percent = 120,
    .text = true,
    .folder = true,
    .values = true,
    .names = GCD_NAMES_CSHARP,
    .write_place = csv_write
};
