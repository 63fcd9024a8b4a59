#include "write/tables/sqlite_fill.h"

#include "base/error.h"
#include "write/tables/sqlite_sorted.h"
#include "write/write.h"

struct filling {
    struct sqlite_fill *f;
    struct sqlite_tree tree;
};

bool sqlite_fill_has(int table)
{
    return table == TABLE_OF_OBJECTS || table == TABLE_OF_EDGES || table == TABLE_OF_DOMINATORS;
}

uint64_t sqlite_fill_rows(const struct tables *t)
{
    uint64_t objects = table_list[TABLE_OF_OBJECTS].rows(t),
             edges = table_list[TABLE_OF_EDGES].rows(t);
    return 3 * objects + 2 * edges + 3 * objects;
}

static gcd_status add(struct filling *x, uint64_t rowid, const struct sqlite_number *row, size_t n,
                      struct gcd_error *err)
{
    struct sqlite_fill *f = x->f;
    if (++f->done % WRITE_CHECK_EVERY == 0)
        GCD_TRY(write_check(f->tables->options, NULL, f->done, f->total, err));
    return sqlite_tree_add(&x->tree, rowid, row, n, err);
}

static gcd_status add_sorted(void *ctx, const struct sqlite_number *row, size_t n,
                             struct gcd_error *err)
{
    return add(ctx, 0, row, n, err);
}

static gcd_status fill_index(struct filling *x, int which, struct gcd_error *err)
{
    return sqlite_sorted(x->f->tables, which, add_sorted, x, err);
}

/* Tables with a rowid have it in their first column. */
static gcd_status fill_table(struct filling *x, int which, struct gcd_error *err)
{
    struct sqlite_number row[SQLITE_ROW_MAX];
    struct table_cursor c;
    for (table_start(&c, x->f->tables, &table_list[which]); table_more(&c); table_next(&c)) {
        uint64_t rowid = 0;
        for (size_t i = 0; i < c.table->column_count; i++) {
            struct table_value v;
            table_value(&c, i, &v);
            bool large = v.kind == TABLE_NUMBER && v.number > INT64_MAX;
            x->f->too_large += large;
            row[i] = (struct sqlite_number){ .null = v.kind == TABLE_NONE,
                                             .value = large ? INT64_MAX : (int64_t)v.number };
        }
        if (!x->tree.index) {
            rowid = (uint64_t)row[0].value;
            row[0].null = true;
        }
        GCD_TRY(add(x, rowid, row, c.table->column_count, err));
    }
    return GCD_OK;
}

static gcd_status fill(struct sqlite_fill *f, int which,
                       gcd_status (*rows)(struct filling *, int, struct gcd_error *), uint32_t root,
                       struct gcd_error *err)
{
    struct filling x = { .f = f };
    gcd_status st = sqlite_tree_begin(&x.tree, &f->pages, root, err);
    if (st == GCD_OK)
        st = rows(&x, which, err);
    if (st == GCD_OK)
        st = sqlite_tree_end(&x.tree, err);
    sqlite_tree_done(&x.tree);
    return st;
}

static gcd_status with_indexes(struct sqlite_fill *f, int table, struct gcd_error *err)
{
    GCD_TRY(fill(f, table, fill_table, f->table_roots[table], err));
    for (int i = 0; i < INDEXES_OF_THE_HEAP; i++)
        if (sqlite_schema_indexes[i].table == table)
            GCD_TRY(fill(f, i, fill_index, f->index_roots[i], err));
    return GCD_OK;
}

gcd_status sqlite_fill_objects(struct sqlite_fill *f, struct gcd_error *err)
{
    GCD_TRY(with_indexes(f, TABLE_OF_OBJECTS, err));
    return with_indexes(f, TABLE_OF_EDGES, err);
}

gcd_status sqlite_fill_dominators(struct sqlite_fill *f, struct gcd_error *err)
{
    return with_indexes(f, TABLE_OF_DOMINATORS, err);
}
