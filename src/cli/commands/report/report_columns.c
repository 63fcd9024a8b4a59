#include <inttypes.h>
#include <stdio.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/generations.h>

#include "commands/report/report.h"
#include "input/input.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void put_none(struct cli_table *t, size_t n)
{
    while (n-- > 0)
        cli_table_none(t);
}

static bool is_sum(const struct report_row *row)
{
    return row->at >= REPORT_TOTAL;
}

static void label_cell(const struct report *r, struct cli_table *t, const struct report_row *row)
{
    (void)r;
    cli_table_text(t, row->label);
}

/* ---- types, and what they have in common ---- */

static const struct cli_column of_type[] = {
    { "name", "Type", CLI_CELL_TEXT }, { "raw_name", NULL, CLI_CELL_TEXT },
    { "module", NULL, CLI_CELL_TEXT }, { "id", NULL, CLI_CELL_ADDRESS },
    { "edges", NULL, CLI_CELL_COUNT },
};

static void type_cells(const struct report *r, struct cli_table *t, const struct report_row *row)
{
    cli_table_text(t, row->label);
    if (is_sum(row)) {
        put_none(t, COUNT(of_type) - 1);
        return;
    }
    const struct gcd_type *type = &cli_summary(&r->d)->types[row->v.index];
    cli_table_text(t, type->raw_name);
    if (type->module_path[0] != '\0')
        cli_table_text(t, type->module_path);
    else
        cli_table_none(t);
    cli_table_address(t, type->id);
    cli_table_count(t, type->edges);
}

static const struct cli_column of_module = { "module", "Module", CLI_CELL_TEXT },
                               of_namespace = { "namespace", "Namespace", CLI_CELL_TEXT },
                               of_kind = { "kind", "Kind", CLI_CELL_TEXT };

const struct report_columns report_type_columns = { "type", of_type, COUNT(of_type), type_cells };
const struct report_columns report_module_columns = { "module", &of_module, 1, label_cell };
const struct report_columns report_namespace_columns = { "namespace", &of_namespace, 1,
                                                         label_cell };
const struct report_columns report_kind_columns = { "kind", &of_kind, 1, label_cell };

/* ---- generations ---- */

static const struct cli_column of_generation[] = {
    { "used_bytes", "Used", CLI_CELL_BYTES },   { "free_bytes", "Free", CLI_CELL_BYTES },
    { "free_share", "Free %", CLI_CELL_SHARE }, { "reserved_bytes", "Reserved", CLI_CELL_BYTES },
    { "ranges", "Ranges", CLI_CELL_COUNT },     { "generation", "Generation", CLI_CELL_TEXT },
};

uint64_t report_free_bytes(const struct gcd_generation *g)
{
    return g->used_bytes > g->aligned_bytes ? g->used_bytes - g->aligned_bytes : 0;
}

/* The sum of all generations that have ranges. */
static struct gcd_generation all_generations(const struct gcd_histogram *h)
{
    struct gcd_generation all = { .ranges = 0 };
    for (size_t i = 0; i < h->row_count; i++) {
        const struct gcd_generation *one = h->rows[i].generation;
        if (one->ranges == 0)
            continue;
        all.ranges += one->ranges;
        all.used_bytes += one->used_bytes;
        all.reserved_bytes += one->reserved_bytes;
        all.aligned_bytes += one->aligned_bytes;
    }
    return all;
}

static void generation_cells(const struct report *r, struct cli_table *t,
                             const struct report_row *row)
{
    struct gcd_generation one = { .ranges = 0 };
    if (row->at == REPORT_TOTAL)
        one = all_generations(r->h);
    else if (row->v.generation != NULL)
        one = *row->v.generation;
    if (one.ranges == 0) {
        put_none(t, 5);
    } else {
        cli_table_count(t, one.used_bytes);
        if (r->filter == NULL) {
            cli_table_count(t, report_free_bytes(&one));
            cli_table_share(t, report_free_bytes(&one), one.used_bytes);
        } else {
            put_none(t, 2); /* space of the other types is not free */
        }
        cli_table_count(t, one.reserved_bytes);
        cli_table_count(t, one.ranges);
    }
    cli_table_text(t, row->label);
}

const struct report_columns report_generation_columns = { "generation", of_generation,
                                                          COUNT(of_generation), generation_cells };

/* ---- lengths ---- */

static const struct cli_column of_length[] = {
    { "length_min", NULL, CLI_CELL_COUNT },
    { "length_max", NULL, CLI_CELL_COUNT },
    { "length", "Length", CLI_CELL_TEXT },
    { "name", "Type", CLI_CELL_TEXT },
};

static void length_cells(const struct report *r, struct cli_table *t, const struct report_row *row)
{
    (void)r;
    char range[64];
    if (is_sum(row) || row->v.label != NULL) {
        put_none(t, 3);
    } else {
        uint64_t min = row->v.length_min, max = row->v.length_max;
        cli_table_count(t, min);
        cli_table_count(t, max);
        (void)snprintf(range, sizeof range, min == max ? "%" PRIu64 : "%" PRIu64 "-%" PRIu64, min,
                       max);
        cli_table_text(t, range);
    }
    cli_table_text(t, row->label);
}

const struct report_columns report_length_columns = { "length", of_length, COUNT(of_length),
                                                      length_cells };
