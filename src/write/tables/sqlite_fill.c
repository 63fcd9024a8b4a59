#include "write/tables/sqlite_fill.h"

#include "base/error.h"
#include "write/tables/sqlite_sorted.h"
#include "write/write.h"

struct filling {
    struct sqlite_fill *f;
    struct sqlite_tree tree;
};

static const int heap_tables[] = { TABLE_OF_OBJECTS, TABLE_OF_EDGES, TABLE_OF_DOMINATORS };
enum { HEAP_TABLES = sizeof heap_tables / sizeof *heap_tables };

bool sqlite_fill_has(int table)
{
    bool found = false;
    for (size_t i = 0; i < HEAP_TABLES; i++)
        found = found || heap_tables[i] == table;
    return found;
}

uint64_t sqlite_fill_rows(const struct tables *t)
{
    uint64_t n = 0;
    for (size_t i = 0; i < HEAP_TABLES; i++)
        n += table_list[heap_tables[i]].rows(t);
    for (size_t i = 0; i < INDEXES_OF_THE_HEAP; i++)
        n += table_list[sqlite_schema_indexes[i].table].rows(t);
    return n;
}

static gcd_status add(struct filling *x, uint64_t rowid, const struct sqlite_number *row, size_t n, struct gcd_error *err)
{
    struct sqlite_fill *f = x->f;
    if (++f->done % WRITE_CHECK_EVERY == 0)
        GCD_TRY(write_check(f->tables->options, NULL, f->done, f->total, err));
    return sqlite_tree_add(&x->tree, rowid, row, n, err);
}

static gcd_status add_sorted(void *ctx, const struct sqlite_number *row, size_t n, struct gcd_error *err)
{
    return add(ctx, 0, row, n, err);
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
            row[i] = (struct sqlite_number){ .null = v.kind == TABLE_NONE, .value = large ? INT64_MAX : (int64_t)v.number };
        }
        if (!x->tree.index) {
            rowid = (uint64_t)row[0].value;
            row[0].null = true;
        }
        GCD_TRY(add(x, rowid, row, c.table->column_count, err));
    }
    return GCD_OK;
}

/* A table, or, with TABLE = TABLES, an index. */
static gcd_status fill(struct sqlite_fill *f, struct sqlite_pages *p, int table, int index, struct gcd_error *err)
{
    struct filling x = { .f = f };
    gcd_status st = sqlite_tree_begin(&x.tree, p, table != TABLES ? f->table_roots[table] : f->index_roots[index], err);
    if (st == GCD_OK)
        st = table != TABLES ? fill_table(&x, table, err) : sqlite_sorted(f->tables, index, add_sorted, &x, err);
    if (st == GCD_OK)
        st = sqlite_tree_end(&x.tree, err);
    sqlite_tree_done(&x.tree);
    return st;
}

gcd_status sqlite_fill(struct sqlite_fill *f, struct gcd_staged *staged, struct gcd_error *err)
{
    struct sqlite_pages p;
    gcd_status st = sqlite_pages_open(&p, staged, &f->tables->alloc, err);
    for (size_t i = 0; i < HEAP_TABLES && st == GCD_OK; i++)
        st = fill(f, &p, heap_tables[i], 0, err);
    for (int i = 0; i < INDEXES_OF_THE_HEAP && st == GCD_OK; i++)
        st = fill(f, &p, TABLES, i, err);
    if (st == GCD_OK)
        st = sqlite_pages_finish(&p, err);
    sqlite_pages_done(&p);
    return st;
}
