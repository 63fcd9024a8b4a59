#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/spill.h>
#include <gcdumpc/unstable/values.h>

#include "args.h"
#include "commands/commands.h"
#include "summary/summary.h"
#include "exit.h"
#include "input/input.h"
#include "opts.h"
#include "term/message.h"
#include "term/path.h"
#include "term/suggest.h"
#include "term/term.h"

enum option_type {
    OPT_FLAG,
    OPT_JSON, /* a flag, with an optional number of the schema */
    OPT_TEXT,
    OPT_LIST,
    OPT_NUMBER,
    OPT_SIZE,
    OPT_PERCENT,
    OPT_TIME,
    OPT_SORT,
    OPT_BY,
    OPT_STRATEGY,
    OPT_NAMES,
    OPT_STACK_BY,
    OPT_LOG,
    OPT_LARGEST,
    OPT_COLOR,
    OPT_VALUES,
    OPT_FIELDS,
    OPT_SHOW,   /* a flag, with an optional word, */
    OPT_REDACT, /* and another */
    OPT_PROCESS
};

struct option_row {
    const char *name;
    char letter;          /* 0 = none */
    const char *argument; /* NULL = none */
    const char *help;
    unsigned commands;
    enum option_type type;
    size_t field; /* in struct cli_args */
    /* numbers, sizes, times in seconds; for a list, max is its capacity */
    uint64_t min, max;
};

/* Words for the values of an enum, in its order; NULL after the last. */
static const char *const choices[][8] = {
    [OPT_SORT] = { "bytes", "count", "name", "retained", NULL }, /* enum cli_sort */
    /* enum gcd_histogram_by */
    [OPT_BY] = { "type", "module", "namespace", "kind", "generation", "length", "root", NULL },
    [OPT_STRATEGY] = { "auto", "single", "drain", "direct", NULL }, /* enum cli_strategy */
    [OPT_NAMES] = { "default", "csharp", "raw", NULL },             /* enum cli_names */
    [OPT_LARGEST] = { "both", "objects", "types", NULL },           /* enum cli_largest */
    [OPT_VALUES] = { "none", "hashes", "strings", "all", NULL },    /* enum gcd_values_kind */
    [OPT_FIELDS] = { "certain", "exact", NULL },                    /* enum cli_fields */
    [OPT_SHOW] = { "none", "masked", "raw", NULL },                 /* enum cli_values */
    [OPT_REDACT] = { "keep", "remove", "hash", NULL },              /* enum cli_redact */
    [OPT_COLOR] = { "auto", "always", "never", NULL },              /* enum cli_color */
    [OPT_STACK_BY] = { "dominators", "paths", "waits", NULL },      /* enum gcd_stack_by */
    [OPT_LOG] = { "none", "text", "json", NULL },                   /* enum cli_log */
};
#define CHOICE_TYPES (sizeof choices / sizeof *choices)

#define HOLDERS \
    (CLI_RETAINED | CLI_PATHS | CLI_LEAKS | CLI_ASYNC | CLI_STRINGS | CLI_EXCEPTIONS | CLI_SITES)
#define COMPARE   (CLI_DIFF | CLI_TREND)
#define DUMP_LIVE (CLI_COLLECT | CLI_WATCH)
#define ALL                                                                                   \
    (CLI_MCP | DUMP_LIVE | CLI_CONVERT | CLI_INFO | CLI_REPORT | CLI_PS | CLI_RUN | CLI_SQL | \
     CLI_BROWSE | HOLDERS | COMPARE)
#define FILE_ONE  (CLI_CONVERT | CLI_INFO | CLI_REPORT | CLI_BROWSE | HOLDERS)
#define FILES     (FILE_ONE | COMPARE | CLI_SQL)
#define DUMPS     (DUMP_LIVE | FILES)
#define TABLES    (CLI_INFO | CLI_REPORT | CLI_PS | CLI_SQL | HOLDERS | COMPARE)
#define OUTPUTS   (DUMP_LIVE | CLI_CONVERT)
#define READ_LIVE (CLI_INFO | CLI_REPORT | CLI_SQL | CLI_BROWSE | HOLDERS | CLI_DIFF)
#define LIVE      (DUMP_LIVE | READ_LIVE)
/* sites needs several event sessions at a time, watch the memory of a process */
#define ANY_PORT (LIVE & ~(CLI_SITES | CLI_WATCH))
#define GRAPHS   (OUTPUTS | CLI_REPORT | CLI_SQL | CLI_BROWSE | HOLDERS | COMPARE)
/* options of collect: accepted by the analyses with a note until 0.4; only in its full help */
#define MOVED            (1u << 30)
#define RARE             (1u << 31)
#define DEFAULT_RETRIES  1u
#define WINDOW_SECONDS   30u
#define SETTLE_SECONDS   60u
#define COOLDOWN_SECONDS 600u
#define FIELD(f)         offsetof(struct cli_args, f)

