#include "base/monotonic.h"
#include "live/clock.h"

#define DEFAULT_TIMEOUT_S 3600u

uint64_t cli_timeout_ms(const struct cli_args *args)
{
    return (args->live.timeout_s != 0 ? args->live.timeout_s : DEFAULT_TIMEOUT_S) * 1000;
}

uint64_t live_now_ms(void)
{
    return gcd_clock_ns() / GCD_NS_PER_MS;
}
