/*
 * Opens the dump that the arguments name: a file or a process.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/loads.h>

#include "args.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "live/target.h"
#include "modules/borrowed.h"
#include "modules/module_names.h"
#include "output/folded_paths.h"
#include "output/output.h"
#include "signals.h"
#include "term/message.h"
#include "term/path.h"
#include "term/progress.h"

void cli_spool_folder(const struct cli_args *args, char *ret, size_t cap)
{
    const char *tmpdir = getenv("TMPDIR");
    const char *const outputs[] = { args->output.path, args->live.save_trace,
                                    args->output.summary };
    if (args->limits.spill_dir != NULL) {
        (void)snprintf(ret, cap, "%s", args->limits.spill_dir);
        return;
    }
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        const char *path = outputs[i];
        if (path == NULL || strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0)
            continue;
        cli_path_folder(path, ret, cap);
        if (access(ret, W_OK) == 0) /* a pipe may be in another user's folder */
            return;
    }
    (void)snprintf(ret, cap, "%s", tmpdir != NULL && tmpdir[0] != '\0' ? tmpdir : "/tmp");
}

/* Will a recording of the dump be written? */
static bool records(const struct cli_args *args, enum cli_need need)
{
    return args->live.save_trace != NULL || (need == CLI_NEED_STREAM && args->output.path != NULL);
}

/* Are the fields of types needed: to name references, to say that a file loses them, or for a
 * recording that keeps them? */
static bool wants_layouts(const struct cli_args *args, enum cli_need need)
{
    return !args->modules.no_fields && (need >= CLI_NEED_OBJECTS || need == CLI_NEED_FIELDS ||
                                        (records(args, need) && !args->live.plain));
}

/* With --strict, values that were asked for have to be there, all of them. */
static bool lacks_values(const struct cli_args *args, const struct cli_dump *d)
{
    const struct gcd_values_facts *f = &cli_summary(d)->values;
    return d->live && cli_values_wanted(args) != GCD_VALUES_NONE &&
           (f->kind == GCD_VALUES_NONE || d->no_values[0] != '\0' ||
            f->collected + f->changed + f->unread > 0);
}

/* The same of the fields of references. */
static bool lacks_fields(const struct cli_args *args, const struct cli_dump *d)
{
    const struct gcd_summary *s = cli_summary(d);
    const struct gcd_null_maps_facts *f = &s->null_maps;
    return args->dump.fields == CLI_FIELDS_EXACT && !s->image.with_places &&
           (!f->known || f->collected + f->changed + f->unread > 0);
}

/* Says why fields are not exact, although it was asked for, or that they are in a file. */
static void say_fields(const struct cli_args *args, const struct cli_dump *d)
{
    const struct gcd_summary *s = cli_summary(d);
    char text[CLI_VALUES_BYTES];
    if (args->dump.fields != CLI_FIELDS_EXACT || d->dump == NULL || (d->live && s->null_maps.known))
        return;
    if (d->no_values[0] != '\0')
        cli_say(d->subject, "fields: not exact (%s)", d->no_values);
    else if (!s->null_maps.known && !s->image.with_places)
        cli_say(d->subject, "fields: not exact (only `collect --fields exact` can read them, or a "
                            "core file has them)");
    else if (!d->live)
        cli_say(d->subject, "fields: %s", cli_fields_text(s, text));
}

/*
 * The stream comes only once, so it is saved as soon as it is complete, whatever happens to the
 * conversion.  The dump is then named as if it came from that file.
 */
static enum cli_exit open_live(const struct cli_args *args, const struct gcd_dump_options *options,
                               enum cli_need need, const char *spool, struct cli_dump *ret)
{
    enum cli_exit e = args->live.save_trace != NULL ? cli_trace_open(args, ret) : CLI_DONE;
    if (e != CLI_DONE)
        return e;
    if (args->live.save_trace != NULL)
        cli_base_name(args->live.save_trace, ret->name, sizeof ret->name);
    e = cli_open_live(args, options, need >= CLI_NEED_STREAM, spool, ret);
    bool came = e == CLI_DONE;
    if (came) /* all sessions have ended, so the process runs again */
        e = cli_read_modules(args, ret, wants_layouts(args, need));
    bool wanted = !args->strict || (came && !lacks_values(args, ret) && !lacks_fields(args, ret) &&
                                    gcd_dump_summary(ret->dump)->verdict.complete);
    if (args->live.save_trace != NULL && ret->received && wanted) {
        enum cli_exit saved = cli_trace_write(args, ret);
        e = e == CLI_DONE ? saved : e;
    }
    return e;
}