/* The table for parsing and for help; an option name means the same in all commands. */
static const struct option_row rows[] = {
    { "pid", 'p', "N", "the process to dump", LIVE, OPT_NUMBER, FIELD(target.pid), 1, UINT32_MAX },
    { "name", 0, "NAME", "the process by the name of its program or entry assembly, or a pattern",
      LIVE, OPT_TEXT, FIELD(target.name), 0, 0 },
    { "container", 0, "ID",
      "the process in this container; of several by --name, or by --pid as seen inside", LIVE,
      OPT_TEXT, FIELD(target.container), 0, 0 },
    { "port", 0, "PATH", "the process by its diagnostic socket, also unix:PATH", ANY_PORT, OPT_TEXT,
      FIELD(target.port), 0, 0 },
    { "listen", 0, "ADDR", "listen there for a program started with DOTNET_DiagnosticPorts=ADDR",
      ANY_PORT, OPT_TEXT, FIELD(target.listen), 0, 0 },
    { "any-address", 0, NULL,
      "with --listen tcp:HOST:PORT: an address that other machines can reach", ANY_PORT | RARE,
      OPT_FLAG, FIELD(target.any_address), 0, 0 },
    { "delay", 0, "SECONDS", "let a program that connected run this long before the dump (0)",
      ANY_PORT | RARE, OPT_NUMBER, FIELD(target.delay_s), 0, 1000000 },
    { "output", 'o', "FILE", "where to write (NAME-PID-TIME.nettrace.gz); \"-\" is standard output",
      CLI_COLLECT, OPT_TEXT, FIELD(output.path), 0, 0 },
    { "output", 'o', "FILE",
      "where a dump goes (NAME-PID-TIME.nettrace.gz); repeated: one after the other", CLI_WATCH,
      OPT_LIST, FIELD(watch.outputs), 0, CLI_OUTPUTS_MAX },
    { "when", 0, "CONDITION", "dump it when this is true, see below; can be repeated: any of them",
      CLI_WATCH, OPT_LIST, FIELD(watch.when), 0, CLI_WHEN_MAX },
    { "when", 0, "CONDITION",
      "only if this is true, as rss > 85%: see gcdumpc watch; can be repeated: any of them",
      CLI_COLLECT | RARE, OPT_LIST, FIELD(watch.when), 0, CLI_WHEN_MAX },
    { "cooldown", 0, "TIME", "how long to wait after a dump before the next of that process (10m)",
      CLI_WATCH, OPT_TIME, FIELD(watch.cooldown_s), 1, UINT32_MAX },
    { "once", 0, NULL, "end after the first dump, with its exit status", CLI_WATCH, OPT_FLAG,
      FIELD(watch.once), 0, 0 },
    { "summary-first", 0, NULL, "take a dump for the summary alone, before the others", CLI_WATCH,
      OPT_FLAG, FIELD(watch.summary_first), 0, 0 },
    { "output", 'o', "FILE", "where to write; \"-\" is standard output", CLI_CONVERT | CLI_REPORT,
      OPT_TEXT, FIELD(output.path), 0, 0 },
    { "output", 'o', "FILE", "write a flame graph of the stacks: .folded, .pb or .pb.gz", CLI_ASYNC,
      OPT_TEXT, FIELD(output.path), 0, 0 },
    { "output", 'o', "FILE",
      "write a recording (.nettrace.gz), or a profile: .pb.gz, .folded, .speedscope.json",
      CLI_SITES, OPT_TEXT, FIELD(output.path), 0, 0 },
    { "output", 'o', "FILE",
      "write a page for browsers, FILE.html, with types, retained sizes and paths", CLI_DIFF,
      OPT_TEXT, FIELD(output.path), 0, 0 },
    { "output", 'o', "FILE", "write a page for browsers, FILE.html, with lines over time",
      CLI_TREND, OPT_TEXT, FIELD(output.path), 0, 0 },
    { "output", 'o', "FILE", "write a page for browsers, FILE.html, with the suspects first",
      CLI_LEAKS, OPT_TEXT, FIELD(output.path), 0, 0 },
    { "summary", 0, "FILE",
      "a summary of the dump, with or without -o: one line of JSON, which trend reads", OUTPUTS,
      OPT_TEXT, FIELD(output.summary), 0, 0 },
    { "label", 0, "KEY=VALUE",
      "add this to the summary, for example version=1.4.2; can be repeated", OUTPUTS | RARE,
      OPT_LIST, FIELD(output.labels), 0, CLI_LABELS_MAX },
    { "format", 'f', "NAME", "format of the output (default: by its suffix)",
      OUTPUTS | CLI_REPORT | CLI_ASYNC, OPT_TEXT, FIELD(output.format), 0, 0 },
    { "save-trace", 0, "FILE", "also keep the event stream, as .nettrace or .nettrace.gz", ANY_PORT,
      OPT_TEXT, FIELD(live.save_trace), 0, 0 },
    { "plain", 0, NULL,
      "record the event stream as it came, without names from the files of its modules",
      DUMP_LIVE | MOVED | RARE, OPT_FLAG, FIELD(live.plain), 0, 0 },
    { "names", 0, "STYLE", "spelling of type names: csharp, raw (as the runtime), or default",
      OUTPUTS | CLI_REPORT | CLI_SQL | CLI_BROWSE | (HOLDERS & ~CLI_ASYNC) | COMPARE, OPT_NAMES,
      FIELD(view.names), 0, 0 },
    { "stack-by", 0, "HOW",
      "stack profiles by dominators (default), paths, or waits (async methods)", OUTPUTS | RARE,
      OPT_STACK_BY, FIELD(output.stack_by), 0, 0 },
    { "keep-unknown", 0, NULL, "keep references to unknown objects, as a made-up object",
      OUTPUTS | RARE, OPT_FLAG, FIELD(output.keep_unknown), 0, 0 },
    { "by", 0, "WHAT", "what each line shows: type (default) or others, see below", CLI_REPORT,
      OPT_BY, FIELD(view.by), 0, 0 },
    { "retained", 0, NULL,
      "also a lower bound of what the objects of a line retain; needs the graph",
      CLI_REPORT | COMPARE, OPT_FLAG, FIELD(view.retained), 0, 0 },
    { "type", 0, "PATTERN", "objects of types like Shop.*, byte[], /REGEX/",
      CLI_RETAINED | CLI_PATHS, OPT_TEXT, FIELD(view.type), 0, 0 },
    { "object", 0, "WHICH", "one object: its address 0x..., or its number", CLI_PATHS, OPT_TEXT,
      FIELD(view.object), 0, 0 },
    { "from-root", 0, NULL, "paths begin at the roots (default)", CLI_PATHS, OPT_FLAG,
      FIELD(view.from_root), 0, 0 },
    { "to-root", 0, NULL, "paths begin at the objects", CLI_PATHS, OPT_FLAG, FIELD(view.to_root), 0,
      0 },
    { "max-paths", 0, "N", "show the N paths that lead to the most bytes (10)", CLI_PATHS,
      OPT_NUMBER, FIELD(view.max_paths), 1, UINT32_MAX },
    { "largest", 0, "WHAT", "which tables: objects, types or both (default)", CLI_RETAINED,
      OPT_LARGEST, FIELD(view.largest), 0, 0 },
    { "tree", 0, "N", "the first N levels of the dominator tree instead", CLI_RETAINED, OPT_NUMBER,
      FIELD(view.tree), 1, 255 },
    { "content", 0, "PATTERN", "what all objects of these types retain together, by type",
      CLI_RETAINED, OPT_TEXT, FIELD(view.content), 0, 0 },
    { "by-dominator", 0, "PATTERN", "which objects dominate those of these types, by type",
      CLI_RETAINED, OPT_TEXT, FIELD(view.by_dominator), 0, 0 },
    { "by-field", 0, NULL, "what each field of the program's classes retains, or of --type PATTERN",
      CLI_RETAINED, OPT_FLAG, FIELD(view.by_field), 0, 0 },
    { "by", 0, "FIELD", "the objects of --type PATTERN by the value of this field", CLI_RETAINED,
      OPT_TEXT, FIELD(view.by_value), 0, 0 },
    { "skip", 0, "PATTERN", "skip dominators of these types: show the next dominator above them",
      CLI_RETAINED, OPT_TEXT, FIELD(view.skip), 0, 0 },
    { "share", 0, "PERCENT", "suspect whatever retains at least this share of the heap (10)",
      CLI_LEAKS | CLI_BROWSE, OPT_NUMBER, FIELD(view.share_percent), 1, 100 },
    { "findings", 0, NULL, "also list what was looked for, with numbers and limits", CLI_LEAKS,
      OPT_FLAG, FIELD(view.findings), 0, 0 },
    { "filter", 0, "PATTERN", "only stacks with a frame like Shop.*, /REGEX/", CLI_ASYNC, OPT_TEXT,
      FIELD(view.filter), 0, 0 },
    { "filter", 0, "PATTERN", "only texts like https://*, /REGEX/", CLI_STRINGS, OPT_TEXT,
      FIELD(view.filter), 0, 0 },
    { "show-values", 0, NULL,
      "show texts, but mask secrets (default); --show-values=raw: as they are",
      CLI_STRINGS | CLI_PATHS, OPT_SHOW, FIELD(view.values), 0, 0 },
    { "show-values", 0, NULL,
      "show texts, such as keys, but mask secrets; --show-values=raw: as they are",
      CLI_LEAKS | CLI_BROWSE | CLI_MCP, OPT_SHOW, FIELD(view.values), 0, 0 },
    { "show-values", 0, NULL,
      "show paths of requests, but mask secrets; --show-values=raw: as they are", CLI_ASYNC,
      OPT_SHOW, FIELD(view.values), 0, 0 },
    { "show-values", 0, NULL, "show messages, but mask secrets; --show-values=raw: as they are",
      CLI_EXCEPTIONS, OPT_SHOW, FIELD(view.values), 0, 0 },
    { "show-values", 0, NULL,
      "with --by: show texts, but mask secrets; --show-values=raw: as they are", CLI_RETAINED,
      OPT_SHOW, FIELD(view.values), 0, 0 },
    { "show-values", 0, NULL,
      "write texts and values, but mask secrets; --show-values=raw: as they are",
      CLI_COLLECT | CLI_CONVERT, OPT_SHOW, FIELD(view.values), 0, 0 },
    { "show-values", 0, NULL,
      "fill tables strings and fields, but mask secrets; --show-values=raw: as they are", CLI_SQL,
      OPT_SHOW, FIELD(view.values), 0, 0 },
    { "filter", 0, "PATTERN", "only types like Shop.*, byte[], /REGEX/",
      CLI_REPORT | CLI_RETAINED | COMPARE, OPT_TEXT, FIELD(view.filter), 0, 0 },
    { "mine", 0, "PATTERN", "types of your own code, instead of a guess by module; can be repeated",
      OUTPUTS | CLI_SQL | CLI_PATHS | CLI_LEAKS | CLI_SITES | CLI_BROWSE | CLI_DIFF | CLI_MCP,
      OPT_LIST, FIELD(view.mine), 0, CLI_MINE_MAX },
    { "full", 0, NULL,
      "show all steps of paths, also those of the framework and inside of collections",
      CLI_PATHS | CLI_LEAKS | CLI_BROWSE | CLI_DIFF, OPT_FLAG, FIELD(view.full), 0, 0 },
    { "full", 0, NULL, "show all callers, also those of the framework", CLI_SITES, OPT_FLAG,
      FIELD(view.full), 0, 0 },
    { "separate-loads", 0, NULL, "tell apart the types of an assembly that is loaded several times",
      CLI_REPORT | CLI_RETAINED | CLI_PATHS | CLI_LEAKS | CLI_BROWSE, OPT_FLAG,
      FIELD(view.separate_loads), 0, 0 },
    { "min-bytes", 0, "SIZE", "only lines with at least this many bytes",
      CLI_REPORT | CLI_RETAINED | CLI_LEAKS | CLI_ASYNC | CLI_STRINGS | CLI_SITES, OPT_SIZE,
      FIELD(view.min_bytes), 0, INT64_MAX },
    { "sort", 's', "KEY", "order of the lines: bytes (default), count, name or retained",
      CLI_REPORT, OPT_SORT, FIELD(view.sort), 0, 0 },
    { "top", 'n', "N", "only the first N lines",
      CLI_REPORT | CLI_RETAINED | CLI_LEAKS | CLI_ASYNC | CLI_STRINGS | CLI_EXCEPTIONS | CLI_SITES |
          COMPARE,
      OPT_NUMBER, FIELD(view.top), 1, UINT32_MAX },
    { "top", 'n', "N", "types and holders in the summary (100)", OUTPUTS, OPT_NUMBER,
      FIELD(view.top), 1, 100000 },
    { "paths", 0, NULL, "compare paths from the roots, merged by type, instead of types", CLI_DIFF,
      OPT_FLAG, FIELD(view.paths), 0, 0 },
    { "min-bytes", 0, "SIZE", "only lines whose bytes changed by at least this many", COMPARE,
      OPT_SIZE, FIELD(view.min_bytes), 0, INT64_MAX },
    { "sort", 's', "KEY", "by growth of bytes (default), count or retained; or by name", COMPARE,
      OPT_SORT, FIELD(view.sort), 0, 0 },
    { "fail-if", 0, "EXPR", "exit with status 4 if EXPR is true, see below; can be repeated",
      COMPARE, OPT_LIST, FIELD(view.fail_if), 0, CLI_THRESHOLDS_MAX },
    { "json", 'j', NULL, "machine-readable output; --json=1: with the keys of 0.2.0", TABLES,
      OPT_JSON, FIELD(view.json), 0, 0 },
    { "csv", 0, NULL, "comma-separated values, RFC 4180", CLI_REPORT | CLI_SQL | HOLDERS | COMPARE,
      OPT_FLAG, FIELD(view.csv), 0, 0 },
    { "human", 0, NULL, "separators and units as on a terminal, also in a file or a pipe", TABLES,
      OPT_FLAG, FIELD(view.human), 0, 0 },
    { "color", 0, "WHEN", "bold headings: auto (on a terminal, default), always or never", TABLES,
      OPT_COLOR, FIELD(view.color), 0, 0 },
    { "file", 0, "FILE", "read the statements from FILE; \"-\" is standard input", CLI_SQL,
      OPT_TEXT, FIELD(view.sql_file), 0, 0 },
    { "events", 'e', NULL, "count the events of a recording instead", CLI_INFO, OPT_FLAG,
      FIELD(view.events), 0, 0 },
    { "timeout", 't', "SECONDS", "give up if a statement takes longer, or with --pid the dump",
      CLI_SQL, OPT_NUMBER, FIELD(live.timeout_s), 1, 1000000 },
    { "timeout", 't', "SECONDS", "give up if the dump takes longer (3600)", LIVE & ~CLI_SQL,
      OPT_NUMBER, FIELD(live.timeout_s), 1, 1000000 },
    { "dry-run", 0, NULL, "only show what would be watched, and whether a condition is true now",
      CLI_WATCH, OPT_FLAG, FIELD(live.dry_run), 0, 0 },
    { "dry-run", 0, NULL,
      "only say what the dump is expected to cost, without a garbage collection", CLI_COLLECT,
      OPT_FLAG, FIELD(live.dry_run), 0, 0 },
    { "buffer", 'b', "MB", "event buffer in the process for the first attempt (by its memory)",
      DUMP_LIVE | MOVED | RARE, OPT_NUMBER, FIELD(live.buffer_mb), 1, 4095 },
    { "max-buffer", 0, "MB", "largest event buffer for any attempt (4095, less if memory is short)",
      DUMP_LIVE | MOVED | RARE, OPT_NUMBER, FIELD(live.max_buffer_mb), 1, 4095 },
    { "retries", 0, "N", "retries with a larger buffer if events were lost (1)",
      DUMP_LIVE | MOVED | RARE, OPT_NUMBER, FIELD(live.retries), 0, 100 },
    { "max-bytes", 0, "SIZE", "refuse a compressed or piped core file that is larger when unpacked",
      FILES, OPT_SIZE, FIELD(live.max_bytes), 1024, UINT64_MAX },
    { "max-bytes", 0, "SIZE",
      "stop after this many bytes of events (4 times the process's memory, and 1G)",
      DUMP_LIVE | MOVED | RARE, OPT_SIZE, FIELD(live.max_bytes), 1024, UINT64_MAX },
    { "direct", 0, NULL, "read the memory of the process, without a garbage collection or its help",
      ANY_PORT | CLI_WATCH, OPT_FLAG, FIELD(live.direct), 0, 0 },
    { "max-stop", 0, "MS", "read it directly, and stop it for at most this long (2000)",
      ANY_PORT | CLI_WATCH, OPT_NUMBER, FIELD(live.max_stop_ms), 1, 3600000 },
    { "max-stop-total", 0, "MS", "at most this long in all tries together (10 times --max-stop)",
      ANY_PORT | CLI_WATCH | RARE, OPT_NUMBER, FIELD(live.max_stop_total_ms), 1, 36000000 },
    { "strategy", 0, "HOW",
      "one session (single), two (drain), or none (direct); auto chooses by runtime version",
      DUMP_LIVE | MOVED | RARE, OPT_STRATEGY, FIELD(live.strategy), 0, 0 },
    { "no-ranges", 0, NULL, "do not record the memory ranges of the generations",
      DUMP_LIVE | MOVED | RARE, OPT_FLAG, FIELD(live.no_ranges), 0, 0 },
    { "rundown", 0, NULL, "also record modules and the runtime version; .NET 9 and later always do",
      DUMP_LIVE | MOVED | RARE, OPT_FLAG, FIELD(live.rundown), 0, 0 },
    { "keep-partial", 0, NULL, "if the process or the stream ends early, keep what was received",
      DUMP_LIVE | MOVED | RARE, OPT_FLAG, FIELD(live.keep_partial), 0, 0 },
    { "force", 0, NULL, "continue even if memory or disk seem too small or another dump is running",
      DUMP_LIVE | MOVED | RARE, OPT_FLAG, FIELD(live.force), 0, 0 },
    { "walk", 'd', "N", "which heap walk, if the recording holds several (1)", FILE_ONE | CLI_SQL,
      OPT_NUMBER, FIELD(dump.walk), 1, 65536 },
    { "process", 0, "PID|NAME", "which process, if the recording holds several", FILES, OPT_PROCESS,
      FIELD(dump.process), 1, UINT32_MAX },
    { "with-dead", 0, NULL,
      "of a core file, or with --direct, also the objects that no root reaches", DUMPS, OPT_FLAG,
      FIELD(dump.with_dead), 0, 0 },
    { "values", 0, "KIND",
      "keep strings (their texts), hashes (which are equal), all (also numbers), or none", OUTPUTS,
      OPT_VALUES, FIELD(dump.values), 0, 0 },
    { "fields", 0, "KIND",
      "exact: read which references are null, so that all fields and indexes are known",
      OUTPUTS | RARE, OPT_FIELDS, FIELD(dump.fields), 0, 0 },
    { "redact", 0, NULL,
      "remove the values that a recording has; --redact=hash: keep which are equal", CLI_CONVERT,
      OPT_REDACT, FIELD(output.redact), 0, 0 },
    { "values-time", 0, "MS", "read them for at most this long (2000)", DUMP_LIVE | RARE,
      OPT_NUMBER, FIELD(live.values_ms), 1, 1000000 },
    { "max-string", 0, "N", "keep the first N characters of a text (256)",
      CLI_STRINGS | CLI_EXCEPTIONS | OUTPUTS, OPT_NUMBER, FIELD(dump.max_string), 1,
      GCD_MAX_STRING_LIMIT },
    { "modules", 0, "FOLDER", "look for the program's files there, for full names; can be repeated",
      DUMPS | CLI_MCP, OPT_LIST, FIELD(modules.folders), 0, CLI_MODULE_FOLDERS_MAX },
    { "sysroot", 0, "FOLDER", "look for the files of modules at their paths below it", FILES,
      OPT_TEXT, FIELD(modules.sysroot), 0, 0 },
    { "no-modules", 0, NULL,
      "do not read the program's files: names stay as the runtime sends them", DUMPS | CLI_MCP,
      OPT_FLAG, FIELD(modules.off), 0, 0 },
    { "no-fields", 0, NULL, "do not name the fields that references go through",
      (DUMPS & ~DUMP_LIVE) | CLI_MCP, OPT_FLAG, FIELD(modules.no_fields), 0, 0 },
    { "strict", 0, NULL, "refuse incomplete data: write and show nothing, exit with status 1",
      DUMPS, OPT_FLAG, FIELD(strict), 0, 0 },
    { "max-block", 0, "SIZE", "largest block to accept in a recording (16M)", FILES | CLI_MCP,
      OPT_SIZE, FIELD(limits.input.block_bytes), 1024, UINT64_C(1) << 30 },
    { "max-objects", 0, "N", "refuse a dump with more objects", DUMPS | CLI_MCP, OPT_NUMBER,
      FIELD(limits.input.objects), 1, UINT64_MAX },
    { "max-memory", 0, "SIZE", "fail rather than use more memory", DUMPS | CLI_MCP, OPT_SIZE,
      FIELD(limits.max_memory_bytes), UINT64_C(1) << 20, UINT64_MAX },
    { "threads", 0, "N", "use at most N processor cores (all)", ALL & ~(CLI_PS | CLI_RUN),
      OPT_NUMBER, FIELD(limits.threads), 1, CLI_THREADS_MAX },
    { "memory", 0, "SIZE",
      "memory to use (what its cgroup has left), such as 300M; the rest goes to files",
      GRAPHS | CLI_MCP, OPT_SIZE, FIELD(limits.memory_bytes), GCD_SPILL_BUDGET_MIN, INT64_MAX },
    { "spill-dir", 0, "FOLDER", "folder for these files, on a disk (TMPDIR, else /var/tmp)",
      GRAPHS | CLI_MCP, OPT_TEXT, FIELD(limits.spill_dir), 0, 0 },
    { "all", 0, NULL, "all processes, or all that match --name; the output needs %p in its name",
      DUMP_LIVE, OPT_FLAG, FIELD(target.all), 0, 0 },
    { "keep", 0, "N",
      "keep N dumps of the same -o and process name, this one included, remove older ones",
      DUMP_LIVE, OPT_NUMBER, FIELD(job.keep), 1, UINT32_MAX },
    { "keep-days", 0, "D", "remove earlier dumps after this many days", DUMP_LIVE, OPT_NUMBER,
      FIELD(job.keep_days), 1, 1000000 },
    { "max-total", 0, "SIZE", "remove the oldest dumps if all together are larger than this",
      DUMP_LIVE, OPT_SIZE, FIELD(job.max_total_bytes), 1, UINT64_MAX },
    { "adopt", 0, NULL,
      "take over files that the job would have named but does not list, as those of 0.2.0",
      CLI_COLLECT | CLI_RUN, OPT_FLAG, FIELD(job.adopt), 0, 0 },
    { "if-rss-above", 0, "SIZE", "only if the process has more resident memory", DUMP_LIVE,
      OPT_SIZE, FIELD(job.if_rss_above), 1, UINT64_MAX },
    { "if-grown", 0, "PERCENT",
      "only if its memory has grown this much since the last dump, for example 10%", DUMP_LIVE,
      OPT_PERCENT, FIELD(job.if_grown), 1, 1000000 },
    { "min-interval", 0, "TIME", "only if the last dump is at least this old: 90s, 30m, 6h, 1d",
      DUMP_LIVE, OPT_TIME, FIELD(job.min_interval_s), 1, UINT32_MAX },
    { "if-free-disk", 0, "SIZE", "only if the disk of the output has this much room", DUMP_LIVE,
      OPT_SIZE, FIELD(job.if_free_disk), 1, UINT64_MAX },
    { "if-free-memory", 0, "SIZE", "only if machine and cgroup have this much memory left",
      DUMP_LIVE, OPT_SIZE, FIELD(job.if_free_memory), 1, UINT64_MAX },
    { "max-pause-estimate", 0, "MS",
      "only if its expected pause, by memory and last dump, is not longer", DUMP_LIVE, OPT_NUMBER,
      FIELD(job.max_pause_ms), 1, UINT32_MAX },
    { "skip-status", 0, "N", "exit status if these conditions prevent a dump (0)", CLI_COLLECT,
      OPT_NUMBER, FIELD(job.skip_status), 0, 125 },
    { "wait", 0, "SECONDS", "wait this long for another dump to end, instead of failing",
      DUMP_LIVE | MOVED | RARE, OPT_NUMBER, FIELD(live.wait_s), 0, 1000000 },
    { "exclusive", 0, NULL, "run no other dump with this option on the machine at the same time",
      DUMP_LIVE | MOVED | RARE, OPT_FLAG, FIELD(live.exclusive), 0, 0 },
    { "nice", 0, "N", "run with lower priority, as nice(1)", DUMP_LIVE, OPT_NUMBER, FIELD(job.nice),
      0, 19 },
    { "io-idle", 0, NULL, "use the disk only while nobody else does", DUMP_LIVE, OPT_FLAG,
      FIELD(job.io_idle), 0, 0 },
    { "log", 0, "HOW", "print one line per dump instead of other messages: text, json or none",
      DUMP_LIVE, OPT_LOG, FIELD(job.log), 0, 0 },
    { "syslog", 0, NULL, "send that line to the system log, too", DUMP_LIVE, OPT_FLAG,
      FIELD(job.syslog), 0, 0 },
    { "metrics", 0, "FILE", "write the outcome for node_exporter's textfile collector", DUMP_LIVE,
      OPT_TEXT, FIELD(job.metrics), 0, 0 },
    { "on-success", 0, "CMD",
      "run a program after a complete dump; it gets GCDUMPC_FILE and others", DUMP_LIVE, OPT_TEXT,
      FIELD(job.on_success), 0, 0 },
    { "on-failure", 0, "CMD", "run a program after an incomplete or failed dump", DUMP_LIVE,
      OPT_TEXT, FIELD(job.on_failure), 0, 0 },
    { "config", 0, "FILE", "the file that describes the jobs (/etc/gcdumpc.conf)", CLI_RUN,
      OPT_TEXT, FIELD(job.config), 0, 0 },
    { "check", 0, NULL, "only check all jobs, or the given JOB", CLI_RUN, OPT_FLAG,
      FIELD(job.check), 0, 0 },
    { "root", 0, "FOLDER",
      "read and write files only below this folder; links in it are not followed", CLI_MCP,
      OPT_TEXT, FIELD(mcp.root), 0, 0 },
    { "allow-collect", 0, NULL, "the client may dump processes, which pauses them", CLI_MCP,
      OPT_FLAG, FIELD(mcp.allow_collect), 0, 0 },
    { "window", 0, "TIME", "how long allocations are sampled (30s)", CLI_SITES, OPT_TIME,
      FIELD(sites.window_s), 1, 86400 },
    { "window", 0, "TIME",
      "sample allocations for so long before: which line allocated what is alive (sites)",
      CLI_COLLECT, OPT_TIME, FIELD(sites.with_window_s), 1, 86400 },
    { "settle", 0, "TIME",
      "how long short-lived objects have to die after that, before the walk (60s)",
      CLI_SITES | CLI_COLLECT, OPT_TIME, FIELD(sites.settle_s), 0, 864000 },
    { "max-pause", 0, "MS",
      "stop following objects when a background collection has paused for longer", CLI_SITES,
      OPT_NUMBER, FIELD(sites.max_pause_ms), 1, UINT32_MAX },
    { "no-movement", 0, NULL,
      "no extra pauses: do not follow objects that move; then small ones are approximate",
      CLI_SITES, OPT_FLAG, FIELD(sites.no_movement), 0, 0 },
    { "also-dead", 0, NULL, "what was allocated most, also sites without living objects", CLI_SITES,
      OPT_FLAG, FIELD(sites.also_dead), 0, 0 },
    { "verbose", 0, NULL, "also say what a dump took: events, memory, how it was taken", LIVE,
      OPT_FLAG, FIELD(verbose), 0, 0 },
    { "quiet", 'q', NULL, "no progress, no summary; errors and warnings only", ALL, OPT_FLAG,
      FIELD(quiet), 0, 0 },
    { "help", 'h', NULL, "show this help", ALL, OPT_FLAG, FIELD(help), 0, 0 },
};
#define ROW_COUNT (sizeof rows / sizeof *rows)

