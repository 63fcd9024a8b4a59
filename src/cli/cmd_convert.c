#include "cli.h"

enum cli_exit cmd_convert(const struct cli_args *args)
{
    if (cli_format(args) == NULL)        /* before minutes are spent on reading */
        return CLI_USAGE;
    struct cli_dump d;
    enum cli_exit e = cli_open(args, true, &d);
    if (e == CLI_DONE)
        e = cli_write(args, &d);
    cli_close(&d);
    return e;
}
