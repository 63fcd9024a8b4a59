/*
 * A core file as a recording: the container reads the heap of the runtime in it and gives the
 * events of a walk.  The heap of a living process (direct.c) is given in the same way.  What is
 * dead is left out, as in a walk.
 */
#include "image/core_container.h"

#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"
#include "image/clr/clr_events.h"
#include "image/clr/clr_names.h"
#include "image/core_overlay.h"
#include "image/heap_image.h"
#include "io/attached.h"

struct core {
    struct gcd_trace trace; /* the first: struct gcd_trace */
    struct gcd_alloc alloc;
    struct gcd_input *in;
    struct gcd_context context;
    struct heap_image *shared;
    struct clr_events events;
    bool skip_nodes, skip_edges; /* both: sums will do */
    bool ready;                  /* the events can be read */
    gcd_status final;
    struct gcd_error error;
    struct gcd_trace_info info;
};

/* ---- what is shared ---- */

static gcd_status heap_image_of(struct gcd_input *in, struct heap_image **ret,
                                struct gcd_error *err)
{
    *ret = gcd_input_attached(in);
    if (*ret != NULL)
        return GCD_OK;
    GCD_TRY(heap_image_new(gcd_input_alloc(in), ret, err));
    gcd_input_attach(in, *ret, heap_image_free);
    return GCD_OK;
}

gcd_status gcd_input_set_image(struct gcd_input *in, const struct gcd_image_options *options,
                               struct gcd_error *err)
{
    struct heap_image *h;
    GCD_TRY(heap_image_of(in, &h, err));
    if (h->opened)
        return gcd_fail(err, GCD_E_STATE, "the core file has been opened already");
    h->options = *options;
    return GCD_OK;
}

/* The bytes of an input of metadata. */
struct module_bytes {
    struct gcd_alloc alloc;
    uint8_t *bytes;
    size_t n;
};

static void module_bytes_free(void *state)
{
    struct module_bytes *b = state;
    struct gcd_alloc a = b->alloc;
    gcd_mem_free(&a, b->bytes, b->n);
    gcd_mem_free(&a, b, sizeof *b);
}

gcd_status gcd_input_image_module(struct gcd_input *in, uint64_t id, struct gcd_input **ret,
                                  struct gcd_error *err)
{
    struct heap_image *h = gcd_input_attached(in);
    uint32_t number = h != NULL && h->opened && h->st == GCD_OK
                          ? gcd_idmap_get(&h->clr.module_by_id, id)
                          : GCD_IDMAP_NONE;
    struct clr_metadata m;
    if (number == GCD_IDMAP_NONE || !clr_metadata_open(&h->clr, &h->clr.modules[number], &m))
        return GCD_END;
    struct module_bytes *b = gcd_mem_new(&h->alloc, sizeof *b);
    if (b == NULL) {
        clr_metadata_close(&h->clr, &m);
        return gcd_fail_nomem(err, "reading the metadata of a module");
    }
    *b = (struct module_bytes){ h->alloc, m.bytes, m.n };
    *ret = m.in;
    gcd_input_attach(m.in, b, module_bytes_free);
    m.bytes = NULL;
    m.in = NULL;
    clr_metadata_close(&h->clr, &m);
    return GCD_OK;
}

/* Opens the heap; if no runtime is found, also with the memory that the core file leaves out. */
static gcd_status open_heap(struct heap_image *h, struct gcd_error *err)
{
    char lacking[HEAP_IMAGE_LACKING_BYTES];
    bool added;
    gcd_status st = heap_image_open(h, err);
    if (st != GCD_E_UNSUPPORTED || h->clr.dac != 0)
        return st;
    GCD_TRY(core_overlay_runtime(h, &added, lacking, err));
    if (!added && lacking[0] == '\0')
        return st;
    if (!added)
        return gcd_fail(err, GCD_E_UNSUPPORTED,
                        "the core file has no .NET runtime that can be read: %s; --sysroot DIR or "
                        "--modules DIR finds that file",
                        lacking);
    clr_close(&h->clr);
    *err = (struct gcd_error)GCD_ERROR_INIT;
    return heap_image_open(h, err);
}

/* All that comes before the first event. */
static gcd_status prepare(struct heap_image *h, struct gcd_input *in, struct gcd_error *err)
{
    h->opened = true;
    GCD_TRY(image_init(&h->image, in, &h->alloc, err));
    GCD_TRY(elf_core_read(&h->image, err));
    if (h->options.map)
        image_map(&h->image);
    GCD_TRY(open_heap(h, err));
    GCD_TRY(clr_find_holes(&h->clr, err));
    GCD_TRY(clr_find_roots(&h->clr, err));
    GCD_TRY(clr_walk(&h->clr, err));
    return heap_image_read(h, err);
}

