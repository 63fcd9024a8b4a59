/*
 * JSON: see the manual for the schema.
 */
#ifndef GCD_CLI_OUTPUT_JSON_OUT_H
#define GCD_CLI_OUTPUT_JSON_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <gcdumpc/unstable/type_names.h>

#include "input/input.h"
#include "render/render.h"

/* A new JSON object with the schema number and SUBJECT, and one with the verdict of a dump. */
json_t *cli_json_head(const char *subject);
json_t *cli_json_verdict(const struct gcd_verdict *v);
/* Adds the verdict of D, and before it why values are missing that were asked for.  Returns whether
 * there was memory for it. */
bool cli_json_put_verdict(json_t *o, const struct cli_dump *d);
/* Adds N, which were found by the names of types: null if U hides even that there are none. */
void cli_json_told(json_t *o, const char *key, uint64_t n, const struct gcd_unnamed *u);
/* Adds why there may be more than was found by names, "names_missing", or null. */
void cli_json_names_missing(json_t *o, const struct gcd_unnamed *u);
/* How many roots there are of each kind. */
json_t *cli_json_roots(const struct gcd_summary *f);
/* The memory of the process, or null. */
json_t *cli_json_process_memory(const struct gcd_process_memory *m);
/* What is known of values, or of null maps; null when there are none. */
json_t *cli_json_values(const struct gcd_values_facts *f);
json_t *cli_json_null_maps(const struct gcd_null_maps_facts *f);
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
