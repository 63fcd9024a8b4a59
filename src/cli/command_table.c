/*
 * The commands: names, summaries and help.  main.c knows the functions, option_table.c the options.
 */
#include "command_table.h"

#include <string.h>

#define FOLDED                                                                                   \
    "\nA run of library and framework steps shares one line, and so do a collection and its "    \
    "internals.  --full shows\n"                                                                 \
    "all steps.  Modules (by Microsoft's and other public keys), else namespaces, decide which " \
    "code is your own;\n"                                                                        \
    "with --mine, exactly the types that match are yours.\n"
#define COMPARED                                                                                \
    "Types are compared by name; objects have no identity between dumps.  Types that have not " \
    "changed are left out.\n"
#define PATTERN "A PATTERN is like Shop.*, byte[] or /REGEX/: see \"gcdumpc help patterns\".\n"
#define THRESHOLDS                                                                       \
    "--fail-if takes a threshold, for example bytes(Shop.*) > +10%: see \"gcdumpc help " \
    "thresholds\".\n"

#define SUMMARY                                                                                  \
    "The line of --summary is small enough to be kept for years, and --keep never removes it.  " \
    "It needs no -o.\n"

static const struct cli_command commands[] = {
    { "collect", "--pid N [-o FILE]", "dump the heap of a running process", CLI_COLLECT,
      "The process pauses for a full, blocking garbage collection and a walk of its heap; a line "
      "on standard error\n"
      "reports the cost.  If it fails, nothing is written unless --keep-partial is given, nor "
      "after Ctrl-C.\n"
      "\"gcdumpc --pid N ...\" is the same as \"gcdumpc collect --pid N ...\".\n\n"
      "--listen ADDR waits for a program started with DOTNET_DiagnosticPorts=ADDR (.NET 5 and "
      "later).  The first\n"
      "that connects may start, runs for --delay seconds, and is dumped.  --timeout includes the "
      "wait for it.\n"
      "ADDR is a path, or tcp:HOST:PORT for phones and emulators (127.0.0.1, [::1], localhost; "
      "port 0: a free one).\n\n"
      "With --pid, --name and --all the name of the output may have fields, and missing folders "
      "are created:\n"
      "%n name of the process, %p its number, %h the host, %J the job of gcdumpc run, %Y %m %d %H "
      "%M %S the time\n"
      "(UTC), %s its seconds since 1970, %j the day of the year, %F for %Y-%m-%d, %% a percent "
      "sign.  For example\n"
      "  gcdumpc --name Shop -o '/var/lib/gcdumpc/%n/%n-%p-%Y%m%dT%H%M%SZ.nettrace.gz' --keep 7 "
      "--log text\n"
      "--keep, --keep-days and --max-total count the files of one process name (%n), not of one "
      "process.\n"
      "Several processes are dumped one after another; the worst result decides the exit status.\n",
      "  gcdumpc --pid 1234 -o shop.html\n"
      "  gcdumpc --name Shop -o shop.nettrace.gz\n" },
    { "convert", "FILE -o FILE", "convert a recording or a dump to another format", CLI_CONVERT,
      SUMMARY, "  gcdumpc convert shop.nettrace.gz -o shop.heapsnapshot\n" },
    { "info", "FILE", "show what a recording or dump contains, and whether it is complete",
      CLI_INFO, "", "  gcdumpc info shop.nettrace.gz\n" },
    { "report", "FILE", "show objects and bytes of each type", CLI_REPORT,
      "--by WHAT:\n"
      "  type        objects and bytes of each type\n"
      "  module, namespace, kind\n"
      "              totals of types in common groups; kinds are array, boxed value, class, "
      "delegate, string ...\n"
      "  generation  with used and free memory, if the dump has memory ranges\n"
      "  length      strings and arrays by powers of two of their length, computed from their "
      "size\n"
      "  root        kinds of roots; with --retained also the objects reached from them, those "
      "reached from no other\n"
      "              kind, and each object once, under the first kind that reaches it\n\n"
      "--retained: a lower bound, except with --by root: it leaves out objects that several "
      "objects of a line retain\n"
      "only together.  \"gcdumpc retained --type PATTERN\" shows the exact size.\n\n"
      "--format is text, json, csv or prometheus (for node_exporter's textfile collector; 20 types "
      "unless --top\n"
      "is given).  Without --format the suffix of -o decides: .json, .csv, .prom, otherwise text;\n"
      "the suffix of a dump, as .gcdump or .html, is refused.\n" PATTERN,
      "  gcdumpc report shop.nettrace.gz --filter 'Shop.*' --retained --top 20\n" },
    { "retained", "FILE", "show what retains the most memory: objects, types, the dominator tree",
      CLI_RETAINED,
      "The retained size of an object is the memory that would be freed with it.  For a type, it "
      "is the memory that\n"
      "its objects keep alive together; the table of all types shows a lower bound, --type PATTERN "
      "the exact size.\n"
      "--csv prints one table, that of the objects unless --largest types is given.  In the tree, "
      "siblings of one\n"
      "type share a line, and lines below 1 % of the total, or below --min-bytes, are combined.  "
      "Tables have 20\n"
      "lines unless --top is given.\n\n"
      "--content lists what would be freed with all objects of a pattern, by type.  --by-dominator "
      "counts the nearest\n"
      "objects that dominate them, like \"immediate dominators\" of Eclipse MAT; \"(roots)\": no "
      "single object does.\n"
      "--skip System.* looks past the framework's own objects.\n\n"
      "--by-field lists what each field of the program's own classes retains, static ones too: the "
      "objects that\n"
      "only this field of their dominator leads to, and all below them.  What two fields lead to "
      "has a "
      "line\n"
      "\"A and B\"; a field that is not certain is unknown.\n\n"
      "--by FIELD groups the objects of --type by what this field refers to: by text, if it is a "
      "string and\n"
      "--show-values is given, else by the type of the object.  In a core file, with "
      "--direct, and in a recording\n"
      "made with --values all, also by numbers and enums.\n" PATTERN,
      "  gcdumpc retained shop.nettrace.gz --type 'Shop.Cache' --tree 4\n" },
    { "paths", "FILE [TYPE]", "show what keeps objects alive: the shortest paths from the roots",
      CLI_PATHS,
      "--type merges the paths to all objects of a type into one tree of types; a path that "
      "returns to a type is\n"
      "merged there, so lists and cycles are short.  The finalizer queue and ref-counted handles "
      "are shown only for\n"
      "objects that no other root reaches.  --object shows the objects on the paths to one object, "
      "one path\n"
      "for each object that refers to it.\n" FOLDED PATTERN,
      "  gcdumpc paths shop.nettrace.gz UserSession\n" },
    { "leaks", "FILE", "find possible leaks, and explain them", CLI_LEAKS,
      "A suspect retains at least a share of the heap (--share), and at least 4 MiB (--min-bytes): "
      "a single object\n"
      "that holds many others, the handlers of an event, objects of one type that are large only "
      "together, the\n"
      "finalizer queue, free memory around pinned objects, very many small collections, large ones "
      "that are mostly\n"
      "empty.  Each is shown with the path from its root.  An assembly that is loaded many times "
      "is "
      "a suspect of\n"
      "any size, because it takes memory outside of the heap.  Without suspects, the largest "
      "consumers are shown.\n"
      "-o FILE.html writes all suspects to a page, with an overview of the whole heap.\n"
      "Two dumps, the older one first, or an older dump and a process: shows what has grown, the "
      "most first, even\n"
      "if one dump alone would not make it a suspect.  Then there is no -o: gcdumpc diff -o writes "
      "that page.\n" FOLDED,
      "  gcdumpc leaks shop.nettrace.gz\n"
      "  gcdumpc leaks monday.nettrace.gz friday.nettrace.gz\n" },
    { "async", "FILE", "show what asynchronous operations wait for", CLI_ASYNC,
      "Shows stacks of async methods that are not over, like the stacks of threads: first what is "
      "awaited, such as\n"
      "Task.Delay, a socket or a TaskCompletionSource, then the methods that wait for it, the "
      "innermost first.\n"
      "Identical stacks are shown once, with their number.  Nothing waits for the last method of a "
      "stack.\n"
      "A core file and --direct have also the states of tasks, when timers are due, and the "
      "requests of Kestrel.\n"
      "Computations of F# (async { }) and agents are not read, only tasks.\n\n"
      "Retained: what only these operations keep alive; an object counts once.  Old: stacks whose "
      "last method had\n"
      "survived a garbage collection before the one of the dump.  \"(probably)\": the objects "
      "leave it open whether it\n"
      "waits for the frame above.  Tasks that are over but still in memory follow the stacks.\n\n"
      "--filter takes a pattern for the names of frames: * is any text, ? one character, /REGEX/ "
      "may match anywhere.\n"
      "20 stacks are shown, those with code of the program first, and sockets and pipes for which "
      "only the framework\n"
      "waits are counted in one line.  Framework code behind the last method of the program is "
      "one line, and stacks\n"
      "that differ only there are one.  --top, --filter, --json and --csv have all.  "
      "-o FILE.folded or FILE.pb.gz\n"
      "writes a flame graph of all stacks, as \"gcdumpc convert --stack-by waits\" does.  Works "
      "with .NET 8 "
      "to 10.\n",
      "  gcdumpc async shop.nettrace.gz --filter 'Shop.*'\n" },
    { "strings", "FILE", "show which strings, and arrays of numbers, are there several times",
      CLI_STRINGS,
      "Shows each text with the number of its copies, the bytes that all of them but one take, and "
      "the fields that\n"
      "refer to them; then the same for arrays of numbers with equal contents.  A core file has "
      "the texts; a recording\n"
      "has them if it was made with \"gcdumpc collect --values strings\".\n\n"
      "What looks like a token, a connection string or an e-mail address is masked, unless "
      "--show-values=raw is given.\n"
      "--filter takes a pattern for the texts: * is any text, ? one character, /REGEX/ may match "
      "anywhere.  20 lines\n"
      "are shown unless --top is given; --json and --csv have all.\n",
      "  gcdumpc strings core.1234\n" },
    { "exceptions", "FILE", "show which exceptions are in memory, with their messages",
      CLI_EXCEPTIONS,
      "Shows the exceptions by type, inner exception and message, and how many of them were "
      "thrown.  A core file and\n"
      "--direct tell them also by the method that threw them, with its callers.  The messages need "
      "--show-values, and a core\n"
      "file, --direct, or a recording made with \"gcdumpc collect --values strings\".\n\n"
      "A caught exception is garbage.  With --direct, or of a core file, --with-dead shows these, "
      "too.  20 lines are shown\n"
      "unless --top is given; --json and --csv have all.\n",
      "  gcdumpc exceptions core.1234 --with-dead --show-values\n" },
    { "sites", "--pid N | FILE", "show which lines allocated what is still alive", CLI_SITES,
      "Samples the allocations of a process for --window, with their stacks, and follows the "
      "sampled objects through\n"
      "garbage collections.  After --settle, in which short-lived ones die, the heap is "
      "walked; what is still there\n"
      "is shown by the line that allocated it.  Objects and bytes are estimates; \xc2\xb1 is "
      "their standard error.\n"
      "-o keeps all of it in a recording, which \"gcdumpc sites FILE\" and all other "
      "commands read.\n"
      "\n"
      "The process pauses for the walk as in a dump, and before that longer in each "
      "background collection.\n"
      "The first Ctrl-C ends the sampling early and goes on to the walk, a second one stops "
      "everything.\n"
      "Lines need the .pdb files of the program: beside it, in it, or in a folder of "
      "--modules.  Works with\n"
      ".NET 8 and later.\n",
      "  gcdumpc sites --pid 1234 -o shop.nettrace.gz\n"
      "  gcdumpc sites shop.nettrace.gz --top 5\n" },
    { "browse", "FILE", "look around in the heap, in a terminal", CLI_BROWSE,
      "Opens on the suspects of \"gcdumpc leaks\".  1 to 4 show suspects, the dominator tree, "
      "types and async stacks;\n"
      "Enter opens what the cursor is on, Left goes back, / searches, s sorts, e writes the view "
      "to a file, ? shows\n"
      "all keys, q ends.  Long computations start when a view first needs them; Ctrl-C cancels "
      "them.\n",
      "  gcdumpc browse shop.nettrace.gz\n" },
    { "sql", "FILE [STATEMENT]", "query a heap with SQL", CLI_SQL,
      "STATEMENT is one or more SELECT statements, in the SQL of SQLite.\n"
      "Without a STATEMENT they come from --file, from standard input, or, on a terminal, line by "
      "line; .help shows\n"
      "how.  With --pid there is no FILE.\n\n"
      "Tables: objects, types, edges, dominators, roots, dependent_handles, modules, ranges, "
      "suspects, facts; views:\n"
      "refs, statics, v_objects and others; functions: type_name(type), path_from_root(object) "
      "and\n"
      "reachable_from(object).  They have the names and columns of the format sqlite (gcdumpc "
      "convert -o x.sqlite),\n"
      "and some more; nothing is copied.\n"
      ".tables and .schema list them, gcdumpc-sql(1) explains them and has examples.\n\n"
      "Statements only read.  Ctrl-C and --timeout end one that takes too long.\n",
      "  gcdumpc sql shop.nettrace.gz 'SELECT type, count(*) FROM objects GROUP BY 1'\n" },
    { "mcp", "", "serve heap queries to AI agents (MCP)", CLI_MCP,
      "Serves one client on standard input and output, as programs with language models start it: "
      "tools to open\n"
      "dumps, and to ask for suspects, types, objects, paths, retained sizes, async stacks, the "
      "difference of two\n"
      "heaps, and SQL.  It speaks the revisions 2026-07-28 and 2025-11-25.\n\n"
      "Without --root no file can be opened.  --allow-collect adds a tool that dumps processes "
      "into that folder; it\n"
      "first reports how long the process would be paused.  Answers have at most 25 rows and 8,000 "
      "characters,\n"
      "unless the client asks for more, and say what was cut.  Several heaps share --memory.\n",
      "  gcdumpc mcp --root /var/dumps\n" },
    { "diff", "OLD-FILE NEW-FILE", "show which types have grown from one dump to the next",
      CLI_DIFF,
      COMPARED
      "--paths compares step by step, by the names on the path from the root, and by the "
      "fields if both dumps know\n"
      "them; steps that changed by less than 1 % of the largest change, less than the 200 largest, "
      "or less than\n"
      "--min-bytes, are combined.\n"
      "FILE#N is dump number N of a recording that contains several; NEW-FILE can be a running "
      "process (--pid).\n" PATTERN THRESHOLDS,
      "  gcdumpc diff old.nettrace.gz new.nettrace.gz --fail-if 'bytes(Shop.*) > +10%'\n" },
    { "trend", "FILE FILE...", "show which types grow over several dumps", CLI_TREND,
      COMPARED "FILE#N is dump number N of a recording that contains several.\n"
               "-o FILE.html writes a page with lines over time; it has retained sizes even "
               "without --retained.\n"
               "FILE can be a summary (gcdumpc collect --summary), which lists the largest types: "
               "a cell is empty where a type\n"
               "may be too small for the list.\n" PATTERN THRESHOLDS,
      "  gcdumpc trend monday.nettrace.gz tuesday.nettrace.gz wednesday.nettrace.gz\n" },
    { "run", "JOB", "create dumps as a configuration file describes, for example from cron",
      CLI_RUN,
      "Each section of the file is a job: \"[nightly]\", followed by long options of \"gcdumpc "
      "collect\" without their\n"
      "dashes: \"name = Shop\", \"keep = 7\", \"strict = true\".  Options before the first section "
      "apply to all jobs.  A\n"
      "line that begins with # or ; is a comment.  Only the owner of the file may have write "
      "permission.\n"
      "--check also warns of jobs that write the same files; %J, the name of the job, in the "
      "output tells them apart.\n",
      "  gcdumpc run nightly --config /etc/gcdumpc.conf\n" },
    { "watch", "--name NAME --when CONDITION [-o FILE]",
      "dump processes when they need it, such as before they run out of memory", CLI_WATCH,
      "Waits at almost no cost until a condition holds, dumps that process, and goes on after "
      "--cooldown.  Processes\n"
      "may start, end and restart meanwhile; --name and --all watch all that match.  A condition "
      "is\n"
      "  rss > 85%          resident memory of the process, of its limit or in bytes (rss > 1.5G)\n"
      "  heap > 60%         the largest that its managed heap can be, with garbage\n"
      "  left < 200M        what its cgroup and the machine have left\n"
      "  growth/10m > 200M  its growth within a time; a percentage is of what it had before\n"
      "  pressure > 20%     of the last 10 s, in which tasks waited for memory (PSI)\n"
      "or several with \"and\" between them.  Its limit is that of its cgroup, else the memory of "
      "the machine.\n\n"
      "The memory of the process is read directly where that is possible (--direct), with a short "
      "stop; else it sends\n"
      "its heap, with a buffer that fits into what is left.  Several -o are dumps of their own, "
      "the "
      "most important\n"
      "first.  If no output can be written, a --summary still is.  Other options are those of "
      "\"gcdumpc collect\";\n"
      "with --dry-run it shows what it would watch, and ends.\n\n"
      "SIGTERM ends it with status 0, --once with that of the dump.\n",
      "  gcdumpc watch --name Shop --when 'rss > 85%' -o '%n-%p-%s.nettrace.gz'\n" },
    { "ps", "", "list the processes that can be dumped", CLI_PS,
      "Lists .NET processes with a diagnostic socket.  Each has half a second to report its "
      "runtime and assembly, all\n"
      "together five seconds; \"(no answer)\" means stopped or busy, \"(no access)\" that it "
      "belongs to another user.\n",
      "  gcdumpc ps\n" },
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

#define EXIT_STATUS "Exit status: "
static const char exit_text[] = EXIT_STATUS
    "0 done, 1 failed, 2 wrong usage, 3 done but the data are incomplete (--strict: 1),\n"
    "130 interrupted.\n";
/* For the commands that compare, and for the list of commands. */
static const char exit_all_text[] = EXIT_STATUS
    "0 done, 1 failed, 2 wrong usage, 3 done but the data are incomplete (--strict: 1),\n"
    "4 a threshold is exceeded (whether or not the data are complete), 130 interrupted.\n";
/* For the server, which reports incomplete data in its answers. */
static const char exit_server_text[] =
    EXIT_STATUS "0 the client has ended, 1 failed, 2 wrong usage, 130 interrupted.\n";

#define FILES_TEXT                                                                         \
    "FILE is a .nettrace or .etl recording, a core file, or a dump in .gclog, .gcdump or " \
    ".dartheap, also\n"                                                                    \
    "compressed with gzip or zstd; \"-\" is standard input.\n"

const struct cli_command *cli_command_at(size_t i)
{
    return i < COMMAND_COUNT ? &commands[i] : NULL;
}

const char *cli_about_files(const struct cli_command *c)
{
    if ((c->bit & (CLI_DIFF | CLI_TREND | CLI_SQL)) != 0)
        return FILES_TEXT;
    if ((c->bit & (CLI_CONVERT | CLI_INFO | CLI_REPORT | CLI_RETAINED | CLI_PATHS | CLI_LEAKS |
                   CLI_ASYNC | CLI_STRINGS | CLI_EXCEPTIONS | CLI_SITES | CLI_BROWSE)) != 0)
        return FILES_TEXT "If a recording has several .etl files, give all of them.\n";
    return "";
}

const char *cli_exit_text(const struct cli_command *c)
{
    if (c != NULL && c->bit == CLI_MCP)
        return exit_server_text;
    return c == NULL || (c->bit & (CLI_DIFF | CLI_TREND)) != 0 ? exit_all_text : exit_text;
}

const char *cli_about_exit(const struct cli_command *c)
{
    return cli_exit_text(c) + strlen(EXIT_STATUS);
}

const struct cli_command *cli_collect(void)
{
    return &commands[0];
}