static gcd_status prepare_once(struct core *k, struct gcd_error *err)
{
    struct heap_image *h = k->shared;
    h->context = k->context;
    h->context.alloc = &h->alloc;
    if (!h->opened && h->st == GCD_OK) {
        h->st = prepare(h, k->in, &h->error);
        if (h->st == GCD_E_UNSUPPORTED && h->unpacked != GCD_OK) {
            h->st = h->unpacked; /* what is not there may only be damaged */
            h->error = h->unpack_error;
        }
    }
    k->info.process = h->image.process;
    k->info.start_unix_ms = h->unix_ms;
    if (h->st != GCD_OK && err != NULL)
        *err = h->error;
    if (h->st != GCD_OK)
        return h->st;
    GCD_TRY(clr_events_init(&k->events, &h->clr, err));
    k->events.sums_wanted = k->skip_nodes && k->skip_edges;
    k->events.skip_nodes = k->skip_nodes && !k->skip_edges;
    k->events.skip_edges = k->skip_edges;
    return GCD_OK;
}

/* ---- the container ---- */

static void core_free(struct gcd_trace *t)
{
    struct core *k = (struct core *)t;
    clr_events_done(&k->events);
    struct gcd_alloc a = k->alloc;
    gcd_mem_free(&a, k, sizeof *k);
}

static gcd_status core_open(const struct gcd_context *context, struct gcd_input *in,
                            struct gcd_trace **ret, struct gcd_error *err)
{
    struct heap_image *shared;
    struct gcd_error own = GCD_ERROR_INIT;
    gcd_status unpacked = gcd_input_make_seekable(in, &own);
    if (unpacked != GCD_OK && unpacked != GCD_E_TRUNCATED && unpacked != GCD_E_FORMAT) {
        if (err != NULL)
            *err = own;
        return unpacked;
    }
    GCD_TRY(heap_image_of(in, &shared, err));
    if (unpacked != GCD_OK) { /* the copy has what could be unpacked; it is opened again */
        shared->unpacked = unpacked;
        shared->unpack_error = own;
    }
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct core *k = gcd_mem_new(&a, sizeof *k);
    if (k == NULL)
        return gcd_fail_nomem(err, "opening a core file");
    k->alloc = a;
    k->in = in;
    k->shared = shared;
    k->context = *context;
    k->error = (struct gcd_error)GCD_ERROR_INIT;
    k->info = (struct gcd_trace_info){ .container = shared->copy != NULL ? "process" : "core",
                                       .ptr_bytes = 8,
                                       .start_unix_ms = shared->unix_ms,
                                       .damage_off = GCD_OFF_NONE,
                                       .loss_verified = true,
                                       .numbers_events = true,
                                       .has_sequence_numbers = true };
    *ret = &k->trace;
    return GCD_OK;
}

/* The heap is only partly there: why? */
static gcd_status verdict(struct core *k, struct gcd_error *err)
{
    const struct clr_gaps *g = &k->shared->clr.gaps;
    uint64_t lost_bytes = g->lost_bytes + k->events.lost.bytes;
    uint64_t broken_regions = g->broken_regions + k->events.lost.regions;
    if (g->collecting)
        return gcd_fail(err, GCD_E_TRUNCATED,
                        "the process was in the middle of a garbage collection, so a part of its "
                        "heap cannot be read");
    if (lost_bytes > 0)
        return gcd_fail(err, GCD_E_TRUNCATED, "%s bytes of the heap %s", GCD_DIGITS(lost_bytes),
                        k->shared->image.cut_off != GCD_OFF_NONE
                            ? "are missing: the core file was cut"
                            : "are missing in the core file, or damaged");
    if (broken_regions > 0)
        return gcd_fail(err, GCD_E_TRUNCATED, "%s part%s of the heap cannot be read",
                        GCD_DIGITS(broken_regions), broken_regions == 1 ? "" : "s");
    if (g->dangling > 0)
        return gcd_fail(err, GCD_E_TRUNCATED, "%s reference%s to nothing: a %s",
                        GCD_DIGITS(g->dangling), g->dangling == 1 ? " leads" : "s lead",
                        g->in_background ? "garbage collection was under way in the background"
                                         : "part of the heap is damaged");
    if (g->unread_tables > 0)
        return gcd_fail(err, GCD_E_TRUNCATED,
                        "the handles of the process cannot all be read, so objects may be missing");
    if (g->unread_threads > 0)
        return gcd_fail(err, GCD_E_TRUNCATED,
                        "the stack%s of %s thread%s cannot be read, so objects may be missing",
                        g->unread_threads == 1 ? "" : "s", GCD_DIGITS(g->unread_threads),
                        g->unread_threads == 1 ? "" : "s");
    if (k->shared->unpacked != GCD_OK && err != NULL)
        *err = k->shared->unpack_error;
    return k->shared->unpacked != GCD_OK ? k->shared->unpacked : GCD_END;
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
    gcd_status st = prepare_once(k, &k->error);
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

static void core_skip_records(struct gcd_trace *t, bool nodes, bool edges)
{
    struct core *k = (struct core *)t;
    k->skip_nodes = nodes;
    k->skip_edges = edges;
}

static const struct gcd_type_sum *core_sum(const struct gcd_trace *t, size_t i, uint64_t *ret_type)
{
    const struct core *k = (const struct core *)t;
    const struct clr *c = &k->shared->clr;
    if (!k->events.summed || i >= c->type_count)
        return NULL;
    *ret_type = c->types[i].id;
    return &c->types[i].sum;
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
    .skip_records = core_skip_records,
    .sum = core_sum,
};
