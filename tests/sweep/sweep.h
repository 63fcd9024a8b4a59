/*
 * What the sweeps share.  A sweep runs a decoder over very many inputs and has a checker that returns a complaint or NULL.  Both
 * are arguments, so that each sweep can be run with a decoder broken on purpose: then it must complain.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/run.h"
#include "support/tb.h"

/* The whole way from bytes to a result: run_trace, or something worse. */
typedef void (*sweep_decoder)(const uint8_t *bytes, size_t n, const struct run_options *options, struct run *ret);

static inline void sweep_decode(const uint8_t *bytes, size_t n, const struct run_options *options, struct run *ret)
{
    run_trace(bytes, n, options, ret);
}

struct tally {
    unsigned long runs, complaints;
    char first[1600];            /* the first complaint */
};

__attribute__((format(printf, 2, 3)))
static inline void tally_complain(struct tally *t, const char *fmt, ...)
{
    if (t->complaints++ > 0)
        return;
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(t->first, sizeof t->first, fmt, ap);
    va_end(ap);
}

/*
 * Change number K of the byte AT of an input: in a header every bit alone and all at once, elsewhere those of FEW[N], which can be too many for
 * every byte already.  To be xored; 0 after the last.
 */
static inline uint8_t sweep_change(size_t at, size_t k, const uint8_t *few, size_t n)
{
    const size_t header_bytes = 256;
    if (at < header_bytes)
        return k < 8 ? (uint8_t)(1u << k) : k == 8 ? 0xff : 0;
    return k < n ? few[k] : 0;
}

/* The end of a test proper: nothing to complain about, and something was run. */
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
