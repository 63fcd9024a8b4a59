#include <sys/stat.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "commands/command_parts.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/input.h"
#include "signals.h"

enum cli_exit cli_outputs_open(const struct cli_args *args, struct cli_outputs *ret)
{
    *ret = (struct cli_outputs){ .file = { .need = CLI_NEED_LEAKS } };
    enum cli_exit e = args->output.path != NULL ? cli_output_open(args, &ret->file) : CLI_DONE;
    return e == CLI_DONE ? cli_summary_open(args, &ret->summary) : e;
}

void cli_outputs_close(struct cli_outputs *to)
{
    cli_output_close(&to->file);
    cli_summary_close(to->summary);
}

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

enum cli_exit cli_outputs_write(const struct cli_args *args, struct cli_outputs *to,
                                const char *name, struct cli_dump *d)
{
    enum cli_exit e =
        args->output.path != NULL ? cli_output_write(args, &to->file, d) : cli_judge(d);
    if (args->output.path == NULL)
        cli_say_verdict(d, args->quiet);
    if (to->summary == NULL || (e != CLI_DONE && e != CLI_INCOMPLETE))
        return e;
    struct cli_summary_file file = { .path = args->output.path != NULL ? args->output.path
                                                                       : args->input,
                                     .bytes = bytes_of(args, &to->file),
                                     .name = name,
                                     .live = d->live };
    enum cli_exit written = cli_ask_written(args, d);
    if (written == CLI_DONE)
        written = cli_summary_write(args, d, &file, to->summary);
    return written == CLI_DONE ? e : written;
}

enum cli_exit cmd_convert(const struct cli_args *args)
{
    struct cli_outputs to;
    enum cli_exit e = cli_outputs_open(args, &to);
    if (e == CLI_DONE) {
        struct cli_args input = *args;
        struct cli_dump d;
        input.view.separate_loads = to.file.separate_loads;
        e = cli_open_sampled(&input, to.file.need, &d);
        cli_deadline(args->live.timeout_s); /* nobody may read the pipe that it is written to */
        if (e == CLI_DONE)
            e = cli_outputs_write(args, &to, NULL, &d);
        cli_deadline(0);
        cli_close(&d);
    }
    cli_outputs_close(&to);
    return e;
}
