/*
 * The schema of the format sqlite, and of questions to a session (src/sql).  Tables and columns are those of tables.h; README.md in the folder
 * above explains them.
 */
#ifndef GCD_WRITE_SQLITE_SCHEMA_H
#define GCD_WRITE_SQLITE_SCHEMA_H

#include "write/tables/tables.h"

struct sqlite_table {
    const char *name, *columns, *options;        /* CREATE TABLE name(columns) options */
};
extern const struct sqlite_table sqlite_schema_tables[TABLES];
extern const char sqlite_schema_indexes[];   /* created when the tables are full: sorting once is cheaper than keeping order */
extern const char sqlite_schema_views[];

#endif
