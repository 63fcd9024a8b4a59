#include "sites/recorder.h"

#include <string.h>

#include "base/container.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define GCS_MAX ((size_t)1 << 24)
/* GCSuspendEEBegin: the reason is a background collection. */
#define SUSPEND_FOR_BACKGROUND 6u
#define MECHANISM_COMPACTION   2u /* of GCGlobalHeapHistory */

gcd_status gcd_site_recorder_new(const struct gcd_context *context, struct gcd_site_recorder **ret,
                                 struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(context != NULL ? context->alloc : NULL);
    struct gcd_site_recorder *r = gcd_mem_new(&a, sizeof *r);
    if (r == NULL)
        return gcd_fail_nomem(err, "recording allocations");
    r->alloc = a;
    if (context != NULL)
        r->context = *context;
    r->walk_unix_ms = r->begin_unix_ms = r->first_ns = r->close_ns = r->last_ns =
        r->pause_begin_ns = INT64_MIN;
    follow_init(&r->follow, &r->alloc);
    code_init(&r->code, &r->alloc);
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < GCD_SITE_STREAMS && st == GCD_OK; i++)
        st = gcd_trace_new(&r->context, &r->traces[i], err);
    if (st != GCD_OK) {
        gcd_site_recorder_free(r);
        return st;
    }
    gcd_trace_keep_stacks(r->traces[GCD_SITE_ALLOCATIONS]);
    *ret = r;
    return GCD_OK;
}

void gcd_site_recorder_free(struct gcd_site_recorder *r)
{
    if (r == NULL)
        return;
    struct gcd_alloc a = r->alloc;
    for (size_t i = 0; i < GCD_SITE_STREAMS; i++)
        if (r->traces[i] != NULL)
            gcd_trace_free(r->traces[i]);
    follow_done(&r->follow);
    code_done(&r->code);
    gcd_mem_free(&a, r->gcs, r->gc_cap * sizeof *r->gcs);
    gcd_mem_free(&a, r, sizeof *r);
}

void gcd_site_recorder_close_window(struct gcd_site_recorder *r)
{
    atomic_store(&r->closed, true);
}

void gcd_site_recorder_no_movement(struct gcd_site_recorder *r)
{
    r->follow.still = r->follow.doubted = true;
}

void gcd_site_recorder_hold(struct gcd_site_recorder *r)
{
    atomic_store(&r->held, true);
}

struct gcd_site_progress gcd_site_recorder_progress(const struct gcd_site_recorder *r)
{
    return (struct gcd_site_progress){ .samples = atomic_load(&r->samples),
                                       .background_runs = atomic_load(&r->background_runs),
                                       .longest_pause_ns = atomic_load(&r->longest_pause_ns) };
}

/* ---- allocations ---- */

/* The pauses of background collections, one of which is the runtime's walk for the ranges. */
static void measure_pause(struct gcd_site_recorder *r, const struct gcd_event *ev)
{
    if (ev->id == GCD_EV_SUSPEND_EE_BEGIN && ev->payload_bytes >= 4 &&
        gcd_le32(ev->payload) == SUSPEND_FOR_BACKGROUND) {
        r->pausing_thread = ev->thread;
        r->pause_begin_ns = ev->time_ns;
    } else if (ev->id == GCD_EV_RESTART_EE_END && r->pause_begin_ns != INT64_MIN &&
               ev->thread == r->pausing_thread && ev->time_ns > r->pause_begin_ns) {
        uint64_t ns = (uint64_t)(ev->time_ns - r->pause_begin_ns);
        r->pause_begin_ns = INT64_MIN;
        if (ns > atomic_load(&r->longest_pause_ns))
            atomic_store(&r->longest_pause_ns, ns);
    }
}

static gcd_status take_allocation(struct gcd_site_recorder *r, const struct gcd_event *ev,
                                  struct gcd_error *err)
{
    if (ev->provider == GCD_PROVIDER_RUNTIME) {
        if (r->first_ns == INT64_MIN || ev->time_ns < r->first_ns)
            r->first_ns = ev->time_ns;
        if (ev->time_ns > r->last_ns)
            r->last_ns = ev->time_ns;
        if (!r->follow.window_closed && atomic_load(&r->closed)) {
            r->follow.window_closed = true;
            r->close_ns = r->last_ns;
        }
        measure_pause(r, ev);
    }
    r->follow.held = r->follow.held || atomic_load(&r->held);
    GCD_TRY(follow_event(&r->follow, ev, err));
    atomic_store(&r->samples, r->follow.all);
    return code_event(&r->code, ev, err);
}

