/* A recording in several files, read as one input. */
#ifndef GCDUMPC_UNSTABLE_IO_INPUT_PARTS_H
#define GCDUMPC_UNSTABLE_IO_INPUT_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>
#include <gcdumpc/status.h>

/*
 * Joins N inputs into one, in order: a recording in several files.  Makes each seekable, which must
 * succeed.  On GCD_OK they belong to the joined input, otherwise still to the caller.
 */
GCD_MUST_CHECK gcd_status gcd_input_join(struct gcd_input **parts, size_t n,
                                         const struct gcd_input_options *options,
                                         struct gcd_input **ret, struct gcd_error *err);
/* The number of joined inputs, 1 for any other input; the size of each. */
size_t gcd_input_part_count(const struct gcd_input *in);
uint64_t gcd_input_part_size(const struct gcd_input *in, size_t i);

#endif
