/*
 * Roots in words and for programs, shared by all commands.
 */
#ifndef GCD_CLI_ROOT_LABELS_H
#define GCD_CLI_ROOT_LABELS_H

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "output/json_out.h"
#include "output/table.h"
#include "term/term.h"

/*
 * A root for people, "static variable Shop.Cache.items" or "thread stack"; R NULL: a pseudo-root.
 * Names the class of a static variable when it is known (unstable/static_names.h).  free() it; NULL
 * when out of memory.
 */
char *cli_root_label(const struct gcd_graph *g, const struct gcd_names *names,
                     const struct gcd_root *r);
/* Adds the cells "class" and "label" for programs; absent when R is NULL, not a static variable, or
 * not known. */
void cli_static_cells(struct cli_table *t, const struct gcd_graph *g, const struct gcd_names *names,
                      const struct gcd_root *r);
/* Adds the cell "field" likewise. */
void cli_field_cell(struct cli_table *t, const struct gcd_root *r);
/* The group of R for programs, such as "statics"; "stand_in" for R NULL. */
const char *cli_root_key(const struct gcd_root *r);

/* Says that a dump has no roots and N objects serve as pseudo-roots; nothing when N is 0. */
void cli_say_pseudo_roots(const char *subject, uint32_t n);

/* cli_filter_types of a PATTERN; also CLI_USAGE. */
enum cli_exit cli_match_types(const char *pattern, const struct cli_dump *d,
                              const struct gcd_names *names, uint8_t **ret);

/* An object as people see it and --object takes it: its address, or its number when the dump has no
 * real addresses. */
const char *cli_object_text(const struct gcd_graph *g, uint32_t node, char buf[CLI_NUMBER_BYTES]);
/* Adds the address of an object for programs; absent when the dump has no real addresses. */
void cli_object_address(struct cli_table *t, const struct gcd_graph *g, uint32_t node);

/* A table with its key and title.  The function below prints a single table, or puts all into the
 * JSON document O, which it releases. */
struct cli_titled_table {
    const char *key;   /* in JSON */
    const char *title; /* for people, above it; NULL = none */
    struct cli_table *table;
};
enum cli_exit cli_print_tables(const struct cli_args *args, const struct cli_dump *d, json_t *o,
                               const struct cli_titled_table *tables, size_t n);

#endif