/* ---- collections ---- */

/* GCGlobalHeapHistory {u64, heaps u32, generation u32, u32, reason u32, mechanisms u32, ...}. */
static bool history_of(const struct gcd_event *ev, struct recorder_gc *ret)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    gcd_cur_skip(&c, 24);
    ret->compacts = (gcd_cur_u32(&c) & MECHANISM_COMPACTION) != 0;
    return c.err == GCD_OK;
}

/* Foreground collections begin and end while a background one runs. */
static void note_background(struct gcd_site_recorder *r, const struct gcd_event *ev)
{
    struct gcd_clr_gc_start s;
    if (ev->id == GCD_EV_GC_START && gcd_clr_gc_start(ev, &s) == GCD_OK &&
        s.type == GCD_GC_BACKGROUND) {
        r->background_number = s.number;
        atomic_store(&r->background_runs, true);
    } else if (ev->id == GCD_EV_GC_END && ev->payload_bytes >= 4 &&
               gcd_le32(ev->payload) == r->background_number) {
        atomic_store(&r->background_runs, false);
    }
}

static gcd_status take_collection(struct gcd_site_recorder *r, const struct gcd_event *ev,
                                  struct gcd_error *err)
{
    struct recorder_gc gc = { .time = gcd_sort_key(ev->time_ns), .id = ev->id };
    struct gcd_clr_gc_start s;
    if (ev->provider != GCD_PROVIDER_RUNTIME)
        return GCD_OK;
    note_background(r, ev);
    if (ev->id == GCD_EV_GC_START && gcd_clr_gc_start(ev, &s) == GCD_OK) {
        gc.number = s.number;
        gc.depth = s.depth;
        gc.type = s.type;
    } else if (ev->id != GCD_EV_GLOBAL_HEAP_HISTORY || !history_of(ev, &gc)) {
        return GCD_OK;
    }
    if (!gcd_vec_reserve(&r->alloc, &r->gcs, &r->gc_cap, r->gc_count + 1, sizeof *r->gcs, GCS_MAX))
        return gcd_fail_nomem(err, "recording collections");
    r->gcs[r->gc_count++] = gc;
    return GCD_OK;
}

gcd_status gcd_site_recorder_feed(struct gcd_site_recorder *r, enum gcd_site_stream stream,
                                  const void *bytes, size_t n, struct gcd_error *err)
{
    struct gcd_trace *t = r->traces[stream];
    struct gcd_event ev;
    gcd_status st = n > 0 ? gcd_trace_feed(t, bytes, n, err) : GCD_OK;
    if (n == 0)
        gcd_trace_finish(t);
    while (st == GCD_OK && (st = gcd_trace_next(t, &ev, err)) == GCD_OK)
        st = stream == GCD_SITE_ALLOCATIONS ? take_allocation(r, &ev, err)
                                            : take_collection(r, &ev, err);
    return st == GCD_NEED_MORE || st == GCD_END ? GCD_OK : st;
}

/* ---- the end ---- */

/* Puts the mechanisms of collections to their starts, which stay. */
static gcd_status sort_collections(struct gcd_site_recorder *r, struct gcd_error *err)
{
    size_t n = 0, open = SIZE_MAX; /* the last foreground collection, before its mechanisms */
    if (!gcd_sort_by_u64(&r->alloc, r->gcs, r->gc_count, sizeof *r->gcs))
        return gcd_fail_nomem(err, "recording collections");
    for (size_t i = 0; i < r->gc_count; i++) {
        if (r->gcs[i].id == GCD_EV_GC_START) {
            r->gcs[n] = r->gcs[i];
            r->gcs[n].compacts = r->gcs[n].type != GCD_GC_BACKGROUND; /* until it is known */
            open = r->gcs[n].type != GCD_GC_BACKGROUND ? n : open;
            n++;
        } else if (open != SIZE_MAX) {
            r->gcs[open].compacts = r->gcs[i].compacts;
            open = SIZE_MAX;
        }
    }
    r->gc_count = n;
    return GCD_OK;
}

