/*
 * info --events: the events of a recording, with or without a heap dump.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "commands/commands.h"
#include "exit.h"
#include "input/dump_verdict.h"
#include "input/fail.h"
#include "input/input.h"
#include "output/json_out.h"
#include "output/output.h"
#include "signals.h"
#include "term/message.h"
#include "term/term.h"

#define MAX_KINDS 100000u

struct table {
    struct cli_event_kind *kinds;
    size_t count;
    size_t *slots; /* open addressing; index into kinds + 1, 0 = empty */
    size_t slot_count;
};

static bool same(const struct cli_event_kind *k, const struct gcd_event *ev)
{
    return k->id == ev->id && k->version == ev->version &&
           (k->provider == ev->provider_name || strcmp(k->provider, ev->provider_name) == 0);
}

static bool count(struct table *t, const struct gcd_event *ev)
{
    uint64_t h = (uint64_t)ev->id << 32 | ev->version;
    for (const char *p = ev->provider_name; *p != '\0'; p++)
        h = h * 31 + (unsigned char)*p;
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd); /* spreads neighboring ids */
    for (size_t i = (size_t)(h ^ h >> 33) % t->slot_count;; i = (i + 1) % t->slot_count) {
        if (t->slots[i] == 0) {
            if (t->count == MAX_KINDS)
                return false;
            t->slots[i] = t->count + 1;
            t->kinds[t->count++] = (struct cli_event_kind){ ev->provider_name, ev->id, ev->version,
                                                            1, ev->payload_bytes };
            return true;
        }
        struct cli_event_kind *k = &t->kinds[t->slots[i] - 1];
        if (same(k, ev)) {
            k->events++;
            k->bytes += ev->payload_bytes;
            return true;
        }
    }
}

static int compare(const void *pa, const void *pb)
{
    const struct cli_event_kind *a = pa, *b = pb;
    int by_name = strcmp(a->provider, b->provider);
    if (by_name != 0)
        return by_name;
    if (a->id != b->id)
        return a->id < b->id ? -1 : 1;
    return a->version < b->version ? -1 : a->version > b->version;
}

/* Reads the whole input.  ERR tells what ended the trace, INPUT_ERR what is wrong with the
 * compressed data around it. */
static gcd_status read_events(struct gcd_trace *trace, struct table *t, struct gcd_error *input_err,
                              struct gcd_error *err)
{
    gcd_status st = GCD_NEED_MORE;
    bool finished = false;
    /* to the end of the input, because the bytes after the trace may be damaged too */
    while (!finished) {
        struct gcd_error io = GCD_ERROR_INIT;
        struct gcd_event ev;
        if (atomic_load(&cli_canceled)) {
            err->code = GCD_E_CANCELED;
            return GCD_E_CANCELED;
        }
        st = gcd_trace_fetch(trace, &io);
        if (st == GCD_E_IO || st == GCD_E_NOMEM || st == GCD_E_CANCELED) {
            *err = io;
            return st;
        }
        finished = st != GCD_OK;
        if (st == GCD_E_TRUNCATED || st == GCD_E_FORMAT || st == GCD_E_LIMIT)
            *input_err = io;
        while ((st = gcd_trace_next(trace, &ev, err)) == GCD_OK)
            if (!count(t, &ev)) {
                err->code = GCD_E_LIMIT;
                (void)snprintf(err->msg, sizeof err->msg, "more than %u kinds of events",
                               MAX_KINDS);
                return GCD_E_LIMIT;
            }
        if (st == GCD_E_UNSUPPORTED || st == GCD_E_NOMEM)
            return st;
    }
    return st;
}

static void print_table(const struct table *t)
{
    bool sep = cli_is_terminal(stdout);
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES];
    printf("%14s %18s %6s %3s  %s\n", "Events", "Payload bytes", "Id", "V", "Provider");
    uint64_t events = 0, bytes = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct cli_event_kind *k = &t->kinds[i];
        printf("%14s %18s %6" PRIu32 " %3" PRIu32 "  ", cli_number(k->events, sep, a),
               cli_number(k->bytes, sep, b), k->id, k->version);
        cli_print_sanitized(stdout, k->provider);
        putchar('\n');
        events += k->events;
        bytes += k->bytes;
    }
    printf("%14s %18s             total\n", cli_number(events, sep, a), cli_number(bytes, sep, b));
}

static void print_threads(const struct gcd_trace *trace)
{
    uint64_t thread, events, lost;
    for (size_t i = 0; gcd_trace_get_thread(trace, i, &thread, &events, &lost); i++)
        if (lost > 0)
            printf("thread %" PRIu64 ": %s events lost, %s received\n", thread, GCD_DIGITS(lost),
                   GCD_DIGITS(events));
}

