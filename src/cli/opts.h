/*
 * The options of the commands, and how a command line is read.
 */
#ifndef GCD_CLI_OPTS_H
#define GCD_CLI_OPTS_H

#include <stdio.h>

#include "args.h"
#include "command_table.h"
#include "exit.h"

/* Parses ARGV[1..] of COMMAND.  CLI_DONE, or CLI_USAGE after a message. */
enum cli_exit cli_parse(const struct cli_command *command, int argc, char **argv,
                        struct cli_args *ret);
/* The same in parts: defaults, one option by its long name (flags are "true" or "false"), the check
 * of their combination. */
void cli_args_init(struct cli_args *ret);
enum cli_exit cli_set_option(const struct cli_command *command, const char *name, const char *value,
                             struct cli_args *args);
enum cli_exit cli_check_args(const struct cli_command *command, const struct cli_args *args);
/* Checks the part of ARGS that only src/cli/job understands: names with fields, commands to run.
 * CLI_USAGE after a message. */
enum cli_exit cli_check_job(const struct cli_args *args);
/* Prints the options of COMMAND in groups, one per line; ALL: also the rare ones. */
void cli_print_options(FILE *to, const struct cli_command *command, bool all);
/* An option, for manual pages and completions. */
enum cli_takes {
    CLI_TAKES_NOTHING,
    CLI_TAKES_TEXT,
    CLI_TAKES_WORD, /* one of cli_option_word */
    CLI_TAKES_FILE,
    CLI_TAKES_PROCESS, /* a process ID */
    CLI_TAKES_NAME,    /* the name of a process */
    CLI_TAKES_PROGRAM
};
struct cli_option {
    const char *name;     /* without dashes */
    char letter;          /* 0 = none */
    const char *argument; /* placeholder of its argument; NULL = none */
    const char *help;
    const char *group; /* the title of its group */
    enum cli_takes takes;
    bool several; /* can be given more than once */
    bool rare;    /* not in --help, but in the full help and in the manual */
    size_t row;   /* index in the table */
};
/* Option I in the order of --help; false after the last. */
bool cli_option_at(const struct cli_command *command, size_t i, struct cli_option *ret);
/* Word I that it accepts; NULL after the last. */
const char *cli_option_word(const struct cli_command *command, const struct cli_option *option,
                            size_t i);

#endif
