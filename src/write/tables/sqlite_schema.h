/* The schema of the format sqlite.  Tables and columns are those of tables.h; README.md in this folder explains them. */
#ifndef GCD_WRITE_SQLITE_SCHEMA_H
#define GCD_WRITE_SQLITE_SCHEMA_H

extern const char sqlite_schema_tables[];    /* CREATE TABLE ... */
extern const char sqlite_schema_indexes[];   /* created when the tables are full: sorting once is cheaper than keeping order */
extern const char sqlite_schema_views[];

#endif
