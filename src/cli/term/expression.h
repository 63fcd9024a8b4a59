/*
 * The parts of expressions in options: --fail-if and --when.
 */
#ifndef GCD_CLI_TERM_EXPRESSION_H
#define GCD_CLI_TERM_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "exit.h"

struct cli_expression {
    const char *option;    /* for messages, as "--when" */
    const char *text, *at; /* the whole, and its unread rest */
};

/* Reports that EXPECTED is missing at the place that is read.  CLI_USAGE. */
enum cli_exit cli_expression_wrong(const struct cli_expression *x, const char *expected);
void cli_expression_spaces(struct cli_expression *x);
/* The index in WORDS[N] of the letters that come next; N = none, and nothing is read. */
size_t cli_expression_word(struct cli_expression *x, const char *const *words, size_t n);
/* ">", ">=", "<" or "<=" */
enum cli_exit cli_expression_operator(struct cli_expression *x, bool *ret_below,
                                      bool *ret_or_equal);
/* Digits with an optional fraction, at most 15, independent of the locale. */
enum cli_exit cli_expression_number(struct cli_expression *x, double *ret);
/* A unit of memory, whose bytes are in RET.  K, M, G and KiB, MiB, GiB are powers of 1024, KB, MB
 * and GB of 1000.  Nothing, and 1, where no letters come next. */
enum cli_exit cli_expression_unit(struct cli_expression *x, double *ret);

#endif
