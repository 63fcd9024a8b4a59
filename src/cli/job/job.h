/*
 * Unattended dumps:
 *
 *     cmd_collect.c    finds the processes and dumps one after another
 *     job.c            one dump
 *     conditions.c     decides whether to dump
 *     when.c           the conditions of --when
 *     pause.c          what a dump is expected to cost
 *     dry_run.c        says so
 *     process_name.c   names programs that do not tell their name
 *     run_state.c      remembers the last dump
 *     manifest.c       lists the files that a job has written
 *     state_file.c     hidden files beside them
 *     template.c       names with fields
 *     file_names.c     names of the files of a dump
 *     keep.c           removes earlier dumps
 *     priority.c       priority and deadline
 *     run_log.c        a line for the log
 *     metrics.c        metrics for monitoring
 *     hook.c           runs a program after a dump
 */
#ifndef GCD_CLI_JOB_H
#define GCD_CLI_JOB_H

#include <time.h>

#include "args.h"
#include "exit.h"
#include "job/keep.h"
#include "job/template.h"

/* Figures of a dump; all 0 without one. */
struct job_facts {
    bool taken, complete;
    uint64_t objects, edges, heap_bytes, stream_bytes, pause_ns, lost_events;
};

enum job_status { JOB_NOT_TRIED, JOB_DONE, JOB_INCOMPLETE, JOB_SKIPPED, JOB_FAILED };

/* The files that a dump can write: -o, --save-trace, --summary. */
enum job_file { JOB_OUTPUT, JOB_TRACE, JOB_SUMMARY, JOB_FILES };

/* The files of this run. */
struct job_own {
    struct cli_keep_id *ids;
    size_t count;
};

/* One process and the result of its dump.  Unknown values are 0 or "". */
struct job_dump {
    const struct cli_args *args; /* of the job; the dump's own differ in PID and output */
    uint32_t pid;
    char name[256], runtime[64];
    uint64_t rss_bytes; /* before the dump */
    time_t started;     /* start of the process, rounded to a second */
    time_t begun;
    char paths[JOB_FILES][4096];                     /* "" = none, or standard output */
    const struct cli_template *templates[JOB_FILES]; /* NULL: a fixed name or none */
    struct cli_template_values values;
    bool known; /* the process has been identified, or need not be */
    /* the dump was requested; if the process ends after that, it is a failure */
    bool asked;
    struct job_own *own;                     /* shared by all dumps of the run */
    struct cli_keep_file written[JOB_FILES]; /* by this dump; inode 0 = not */
    enum job_status status;
    enum cli_exit exit;
    /* why it is not JOB_DONE, or what failed in spite of that */
    char reason[2048];
    bool untidy;       /* earlier dumps could not be removed */
    uint64_t start_ms; /* on a monotonic clock */
    uint64_t file_bytes, duration_ms, removed;
    struct job_facts facts;
};

/* cmd_collect.c: the status that matters more to a script. */
enum cli_exit job_worse(enum cli_exit a, enum cli_exit b);

/* job.c */
/* Does a run look at earlier ones? */
bool job_needs_history(const struct cli_job_args *a);
/* The rest of SECONDS that began at START_MS, at least 1; 0 = no limit. */
uint64_t job_seconds_left(uint64_t start_ms, uint64_t seconds);
/* Takes the dump D, whose files ARGS name. */
enum cli_exit job_take(struct job_dump *d, struct cli_args *args);

/* file_names.c */
/* The names in ARGS as given, in the order of enum job_file; NULL = none. */
void job_given_names(const struct cli_args *args, const char *ret[JOB_FILES]);
/*
 * Expands the names of D's files, into d->paths and ARGS.  A second dump within a second gets the
 * name of the next second, because it must not replace the first one; a file whose name has no time
 * down to the second is replaced.  CLI_FAILED after a message.
 */
enum cli_exit job_name_files(struct job_dump *d, struct cli_args *args);
/* The template that finds earlier dumps: that of the output, else of the summary; NULL = they have
 * fixed names. */
const struct cli_template *job_template(const struct job_dump *d);
/* Does a file exist already under one of the names that have a time down to the second? */
bool job_names_taken(const struct job_dump *d);
/*
 * Removes leftovers of killed runs and creates the folders of D's files.  CLI_FAILED after a
 * message; also when one of the names is a link or a device, which others could have put there.
 */
