#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "commands/commands.h"
#include "exit.h"
#include "input/memory.h"
#include "manual/manual.h"
#include "opts.h"
#include "output/json_out.h"
#include "output/output.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/suggest.h"
#include "term/term.h"

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
    { "collect", "--pid N -o FILE", "dump the heap of a living process", CLI_COLLECT, cmd_collect,
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
    { "convert", "FILE -o FILE", "convert a recording or a dump to another format", CLI_CONVERT, cmd_convert, "" },
    { "info", "FILE", "what a recording or a dump contains, and whether it is complete", CLI_INFO, cmd_info, "" },
    { "report", "FILE", "objects and bytes of each type", CLI_REPORT, cmd_report,
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
    { "retained", "FILE", "what keeps most memory alive: objects, types, the dominator tree", CLI_RETAINED, cmd_retained,
      "The retained size of an object is what would go with it.  Of a type it is what its objects keep alive\n"
      "together; the table of all types shows a lower bound, --type PATTERN the exact size.  --csv prints one table,\n"
      "that of the objects unless --largest types is given.  In the tree siblings of one type are one line, and lines\n"
      "below a hundredth of all, or --min-bytes, are taken together.  Tables have 20 lines unless --top is given.\n" },
    { "paths", "FILE", "what keeps objects alive: the shortest paths from the roots", CLI_PATHS, cmd_paths,
      "--type merges the paths to all objects of a type into one tree of types; a path that comes back to a type is\n"
      "merged with itself there, so lists and circles are short.  --object shows the objects on the paths to one of\n"
      "them, each path through another object that refers to it.\n" },
    { "leaks", "FILE", "what may be a leak, and why", CLI_LEAKS, cmd_leaks,
      "Suspected is what keeps a share of the heap alive (--share), and 4 MiB in any case (--min-bytes): one object\n"
      "below which the memory spreads, the handlers of an event, objects of one type that only together are large,\n"
      "the finalizer queue, free memory around pinned objects, very many small collections.  Each comes with the\n"
      "path from its root.  When there is no suspect the largest consumers are shown.\n" },
    { "diff", "OLD-FILE NEW-FILE", "which types have grown from one dump to the next", CLI_DIFF, cmd_diff,
      COMPARED
      "--paths compares step by step, by the names on the way from the root; steps that have changed by less than a\n"
      "hundredth of the most, or little beside 200 others, or by less than --min-bytes, are taken together.\n"
      "FILE#N is dump number N of a recording that holds several; NEW-FILE can be a living process (--pid).\n" THRESHOLDS },
    { "trend", "FILE FILE...", "which types grow over several dumps", CLI_TREND, cmd_trend,
      COMPARED "FILE#N is dump number N of a recording that holds several.\n" THRESHOLDS },
    { "run", "JOB", "dump as a configuration file says, from cron for example", CLI_RUN, cmd_run,
      "The file has sections, each a job: \"[nightly]\", and below it the long options of \"gcdumpc collect\" without\n"
      "their dashes: \"name = Shop\", \"keep = 7\", \"strict = true\".  What stands before the first section is for all\n"
      "jobs.  A line that begins with # or ; is a comment.  Only its owner may be able to write the file.\n" },
    { "ps", "", "list the processes that can be dumped", CLI_PS, cmd_ps,
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

/* What somebody sees who types nothing but the name: what it is for, and where to go on. */
static void print_first_screen(FILE *to)
{
    fputs("gcdumpc " GCDUMPC_VERSION ": .NET heap dumps outside a debugger.\n\n"
          "  gcdumpc ps                              which processes are there?\n"
          "  gcdumpc --pid 1234 -o shop.html         dump one: a page to look at\n"
          "  gcdumpc --pid 1234 -o shop.nettrace     ... or a recording, to ask later:\n"
          "  gcdumpc report shop.nettrace --top 20   objects and bytes of each type\n"
          "  gcdumpc leaks shop.nettrace             what may be a leak, and why\n"
          "  gcdumpc diff old.nettrace new.nettrace  what has grown\n"
          "\nAll commands: gcdumpc --help.  Options of one: gcdumpc COMMAND --help.\n", to);
}

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

static const char *exit_of(const struct cli_command *c)
{
    return c == NULL || (c->bit & (CLI_DIFF | CLI_TREND)) != 0 ? exit_all_text : exit_text;
}

const char *cli_about_exit(const struct cli_command *c)
{
    return exit_of(c) + strlen(EXIT_STATUS);
}

static void print_commands(FILE *to)
{
    fputs("usage: gcdumpc COMMAND [OPTION...]\n\n.NET heap dumps outside a debugger.\n\nCommands:\n", to);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(to, "  %-8s  ", commands[i].name);
        cli_print_wrapped(to, commands[i].summary, 12, 12);
    }
    fputs("\nMost used:\n"
          "  gcdumpc ps\n"
          "  gcdumpc --pid 1234 -o out.gclog\n"
          "  gcdumpc convert recorded.nettrace -o out.gclog\n"
          "  gcdumpc info recorded.nettrace\n"
          "  gcdumpc report recorded.nettrace --top 20\n\n", to);
    cli_print_prose(to, "\"gcdumpc COMMAND --help\" lists the options of a command, \"gcdumpc --version\" prints the version.\n");
    cli_print_prose(to, exit_all_text);
}

static void print_format(const char *name, const char *suffix, const char *about)
{
    printf("  %-9s  %-13s  ", name, suffix);
    cli_print_wrapped(stdout, about, 28, 28);
}

static void print_help(const struct cli_command *c)
{
    const char *space = c->arguments[0] != '\0' ? " " : "";
    printf("usage: gcdumpc %s%s%s [OPTION...]\n\n%c%s.\n\n", c->name, space, c->arguments, c->summary[0] - 'a' + 'A', c->summary + 1);
    cli_print_prose(stdout, cli_about_files(c));
    puts("Options:");
    cli_print_options(stdout, c);
    if (c->bit & (CLI_COLLECT | CLI_CONVERT)) {
        puts("\nFormats:");
        for (size_t i = 0; gcd_format_at(i) != NULL; i++)
            print_format(gcd_format_name(gcd_format_at(i)), gcd_format_suffix(gcd_format_at(i)), gcd_format_about(gcd_format_at(i)));
        if (c->bit == CLI_COLLECT)
            print_format(CLI_RAW_FORMAT, "." CLI_RAW_FORMAT, "the event stream as it comes: a recording, no conversion");
        puts("An output whose name ends in .gz is compressed with gzip.");
    }
    if (c->details[0] != '\0')
        putchar('\n');
    cli_print_prose(stdout, c->details);
    putchar('\n');
    cli_print_prose(stdout, exit_of(c));
}

const struct cli_command *cli_collect(void)
{
    return &commands[0];
}

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/*
 * A descriptor 0, 1 or 2 that is closed would be given to the next file that is opened, and messages would land in it.  Reading from
 * or writing to what stands in for it fails as it should.
 */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* What people type who come from other tools. */
static const struct { const char *word, *command; } elsewhere[] = {
    { "list", "ps" }, { "processes", "ps" }, { "dump", "collect" }, { "snapshot", "collect" }, { "histogram", "report" }, { "heapstat", "report" },
    { "stat", "report" }, { "dumpheap", "report" }, { "gcroot", "paths" }, { "roots", "paths" }, { "objsize", "retained" },
    { "dominators", "retained" }, { "compare", "diff" }, { "export", "convert" }, { "verify", "info" }, { "version", "--version" },
};

static enum cli_exit no_command(const char *word)
{
    char meant[CLI_MEANT_BYTES];
    struct cli_nearest n;
    cli_nearest_begin(&n, word);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        cli_nearest_try(&n, commands[i].name);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i].word, word) == 0)
            n.best = elsewhere[i].command;
    if (word[0] != '\0' && word[strspn(word, "0123456789")] == '\0')
        cli_say(NULL, "there is no command \"%s\"; a process is dumped with: gcdumpc --pid %s -o FILE", word, word);
    else if (n.best == NULL && access(word, F_OK) == 0)
        cli_say(NULL, "there is no command \"%s\"; of a file tell what to do: gcdumpc report FILE, or info, convert, ...; see gcdumpc --help", word);
    else
        cli_say(NULL, "there is no command \"%s\"%s; see gcdumpc --help", word, cli_meant(&n, "", meant));
    return CLI_USAGE;
}

