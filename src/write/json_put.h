/*
 * Writes JSON to a sink, value by value.  Adds the commas, stores nothing.
 *
 *     struct json_put j = { .s = s };
 *     json_put_open(&j, NULL, '{');
 *     json_put_number(&j, "objects", 5);
 *     json_put_close(&j, '}');
 *
 * KEY is NULL inside arrays, otherwise a static text without special characters.
 */
#ifndef GCD_WRITE_JSON_PUT_H
#define GCD_WRITE_JSON_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/dump.h>
#include <gcdumpc/io.h>

struct json_put {
    struct gcd_sink *s;
    bool html; /* inside a <script> of a page: "<" is escaped, so that no text can end the script */
    bool more; /* a value precedes the next one */
};

/* BRACKET is '{' or '['; for json_put_close, the matching closing one. */
void json_put_open(struct json_put *j, const char *key, char bracket);
void json_put_close(struct json_put *j, char bracket);
void json_put_number(struct json_put *j, const char *key, uint64_t n);
void json_put_signed(struct json_put *j, const char *key, int64_t n);
/* "0x…" as text; 0 becomes null. */
void json_put_hex(struct json_put *j, const char *key, uint64_t n);
void json_put_null(struct json_put *j);
void json_put_bool(struct json_put *j, const char *key, bool b);
/* UTF-8.  If the output would exceed MAX bytes, the rest becomes "…". */
void json_put_text(struct json_put *j, const char *key, const char *text, size_t max);
/* N bytes as base64 text. */
void json_put_base64(struct json_put *j, const char *key, const uint8_t *bytes, size_t n);
/* Output length of a text, without quotes. */
size_t json_put_measure(const struct json_put *j, const char *text);
/* TEXT between the tags of a page: none of it is markup, and characters that control the display
 * become U+FFFD.  About MAX bytes at most. */
void json_put_as_html(struct gcd_sink *s, const char *text, size_t max);
/* {complete, unverified, reasons: [text]} as "verdict". */
void json_put_verdict(struct json_put *j, const struct gcd_verdict *v);
/*
 * N bytes of UTF-8 inside a string opened by the caller.  Characters that control the display
 * (control characters, text direction) and invalid UTF-8 are written as \u....
 */
void json_put_inside(const struct json_put *j, const char *text, size_t n);

#endif
