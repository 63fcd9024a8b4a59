/*
 * Metrics of a run for the textfile collector of Prometheus's node_exporter.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "args.h"
#include "exit.h"
#include "input/memory.h"
#include "job/job.h"
#include "output/output.h"
#include "output/prom.h"
#include "signals.h"

#ifdef GCDUMPC_HAVE_IPC

static uint64_t begun(const struct job_dump *d)
{
    return (uint64_t)d->begun;
}
static uint64_t success(const struct job_dump *d)
{
    return d->status == JOB_DONE || d->status == JOB_SKIPPED;
}
static uint64_t skipped(const struct job_dump *d)
{
    return d->status == JOB_SKIPPED;
}
static uint64_t milliseconds(const struct job_dump *d)
{
    return d->duration_ms;
}
static uint64_t complete(const struct job_dump *d)
{
    return d->facts.complete;
}
static uint64_t objects(const struct job_dump *d)
{
    return d->facts.objects;
}
static uint64_t heap_bytes(const struct job_dump *d)
{
    return d->facts.heap_bytes;
}
static uint64_t pause_ns(const struct job_dump *d)
{
    return d->facts.pause_ns;
}
static uint64_t lost_events(const struct job_dump *d)
{
    return d->facts.lost_events;
}
static uint64_t rss_bytes(const struct job_dump *d)
{
    return d->rss_bytes;
}
static uint64_t file_bytes(const struct job_dump *d)
{
    return d->file_bytes;
}

static const struct metric {
    const char *name, *help;
    uint64_t (*value)(const struct job_dump *d);
    uint64_t unit; /* VALUE / UNIT is the value of the metric */
    bool of_dump;  /* absent without a dump */
} metrics[] = {
    { "gcdumpc_run_timestamp_seconds", "When the dump started, or would have started.", begun, 1,
      false },
    { "gcdumpc_run_success", "1 if the dump is complete or was skipped by a condition.", success, 1,
      false },
    { "gcdumpc_run_skipped", "1 if a condition prevented the dump.", skipped, 1, false },
    { "gcdumpc_run_duration_seconds", "How long it took, including waiting.", milliseconds, 1000,
      false },
    { "gcdumpc_run_resident_bytes", "Resident memory of the process before the dump.", rss_bytes, 1,
      false },
    { "gcdumpc_run_complete", "1 if nothing is missing in the dump.", complete, 1, true },
    { "gcdumpc_run_objects", "Objects alive.", objects, 1, true },
    { "gcdumpc_run_heap_bytes", "Their sizes.", heap_bytes, 1, true },
    { "gcdumpc_run_pause_seconds", "How long the process was paused.", pause_ns, 1000000000, true },
    { "gcdumpc_run_lost_events", "Events that the process could not deliver.", lost_events, 1,
      true },
    { "gcdumpc_run_file_bytes", "Size of the file.", file_bytes, 1, true },
};

static void put(struct cli_prom *p, const struct metric *m, const struct job_dump *dumps, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        char pid[16];
        if (m->of_dump && !dumps[i].facts.taken)
            continue;
        if (!any)
            cli_prom_metric(p, m->name, m->help);
        any = true;
        (void)snprintf(pid, sizeof pid, "%" PRIu32, dumps[i].pid);
        cli_prom_label(p, "name", dumps[i].name);
        cli_prom_label(p, "pid", pid);
        cli_prom_value(p, m->value(&dumps[i]), m->unit);
    }
}

enum cli_exit job_metrics(const struct cli_args *args, const struct job_dump *dumps, size_t n)
{
    char *text = NULL;
    size_t length;
    FILE *f = args->job.metrics != NULL ? open_memstream(&text, &length) : NULL;
    if (args->job.metrics == NULL)
        return CLI_DONE;
    struct cli_prom p = { .to = f };
    for (size_t i = 0; f != NULL && i < sizeof metrics / sizeof *metrics; i++)
        put(&p, &metrics[i], dumps, n);
    bool ok = f != NULL && fclose(f) == 0;
    struct gcd_sink_options options = { .context = { .alloc = cli_alloc(),
                                                     .cancel = &cli_canceled },
                                        .for_all = true,
                                        .wait_ms = args->live.timeout_s * 1000 };
    enum cli_exit e = cli_write_text(args->job.metrics, &options, ok ? text : NULL);
    free(text);
    return e;
}

#endif
