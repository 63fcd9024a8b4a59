/* The memory of the process, reported with the dump. */
#include <gcdumpc/unstable/process_memory.h>

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/ovf.h"
#include "load/load.h"

#define MIB (UINT64_C(1) << 20)

gcd_status gcd_dump_set_process_memory(struct gcd_dump *d, const struct gcd_process_memory *m,
                                       struct gcd_error *err)
{
    if (!d->closed || d->heap == NULL)
        return gcd_fail(err, GCD_E_STATE, "the dump is not closed");
    d->summary.memory = *m;
    d->memory_is_new = true;
    return GCD_OK;
}

uint64_t gcd_native_bytes(const struct gcd_process_memory *m)
{
    return m->gc_known && m->anonymous_bytes > m->gc_bytes ? m->anonymous_bytes - m->gc_bytes : 0;
}

bool gcd_is_native(const struct gcd_process_memory *m)
{
    uint64_t native = gcd_native_bytes(m);
    bool most = native > m->file_bytes && native > m->shared_bytes;
    return native >= (most ? GCD_NATIVE_MOST_BYTES : GCD_NATIVE_BYTES) &&
           m->gc_bytes / GCD_NATIVE_GC_PERCENT < m->resident_bytes / 100;
}

void gcd_range_bytes(const struct gcd_summary *s, uint64_t *ret_used, uint64_t *ret_free)
{
    uint64_t used = 0;
    for (size_t i = 0; i < s->range_count; i++)
        gcd_add_saturating(&used, s->ranges[i].used_bytes);
    *ret_used = used;
    *ret_free = used > s->bytes ? used - s->bytes : 0;
}

static const struct {
    const char *key, *title;
} parts[GCD_MEMORY_PARTS] = {
    [GCD_MEMORY_ALIVE] = { "alive", "live objects" },
    [GCD_MEMORY_DEAD] = { "not_reachable", "not reachable" },
    [GCD_MEMORY_FREE] = { "free", "free between objects" },
    [GCD_MEMORY_UNUSED] = { "unused", "dead or unused" },
    [GCD_MEMORY_NATIVE] = { "native_or_unknown", "native or unknown" },
    [GCD_MEMORY_FILES] = { "files", "files" },
    [GCD_MEMORY_SHARED] = { "shared", "shared memory" },
};

const char *gcd_memory_part_title(enum gcd_memory_part part)
{
    return parts[part].title;
}

const char *gcd_memory_part_key(enum gcd_memory_part part)
{
    return parts[part].key;
}

void gcd_memory_parts(const struct gcd_summary *s, uint64_t unreachable,
                      struct gcd_memory_size ret[GCD_MEMORY_PARTS])
{
    const struct gcd_process_memory *m = &s->memory;
    uint64_t used, free_bytes, dead = unreachable != UINT64_MAX ? unreachable : 0;
    bool resident = m->resident_bytes > 0;
    gcd_range_bytes(s, &used, &free_bytes);
    ret[GCD_MEMORY_ALIVE] = (struct gcd_memory_size){ unreachable != UINT64_MAX,
                                                      s->bytes > dead ? s->bytes - dead : 0 };
    ret[GCD_MEMORY_DEAD] = (struct gcd_memory_size){ s->image.with_dead, dead };
    ret[GCD_MEMORY_FREE] = (struct gcd_memory_size){ used > 0, free_bytes };
    ret[GCD_MEMORY_UNUSED] =
        (struct gcd_memory_size){ m->gc_known && used > 0,
                                  m->gc_known && used > 0 && m->gc_bytes > used ? m->gc_bytes - used
                                                                                : 0 };
    ret[GCD_MEMORY_NATIVE] =
        (struct gcd_memory_size){ resident && m->gc_known, gcd_native_bytes(m) };
    ret[GCD_MEMORY_FILES] = (struct gcd_memory_size){ resident, m->file_bytes };
    ret[GCD_MEMORY_SHARED] = (struct gcd_memory_size){ resident, m->shared_bytes };
}

static uint64_t mebibytes(uint64_t bytes)
{
    return bytes / MIB + (bytes % MIB >= MIB / 2);
}

/* "120 MiB"; a small heap is no empty one. */
static const char *mebibytes_text(uint64_t bytes, char buf[40])
{
    if (bytes < MIB)
        return "less than 1 MiB";
    (void)snprintf(buf, 40, "%" PRIu64 " MiB", mebibytes(bytes));
    return buf;
}

size_t gcd_process_memory_text(const struct gcd_process_memory *m, char *ret, size_t cap)
{
    char gc[40], resident[40];
    int n = 0;
    ret[0] = '\0';
    if (m->resident_bytes == 0)
        return 0;
    if (!m->gc_known)
        n = snprintf(ret, cap, "%s were resident; how much of it is the GC heap is not known",
                     mebibytes_text(m->resident_bytes, resident));
    else if (!gcd_is_native(m))
        n = snprintf(ret, cap, "the GC heap is %s of %s resident", mebibytes_text(m->gc_bytes, gc),
                     mebibytes_text(m->resident_bytes, resident));
    else
        n = snprintf(ret, cap,
                     "the GC heap is %s of %s resident: look for native memory (%" PRIu64 " MiB)",
                     mebibytes_text(m->gc_bytes, gc), mebibytes_text(m->resident_bytes, resident),
                     mebibytes(gcd_native_bytes(m)));
    return n < 0 ? 0 : (size_t)n < cap ? (size_t)n : cap - 1;
}
