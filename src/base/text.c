#include "base/text.h"

#include <gcdumpc/unstable/text/quoted.h>
#include <gcdumpc/unstable/text/shown.h>

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/cur.h"
#include "base/mem.h"

#define CHUNK_BYTES ((size_t)64 * 1024)

struct gcd_textpool_chunk {
    struct gcd_textpool_chunk *previous;
    size_t size, used; /* of text */
    char text[];
};

void gcd_text_append(char *to, size_t cap, size_t *n, const char *fmt, va_list args)
{
    int more = vsnprintf(to + *n, cap - *n, fmt, args);
    if (more > 0)
        *n = *n + (size_t)more < cap ? *n + (size_t)more : cap - 1;
}

static char *put_utf8(char *o, uint32_t cp)
{
    if (cp < 0x80) {
        *o++ = (char)cp;
    } else if (cp < 0x800) {
        *o++ = (char)(0xc0 | cp >> 6);
        *o++ = (char)(0x80 | (cp & 0x3f));
    } else if (cp < 0x10000) {
        *o++ = (char)(0xe0 | cp >> 12);
        *o++ = (char)(0x80 | (cp >> 6 & 0x3f));
        *o++ = (char)(0x80 | (cp & 0x3f));
    } else {
        *o++ = (char)(0xf0 | cp >> 18);
        *o++ = (char)(0x80 | (cp >> 12 & 0x3f));
        *o++ = (char)(0x80 | (cp >> 6 & 0x3f));
        *o++ = (char)(0x80 | (cp & 0x3f));
    }
    return o;
}

size_t gcd_utf16le_to_utf8(const uint8_t *p, size_t units, char *out)
{
    char *o = out;
    for (size_t i = 0; i < units; i++) {
        uint32_t u = gcd_le16(p + 2 * i);
        if (u >= 0xd800 && u <= 0xdfff) {
            uint32_t low = u < 0xdc00 && i + 1 < units ? gcd_le16(p + 2 * i + 2) : 0;
            if (low >= 0xdc00 && low <= 0xdfff) {
                u = 0x10000 + ((u - 0xd800) << 10) + (low - 0xdc00);
                i++;
            } else {
                u = 0xfffd;
            }
        }
        if (u == 0)
            u = 0xfffd;
        o = put_utf8(o, u);
    }
    return (size_t)(o - out);
}

size_t gcd_utf8_next(const uint8_t *p, size_t n, uint32_t *ret_code_point)
{
    if (p[0] < 0x80) {
        *ret_code_point = p[0];
        return 1;
    }
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
        return 0;
    uint32_t cp = p[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        cp = cp << 6 | (p[i] & 0x3f);
    }
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (cp < least[len] || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
        return 0;
    *ret_code_point = cp;
    return len;
}

size_t gcd_text_next(const char *s, size_t n, uint32_t *ret_code, bool *ret_shown)
{
    static const struct {
        uint32_t first, last;
    } obeyed[] = {
        /* C0, DEL, C1: cursor, colours, replies that look like typed text */
        { 0x00, 0x1f },
        { 0x7f, 0x9f },
        /* direction of text, and lines: it would read differently from what it is */
        { 0x061c, 0x061c },
        { 0x200e, 0x200f },
        { 0x2028, 0x202e },
        { 0x2066, 0x2069 },
        /* annotations; invisible tags */
        { 0xfff9, 0xfffb },
        { 0xe0000, 0xe007f },
    };
    uint32_t c = 0;
    size_t bytes = gcd_utf8_next((const uint8_t *)s, n, &c);
    *ret_code = bytes > 0 ? c : 0xfffd;
    *ret_shown = bytes > 0;
    if (c < 0x20 || c >= 0x7f)
        for (size_t i = 0; i < sizeof obeyed / sizeof *obeyed && *ret_shown; i++)
            *ret_shown = c < obeyed[i].first || c > obeyed[i].last;
    return bytes > 0 ? bytes : 1;
}

size_t gcd_utf8_sanitize(const uint8_t *p, size_t n, char *out)
{
    char *o = out;
    for (size_t i = 0; i < n;) {
        uint32_t cp;
        size_t len = gcd_utf8_next(p + i, n - i, &cp);
        if (len == 0) {
            o = put_utf8(o, 0xfffd);
            i++;
        } else {
            memcpy(o, p + i, len);
            o += len;
            i += len;
        }
    }
    return (size_t)(o - out);
}

uint64_t gcd_text_hash(const char *s, size_t n, uint64_t h)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)s[i]) * UINT64_C(0x100000001b3);
    return h;
}

void gcd_textpool_init(struct gcd_textpool *p, const struct gcd_alloc *a, uint64_t max_bytes)
{
    *p = (struct gcd_textpool){ .alloc = a, .max_bytes = max_bytes };
}

void gcd_textpool_done(struct gcd_textpool *p)
{
    while (p->last != NULL) {
        struct gcd_textpool_chunk *c = p->last;
        p->last = c->previous;
        gcd_mem_free(p->alloc, c, sizeof *c + c->size);
    }
    p->bytes = 0;
}

