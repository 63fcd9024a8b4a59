/*
 * A core file as a recording: the container reads the heap of the runtime in it and gives the
 * events of a walk.  What is dead is left out, as in a walk.
 */
#include "image/core_container.h"

#include <inttypes.h>

#include <gcdumpc/unstable/text/plural.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "image/clr/clr_events.h"

struct core {
    struct gcd_trace trace; /* the first: struct gcd_trace */
    struct gcd_alloc alloc;
    struct gcd_input *in;
    struct gcd_context context;
    struct image image;
    struct clr clr;
    struct clr_events events;
    bool opened, ready; /* the image can be closed; the events can be read */
    gcd_status final;
    struct gcd_error error;
    struct gcd_trace_info info;
};

static void core_free(struct gcd_trace *t)
{
    struct core *k = (struct core *)t;
    clr_events_done(&k->events);
    if (k->opened) {
        clr_close(&k->clr);
        image_done(&k->image);
    }
    struct gcd_alloc a = k->alloc;
    gcd_mem_free(&a, k, sizeof *k);
}

static gcd_status core_open(const struct gcd_alloc *alloc, const struct gcd_limits *limits,
                            struct gcd_input *in, struct gcd_trace **ret, struct gcd_error *err)
{
    (void)limits;
    GCD_TRY(gcd_input_make_seekable(in, err));
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct core *k = gcd_mem_new(&a, sizeof *k);
    if (k == NULL)
        return gcd_fail_nomem(err, "opening a core file");
    k->alloc = a;
    k->in = in;
    k->context.alloc = &k->alloc;
    k->error = (struct gcd_error)GCD_ERROR_INIT;
    k->info = (struct gcd_trace_info){ .container = "core",
                                       .ptr_bytes = 8,
                                       .start_unix_ms = INT64_MIN,
                                       .damage_off = GCD_OFF_NONE,
                                       .loss_verified = true,
                                       .numbers_events = true,
                                       .has_sequence_numbers = true };
    *ret = &k->trace;
    return GCD_OK;
}

/* All that comes before the first event. */
static gcd_status prepare(struct core *k, struct gcd_error *err)
{
    GCD_TRY(image_init(&k->image, k->in, &k->alloc, err));
    k->opened = true;
    GCD_TRY(elf_core_read(&k->image, err));
    k->info.process = k->image.process;
    GCD_TRY(clr_open(&k->clr, &k->image, &k->context, &k->alloc, err));
    GCD_TRY(clr_find_regions(&k->clr, err));
    GCD_TRY(clr_find_holes(&k->clr, err));
    GCD_TRY(clr_find_roots(&k->clr, err));
    GCD_TRY(clr_walk(&k->clr, err));
    GCD_TRY(clr_complete_types(&k->clr, err));
    GCD_TRY(clr_name_types(&k->clr, err));
    clr_find_allocators(&k->clr);
    GCD_TRY(clr_mark(&k->clr, err));
    return clr_events_init(&k->events, &k->clr, err);
}

/* The heap is only partly there: why? */
static gcd_status verdict(struct core *k, struct gcd_error *err)
{
    const struct clr_gaps *g = &k->clr.gaps;
    if (g->collecting)
        return gcd_fail(err, GCD_E_TRUNCATED,
                        "the process was in the middle of a garbage collection, so a part of its "
                        "heap cannot be read");
    if (g->lost_bytes > 0)
        return gcd_fail(err, GCD_E_TRUNCATED, "%s bytes of the heap %s", GCD_DIGITS(g->lost_bytes),
                        k->image.cut_off != GCD_OFF_NONE
                            ? "are missing: the core file was cut"
                            : "are missing in the core file, or damaged");
    if (g->broken_regions > 0)
        return gcd_fail(err, GCD_E_TRUNCATED, "%s part%s of the heap cannot be read",
                        GCD_DIGITS(g->broken_regions), g->broken_regions == 1 ? "" : "s");
    if (g->dangling > 0)
        return gcd_fail(err, GCD_E_TRUNCATED,
                        "%s reference%s to nothing: a part of the heap is damaged",
                        GCD_DIGITS(g->dangling), g->dangling == 1 ? " leads" : "s lead");
    if (g->unread_tables > 0)
        return gcd_fail(err, GCD_E_TRUNCATED,
                        "the handles of the process cannot all be read, so objects may be missing");
    return GCD_END;
}

static gcd_status core_stop(struct core *k, gcd_status st)
{
    k->final = st;
    k->info.end = st == GCD_END           ? GCD_TRACE_CLOSED
                  : st == GCD_E_TRUNCATED ? GCD_TRACE_TRUNCATED
                                          : GCD_TRACE_CORRUPT;
    if (st != GCD_END && k->error.off != GCD_OFF_NONE)
        k->info.damage_off = k->error.off;
    return st;
}

static gcd_status core_fetch(struct gcd_trace *t, struct gcd_error *err)
{
    struct core *k = (struct core *)t;
    if (k->final != GCD_OK || k->ready)
        return GCD_END;
    gcd_status st = prepare(k, &k->error);
    k->ready = st == GCD_OK;
    if (st != GCD_OK)
        (void)core_stop(k, st);
    if (st != GCD_OK && st != GCD_E_TRUNCATED && st != GCD_E_FORMAT) {
        if (err != NULL)
            *err = k->error;
        return st;
    }
    return GCD_OK;
}

static gcd_status core_next(struct gcd_trace *t, struct gcd_event *ret, struct gcd_error *err)
{
    struct core *k = (struct core *)t;
    if (k->final == GCD_OK && !k->ready)
        return GCD_NEED_MORE;
    if (k->final == GCD_OK) {
        gcd_status st = clr_events_next(&k->events, ret, &k->error);
        if (st == GCD_OK) {
            k->info.events++;
            k->info.bytes = k->events.off;
            return GCD_OK;
        }
        (void)core_stop(k, st == GCD_END ? verdict(k, &k->error) : st);
    }
    if (k->final < 0 && err != NULL)
        *err = k->error;
    return k->final;
}

static uint64_t core_position(const struct gcd_trace *t)
{
    const struct core *k = (const struct core *)t;
    uint64_t size = gcd_input_size(k->in);
    return k->ready && size != UINT64_MAX ? size / 1000 * clr_events_progress(&k->events) : 0;
}

static void core_get_info(const struct gcd_trace *t, struct gcd_trace_info *ret)
{
    *ret = ((const struct core *)t)->info;
}

static bool core_thread_closed(const struct gcd_trace *t, uint64_t thread)
{
    (void)thread;
    (void)t; /* the one thread of these events loses none */
    return true;
}

const struct gcd_container core_container = {
    .probe = elf_core_probe,
    .open = core_open,
    .free = core_free,
    .fetch = core_fetch,
    .next = core_next,
    .position = core_position,
    .get_info = core_get_info,
    .thread_closed = core_thread_closed,
};
