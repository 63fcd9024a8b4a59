/* Reads each dump and keeps what diff and trend need of it. */
#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "commands/compare.h"
#include "commands/open_dump.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "input/memory.h"
#include "signals.h"
#include "term/message.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/compare_paths.h"
#include "output/root_labels.h"

/* The tables of the open dump. */
struct reading {
    struct cli_comparison *c;
    struct cli_dump d;
    struct gcd_names *names;
    struct cli_side *side;
    uint64_t *retained;          /* [types], or NULL */
    uint8_t *set;                /* [types, also that of the unknown node] */
};

static enum cli_exit measure_retained(struct reading *r)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dominators *dominators = NULL;
    r->retained = calloc((size_t)cli_summary(&r->d)->type_count + 1, sizeof *r->retained);
    if (r->retained == NULL)
        return cli_no_memory(NULL);
    enum cli_exit e = cli_find_dominators(r->c->args, &r->d, &dominators);
    if (e == CLI_DONE && gcd_retained_by_type(r->d.graph, dominators, cli_alloc(), r->retained, &err) != GCD_OK)
        e = cli_fail(r->d.subject, &err);
    if (e == CLI_DONE) {
        r->side->retained_bytes = gcd_dominators_retained(dominators, GCD_NODE_ROOT);
        cli_say_pseudo_roots(r->d.subject, gcd_dominators_pseudo_roots(dominators));
    }
    gcd_dominators_free(dominators);
    return e;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The value of threshold I.  The types retain more together than the sum over each. */
static enum cli_exit measure_threshold(struct reading *r, size_t i)
{
    const struct gcd_summary *summary = cli_summary(&r->d);
    const struct cli_threshold *t = &r->c->thresholds[i];
    uint32_t count = summary->type_count;
    uint64_t objects = 0, bytes = 0;
    enum cli_exit e = cli_filter_select(t->filter, &r->d, r->names, r->set);
    if (e != CLI_DONE)
        return e;
    for (uint32_t k = 0; k < count; k++) {
        if (!r->set[k])
            continue;
        r->c->threshold_met[i] = true;
        objects = plus(objects, summary->types[k].objects);
        bytes = plus(bytes, summary->types[k].bytes);
    }
    r->side->values[i] = t->metric == CLI_METRIC_COUNT ? objects : bytes;
    if (t->metric != CLI_METRIC_RETAINED)
        return CLI_DONE;
    r->side->values[i] = r->side->retained_bytes;
    if (t->filter == NULL)
        return CLI_DONE;
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_retained_set set;
    gcd_status st = gcd_retained_set(r->d.graph, r->set, cli_alloc(), &cli_canceled, &set, &err);
    if (st != GCD_OK)
        return cli_fail(r->d.subject, &err);
    r->side->values[i] = set.retained_bytes;
    return CLI_DONE;
}

/* The sum over r->set. */
static enum cli_exit add_types(struct reading *r)
{
    const struct gcd_summary *summary = cli_summary(&r->d);
    struct gcd_error err = GCD_ERROR_INIT;
    uint32_t count = summary->type_count;
    size_t n = 0;
    struct gcd_diff_type *types = calloc((size_t)count + 1, sizeof *types);
    if (types == NULL)
        return cli_no_memory(NULL);
    for (uint32_t i = 0; i < count; i++) {
        const struct gcd_type *t = &summary->types[i];
        if (t->objects == 0 || !r->set[i])
            continue;
        types[n++] = (struct gcd_diff_type){ gcd_names_plain(r->names, i), t->module_path,
                                             { t->objects, t->bytes, r->retained != NULL ? r->retained[i] : 0 } };
        r->side->objects = plus(r->side->objects, t->objects);
        r->side->bytes = plus(r->side->bytes, t->bytes);
    }
    r->side->types = n;
    r->c->filter_met = r->c->filter_met || n > 0;
    gcd_status st = gcd_diff_add(r->c->diff, types, n, &err);
    free(types);
    return st == GCD_OK ? CLI_DONE : cli_fail(r->d.subject, &err);
}

/* A pattern without a match in any dump is a mistake: its threshold could never be exceeded.  Suggestions come from the last dump. */
static enum cli_exit check_patterns(const struct reading *r)
{
    const struct cli_comparison *c = r->c;
    if (c->filter != NULL && !c->filter_met)
        return cli_filter_nothing(c->filter, NULL, &r->d, r->names);
    for (size_t i = 0; i < c->threshold_count; i++)
        if (c->thresholds[i].filter != NULL && !c->threshold_met[i])
            return cli_filter_nothing(c->thresholds[i].filter, NULL, &r->d, r->names);
    return CLI_DONE;
}

