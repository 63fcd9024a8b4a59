#include "write/json_put.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ESCAPE_BYTES ((size_t)6)         /* \u00xx */

static size_t escaped_bytes(const struct json_put *j, unsigned char c)
{
    if (c < 0x20 || (c == '<' && j->html))
        return ESCAPE_BYTES;
    return c == '"' || c == '\\' ? 2 : 1;
}

void json_put_inside(const struct json_put *j, const char *text, size_t n)
{
    static const char hex[] = "0123456789abcdef";
    while (n > 0) {
        size_t part = n < GCD_SINK_RESERVE_MAX / ESCAPE_BYTES ? n : GCD_SINK_RESERVE_MAX / ESCAPE_BYTES;
        char *begin = gcd_sink_reserve(j->s, part * ESCAPE_BYTES), *p = begin;
        for (size_t i = 0; i < part; i++) {
            unsigned char c = (unsigned char)text[i];
            size_t bytes = escaped_bytes(j, c);
            if (bytes == ESCAPE_BYTES) {
                memcpy(p, "\\u00", 4);
                p[4] = hex[c >> 4];
                p[5] = hex[c & 15];
                p += ESCAPE_BYTES;
                continue;
            }
            if (bytes == 2)
                *p++ = '\\';
            *p++ = (char)c;
        }
        gcd_sink_advance(j->s, (size_t)(p - begin));
        text += part;
        n -= part;
    }
}

size_t json_put_measure(const struct json_put *j, const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += escaped_bytes(j, (unsigned char)*text);
    return n;
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

void json_put_bool(struct json_put *j, const char *key, bool b)
{
    put_key(j, key);
    gcd_sink_text(j->s, b ? "true" : "false");
}

void json_put_text(struct json_put *j, const char *key, const char *text, size_t max)
{
    size_t n = 0, bytes = 0;
    while (text[n] != '\0' && bytes + escaped_bytes(j, (unsigned char)text[n]) <= max)
        bytes += escaped_bytes(j, (unsigned char)text[n++]);
    bool cut = text[n] != '\0';
    while (cut && n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;                             /* at the start of a character */
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
