/* Which options exclude each other or need another, and which values go together. */
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "option_table.h"
#include "opts.h"
#include "summary/summary.h"
#include "term/message.h"
#include "term/path.h"

/* Splits PATH: its name in *RET_NAME, the status of its folder in RET.  False when the folder does
 * not exist. */
static bool stat_folder(const char *path, const char **ret_name, struct stat *ret)
{
    char folder[PATH_MAX];
    cli_path_folder(path, folder, sizeof folder);
    *ret_name = cli_path_name(path);
    return stat(folder, ret) == 0;
}

/* Would both names be the same file?  Neither needs to exist yet. */
static bool same_output(const char *a, const char *b)
{
    struct stat sa, sb;
    const char *name_a, *name_b;
    if (strcmp(a, b) == 0)
        return true;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0)
        return false;
    if (stat(a, &sa) == 0 && stat(b, &sb) == 0)
        return S_ISREG(sa.st_mode) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
    return stat_folder(a, &name_a, &sa) && stat_folder(b, &name_b, &sb) &&
           strcmp(name_a, name_b) == 0 && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* Checks for at least two dumps; the newer one of two can be a process. */
static const char *complete_inputs(const struct cli_command *c, const struct cli_args *args,
                                   bool live)
{
    size_t pipes = 0;
    for (size_t i = 0; i < args->input_count; i++)
        pipes += strcmp(args->inputs[i], "-") == 0;
    if (pipes > 1)
        return "standard input can be read only once";
    if (c->bit == CLI_TREND)
        return args->input_count < 2 ? "trend needs two dumps or more, the oldest first" : NULL;
    return args->input_count + live == 2 ? NULL
           : args->input_count + live > 2
               ? "diff compares two dumps; gcdumpc trend compares more"
               : "diff needs two dumps: OLD and NEW, or OLD and a process";
}

/* ---- options that exclude each other, or need another ---- */

enum relation { EXCLUDES, NEEDS };
#define NEEDS_OUTPUT " needs an output: -o FILE, or -o - for standard output, or --summary FILE"

#define DIRECT_EXCLUDES                                                                          \
    "--direct records no events: it cannot be combined with --buffer, --max-buffer, --retries, " \
    "--rundown, --no-ranges, --keep-partial and --max-pause-estimate"

/*
 * Names of options, with blanks between them, and in capital letters PROCESS (any way to name one),
 * FILE (an input), NOTHING (always true).  EXCLUDES: none of THESE with any of THOSE, except
 * itself; NEEDS: any of THESE only with one of THOSE.  The first rule that is broken is reported.
 */
