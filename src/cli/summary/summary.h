/*
 * --summary: the facts of a dump that are worth keeping for years, as one line of JSON; trend reads
 * it like a dump.  tools/doc/summary.md explains the fields, tools/doc/summary.schema.json
 * describes them for programs.
 */
#ifndef GCD_CLI_SUMMARY_H
#define GCD_CLI_SUMMARY_H

#include <jansson.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"

/* Version of the format.  Adding fields does not change it; fields are never renamed. */
#define CLI_SUMMARY_SCHEMA 1
#define CLI_SUMMARY_KIND   "summary"

/* Facts about the dump besides its content. */
struct cli_summary_file {
    const char *path; /* of the dump file; NULL = it is not kept */
    uint64_t bytes;   /* 0 = not known */
    const char *name; /* of the process, for a dump that does not know it; or NULL */
    bool live;        /* the process runs on this host */
};

/* Call it before anything is read.  Are the labels of ARGS KEY=VALUE with different keys? CLI_USAGE
 * after a message. */
enum cli_exit cli_summary_check(const struct cli_args *args);

/*
 * summary_write.c.  cli_summary_open opens args->output.summary before anything is read; CLI_DONE
 * and *RET NULL without one.  cli_summary_write writes the summary of D, which must have a session,
 * completely or not at all.  On failure the message has been printed.  Call cli_summary_close in
 * any case; S may be NULL.
 */
enum cli_exit cli_summary_open(const struct cli_args *args, struct gcd_sink **ret);
enum cli_exit cli_summary_write(const struct cli_args *args, const struct cli_dump *d,
                                const struct cli_summary_file *file, struct gcd_sink *s);
void cli_summary_close(struct gcd_sink *s);

/* summary_findings.c: the suspects as an array of objects. */
struct cli_summary_graph {
    const struct gcd_names *names;
    const struct gcd_dominators *dominators;
    const struct gcd_origins *origins;
    const struct gcd_suspects *suspects;
    const uint64_t *retained; /* [types] a lower bound of what the objects of each type retain */
};
json_t *cli_summary_findings(const struct cli_dump *d, const struct cli_summary_graph *g);

/*
 * summary_sites.c: the lines that allocated most of what is alive, as an array of objects;
 * NULL without L or memory.
 */
#define CLI_SUMMARY_SITES 100u /* more are too small to be compared */
json_t *cli_summary_sites(const struct gcd_site_list *l, const struct gcd_summary *summary,
                          const struct gcd_names *names);

/* A summary read from a file, as a dump of which only the types are known. */
struct cli_old_summary {
    /* types, totals, process, verdict; the time of the summary as time of the recording */
    struct gcd_summary facts;
    struct gcd_type *types;
    /* [facts.type_count] as the runtime sends them; the types' own raw_name is their shown name */
    const char **raw_names;
    uint64_t *retained;      /* [facts.type_count] */
    uint64_t retained_bytes; /* all live objects */
    uint64_t types_of_dump;  /* the summary may list fewer */
    size_t lines;            /* summaries in the file */
    json_t *json;            /* owns the texts */
};

/*
 * summary_read.c: reads summary NUMBER of PATH, 1 being the first; 0 = the only or first one.  *RET
 * NULL with CLI_DONE: PATH is not a file of summaries or cannot be read; opening it as a dump will
 * report that.  CLI_FAILED after a message.  Free with cli_old_summary_free.
 */
enum cli_exit cli_summary_read(const char *path, uint64_t number, struct cli_old_summary **ret);
void cli_old_summary_free(struct cli_old_summary *s);

#endif
