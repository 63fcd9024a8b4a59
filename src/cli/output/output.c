#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/estimate.h>
#include <gcdumpc/unstable/folders.h>
#include <gcdumpc/unstable/format_plan.h>
#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/recording.h>
#include <gcdumpc/unstable/staged_file.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "base/text.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "output/folded_paths.h"
#include "output/output.h"
#include "signals.h"
#include "term/message.h"
#include "term/path.h"
#include "term/suggest.h"
#include "term/term.h"

/* Has the reader of the pipe at standard output exited, as head does? */
static bool reader_has_gone(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return poll(&out, 1, 0) > 0 && (out.revents & POLLERR) != 0;
}

enum cli_exit cli_flush_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_DONE;
    struct gcd_error err = { .code = GCD_E_IO, .off = GCD_OFF_NONE, .os_errno = errno };
    if (err.os_errno == EPIPE || reader_has_gone()) {
        cli_reader_gone = true;
        return CLI_FAILED;
    }
    (void)snprintf(err.msg, sizeof err.msg, "cannot write: %s", strerror(errno));
    return cli_fail("standard output", &err);
}

/* Does PATH end with SUFFIX, or with SUFFIX and ".gz"? */
static bool ends_with(const char *path, const char *suffix)
{
    return gcd_bytes_end(path, gcd_text_without(path, ".gz"), suffix);
}

static bool is_recording(const char *path)
{
    return ends_with(path, "." CLI_RAW_FORMAT);
}

const char *cli_dump_format_of(const char *path)
{
    /* recordings, and what another build writes: this one may lack SQLite */
    static const struct {
        const char *suffix, *name;
    } others[] = { { "." CLI_RAW_FORMAT, CLI_RAW_FORMAT },
                   { ".netperf", "netperf" },
                   { ".etl", "etl" },
                   { ".sqlite", "sqlite" },
                   { ".db", "sqlite" } };
    const struct gcd_format *f = gcd_format_by_path(path);
    if (f != NULL)
        return gcd_format_name(f);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (ends_with(path, others[i].suffix))
            return others[i].name;
    return NULL;
}

/* Is there a dot in the file name, other than a leading one and that of ".gz"? */
static bool has_suffix(const char *path)
{
    const char *name = cli_path_name(path);
    size_t n = gcd_text_without(name, ".gz");
    return n > 1 && memchr(name + 1, '.', n - 1) != NULL;
}

/* No format has this name or suffix. */
static enum cli_exit no_format(const struct cli_args *args)
{
    const char *dot = args->output.format == NULL ? strrchr(args->output.path, '.') : NULL;
    char known[256] = "", meant[CLI_MEANT_BYTES];
    struct cli_nearest near;
    cli_nearest_begin(&near, args->output.format != NULL ? args->output.format
                             : dot != NULL               ? dot
                                                         : "");
    for (size_t i = 0; gcd_format_at(i) != NULL; i++) {
        const struct gcd_format *f = gcd_format_at(i);
        size_t n = strlen(known);
        (void)snprintf(known + n, sizeof known - n, "%s%s", i == 0 ? "" : ", ", gcd_format_name(f));
        cli_nearest_try(&near,
                        args->output.format != NULL ? gcd_format_name(f) : gcd_format_suffix(f));
    }
    size_t end = strlen(known);
    (void)snprintf(known + end, sizeof known - end, ", %s", CLI_RAW_FORMAT);
    cli_nearest_try(&near, args->output.format != NULL ? CLI_RAW_FORMAT : "." CLI_RAW_FORMAT);
    if (args->output.format != NULL)
        return cli_error(CLI_USAGE, NULL, "there is no format \"%s\"%s; there is: %s",
                         args->output.format, cli_meant(&near, "", meant), known);
    if (dot != NULL &&
        (strcmp(dot, ".json") == 0 || strcmp(dot, ".txt") == 0 || strcmp(dot, ".prom") == 0))
        return cli_error(
            CLI_USAGE, NULL,
            "no dump format has the suffix of \"%s\"; gcdumpc report -o %s writes tables, "
            "and --format chooses a dump format: %s",
            args->output.path, args->output.path, known);
    return cli_error(CLI_USAGE, NULL,
                     "the name \"%s\" does not tell the format%s; use --format with one of: %s",
                     args->output.path, cli_meant(&near, "", meant), known);
}

