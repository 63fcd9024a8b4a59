#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "base/text.h"
#include "commands/commands.h"
#include "commands/open_dump.h"
#include "commands/report.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "output/json_out.h"
#include "output/memory_notes.h"
#include "output/output.h"
#include "output/document.h"
#include "signals.h"
#include "term/message.h"
#include "term/progress.h"
#include "term/suggest.h"

static const struct report_view {
    const char *key; /* in JSON */
    enum cli_need need;
} views[] = {
    [GCD_BY_TYPE] = { "types", CLI_NEED_FACTS },
    [GCD_BY_MODULE] = { "modules", CLI_NEED_FACTS },
    [GCD_BY_NAMESPACE] = { "namespaces", CLI_NEED_FACTS },
    [GCD_BY_KIND] = { "kinds", CLI_NEED_FACTS },
    [GCD_BY_GENERATION] = { "generations", CLI_NEED_STREAM },
    [GCD_BY_LENGTH] = { "lengths", CLI_NEED_STREAM },
    [GCD_BY_ROOT] = { "roots", CLI_NEED_FACTS },
};
/* The names of the views, as given with --by. */
static const char *const by_names[] = { "type",       "module", "namespace", "kind",
                                        "generation", "length", "root" };

/* ---- the request ---- */

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_PROMETHEUS, FORMATS };
static const struct {
    const char *name, *suffix;
} formats[FORMATS] = {
    { "text", ".txt" }, { "json", ".json" }, { "csv", ".csv" }, { "prometheus", ".prom" }
};

/* Does PATH end with SUFFIX, not counting ".gz"? */
static bool has_suffix(const char *path, const char *suffix)
{
    return gcd_bytes_end(path, gcd_text_without(path, ".gz"), suffix);
}

const char *cli_report_format(size_t i)
{
    return i < FORMATS ? formats[i].name : NULL;
}

/* Chooses the format by the suffix of the output.  The name of a dump is a mistake: the file may be
 * a dump, and no table may replace it. */
static enum cli_exit format_of_path(const char *path, enum format *ret)
{
    for (int i = 0; i < FORMATS; i++)
        if (has_suffix(path, formats[i].suffix)) {
            *ret = (enum format)i;
            return CLI_DONE;
        }
    const char *dump = cli_dump_format_of(path);
    *ret = FORMAT_TEXT;
    if (dump == NULL)
        return CLI_DONE;
    return cli_error(CLI_USAGE, NULL,
                     "report writes tables, and \"%s\" is the name of a dump (%s); gcdumpc convert "
                     "or collect writes dumps, "
                     "and --format chooses a table: text, json, csv, prometheus",
                     path, dump);
}

static enum cli_exit format_by_name(const char *name, enum format *ret)
{
    char meant[CLI_MEANT_BYTES];
    struct cli_nearest near;
    cli_nearest_begin(&near, name);
    for (int i = 0; i < FORMATS; i++) {
        *ret = (enum format)i;
        if (strcmp(name, formats[i].name) == 0)
            return CLI_DONE;
        cli_nearest_try(&near, formats[i].name);
    }
    return cli_error(
        CLI_USAGE, NULL,
        "there is no format \"%s\" of reports%s; there is: text, json, csv, prometheus", name,
        cli_meant(&near, "", meant));
}

/* --json and --csv are short for --format; otherwise the suffix of the output decides. */
static enum cli_exit choose_format(const struct cli_args *args, enum format *ret)
{
    *ret = args->view.json ? FORMAT_JSON : args->view.csv ? FORMAT_CSV : FORMAT_TEXT;
    if (args->view.json + args->view.csv + (args->output.format != NULL) > 1)
        return cli_error(CLI_USAGE, NULL, "give one of --json, --csv and --format");
    if (args->output.format != NULL)
        return format_by_name(args->output.format, ret);
    return *ret == FORMAT_TEXT && args->output.path != NULL ? format_of_path(args->output.path, ret)
                                                            : CLI_DONE;
}