/* An option belongs to the group whose struct contains its field. */
#define GROUP(title, member)                                                       \
    {                                                                              \
        title, FIELD(member), FIELD(member) + sizeof((struct cli_args *)0)->member \
    }
static const struct {
    const char *title;
    size_t begin, end;
} groups[] = {
    GROUP("Target", target),
    GROUP("When", watch),
    GROUP("Output", output),
    GROUP("What to show", view),
    GROUP("Files and processes", mcp),
    GROUP("Samples", sites),
    GROUP("Live dump", live),
    GROUP("Unattended", job),
    GROUP("Reading", dump),
    GROUP("Reading", modules),
    GROUP("Reading", strict),
    GROUP("Limits", limits),
    GROUP("General", quiet),
    GROUP("General", verbose),
    GROUP("General", help),
};
#define GROUP_COUNT (sizeof groups / sizeof *groups)

static enum cli_takes takes(const struct option_row *r)
{
    if (r->argument == NULL)
        return CLI_TAKES_NOTHING;
    if ((r->type < CHOICE_TYPES && choices[r->type][0] != NULL) || r->field == FIELD(output.format))
        return CLI_TAKES_WORD;
    if (r->field == FIELD(target.pid))
        return CLI_TAKES_PROCESS;
    if (r->field == FIELD(target.name))
        return CLI_TAKES_NAME;
    if (strcmp(r->argument, "FILE") == 0 || strcmp(r->argument, "PATH") == 0 ||
        strcmp(r->argument, "ADDR") == 0)
        return CLI_TAKES_FILE;
    return strcmp(r->argument, "CMD") == 0 ? CLI_TAKES_PROGRAM : CLI_TAKES_TEXT;
}

