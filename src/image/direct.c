/*
 * The heap of a living process.
 *
 *     survey      reads the runtime's structures while it runs: where the heap is, and how large
 *     rehearsal   copies the heap while it runs: how long a stop will take; the memory of the copy
 *                 is then there, and what was swapped out is back
 *     stop        no garbage collection? copy the heap, and read what holds objects: handles,
 *                 finalizer queue, stacks
 *     go on       then types, names and references are read: from the copy, and what is not in the
 *                 heap from the process, which does not change it
 *
 * Only types that can be unloaded change: if there are any, another try also copies the memory of
 * their method tables.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <gcdumpc/unstable/process_reader.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/monotonic.h"
#include "base/context.h"
#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "image/clr/clr_dac.h"
#include "image/heap_image.h"
#include "image/space/process_hold.h"
#include "io/attached.h"
#include "io/file.h"
#include "io/spill_file.h"

#define STOP_NS         (2 * GCD_NS_PER_SECOND)
#define STOPS           10u /* in all, times the bound for one */
#define TIMEOUT_NS      (60 * GCD_NS_PER_SECOND)
#define COPY_PAGE_BYTES ((size_t)16384) /* of what is copied beside the heap */
#define HEAD_BYTES      4096u           /* of the copy, before the heap */
#define SPARE_BYTES     (UINT64_C(16) << 20)
#define CHUNK_BYTES     (UINT64_C(8) << 20)
#define COPY_MAX        (UINT64_C(1) << 46)
#define SURVEYS_MAX     20u /* that meet structures while they change */
#define PAUSE_NS        GCD_NS_PER_MS
#define PAUSES_MAX      20u
#define REHEARSALS      3u
#define LEAST_STOP_NS   (5 * GCD_NS_PER_MS)

struct direct {
    const struct gcd_direct_options *options;
    struct gcd_alloc alloc;
    uint32_t pid;
    struct process_hold *hold;
    struct heap_image *heap; /* of the try at hand */
    uint8_t *copy;           /* between tries */
    size_t copy_bytes;
    uint64_t busy_at, state_at; /* addresses of what says that a collection is under way */
    uint64_t start_ns, max_stop_ns, max_total_ns, timeout_ns;
    uint64_t bound_ns; /* of the last stop */
    uint64_t *pages; /* [page_count] sorted: numbers of pages to copy, too */
    size_t page_count, page_cap;
    char why[128]; /* the last try with enough time did not count */
    struct gcd_direct_result result;
};

static int64_t now_unix_ms(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / (long)GCD_NS_PER_MS;
}

/* ---- the copy ---- */

static uint64_t heap_bytes(const struct clr *c)
{
    uint64_t n = 0;
    for (size_t i = 0; i < c->region_count; i++)
        n += c->regions[i].end - c->regions[i].start;
    return n;
}

static void drop_copy(struct direct *d)
{
    if (d->copy != NULL)
        gcd_spill_unmap(d->copy, d->copy_bytes);
    d->copy = NULL;
}

static gcd_status copy_in_file(struct direct *d, size_t n, struct gcd_error *err)
{
    gcd_status st = gcd_fail(err, GCD_E_ARG, "there is no folder for it");
    for (const char *const *f = d->options->folders; f != NULL && *f != NULL; f++) {
        int fd;
        st = gcd_spill_file_open(*f, &fd, err);
        if (st != GCD_OK)
            continue;
        st = gcd_spill_file_room(fd, n, err);
        if (st == GCD_OK)
            st = gcd_spill_file_reserve(fd, n, err);
        if (st == GCD_OK)
            d->copy = gcd_spill_map(fd, n, err);
        (void)gcd_file_close(fd, NULL);
        if (d->copy != NULL) {
            d->result.folder = *f;
            return GCD_OK;
        }
    }
    gcd_error_wrap(err,
                   "its heap of %s bytes does not fit into the memory that may be used, and "
                   "cannot be copied to a file",
                   GCD_DIGITS(heap_bytes(&d->heap->clr)));
    return gcd_is_fatal(st) ? st : GCD_E_LIMIT;
}

/* Does a heap of BYTES fit into the copy, with the pages? */
static bool fits(const struct direct *d, uint64_t bytes)
{
    return HEAD_BYTES + bytes + d->page_count * COPY_PAGE_BYTES <= d->copy_bytes;
}

