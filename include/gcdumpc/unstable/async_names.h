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

#include <gcdumpc/names.h>
#include <gcdumpc/status.h>

/* Is TYPE the name of a box?  If so, the *RET_N bytes at *RET_MACHINE, within TYPE, are the name of
 * its state machine. */
bool gcd_async_machine(const char *type, const char **ret_machine, size_t *ret_n);

/* What a compiler has made the type NAME of. */
enum gcd_made_of {
    GCD_MADE_OF_NOTHING,  /* it is in the source */
    GCD_MADE_OF_CALL,     /* the box of an asynchronous method */
    GCD_MADE_OF_STATE,    /* an iterator, or an asynchronous method without optimization */
    GCD_MADE_OF_LAMBDA,   /* the variables that lambdas of a class use */
    GCD_MADE_OF_FUNCTION, /* a function of F# */
};
enum gcd_made_of gcd_made_of(const char *name);
/* Stores in RET[CAP], CAP > 0, the method or class that NAME was made of: "Shop.Rpc.CallAsync",
 * "Shop.Cart" for a lambda, "Harbour.berth, line 14" for a function of F#; cut if it does not fit.
 */
void gcd_made_of_method(const char *name, char *ret, size_t cap);

/*
 * Stores in RET[CAP] the method whose lambdas use the variables in the class NAME, if METHOD[N] is
 * its name in metadata: "Shop.Cart.Add"; the class of a constructor.  False if NAME is no such
 * class, its outer types are unknown, or it does not fit.
 */
bool gcd_lambda_method(const char *name, const char *method, size_t n, char *ret, size_t cap);

/* Which block of its method has the variables in the class NAME; 0 = the first, or not known. */
unsigned gcd_lambda_block(const char *name);

/*
 * Stores in RET[CAP], CAP > 0, the method of the source that is called when METHOD (as in metadata)
 * of the class CLASS_NAME (in C#) runs: "Shop.Pump.Run", "Shop.Program.Main (lambda)" for
 * "<Main>b__0" of "Shop.Program.<>c", "Shop.Pump.RunAsync" for its state machine; cut if it does
 * not fit.
 */
void gcd_call_name(const char *class_name, const char *method, char *ret, size_t cap);

#define GCD_ASYNC_STEP_BYTES 512
/*
 * The name of a step of a path, for people: for the type NAME of a box "async Shop.Rpc.CallAsync",
 * for other types that compilers make "iterator Shop.Cart.Items", "anonymous type 0<System.Int32>"
 * and the like, in BUF, cut if it does not fit; otherwise NAME itself.  KNOWN: it is known whether
 * a state belongs to an asynchronous method (ASYNC) or to an iterator, see gcd_names_step.
 */
const char *gcd_async_step_name(const char *name, bool known, bool async,
                                char buf[GCD_ASYNC_STEP_BYTES]);

/* The same for TYPE of N: "variables of Shop.Cart.Add (2)" if they are of the second block of it.
 * In another spelling than C# always the name. */
const char *gcd_names_step(const struct gcd_names *n, uint32_t type,
                           char buf[GCD_ASYNC_STEP_BYTES]);

/* The method whose lambdas use the variables in TYPE of N: "Shop.Cart.Add"; NULL = unknown, or TYPE
 * is of something else.  Valid as long as N. */
const char *gcd_names_lambda_method(const struct gcd_names *n, uint32_t type);

/* Is TYPE of N the state of an iterator?  That of an asynchronous method has the same form, but is
 * in a box. */
bool gcd_names_is_iterator(const struct gcd_names *n, uint32_t type);

/*
 * Stores in RET[CAP], CAP > 0, the method of the state machine with the name MACHINE[N], with a
 * NUL; cut if it does not fit.  A lambda, local function or top-level statement gets the name of
 * the method that contains it; any other name stays as it is.
 */
void gcd_async_method(const char *machine, size_t n, char *ret, size_t cap);

#endif
