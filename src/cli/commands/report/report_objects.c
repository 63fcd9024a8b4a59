#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/lengths.h>

#include "commands/report/report.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"

/* ---- one object after another ---- */

struct pass {
    struct report *r;
    bool (*object)(void *ctx, const struct gcd_object *o);   /* false = out of memory */
    void *ctx;
};

#define CHECK_EVERY UINT64_C(0x10000)

static enum cli_exit pass_over_graph(struct pass *p)
{
    struct report *r = p->r;
    uint32_t nodes = gcd_graph_node_count(r->d.graph);
    for (uint32_t i = 0; i < nodes; i++) {
        struct gcd_object o = { .address = gcd_graph_node_address(r->d.graph, i), .size_bytes = gcd_graph_node_size(r->d.graph, i),
                                .type = gcd_graph_node_type(r->d.graph, i) };
        if (i % CHECK_EVERY == 0 && atomic_load(&cli_canceled))
            return cli_fail(r->d.subject, &(struct gcd_error){ .code = GCD_E_CANCELED, .off = GCD_OFF_NONE });
        if (r->wanted[o.type] && !p->object(p->ctx, &o))
            return report_no_memory(r);
    }
    return CLI_DONE;
}

static enum cli_exit pass_over_dump(struct pass *p)
{
    static const char verb[] = "reading";
    struct report *r = p->r;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_objects *cursor = NULL;
    struct gcd_object o;
    enum cli_exit e = CLI_DONE;
    gcd_status st = gcd_objects_new(r->d.dump, &cursor, &err);
    for (uint64_t i = 0; st == GCD_OK && e == CLI_DONE && (st = gcd_objects_next(cursor, &o, &err)) == GCD_OK; i++) {
        if (i % CHECK_EVERY == 0)
            cli_progress((void *)(uintptr_t)verb, gcd_objects_position(cursor), gcd_input_size(r->d.input));
        if (r->wanted[o.type] && !p->object(p->ctx, &o))
            e = report_no_memory(r);
    }
    gcd_objects_free(cursor);
    return st < 0 ? cli_fail(r->d.subject, &err) : e;
}

/* All objects of wanted types, in the order of the heap walk. */
static enum cli_exit pass(struct report *r, bool (*object)(void *ctx, const struct gcd_object *o), void *ctx)
{
    struct pass p = { r, object, ctx };
    return r->d.graph != NULL ? pass_over_graph(&p) : pass_over_dump(&p);
}

/* ---- a line for each generation ---- */

const char *report_generation_name(unsigned number, char buf[REPORT_GENERATION_BYTES])
{
    const char *name = number == GCD_GENERATION_LOH ? "loh" : number == GCD_GENERATION_POH ? "poh" : number == GCD_GENERATION_NONE ? "nongc" : NULL;
    if (name != NULL)
        return name;
    (void)snprintf(buf, REPORT_GENERATION_BYTES, "gen%u", number);
    return buf;
}

uint64_t report_free_bytes(const struct gcd_generation *g)
{
    return g->used_bytes > g->aligned_bytes ? g->used_bytes - g->aligned_bytes : 0;
}

static bool add_to_generation(void *ctx, const struct gcd_object *o)
{
    gcd_generations_add(ctx, o->address, o->size_bytes);
    return true;
}

enum cli_exit report_generations(struct report *r, struct gcd_generations **ret)
{
    const struct gcd_summary *summary = cli_summary(&r->d);
    struct gcd_error err = GCD_ERROR_INIT;
    *ret = NULL;
    if (summary->range_count == 0)
        return CLI_DONE;
    gcd_status st = gcd_generations_new(summary, cli_alloc(), ret, &err);
    return st == GCD_OK ? pass(r, add_to_generation, *ret) : cli_fail(r->d.subject, &err);
}

static const struct cli_column generation_columns[] = {
    { "used_bytes", "Used", CLI_CELL_BYTES }, { "free_bytes", "Free", CLI_CELL_BYTES }, { "free_share", "Free %", CLI_CELL_SHARE },
    { "reserved_bytes", "Reserved", CLI_CELL_BYTES }, { "ranges", "Ranges", CLI_CELL_COUNT }, { "generation", "Generation", CLI_CELL_TEXT },
};

