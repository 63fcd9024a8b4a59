/*
 * Writes an .etl: records go to buffers of processors, buffers to a file.  It shares no code with
 * the reader.
 */
#ifndef ETL_OUT_H
#define ETL_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define OUT_HEADER 0x48u
/* The usual buffer size.  A record has at most 65,535 bytes and must fit into a buffer. */
#define OUT_CAPACITY (128u * 1024u)
#define OUT_POOL     16u

struct out_options {
    size_t buffer_bytes; /* a multiple of 8 */
    bool compress;       /* XPRESS */
    bool shuffle;        /* buffers of several processors are written out of order */
    /* buffers end after their last record, as in relogged files; otherwise all have the same size
     */
    bool cut_tail;
    uint32_t lost_events, lost_buffers;
    uint64_t start_filetime;
};

struct out_buffer {
    uint8_t *bytes; /* [buffer_bytes] */
    size_t used;
};

struct out {
    FILE *file;
    struct out_options options;
    struct out_buffer *cpus; /* the buffers being filled */
    size_t cpu_count;
    uint8_t *packed;         /* [2 * buffer_bytes and a header] */
    uint8_t *pool[OUT_POOL]; /* full buffers that wait to be written out of order */
    size_t pool_bytes[OUT_POOL];
    size_t pool_count;
    uint32_t sequence; /* of the next buffer */
    uint64_t random;
    bool failed;
};

/* Ticks of the first record; the clock counts nanoseconds. */
#define OUT_FIRST_TICKS UINT64_C(1000000000000)

void out_begin(struct out *o, FILE *file, const struct out_options *options);
/* Adds a record of N bytes (header and payload) on processor CPU.  Times must not decrease on one
 * processor. */
void out_record(struct out *o, size_t cpu, const uint8_t *record, size_t n);
/* Writes the remaining buffers and the counts in the header.  False if a write failed. */
bool out_end(struct out *o);

/* out_xpress.c: compresses IN to OUT, which has room for 2 * N + 8 bytes.  Returns the compressed
 * size. */
size_t out_xpress(const uint8_t *in, size_t n, uint8_t *out);

static inline void put16(uint8_t *p, uint32_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void put32(uint8_t *p, uint32_t v)
{
    put16(p, v);
    put16(p + 2, v >> 16);
}

static inline void put64(uint8_t *p, uint64_t v)
{
    put32(p, (uint32_t)v);
    put32(p + 4, (uint32_t)(v >> 32));
}

#endif
