/*
 * Finds out which part of the memory of a process belongs to the GC.  Since .NET 7 the GC reserves
 * one large piece of address space and gives regions of it to generations.  A dump names the
 * regions that have objects after the collection; before it, garbage filled others, and some are
 * free but still resident.  So everything in the reservation counts.  Its extent is recorded
 * nowhere, but on Linux it is a row of adjacent anonymous mappings, whose unused part is one
 * inaccessible mapping of gigabytes.  The GC cuts it to a multiple of megabytes, so hardly any
 * other mapping is adjacent to its upper end.  Adjacent to its lower end are the GC's own tables
 * and, below them, whatever the program mapped later; but the first range begins where the
 * reservation begins (measured, .NET 8 to 10: it is the range of the pinned heap, which is never
 * returned). Other GCs (clrgc, 32 bits) reserve segments, whose size the ranges give.
 */
#include "ipc/process/ipc_mappings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "ipc/process/ipc_memory.h"
#include "ipc/process/ipc_procfs.h"

#define LINE_BYTES 512 /* the rest of a longer line is a path */

/* An inaccessible mapping that is larger than what malloc reserves for a thread is the unused part
 * of the GC's reservation. */
#define UNUSED_BYTES (UINT64_C(64) << 20)

/* Only the reservation of a GC with regions has an unused part like this, unless the heap has a
 * small limit. */
#define RESERVED_BYTES (UINT64_C(1) << 30)

/* An anonymous mapping. */
struct mapping {
    uint64_t start, end, resident_bytes;
    bool closed; /* its memory cannot be touched */
};

struct gcd_ipc_mappings {
    struct gcd_alloc alloc;
    struct gcd_process_memory memory; /* without the GC's part */
    struct mapping *items;            /* [count] in the order of their addresses */
    size_t count, room;
    bool known; /* all of them were read */
    char problem[96];
};

/* "7f38455de000-7f385c000000 rw-p 00000000 00:00 0 [NAME]".  *RET_ANONYMOUS: not a file, the heap,
 * a stack or a mapping of the kernel. */
static bool parse_mapping(const char *line, struct mapping *ret, bool *ret_anonymous)
{
    uint64_t start, end, inode;
    char access[5];
    int n = 0;
    if (strspn(line, "0123456789abcdef") > 16 ||
        sscanf(line, "%16" SCNx64 "-%16" SCNx64 " %4s %*16[0-9a-f] %*16[0-9a-f:] %19" SCNu64 "%n",
               &start, &end, access, &inode, &n) != 4 ||
        end <= start)
        return false;
    *ret = (struct mapping){ .start = start, .end = end, .closed = strncmp(access, "---", 3) == 0 };
    const char *name = line + n + strspn(line + n, " \t");
    *ret_anonymous = inode == 0 && (name[0] == '\n' || strncmp(name, "[anon:", 6) == 0);
    return true;
}

/* "Rss:                 364 kB" */
static uint64_t parse_resident(const char *line)
{
    uint64_t kib;
    return sscanf(line, "Rss: %15" SCNu64 " kB", &kib) == 1 ? kib * 1024 : 0;
}

/* Adds M after the others.  GCD_E_FORMAT: its address is not above theirs, which no kernel writes;
 * GCD_E_LIMIT. */
static gcd_status add(struct gcd_ipc_mappings *to, const struct mapping *m)
{
    if (to->count > 0 && m->start < to->items[to->count - 1].end)
        return GCD_E_FORMAT;
    if (to->count >= GCD_MAPPINGS_MAX)
        return GCD_E_LIMIT;
    if (!gcd_vec_reserve(&to->alloc, &to->items, &to->room, to->count + 1, sizeof *to->items,
                         GCD_MAPPINGS_MAX))
        return GCD_E_NOMEM;
    to->items[to->count++] = *m;
    return GCD_OK;
}

