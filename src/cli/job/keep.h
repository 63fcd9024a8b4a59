/*
 * Retention of earlier dumps: --keep N, --keep-days D, --max-total SIZE.
 */
#ifndef GCD_CLI_KEEP_H
#define GCD_CLI_KEEP_H

#include "exit.h"
#include "job/template.h"

struct cli_keep_id {
    dev_t device;
    ino_t inode;
};

/* A file as it was when it was written; a number alone may belong to another file by now. */
struct cli_keep_file {
    ino_t inode;
    struct timespec changed;
};

struct cli_keep {
    uint64_t files;              /* including the newest; 0 = any number */
    uint64_t days;               /* 0 = any age */
    uint64_t total_bytes;        /* 0 = any size */
    const struct cli_keep_id *own;       /* [own_count] files of this run: they count, but are never removed */
    size_t own_count;
    const struct cli_keep_file *others;  /* [other_count] files of other jobs: as if they were not there */
    size_t other_count;
};

/*
 * Remove the oldest files that T has written for the process NAME of VALUES, so that with one more of COMING bytes the rest is what KEEP allows.
 * Age is the time of the last change; one of more than a day ahead counts as older than all others, but not as any number of days.
 * CLI_FAILED after a line when something cannot be removed, or lies where not only root and this user give the names (gcd_folder_is_ours).
 * *RET_REMOVED: how many were.
 */
enum cli_exit cli_keep_apply(const struct cli_keep *keep, const struct cli_template *t, const struct cli_template_values *values,
                             uint64_t coming, uint64_t *ret_removed);

/* The newest file that T has written, ignoring times in the future.  False when there is none. */
bool cli_keep_newest(const struct cli_template *t, const struct cli_template_values *values, struct stat *ret);

#endif
