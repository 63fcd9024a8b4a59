/*
 * Events of the event source System.Runtime; the runtime sends one for each of its counters.
 */
#ifndef GCD_CLI_LIVE_COUNTER_H
#define GCD_CLI_LIVE_COUNTER_H

#include <stddef.h>
#include <stdint.h>

/*
 * The size of the managed heap in bytes, if PAYLOAD[N] is an event of the counter "gc-heap-size"
 * with a plausible value; else 0.  The bytes come from the process and may be anything.
 */
uint64_t live_counter_heap(const uint8_t *payload, size_t n);

#endif
