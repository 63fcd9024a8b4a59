/*
 * Shared by the fuzz targets.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failalloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reports a violated property and crashes, as fuzzers expect. */
static inline _Noreturn void fuzz_fail(const char *property, const char *detail)
{
    (void)fprintf(stderr, "property: %s: %s\n", property, detail);
    abort();
}

/* Call it after freeing everything: no memory leaked, and all calls followed the allocator's
 * contract. */
static inline void fuzz_check_memory(struct failalloc *f)
{
    const char *wrong = failalloc_complaint(f);
    if (wrong != NULL)
        fuzz_fail("memory", wrong);
}

/* A number that depends on every byte of the input (FNV-1a). */
static inline uint64_t fuzz_hash(const uint8_t *p, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

#endif
