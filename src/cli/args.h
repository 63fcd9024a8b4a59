/*
 * The parsed command line.
 */
#ifndef GCD_CLI_ARGS_H
#define GCD_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "term/term.h"

enum cli_sort { CLI_SORT_BYTES, CLI_SORT_COUNT, CLI_SORT_NAME, CLI_SORT_RETAINED };
enum cli_largest { CLI_LARGEST_BOTH, CLI_LARGEST_OBJECTS, CLI_LARGEST_TYPES };
enum cli_names { CLI_NAMES_DEFAULT, CLI_NAMES_CSHARP, CLI_NAMES_RAW };
enum cli_log { CLI_LOG_NONE, CLI_LOG_TEXT, CLI_LOG_JSON };
/* --show-values: not at all, but for what looks like a secret, or as they are */
enum cli_values { CLI_VALUES_HIDDEN, CLI_VALUES_MASKED, CLI_VALUES_RAW };
/* --redact; as enum gcd_recording_values */
enum cli_redact { CLI_REDACT_KEEP, CLI_REDACT_REMOVE, CLI_REDACT_HASH };
enum cli_strategy {
    CLI_STRATEGY_AUTO,
    CLI_STRATEGY_SINGLE,
    CLI_STRATEGY_DRAIN,
    CLI_STRATEGY_DIRECT
};

#define CLI_THRESHOLDS_MAX 32
#define CLI_MINE_MAX       32

/* The format of a recording, the only one that is not a conversion, and its description. */
#define CLI_RAW_FORMAT "nettrace"
#define CLI_RAW_ABOUT  "a recording, with names from the files of its modules"

/* PerfView writes four files for one recording. */
#define CLI_MORE_INPUTS 7u

/* The options in groups.  0, false or NULL: not given.  The table in option_table.c says which
 * command takes which. */

/* The process to dump. */
struct cli_target_args {
    uint64_t pid;
    const char *name, *port; /* other ways to name it */
    const char *container;   /* an id or a name; with it, PID is a number inside */
    const char *listen;      /* where processes connect to us */
    bool any_address;        /* also addresses that other machines can reach */
    uint64_t delay_s;
    bool all; /* all processes, or all that match NAME */
};

/* How to dump a living process. */
struct cli_live_args {
    const char *save_trace; /* where to save the event stream as well */
    uint64_t timeout_s;
    uint64_t buffer_mb;     /* 0 = as large as the process needs */
    uint64_t max_buffer_mb; /* 0 = as large as the process can spare */
    uint64_t retries;       /* after a loss of events */
    /* of the event stream; 0 = as much as the memory of the process can explain */
    uint64_t max_bytes;
    uint64_t wait_s;    /* for the end of another dump */
    uint64_t values_ms; /* to read values; 0 = the default */
    enum cli_strategy strategy;
    bool direct; /* the same as CLI_STRATEGY_DIRECT */
    /* of a stop, and of all of them, for a direct dump; 0 = the defaults of the library */
    uint64_t max_stop_ms, max_stop_total_ms;
    bool plain; /* write recordings without names */
    bool no_ranges, rundown, keep_partial, force, exclusive;
    bool dry_run; /* only report what a dump would cost */
    /* not an option: other processes wait, so the process must send something now and then */
    bool must_progress;
    /* not an option: also record which objects survive and move */
    bool movement;
    /* not an option: read the memory directly if that is possible, else by events */
    bool direct_first;
    bool urgent; /* not an option: the process may end soon */
    /* not an option: the caller holds the lock; NULL: the dump takes its own */
    const struct live_lock *lock;
};

/* Which fields of references are known: those that follow from their order, or all. */
enum cli_fields { CLI_FIELDS_CERTAIN, CLI_FIELDS_EXACT };

/* Which dump in a recording, and which values of it. */
struct cli_dump_args {
    enum gcd_values_kind values;
    enum cli_fields fields;
    uint64_t max_string; /* 0 = the default */
    uint64_t walk;
    uint64_t process; /* by its PID, or by its name: */
    const char *process_name;
    bool with_dead; /* of a core file */
    /* not an option: a core file is not mapped, because the program goes on if others cut it */
    bool unmapped;
};

#define CLI_LABELS_MAX  32
#define CLI_WHEN_MAX    8
#define CLI_OUTPUTS_MAX 8

/* Where the result goes, and in which form. */
struct cli_output_args {
    const char *path, *format;
    char default_path[64]; /* where PATH points if nothing says where to write */
    const char *summary;   /* where a summary goes, besides or instead */
    /* KEY=VALUE for the summary, in the given order; NULL after the last */
    const char *labels[CLI_LABELS_MAX];
    enum gcd_stack_by stack_by;
    bool keep_unknown;
    enum cli_redact redact;
};

/* The whole heap, in thousandths of a percent. */
#define CLI_SHARE_MILLIS 100000u

/* What to show, and how. */
struct cli_view_args {
    bool json, csv;
    unsigned json_schema; /* --json=1; 0 = the current one */
    bool human;           /* tables as on a terminal */
    enum cli_color color;
    enum cli_names names;
    uint64_t top; /* 0 = all */
    enum cli_sort sort;
    enum gcd_histogram_by by;
    bool retained, events, paths;
    bool separate_loads; /* keep types that are loaded several times apart */
    const char *filter;  /* NULL = all */
    uint64_t min_bytes;
    const char *type, *object;  /* the subject of the question */
    const char *sql, *sql_file; /* statements, or the file with them */
    const char *content, *by_dominator, *skip;
    enum cli_largest largest;
    uint64_t tree; /* levels; 0 = no tree */
    uint64_t max_paths;
    bool to_root, from_root;
    /* patterns for the program's own types; NULL after the last */
    const char *mine[CLI_MINE_MAX];
    bool full; /* all steps of paths */
    bool by_field;
    const char *by_value;   /* a field */
    enum cli_values values; /* which values are shown */
    bool no_values;         /* none, on request */
    bool findings;          /* all kinds that were searched for */
    uint64_t share_millis;  /* share of the heap that makes a suspect, of CLI_SHARE_MILLIS */
    double share;           /* of the heap, instead of that; 0 = not set */
    const char *fail_if[CLI_THRESHOLDS_MAX]; /* in the given order; NULL after the last */
};

