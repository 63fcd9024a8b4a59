/* Text from an input: UTF-16 to UTF-8, a hash, and a pool that keeps strings as long as its owner
 * lives. */
#ifndef GCD_BASE_TEXT_H
#define GCD_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/status.h>

static inline bool gcd_text_begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}
static inline bool gcd_bytes_end(const char *s, size_t n, const char *with)
{
    size_t k = strlen(with);
    return n >= k && memcmp(s + n - k, with, k) == 0;
}
static inline bool gcd_text_ends(const char *s, const char *with)
{
    return gcd_bytes_end(s, strlen(s), with);
}
/* The length of S without END, which is not all of it. */
static inline size_t gcd_text_without(const char *s, const char *end)
{
    size_t n = strlen(s), k = strlen(end);
    return n > k && gcd_bytes_end(s, n, end) ? n - k : n;
}

/* Appends to the *N bytes of text in TO[CAP], CAP > 0, which ends with a NUL; cuts what has no
 * room. */
GCD_PRINTF(4, 0)
void gcd_text_append(char *to, size_t cap, size_t *n, const char *fmt, va_list args);

/* +1 for a bracket that opens type arguments, in either spelling, or dimensions; -1 for one that
 * closes them. */
static inline int gcd_text_bracket(char c)
{
    return (c == '<' || c == '[') - (c == '>' || c == ']');
}
/* The position of the bracket that closes the first character of S[N], or that opens the last one;
 * N = none. */
size_t gcd_text_closing(const char *s, size_t n);
size_t gcd_text_opening(const char *s, size_t n);

/* Is it an array, judging by its type's name: "X[]", "X[,]", but not "List`1[X]"? */
static inline bool gcd_text_is_array(const char *name)
{
    size_t n = strlen(name);
    return n >= 2 && name[n - 1] == ']' && (name[n - 2] == '[' || name[n - 2] == ',');
}

/*
 * Convert UNITS units of UTF-16LE at P to UTF-8 in OUT, which has room for 3 * UNITS bytes (a unit
 * becomes at most three bytes, a surrogate pair four).  A lone surrogate and a zero unit become
 * U+FFFD.  Returns the bytes written; adds no NUL.
 */
size_t gcd_utf16le_to_utf8(const uint8_t *p, size_t units, char *out);

/* The next character of N > 0 bytes of UTF-8 (Unicode standard, table 3-7): returns its length in
 * bytes, 0 = not well-formed. */
size_t gcd_utf8_next(const uint8_t *p, size_t n, uint32_t *ret_code_point);

/* The same, but a byte that is not part of a well-formed sequence is U+FFFD and one byte long. */
static inline size_t gcd_utf8_take(const uint8_t *p, size_t n, uint32_t *ret_code_point)
{
    size_t len = gcd_utf8_next(p, n, ret_code_point);
    if (len == 0)
        *ret_code_point = 0xfffd;
    return len > 0 ? len : 1;
}

/*
 * Copy N bytes of claimed UTF-8 from P to OUT (room for 3 * N bytes); each byte that is not part of
 * a well-formed sequence becomes U+FFFD.  Returns the bytes written.
 */
size_t gcd_utf8_sanitize(const uint8_t *p, size_t n, char *out);

/* A hash that depends on every byte (FNV-1a).  For several pieces, H is the hash of the previous
 * pieces, initially GCD_TEXT_HASH. */
#define GCD_TEXT_HASH UINT64_C(0xcbf29ce484222325)
uint64_t gcd_text_hash(const char *s, size_t n, uint64_t h);

struct gcd_textpool_chunk;

/* Strings that are only freed together. */
struct gcd_textpool {
    const struct gcd_alloc *alloc;
    struct gcd_textpool_chunk *last;
    uint64_t bytes, max_bytes; /* text stored, without overhead; its limit */
};

void gcd_textpool_init(struct gcd_textpool *p, const struct gcd_alloc *a, uint64_t max_bytes);
void gcd_textpool_done(struct gcd_textpool *p);

/* A NUL-terminated copy; valid until gcd_textpool_done.  GCD_E_NOMEM, or GCD_E_LIMIT above
 * max_bytes. */
gcd_status gcd_textpool_add(struct gcd_textpool *p, const char *s, size_t n, const char **ret);
gcd_status gcd_textpool_add_utf16(struct gcd_textpool *p, const uint8_t *utf16le, size_t units,
                                  const char **ret);
gcd_status gcd_textpool_add_utf8(struct gcd_textpool *p, const uint8_t *utf8, size_t n,
                                 const char **ret);

/* PATH without its folder; paths of Windows have backslashes. */
const char *gcd_file_name(const char *path);

/* The length of FILE, the name of a module's file, without its suffix (.dll, .exe). */
size_t gcd_module_stem(const char *file);
/* The name of a module's file without folder and suffix: *RET_N bytes in PATH. */
const char *gcd_module_name(const char *path, size_t *ret_n);

#define GCD_TEXT_SIZE_BYTES 32
/* "1.8 MiB", or "1 byte", in BUF. */
const char *gcd_text_size(uint64_t bytes, char buf[GCD_TEXT_SIZE_BYTES]);

#endif
