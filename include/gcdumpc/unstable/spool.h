/*
 * Inputs that are filled as data arrive, or kept to be read again.
 */
#ifndef GCDUMPC_UNSTABLE_SPOOL_H
#define GCDUMPC_UNSTABLE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

/*
 * Makes an empty input, to be filled with gcd_input_append before it is read.  Up to
 * OPTIONS->spool_memory_bytes stay in memory, then everything moves to an unlinked temporary file
 * in OPTIONS->spool_dir.  The file is opened at once, so a folder that cannot be written fails
 * here. After a failed append the input keeps the earlier bytes and takes no more.
 */
GCD_MUST_CHECK gcd_status gcd_input_new_spool(const struct gcd_input_options *options,
                                              struct gcd_input **ret, struct gcd_error *err);
GCD_MUST_CHECK gcd_status gcd_input_append(struct gcd_input *in, const void *bytes, size_t n,
                                           struct gcd_error *err);

/*
 * Keeps a copy of a pipe in OPTIONS->spool_dir, for callers that learn from gcd_input_peek that
 * they must read it twice.  Call it before the first reader, else GCD_E_STATE.  Does nothing for
 * inputs that can be reread anyway.
 */
GCD_MUST_CHECK gcd_status gcd_input_keep(struct gcd_input *in,
                                         const struct gcd_input_options *options,
                                         struct gcd_error *err);

/* Do both name the same regular file?  False when either is not a file or does not exist. */
bool gcd_input_is_file(const struct gcd_input *in, const char *path);

#endif
