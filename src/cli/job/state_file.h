/*
 * Hidden files beside the outputs of jobs, in JSON, written whole under a lock.
 */
#ifndef GCD_CLI_STATE_FILE_H
#define GCD_CLI_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "exit.h"
#include "job/job.h"

/*
 * ".NAME" beside the outputs of D, or beside the summaries without outputs, or above the folders
 * whose names have fields; NAME is that of the process.  Machines that share a folder use %h in
 * their names and get ".NAME@HOST", because PIDs mean nothing on another machine.  False: D has no
 * such folder, or the path does not fit RET[CAP].
 */
bool state_file_stem(const struct job_dump *d, char *ret, size_t cap);

/* The object in the file PATH, if it is a regular file of this user of at most MOST_BYTES; else
 * NULL. */
json_t *state_file_load(const char *path, size_t most_bytes);

/*
 * Jobs for other processes of this name write the same file, so its folder is locked while it is
 * read and written.  Anyone who can read the folder can hold that lock forever, and not every file
 * system has locks: then continue without, after ten seconds.  A descriptor to be closed, or -1.
 */
int state_file_lock(const char *path);

/* Writes and releases O (NULL: out of memory).  CLI_FAILED after a message. */
enum cli_exit state_file_write(const char *path, json_t *o);

#endif
