#include "cli.h"

/* A living process is only another input. */
enum cli_exit cmd_collect(const struct cli_args *args)
{
    return cmd_convert(args);
}
