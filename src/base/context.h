/* What functions do with a struct gcd_context. */
#ifndef GCD_BASE_CONTEXT_H
#define GCD_BASE_CONTEXT_H

#include <gcdumpc/context.h>

#include "base/error.h"

/* CONTEXT, or the defaults when it is NULL. */
static inline const struct gcd_context *gcd_context_or_default(const struct gcd_context *context)
{
    static const struct gcd_context defaults;
    return context != NULL ? context : &defaults;
}

static inline void gcd_context_report(const struct gcd_context *c, uint64_t done, uint64_t total)
{
    if (c->progress != NULL)
        c->progress(c->progress_ctx, done, total);
}

/* Reports progress.  GCD_OK, or GCD_E_CANCELED. */
static inline gcd_status gcd_context_step(const struct gcd_context *c, uint64_t done,
                                          uint64_t total, struct gcd_error *err)
{
    gcd_context_report(c, done, total);
    return gcd_check_canceled(c->cancel, err);
}

#endif
