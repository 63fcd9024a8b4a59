/*
 * Fills the tables of a database that grow with the heap (objects, edges and dominators) and their
 * indexes: 75 million rows for 10 million objects.
 */
#ifndef GCD_WRITE_SQLITE_FILL_H
#define GCD_WRITE_SQLITE_FILL_H

#include "write/tables/sqlite_pages.h"
#include "write/tables/sqlite_schema.h"
#include "write/tables/tables.h"

struct sqlite_fill {
    const struct tables *tables;
    struct sqlite_pages pages; /* the caller opens and finishes them */
    /* pages of SQLite (sqlite_master.rootpage); used only for tables that grow with the heap */
    uint32_t table_roots[TABLES];
    uint32_t index_roots[INDEXES_OF_THE_HEAP];
    uint64_t done, total; /* rows, for progress; the caller sets them */
    uint64_t too_large;   /* numbers above 2^63 - 1, written as 2^63 - 1 */
};

/* Does this table grow with the heap? */
bool sqlite_fill_has(int table);
/* The number of rows of these tables and indexes; for dominators, which may not be known yet, the
 * maximum. */
uint64_t sqlite_fill_rows(const struct tables *t);
/*
 * Fills objects and references with their indexes; the next one fills dominators, once they are
 * known (tables.dominators).  GCD_E_NOMEM, GCD_E_IO, GCD_E_CANCELED, GCD_E_LIMIT.
 */
GCD_MUST_CHECK gcd_status sqlite_fill_objects(struct sqlite_fill *f, struct gcd_error *err);
GCD_MUST_CHECK gcd_status sqlite_fill_dominators(struct sqlite_fill *f, struct gcd_error *err);

#endif
