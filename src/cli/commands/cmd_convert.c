#include <sys/stat.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "summary/summary.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/input.h"
#include "output/output.h"
#include "signals.h"

/* The size of the output, or of the input file when there is no output. */
static uint64_t bytes_of(const struct cli_args *args, const struct cli_output *out)
{
    struct stat st;
    if (args->output.path != NULL)
        return out->bytes;
    return args->input != NULL && stat(args->input, &st) == 0 && S_ISREG(st.st_mode)
               ? (uint64_t)st.st_size
               : 0;
}

/* Writes the outputs that ARGS ask for from the open D. */
static enum cli_exit write_all(const struct cli_args *args, struct cli_dump *d,
                               struct cli_output *out, struct gcd_sink *summary)
{
    enum cli_exit e = args->output.path != NULL ? cli_output_write(args, out, d) : cli_judge(d);
    if (args->output.path == NULL)
        cli_say_verdict(d, args->quiet);
    if (summary == NULL || (e != CLI_DONE && e != CLI_INCOMPLETE))
        return e;
    struct cli_summary_file file = { .path = args->output.path != NULL ? args->output.path
                                                                       : args->input,
                                     .bytes = bytes_of(args, out),
                                     .live = d->live };
    enum cli_exit written = cli_ask_written(args, d);
    if (written == CLI_DONE)
        written = cli_summary_write(args, d, &file, summary);
    return written == CLI_DONE ? e : written;
}

/* Also runs collect: a live process is only another input. */
enum cli_exit cmd_convert(const struct cli_args *args)
{
    struct cli_output out = { .need = CLI_NEED_LEAKS };
    struct gcd_sink *summary = NULL;
    enum cli_exit e = args->output.path != NULL ? cli_output_open(args, &out) : CLI_DONE;
    if (e == CLI_DONE)
        e = cli_summary_open(args, &summary);
    if (e == CLI_DONE) {
        struct cli_args input = *args;
        struct cli_dump d;
        input.view.separate_loads = out.separate_loads;
        e = cli_open(&input, out.need, &d);
        cli_deadline(args->live.timeout_s); /* nobody may read the pipe that it is written to */
        if (e == CLI_DONE)
            e = write_all(args, &d, &out, summary);
        cli_deadline(0);
        cli_close(&d);
    }
    cli_output_close(&out);
    cli_summary_close(summary);
    return e;
}
