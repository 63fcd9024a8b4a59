/*
 * Dumps that nobody watches:
 *
 *     job.c            which processes, one after another; one dump from the first question to the last word
 *     conditions.c     shall there be a dump at all?
 *     process_name.c        the name of a program that does not say it
 *     run_state.c           what is remembered of the last dump
 *     template.c       names of outputs          keep.c   what stays of earlier ones
 *     priority.c        priority, the deadline
 *     run_log.c           a line for the log        metrics.c, hook.c   for the monitoring, for a program
 */
#ifndef GCD_CLI_JOB_H
#define GCD_CLI_JOB_H

#include <time.h>

#include "args.h"
#include "exit.h"
#include "job/keep.h"
#include "job/template.h"

/* Of a dump that was taken, all 0 without one. */
struct job_facts {
    bool taken, complete;
    uint64_t objects, edges, heap_bytes, stream_bytes, pause_ns, lost_events;
};

enum job_status { JOB_NOT_TRIED, JOB_DONE, JOB_INCOMPLETE, JOB_SKIPPED, JOB_FAILED };

/* The files of this run. */
struct job_own {
    struct cli_keep_id *ids;
    size_t count;
};

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
    bool known;                          /* it has said who it is, or nobody has to know */
    bool asked;                          /* a dump was asked of it: from then on its end is a failure */
    struct job_own *own;                 /* of the run */
    enum job_status status;
    enum cli_exit exit;
    char reason[2048];                   /* why it is not JOB_DONE, or what went wrong all the same */
    bool untidy;                         /* earlier ones that had to go could not be removed */
    uint64_t start_ms;                   /* of a monotonic clock */
    uint64_t file_bytes, duration_ms, removed;
    struct job_facts facts;
};

/* Is there anything in ARGS that only this folder knows? */
bool job_wanted(const struct cli_args *args);

/* conditions.c: d->status JOB_SKIPPED and d->reason when there shall be none. */
/* Of the process and of earlier dumps: before the first dump of a run, whose other processes may have the same name. */
void job_conditions(struct job_dump *d);
/* Of the machine, right before the dump.  CLI_FAILED after a line. */
enum cli_exit job_room(struct job_dump *d);

/* process_name.c: what a program is called that does not say it, in RET[CAP]: of "dotnet x/Shop.dll" it is Shop, else EXE. */
void job_process_name(const char *exe, const char *command_line, char *ret, size_t cap);

/*
 * run_state.c: what is remembered of the last dumps of processes of this name, in a hidden file where the template's folders begin.  For each
 * process by itself; one that is new takes over from one that has gone.
 */
struct run_state {
    time_t time;
    uint64_t rss_bytes, heap_bytes, pause_ns, duration_ms;
};
/* False when there is no note, or none that can be used.  True and all 0: there is one, but not of this process. */
bool run_state_read(const struct job_dump *d, struct run_state *ret);
/* CLI_FAILED after a line. */
enum cli_exit run_state_write(const struct job_dump *d);

/* priority.c */
/* --nice, --io-idle.  CLI_FAILED after a line. */
enum cli_exit job_set_priority(const struct cli_args *args);
/* From now on SECONDS for everything, 0 = no end: then cli_canceled is set, and cli_timed_out. */
void job_deadline(uint64_t seconds);

/* run_log.c: --log and --syslog. */
void job_log_run(const struct job_dump *d);
const char *job_status_name(enum job_status status);
/* metrics.c: --metrics, of all dumps of a run.  CLI_FAILED after a line. */
enum cli_exit job_metrics(const struct cli_args *args, const struct job_dump *dumps, size_t n);
/* hook.c: --on-success or --on-failure.  CLI_FAILED after a line, also when the program fails; CLI_INTERRUPTED when it was stopped with us. */
enum cli_exit job_hook(const struct job_dump *d);

#endif
