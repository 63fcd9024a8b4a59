/*
 * The table of all options, for parsing, rules and help.
 */
#ifndef GCD_CLI_OPTION_TABLE_H
#define GCD_CLI_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "args.h"
#include "command_table.h"

enum option_type {
    OPT_FLAG,
    OPT_JSON, /* a flag, with an optional number of the schema */
    OPT_TEXT,
    OPT_LIST,
    OPT_NUMBER,
    OPT_SIZE,
    OPT_PERCENT,
    OPT_SHARE, /* a percentage with decimals, in thousandths */
    OPT_TIME,
    OPT_SORT,
    OPT_BY,
    OPT_STRATEGY,
    OPT_NAMES,
    OPT_STACK_BY,
    OPT_LOG,
    OPT_LARGEST,
    OPT_COLOR,
    OPT_VALUES,
    OPT_FIELDS,
    OPT_SHOW,   /* a flag, with an optional word, */
    OPT_REDACT, /* and another */
    OPT_PROCESS
};

struct option_row {
    const char *name;
    char letter;          /* 0 = none */
    const char *argument; /* NULL = none */
    const char *help;
    unsigned commands;
    enum option_type type;
    size_t field; /* in struct cli_args */
    /* numbers, sizes, times in seconds; for a list, max is its capacity */
    uint64_t min, max;
};

#define HOLDERS \
    (CLI_RETAINED | CLI_PATHS | CLI_LEAKS | CLI_ASYNC | CLI_STRINGS | CLI_EXCEPTIONS | CLI_SITES)
#define COMPARE   (CLI_DIFF | CLI_TREND)
#define DUMP_LIVE (CLI_COLLECT | CLI_WATCH)
#define ALL                                                                                   \
    (CLI_MCP | DUMP_LIVE | CLI_CONVERT | CLI_INFO | CLI_REPORT | CLI_PS | CLI_RUN | CLI_SQL | \
     CLI_BROWSE | HOLDERS | COMPARE)
#define FILE_ONE  (CLI_CONVERT | CLI_INFO | CLI_REPORT | CLI_BROWSE | HOLDERS)
#define FILES     (FILE_ONE | COMPARE | CLI_SQL)
#define DUMPS     (DUMP_LIVE | FILES)
#define TABLES    (CLI_INFO | CLI_REPORT | CLI_PS | CLI_SQL | HOLDERS | COMPARE)
#define OUTPUTS   (DUMP_LIVE | CLI_CONVERT)
#define READ_LIVE (CLI_INFO | CLI_REPORT | CLI_SQL | CLI_BROWSE | HOLDERS | CLI_DIFF)
#define LIVE      (DUMP_LIVE | READ_LIVE)
/* sites needs several event sessions at a time, watch the memory of a process */
#define ANY_PORT (LIVE & ~(CLI_SITES | CLI_WATCH))
#define GRAPHS   (OUTPUTS | CLI_REPORT | CLI_SQL | CLI_BROWSE | HOLDERS | COMPARE)
/* options of collect: accepted by the analyses with a note until 0.4; only in its full help */
#define MOVED            (1u << 30)
#define RARE             (1u << 31)
#define DEFAULT_RETRIES  1u
#define WINDOW_SECONDS   30u
#define SETTLE_SECONDS   60u
#define COOLDOWN_SECONDS 600u
#define FIELD(f)         offsetof(struct cli_args, f)

/* An option name means the same in all commands. */
#define CLI_OPTION_ROWS 143
extern const struct option_row cli_option_rows[CLI_OPTION_ROWS];
/* The words for values of TYPE, in the order of its enum, NULL after the last; NULL = it has none.
 */
const char *const *cli_choices_of(enum option_type type);
/* Does C have the option R? */
bool cli_has_option(const struct cli_command *c, const struct option_row *r);
/* The option of C named NAME[N], or with LETTER, also one that has moved to collect; NULL = none.
 */
const struct option_row *cli_find_option(const struct cli_command *c, const char *name, size_t n,
                                         char letter);

#endif
