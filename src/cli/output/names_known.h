/* Which names are as in the source code, and why the others are not: counts over the modules of a
 * dump. */
#ifndef GCD_CLI_NAMES_KNOWN_H
#define GCD_CLI_NAMES_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include <gcdumpc/summary.h>

#define CLI_MODULES_NAMED 3u

struct cli_names_known {
    uint64_t types, types_known; /* with objects; in a module whose names are known */
    uint64_t types_with_fields;  /* of TYPES: it is known which fields refer to objects */
    uint64_t types_too_long;     /* whose names are too long for an event, unlike those of others */
    /* whose class is known; which could belong to several classes */
    uint64_t statics, statics_known, statics_several;
    uint64_t native; /* modules that were compiled ahead of time; counted below if named */
    uint64_t modules[GCD_MODULE_STATES];
    size_t first[GCD_MODULE_STATES][CLI_MODULES_NAMED]; /* module numbers of the first ones */
};

/* False: no modules are known, as in a graph file. */
bool cli_names_known(const struct gcd_summary *s, struct cli_names_known *ret);

/* One clause: how many modules have a STATE without names, and the first of them.  free() it; NULL
 * when out of memory. */
char *cli_module_problem(const struct gcd_summary *s, const struct cli_names_known *k,
                         enum gcd_module_state state);

/* In which modules there are types whose fields are not known, and why; "" = nothing to say. free()
 * it; NULL when out of memory. */
char *cli_modules_without_fields(const struct gcd_summary *s);

/* All of it for programs; null when no modules are known. */
json_t *cli_json_names(const struct gcd_summary *s);

#endif