/* Collections after the last followed one, before number END, whose ranges nobody recorded. */
static void pass_collections(struct gcd_site_recorder *r, uint32_t end)
{
    uint32_t from = r->follow.finished + 1;
    size_t k = 0;
    r->follow.doubted = r->follow.background.open;
    for (uint32_t number = from; number < end && r->follow.sample_count > 0; number++) {
        while (k < r->gc_count && r->gcs[k].number < number)
            k++;
        if (k == r->gc_count || r->gcs[k].number != number)
            follow_lose(&r->follow, 2); /* nothing is known about it */
        else if (r->gcs[k].type != GCD_GC_BACKGROUND)
            follow_pass(&r->follow, number, r->gcs[k].depth, r->gcs[k].compacts);
        else if (number > r->follow.background.number)
            r->follow.doubted = true;
    }
}

struct walk_pass {
    struct gcd_input *in;
    uint32_t first; /* the lowest number of a collection; UINT32_MAX = none */
    uint32_t walked;
    int64_t walk_ns; /* when number WALKED began; INT64_MIN = unknown */
};

static void note_start(struct walk_pass *p, const struct gcd_event *ev, uint32_t number)
{
    p->first = number < p->first ? number : p->first;
    if (number == p->walked)
        p->walk_ns = ev->time_ns;
}

/* Follows through the walk's recording, or only notes its collections. */
static gcd_status pass_walk(struct gcd_site_recorder *r, struct walk_pass *p, bool follows,
                            struct gcd_error *err)
{
    struct gcd_trace *t;
    struct gcd_event ev;
    struct gcd_clr_gc_start s;
    struct gcd_context context = r->context;
    context.progress = NULL;
    GCD_TRY(gcd_trace_open(p->in, &context, &t, err));
    gcd_status st = GCD_OK;
    while (st == GCD_OK && (st = gcd_trace_pull(t, context.cancel, &ev, err)) == GCD_OK) {
        if (follows && !r->follow.over)
            st = follow_event(&r->follow, &ev, err);
        else if (ev.provider == GCD_PROVIDER_RUNTIME && ev.id == GCD_EV_GC_START &&
                 gcd_clr_gc_start(&ev, &s) == GCD_OK)
            note_start(p, &ev, s.number);
    }
    struct gcd_trace_info info;
    gcd_trace_get_info(t, &info);
    if (info.start_unix_ms != INT64_MIN && p->walk_ns != INT64_MIN)
        r->walk_unix_ms = info.start_unix_ms + p->walk_ns / 1000000;
    gcd_trace_free(t);
    if (st == GCD_END && follows)
        st = follow_flush(&r->follow, err);
    return st == GCD_END ? GCD_OK : st;
}

gcd_status gcd_site_recorder_walk(struct gcd_site_recorder *r, struct gcd_input *in,
                                  uint32_t gc_number, struct gcd_error *err)
{
    struct walk_pass p = {
        .in = in, .first = UINT32_MAX, .walked = gc_number, .walk_ns = INT64_MIN
    };
    struct gcd_trace_info info;
    for (size_t i = 0; i < GCD_SITE_STREAMS; i++) {
        gcd_status st = gcd_site_recorder_feed(r, (enum gcd_site_stream)i, NULL, 0, err);
        if (st != GCD_OK && st != GCD_E_TRUNCATED && st != GCD_E_FORMAT) /* what came is good */
            return st;
    }
    r->follow.last_number = gc_number;
    GCD_TRY(follow_flush(&r->follow, err));
    gcd_trace_get_info(r->traces[GCD_SITE_ALLOCATIONS], &info);
    r->lost_events = info.lost_events + (info.irregular_steps > 0);
    if (info.start_unix_ms != INT64_MIN && r->first_ns != INT64_MIN)
        r->begin_unix_ms = info.start_unix_ms + r->first_ns / 1000000;
    /* losses that no later event of their threads tells */
    if (!r->follow.still && (info.lost_events > r->follow.gaps || info.end != GCD_TRACE_CLOSED))
        follow_lose(&r->follow, 2);
    GCD_TRY(sort_collections(r, err));
    GCD_TRY(pass_walk(r, &p, false, err));
    if (r->follow.still || r->follow.finished >= gc_number) /* recorded to the end */
        return GCD_OK;
    pass_collections(r, p.first < gc_number ? p.first : gc_number);
    GCD_TRY(follow_next_trace(&r->follow, err));
    return pass_walk(r, &p, true, err);
}