/* Room for the heap and a quarter, because it grows until it is stopped. */
static gcd_status make_room(struct direct *d, uint64_t bytes, struct gcd_error *err)
{
    uint64_t n = HEAD_BYTES + bytes + bytes / 4 + SPARE_BYTES + d->page_count * COPY_PAGE_BYTES;
    drop_copy(d);
    n = (n + HEAD_BYTES - 1) / HEAD_BYTES * HEAD_BYTES;
    d->copy_bytes = (size_t)n;
    d->result.folder = NULL;
    if (n > d->options->memory_bytes)
        return copy_in_file(d, (size_t)n, err);
    d->copy = gcd_spill_map(-1, (size_t)n, err);
    return d->copy != NULL ? GCD_OK : GCD_E_NOMEM;
}

/* Copies all regions, one behind the other, and returns how many bytes of them are there; it ends
 * early if it takes too long. */
static uint64_t copy_regions(struct direct *d, uint64_t until_ns)
{
    const struct clr *c = &d->heap->clr;
    uint64_t off = HEAD_BYTES, copied = 0;
    for (size_t i = 0; i < c->region_count; i++) {
        const struct clr_region *r = &c->regions[i];
        uint64_t n = r->end - r->start;
        for (uint64_t done = 0, part; done < n && n <= d->copy_bytes - off; done += part) {
            part = n - done < CHUNK_BYTES ? n - done : CHUNK_BYTES;
            if (gcd_clock_ns() >= until_ns || gcd_is_canceled(d->options->context.cancel))
                return copied;
            copied += gcd_process_read(d->heap->reader, r->start + done, d->copy + off + done,
                                       (size_t)part);
        }
        off += n;
    }
    return copied;
}

/* What a container recognises the input by: the head of a core file (elf(5)). */
static void put_head(uint8_t *copy)
{
    static const uint8_t magic[] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
    memset(copy, 0, HEAD_BYTES);
    memcpy(copy, magic, sizeof magic);
    copy[16] = 4;  /* a core file */
    copy[18] = 62; /* of x86-64 */
}

static void add_segment(struct image *m, uint64_t start, uint64_t bytes, uint64_t off)
{
    if (bytes > 0)
        m->segments[m->segment_count++] =
            (struct image_segment){ .start = start, .bytes = bytes, .off = off };
}

/* Copies the pages, too, and the image reads what was copied from here on. */
static gcd_status use_copy(struct direct *d, struct gcd_error *err)
{
    struct heap_image *h = d->heap;
    struct image *m = &h->image;
    struct gcd_input_options options = { .context.alloc = &d->alloc };
    uint64_t off = HEAD_BYTES;
    if (!gcd_vec_reserve(&m->alloc, &m->segments, &m->segment_cap,
                         h->clr.region_count + d->page_count, sizeof *m->segments, SIZE_MAX))
        return gcd_fail_nomem(err, "copying a heap");
    for (size_t i = 0; i < h->clr.region_count; i++) {
        const struct clr_region *r = &h->clr.regions[i];
        add_segment(m, r->start, r->end - r->start, off);
        off += r->end - r->start;
    }
    for (size_t i = 0; i < d->page_count; i++, off += COPY_PAGE_BYTES) {
        uint64_t start = d->pages[i] * COPY_PAGE_BYTES;
        add_segment(m, start, gcd_process_read(h->reader, start, d->copy + off, COPY_PAGE_BYTES),
                    off);
    }
    if (!gcd_sort_by_u64(&m->alloc, m->segments, m->segment_count, sizeof *m->segments))
        return gcd_fail_nomem(err, "copying a heap");
    GCD_TRY(gcd_input_from_memory(d->copy, (size_t)off, &options, &m->in, err));
    put_head(d->copy);
    h->copy = d->copy;
    h->copy_bytes = d->copy_bytes;
    d->copy = NULL;
    image_forget_pages(m);
    return GCD_OK;
}

/* ---- the survey ---- */

static void end_try(struct direct *d)
{
    if (d->heap == NULL)
        return;
    if (d->heap->copy != NULL) {
        d->copy = d->heap->copy;
        d->heap->copy = NULL;
    }
    gcd_input_free(d->heap->image.in);
    heap_image_free(d->heap);
    d->heap = NULL;
}

