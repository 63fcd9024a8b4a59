/* Which threads may use an output. */
#ifndef GCD_IO_SINK_THREAD_H
#define GCD_IO_SINK_THREAD_H

#include <stdbool.h>

#include <gcdumpc/io.h>

/*
 * Does S compress and write in its own thread?  If so, passing it bytes neither allocates nor waits
 * for anything outside the program, so any thread may do it, one at a time.
 */
bool gcd_sink_has_thread(const struct gcd_sink *s);

#endif