static enum cli_exit run(const struct cli_command *c, int argc, char **argv)
{
    struct cli_args args;
    enum cli_exit e = cli_parse(c, argc, argv, &args);
    if (e != CLI_DONE)
        return e;
    if (args.help) {
        print_help(c);
        return cli_flush_stdout();
    }
    if (args.quiet)
        cli_progress_off();
    cli_memory_limit(args.limits.max_memory_bytes);
    e = c->run(&args);
    cli_memory_close();
    cli_progress_end();
    if (atomic_load(&cli_canceled) && !atomic_load(&cli_timed_out) && e != CLI_DONE && e != CLI_INCOMPLETE && e != CLI_EXCEEDED)
        return CLI_INTERRUPTED;
    return e;
}

/* help [COMMAND] [--format man|bash|zsh|fish]: the latter for who builds packages. */
static enum cli_exit help(int argc, char **argv)
{
    const char *topic = NULL, *format = NULL;
    for (int i = 2; i < argc; i++)
        if (strncmp(argv[i], "--format=", 9) == 0)
            format = argv[i] + 9;
        else if (strcmp(argv[i], "--format") == 0 && i + 1 < argc)
            format = argv[++i];
        else if (topic == NULL || argv[i][0] == '-')
            topic = argv[i];
    const struct cli_command *c = topic != NULL ? find_command(topic) : NULL;
    if (format != NULL && !cli_manual(format, topic)) {
        cli_say(NULL, "help --format takes man, with a command, formats or conf, or one of bash, zsh and fish");
        return CLI_USAGE;
    }
    if (format == NULL && topic != NULL && c == NULL)
        return no_command(topic);
    if (format == NULL && c != NULL)
        print_help(c);
    else if (format == NULL)
        print_commands(stdout);
    return cli_flush_stdout();
}

static enum cli_exit start(int argc, char **argv)
{
    if (argc < 2) {
        print_first_screen(stderr);
        return CLI_USAGE;
    }
    const char *first = argv[1];
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0 || strcmp(first, "help") == 0)
        return help(argc, argv);
    if (strcmp(first, "--version") == 0) {
        printf("gcdumpc %s\n", GCDUMPC_VERSION);
        return cli_flush_stdout();
    }
    const struct cli_command *c = find_command(first);
    if (c != NULL)
        return run(c, argc - 1, argv + 1);
    if (first[0] == '-' && first[1] != '\0')     /* gcdumpc --pid N ... */
        return run(cli_collect(), argc, argv);
    return no_command(first);
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    cli_set_signals();
    cli_json_prepare();
    return (int)start(argc, argv);
}
