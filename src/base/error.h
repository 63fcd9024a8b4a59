/* Fills in a struct gcd_error.  See gcdumpc/status.h for the contract of the message. */
#ifndef GCD_BASE_ERROR_H
#define GCD_BASE_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include <gcdumpc/cancel.h>
#include <gcdumpc/status.h>

/* Record CODE and the message and return CODE.  ERR may be NULL.  Overwrites an earlier error. */
gcd_status gcd_fail(struct gcd_error *err, gcd_status code, const char *fmt, ...) GCD_PRINTF(3, 4);

/* The same with a byte offset in the input. */
gcd_status gcd_fail_at(struct gcd_error *err, gcd_status code, uint64_t off, const char *fmt, ...)
    GCD_PRINTF(4, 5);

/* The same for a failed system call: appends ": " and the text of OS_ERRNO. */
gcd_status gcd_fail_os(struct gcd_error *err, int os_errno, const char *fmt, ...) GCD_PRINTF(3, 4);

/* Out of memory while doing WHAT ("reading a type table"). */
gcd_status gcd_fail_nomem(struct gcd_error *err, const char *what);

/* Add REASON to the error that was just recorded and return ST: return gcd_because(err,
 * GCD_ERROR_NO_FILE, gcd_fail(err, ...)). */
gcd_status gcd_because(struct gcd_error *err, enum gcd_error_reason reason, gcd_status st);

/* Adds context from an outer layer: "CLAUSE: old message". */
void gcd_error_wrap(struct gcd_error *err, const char *fmt, ...) GCD_PRINTF(2, 3);

/* Analysers see one file at a time (tools/analyse.sh) and need to know that none of these returns
 * GCD_OK. */
#ifdef GCDUMPC_ANALYSED
static inline gcd_status gcd_not_ok(gcd_status st)
{
    if (st == GCD_OK)
        __builtin_unreachable();
    return st;
}
#define gcd_fail(...)       gcd_not_ok((gcd_fail)(__VA_ARGS__))
#define gcd_fail_at(...)    gcd_not_ok((gcd_fail_at)(__VA_ARGS__))
#define gcd_fail_os(...)    gcd_not_ok((gcd_fail_os)(__VA_ARGS__))
#define gcd_fail_nomem(...) gcd_not_ok((gcd_fail_nomem)(__VA_ARGS__))
#define gcd_because(...)    gcd_not_ok((gcd_because)(__VA_ARGS__))
#endif

/* The process that ERR is about has ended. */
static inline gcd_status gcd_fail_gone(struct gcd_error *err)
{
    return gcd_because(err, GCD_ERROR_GONE, gcd_fail(err, GCD_E_PEER, "the process has ended"));
}

/* Return the status from the calling function unless it is GCD_OK.  For functions that have nothing
 * to release. */
#define GCD_TRY(expr)                    \
    do {                                 \
        gcd_status gcd_try_st_ = (expr); \
        if (gcd_try_st_ != GCD_OK)       \
            return gcd_try_st_;          \
    } while (0)

/* Does ST say nothing about the file that was read? */
static inline bool gcd_is_fatal(gcd_status st)
{
    return st == GCD_E_NOMEM || st == GCD_E_CANCELED;
}

/* Of a file without which the rest goes on: ST with its error OWN if it is fatal, else GCD_OK. */
static inline gcd_status gcd_only_fatal(gcd_status st, const struct gcd_error *own,
                                        struct gcd_error *err)
{
    if (!gcd_is_fatal(st))
        return GCD_OK;
    if (err != NULL)
        *err = *own;
    return st;
}

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
