/* Checking for cancel, the same for every long call. */
#ifndef GCD_BASE_CANCEL_H
#define GCD_BASE_CANCEL_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/cancel.h>

#include "base/error.h"

/* CANCEL may be NULL: then never. */
static inline bool gcd_is_canceled(const gcd_cancel_flag *cancel)
{
    return cancel != NULL && atomic_load_explicit(cancel, memory_order_relaxed);
}

/* GCD_OK or GCD_E_CANCELED. */
static inline gcd_status gcd_check_canceled(const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    return gcd_is_canceled(cancel) ? gcd_fail(err, GCD_E_CANCELED, "interrupted") : GCD_OK;
}

#endif
