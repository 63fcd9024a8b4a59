/*
 * The conditions for a dump.  Checking them disturbs the process at most with a request for the
 * size of its heap.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "args.h"
#include "exit.h"
#include "job/job.h"
#include "job/keep.h"
#include "job/when.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_IPC

/* Records the reason to skip the dump; always false. */
GCD_PRINTF(2, 3)
static bool skip(struct job_dump *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(d->reason, sizeof d->reason, fmt, ap);
    va_end(ap);
    d->status = JOB_SKIPPED;
    return false;
}

static uint64_t mebibytes(uint64_t bytes)
{
    return (bytes + (UINT64_C(1) << 19)) >> 20;
}

static bool memory_of_process(struct job_dump *d, const struct run_state *last)
{
    const struct cli_args *a = d->args;
    if (a->job.if_rss_above != 0 && d->rss_bytes <= a->job.if_rss_above)
        return skip(d, "it has %" PRIu64 " MiB, not more than %" PRIu64 " MiB",
                    mebibytes(d->rss_bytes), mebibytes(a->job.if_rss_above));
    /* a restarted process begins small: compared with the memory of its predecessor, it might never
     * be dumped again */
    if (a->job.if_grown != 0 && !last->of_another && last->rss_bytes != 0 &&
        d->rss_bytes / 100 < last->rss_bytes / 10000 * (100 + a->job.if_grown))
        return skip(d,
                    "it has %" PRIu64 " MiB, after %" PRIu64
                    " MiB at the last dump; that is not %" PRIu64 " %% more",
                    mebibytes(d->rss_bytes), mebibytes(last->rss_bytes), a->job.if_grown);
    return true;
}

/* REMEMBERED: is there a run state for this name?  Without it, the files of any process of this
 * name count. */
static bool interval(struct job_dump *d, const struct run_state *last, bool remembered)
{
    uint64_t seconds = d->args->job.min_interval_s;
    struct cli_template_values values = d->values;
    struct stat st;
    time_t newest = last->time;
    if (seconds == 0)
        return true;
    values.this_process = remembered;
    const struct cli_template *names = job_template(d);
    if (names != NULL && cli_keep_newest(names, &values, &st) && st.st_mtim.tv_sec > newest)
        newest = st.st_mtim.tv_sec;
    /* a time in the future: the clock was wrong then or is wrong now, so ignore it */
    if (newest == 0 || newest > d->begun || (uint64_t)(d->begun - newest) >= seconds)
        return true;
    return skip(d, "the last dump is %" PRIu64 " s old, not %" PRIu64 " s",
                (uint64_t)(d->begun - newest), seconds);
}

static bool memory_of_machine(struct job_dump *d)
{
    struct gcd_ipc_memory m;
    if (d->args->job.if_free_memory == 0)
        return true;
    gcd_ipc_memory(d->pid, &m);
    if (m.room_bytes >= d->args->job.if_free_memory) /* unknown is UINT64_MAX */
        return true;
    return skip(d, "%s has %" PRIu64 " MiB of memory left, not %" PRIu64 " MiB",
                m.limit == GCD_IPC_LIMIT_CGROUP ? "its cgroup" : "the machine",
                mebibytes(m.room_bytes), mebibytes(d->args->job.if_free_memory));
}

/* --when, with the figures of this moment. */
static bool conditions(struct job_dump *d)
{
    const char *const *texts = d->args->watch.when;
    struct cli_whens whens;
    struct cli_when_values values = { .now = { .rss_bytes = 0 } };
    struct gcd_ipc_watch *watch;
    char text[300];
    if (texts[0] == NULL || cli_whens_parse(texts, &whens) != CLI_DONE)
        return true; /* they have been checked */
    if (gcd_ipc_watch_new(d->pid, NULL, &watch, NULL) != GCD_OK)
        return skip(d, "its memory is unknown");
    bool read = gcd_ipc_watch_read(watch, whens.parts, &values.now);
    gcd_ipc_watch_free(watch);
    if (read && cli_whens_true(&whens, &values) != NULL)
        return true;
    cli_when_say(&whens.items[0], &values, text, sizeof text);
    return skip(d, "%s is not true%s: %s", whens.items[0].text,
                whens.count > 1 ? ", nor another --when" : "", text);
}

static bool pause(struct job_dump *d, const struct run_state *last)
{
    uint64_t most = d->args->job.max_pause_ms;
    if (most == 0)
        return true;
    struct job_pause p = job_expected_pause(d, last, 0);
    if (p.ms > most && p.basis == JOB_BY_MEMORY) /* much of it may not be heap */
        p = job_expected_pause(d, last, gcd_ipc_heap_most(d->pid));
    if (p.ms <= most)
        return true;
    return skip(d, "it would pause for about %" PRIu64 " ms (%s), not at most %" PRIu64 " ms", p.ms,
                job_basis_text(p.basis), most);
}

/* Free bytes for PATH, measured at its nearest existing folder, because the others are not created
 * yet. */
static bool free_bytes(const char *path, uint64_t *ret)
{
    char folder[4096];
    struct statvfs v;
    (void)snprintf(folder, sizeof folder, "%s", path);
    for (char *slash; (slash = strrchr(folder, '/')) != NULL;) {
        slash[slash == folder] = '\0';
        if (statvfs(folder, &v) == 0) {
            *ret = (uint64_t)v.f_bavail * v.f_frsize;
            return true;
        }
        if (errno != ENOENT || slash == folder)
            return false;
    }
    if (statvfs(".", &v) != 0)
        return false;
    *ret = (uint64_t)v.f_bavail * v.f_frsize;
    return true;
}

void job_conditions(struct job_dump *d)
{
    struct run_state last;
    bool remembered = run_state_read(d, &last);
    if (memory_of_process(d, &last) && conditions(d) && interval(d, &last, remembered))
        (void)pause(d, &last);
}

enum cli_exit job_room(struct job_dump *d)
{
    uint64_t room;
    const char *path =
        d->paths[JOB_OUTPUT][0] != '\0' ? d->paths[JOB_OUTPUT] : d->paths[JOB_SUMMARY];
    if (!memory_of_machine(d) || d->args->job.if_free_disk == 0)
        return CLI_DONE;
    if (!free_bytes(path, &room))
        return cli_error(CLI_FAILED, path, "the free space is unknown: %s", strerror(errno));
    if (room < d->args->job.if_free_disk)
        (void)skip(d, "its disk has %" PRIu64 " MiB left, not %" PRIu64 " MiB", mebibytes(room),
                   mebibytes(d->args->job.if_free_disk));
    return CLI_DONE;
}

#endif
