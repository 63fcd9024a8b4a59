#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "path.h"
#include "suggest.h"

/* The file's name without its folder and the suffixes of recordings. */
static void base_name(const char *path, char *ret, size_t cap)
{
    const char *base = strcmp(path, "-") != 0 ? cli_path_name(path) : "";
    size_t n = strlen(base);
    static const char *const suffixes[] = { ".gz", ".nettrace", ".netperf", ".etl", ".gclog", ".gcdump", ".dartheap" };
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
        cli_path_folder(path, ret, cap);
        if (access(ret, W_OK) == 0)      /* a pipe can lie in a folder of somebody else */
            return;
    }
    (void)snprintf(ret, cap, "%s", tmpdir != NULL && tmpdir[0] != '\0' ? tmpdir : "/tmp");
}

bool cli_is_live(const struct cli_args *args)
{
    return args->pid != 0 || args->name != NULL || args->port != NULL || args->listen != NULL || args->all;
}

bool cli_keeps_room(const struct cli_args *args)
{
    return cli_is_live(args) && !args->force;
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

static struct gcd_graph_options graph_options(const struct cli_args *args, const struct gcd_limits *limits, const struct gcd_input *in)
{
    static const char verb[] = "building the graph";
    return (struct gcd_graph_options){ .alloc = cli_alloc(), .limits = limits, .keep_unknown = args->keep_unknown,
                                       .cancel = &cli_canceled, .threads = cli_threads(args),
                                       .progress = cli_progress, .progress_ctx = (void *)(uintptr_t)verb, .progress_total = gcd_input_size(in) };
}

/* The graph of D, in d->graph. */
static enum cli_exit make_graph(const struct cli_args *args, enum cli_need need, struct cli_dump *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (d->graph != NULL)
        return CLI_DONE;
    enum cli_exit e = cli_memory_plan(args, d, need);
    if (e != CLI_DONE)
        return e;
    struct gcd_limits limits = cli_limits(args);
    struct gcd_graph_options options = graph_options(args, &limits, d->input);
    return gcd_graph_from_dump(d->dump, &options, &d->graph, &err) == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

/* A file that is a graph already: it is read several times, a pipe too. */
static enum cli_exit open_graph(const struct cli_args *args, const struct gcd_input_options *input_options, struct cli_dump *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (args->walk > 1 || args->process != 0 || args->process_name != NULL) {
        cli_say(ret->subject, "holds one dump; --walk and --process choose among those of a recording");
        return CLI_FAILED;
    }
    enum cli_exit e = cli_memory_plan(args, ret, CLI_NEED_GRAPH);
    if (e != CLI_DONE)
        return e;
    struct gcd_limits limits = cli_limits(args);
    struct gcd_graph_options options = graph_options(args, &limits, ret->input);
    gcd_status st = gcd_input_keep(ret->input, input_options, &err);
    if (st == GCD_OK)
        st = gcd_graph_read(ret->input, &options, &ret->graph, &err);
    return st == GCD_OK ? CLI_DONE : cli_fail(ret->subject, &err);
}

/* A name that is misspelt, or a recording that is still to be made. */
static enum cli_exit no_input(const char *path, const struct gcd_error *err)
{
    if (err->os_errno != ENOENT || strncmp(err->msg, "cannot open", 11) != 0)        /* not of the copy of a pipe */
        return cli_fail(path, err);
    char *near = cli_nearest_file(path);
    if (near != NULL)
        cli_say(path, "%s (did you mean \"%s\"?)", err->msg, near);
    else
        cli_say(path, "%s; gcdumpc --pid N -o FILE.nettrace records a process", err->msg);
    free(near);
    return CLI_FAILED;
}

enum cli_exit cli_open_input(const struct cli_args *args, const struct gcd_input_options *options, struct gcd_input **ret)
{
    struct gcd_input *parts[1 + CLI_MORE_INPUTS];
    struct gcd_error err = GCD_ERROR_INIT;
    size_t n = 0;
    gcd_status st = GCD_OK;
    const char *subject = cli_input_name(args);
    for (; n <= args->more_count && st == GCD_OK; n += st == GCD_OK) {
        subject = n == 0 ? cli_input_name(args) : args->more[n - 1];
        st = gcd_input_open(n == 0 ? args->input : subject, options, &parts[n], &err);
    }
    if (st == GCD_OK && n == 1) {
        *ret = parts[0];
        return CLI_DONE;
    }
    if (st == GCD_OK)
        st = gcd_input_join(parts, n, options, ret, &err);
    for (size_t i = 0; i < n && st != GCD_OK; i++)
        gcd_input_free(parts[i]);
    return st == GCD_OK ? CLI_DONE : no_input(subject, &err);
}

static enum cli_exit open_file(const struct cli_args *args, const struct gcd_dump_options *options, bool reread, const char *spool,
                               struct cli_dump *ret)
{
    ret->subject = cli_input_name(args);
    base_name(args->input, ret->name, sizeof ret->name);
    struct gcd_input_options input_options = { .alloc = cli_alloc(), .reread = reread, .spool_dir = spool, .cancel = &cli_canceled };
    struct gcd_error err = GCD_ERROR_INIT;
    const char *graph_format = NULL;
    enum cli_exit opened = cli_open_input(args, &input_options, &ret->input);
    if (opened != CLI_DONE)
        return opened;
    const char *output = args->output != NULL && strcmp(args->output, "-") == 0 ? "/dev/stdout" : args->output;
    if (output != NULL && gcd_input_is_file(ret->input, output)) {
        cli_say(ret->subject, "is the input and the output; choose another name for -o");
        return CLI_USAGE;
    }
    gcd_status st = gcd_graph_probe(ret->input, &graph_format, &err);
    if (st == GCD_OK && graph_format != NULL && args->more_count > 0) {
        cli_say(ret->subject, "several files are one recording only when they are .etl; give one, or compare with gcdumpc diff or trend");
        return CLI_FAILED;
    }
    if (st == GCD_OK && graph_format != NULL)
        return open_graph(args, &input_options, ret);
    if (st == GCD_OK)
        st = gcd_dump_open(ret->input, options, &ret->dump, &err);
    if (st == GCD_E_UNSUPPORTED && err.off == 0) {
        cli_say(ret->subject, "is no recording (.nettrace, .etl) and no dump in .gclog, .gcdump or .dartheap; other formats are written "
                "only, and core dumps are not read");
        return CLI_FAILED;
    }
    return st == GCD_OK ? CLI_DONE : cli_fail(ret->subject, &err);
}

struct gcd_limits cli_limits(const struct cli_args *args)
{
    return (struct gcd_limits){ .block_bytes = args->max_block_bytes, .objects = args->max_objects };
}

/* --strict */
static enum cli_exit refuse(const struct cli_args *args, struct cli_dump *d)
{
    if (!args->strict || cli_verdict(d, args->quiet) == CLI_DONE)
        return CLI_DONE;
    d->refused = true;
    return cli_refuse(d->subject);
}

enum cli_exit cli_open(const struct cli_args *args, enum cli_need need, struct cli_dump *ret)
{
    *ret = (struct cli_dump){ .input = NULL };
    enum cli_exit e = cli_memory_open(args);
    if (e != CLI_DONE)
        return e;
    bool reread = need >= CLI_NEED_STREAM;
    static const char verb[] = "reading";
    char spool[4096];
    spool_folder(args, spool, sizeof spool);
    struct gcd_limits limits = cli_limits(args);
    struct gcd_dump_options options = {
        .alloc = cli_alloc(), .limits = &limits, .process = args->process, .process_name = args->process_name,
        .walk_number = (unsigned)args->walk,
        .check_references = need == CLI_NEED_OBJECTS, .cancel = &cli_canceled, .progress = cli_progress, .progress_ctx = (void *)(uintptr_t)verb,
    };
    if (cli_is_live(args)) {
        ret->live = true;
        (void)snprintf(ret->process, sizeof ret->process, "process %" PRIu64, args->pid);
        const char *const given[] = { args->port, args->name, args->listen };
        ret->subject = ret->process;
        for (size_t i = 0; i < sizeof given / sizeof *given; i++)
            ret->subject = given[i] != NULL ? given[i] : ret->subject;
        e = open_live(args, &options, reread, spool, ret);
    } else {
        e = open_file(args, &options, reread, spool, ret);
    }
    if (e == CLI_DONE)
        e = refuse(args, ret);
    return e == CLI_DONE && need >= CLI_NEED_GRAPH ? make_graph(args, need, ret) : e;
}

/* ---- the same, wherever it comes from ---- */

const struct gcd_dump_facts *cli_facts(const struct cli_dump *d)
{
    return d->dump != NULL ? gcd_dump_facts(d->dump) : gcd_graph_facts(d->graph);
}

const struct gcd_verdict *cli_verdict_of(const struct cli_dump *d)
{
    return d->dump != NULL ? gcd_dump_verdict(d->dump) : gcd_graph_verdict(d->graph);
}

uint32_t cli_type_count(const struct cli_dump *d)
{
    return d->dump != NULL ? gcd_dump_type_count(d->dump) : gcd_graph_type_count(d->graph);
}

const struct gcd_type *cli_type(const struct cli_dump *d, uint32_t i)
{
    return d->dump != NULL ? gcd_dump_type(d->dump, i) : gcd_graph_type(d->graph, i);
}

enum cli_exit cli_names_of(const struct cli_args *args, const struct cli_dump *d, enum gcd_name_style def, struct gcd_names **ret)
{
    enum gcd_name_style style = args->names == CLI_NAMES_CSHARP ? GCD_NAMES_CSHARP : args->names == CLI_NAMES_RAW ? GCD_NAMES_RAW : def;
    struct gcd_error err = GCD_ERROR_INIT;
    /* the graph may have one type more, that of what is unknown */
    gcd_status st = d->graph != NULL ? gcd_names_of_graph(d->graph, style, cli_alloc(), ret, &err) :
                    gcd_names_of_dump(d->dump, style, cli_alloc(), ret, &err);
    return st == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

void cli_close(struct cli_dump *d)
{
    cli_tick_stop();                     /* the graph goes, and with it what has to be kept small */
    gcd_graph_free(d->graph);
    gcd_dump_free(d->dump);
    gcd_input_free(d->input);
    gcd_sink_free(d->trace);
    cli_temporary(CLI_SLOT_TRACE, NULL);
#ifdef GCDUMPC_HAVE_IPC
    cli_listen_close(d);
    gcd_ipc_unlock(&d->lock);
    gcd_ipc_unlock(&d->machine);
#endif
    d->trace = NULL;
    d->graph = NULL;
    d->dump = NULL;
    d->input = NULL;
}
