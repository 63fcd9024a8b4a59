/*
 * Checks made before the process is disturbed: can it spare memory for the buffer, is there disk
 * space for the output?
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/format_plan.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "args.h"
#include "base/text.h"
#include "exit.h"
#include "input/memory.h"
#include "live/live.h"
#include "term/message.h"
#include "term/path.h"
#include "term/term.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* Bytes of events from a process that does next to nothing: types, modules, methods. */
#define LEAST_STREAM (2 * LIVE_MIB)
/* Buffer for --force when no size fits. */
#define FORCED_BUFFER_MB 8u
/* Compressed outputs take 10 % to 13 % of the plain size. */
#define GZIP_FACTOR 8u

static const char *limit_name(enum gcd_ipc_limit limit)
{
    return limit == GCD_IPC_LIMIT_CGROUP ? "its cgroup" : "the machine";
}

bool live_buffer_is_too_large(const struct live *l, uint32_t buffer_mb)
{
    const struct gcd_ipc_budget *b = &l->budget;
    uint64_t filled = buffer_mb;
    if (b->most_bytes != 0 &&
        b->most_bytes / LIVE_MIB < filled) /* only what arrives takes memory */
        filled = b->most_bytes / LIVE_MIB + 1;
    return b->limit != GCD_IPC_LIMIT_NONE && filled > b->max_buffer_mb;
}

static enum cli_exit memory(struct live *l, uint32_t *ret_buffer_mb)
{
    const struct cli_args *args = l->args;
    gcd_ipc_memory(l->pid, &l->memory);
    l->budget = gcd_ipc_budget(&l->memory, (uint32_t)args->live.max_buffer_mb);
    *ret_buffer_mb =
        args->live.buffer_mb != 0 ? (uint32_t)args->live.buffer_mb : l->budget.buffer_mb;
    char remedy[CLI_REMEDY_BYTES];
    if (l->budget.max_buffer_mb == 0) {
        uint64_t room = l->memory.room_bytes / LIVE_MIB;
        if (!args->live.force)
            return cli_error(
                CLI_FAILED, l->subject,
                "%s has only %" PRIu64
                " MiB of memory left, too little for an event buffer in the process%s; "
                "--force continues anyway",
                limit_name(l->memory.limit), room, live_without_buffer(l, remedy));
        if (*ret_buffer_mb == 0)
            *ret_buffer_mb = FORCED_BUFFER_MB;
        cli_say(l->subject, "%s has only %" PRIu64 " MiB of memory left",
                limit_name(l->memory.limit), room);
    } else if (live_buffer_is_too_large(l, *ret_buffer_mb)) {
        uint64_t room = l->memory.room_bytes / LIVE_MIB;
        if (!args->live.force)
            return cli_error(CLI_FAILED, l->subject,
                             "a buffer of %" PRIu32 " MiB is more than %s can give: %" PRIu64
                             " MiB are left, and the kernel could kill the process; without "
                             "--buffer it gets %" PRIu32 " MiB; --force continues anyway",
                             *ret_buffer_mb, limit_name(l->memory.limit), room,
                             l->budget.buffer_mb);
        cli_say(l->subject,
                "a buffer of %" PRIu32 " MiB is more than %s can give: %" PRIu64 " MiB are left",
                *ret_buffer_mb, limit_name(l->memory.limit), room);
    } else if (l->budget.limit != GCD_IPC_LIMIT_NONE && args->live.buffer_mb == 0 &&
               *ret_buffer_mb * LIVE_MIB < l->budget.likely_bytes) {
        cli_say(l->subject,
                "events may be lost: the buffer is limited to %" PRIu32
                " MiB, because %s has %" PRIu64 " MiB left%s",
                *ret_buffer_mb, limit_name(l->memory.limit), l->memory.room_bytes / LIVE_MIB,
                live_without_buffer(l, remedy));
    }
    return CLI_DONE;
}

/* The space needed, by file system. */
struct places {
    struct live_place items[LIVE_PLACES];
    dev_t devices[LIVE_PLACES];
    size_t count;
    bool planned; /* only a forecast: folders may not exist yet */
};

