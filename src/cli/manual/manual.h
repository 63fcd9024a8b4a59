/*
 * Manual pages and shell completions, made from the tables that --help prints, so everything is written down once.
 */
#ifndef GCD_CLI_MANUAL_H
#define GCD_CLI_MANUAL_H

#include "opts.h"

/*
 * Prints to standard output in FORMAT: "man" the page about TOPIC (a command, "formats", "conf"; NULL = the program), "bash", "zsh" and "fish"
 * the completion of that shell.  False for an unknown FORMAT or TOPIC.
 */
bool cli_manual(const char *format, const char *topic);

/* man_page.c.  False for an unknown TOPIC. */
bool cli_man_page(const char *topic);
void cli_complete_bash(void);
void cli_complete_zsh(void);
void cli_complete_fish(void);

/* complete.c: common to all shells. */
/* Prints TEXT in single quotes of a shell; QUOTE replaces a quote inside. */
void cli_put_quoted(const char *text, const char *quote);
/* The operands of COMMAND. */
enum cli_operands { CLI_OPERANDS_NONE, CLI_OPERANDS_FILES, CLI_OPERANDS_JOB };
enum cli_operands cli_operands(const struct cli_command *command);
/* Shell commands: the names of jobs; the processes from the output of "gcdumpc ps --json", each a line with number, tab, name. */
#define CLI_SHELL_JOBS "sed -n 's/^ *\\[\\([^]]*\\)\\].*/\\1/p' /etc/gcdumpc.conf 2>/dev/null"
#define CLI_SHELL_PROCESSES                                                                                            \
    "awk -F '\"' '/^ *\"pid\":/ { sub(/.*: */, \"\"); sub(/,.*/, \"\"); pid = $0 }"                                    \
    " /^ *\"entry_assembly\":/ { name = $4 } /^ *}/ { if (pid ~ /^[0-9]+$/) print pid \"\\t\" name; pid = name = \"\" }'"

#endif
