/*
 * A flag that another thread or a signal handler sets to stop a long call, which then ends with
 * GCD_E_CANCELED.
 */
#ifndef GCDUMPC_CANCEL_H
#define GCDUMPC_CANCEL_H

#ifdef __cplusplus
#include <atomic>
/* the same size and representation as C's atomic_bool */
typedef std::atomic<bool> gcd_cancel_flag;
#else
#include <stdatomic.h>
typedef atomic_bool gcd_cancel_flag;
#endif

#endif
