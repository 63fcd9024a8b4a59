/* Which lines allocated what is still alive: of a process, or of a recording that has it. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/sites.h>
#include <gcdumpc/unstable/text/plural.h>

#include "answer/answers.h"
#include "args.h"
#include "commands/command_parts.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "live/live_sites.h"
#include "modules/module_names.h"
#include "output/document.h"
#include "output/folded_paths.h"
#include "output/json_out.h"
#include "output/output.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/term.h"

#define DEFAULT_SITES 20u

/* ---- what it is about ---- */

static json_t *json_head(const struct cli_dump *d)
{
    static const char *const sources[] = { "none", "sampled", "ticks" };
    const struct gcd_sites *s = d->sites;
    json_t *o = cli_json_head(d->subject);
    cli_json_put_text(o, "source", sources[s->source]);
    json_object_set_new(o, "window_begin_unix_ms",
                        s->begin_unix_ms == INT64_MIN ? json_null()
                                                      : json_integer(s->begin_unix_ms));
    cli_json_count(o, "window_ms", s->window_ms);
    cli_json_count(o, "settle_ms", s->settle_ms);
    json_object_set_new(o, "followed", json_boolean(s->followed));
    cli_json_count(o, "samples", s->samples);
    cli_json_count(o, "alive_samples", s->alive);
    cli_json_count(o, "dead_samples", s->dead);
    cli_json_count(o, "lost_samples", s->lost);
    cli_json_count(o, "lost_events", s->lost_events);
    cli_json_count(o, "collections", s->collections);
    return o;
}

static void print_head(const struct gcd_sites *s)
{
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES];
    uint64_t guessed = 0;
    for (size_t i = 0; i < s->living_count; i++)
        guessed += s->living[i].address == 0;
    printf("%s sample%s in %.1f s, %s alive %.1f s later", cli_number(s->samples, true, a),
           gcd_plural(s->samples), (double)s->window_ms / 1000,
           cli_number(s->alive - guessed, true, b), (double)s->settle_ms / 1000);
    if (s->lost > 0)
        printf("; of %s it is not known", cli_number(s->lost, true, a));
    puts(".");
    if (s->source == GCD_SITE_TICKS)
        puts(
            "The runtime did not choose the samples at random: among lines of one loop, errors can "
            "be larger than ±.");
    if (!s->followed)
        printf("Of %s other%s, not followed, only the type and size are in the heap: lines "
               "without an age are approximate.\n",
               cli_number(guessed, true, a), gcd_plural(guessed));
    putchar('\n');
}

/* ---- the command ---- */

static enum cli_exit print_sites(const struct cli_args *args, const struct cli_dump *d)
{
    struct gcd_origins *origins = NULL;
    struct gcd_site_list *list = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    bool people = !args->view.json && !args->view.csv;
    enum cli_exit e = cli_origins_of(args, d, d->names, &origins);
    if (e != CLI_DONE)
        return e;
    if (gcd_site_list_new(d->sites, cli_type_summary(d), origins, &list, &err) != GCD_OK)
        e = cli_fail(d->subject, &err);
    struct answer_of_sites of = {
        .list = list,
        .summary = cli_type_summary(d),
        .names = d->names,
        .page = { .most = args->view.top != 0 ? args->view.top
                          : people            ? DEFAULT_SITES
                                              : 0,
                  .min_bytes = args->view.min_bytes },
        .people = people,
        .full = args->view.full,
        .also_dead = args->sites.also_dead,
    };
    struct cli_titled titled = { .key = "sites" };
    if (e == CLI_DONE && answer_sites(&of, &titled.answer, &err) != GCD_OK)
        e = cli_fail(d->subject, &err);
    uint64_t total = e == CLI_DONE ? titled.answer->total : 0;
    if (e == CLI_DONE && people) {
        cli_mark_incomplete(stdout, d->subject, &cli_summary(d)->verdict);
        print_head(d->sites);
    }
    if (e == CLI_DONE && people && total == 0)
        printf("No sampled object is alive.%s\n", answer_may_be_missing(cli_judge(d) == CLI_DONE));
    else if (e == CLI_DONE)
        e = cli_print_answers(args, d, args->view.json ? json_head(d) : NULL, &titled, 1);
    if (e == CLI_DONE && people && of.page.most != 0 && total > of.page.most)
        printf("(%s more site%s; --top shows more)\n", GCD_DIGITS(total - of.page.most),
               gcd_plural(total - of.page.most));
    answer_free(titled.answer);
    gcd_site_list_free(list);
    gcd_origins_free(origins);
    return e;
}

