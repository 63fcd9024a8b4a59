#include "args.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/input.h"
#include "output/output.h"

/* Also runs collect: a living process is only another input. */
enum cli_exit cmd_convert(const struct cli_args *args)
{
    struct cli_output out;
    enum cli_exit e = cli_output_open(args, &out);
    if (e == CLI_DONE) {
        struct cli_args input = *args;
        struct cli_dump d;
        input.view.separate_loads = out.separate_loads;
        e = cli_open(&input, out.need, &d);
        if (e == CLI_DONE)
            e = cli_output_write(args, &out, &d);
        cli_close(&d);
    }
    cli_output_close(&out);
    return e;
}