#ifdef GCDUMPC_HAVE_IPC
/* The process is dumped later, but its program has the names already. */
static enum cli_exit borrow_from_process(const struct cli_args *args, const struct cli_dump *d)
{
    const struct cli_args *other = args->modules.other_process;
    struct cli_dump process = { .input = NULL };
    char path[GCD_IPC_PATH_MAX];
    if (other == NULL || d->live || other->target.listen != NULL || !cli_lacks_names(d))
        return CLI_DONE;
    enum cli_exit e = cli_find_target(other, &process, path);
    return e == CLI_DONE ? cli_borrow_from_process(args, d, &process) : e;
}
#else
static enum cli_exit borrow_from_process(const struct cli_args *args, const struct cli_dump *d)
{
    (void)args, (void)d;
    return CLI_DONE;
}
#endif

/* With --strict, fails for an incomplete dump. */
static enum cli_exit refuse(const struct cli_args *args, struct cli_dump *d)
{
    if (d->no_values[0] != '\0' && cli_values_wanted(args) != GCD_VALUES_NONE)
        cli_say(d->subject, "values: %s (%s)",
                cli_summary(d)->values.kind != GCD_VALUES_NONE ? "only texts" : "none",
                d->no_values);
    say_fields(args, d);
    if (args->strict && (lacks_values(args, d) || lacks_fields(args, d))) {
        d->refused = true;
        return cli_refuse(d->subject);
    }
    if (!args->strict || cli_judge(d) == CLI_DONE)
        return CLI_DONE;
    cli_say_verdict(d, args->quiet);
    d->refused = true;
    return cli_refuse(d->subject);
}

