#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "command_table.h"
#include "commands/commands.h"
#include "exit.h"
#include "input/memory.h"
#include "manual/manual.h"
#include "manual/topics.h"
#include "opts.h"
#include "output/json_out.h"
#include "output/old_keys.h"
#include "output/output.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/suggest.h"
#include "term/term.h"

/* The text shown without arguments: what the program is for, and where to continue. */
static void print_first_screen(FILE *to)
{
    fputs("gcdumpc " GCDUMPC_VERSION ": .NET heap dumps outside a debugger.\n\n"
          "  gcdumpc ps                              list the processes\n"
          "  gcdumpc --pid 1234 -o shop.html         dump one into a page for browsers\n"
          "  gcdumpc --pid 1234 -o shop.nettrace     ... or into a recording for later:\n"
          "  gcdumpc report shop.nettrace --top 20   objects and bytes of each type\n"
          "  gcdumpc leaks shop.nettrace             possible leaks, and why\n"
          "  gcdumpc diff old.nettrace new.nettrace  what has grown\n"
          "\nAll commands: gcdumpc --help.  Options of one: gcdumpc COMMAND --help.\n",
          to);
}

static void print_commands(FILE *to)
{
    fputs(
        "usage: gcdumpc COMMAND [OPTION...]\n\n.NET heap dumps outside a debugger.\n\nCommands:\n",
        to);
    const struct cli_command *c;
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++) {
        fprintf(to, "  %-8s  ", c->name);
        cli_print_wrapped(to, c->summary, 12, 12);
    }
    fputs("\nMost used:\n"
          "  gcdumpc ps\n"
          "  gcdumpc --pid 1234 -o shop.nettrace.gz\n"
          "  gcdumpc leaks shop.nettrace.gz\n"
          "  gcdumpc report shop.nettrace.gz --top 20\n"
          "  gcdumpc diff before.nettrace.gz after.nettrace.gz\n\n",
          to);
    fputs("Topics (gcdumpc help TOPIC):\n", to);
    const struct cli_topic *t;
    for (size_t i = 0; (t = cli_topic_at(i)) != NULL; i++) {
        fprintf(to, "  %-11s  ", t->name);
        cli_print_wrapped(to, t->summary, 15, 15);
    }
    putc('\n', to);
    cli_print_prose(to, "\"gcdumpc COMMAND --help\" lists the options of a command, \"gcdumpc "
                        "--version\" prints the version.\n");
    cli_print_prose(to, cli_exit_text(NULL));
}

static void print_format_names(void)
{
    char text[512];
    size_t n = (size_t)snprintf(text, sizeof text, "Formats, by suffix:");
    for (size_t i = 0; gcd_format_at(i) != NULL && n < sizeof text; i++)
        n +=
            (size_t)snprintf(text + n, sizeof text - n, " %s", gcd_format_suffix(gcd_format_at(i)));
    if (n < sizeof text)
        (void)snprintf(text + n, sizeof text - n,
                       " ." CLI_RAW_FORMAT ",\nand .gz: see \"gcdumpc help formats\".\n");
    putchar('\n');
    cli_print_prose(stdout, text);
}

/* ALL: also the options and details that only the full help of collect has. */
static void print_help(const struct cli_command *c, bool all)
{
    const char *space = c->arguments[0] != '\0' ? " " : "", *details = c->details, *rest = NULL;
    bool shorter = (c->bit & (CLI_COLLECT | CLI_WATCH)) != 0 && !all;
    char first[1000];
    printf("usage: gcdumpc %s%s%s [OPTION...]\n\n%c%s.\n\n", c->name, space, c->arguments,
           c->summary[0] - 'a' + 'A', c->summary + 1);
    cli_print_prose(stdout, cli_about_files(c));
    cli_print_options(stdout, c, all);
    if (shorter)
        printf("More, for tuning, unattended dumps and names with fields: gcdumpc help %s\n",
               c->name);
    if (shorter && c->bit == CLI_COLLECT && (rest = strstr(details, "\n\n")) != NULL) {
        (void)snprintf(first, sizeof first, "%.*s", (int)(rest + 1 - details), details);
        details = first;
    }
    if (c->bit & (CLI_COLLECT | CLI_WATCH | CLI_CONVERT))
        print_format_names();
    if (details[0] != '\0')
        putchar('\n');
    cli_print_prose(stdout, details);
    printf("\nFor example:\n%s\n", c->examples);
    cli_print_prose(stdout, cli_exit_text(c));
}

