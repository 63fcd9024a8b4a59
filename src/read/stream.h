/*
 * A file as a sequence of bytes and LEB128 numbers, whatever the slices are that it comes in.
 *
 * The first failure is kept, and all later reads give zero: a parser reads a whole record and checks once, before first use.
 */
#ifndef GCD_READ_STREAM_H
#define GCD_READ_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/graph.h>

struct stream {
    const uint8_t *p, *end;      /* of the slice */
    uint64_t end_off;            /* offset of END in the file */
    gcd_status st;               /* GCD_OK, or the first failure */
    struct gcd_reader *reader;
    const struct gcd_graph_options *options;
    struct gcd_error *err;       /* where the failure is told; may be NULL */
    unsigned pass, passes;       /* for the progress: this one and how many there are */
};

/* At the start of IN; OPTIONS must outlive the stream.  PASS counts from 0.  stream_close is due after success. */
GCD_MUST_CHECK gcd_status stream_open(struct stream *s, struct gcd_input *in, const struct gcd_graph_options *options, unsigned pass,
                                      unsigned passes, struct gcd_error *err);
void stream_close(struct stream *s);

/* Offset of the next byte. */
static inline uint64_t stream_off(const struct stream *s)
{
    return s->end_off - (uint64_t)(s->end - s->p);
}

/* Another slice.  False at the end of the file and after a failure; the end itself is none. */
bool stream_more(struct stream *s);
/* The data cannot be right: keeps GCD_E_FORMAT with OFF and the sentence. */
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

/* At most N bytes, as many as lie in one piece, as a view until the next read; 0 only after a failure. */
size_t stream_part(struct stream *s, uint64_t n, const uint8_t **ret);

/* Read what is left and forget it, so that damage in there is seen and a pipe can be read again. */
void stream_drain(struct stream *s);

#endif
