/* Reads each dump and keeps what diff and trend need from it. */
#include <gcdumpc/gcdumpc.h>

#include "answer/answers.h"
#include "args.h"
#include "base/ovf.h"
#include "commands/compare.h"
#include "commands/open_dump.h"
#include "output/folded_paths.h"
#include "summary/summary.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "term/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/compare_paths.h"

/* The dump that is being read. */
struct reading {
    struct cli_comparison *c;
    struct cli_dump d;
    struct cli_side *side;
    struct cli_old_summary *old; /* a summary instead of a dump, or NULL */
    const uint64_t *retained;    /* [types] from the session or from OLD, or NULL */
    struct cli_view views[CLI_MATCHED_BYS];
    struct gcd_summary live; /* the summary with reachable objects only, if it has dead ones */
    struct gcd_type *live_types;
    bool alike;             /* the dump has no full names, so both views are the same */
    struct gcd_summary raw; /* the summary with raw names as names */
    struct gcd_type *raw_types;
};

static enum cli_exit measure_retained(struct reading *r)
{
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_dominators *dominators = NULL;
    if (r->old != NULL) {
        r->retained = r->old->retained;
        r->side->retained_bytes = r->old->retained_bytes;
        return CLI_DONE;
    }
    enum cli_exit e = cli_find_dominators(r->c->args, &r->d, &dominators);
    if (e == CLI_DONE &&
        gcd_session_retained_by_type(r->d.session, NULL, &r->retained, &err) != GCD_OK)
        e = cli_fail(r->d.subject, &err);
    if (e == CLI_DONE) {
        r->side->retained_bytes = gcd_dominators_retained(dominators, GCD_NODE_ROOT);
        cli_say_pseudo_roots(r->d.subject, gcd_dominators_pseudo_roots(dominators));
    }
    return e;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The retained size of all selected types of V together, less than the sum of each. */
static enum cli_exit measure_set(struct reading *r, const struct cli_view *v, uint64_t *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_retained_set set;
    struct gcd_context context = cli_context(r->c->args, NULL);
    gcd_status st = gcd_retained_set(r->d.graph, v->set, &context, &set, &err);
    if (st != GCD_OK)
        return cli_fail(r->d.subject, &err);
    *ret = set.retained_bytes;
    return CLI_DONE;
}

/* What all unlisted types of a summary have. */
static struct gcd_diff_sum unlisted(const struct gcd_summary *s)
{
    struct gcd_diff_sum listed = { .objects = 0 };
    for (uint32_t i = 0; i < s->type_count; i++) {
        gcd_add_saturating(&listed.objects, s->types[i].objects);
        gcd_add_saturating(&listed.bytes, s->types[i].bytes);
    }
    return (struct gcd_diff_sum){ .objects = minus(s->objects, listed.objects),
                                  .bytes = minus(s->bytes, listed.bytes) };
}

/*
 * Measures threshold T of a summary, whose matching listed types have LISTED objects and bytes.
 * Unlisted types may match too, unless the pattern is the whole name of a listed one (names like
 * "<>c" are not unique); they have at most what is not listed.
 */
static enum cli_exit measure_old(const struct reading *r, const struct cli_threshold *t,
                                 const struct cli_meaning *meaning,
                                 const struct gcd_diff_sum *listed, struct cli_range *ret)
{
    const struct gcd_summary *f = r->d.facts;
    bool whole = t->filter == NULL;
    bool one = !whole && listed->objects > 0 && cli_filter_is_plain(t->filter) &&
               meaning->name != NULL && meaning->other == NULL && meaning->name[0] != '<';
    struct gcd_diff_sum rest = { .objects = 0 };
    if (!whole && !one && r->side->partial)
        rest = unlisted(f);
    if (t->metric == CLI_METRIC_RETAINED && !whole)
        return cli_error(CLI_FAILED, r->d.subject,
                         "a summary does not tell what the types of a pattern retain together: %s",
                         t->text);
    if (t->metric == CLI_METRIC_RETAINED)
        ret->least = r->old->retained_bytes;
    else if (t->metric == CLI_METRIC_COUNT)
        ret->least = whole ? f->objects : listed->objects;
    else
        ret->least = whole ? f->bytes : listed->bytes;
    ret->most =
        gcd_sum_saturating(ret->least, t->metric == CLI_METRIC_COUNT ? rest.objects : rest.bytes);
    return CLI_DONE;
}

/* Measures threshold I with the names of V. */
static enum cli_exit measure_threshold(struct reading *r, const struct cli_view *v, size_t i)
{
    const struct cli_threshold *t = &r->c->thresholds[i];
    struct cli_meaning *meaning = &r->c->matchings[v->by].meanings[i];
    struct cli_range *range = &r->side->measured[v->by].values[i];
    uint64_t objects = 0, bytes = 0, value;
    enum cli_exit e =
        cli_filter_select(t->filter, r->d.subject, v->summary, v->names, meaning, v->set);
    if (e != CLI_DONE)
        return e;
    for (uint32_t k = 0; k < v->summary->type_count; k++) {
        if (!v->set[k])
            continue;
        r->c->matchings[v->by].threshold_met[i] = true;
        gcd_add_saturating(&objects, v->summary->types[k].objects);
        gcd_add_saturating(&bytes, v->summary->types[k].bytes);
    }
    if (r->old != NULL)
        return measure_old(r, t, meaning,
                           &(struct gcd_diff_sum){ .objects = objects, .bytes = bytes }, range);
    value = t->metric == CLI_METRIC_COUNT ? objects : bytes;
    if (t->metric == CLI_METRIC_RETAINED && t->filter == NULL)
        value = r->side->retained_bytes;
    else if (t->metric == CLI_METRIC_RETAINED && v->by != CLI_BY_NAME &&
             memcmp(v->set, r->views[CLI_BY_NAME].set, v->summary->type_count) == 0)
        value = r->side->measured[CLI_BY_NAME].values[i].least;
    else if (t->metric == CLI_METRIC_RETAINED)
        e = measure_set(r, v, &value);
    *range = (struct cli_range){ value, value };
    return e;
}

/* Adds the selected types of V to the sums and to the matching. */
static enum cli_exit add_types(struct reading *r, const struct cli_view *v)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct cli_measured *sum = &r->side->measured[v->by];
    struct cli_matching *to = &r->c->matchings[v->by];
    uint32_t count = v->summary->type_count;
    size_t n = 0;
    struct gcd_diff_type *types = calloc((size_t)count + 1, sizeof *types);
    if (types == NULL)
        return cli_no_memory(NULL);
    for (uint32_t i = 0; i < count; i++) {
        const struct gcd_type *t = &v->summary->types[i];
        if (t->objects == 0 || !v->set[i])
            continue;
        types[n++] = (struct gcd_diff_type){ gcd_names_plain(v->names, i),
                                             t->module_path,
                                             { t->objects, t->bytes,
                                               r->retained != NULL ? r->retained[i] : 0 } };
        gcd_add_saturating(&sum->objects, t->objects);
        gcd_add_saturating(&sum->bytes, t->bytes);
    }
    sum->types = n;
    if (r->side->partial && r->c->filter == NULL) {
        struct gcd_diff_sum *rest = &r->side->unlisted;
        *rest = unlisted(r->d.facts);
        gcd_add_saturating(&sum->objects, rest->objects);
        gcd_add_saturating(&sum->bytes, rest->bytes);
        sum->types = r->old->types_of_dump;
    }
    to->filter_met = to->filter_met || n > 0;
    gcd_status st = gcd_diff_add(to->diff, types, n, &err);
    free(types);
    return st == GCD_OK ? CLI_DONE : cli_fail(r->d.subject, &err);
}

