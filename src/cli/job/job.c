/* One dump of a job: under its lock, with its conditions, followed by the removal of earlier ones.
 */
#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "commands/command_parts.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/input.h"
#include "job/job.h"
#include "job/keep.h"
#include "live/clock.h"
#include "live/live_lock.h"
#include "live/target.h"
#include "signals.h"
#include "term/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

bool job_needs_history(const struct cli_job_args *a)
{
    bool tidies = a->keep != 0 || a->keep_days != 0 || a->max_total_bytes != 0;
    bool has_conditions = a->if_rss_above != 0 || a->if_grown != 0 || a->min_interval_s != 0 ||
                          a->if_free_disk != 0 || a->if_free_memory != 0 || a->max_pause_ms != 0 ||
                          a->skip_status != 0;
    return tidies || has_conditions;
}

#ifdef GCDUMPC_HAVE_IPC

uint64_t job_seconds_left(uint64_t start_ms, uint64_t seconds)
{
    uint64_t spent_ms = live_now_ms() - start_ms, all_ms = seconds * 1000;
    if (seconds == 0)
        return 0;
    return spent_ms + 1000 < all_ms ? (all_ms - spent_ms + 999) / 1000 : 1;
}

static void add_reason(struct job_dump *d, const char *text)
{
    size_t n = strlen(d->reason);
    (void)snprintf(d->reason + n, sizeof d->reason - n, "%s%s", n == 0 ? "" : "; ", text);
}

static void take_facts(struct job_dump *d, const struct cli_dump *dump)
{
    const struct gcd_summary *f = cli_summary(dump);
    const struct gcd_verdict *v = &f->verdict;
    for (size_t i = 0; i < v->reason_count; i++)
        add_reason(d, v->reasons[i].text);
    d->facts = (struct job_facts){ .taken = true,
                                   .complete = v->complete,
                                   .objects = f->objects,
                                   .edges = f->edges,
                                   .heap_bytes = f->bytes,
                                   .stream_bytes = f->trace.bytes,
                                   .pause_ns = f->pause_ns,
                                   .lost_events = f->trace.lost_events };
}

/* Nothing that is not listed is removed; so that this does not fill the disk, it is said each time.
 */
static void say_unlisted(struct job_dump *d, uint64_t n)
{
    char text[300];
    (void)snprintf(text, sizeof text,
                   "%" PRIu64 " earlier file%s not in the list of this job, and not removed; "
                   "--adopt takes over what has its names",
                   n, n == 1 ? " is" : "s are");
    if (d->args->job.log == CLI_LOG_NONE)
        cli_say(d->name, "%s", text);
    add_reason(d, text);
}

/* Not if there is only the dump, in a folder that nobody has chosen. */
static bool is_remembered(const struct job_dump *d)
{
    return !cli_has_default_name(d->args) || job_needs_history(&d->args->job);
}

/* Removes earlier files of KIND.  FILES: how many to keep, with the newest; COMING: bytes of a file
 * that does not exist yet. */
static void keep(struct job_dump *d, enum job_file kind, uint64_t files, uint64_t coming)
{
    const struct cli_args *a = d->args;
    struct manifest_files listed, others;
    struct cli_kept kept;
    if (files == 0 && a->job.keep_days == 0 && a->job.max_total_bytes == 0)
        return;
    manifest_files(d, kind, &listed);
    (void)manifest_others(d, &others); /* only counted */
    struct cli_keep keep = { .files = files,
                             .days = a->job.keep_days,
                             .total_bytes = a->job.max_total_bytes,
                             .own = d->own->ids,
                             .own_count = d->own->count,
                             .listed = listed.items,
                             .listed_count = listed.count,
                             .others = others.items,
                             .other_count = others.count };
    if (cli_keep_apply(&keep, d->templates[kind], &d->values, coming, &kept) != CLI_DONE) {
        d->untidy = true;
        add_reason(d, cli_error_text());
    }
    d->removed += kept.removed;
    free(listed.items);
    free(others.items);
    if (kept.unlisted > 0)
        say_unlisted(d, kept.unlisted);
}

/*
 * Removes old dumps before the new one appears, so there is never one too many, even if the program
 * is killed.  If a removal fails, the new dump is written all the same.
 */
static void make_room(void *ctx, uint64_t bytes)
{
    struct job_dump *d = ctx;
    d->file_bytes = bytes;
    if (is_remembered(d)) /* announces the file; whoever cannot write says so afterwards */
        (void)manifest_write(d);
    if (d->templates[JOB_OUTPUT] != NULL)
        keep(d, JOB_OUTPUT, d->args->job.keep, bytes);
}

