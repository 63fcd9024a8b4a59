/* Who may use an output. */
#ifndef GCD_IO_SINK_THREAD_H
#define GCD_IO_SINK_THREAD_H

#include <stdbool.h>

#include <gcdumpc/io.h>

/*
 * Does a thread of its own compress and write what S is given?  Then giving it bytes neither allocates nor waits for anybody outside of the program,
 * so that any thread may do it, one at a time.
 */
bool gcd_sink_has_thread(const struct gcd_sink *s);

#endif