/* A --filter that matches in no dump is a mistake.  About thresholds compare_match.c decides, with
 * suggestions from the last dump. */
static enum cli_exit check_patterns(const struct reading *r)
{
    struct cli_comparison *c = r->c;
    const struct cli_matching *m = c->matchings;
    const struct gcd_names *names = r->views[CLI_BY_NAME].names;
    if (c->filter != NULL && !m[CLI_BY_NAME].filter_met && !m[CLI_BY_RAW_NAME].filter_met)
        return cli_filter_nothing(c->filter, NULL, &r->d, names);
    for (size_t i = 0; i < c->threshold_count; i++)
        if (c->thresholds[i].filter != NULL && !m[CLI_BY_NAME].threshold_met[i] &&
            (c->hints[i] = cli_filter_hint(c->thresholds[i].filter, &r->d, names)) == NULL)
            return cli_no_memory(NULL);
    return CLI_DONE;
}

bool cli_side_of(const struct cli_dump *d, const char *label, struct cli_side *ret)
{
    const struct gcd_summary *f = cli_summary(d);
    ret->subject = strdup(label != NULL ? label : d->subject);
    ret->command_line = strdup(f->command_line);
    ret->name = strdup(f->process_name);
    ret->process = f->process;
    ret->verdict = f->verdict;
    /* a summary does not tell */
    ret->from_memory = f->image.made_from != NULL && f->image.made_from[0] != '\0';
    ret->unix_ms = f->trace.start_unix_ms;
    if (ret->unix_ms != INT64_MIN &&
        __builtin_add_overflow(ret->unix_ms, f->gc_start_ns / 1000000, &ret->unix_ms))
        ret->unix_ms = INT64_MIN;
    return ret->subject != NULL && ret->command_line != NULL && ret->name != NULL;
}

