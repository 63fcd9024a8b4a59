/*
 * The commands of the program, with their texts in --help and the manual.
 */
#ifndef GCD_CLI_COMMAND_TABLE_H
#define GCD_CLI_COMMAND_TABLE_H

#include <stddef.h>

struct cli_command {
    const char *name;
    const char *arguments; /* in the usage line */
    const char *summary;
    unsigned bit;         /* its bit in the option table */
    const char *details;  /* text of --help below the options; may be "" */
    const char *examples; /* one per line */
};

#define CLI_COLLECT    1u
#define CLI_CONVERT    2u
#define CLI_INFO       4u
#define CLI_REPORT     8u
#define CLI_PS         16u
#define CLI_RETAINED   32u
#define CLI_PATHS      64u
#define CLI_RUN        32768u
#define CLI_DIFF       256u
#define CLI_TREND      512u
#define CLI_LEAKS      1024u
#define CLI_ASYNC      2048u
#define CLI_BROWSE     16384u
#define CLI_SQL        4096u
#define CLI_MCP        8192u
#define CLI_STRINGS    65536u
#define CLI_SITES      131072u
#define CLI_EXCEPTIONS 262144u
#define CLI_WATCH      524288u

/* The command collect. */
const struct cli_command *cli_collect(void);
/* Command I in the order of --help; NULL after the last. */
const struct cli_command *cli_command_at(size_t i);
/* Describes the operand FILE of COMMAND; "" for a command without one. */
const char *cli_about_files(const struct cli_command *command);
/* The exit statuses of COMMAND, or of all commands for NULL.  cli_exit_text begins with "Exit
 * status: ". */
const char *cli_about_exit(const struct cli_command *command);
const char *cli_exit_text(const struct cli_command *command);

#endif
