#include "write/json_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/unstable/io/sink_room.h>
#include <gcdumpc/unstable/text/shown.h>

#define ESCAPE_BYTES ((size_t)6) /* \uxxxx */

struct character {
    uint32_t code;
    size_t bytes;   /* in the text */
    size_t written; /* bytes in the output: the same, or more if escaped */
};

/* The first character of N > 0 bytes. */
static struct character next(const struct json_put *j, const char *text, size_t n)
{
    struct character c;
    bool shown;
    c.bytes = gcd_text_next(text, n, &c.code, &shown);
    if (!shown || (c.code == '<' && j->html))
        c.written = c.code > 0xffff ? 2 * ESCAPE_BYTES : ESCAPE_BYTES;
    else
        c.written = c.code == '"' || c.code == '\\' ? 2 : c.bytes;
    return c;
}

static void put_unit(struct gcd_sink *s, uint32_t unit)
{
    char text[ESCAPE_BYTES + 1];
    (void)snprintf(text, sizeof text, "\\u%04" PRIx32, unit & 0xffff);
    gcd_sink_write(s, text, ESCAPE_BYTES);
}

static void put_escaped(struct gcd_sink *s, const struct character *c)
{
    if (c->written == 2) {
        char text[2] = { '\\', (char)c->code };
        gcd_sink_write(s, text, 2);
        return;
    }
    if (c->code > 0xffff)
        put_unit(s, 0xd800 + ((c->code - 0x10000) >> 10));
    put_unit(s, c->code > 0xffff ? 0xdc00 + (c->code & 0x3ff) : c->code);
}

void json_put_inside(const struct json_put *j, const char *text, size_t n)
{
    /* start of the bytes that need no escape */
    const char *end = text + n, *plain = text;
    while (text < end) {
        struct character c = next(j, text, (size_t)(end - text));
        text += c.bytes;
        if (c.written == c.bytes)
            continue;
        gcd_sink_write(j->s, plain, (size_t)(text - plain) - c.bytes);
        put_escaped(j->s, &c);
        plain = text;
    }
    gcd_sink_write(j->s, plain, (size_t)(end - plain));
}

/* The number of bytes of TEXT that give at most MAX bytes of output, and the length of that output.
 */
static size_t fitting(const struct json_put *j, const char *text, size_t max, size_t *ret_written)
{
    size_t n = strlen(text), at = 0;
    *ret_written = 0;
    while (at < n) {
        struct character c = next(j, text + at, n - at);
        if (c.written > max - *ret_written)
            break;
        at += c.bytes;
        *ret_written += c.written;
    }
    return at;
}

size_t json_put_measure(const struct json_put *j, const char *text)
{
    size_t written;
    (void)fitting(j, text, SIZE_MAX, &written);
    return written;
}

void json_put_as_html(struct gcd_sink *s, const char *text, size_t max)
{
    const struct json_put j = { .s = s, .html = true };
    char number[16];
    size_t written, n = fitting(&j, text, max, &written);
    for (size_t at = 0; at < n;) {
        struct character c = next(&j, text + at, n - at);
        if (c.code < 0x80 && c.code >= ' ' && strchr("&<>\"'", (int)c.code) != NULL) {
            (void)snprintf(number, sizeof number, "&#%u;", (unsigned)c.code);
            gcd_sink_text(s, number);
        } else if (c.written != c.bytes && c.code != '\\') {
            gcd_sink_text(s, "\xef\xbf\xbd");
        } else {
            gcd_sink_write(s, text + at, c.bytes);
        }
        at += c.bytes;
    }
    if (text[n] != '\0')
        gcd_sink_text(s, "\xe2\x80\xa6");
}

static void put_key(struct json_put *j, const char *key)
{
    if (j->more)
        gcd_sink_text(j->s, ",");
    j->more = true;
    if (key == NULL)
        return;
    gcd_sink_text(j->s, "\"");
    gcd_sink_text(j->s, key);
    gcd_sink_text(j->s, "\":");
}

void json_put_open(struct json_put *j, const char *key, char bracket)
{
    put_key(j, key);
    gcd_sink_write(j->s, &bracket, 1);
    j->more = false;
}

void json_put_close(struct json_put *j, char bracket)
{
    gcd_sink_write(j->s, &bracket, 1);
    j->more = true;
}

void json_put_number(struct json_put *j, const char *key, uint64_t n)
{
    char text[32];
    put_key(j, key);
    (void)snprintf(text, sizeof text, "%" PRIu64, n);
    gcd_sink_text(j->s, text);
}

void json_put_signed(struct json_put *j, const char *key, int64_t n)
{
    char text[32];
    put_key(j, key);
    (void)snprintf(text, sizeof text, "%" PRId64, n);
    gcd_sink_text(j->s, text);
}

void json_put_hex(struct json_put *j, const char *key, uint64_t n)
{
    char text[32] = "null";
    put_key(j, key);
    if (n != 0)
        (void)snprintf(text, sizeof text, "\"0x%" PRIx64 "\"", n);
    gcd_sink_text(j->s, text);
}

void json_put_null(struct json_put *j)
{
    json_put_hex(j, NULL, 0);
}

void json_put_bool(struct json_put *j, const char *key, bool b)
{
    put_key(j, key);
    gcd_sink_text(j->s, b ? "true" : "false");
}

void json_put_text(struct json_put *j, const char *key, const char *text, size_t max)
{
    size_t written, n = fitting(j, text, max, &written);
    bool cut = text[n] != '\0';
    put_key(j, key);
    gcd_sink_text(j->s, "\"");
    json_put_inside(j, text, n);
    gcd_sink_text(j->s, cut ? "\xe2\x80\xa6\"" : "\"");
}

void json_put_verdict(struct json_put *j, const struct gcd_verdict *v)
{
    json_put_open(j, "verdict", '{');
    json_put_bool(j, "complete", v->complete);
    json_put_bool(j, "unverified", v->unverified);
    json_put_open(j, "reasons", '[');
    for (size_t i = 0; i < v->reason_count; i++)
        json_put_text(j, NULL, v->reasons[i].text, SIZE_MAX);
    json_put_close(j, ']');
    json_put_close(j, '}');
}

void json_put_base64(struct json_put *j, const char *key, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    put_key(j, key);
    gcd_sink_text(j->s, "\"");
    for (size_t i = 0; i < n; i += 3) {
        uint32_t three = (uint32_t)bytes[i] << 16 | (i + 1 < n ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (i + 2 < n ? bytes[i + 2] : 0);
        char *four = gcd_sink_reserve(j->s, 4);
        for (size_t k = 0; k < 4; k++)
            four[k] = i + k <= n ? digits[three >> (18 - 6 * k) & 63] : '=';
        gcd_sink_advance(j->s, 4);
    }
    gcd_sink_text(j->s, "\"");
}