static gcd_status open_runtime(struct direct *d, struct gcd_error *err)
{
    struct gcd_context context = d->options->context;
    context.alloc = &d->alloc;
    GCD_TRY(heap_image_of_process(d->pid, &context, &d->heap, err));
    struct heap_image *h = d->heap;
    h->options = d->options->image;
    GCD_TRY(heap_image_open(h, err));
    d->busy_at = image_u64(&h->image, h->clr.gc + GC_STRUCTURES_INVALID);
    d->state_at = image_u64(&h->image, h->clr.gc + GC_CURRENT_STATE);
    return GCD_OK;
}

static bool is_gone(const struct direct *d)
{
    uint8_t byte;
    uint64_t at = d->heap->clr.module_base;
    return at != 0 && gcd_process_read(d->heap->reader, at, &byte, 1) == 0;
}

static void pause_for(uint64_t ns)
{
    struct timespec t = { .tv_sec = (time_t)(ns / GCD_NS_PER_SECOND),
                          .tv_nsec = (long)(ns % GCD_NS_PER_SECOND) };
    (void)nanosleep(&t, NULL);
}

/* What it meets may change meanwhile, so that it is wrong. */
static gcd_status survey(struct direct *d, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    for (unsigned i = 0; i < SURVEYS_MAX; i++) {
        end_try(d);
        GCD_TRY(gcd_check_canceled(d->options->context.cancel, err));
        st = open_runtime(d, err);
        if (st == GCD_OK && heap_bytes(&d->heap->clr) > COPY_MAX)
            st = gcd_fail(err, GCD_E_UNSUPPORTED, "its heap cannot be found");
        if (st != GCD_E_UNSUPPORTED || d->heap->clr.dac == 0)
            return st;
        if (is_gone(d))
            return gcd_fail_gone(err);
        pause_for(PAUSE_NS);
    }
    return st;
}

static gcd_status too_long(const struct direct *d, struct gcd_error *err)
{
    return gcd_fail(err, GCD_E_LIMIT,
                    "its heap of %s bytes would take about %" PRIu64 " ms to copy, longer than it "
                    "may be stopped (%" PRIu64 " ms)",
                    GCD_DIGITS(d->result.heap_bytes), d->result.estimate_ns / GCD_NS_PER_MS,
                    d->max_stop_ns / GCD_NS_PER_MS);
}

/* Also gives the copy its memory.  The fastest time counts: others may be busy, too.  But a file
 * may be on a slow disk, and in a small cgroup its pages are written at once, sooner or later:
 * there the slowest time counts, and a copy that takes too long ends at the bound. */
static gcd_status rehearse(struct direct *d, struct gcd_error *err)
{
    uint64_t bytes = heap_bytes(&d->heap->clr);
    if (d->copy != NULL && fits(d, bytes + bytes / 16))
        return GCD_OK;
    GCD_TRY(make_room(d, bytes, err));
    bool in_file = d->result.folder != NULL;
    if (!in_file && !d->options->urgent) /* else its pages are made while the process is stopped */
        memset(d->copy, 0, d->copy_bytes);
    d->result.heap_bytes = bytes;
    if (d->options->urgent)
        return GCD_OK;
    uint64_t *estimate = &d->result.estimate_ns;
    *estimate = in_file ? 0 : UINT64_MAX;
    for (unsigned i = 0; i < REHEARSALS && (*estimate > d->max_stop_ns) != in_file; i++) {
        uint64_t begin = gcd_clock_ns();
        /* a region may be gone meanwhile */
        uint64_t copied = copy_regions(d, in_file ? begin + d->max_stop_ns : UINT64_MAX);
        double share = copied > 0 ? (double)bytes / (double)copied : 1;
        uint64_t ns = (uint64_t)((double)(gcd_clock_ns() - begin) * share);
        *estimate = (ns < *estimate) != in_file ? ns : *estimate;
        GCD_TRY(gcd_check_canceled(d->options->context.cancel, err));
    }
    return d->result.estimate_ns > d->max_stop_ns ? too_long(d, err) : GCD_OK;
}

/* ---- the stop ---- */

static bool is_collecting(const struct direct *d)
{
    uint8_t raw[4];
    const struct gcd_process_reader *r = d->heap->reader;
    if (gcd_process_read(r, d->busy_at, raw, sizeof raw) < sizeof raw || gcd_le32(raw) != 0)
        return true;
    return d->state_at != 0 && gcd_process_read(r, d->state_at, raw, sizeof raw) == sizeof raw &&
           gcd_le32(raw) != GC_STATE_FREE;
}

