#include <gcdumpc/gcdumpc.h>
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

/* ---- warnings about the dumps ---- */

/* Two processes of one program also get a warning: memory that fills up slowly starts again with each process. */
static void warn_of_processes(const struct cli_side *a, const struct cli_side *b)
{
    bool processes = a->process != 0 && b->process != 0 && a->process != b->process;
    bool programs = a->program[0] != '\0' && b->program[0] != '\0' && strcmp(a->program, b->program) != 0;
    if (programs)
        cli_say(b->subject, "comes from a different program than %s: \"%s\", not \"%s\"", a->subject, b->program, a->program);
    else if (processes)
        cli_say(b->subject, "comes from a different process than %s: %" PRIu64 ", not %" PRIu64, a->subject, b->process, a->process);
}

static void warn(const struct cli_comparison *c)
{
    size_t complete = 0;
    for (size_t i = 0; i < c->side_count; i++) {
        const struct cli_side *s = &c->sides[i];
        complete += s->verdict.complete;
        if (i == 0)
            continue;
        warn_of_processes(s - 1, s);
        if (s[-1].unix_ms != INT64_MIN && s->unix_ms != INT64_MIN && s->unix_ms < s[-1].unix_ms)
            cli_say(s->subject, "is older than %s", s[-1].subject);
    }
    if (complete > 0 && complete < c->side_count)
        cli_say(NULL, "only %zu of %zu dumps are complete: apparent changes may be lost data", complete, c->side_count);
}

/* ---- opening ---- */

static enum cli_exit parse_patterns(struct cli_comparison *c)
{
    const struct cli_args *args = c->args;
    enum cli_exit e = args->view.filter != NULL ? cli_filter_new(args->view.filter, &c->filter) : CLI_DONE;
    for (size_t i = 0; i < CLI_THRESHOLDS_MAX && args->view.fail_if[i] != NULL && e == CLI_DONE; i++) {
        e = cli_threshold_parse(args->view.fail_if[i], &c->thresholds[i]);
        c->threshold_count += e == CLI_DONE;
        c->retained = c->retained || c->thresholds[i].metric == CLI_METRIC_RETAINED;
    }
    return e;
}

/* The context of qsort, which has no context argument in C11; the program has one thread. */
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

static enum cli_exit match(struct cli_comparison *c)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (gcd_diff_match(c->diff, &err) != GCD_OK || (c->paths != NULL && gcd_tree_diff_match(c->paths, &err) != GCD_OK))
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

enum cli_exit cli_compare_open(const struct cli_args *args, struct cli_comparison *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    *ret = (struct cli_comparison){ .args = args, .retained = args->view.retained };
    enum cli_exit e = parse_patterns(ret);
    if (e == CLI_DONE)
        e = cli_memory_open(args);       /* allocate what outlives the dumps before the first one is opened */
    if (e != CLI_DONE)
        return e;
    if (gcd_diff_new(cli_alloc(), &ret->diff, &err) != GCD_OK || (args->view.paths && gcd_tree_diff_new(cli_alloc(), &ret->paths, &err) != GCD_OK))
        return cli_fail(NULL, &err);
    e = cli_compare_read(ret);
    if (e == CLI_DONE)
        e = match(ret);
    if (e == CLI_DONE)
        warn(ret);
    return e;
}

void cli_compare_close(struct cli_comparison *c)
{
    for (size_t i = 0; i < c->side_count; i++) {
        free(c->sides[i].subject);
        free(c->sides[i].program);
        free(c->sides[i].values);
    }
    for (size_t i = 0; i < c->threshold_count; i++)
        cli_threshold_done(&c->thresholds[i]);
    free(c->sides);
    free(c->order);
    cli_filter_free(c->filter);
    gcd_diff_free(c->diff);
    gcd_tree_diff_free(c->paths);
}
