/*
 * For zsh, with its _arguments.
 */
#include <stdio.h>
#include <string.h>

#include "manual.h"
#include "opts.h"
#include "topics.h"

#define QUOTE "'\\''"

static const char before[] = "#compdef gcdumpc\n"
                             "# zsh completion of gcdumpc, made by \"gcdumpc completion zsh\"\n"
                             "\n"
                             "_gcdumpc_processes()\n"
                             "{\n"
                             "    local -a found\n"
                             "    found=(${(f)\"$(_call_program processes $gcdumpc ps --json "
                             "2>/dev/null | " CLI_SHELL_PROCESSES ")\"})\n"
                             "    if [[ $1 == names ]]; then\n"
                             "        found=(${found#*$'\\t'})\n"
                             "    else\n"
                             "        found=(${found/$'\\t'/:})\n"
                             "    fi\n"
                             "    _describe process found\n"
                             "}\n"
                             "\n"
                             "_gcdumpc()\n"
                             "{\n"
                             "    local gcdumpc=$words[1] command=$words[2]\n"
                             "    local -a commands topics\n"
                             "    commands=(\n";

static const char between[] = "    )\n"
                              "    topics=(\n";

static const char after_topics[] =
    "    )\n"
    "    if (( CURRENT == 2 )) && [[ $command != -* ]]; then\n"
    "        _describe command commands\n"
    "        return\n"
    "    fi\n"
    "    if [[ $command == -* ]]; then\n"
    "        command=collect\n"
    "    else\n"
    "        shift words\n"
    "        (( CURRENT-- ))\n"
    "    fi\n"
    "    case $command in\n"
    "    help) _describe -t commands command commands -- topics ;;\n";

static const char after[] = "    esac\n"
                            "}\n"
                            "\n"
                            "_gcdumpc \"$@\"\n";

/* TEXT inside single quotes, where brackets, colons and backslashes mean something to _arguments
 * and _describe. */
static void put_inside(const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (strchr(special, *text) != NULL)
            putchar('\\');
        if (*text == '\'')
            fputs(QUOTE, stdout);
        else
            putchar(*text);
    }
}

static void put_action(const struct cli_command *c, const struct cli_option *o)
{
    const char *word;
    switch (o->takes) {
    case CLI_TAKES_WORD:
        putchar('(');
        for (size_t i = 0; (word = cli_option_word(c, o, i)) != NULL; i++)
            printf("%s%s", i == 0 ? "" : " ", word);
        putchar(')');
        break;
    case CLI_TAKES_FILE:
        fputs("_files", stdout);
        break;
    case CLI_TAKES_PROCESS:
        /* the space: without options of _arguments */
        fputs(" _gcdumpc_processes numbers", stdout);
        break;
    case CLI_TAKES_NAME:
        fputs(" _gcdumpc_processes names", stdout);
        break;
    case CLI_TAKES_PROGRAM:
        fputs("_command_names -e", stdout);
        break;
    case CLI_TAKES_TEXT:
    case CLI_TAKES_NOTHING:
        putchar(' '); /* offers nothing */
        break;
    }
}

static void put_option(const struct cli_command *c, const struct cli_option *o)
{
    const char *argument = o->argument != NULL ? "=" : "";
    fputs("        ", stdout);
    if (o->several)
        fputs("'*'", stdout);
    else if (o->letter != 0)
        printf("'(-%c --%s)'", o->letter, o->name);
    if (o->letter != 0)
        printf("{-%c%s,--%s%s}", o->letter, o->argument != NULL ? "+" : "", o->name, argument);
    else
        printf("'--%s%s'", o->name, argument);
    fputs("'[", stdout);
    put_inside(o->help, "[]\\");
    putchar(']');
    if (o->argument != NULL) {
        printf(":%s:", o->argument);
        put_action(c, o);
    }
    puts("' \\");
}

void cli_complete_zsh(void)
{
    static const char *const operands[] = { "", "        '*:file:_files' \\\n",
                                            "        '1:job:($(" CLI_SHELL_JOBS "))' \\\n" };
    const struct cli_command *c;
    struct cli_option o;
    fputs(before, stdout);
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++) {
        printf("        '%s:", c->name);
        put_inside(c->summary, ":\\");
        puts("'");
    }
    fputs(between, stdout);
    const struct cli_topic *t;
    for (size_t i = 0; (t = cli_topic_at(i)) != NULL; i++) {
        printf("        '%s:", t->name);
        put_inside(t->summary, ":\\");
        puts("'");
    }
    fputs(after_topics, stdout);
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++) {
        printf("    %s) _arguments -s -S \\\n", c->name);
        for (size_t k = 0; cli_option_at(c, k, &o); k++)
            put_option(c, &o);
        fputs(operands[cli_operands(c)], stdout);
        puts("        ;;");
    }
    fputs(after, stdout);
}
