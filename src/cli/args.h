/*
 * What the command line asks for.
 */
#ifndef GCD_CLI_ARGS_H
#define GCD_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/gcdumpc.h>

enum cli_sort { CLI_SORT_BYTES, CLI_SORT_COUNT, CLI_SORT_NAME, CLI_SORT_RETAINED };
enum cli_by { CLI_BY_TYPE, CLI_BY_MODULE, CLI_BY_NAMESPACE, CLI_BY_KIND, CLI_BY_GENERATION, CLI_BY_LENGTH, CLI_BY_ROOT };
enum cli_largest { CLI_LARGEST_BOTH, CLI_LARGEST_OBJECTS, CLI_LARGEST_TYPES };
enum cli_names { CLI_NAMES_DEFAULT, CLI_NAMES_CSHARP, CLI_NAMES_RAW };
enum cli_log { CLI_LOG_NONE, CLI_LOG_TEXT, CLI_LOG_JSON };
enum cli_strategy { CLI_STRATEGY_AUTO, CLI_STRATEGY_SINGLE, CLI_STRATEGY_DRAIN };

#define CLI_THRESHOLDS_MAX 32

/* PerfView makes four files of one recording. */
#define CLI_MORE_INPUTS 7u

/* All options of all commands; the table of opts.c says which command takes which. */
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

/* Do ARGS name a process? */
static inline bool cli_is_live(const struct cli_args *args)
{
    return args->pid != 0 || args->name != NULL || args->port != NULL || args->listen != NULL || args->all;
}

/* Must some room stay free on the disk, whatever the process sends?  Not with --force. */
static inline bool cli_keeps_room(const struct cli_args *args)
{
    return cli_is_live(args) && !args->force;
}

#endif
