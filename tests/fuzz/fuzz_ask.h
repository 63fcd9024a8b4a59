/*
 * Targets that ask a file for texts: they are valid UTF-8, memory is bounded, and never leaked,
 * even if an allocation fails; asking again gives the same.
 */
#ifndef FUZZ_ASK_H
#define FUZZ_ASK_H

#include "base/text.h"
#include "fuzz/fuzz.h"
#include "support/tb.h"

#include <gcdumpc/io.h>

static inline void fuzz_check_utf8(const void *text, size_t n)
{
    const uint8_t *p = text;
    for (size_t i = 0; i < n;) {
        uint32_t code_point;
        size_t step = gcd_utf8_next(p + i, n - i, &code_point);
        if (step == 0)
            fuzz_fail("names are well-formed", "they are not");
        i += step;
    }
}

/* Puts all that the file IN tells to TEXT. */
typedef gcd_status fuzz_question(struct gcd_input *in, const struct gcd_alloc *alloc,
                                 struct tb_bytes *text);

static inline void fuzz_ask(const uint8_t *data, size_t size, fuzz_question *ask, size_t memory_max)
{
    uint64_t hash = fuzz_hash(data, size);
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in = NULL;
    struct tb_bytes text = { 0 }, again = { 0 };
    struct failalloc f;
    if (gcd_input_from_memory(data, size, NULL, &in, &err) != GCD_OK)
        return;
    failalloc_init(&f);
    if ((hash >> 24) % 4 == 0)
        f.fail_at = 1 + (hash >> 32) % 8;
    gcd_status st = ask(in, &f.alloc, &text);
    fuzz_check_utf8(text.p, text.n);
    if (hash % 16 == 0 && f.failed == 0 &&
        (ask(in, NULL, &again) != st || again.n != text.n ||
         (text.n > 0 && memcmp(again.p, text.p, text.n) != 0)))
        fuzz_fail("asking again gives the same", "it does not");
    if (f.peak_bytes > memory_max)
        fuzz_fail("memory is bounded", "see peak_bytes");
    fuzz_check_memory(&f);
    tb_free(&text);
    tb_free(&again);
    gcd_input_free(in);
}

#endif
