/*
 * For fish 3.
 */
#include <stdio.h>

#include "manual.h"
#include "opts.h"
#include "topics.h"

#define QUOTE "\\'"

static const char before[] =
    "# fish completion of gcdumpc, made by \"gcdumpc completion fish\"\n"
    "\n"
    "function __gcdumpc_processes\n"
    "    set -l words (commandline -opc)\n"
    "    eval $words[1] ps --json 2>/dev/null | " CLI_SHELL_PROCESSES "\n"
    "end\n"
    "\n"
    "# is the command on the line, \"none\" before it is written, one of these?\n"
    "function __gcdumpc_is\n"
    "    set -l words (commandline -opc)\n"
    "    set -l command none\n"
    "    if set -q words[2]\n"
    "        set command $words[2]\n"
    "        string match -q -- '-*' $command; and set command collect\n"
    "    end\n"
    "    contains -- $command $argv\n"
    "end\n"
    "\n"
    "complete -c gcdumpc -f\n";

/* "complete" for COMMAND. */
static void begin(const char *command)
{
    printf("complete -c gcdumpc -n '__gcdumpc_is %s'", command);
}

static void put_option(const struct cli_command *c, const struct cli_option *o)
{
    const char *word;
    begin(c == cli_collect() ? "none collect" : c->name);
    printf(" -l %s", o->name);
    if (o->letter != 0)
        printf(" -s %c", o->letter);
    switch (o->takes) {
    case CLI_TAKES_NOTHING:
        break;
    case CLI_TAKES_TEXT:
        fputs(" -x", stdout);
        break;
    case CLI_TAKES_WORD:
        fputs(" -x -a '", stdout);
        for (size_t i = 0; (word = cli_option_word(c, o, i)) != NULL; i++)
            printf("%s%s", i == 0 ? "" : " ", word);
        putchar('\'');
        break;
    case CLI_TAKES_FILE:
        fputs(" -r -F", stdout);
        break;
    case CLI_TAKES_PROCESS:
        fputs(" -x -a '(__gcdumpc_processes)'", stdout);
        break;
    case CLI_TAKES_NAME:
        fputs(" -x -a '(__gcdumpc_processes | cut -f 2)'", stdout);
        break;
    case CLI_TAKES_PROGRAM:
        fputs(" -x -a '(__fish_complete_command)'", stdout);
        break;
    }
    fputs(" -d ", stdout);
    cli_put_quoted(o->help, QUOTE);
    putchar('\n');
}

void cli_complete_fish(void)
{
    const struct cli_command *c;
    struct cli_option o;
    fputs(before, stdout);
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++) {
        begin("none help");
        printf(" -a %s -d ", c->name);
        cli_put_quoted(c->summary, QUOTE);
        putchar('\n');
        if (cli_operands(c) == CLI_OPERANDS_FILES) {
            begin(c->name);
            puts(" -F");
        } else if (cli_operands(c) == CLI_OPERANDS_JOB) {
            begin(c->name);
            fputs(" -a \"(" CLI_SHELL_JOBS ")\"\n", stdout);
        }
    }
    begin("none");
    puts(" -a help");
    const struct cli_topic *t;
    for (size_t i = 0; (t = cli_topic_at(i)) != NULL; i++) {
        begin("help");
        printf(" -a %s -d ", t->name);
        cli_put_quoted(t->summary, QUOTE);
        putchar('\n');
    }
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++)
        for (size_t k = 0; cli_option_at(c, k, &o); k++)
            put_option(c, &o);
}