static bool is_in(const struct option_row *r, size_t begin, size_t bytes)
{
    return r->field >= begin && r->field < begin + bytes;
}

static bool is_rare(const struct option_row *r)
{
    return (r->commands & RARE) != 0 || is_in(r, FIELD(job), sizeof(struct cli_job_args)) ||
           is_in(r, FIELD(limits), sizeof(struct cli_limit_args)) ||
           is_in(r, FIELD(view), sizeof(struct cli_view_args));
}

bool cli_option_at(const struct cli_command *c, size_t i, struct cli_option *ret)
{
    for (size_t g = 0; g < GROUP_COUNT; g++)
        for (const struct option_row *r = rows; r < rows + ROW_COUNT; r++)
            if ((r->commands & c->bit) != 0 && r->field >= groups[g].begin &&
                r->field < groups[g].end && i-- == 0) {
                *ret = (struct cli_option){ .name = r->name,
                                            .letter = r->letter,
                                            .argument = r->argument,
                                            .help = r->help,
                                            .takes = takes(r),
                                            .group = groups[g].title,
                                            .several = r->type == OPT_LIST,
                                            .rare = (c->bit & DUMP_LIVE) != 0 && is_rare(r),
                                            .row = (size_t)(r - rows) };
                return true;
            }
    return false;
}