void cli_side_done(struct cli_side *s)
{
    free(s->subject);
    free(s->command_line);
    free(s->name);
}

static enum cli_exit describe(struct reading *r, const char *label)
{
    const struct gcd_summary *f = cli_summary(&r->d);
    struct cli_side *s = r->side;
    bool room = cli_side_of(&r->d, label, s);
    s->partial = r->old != NULL && f->type_count < r->old->types_of_dump;
    s->types_listed = f->type_count;
    s->types_of_dump = r->old != NULL ? r->old->types_of_dump : f->type_count;
    for (size_t i = 0; i < CLI_MATCHED_BYS && room; i++)
        room = (s->measured[i].values =
                    calloc(r->c->threshold_count + 1, sizeof *s->measured->values)) != NULL;
    return room ? CLI_DONE : cli_no_memory(NULL);
}

/* ---- both ways to name its types ---- */

static const char *raw_name(const struct reading *r, const struct gcd_summary *s, uint32_t type)
{
    return r->old != NULL ? r->old->raw_names[type] : s->types[type].raw_name;
}

static void look_for_names(struct reading *r, const struct gcd_summary *s)
{
    r->alike = true;
    for (uint32_t i = 0; i < s->type_count && r->alike; i++)
        r->alike = strcmp(s->types[i].name, raw_name(r, s, i)) == 0;
    r->side->has_modules = s->module_count > 0;
    r->side->has_names = !r->alike;
    for (size_t i = 0; i < s->module_count; i++) {
        const struct gcd_module *m = &s->modules[i];
        r->side->native = r->side->native || m->native;
        if (m->native && m->build_id != NULL)
            (void)snprintf(r->side->build, sizeof r->side->build, "%.*s",
                           (int)sizeof r->side->build - 1, m->build_id);
    }
    for (size_t i = 0; i < s->module_count && !r->side->has_names; i++)
        r->side->has_names =
            s->modules[i].state == GCD_MODULE_READ || s->modules[i].state == GCD_MODULE_RECORDED;
}

static enum cli_exit use_raw_names(struct reading *r, const struct gcd_summary *s)
{
    r->raw_types = calloc((size_t)s->type_count + 1, sizeof *r->raw_types);
    if (r->raw_types == NULL)
        return cli_no_memory(NULL);
    memcpy(r->raw_types, s->types, s->type_count * sizeof *r->raw_types);
    for (uint32_t i = 0; i < s->type_count; i++) {
        r->raw_types[i].name = r->raw_types[i].raw_name = raw_name(r, s, i);
        if ((s->types[i].flags & GCD_TYPE_NATIVE) != 0)
            r->raw_types[i].named = false;
    }
    r->raw = *s;
    r->raw.types = r->raw_types;
    return CLI_DONE;
}

/* The names in a summary are in C# spelling already. */
static enum cli_exit make_names(const struct reading *r, const struct cli_args *args,
                                const struct gcd_summary *s, struct gcd_names **ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    enum gcd_name_style style =
        args->view.names == CLI_NAMES_RAW || r->old != NULL ? GCD_NAMES_RAW : GCD_NAMES_CSHARP;
    if (style == GCD_NAMES_CSHARP && cli_separates_loads(args))
        style = GCD_NAMES_SEPARATE_LOADS;
    gcd_status st = gcd_names_new(s, style, cli_alloc(), ret, &err);
    return st == GCD_OK ? CLI_DONE : cli_fail(r->d.subject, &err);
}

