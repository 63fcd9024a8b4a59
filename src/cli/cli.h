/*
 * The command line program.  It uses the public headers only; main.c decides the exit status.
 */
#ifndef GCD_CLI_CLI_H
#define GCD_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/read.h>
#ifdef GCDUMPC_HAVE_IPC
#include <gcdumpc/ipc.h>
#endif

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_INCOMPLETE = 3,          /* done, but the data are incomplete */
    CLI_EXCEEDED = 4,            /* done, and a threshold of --fail-if is exceeded */
    CLI_INTERRUPTED = 130
};

enum cli_sort { CLI_SORT_BYTES, CLI_SORT_COUNT, CLI_SORT_NAME, CLI_SORT_RETAINED };
enum cli_by { CLI_BY_TYPE, CLI_BY_MODULE, CLI_BY_NAMESPACE, CLI_BY_KIND, CLI_BY_GENERATION, CLI_BY_LENGTH, CLI_BY_ROOT };
enum cli_largest { CLI_LARGEST_BOTH, CLI_LARGEST_OBJECTS, CLI_LARGEST_TYPES };
enum cli_names { CLI_NAMES_DEFAULT, CLI_NAMES_CSHARP, CLI_NAMES_RAW };
enum cli_log { CLI_LOG_NONE, CLI_LOG_TEXT, CLI_LOG_JSON };
enum cli_strategy { CLI_STRATEGY_AUTO, CLI_STRATEGY_SINGLE, CLI_STRATEGY_DRAIN };

#define CLI_THRESHOLDS_MAX 32

/* PerfView makes four files of one recording. */
#define CLI_MORE_INPUTS 7u

/* All options of all commands; which command knows which is in the table of opts.c. */
struct cli_args {
    const char *input;           /* FILE or "-"; NULL = not given */
    char **inputs;               /* [input_count] all of them, of commands that compare; input is the first */
    size_t input_count;
    const char *more[CLI_MORE_INPUTS];   /* further files of the same recording */
    size_t more_count;
    uint64_t pid;                /* 0 = not given */
    const char *name, *port;     /* other ways to name a process */
    const char *listen;          /* where it connects to us */
    uint64_t delay_s;
    const char *output;
    const char *save_trace;      /* where the event stream of a process is kept, too */
    const char *format;
    uint64_t timeout_s;
    uint64_t buffer_mb;          /* 0 = as the process needs */
    uint64_t max_buffer_mb;      /* 0 = as much as it bears */
    uint64_t retries;            /* after a loss of events */
    uint64_t max_bytes;          /* of the event stream; 0 = as many as the memory of the process explains */
    enum cli_strategy strategy;
    bool no_ranges;
    bool rundown;
    bool keep_partial;
    bool force;
    bool strict;
    bool quiet;
    bool json, csv;
    enum cli_names names;
    enum gcd_stack_by stack_by;
    bool keep_unknown;
    uint64_t top;                /* 0 = all */
    enum cli_sort sort;
    enum cli_by by;
    bool retained;
    const char *filter;          /* NULL = all */
    uint64_t min_bytes;
    const char *type, *object;   /* what is asked about */
    enum cli_largest largest;
    uint64_t tree;               /* levels; 0 = no tree */
    uint64_t max_paths;          /* 0 = not given */
    bool to_root, from_root;
    uint64_t share_percent;      /* of the heap that makes a suspect; 0 = not given */
    uint64_t walk;
    uint64_t process;            /* 0 = not given, or by its name: */
    const char *process_name;
    uint64_t max_block_bytes, max_objects, max_memory_bytes;
    uint64_t threads;            /* 0 = not given: cli_threads */
    uint64_t memory_bytes;       /* 0 = as much as it takes */
    const char *spill_dir;
    bool events;
    bool paths;
    const char *fail_if[CLI_THRESHOLDS_MAX];     /* in the order they were given; NULL behind the last */
    bool help;
    /* of dumps that nobody watches (src/cli/job); 0, false or NULL = not given */
    bool all;
    uint64_t keep, keep_days, max_total_bytes;
    uint64_t if_rss_above, if_grown, min_interval_s, if_free_disk, if_free_memory, max_pause_ms;  /* if_grown: percent */
    uint64_t skip_status;
    uint64_t wait_s;
    /* No option.  NULL, or asked when another dump had to be waited for: is this one still wanted?  False: it has noted why not. */
    bool (*still_wanted)(void *ctx);
    void *still_wanted_ctx;
    bool exclusive;
    uint64_t nice;
    bool io_idle;
    enum cli_log log;
    bool syslog;
    const char *metrics;
    const char *on_success, *on_failure;
    const char *config;          /* of run; its job is the input */
    bool check;
};

