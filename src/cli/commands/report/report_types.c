#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/retained.h>

#include "commands/report/report.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "term/message.h"

enum cli_exit report_no_memory(const struct report *r)
{
    return cli_error(CLI_FAILED, r->d.subject, "out of memory");
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* ---- what types retain ---- */

/* Types that belong to no row. */
#define NO_ROW GCD_CLASS_NONE

/* What the objects of each row keep alive, when that is asked for.  ROW_OF[types]; consumes it. */
static enum cli_exit add_retained(struct report *r, struct report_rows *rows, const uint32_t *row_of)
{
    if (!r->args->view.retained)
        return CLI_DONE;
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t *bytes = calloc(rows->n + 1, sizeof *bytes);
    if (bytes == NULL)
        return report_no_memory(r);
    gcd_status st = gcd_retained_by_class(r->d.graph, r->dominators, row_of, (uint32_t)rows->n, cli_alloc(), bytes, &err);
    for (size_t i = 0; i < rows->n && st == GCD_OK; i++)
        rows->items[i].retained_bytes = bytes[i];
    free(bytes);
    return st == GCD_OK ? CLI_DONE : cli_fail(r->d.subject, &err);
}

/* ---- a line for each type ---- */

enum cli_exit report_type_rows(struct report *r, struct report_rows *ret)
{
    uint32_t *row_of = malloc(((size_t)r->types + 1) * sizeof *row_of);
    bool ok = row_of != NULL;
    for (uint32_t i = 0; i < r->types && ok; i++) {
        const struct gcd_type *t = &cli_summary(&r->d)->types[i];
        row_of[i] = r->wanted[i] ? (uint32_t)ret->n : NO_ROW;
        if (r->wanted[i])
            ok = report_add_row(ret, (struct report_row){ .label = gcd_names_get(r->names, i), .count = t->objects, .bytes = t->bytes, .index = i });
    }
    enum cli_exit e = ok ? add_retained(r, ret, row_of) : report_no_memory(r);
    free(row_of);
    return e;
}

static const struct cli_column type_columns[] = {
    { "name", "Type", CLI_CELL_TEXT }, { "raw_name", NULL, CLI_CELL_TEXT }, { "module", NULL, CLI_CELL_TEXT }, { "id", NULL, CLI_CELL_ADDRESS },
    { "edges", NULL, CLI_CELL_COUNT },
};

static void type_cells(const void *ctx, struct cli_table *t, const struct report_row *row)
{
    const struct report *r = ctx;
    cli_table_text(t, row->label);
    if (row->index >= r->types) {
        for (size_t i = 1; i < sizeof type_columns / sizeof *type_columns; i++)
            cli_table_none(t);
        return;
    }
    const struct gcd_type *type = &cli_summary(&r->d)->types[row->index];
    cli_table_text(t, type->name);
    if (type->module_path[0] != '\0')
        cli_table_text(t, type->module_path);
    else
        cli_table_none(t);
    cli_table_address(t, type->id);
    cli_table_count(t, type->edges);
}

enum cli_exit report_by_type(struct report *r, struct cli_table **ret)
{
    struct report_rows rows = { .items = NULL };
    enum cli_exit e = report_type_rows(r, &rows);
    if (e == CLI_DONE)
        *ret = report_table(r, &rows, &(struct report_columns){ "types", type_columns, sizeof type_columns / sizeof *type_columns, type_cells, r });
    report_rows_done(&rows);
    return e;
}

/* ---- a line for what types have in common ---- */

/* A part of a text that lives as long as the dump. */
struct key {
    const char *s;
    size_t n;
    uint32_t type;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;
    int order = memcmp(x->s, y->s, x->n < y->n ? x->n : y->n);
    return order != 0 ? order : x->n < y->n ? -1 : x->n > y->n;
}

/* A row for each key; its index is the first type in it. */
static bool merge(const struct report *r, struct key *keys, size_t n, struct report_rows *ret, uint32_t *row_of)
{
    if (n > 1)
        qsort(keys, n, sizeof *keys, compare_keys);
    for (size_t i = 0; i < n; i++) {
        const struct gcd_type *t = &cli_summary(&r->d)->types[keys[i].type];
        if (i == 0 || compare_keys(&keys[i - 1], &keys[i]) != 0) {
            char *label = strndup(keys[i].s, keys[i].n);
            if (label == NULL || !report_add_row(ret, (struct report_row){ .label = label, .owned = label, .index = keys[i].type }))
                return false;
        }
        struct report_row *row = &ret->items[ret->n - 1];
        row->count = sum(row->count, t->objects);
        row->bytes = sum(row->bytes, t->bytes);
        row_of[keys[i].type] = (uint32_t)(ret->n - 1);
    }
    return true;
}

static enum cli_exit group(struct report *r, struct key (*key_of)(const struct gcd_type *t), struct report_rows *ret)
{
    struct key *keys = malloc(((size_t)r->types + 1) * sizeof *keys);
    uint32_t *row_of = malloc(((size_t)r->types + 1) * sizeof *row_of);
    bool ok = keys != NULL && row_of != NULL;
    size_t n = 0;
    for (uint32_t i = 0; i < r->types && ok; i++) {
        row_of[i] = NO_ROW;
        if (r->wanted[i]) {
            keys[n] = key_of(&cli_summary(&r->d)->types[i]);
            keys[n++].type = i;
        }
    }
    ok = ok && merge(r, keys, n, ret, row_of);
    enum cli_exit e = ok ? add_retained(r, ret, row_of) : report_no_memory(r);
    free(keys);
    free(row_of);
    return e;
}

static void label_cell(const void *ctx, struct cli_table *t, const struct report_row *row)
{
    (void)ctx;
    cli_table_text(t, row->label);
}

static enum cli_exit by_label(struct report *r, struct key (*key_of)(const struct gcd_type *t), const char *plural, const struct cli_column *column,
                              struct cli_table **ret)
{
    struct report_rows rows = { .items = NULL };
    enum cli_exit e = group(r, key_of, &rows);
    if (e == CLI_DONE)
        *ret = report_table(r, &rows, &(struct report_columns){ plural, column, 1, label_cell, NULL });
    report_rows_done(&rows);
    return e;
}

static struct key text_key(const char *s)
{
    return (struct key){ .s = s, .n = strlen(s) };
}

static struct key module_of(const struct gcd_type *t)
{
    return text_key(t->module_path[0] != '\0' ? t->module_path : "(unknown)");
}

enum cli_exit report_by_module(struct report *r, struct cli_table **ret)
{
    static const struct cli_column column = { "module", "Module", CLI_CELL_TEXT };
    return by_label(r, module_of, "modules", &column, ret);
}

/*
 * The runtime's spelling tells a namespace from an outer type, C#'s does not.  What stands before the last dot that is not behind
 * generic arguments, brackets of an array or a nested type.
 */
static struct key namespace_of(const struct gcd_type *t)
{
    size_t end = strcspn(t->name, "`[<+*&,( ");
    while (end > 0 && t->name[end - 1] != '.')
        end--;
    return end > 1 && t->named ? (struct key){ .s = t->name, .n = end - 1 } : text_key("(none)");
}

enum cli_exit report_by_namespace(struct report *r, struct cli_table **ret)
{
    static const struct cli_column column = { "namespace", "Namespace", CLI_CELL_TEXT };
    return by_label(r, namespace_of, "namespaces", &column, ret);
}

/* Flags of a type record. */
#define TYPE_DELEGATE 1u
#define TYPE_FINALIZABLE 2u
#define TYPE_COM 4u
#define TYPE_ARRAY 8u

/* ECMA-335 II.23.1.16: primitives (enums among them), value types, typed references, native integers.  On the heap they are boxed. */
static bool is_value(uint8_t element_type)
{
    return (element_type >= 0x02 && element_type <= 0x0d) || element_type == 0x11 || element_type == 0x16 || element_type == 0x18 ||
           element_type == 0x19;
}

/* Files of graphs have names only, which tell strings and arrays. */
static struct key kind_of(const struct gcd_type *t)
{
    size_t n = strlen(t->name);
    if (t->element_type == 0x0e || strcmp(t->name, "System.String") == 0)
        return text_key("string");
    if ((t->flags & TYPE_ARRAY) != 0 || t->element_type == 0x14 || t->element_type == 0x1d || (t->named && n > 2 && t->name[n - 1] == ']' &&
                                                                                             strchr("[,*", t->name[n - 2]) != NULL))
        return text_key("array");
    if ((t->flags & TYPE_DELEGATE) != 0)
        return text_key("delegate");
    if ((t->flags & TYPE_COM) != 0)
        return text_key("COM wrapper");
    if (is_value(t->element_type))
        return text_key("boxed value");
    if (t->element_type == 0)
        return text_key(t->named ? "object" : "unknown");
    return text_key((t->flags & TYPE_FINALIZABLE) != 0 ? "finalizable class" : "class");
}

enum cli_exit report_by_kind(struct report *r, struct cli_table **ret)
{
    static const struct cli_column column = { "kind", "Kind", CLI_CELL_TEXT };
    return by_label(r, kind_of, "kinds", &column, ret);
}