GCD_PRINTF(2, 3)
static gcd_status again(struct direct *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(d->why, sizeof d->why, fmt, ap);
    va_end(ap);
    return GCD_NEED_MORE;
}

/*
 * The same, for want of time.  The last stops have only what is left of the time for all: that one
 * of them was too short says less than what the stops before it found.
 */
static gcd_status too_short(struct direct *d, const char *why)
{
    if (d->bound_ns < d->max_stop_ns && d->why[0] != '\0')
        return GCD_NEED_MORE;
    return again(d, "%.*s", (int)sizeof d->why - 1, why);
}

/* While the process is stopped. */
static gcd_status take_heap(struct direct *d, uint64_t until_ns, struct gcd_error *err)
{
    struct heap_image *h = d->heap;
    size_t n;
    const struct image_thread *threads = process_hold_threads(d->hold, &n);
    GCD_TRY(process_image_stopped(&h->image, threads, n, err));
    if (is_collecting(d))
        return again(d, "a garbage collection was under way");
    clr_forget_regions(&h->clr);
    h->clr.gaps.collecting = false;
    h->unix_ms = now_unix_ms();
    if (clr_find_regions(&h->clr, err) != GCD_OK)
        return again(d, "the heap could not be found");
    if (!fits(d, heap_bytes(&h->clr))) {
        drop_copy(d); /* the next try gets more */
        return again(d, "the heap had grown by more than a quarter");
    }
    d->result.heap_bytes = heap_bytes(&h->clr);
    if (copy_regions(d, until_ns) < d->result.heap_bytes) {
        if (d->result.folder != NULL)
            d->result.estimate_ns = UINT64_MAX; /* a disk does not get faster */
        return too_short(d, "the heap could not be copied in time");
    }
    GCD_TRY(use_copy(d, err));
    GCD_TRY(clr_find_holes(&h->clr, err));
    return clr_find_roots(&h->clr, err);
}

static uint64_t stop_bound(const struct direct *d)
{
    uint64_t before = d->result.stopped_before_ns + d->result.stop_ns;
    uint64_t left = d->max_total_ns > before ? d->max_total_ns - before : 0;
    return left < d->max_stop_ns ? left : d->max_stop_ns;
}

/* Lets the process go on after ST. */
static gcd_status let_go(struct direct *d, gcd_status st)
{
    uint64_t ns;
    bool held = process_hold_release(d->hold, &ns);
    d->result.stop_ns = ns;
    return st == GCD_OK && !held ? too_short(d, "it could not be stopped for longer") : st;
}

/*
 * Stops the process and takes its heap.  GCD_NEED_MORE: it does not count.  If that is urgent, the
 * process is still stopped after GCD_OK.
 */
static gcd_status stop_once(struct direct *d, struct gcd_error *err)
{
    uint64_t most = d->bound_ns = stop_bound(d);
    struct gcd_error own = GCD_ERROR_INIT;
    d->result.tries++;
    d->result.stopped_before_ns += d->result.stop_ns;
    d->result.stop_ns = 0;
    gcd_status st = process_hold_stop(d->hold, most, &own);
    if (st == GCD_E_PEER && own.reason == GCD_ERROR_TIMEOUT) {
        d->result.stop_ns = most;
        return too_short(d, own.msg);
    }
    if (st != GCD_OK) {
        *err = own;
        return st;
    }
    st = take_heap(d, gcd_clock_ns() + most, err);
    return st == GCD_OK && d->options->urgent ? GCD_OK : let_go(d, st);
}

/* ---- whether to go on ---- */

static gcd_status give_up(const struct direct *d, struct gcd_error *err)
{
    uint64_t all = d->result.stopped_before_ns + d->result.stop_ns;
    return gcd_fail(err, GCD_E_LIMIT,
                    "no copy of its heap counted: it was stopped %u time%s, %" PRIu64
                    " ms in all; the last time %s",
                    d->result.tries, d->result.tries == 1 ? "" : "s", all / GCD_NS_PER_MS, d->why);
}

static bool may_try_again(const struct direct *d)
{
    uint64_t least = d->result.estimate_ns < LEAST_STOP_NS ? LEAST_STOP_NS : d->result.estimate_ns;
    return stop_bound(d) >= least && gcd_clock_ns() - d->start_ns < d->timeout_ns;
}

