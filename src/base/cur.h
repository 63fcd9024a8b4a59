/*
 * The cursor: the only way to read the bytes of an input.
 *
 * It keeps the first failure (status and file offset), empties the window and makes every later
 * read return zero.  So a parser reads a whole record and checks once, before first use.  Lengths
 * are compared with what is left, never added to a pointer.  A shortage inside a window is
 * GCD_E_FORMAT: the code that creates a window ensures that all its bytes are present.
 *
 * struct gcd_put is the reverse: fields into a buffer of a known size.  What does not fit sets
 * FULL, and the caller checks once, at the end.
 */
#ifndef GCD_BASE_CUR_H
#define GCD_BASE_CUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <gcdumpc/status.h>

#include "base/text.h"

struct gcd_cur {
    const uint8_t *p, *end;
    uint64_t base_off; /* offset in the input of the first byte of the window */
    const uint8_t *begin;
    gcd_status err; /* GCD_OK, or the first failure */
    uint64_t err_off;
};

static inline struct gcd_cur gcd_cur_make(const void *bytes, size_t n, uint64_t off)
{
    const uint8_t *b = bytes;
    return (struct gcd_cur){ .p = b, .end = b == NULL ? b : b + n, .base_off = off, .begin = b };
}

static inline size_t gcd_cur_left(const struct gcd_cur *c)
{
    return (size_t)(c->end - c->p);
}

static inline uint64_t gcd_cur_off(const struct gcd_cur *c)
{
    return c->base_off + (uint64_t)(c->p - c->begin);
}

static inline void gcd_cur_fail(struct gcd_cur *c, gcd_status st)
{
    if (c->err != GCD_OK)
        return;
    c->err = st;
    c->err_off = gcd_cur_off(c);
    c->p = c->end;
}

/* N bytes as a view, or NULL. */
static inline const uint8_t *gcd_cur_bytes(struct gcd_cur *c, size_t n)
{
    if (n > gcd_cur_left(c)) {
        gcd_cur_fail(c, GCD_E_FORMAT);
        return NULL;
    }
    const uint8_t *p = c->p;
    if (n > 0)
        c->p += n;
    return p;
}

static inline void gcd_cur_skip(struct gcd_cur *c, size_t n)
{
    (void)gcd_cur_bytes(c, n);
}

/* COUNT records of ITEM_BYTES (> 0) as a view: fails unless all are present, so COUNT can be
 * trusted afterwards. */
static inline const uint8_t *gcd_cur_array(struct gcd_cur *c, uint64_t count, size_t item_bytes)
{
    if (count > gcd_cur_left(c) / item_bytes) {
        gcd_cur_fail(c, GCD_E_FORMAT);
        return NULL;
    }
    return gcd_cur_bytes(c, (size_t)count * item_bytes);
}

/* Little-endian loads from bytes known to be present; compilers turn them into single moves. */
static inline uint16_t gcd_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t gcd_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t gcd_le64(const uint8_t *p)
{
    return (uint64_t)gcd_le32(p) | (uint64_t)gcd_le32(p + 4) << 32;
}

/* A pointer of the target; PTR_BYTES is 4 or 8. */
static inline uint64_t gcd_leptr(const uint8_t *p, unsigned ptr_bytes)
{
    return ptr_bytes == 8 ? gcd_le64(p) : gcd_le32(p);
}

static inline uint8_t gcd_cur_u8(struct gcd_cur *c)
{
    const uint8_t *p = gcd_cur_bytes(c, 1);
    return p != NULL ? *p : 0;
}

static inline uint16_t gcd_cur_u16(struct gcd_cur *c)
{
    const uint8_t *p = gcd_cur_bytes(c, 2);
    return p != NULL ? gcd_le16(p) : 0;
}

static inline uint32_t gcd_cur_u32(struct gcd_cur *c)
{
    const uint8_t *p = gcd_cur_bytes(c, 4);
    return p != NULL ? gcd_le32(p) : 0;
}

static inline uint64_t gcd_cur_u64(struct gcd_cur *c)
{
    const uint8_t *p = gcd_cur_bytes(c, 8);
    return p != NULL ? gcd_le64(p) : 0;
}

