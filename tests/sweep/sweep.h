/*
 * Shared by the sweeps.  A sweep runs a decoder on very many inputs and has a checker that returns
 * a complaint or NULL.  Both are arguments, so each sweep also runs with a decoder that is broken
 * on purpose, and must then complain.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/run.h"
#include "support/tb.h"

/* From bytes to a result: run_trace, or a broken version of it. */
typedef void (*sweep_decoder)(const uint8_t *bytes, size_t n, const struct run_options *options,
                              struct run *ret);

static inline void sweep_decode(const uint8_t *bytes, size_t n, const struct run_options *options,
                                struct run *ret)
{
    run_trace(bytes, n, options, ret);
}

/* GCDUMPC_SWEEP_STRIDE: the distance between two tried positions, 1 by default, for builds in which
 * all positions would take too long. */
static inline size_t sweep_stride(void)
{
    const char *text = getenv("GCDUMPC_SWEEP_STRIDE");
    size_t n = text != NULL ? strtoul(text, NULL, 10) : 1;
    return n > 0 ? n : 1;
}

struct tally {
    unsigned long runs, complaints;
    char first[1600]; /* the first complaint */
};

__attribute__((format(printf, 2, 3))) static inline void tally_complain(struct tally *t,
                                                                        const char *fmt, ...)
{
    if (t->complaints++ > 0)
        return;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(t->first, sizeof t->first, fmt, ap);
    va_end(ap);
}

/*
 * Change number K of the byte AT of an input, as a mask for xor: in a header every single bit and
 * all of them, elsewhere only FEW[N] to save time.  0 after the last.
 */
static inline uint8_t sweep_change(size_t at, size_t k, const uint8_t *few, size_t n)
{
    const size_t header_bytes = 256;
    if (at < header_bytes)
        return (uint8_t)(k < 8 ? 1u << k : k == 8 ? 0xffu : 0u);
    return k < n ? few[k] : 0;
}

/* A job on P[N] with the memory of F; returns the first failure. */
typedef gcd_status (*sweep_job)(const uint8_t *p, size_t n, struct failalloc *f,
                                struct gcd_error *err);

enum {
    SWEEP_FAIL_ON = 1,       /* memory stays short after the first failure */
    SWEEP_CAN_DO_WITHOUT = 2 /* some requests may fail without harm, for example shrinking */
};

static inline const char *sweep_check_outcome(gcd_status st, const struct gcd_error *err,
                                              unsigned how, struct failalloc *f)
{
    const char *wrong = failalloc_complaint(f);
    if (wrong != NULL)
        return wrong;
    if (f->failed == 0)
        return st == GCD_OK ? NULL : "it failed with all the memory that it asked for";
    if (st == GCD_OK && err->code == GCD_OK && (how & SWEEP_CAN_DO_WITHOUT) != 0)
        return NULL;
    if (st != GCD_E_NOMEM || err->code != GCD_E_NOMEM)
        return "not GCD_E_NOMEM";
    return strstr(err->msg, "out of memory") != NULL ? NULL : "the message does not say it";
}

/* Each allocation of RUN fails in turn, until one run gets all its memory. */
static inline void sweep_allocations(sweep_job run, const char *name, const uint8_t *p, size_t n,
                                     unsigned how, struct tally *t)
{
    for (uint64_t k = 1;; k++) {
        struct failalloc f;
        struct gcd_error err = GCD_ERROR_INIT;
        failalloc_init(&f);
        f.fail_at = k;
        f.fail_on = (how & SWEEP_FAIL_ON) != 0;
        gcd_status st = run(p, n, &f, &err);
        const char *wrong = sweep_check_outcome(st, &err, how, &f);
        if (wrong != NULL)
            tally_complain(t, "%s, allocation %" PRIu64 "%s: %s; %s %s", name, k,
                           f.fail_on ? " and all behind it" : "", wrong, gcd_status_name(st),
                           err.msg);
        t->runs++;
        if (f.failed == 0)
            break;
        if (k > 100000) {
            tally_complain(t, "%s: it asks for memory again and again", name);
            break;
        }
    }
}

/* Ends a test: no complaint, and at least one run. */
static inline void tally_expect_none(const struct tally *t)
{
    if (t->complaints > 0)
        fail_msg("%lu of %lu: %s", t->complaints, t->runs, t->first);
    assert_true(t->runs > 0);
    print_message("             %lu runs\n", t->runs);
}

/* The end of a self-test. */
static inline void tally_expect_some(const struct tally *t)
{
    if (t->complaints == 0)
        fail_msg("a decoder that is broken on purpose passed %lu runs", t->runs);
}

#endif
