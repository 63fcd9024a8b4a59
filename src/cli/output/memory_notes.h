/*
 * What the types of a heap do not explain: objects that no root leads to, and memory of the process
 * outside the heap.
 */
#ifndef GCD_CLI_OUTPUT_MEMORY_NOTES_H
#define GCD_CLI_OUTPUT_MEMORY_NOTES_H

#include <jansson.h>
#include <stdio.h>

#include "input/input.h"

struct cli_unreachable {
    bool known; /* false: without a graph or roots */
    uint64_t objects, bytes;
    /* others, outside the collector's memory: literals and types that code holds */
    uint64_t frozen_objects, frozen_bytes;
    uint32_t type; /* with the most bytes among them */
    uint64_t type_objects, type_bytes;
};

/* Counts by PATHS, or by a search of its own, for which ARGS are, if PATHS is NULL and D has a
 * graph. */
enum cli_exit cli_count_unreachable(const struct cli_args *args, const struct cli_dump *d,
                                    const struct gcd_paths *paths, struct cli_unreachable *ret);
/* "1,000 objects (4.8 MiB, 99.9 % of the heap) are not reachable from roots: ..."; to be freed,
 * NULL without memory. */
char *cli_unreachable_text(const struct cli_dump *d, const struct cli_unreachable *u);
/* Lines for people: about unreachable objects with a twentieth of the heap, and about the memory of
 * the process, if it is known.  APART: with an empty line behind them; memory only if it is mostly
 * native, because the parts follow (cli_memory_parts_text). */
bool cli_print_memory_notes(FILE *to, const struct cli_dump *d, const struct cli_unreachable *u,
                            bool apart);
/* " 47.1 MiB resident before the dump: 12.1 MiB objects that are alive, ...": where all memory is;
 * to be freed, NULL without memory. */
char *cli_memory_parts_text(const struct cli_dump *d, const struct cli_unreachable *u,
                            uint64_t observed_bytes);
/* Bytes by part, null = unknown. */
json_t *cli_json_memory_parts(const struct cli_dump *d, const struct cli_unreachable *u);
/* {"objects": …, "bytes": …}, or null. */
json_t *cli_json_unreachable(const struct cli_unreachable *u);

#endif
