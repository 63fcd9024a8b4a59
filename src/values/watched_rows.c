#include "values/watched_rows.h"

#include <string.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"

#define DOING "reading values"

void watched_rows_init(struct watched_rows *w, const struct gcd_alloc *alloc,
                       struct gcd_value_source *source)
{
    *w = (struct watched_rows){ .alloc = *alloc, .source = source };
}

void watched_rows_done(struct watched_rows *w)
{
    gcd_mem_free(&w->alloc, w->types, w->type_cap * sizeof *w->types);
    gcd_mem_free(&w->alloc, w->batches, w->batch_cap * sizeof *w->batches);
}

gcd_status watched_rows_add_type(struct watched_rows *w, uint64_t table, uint32_t *ret,
                                 struct gcd_error *err)
{
    if (!gcd_vec_reserve(&w->alloc, &w->types, &w->type_cap, w->type_count + 1, sizeof *w->types,
                         UINT32_MAX))
        return gcd_fail_nomem(err, DOING);
    *ret = (uint32_t)w->type_count;
    w->types[w->type_count++] = (struct watched_type){ .table = table };
    return GCD_OK;
}

gcd_status watched_rows_begin(struct watched_rows *w, struct value_rows *rows,
                              struct gcd_error *err)
{
    uint64_t *tables = gcd_mem_new_array(&w->alloc, w->type_count + 1, sizeof *tables);
    if (tables == NULL)
        return gcd_fail_nomem(err, DOING);
    for (size_t i = 0; i < w->type_count; i++)
        tables[i] = w->types[i].table;
    w->rows = rows;
    gcd_status st = w->source->begin(w->source, rows, tables, w->type_count, err);
    gcd_mem_free(&w->alloc, tables, (w->type_count + 1) * sizeof *tables);
    return st;
}

gcd_status watched_rows_ask(struct watched_rows *w, uint32_t number, bool of_keys,
                            struct gcd_error *err)
{
    struct watched_type *t = &w->types[number];
    t->asked = true;
    t->asked_as_keys = of_keys;
    return w->source->shape(w->source, t->table, of_keys, &t->shape, err);
}

/* ---- a row ---- */

/* Copies a cell; false: it is no value, or changed between the two copies of the object. */
static bool take_cell(const struct value_column *c, const struct value_cell *cell,
                      const struct watched_copy *o, uint8_t *row)
{
    bool nullable = (c->flags & VALUE_NULLABLE) != 0;
    uint32_t bytes = c->bytes - nullable;
    uint8_t flag = nullable ? o->object[cell->flag] : 1;
    if (cell->wide && (memcmp(o->object + cell->offset, o->again + cell->offset, bytes) != 0 ||
                       (nullable && o->again[cell->flag] != flag)))
        return false;
    if (nullable)
        row[c->at] = flag;
    if (flag == 1)
        memcpy(row + c->at + nullable, o->object + cell->offset, bytes);
    return flag <= 1;
}

/* Fills ROW; false: the object is no longer that of the walk, or changes just now. */
static bool take_cells(const struct watched_rows *w, const struct watched_copy *o, uint8_t *row)
{
    const struct watched_type *of = &w->types[o->number];
    const struct value_type *t = &w->rows->types[of->shape.type];
    /* a collection marks objects in the lowest bits */
    if (!o->element && (gcd_le64(o->object) & ~UINT64_C(7)) != of->table)
        return false;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct value_column *c = &w->rows->columns[t->first + i];
        if (c->bytes > 0 && !take_cell(c, &w->source->cells[t->first + i], o, row))
            return false;
    }
    return true;
}

static gcd_status failed(const struct watched_rows *w, gcd_status st, struct gcd_error *err)
{
    return st == GCD_E_LIMIT ? gcd_fail(err, st, "the values in objects take more than %llu bytes",
                                        (unsigned long long)w->rows->most)
                             : gcd_fail_nomem(err, DOING);
}

gcd_status watched_rows_take(struct watched_rows *w, const struct watched_copy *o,
                             struct gcd_error *err)
{
    uint8_t bytes[VALUE_ROW_BYTES], *row;
    uint32_t type = w->types[o->number].shape.type;
    size_t n = w->rows->object_count, row_bytes = w->rows->types[type].row_bytes;
    memset(bytes, 0, row_bytes);
    if (!take_cells(w, o, bytes)) {
        w->changed += !o->element;
        return GCD_OK;
    }
    if (!gcd_vec_reserve(&w->alloc, &w->batches, &w->batch_cap, n + 1, sizeof *w->batches,
                         SIZE_MAX))
        return gcd_fail_nomem(err, DOING);
    gcd_status st = value_rows_add(w->rows, type, o->address, &row);
    if (st != GCD_OK)
        return failed(w, st, err);
    if (row_bytes > 0)
        memcpy(row, bytes, row_bytes);
    w->batches[n] = o->batch;
    return GCD_OK;
}
