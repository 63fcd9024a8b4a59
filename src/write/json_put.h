/*
 * JSON to a sink, value by value: commas are put where they belong, nothing is held.
 *
 *     struct json_put j = { .s = s };
 *     json_put_open(&j, NULL, '{');
 *     json_put_number(&j, "objects", 5);
 *     json_put_close(&j, '}');
 *
 * KEY is NULL inside of arrays, and a static text without special characters elsewhere.
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
    bool html;                   /* stands inside of a <script> of a page: "<" is escaped, so that no text can end that */
    bool more;                   /* something is before the next value */
};

/* BRACKET is '{' or '[', and its counterpart at the end. */
void json_put_open(struct json_put *j, const char *key, char bracket);
void json_put_close(struct json_put *j, char bracket);
void json_put_number(struct json_put *j, const char *key, uint64_t n);
void json_put_signed(struct json_put *j, const char *key, int64_t n);
/* "0x…" in a text; 0 is null. */
void json_put_hex(struct json_put *j, const char *key, uint64_t n);
void json_put_bool(struct json_put *j, const char *key, bool b);
/* UTF-8.  Of a text that would take more than MAX bytes as it is written, the rest becomes "…". */
void json_put_text(struct json_put *j, const char *key, const char *text, size_t max);
/* Bytes that a text takes as it is written, without quotes. */
size_t json_put_measure(const struct json_put *j, const char *text);
/* {complete, unverified, reasons: [text]} as "verdict". */
void json_put_verdict(struct json_put *j, const struct gcd_verdict *v);
/*
 * N bytes of UTF-8 inside of a string that the caller has opened.  What is obeyed instead of shown (control characters, the order of writing) and
 * bytes that are no UTF-8 are written as \u....
 */
void json_put_inside(const struct json_put *j, const char *text, size_t n);

#endif
