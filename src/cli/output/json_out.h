/*
 * JSON: see the manual for the schema.
 */
#ifndef GCD_CLI_OUTPUT_JSON_OUT_H
#define GCD_CLI_OUTPUT_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "input/input.h"

#define CLI_JSON_SCHEMA 1
/* JSON integers end at 2^63-1; larger values come only from damaged data and are clamped. */
json_t *cli_json_number(uint64_t n);
/* S, with "?" for bytes beyond ASCII when it is not UTF-8, as file names may be. */
json_t *cli_json_text(const char *s);
/* The same; null for "". */
json_t *cli_json_text_or_null(const char *s);
/* A new JSON object with the schema number and SUBJECT, and one with the verdict of a dump. */
json_t *cli_json_head(const char *subject);
json_t *cli_json_verdict(const struct gcd_verdict *v);
/* How many roots there are of each kind. */
json_t *cli_json_roots(const struct gcd_summary *f);
/* Call it before any other function of this file. */
void cli_json_prepare(void);
/* Was memory exhausted for any JSON value since the last call, by any thread? */
bool cli_json_no_memory(void);
/*
 * Prints and releases J.  0, or -1 with errno: TO cannot be written, or ENOMEM if memory was
 * exhausted at any time (then TO has nothing or a part).
 */
int cli_json_print(json_t *j, FILE *to);
/* J, which is released, as one line with its newline; free() it.  NULL when memory was exhausted at
 * any time. */
char *cli_json_line(json_t *j);
/* json_dumpf in ASCII without control characters, so that no name can command a terminal that shows
 * it. */
int cli_json_dump(const json_t *j, FILE *to, size_t flags);
/* The memory of the process, or null. */
json_t *cli_json_process_memory(const struct gcd_process_memory *m);
int cli_json_info(const struct cli_dump *d, json_t *unreachable);
/* How often an event occurs in a trace. */
struct cli_event_kind {
    const char *provider; /* valid as long as the trace */
    uint32_t id, version;
    uint64_t events, bytes;
};
int cli_json_events(const struct gcd_trace *trace, const char *subject,
                    const struct cli_event_kind *kinds, size_t n);

#endif