static gcd_status read_lines(struct gcd_ipc_mappings *to, FILE *f)
{
    char line[LINE_BYTES];
    bool begins = true, anonymous = false;
    gcd_status st = GCD_OK;
    while (st == GCD_OK && fgets(line, sizeof line, f) != NULL) {
        struct mapping m;
        bool again = begins && parse_mapping(line, &m, &anonymous);
        if (again && anonymous)
            st = add(to, &m);
        else if (begins && !again && anonymous && strncmp(line, "Rss:", 4) == 0)
            to->items[to->count - 1].resident_bytes = parse_resident(line);
        begins = strchr(line, '\n') != NULL;
    }
    return st == GCD_OK && ferror(f) ? GCD_E_IO : st;
}

static gcd_status read_mappings(struct gcd_ipc_mappings *to, const char *proc, uint32_t pid)
{
    char path[GCD_IPC_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/smaps", proc, pid);
    errno = 0;
    FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
    gcd_status st = f != NULL ? read_lines(to, f) : GCD_E_IO;
    int why = errno;
    if (f != NULL)
        (void)fclose(f);
    to->known = st == GCD_OK && to->count > 0;
    const char *text = st == GCD_E_FORMAT  ? "its lines are not in order"
                       : st == GCD_E_LIMIT ? "it has too many lines"
                       : st == GCD_OK      ? "it is empty"
                                           : strerror(why);
    if (!to->known)
        (void)snprintf(to->problem, sizeof to->problem, "/proc/%" PRIu32 "/smaps: %s", pid, text);
    return st == GCD_E_NOMEM ? st : GCD_OK;
}

gcd_status gcd_mappings_read(const char *proc, uint32_t pid, const struct gcd_alloc *alloc,
                             struct gcd_ipc_mappings **ret, struct gcd_error *err)
{
    struct gcd_procfs_facts facts;
    struct gcd_ipc_memory memory;
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct timespec now;
    if (!gcd_procfs_facts(proc, pid, &facts) || facts.rss_bytes == 0)
        return gcd_fail(err, GCD_E_NOT_FOUND, "the memory of process %" PRIu32 " is not visible",
                        pid);
    struct gcd_ipc_mappings *m = gcd_mem_new(&a, sizeof *m);
    if (m == NULL)
        return gcd_fail_nomem(err, "reading the memory of the process");
    gcd_memory_read(proc, pid, &memory);
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *m = (struct gcd_ipc_mappings){ .alloc = a };
    m->memory = (struct gcd_process_memory){
        .unix_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
        .resident_bytes = facts.rss_bytes,
        .anonymous_bytes = facts.anonymous_bytes,
        .file_bytes = facts.file_bytes,
        .shared_bytes = facts.shared_bytes,
        .swapped_bytes = facts.swapped_bytes,
        .cgroup_limit_bytes = memory.cgroup_limit_bytes,
        .cgroup_used_bytes = memory.cgroup_used_bytes,
    };
    if (read_mappings(m, proc, pid) != GCD_OK) {
        gcd_ipc_mappings_free(m);
        return gcd_fail_nomem(err, "reading the memory of the process");
    }
    *ret = m;
    return GCD_OK;
}

gcd_status gcd_ipc_mappings_new(uint32_t pid, const struct gcd_alloc *alloc,
                                struct gcd_ipc_mappings **ret, struct gcd_error *err)
{
    return gcd_mappings_read("/proc", pid, alloc, ret, err);
}

void gcd_ipc_mappings_free(struct gcd_ipc_mappings *m)
{
    if (m == NULL)
        return;
    struct gcd_alloc a = m->alloc;
    gcd_mem_free(&a, m->items, m->room * sizeof *m->items);
    gcd_mem_free(&a, m, sizeof *m);
}

const char *gcd_ipc_mappings_problem(const struct gcd_ipc_mappings *m)
{
    return m->problem;
}

/* Ranges by their addresses, and the next one to examine. */
struct ordered {
    const struct gcd_range *ranges;
    const uint32_t *order;
    size_t count, next;
};

static int by_start(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_range *x = (const struct gcd_range *)ctx + a,
                           *y = (const struct gcd_range *)ctx + b;
    return (x->start > y->start) - (x->start < y->start);
}

/* The start and end of the ranges that begin in ROW; false if there are none.  Call it for rows in
 * ascending order. */
static bool next_ends(struct ordered *o, const struct mapping *row, uint64_t *ret_first,
                      uint64_t *ret_last)
{
    bool any = false;
    for (; o->next < o->count; o->next++) {
        const struct gcd_range *r = &o->ranges[o->order[o->next]];
        uint64_t end = r->start;
        if (r->start >= row->end)
            break;
        if (r->start < row->start)
            continue;
        gcd_add_saturating(&end,
                           r->reserved_bytes > r->used_bytes ? r->reserved_bytes : r->used_bytes);
        *ret_first = any ? *ret_first : r->start;
        *ret_last = any && *ret_last > end ? *ret_last : end;
        any = true;
    }
    return any;
}

/* Resident bytes of the GC's part of a row: of the mappings from the first range on, to the last
 * one or to the end of a reservation. */
static uint64_t bytes_of_row(const struct mapping *items, size_t n, uint64_t first, uint64_t last)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        if (items[i].closed && items[i].start >= first &&
            items[i].end - items[i].start >= UNUSED_BYTES)
            last = UINT64_MAX;
    for (size_t i = 0; i < n; i++)
        if (items[i].end > first && items[i].start < last)
            gcd_add_saturating(&bytes, items[i].resident_bytes);
    return bytes;
}

