#include <string.h>

#include "manual.h"

bool cli_manual(const char *format, const char *topic)
{
    if (strcmp(format, "man") == 0)
        return cli_man_page(topic);
    if (topic != NULL)
        return false;
    if (strcmp(format, "bash") == 0)
        cli_complete_bash();
    else if (strcmp(format, "zsh") == 0)
        cli_complete_zsh();
    else if (strcmp(format, "fish") == 0)
        cli_complete_fish();
    else
        return false;
    return true;
}
