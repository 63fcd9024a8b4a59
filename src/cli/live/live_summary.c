/*
 * Reports what a dump cost the process: the line that everybody reads has the pause and whether all
 * is there; what it took is for --verbose.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/image.h>
#include <gcdumpc/unstable/process_memory.h>
#include <gcdumpc/unstable/text/plural.h>

#include "input/dump_verdict.h"
#include "live/live.h"
#include "term/message.h"
#include "term/term.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
    char text[600];
};

GCD_PRINTF(2, 3)
static void add(struct line *to, const char *fmt, ...)
{
    size_t n = strlen(to->text);
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(to->text + n, sizeof to->text - n, fmt, ap);
    va_end(ap);
}

static uint64_t rounded_ms(uint64_t ns)
{
    return (ns + 500000) / 1000000;
}

static void add_mebibytes(struct line *to, const char *before, uint64_t bytes, const char *behind)
{
    char n[CLI_NUMBER_BYTES];
    (void)cli_number((bytes + LIVE_MIB / 2) / LIVE_MIB, true, n);
    add(to, "%s%s MiB%s", before, bytes < LIVE_MIB ? "less than 1" : n, behind);
}

static void add_pause(struct line *to, const struct gcd_summary *f)
{
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES];
    if (f->pause_ns == 0) {
        add(to, "pause unknown");
        return;
    }
    add(to, "pause %s ms", cli_number(rounded_ms(f->pause_ns), true, a));
    if (f->pauses > 1)
        add(to, " (%s pauses while it was recorded: %s ms)", GCD_DIGITS(f->pauses),
            cli_number(rounded_ms(f->pauses_ns), true, b));
}

static void add_stream(struct line *to, const struct gcd_summary *f)
{
    char n[CLI_NUMBER_BYTES];
    add(to, "; %s object%s in ", cli_number(f->objects, true, n), gcd_plural(f->objects));
    add_mebibytes(to, "", f->trace.bytes, " of events, ");
    if (f->trace.lost_events > 0)
        add(to, "%s%s lost", f->trace.loss_verified ? "" : "at least ",
            cli_number(f->trace.lost_events, true, n));
    else
        add(to, f->trace.loss_verified ? "none lost" : "lost ones unknown");
}

/* The largest memory of all measurements: on a busy machine the process may peak between two
 * samples. */
static uint64_t peak_of(const struct live *l, const struct live_attempt *a)
{
    uint64_t peak = a->rss_peak > l->memory.rss_bytes ? a->rss_peak : l->memory.rss_bytes;
    return peak > a->rss_after ? peak : a->rss_after;
}

static void add_memory(struct line *to, const struct live *l, const struct live_attempt *a)
{
    const struct gcd_process_memory *m = &gcd_dump_summary(a->dump)->memory;
    if (l->memory.rss_bytes == 0) {
        add(to, "; memory unknown");
        return;
    }
    add_mebibytes(to, "; memory ", l->memory.rss_bytes, "");
    add_mebibytes(to, ", peak ", peak_of(l, a), "");
    if (a->rss_after != 0)
        add_mebibytes(to, ", after ", a->rss_after, "");
    else
        add(to, ", after unknown");
    if (m->gc_known)
        add_mebibytes(to, "; GC heap before ", m->gc_bytes, "");
}

static void add_means(struct line *to, const struct live_attempt *a)
{
    add(to, "; %s, %s, buffer %" PRIu32 " MiB", gcd_ipc_strategy_name(a->result.strategy),
        a->result.command != NULL ? a->result.command : "no session", a->buffer_mb);
    add(to, "; %.1f s", (double)a->duration_ms / 1000);
}

static void say_native(const struct live *l, const struct gcd_summary *f)
{
    struct line line = { "" };
    if (gcd_is_native(&f->memory) &&
        gcd_process_memory_text(&f->memory, line.text, sizeof line.text) > 0)
        cli_say(l->subject, "%s", line.text);
}

void live_say_attempt(const struct live *l, const struct live_attempt *a)
{
    struct line line = { "" };
    const struct gcd_summary *f = gcd_dump_summary(a->dump);
    add(&line, "attempt %u: ", a->number);
    add_pause(&line, f);
    add_stream(&line, f);
    add_means(&line, a);
    cli_say(l->subject, "%s", line.text);
}