/* Losses make the answer incomplete: of what was lost nothing is known. */
static enum cli_exit judge_sites(const struct cli_args *args, const struct cli_dump *d,
                                 enum cli_exit e)
{
    const struct gcd_sites *s = d->sites;
    if (e != CLI_DONE || (s->lost == 0 && s->lost_events == 0))
        return e;
    if (!args->quiet && s->lost == 0)
        cli_say(d->subject,
                "%s event%s %s lost: samples may be missing, so the estimates may be too small",
                GCD_DIGITS(s->lost_events), gcd_plural(s->lost_events),
                s->lost_events == 1 ? "was" : "were");
    else if (!args->quiet)
        cli_say(d->subject,
                "%s sample%s: not known what became of them, because events were lost or a "
                "collection was not followed; they are left out",
                GCD_DIGITS(s->lost), gcd_plural(s->lost));
    return args->strict ? CLI_FAILED : CLI_INCOMPLETE;
}

static enum cli_exit tell(const struct cli_args *args, struct cli_dump *d)
{
    enum cli_exit e = d->names == NULL ? cli_name_types(args, d) : CLI_DONE;
    if (e == CLI_DONE)
        e = cli_finish(args, d, print_sites(args, d), 0);
    return judge_sites(args, d, e);
}

/* ---- profiles ---- */

static enum cli_exit open_output(const struct cli_args *args, struct cli_output *out)
{
    if (args->output.path == NULL)
        return CLI_DONE;
    if (gcd_sites_format_of(args->output.path) != GCD_SITES_NO_FORMAT) {
        struct gcd_sink_options options = { .context = cli_context(args, NULL),
                                            .wait_ms = args->live.timeout_s * 1000 };
        out->name = args->output.path;
        return cli_sink_open(args->output.path, &options, CLI_SLOT_OUTPUT, &out->sink);
    }
    const char *format = cli_dump_format_of(args->output.path);
    if (format == NULL || strcmp(format, CLI_RAW_FORMAT) != 0)
        return cli_error(
            CLI_USAGE, args->output.path,
            "sites writes .nettrace and .nettrace.gz, and the profiles .pb, .folded and "
            ".speedscope.json, each also with .gz");
    return cli_output_open(args, out);
}

static enum cli_exit write_output(const struct cli_args *args, struct cli_output *out,
                                  struct cli_dump *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    enum gcd_sites_format format =
        out->sink != NULL ? gcd_sites_format_of(args->output.path) : GCD_SITES_NO_FORMAT;
    char n[CLI_NUMBER_BYTES];
    uint64_t bytes = 0;
    if (out->sink == NULL)
        return CLI_DONE;
    if (format == GCD_SITES_NO_FORMAT)
        return cli_output_write(args, out, d);
    gcd_status st = gcd_sites_write(d->sites, format, args->sites.also_dead, out->sink, &err);
    if (st == GCD_OK)
        st = gcd_sink_finish(out->sink, &bytes, &err);
    if (st == GCD_OK)
        st = gcd_sink_commit(out->sink, &err);
    if (st != GCD_OK)
        return cli_fail(args->output.path, &err);
    if (!args->quiet)
        cli_say(args->output.path, "%s bytes written", cli_number(bytes, true, n));
    return CLI_DONE;
}

/* ---- a process ---- */

static enum cli_exit match(const struct cli_args *args, struct live_sites *live, struct cli_dump *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct module_search search;
    struct gcd_module_files files;
    struct gcd_site_recorder *r = live_sites_recorder(live);
    enum cli_exit e = cli_make_graph(args, CLI_NEED_GRAPH, d);
    if (e != CLI_DONE)
        return e;
    const struct gcd_summary *s = cli_summary(d);
    struct module_finder *finder = cli_symbol_files(args, d, &search, &files);
    gcd_status st = gcd_site_recorder_walk(r, d->input, s->gc_number, &err);
    if (st == GCD_OK)
        st = gcd_site_recorder_finish(r, d->graph, finder != NULL ? &files : NULL, &d->sites, &err);
    module_finder_free(finder);
    return st == GCD_OK ? CLI_DONE : cli_fail(d->subject, &err);
}

