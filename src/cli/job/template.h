/*
 * Names of outputs with fields: "/var/dumps/%n/%n-%p-%Y%m%dT%H%M%SZ.nettrace.gz".
 *
 *     %n  name of the process   %p  its number   %h  name of the host   %J  name of the job   %%  a percent sign
 *     %Y %m %d %H %M %S %j %F %y %s  as strftime(3), in UTC
 *
 * The same template finds the files it has written: for a process of the same name on the same host, with any PID and any time.  They never
 * include files of another process name (cli_template_tells_names).
 */
#ifndef GCD_CLI_TEMPLATE_H
#define GCD_CLI_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "exit.h"

struct cli_template;

struct cli_template_values {
    const char *name;            /* of the process, spelled by cli_template_spell */
    uint64_t pid;
    const char *host, *job;      /* job NULL: none */
    time_t time;
    bool this_process;           /* finding: only files with PID at %p */
};

/* CLI_USAGE after a message: an unknown field, "..", only a folder; CLI_FAILED: out of memory. */
enum cli_exit cli_template_new(const char *text, struct cli_template **ret);
void cli_template_free(struct cli_template *t);

/* Do dumps of different times (by seconds), or of different processes (by PID or name), get different names? */
bool cli_template_has_time(const struct cli_template *t);
bool cli_template_has_process(const struct cli_template *t);
/* Is the end of a name unambiguous?  Not in "%n%p": "Shop1" with PID 23 is "Shop" with PID 123. */
bool cli_template_tells_names(const struct cli_template *t);

/* The name for VALUES in RET_PATH[CAP].  CLI_FAILED after a message: it, or the name of the process, is too long. */
enum cli_exit cli_template_expand(const struct cli_template *t, const struct cli_template_values *values, char *ret_path, size_t cap);

/* Can A and B be the same name?  For jobs of the names JOB_A and JOB_B; may be true when they cannot. */
bool cli_template_meets(const struct cli_template *a, const char *job_a, const struct cli_template *b, const char *job_b);
/* Is one of the fields LETTERS in it? */
bool cli_template_uses(const struct cli_template *t, const char *letters);

/* The folder common to all names, in RET[CAP].  False when it is too long. */
bool cli_template_folder(const struct cli_template *t, char *ret, size_t cap);
/*
 * NAME as part of a file name, in RET[CLI_TEMPLATE_NAME_BYTES]: without slashes, control characters or a leading dot, never empty, and distinct for
 * distinct names.  Other characters, and percent signs, become %XX.  False when it does not fit; it is never cut.
 */
#define CLI_TEMPLATE_NAME_BYTES 201
bool cli_template_spell(const char *name, char ret[static CLI_TEMPLATE_NAME_BYTES]);

/*
 * Makes missing folders, mode 0700.  From the first part with a field on they must be real folders, because links could point anywhere.
 * CLI_FAILED after a message.
 */
enum cli_exit cli_template_make_folders(const struct cli_template *t, const struct cli_template_values *values);

/* Removes leftovers of killed runs from the folders that names of T can be in, and then empty folders with fields. */
void cli_template_sweep(const struct cli_template *t, const struct cli_template_values *values);

/*
 * VISIT each regular file of ours (the effective user) whose name fits, NAME in the open folder DIR_FD.  Links are not followed, where parts
 * with fields begin.  False when VISIT was, or a folder cannot be read: the reason is in errno.  What is not there is no failure.
 * REMOVED: NULL, or where VISIT counts what it has removed; a folder with a field, or below one, that is empty after that goes, too.
 */
typedef bool (*cli_template_visit)(void *ctx, int dir_fd, const char *name, const struct stat *st);
bool cli_template_each(const struct cli_template *t, const struct cli_template_values *values, cli_template_visit visit, void *ctx,
                       const uint64_t *removed);

#endif