/* Waits until no garbage collection is under way, as far as one can see without a stop. */
static gcd_status await_quiet(struct direct *d, struct gcd_error *err)
{
    for (unsigned i = 0; is_collecting(d) && gcd_clock_ns() - d->start_ns < d->timeout_ns; i++) {
        GCD_TRY(gcd_check_canceled(d->options->context.cancel, err));
        if (is_gone(d))
            return gcd_fail_gone(err);
        pause_for(PAUSE_NS / 10 * (i < 100 ? 1 : 10));
    }
    return GCD_OK;
}

/* ---- types that can be unloaded ---- */

static bool has_page(const struct direct *d, size_t n, uint64_t number)
{
    size_t before = gcd_count_up_to(d->pages, n, sizeof *d->pages, number);
    return before > 0 && d->pages[before - 1] == number;
}

/* The pages of a method table, and of the description of references before it. */
static gcd_status need_pages(struct direct *d, uint64_t table, struct gcd_error *err)
{
    uint64_t number = table / COPY_PAGE_BYTES;
    if (!gcd_vec_reserve(&d->alloc, &d->pages, &d->page_cap, d->page_count + 2, sizeof *d->pages,
                         SIZE_MAX))
        return gcd_fail_nomem(err, "reading the types of a heap");
    d->pages[d->page_count++] = number - 1;
    d->pages[d->page_count++] = number;
    return GCD_OK;
}

static gcd_status order_pages(struct direct *d, struct gcd_error *err)
{
    size_t kept = 0;
    if (!gcd_sort_by_u64(&d->alloc, d->pages, d->page_count, sizeof *d->pages))
        return gcd_fail_nomem(err, "reading the types of a heap");
    for (size_t i = 0; i < d->page_count; i++)
        if (kept == 0 || d->pages[kept - 1] != d->pages[i])
            d->pages[kept++] = d->pages[i];
    d->page_count = kept;
    return GCD_OK;
}

/* Are all of them in the copy?  If not, the next try will have them. */
static gcd_status check_collectible(struct direct *d, struct gcd_error *err)
{
    const struct clr *c = &d->heap->clr;
    size_t copied = d->page_count;
    for (size_t i = 0; i < c->type_count; i++) {
        const struct clr_type *t = &c->types[i];
        if (t->known && t->collectible && !has_page(d, copied, t->id / COPY_PAGE_BYTES))
            GCD_TRY(need_pages(d, t->id, err));
    }
    if (d->page_count == copied)
        return GCD_OK;
    GCD_TRY(order_pages(d, err));
    return again(d, "it had types that can be unloaded");
}

/* Are they all still loaded?  Then their names are right. */
static gcd_status check_loaded(struct direct *d)
{
    struct heap_image *h = d->heap;
    uint8_t copied[48], now[48];
    for (size_t i = 0; i < h->clr.type_count; i++) {
        const struct clr_type *t = &h->clr.types[i];
        if (t->known && t->collectible &&
            (!image_read(&h->image, t->id, copied, sizeof copied) ||
             gcd_process_read(h->reader, t->id, now, sizeof now) < sizeof now ||
             memcmp(copied, now, sizeof now) != 0))
            return again(d, "types were unloaded while they were read");
    }
    return GCD_OK;
}

/* ---- a try ---- */

/* Has all of the heap been walked? */
static gcd_status check_walk(struct direct *d)
{
    const struct clr *c = &d->heap->clr;
    uint64_t lost = c->walked.bytes + c->gaps.lost_bytes;
    if (lost > 0 || c->gaps.broken_regions > 0 || c->walked.regions > 0)
        return again(d, "%s bytes of its heap could not be walked", GCD_DIGITS(lost));
    return GCD_OK;
}

/* Is it a heap at rest? */
static gcd_status check_heap(struct direct *d, struct gcd_error *err)
{
    struct clr *c = &d->heap->clr;
    const struct clr_gaps *g = &c->gaps;
    if (c->with_dead)
        GCD_TRY(clr_check_dead(c, err));
    if (g->dangling > 0)
        return again(d, "%s reference%s led to nothing", GCD_DIGITS(g->dangling),
                     gcd_plural(g->dangling));
    if (g->unread_tables > 0)
        return again(d, "its handles could not all be read");
    if (g->unread_threads > 0)
        return again(d, "the stacks of its threads could not all be read");
    return check_loaded(d);
}

