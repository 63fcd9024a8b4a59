/*
 * What writing a format needs: disk space, memory.
 */
#ifndef GCDUMPC_UNSTABLE_FORMAT_PLAN_H
#define GCDUMPC_UNSTABLE_FORMAT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>
#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/writer.h>

/*
 * For GCD_FORMAT_STAGED: checks that no file beside PATH would spoil the output, such as the
 * journal of an older database.  Call it before the work; gcd_write_staged checks again.  GCD_E_IO,
 * GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status gcd_format_check_output(const struct gcd_format *f, const char *path,
                                                  struct gcd_error *err);

/* The work on a graph that it needs; for profiles, when they stack objects by dominators. */
enum gcd_workload gcd_format_workload(const struct gcd_format *f);

/* The estimated size of an output on disk in bytes, without gzip, made from STREAM_BYTES of events.
 * Measured: src/write/README.md. */
uint64_t gcd_format_size(const struct gcd_format *f, uint64_t stream_bytes);

#endif
