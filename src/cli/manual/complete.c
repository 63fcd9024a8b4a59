#include <stdio.h>
#include <string.h>

#include "manual.h"

void cli_put_quoted(const char *text, const char *quote)
{
    putchar('\'');
    for (; *text != '\0'; text++)
        if (*text == '\'')
            fputs(quote, stdout);
        else
            putchar(*text);
    putchar('\'');
}

enum cli_operands cli_operands(const struct cli_command *c)
{
    if (c->bit == CLI_RUN)
        return CLI_OPERANDS_JOB;
    return cli_about_files(c)[0] != '\0' ? CLI_OPERANDS_FILES : CLI_OPERANDS_NONE;
}

bool cli_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        cli_complete_bash();
    else if (strcmp(shell, "zsh") == 0)
        cli_complete_zsh();
    else if (strcmp(shell, "fish") == 0)
        cli_complete_fish();
    else
        return false;
    return true;
}
