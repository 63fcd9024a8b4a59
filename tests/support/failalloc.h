/*
 * An allocator that counts, checks its arguments, and fails on demand.
 *
 *     struct failalloc f;
 *     for (uint64_t n = 1; ; n++) {
 *         failalloc_init(&f);
 *         f.fail_at = n;
 *         ... use &f.alloc ...
 *         if (failalloc_complaint(&f) != NULL) ...
 *         if (f.failed == 0)
 *             break;           every allocation has failed once
 *     }
 *
 * The size of a block is stored in front of it and compared with the size that the library passes.
 */
#ifndef FAILALLOC_H
#define FAILALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

struct failalloc {
    struct gcd_alloc alloc; /* hand this out; the structure must not move afterwards */

    /* set them at any time */
    /* the call with this number (1 = first) gets no memory; 0 = none */
    uint64_t fail_at;
    bool fail_on;     /* ... and no later call either */
    size_t max_bytes; /* no memory above this total; 0 = no limit */

    /* read them */
    uint64_t calls;       /* calls for memory: new blocks and resizing */
    uint64_t failed;      /* of these */
    size_t blocks, bytes; /* alive */
    size_t peak_bytes;
    char wrong[160]; /* the first breach of gcd_alloc's contract, "" = none */
};

void failalloc_init(struct failalloc *f);

/* NULL, or the defect: a wrong old size, a foreign block, a leak.  Call it after everything was
 * freed. */
const char *failalloc_complaint(struct failalloc *f);

#endif
