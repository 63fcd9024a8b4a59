/*
 * Chooses the names by which the dumps are matched: full names, unless one dump has them and
 * another does not.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/tree_diff.h>

#include "args.h"
#include "commands/compare.h"
#include "exit.h"
#include "input/fail.h"
#include "term/message.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the choice ---- */

/* The number of rows of D that have objects both in dump J and in a dump with full names. */
static size_t common_rows(const struct cli_comparison *c, const struct gcd_diff *d, size_t j)
{
    size_t n = 0;
    for (size_t i = 0; i < gcd_diff_row_count(d); i++) {
        const struct gcd_diff_row *row = gcd_diff_row(d, i);
        bool common = false;
        for (size_t k = 0; k < c->side_count && !common; k++)
            common = c->sides[k].has_names && row->sums[k].objects > 0;
        n += common && row->sums[j].objects > 0;
    }
    return n;
}

/*
 * The first dump without full names.  A recording tells.  A graph file does not: it counts as
 * having the names by which more of its types match the others.
 */
static const struct cli_side *without_names(const struct cli_comparison *c)
{
    bool named = false;
    for (size_t i = 0; i < c->side_count; i++)
        named = named || c->sides[i].has_names;
    for (size_t i = 0; i < c->side_count && named; i++) {
        const struct cli_side *s = &c->sides[i];
        const struct gcd_diff *full = c->matchings[CLI_BY_NAME].diff,
                              *raw = c->matchings[CLI_BY_RAW_NAME].diff;
        if (!s->has_names && (s->has_modules || common_rows(c, raw, i) > common_rows(c, full, i)))
            return s;
    }
    return NULL;
}

static const char no_common_name[] = "no type matches \"%s\" by the names that all dumps know";

/*
 * The pattern of threshold I matches nothing.  A glob, a regular expression or a module may select
 * nothing, and some conditions say that there must be no such type.  Everything else could never be
 * exceeded, most often because the name is misspelt.
 */
static enum cli_exit check_absent(const struct cli_comparison *c, size_t i)
{
    const struct cli_threshold *t = &c->thresholds[i];
    const char *hint = c->hints[i] != NULL ? c->hints[i] : "";
    bool partial = false;
    for (size_t k = 0; k < c->side_count; k++)
        partial = partial || c->sides[k].partial;
    if (c->by != CLI_BY_NAME && c->matchings[CLI_BY_NAME].threshold_met[i])
        return cli_error(CLI_FAILED, NULL, no_common_name, t->pattern);
    bool passes = !cli_filter_is_plain(t->filter) || cli_threshold_wants_none(t) ||
                  cli_threshold_exceeded(t, 0, 0);
    if (!partial && !passes)
        return cli_error(CLI_FAILED, NULL,
                         "no dump has a type \"%s\", so \"%s\" checks nothing%s; only a pattern "
                         "with * may match nothing",
                         t->pattern, t->text, hint);
    if (!c->args->quiet)
        cli_say(NULL, "no dump %s a type that matches \"%s\"%s%s", partial ? "lists" : "has",
                t->pattern, partial ? "" : ", so it counts as 0", hint);
    return CLI_DONE;
}

/* A number of objects or bytes, or the two between which it is. */
static const char *range_text(struct cli_range r, char buf[64])
{
    if (r.least == r.most)
        (void)snprintf(buf, 64, "%" PRIu64, r.least);
    else
        (void)snprintf(buf, 64, "%" PRIu64 " to %" PRIu64, r.least, r.most);
    return buf;
}

/* Summaries may list too few types to decide threshold I. */
static enum cli_exit check_decided(const struct cli_comparison *c, size_t i)
{
    const struct cli_threshold *t = &c->thresholds[i];
    const struct cli_side *s = &c->sides[0], *last = &c->sides[c->side_count - 1];
    char text[64];
    if (cli_threshold_answer(t, s->sum.values[i], last->sum.values[i]) != CLI_UNDECIDED)
        return CLI_DONE;
    if (last->sum.values[i].least != last->sum.values[i].most)
        s = last;
    return cli_error(
        CLI_FAILED, s->subject,
        "lists %" PRIu64 " of %" PRIu64 " types; with the others \"%s\" has %s %s, "
        "which does not decide \"%s\"; a summary with --top %" PRIu64 " lists all",
        s->types_listed, s->types_of_dump, t->pattern, range_text(s->sum.values[i], text),
        t->metric == CLI_METRIC_COUNT ? "objects" : "bytes", t->text, s->types_of_dump);
}

