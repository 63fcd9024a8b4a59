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

/* Prints what the user must know about the dump, first of all why it is incomplete.  Call it once
 * per dump.  QUIET leaves out mere notices. */
void cli_say_verdict(const struct cli_dump *d, bool quiet);
/*
 * Report what a graph or an output lacks, nothing for 0: references and roots without a target
 * object, AT_LEAST that many; OBJECTS without an address; N objects in the place of roots.
 */
void cli_say_dangling(const char *subject, uint64_t edges, uint64_t roots, bool at_least);
void cli_say_dropped(const char *subject, uint64_t objects);
void cli_say_pseudo_roots(const char *subject, uint32_t n);
/* The exit status of a command that did its work: CLI_DONE or CLI_INCOMPLETE. */
enum cli_exit cli_judge(const struct cli_dump *d);
/* Begins a text with the verdict about SUBJECT, because a table may be passed on without standard
 * error. */
void cli_mark_incomplete(FILE *to, const char *subject, const struct gcd_verdict *v);
/* Refuses an incomplete dump for --strict; the reason has been printed. */
enum cli_exit cli_refuse(const char *subject);

/* What is known of the values of a dump, as a clause; "" = it has none. */
#define CLI_VALUES_BYTES 400
const char *cli_values_text(const struct gcd_values_facts *f, char buf[CLI_VALUES_BYTES]);
/* The same of the fields of references, where they are exact; "" = they are not. */
const char *cli_fields_text(const struct gcd_summary *s, char buf[CLI_VALUES_BYTES]);

#endif