void cli_print_options(FILE *to, const struct cli_command *command, bool all)
{
    struct cli_option o;
    const char *group = "";
    for (size_t i = 0; cli_option_at(command, i, &o); i++) {
        if (o.rare && !all)
            continue;
        if (strcmp(group, o.group) != 0)
            fprintf(to, "%s:\n", o.group);
        group = o.group;
        char left[48];
        (void)snprintf(left, sizeof left, "%c%c%s --%s%s%s", o.letter != 0 ? '-' : ' ',
                       o.letter != 0 ? o.letter : ' ', o.letter != 0 ? "," : " ", o.name,
                       o.argument != NULL ? " " : "", o.argument != NULL ? o.argument : "");
        int column = fprintf(to, "  %-24s  ", left);
        cli_print_wrapped(to, o.help, column > 0 ? (size_t)column : 0, 28);
    }
}

const char *cli_option_word(const struct cli_command *c, const struct cli_option *o, size_t i)
{
    const struct option_row *r = &rows[o->row];
    if (o->takes != CLI_TAKES_WORD)
        return NULL;
    if (r->field != FIELD(output.format)) {
        for (size_t k = 0; k <= i; k++)
            if (choices[r->type][k] == NULL)
                return NULL;
        return choices[r->type][i];
    }
    if ((c->bit & OUTPUTS) == 0)
        return cli_report_format(i);
    for (size_t k = 0; k < i; k++)
        if (gcd_format_at(k) == NULL)
            return NULL; /* the raw format was the last */
    if (gcd_format_at(i) != NULL)
        return gcd_format_name(gcd_format_at(i));
    return (c->bit & DUMP_LIVE) != 0 ? CLI_RAW_FORMAT : NULL;
}