/* The same for recordings; the new one exists already, whatever happens to the output. */
static void keep_recordings(struct job_dump *d)
{
    const struct cli_template *t = d->templates[JOB_TRACE];
    if (t != NULL && cli_template_has_time(t))
        keep(d, JOB_TRACE, d->args->job.keep != 0 ? d->args->job.keep + 1 : 0, 0);
}

/* Remembers the file of KIND as written by this run. */
static void note(struct job_dump *d, enum job_file kind)
{
    struct stat st;
    if (d->paths[kind][0] == '\0' || lstat(d->paths[kind], &st) != 0)
        return;
    d->own->ids[d->own->count++] = (struct cli_keep_id){ .device = st.st_dev, .inode = st.st_ino };
    d->written[kind] = (struct cli_keep_file){ .inode = st.st_ino, .changed = st.st_mtim };
}

/* Records the finished dump before other jobs that wait for the lock look for it. */
static void remember(struct job_dump *d, const struct cli_args *args)
{
    note(d, JOB_OUTPUT);
    note(d, JOB_SUMMARY);
    if (args->quiet && cli_has_default_name(d->args)) /* else nobody would know it */
        cli_say(NULL, "%s", args->output.path);
    d->duration_ms = live_now_ms() - d->start_ms;
    if (!is_remembered(d))
        return;
    if (run_state_write(d) != CLI_DONE) /* the dump exists nevertheless */
        add_reason(d, cli_error_text());
}

/* A recording exists even if the output has failed. */
static void list_files(struct job_dump *d)
{
    bool wrote = false;
    for (size_t i = 0; i < JOB_FILES; i++)
        wrote = wrote || (d->written[i].inode != 0 && d->templates[i] != NULL);
    if (wrote && is_remembered(d) && manifest_write(d) != CLI_DONE)
        add_reason(d, cli_error_text());
}

/* If another job made a dump while this one waited for the lock, the conditions may no longer hold:
 * then D is skipped. */
static enum cli_exit take_lock(struct job_dump *d, const struct cli_args *args,
                               struct live_lock *ret)
{
    struct cli_dump target = { .input = NULL };
    char path[GCD_IPC_PATH_MAX];
    enum cli_exit e = cli_find_target(args, &target, path);
    if (e == CLI_DONE)
        e = live_lock_take(args, target.subject, target.pid, path, ret);
    if (e == CLI_DONE && ret->waited) {
        d->begun = time(NULL);
        job_conditions(d);
        if (d->status != JOB_SKIPPED && job_names_taken(d))
            e = cli_error(CLI_FAILED, target.subject,
                          "not dumped: another run that began in the same second has written a "
                          "file of the same name");
    }
    return e;
}

enum cli_exit job_take(struct job_dump *d, struct cli_args *args)
{
    struct live_lock lock = { .waited = false };
    struct cli_outputs to;
    enum cli_exit e = cli_outputs_open(args, &to);
    to.file.ready = make_room;
    to.file.ready_ctx = d;
    if (e == CLI_DONE)
        e = take_lock(d, args, &lock);
    args->live.lock = &lock;
    if (e == CLI_DONE && d->status != JOB_SKIPPED) {
        struct cli_args input = *args;
        struct cli_dump dump;
        if (d->templates[JOB_TRACE] != NULL && is_remembered(d))
            (void)manifest_write(d);
        input.view.separate_loads = to.file.separate_loads;
        input.live.timeout_s = job_seconds_left(d->start_ms, args->live.timeout_s);
        e = cli_open_sampled(&input, to.file.need, &dump);
        /* a partial dump is worth a second period */
        cli_deadline(args->live.keep_partial ? args->live.timeout_s
                                             : job_seconds_left(d->start_ms, args->live.timeout_s));
        if (dump.dump != NULL && (e == CLI_DONE || dump.refused))
            take_facts(d, &dump);
        d->asked = dump.asked;
        if (dump.trace_written) {
            note(d, JOB_TRACE);
            keep_recordings(d);
        }
        if (e == CLI_DONE)
            e = cli_outputs_write(args, &to, d->name, &dump);
        if (e == CLI_DONE || e == CLI_INCOMPLETE)
            remember(d, args);
        list_files(d);
        cli_close(&dump);
    }
    cli_outputs_close(&to);
    live_lock_release(&lock);
    return e;
}

#endif