static const struct rule {
    unsigned commands;
    const char *these;
    enum relation relation;
    const char *those;
    const char *problem;
} rules[] = {
    { CLI_MCP, "values", NEEDS, "allow-collect",
      "--values is for dumps that the server takes: it needs --allow-collect" },
    { CLI_MCP, "allow-collect", NEEDS, "root",
      "--allow-collect needs --root, the folder for the dumps" },
    { LIVE, "pid name port listen", EXCLUDES, "pid name port listen",
      "give one of --pid, --name, --port and --listen" },
    { LIVE, "container", EXCLUDES, "port listen",
      "--container can only be combined with --pid, --name and --all" },
    { DUMP_LIVE, "all", EXCLUDES, "pid port listen",
      "--all can only be combined with --name and --container" },
    { CLI_WATCH, "NOTHING", NEEDS, "PROCESS",
      "watch needs processes: --pid N, --name NAME, --container ID or --all" },
    { CLI_WATCH, "NOTHING", NEEDS, "when",
      "watch needs a condition: --when CONDITION, such as --when 'rss > 85%'" },
    { CLI_WATCH, "summary-first", NEEDS, "summary", "--summary-first needs --summary FILE" },
    { CLI_COLLECT, "NOTHING", NEEDS, "PROCESS",
      "collect needs the process: --pid N, --name NAME, --container ID, --port PATH, --listen ADDR "
      "or --all" },
    { ALL & ~COMPARE & ~CLI_LEAKS, "FILE", EXCLUDES, "PROCESS",
      "give a file or a process, not both" },
    { ALL & ~COMPARE & ~CLI_MCP, "NOTHING", NEEDS, "FILE PROCESS", "a file is needed" },
    { LIVE, "delay", NEEDS, "listen", "--delay needs --listen" },
    { LIVE, "any-address", NEEDS, "listen", "--any-address needs --listen tcp:HOST:PORT" },
    { LIVE, "direct max-stop max-stop-total", NEEDS, "pid name container all",
      "--direct and --max-stop need the process: --pid N, --name NAME or --container ID" },
    { LIVE, "direct max-stop", EXCLUDES,
      "buffer max-buffer retries rundown no-ranges keep-partial max-pause-estimate",
      DIRECT_EXCLUDES },
    { LIVE, "save-trace", NEEDS, "PROCESS",
      "--save-trace keeps the stream of a process, not of a file" },
    { LIVE & ~CLI_SQL, "timeout", NEEDS, "PROCESS", "--timeout is for running processes (--pid)" },
    { LIVE, "buffer max-buffer retries rundown keep-partial force", NEEDS, "PROCESS",
      "--buffer, --max-buffer, --retries, --rundown, --keep-partial and --force are for running "
      "processes (--pid)" },
    { CLI_RETAINED, "content by-dominator", EXCLUDES,
      "content by-dominator tree type filter largest",
      "--content and --by-dominator show one table: give one of them, without --type, --filter, "
      "--largest and --tree" },
    { CLI_RETAINED, "by-field", EXCLUDES, "content by-dominator tree filter largest",
      "--by-field shows one table: it cannot be combined with --content, --by-dominator, --tree, "
      "--filter and --largest" },
    { CLI_RETAINED, "by", NEEDS, "type", "--by needs --type PATTERN" },
    { CLI_RETAINED, "by", EXCLUDES, "by-field",
      "give one of --by FIELD and --by-field, which lists what each field retains" },
    { CLI_COLLECT, "show-values", EXCLUDES, "save-trace",
      "--show-values is for the output; the stream of --save-trace would keep the values, too" },
    { CLI_CONVERT, "redact", EXCLUDES, "show-values",
      "--redact leaves no values: it cannot be combined with --show-values" },
    { CLI_RETAINED, "show-values", NEEDS, "by", "--show-values is for --by FIELD" },
    { CLI_RETAINED, "skip", NEEDS, "by-dominator", "--skip is for --by-dominator" },
    { CLI_RETAINED, "tree", EXCLUDES, "type filter largest",
      "--tree shows all types: it cannot be combined with --type, --filter and --largest" },
    { CLI_RETAINED, "type", EXCLUDES, "filter largest",
      "--type shows one table: it cannot be combined with --filter and --largest" },
    { CLI_SITES, "window settle max-pause no-movement", NEEDS, "PROCESS",
      "--window, --settle, --max-pause and --no-movement are for running processes (--pid)" },
    { CLI_COLLECT, "settle", NEEDS, "window", "--settle is for sampled allocations (--window)" },
    { CLI_COLLECT, "window", NEEDS, "pid name container all",
      "--window needs the process: --pid N, --name NAME, --container ID or --all" },
    { CLI_COLLECT, "window", EXCLUDES, "direct strategy values fields",
      "--window records events: it cannot be combined with --direct, --strategy, --values and "
      "--fields" },
    { CLI_SITES, "max-pause", EXCLUDES, "no-movement",
      "--no-movement has no longer pauses: it cannot be combined with --max-pause" },
    { CLI_PATHS, "type", EXCLUDES, "object", "give a type or --object, not both" },
    { CLI_PATHS, "NOTHING", NEEDS, "type object",
      "paths needs a target after the dump: a type like Shop.Order, or --type PATTERN, or "
      "--object ADDRESS" },
    { CLI_PATHS, "to-root", EXCLUDES, "from-root", "give one of --to-root and --from-root" },
    { ALL, "json", EXCLUDES, "csv", "give one of --json and --csv" },
    { CLI_DIFF, "paths", EXCLUDES, "sort retained",
      "--paths sorts by growth of bytes: it cannot be combined with --sort and --retained" },
    { ALL, "memory", EXCLUDES, "max-memory",
      "give one of --memory, which moves the excess to a file, and --max-memory, which fails" },
    { ALL, "modules", EXCLUDES, "no-modules", "give one of --modules and --no-modules" },
    { LIVE, "keep-partial", EXCLUDES, "strict", "give one of --keep-partial and --strict" },
    { LIVE, "PROCESS", EXCLUDES, "events walk process max-block",
      "--events, --walk, --process and --max-block are for recordings, not for running processes" },
};

/* Is the option in ARGS, with another value than its default? */
static bool is_given(const struct option_row *r, const struct cli_args *args)
{
    const char *text;
    static const uint64_t zeros[1];
    const char *field = (const char *)args + r->field;
    if (r->field == FIELD(live.retries))
        return args->live.retries != DEFAULT_RETRIES;
    if (r->field == FIELD(sites.window_s))
        return args->sites.window_s != WINDOW_SECONDS;
    if (r->field == FIELD(sites.settle_s))
        return args->sites.settle_s != SETTLE_SECONDS;
    if (r->field == FIELD(watch.cooldown_s))
        return args->watch.cooldown_s != COOLDOWN_SECONDS;
    switch (r->type) { /* without default: the compiler notices a new type */
    case OPT_FLAG:
    case OPT_JSON:
        return memcmp(field, zeros, sizeof(bool)) != 0;
    case OPT_TEXT:
    case OPT_LIST:
        memcpy(&text, field, sizeof text);
        return text != NULL;
    case OPT_NUMBER:
    case OPT_SIZE:
    case OPT_PERCENT:
    case OPT_SHARE:
    case OPT_TIME:
        return memcmp(field, zeros, sizeof(uint64_t)) != 0;
    case OPT_SORT:
    case OPT_BY:
    case OPT_STRATEGY:
    case OPT_NAMES:
    case OPT_STACK_BY:
    case OPT_LOG:
    case OPT_LARGEST:
    case OPT_COLOR:
    case OPT_VALUES:
    case OPT_FIELDS:
    case OPT_SHOW:
    case OPT_REDACT:
        return memcmp(field, zeros, sizeof(unsigned)) != 0;
    case OPT_PROCESS:
        return args->dump.process != 0 || args->dump.process_name != NULL;
    }
    return false;
}