/* Sets *RET to NULL for a recording. */
static enum cli_exit choose_format(const struct cli_args *args, const struct gcd_format **ret)
{
    bool raw = args->output.format != NULL ? strcmp(args->output.format, CLI_RAW_FORMAT) == 0
                                           : is_recording(args->output.path);
    *ret = NULL;
    if (raw && args->view.values != CLI_VALUES_HIDDEN)
        return cli_error(CLI_USAGE, NULL,
                         "a recording keeps values with --values strings; --show-values is for "
                         "formats that show them");
    if (raw)
        return CLI_DONE;
    const struct gcd_format *f = args->output.format != NULL
                                     ? gcd_format_by_name(args->output.format)
                                     : gcd_format_by_path(args->output.path);
    if (f == NULL && args->output.format == NULL && !has_suffix(args->output.path))
        f = gcd_format_at(0); /* a pipe or device has no suffix */
    *ret = f;
    return f != NULL ? CLI_DONE : no_format(args);
}

enum cli_exit cli_sink_open(const char *path, const struct gcd_sink_options *options,
                            enum cli_slot slot, struct gcd_sink **ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    cli_temporary_comes();
    gcd_status st = gcd_sink_open(path, options, ret, &err);
    cli_temporary(slot, st == GCD_OK ? gcd_sink_temporary(*ret) : NULL);
    const char *name = strcmp(path, "-") == 0 ? "standard output" : path;
    if (st != GCD_OK && err.os_errno == EACCES)
        return cli_error(CLI_FAILED, name,
                         "%s; run gcdumpc as the owner or as root, or choose another place",
                         err.msg);
    return st == GCD_OK ? CLI_DONE : cli_fail(name, &err);
}

/* Opens PATH before a recording is read or a process disturbed for nothing. */
static enum cli_exit open_sink(const struct cli_args *args, const char *path, bool binary,
                               enum cli_slot slot, struct gcd_sink **ret)
{
    bool to_stdout = strcmp(path, "-") == 0;
    /* names in a dump are raw and could command the terminal */
    if (to_stdout && isatty(STDOUT_FILENO)) {
        return cli_error(CLI_USAGE, NULL,
                         "a %s is not written to a terminal; name a file, or use a pipe",
                         binary ? "recording" : "dump");
    }
    return cli_sink_open(path,
                         &(struct gcd_sink_options){ .context = cli_context(args, NULL),
                                                     .keep_room = cli_keeps_room(args),
                                                     .wait_ms = args->live.timeout_s * 1000 },
                         slot, ret);
}

enum cli_exit cli_output_check(const struct cli_args *args)
{
    const struct gcd_format *f;
    return args->output.path != NULL ? choose_format(args, &f) : CLI_DONE;
}

/* The recording of D with the names that were found, unless --plain.  Hashes of values get a key of
 * their own here, whatever they were made from: a process, a core file, or texts of a recording. */
static gcd_status write_recording(const struct cli_args *args, struct cli_dump *d,
                                  struct gcd_sink *to, uint64_t *ret_names, struct gcd_error *err)
{
    struct gcd_recording_options options = { .context = cli_context_steps(args, "writing"),
                                             .plain = args->live.plain,
                                             .no_layouts = args->modules.no_fields,
                                             .sites = d->sites,
                                             .values =
                                                 (enum gcd_recording_values)args->output.redact };
    if (options.values == GCD_RECORDING_VALUES_KEEP && args->dump.values == GCD_VALUES_HASHES)
        options.values = GCD_RECORDING_VALUES_HASH;
    if (options.values == GCD_RECORDING_VALUES_HASH && cli_random_key(options.key, err) != GCD_OK)
        return GCD_E_IO;
    if (options.values == GCD_RECORDING_VALUES_KEEP && args->dump.values == GCD_VALUES_ALL &&
        d->dump != NULL) {
        gcd_status st = gcd_dump_keep_numbers(d->dump, d->input, &options.context, err);
        if (st != GCD_OK && st != GCD_END)
            return st;
    }
    return gcd_recording_write(d->dump, d->input, to, &options, ret_names, err);
}

/* Says why names that were found are not in a recording. */
static void say_names(const struct cli_args *args, const struct cli_dump *d, const char *name)
{
    if (!args->quiet && !args->live.plain && d->dump != NULL &&
        gcd_recording_names(d->dump) == GCD_RECORDING_NAMES_NO_ROOM)
        cli_say(name, "without the names from the files of its modules: the recording is cut or "
                      "damaged, or not in the format of .NET 8 to 11");
}

