/*
 * The allocators for everything that grows with the objects.  --memory: a budget; what exceeds it
 * goes to files.  --max-memory: a limit on all memory of the library; the program's own tables and
 * texts take some more megabytes.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/session/sql.h>
#include <gcdumpc/unstable/spill.h>

#include "input/memory.h"

#define MIB (UINT64_C(1) << 20)

static uint64_t most;           /* 0 = no limit */
static _Atomic uint64_t used;   /* the library may work in several threads */
static struct gcd_spill *spill; /* NULL = no --memory */
/* total that the last refused request would have reached */
static _Atomic uint64_t refused;

/* While a block grows it may exist twice, so for a moment more memory than counted may be in use.
 */
static void *resize_within(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes)
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

static const struct gcd_alloc wall = { .resize = resize_within };

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
        (void)snprintf(buf, CLI_MEMORY_HINT_BYTES,
                       "; at least %" PRIu64 " MiB are needed, and --max-memory allows %" PRIu64
                       ": allow more, or use a command that needs no object graph (info, report, "
                       "convert to gclog)",
                       (need + MIB - 1) / MIB, most / MIB);
    return buf;
}

/* Without --max-memory.  SQLite notices no cancel while it sorts: this much takes seconds. */
#define SQL_BYTES (1024 * MIB)

void cli_memory_for_sql(void)
{
    uint64_t bytes = most != 0 ? most / 4 : SQL_BYTES;
    gcd_sql_limit_memory(bytes);
    if (most != 0)
        atomic_fetch_add(&used, bytes);
}

void cli_memory_use(struct gcd_spill *s)
{
    spill = s;
}

struct gcd_spill *cli_memory_spill(void)
{
    return spill;
}

void cli_memory_close(void)
{
    gcd_spill_free(spill);
    spill = NULL;
}

const char *cli_memory_problem(void)
{
    static struct gcd_error err;
    return spill != NULL && gcd_spill_status(spill, &err) != GCD_OK ? err.msg : NULL;
}

const struct gcd_alloc *cli_alloc(void)
{
    return spill != NULL ? gcd_spill_alloc(spill) : cli_limited_alloc();
}

void *cli_array_new(const struct gcd_alloc *alloc, size_t count, size_t item_bytes)
{
    size_t bytes;
    if (alloc == NULL)
        return calloc(count > 0 ? count : 1, item_bytes);
    if (__builtin_mul_overflow(count > 0 ? count : 1, item_bytes, &bytes))
        return NULL;
    void *items = alloc->resize(alloc->ctx, NULL, 0, bytes);
    return items != NULL ? memset(items, 0, bytes) : NULL;
}

void cli_array_free(const struct gcd_alloc *alloc, void *items, size_t count, size_t item_bytes)
{
    if (alloc == NULL)
        free(items);
    else if (items != NULL)
        (void)alloc->resize(alloc->ctx, items, (count > 0 ? count : 1) * item_bytes, 0);
}
