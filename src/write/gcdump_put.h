/* The basic elements of a .gcdump: writes numbers, strings and tags of the FastSerialization
 * container to a sink. */
#ifndef GCD_WRITE_GCDUMP_PUT_H
#define GCD_WRITE_GCDUMP_PUT_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/io.h>
#include <gcdumpc/writer.h>

/* The limits of the format; tests use smaller ones. */
struct gcdump_limits {
    uint64_t nodes;      /* int32 */
    uint64_t types;      /* a node's type number and a flag share an int32 */
    uint64_t blob_bytes; /* int32 */
    uint64_t file_bytes; /* uint32: offsets of objects in the file */
};
extern const struct gcdump_limits gcdump_limits;

/* The writer itself, with the caller's limits. */
GCD_MUST_CHECK gcd_status gcdump_write(const struct gcd_graph *g, struct gcd_sink *s,
                                       const struct gcd_write_options *options,
                                       const struct gcdump_limits *limits,
                                       struct gcd_write_notes *notes, struct gcd_error *err);

/* A window into the sink's buffer: one comparison per number instead of two calls. */
struct gcdump_out {
    struct gcd_sink *sink;
    uint64_t start; /* of the file in the sink */
    /* not 0: position in the sink where the window's bytes were left out */
    uint64_t later_at;
    uint8_t *begin, *p, *end;
    gcd_status st; /* GCD_E_LIMIT: a string was too long and was replaced by null */
};

void gcdump_out_init(struct gcdump_out *o, struct gcd_sink *s);
/* Without a sink: all output goes to P, which must have room for it. */
void gcdump_out_window(struct gcdump_out *o, void *p, size_t n);
/* All output fills what the sink left out from AT on.  P is a buffer of N bytes. */
void gcdump_out_later(struct gcdump_out *o, struct gcd_sink *s, uint64_t at, void *p, size_t n);
/* Passes on the contents of the window; call it before anything else uses the sink. */
void gcdump_out_flush(struct gcdump_out *o);
/* File offset of the next byte. */
uint64_t gcdump_out_offset(const struct gcdump_out *o);
void gcdump_out_refill(struct gcdump_out *o);

/* Room for N bytes, at most a few dozen. */
static inline uint8_t *gcdump_room(struct gcdump_out *o, size_t n)
{
    if ((size_t)(o->end - o->p) < n)
        gcdump_out_refill(o);
    return o->p;
}

static inline void gcdump_put_u8(struct gcdump_out *o, unsigned v)
{
    *gcdump_room(o, 1) = (uint8_t)v;
    o->p++;
}

static inline void gcdump_put_u32(struct gcdump_out *o, uint32_t v)
{
    uint8_t *p = gcdump_room(o, 4);
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
    o->p += 4;
}

static inline void gcdump_put_u64(struct gcdump_out *o, uint64_t v)
{
    uint8_t *p = gcdump_room(o, 8);
    for (unsigned i = 0; i < 8; i++)
        p[i] = (uint8_t)(v >> (8 * i));
    o->p += 8;
}

static inline uint32_t gcdump_get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void gcdump_put_bytes(struct gcdump_out *o, const void *bytes, size_t n);

/* Length of a compressed int: 7 bits per byte, the highest bit is the sign. */
static inline unsigned gcdump_cint_bytes(int32_t v)
{
    uint32_t u = (uint32_t)(v < 0 ? ~v : v);
    return (32u - (unsigned)__builtin_clz(u | 1) + 7) / 7;
}

static inline void gcdump_put_cint(struct gcdump_out *o, int32_t v)
{
    unsigned n = gcdump_cint_bytes(v);
    uint8_t *p = gcdump_room(o, 5);
    uint32_t u = (uint32_t)v;
    for (unsigned shift = 7 * (n - 1); shift > 0; shift -= 7)
        *p++ = (uint8_t)(u >> shift | 0x80);
    *p++ = (uint8_t)(u & 0x7f);
    o->p = p;
}

/* Part of a string: well-formed UTF-8 (otherwise U+FFFD). */
struct gcdump_text {
    const char *s;
    size_t n;
};
/* Writes the parts as one string. */
void gcdump_put_text(struct gcdump_out *o, const struct gcdump_text *parts, size_t count);
void gcdump_put_string(struct gcdump_out *o, const char *s);
/* A string, or null if it is empty. */
void gcdump_put_string_or_null(struct gcdump_out *o, const char *s);

/* Tags. */
enum {
    GCDUMP_NULL = 1,
    GCDUMP_BEGIN = 4,
    GCDUMP_END = 6,
    GCDUMP_BYTE = 8,
    GCDUMP_SKIP = 12,
    GCDUMP_STRING = 13,
};
/* Begins an object of a class that the file has not named before; end it with
 * gcdump_put_u8(GCDUMP_END). */
void gcdump_put_begin(struct gcdump_out *o, const char *class_name, uint32_t version,
                      uint32_t minimum_reader);

/* The collection log: our report about the dump, for people and for src/read/gcdump_text.c. WRITTEN
 * counts what is in the file. */
GCD_MUST_CHECK gcd_status gcdump_put_log(struct gcdump_out *o, const struct gcd_graph *g,
                                         const struct gcd_write_notes *written,
                                         const struct gcd_alloc *alloc, struct gcd_error *err);

#endif
