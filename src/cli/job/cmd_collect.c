/* Dumps one process, or several one after another; with options for unattended dumps, as a job. */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/staged_file.h>

#include "args.h"
#include "commands/commands.h"
#include "exit.h"
#include "input/fail.h"
#include "job/job.h"
#include "job/when.h"
#include "live/target.h"
#include "opts.h"
#include "signals.h"
#include "term/message.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "live/clock.h"

static bool has_fields(const char *path)
{
    return path != NULL && strchr(path, '%') != NULL;
}

/* Do ARGS have an option that only a job handles? */
static bool is_job(const struct cli_args *args)
{
    const struct cli_job_args *a = &args->job;
    bool several = args->target.all || has_fields(args->output.path) ||
                   has_fields(args->live.save_trace) || has_fields(args->output.summary);
    bool reports = a->log != CLI_LOG_NONE || a->syslog || a->metrics != NULL ||
                   a->on_success != NULL || a->on_failure != NULL;
    return several || job_needs_history(a) || reports || args->live.dry_run || a->nice != 0 ||
           a->io_idle || a->adopt || args->watch.when[0] != NULL;
}

#ifdef GCDUMPC_HAVE_IPC

/* Time for a process to identify itself. */
#define PATIENCE_MS 10000u

struct job {
    const struct cli_args *args;
    struct cli_template *names[JOB_FILES]; /* NULL: a fixed name or none */
    bool several;                          /* all processes, or all with the name */
    char host[256];
    struct job_dump *dumps;
    size_t count;
    struct job_own own;
    uint64_t start_ms;
};

static void job_free(struct job *j)
{
    free(j->dumps);
    free(j->own.ids);
    for (size_t i = 0; i < JOB_FILES; i++)
        cli_template_free(j->names[i]);
}

/* ---- what is wanted ---- */

static enum cli_exit usage(const char *problem)
{
    return cli_error(CLI_USAGE, NULL, "%s; see gcdumpc collect --help", problem);
}

static bool is_folder(const struct cli_args *a)
{
    if (a->output.path == NULL)
        return false;
    const struct gcd_format *f = a->output.format != NULL ? gcd_format_by_name(a->output.format)
                                                          : gcd_format_by_path(a->output.path);
    return f != NULL && gcd_format_kind(f) == GCD_FORMAT_STAGED &&
           gcd_format_staged_kind(f) == GCD_STAGED_FOLDER;
}

static enum cli_exit parse_templates(struct job *j)
{
    const char *names[JOB_FILES];
    enum cli_exit e = CLI_DONE;
    job_given_names(j->args, names);
    for (size_t i = 0; i < JOB_FILES && e == CLI_DONE; i++)
        if (has_fields(names[i]))
            e = cli_template_new(names[i], &j->names[i]);
    return e;
}

/* Checks that each name has the fields it needs. */
static enum cli_exit check_names(const struct job *j, bool finds_earlier)
{
    static const char *const lacks[JOB_FILES] = {
        "several processes need a name with %p in it",
        "several processes need a --save-trace with %p in it",
        "several processes need a --summary with %p in it",
    };
    const char *names[JOB_FILES];
    job_given_names(j->args, names);
    for (size_t i = 0; i < JOB_FILES; i++) {
        const struct cli_template *t = j->names[i];
        if (finds_earlier && t != NULL && !cli_template_tells_names(t))
            return usage("earlier dumps of one name cannot be told from those of another where %n "
                         "or %h touches %p or %s; put a dash between them");
        if (j->args->job.name == NULL && t != NULL && cli_template_uses(t, "J"))
            return usage("%J is the name of a job, which only gcdumpc run has");
        if (j->several && names[i] != NULL && (t == NULL || !cli_template_has_process(t)))
            return usage(lacks[i]);
    }
    return CLI_DONE;
}

/* --when without a past: what a process has now must decide. */
static enum cli_exit check_conditions(const struct cli_args *a)
{
    struct cli_whens whens;
    enum cli_exit e = cli_whens_parse(a->watch.when, &whens);
    if (e == CLI_DONE && whens.window_ms != 0)
        return usage("growth/TIME needs the memory of that time ago, which only gcdumpc watch "
                     "knows; --if-grown compares with the last dump");
    return e;
}