/* Rejects options that make no sense together. */
static enum cli_exit check(const struct cli_args *args, enum format format)
{
    bool of_objects = args->view.by == GCD_BY_GENERATION || args->view.by == GCD_BY_LENGTH;
    const char *problem = NULL;
    if (args->view.retained && of_objects)
        problem = "--retained is for types and what they have in common, and for roots";
    else if (args->view.by == GCD_BY_ROOT &&
             (args->view.filter != NULL || args->view.min_bytes > 0 || args->view.top > 0 ||
              args->view.sort != CLI_SORT_BYTES))
        problem = "--filter, --min-bytes, --top and --sort are not for --by root";
    else if (format == FORMAT_PROMETHEUS && args->view.by != GCD_BY_TYPE)
        problem = "--format prometheus always shows types, generations and roots, without --by";
    else if (format == FORMAT_PROMETHEUS && args->view.names == CLI_NAMES_RAW)
        problem = "--format prometheus needs different names for different types, and raw ones may "
                  "be equal";
    if (problem != NULL)
        cli_say(NULL, "%s; see gcdumpc report --help", problem);
    return problem != NULL ? CLI_USAGE : CLI_DONE;
}

/* ---- the dump ---- */

static enum cli_exit load(struct report *r, enum format format)
{
    enum cli_need need =
        format == FORMAT_PROMETHEUS ? CLI_NEED_STREAM : views[r->args->view.by].need;
    if (r->args->view.retained) /* what roots reach is found without dominators */
        need = r->args->view.by == GCD_BY_ROOT ? CLI_NEED_GRAPH : CLI_NEED_RETAINED;
    enum cli_exit e = cli_open(r->args, need, &r->d);
    if (e == CLI_DONE)
        e = cli_name_types(r->args, &r->d);
    if (e == CLI_DONE)
        e = cli_filter_types(r->filter, &r->d, r->d.names, &r->wanted);
    bool dominated = r->args->view.retained && r->args->view.by != GCD_BY_ROOT;
    if (e == CLI_DONE && dominated)
        e = cli_make_session(r->args, &r->d);
    if (e == CLI_DONE && dominated)
        e = cli_find_dominators(r->args, &r->d, &r->dominators);
    if (r->dominators != NULL)
        r->pseudo_roots = gcd_dominators_pseudo_roots(r->dominators);
    if (e == CLI_DONE && (format == FORMAT_TEXT || format == FORMAT_JSON))
        e = cli_count_unreachable(r->args, &r->d, NULL, &r->unreachable);
    return e;
}

enum cli_exit report_histogram(struct report *r, enum gcd_histogram_by by,
                               const struct gcd_histogram **ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    bool of_types =
        by == GCD_BY_TYPE || by == GCD_BY_MODULE || by == GCD_BY_NAMESPACE || by == GCD_BY_KIND;
    struct gcd_histogram_options options = {
        .context = cli_context(r->args, "reading"),
        .by = by,
        .dump = r->d.dump,
        .graph = r->d.graph,
        .wanted = r->wanted,
        .dominators = of_types ? r->dominators : NULL,
        .root_sets = r->args->view.retained,
        .progress_total = r->d.input != NULL ? gcd_input_size(r->d.input) : 0,
    };
    if (by == GCD_BY_GENERATION && cli_summary(&r->d)->range_count == 0)
        return cli_error(CLI_FAILED, r->d.subject,
                         "it has no memory ranges, so generations are unknown; a recording with "
                         "the keyword 0x400000 has them");
    gcd_status st = gcd_histogram_new(&options, ret, &err);
    if (st != GCD_OK)
        return cli_fail(r->d.subject, &err);
    cli_progress_end();
    if (by == GCD_BY_ROOT && options.root_sets)
        r->pseudo_roots = (uint32_t)(*ret)->root_sets.pseudo_roots.roots;
    return CLI_DONE;
}

enum cli_exit report_answer(const struct report *r, const struct gcd_histogram *h,
                            const struct report_rows *rows, struct answer **ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer_histogram from = {
        .h = h,
        .by = rows->by,
        .summary = cli_summary(&r->d),
        .names = r->d.names,
        .has_retained = r->args->view.retained,
        .alive_bytes =
            r->dominators != NULL ? gcd_dominators_retained(r->dominators, GCD_NODE_ROOT) : 0,
        .filtered = r->filter != NULL,
        .sort = rows->sort,
        .for_people = rows->for_people,
        .page = rows->page,
    };
    return answer_of_histogram(&from, ret, &err) == GCD_OK ? CLI_DONE
                                                           : cli_fail(r->d.subject, &err);
}

/* ---- the output ---- */

