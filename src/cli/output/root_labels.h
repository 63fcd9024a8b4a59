/*
 * What holds objects, in words and for programs; shared by the commands that tell it.
 */
#ifndef GCD_CLI_ROOT_LABELS_H
#define GCD_CLI_ROOT_LABELS_H

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "output/table.h"
#include "term/term.h"

/*
 * A root for people, "static variable Shop.Cache.items" or "thread stack"; R NULL: an object is a pseudo-root.  The type of a static variable is
 * named when the dump knows the class that declares it (Mono; CoreCLR tells that of the stored object).  free() it; NULL when out of memory.
 */
char *cli_root_label(const struct gcd_graph *g, const struct gcd_names *names, const struct gcd_graph_root *r);
/* Its group for programs, "statics"; R NULL: "stand_in". */
const char *cli_root_key(const struct gcd_graph_root *r);

/* Tell that a dump has no roots and N objects serve as pseudo-roots; nothing when N is 0. */
void cli_say_pseudo_roots(const char *subject, uint32_t n);

/* cli_filter_types of a PATTERN; also CLI_USAGE. */
enum cli_exit cli_match_types(const char *pattern, const struct cli_dump *d, const struct gcd_names *names, uint8_t **ret);

/* An object as a cell of text for people, and what --object takes: its address, or its number when addresses are made up. */
const char *cli_object_text(const struct gcd_graph *g, uint32_t node, char buf[CLI_NUMBER_BYTES]);
/* For programs its address, which is none then. */
void cli_object_address(struct cli_table *t, const struct gcd_graph *g, uint32_t node);

/* A number of objects or bytes in the JSON object O; above 2^63 - 1, which only damaged data reach, that. */
void cli_json_count(json_t *o, const char *key, uint64_t n);

/* Print the one table, or all into the JSON document O, which is released.  TITLES NULL: none. */
struct cli_titled {
    const char *key;             /* in JSON */
    const char *title;           /* for people, above it; NULL = none */
    struct cli_table *table;
};
enum cli_exit cli_print_tables(const struct cli_args *args, const struct cli_dump *d, json_t *o, const struct cli_titled *tables, size_t n);

#endif