struct cli_command {
    const char *name;
    const char *arguments;       /* for the usage line */
    const char *summary;
    unsigned bit;                /* in the option table */
    enum cli_exit (*run)(const struct cli_args *args);
    const char *details;         /* text of --help below the options; may be "" */
};

#define CLI_COLLECT 1u
#define CLI_CONVERT 2u
#define CLI_INFO 4u
#define CLI_REPORT 8u
#define CLI_PS 16u
#define CLI_RETAINED 32u
#define CLI_PATHS 64u
#define CLI_RUN 32768u
#define CLI_DIFF 256u
#define CLI_TREND 512u
#define CLI_LEAKS 1024u

enum cli_exit cmd_collect(const struct cli_args *args);
enum cli_exit cmd_convert(const struct cli_args *args);
enum cli_exit cmd_run(const struct cli_args *args);
enum cli_exit cmd_ps(const struct cli_args *args);
enum cli_exit cmd_info(const struct cli_args *args);
enum cli_exit cmd_report(const struct cli_args *args);
enum cli_exit cmd_retained(const struct cli_args *args);
enum cli_exit cmd_paths(const struct cli_args *args);
enum cli_exit cmd_diff(const struct cli_args *args);
enum cli_exit cmd_trend(const struct cli_args *args);
enum cli_exit cmd_leaks(const struct cli_args *args);
/* info --events */
enum cli_exit cmd_events(const struct cli_args *args);

/* main.c: the command that dumps; all of them, NULL after the last. */
const struct cli_command *cli_collect(void);
const struct cli_command *cli_command_at(size_t i);
/* What FILE can be, "" for a command without; how a command ends, all of them for NULL. */
const char *cli_about_files(const struct cli_command *command);
const char *cli_about_exit(const struct cli_command *command);
/* signals.c */
void cli_set_signals(void);
/* Call WHAT two thousand times a second, in a signal handler of this thread, from now on. */
void cli_tick_start(void (*what)(void));
void cli_tick_stop(void);
/* Set by SIGINT, SIGTERM and SIGHUP. */
extern gcd_cancel_flag cli_canceled;
/* It was set because --timeout has passed. */
extern gcd_cancel_flag cli_timed_out;
/* The temporary files, and folders of files, that a second signal removes before it ends the program; NULL = none. */
enum cli_slot { CLI_SLOT_OUTPUT, CLI_SLOT_TRACE, CLI_SLOT_PORT, CLI_SLOTS };
void cli_temporary(enum cli_slot slot, const char *path);
/* One will be made, and until the next call of cli_temporary a second signal waits. */
void cli_temporary_comes(void);