static const struct cli_command *find_command(const char *name)
{
    const struct cli_command *c;
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

/*
 * If descriptor 0, 1 or 2 is closed, the next opened file would get it, and messages would land in
 * that file.  Reading from or writing to the replacement fails as it should.
 */
static void fill_standard_descriptors(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* A message is one write: not a call for each byte, and not mixed with the lines of other programs
 * that write to the same file. */
static void write_whole_messages(void)
{
    static char buffer[8192]; /* longer than any message, and there when memory is exhausted */
    (void)setvbuf(stderr, buffer, _IOLBF, sizeof buffer);
}

/* Names of commands in other tools. */
static const struct {
    const char *word, *command;
} elsewhere[] = {
    { "list", "ps" },           { "processes", "ps" },     { "dump", "collect" },
    { "snapshot", "collect" },  { "histogram", "report" }, { "heapstat", "report" },
    { "stat", "report" },       { "dumpheap", "report" },  { "gcroot", "paths" },
    { "roots", "paths" },       { "objsize", "retained" }, { "dominators", "retained" },
    { "compare", "diff" },      { "export", "convert" },   { "verify", "info" },
    { "version", "--version" }, { "dumpasync", "async" },  { "tasks", "async" },
    { "tui", "browse" },        { "view", "browse" },      { "open", "browse" },
    { "query", "sql" },         { "oql", "sql" },          { "sqlite", "sql" },
    { "sqlite3", "sql" },
};

static enum cli_exit no_command(const char *word)
{
    char meant[CLI_MEANT_BYTES];
    struct cli_nearest n;
    cli_nearest_begin(&n, word);
    for (size_t i = 0; cli_command_at(i) != NULL; i++)
        cli_nearest_try(&n, cli_command_at(i)->name);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (strcmp(elsewhere[i].word, word) == 0)
            n.best = elsewhere[i].command;
    if (word[0] != '\0' && word[strspn(word, "0123456789")] == '\0')
        cli_say(NULL,
                "there is no command \"%s\"; to dump a process, use: gcdumpc --pid %s -o FILE",
                word, word);
    else if (n.best == NULL && access(word, F_OK) == 0)
        cli_say(NULL,
                "there is no command \"%s\"; to read a file, use gcdumpc report FILE, or info, "
                "convert, ...; see gcdumpc --help",
                word);
    else
        cli_say(NULL, "there is no command \"%s\"%s; see gcdumpc --help", word,
                cli_meant(&n, "", meant));
    return CLI_USAGE;
}

static enum cli_exit run_command(const struct cli_args *args, unsigned bit)
{
    switch (bit) {
    case CLI_COLLECT:
        return cmd_collect(args);
    case CLI_CONVERT:
        return cmd_convert(args);
    case CLI_INFO:
        return cmd_info(args);
    case CLI_REPORT:
        return cmd_report(args);
    case CLI_RETAINED:
        return cmd_retained(args);
    case CLI_PATHS:
        return cmd_paths(args);
    case CLI_LEAKS:
        return cmd_leaks(args);
    case CLI_STRINGS:
        return cmd_strings(args);
    case CLI_EXCEPTIONS:
        return cmd_exceptions(args);
    case CLI_ASYNC:
        return cmd_async(args);
    case CLI_SITES:
        return cmd_sites(args);
    case CLI_BROWSE:
        return cmd_browse(args);
    case CLI_SQL:
        return cmd_sql(args);
    case CLI_MCP:
        return cmd_mcp(args);
    case CLI_DIFF:
        return cmd_diff(args);
    case CLI_TREND:
        return cmd_trend(args);
    case CLI_RUN:
        return cmd_run(args);
    case CLI_WATCH:
        return cmd_watch(args);
    default:
        return cmd_ps(args);
    }
}

static enum cli_exit run(const struct cli_command *c, int argc, char **argv)
{
    struct cli_args args;
    enum cli_exit e = cli_parse(c, argc, argv, &args);
    if (e != CLI_DONE)
        return e;
    if (args.help) {
        print_help(c, false);
        return cli_flush_stdout();
    }
    if (args.quiet)
        cli_progress_off();
    cli_style(args.view.human, args.view.color);
    if (args.view.json_schema == 1)
        cli_json_use_old_keys(c->name);
    cli_memory_limit(args.limits.max_memory_bytes);
    e = run_command(&args, c->bit);
    cli_memory_close();
    cli_progress_end();
    if (atomic_load(&cli_canceled) && !atomic_load(&cli_timed_out) && e != CLI_DONE &&
        e != CLI_INCOMPLETE && e != CLI_EXCEEDED)
        return CLI_INTERRUPTED;
    return e;
}

/* Also "help --format SHELL", as before 0.3.0. */
static enum cli_exit completion(const char *shell)
{
    if (shell == NULL || !cli_completion(shell))
        return cli_error(CLI_USAGE, NULL, "completion takes a shell: bash, zsh or fish");
    return cli_flush_stdout();
}

/* help [COMMAND or TOPIC] */
static enum cli_exit help(int argc, char **argv)
{
    const char *topic = argc > 2 ? argv[2] : NULL;
    if (topic != NULL && strncmp(topic, "--format", 8) == 0)
        return completion(topic[8] == '=' ? topic + 9 : argv[3]);
    const struct cli_command *c = topic != NULL ? find_command(topic) : NULL;
    const struct cli_topic *about = topic != NULL ? cli_topic(topic) : NULL;
    if (topic != NULL && (argc > 3 || (c == NULL && about == NULL)))
        return no_command(argc > 3 ? argv[3] : topic);
    if (c != NULL)
        print_help(c, true);
    else if (about != NULL)
        cli_print_topic(about);
    else
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
    if (strcmp(first, "completion") == 0)
        return completion(argv[2]);
    if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
        printf("gcdumpc %s\n", GCDUMPC_VERSION);
        return cli_flush_stdout();
    }
    const struct cli_command *c = find_command(first);
    if (c != NULL)
        return run(c, argc - 1, argv + 1);
    if (first[0] == '-' && first[1] != '\0') /* gcdumpc --pid N ... */
        return run(cli_collect(), argc, argv);
    return no_command(first);
}

int main(int argc, char **argv)
{
    fill_standard_descriptors();
    write_whole_messages();
    cli_set_signals();
    cli_json_prepare();
    int status = (int)start(argc, argv);
    if (cli_reader_gone)
        cli_end_by_sigpipe();
    return status;
}
