/*
 * The verdict on a dump: one function prints it, another judges by it.
 */
#ifndef GCD_CLI_INPUT_DUMP_VERDICT_H
#define GCD_CLI_INPUT_DUMP_VERDICT_H

#include <stdbool.h>
#include <stdio.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"

/* Prints what the user has to know about the dump, first of all why it is incomplete.  Call it once per dump.  QUIET leaves out mere notices. */
void cli_say_verdict(const struct cli_dump *d, bool quiet);
/* What a graph or an output lacks: references and roots whose target is no object, AT_LEAST so many; OBJECTS without an address.  Nothing for 0. */
void cli_say_dangling(const char *subject, uint64_t edges, uint64_t roots, bool at_least);
void cli_say_dropped(const char *subject, uint64_t objects);
/* The exit status of a command that did its work: CLI_DONE or CLI_INCOMPLETE. */
enum cli_exit cli_judge(const struct cli_dump *d);
/* The verdict as the last line of a text of SUBJECT: a table that is sent to somebody goes without standard error. */
void cli_mark_incomplete(FILE *to, const char *subject, const struct gcd_verdict *v);
/* It is incomplete, which has been said, and --strict was given. */
enum cli_exit cli_refuse(const char *subject);

#endif