struct generations {
    const struct report *r;
    const struct gcd_generations *all;
    struct gcd_generation total; /* of those with ranges */
};

static const struct gcd_generation *generation_of(const struct generations *g, const struct report_row *row)
{
    return row->index == REPORT_TOTAL ? &g->total : row->index < GCD_GENERATIONS ? gcd_generations_get(g->all, row->index) : NULL;
}

static void generation_cells(const void *ctx, struct cli_table *t, const struct report_row *row)
{
    const struct generations *g = ctx;
    const struct gcd_generation *one = generation_of(g, row);
    bool ranges = one != NULL && one->ranges > 0, all = g->r->filter == NULL;    /* what the other types leave is not free */
    if (ranges)
        cli_table_count(t, one->used_bytes);
    if (ranges && all) {
        cli_table_count(t, report_free_bytes(one));
        cli_table_share(t, report_free_bytes(one), one->used_bytes);
    }
    for (int i = ranges ? all ? 3 : 1 : 0; i < 3; i++)
        cli_table_none(t);
    if (ranges) {
        cli_table_count(t, one->reserved_bytes);
        cli_table_count(t, one->ranges);
    }
    for (int i = ranges ? 2 : 0; i < 2; i++)
        cli_table_none(t);
    cli_table_text(t, row->label);
}

static bool generation_rows(struct generations *g, struct report_rows *rows)
{
    for (unsigned i = 0; i < GCD_GENERATIONS; i++) {
        const struct gcd_generation *one = gcd_generations_get(g->all, i);
        char buf[REPORT_GENERATION_BYTES];
        if (one->objects == 0 && one->ranges == 0)
            continue;
        char *label = strdup(report_generation_name(i, buf));
        if (label == NULL || !report_add_row(rows, (struct report_row){ .label = label, .owned = label, .count = one->objects, .bytes = one->bytes,
                                                                        .index = i }))
            return false;
        if (one->ranges > 0) {
            g->total.ranges += one->ranges;
            g->total.used_bytes += one->used_bytes;
            g->total.reserved_bytes += one->reserved_bytes;
            g->total.aligned_bytes += one->aligned_bytes;
        }
    }
    return true;
}

enum cli_exit report_by_generation(struct report *r, struct cli_table **ret)
{
    struct gcd_generations *all = NULL;
    struct report_rows rows = { .items = NULL };
    enum cli_exit e = report_generations(r, &all);
    if (e == CLI_DONE && all == NULL) {
        cli_say(r->d.subject, "it has no memory ranges, so generations are unknown; a recording with the keyword 0x400000 has them");
        e = CLI_FAILED;
    }
    if (e == CLI_DONE) {
        struct generations g = { .r = r, .all = all };
        e = generation_rows(&g, &rows) ? CLI_DONE : report_no_memory(r);
        if (e == CLI_DONE)
            *ret = report_table(r, &rows, &(struct report_columns){ "generations", generation_columns,
                                                                    sizeof generation_columns / sizeof *generation_columns, generation_cells, &g });
    }
    report_rows_done(&rows);
    gcd_generations_free(all);
    return e;
}

/* ---- a line for each type of string or array and each power of two of its length ---- */

struct cell {
    uint32_t type;
    uint32_t next;               /* of the same type; NO_CELL = none */
    unsigned power;              /* lengths below 2 to that, and not below 2 to the one before */
    uint64_t least, most;        /* lengths that there are */
    uint64_t count, bytes;
};
#define NO_CELL UINT32_MAX

struct lengths {
    const struct report *r;
    struct gcd_length_rule *rules;       /* [types] */
    uint32_t *first;             /* [types] cell; few have any */
    struct cell *cells;
    size_t n, room;              /* at most 65 a type, and no more than there are objects */
    uint64_t other_count, other_bytes;
};

static unsigned power_of(uint64_t length)
{
    return length > 0 ? 64 - (unsigned)__builtin_clzll(length) : 0;
}