/* Names from earlier releases: accepted silently, never shown. */
static const struct {
    const char *old, *name;
} renamed[] = { { "connect", "listen" }, { "dump", "walk" }, { "fold", "stack-by" } };

/* A letter that means something else in all other commands: accepted with a note in 0.3. */
static const struct old_letter {
    unsigned command;
    char letter;
    const char *name;
} old_letters[] = { { CLI_SQL, 'f', "file" } };

static bool has(const struct cli_command *c, const struct option_row *r)
{
    return (r->commands & c->bit) != 0;
}

/* The option of C named NAME[N], or with LETTER, also one that has moved to collect; NULL = none.
 */
static const struct option_row *find(const struct cli_command *c, const char *name, size_t n,
                                     char letter)
{
    for (size_t i = 0; name != NULL && i < sizeof renamed / sizeof *renamed; i++)
        if (strlen(renamed[i].old) == n && memcmp(renamed[i].old, name, n) == 0) {
            name = renamed[i].name;
            n = strlen(name);
        }
    for (size_t i = 0; i < ROW_COUNT; i++) {
        const struct option_row *r = &rows[i];
        if (!has(c, r) && !((r->commands & MOVED) != 0 && (c->bit & READ_LIVE) != 0))
            continue;
        if (name != NULL ? strlen(r->name) == n && memcmp(r->name, name, n) == 0
                         : r->letter == letter && letter != 0)
            return r;
    }
    for (size_t i = 0; name == NULL && i < sizeof old_letters / sizeof *old_letters; i++)
        if (old_letters[i].command == c->bit && old_letters[i].letter == letter)
            return find(c, old_letters[i].name, strlen(old_letters[i].name), 0);
    return NULL;
}

/* The factor for an optional letter after a number. */
static const struct unit {
    enum option_type type;
    char letter;
    uint64_t factor;
} units[] = {
    { OPT_SIZE, 'B', 1 },
    { OPT_SIZE, 'K', UINT64_C(1) << 10 },
    { OPT_SIZE, 'M', UINT64_C(1) << 20 },
    { OPT_SIZE, 'G', UINT64_C(1) << 30 },
    { OPT_SIZE, 'T', UINT64_C(1) << 40 },
    { OPT_TIME, 's', 1 },
    { OPT_TIME, 'm', 60 },
    { OPT_TIME, 'h', 3600 },
    { OPT_TIME, 'd', 86400 },
    { OPT_PERCENT, '%', 1 },
};

/* Accepts digits, and one of the letters of TYPE; sizes also as 5MB and 5MiB, which are the same.
 */