static void warn(const char *subject, const struct gcd_write_notes *n)
{
    cli_say_dangling(subject, n->edges_dangling, n->roots_dangling, n->dangling_is_minimum);
    if (n->dependents_dropped > 0)
        cli_say(subject, "%s dependent handle%s key is not an object",
                GCD_DIGITS(n->dependents_dropped),
                gcd_by_number(n->dependents_dropped, " was dropped: its", "s were dropped: their"));
    cli_say_dropped(subject, n->objects_dropped);
}

/* A folder or a database cannot go to standard output. */
static enum cli_exit open_place(const struct cli_args *args, struct cli_output *ret)
{
    if (strcmp(args->output.path, "-") == 0)
        return cli_error(CLI_USAGE, NULL, "%s is not a stream of bytes; give a name with -o",
                         gcd_format_name(ret->format));
    struct gcd_error err = GCD_ERROR_INIT;
    cli_temporary_comes();
    gcd_status st = gcd_format_check_output(ret->format, args->output.path, &err);
    if (st == GCD_OK)
        st = gcd_staged_open(args->output.path, gcd_format_staged_kind(ret->format), cli_alloc(),
                             &ret->staged, &err);
    cli_temporary(CLI_SLOT_OUTPUT, st == GCD_OK ? gcd_staged_temporary(ret->staged) : NULL);
    if (st == GCD_OK && cli_keeps_room(args))
        gcd_staged_keep_room(ret->staged);
    return st == GCD_OK ? CLI_DONE : cli_fail(args->output.path, &err);
}

static enum cli_need need_of(const struct gcd_format *f)
{
    static const enum cli_need needs[GCD_WORKLOADS] = {
        [GCD_FOR_GRAPH] = CLI_NEED_GRAPH,       [GCD_FOR_PATHS] = CLI_NEED_PATHS,
        [GCD_FOR_RETAINED] = CLI_NEED_RETAINED, [GCD_FOR_LEAKS] = CLI_NEED_LEAKS,
        [GCD_FOR_PAGE] = CLI_NEED_PAGE,         [GCD_FOR_DIFF] = CLI_NEED_DIFF,
    };
    if (f == NULL)
        return CLI_NEED_STREAM;
    if (gcd_format_kind(f) == GCD_FORMAT_STREAM)
        return CLI_NEED_OBJECTS;
    return needs[gcd_format_workload(f)];
}

enum cli_exit cli_output_open(const struct cli_args *args, struct cli_output *ret)
{
    *ret = (struct cli_output){ .name = strcmp(args->output.path, "-") == 0 ? "standard output"
                                                                            : args->output.path };
    enum cli_exit e = choose_format(args, &ret->format);
    if (e != CLI_DONE)
        return e;
    ret->need = need_of(ret->format);
    ret->separate_loads = ret->format == NULL || gcd_format_kind(ret->format) != GCD_FORMAT_GRAPH;
    if (ret->format != NULL && gcd_format_kind(ret->format) == GCD_FORMAT_STAGED)
        return open_place(args, ret);
    bool binary = ret->format == NULL || !gcd_format_is_text(ret->format);
    return open_sink(args, args->output.path, binary, CLI_SLOT_OUTPUT, &ret->sink);
}

/* Writes the way that costs least for the format: streamed, or from a graph. */
static gcd_status write_output(struct cli_output *out, struct cli_dump *d,
                               const struct gcd_write_options *options,
                               struct gcd_write_notes *notes, struct gcd_error *err)
{
    if (out->staged != NULL)
        return gcd_write_staged(out->format, d->graph, out->staged, options, notes, err);
    if (d->graph != NULL)
        return gcd_write_graph(out->format, d->graph, out->sink, options, notes, err);
    return gcd_write(out->format, d->dump, out->sink, options, notes, err);
}

/* On one line, because the format causes these losses, not this dump. */
static void say_losses(const struct cli_output *out, const struct gcd_write_notes *n)
{
    char all[1000] = "";
    for (size_t i = 0; i < n->loss_count; i++) {
        size_t k = strlen(all);
        (void)snprintf(all + k, sizeof all - k, "%s%s %s", i == 0 ? "" : "; ",
                       GCD_DIGITS(n->losses[i].count), n->losses[i].text);
    }
    if (n->loss_count > 0)
        cli_say(out->name, "in the %s format, %s", gcd_format_name(out->format), all);
}

