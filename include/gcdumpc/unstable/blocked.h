/*
 * Threads that wait for locks or block in Wait or Result of a task, of a memory image.
 *
 * gcd_image_facts.blocked has a line for each kind, method, lock and owner, six fields with tabs
 * between them:
 *
 *     kind    lock, task; finalizer: the finalizer's thread, which is in a line of these, too
 *     count   of threads
 *     method  where they wait, of the program as far as that is known; may be empty
 *     lock    the object, hexadecimal; 0 = unknown
 *     owner   the thread that holds it, as in the label of a root: 4711 "Pump" in Shop.Pump.Run
 *     next    the lock that the owner waits for; 0 = none
 */
#ifndef GCDUMPC_UNSTABLE_BLOCKED_H
#define GCDUMPC_UNSTABLE_BLOCKED_H

#include <stdbool.h>

#include <gcdumpc/graph.h>

#define GCD_BLOCKED_BYTES 3000u

/*
 * Sentences for people about locks whose owners wait for each other, about GCD_ASYNC_JAM threads or
 * more that wait for locks or block in one method, and about the finalizer's thread; "" = there are
 * none.  Cut if they do not fit into RET[CAP].  TASKS_TOLD: gcd_async_jam_text says in which method
 * threads block for tasks.  Returns the number of threads that wait for locks or block, or 0 if
 * nothing is said of them.
 */
uint64_t gcd_blocked_text(const struct gcd_graph *g, bool tasks_told, char *ret, size_t cap);

#endif
