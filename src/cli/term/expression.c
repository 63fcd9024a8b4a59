#include "term/expression.h"

#include <ctype.h>
#include <string.h>

#include "term/message.h"

/* The largest number of digits that a double holds exactly. */
#define DIGITS_MAX 15

enum cli_exit cli_expression_wrong(const struct cli_expression *x, const char *expected)
{
    return cli_error(CLI_USAGE, NULL, "%s \"%s\": %s is expected at character %zu%s%s%s", x->option,
                     x->text, expected, (size_t)(x->at - x->text) + 1,
                     *x->at != '\0' ? ", not \"" : "", x->at, *x->at != '\0' ? "\"" : "");
}

void cli_expression_spaces(struct cli_expression *x)
{
    x->at += strspn(x->at, " \t");
}

size_t cli_expression_word(struct cli_expression *x, const char *const *words, size_t n)
{
    size_t len = 0;
    while (isalpha((unsigned char)x->at[len]))
        len++;
    for (size_t i = 0; i < n; i++)
        if (strlen(words[i]) == len && strncmp(x->at, words[i], len) == 0) {
            x->at += len;
            return i;
        }
    return n;
}

enum cli_exit cli_expression_operator(struct cli_expression *x, bool *ret_below, bool *ret_or_equal)
{
    cli_expression_spaces(x);
    if (*x->at != '>' && *x->at != '<')
        return cli_expression_wrong(x, ">, >=, < or <=");
    *ret_below = *x->at++ == '<';
    *ret_or_equal = *x->at == '=';
    x->at += *ret_or_equal;
    return CLI_DONE;
}

enum cli_exit cli_expression_number(struct cli_expression *x, double *ret)
{
    double value = 0, place = 1;
    int digits = 0;
    bool point = false;
    const char *start = x->at;
    for (; isdigit((unsigned char)*x->at) || (*x->at == '.' && !point && digits > 0); x->at++) {
        if (*x->at == '.') {
            point = true;
            continue;
        }
        value = 10 * value + (*x->at - '0');
        place *= point ? 10 : 1;
        digits++;
    }
    if (digits > 0 && x->at[0] == ',' && isdigit((unsigned char)x->at[1]))
        return cli_expression_wrong(x, "\".\" before decimals");
    if (digits == 0 || x->at[-1] == '.')
        return cli_expression_wrong(x, start < x->at ? "a digit" : "a number");
    if (digits > DIGITS_MAX) {
        x->at = start;
        return cli_expression_wrong(x, "a number of at most 15 digits");
    }
    *ret = value / place;
    return CLI_DONE;
}

enum cli_exit cli_expression_unit(struct cli_expression *x, double *ret)
{
    static const struct {
        const char *name;
        double bytes;
    } units[] = {
        { "B", 1 },         { "K", 1024 },       { "KiB", 1024 },       { "M", 1048576 },
        { "MiB", 1048576 }, { "G", 1073741824 }, { "GiB", 1073741824 }, { "KB", 1e3 },
        { "MB", 1e6 },      { "GB", 1e9 },
    };
    *ret = 1;
    if (!isalpha((unsigned char)*x->at))
        return CLI_DONE;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (cli_expression_word(x, &units[i].name, 1) == 0) {
            *ret = units[i].bytes;
            return CLI_DONE;
        }
    return cli_expression_wrong(x, "B, K, M, G, KB, MB, GB, KiB, MiB or GiB");
}
