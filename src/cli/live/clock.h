/*
 * Clock and time limit of a dump, in milliseconds.
 */
#ifndef GCD_CLI_LIVE_CLOCK_H
#define GCD_CLI_LIVE_CLOCK_H

#include <stdint.h>

#include "args.h"

/* --timeout, or the default. */
uint64_t cli_timeout_ms(const struct cli_args *args);
/* A monotonic clock. */
uint64_t live_now_ms(void);

#endif
