/* All options: what they are called, who has them, what help says of them. */
#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/spill.h>
#include <gcdumpc/unstable/values.h>

#include "commands/commands.h"
#include "input/input.h"
#include "option_table.h"
#include "opts.h"
#include "term/term.h"

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

const struct option_row cli_option_rows[] = {
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
      CLI_LEAKS | CLI_BROWSE, OPT_SHARE, FIELD(view.share_millis), CLI_SHARE_MILLIS / 1000,
      CLI_SHARE_MILLIS },
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
    { "values", 0, "KIND", "what these dumps keep: strings (texts), hashes, all (also numbers)",
      CLI_MCP, OPT_VALUES, FIELD(mcp.values), 0, 0 },
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
_Static_assert(sizeof cli_option_rows / sizeof *cli_option_rows == CLI_OPTION_ROWS,
               "option_table.h says how many there are");

const char *const *cli_choices_of(enum option_type type)
{
    return type < CHOICE_TYPES && choices[type][0] != NULL ? choices[type] : NULL;
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

bool cli_has_option(const struct cli_command *c, const struct option_row *r)
{
    return (r->commands & c->bit) != 0;
}

const struct option_row *cli_find_option(const struct cli_command *c, const char *name, size_t n,
                                         char letter)
{
    for (size_t i = 0; name != NULL && i < sizeof renamed / sizeof *renamed; i++)
        if (strlen(renamed[i].old) == n && memcmp(renamed[i].old, name, n) == 0) {
            name = renamed[i].name;
            n = strlen(name);
        }
    for (size_t i = 0; i < CLI_OPTION_ROWS; i++) {
        const struct option_row *r = &cli_option_rows[i];
        if (!cli_has_option(c, r) && !((r->commands & MOVED) != 0 && (c->bit & READ_LIVE) != 0))
            continue;
        if (name != NULL ? strlen(r->name) == n && memcmp(r->name, name, n) == 0
                         : r->letter == letter && letter != 0)
            return r;
    }
    for (size_t i = 0; name == NULL && i < sizeof old_letters / sizeof *old_letters; i++)
        if (old_letters[i].command == c->bit && old_letters[i].letter == letter)
            return cli_find_option(c, old_letters[i].name, strlen(old_letters[i].name), 0);
    return NULL;
}

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
    if (cli_choices_of(r->type) != NULL || r->field == FIELD(output.format))
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
        for (const struct option_row *r = cli_option_rows; r < cli_option_rows + CLI_OPTION_ROWS;
             r++)
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
                                            .row = (size_t)(r - cli_option_rows) };
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
    const struct option_row *r = &cli_option_rows[o->row];
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
