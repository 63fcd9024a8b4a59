/*
 * What holds objects, in words and for programs; shared by the commands that tell it.
 */
#ifndef GCD_CLI_HELD_H
#define GCD_CLI_HELD_H

#include "cli.h"
#include "filter.h"
#include "table.h"

/*
 * A root for people, "static variable Shop.Cache.items" or "thread stack"; R NULL: an object stands in for it.  The type of a static variable is
 * named when the dump knows the class that declares it (Mono; CoreCLR tells that of the stored object).  free() it; NULL when out of memory.
 */
char *cli_root_text(const struct gcd_graph *g, const struct gcd_names *names, const struct gcd_graph_root *r);
/* Its group for programs, "statics"; R NULL: "stand_in". */
const char *cli_root_key(const struct gcd_graph_root *r);

/* Tell that a dump has no roots and N objects stand in for them; nothing when N is 0. */
void cli_say_stand_ins(const char *subject, uint32_t n);

/*
 * [gcd_graph_type_count()] 1 for types with objects whose names match PATTERN.  CLI_USAGE and CLI_FAILED after a message: no pattern, no type, no object.
 * free() *RET.
 */
enum cli_exit cli_match_types(const char *pattern, const struct cli_dump *d, const struct gcd_names *names, uint8_t **ret);

/* An object as a cell of text for people, and what --object takes: its address, or its number when addresses are made up. */
const char *cli_object_text(const struct gcd_graph *g, uint32_t node, char buf[CLI_NUMBER_BYTES]);
/* For programs its address, which is none then. */
void cli_object_address(struct cli_table *t, const struct gcd_graph *g, uint32_t node);

/* Print the one table, or all into the JSON document O, which is released.  TITLES NULL: none. */
struct cli_titled {
    const char *key;             /* in JSON */
    const char *title;           /* for people, above it; NULL = none */
    struct cli_table *table;
};
enum cli_exit cli_print_tables(const struct cli_args *args, const struct cli_dump *d, json_t *o, const struct cli_titled *tables, size_t n);

#endif