static uint64_t gc_bytes(const struct gcd_ipc_mappings *m, struct ordered *o)
{
    uint64_t gc = 0;
    for (size_t i = 0, end; i < m->count; i = end) {
        struct mapping row = m->items[i];
        uint64_t first, last;
        for (end = i + 1; end < m->count && m->items[end].start == row.end; end++)
            row.end = m->items[end].end;
        if (next_ends(o, &row, &first, &last))
            gcd_add_saturating(&gc, bytes_of_row(m->items + i, end - i, first, last));
    }
    return gc;
}

void gcd_ipc_mappings_memory(const struct gcd_ipc_mappings *m, const struct gcd_range *ranges,
                             size_t n, struct gcd_process_memory *ret)
{
    uint32_t *order = m->known && n > 0 ? gcd_sort_order(&m->alloc, n, by_start, ranges) : NULL;
    uint64_t gc =
        order != NULL
            ? gc_bytes(m, &(struct ordered){ .ranges = ranges, .order = order, .count = n })
            : 0;
    *ret = m->memory;
    ret->gc_known = gc > 0;
    ret->gc_bytes = gc < ret->resident_bytes ? gc : ret->resident_bytes;
    if (order != NULL)
        gcd_mem_free(&m->alloc, order, n * sizeof *order);
}

/* Resident bytes of the row around a reservation, which may include other mappings; all anonymous
 * memory where none can be recognised. */
static uint64_t heap_most(const struct gcd_ipc_mappings *m)
{
    uint64_t reserved = 0;
    bool found = false;
    for (size_t i = 0, end; i < m->count && m->known; i = end) {
        uint64_t bytes = 0;
        bool is_reservation = false;
        for (end = i; end < m->count && (end == i || m->items[end].start == m->items[end - 1].end);
             end++) {
            const struct mapping *at = &m->items[end];
            gcd_add_saturating(&bytes, at->resident_bytes);
            is_reservation =
                is_reservation || (at->closed && at->end - at->start >= RESERVED_BYTES);
        }
        found = found || is_reservation;
        if (is_reservation)
            gcd_add_saturating(&reserved, bytes);
    }
    uint64_t most = m->memory.anonymous_bytes;
    if (most == 0) /* not known before Linux 4.5 */
        return 0;
    most = found && reserved < most ? reserved : most;
    gcd_add_saturating(&most, m->memory.swapped_bytes);
    return most;
}

uint64_t gcd_mappings_heap_most(const char *proc, uint32_t pid)
{
    struct gcd_ipc_mappings *m;
    if (gcd_mappings_read(proc, pid, NULL, &m, NULL) != GCD_OK)
        return 0;
    uint64_t most = heap_most(m);
    gcd_ipc_mappings_free(m);
    return most;
}

uint64_t gcd_ipc_heap_most(uint32_t pid)
{
    return gcd_mappings_heap_most("/proc", pid);
}