static bool parse_number(const char *s, enum option_type type, uint64_t *ret)
{
    if (s[0] < '0' || s[0] > '9')
        return false;
    char *end;
    errno = 0;
    unsigned long long v = strtoull(s, &end, 10);
    uint64_t factor = 1;
    if (errno != 0)
        return false;
    for (size_t i = 0; *end != '\0' && i < sizeof units / sizeof *units; i++)
        if (units[i].type == type && units[i].letter == *end &&
            (end[1] == '\0' || (type == OPT_SIZE && *end != 'B' &&
                                (strcmp(end + 1, "B") == 0 || strcmp(end + 1, "iB") == 0)))) {
            factor = units[i].factor;
            end += strlen(end);
        }
    if (*end != '\0' || v > UINT64_MAX / factor)
        return false;
    *ret = (uint64_t)v * factor;
    return true;
}

/* Is VALUE, which means N, too small for what the rows limit that begin with 1: the memory of a
 * process, a disk, all dumps?  Then it lacks its unit.  --when says the same. */
static bool lacks_unit(const struct option_row *r, const char *value, uint64_t n)
{
    return r->type == OPT_SIZE && r->min == 1 && n < UINT64_C(1) << 20 &&
           value[strspn(value, "0123456789")] == '\0';
}

static void bad_choice(const struct option_row *r, const char *value)
{
    char all[128] = "", meant[CLI_MEANT_BYTES];
    struct cli_nearest near;
    cli_nearest_begin(&near, value);
    const char *const *words = choices[r->type];
    for (size_t i = 0; words[i] != NULL; i++) {
        size_t n = strlen(all);
        (void)snprintf(all + n, sizeof all - n, "%s%s",
                       i == 0                 ? ""
                       : words[i + 1] == NULL ? " or "
                                              : ", ",
                       words[i]);
        cli_nearest_try(&near, words[i]);
    }
    cli_say(NULL, "--%s takes %s, not \"%s\"%s", r->name, all, value, cli_meant(&near, "", meant));
}

static bool add(const struct option_row *r, const char *value, const char **list)
{
    for (uint64_t i = 0; i < r->max; i++)
        if (list[i] == NULL) {
            list[i] = value;
            return true;
        }
    cli_say(NULL, "--%s can be given %llu times at most", r->name, (unsigned long long)r->max);
    return false;
}

static bool set(const struct cli_command *c, const struct option_row *r, const char *value,
                struct cli_args *args)
{
    char *field = (char *)args + r->field;
    uint64_t number = 0;
    switch (r->type) {
    case OPT_FLAG:
        memcpy(field, &(bool){ true }, sizeof(bool));
        return true;
    case OPT_JSON:
        args->view.json = true;
        if (value != NULL && strcmp(value, "1") != 0 && strcmp(value, "2") != 0) {
            cli_say(NULL, "--json takes 1 or 2, the number of the schema, not \"%s\"", value);
            return false;
        }
        args->view.json_schema = value != NULL && value[0] == '1';
        return true;
    case OPT_TEXT:
        memcpy(field, &value, sizeof value);
        return true;
    case OPT_LIST:
        return add(r, value, (const char **)(void *)field);
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
        value = value != NULL ? value : choices[r->type][1];
        for (unsigned i = 0; choices[r->type][i] != NULL; i++)
            if (strcmp(choices[r->type][i], value) == 0) {
                memcpy(field, &i, sizeof i); /* enums without negative values are unsigned */
                args->view.no_values = r->type == OPT_SHOW && i == CLI_VALUES_HIDDEN;
                return true;
            }
        bad_choice(r, value);
        return false;
    case OPT_PROCESS:
        args->dump.process = 0;
        args->dump.process_name = NULL;
        if (value[0] != '\0' && value[strspn(value, "0123456789")] != '\0') {
            args->dump.process_name = value;
            return true;
        }
        /* fall through */
    case OPT_NUMBER:
    case OPT_SIZE:
    case OPT_PERCENT:
    case OPT_TIME:
        if (parse_number(value, r->type, &number) && number >= r->min && number <= r->max) {
            if (lacks_unit(r, value, number)) {
                cli_say(NULL,
                        "--%s \"%s\": without a unit these are %s bytes: write %sM, or %sB if "
                        "bytes are meant",
                        r->name, value, value, value, value);
                return false;
            }
            memcpy(field, &number, sizeof number);
            return true;
        }
        cli_say(NULL, "--%s takes a number from %llu to %llu%s, not \"%s\"; see gcdumpc %s --help",
                r->name, (unsigned long long)r->min, (unsigned long long)r->max,
                r->type == OPT_SIZE   ? " (or as 64K, 16M, 16MB, 2GiB, by 1,024)"
                : r->type == OPT_TIME ? " (or as 90s, 30m, 6h, 1d)"
                                      : "",
                value, c->name);
        return false;
    }
    return false;
}

/* Reports which other commands have the option, else the nearest one.  WORD is the option as given,
 * NAME[N] its long name. */
static void no_option(const struct cli_command *c, const char *word, const char *name, size_t n)
{
    char others[160] = "", meant[CLI_MEANT_BYTES], copy[CLI_NEAR_LENGTH + 1];
    const char *dashes = word[0] == '-' ? "--" : "";
    bool known = find(c, name, n, 0) != NULL; /* but not allowed here */
    struct cli_nearest near;
    (void)snprintf(copy, sizeof copy, "%.*s", (int)(n < sizeof copy ? n : 0), name);
    cli_nearest_begin(&near, copy);
    for (size_t i = 0; i < ROW_COUNT; i++)
        if ((rows[i].commands & c->bit) != 0 && !known)
            cli_nearest_try(&near, rows[i].name);
    for (size_t i = 0; cli_command_at(i) != NULL && n > 0 && !known; i++) {
        size_t used = strlen(others);
        const struct option_row *r = find(cli_command_at(i), name, n, 0);
        if (r != NULL && has(cli_command_at(i), r))
            (void)snprintf(others + used, sizeof others - used, "%s%s",
                           used == 0 ? " (an option of " : ", ", cli_command_at(i)->name);
    }
    if (others[0] != '\0')
        cli_say(NULL, "%s has no option \"%s\"%s); see gcdumpc %s --help", c->name, word, others,
                c->name);
    else
        cli_say(NULL, "%s has no option \"%s\"%s; see gcdumpc %s --help", c->name, word,
                cli_meant(&near, dashes, meant), c->name);
}

/* "-qj": letters without arguments can be combined.  Moves *WORD to the last one. */
static bool parse_letters(const struct cli_command *c, const char **word, struct cli_args *args)
{
    for (; (*word)[1] != '\0' && (*word)[2] != '\0'; (*word)++) {
        const struct option_row *r = find(c, NULL, 0, (*word)[1]);
        if (r == NULL || r->argument != NULL)
            break;
        if (find(c, NULL, 0, (*word)[2]) == NULL)
            return true; /* the last letter reports the error */
        if (!set(c, r, NULL, args))
            return false;
    }
    return true;
}

