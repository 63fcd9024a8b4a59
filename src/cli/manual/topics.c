#include "topics.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "term/term.h"

static const char patterns[] =
    "--filter, --type, --content, --by-dominator, --skip and --mine take a PATTERN for names of "
    "types.  In it, *\n"
    "matches any text and ? one character.  The whole name must match; brackets have no special "
    "meaning.\nFor example:\n"
    "  Shop.*                  all types of the namespace, also nested ones\n"
    "  Shop.Cache+Entry        a nested type, also Shop.Cache.Entry\n"
    "  byte[], *.List<string>  with the words of C#\n"
    "  Order, List<Order>      without namespaces, if that means one type\n"
    "  Poller.LoopAsync        an async method, as leaks and paths write it\n"
    "  /^Shop\\.(Order|Item)$/  a regular expression, which may match anywhere in the name\n"
    "  module(Shop*)           the types of modules, by file name (with or without .dll) or "
    "assembly\n"
    "\nA name that was copied from any output works, in C# or in the runtime's spelling.  A nested "
    "type also has\n"
    "the name that the runtime gives it, without namespace and outer types.  \"<>c\" means all "
    "types of that name,\n"
    "\"<>c [Shop]\" those of one module.\n"
    "\nNamespaces may be missing only if no type has exactly that name.  A short name of several "
    "types is an\n"
    "error; *.Order means all of them.  In a pattern without capital letters, case does not matter "
    "if "
    "nothing\n"
    "else matches.\n"
    "\nFor a shell, put a PATTERN in quotes: --filter 'Shop.*'.\n"
    "\n--name takes the same * and ? for names of processes, \"gcdumpc async --filter\" for names "
    "of methods.\n";

static const char thresholds[] =
    "--fail-if of diff and trend takes METRIC(PATTERN) > LIMIT.  If it is true, the exit status is "
    "4.  For example:\n"
    "  bytes(MyApp.*) > +10%        these types have grown by more than a tenth\n"
    "  count(MyApp.Session) > 500   there are more than 500 in the last dump\n"
    "  retained(MyApp.Cache) > +8M  the objects of this type together retain over 8 MiB more than "
    "before\n"
    "  bytes > +64MiB               the whole heap has grown by more than 64 MiB\n"
    "  bytes(module(Shop*)) > 10M   the types of these modules have more than 10 MiB in the last "
    "dump\n"
    "\nMETRIC is count, bytes or retained.  PATTERN is explained by \"gcdumpc help patterns\".  "
    "With a sign, LIMIT\n"
    "is the growth from the first dump to the last, in percent or not.  Also >=, < and <= work.  "
    "--fail-if can be\n"
    "repeated.\n"
    "\nA name without * that no dump has is an error (status 1), unless the condition is that "
    "there must be none,\n"
    "as count(MyApp.Legacy) > 0.  Other patterns that match nothing count as 0.  A summary does "
    "not "
    "list all types;\n"
    "if what it does not list could decide the condition, that is an error, too.\n"
    "\nretained(PATTERN) is exact, like \"gcdumpc retained --type\".  --retained shows a lower "
    "bound for each type: it\n"
    "leaves out memory that several of its objects retain only together.\n";

static const char statuses[] =
    "  0    done: the output is there, and the data are complete\n"
    "  1    failed: a message says why; with --strict also if the data are incomplete\n"
    "  2    wrong usage: a message says what to write instead\n"
    "  3    done, but the data are incomplete: a message says what is missing, and how much\n"
    "  4    a threshold of diff or trend is exceeded, whether or not the data are complete\n"
    "  130  interrupted by Ctrl-C or SIGTERM: nothing was written\n"
    "\nWhen the conditions of an unattended dump prevent it, the status is that of --skip-status, "
    "by default 0.\n";

static const char environment[] =
    "  TMPDIR         where temporary files of a graph that does not fit into memory go (else "
    "/var/tmp), and where\n"
    "                 diagnostic sockets are looked for, besides the TMPDIR of each process\n"
    "  NO_COLOR       no colours and no bold text, if it is not empty\n"
    "  TERM           output as into a file, if it is \"dumb\"\n"
    "  LC_ALL, LC_CTYPE, LANG\n"
    "                 browse draws with ASCII alone unless the first of these that is set names "
    "UTF-8\n"
    "  SQLITE_TMPDIR  where \"gcdumpc sql\" sorts what does not fit into memory (else TMPDIR or "
    "/var/tmp)\n"
    "  PATH           where hooks of a configuration (--on-success) are looked for\n"
    "  HOME           \"~\" in file names in browse\n"
    "\nDOTNET_DiagnosticPorts belongs to the other process: a .NET program that has it in its "
    "environment connects to\n"
    "\"gcdumpc --listen\".  DOTNET_EnableDiagnostics=0 there turns off what gcdumpc needs.\n";

static const struct cli_topic topics[] = {
    { "patterns", "names of types with wildcards", patterns, 7, NULL },
    { "thresholds", "conditions for an exit status", thresholds, 7, NULL },
    { "formats", "files that gcdumpc reads and writes", NULL, 5, NULL },
    { "exit", "exit statuses", statuses, 0, "EXIT STATUS" },
    { "environment", "environment variables", environment, 0, "ENVIRONMENT" },
};
#define TOPIC_COUNT (sizeof topics / sizeof *topics)

const struct cli_topic *cli_topic_at(size_t i)
{
    return i < TOPIC_COUNT ? &topics[i] : NULL;
}

const struct cli_topic *cli_topic(const char *name)
{
    for (size_t i = 0; i < TOPIC_COUNT; i++)
        if (strcmp(topics[i].name, name) == 0)
            return &topics[i];
    return NULL;
}

static void print_format(const char *name, const char *suffix, const char *about)
{
    printf("  %-9s  %-13s  ", name, suffix);
    cli_print_wrapped(stdout, about, 28, 28);
}

static void print_formats(void)
{
    cli_print_prose(stdout,
                    "The suffix of an output chooses its format, --format NAME overrides it:\n");
    for (size_t i = 0; gcd_format_at(i) != NULL; i++)
        print_format(gcd_format_name(gcd_format_at(i)), gcd_format_suffix(gcd_format_at(i)),
                     gcd_format_about(gcd_format_at(i)));
    print_format(CLI_RAW_FORMAT, "." CLI_RAW_FORMAT, CLI_RAW_ABOUT);
    cli_print_prose(
        stdout,
        "An output whose name ends in .gz is compressed with gzip.\n"
        "\nInputs are .nettrace and .etl recordings, core files of .NET 8 and later, and dumps\n"
        "in .gclog, .gcdump and .dartheap, also compressed with gzip, whatever they are called.\n"
        "What each format can hold: gcdumpc-formats(5).\n");
}

void cli_print_topic(const struct cli_topic *t)
{
    if (t->text != NULL)
        cli_print_prose(stdout, t->text);
    else
        print_formats();
}
