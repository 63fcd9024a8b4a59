/*
 * --fail-if EXPRESSION: thresholds for scripts.
 *
 *     METRIC [ "(" PATTERN ")" ]  ">" | ">=" | "<" | "<="  [ "+" | "-" ] NUMBER [ UNIT | "%" ]
 *
 *     bytes(MyApp.*) > +10%       the objects of these types have more than 10 % more bytes than in
 *                                 the older dump
 *     count(/Connection$/) > 500  there are more than 500 in the newer dump
 *     retained > +64MiB           all that is alive has grown by more than 64 MiB
 *
 * METRIC is count, bytes or retained, of the types that match PATTERN (filter.h), or of all types.
 * A number with a sign is compared with the growth, a number without one with the newer dump; a
 * percentage needs a sign.  UNIT is K, M, G or KiB, MiB, GiB (powers of 1024), KB, MB, GB (powers
 * of 1000) or B.  Growth from nothing exceeds any percentage.
 */
#ifndef GCD_CLI_THRESHOLD_H
#define GCD_CLI_THRESHOLD_H

#include "exit.h"
#include "output/filter.h"

enum cli_metric { CLI_METRIC_COUNT, CLI_METRIC_BYTES, CLI_METRIC_RETAINED };

struct cli_threshold {
    const char *text; /* as given */
    enum cli_metric metric;
    char *pattern;
    struct cli_filter *filter; /* NULL = of the whole heap */
    bool below, or_equal;      /* the operator */
    bool growth, share;        /* the number has a sign, is in percent */
    double limit;              /* objects, bytes or percent */
};

/* Parses TEXT, which must outlive RET.  CLI_USAGE after a message that names the error and its
 * place. */
enum cli_exit cli_threshold_parse(const char *text, struct cli_threshold *ret);
void cli_threshold_done(struct cli_threshold *t);

bool cli_threshold_exceeded(const struct cli_threshold *t, uint64_t before, uint64_t after);

/* Is T exceeded by any object at all, as "count(Shop.Legacy) > 0" is?  Then the type may be absent.
 */
bool cli_threshold_wants_none(const struct cli_threshold *t);

/* A value that is known, or known to be between two others, both included. */
struct cli_range {
    uint64_t least, most;
};

enum cli_answer { CLI_KEPT, CLI_EXCEEDS, CLI_UNDECIDED };
enum cli_answer cli_threshold_answer(const struct cli_threshold *t, struct cli_range before,
                                     struct cli_range after);

#endif