/* Checks that the option parser cannot make, because it knows no templates. */
static enum cli_exit parse_names(struct job *j)
{
    const struct cli_args *a = j->args;
    bool kept = a->job.keep != 0 || a->job.keep_days != 0 || a->job.max_total_bytes != 0;
    if (a->target.pid == 0 && a->target.name == NULL && a->target.container == NULL &&
        !a->target.all)
        return usage("names with fields, and options for unattended dumps, need --pid, --name, "
                     "--container or --all");
    enum cli_exit e = check_conditions(a);
    if (e == CLI_DONE)
        e = parse_templates(j);
    if (e != CLI_DONE)
        return e;
    const struct cli_template *output = j->names[JOB_OUTPUT],
                              *first = output != NULL ? output : j->names[JOB_SUMMARY];
    /* a pattern needs --all to match several processes, unless their dumps get different names */
    bool pattern = a->target.name != NULL && strpbrk(a->target.name, "*?[") != NULL;
    j->several = a->target.all || (pattern && first != NULL && cli_template_has_process(first));
    if ((kept || a->job.adopt) && (output == NULL || !cli_template_has_time(output)))
        return usage("--keep, --keep-days, --max-total and --adopt need a name with a date and a "
                     "time of day in it, as -o '%n-%Y%m%dT%H%M%SZ.nettrace.gz'");
    if (kept && is_folder(a))
        return usage("--keep, --keep-days and --max-total are for outputs that are files; this "
                     "format is a folder");
    if (a->job.if_grown != 0 && first == NULL)
        return usage("--if-grown compares with what is remembered beside earlier dumps; it needs a "
                     "name with fields, as "
                     "-o '%n-%Y%m%dT%H%M%SZ.nettrace.gz'");
    return check_names(j, kept || a->job.adopt || a->job.min_interval_s != 0);
}

/* ---- which processes ---- */

static struct job_dump *add(struct job *j, uint32_t pid)
{
    struct job_dump *d = &j->dumps[j->count++];
    *d = (struct job_dump){ .args = j->args, .pid = pid, .own = &j->own, .known = true };
    for (size_t i = 0; i < JOB_FILES; i++)
        d->known = d->known && j->names[i] == NULL;
    return d;
}

static void describe(struct job *j, const struct gcd_ipc_process *p)
{
    struct job_dump *d = add(j, p->pid);
    d->rss_bytes = p->rss_bytes;
    if (p->uptime_ms != 0)
        d->started = time(NULL) - (time_t)(p->uptime_ms / 1000);
    d->known = d->known || p->answered;
    if (p->entry_assembly[0] != '\0')
        (void)snprintf(d->name, sizeof d->name, "%s", p->entry_assembly);
    else
        job_process_name(p->exe[0] != '\0' ? p->exe : p->name, p->command_line, d->name,
                         sizeof d->name);
    (void)snprintf(d->runtime, sizeof d->runtime, "%s", p->runtime_version);
}

static bool is_wanted(const struct job *j, const struct gcd_ipc_process *p, uint32_t pid)
{
    if (pid != 0)
        return p->pid == pid;
    bool has_a_way = p->reason != GCD_ERROR_NO_SOCKET || cli_is_direct(j->args);
    return p->pid != 0 && p->pid != (uint32_t)getpid() && has_a_way &&
           cli_target_fits(p, &j->args->target) > 0;
}

/*
 * Asks a process again that did not answer the search within half a second.  It must not be known
 * under another name: its dumps would go elsewhere, and its earlier dumps would be missed.
 */
