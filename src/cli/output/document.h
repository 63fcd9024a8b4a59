/*
 * What a command prints: answers with their titles, as text, JSON or CSV.
 */
#ifndef GCD_CLI_OUTPUT_DOCUMENT_H
#define GCD_CLI_OUTPUT_DOCUMENT_H

#include <stdio.h>

#include "answer/answer.h"
#include "exit.h"
#include "output/json_out.h"

struct cli_titled {
    const char *key;   /* in JSON */
    const char *title; /* for people, above it; NULL = none */
    struct answer *answer;
};

struct cli_document {
    const struct cli_dump *d;
    enum { CLI_AS_TEXT, CLI_AS_JSON, CLI_AS_CSV } as;
    json_t *head; /* JSON: the document, which the answers are added to; printing releases it */
    const struct cli_titled *answers;
    size_t count;
};
/* Prints to standard output in the form that ARGS request, or to TO.  On failure the message has
 * been printed, but for a failed write, which is found when TO is flushed. */
enum cli_exit cli_print_document(const struct cli_document *document, FILE *to);
enum cli_exit cli_print_answers(const struct cli_args *args, const struct cli_dump *d, json_t *head,
                                const struct cli_titled *answers, size_t n);

#endif