/* Room for N bytes and a NUL; the caller then sets how much it used. */
static gcd_status reserve(struct gcd_textpool *p, size_t n, char **ret)
{
    if (n >= SIZE_MAX / 4)
        return GCD_E_NOMEM;
    if (p->last == NULL || n + 1 > p->last->size - p->last->used) {
        size_t size = n + 1 > CHUNK_BYTES ? n + 1 : CHUNK_BYTES;
        struct gcd_textpool_chunk *c = gcd_mem_new_uncleared(p->alloc, 1, sizeof *c + size);
        if (c == NULL)
            return GCD_E_NOMEM;
        *c = (struct gcd_textpool_chunk){ .previous = p->last, .size = size };
        p->last = c;
    }
    *ret = p->last->text + p->last->used;
    return GCD_OK;
}

static gcd_status take(struct gcd_textpool *p, char *s, size_t n, const char **ret)
{
    if (n > p->max_bytes || p->bytes > p->max_bytes - n)
        return GCD_E_LIMIT;
    s[n] = '\0';
    p->last->used += n + 1;
    p->bytes += n;
    *ret = s;
    return GCD_OK;
}

gcd_status gcd_textpool_add(struct gcd_textpool *p, const char *s, size_t n, const char **ret)
{
    char *o;
    gcd_status st = reserve(p, n, &o);
    if (st != GCD_OK)
        return st;
    if (n > 0)
        memcpy(o, s, n);
    return take(p, o, n, ret);
}

gcd_status gcd_textpool_add_utf16(struct gcd_textpool *p, const uint8_t *utf16le, size_t units,
                                  const char **ret)
{
    char *o;
    if (units > SIZE_MAX / 16)
        return GCD_E_NOMEM;
    gcd_status st = reserve(p, 3 * units, &o);
    if (st != GCD_OK)
        return st;
    return take(p, o, gcd_utf16le_to_utf8(utf16le, units, o), ret);
}

gcd_status gcd_textpool_add_utf8(struct gcd_textpool *p, const uint8_t *utf8, size_t n,
                                 const char **ret)
{
    char *o;
    if (n > SIZE_MAX / 16)
        return GCD_E_NOMEM;
    gcd_status st = reserve(p, 3 * n, &o);
    if (st != GCD_OK)
        return st;
    return take(p, o, gcd_utf8_sanitize(utf8, n, o), ret);
}

const char *gcd_file_name(const char *path)
{
    const char *s = path;
    for (const char *p = path; *p != '\0'; p++)
        if (*p == '/' || *p == '\\')
            s = p + 1;
    return s;
}

size_t gcd_text_closing(const char *s, size_t n)
{
    int depth = 0;
    for (size_t i = 0; i < n; i++) {
        depth += gcd_text_bracket(s[i]);
        if (depth == 0)
            return i;
    }
    return n;
}

size_t gcd_text_opening(const char *s, size_t n)
{
    int depth = 0;
    for (size_t i = n; i-- > 0;) {
        depth += gcd_text_bracket(s[i]);
        if (depth == 0)
            return i;
    }
    return n;
}

size_t gcd_module_stem(const char *file)
{
    return gcd_text_without(file, gcd_text_ends(file, ".exe") ? ".exe" : ".dll");
}

const char *gcd_module_name(const char *path, size_t *ret_n)
{
    const char *s = gcd_file_name(path);
    *ret_n = gcd_module_stem(s);
    return s;
}

const char *gcd_text_size(uint64_t bytes, char buf[GCD_TEXT_SIZE_BYTES])
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    double v = (double)bytes / 1024;
    size_t unit = 0;
    for (; v >= 1023.95 && unit + 1 < sizeof units / sizeof *units; unit++)
        v /= 1024;
    if (bytes < 1000)
        (void)snprintf(buf, GCD_TEXT_SIZE_BYTES, "%u byte%s", (unsigned)bytes,
                       bytes == 1 ? "" : "s");
    else if (bytes < 1024)
        (void)snprintf(buf, GCD_TEXT_SIZE_BYTES, "1,%03u bytes", (unsigned)bytes - 1000);
    else
        (void)snprintf(buf, GCD_TEXT_SIZE_BYTES, "%.1f %s", v, units[unit]);
    return buf;
}

const char *gcd_quoted(const char *utf8, size_t n, bool cut, size_t most,
                       char ret[GCD_QUOTED_BYTES])
{
    static const char escapes[] = "n\nr\rt\t\"\"\\\\";
    size_t used = 0, i = 0, characters = 0;
    ret[used++] = '"';
    for (; i < n && characters < most && used + 16 < GCD_QUOTED_BYTES; characters++) {
        uint32_t code;
        bool shown;
        size_t k = gcd_text_next(utf8 + i, n - i, &code, &shown);
        const char *escape = NULL;
        for (const char *e = escapes; *e != '\0' && code < 128; e += 2)
            escape = e[1] == (char)code ? e : escape;
        if (escape != NULL) {
            ret[used++] = '\\';
            ret[used++] = *escape;
        } else if (shown) {
            memcpy(ret + used, utf8 + i, k);
            used += k;
        } else {
            used += (size_t)snprintf(ret + used, GCD_QUOTED_BYTES - used,
                                     code < 0x10000 ? "\\u%04" PRIx32 : "\\U%08" PRIx32, code);
        }
        i += k;
    }
    (void)snprintf(ret + used, GCD_QUOTED_BYTES - used, "%s", i < n || cut ? "\"…" : "\"");
    return ret;
}
