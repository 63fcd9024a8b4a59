/*
 * --when CONDITION: when a process needs a dump.
 *
 *     TEST { "and" TEST }      TEST = WHAT ( ">" | ">=" | "<" | "<=" ) NUMBER [ UNIT | "%" ]
 *
 *     rss > 85%                  resident memory of the process, of its limit
 *     rss > 1.5G and left < 200M
 *     heap > 60%                 the largest that its managed heap can be, with garbage
 *     left < 10%                 what cgroup and machine have left
 *     growth/10m > 200M          its growth within 10 minutes; a percentage is of what it had then
 *     pressure > 20%             of the last 10 s, in which tasks waited for memory (PSI)
 *
 * A limit is that of the cgroup with the least room, else the memory of the machine.  Several
 * conditions: any of them.  UNIT as in term/expression.h, and without one bytes, if there are
 * enough to be meant.
 */
#ifndef GCD_CLI_WHEN_H
#define GCD_CLI_WHEN_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/unstable/ipc_watch.h>

#include "args.h"
#include "exit.h"

enum cli_when_what {
    CLI_WHEN_RSS,
    CLI_WHEN_HEAP,
    CLI_WHEN_LEFT,
    CLI_WHEN_PRESSURE,
    CLI_WHEN_GROWTH
};

struct cli_when_test {
    enum cli_when_what what;
    bool below, or_equal; /* the operator */
    bool percent;
    double limit;       /* bytes or percent */
    uint64_t window_ms; /* of growth */
};

#define CLI_WHEN_TESTS 4u

struct cli_when {
    const char *text; /* as given */
    struct cli_when_test tests[CLI_WHEN_TESTS];
    size_t count;
};

/* All conditions of a command line. */
struct cli_whens {
    struct cli_when items[CLI_WHEN_MAX];
    size_t count;
    unsigned parts;     /* GCD_IPC_WATCH_… that they need */
    uint64_t window_ms; /* the longest of growth; 0 = none asks for growth */
};

/* What is known about a process. */
struct cli_when_values {
    struct gcd_ipc_watch_values now;
    /* resident memory at the beginning of each condition's window; 0 = unknown */
    uint64_t before_bytes[CLI_WHEN_MAX][CLI_WHEN_TESTS];
};

/* Parses TEXTS[] up to NULL, which must outlive RET.  CLI_USAGE after a message that names the
 * error and its place. */
enum cli_exit cli_whens_parse(const char *const *texts, struct cli_whens *ret);

/* The first condition that is true; NULL = none.  What is unknown is not true. */
const struct cli_when *cli_whens_true(const struct cli_whens *w, const struct cli_when_values *v);
/* The figures of W as "rss 870 MiB, limit 1.0 GiB (its cgroup)" in RET[CAP]. */
void cli_when_say(const struct cli_when *w, const struct cli_when_values *v, char *ret, size_t cap);

/* For how many milliseconds none of them can become true, at the fastest growth. */
uint64_t cli_whens_quiet_ms(const struct cli_whens *w, const struct cli_when_values *v);
/* By how much the process must grow before one can become true, for gcd_ipc_watch_arm; 0 = its
 * growth alone does not decide. */
uint64_t cli_whens_growth_bytes(const struct cli_whens *w, const struct cli_when_values *v);

#endif