enum cli_exit job_prepare_places(const struct job_dump *d);

/*
 * pause.c: how long a dump is expected to pause the process: estimated from its last dump and the
 * growth of its memory since, else from its heap, else from its memory.
 */
enum job_basis { JOB_BY_LAST_DUMP, JOB_BY_HEAP, JOB_BY_MEMORY };
struct job_pause {
    uint64_t ms;
    uint64_t most_ms; /* with small objects and server GC; MS if the last dump tells */
    enum job_basis basis;
};
struct run_state;
/* HEAP_MOST_BYTES: gcd_ipc_heap_most, 0 = unknown. */
struct job_pause job_expected_pause(const struct job_dump *d, const struct run_state *last,
                                    uint64_t heap_most_bytes);
/* For people, such as "by its heap". */
const char *job_basis_text(enum job_basis basis);
/* The bytes of events that the last dump sent, scaled in the same way; 0 = unknown. */
uint64_t job_expected_stream(const struct job_dump *d, const struct run_state *last);

/*
 * dry_run.c: --dry-run: prints what a dump of D with the files of ARGS is expected to cost, and
 * whether its conditions hold.  CLI_FAILED when the dump would be refused.
 */
enum cli_exit job_dry_run(const struct job_dump *d, const struct cli_args *args);

/* conditions.c: set d->status to JOB_SKIPPED and d->reason if there must be no dump. */
/*
 * Conditions on the process and earlier dumps.  Call it before the first dump of a run, because
 * other processes of the run may have the same name.
 */
void job_conditions(struct job_dump *d);
/* Conditions on the machine; call it right before the dump.  CLI_FAILED after a message. */
enum cli_exit job_room(struct job_dump *d);

/* process_name.c: the name of a program that does not report one, in RET[CAP]: Shop for "dotnet
 * x/Shop.dll", else EXE. */
void job_process_name(const char *exe, const char *command_line, char *ret, size_t cap);

/*
 * run_state.c: remembers the last dump of each process of this name, in a hidden file in the first
 * folder of the output's template, or of the summary's without an output.  A new process takes over
 * the entry of one that has ended.
 */
struct run_state {
    /* of a process that has ended since, even if it had the same PID */
    bool of_another;
    time_t time;
    uint64_t rss_bytes, heap_bytes, stream_bytes, pause_ns, duration_ms;
};
/* False: there is no usable run state.  True and all 0: there is one, but this process is not in
 * it. */
bool run_state_read(const struct job_dump *d, struct run_state *ret);
/* CLI_FAILED after a message. */
enum cli_exit run_state_write(const struct job_dump *d);

/*
 * manifest.c: the list of the files that a job has written for a process name, in a hidden file
 * beside the run state.  Retention removes nothing else: when the list is lost or damaged, nothing,
 * until --adopt takes over what the names tell.  Dumps without a configuration have one list, by
 * template.
 */
struct manifest_files {
    struct cli_keep_file *items; /* [count] sorted, to be freed */
    size_t count, room;
};
/* What D's job has listed for its template of KIND. */
void manifest_files(const struct job_dump *d, enum job_file kind, struct manifest_files *ret);
/* What any job has listed in the same folder, except jobs that D's configuration no longer has.
 * False: out of memory, RET lacks some. */
bool manifest_others(const struct job_dump *d, struct manifest_files *ret);
/* Adds what D has written, announces what it has not yet, and drops what is gone.  CLI_FAILED after
 * a message. */
enum cli_exit manifest_write(const struct job_dump *d);
/* --adopt: the files that D's templates could have named, and nobody lists, are D's job's from now
 * on.  CLI_FAILED after a message. */
enum cli_exit manifest_adopt(const struct job_dump *d);

/* priority.c */
/* Applies --nice and --io-idle.  CLI_FAILED after a message. */
enum cli_exit job_set_priority(const struct cli_args *args);

/* run_log.c: --log and --syslog. */
void job_log_run(const struct job_dump *d);
const char *job_status_name(enum job_status status);
/* metrics.c: --metrics for all dumps of a run.  CLI_FAILED after a message. */
enum cli_exit job_metrics(const struct cli_args *args, const struct job_dump *dumps, size_t n);
/* hook.c: --on-success or --on-failure.  CLI_FAILED after a message, also when the program fails;
 * CLI_INTERRUPTED when our interrupt stopped it. */
enum cli_exit job_hook(const struct job_dump *d);

#endif
