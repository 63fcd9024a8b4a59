#include "commands/threshold.h"
#include "exit.h"
#include "input/fail.h"
#include "term/expression.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum cli_exit read_metric(struct cli_expression *x, struct cli_threshold *t)
{
    static const char *const words[] = { [CLI_METRIC_COUNT] = "count",
                                         [CLI_METRIC_BYTES] = "bytes",
                                         [CLI_METRIC_RETAINED] = "retained" };
    size_t n = sizeof words / sizeof *words, i = cli_expression_word(x, words, n);
    if (i == n)
        return cli_expression_wrong(x, "count, bytes or retained");
    t->metric = (enum cli_metric)i;
    return CLI_DONE;
}

/* Names and regular expressions may contain parentheses, but the text after the pattern does not,
 * so the last one closes it. */
static enum cli_exit read_pattern(struct cli_expression *x, struct cli_threshold *t)
{
    cli_expression_spaces(x);
    if (*x->at != '(')
        return CLI_DONE;
    const char *start = ++x->at, *end = strrchr(start, ')');
    if (end == NULL) {
        x->at += strlen(x->at);
        return cli_expression_wrong(x, "\")\"");
    }
    while (start < end && (*start == ' ' || *start == '\t'))
        start++;
    size_t n = (size_t)(end - start);
    while (n > 0 && (start[n - 1] == ' ' || start[n - 1] == '\t'))
        n--;
    x->at = start;
    if (n == 0)
        return cli_expression_wrong(x, "a pattern for names of types");
    x->at = end + 1;
    t->pattern = strndup(start, n);
    if (t->pattern == NULL)
        return cli_no_memory(NULL);
    return cli_filter_new(t->pattern, &t->filter);
}

static enum cli_exit read_operator(struct cli_expression *x, struct cli_threshold *t)
{
    return cli_expression_operator(x, &t->below, &t->or_equal);
}

static enum cli_exit read_unit(struct cli_expression *x, struct cli_threshold *t)
{
    double bytes;
    cli_expression_spaces(x);
    if (*x->at == '%') {
        if (!t->growth)
            return cli_expression_wrong(x, "a number without \"%\", or with a sign,");
        t->share = true;
        x->at++;
        return CLI_DONE;
    }
    if (t->metric == CLI_METRIC_COUNT)
        return CLI_DONE; /* the end is expected */
    enum cli_exit e = cli_expression_unit(x, &bytes);
    if (e == CLI_DONE)
        t->limit *= bytes;
    return e;
}

static enum cli_exit read_limit(struct cli_expression *x, struct cli_threshold *t)
{
    cli_expression_spaces(x);
    char sign = *x->at;
    t->growth = sign == '+' || sign == '-';
    x->at += t->growth;
    enum cli_exit e = cli_expression_number(x, &t->limit);
    if (e == CLI_DONE)
        e = read_unit(x, t);
    if (sign == '-')
        t->limit = -t->limit;
    cli_expression_spaces(x);
    return e == CLI_DONE && *x->at != '\0' ? cli_expression_wrong(x, "the end") : e;
}

enum cli_exit cli_threshold_parse(const char *text, struct cli_threshold *ret)
{
    static enum cli_exit (*const parts[])(struct cli_expression *,
                                          struct cli_threshold *) = { read_metric, read_pattern,
                                                                      read_operator, read_limit };
    struct cli_expression x = { "--fail-if", text, text };
    enum cli_exit e = CLI_DONE;
    *ret = (struct cli_threshold){ .text = text };
    cli_expression_spaces(&x);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && e == CLI_DONE; i++)
        e = parts[i](&x, ret);
    if (e != CLI_DONE)
        cli_threshold_done(ret);
    return e;
}

void cli_threshold_done(struct cli_threshold *t)
{
    cli_filter_free(t->filter);
    free(t->pattern);
    t->filter = NULL;
    t->pattern = NULL;
}

bool cli_threshold_exceeded(const struct cli_threshold *t, uint64_t before, uint64_t after)
{
    double grown = after >= before ? (double)(after - before) : -(double)(before - after);
    double value = t->growth ? grown : (double)after, limit = t->limit;
    if (t->share && before == 0) {
        value = after > 0 ? HUGE_VAL : 0;
    } else if (t->share) { /* multiplied instead of divided, so that integers stay exact */
        value *= 100;
        limit *= (double)before;
    }
    if (value == limit)
        return t->or_equal;
    return t->below ? value < limit : value > limit;
}

bool cli_threshold_wants_none(const struct cli_threshold *t)
{
    return !t->growth && !cli_threshold_exceeded(t, 0, 0) && cli_threshold_exceeded(t, 0, 1);
}

/* The growth is largest from the least to the most, so these two decide about all values between.
 */
enum cli_answer cli_threshold_answer(const struct cli_threshold *t, struct cli_range before,
                                     struct cli_range after)
{
    bool smallest = cli_threshold_exceeded(t, before.most, after.least),
         largest = cli_threshold_exceeded(t, before.least, after.most);
    if (smallest != largest)
        return CLI_UNDECIDED;
    return smallest ? CLI_EXCEEDS : CLI_KEPT;
}
