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

/* Identifies a file as it was written; the inode number alone may be reused for another file. */
struct cli_keep_file {
    ino_t inode;
    struct timespec changed;
};

struct cli_keep {
    uint64_t files;       /* including the newest; 0 = any number */
    uint64_t days;        /* 0 = any age */
    uint64_t total_bytes; /* 0 = any size */
    /* [own_count] files of this run: counted, but never removed */
    const struct cli_keep_id *own;
    size_t own_count;
    /* [listed_count] sorted (cli_keep_sort): earlier files of the job; no others are removed */
    const struct cli_keep_file *listed;
    size_t listed_count;
    const struct cli_keep_file *others; /* [other_count] sorted: what any job has listed */
    size_t other_count;
};

/* What was done. */
struct cli_kept {
    uint64_t removed;
    uint64_t unlisted; /* files that nobody lists, and that T could have named */
};

void cli_keep_sort(struct cli_keep_file *files, size_t n);
/* Is the file of ST among N sorted FILES? */
bool cli_keep_is_among(const struct cli_keep_file *files, size_t n, const struct stat *st);

/*
 * Removes the oldest listed files that T has named for the process NAME of VALUES, until KEEP
 * allows the rest plus one more of COMING bytes.  Age counts from the last change; a time more than
 * a day ahead sorts as the oldest but has no age in days.  CLI_FAILED after a message when a file
 * cannot be removed, or is in a folder where others than root and this user can change names
 * (gcd_folder_is_ours).  *RET is set in each case.
 */
enum cli_exit cli_keep_apply(const struct cli_keep *keep, const struct cli_template *t,
                             const struct cli_template_values *values, uint64_t coming,
                             struct cli_kept *ret);

/* The newest file that T has written, ignoring times in the future.  False when there is none. */
bool cli_keep_newest(const struct cli_template *t, const struct cli_template_values *values,
                     struct stat *ret);

#endif