static enum cli_exit identify(struct job_dump *d, const struct cli_args *args)
{
    uint64_t patience = args->live.timeout_s != 0 && args->live.timeout_s * 1000 < PATIENCE_MS
                            ? args->live.timeout_s * 1000
                            : PATIENCE_MS;
    struct gcd_ipc_process_info info = { .pid = 0 };
    struct gcd_error err = GCD_ERROR_INIT;
    struct cli_dump target = { .input = NULL };
    char path[GCD_IPC_PATH_MAX];
    enum cli_exit e = cli_find_target(args, &target, path);
    d->known = e == CLI_DONE;
    if (e != CLI_DONE || path[0] == '\0') /* its memory can be read without a socket: try */
        return e;
    gcd_status st = gcd_ipc_process_info(path, patience, &info, &err);
    d->known = st == GCD_OK || st == GCD_E_UNSUPPORTED;
    if (st != GCD_OK && st != GCD_E_UNSUPPORTED)
        return cli_error(CLI_FAILED, target.subject, "its name is unknown: %s", err.msg);
    if (st == GCD_OK && info.entry_assembly[0] != '\0')
        (void)snprintf(d->name, sizeof d->name, "%s", info.entry_assembly);
    if (st == GCD_OK)
        (void)snprintf(d->runtime, sizeof d->runtime, "%s", info.runtime_version);
    if (st == GCD_OK)
        gcd_ipc_process_info_done(&info);
    return CLI_DONE;
}

/* PID 0: all, or all with --name.  Finds their names now, because they are needed for the name of
 * the output before the dump. */
static enum cli_exit find(struct job *j, uint32_t pid)
{
    struct gcd_ipc_process_list l;
    enum cli_exit e = cli_list_processes(&l);
    if (e != CLI_DONE)
        return e;
    e = pid == 0 ? cli_target_is_clear(&l, &j->args->target) : CLI_DONE;
    if (e != CLI_DONE) {
        gcd_ipc_list_done(&l);
        return e;
    }
    j->dumps = calloc(l.count + 1, sizeof *j->dumps);
    j->own.ids = calloc(l.count + 1, JOB_FILES * sizeof *j->own.ids);
    for (size_t i = 0; j->dumps != NULL && j->own.ids != NULL && i < l.count; i++)
        if (is_wanted(j, &l.items[i], pid))
            describe(j, &l.items[i]);
    gcd_ipc_list_done(&l);
    if (j->dumps == NULL || j->own.ids == NULL)
        return cli_no_memory(NULL);
    if (j->count == 0 && pid != 0) /* the attempt reports why it cannot be dumped */
        (void)add(j, pid);
    if (j->count > 0)
        return CLI_DONE;
    return cli_error(CLI_FAILED, cli_target_text(&j->args->target),
                     "no .NET process that can be dumped; see gcdumpc ps");
}

static enum cli_exit find_processes(struct job *j)
{
    struct cli_dump d = { .input = NULL };
    char path[GCD_IPC_PATH_MAX];
    if (j->several)
        return find(j, 0);
    if (j->args->target.pid != 0 && j->args->target.container == NULL)
        return find(j, (uint32_t)j->args->target.pid);
    enum cli_exit e = cli_find_target(j->args, &d, path); /* finds one, or reports why not */
    if (e == CLI_DONE && d.pid == 0)
        return cli_error(
            CLI_FAILED, cli_target_text(&j->args->target),
            "its process is not visible here, so its dumps cannot be told apart; use --port");
    return e == CLI_DONE ? find(j, d.pid) : e;
}

/* ---- time ---- */

/* Is the time of the whole run up?  The rest may be less than the second that job_seconds_left
 * says. */
static bool is_late(const struct job *j)
{
    return j->args->live.timeout_s != 0 &&
           live_now_ms() - j->start_ms >= j->args->live.timeout_s * 1000;
}

/* The processes from number I on share the time that is left, so one that never finishes does not
 * take it from the others. */
static uint64_t share_of_time(const struct job *j, size_t i)
{
    uint64_t left = job_seconds_left(j->start_ms, j->args->live.timeout_s),
             share = left / (j->count - i);
    return left != 0 && share == 0 ? 1 : share;
}

/* ---- one dump ---- */

static void prepare(const struct job *j, struct job_dump *d)
{
    d->begun = time(NULL);
    for (size_t i = 0; i < JOB_FILES; i++)
        d->templates[i] = j->names[i];
    d->values = (struct cli_template_values){
        .name = d->name, .pid = d->pid, .host = j->host, .job = j->args->job.name, .time = d->begun
    };
}