/* Merges the types that were loaded several times. */
static enum cli_exit merge_loads(const struct cli_dump *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    return gcd_dump_merge_loads(d->dump, &err) == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

enum cli_exit cli_open(const struct cli_args *args, enum cli_need need, struct cli_dump *ret)
{
    *ret = (struct cli_dump){ .input = NULL };
    enum cli_exit e = cli_memory_open(args);
    if (e == CLI_DONE)
        e = cli_check_module_folders(args);
    if (e != CLI_DONE)
        return e;
    bool reread = need >= CLI_NEED_STREAM;
    char spool[4096];
    cli_spool_folder(args, spool, sizeof spool);
    struct gcd_dump_options options = {
        .context = cli_context(args, "reading"),
        .process = args->dump.process,
        .process_name = args->dump.process_name,
        .walk_number = (unsigned)args->dump.walk,
        .no_layouts = !wants_layouts(args, need),
        .values = cli_values_wanted(args) != GCD_VALUES_NONE || records(args, need) ||
                  need == CLI_NEED_LEAKS || need == CLI_NEED_PAGE, /* which strings are equal */
        .check_references = need == CLI_NEED_OBJECTS,
    };
    if (!cli_is_live(args) || cli_is_direct(args)) {
        ret->image_files = cli_image_files_new(args);
        ret->files = cli_image_files(ret->image_files);
    }
    if (cli_is_live(args)) {
        ret->live = true;
        (void)snprintf(ret->process, sizeof ret->process, "process %" PRIu64, args->target.pid);
        const char *const given[] = { args->target.container, args->target.port, args->target.name,
                                      args->target.listen };
        ret->subject = ret->process;
        for (size_t i = 0; i < sizeof given / sizeof *given; i++)
            ret->subject = given[i] != NULL ? given[i] : ret->subject;
        e = open_live(args, &options, need, spool, ret);
    } else {
        struct cli_reading how = { reread, spool, ret->files,
                                   need == CLI_NEED_LEAKS && !records(args, need) &&
                                       args->output.summary == NULL };
        e = cli_open_file(args, &options, &how, ret);
        if (e == CLI_DONE)
            e = cli_read_modules(args, ret, wants_layouts(args, need));
    }
    if (e == CLI_DONE)
        e = cli_borrow_names(args, ret);
    if (e == CLI_DONE)
        e = borrow_from_process(args, ret);
    if (e == CLI_DONE)
        e = refuse(args, ret);
    if (e == CLI_DONE && ret->dump != NULL && !cli_separates_loads(args))
        e = merge_loads(ret);
    cli_progress_end(); /* so that the next output begins on its own line */
    return e == CLI_DONE && need >= CLI_NEED_GRAPH ? cli_make_graph(args, need, ret) : e;
}

/* Gives the session the sites that were sampled, or those of its recording. */
static enum cli_exit find_sites(const struct cli_args *args, struct cli_dump *d)
{
    enum cli_exit e = d->sites == NULL ? cli_read_sites(args, d, &d->sites) : CLI_DONE;
    gcd_session_use_sites(d->session, d->sites);
    return e;
}

enum cli_exit cli_make_session(const struct cli_args *args, struct cli_dump *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    uint8_t *mine = NULL;
    enum cli_exit e = d->names != NULL ? CLI_DONE : cli_name_types(args, d);
    if (e == CLI_DONE)
        e = cli_mine_of(args, d, d->names, &mine);
    struct gcd_session_options options = {
        .context = cli_context(args, NULL),
        .names = d->names,
        .mine = mine,
        .share = args->view.share > 0 ? args->view.share
                                      : (double)args->view.share_millis / CLI_SHARE_MILLIS,
        .min_bytes = args->view.min_bytes,
        /* an explicit limit applies to all kinds */
        .only_large = args->view.share_millis != 0 || args->view.min_bytes != 0,
    };
    if (e == CLI_DONE && gcd_session_new(d->graph, &options, &d->session, &err) != GCD_OK)
        e = cli_fail(d->subject, &err);
    free(mine);
    struct gcd_values_view view = cli_values_view(args, d);
    if (e == CLI_DONE)
        gcd_session_use_values(d->session, &view);
    return e == CLI_DONE ? find_sites(args, d) : e;
}

enum cli_exit cli_open_session(const struct cli_args *args, enum cli_need need,
                               struct cli_dump *ret)
{
    enum cli_exit e = cli_open(args, need, ret);
    return e == CLI_DONE ? cli_make_session(args, ret) : e;
}

enum cli_exit cli_ask_written(const struct cli_args *args, struct cli_dump *d)
{
    enum cli_exit e = d->graph == NULL ? merge_loads(d) : CLI_DONE;
    if (e == CLI_DONE)
        e = cli_make_graph(args, CLI_NEED_LEAKS, d);
    return e == CLI_DONE ? cli_make_session(args, d) : e;
}

enum cli_exit cli_finish(const struct cli_args *args, const struct cli_dump *d, enum cli_exit e,
                         uint32_t pseudo_roots)
{
    enum cli_exit flushed = cli_flush_stdout();
    if (e != CLI_DONE || flushed != CLI_DONE)
        return e != CLI_DONE ? e : flushed;
    cli_say_pseudo_roots(d->subject, pseudo_roots);
    cli_say_verdict(d, args->quiet);
    return cli_judge(d);
}

void cli_close(struct cli_dump *d)
{
    gcd_session_free(d->session);
    gcd_sites_free(d->sites);
    gcd_names_free(d->names);
    gcd_graph_free(d->graph);
    gcd_dump_free(d->dump);
    gcd_input_free(d->input);
    cli_image_files_free(d->image_files);
    gcd_sink_free(d->trace);
    cli_temporary(CLI_SLOT_TRACE, NULL);
#ifdef GCDUMPC_HAVE_IPC
    cli_listen_close(d);
#endif
    d->trace = NULL;
    d->session = NULL;
    d->sites = NULL;
    d->names = NULL;
    d->graph = NULL;
    d->dump = NULL;
    d->input = NULL;
    d->image_files = NULL;
}
