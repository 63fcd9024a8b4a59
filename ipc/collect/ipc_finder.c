/*
 * Finds processes as they start.  Looking at a process reads some ten files, and asking it wakes a
 * thread in it, so both are done once where they have told everything.
 */
#include "ipc/collect/ipc_finder.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "ipc/collect/ipc_list.h"
#include "ipc/process/ipc_procfs.h"

/* A process becomes .NET when it starts the program by exec, and has a name soon after its start;
 * the older it is, the rarer: a script that waits before exec.  It is looked at again after half of
 * its age, at most a minute. */
#define YOUNG_MS 20000u
#define LATER_MS 60000u

struct seen {
    uint64_t pid;     /* first: gcd_count_up_to */
    bool named;       /* everything is known about it */
    bool present;     /* in this search */
    int64_t start_ms; /* on the caller's clock, which may have begun later */
    uint64_t next_ms; /* when it is looked at again, unless NAMED */
};

struct gcd_ipc_finder {
    struct gcd_alloc alloc;
    struct seen *seen; /* [count], by pid */
    size_t count, room;
    const char *proc;
    uint64_t now_ms;  /* on the caller's clock */
    uint64_t boot_ms; /* the same since boot; 0 = not read in this search */
    bool failed;      /* out of memory */
};

gcd_status gcd_ipc_finder_new(const struct gcd_alloc *alloc, struct gcd_ipc_finder **ret,
                              struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_ipc_finder *f = gcd_mem_new(&a, sizeof *f);
    if (f == NULL)
        return gcd_fail_nomem(err, "finding processes");
    f->alloc = a;
    *ret = f;
    return GCD_OK;
}

void gcd_ipc_finder_free(struct gcd_ipc_finder *f)
{
    if (f == NULL)
        return;
    struct gcd_alloc a = f->alloc;
    gcd_mem_free(&a, f->seen, f->room * sizeof *f->seen);
    gcd_mem_free(&a, f, sizeof *f);
}

static struct seen *find(const struct gcd_ipc_finder *f, uint32_t pid)
{
    size_t n = gcd_count_up_to(f->seen, f->count, sizeof *f->seen, pid);
    return n > 0 && f->seen[n - 1].pid == pid ? &f->seen[n - 1] : NULL;
}

/* PID is not there yet. */
static struct seen *insert(struct gcd_ipc_finder *f, uint32_t pid)
{
    size_t i = gcd_count_up_to(f->seen, f->count, sizeof *f->seen, pid);
    if (!gcd_vec_reserve(&f->alloc, &f->seen, &f->room, f->count + 1, sizeof *f->seen,
                         SIZE_MAX / sizeof *f->seen))
        return NULL;
    memmove(f->seen + i + 1, f->seen + i, (f->count - i) * sizeof *f->seen);
    f->count++;
    uint64_t start, age_ms = 0;
    if (f->boot_ms == 0)
        f->boot_ms = gcd_procfs_now_ms(f->proc);
    if (gcd_procfs_start(f->proc, pid, &start, NULL) == GCD_OK)
        age_ms = gcd_procfs_age_ms(f->boot_ms, start);
    f->seen[i] = (struct seen){ .pid = pid, .start_ms = (int64_t)f->now_ms - (int64_t)age_ms };
    return &f->seen[i];
}

static uint64_t age_of(const struct gcd_ipc_finder *f, const struct seen *s)
{
    return (uint64_t)((int64_t)f->now_ms - s->start_ms);
}

static bool is_known(void *ctx, uint32_t pid)
{
    struct gcd_ipc_finder *f = ctx;
    struct seen *s = find(f, pid);
    if (s == NULL)
        s = insert(f, pid);
    if (s == NULL) {
        f->failed = true;
        return true;
    }
    s->present = true;
    return s->named || s->next_ms > f->now_ms;
}

/* Forgets processes that are gone, and says when the others are looked at again. */
static void finish(struct gcd_ipc_finder *f)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->count; i++) {
        struct seen *s = &f->seen[i];
        if (!s->present)
            continue;
        s->present = false;
        uint64_t half = age_of(f, s) / 2;
        if (s->next_ms <= f->now_ms)
            s->next_ms = f->now_ms + (half < LATER_MS ? half : LATER_MS);
        f->seen[kept++] = *s;
    }
    f->count = kept;
}

gcd_status gcd_finder_next(struct gcd_ipc_finder *f, const char *proc, uint64_t now_ms,
                           const struct gcd_ipc_list_options *options,
                           struct gcd_ipc_process_list *ret, struct gcd_error *err)
{
    const struct gcd_list_known known = { is_known, f };
    f->proc = proc;
    f->now_ms = now_ms;
    f->boot_ms = 0;
    f->failed = false;
    gcd_status st = gcd_list_unknown(proc, options, &known, ret, err);
    if (st == GCD_OK && f->failed) {
        gcd_ipc_list_done(ret);
        st = gcd_fail_nomem(err, "finding processes");
    }
    if (st != GCD_OK)
        return st;
    for (size_t i = 0; i < ret->count; i++) {
        const struct gcd_ipc_process *p = &ret->items[i];
        struct seen *s = find(f, p->pid);
        /* .NET 6 and earlier have no name of an assembly to report */
        if (s != NULL && p->answered)
            s->named = p->entry_assembly[0] != '\0' || age_of(f, s) >= YOUNG_MS;
    }
    finish(f);
    return GCD_OK;
}

gcd_status gcd_ipc_finder_next(struct gcd_ipc_finder *f, uint64_t now_ms,
                               const struct gcd_ipc_list_options *options,
                               struct gcd_ipc_process_list *ret, struct gcd_error *err)
{
    return gcd_finder_next(f, "/proc", now_ms, options, ret, err);
}

void gcd_ipc_finder_forget(struct gcd_ipc_finder *f, uint32_t pid)
{
    struct seen *s = find(f, pid);
    if (s == NULL)
        return;
    memmove(s, s + 1, (size_t)(f->seen + f->count - (s + 1)) * sizeof *s);
    f->count--;
}
