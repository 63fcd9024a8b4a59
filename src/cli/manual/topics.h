/*
 * Texts about more than one command: "gcdumpc help TOPIC" and pages of the manual.
 */
#ifndef GCD_CLI_MANUAL_TOPICS_H
#define GCD_CLI_MANUAL_TOPICS_H

#include <stddef.h>

struct cli_topic {
    const char *name;
    const char *summary;
    const char *text;
    /* of its manual page gcdumpc-NAME; 0: a part of gcdumpc(1) with this TITLE */
    int section;
    const char *title;
};

/* Topic I; NULL after the last. */
const struct cli_topic *cli_topic_at(size_t i);
/* The topic NAME; NULL for an unknown one. */
const struct cli_topic *cli_topic(const char *name);
/* Prints TOPIC to standard output. */
void cli_print_topic(const struct cli_topic *topic);

#endif
