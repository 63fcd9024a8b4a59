/*
 * The values of a process, and which of its references are null, read beside its dump.  If they
 * cannot be read, the dump is taken without them.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/unstable/process_reader.h>
#include <gcdumpc/unstable/text/plural.h>
#include <gcdumpc/unstable/values_watch.h>

#include "base/monotonic.h"
#include "input/memory.h"
#include "live/live.h"
#include "signals.h"

#ifdef GCDUMPC_HAVE_IPC

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_MS 2000u

static size_t read_memory(void *ctx, uint64_t address, void *ret, size_t n)
{
    return gcd_process_read(ctx, address, ret, n);
}

static uint64_t now_ns(void *ctx)
{
    (void)ctx;
    return gcd_clock_ns();
}

/* A process in another time namespace has another clock. */
static bool has_our_clock(uint32_t pid)
{
    char path[64], own[64], other[64];
    (void)snprintf(path, sizeof path, "/proc/%" PRIu32 "/ns/time", pid);
    ssize_t a = readlink("/proc/self/ns/time", own, sizeof own);
    ssize_t b = readlink(path, other, sizeof other);
    return a == b && (a < 0 || memcmp(own, other, (size_t)a) == 0); /* a kernel without them */
}

static void keep_reason(struct live_attempt *a, const char *why)
{
    (void)snprintf(a->no_values, sizeof a->no_values, "%s", why);
}

static void give_up(struct live_attempt *a, const char *why)
{
    gcd_values_watch_free(a->watch);
    a->watch = NULL;
    keep_reason(a, why);
}

/* A script looks for the name of the error, whatever the system call was. */
static void fail(struct live_attempt *a, const struct gcd_error *err)
{
    give_up(a, err->msg);
    a->refused = err->reason == GCD_ERROR_PERMISSION;
    if (a->refused)
        (void)snprintf(a->no_values, sizeof a->no_values, "EPERM: %.280s", err->msg);
}

static gcd_status begin(const struct live *l, struct live_attempt *a, struct gcd_error *err)
{
    struct gcd_values_watch_options o = { .context = { .alloc = cli_alloc(),
                                                       .limits = &l->args->limits.input,
                                                       .cancel = &cli_canceled },
                                          .values = { .kind = cli_values_wanted(l->args),
                                                      .max_string =
                                                          (uint32_t)l->args->dump.max_string },
                                          .null_maps = l->args->dump.fields == CLI_FIELDS_EXACT,
                                          .read = read_memory,
                                          .now_ns = now_ns };
    gcd_status st = gcd_process_reader_new(l->pid, cli_alloc(), &a->memory, err);
    if (st == GCD_OK && o.values.kind == GCD_VALUES_ALL) {
        st = gcd_value_source_new(l->pid, &o.context, &a->types, err);
        if (st == GCD_E_UNSUPPORTED) { /* texts need no types: Native AOT */
            o.values.kind = GCD_VALUES_STRINGS;
            keep_reason(a, err->msg);
            st = GCD_OK;
        }
    }
    o.ctx = a->memory;
    o.source = a->types;
    return st == GCD_OK ? gcd_values_watch_new(&o, &a->watch, err) : st;
}

void live_values_begin(const struct live *l, struct live_attempt *a)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (cli_values_wanted(l->args) == GCD_VALUES_NONE && l->args->dump.fields != CLI_FIELDS_EXACT)
        return;
    if (l->pid == 0)
        give_up(a, "which process it is, is not known here");
    else if (begin(l, a, &err) != GCD_OK)
        fail(a, &err);
    else if (!has_our_clock(l->pid)) /* asking needs the same right as reading */
        give_up(a, "the process is in another time namespace");
}

void live_values_take(const struct live *l, struct live_attempt *a, const uint8_t *bytes, size_t n)
{
    struct gcd_error err = GCD_ERROR_INIT;
    uint64_t ms = l->args->live.values_ms != 0 ? l->args->live.values_ms : DEFAULT_MS;
    if (a->watch == NULL)
        return;
    gcd_status st = gcd_values_watch_feed(a->watch, bytes, n, &err);
    if (st == GCD_END && !a->values_read) {
        a->values_read = true;
        st = gcd_values_watch_read(a->watch, ms * 1000000, &err);
    }
    if (st < 0)
        give_up(a, err.msg);
}

void live_values_end(struct live_attempt *a)
{
    struct gcd_error err = GCD_ERROR_INIT;
    if (a->watch != NULL && gcd_values_watch_finish(a->watch, a->dump, &err) != GCD_OK)
        give_up(a, err.msg);
}

void live_values_done(struct live_attempt *a)
{
    gcd_values_watch_free(a->watch);
    gcd_value_source_free(a->types);
    gcd_process_reader_free(a->memory);
}

#endif