/* The totals of the whole dump, before the rows. */
static json_t *json_head(const struct report *r)
{
    const struct gcd_summary *f = cli_summary(&r->d);
    json_t *o = cli_json_head(r->d.subject), *matched = json_object();
    cli_json_count(matched, "types", r->h->types);
    cli_json_count(matched, "objects", r->h->objects);
    cli_json_count(matched, "bytes", r->h->bytes);
    json_object_set_new(o, "by", json_string(by_names[r->args->view.by]));
    cli_json_count(o, "objects", f->objects);
    cli_json_count(o, "bytes", f->bytes);
    cli_json_count(o, "type_count", f->types_used);
    json_object_set_new(
        o, "filter",
        cli_json_text_or_null(r->args->view.filter != NULL ? r->args->view.filter : ""));
    json_object_set_new(o, "matched", matched);
    json_object_set_new(o, "unreachable", cli_json_unreachable(&r->unreachable));
    json_object_set_new(o, "process_memory", cli_json_process_memory(&f->memory));
    if (r->args->view.retained)
        cli_json_count(o, "guessed_roots", r->pseudo_roots);
    return o;
}

static bool print_notes(const struct report *r, FILE *to)
{
    return cli_print_memory_notes(to, &r->d, &r->unreachable, false);
}

static enum cli_exit print(struct report *r, enum format format, FILE *to)
{
    const struct cli_view_args *view = &r->args->view;
    struct report_rows rows = { view->by,
                                (enum answer_sort)view->sort,
                                { .most = view->top, .min_bytes = view->min_bytes },
                                format == FORMAT_TEXT };
    struct cli_titled answer = { .key = views[view->by].key };
    if (format == FORMAT_PROMETHEUS)
        return report_prometheus(r, to);
    enum cli_exit e = report_histogram(r, view->by, &r->h);
    if (e == CLI_DONE)
        e = report_answer(r, r->h, &rows, &answer.answer);
    struct cli_document document = { .d = &r->d,
                                     .as = format == FORMAT_JSON  ? CLI_AS_JSON
                                           : format == FORMAT_CSV ? CLI_AS_CSV
                                                                  : CLI_AS_TEXT,
                                     .head = e == CLI_DONE && format == FORMAT_JSON ? json_head(r)
                                                                                    : NULL,
                                     .answers = &answer,
                                     .count = 1 };
    if (e == CLI_DONE)
        e = cli_print_document(&document, to);
    if (e == CLI_DONE && format == FORMAT_TEXT && !print_notes(r, to))
        e = cli_no_memory(r->d.subject);
    answer_free(answer.answer);
    return e;
}

/* Writes TEXT[N] to SINK, completely or not at all. */
static enum cli_exit write_file(const char *path, struct gcd_sink *sink, const char *text, size_t n)
{
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_sink_write(sink, text, n);
    return gcd_sink_commit(sink, &err) == GCD_OK ? CLI_DONE : cli_fail(path, &err);
}

static enum cli_exit print_to_file(struct report *r, enum format format, struct gcd_sink *sink)
{
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    enum cli_exit e = to != NULL ? print(r, format, to) : cli_no_memory(r->d.subject);
    if (to != NULL && fclose(to) != 0 && e == CLI_DONE)
        e = cli_no_memory(r->d.subject);
    if (e == CLI_DONE)
        e = write_file(r->args->output.path, sink, text, n);
    free(text);
    return e;
}

static enum cli_exit run(struct report *r, enum format format, struct gcd_sink *sink)
{
    enum cli_exit e = load(r, format);
    if (e == CLI_DONE)
        e = sink != NULL ? print_to_file(r, format, sink) : print(r, format, stdout);
    return cli_finish(r->args, &r->d, e, r->pseudo_roots);
}

enum cli_exit cmd_report(const struct cli_args *args)
{
    struct report r = { .args = args };
    struct gcd_sink *sink = NULL;
    enum format format;
    enum cli_exit e = choose_format(args, &format);
    if (e == CLI_DONE)
        e = check(args, format);
    if (e == CLI_DONE && args->view.filter != NULL)
        e = cli_filter_new(args->view.filter, &r.filter);
    /* readable by all: node_exporter runs as another user, and metrics are meant to be published */
    struct gcd_sink_options options = { .context = { .alloc = cli_alloc(),
                                                     .cancel = &cli_canceled },
                                        .for_all = format == FORMAT_PROMETHEUS,
                                        .wait_ms = args->live.timeout_s * 1000 };
    if (e == CLI_DONE && args->output.path != NULL && strcmp(args->output.path, "-") != 0)
        e = cli_sink_open(args->output.path, &options, CLI_SLOT_OUTPUT, &sink);
    if (e == CLI_DONE)
        e = run(&r, format, sink);
    gcd_sink_free(sink);
    cli_temporary(CLI_SLOT_OUTPUT, NULL);
    gcd_histogram_free(r.h);
    free(r.wanted);
    cli_close(&r.d);
    cli_filter_free(r.filter);
    return e;
}
