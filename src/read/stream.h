/*
 * A file as a sequence of bytes and LEB128 numbers, independent of its slices.
 *
 * Keeps the first failure, and all later reads return zero: a parser reads a whole record and
 * checks once, before first use.
 */
#ifndef GCD_READ_STREAM_H
#define GCD_READ_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

struct stream {
    const uint8_t *p, *end; /* of the slice */
    uint64_t end_off;       /* offset of END in the file */
    gcd_status st;          /* GCD_OK, or the first failure */
    struct gcd_reader *reader;
    const struct gcd_graph_options *options;
    struct gcd_error *err; /* receives the failure; may be NULL */
    unsigned pass, passes; /* for the progress: this pass and their number */
    uint32_t sum;          /* a checksum of what was read up to SUMMED */
    const uint8_t *summed;
};

/* At the start of IN; OPTIONS must outlive the stream.  PASS counts from 0.  Call stream_close
 * after success. */
GCD_MUST_CHECK gcd_status stream_open(struct stream *s, struct gcd_input *in,
                                      const struct gcd_graph_options *options, unsigned pass,
                                      unsigned passes, struct gcd_error *err);
void stream_close(struct stream *s);

/* Offset of the next byte. */
static inline uint64_t stream_off(const struct stream *s)
{
    return s->end_off - (uint64_t)(s->end - s->p);
}

/* The data is invalid: stores GCD_E_FORMAT with OFF and the message. */
void stream_fail(struct stream *s, uint64_t off, const char *fmt, ...) GCD_PRINTF(3, 4);

uint64_t stream_uleb_slow(struct stream *s);

/* At most 64 bits. */
static inline uint64_t stream_uleb(struct stream *s)
{
    if (s->p != s->end && *s->p < 0x80)
        return *s->p++;
    return stream_uleb_slow(s);
}

void stream_skip(struct stream *s, uint64_t n);

/* A view of at most N bytes, up to the end of the slice, until the next read; 0 only after a
 * failure. */
size_t stream_part(struct stream *s, uint64_t n, const uint8_t **ret);

/* Reads the rest, to detect damage there and so that a pipe can be read again.  Its last N bytes go
 * to TAIL; returns how many there are.  s->sum is then that of everything before them. */
size_t stream_tail(struct stream *s, uint8_t *tail, size_t n);

#endif
