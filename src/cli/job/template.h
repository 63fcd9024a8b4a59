/*
 * The name of an output with fields in it: "/var/dumps/%n/%n-%p-%Y%m%dT%H%M%SZ.gclog.gz".
 *
 *     %n  name of the process   %p  its number   %h  name of the host   %%  a percent sign
 *     %Y %m %d %H %M %S %j %F %y %s  as strftime(3), in UTC
 *
 * The same template finds the files that were written by it: of a process of the same name on the same host, with any number and any time.
 * A process of another name has none of them (cli_template_tells_names), whatever it calls itself.
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
    const char *name;            /* of the process, as cli_template_spell writes it */
    uint64_t pid;
    const char *host;
    time_t time;
    bool this_process;           /* finding: only what has PID where %p is */
};

/* CLI_USAGE after a line on standard error: an unknown field, "..", nothing but a folder; CLI_FAILED: out of memory. */
enum cli_exit cli_template_new(const char *text, struct cli_template **ret);
void cli_template_free(struct cli_template *t);

/* Can two dumps of different times, of different processes, get different names?  By seconds; by number or name. */
bool cli_template_has_time(const struct cli_template *t);
bool cli_template_has_process(const struct cli_template *t);
/* Is it clear where a name ends?  In "%n%p" it is not: "Shop1" with number 23 is "Shop" with number 123. */
bool cli_template_tells_names(const struct cli_template *t);

/* The name for VALUES in RET_PATH[CAP].  CLI_FAILED after a line: it, or that of the process, is too long. */
enum cli_exit cli_template_expand(const struct cli_template *t, const struct cli_template_values *values, char *ret_path, size_t cap);

/* The folder that is the same for all names, in RET[CAP].  False when it is too long. */
bool cli_template_folder(const struct cli_template *t, char *ret, size_t cap);
/*
 * NAME as it stands in a name, in RET[CLI_TEMPLATE_NAME_BYTES]: no slash, no control character, no dot in front, never empty, and no two names the
 * same.  What cannot stand there becomes %XX, and so does a percent sign.  False when there is no room: it is not cut.
 */
#define CLI_TEMPLATE_NAME_BYTES 201
bool cli_template_spell(const char *name, char ret[static CLI_TEMPLATE_NAME_BYTES]);

/*
 * Make the folders that lack, mode 0700.  From the first part with a field on they must be folders, not links to such: these may lead
 * anywhere.  CLI_FAILED after a line.
 */
enum cli_exit cli_template_make_folders(const struct cli_template *t, const struct cli_template_values *values);

/* Remove what killed runs have left of outputs in the folders that names of T can be in, and folders with fields that are empty then. */
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
