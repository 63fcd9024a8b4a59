/*
 * Any bytes as a portable PDB, or an image with one in it, asked about some methods.
 *
 * Errors have a reason; names of files are valid UTF-8; memory is bounded whatever the file
 * declares, and never leaked, even if an allocation fails; asking again gives the same.
 */
#include "base/text.h"
#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/pdb_file.h"

#include <gcdumpc/unstable/symbols.h>

/* An embedded file may be as large as it says, but deflate makes at most 1,032 bytes of one. */
#define MEMORY_MAX ((size_t)600 * 1024)
#define EXPANSION  ((size_t)1100)

static gcd_status ask(struct gcd_input *in, const struct gcd_alloc *alloc, struct tb_bytes *text)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_symbols *s = NULL;
    gcd_status st = gcd_symbols_open(in, 0, UINT64_MAX, alloc, &s, &err);
    if (st != GCD_OK && (err.code != st || err.msg[0] == '\0'))
        fuzz_fail("an error says so", gcd_status_name(st));
    if (st == GCD_OK)
        pdb_text(s, text);
    gcd_symbols_free(s);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t hash = fuzz_hash(data, size);
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in = NULL;
    struct tb_bytes text = { 0 }, again = { 0 };
    struct failalloc f;
    if (gcd_input_from_memory(data, size, NULL, &in, &err) != GCD_OK)
        return 0;
    failalloc_init(&f);
    if ((hash >> 24) % 4 == 0)
        f.fail_at = 1 + (hash >> 32) % 8;
    gcd_status st = ask(in, &f.alloc, &text);
    for (size_t i = 0, n; i < text.n; i += n) {
        uint32_t code_point;
        n = gcd_utf8_next(text.p + i, text.n - i, &code_point);
        if (n == 0)
            fuzz_fail("names are well-formed", "they are not");
    }
    if (hash % 16 == 0 && f.failed == 0 &&
        (ask(in, NULL, &again) != st || again.n != text.n ||
         (text.n > 0 && memcmp(again.p, text.p, text.n) != 0)))
        fuzz_fail("asking again gives the same", "it does not");
    if (f.peak_bytes > MEMORY_MAX + EXPANSION * size)
        fuzz_fail("memory is bounded", "see peak_bytes");
    fuzz_check_memory(&f);
    tb_free(&text);
    tb_free(&again);
    gcd_input_free(in);
    return 0;
}
