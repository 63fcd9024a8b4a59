/*
 * The names of asynchronous methods, derived from the names of their compiler-generated types.
 *
 *     AsyncTaskMethodBuilder<System.String>.AsyncStateMachineBox<Shop.Rpc.<CallAsync>d__2>      a
 *         box, on the heap while the method waits
 *     Shop.Rpc.<CallAsync>d__2                                                                 its
 *         state machine
 *     Shop.Rpc.CallAsync                                                                       the
 *         method
 *
 * Names are in C# spelling (names.h); outer types may be missing.
 */
#ifndef GCDUMPC_UNSTABLE_ASYNC_NAMES_H
#define GCDUMPC_UNSTABLE_ASYNC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/status.h>

/* Is TYPE the name of a box?  If so, the *RET_N bytes at *RET_MACHINE, within TYPE, are the name of
 * its state machine. */
bool gcd_async_machine(const char *type, const char **ret_machine, size_t *ret_n);

#define GCD_ASYNC_STEP_BYTES 512
/*
 * The name of a step of a path, for people: for the type NAME of a box "async Shop.Rpc.CallAsync",
 * in BUF, cut if it does not fit; otherwise NAME itself.
 */
const char *gcd_async_step_name(const char *name, char buf[GCD_ASYNC_STEP_BYTES]);

/*
 * Stores in RET[CAP], CAP > 0, the method of the state machine with the name MACHINE[N], with a
 * NUL; cut if it does not fit.  A lambda, local function or top-level statement gets the name of
 * the method that contains it; any other name stays as it is.
 */
void gcd_async_method(const char *machine, size_t n, char *ret, size_t cap);

#endif
