/*
 * Names of outputs with fields: "/var/dumps/%n/%n-%p-%Y%m%dT%H%M%SZ.nettrace.gz".
 *
 *     %n  name of the process   %p  its number   %h  name of the host   %J  name of the job   %%  a
 *         percent sign
 *     %Y %m %d %H %M %S %j %F %y %s  as strftime(3), in UTC
 *
 * The same template finds the files it has written: for a process of the same name on the same
 * host, with any PID and any time.  They never include files of another process name
 * (cli_template_tells_names).
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
    const char *name; /* process name, spelled by cli_template_spell */
    uint64_t pid;
    const char *host, *job; /* job NULL: none */
    time_t time;
    bool this_process; /* when finding: only files with PID at %p */
};

/* Parses TEXT.  CLI_USAGE after a message: an unknown field, "..", only a folder.  CLI_FAILED: out
 * of memory. */
enum cli_exit cli_template_new(const char *text, struct cli_template **ret);
void cli_template_free(struct cli_template *t);

/* Do dumps at different times (to the second), or of different processes (by PID or name), get
 * different names? */
bool cli_template_has_time(const struct cli_template *t);
bool cli_template_has_process(const struct cli_template *t);
/* Is the end of a name unambiguous?  Not in "%n%p": "Shop1" with PID 23 is "Shop" with PID 123. */
bool cli_template_tells_names(const struct cli_template *t);

/* The name for VALUES, in RET_PATH[CAP].  CLI_FAILED after a message: it, or the process name, is
 * too long. */
enum cli_exit cli_template_expand(const struct cli_template *t,
                                  const struct cli_template_values *values, char *ret_path,
                                  size_t cap);

/* Can A and B expand to the same name, in jobs named JOB_A and JOB_B?  May say true when they
 * cannot. */
bool cli_template_meets(const struct cli_template *a, const char *job_a,
                        const struct cli_template *b, const char *job_b);
/* Does T use one of the fields LETTERS? */
bool cli_template_uses(const struct cli_template *t, const char *letters);

/* The folder common to all names, in RET[CAP].  False when it is too long. */
bool cli_template_folder(const struct cli_template *t, char *ret, size_t cap);
/*
 * NAME spelled as part of a file name, in RET[CLI_TEMPLATE_NAME_BYTES]: never empty, without
 * slashes, control characters or a leading dot, and distinct for distinct names.  Other characters
 * and percent signs become %XX.  False when it does not fit; it is never cut.
 */
#define CLI_TEMPLATE_NAME_BYTES 201
bool cli_template_spell(const char *name, char ret[static CLI_TEMPLATE_NAME_BYTES]);

/*
 * Creates missing folders with mode 0700.  From the first part with a field on, folders must not be
 * links, which could point anywhere.  CLI_FAILED after a message.
 */
enum cli_exit cli_template_make_folders(const struct cli_template *t,
                                        const struct cli_template_values *values);

/* Removes leftovers of killed runs from all folders that T can name, then empty folders whose names
 * have fields. */
void cli_template_sweep(const struct cli_template *t, const struct cli_template_values *values);

/*
 * Calls VISIT for each regular file of ours (the effective user) that matches, as NAME in the open
 * folder DIR_FD.  Does not follow links from the first part with a field on.  False when VISIT
 * returned false or a folder cannot be read, with errno; a missing folder is no failure.  REMOVED:
 * NULL, or the counter in which VISIT counts its removals; a folder that is empty after one is
 * removed too, if its name or that of a parent has a field.
 */
typedef bool (*cli_template_visit)(void *ctx, int dir_fd, const char *name, const struct stat *st);
bool cli_template_each(const struct cli_template *t, const struct cli_template_values *values,
                       cli_template_visit visit, void *ctx, const uint64_t *removed);

#endif