static struct cell *find_cell(struct lengths *l, uint32_t type, unsigned power)
{
    uint32_t last = NO_CELL;
    for (uint32_t i = l->first[type]; i != NO_CELL; i = l->cells[i].next) {
        if (l->cells[i].power == power)
            return &l->cells[i];
        last = i;
    }
    if (l->n == l->room) {
        size_t room = l->room > 0 ? 2 * l->room : 256;
        struct cell *cells = room < NO_CELL ? realloc(l->cells, room * sizeof *cells) : NULL;
        if (cells == NULL)
            return NULL;
        l->cells = cells;
        l->room = room;
    }
    *(last == NO_CELL ? &l->first[type] : &l->cells[last].next) = (uint32_t)l->n;
    l->cells[l->n] = (struct cell){ .type = type, .next = NO_CELL, .power = power, .least = UINT64_MAX };
    return &l->cells[l->n++];
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static bool add_to_length(void *ctx, const struct gcd_object *o)
{
    struct lengths *l = ctx;
    uint64_t length;
    if (!gcd_length_of(&l->rules[o->type], o->size_bytes, &length)) {
        l->other_count++;
        l->other_bytes = sum(l->other_bytes, o->size_bytes);
        return true;
    }
    struct cell *c = find_cell(l, o->type, power_of(length));
    if (c == NULL)
        return false;
    c->count++;
    c->bytes = sum(c->bytes, o->size_bytes);
    c->least = length < c->least ? length : c->least;
    c->most = length > c->most ? length : c->most;
    return true;
}

static const struct cli_column length_columns[] = {
    { "length_min", NULL, CLI_CELL_COUNT }, { "length_max", NULL, CLI_CELL_COUNT }, { "length", "Length", CLI_CELL_TEXT },
    { "name", "Type", CLI_CELL_TEXT },
};

static void length_cells(const void *ctx, struct cli_table *t, const struct report_row *row)
{
    const struct lengths *l = ctx;
    char range[64];
    if (row->index >= l->n) {
        for (int i = 0; i < 3; i++)
            cli_table_none(t);
    } else {
        const struct cell *c = &l->cells[row->index];
        cli_table_count(t, c->least);
        cli_table_count(t, c->most);
        (void)snprintf(range, sizeof range, c->least == c->most ? "%" PRIu64 : "%" PRIu64 "-%" PRIu64, c->least, c->most);
        cli_table_text(t, range);
    }
    cli_table_text(t, row->label);
}

static bool length_rows(const struct lengths *l, struct report_rows *rows)
{
    for (size_t i = 0; i < l->n; i++)
        if (!report_add_row(rows, (struct report_row){ .label = gcd_names_get(l->r->names, l->cells[i].type), .count = l->cells[i].count,
                                                       .bytes = l->cells[i].bytes, .index = (uint32_t)i }))
            return false;
    return l->other_count == 0 || report_add_row(rows, (struct report_row){ .label = "(no length)", .count = l->other_count, .bytes = l->other_bytes,
                                                                            .index = (uint32_t)l->n });
}

static enum cli_exit gather_lengths(struct report *r, struct lengths *l)
{
    struct gcd_error err = GCD_ERROR_INIT;
    l->rules = calloc((size_t)r->types + 1, sizeof *l->rules);
    l->first = malloc(((size_t)r->types + 1) * sizeof *l->first);
    if (l->rules == NULL || l->first == NULL)
        return report_no_memory(r);
    for (uint32_t i = 0; i < r->types; i++)
        l->first[i] = NO_CELL;
    gcd_status st = gcd_length_rules(cli_summary(&r->d), cli_alloc(), l->rules, &err);
    return st == GCD_OK ? pass(r, add_to_length, l) : cli_fail(r->d.subject, &err);
}

enum cli_exit report_by_length(struct report *r, struct cli_table **ret)
{
    struct lengths l = { .r = r };
    struct report_rows rows = { .items = NULL };
    enum cli_exit e = gather_lengths(r, &l);
    if (e == CLI_DONE)
        e = length_rows(&l, &rows) ? CLI_DONE : report_no_memory(r);
    if (e == CLI_DONE)
        *ret = report_table(r, &rows, &(struct report_columns){ "lengths", length_columns, sizeof length_columns / sizeof *length_columns,
                                                                length_cells, &l });
    report_rows_done(&rows);
    free(l.rules);
    free(l.first);
    free(l.cells);
    return e;
}