static void add_place(struct places *p, const char *folder, uint64_t likely, uint64_t most)
{
    struct stat sb;
    if (stat(folder, &sb) != 0)
        return; /* opening the file reports the error better */
    size_t i = 0;
    while (i < p->count && p->devices[i] != sb.st_dev)
        i++;
    struct live_place *at = &p->items[i];
    if (i == p->count) {
        p->devices[p->count++] = sb.st_dev;
        *at = (struct live_place){ .likely = 0 };
        (void)snprintf(at->folder, sizeof at->folder, "%s", folder);
    }
    at->likely += likely;
    at->most += most;
}

/* PATH, or its nearest existing parent: a job creates the missing folders. */
static const char *existing(char path[static 4096])
{
    struct stat sb;
    while (stat(path, &sb) != 0 && strcmp(path, "/") != 0 && strcmp(path, ".") != 0) {
        char below[4096];
        (void)snprintf(below, sizeof below, "%s", path);
        cli_path_folder(below, path, sizeof below);
    }
    return path;
}

static void add_file(struct places *p, const char *path, uint64_t likely, uint64_t most)
{
    struct stat sb;
    char folder[4096];
    if (path == NULL || strcmp(path, "-") == 0 || (stat(path, &sb) == 0 && !S_ISREG(sb.st_mode)))
        return;
    unsigned divisor = gcd_text_ends(path, ".gz") ? GZIP_FACTOR : 1;
    cli_path_folder(path, folder, sizeof folder);
    add_place(p, p->planned ? existing(folder) : folder, likely / divisor, most / divisor);
}

/* Limits the estimated N bytes of the stream to --max-bytes. */
static uint64_t taken(const struct live *l, uint64_t n)
{
    return l->args->live.max_bytes != 0 && l->args->live.max_bytes < n ? l->args->live.max_bytes
                                                                       : n;
}

struct stream_size {
    uint64_t likely, most;
};

/*
 * The expected size of the events: from the last dump, else from the memory of the process, or from
 * what of it can be heap, if that is known.  A typical heap makes 0.9 bytes
 * of events per byte, the densest 1.8 (ipc_budget.c).
 */
static struct stream_size stream_of(const struct live *l)
{
    struct stream_size s = { .likely = l->budget.likely_bytes, .most = l->budget.most_bytes };
    uint64_t heap = l->heap_most_bytes;
    if (heap != 0 && heap < UINT64_MAX / 4) {
        uint64_t likely = heap + LEAST_STREAM, most = 2 * heap + LEAST_STREAM;
        s.likely = likely < s.likely ? likely : s.likely;
        s.most = most < s.most ? most : s.most;
    }
    if (l->expected_bytes != 0) {
        s.likely = l->expected_bytes;
        s.most = s.most > s.likely ? s.most : s.likely;
    }
    return (struct stream_size){ .likely = taken(l, s.likely), .most = taken(l, s.most) };
}

/* The size of the output before gzip.  Outputs without a format, such as the events themselves, are
 * as large as the events. */
static uint64_t output_of(const struct cli_args *args, uint64_t stream_bytes)
{
    const struct gcd_format *f = args->output.format != NULL
                                     ? gcd_format_by_name(args->output.format)
                                     : gcd_format_by_path(args->output.path);
    return f != NULL ? gcd_format_size(f, stream_bytes) : stream_bytes;
}

static void add_output(struct places *p, const struct live *l)
{
    const struct cli_args *args = l->args;
    uint64_t likely_bytes = stream_of(l).likely, most_bytes = stream_of(l).most;
    if (args->output.path == NULL)
        return;
    add_file(p, args->output.path, output_of(args, likely_bytes), output_of(args, most_bytes));
}

/* The bytes of a stream that do not stay in memory. */
static uint64_t on_disk(uint64_t stream_bytes)
{
    return stream_bytes > GCD_SPOOL_MEMORY_BYTES ? stream_bytes : 0;
}

