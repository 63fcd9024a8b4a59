/*
 * For bash 4.2 and later, without the package bash-completion.  bash itself completes files
 * (compopt -o default): it handles quotes, spaces and tildes.
 */
#include <stdio.h>

#include "manual.h"
#include "opts.h"
#include "topics.h"

static const char before[] =
    "# bash completion of gcdumpc, made by \"gcdumpc completion bash\"\n"
    "\n"
    "# the processes that can be dumped, a line each: number, tab, name\n"
    "_gcdumpc_processes()\n"
    "{\n"
    "    \"${1/#\\~/$HOME}\" ps --json 2>/dev/null | " CLI_SHELL_PROCESSES "\n"
    "}\n"
    "\n"
    "_gcdumpc()\n"
    "{\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} "
    "first=${COMP_WORDS[1]} front= IFS=$'\\n'\n"
    "    local command= operands= options= words= takes=\n"
    "    COMPREPLY=()\n"
    "    # \"--format=gclog\" is three words, or one where \"=\" breaks none\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur=\n"
    "    elif [[ $prev == = && COMP_CWORD -gt 2 ]]; then\n"
    "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
    "    elif [[ $cur == --*=* ]]; then\n"
    "        prev=${cur%%=*} front=${cur%%=*}= cur=${cur#*=}\n"
    "    fi\n"
    "    if [[ COMP_CWORD -eq 1 && $cur != -* && -z $front ]]; then\n"
    "        command=none\n"
    "    elif [[ $first == -* ]]; then\n"
    "        command=collect\n"
    "    else\n"
    "        command=$first\n"
    "    fi\n"
    "    case $command in\n";

static const char after[] =
    "    esac\n"
    "    if [[ -n $takes ]]; then\n"
    "        options=\n"
    "    elif [[ $cur == -* ]]; then\n"
    "        takes=words\n"
    "    fi\n"
    "    case ${takes:-$operands} in\n"
    "    words) COMPREPLY=($(IFS=' '; compgen -P \"$front\" -W \"$options$words\" -- \"$cur\")) "
    ";;\n"
    "    process) COMPREPLY=($(compgen -P \"$front\" -W \"$(_gcdumpc_processes \"$1\" | cut -f "
    "1)\" -- \"$cur\")) ;;\n"
    "    name) COMPREPLY=($(compgen -P \"$front\" -W \"$(_gcdumpc_processes \"$1\" | cut -f 2)\" "
    "-- \"$cur\")) ;;\n"
    "    job) COMPREPLY=($(compgen -W \"$(" CLI_SHELL_JOBS ")\" -- \"$cur\")) ;;\n"
    "    program) COMPREPLY=($(compgen -P \"$front\" -c -- \"$cur\")) ;;\n"
    "    files) compopt -o default 2>/dev/null ;;\n"
    "    esac\n"
    "}\n"
    "complete -F _gcdumpc gcdumpc\n";

static void put_words(const struct cli_command *c, const struct cli_option *o)
{
    const char *word;
    fputs("words words='", stdout);
    for (size_t i = 0; (word = cli_option_word(c, o, i)) != NULL; i++)
        printf("%s%s", i == 0 ? "" : " ", word);
    putchar('\'');
}

static void put_command(const struct cli_command *c)
{
    static const char *const takes[] = { [CLI_TAKES_TEXT] = "text",
                                         [CLI_TAKES_FILE] = "files",
                                         [CLI_TAKES_PROCESS] = "process",
                                         [CLI_TAKES_NAME] = "name",
                                         [CLI_TAKES_PROGRAM] = "program" };
    static const char *const operands[] = { "none", "files", "job" };
    struct cli_option o;
    printf("    %s)\n        operands=%s options='", c->name, operands[cli_operands(c)]);
    for (size_t i = 0; cli_option_at(c, i, &o); i++) {
        if (i > 0)
            putchar(' ');
        if (o.letter != 0)
            printf("-%c ", o.letter);
        printf("--%s", o.name);
    }
    fputs("'\n        case $prev in\n", stdout);
    for (size_t i = 0; cli_option_at(c, i, &o); i++) {
        if (o.takes == CLI_TAKES_NOTHING)
            continue;
        printf("        --%s", o.name);
        if (o.letter != 0)
            printf("|-%c", o.letter);
        fputs(") takes=", stdout);
        if (o.takes == CLI_TAKES_WORD)
            put_words(c, &o);
        else
            fputs(takes[o.takes], stdout);
        puts(" ;;");
    }
    puts("        esac ;;");
}

void cli_complete_bash(void)
{
    const struct cli_command *c;
    fputs(before, stdout);
    const struct cli_topic *t;
    fputs("    none|help)\n        takes=words words='help", stdout);
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++)
        printf(" %s", c->name);
    fputs("'\n        if [[ $command == help ]]; then\n            words='", stdout);
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++)
        printf("%s ", c->name);
    for (size_t i = 0; (t = cli_topic_at(i)) != NULL; i++)
        printf("%s%s", i == 0 ? "" : " ", t->name);
    puts("'\n        fi ;;");
    for (size_t i = 0; (c = cli_command_at(i)) != NULL; i++)
        put_command(c);
    fputs(after, stdout);
}
