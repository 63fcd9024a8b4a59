/*
 * Text conversion: the result is valid UTF-8, nothing is written past the documented buffer size,
 * and decoding the result gives the input back, with U+FFFD where it was invalid or would have
 * ended a C string.
 */
#include "base/mem.h"
#include "base/text.h"
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/run.h"

static void *need(void *p)
{
    if (p == NULL)
        abort();
    return p;
}

/* One code point of text accepted by run_is_utf8. */
static uint32_t next_code_point(const char **s)
{
    const uint8_t *p = (const uint8_t *)*s;
    unsigned more = p[0] < 0x80 ? 0 : p[0] < 0xe0 ? 1 : p[0] < 0xf0 ? 2 : 3;
    uint32_t cp = more == 0 ? p[0] : p[0] & (0x3fu >> more);
    for (unsigned i = 1; i <= more; i++)
        cp = cp << 6 | (p[i] & 0x3fu);
    *s += more + 1;
    return cp;
}

static void check_utf16(const uint8_t *p, size_t units)
{
    char *out = need(malloc(3 * units + (units == 0)));
    size_t n = gcd_utf16le_to_utf8(p, units, out);
    if (n > 3 * units || !run_is_utf8(out, n))
        fuzz_fail("UTF-16 becomes UTF-8", "not well-formed, or too long");
    const char *s = out;
    for (size_t i = 0; i < units; i++) {
        uint32_t u = (uint32_t)p[2 * i] | (uint32_t)p[2 * i + 1] << 8;
        uint32_t next = i + 1 < units ? (uint32_t)p[2 * i + 2] | (uint32_t)p[2 * i + 3] << 8 : 0;
        uint32_t expected = u;
        if (u >> 10 == 0x36 && next >> 10 == 0x37) {
            expected = 0x10000 + ((u & 0x3ff) << 10 | (next & 0x3ff));
            i++;
        } else if (u >> 11 == 0x1b || u == 0) {
            expected = 0xfffd;
        }
        if (s >= out + n || next_code_point(&s) != expected)
            fuzz_fail("UTF-16 becomes UTF-8", "another character");
    }
    if (s != out + n)
        fuzz_fail("UTF-16 becomes UTF-8", "more characters");
    free(out);
}

static void check_utf8(const uint8_t *p, size_t n)
{
    char *out = need(malloc(3 * n + (n == 0)));
    size_t m = gcd_utf8_sanitize(p, n, out);
    if (m > 3 * n || !run_is_utf8(out, m))
        fuzz_fail("claimed UTF-8 becomes UTF-8", "not well-formed, or too long");
    if (run_is_utf8((const char *)p, n) && (m != n || memcmp(out, p, n) != 0))
        fuzz_fail("UTF-8 stays as it is", "changed");
    /* cleaning twice changes nothing */
    char *twice = need(malloc(3 * m + (m == 0)));
    if (gcd_utf8_sanitize((const uint8_t *)out, m, twice) != m || memcmp(out, twice, m) != 0)
        fuzz_fail("clean text is clean", "changed again");
    free(twice);
    free(out);
}

/* Strings whose lengths depend on the bytes, all in one pool with a limit. */
static void check_pool(const uint8_t *p, size_t n)
{
    struct failalloc f;
    struct gcd_textpool pool;
    const char *kept[64];
    size_t lengths[64], count = 0;
    failalloc_init(&f);
    gcd_textpool_init(&pool, &f.alloc, 20000);
    for (size_t at = 0; at < n && count < 64;) {
        size_t part = (size_t)p[at] * (1 + p[at] % 7);
        part = part < n - at ? part : n - at;
        gcd_status st =
            p[at] % 3 == 0   ? gcd_textpool_add(&pool, (const char *)p + at, part, &kept[count])
            : p[at] % 3 == 1 ? gcd_textpool_add_utf8(&pool, p + at, part, &kept[count])
                             : gcd_textpool_add_utf16(&pool, p + at, part / 2, &kept[count]);
        if (st == GCD_E_LIMIT)
            break;
        if (st != GCD_OK)
            fuzz_fail("the pool keeps text", gcd_status_name(st));
        lengths[count] = strlen(kept[count]);
        if (p[at] % 3 == 0 && memcmp(kept[count], p + at, part) != 0)
            fuzz_fail("the pool keeps text", "changed");
        if (p[at] % 3 != 0 && !run_is_utf8(kept[count], lengths[count]))
            fuzz_fail("the pool keeps text", "not well-formed");
        count++;
        at += part + 1;
    }
    for (size_t i = 0; i < count; i++)
        if (strlen(kept[i]) != lengths[i])
            fuzz_fail("the pool keeps text", "overwritten later");
    if (pool.bytes > 20000)
        fuzz_fail("the pool has a ceiling", "passed");
    gcd_textpool_done(&pool);
    fuzz_check_memory(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_utf16(data, size / 2);
    if (size > 0)
        check_utf16(data + 1, (size - 1) / 2); /* no alignment is promised */
    check_utf8(data, size);
    check_pool(data, size);
    return 0;
}