static enum cli_exit describe(struct reading *r, const char *label)
{
    const struct gcd_summary *f = cli_summary(&r->d);
    struct cli_side *s = r->side;
    s->subject = strdup(label != NULL ? label : r->d.subject);
    s->program = strdup(f->command_line[0] != '\0' ? f->command_line : f->process_name);
    s->values = calloc(r->c->threshold_count + 1, sizeof *s->values);
    s->process = f->process;
    s->verdict = f->verdict;
    s->unix_ms = f->trace.start_unix_ms;
    if (s->unix_ms != INT64_MIN && __builtin_add_overflow(s->unix_ms, f->gc_start_ns / 1000000, &s->unix_ms))
        s->unix_ms = INT64_MIN;
    r->set = calloc((size_t)cli_type_summary(&r->d)->type_count + 1, sizeof *r->set);
    return s->subject != NULL && s->program != NULL && s->values != NULL && r->set != NULL ? CLI_DONE : cli_no_memory(NULL);
}

static enum cli_need need_of(const struct cli_comparison *c)
{
    if (c->retained && c->paths != NULL)
        return CLI_NEED_PAGE;
    return c->retained ? CLI_NEED_RETAINED : c->paths != NULL ? CLI_NEED_PATHS : CLI_NEED_FACTS;
}

/* Reads the one input of ARGS, named LABEL in tables (NULL: as in messages). */
static enum cli_exit read_dump(struct cli_comparison *c, const struct cli_args *args, const char *label, bool last)
{
    struct reading r = { .c = c, .side = &c->sides[c->side_count++] };
    enum cli_exit e = cli_open(args, need_of(c), &r.d);
    if (e == CLI_DONE)
        e = cli_names_of(args, &r.d, GCD_NAMES_CSHARP, &r.names);
    if (e == CLI_DONE)
        e = describe(&r, label);
    if (e == CLI_DONE && c->retained)
        e = measure_retained(&r);
    for (size_t i = 0; i < c->threshold_count && e == CLI_DONE; i++)
        e = measure_threshold(&r, i);
    if (e == CLI_DONE)
        e = cli_filter_select(c->filter, &r.d, r.names, r.set);
    if (e == CLI_DONE)
        e = add_types(&r);
    if (e == CLI_DONE && c->paths != NULL)
        e = cli_paths_add(c->args, c->paths, &r.d, r.names, r.set);
    if (e == CLI_DONE && last)
        e = check_patterns(&r);
    if (e == CLI_DONE) {
        if (!args->quiet && label == NULL && cli_summary(&r.d)->dumps > 1)
            cli_say(r.d.subject, "the recording holds %u heap dumps, this is number %u; \"FILE#N\" chooses", cli_summary(&r.d)->dumps,
                    cli_summary(&r.d)->walk_number);
        cli_say_verdict(&r.d, true);
    }
    gcd_names_free(r.names);
    free(r.retained);
    free(r.set);
    cli_close(&r.d);
    return e;
}

/*
 * "FILE#2" is dump number 2 of FILE, unless a file has that name.  *RET_FILE is FILE, to be freed, or NULL for a plain name.  False when out of
 * memory.
 */
static bool split_number(const char *word, char **ret_file, uint64_t *ret_number)
{
    const char *hash = strrchr(word, '#');
    size_t digits = hash != NULL ? strspn(hash + 1, "0123456789") : 0;
    *ret_file = NULL;
    *ret_number = 0;
    if (hash == word || digits == 0 || digits > 5 || hash[1] == '0' || hash[1 + digits] != '\0' || access(word, F_OK) == 0)
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
    one.target.name = one.target.port = one.target.listen = one.live.save_trace = NULL;
    one.input = file != NULL ? file : word;
    enum cli_exit e = read_dump(c, &one, file != NULL ? word : NULL, last);
    free(file);
    return e;
}

static enum cli_exit read_process(struct cli_comparison *c)
{
    struct cli_args one = *c->args;
    one.input = NULL;
    return read_dump(c, &one, NULL, true);
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
    return e == CLI_DONE && live ? read_process(c) : e;
}
