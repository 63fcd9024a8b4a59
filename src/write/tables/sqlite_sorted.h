/* The rows of an index on a table that grows with the heap, in SQLite's order. */
#ifndef GCD_WRITE_SQLITE_SORTED_H
#define GCD_WRITE_SQLITE_SORTED_H

#include <gcdumpc/status.h>

#include "write/tables/sqlite_pages.h"
#include "write/tables/tables.h"

/* Receives a row: the indexed value and the primary key of the table. */
typedef gcd_status (*sqlite_sorted_fn)(void *ctx, const struct sqlite_number *row, size_t n,
                                       struct gcd_error *err);

/*
 * Calls ROW for all rows of INDEX (sqlite_schema.h, below INDEXES_OF_THE_HEAP).  Takes 4 bytes per
 * object and 8 bytes per row of a pass.  A pass has as many rows as there are objects, or as share
 * one value; further rows take more passes.  GCD_E_NOMEM, GCD_E_CANCELED, GCD_E_LIMIT: 2^32 rows
 * with the same value, or references of one object; the status of ROW.
 */
GCD_MUST_CHECK gcd_status sqlite_sorted(const struct tables *t, int index, sqlite_sorted_fn row,
                                        void *ctx, struct gcd_error *err);

#endif