static enum cli_exit run_dump(struct job *j, struct job_dump *d, uint64_t seconds)
{
    struct cli_args args = *j->args;
    bool asked_for = d->known; /* job_conditions was called */
    args.live.timeout_s = seconds;
    args.live.must_progress = j->count > 1;
    args.target.pid = d->pid;
    args.target.name = args.target.container = NULL;
    args.target.all = false;
    args.quiet = args.quiet || args.job.log != CLI_LOG_NONE;
    enum cli_exit e = d->known ? CLI_DONE : identify(d, &args);
    if (e != CLI_DONE)
        return e;
    prepare(j, d);
    if (args.job.adopt && !args.live.dry_run)
        e = manifest_adopt(d);
    if (e != CLI_DONE)
        return e;
    if (!asked_for)
        job_conditions(d);
    e = job_name_files(d, &args);
    if (e == CLI_DONE && d->status != JOB_SKIPPED)
        e = job_room(d);
    if (e == CLI_DONE && args.live.dry_run)
        return job_dry_run(d, &args);
    if (e != CLI_DONE || d->status == JOB_SKIPPED)
        return e;
    e = job_prepare_places(d);
    return e == CLI_DONE ? job_take(d, &args) : e;
}

/* Among several processes one may have ended meanwhile, which is not a failure, unless it ended
 * during its dump. */
static bool has_ended(const struct job *j, const struct job_dump *d)
{
    return j->several && !d->asked && d->pid != 0 && kill((pid_t)d->pid, 0) != 0 && errno == ESRCH;
}

enum cli_exit job_worse(enum cli_exit a, enum cli_exit b)
{
    static const enum cli_exit order[] = { CLI_INTERRUPTED, CLI_FAILED, CLI_USAGE, CLI_INCOMPLETE };
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a != CLI_DONE ? a : b;
}

/* Takes over the last error and the file it is about; the process has a field of its own. */
static void take_error(struct job_dump *d)
{
    const char *subject = cli_error_subject(), *text = cli_error_text();
    bool file = subject[0] != '\0' && strncmp(subject, "process ", strlen("process ")) != 0 &&
                strlen(subject) + strlen(text) + 3 <= sizeof d->reason;
    (void)snprintf(d->reason, sizeof d->reason, "%s%s%s", file ? subject : "", file ? ": " : "",
                   text);
}

static void take_status(struct job_dump *d, enum cli_exit e)
{
    if (d->status == JOB_SKIPPED && e == CLI_DONE) {
        d->exit = (enum cli_exit)d->args->job.skip_status;
        return;
    }
    d->exit = d->untidy ? job_worse(e, CLI_FAILED) : e;
    d->status = e == CLI_DONE ? JOB_DONE : e == CLI_INCOMPLETE ? JOB_INCOMPLETE : JOB_FAILED;
    if (d->status == JOB_FAILED)
        take_error(d);
}

/* ---- all processes ---- */

static void summary(const struct job *j)
{
    size_t counts[JOB_FAILED + 1] = { 0 };
    if (j->count < 2 || j->args->job.log != CLI_LOG_NONE || j->args->quiet)
        return;
    for (size_t i = 0; i < j->count; i++)
        counts[j->dumps[i].status]++;
    cli_say(NULL, "%zu processes: %zu dumped, %zu incomplete, %zu skipped, %zu failed", j->count,
            counts[JOB_DONE], counts[JOB_INCOMPLETE], counts[JOB_SKIPPED], counts[JOB_FAILED]);
}

/* Reports the result of D to the logs and hooks that were asked for. */
static enum cli_exit tell(struct job_dump *d, enum cli_exit e)
{
    take_status(d, e);
    cli_hold(false);
    if (d->args->live.dry_run) /* nothing has happened */
        return d->exit;
    job_log_run(d);
    e = job_hook(d);
    return job_worse(d->exit, e);
}

/* A job without a process has failed, as if its dump had failed. */
static enum cli_exit no_process(struct job *j, enum cli_exit e)
{
    free(j->dumps);
    j->count = 0;
    j->dumps = calloc(1, sizeof *j->dumps);
    if (j->dumps == NULL)
        return e;
    const struct cli_target_args *t = &j->args->target;
    struct job_dump *d = add(j, t->container == NULL ? (uint32_t)t->pid : 0);
    d->begun = time(NULL);
    (void)snprintf(d->name, sizeof d->name, "%s",
                   cli_target_text(t) != NULL ? cli_target_text(t) : "");
    e = tell(d, e);
    return j->args->live.dry_run ? e : job_worse(e, job_metrics(j->args, j->dumps, j->count));
}

