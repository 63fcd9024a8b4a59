/*
 * Named jobs in a file: [NAME], followed by options of "gcdumpc collect" without their dashes,
 * "keep = 5".  Options before the first name are defaults for all jobs.
 */
#ifndef GCD_CLI_CONFIG_H
#define GCD_CLI_CONFIG_H

#include "args.h"
#include "exit.h"
#include "opts.h"

struct job_config;

/* Both after a message: CLI_FAILED when PATH cannot be read or trusted, CLI_USAGE when it is not a
 * valid configuration. */
enum cli_exit job_config_read(const char *path, struct job_config **ret);
void job_config_free(struct job_config *c);

/* Names of the jobs in the order of the file. */
size_t job_config_count(const struct job_config *c);
const char *job_config_name(const struct job_config *c, size_t i);

/* The options of job I for COMMAND, as if given on the command line.  Their texts live as long as
 * C.  CLI_USAGE after a message. */
enum cli_exit job_config_args(const struct job_config *c, size_t i,
                              const struct cli_command *command, struct cli_args *ret);

/*
 * run_check.c: checks whether all jobs, or the one called NAME, can run: their options and the
 * programs that they start.  Prints on standard output which jobs are right, and warns of jobs that
 * write the same files.  Returns the worst status.
 */
enum cli_exit job_config_check(const char *path, const struct job_config *c, const char *name);

#endif
