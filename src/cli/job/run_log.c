/*
 * One line per dump, for a log or the system log.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include <jansson.h>
#include <stdio.h>

#include "args.h"
#include "job/job.h"
#include "output/json_out.h"
#include "term/message.h"
#include "term/term.h"

#ifdef GCDUMPC_HAVE_IPC

/* Of the lines of the log, which have kept their keys. */
#define RUN_LOG_SCHEMA 1

const char *job_status_name(enum job_status status)
{
    static const char *const names[] = {
        [JOB_NOT_TRIED] = "not tried", [JOB_DONE] = "done",     [JOB_INCOMPLETE] = "incomplete",
        [JOB_SKIPPED] = "skipped",     [JOB_FAILED] = "failed",
    };
    return names[status];
}

static void iso_time(time_t time, char ret[32])
{
    struct tm tm;
    memset(&tm, 0, sizeof tm);
    (void)gmtime_r(&time, &tm);
    (void)strftime(ret, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* TEXT, quoted if necessary; control characters become "?". */
static void put_value(FILE *to, const char *text)
{
    bool plain = text[0] != '\0';
    for (const char *s = text; *s != '\0'; s++)
        plain = plain && *s != ' ' && *s != '"' && *s != '=' && *s != '\\';
    if (plain) {
        cli_print_sanitized(to, text);
        return;
    }
    putc('"', to);
    while (*text != '\0') {
        if (*text == '"' || *text == '\\')
            putc('\\', to);
        text += cli_print_char(to, text);
    }
    putc('"', to);
}

/* Writes key=value pairs, which log tools can parse. */
static void put_fields(FILE *to, const struct job_dump *d)
{
    fprintf(to, "%s name=", job_status_name(d->status));
    put_value(to, d->name);
    if (d->pid != 0)
        fprintf(to, " pid=%" PRIu32, d->pid);
    if (d->runtime[0] != '\0') {
        fputs(" runtime=", to);
        put_value(to, d->runtime);
    }
    if (d->facts.taken)
        fprintf(to,
                " complete=%s objects=%" PRIu64 " heap_bytes=%" PRIu64 " pause_ms=%" PRIu64
                " lost_events=%" PRIu64,
                d->facts.complete ? "yes" : "no", d->facts.objects, d->facts.heap_bytes,
                (d->facts.pause_ns + 500000) / 1000000, d->facts.lost_events);
    fprintf(to, " seconds=%.1f", (double)d->duration_ms / 1000);
    if (d->paths[JOB_OUTPUT][0] != '\0' && (d->status == JOB_DONE || d->status == JOB_INCOMPLETE)) {
        fprintf(to, " file_bytes=%" PRIu64 " file=", d->file_bytes);
        put_value(to, d->paths[JOB_OUTPUT]);
    }
    if (d->paths[JOB_SUMMARY][0] != '\0' &&
        (d->status == JOB_DONE || d->status == JOB_INCOMPLETE)) {
        fputs(" summary=", to);
        put_value(to, d->paths[JOB_SUMMARY]);
    }
    if (d->removed > 0)
        fprintf(to, " removed=%" PRIu64, d->removed);
    if (d->reason[0] != '\0') {
        fputs(" reason=", to);
        put_value(to, d->reason);
    }
}

static json_t *text_or_null(const char *s)
{
    if (s[0] == '\0')
        return json_null();
    json_t *j = json_string(s);
    return j != NULL ? j : json_string("?"); /* not UTF-8 */
}

static json_t *json_of(const struct job_dump *d, const char *time)
{
    bool written = d->status == JOB_DONE || d->status == JOB_INCOMPLETE;
    json_t *o = json_pack(
        "{s:i, s:s, s:s, s:i, s:o, s:I, s:o, s:f, s:I, s:o, s:o, s:o}", "schema", RUN_LOG_SCHEMA,
        "time", time, "status", job_status_name(d->status), "exit", (int)d->exit, "name",
        text_or_null(d->name), "pid", (json_int_t)d->pid, "runtime", text_or_null(d->runtime),
        "seconds", (double)d->duration_ms / 1000, "removed", (json_int_t)d->removed, "file",
        text_or_null(written ? d->paths[JOB_OUTPUT] : ""), "summary",
        text_or_null(written ? d->paths[JOB_SUMMARY] : ""), "reason", text_or_null(d->reason));
    if (o != NULL && d->facts.taken)
        (void)json_object_update_new(
            o, json_pack("{s:b, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "complete", d->facts.complete,
                         "objects", (json_int_t)d->facts.objects, "references",
                         (json_int_t)d->facts.edges, "heap_bytes", (json_int_t)d->facts.heap_bytes,
                         "pause_ns", (json_int_t)d->facts.pause_ns, "lost_events",
                         (json_int_t)d->facts.lost_events, "rss_bytes", (json_int_t)d->rss_bytes,
                         "file_bytes", (json_int_t)d->file_bytes));
    return o;
}

static void to_syslog(const struct job_dump *d)
{
    char *line = NULL;
    size_t n;
    FILE *f = open_memstream(&line, &n);
    if (f == NULL)
        return;
    put_fields(f, d);
    if (fclose(f) == 0) {
        openlog("gcdumpc", LOG_PID, LOG_DAEMON);
        syslog(d->status == JOB_FAILED       ? LOG_ERR
               : d->status == JOB_INCOMPLETE ? LOG_WARNING
                                             : LOG_INFO,
               "%s", line);
        closelog();
    }
    free(line);
}

void job_log_run(const struct job_dump *d)
{
    char time[32];
    iso_time(d->begun, time);
    if (d->args->job.log == CLI_LOG_TEXT) {
        fprintf(stderr, "%s gcdumpc ", time);
        put_fields(stderr, d);
        putc('\n', stderr);
    } else if (d->args->job.log == CLI_LOG_JSON) {
        json_t *o = json_of(d, time);
        if (o == NULL || cli_json_dump(o, stderr, JSON_REAL_PRECISION(6)) != 0)
            cli_say(NULL, "out of memory");
        putc('\n', stderr);
        json_decref(o);
    } else if (d->status == JOB_SKIPPED) {
        char subject[40];
        (void)snprintf(subject, sizeof subject, "process %" PRIu32, d->pid);
        cli_say(subject, "no dump: %s", d->reason);
    }
    if (d->args->job.syslog)
        to_syslog(d);
}

#endif
