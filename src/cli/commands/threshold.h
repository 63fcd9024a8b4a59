/*
 * How much may have grown: --fail-if EXPRESSION, for scripts.
 *
 *     METRIC [ "(" PATTERN ")" ]  ">" | ">=" | "<" | "<="  [ "+" | "-" ] NUMBER [ UNIT | "%" ]
 *
 *     bytes(MyApp.*) > +10%       the objects of these types have more than 10 % more bytes than in the older dump
 *     count(/Connection$/) > 500  there are more than 500 in the newer dump
 *     retained > +64MiB           all that is alive has grown by more than 64 MiB
 *
 * METRIC is count, bytes or retained, of the types that PATTERN means (filter.h), or of all.  A number with a sign is compared with the
 * growth, any other with what the newer dump has; a share needs a sign.  UNIT is K, M, G or KiB, MiB, GiB (powers of 1024), KB, MB, GB
 * (powers of 1000) or B.  What grows from nothing grows by more than any share.
 */
#ifndef GCD_CLI_THRESHOLD_H
#define GCD_CLI_THRESHOLD_H

#include "exit.h"
#include "output/filter.h"

enum cli_metric { CLI_METRIC_COUNT, CLI_METRIC_BYTES, CLI_METRIC_RETAINED };

struct cli_threshold {
    const char *text;            /* as it was given */
    enum cli_metric metric;
    char *pattern;
    struct cli_filter *filter;   /* NULL = of the whole heap */
    bool below, or_equal;        /* the operator */
    bool growth, share;          /* what is compared: with a sign, in percent */
    double limit;                /* objects, bytes or percent */
};

/* TEXT, which must outlive RET.  CLI_USAGE after a line on standard error that says where it is wrong. */
enum cli_exit cli_threshold_parse(const char *text, struct cli_threshold *ret);
void cli_threshold_done(struct cli_threshold *t);

bool cli_threshold_exceeded(const struct cli_threshold *t, uint64_t before, uint64_t after);

#endif
