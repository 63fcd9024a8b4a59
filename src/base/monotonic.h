/* The monotonic clock, in nanoseconds. */
#ifndef GCD_BASE_MONOTONIC_H
#define GCD_BASE_MONOTONIC_H

#include <stdint.h>
#include <time.h>

#define GCD_NS_PER_MS     UINT64_C(1000000)
#define GCD_NS_PER_SECOND UINT64_C(1000000000)

static inline uint64_t gcd_clock_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * GCD_NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

#endif
