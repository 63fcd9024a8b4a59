/*
 * Shell completions, made from the tables that --help prints, so everything is written down once.
 */
#ifndef GCD_CLI_MANUAL_H
#define GCD_CLI_MANUAL_H

#include "opts.h"

/* Prints the completion for SHELL, "bash", "zsh" or "fish", to standard output.  False for another
 * one. */
bool cli_completion(const char *shell);

void cli_complete_bash(void);
void cli_complete_zsh(void);
void cli_complete_fish(void);

/* complete.c: shared by all shells. */
/* Prints TEXT in single quotes of a shell; QUOTE replaces a quote inside. */
void cli_put_quoted(const char *text, const char *quote);
/* Which operands COMMAND takes. */
enum cli_operands { CLI_OPERANDS_NONE, CLI_OPERANDS_FILES, CLI_OPERANDS_JOB };
enum cli_operands cli_operands(const struct cli_command *command);
/* Shell commands that print the names of jobs, and the processes from "gcdumpc ps --json", each as
 * a line of number, tab, name. */
#define CLI_SHELL_JOBS "sed -n 's/^ *\\[\\([^]]*\\)\\].*/\\1/p' /etc/gcdumpc.conf 2>/dev/null"
#define CLI_SHELL_PROCESSES                                                                     \
    "awk -F '\"' '/^ *\"pid\":/ { sub(/.*: */, \"\"); sub(/,.*/, \"\"); pid = $0 }"             \
    " /^ *\"entry_assembly\":/ { name = $4 } /^ *}/ { if (pid ~ /^[0-9]+$/) print pid \"\\t\" " \
    "name; pid = name = \"\" }'"

#endif
