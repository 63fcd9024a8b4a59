/*
 * The schema of the sqlite format and of queries to a session (src/sql).  Tables and columns are
 * those of tables.h; README.md in the folder above explains them.
 */
#ifndef GCD_WRITE_SQLITE_SCHEMA_H
#define GCD_WRITE_SQLITE_SCHEMA_H

#include "write/tables/tables.h"

struct sqlite_table {
    const char *name, *columns, *options; /* CREATE TABLE name(columns) options */
};
extern const struct sqlite_table sqlite_schema_tables[TABLES];

/* CREATE INDEX name ON table(column). */
enum { INDEXES = 9 };
struct sqlite_index {
    const char *name;
    int table;
    const char *column;
};
extern const struct sqlite_index sqlite_schema_indexes[INDEXES];
extern const char sqlite_schema_views[];

#endif
