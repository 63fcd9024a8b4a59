/* The views that only src/sql has. */
#ifndef GCD_SQL_SQL_LIST_H
#define GCD_SQL_SQL_LIST_H

extern const char sql_list_views[]; /* CREATE VIEW ... */

#endif
