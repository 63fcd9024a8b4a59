/*
 * What the textfile collector of Prometheus's node_exporter reads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "job/job.h"

#ifdef GCDUMPC_HAVE_IPC

/* A value of a label: backslash, quotation mark and end of line are escaped. */
static void put_label(FILE *to, const char *key, const char *value)
{
    fprintf(to, "%s=\"", key);
    for (const char *s = value; *s != '\0'; s++)
        if (*s == '\n')
            fputs("\\n", to);
        else
            fprintf(to, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    putc('"', to);
}

static double begun(const struct job_dump *d) { return (double)d->begun; }
static double success(const struct job_dump *d) { return d->status == JOB_DONE || d->status == JOB_SKIPPED; }
static double skipped(const struct job_dump *d) { return d->status == JOB_SKIPPED; }
static double seconds(const struct job_dump *d) { return (double)d->duration_ms / 1000; }
static double complete(const struct job_dump *d) { return d->facts.complete; }
static double objects(const struct job_dump *d) { return (double)d->facts.objects; }
static double heap_bytes(const struct job_dump *d) { return (double)d->facts.heap_bytes; }
static double pause_seconds(const struct job_dump *d) { return (double)d->facts.pause_ns / 1e9; }
static double lost_events(const struct job_dump *d) { return (double)d->facts.lost_events; }
static double rss_bytes(const struct job_dump *d) { return (double)d->rss_bytes; }
static double file_bytes(const struct job_dump *d) { return (double)d->file_bytes; }

static const struct metric {
    const char *name, *help;
    double (*value)(const struct job_dump *d);
    bool of_dump;                /* there is none when no dump was taken */
} metrics[] = {
    { "gcdumpc_run_timestamp_seconds", "When the dump was begun, or would have been.", begun, false },
    { "gcdumpc_run_success", "1 when the dump is whole or was rightly skipped.", success, false },
    { "gcdumpc_run_skipped", "1 when a condition said that there shall be no dump.", skipped, false },
    { "gcdumpc_run_duration_seconds", "How long it took, waiting included.", seconds, false },
    { "gcdumpc_process_resident_bytes", "Resident memory of the process before.", rss_bytes, false },
    { "gcdumpc_dump_complete", "1 when nothing is missing in the dump.", complete, true },
    { "gcdumpc_dump_objects", "Objects alive.", objects, true },
    { "gcdumpc_dump_heap_bytes", "Their sizes.", heap_bytes, true },
    { "gcdumpc_dump_pause_seconds", "How long the process stood still.", pause_seconds, true },
    { "gcdumpc_dump_lost_events", "Events that the process could not deliver.", lost_events, true },
    { "gcdumpc_dump_file_bytes", "Size of the file.", file_bytes, true },
};

static void print(FILE *to, const struct metric *m, const struct job_dump *dumps, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (m->of_dump && !dumps[i].facts.taken)
            continue;
        if (!any)
            fprintf(to, "# HELP %s %s\n# TYPE %s gauge\n", m->name, m->help, m->name);
        any = true;
        char pid[16];
        (void)snprintf(pid, sizeof pid, "%" PRIu32, dumps[i].pid);
        fprintf(to, "%s{", m->name);
        put_label(to, "name", dumps[i].name);
        putc(',', to);
        put_label(to, "pid", pid);
        fprintf(to, "} %.17g\n", m->value(&dumps[i]));
    }
}

enum cli_exit job_metrics(const struct cli_args *args, const struct job_dump *dumps, size_t n)
{
    char *text = NULL;
    size_t length;
    FILE *f = args->metrics != NULL ? open_memstream(&text, &length) : NULL;
    if (args->metrics == NULL)
        return CLI_DONE;
    for (size_t i = 0; f != NULL && i < sizeof metrics / sizeof *metrics; i++)
        print(f, &metrics[i], dumps, n);
    bool ok = f != NULL && fclose(f) == 0;
    enum cli_exit e = cli_write_text(args->metrics, true, ok ? text : NULL);
    free(text);
    return e;
}

#endif
