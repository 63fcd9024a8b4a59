/*
 * A recording in memory, opened, and copied as a recording.
 */
#ifndef TESTS_OPENED_H
#define TESTS_OPENED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/recording.h>

#include "support/check.h"

struct opened {
    struct gcd_input *in;
    struct gcd_dump *d;
};

/* BYTES must live until opened_done. */
static inline struct opened open_walk(const void *bytes, size_t n, unsigned walk)
{
    struct opened o;
    struct gcd_dump_options options = { .walk_number = walk };
    assert_int_equal(gcd_input_from_memory(bytes, n, NULL, &o.in, NULL), GCD_OK);
    assert_int_equal(gcd_dump_open(o.in, &options, &o.d, NULL), GCD_OK);
    return o;
}

static inline void opened_done(struct opened *o)
{
    gcd_dump_free(o->d);
    gcd_input_free(o->in);
}

/* O as a recording, in memory; free() it.  RET_NAMES, the number of names added to it, may be NULL.
 */
static inline uint8_t *copy_of(struct opened *o, bool plain, size_t *ret_n, uint64_t *ret_names)
{
    struct gcd_sink *s;
    struct gcd_recording_options options = { .plain = plain };
    assert_int_equal(gcd_sink_new_memory(NULL, &s, NULL), GCD_OK);
    assert_int_equal(gcd_recording_write(o->d, o->in, s, &options, ret_names, NULL), GCD_OK);
    assert_int_equal(gcd_sink_commit(s, NULL), GCD_OK);
    const uint8_t *p = gcd_sink_memory(s, ret_n);
    uint8_t *copy = malloc(*ret_n);
    assert_non_null(copy);
    memcpy(copy, p, *ret_n);
    gcd_sink_free(s);
    return copy;
}

#endif