/* The free bytes at P; UINT64_MAX = unknown. */
static uint64_t left_at(const struct live_place *p)
{
    struct statvfs fs;
    uint64_t left;
    if (statvfs(p->folder, &fs) != 0 || fs.f_blocks == 0 ||
        __builtin_mul_overflow((uint64_t)fs.f_bavail, fs.f_frsize != 0 ? fs.f_frsize : fs.f_bsize,
                               &left))
        return UINT64_MAX;
    return left;
}

static void find_places(const struct live *l, struct places *ret)
{
    struct stream_size s = stream_of(l);
    ret->count = 0;
    ret->planned = l->args->live.dry_run;
    /* first, because messages name a file system by its first folder */
    add_output(ret, l);
    add_file(ret, l->args->live.save_trace, s.likely, s.most);
    if (l->spool_dir != NULL && on_disk(s.most) > 0)
        add_place(ret, l->spool_dir, on_disk(s.likely), on_disk(s.most));
}

static bool may_not_suffice(const struct places *p)
{
    for (size_t i = 0; i < p->count; i++)
        if (left_at(&p->items[i]) < p->items[i].most)
            return true;
    return false;
}

/* Much of a process's memory may not be heap; to find out takes longer than the rest. */
static enum cli_exit disk(struct live *l)
{
    struct places places;
    find_places(l, &places);
    if (may_not_suffice(&places) && l->pid != 0 && !l->args->live.force) {
        l->heap_most_bytes = gcd_ipc_heap_most(l->pid);
        find_places(l, &places);
    }
    for (size_t i = 0; i < places.count; i++) {
        const struct live_place *p = &places.items[i];
        uint64_t left = left_at(p);
        if (left >= p->most)
            continue;
        char n[CLI_NUMBER_BYTES], m[CLI_NUMBER_BYTES];
        uint64_t need = left < p->likely ? p->likely : p->most;
        /* rounded up, to exceed what is free */
        (void)cli_number(need / LIVE_MIB + (need % LIVE_MIB != 0), true, n);
        (void)cli_number(left / LIVE_MIB, true, m);
        if (left < p->likely && !l->args->live.force)
            return cli_error(CLI_FAILED, l->subject,
                             "the dump needs about %s MiB in %s, where %s MiB are free; --force "
                             "continues anyway",
                             n, p->folder, m);
        cli_say(l->subject, "the dump %s %s MiB in %s, where %s MiB are free",
                left < p->likely ? "needs about" : "could need up to", n, p->folder, m);
    }
    return CLI_DONE;
}

void live_forecast(struct live *l, struct live_forecast *ret)
{
    struct places places;
    *ret = (struct live_forecast){ .buffer_mb = 0 };
    gcd_ipc_memory(l->pid, &l->memory);
    l->budget = gcd_ipc_budget(&l->memory, (uint32_t)l->args->live.max_buffer_mb);
    l->heap_most_bytes = gcd_ipc_heap_most(l->pid);
    ret->buffer_mb =
        l->args->live.buffer_mb != 0 ? (uint32_t)l->args->live.buffer_mb : l->budget.buffer_mb;
    struct stream_size size = stream_of(l);
    ret->stream_likely = size.likely;
    ret->stream_most = size.most;
    if (l->args->output.path != NULL)
        ret->output_bytes = output_of(l->args, size.likely) /
                            (gcd_text_ends(l->args->output.path, ".gz") ? GZIP_FACTOR : 1);
    find_places(l, &places);
    for (size_t i = 0; i < places.count; i++) {
        ret->places[i] = places.items[i];
        ret->places[i].left = left_at(&places.items[i]);
    }
    ret->place_count = places.count;
}

enum cli_exit live_preflight(struct live *l, uint32_t *ret_buffer_mb)
{
    enum cli_exit e = l->args->live.lock != NULL
                          ? CLI_DONE
                          : live_lock_take(l->args, l->subject, l->pid, l->path, &l->lock);
    if (e == CLI_DONE)
        e = memory(l, ret_buffer_mb);
    if (e == CLI_DONE && l->spool_dir != NULL && !l->args->live.force)
        e = cli_memory_check_live(l->subject, stream_of(l).most);
    return e == CLI_DONE ? disk(l) : e;
}

#endif
