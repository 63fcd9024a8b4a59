/*
 * Any bytes as a portable PDB, or an image with one in it, asked about some methods.
 *
 * Errors have a reason; names of files are valid UTF-8; memory is bounded whatever the file
 * declares, and never leaked, even if an allocation fails; asking again gives the same.
 */
#include "fuzz/fuzz_ask.h"
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
    fuzz_ask(data, size, ask, MEMORY_MAX + EXPANSION * size);
    return 0;
}