/* Counts only what the roots reach, as dumps without dead objects do. */
static enum cli_exit count_live(struct reading *r, const struct cli_args *args,
                                const struct gcd_summary **s)
{
    const struct gcd_dominators *dominators = NULL;
    enum cli_exit e = cli_make_graph(args, CLI_NEED_RETAINED, &r->d);
    if (e == CLI_DONE && r->d.session == NULL)
        e = cli_make_session(args, &r->d);
    if (e == CLI_DONE)
        e = cli_find_dominators(args, &r->d, &dominators);
    if (e != CLI_DONE)
        return e;
    *s = cli_type_summary(&r->d);
    r->live_types = calloc((size_t)(*s)->type_count + 1, sizeof *r->live_types);
    if (r->live_types == NULL)
        return cli_no_memory(NULL);
    memcpy(r->live_types, (*s)->types, (*s)->type_count * sizeof *r->live_types);
    r->live = **s;
    r->live.types = r->live_types;
    r->live.objects = r->live.bytes = 0;
    for (uint32_t i = 0; i < (*s)->type_count; i++)
        r->live_types[i].objects = r->live_types[i].bytes = 0;
    const uint32_t *order = gcd_dominators_order(dominators);
    for (uint32_t i = 0; i < gcd_dominators_reachable(dominators); i++) {
        uint32_t type = gcd_graph_node_type(r->d.graph, order[i]);
        uint64_t bytes = gcd_graph_node_size(r->d.graph, order[i]);
        if (type >= (*s)->type_count)
            continue;
        r->live_types[type].objects++;
        gcd_add_saturating(&r->live_types[type].bytes, bytes);
        r->live.objects++;
        gcd_add_saturating(&r->live.bytes, bytes);
    }
    if (!args->quiet)
        cli_say(r->d.subject, "has dead objects, too: only those that the roots reach are compared "
                              "(--with-dead: all)");
    *s = &r->live;
    return CLI_DONE;
}

static enum cli_exit make_views(struct reading *r, const struct cli_args *args)
{
    const struct gcd_summary *s = cli_type_summary(&r->d);
    enum cli_exit e = CLI_DONE;
    if (s->image.with_dead && !args->dump.with_dead && r->old == NULL)
        e = count_live(r, args, &s);
    if (e == CLI_DONE)
        look_for_names(r, s);
    if (e == CLI_DONE && !r->alike)
        e = use_raw_names(r, s);
    for (size_t i = 0; i < CLI_MATCHED_BYS && e == CLI_DONE; i++) {
        struct cli_view *v = &r->views[i];
        v->by = (enum cli_matched_by)i;
        v->summary = i == CLI_BY_RAW_NAME && !r->alike ? &r->raw : s;
        v->set = calloc((size_t)s->type_count + 1, sizeof *v->set);
        e = v->set != NULL ? make_names(r, args, v->summary, &v->names) : cli_no_memory(NULL);
    }
    return e;
}

static void views_done(struct reading *r)
{
    for (size_t i = 0; i < CLI_MATCHED_BYS; i++) {
        gcd_names_free(r->views[i].names);
        free(r->views[i].set);
    }
    free(r->raw_types);
    free(r->live_types);
}

static enum cli_exit measure(struct reading *r, const struct cli_view *v)
{
    enum cli_exit e = CLI_DONE;
    for (size_t i = 0; i < r->c->threshold_count && e == CLI_DONE; i++)
        e = measure_threshold(r, v, i);
    if (e == CLI_DONE)
        e = cli_filter_select(r->c->filter, r->d.subject, v->summary, v->names,
                              &r->c->matchings[v->by].filter_meaning, v->set);
    return e == CLI_DONE ? add_types(r, v) : e;
}

static enum cli_need need_of(const struct cli_comparison *c)
{
    return c->wants_answer               ? CLI_NEED_LEAKS
           : c->matchings->paths != NULL ? CLI_NEED_DIFF
           : c->retained                 ? CLI_NEED_RETAINED
                                         : CLI_NEED_FACTS;
}

