#include "commands/threshold.h"
#include "exit.h"
#include "input/fail.h"
#include "term/message.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of digits that a double holds exactly. */
#define DIGITS_MAX 15

/* The unread rest of the expression. */
struct reader {
    const char *text, *at;
};

static enum cli_exit wrong(const struct reader *r, const char *expected)
{
    return cli_error(CLI_USAGE, NULL, "--fail-if \"%s\": %s is expected at character %zu%s%s%s",
                     r->text, expected, (size_t)(r->at - r->text) + 1,
                     *r->at != '\0' ? ", not \"" : "", r->at, *r->at != '\0' ? "\"" : "");
}

static void skip_spaces(struct reader *r)
{
    r->at += strspn(r->at, " \t");
}

/* The index in WORDS[N] of the letters at R->at; N = none. */
static size_t read_word(struct reader *r, const char *const *words, size_t n)
{
    size_t len = 0;
    while (isalpha((unsigned char)r->at[len]))
        len++;
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == len && strncmp(r->at, words[i], len) == 0) {
            r->at += len;
            return i;
        }
    return n;
}

static enum cli_exit read_metric(struct reader *r, struct cli_threshold *t)
{
    static const char *const words[] = { [CLI_METRIC_COUNT] = "count",
                                         [CLI_METRIC_BYTES] = "bytes",
                                         [CLI_METRIC_RETAINED] = "retained" };
    size_t n = sizeof words / sizeof *words, i = read_word(r, words, n);
    if (i == n)
        return wrong(r, "count, bytes or retained");
    t->metric = (enum cli_metric)i;
    return CLI_DONE;
}

/* Names and regular expressions may contain parentheses, but the text after the pattern does not,
 * so the last one closes it. */
static enum cli_exit read_pattern(struct reader *r, struct cli_threshold *t)
{
    skip_spaces(r);
    if (*r->at != '(')
        return CLI_DONE;
    const char *start = ++r->at, *end = strrchr(start, ')');
    if (end == NULL) {
        r->at += strlen(r->at);
        return wrong(r, "\")\"");
    }
    while (start < end && (*start == ' ' || *start == '\t'))
        start++;
    size_t n = (size_t)(end - start);
    while (n > 0 && (start[n - 1] == ' ' || start[n - 1] == '\t'))
        n--;
    r->at = start;
    if (n == 0)
        return wrong(r, "a pattern for names of types");
    r->at = end + 1;
    t->pattern = strndup(start, n);
    if (t->pattern == NULL)
        return cli_no_memory(NULL);
    return cli_filter_new(t->pattern, &t->filter);
}

static enum cli_exit read_operator(struct reader *r, struct cli_threshold *t)
{
    skip_spaces(r);
    if (*r->at != '>' && *r->at != '<')
        return wrong(r, ">, >=, < or <=");
    t->below = *r->at++ == '<';
    t->or_equal = *r->at == '=';
    r->at += t->or_equal;
    return CLI_DONE;
}

/* Reads digits with an optional fraction, but nothing else that strtod accepts; independent of the
 * locale. */
static enum cli_exit read_number(struct reader *r, double *ret)
{
    double value = 0, place = 1;
    int digits = 0;
    bool point = false;
    const char *start = r->at;
    for (; isdigit((unsigned char)*r->at) || (*r->at == '.' && !point && digits > 0); r->at++) {
        if (*r->at == '.') {
            point = true;
            continue;
        }
        value = 10 * value + (*r->at - '0');
        place *= point ? 10 : 1;
        digits++;
    }
    if (digits == 0 || r->at[-1] == '.')
        return wrong(r, start < r->at ? "a digit" : "a number");
    if (digits > DIGITS_MAX) {
        r->at = start;
        return wrong(r, "a number of at most 15 digits");
    }
    *ret = value / place;
    return CLI_DONE;
}

static enum cli_exit read_unit(struct reader *r, struct cli_threshold *t)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {
        { "B", 1 },         { "K", 1024 },       { "KiB", 1024 },       { "M", 1048576 },
        { "MiB", 1048576 }, { "G", 1073741824 }, { "GiB", 1073741824 }, { "KB", 1e3 },
        { "MB", 1e6 },      { "GB", 1e9 },
    };
    size_t n = sizeof units / sizeof *units, i = 0;
    skip_spaces(r);
    if (*r->at == '%') {
        if (!t->growth)
            return wrong(r, "a number without \"%\", or with a sign,");
        t->share = true;
        r->at++;
    } else if (isalpha((unsigned char)*r->at)) {
        if (t->metric == CLI_METRIC_COUNT)
            return wrong(r, "the end");
        while (i < n && read_word(r, &units[i].name, 1) != 0)
            i++;
        if (i == n)
            return wrong(r, "B, K, M, G, KB, MB, GB, KiB, MiB or GiB");
        t->limit *= units[i].bytes;
    }
    return CLI_DONE;
}

static enum cli_exit read_limit(struct reader *r, struct cli_threshold *t)
{
    skip_spaces(r);
    char sign = *r->at;
    t->growth = sign == '+' || sign == '-';
    r->at += t->growth;
    enum cli_exit e = read_number(r, &t->limit);
    if (e == CLI_DONE)
        e = read_unit(r, t);
    if (sign == '-')
        t->limit = -t->limit;
    skip_spaces(r);
    return e == CLI_DONE && *r->at != '\0' ? wrong(r, "the end") : e;
}

enum cli_exit cli_threshold_parse(const char *text, struct cli_threshold *ret)
{
    static enum cli_exit (*const parts[])(struct reader *,
                                          struct cli_threshold *) = { read_metric, read_pattern,
                                                                      read_operator, read_limit };
    struct reader r = { text, text };
    enum cli_exit e = CLI_DONE;
    *ret = (struct cli_threshold){ .text = text };
    skip_spaces(&r);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && e == CLI_DONE; i++)
        e = parts[i](&r, ret);
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
