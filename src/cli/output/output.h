/*
 * Outputs of collect and convert.
 */
#ifndef GCD_CLI_OUTPUT_OUTPUT_H
#define GCD_CLI_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/staged_file.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "signals.h"

/* The output of ARGS: file and format. */
struct cli_output {
    const struct gcd_format *format; /* NULL: a recording: the event stream, with names */
    enum cli_need need;              /* the input to open for it */
    /* keep types that were loaded several times apart, because the format does not show types by
     * name */
    bool separate_loads;
    struct gcd_sink *sink; /* or, when the format is a folder or a database: */
    struct gcd_staged *staged;
    const char *name; /* for messages */
    uint64_t names;   /* names added to the recording */
    uint64_t bytes;   /* size of the file once it is written; 0 = not known */
    /* NULL, or called once everything is on the disk and only the final name is missing */
    void (*ready)(void *ctx, uint64_t bytes);
    void *ready_ctx;
};
/* The format of dumps or recordings that PATH's suffix selects; NULL = none. */
const char *cli_dump_format_of(const char *path);
/* Checks that ARGS select a known format.  CLI_USAGE after a message. */
enum cli_exit cli_output_check(const struct cli_args *args);
/* Opens the output before a recording is read or a process disturbed for nothing.  On failure the
 * message has been printed. */
enum cli_exit cli_output_open(const struct cli_args *args, struct cli_output *ret);
/* Writes D.  CLI_DONE, CLI_INCOMPLETE or CLI_FAILED. */
enum cli_exit cli_output_write(const struct cli_args *args, struct cli_output *out,
                               struct cli_dump *d);
/* Releases OUT; removes an output that is not complete. */
void cli_output_close(struct cli_output *out);
/* --save-trace: the same in two steps, for a copy of the stream that INPUT keeps. */
enum cli_exit cli_trace_open(const struct cli_args *args, struct cli_dump *d);
enum cli_exit cli_trace_write(const struct cli_args *args, struct cli_dump *d);
/* Writes a small file completely or not at all.  TEXT NULL: out of memory.  CLI_FAILED after a
 * message. */
enum cli_exit cli_write_text(const char *path, const struct gcd_sink_options *options,
                             const char *text);
/* Opens PATH for an output that a second signal removes.  On failure the message has been printed.
 */
enum cli_exit cli_sink_open(const char *path, const struct gcd_sink_options *options,
                            enum cli_slot slot, struct gcd_sink **ret);
/* Opens the output of ARGS for a page of COMMAND, -o FILE.html.  CLI_USAGE for other suffixes, and
 * for --json and --csv, after a message. */
enum cli_exit cli_page_open(const struct cli_args *args, const char *command,
                            struct gcd_sink **ret);
/* Commits the page; says how large it is, unless --quiet. */
enum cli_exit cli_page_commit(const struct cli_args *args, struct gcd_sink *s);
/* Releases S, which may be NULL; removes a page that is not complete. */
void cli_page_close(struct gcd_sink *s);
/* Flushes stdout; finds a full disk or a closed pipe. */
enum cli_exit cli_flush_stdout(void);

#endif