static void say_written(const struct cli_args *args, const struct cli_output *out,
                        const struct gcd_write_notes *notes, const struct gcd_verdict *v)
{
    const char *complete = !v->complete    ? "INCOMPLETE"
                           : v->unverified ? "the input does not say whether it is complete"
                                           : "complete";
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES], c[CLI_NUMBER_BYTES];
    char references[CLI_NUMBER_BYTES + 16] = "", names[CLI_NUMBER_BYTES + 16] = "";
    const char *format = out->format != NULL ? gcd_format_name(out->format) : CLI_RAW_FORMAT;
    if (args->quiet || strcmp(args->output.path, "-") == 0)
        return;
    if (notes->edges > 0) /* profiles have no references */
        (void)snprintf(references, sizeof references, ", %s reference%s",
                       cli_number(notes->edges, true, b), gcd_plural(notes->edges));
    if (out->names > 0)
        (void)snprintf(names, sizeof names, " with %s name%s", cli_number(out->names, true, b),
                       gcd_plural(out->names));
    if (out->sink != NULL)
        cli_say(out->name, "%s object%s%s, %s bytes of %s%s written, %s",
                cli_number(notes->objects, true, a), gcd_plural(notes->objects), references,
                cli_number(out->bytes, true, c), format, names, complete);
    else
        cli_say(out->name, "%s object%s%s written as %s, %s", cli_number(notes->objects, true, a),
                gcd_plural(notes->objects), references, format, complete);
}

/* Ends the output.  *RET_BYTES: its size on the disk, compressed; of a pipe, where that is unknown,
 * what was written. */
static gcd_status finish_sink(struct gcd_sink *s, uint64_t *ret_bytes, struct gcd_error *err)
{
    gcd_status st = gcd_sink_finish(s, ret_bytes, err);
    if (st == GCD_OK && *ret_bytes == 0)
        *ret_bytes = gcd_sink_bytes(s);
    return st;
}

static enum cli_exit commit(struct cli_output *out)
{
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t bytes = out->staged != NULL ? gcd_staged_bytes(out->staged) : 0;
    gcd_status st = out->sink != NULL ? finish_sink(out->sink, &bytes, &err) : GCD_OK;
    out->bytes = bytes;
    if (st == GCD_OK && out->ready != NULL)
        out->ready(out->ready_ctx, bytes);
    if (st == GCD_OK)
        st = out->sink != NULL ? gcd_sink_commit(out->sink, &err)
                               : gcd_staged_commit(out->staged, &err);
    return st == GCD_OK ? CLI_DONE : cli_fail(out->name, &err);
}

enum cli_exit cli_output_write(const struct cli_args *args, struct cli_output *out,
                               struct cli_dump *d)
{
    const struct gcd_summary *summary = cli_summary(d);
    if (out->format == NULL &&
        (d->dump == NULL || (strcmp(summary->trace.container, CLI_RAW_FORMAT) != 0 &&
                             !gcd_trace_is_image(&summary->trace))))
        return cli_error(
            CLI_USAGE, d->subject,
            "is no .nettrace recording, and cannot become one; choose another name or --format");
    cli_say_verdict(d, args->quiet);
    struct gcd_names *names = NULL;
    enum cli_exit e = out->format != NULL
                          ? cli_names_of(args, d, gcd_format_names(out->format), &names)
                          : CLI_DONE;
    if (e != CLI_DONE)
        return e;
    struct gcd_origins *origins = NULL;
    if (out->format != NULL && args->view.mine[0] != NULL)
        e = cli_origins_of(args, d, names, &origins);
    if (e != CLI_DONE) {
        gcd_names_free(names);
        return e;
    }
    if (need_of(out->format) == CLI_NEED_PAGE && d->sites == NULL)
        e = cli_read_sites(args, d, &d->sites);
    if (e != CLI_DONE) {
        gcd_names_free(names);
        gcd_origins_free(origins);
        return e;
    }
    struct gcd_values_view values = cli_values_view(args, d);
    if (values.show != GCD_SHOW_EQUAL && values.values == NULL)
        cli_say(d->subject, "has no texts of strings, so none are shown");
    struct gcd_write_options options = { .context = cli_context_steps(args, "writing"),
                                         .name = d->name,
                                         .names = names,
                                         .stack_by = args->output.stack_by,
                                         .progress_total = gcd_input_size(d->input),
                                         .origins = origins,
                                         .sites = d->sites,
                                         .values = &values }; /* limits are no secrets */
    struct gcd_write_notes notes = { .objects = summary->objects, .edges = summary->edges };
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = out->format == NULL ? write_recording(args, d, out->sink, &out->names, &err)
                                        : write_output(out, d, &options, &notes, &err);
    gcd_names_free(names);
    gcd_origins_free(origins);
    if (st != GCD_OK) { /* find out whether writing or reading failed */
        bool written =
            out->sink == NULL || gcd_sink_status(out->sink, NULL) != GCD_OK || d->graph != NULL;
        return cli_fail(written ? out->name : d->subject, &err);
    }
    e = commit(out);
    if (e != CLI_DONE)
        return e;
    warn(d->subject, &notes);
    if (!args->quiet)
        say_losses(out, &notes);
    if (out->format == NULL)
        say_names(args, d, out->name);
    say_written(args, out, &notes, &summary->verdict);
    return cli_judge(d);
}