/* Is the recording complete?  Prints a message if not. */
static enum cli_exit judge(const char *subject, const struct gcd_trace_info *info,
                           const struct table *t, gcd_status st, const struct gcd_error *input_err,
                           const struct gcd_error *err)
{
    if (input_err->code != GCD_OK) {
        (void)cli_fail(subject, input_err);
        return CLI_INCOMPLETE;
    }
    if (st != GCD_END) {
        (void)cli_fail(subject, err);
        return t->count > 0 ? CLI_INCOMPLETE : CLI_FAILED;
    }
    if (info->trailing_bytes > 0)
        cli_say(subject, "%s byte%s after the end of the recording %s ignored",
                GCD_DIGITS(info->trailing_bytes), gcd_plural(info->trailing_bytes),
                gcd_by_number(info->trailing_bytes, "is", "are"));
    if (info->lost_events > 0) {
        cli_say(subject, "%s event%s lost in the target", GCD_DIGITS(info->lost_events),
                gcd_by_number(info->lost_events, " was", "s were"));
        return CLI_INCOMPLETE;
    }
    if (info->lost_buffers > 0 || info->damaged_buffers > 0) {
        cli_say(subject, "%s buffer%s of events %s lost, %s %s damaged",
                GCD_DIGITS(info->lost_buffers), gcd_plural(info->lost_buffers),
                gcd_by_number(info->lost_buffers, "was", "were"), GCD_DIGITS(info->damaged_buffers),
                gcd_by_number(info->damaged_buffers, "is", "are"));
        return CLI_INCOMPLETE;
    }
    if (info->repeated_buffers > 0) {
        cli_say(subject, "%s buffer%s of events with the number of another one %s left out",
                GCD_DIGITS(info->repeated_buffers), gcd_plural(info->repeated_buffers),
                gcd_by_number(info->repeated_buffers, "is", "are"));
        return CLI_INCOMPLETE;
    }
    return CLI_DONE;
}

static enum cli_exit finish(const struct cli_args *args, const struct gcd_trace *trace,
                            const struct table *t, gcd_status st, const struct gcd_error *input_err,
                            const struct gcd_error *err)
{
    const char *subject = cli_input_name(args);
    struct gcd_trace_info info;
    gcd_trace_get_info(trace, &info);
    if (info.ptr_bytes == 0 && st == GCD_E_TRUNCATED && input_err->code != GCD_OK)
        return cli_fail(subject, input_err); /* why there is no more */
    if (info.ptr_bytes == 0 || st == GCD_E_UNSUPPORTED || st == GCD_E_CANCELED || st == GCD_E_IO ||
        st == GCD_E_NOMEM)
        return cli_fail(subject, err);
    if (args->strict && judge(subject, &info, t, st, input_err, err) != CLI_DONE)
        return cli_refuse(subject);
    if (args->view.json) {
        if (cli_json_events(trace, subject, t->kinds, t->count) != 0 && errno == ENOMEM)
            return cli_no_memory(subject);
    } else {
        print_table(t);
        print_threads(trace);
    }
    if (cli_flush_stdout() != CLI_DONE)
        return CLI_FAILED;
    return args->strict ? CLI_DONE : judge(subject, &info, t, st, input_err, err);
}

enum cli_exit cmd_events(const struct cli_args *args)
{
    const char *subject = cli_input_name(args);
    struct gcd_error input_err = GCD_ERROR_INIT;
    struct gcd_context context = cli_context(args, NULL);
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_input *in = NULL;
    struct gcd_trace *trace = NULL;
    struct table t = { .slot_count = 4 * MAX_KINDS };
    enum cli_exit e = CLI_FAILED;
    if (cli_open_input(args, &(struct gcd_input_options){ .context = context }, &in) != CLI_DONE)
        return CLI_FAILED;
    gcd_status st = gcd_trace_open(in, &context, &trace, &err);
    if (st == GCD_OK) {
        t.kinds = calloc(MAX_KINDS, sizeof *t.kinds);
        t.slots = calloc(t.slot_count, sizeof *t.slots);
        if (t.kinds != NULL && t.slots != NULL) {
            st = read_events(trace, &t, &input_err, &err);
            qsort(t.kinds, t.count, sizeof *t.kinds, compare);
            e = finish(args, trace, &t, st, &input_err, &err);
        } else {
            cli_say(subject, "out of memory");
        }
    } else {
        e = cli_fail(subject, &err);
    }
    free(t.kinds);
    free(t.slots);
    gcd_trace_free(trace);
    gcd_input_free(in);
    return e;
}