/* Walks the heap of the process that LIVE has sampled, and matches the samples with it. */
static enum cli_exit take_walk(const struct cli_args *args, struct live_sites *live,
                               enum cli_need need, struct cli_dump *d)
{
    struct cli_args walk = *args;
    walk.target.pid = live_sites_pid(live);
    walk.target.name = walk.target.container = NULL;
    walk.live.lock = live_sites_lock(live);
    walk.live.timeout_s = live_sites_timeout_s(live);
    walk.live.movement = true;
    walk.view.separate_loads = true; /* until it is written */
    enum cli_exit e = cli_open(&walk, need, d);
    if (e == CLI_DONE)
        e = live_sites_end(live);
    if (e == CLI_DONE)
        e = match(&walk, live, d);
    cli_progress_end();
    return e;
}

enum cli_exit cli_open_sampled(const struct cli_args *args, enum cli_need need,
                               struct cli_dump *ret)
{
    struct cli_args sampled = *args;
    struct live_sites *live = NULL;
    if (args->sites.with_window_s == 0)
        return cli_open(args, need, ret);
    *ret = (struct cli_dump){ .input = NULL };
    sampled.sites.window_s = args->sites.with_window_s;
    enum cli_exit e = live_sites_begin(&sampled, &live);
    if (e == CLI_DONE)
        e = take_walk(&sampled, live, need > CLI_NEED_STREAM ? need : CLI_NEED_STREAM, ret);
    live_sites_free(live);
    return e;
}

/* Samples, writes and shows. */
static enum cli_exit take_and_tell(const struct cli_args *args, struct live_sites *live,
                                   struct cli_output *out)
{
    struct cli_dump d;
    enum cli_exit e = take_walk(args, live, CLI_NEED_STREAM, &d);
    if (e == CLI_DONE)
        e = write_output(args, out, &d);
    if (e == CLI_DONE || e == CLI_INCOMPLETE)
        e = tell(args, &d);
    cli_close(&d);
    return e;
}

static enum cli_exit sites_of_process(const struct cli_args *args)
{
    struct cli_output out = { .sink = NULL };
    struct live_sites *live = NULL;
    enum cli_exit e = cli_check_module_folders(args);
    if (e == CLI_DONE)
        e = open_output(args, &out);
    if (e == CLI_DONE)
        e = live_sites_begin(args, &live);
    if (e == CLI_DONE)
        e = take_and_tell(args, live, &out);
    live_sites_free(live);
    cli_output_close(&out);
    return e;
}

/* ---- a recording ---- */

static enum cli_exit sites_of_file(const struct cli_args *args)
{
    struct cli_dump d;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context(args, "reading sites");
    struct cli_output out = { .sink = NULL };
    enum cli_exit e = open_output(args, &out);
    if (e != CLI_DONE)
        return e;
    e = cli_open(args, CLI_NEED_STREAM, &d);
    gcd_status st = GCD_OK;
    if (e == CLI_DONE && d.dump != NULL)
        st = gcd_sites_read(d.input, cli_summary(&d), &context, &d.sites, &err);
    if (e == CLI_DONE && st != GCD_OK)
        e = cli_fail(d.subject, &err);
    if (e == CLI_DONE && d.sites == NULL)
        e = cli_error(
            CLI_FAILED, d.subject,
            cli_judge(&d) == CLI_DONE
                ? "has no sampled allocations; gcdumpc sites --pid N -o FILE.nettrace.gz records "
                  "them"
                : "has no sampled allocations; it is incomplete, so they may have been lost");
    if (e == CLI_DONE && out.sink != NULL)
        e = judge_sites(args, &d, write_output(args, &out, &d));
    else if (e == CLI_DONE)
        e = tell(args, &d);
    cli_output_close(&out);
    cli_close(&d);
    return e;
}

enum cli_exit cmd_sites(const struct cli_args *args)
{
    return cli_is_live(args) ? sites_of_process(args) : sites_of_file(args);
}
