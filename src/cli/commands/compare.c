#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/text/plural.h>
#include <gcdumpc/unstable/tree_diff.h>

#include "args.h"
#include "commands/compare.h"
#include "exit.h"
#include "input/fail.h"
#include "input/memory.h"
#include "term/message.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- warnings about the dumps ---- */

/*
 * Compares what both dumps know: command lines, else names.  Two processes of one program also get
 * a warning, because a slow leak starts over with each process.
 */
static void warn_of_processes(const struct cli_side *a, const struct cli_side *b)
{
    bool processes = a->process != 0 && b->process != 0 && a->process != b->process;
    bool commands = a->command_line[0] != '\0' && b->command_line[0] != '\0';
    const char *one = commands ? a->command_line : a->name,
               *other = commands ? b->command_line : b->name;
    if (one[0] != '\0' && other[0] != '\0' && !cli_is_same_program(a, b))
        cli_say(b->subject, "comes from a different program than %s: \"%s\", not \"%s\"",
                a->subject, other, one);
    else if (processes)
        cli_say(b->subject, "comes from a different process than %s: %" PRIu64 ", not %" PRIu64,
                a->subject, b->process, a->process);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

void cli_compare_warn(const struct cli_side *a, const struct cli_side *b)
{
    if (is_same_file(a->subject, b->subject))
        cli_say(b->subject, "is the same file as %s, so nothing has changed", a->subject);
    warn_of_processes(a, b);
    if (a->unix_ms != INT64_MIN && b->unix_ms != INT64_MIN && b->unix_ms < a->unix_ms)
        cli_say(b->subject, "is older than %s", a->subject);
}

static void warn(const struct cli_comparison *c)
{
    size_t complete = 0;
    for (size_t i = 0; i < c->side_count; i++) {
        const struct cli_side *s = &c->sides[i];
        complete += s->verdict.complete;
        if (i > 0)
            cli_compare_warn(s - 1, s);
    }
    if (complete > 0 && complete < c->side_count)
        cli_say(NULL, "only %zu of %zu dumps %s complete: apparent changes may be lost data",
                complete, c->side_count, gcd_by_number(complete, "is", "are"));
}

/* ---- opening ---- */

static enum cli_exit parse_patterns(struct cli_comparison *c)
{
    const struct cli_args *args = c->args;
    enum cli_exit e =
        args->view.filter != NULL ? cli_filter_new(args->view.filter, &c->filter) : CLI_DONE;
    for (size_t i = 0; i < CLI_THRESHOLDS_MAX && args->view.fail_if[i] != NULL && e == CLI_DONE;
         i++) {
        e = cli_threshold_parse(args->view.fail_if[i], &c->thresholds[i]);
        c->threshold_count += e == CLI_DONE;
        c->retained = c->retained || c->thresholds[i].metric == CLI_METRIC_RETAINED;
    }
    return e;
}

/* Begins an empty comparison. */
static enum cli_exit begin(const struct cli_args *args, struct cli_comparison *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    *ret = (struct cli_comparison){ .args = args,
                                    .retained = args->view.retained,
                                    .takes_summaries = ret->takes_summaries,
                                    .wants_answer = ret->wants_answer };
    bool paths = args->view.paths;
    enum cli_exit e = parse_patterns(ret);
    if (e == CLI_DONE)
        e = cli_memory_open(
            args); /* before the first dump is opened: the comparison outlives the dumps */
    if (e != CLI_DONE)
        return e;
    for (size_t i = 0; i < CLI_MATCHED_BYS; i++)
        if (gcd_diff_new(cli_alloc(), &ret->matchings[i].diff, &err) != GCD_OK ||
            (paths && gcd_tree_diff_new(cli_alloc(), &ret->matchings[i].paths, &err) != GCD_OK))
            return cli_fail(NULL, &err);
    if (paths && gcd_tree_diff_new(cli_alloc(), &ret->with_fields, &err) != GCD_OK)
        return cli_fail(NULL, &err);
    return CLI_DONE;
}

static enum cli_exit match(struct cli_comparison *c)
{
    enum cli_exit e = cli_compare_match(c);
    if (e == CLI_DONE)
        warn(c);
    return e;
}

enum cli_exit cli_compare_open(const struct cli_args *args, struct cli_dump *newest,
                               struct cli_comparison *ret)
{
    enum cli_exit e = begin(args, ret);
    ret->newest = newest;
    if (e == CLI_DONE)
        e = cli_compare_read(ret);
    return e == CLI_DONE ? match(ret) : e;
}

enum cli_exit cli_compare_dumps(const struct cli_args *args, const struct cli_dump *const dumps[],
                                size_t n, struct cli_comparison *ret)
{
    enum cli_exit e = begin(args, ret);
    if (e == CLI_DONE && (ret->sides = calloc(n, sizeof *ret->sides)) == NULL)
        e = cli_no_memory(NULL);
    for (size_t i = 0; i < n && e == CLI_DONE; i++)
        e = cli_compare_add(ret, dumps[i], NULL, i + 1 == n);
    return e == CLI_DONE ? match(ret) : e;
}

void cli_compare_close(struct cli_comparison *c)
{
    for (size_t i = 0; i < c->side_count; i++) {
        cli_side_done(&c->sides[i]);
        json_decref(c->sides[i].sites);
        for (size_t k = 0; k < CLI_MATCHED_BYS; k++)
            free(c->sides[i].measured[k].values);
    }
    for (size_t i = 0; i < c->threshold_count; i++) {
        cli_threshold_done(&c->thresholds[i]);
        free(c->hints[i]);
    }
    free(c->sides);
    free(c->order);
    answer_older_free(c->older);
    cli_filter_free(c->filter);
    gcd_tree_diff_free(c->with_fields);
    for (size_t i = 0; i < CLI_MATCHED_BYS; i++) {
        for (size_t k = 0; k < c->threshold_count; k++)
            cli_meaning_done(&c->matchings[i].meanings[k]);
        cli_meaning_done(&c->matchings[i].filter_meaning);
        gcd_diff_free(c->matchings[i].diff);
        gcd_tree_diff_free(c->matchings[i].paths);
    }
}