/* opts.c */
/* Parse ARGV[1..] of COMMAND.  CLI_DONE, or CLI_USAGE after one line on standard error. */
enum cli_exit cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *ret);
/* The same in parts: options without one, an option by its long name (flags are "true" or "false"), whether they go together. */
void cli_args_init(struct cli_args *ret);
enum cli_exit cli_set_option(const struct cli_command *command, const char *name, const char *value, struct cli_args *args);
enum cli_exit cli_check_args(const struct cli_command *command, const struct cli_args *args);
/* What of ARGS only src/cli/job understands: names with fields, commands to run.  CLI_USAGE after a line. */
enum cli_exit cli_check_job(const struct cli_args *args);
/* The options of COMMAND, a line each. */
void cli_print_options(FILE *to, const struct cli_command *command);
/* One of them, for manual pages and completions. */
enum cli_takes {
    CLI_TAKES_NOTHING,
    CLI_TAKES_TEXT,
    CLI_TAKES_WORD,              /* one of cli_option_word */
    CLI_TAKES_FILE,
    CLI_TAKES_PROCESS,           /* the number of one */
    CLI_TAKES_NAME,              /* that of a process */
    CLI_TAKES_PROGRAM
};
struct cli_option {
    const char *name;            /* without dashes */
    char letter;                 /* 0 = none */
    const char *argument;        /* what stands for it; NULL = none */
    const char *help;
    enum cli_takes takes;
    bool several;                /* can be given more than once */
    size_t row;                  /* in the table */
};
/* Number I in the order of --help; false after the last. */
bool cli_option_at(const struct cli_command *command, size_t i, struct cli_option *ret);
/* Word number I that it takes, NULL after the last. */
const char *cli_option_word(const struct cli_command *command, const struct cli_option *option, size_t i);
/* cmd_report.c: the formats of reports, NULL after the last. */
const char *cli_report_format(size_t i);

/* message.c */
/* "gcdumpc: SUBJECT: …" on standard error; SUBJECT may be NULL. */
void cli_say(const char *subject, const char *fmt, ...) GCD_PRINTF(2, 3);
/* A further line below the last one, for lists. */
void cli_say_more(const char *fmt, ...) GCD_PRINTF(1, 2);
/* Where messages without a subject come from, as "FILE: line 5"; NULL = the command line.  PLACE must live until the next call. */
void cli_at(const char *place);
/* The last line without its subject, and whether lines are printed at all: not while they are held. */
const char *cli_last_said(void);
void cli_hold(bool hold);
/* An error with its place; returns the exit status for it. */
enum cli_exit cli_fail(const char *subject, const struct gcd_error *err);
/* "incomplete: …" when it is; what the status of a command that did its work is. */
struct cli_dump;
enum cli_exit cli_verdict(const struct cli_dump *d, bool quiet);
/* The verdict as the last line of a text of SUBJECT: a table that is sent to somebody goes without standard error. */
void cli_mark_incomplete(FILE *to, const char *subject, const struct gcd_verdict *v);
/* It is incomplete, which has been said, and --strict was given. */
enum cli_exit cli_refuse(const char *subject);
/* How messages call an input. */
const char *cli_input_name(const struct cli_args *args);

/* memory.c: --max-memory */
/* From here on the library gets so many bytes at most; before it has got any.  0 = as many as there are. */
void cli_memory_limit(uint64_t bytes);
/* The allocator with that limit; NULL = no limit. */
const struct gcd_alloc *cli_limited_alloc(void);
/* After GCD_E_NOMEM: what to do when it was the limit, in BUF, else "". */
#define CLI_MEMORY_HINT_BYTES 256
const char *cli_memory_hint(char buf[CLI_MEMORY_HINT_BYTES]);

/* budget.c: --memory */
/* What is handed to everything of the library that takes an allocator: that of a budget or a limit; NULL, which is malloc, without. */
const struct gcd_alloc *cli_alloc(void);
/*
 * Arrays of the program itself that grow with the objects, from ALLOC (of cli_alloc, NULL = malloc).  cli_array_new clears them; NULL: no memory.
 * Growing keeps the items and clears nothing; without memory it returns NULL and changes nothing.  Free them with their count.
 */
