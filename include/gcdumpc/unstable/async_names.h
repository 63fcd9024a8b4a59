/*
 * The names of asynchronous methods, from the names of what the compiler makes of them.
 *
 *     AsyncTaskMethodBuilder<System.String>.AsyncStateMachineBox<Shop.Rpc.<CallAsync>d__2>      a box, on the heap while the method waits
 *     Shop.Rpc.<CallAsync>d__2                                                                 its state machine
 *     Shop.Rpc.CallAsync                                                                       the method
 *
 * Names are in C# spelling (names.h); outer types may be missing.
 */
#ifndef GCDUMPC_UNSTABLE_ASYNC_NAMES_H
#define GCDUMPC_UNSTABLE_ASYNC_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Is TYPE the name of a box?  Then the *RET_N bytes at *RET_MACHINE, within TYPE, are the name of its state machine. */
GCD_API bool gcd_async_machine(const char *type, const char **ret_machine, size_t *ret_n);

#define GCD_ASYNC_STEP_BYTES 512
/*
 * What people call objects of the type NAME, as a step of a path: of a box "async Shop.Rpc.CallAsync", in BUF, cut when it does not fit; else NAME
 * itself.
 */
GCD_API const char *gcd_async_step_name(const char *name, char buf[GCD_ASYNC_STEP_BYTES]);

/*
 * The method of the state machine with the name MACHINE[N], with a NUL, in RET[CAP], CAP > 0; cut when it does not fit.  Lambdas, local functions
 * and top-level statements are named by the method that they are in; a name of another kind stays as it is.
 */
GCD_API void gcd_async_method(const char *machine, size_t n, char *ret, size_t cap);

#ifdef __cplusplus
}
#endif
#endif
