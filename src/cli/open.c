#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* The file's name without its folder and the suffixes of recordings. */
static void base_name(const char *path, char *ret, size_t cap)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    if (strcmp(path, "-") == 0)
        base = "";
    size_t n = strlen(base);
    static const char *const suffixes[] = { ".gz", ".nettrace", ".netperf" };
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t k = strlen(suffixes[i]);
        if (n > k && memcmp(base + n - k, suffixes[i], k) == 0)
            n -= k;
    }
    (void)snprintf(ret, cap, "%.*s", (int)(n < cap ? n : cap - 1), base);
}

/* Copies of streams go beside the output: there must be room for what comes of them anyway; else where the user says. */
static void spool_folder(const struct cli_args *args, char *ret, size_t cap)
{
    const char *tmpdir = getenv("TMPDIR");
    const char *const outputs[] = { args->output, args->save_trace };
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *path = outputs[i];
        if (path == NULL || strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0)
            continue;
        const char *slash = strrchr(path, '/');
        (void)snprintf(ret, cap, "%.*s", slash == NULL || slash == path ? 1 : (int)(slash - path), slash == NULL ? "." : path);
        if (access(ret, W_OK) == 0)      /* a pipe can lie in a folder of somebody else */
            return;
    }
    (void)snprintf(ret, cap, "%s", tmpdir != NULL && tmpdir[0] != '\0' ? tmpdir : "/tmp");
}

bool cli_is_live(const struct cli_args *args)
{
    return args->pid != 0 || args->name != NULL || args->port != NULL || args->connect != NULL;
}

/*
 * The stream cannot be had twice, so it is kept as soon as it is there, whatever becomes of the conversion; and as the conversion
 * of the file would be called, so is this one.
 */
static enum cli_exit open_live(const struct cli_args *args, const struct gcd_dump_options *options, bool reread,
                               const char *spool, struct cli_dump *ret)
{
    enum cli_exit e = args->save_trace != NULL ? cli_trace_open(args, ret) : CLI_DONE;
    if (e != CLI_DONE)
        return e;
    if (args->save_trace != NULL)
        base_name(args->save_trace, ret->name, sizeof ret->name);
    e = cli_open_live(args, options, reread, spool, ret);
    bool wanted = !args->strict || (e == CLI_DONE && gcd_dump_verdict(ret->dump)->complete);
    if (args->save_trace != NULL && ret->received && wanted) {
        enum cli_exit saved = cli_trace_write(args, ret);
        e = e == CLI_DONE ? saved : e;
    }
    return e;
}

enum cli_exit cli_open(const struct cli_args *args, bool reread, struct cli_dump *ret)
{
    *ret = (struct cli_dump){ .input = NULL };
    static const char verb[] = "reading";
    char spool[4096];
    spool_folder(args, spool, sizeof spool);
    struct gcd_limits limits = { .block_bytes = args->max_block_bytes };
    struct gcd_dump_options options = {
        .limits = &limits, .process = args->process, .dump_number = (unsigned)args->dump_number, .check_references = reread,
        .cancel = &cli_canceled, .progress = cli_progress, .progress_ctx = (void *)(uintptr_t)verb,
    };
    if (cli_is_live(args)) {
        (void)snprintf(ret->process, sizeof ret->process, "process %" PRIu64, args->pid);
        const char *const given[] = { args->port, args->name, args->connect };
        ret->subject = ret->process;
        for (size_t i = 0; i < sizeof given / sizeof *given; i++)
            ret->subject = given[i] != NULL ? given[i] : ret->subject;
        return open_live(args, &options, reread, spool, ret);
    }
    ret->subject = cli_input_name(args);
    base_name(args->input, ret->name, sizeof ret->name);
    struct gcd_input_options input_options = { .reread = reread, .spool_dir = spool, .cancel = &cli_canceled };
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = gcd_input_open(args->input, &input_options, &ret->input, &err);
    const char *output = args->output != NULL && strcmp(args->output, "-") == 0 ? "/dev/stdout" : args->output;
    if (st == GCD_OK && output != NULL && gcd_input_is_file(ret->input, output)) {
        cli_say(ret->subject, "is the input and the output");
        return CLI_USAGE;
    }
    if (st == GCD_OK)
        st = gcd_dump_open(ret->input, &options, &ret->dump, &err);
    return st == GCD_OK ? CLI_DONE : cli_fail(ret->subject, &err);
}

void cli_close(struct cli_dump *d)
{
    gcd_dump_free(d->dump);
    gcd_input_free(d->input);
    gcd_sink_free(d->trace);
    cli_temporary(CLI_SLOT_TRACE, NULL);
#ifdef GCDUMPC_HAVE_IPC
    cli_reverse_close(d);
#endif
    d->trace = NULL;
    d->dump = NULL;
    d->input = NULL;
}