/* The run ended before D's turn. */
static enum cli_exit not_tried(struct job_dump *d)
{
    bool late = !atomic_load(&cli_canceled) || atomic_load(&cli_timed_out);
    char subject[40];
    (void)snprintf(subject, sizeof subject, "process %" PRIu32, d->pid);
    d->begun = time(NULL);
    cli_hold(d->args->job.log != CLI_LOG_NONE);
    return tell(d, cli_error(late ? CLI_FAILED : CLI_INTERRUPTED, subject, "not tried: %s",
                             late ? "the time is up (--timeout)" : "interrupted"));
}

static enum cli_exit run_all(struct job *j)
{
    enum cli_exit worst = CLI_DONE;
    size_t i = 0;
    for (; i < j->count; i++) {
        prepare(j, &j->dumps[i]);
        if (j->dumps[i].known)
            job_conditions(&j->dumps[i]);
    }
    for (i = 0; i < j->count && !atomic_load(&cli_canceled) && !is_late(j); i++) {
        struct job_dump *d = &j->dumps[i];
        uint64_t seconds = share_of_time(j, i);
        d->start_ms = live_now_ms();
        cli_hold(j->args->job.log != CLI_LOG_NONE && !j->args->live.dry_run);
        cli_error_clear();
        cli_deadline(seconds);
        enum cli_exit e = run_dump(j, d, seconds);
        cli_deadline(0);
        d->duration_ms = live_now_ms() - d->start_ms;
        if (e == CLI_FAILED && has_ended(j, d)) {
            d->status = JOB_SKIPPED;
            (void)snprintf(d->reason, sizeof d->reason, "it has ended");
            e = CLI_DONE;
        }
        if (e != CLI_DONE && e != CLI_INCOMPLETE && atomic_load(&cli_canceled))
            e = atomic_load(&cli_timed_out) ? CLI_FAILED : CLI_INTERRUPTED;
        worst = job_worse(worst, tell(d, e));
        if (atomic_load(&cli_timed_out) && !is_late(j)) /* only its share is used up */
            cli_clear_cancel();
    }
    for (; i < j->count; i++)
        worst = job_worse(worst, j->dumps[i].status == JOB_SKIPPED ? tell(&j->dumps[i], CLI_DONE)
                                                                   : not_tried(&j->dumps[i]));
    if (j->args->live.dry_run)
        return worst;
    cli_deadline(job_seconds_left(j->start_ms, j->args->live.timeout_s));
    worst = job_worse(worst, job_metrics(j->args, j->dumps, j->count));
    cli_deadline(0);
    summary(j);
    return worst;
}

enum cli_exit cli_check_job(const struct cli_args *args)
{
    struct job j = { .args = args };
    enum cli_exit e = is_job(args) ? parse_names(&j) : CLI_DONE;
    job_free(&j);
    return e;
}

enum cli_exit cmd_collect(const struct cli_args *args)
{
    struct job j = { .args = args, .start_ms = live_now_ms() };
    if (!is_job(args))
        return cmd_convert(args);
    (void)gethostname(j.host, sizeof j.host - 1);
    enum cli_exit e = parse_names(&j);
    if (e == CLI_DONE)
        e = job_set_priority(args);
    if (e == CLI_DONE)
        cli_deadline(args->live.timeout_s);
    if (e == CLI_DONE) {
        cli_hold(args->job.log != CLI_LOG_NONE && !args->live.dry_run);
        e = find_processes(&j);
        e = e == CLI_DONE ? run_all(&j) : no_process(&j, e);
    }
    job_free(&j);
    return e;
}

#else

enum cli_exit cli_check_job(const struct cli_args *args)
{
    return is_job(args) ? cli_no_ipc(NULL) : CLI_DONE;
}

enum cli_exit cmd_collect(const struct cli_args *args)
{
    return cmd_convert(args);
}

#endif
