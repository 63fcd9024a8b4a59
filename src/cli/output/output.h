/*
 * Outputs of collect and convert.
 */
#ifndef GCD_CLI_OUTPUT_OUTPUT_H
#define GCD_CLI_OUTPUT_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/gcdumpc.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"
#include "signals.h"

/* Where the output of ARGS goes, in which format. */
struct cli_output {
    const struct gcd_format *format; /* NULL: the event stream as it came */
    enum cli_need need;          /* what is to be opened for it */
    struct gcd_sink *sink;       /* or, for a format that is a folder or a database: */
    struct gcd_staged *staged;
    const char *name;            /* for messages */
    void (*ready)(void *ctx, uint64_t bytes);    /* NULL, or called when everything is on the disk and only the name lacks */
    void *ready_ctx;
};
/* Is there a format for it?  CLI_USAGE after a line. */
enum cli_exit cli_output_check(const struct cli_args *args);
/* Open it: before a recording is read or a process is disturbed for nothing.  On failure the message has been printed. */
enum cli_exit cli_output_open(const struct cli_args *args, struct cli_output *ret);
/* Write D.  CLI_DONE, CLI_INCOMPLETE or CLI_FAILED. */
enum cli_exit cli_output_write(const struct cli_args *args, struct cli_output *out, struct cli_dump *d);
/* Release; what was not written whole leaves no trace. */
void cli_output_close(struct cli_output *out);
/* --save-trace: the same in two steps; a copy of the stream that INPUT keeps. */
enum cli_exit cli_trace_open(const struct cli_args *args, struct cli_dump *d);
enum cli_exit cli_trace_write(const struct cli_args *args, struct cli_dump *d);
/* The name of the format that is no conversion, and that only living processes have. */
#define CLI_RAW_FORMAT "nettrace"
/* A small file, whole or not at all; FOR_ALL to read.  TEXT NULL: out of memory.  CLI_FAILED after a line. */
enum cli_exit cli_write_text(const char *path, bool for_all, const char *text);
/* Open PATH for an output, known to the second signal.  On failure the message has been printed. */
enum cli_exit cli_sink_open(const char *path, const struct gcd_sink_options *options, enum cli_slot slot, struct gcd_sink **ret);
/* Write what stdio still holds; a full disk or a closed pipe is found here. */
enum cli_exit cli_flush_stdout(void);

#endif