void cli_output_close(struct cli_output *out)
{
    gcd_sink_free(out->sink);
    gcd_staged_free(out->staged);
    out->sink = NULL;
    out->staged = NULL;
    cli_temporary(CLI_SLOT_OUTPUT, NULL);
}

enum cli_exit cli_page_open(const struct cli_args *args, const char *command, struct gcd_sink **ret)
{
    const struct gcd_format *f = gcd_format_by_path(args->output.path);
    struct gcd_sink_options options = { .context = cli_context(args, NULL),
                                        .wait_ms = args->live.timeout_s * 1000 };
    if (args->view.json || args->view.csv)
        return cli_error(CLI_USAGE, NULL, "--%s is for tables, but -o writes a page",
                         args->view.json ? "json" : "csv");
    if ((f == NULL || strcmp(gcd_format_name(f), "html") != 0) &&
        strcmp(args->output.path, "-") != 0)
        return cli_error(CLI_USAGE, NULL,
                         "%s -o writes a page for browsers: name it FILE.html, not \"%s\"", command,
                         args->output.path);
    return cli_sink_open(args->output.path, &options, CLI_SLOT_OUTPUT, ret);
}

enum cli_exit cli_page_commit(const struct cli_args *args, struct gcd_sink *s)
{
    struct gcd_error err = GCD_ERROR_INIT;
    char n[CLI_NUMBER_BYTES];
    uint64_t bytes;
    if (finish_sink(s, &bytes, &err) != GCD_OK || gcd_sink_commit(s, &err) != GCD_OK)
        return cli_fail(args->output.path, &err);
    if (!args->quiet && strcmp(args->output.path, "-") != 0)
        cli_say(args->output.path, "%s bytes of html written", cli_number(bytes, true, n));
    return CLI_DONE;
}

void cli_page_close(struct gcd_sink *s)
{
    gcd_sink_free(s);
    cli_temporary(CLI_SLOT_OUTPUT, NULL);
}

enum cli_exit cli_write_text(const char *path, const struct gcd_sink_options *options,
                             const char *text)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_sink *to = NULL;
    if (text == NULL)
        return cli_no_memory(path);
    gcd_status st = gcd_sink_open(path, options, &to, &err);
    if (st == GCD_OK) {
        gcd_sink_text(to, text);
        st = gcd_sink_commit(to, &err);
    }
    gcd_sink_free(to);
    return st == GCD_OK ? CLI_DONE : cli_fail(path, &err);
}

enum cli_exit cli_trace_open(const struct cli_args *args, struct cli_dump *d)
{
    const char *format = cli_dump_format_of(args->live.save_trace);
    if (format != NULL && strcmp(format, CLI_RAW_FORMAT) !=
                              0) /* the file may be a dump, and no recording may replace it */
        return cli_error(CLI_USAGE, NULL,
                         "--save-trace writes a recording, and \"%s\" is the name of another file "
                         "(%s); name it FILE." CLI_RAW_FORMAT,
                         args->live.save_trace, format);
    return open_sink(args, args->live.save_trace, true, CLI_SLOT_TRACE, &d->trace);
}

enum cli_exit cli_trace_write(const struct cli_args *args, struct cli_dump *d)
{
    const char *name =
        strcmp(args->live.save_trace, "-") == 0 ? "standard output" : args->live.save_trace;
    char n[CLI_NUMBER_BYTES];
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = write_recording(args, d, d->trace, NULL, &err);
    if (st != GCD_OK)
        return cli_fail(gcd_sink_status(d->trace, NULL) != GCD_OK ? name : d->subject, &err);
    uint64_t bytes;
    if (finish_sink(d->trace, &bytes, &err) != GCD_OK || gcd_sink_commit(d->trace, &err) != GCD_OK)
        return cli_fail(name, &err);
    d->trace_written = true;
    if (!args->quiet && strcmp(args->live.save_trace, "-") != 0)
        cli_say(name, "%s bytes of %s written", cli_number(bytes, true, n), CLI_RAW_FORMAT);
    say_names(args, d, name);
    return CLI_DONE;
}