/* Reads the copy, and what else is needed of the process. */
static gcd_status read_copy(struct direct *d, struct gcd_error *err)
{
    GCD_TRY(clr_walk(&d->heap->clr, err));
    GCD_TRY(check_walk(d));
    GCD_TRY(check_collectible(d, err));
    GCD_TRY(heap_image_read(d->heap, err));
    return check_heap(d, err);
}

static gcd_status try_once(struct direct *d, struct gcd_error *err)
{
    gcd_status st;
    GCD_TRY(survey(d, err));
    GCD_TRY(rehearse(d, err));
    do {
        GCD_TRY(await_quiet(d, err));
        st = stop_once(d, err);
        if (st == GCD_NEED_MORE && d->copy != NULL) {
            if (is_gone(d))
                return gcd_fail_gone(err);
            GCD_TRY(gcd_check_canceled(d->options->context.cancel, err));
            pause_for(PAUSE_NS * (d->result.tries < PAUSES_MAX ? d->result.tries : PAUSES_MAX));
        }
    } while (st == GCD_NEED_MORE && d->copy != NULL && may_try_again(d));
    GCD_TRY(st);
    st = read_copy(d, err);
    return d->options->urgent ? let_go(d, st) : st;
}

/* The input of the accepted heap, which gets everything that D has of it. */
static void give_input(struct direct *d, struct gcd_input **ret)
{
    struct heap_image *h = d->heap;
    h->clr.stop_ns = d->result.stop_ns;
    *ret = h->image.in;
    gcd_input_attach(h->image.in, h, heap_image_free);
    d->heap = NULL;
}

static gcd_status read_directly(struct direct *d, struct gcd_input **ret, struct gcd_error *err)
{
    gcd_status st;
    GCD_TRY(gcd_process_may_trace(d->pid, err));
    GCD_TRY(process_hold_new(d->pid, &d->alloc, &d->hold, err));
    while ((st = try_once(d, err)) == GCD_NEED_MORE) {
        if (!may_try_again(d))
            return give_up(d, err);
        end_try(d);
    }
    if (st == GCD_OK)
        give_input(d, ret);
    return st;
}

static gcd_status estimate(struct direct *d, struct gcd_error *err)
{
    GCD_TRY(gcd_process_may_trace(d->pid, err));
    GCD_TRY(survey(d, err));
    return rehearse(d, err);
}

static struct direct begin(uint32_t pid, const struct gcd_direct_options *options)
{
    uint64_t max_stop_ns = gcd_limit_or(options->max_stop_ns, STOP_NS);
    uint64_t max_total_ns = gcd_limit_or(options->max_stop_total_ns, STOPS * max_stop_ns);
    return (struct direct){ .options = options,
                            .alloc = gcd_alloc_or_default(options->context.alloc),
                            .pid = pid,
                            .start_ns = gcd_clock_ns(),
                            .max_stop_ns = max_stop_ns < max_total_ns ? max_stop_ns : max_total_ns,
                            .max_total_ns = max_total_ns,
                            .timeout_ns = gcd_limit_or(options->timeout_ns, TIMEOUT_NS) };
}

static gcd_status end(struct direct *d, gcd_status st, const struct gcd_error *own,
                      struct gcd_error *err)
{
    process_hold_free(d->hold);
    end_try(d);
    drop_copy(d);
    gcd_mem_free(&d->alloc, d->pages, d->page_cap * sizeof *d->pages);
    if (st != GCD_OK && err != NULL)
        *err = *own;
    return st;
}

gcd_status gcd_input_new_direct(uint32_t pid, const struct gcd_direct_options *options,
                                struct gcd_input **ret, struct gcd_direct_result *ret_result,
                                struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    struct direct d = begin(pid, options);
    gcd_status st = end(&d, read_directly(&d, ret, &own), &own, err);
    *ret_result = d.result;
    return st;
}

gcd_status gcd_direct_estimate(uint32_t pid, const struct gcd_direct_options *options,
                               struct gcd_direct_result *ret_result, struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    struct direct d = begin(pid, options);
    gcd_status st = end(&d, estimate(&d, &own), &own, err);
    *ret_result = d.result;
    return st;
}