static inline uint64_t gcd_cur_ptr(struct gcd_cur *c, unsigned ptr_bytes)
{
    const uint8_t *p = gcd_cur_bytes(c, ptr_bytes);
    return p != NULL ? gcd_leptr(p, ptr_bytes) : 0;
}

/* Seven bits per byte, least significant first; more than MAX_BITS bits are a failure. */
static inline uint64_t gcd_cur_varuint(struct gcd_cur *c, unsigned max_bits)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < max_bits; shift += 7) {
        uint8_t b = gcd_cur_u8(c);
        uint64_t part = b & 0x7f;
        if (shift + 7 > max_bits && part >> (max_bits - shift) != 0)
            break;
        v |= part << shift;
        if ((b & 0x80) == 0)
            return v;
    }
    gcd_cur_fail(c, GCD_E_FORMAT);
    return 0;
}

static inline uint32_t gcd_cur_varuint32(struct gcd_cur *c)
{
    return (uint32_t)gcd_cur_varuint(c, 32);
}

static inline uint64_t gcd_cur_varuint64(struct gcd_cur *c)
{
    return gcd_cur_varuint(c, 64);
}

/* UTF-16LE up to a zero unit.  The view and *RET_UNITS exclude the zero.  NULL when the window has
 * no terminator. */
static inline const uint8_t *gcd_cur_utf16z(struct gcd_cur *c, size_t *ret_units)
{
    const uint8_t *p = c->p;
    size_t units = gcd_cur_left(c) / 2;
    for (size_t i = 0; i < units; i++)
        if (p[2 * i] == 0 && p[2 * i + 1] == 0) {
            c->p += 2 * i + 2;
            *ret_units = i;
            return p;
        }
    gcd_cur_fail(c, GCD_E_FORMAT);
    *ret_units = 0;
    return NULL;
}

/* A window for a length-prefixed part: bytes that the parser leaves unread are skipped. */
static inline struct gcd_cur gcd_cur_sub(struct gcd_cur *c, size_t n)
{
    uint64_t off = gcd_cur_off(c);
    const uint8_t *p = gcd_cur_bytes(c, n);
    struct gcd_cur s = gcd_cur_make(p, p == NULL ? 0 : n, off);
    if (p == NULL && c->err != GCD_OK) {
        s.err = c->err;
        s.err_off = c->err_off;
    }
    return s;
}

/* ---- writing ---- */

struct gcd_put {
    uint8_t *begin, *p, *end;
    bool full;
};

static inline struct gcd_put gcd_put_make(uint8_t *buffer, size_t n)
{
    return (struct gcd_put){ .begin = buffer, .p = buffer, .end = buffer + n };
}

static inline size_t gcd_put_bytes_done(const struct gcd_put *w)
{
    return (size_t)(w->p - w->begin);
}

static inline void gcd_put_bytes(struct gcd_put *w, const void *bytes, size_t n)
{
    w->full = w->full || n > (size_t)(w->end - w->p);
    if (w->full || n == 0)
        return;
    memcpy(w->p, bytes, n);
    w->p += n;
}

/* The lowest BYTES <= 8 bytes of V, little-endian. */
static inline void gcd_put_le(struct gcd_put *w, uint64_t v, size_t bytes)
{
    uint8_t raw[8];
    for (size_t i = 0; i < sizeof raw; i++)
        raw[i] = (uint8_t)(v >> 8 * i);
    gcd_put_bytes(w, raw, bytes);
}

/* Seven bits a byte, the lowest first. */
static inline void gcd_put_varuint(struct gcd_put *w, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        gcd_put_le(w, v | 0x80, 1);
    gcd_put_le(w, v, 1);
}

/* N bytes of UTF-8 as UTF-16LE with a zero unit at the end; what is not well-formed becomes U+FFFD.
 */
static inline void gcd_put_utf16z(struct gcd_put *w, const char *s, size_t n)
{
    while (n > 0 && !w->full) {
        uint32_t c;
        size_t k = gcd_utf8_take((const uint8_t *)s, n, &c);
        if (c >= 0x10000) {
            gcd_put_le(w, 0xd800 + ((c - 0x10000) >> 10), 2);
            c = 0xdc00 + (c & 0x3ff);
        }
        gcd_put_le(w, c, 2);
        s += k;
        n -= k;
    }
    gcd_put_le(w, 0, 2);
}

#endif
