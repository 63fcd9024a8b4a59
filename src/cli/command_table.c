/*
 * The commands: names, summaries and help.  main.c knows what runs, opts.c the options.
 */
#include "command_table.h"

#include <string.h>

#define COMPARED "Types are compared by name; objects have no identity between dumps.  Types that have not changed are left out.\n"
#define THRESHOLDS                                                                                                     \
    "\n--fail-if takes METRIC(PATTERN) > LIMIT, for example:\n"                                                        \
    "  bytes(MyApp.*) > +10%        these types have grown by more than a tenth\n"                                     \
    "  count(MyApp.Session) > 500   there are more than 500 in the last dump\n"                                        \
    "  retained(MyApp.Cache) > +8M  what the objects of this type keep alive together has grown by more than 8 MiB\n"  \
    "  bytes > +64MiB               so has the whole heap\n"                                                           \
    "METRIC is count, bytes or retained, PATTERN as for --filter.  With a sign LIMIT is the growth from the first\n"   \
    "dump to the last, in percent or not; >=, < and <= work, too.\n"                                                   \
    "retained(PATTERN) is exact, as retained --type.  What --retained shows for each type is a lower bound of that:\n" \
    "memory that several of its objects hold only together is not in it.\n"

static const struct cli_command commands[] = {
    { "collect", "--pid N -o FILE", "dump the heap of a living process", CLI_COLLECT,
      "The process is made to run a full, blocking garbage collection and pauses while its heap is described.\n"
      "What it cost is told on standard error.  When the process ends, the stream breaks or --timeout passes,\n"
      "nothing is written, unless --keep-partial is given; Ctrl-C never leaves anything.\n"
      "\"gcdumpc --pid N ...\" is the same as \"gcdumpc collect --pid N ...\".\n\n"
      "--listen ADDR is for a program that is started with DOTNET_DiagnosticPorts=ADDR (.NET 5 and later).  The\n"
      "first that connects is let start if it waits for that, runs for --delay seconds, and is dumped.  --timeout\n"
      "bounds the waiting for it, too.\n\n"
      "With --pid, --name and --all the output may have fields in its name, and folders that lack are made:\n"
      "%n name of the process, %p its number, %h the host, %Y %m %d %H %M %S the time (UTC), %s its seconds since\n"
      "1970, %j the day of the year, %F for %Y-%m-%d, %% a percent sign.  For example\n"
      "  gcdumpc --name Shop -o '/var/lib/gcdumpc/%n/%n-%p-%Y%m%dT%H%M%SZ.gclog.gz' --keep 7 --log text\n"
      "Several processes are dumped one after another; the exit status is that of the worst.\n" },
    { "convert", "FILE -o FILE", "convert a recording or a dump to another format", CLI_CONVERT, "" },
    { "info", "FILE", "what a recording or a dump contains, and whether it is complete", CLI_INFO, "" },
    { "report", "FILE", "objects and bytes of each type", CLI_REPORT,
      "--by WHAT:\n"
      "  type        objects and bytes of each type\n"
      "  module, namespace, kind\n"
      "              of what types have in common; kinds are array, boxed value, class, delegate, string ...\n"
      "  generation  with the memory that is used and free, as far as the dump has memory ranges\n"
      "  length      strings and arrays by powers of two of their length, which follows from their size\n"
      "  root        kinds of roots; with --retained what they lead to: all that is reached, what no other kind\n"
      "              reaches, and each object once, claimed by the first kind that reaches it\n\n"
      "--filter: in a PATTERN * is any text and ? one character, and the whole name must match; brackets mean\n"
      "themselves.  Between slashes it is a regular expression that may match anywhere.\n\n"
      "--retained: a lower bound, except with --by root; what several objects of a line hold only together is not in\n"
      "it.  \"gcdumpc retained --type PATTERN\" tells the exact size.\n\n"
      "--format is text, json, csv or prometheus (for node_exporter's textfile collector; 20 types unless --top\n"
      "says otherwise).  Without it the suffix of -o decides: .json, .csv, .prom, else text.\n" },
    { "retained", "FILE", "what keeps most memory alive: objects, types, the dominator tree", CLI_RETAINED,
      "The retained size of an object is what would go with it.  Of a type it is what its objects keep alive\n"
      "together; the table of all types shows a lower bound, --type PATTERN the exact size.  --csv prints one table,\n"
      "that of the objects unless --largest types is given.  In the tree siblings of one type are one line, and lines\n"
      "below a hundredth of all, or --min-bytes, are taken together.  Tables have 20 lines unless --top is given.\n" },
    { "paths", "FILE", "what keeps objects alive: the shortest paths from the roots", CLI_PATHS,
      "--type merges the paths to all objects of a type into one tree of types; a path that comes back to a type is\n"
      "merged with itself there, so lists and circles are short.  --object shows the objects on the paths to one of\n"
      "them, each path through another object that refers to it.\n" },
    { "leaks", "FILE", "what may be a leak, and why", CLI_LEAKS,
      "Suspected is what keeps a share of the heap alive (--share), and 4 MiB in any case (--min-bytes): one object\n"
      "below which the memory spreads, the handlers of an event, objects of one type that only together are large,\n"
      "the finalizer queue, free memory around pinned objects, very many small collections.  Each comes with the\n"
      "path from its root.  When there is no suspect the largest consumers are shown.\n" },
    { "diff", "OLD-FILE NEW-FILE", "which types have grown from one dump to the next", CLI_DIFF,
      COMPARED
      "--paths compares step by step, by the names on the way from the root; steps that have changed by less than a\n"
      "hundredth of the most, or little beside 200 others, or by less than --min-bytes, are taken together.\n"
      "FILE#N is dump number N of a recording that holds several; NEW-FILE can be a living process (--pid).\n" THRESHOLDS },
    { "trend", "FILE FILE...", "which types grow over several dumps", CLI_TREND,
      COMPARED "FILE#N is dump number N of a recording that holds several.\n" THRESHOLDS },
    { "run", "JOB", "dump as a configuration file says, from cron for example", CLI_RUN,
      "The file has sections, each a job: \"[nightly]\", and below it the long options of \"gcdumpc collect\" without\n"
      "their dashes: \"name = Shop\", \"keep = 7\", \"strict = true\".  What stands before the first section is for all\n"
      "jobs.  A line that begins with # or ; is a comment.  Only its owner may be able to write the file.\n" },
    { "ps", "", "list the processes that can be dumped", CLI_PS,
      "Listed are .NET processes with a diagnostic socket.  Each has half a second to say which runtime and\n"
      "assembly it runs, all together have five; \"(no answer)\" is one that is stopped or busy, \"(no access)\"\n"
      "one of another user.\n" },
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

#define EXIT_STATUS "Exit status: "
static const char exit_text[] =
    EXIT_STATUS "0 done, 1 failed, 2 wrong usage, 3 done but the data are incomplete (--strict: 1),\n"
    "130 interrupted.\n";
/* Of the commands that compare, and of all together. */
static const char exit_all_text[] =
    EXIT_STATUS "0 done, 1 failed, 2 wrong usage, 3 done but the data are incomplete (--strict: 1),\n"
    "4 a threshold is exceeded (whether or not the data are complete), 130 interrupted.\n";

#define FILES_TEXT                                                                                                     \
    "FILE is a .nettrace or .etl recording or a dump in .gclog, .gcdump or .dartheap, also compressed with gzip;\n"    \
    "\"-\" is standard input.\n"

const struct cli_command *cli_command_at(size_t i)
{
    return i < COMMAND_COUNT ? &commands[i] : NULL;
}

const char *cli_about_files(const struct cli_command *c)
{
    if ((c->bit & (CLI_DIFF | CLI_TREND)) != 0)
        return FILES_TEXT;
    if ((c->bit & (CLI_CONVERT | CLI_INFO | CLI_REPORT | CLI_RETAINED | CLI_PATHS | CLI_LEAKS)) != 0)
        return FILES_TEXT "Several .etl of one recording are given one after another.\n";
    return "";
}

const char *cli_exit_text(const struct cli_command *c)
{
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
