#include "ipc/ipc_text.h"

#include <string.h>

#include "base/mem.h"

size_t gcd_text_utf8_next(const char *s, size_t n, uint32_t *ret_cp)
{
    unsigned char lead = (unsigned char)s[0];
    if (lead < 0x80) {
        *ret_cp = lead;
        return 1;
    }
    size_t len = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || len > n)
        return 0;
    uint32_t cp = lead & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if ((c & 0xc0) != 0x80)
            return 0;
        cp = cp << 6 | (c & 0x3f);
    }
    static const uint32_t least[5] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (cp < least[len] || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
        return 0;
    *ret_cp = cp;
    return len;
}

static uint32_t unit_at(const uint8_t *units, size_t i)
{
    return (uint32_t)units[2 * i] | (uint32_t)units[2 * i + 1] << 8;
}

static size_t utf8_put(uint32_t cp, char *out)
{
    if (cp < 0x80) {
        out[0] = (char)cp;
        return 1;
    }
    if (cp < 0x800) {
        out[0] = (char)(0xc0 | cp >> 6);
        out[1] = (char)(0x80 | (cp & 0x3f));
        return 2;
    }
    if (cp < 0x10000) {
        out[0] = (char)(0xe0 | cp >> 12);
        out[1] = (char)(0x80 | (cp >> 6 & 0x3f));
        out[2] = (char)(0x80 | (cp & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | cp >> 18);
    out[1] = (char)(0x80 | (cp >> 12 & 0x3f));
    out[2] = (char)(0x80 | (cp >> 6 & 0x3f));
    out[3] = (char)(0x80 | (cp & 0x3f));
    return 4;
}

/* Bytes of UTF-8; written to OUT unless that is NULL. */
static size_t convert(const uint8_t *units, size_t n_units, char *out)
{
    size_t n_bytes = 0;
    for (size_t i = 0; i < n_units; i++) {
        uint32_t cp = unit_at(units, i);
        uint32_t low = i + 1 < n_units ? unit_at(units, i + 1) : 0;
        if (cp >= 0xd800 && cp <= 0xdbff && low >= 0xdc00 && low <= 0xdfff) {
            cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
            i++;
        } else if (cp == 0 || (cp >= 0xd800 && cp <= 0xdfff)) {
            cp = 0xfffd;
        }
        char c[4];
        size_t n = utf8_put(cp, c);
        if (out != NULL)
            memcpy(out + n_bytes, c, n);
        n_bytes += n;
    }
    return n_bytes;
}

char *gcd_text_from_utf16(const struct gcd_alloc *alloc, const uint8_t *units, size_t n_units)
{
    if (n_units > 0 && unit_at(units, n_units - 1) == 0)
        n_units--;
    /* At most three bytes per unit, and a message has less than 64 KiB: the sum cannot overflow. */
    size_t n_bytes = convert(units, n_units, NULL);
    char *s = gcd_mem_new(alloc, n_bytes + 1);
    if (s != NULL)
        convert(units, n_units, s);
    return s;
}

void gcd_text_free(const struct gcd_alloc *alloc, char *s)
{
    gcd_mem_free(alloc, s, strlen(s) + 1);
}