/* The sites of a recording, or of a summary. */
static enum cli_exit keep_sites(struct reading *r, const struct cli_args *args)
{
    struct gcd_origins *origins = NULL;
    struct gcd_sites *s = NULL;
    struct gcd_site_list *list = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    if (r->old != NULL) {
        json_t *sites = json_object_get(r->old->json, "sites");
        r->side->sites = json_is_array(sites) ? json_incref(sites) : NULL;
        return CLI_DONE;
    }
    const struct cli_view *v = &r->views[CLI_BY_NAME];
    enum cli_exit e = cli_read_sites(args, &r->d, &s);
    if (e == CLI_DONE && s != NULL)
        e = cli_origins_of(args, &r->d, v->names, &origins);
    if (e == CLI_DONE && s != NULL &&
        gcd_site_list_new(s, v->summary, origins, &list, &err) != GCD_OK)
        e = cli_fail(r->d.subject, &err);
    if (e == CLI_DONE)
        r->side->sites = cli_summary_sites(list, v->summary, v->names);
    gcd_site_list_free(list);
    gcd_origins_free(origins);
    gcd_sites_free(s);
    return e;
}

/* Keeps the suspects of a dump before the last one, if that is kept open. */
static enum cli_exit keep_suspects(struct reading *r, const struct cli_args *args)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_context looking = cli_context_steps(args, "looking for suspects");
    const struct gcd_suspects *found;
    const struct gcd_paths *paths;
    gcd_status st = gcd_session_paths(r->d.session, &looking, &paths, &err);
    if (st == GCD_OK && gcd_paths_pseudo_roots(paths) > 0)
        r->c->wants_answer = false; /* it would be a guess */
    if (st == GCD_OK)
        st = gcd_session_suspects(r->d.session, &looking, &found, &err);
    if (st == GCD_OK) {
        answer_older_free(r->c->older);
        st = answer_older_new(r->d.session, found, r->c->wants_answer, cli_alloc(), &r->c->older,
                              &err);
    }
    return st == GCD_OK ? CLI_DONE : cli_fail(r->d.subject, &err);
}

/* Keeps what is needed from R's dump, labeled LABEL in tables (NULL: as in messages). */
static enum cli_exit keep(struct reading *r, const struct cli_args *args, const char *label,
                          bool last)
{
    struct cli_comparison *c = r->c;
    enum cli_exit e = make_views(r, args);
    if (e == CLI_DONE)
        e = describe(r, label);
    if (e == CLI_DONE && c->takes_summaries)
        e = keep_sites(r, args);
    if (e == CLI_DONE && c->retained)
        e = measure_retained(r);
    for (size_t i = 0; i < CLI_MATCHED_BYS && e == CLI_DONE; i++)
        e = measure(r, &r->views[i]);
    if (e == CLI_DONE && c->matchings->paths != NULL)
        e = cli_paths_add(c, &r->d, r->views);
    if (e == CLI_DONE && c->newest != NULL && !last)
        e = keep_suspects(r, args);
    if (e == CLI_DONE && last)
        e = check_patterns(r);
    views_done(r);
    return e;
}

enum cli_exit cli_compare_add(struct cli_comparison *c, const struct cli_dump *d, const char *label,
                              bool last)
{
    struct reading r = { .c = c, .d = *d, .side = &c->sides[c->side_count++] };
    return keep(&r, c->args, label, last);
}

/* If the input is a summary, sets r->old to it, and the facts of r->d. */
static enum cli_exit open_summary(struct reading *r, const struct cli_args *args)
{
    enum cli_exit e =
        args->input != NULL ? cli_summary_read(args->input, args->dump.walk, &r->old) : CLI_DONE;
    if (e != CLI_DONE || r->old == NULL)
        return e;
    r->d = (struct cli_dump){ .facts = &r->old->facts, .subject = args->input };
    if (!r->c->takes_summaries)
        return cli_error(
            CLI_FAILED, r->d.subject,
            "is the summary of a dump, without its objects; gcdumpc trend compares summaries");
    if (args->view.names == CLI_NAMES_RAW)
        return cli_error(
            CLI_USAGE, r->d.subject,
            "is a summary, whose names are in C# spelling; without --names raw it can be compared");
    if (r->old->lines > 1 && args->dump.walk == 0 && !args->quiet)
        cli_say(r->d.subject, "holds %zu summaries, this is the first; \"FILE#N\" chooses",
                r->old->lines);
    return CLI_DONE;
}

static enum cli_exit open_input(struct reading *r, const struct cli_args *args)
{
    enum cli_exit e = open_summary(r, args);
    if (e != CLI_DONE || r->old != NULL)
        return e;
    struct cli_args own = *args;
    if (r->c->newest != NULL) { /* suspects as leaks looks for them in two dumps */
        own.view.share = ANSWER_GROWN_SHARE;
        own.view.min_bytes = ANSWER_GROWN_BYTES;
        own.view.share_millis = 0;
    }
    e = cli_open(args, need_of(r->c), &r->d);
    return e == CLI_DONE && need_of(r->c) != CLI_NEED_FACTS ? cli_make_session(&own, &r->d) : e;
}

