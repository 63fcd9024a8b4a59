/*
 * The Prometheus text exposition format, 0.0.4, for report --format prometheus and collect
 * --metrics.  All metrics are gauges.  Each metric is written by only one of the two, so it has one
 * HELP text and the same labels everywhere.  Metrics of a run begin with gcdumpc_run_.
 *
 *     struct cli_prom p = { .to = f };
 *     cli_prom_metric(&p, "gcdumpc_heap_bytes", "Bytes of all objects.");
 *     cli_prom_label(&p, "process", "Shop");
 *     cli_prom_value(&p, 5, 1);         ends the sample; the next label begins another one
 */
#ifndef GCD_CLI_PROM_H
#define GCD_CLI_PROM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cli_prom {
    FILE *to;
    const char *metric; /* the current metric */
    bool labeled;       /* its current sample has a label */
};

/* Begins a metric.  HELP: one line without backslashes.  Both must live until the next metric. */
void cli_prom_metric(struct cli_prom *p, const char *name, const char *help);
/* VALUE: any text.  Characters that control the display become codes as in JSON: the label of
 * ESC is "\\u001b" in the file, which Prometheus reads as \u001b; a byte that is not UTF-8
 * becomes \ufffd.  A text that looks like such a code begins with \u005c instead. */
void cli_prom_label(struct cli_prom *p, const char *key, const char *value);
/* Writes VALUE / UNIT exactly; UNIT is a power of 10. */
void cli_prom_value(struct cli_prom *p, uint64_t value, uint64_t unit);

#endif