static void say_values(const struct live *l, const struct gcd_summary *f)
{
    char text[CLI_VALUES_BYTES];
    if (f->values.kind != GCD_VALUES_NONE)
        cli_say(l->subject, "values: %s", cli_values_text(&f->values, text));
    if (f->null_maps.known || (f->image.with_places && l->args->dump.fields == CLI_FIELDS_EXACT))
        cli_say(l->subject, "fields: %s", cli_fields_text(f, text));
}

/* What a user wants to know first. */
/* Native AOT: the symbols have them, and are read later. */
static bool lacks_only_names(const struct gcd_summary *f)
{
    return f->verdict.reason_count == 1 && f->types_undescribed == 0 &&
           f->verdict.reasons[0].code == GCD_REASON_TYPES_UNDESCRIBED;
}

static void add_outcome(struct line *to, const struct gcd_summary *f, uint64_t duration_ms)
{
    char n[CLI_NUMBER_BYTES];
    add(to, "; %s object%s, ", cli_number(f->objects, true, n), gcd_plural(f->objects));
    if (f->trace.lost_events > 0)
        add(to, "%s%s event%s lost", f->trace.loss_verified ? "" : "at least ",
            cli_number(f->trace.lost_events, true, n), gcd_plural(f->trace.lost_events));
    else
        add(to, f->verdict.complete   ? "complete"
                : lacks_only_names(f) ? "without names"
                                      : "incomplete");
    add(to, "; %.1f s", (double)duration_ms / 1000);
}

static void say_outcome(const struct live *l, const struct live_attempt *a)
{
    struct line line = { "" };
    const struct gcd_summary *f = gcd_dump_summary(a->dump);
    char n[CLI_NUMBER_BYTES];
    if (f->pause_ns == 0)
        add(&line, "pause unknown");
    else
        add(&line, "paused %s ms", cli_number(rounded_ms(f->pause_ns), true, n));
    add_outcome(&line, f, a->duration_ms);
    if (a->refused) /* the whole reason follows */
        add(&line, "; %s (EPERM)",
            cli_values_wanted(l->args) != GCD_VALUES_NONE ? "values: none" : "fields: not exact");
    cli_say(l->subject, "%s", line.text);
}

void live_say_summary(const struct live *l, const struct live_attempt *a)
{
    struct line line = { "" };
    const struct gcd_summary *f = gcd_dump_summary(a->dump);
    say_outcome(l, a);
    if (l->args->verbose) {
        add_pause(&line, f);
        add_stream(&line, f);
        add_memory(&line, l, a);
        add_means(&line, a);
        cli_say(l->subject, "%s", line.text);
    }
    say_values(l, f);
    say_native(l, f);
}

void live_say_direct(const struct live *l, const struct gcd_dump *d,
                     const struct gcd_direct_result *r, uint64_t duration_ms)
{
    struct line line = { "" };
    char a[CLI_NUMBER_BYTES], b[CLI_NUMBER_BYTES];
    const struct gcd_summary *f = gcd_dump_summary(d);
    add(&line, "stopped %s ms", cli_number(rounded_ms(r->stop_ns), true, a));
    if (r->tries > 1)
        add(&line, " (%u tries, %s ms before)", r->tries,
            cli_number(rounded_ms(r->stopped_before_ns), true, b));
    add(&line, ", no garbage collection");
    add_outcome(&line, f, duration_ms);
    cli_say(l->subject, "%s", line.text);
    if (l->args->verbose) {
        line.text[0] = '\0';
        add_mebibytes(&line, "", r->heap_bytes, " of heap");
        if (f->memory.resident_bytes != 0)
            add_mebibytes(&line, "; memory ", f->memory.resident_bytes, "");
        if (f->memory.gc_known)
            add_mebibytes(&line, "; GC heap ", f->memory.gc_bytes, "");
        add(&line, "; direct%s%s", r->folder != NULL ? ", copied to " : "",
            r->folder != NULL ? r->folder : "");
        cli_say(l->subject, "%s", line.text);
    }
    say_values(l, f);
    say_native(l, f);
}

#endif
