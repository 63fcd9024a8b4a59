/*
 * --max-memory: all memory of the library comes from here, and when that is more than allowed there is none.  What stands outside:
 * the program itself, its tables and texts, some megabytes at most.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <gcdumpc/gcdumpc.h>

#include "input/memory.h"

#define MIB (UINT64_C(1) << 20)

static uint64_t most;                    /* 0 = no wall */
static _Atomic uint64_t used;            /* the library may work in several threads */
static _Atomic uint64_t refused;         /* what the last request that was refused would have made of it */

/* More may be taken for a moment than is kept: a block that grows exists twice. */
static void *resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
{
    (void)ctx;
    uint64_t more = new_bytes > old_bytes ? new_bytes - old_bytes : 0;
    uint64_t want = atomic_fetch_add(&used, more) + more;
    void *p = NULL;
    if (new_bytes == 0)
        free(ptr);
    else if (want > most)
        atomic_store(&refused, want);
    else
        p = realloc(ptr, new_bytes);
    if (p == NULL && new_bytes > 0)
        atomic_fetch_sub(&used, more);
    else if (new_bytes < old_bytes)
        atomic_fetch_sub(&used, old_bytes - new_bytes);
    return p;
}

static const struct gcd_alloc wall = { .resize = resize };

void cli_memory_limit(uint64_t bytes)
{
    most = bytes;
}

const struct gcd_alloc *cli_limited_alloc(void)
{
    return most != 0 ? &wall : NULL;
}

const char *cli_memory_hint(char buf[CLI_MEMORY_HINT_BYTES])
{
    uint64_t need = atomic_load(&refused);
    buf[0] = '\0';
    if (need != 0)
        (void)snprintf(buf, CLI_MEMORY_HINT_BYTES, "; %" PRIu64 " MiB at least would be needed, and --max-memory allows %" PRIu64
                       ": allow more, or take what needs no object graph (info, report, convert to gclog)", (need + MIB - 1) / MIB, most / MIB);
    return buf;
}
