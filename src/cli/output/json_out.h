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
/* Integers end at 2^63-1 here; a larger value can only come from damaged data. */
json_t *cli_json_number(uint64_t n);
/* S, with "?" for bytes beyond ASCII when it is not UTF-8: names of files need not be. */
json_t *cli_json_text(const char *s);
/* The same; null for "". */
json_t *cli_json_text_or_null(const char *s);
/* An object with the schema and SUBJECT; what says whether a dump is complete. */
json_t *cli_json_head(const char *subject);
json_t *cli_json_verdict(const struct gcd_verdict *v);
/* Before anything else of it is called. */
void cli_json_prepare(void);
/* Print and release J.  0, or -1: it cannot be written, or (errno ENOMEM, and TO gets nothing or a part) memory was missing at any time. */
int cli_json_print(json_t *j, FILE *to);
/* json_dumpf in ASCII, without any control character: whatever shows it later obeys no name. */
int cli_json_dump(const json_t *j, FILE *to, size_t flags);
int cli_json_info(const struct cli_dump *d);
/* How often an event occurs in a trace. */
struct cli_event_kind {
    const char *provider;        /* lives as long as the trace */
    uint32_t id, version;
    uint64_t events, bytes;
};
int cli_json_events(const struct gcd_trace *trace, const char *subject, const struct cli_event_kind *kinds, size_t n);

#endif