/* Reads the single input of ARGS, labeled LABEL in tables (NULL: as in messages). */
static enum cli_exit read_dump(struct cli_comparison *c, const struct cli_args *args,
                               const char *label, bool last)
{
    struct reading r = { .c = c, .side = &c->sides[c->side_count++] };
    enum cli_exit e = open_input(&r, args);
    if (e == CLI_DONE)
        e = keep(&r, args, label, last);
    if (e == CLI_DONE) {
        if (!args->quiet && label == NULL && cli_summary(&r.d)->dumps > 1)
            cli_say(r.d.subject,
                    "the recording holds %u heap dumps, this is number %u; \"FILE#N\" chooses",
                    cli_summary(&r.d)->dumps, cli_summary(&r.d)->walk_number);
        cli_say_verdict(&r.d, true);
    }
    if (e == CLI_DONE && last && c->newest != NULL)
        *c->newest = r.d;
    else
        cli_close(&r.d);
    cli_old_summary_free(r.old);
    return e;
}

/*
 * Splits "FILE#2", dump number 2 of FILE, unless a file has that whole name.  *RET_FILE is FILE, to
 * be freed, or NULL for a plain name.  False when out of memory.
 */
static bool split_number(const char *word, char **ret_file, uint64_t *ret_number)
{
    const char *hash = strrchr(word, '#');
    size_t digits = hash != NULL ? strspn(hash + 1, "0123456789") : 0;
    *ret_file = NULL;
    *ret_number = 0;
    if (hash == word || digits == 0 || digits > 5 || hash[1] == '0' || hash[1 + digits] != '\0' ||
        access(word, F_OK) == 0)
        return true;
    *ret_number = strtoull(hash + 1, NULL, 10);
    *ret_file = strndup(word, (size_t)(hash - word));
    return *ret_file != NULL;
}

static enum cli_exit read_file(struct cli_comparison *c, const char *word, bool last)
{
    struct cli_args one = *c->args;
    char *file;
    if (!split_number(word, &file, &one.dump.walk))
        return cli_no_memory(NULL);
    one.target.pid = 0;
    one.target.name = one.target.container = one.target.port = one.target.listen =
        one.live.save_trace = NULL;
    one.input = file != NULL ? file : word;
    one.modules.others = (const char *const *)c->args->inputs;
    one.modules.other_count = c->args->input_count;
    one.modules.other_process = cli_is_live(c->args) ? c->args : NULL;
    enum cli_exit e = read_dump(c, &one, file != NULL ? word : NULL, last);
    free(file);
    return e;
}

static enum cli_exit read_process(struct cli_comparison *c)
{
    struct cli_args one = *c->args;
    one.input = NULL;
    one.modules.others = (const char *const *)c->args->inputs;
    one.modules.other_count = c->args->input_count;
    return read_dump(c, &one, NULL, true);
}

/* Stacks in memory are searched for what looks like a reference; events have the real ones. */
static void say_ways(const struct cli_comparison *c)
{
    const struct cli_side *memory = NULL, *events = NULL;
    for (size_t i = 0; i < c->side_count; i++)
        if (c->sides[i].types_listed == c->sides[i].types_of_dump)
            *(c->sides[i].from_memory ? &memory : &events) = &c->sides[i];
    if (memory != NULL && events != NULL)
        cli_say(NULL,
                "%s was read from memory, %s from events: objects that roots reach are compared, "
                "and a few more of the former may count as such",
                memory->subject, events->subject);
}

enum cli_exit cli_compare_read(struct cli_comparison *c)
{
    const struct cli_args *args = c->args;
    bool live = cli_is_live(args);
    enum cli_exit e = CLI_DONE;
    c->sides = calloc(args->input_count + live, sizeof *c->sides);
    if (c->sides == NULL)
        return cli_no_memory(NULL);
    for (size_t i = 0; i < args->input_count && e == CLI_DONE; i++)
        e = read_file(c, args->inputs[i], !live && i + 1 == args->input_count);
    if (e == CLI_DONE && live)
        e = read_process(c);
    if (e == CLI_DONE && !args->quiet)
        say_ways(c);
    return e;
}
