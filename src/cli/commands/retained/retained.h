/*
 * Parts shared by the tables of the command retained.
 */
#ifndef GCD_CLI_COMMANDS_RETAINED_H
#define GCD_CLI_COMMANDS_RETAINED_H

#include <stdint.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "output/table.h"

struct retained {
    const struct cli_args *args;
    struct cli_dump d;
    const struct gcd_names *names;           /* the dump's */
    const struct gcd_dominators *dominators; /* its session's */
    uint8_t *types;                          /* that the pattern selects; NULL = all */
    uint8_t *skip;                           /* that --skip selects; NULL = none */
    uint64_t alive_bytes;
    uint32_t lines; /* --top */
};

/* --content: what the objects of the selected types retain together, by type. */
enum cli_exit cli_content_table(const struct retained *r, struct cli_table **ret,
                                struct gcd_retained_set *ret_set);
/* A title with its size, for people; to be freed.  NULL: out of memory. */
char *cli_content_title(const struct gcd_retained_set *set);
/* --by-dominator: which objects dominate the objects of the selected types, by type. */
enum cli_exit cli_dominator_table(const struct retained *r, struct cli_table **ret);

#endif