void *cli_array_new(const struct gcd_alloc *alloc, size_t count, size_t item_bytes);
void *cli_array_grow(const struct gcd_alloc *alloc, void *items, size_t old_count, size_t new_count, size_t item_bytes);
void cli_array_free(const struct gcd_alloc *alloc, void *items, size_t count, size_t item_bytes);
/* The budget of ARGS begins, unless there is one.  CLI_USAGE or CLI_FAILED after a line. */
enum cli_exit cli_memory_open(const struct cli_args *args);
/* The objects of D are counted, and NEED is to be done with them: does it fit, is it spilled, or is there no room?  CLI_FAILED after a line. */
struct cli_dump;
enum cli_need;
enum cli_exit cli_memory_plan(const struct cli_args *args, const struct cli_dump *d, enum cli_need need);
/* What people call a workload, and how much memory it will take of D, in bytes. */
const char *cli_workload_name(enum gcd_workload workload);
uint64_t cli_estimate(const struct cli_dump *d, enum gcd_workload workload);
/* Why a large block could not be had; NULL when that was not the reason. */
const char *cli_memory_problem(void);
/* After all that was made with cli_alloc is gone. */
void cli_memory_close(void);

/* open.c */
struct cli_dump {
    struct gcd_input *input;
    struct gcd_dump *dump;       /* of a recording or a process, */
    struct gcd_graph *graph;     /* of any other file; or made of the former for CLI_NEED_GRAPH */
    struct gcd_sink *trace;      /* for --save-trace */
    bool trace_written;          /* and it is there, under its name */
    struct gcd_ipc_port *port;   /* for --listen */
    bool refused;                /* it is incomplete, and --strict was given */
    bool received;               /* live: the stream came to its end, or what came of it is wanted: it can be kept */
    bool live;                   /* of a process, not of a file */
    bool asked;                  /* live: the dump was asked of it; before that it was not disturbed */
    const char *subject;         /* file, socket or "process 1234", for messages */
    char process[40];            /* the latter */
#ifdef GCDUMPC_HAVE_IPC
    struct gcd_ipc_lock lock, machine;   /* with args->still_wanted they last until cli_close: who waits for them asks what came of this dump */
#endif
    uint32_t pid;                /* live: of the process; 0 = not known */
    char name[256];              /* what the program is called when the dump does not know it */
};
/* What will be done with a dump, each more than the one before. */
enum cli_need {
    CLI_NEED_FACTS,              /* facts, verdict, types, roots */
    CLI_NEED_STREAM,             /* the bytes again */
    CLI_NEED_OBJECTS,            /* the objects in order */
    CLI_NEED_GRAPH,              /* d->graph; and besides, for the estimate of memory: */
    CLI_NEED_PATHS,              /* paths from the roots */
    CLI_NEED_RETAINED,           /* dominators */
    CLI_NEED_LEAKS,
    CLI_NEED_PAGE                /* all of these */
};
/* --max-block, --max-objects */
struct gcd_limits cli_limits(const struct cli_args *args);
/*
 * The dump that ARGS name, recorded, live or a graph in a file; an incomplete one is none with --strict.  On failure the message
 * has been printed and the exit status is not CLI_DONE.  Release with cli_close in any case.
 */
enum cli_exit cli_open(const struct cli_args *args, enum cli_need need, struct cli_dump *ret);
/* The file that ARGS name, or the several as one.  The message has been printed when it fails. */
enum cli_exit cli_open_input(const struct cli_args *args, const struct gcd_input_options *options, struct gcd_input **ret);
void cli_close(struct cli_dump *d);
/* What a dump is about, whether it comes from a trace or is a graph. */
const struct gcd_dump_facts *cli_facts(const struct cli_dump *d);
const struct gcd_verdict *cli_verdict_of(const struct cli_dump *d);
uint32_t cli_type_count(const struct cli_dump *d);
const struct gcd_type *cli_type(const struct cli_dump *d, uint32_t i);
/* The names of its types, in the style that ARGS ask for, else DEF.  Free with gcd_names_free. */
enum cli_exit cli_names_of(const struct cli_args *args, const struct cli_dump *d, enum gcd_name_style def, struct gcd_names **ret);

