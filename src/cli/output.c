#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli.h"

enum cli_exit cli_flush_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_DONE;
    cli_say("standard output", "cannot write: %s", strerror(errno));
    return CLI_FAILED;
}

static const struct gcd_format *choose_format(const struct cli_args *args)
{
    const struct gcd_format *f = args->format != NULL ? gcd_format_by_name(args->format) : gcd_format_by_path(args->output);
    if (f != NULL)
        return f;
    char known[256] = "";
    for (size_t i = 0; gcd_format_at(i) != NULL; i++) {
        size_t n = strlen(known);
        (void)snprintf(known + n, sizeof known - n, "%s%s", i == 0 ? "" : ", ", gcd_format_name(gcd_format_at(i)));
    }
    if (args->format != NULL)
        cli_say(NULL, "there is no format \"%s\"; there is: %s", args->format, known);
    else if (strcmp(args->output, "-") == 0 || gcd_format_at(1) == NULL)
        return gcd_format_at(0);         /* nothing to choose from, or no name to tell by */
    else
        cli_say(NULL, "the format of \"%s\" cannot be told from its name; use --format with one of: %s", args->output, known);
    return NULL;
}

static void warn(const char *subject, const struct gcd_write_notes *n)
{
    if (n->edges_dangling > 0)
        cli_say(subject, "%s%" PRIu64 " references lead to addresses where no object is", n->dangling_is_minimum ? "at least " : "",
                n->edges_dangling);
    if (n->roots_dangling > 0)
        cli_say(subject, "%s%" PRIu64 " roots hold addresses where no object is", n->dangling_is_minimum ? "at least " : "",
                n->roots_dangling);
    if (n->dependents_dropped > 0)
        cli_say(subject, "%" PRIu64 " dependent handles were dropped: their key is no object", n->dependents_dropped);
    if (n->objects_dropped > 0)
        cli_say(subject, "%" PRIu64 " objects without an address were dropped", n->objects_dropped);
}

enum cli_exit cli_output_open(const struct cli_args *args, struct cli_output *ret)
{
    *ret = (struct cli_output){ .name = strcmp(args->output, "-") == 0 ? "standard output" : args->output };
    ret->format = choose_format(args);
    if (ret->format == NULL)
        return CLI_USAGE;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_sink_open(args->output, &(struct gcd_sink_options){ .cancel = &cli_canceled }, &ret->sink, &err);
    if (st != GCD_OK)
        return cli_fail(ret->name, &err);
    cli_temporary(gcd_sink_temporary(ret->sink));
    return CLI_DONE;
}

enum cli_exit cli_output_write(const struct cli_args *args, struct cli_output *out, struct cli_dump *d)
{
    enum cli_exit verdict = cli_verdict(d->subject, d->dump, args->quiet);
    if (verdict != CLI_DONE && args->strict) {
        cli_say(d->subject, "nothing was written (--strict)");
        return CLI_FAILED;
    }
    static const char verb[] = "writing";
    struct gcd_write_options options = { .name = d->name, .cancel = &cli_canceled, .progress = cli_progress,
                                         .progress_ctx = (void *)(uintptr_t)verb, .progress_total = gcd_input_size(d->input) };
    struct gcd_write_notes notes;
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_write(out->format, d->dump, out->sink, &options, &notes, &err);
    if (st != GCD_OK)                    /* whose fault: did the writing fail, or the reading? */
        return cli_fail(gcd_sink_status(out->sink, NULL) != GCD_OK ? out->name : d->subject, &err);
    if (gcd_sink_commit(out->sink, &err) != GCD_OK)
        return cli_fail(out->name, &err);
    warn(d->subject, &notes);
    if (!args->quiet && strcmp(args->output, "-") != 0) {
        char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES];
        cli_say(out->name, "%s objects, %s references, %s bytes of %s written, %s", cli_number(notes.objects, true, a),
                cli_number(notes.edges, true, b), cli_number(gcd_sink_bytes(out->sink), true, c), gcd_format_name(out->format),
                verdict == CLI_DONE ? "complete" : "INCOMPLETE");
    }
    return verdict;
}

void cli_output_close(struct cli_output *out)
{
    gcd_sink_free(out->sink);
    out->sink = NULL;
    cli_temporary(NULL);
}
