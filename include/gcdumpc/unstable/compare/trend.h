/* A quantity over several dumps. */
#ifndef GCDUMPC_UNSTABLE_COMPARE_TREND_H
#define GCDUMPC_UNSTABLE_COMPARE_TREND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/status.h>

enum gcd_trend {
    GCD_TREND_STEADY,  /* never changes */
    GCD_TREND_GROWS,   /* never less than before, and more at the end */
    GCD_TREND_SHRINKS, /* never more than before, and less at the end */
    GCD_TREND_VARIES
};

/* VALUES[N], oldest first; steady for fewer than two. */
enum gcd_trend gcd_trend_of(const uint64_t *values, size_t n);

/*
 * Growth per hour by linear regression (least squares).  UNIX_MS[N]: the time of each dump;
 * INT64_MIN = unknown; its value is skipped.  False with fewer than two distinct times.
 */
bool gcd_trend_slope(const int64_t *unix_ms, const uint64_t *values, size_t n,
                     double *ret_per_hour);

#endif