/* live.c (ipc), or its stand-in: the same for a process. */
enum cli_exit cli_open_live(const struct cli_args *args, const struct gcd_dump_options *options, bool reread,
                            const char *spool_dir, struct cli_dump *ret);

#ifdef GCDUMPC_HAVE_IPC
/* live.c: --timeout, or how long a process is given otherwise. */
uint64_t cli_timeout_ms(const struct cli_args *args);

/* target.c */
/*
 * The socket of the process that ARGS name, in RET_PATH[GCD_IPC_PATH_MAX], or D->port; sets D->subject.  On failure the message
 * has been printed.
 */
enum cli_exit cli_find_target(const struct cli_args *args, struct cli_dump *d, char *ret_path);
/* How well NAME fits P: 2 exactly, 1 as a pattern, 0 not at all. */
int cli_target_fits(const struct gcd_ipc_process *p, const char *name);
/* "process 1234" becomes the subject of D. */
void cli_name_process(struct cli_dump *d, uint64_t pid);
/* The path in "unix:PATH", or TEXT itself. */
const char *cli_socket_path(const char *text);

/* listen.c */
/* --listen: wait for a runtime, let it start; D->port is it.  On failure the message has been printed. */
enum cli_exit cli_listen_open(const struct cli_args *args, struct cli_dump *d);
/* Removes the socket file. */
void cli_listen_close(struct cli_dump *d);
#else
/* target.c */
enum cli_exit cli_no_ipc(const char *subject);
#endif
/* Do ARGS name a process? */
bool cli_is_live(const struct cli_args *args);
/* Is the disk left with some room, whatever the process sends?  Not with --force. */
bool cli_keeps_room(const struct cli_args *args);

/* output.c: where ARGS->output goes, in which format. */
struct cli_output {
    const struct gcd_format *format; /* NULL: the event stream as it came */
    enum cli_need need;          /* what is to be opened for it */
    struct gcd_sink *sink;       /* or, for a format that is a folder or a database: */
    struct gcd_staged *staged;
    const char *name;            /* for messages */
    void (*ready)(void *ctx, uint64_t bytes);    /* NULL, or called when everything is on the disk and only the name lacks */
    void *ready_ctx;
};
/* Is there a format for it?  CLI_USAGE after a line. */
enum cli_exit cli_output_check(const struct cli_args *args);
/* Open it: before a recording is read or a process is disturbed for nothing.  On failure the message has been printed. */
enum cli_exit cli_output_open(const struct cli_args *args, struct cli_output *ret);
/* Write D.  CLI_DONE, CLI_INCOMPLETE or CLI_FAILED. */
enum cli_exit cli_output_write(const struct cli_args *args, struct cli_output *out, struct cli_dump *d);
/* Release; what was not written whole leaves no trace. */
void cli_output_close(struct cli_output *out);
/* --save-trace: the same in two steps; a copy of the stream that INPUT keeps. */
enum cli_exit cli_trace_open(const struct cli_args *args, struct cli_dump *d);
enum cli_exit cli_trace_write(const struct cli_args *args, struct cli_dump *d);
/* The name of the format that is no conversion, and that only living processes have. */
#define CLI_RAW_FORMAT "nettrace"
/* A small file, whole or not at all; FOR_ALL to read.  TEXT NULL: out of memory.  CLI_FAILED after a line. */
enum cli_exit cli_write_text(const char *path, bool for_all, const char *text);
/* Open PATH for an output, known to the second signal.  On failure the message has been printed. */
enum cli_exit cli_sink_open(const char *path, const struct gcd_sink_options *options, enum cli_slot slot, struct gcd_sink **ret);
/* Write what stdio still holds; a full disk or a closed pipe is found here. */
enum cli_exit cli_flush_stdout(void);