/* Is one of WORDS given?  Not the one with the number EXCEPT; its number in *RET. */
static bool any_given(const struct cli_command *c, const struct cli_args *args, const char *words,
                      size_t except, size_t *ret)
{
    for (size_t n; *words != '\0'; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        const struct option_row *r = cli_find_option(c, words, n, 0);
        bool given = strncmp(words, "NOTHING", n) == 0   ? true
                     : strncmp(words, "FILE", n) == 0    ? args->input != NULL
                     : strncmp(words, "PROCESS", n) == 0 ? cli_is_live(args)
                                                         : r != NULL && is_given(r, args);
        *ret = r != NULL ? (size_t)(r - cli_option_rows) : CLI_OPTION_ROWS;
        if (given && (r == NULL || *ret != except))
            return true;
    }
    return false;
}

/* What is wrong with the combination of ARGS; NULL = nothing. */
static const char *broken_rule(const struct cli_command *c, const struct cli_args *args)
{
    for (const struct rule *r = rules; r < rules + sizeof rules / sizeof *rules; r++) {
        size_t this, that;
        if ((r->commands & c->bit) != 0 && any_given(c, args, r->these, SIZE_MAX, &this) &&
            any_given(c, args, r->those, r->relation == EXCLUDES ? this : SIZE_MAX, &that) ==
                (r->relation == EXCLUDES))
            return r->problem;
    }
    return NULL;
}

/* What no table can say. */
static const char *wrong_values(const struct cli_command *c, const struct cli_args *args)
{
    const struct cli_output_args *o = &args->output;
    const char *trace = args->live.save_trace;
    if (args->target.any_address && cli_tcp_address(args) == NULL)
        return "--any-address needs --listen tcp:HOST:PORT";
    if (trace != NULL && same_output(trace, o->path != NULL ? o->path : "-"))
        return "--save-trace needs a file of its own";
    if (o->summary != NULL && ((trace != NULL && same_output(trace, o->summary)) ||
                               (o->path != NULL && same_output(o->path, o->summary))))
        return "--summary needs a file of its own";
    if (args->live.direct && args->live.strategy != CLI_STRATEGY_AUTO &&
        args->live.strategy != CLI_STRATEGY_DIRECT)
        return "--direct is a strategy of its own: give one of --direct and --strategy";
    if (args->live.max_stop_total_ms != 0 && !cli_is_direct(args))
        return "--max-stop-total needs --direct or --max-stop";
    if (args->dump.with_dead && cli_is_live(args) && !cli_is_direct(args))
        return "--with-dead needs --direct: by events the runtime sends only what its roots reach";
    if (args->live.max_buffer_mb != 0 && args->live.buffer_mb > args->live.max_buffer_mb)
        return "--buffer is larger than --max-buffer";
    if (args->job.adopt && args->live.dry_run)
        return "--adopt changes a list of files, --dry-run nothing";
    if (args->view.sql != NULL && args->view.sql_file != NULL)
        return "give a statement or --file, not both";
    if (args->view.sql_file != NULL && args->input != NULL &&
        strcmp(args->view.sql_file, "-") == 0 && strcmp(args->input, "-") == 0)
        return "standard input can be read only once";
    if (args->view.sort == CLI_SORT_RETAINED && !args->view.retained)
        return "--sort retained needs --retained";
    if (c->bit == CLI_WATCH && args->watch.outputs[0] != NULL && args->watch.outputs[1] != NULL &&
        strcmp(args->watch.outputs[0], args->watch.outputs[1]) == 0)
        return "each -o needs a file of its own";
    if ((c->bit & OUTPUTS & ~CLI_WATCH) != 0 && o->path == NULL && o->summary == NULL &&
        !args->live.dry_run)
        return c->bit == CLI_COLLECT ? "collect" NEEDS_OUTPUT : "convert" NEEDS_OUTPUT;
    return NULL;
}

enum cli_exit cli_check_args(const struct cli_command *c, const struct cli_args *ret)
{
    if ((c->bit & (CLI_PS | CLI_RUN)) != 0)
        return CLI_DONE;
    const char *problem = ret->target.name != NULL && ret->target.name[0] == '\0'
                              ? "--name needs a name"
                          : ret->target.container != NULL && ret->target.container[0] == '\0'
                              ? "--container needs an id or a name"
                              : broken_rule(c, ret);
    if (problem == NULL && (c->bit & COMPARE) != 0)
        problem = complete_inputs(c, ret, cli_is_live(ret));
    if (problem == NULL)
        problem = wrong_values(c, ret);
    if (problem != NULL)
        return cli_error(CLI_USAGE, NULL, "%s; see gcdumpc %s --help", problem, c->name);
    return (c->bit & OUTPUTS) != 0 ? cli_summary_check(ret) : CLI_DONE;
}
