/*
 * An allocator that counts, checks what it is told, and fails on demand.
 *
 *     struct failalloc f;
 *     for (uint64_t n = 1; ; n++) {
 *         failalloc_init(&f);
 *         f.fail_at = n;
 *         ... use &f.alloc ...
 *         if (failalloc_complaint(&f) != NULL) ...
 *         if (f.failed == 0)
 *             break;           every allocation has had its turn
 *     }
 *
 * All memory is checked by its neighbours: the size of a block is kept in front of it and compared with what the library says.
 */
#ifndef FAILALLOC_H
#define FAILALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>

struct failalloc {
    struct gcd_alloc alloc;      /* hand this out; the structure must not move afterwards */

    /* set them at any time */
    uint64_t fail_at;            /* the call with this number (1 = first) gets no memory; 0 = none */
    bool fail_on;                /* ... and all behind it neither */
    size_t max_bytes;            /* more in all gets no memory; 0 = no ceiling */

    /* look at them */
    uint64_t calls;              /* that ask for memory: new blocks and resizing */
    uint64_t failed;             /* of these */
    size_t blocks, bytes;        /* alive */
    size_t peak_bytes;
    char wrong[160];             /* the first breach of gcd_alloc's contract, "" = none */
};

void failalloc_init(struct failalloc *f);

/* NULL, or what is wrong: a false old size, a block that is not ours, blocks left.  To be asked when everything is freed. */
const char *failalloc_complaint(struct failalloc *f);

#endif