/* progress.c: a line on standard error, only on a terminal, after a second, six times a second at most. */
void cli_progress(void *verb, uint64_t done_bytes, uint64_t total_bytes);
/* The same for work that is not counted in bytes. */
void cli_progress_steps(void *verb, uint64_t done, uint64_t total);
void cli_progress_end(void);
void cli_progress_off(void);

/* threads.c: how many threads ARGS allow, or as many as there are cores for this process. */
#define CLI_THREADS_MAX 64
unsigned cli_threads(const struct cli_args *args);

/* term.c */
bool cli_is_terminal(FILE *f);
/* Bold from here, or no more: on a terminal, unless NO_COLOR says no. */
void cli_bold(FILE *f, bool on);
/* Columns of the window that F is, SIZE_MAX when it is none: a pipe gets everything. */
size_t cli_window_columns(FILE *f);
/* The line S, which begins at COLUMN of the window; what does not fit goes on below, from column HANG. */
void cli_print_wrapped(FILE *to, const char *s, size_t column, size_t hang);
/* Text of several lines, none longer than this; in a narrower window its paragraphs are broken anew. */
#define CLI_PROSE_COLUMNS 110
void cli_print_prose(FILE *to, const char *s);
/* N with thousands separators when they are wanted, in BUF. */
#define CLI_NUMBER_BYTES 32
const char *cli_number(uint64_t n, bool separators, char buf[CLI_NUMBER_BYTES]);
/* N bytes for people, "1.3 MiB", in BUF. */
const char *cli_size(uint64_t n, char buf[CLI_NUMBER_BYTES]);
/* "2026-11-21T16:00:00.000Z" in BUF; "" when it is not known, INT64_MIN. */
#define CLI_TIME_BYTES 64
const char *cli_time(int64_t unix_ms, char buf[CLI_TIME_BYTES]);
/* sanitize.c */
/* Text of an input for a terminal or a line of text: what would command it (also the direction of writing), or is no UTF-8, becomes "?". */
void cli_print_sanitized(FILE *to, const char *s);
/* The first character of S, which is not empty.  Returns its bytes. */
size_t cli_print_char(FILE *to, const char *s);
/* The same, cut after COLUMNS characters.  Returns how many there were; TO may be NULL, to count. */
size_t cli_print_cut(FILE *to, const char *s, size_t columns);
/* The same of the first N bytes, which end with a character. */
size_t cli_print_bytes(FILE *to, const char *s, size_t n);

/* json_out.c: see the manual for the schema. */
#define CLI_JSON_SCHEMA 1
/* Integers end at 2^63-1 here; a larger value can only come from damaged data. */
json_t *cli_json_number(uint64_t n);
/* S, with "?" for bytes beyond ASCII when it is not UTF-8: names of files need not be. */
json_t *cli_json_text(const char *s);
/* An object with the schema and SUBJECT; what says whether a dump is complete. */
json_t *cli_json_head(const char *subject);
json_t *cli_json_verdict(const struct gcd_verdict *v);
/* Before anything else of it is called. */
void cli_json_prepare(void);
/* Print and release J.  0, or -1: it cannot be written, or (errno ENOMEM, and TO gets nothing or a part) memory was missing at any time. */
int cli_json_print(json_t *j, FILE *to);
/* json_dumpf in ASCII, without any control character: whatever shows it later obeys no name. */
int cli_json_dump(const json_t *j, FILE *to, size_t flags);
int cli_json_info(const struct cli_dump *d);
/* How often an event occurs in a trace. */
struct cli_event_kind {
    const char *provider;        /* lives as long as the trace */
    uint32_t id, version;
    uint64_t events, bytes;
};
int cli_json_events(const struct gcd_trace *trace, const char *subject, const struct cli_event_kind *kinds, size_t n);
#ifdef GCDUMPC_HAVE_IPC
int cli_json_ps(const struct gcd_ipc_process_list *l);
/* cmd_ps.c: the name of a user, else the number, "" when unknown; in BUF. */
const char *cli_user_name(uint32_t uid, char *buf, size_t cap);
#endif

#endif
