/*
 * Dumps that nobody watches:
 *
 *     job.c            which processes, one after another; one dump from the first question to the last word
 *     conditions.c     shall there be a dump at all?
 *     last.c           what is remembered of the last dump
 *     template.c       names of outputs          keep.c   what stays of earlier ones
 *     manners.c        priority, the deadline
 *     tell.c           a line for the log        metrics.c, hook.c   for the monitoring, for a program
 */
#ifndef GCD_CLI_JOB_H
#define GCD_CLI_JOB_H

#include <time.h>

#include "cli.h"
#include "job/template.h"

/* Of a dump that was taken, all 0 without one. */
struct job_facts {
    bool taken, complete;
    uint64_t objects, edges, heap_bytes, stream_bytes, pause_ns, lost_events;
};

enum job_status { JOB_NOT_TRIED, JOB_DONE, JOB_INCOMPLETE, JOB_SKIPPED, JOB_FAILED };

/* One process and what has become of its dump.  What is not known is 0 or "". */
struct job_dump {
    const struct cli_args *args;         /* of the job; those of the dump differ in pid and output */
    uint32_t pid;
    char name[256], runtime[64];
    uint64_t rss_bytes;                  /* before the dump */
    time_t begun;
    char file[4096];                     /* where it went; "" = nowhere, or standard output */
    const struct cli_template *template, *trace; /* of it and of the recording; NULL: a fixed name, or none */
    struct cli_template_values values;
    enum job_status status;
    enum cli_exit exit;
    char reason[2048];                   /* why it is not JOB_DONE, or what went wrong all the same */
    bool untidy;                         /* earlier ones that had to go could not be removed */
    uint64_t file_bytes, duration_ms, removed;
    struct job_facts facts;
};

/* Is there anything in ARGS that only this folder knows? */
bool job_wanted(const struct cli_args *args);

/* conditions.c: CLI_DONE = go on; d->status JOB_SKIPPED and d->reason when there shall be none; CLI_FAILED after a line. */
enum cli_exit job_conditions(struct job_dump *d);

/* last.c: what is remembered of the last dump of processes of this name, in a hidden file where the template's folders begin. */
struct job_last {
    time_t time;
    uint64_t rss_bytes, heap_bytes, pause_ns, duration_ms;
};
/* False when there is nothing, or nothing that can be used. */
bool job_last_read(const struct job_dump *d, struct job_last *ret);
/* CLI_FAILED after a line. */
enum cli_exit job_last_write(const struct job_dump *d);

/* manners.c */
/* --nice, --io-idle.  CLI_FAILED after a line. */
enum cli_exit job_manners(const struct cli_args *args);
/* From now on SECONDS for everything, 0 = no end: then cli_canceled is set, and cli_timed_out. */
void job_deadline(uint64_t seconds);

/* tell.c: --log and --syslog. */
void job_tell(const struct job_dump *d);
const char *job_status_name(enum job_status status);
/* metrics.c: --metrics, of all dumps of a run.  CLI_FAILED after a line. */
enum cli_exit job_metrics(const struct cli_args *args, const struct job_dump *dumps, size_t n);
/* hook.c: --on-success or --on-failure.  CLI_FAILED after a line, also when the program fails. */
enum cli_exit job_hook(const struct job_dump *d);

#endif