#define CLI_MODULE_FOLDERS_MAX 32

/* Sampled allocations. */
struct cli_sites_args {
    uint64_t window_s, settle_s;
    uint64_t with_window_s; /* the window of collect, whose recording gets sites; 0 = none */
    uint64_t max_pause_ms;  /* 0 = any */
    bool no_movement, also_dead;
};

/* Where to find the files of the modules, which have the names that a recording lacks. */
struct cli_module_args {
    const char *folders[CLI_MODULE_FOLDERS_MAX]; /* in the given order; NULL after the last */
    bool off;
    bool no_fields;
    const char *sysroot; /* the folder below which recorded paths are looked up; NULL = / */
    bool folders_only;   /* not an option: do not look at the recorded paths of modules */
    /* not an option: [other_count] dumps that it is compared with, which may have names (may
     * contain the dump itself) */
    const char *const *others;
    size_t other_count;
    /* not an option: these name a process that it is compared with; NULL = none */
    const struct cli_args *other_process;
};

/* Limits for the input and the program. */
struct cli_limit_args {
    struct gcd_limits input; /* --max-block, --max-objects */
    uint64_t max_memory_bytes;
    uint64_t threads;      /* 0: all cores */
    uint64_t memory_bytes; /* 0 = no limit */
    const char *spill_dir;
};

/* Unattended dumps: src/cli/job. */
struct cli_job_args {
    uint64_t keep, keep_days, max_total_bytes;
    /* if_grown: percent */
    uint64_t if_rss_above, if_grown, min_interval_s, if_free_disk, if_free_memory, max_pause_ms;
    uint64_t skip_status;
    uint64_t nice;
    bool io_idle;
    bool adopt;
    enum cli_log log;
    bool syslog;
    const char *metrics;
    const char *on_success, *on_failure;
    const char *config;  /* for run, whose input is the job */
    const char *name;    /* not an option: the running job; NULL = no configuration */
    char *const *others; /* [other_count] not an option: all jobs of the configuration */
    size_t other_count;
    bool check;
};

/* Waiting for the moment of a dump. */
struct cli_watch_args {
    const char *when[CLI_WHEN_MAX]; /* conditions; NULL after the last */
    uint64_t cooldown_s;
    /* where each dump goes, one after the other; NULL after the last */
    const char *outputs[CLI_OUTPUTS_MAX];
    bool once, summary_first;
};

/* The server for programs that look for leaks. */
struct cli_mcp_args {
    const char *root; /* the folder that its files must be in */
    bool allow_collect;
    enum gcd_values_kind values; /* of the dumps that it takes */
};

struct cli_args {
    const char *input; /* FILE or "-"; NULL = not given */
    /* [input_count] all inputs, for commands that compare; input is the first */
    char **inputs;
    size_t input_count;
    const char *more[CLI_MORE_INPUTS]; /* further files of the same recording */
    size_t more_count;
    bool strict, quiet, verbose, help;
    const char *moved; /* an option that now belongs to collect; NULL = none */
    struct cli_target_args target;
    struct cli_live_args live;
    struct cli_dump_args dump;
    struct cli_module_args modules;
    struct cli_output_args output;
    struct cli_view_args view;
    struct cli_limit_args limits;
    struct cli_job_args job;
    struct cli_mcp_args mcp;
    struct cli_sites_args sites;
    struct cli_watch_args watch;
};

/* The values that are read: those to keep, or texts to show. */
static inline enum gcd_values_kind cli_values_wanted(const struct cli_args *args)
{
    return args->dump.values == GCD_VALUES_NONE && args->view.values != CLI_VALUES_HIDDEN
               ? GCD_VALUES_STRINGS
               : args->dump.values;
}

/* Do ARGS name a process? */
static inline bool cli_is_live(const struct cli_args *args)
{
    return args->target.pid != 0 || args->target.name != NULL || args->target.port != NULL ||
           args->target.listen != NULL || args->target.container != NULL || args->target.all;
}

/* Is the memory of the process read, without events?  A bounded stop can only be had in this way.
 */
static inline bool cli_is_direct(const struct cli_args *args)
{
    const struct cli_live_args *l = &args->live;
    return l->direct || l->strategy == CLI_STRATEGY_DIRECT ||
           (l->strategy == CLI_STRATEGY_AUTO && l->max_stop_ms != 0);
}

/* Is the output named by the process and the time, because nothing says where to write? */
static inline bool cli_has_default_name(const struct cli_args *args)
{
    return args->output.path == args->output.default_path;
}

/* The HOST:PORT of --listen tcp:HOST:PORT; NULL = not given. */
static inline const char *cli_tcp_address(const struct cli_args *args)
{
    return args->target.listen != NULL && strncmp(args->target.listen, "tcp:", 4) == 0
               ? args->target.listen + 4
               : NULL;
}

/* Must some disk space stay free, whatever the process sends?  Not with --force. */
static inline bool cli_keeps_room(const struct cli_args *args)
{
    return cli_is_live(args) && !args->live.force;
}

#endif
