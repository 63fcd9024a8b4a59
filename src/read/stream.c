#include "read/stream.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "io/sink_sum.h"

/* Bytes of 64 bits, seven at a time. */
#define ULEB_MAX 10

gcd_status stream_open(struct stream *s, struct gcd_input *in,
                       const struct gcd_graph_options *options, unsigned pass, unsigned passes,
                       struct gcd_error *err)
{
    *s = (struct stream){ .options = options, .err = err, .pass = pass, .passes = passes };
    return gcd_reader_new(in, &s->reader, err);
}

void stream_close(struct stream *s)
{
    gcd_reader_free(s->reader);
}

static void keep(struct stream *s, gcd_status st)
{
    s->st = st;
    s->end_off -= (uint64_t)(s->end - s->p); /* keep the offset at the failure */
    s->p = s->end = s->summed = NULL;
}

static void sum_up(struct stream *s, const uint8_t *p)
{
    if (p != s->summed)
        s->sum = gcd_sum(s->sum, s->summed, (size_t)(p - s->summed));
    s->summed = p;
}

/* Gets another slice.  False at the end of the file and after a failure; the end is not a failure.
 */
static bool next_slice(struct stream *s)
{
    size_t n;
    if (s->st != GCD_OK)
        return false;
    uint64_t total = s->options->progress_total;
    gcd_status st = gcd_context_step(
        &s->options->context,
        (total / s->passes) * s->pass + gcd_reader_position(s->reader) / s->passes, total, s->err);
    if (s->pass == 0)
        sum_up(s, s->end);
    if (st == GCD_OK)
        st = gcd_reader_next(s->reader, &s->p, &n, s->err);
    s->summed = st == GCD_OK ? s->p : NULL;
    if (st != GCD_OK) {
        s->p = s->end = NULL;
        if (st != GCD_END)
            keep(s, st);
        return false;
    }
    s->end = s->p + n;
    s->end_off += n;
    return true;
}

static void fail_at_end(struct stream *s)
{
    if (s->st == GCD_OK)
        keep(s, gcd_fail_at(s->err, GCD_E_TRUNCATED, stream_off(s), "the data end early"));
}

void stream_fail(struct stream *s, uint64_t off, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    if (s->st != GCD_OK)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    keep(s, gcd_fail_at(s->err, GCD_E_FORMAT, off, "%s", text));
}

uint64_t stream_uleb_slow(struct stream *s)
{
    uint64_t v = 0, off = stream_off(s);
    /* the usual case: no need to check for the end of the slice */
    if (s->end - s->p >= ULEB_MAX) {
        const uint8_t *p = s->p;
        for (unsigned shift = 0; shift < 63; shift += 7) {
            uint8_t b = *p++;
            v |= (uint64_t)(b & 0x7f) << shift;
            if (b < 0x80) {
                s->p = p;
                return v;
            }
        }
        v = 0;
    }
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (s->p == s->end && !next_slice(s)) {
            fail_at_end(s);
            return 0;
        }
        uint8_t b = *s->p++;
        if (shift == 63 && (b & 0x7f) > 1)
            break;
        v |= (uint64_t)(b & 0x7f) << shift;
        if ((b & 0x80) == 0)
            return v;
    }
    stream_fail(s, off, "a number has more than 64 bits");
    return 0;
}

size_t stream_part(struct stream *s, uint64_t n, const uint8_t **ret)
{
    if (s->p == s->end && !next_slice(s)) {
        fail_at_end(s);
        return 0;
    }
    size_t left = (size_t)(s->end - s->p), part = n < left ? (size_t)n : left;
    *ret = s->p;
    s->p += part;
    return part;
}

void stream_skip(struct stream *s, uint64_t n)
{
    const uint8_t *ignored;
    while (n > 0 && s->st == GCD_OK)
        n -= stream_part(s, n, &ignored);
}

size_t stream_tail(struct stream *s, uint8_t *tail, size_t n)
{
    size_t have = 0;
    do {
        size_t part = (size_t)(s->end - s->p), more = part < n ? part : n,
               drop = have + more > n ? have + more - n : 0;
        if (part == 0)
            continue;
        sum_up(s, s->p);
        s->sum = gcd_sum(gcd_sum(s->sum, tail, drop), s->p, part - more);
        memmove(tail, tail + drop, have - drop);
        memcpy(tail + (have - drop), s->end - more, more);
        have += more - drop;
        s->p = s->summed = s->end;
    } while (next_slice(s));
    return have;
}