/* Parses the option at ARGV[*I]; moves *I over its argument. */
static bool parse_option(const struct cli_command *c, int argc, char **argv, int *i,
                         struct cli_args *args)
{
    const char *word = argv[*i], *value = NULL;
    const struct option_row *r;
    if (word[1] == '-') {
        size_t n = strcspn(word + 2, "=");
        r = find(c, word + 2, n, 0);
        if (word[2 + n] == '=')
            value = word + 2 + n + 1;
    } else {
        if (!parse_letters(c, &word, args))
            return false;
        r = find(c, NULL, 0, word[1]);
        if (r != NULL && r->letter != word[1])
            cli_say(NULL, "-%c is --%s only in this version; write --%s", word[1], r->name,
                    r->name);
        if (word[2] != '\0')
            value = word + 2;
    }
    if (r == NULL) {
        bool is_long = word[1] == '-';
        no_option(c, word, is_long ? word + 2 : "", is_long ? strcspn(word + 2, "=") : 0);
        return false;
    }
    if (!has(c, r))
        args->moved = r->name;
    if (r->argument == NULL && value != NULL && r->type == OPT_FLAG) {
        cli_say(NULL, "--%s takes no value; see gcdumpc %s --help", r->name, c->name);
        return false;
    }
    if (r->argument != NULL && value == NULL) {
        if (*i + 1 >= argc) {
            cli_say(NULL, "--%s needs %s; see gcdumpc %s --help", r->name, r->argument, c->name);
            return false;
        }
        value = argv[++*i];
    }
    return set(c, r, value, args);
}

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
    return args->input_count + live == 2
               ? NULL
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
        const struct option_row *r = find(c, words, n, 0);
        bool given = strncmp(words, "NOTHING", n) == 0   ? true
                     : strncmp(words, "FILE", n) == 0    ? args->input != NULL
                     : strncmp(words, "PROCESS", n) == 0 ? cli_is_live(args)
                                                         : r != NULL && is_given(r, args);
        *ret = r != NULL ? (size_t)(r - rows) : ROW_COUNT;
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

void cli_args_init(struct cli_args *ret)
{
    *ret = (struct cli_args){ .live.retries = DEFAULT_RETRIES,
                              .sites = { .window_s = WINDOW_SECONDS, .settle_s = SETTLE_SECONDS },
                              .watch.cooldown_s = COOLDOWN_SECONDS };
}

/* In a file a flag has a value. */
static enum cli_exit set_flag(const struct option_row *r, const char *value, struct cli_args *args)
{
    static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(value, words[i]) == 0) {
            memcpy((char *)args + r->field, &(bool){ i % 2 == 1 }, sizeof(bool));
            return CLI_DONE;
        }
    return cli_error(CLI_USAGE, NULL, "%s is true or false, not \"%s\"", r->name, value);
}

enum cli_exit cli_set_option(const struct cli_command *c, const char *name, const char *value,
                             struct cli_args *args)
{
    const struct option_row *r = find(c, name, strlen(name), 0);
    if (r == NULL || strcmp(r->name, "help") == 0) {
        no_option(c, name, name, strlen(name));
        return CLI_USAGE;
    }
    if (r->type == OPT_FLAG || r->type == OPT_JSON)
        return set_flag(r, value, args);
    return set(c, r, value, args) ? CLI_DONE : CLI_USAGE;
}

/* Takes the last word as the statement, after the file if there is one. */
static void take_statement(struct cli_args *args)
{
    if (!cli_is_live(args) && args->input_count < 2)
        return;
    args->view.sql = args->input_count > 0 ? args->inputs[--args->input_count] : NULL;
    args->input = args->input_count > 0 ? args->inputs[0] : NULL;
}

/* A new name for each dump, and never that of another file. */
static void name_output(struct cli_output_args *o)
{
    const struct gcd_format *f = o->format != NULL ? gcd_format_by_name(o->format) : NULL;
    (void)snprintf(o->default_path, sizeof o->default_path, "%%n-%%p-%%Y%%m%%dT%%H%%M%%SZ%s",
                   f != NULL           ? gcd_format_suffix(f)
                   : o->format == NULL ? ".nettrace.gz"
                                       : "." CLI_RAW_FORMAT);
    o->path = o->default_path;
}

/* Without --type and --object, the last word after the dump is the target of paths. */
static void take_target(struct cli_args *args)
{
    const char *word = NULL;
    if (args->view.type != NULL || args->view.object != NULL)
        return;
    if (args->more_count > 0) {
        word = args->more[--args->more_count];
    } else if (cli_is_live(args) && args->input_count > 0) {
        word = args->inputs[--args->input_count];
        args->input = NULL;
    }
    if (word != NULL && strncmp(word, "0x", 2) == 0)
        args->view.object = word;
    else
        args->view.type = word;
}

enum cli_exit cli_parse(const struct cli_command *c, int argc, char **argv, struct cli_args *ret)
{
    cli_args_init(ret);
    bool only_words = false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
        } else if (!only_words && word[0] == '-' && word[1] != '\0') {
            if (!parse_option(c, argc, argv, &i, ret))
                return CLI_USAGE;
        } else if (c->bit == CLI_SQL && ret->input_count < 2) {
            argv[1 + ret->input_count++] = argv[i];
        } else if (ret->input_count > 0 && (c->bit & FILES) != 0 &&
                   (c->bit & (COMPARE | CLI_SQL)) == 0 && ret->more_count < CLI_MORE_INPUTS) {
            ret->more[ret->more_count++] = word;
        } else if ((ret->input_count > 0 && (c->bit & COMPARE) == 0) ||
                   (c->bit & (FILES | CLI_RUN)) == 0 || c->bit == CLI_MCP) {
            return cli_error(CLI_USAGE, NULL,
                             "%s does not know what to do with \"%s\"; see gcdumpc %s --help",
                             c->name, word, c->name);
        } else {
            argv[1 + ret->input_count++] = argv[i]; /* the earlier value has been read */
        }
    }
    ret->inputs = argv + 1;
    ret->input = ret->input_count > 0 ? argv[1] : NULL;
    if (c->bit == CLI_SQL)
        take_statement(ret);
    if (c->bit == CLI_COLLECT && cli_is_live(ret) && ret->output.path == NULL &&
        ret->output.summary == NULL && !ret->live.dry_run)
        name_output(&ret->output);
    if (c->bit == CLI_WATCH) {
        name_output(&ret->output); /* in default_path, for watch without an output */
        ret->output.path = NULL;
    }
    if (c->bit == CLI_PATHS)
        take_target(ret);
    enum cli_exit e = ret->help ? CLI_DONE : cli_check_args(c, ret);
    if (e == CLI_DONE && ret->moved != NULL && !ret->quiet)
        cli_say(NULL,
                "--%s is an option of collect: dump first, then ask the file; %s takes it in this "
                "version only",
                ret->moved, c->name);
    return e;
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
