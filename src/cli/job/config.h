/*
 * Named jobs in a file: [NAME] and below it options of "gcdumpc collect" without their dashes, "keep = 5".  What stands before the first
 * name is meant for all jobs; a job can say otherwise.
 */
#ifndef GCD_CLI_CONFIG_H
#define GCD_CLI_CONFIG_H

#include "args.h"
#include "exit.h"
#include "opts.h"

struct job_config;

/* CLI_FAILED after a line: it cannot be read, is not to be trusted; CLI_USAGE: it is no such file. */
enum cli_exit job_config_read(const char *path, struct job_config **ret);
void job_config_free(struct job_config *c);

/* Names of the jobs as they stand in the file. */
size_t job_config_count(const struct job_config *c);
const char *job_config_name(const struct job_config *c, size_t i);

/* The options of job I for COMMAND, as if they had been given on the command line.  Their texts live as long as C.  CLI_USAGE after a line. */
enum cli_exit job_config_args(const struct job_config *c, size_t i, const struct cli_command *command, struct cli_args *ret);

#endif