/* Does each pattern mean something, the same in all dumps, and does that decide each threshold? */
static enum cli_exit check_patterns(const struct cli_comparison *c)
{
    const struct cli_matching *m = &c->matchings[c->by];
    enum cli_exit e = CLI_DONE;
    if (c->filter != NULL && !m->filter_met)
        return cli_error(CLI_FAILED, NULL, no_common_name, c->args->view.filter);
    if (c->filter != NULL && m->filter_meaning.ambiguous)
        return cli_filter_ambiguous(c->filter, NULL, &m->filter_meaning);
    for (size_t i = 0; i < c->threshold_count && e == CLI_DONE; i++) {
        const struct cli_filter *f = c->thresholds[i].filter;
        if (f != NULL && m->meanings[i].ambiguous)
            e = cli_filter_ambiguous(f, NULL, &m->meanings[i]);
        else if (f != NULL && !m->threshold_met[i])
            e = check_absent(c, i);
        if (e == CLI_DONE)
            e = check_decided(c, i);
    }
    return e;
}

/* The first two dumps of native programs that are not known to be of one build, the first of them
 * without names: then no type of it is known to be one of the other's. */
static bool find_other_builds(const struct cli_comparison *c, const struct cli_side *ret[2])
{
    for (size_t i = 0; i < c->side_count; i++)
        for (size_t k = 0; k < c->side_count; k++) {
            const struct cli_side *s = &c->sides[i], *o = &c->sides[k];
            ret[0] = s;
            ret[1] = o;
            if (s->native && !s->has_names && o->native && strcmp(s->build, o->build) != 0)
                return true;
        }
    return false;
}

/* How types without full names are compared. */
static void say_matching(const struct cli_comparison *c, const struct cli_side *without)
{
    const struct cli_side *other[2];
    if (find_other_builds(c, other))
        cli_say(other[0]->subject,
                "no type can be compared with those of %s: its types have no names, and it is %s; "
                "--modules DIR names them",
                other[1]->subject,
                other[0]->build[0] == '\0' || other[1]->build[0] == '\0'
                    ? "not known to be of the same build"
                    : "of another build");
    else if (without != NULL)
        cli_say(without->subject,
                without->native ? "does not know the names of types, so all dumps are compared by "
                                  "their places in the program"
                                : "does not know the outer types of nested types, so all dumps are "
                                  "compared without them");
}

static enum cli_exit choose(struct cli_comparison *c)
{
    const struct cli_side *s = without_names(c);
    c->by = s != NULL ? CLI_BY_RAW_NAME : CLI_BY_NAME;
    c->diff = c->matchings[c->by].diff;
    c->paths = s == NULL && c->with_fields != NULL ? c->with_fields : c->matchings[c->by].paths;
    for (size_t i = 0; i < c->side_count; i++)
        c->sides[i].sum = c->sides[i].measured[c->by];
    say_matching(c, s);
    return check_patterns(c);
}

/* ---- the order of the rows ---- */

/* The context for compare_rows, because qsort of C11 passes none; the program has one thread here.
 */
static const struct gcd_diff *sort_diff;
static enum cli_sort sort_key;

static uint64_t sorted_by(const struct gcd_diff_sum *s)
{
    return sort_key == CLI_SORT_COUNT ? s->objects : s->retained_bytes;
}

/* By growth; equal rows keep their order. */
static int compare_rows(const void *pa, const void *pb)
{
    uint32_t x = *(const uint32_t *)pa, y = *(const uint32_t *)pb;
    const struct gcd_diff_row *a = gcd_diff_row(sort_diff, x), *b = gcd_diff_row(sort_diff, y);
    size_t last = gcd_diff_dumps(sort_diff) - 1;
    int c = sort_key == CLI_SORT_NAME ? strcmp(a->name, b->name) : 0;
    if (sort_key != CLI_SORT_NAME) {
        double grown_a = (double)sorted_by(&a->sums[last]) - (double)sorted_by(&a->sums[0]);
        double grown_b = (double)sorted_by(&b->sums[last]) - (double)sorted_by(&b->sums[0]);
        c = (grown_a < grown_b) - (grown_a > grown_b);
    }
    return c != 0 ? c : (x > y) - (x < y);
}

enum cli_exit cli_compare_match(struct cli_comparison *c)
{
    struct gcd_error err = GCD_ERROR_INIT;
    for (size_t i = 0; i < CLI_MATCHED_BYS; i++)
        if (gcd_diff_match(c->matchings[i].diff, &err) != GCD_OK)
            return cli_fail(NULL, &err);
    enum cli_exit e = choose(c);
    if (e != CLI_DONE)
        return e;
    if (c->paths != NULL && gcd_tree_diff_match(c->paths, &err) != GCD_OK)
        return cli_fail(NULL, &err);
    size_t n = gcd_diff_row_count(c->diff);
    c->order = calloc(n + 1, sizeof *c->order);
    if (c->order == NULL)
        return cli_no_memory(NULL);
    for (size_t i = 0; i < n; i++)
        c->order[i] = (uint32_t)i;
    sort_diff = c->diff;
    sort_key = c->args->view.sort;
    if (sort_key != CLI_SORT_BYTES)
        qsort(c->order, n, sizeof *c->order, compare_rows);
    return CLI_DONE;
}
