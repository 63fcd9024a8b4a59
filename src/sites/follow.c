#include "sites/follow.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define SAMPLED_EVERY 102400.0 /* the runtime's mean distance, in bytes */
#define YOUNGER       UINT8_MAX
#define GEN_OLD       2u
/* Ticks of .NET 8 to 10 report LOH objects up to 32 bytes, POH objects 24 bytes off (measured). */
#define LARGE_SLACK 64u
/* What one epoch can hold; runtimes end it after 10 MB of events. */
#define EPOCH_BYTES_MAX ((size_t)1 << 30)
#define ITEMS_MAX       ((size_t)1 << 27)
#define TEXT_BYTES_MAX  (UINT64_C(1) << 28)

void follow_init(struct follow *f, const struct gcd_alloc *alloc)
{
    *f = (struct follow){ .alloc = gcd_alloc_or_default(alloc), .gc_end_ns = INT64_MIN };
    gcd_idmap_init(&f->stack_by_hash, &f->alloc);
    gcd_idmap_init(&f->total_by_key, &f->alloc);
    gcd_idmap_init(&f->type_names, &f->alloc);
    gcd_idmap_init(&f->thread_index, &f->alloc);
    gcd_textpool_init(&f->texts, &f->alloc, TEXT_BYTES_MAX);
}

void follow_done(struct follow *f)
{
    const struct gcd_alloc *a = &f->alloc;
    gcd_mem_free(a, f->waiting, f->waiting_cap * sizeof *f->waiting);
    gcd_mem_free(a, f->payloads, f->payload_cap);
    gcd_mem_free(a, f->addresses, f->address_cap * sizeof *f->addresses);
    gcd_mem_free(a, f->stacks, f->stack_cap * sizeof *f->stacks);
    gcd_mem_free(a, f->totals, f->total_cap * sizeof *f->totals);
    gcd_mem_free(a, f->samples, f->sample_cap * sizeof *f->samples);
    gcd_mem_free(a, f->names, f->name_cap * sizeof *f->names);
    gcd_mem_free(a, f->layout, f->layout_cap * sizeof *f->layout);
    gcd_mem_free(a, f->reuses, f->reuse_cap * sizeof *f->reuses);
    gcd_mem_free(a, f->thread_ns, f->thread_cap * sizeof *f->thread_ns);
    struct follow_ranges *ranges[] = { &f->foreground.ranges, &f->background.ranges, &f->filled };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        gcd_mem_free(a, ranges[i]->items, ranges[i]->cap * sizeof *ranges[i]->items);
    gcd_idmap_done(&f->stack_by_hash);
    gcd_idmap_done(&f->total_by_key);
    gcd_idmap_done(&f->type_names);
    gcd_idmap_done(&f->thread_index);
    gcd_textpool_done(&f->texts);
}

static gcd_status no_room(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "following sampled objects");
}

#define GROW(f, items, cap, need) \
    gcd_vec_reserve(&(f)->alloc, &(items), &(cap), (need), sizeof *(items), ITEMS_MAX)

/* ---- samples ---- */

/* 1 - exp(-size / 102400): a short series, then p(2x) = p(x) (2 - p(x)). */
double follow_chance(uint64_t size)
{
    double x = (double)size / SAMPLED_EVERY;
    unsigned doublings = 0;
    if (x > 40)
        return 1;
    for (; x > 0.01; x /= 2)
        doublings++;
    double p = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
    for (; doublings > 0; doublings--)
        p *= 2 - p;
    return p;
}

/* The number of a stack of COUNT addresses at P. */
static gcd_status intern_stack(struct follow *f, const uint8_t *p, size_t bytes, uint32_t *ret,
                               struct gcd_error *err)
{
    size_t count = bytes / f->ptr_bytes;
    uint64_t hash = gcd_text_hash((const char *)p, bytes, GCD_TEXT_HASH);
    uint32_t head = gcd_idmap_get(&f->stack_by_hash, hash);
    for (uint32_t i = head; i != GCD_SITE_NONE; i = f->stacks[i].next) {
        bool same = f->stacks[i].count == count;
        for (size_t k = 0; k < count && same; k++)
            same =
                f->addresses[f->stacks[i].off + k] == gcd_leptr(p + k * f->ptr_bytes, f->ptr_bytes);
        if (same) {
            *ret = i;
            return GCD_OK;
        }
    }
    if (!GROW(f, f->addresses, f->address_cap, f->address_count + count) ||
        !GROW(f, f->stacks, f->stack_cap, f->stack_count + 1) ||
        !gcd_idmap_put(&f->stack_by_hash, hash, (uint32_t)f->stack_count))
        return no_room(err);
    f->stacks[f->stack_count] = (struct follow_stack){ .off = (uint32_t)f->address_count,
                                                       .count = (uint32_t)count,
                                                       .next = head };
    for (size_t k = 0; k < count; k++)
        f->addresses[f->address_count++] = gcd_leptr(p + k * f->ptr_bytes, f->ptr_bytes);
    *ret = (uint32_t)f->stack_count++;
    return GCD_OK;
}

/* The number of a type, in f->names. */
static gcd_status intern_type(struct follow *f, uint64_t type_id, const uint8_t *name, size_t units,
                              uint32_t *ret, struct gcd_error *err)
{
    uint32_t i = gcd_idmap_get(&f->type_names, type_id);
    if (i == GCD_IDMAP_NONE) {
        i = (uint32_t)f->name_count;
        if (!GROW(f, f->names, f->name_cap, f->name_count + 1))
            return no_room(err);
        gcd_status st = gcd_textpool_add_utf16(&f->texts, name, units, &f->names[i]);
        if (st == GCD_E_LIMIT)
            return gcd_fail(err, st, "the names of the sampled types are too long");
        if (st != GCD_OK || !gcd_idmap_put(&f->type_names, type_id, i))
            return no_room(err);
        f->name_count++;
    }
    *ret = i;
    return GCD_OK;
}

static gcd_status find_total(struct follow *f, uint32_t stack, uint64_t type_id, uint32_t type,
                             uint32_t *ret, struct gcd_error *err)
{
    uint64_t key = (uint64_t)stack << 32 | type;
    *ret = gcd_idmap_get(&f->total_by_key, key);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    if (!GROW(f, f->totals, f->total_cap, f->total_count + 1) ||
        !gcd_idmap_put(&f->total_by_key, key, (uint32_t)f->total_count))
        return no_room(err);
    f->totals[f->total_count] =
        (struct follow_total){ .stack = stack, .type_id = type_id, .type = f->names[type] };
    *ret = (uint32_t)f->total_count++;
    return GCD_OK;
}

/*
 * AllocationSampled {kind u32, CLR instance u16, type P, name z, address P, size u64, ...};
 * GCAllocationTick V4 {amount u32, kind u32, CLR instance u16, amount u64, type P, name z, heap
 * u32, address P, size u64}.
 */
static gcd_status apply_sample(struct follow *f, const struct follow_waiting *w,
                               const uint8_t *payload, struct gcd_error *err)
{
    struct gcd_cur c = gcd_cur_make(payload, w->bytes, 0);
    bool tick = w->id == GCD_EV_ALLOCATION_TICK;
    struct follow_sample s = { .time_ns = gcd_sort_number(w->time) };
    size_t units;
    s.born_ns = s.time_ns;
    if (tick)
        gcd_cur_skip(&c, 4);
    uint32_t kind = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 2);
    uint64_t amount = tick ? gcd_cur_u64(&c) : 0;
    uint64_t type_id = gcd_cur_ptr(&c, f->ptr_bytes);
    const uint8_t *name = gcd_cur_utf16z(&c, &units);
    if (tick)
        gcd_cur_skip(&c, 4);
    s.address = gcd_cur_ptr(&c, f->ptr_bytes);
    s.size_bytes = gcd_cur_u64(&c);
    if (c.err != GCD_OK || s.size_bytes == 0 || s.size_bytes > UINT64_MAX / 4) {
        f->gaps++; /* damaged: as if it were missing */
        return GCD_OK;
    }
    s.kind = (uint8_t)(kind > 2 ? 0 : kind);
    if (s.kind != 0) {
        if (!GROW(f, f->reuses, f->reuse_cap, f->reuse_count + 1))
            return no_room(err);
        f->reuses[f->reuse_count++] =
            (struct follow_reuse){ .address = s.address, .time_ns = s.time_ns };
    }
    if (w->late)
        return GCD_OK;
    s.bytes = tick ? (double)(amount > s.size_bytes ? amount : s.size_bytes)
                   : (double)s.size_bytes / follow_chance(s.size_bytes);
    uint32_t type = 0;
    GCD_TRY(intern_type(f, type_id, name, units, &type, err));
    GCD_TRY(find_total(f, w->stack, type_id, type, &s.total, err));
    if (!GROW(f, f->samples, f->sample_cap, f->sample_count + 1))
        return no_room(err);
    struct follow_total *t = &f->totals[s.total];
    t->samples++;
    t->bytes += s.bytes;
    t->objects += s.bytes / (double)s.size_bytes;
    f->samples[f->sample_count++] = s;
    f->source = tick ? GCD_SITE_TICKS : GCD_SITE_RANDOM;
    return GCD_OK;
}

/* ---- generations ---- */

static bool sort_layout(struct follow *f)
{
    if (!f->layout_sorted &&
        !gcd_sort_by_u64(&f->alloc, f->layout, f->layout_count, sizeof *f->layout))
        return false;
    f->layout_sorted = true;
    return true;
}

/* 0 where no range is known: new memory is young. */
static uint8_t generation_of(const struct follow *f, uint64_t address)
{
    size_t n = gcd_count_up_to(f->layout, f->layout_count, sizeof *f->layout, address);
    const struct follow_layout *l = n > 0 ? &f->layout[n - 1] : NULL;
    return l != NULL && address - l->start < l->bytes ? l->generation : 0;
}

static bool is_condemned(uint8_t generation, uint32_t depth)
{
    return generation != YOUNGER && (depth >= GEN_OLD || generation <= depth);
}

/* Gives the samples that G can have seen their generation before it. */
static bool classify(struct follow *f, struct follow_gc *g)
{
    if (g->classified)
        return true;
    g->classified = true;
    f->layout_open = false;
    if (!sort_layout(f))
        return false;
    for (size_t i = 0; i < f->sample_count; i++) {
        struct follow_sample *s = &f->samples[i];
        uint8_t generation = s->time_ns < g->start_ns ? generation_of(f, s->address) : YOUNGER;
        if (g->type == GCD_GC_BACKGROUND)
            s->background = generation;
        else
            s->generation = generation;
    }
    return true;
}

static gcd_status apply_layout(struct follow *f, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_range r;
    if (gcd_clr_range(ev, &r) != GCD_OK) {
        follow_lose(f, GEN_OLD);
        return GCD_OK;
    }
    if (!f->layout_open)
        f->layout_count = 0;
    f->layout_open = true;
    f->layout_sorted = false;
    uint64_t bytes = r.reserved_bytes > r.used_bytes ? r.reserved_bytes : r.used_bytes;
    if (!GROW(f, f->layout, f->layout_cap, f->layout_count + 1))
        return no_room(err);
    f->layout[f->layout_count++] =
        (struct follow_layout){ .start = r.start, .bytes = bytes, .generation = r.generation };
    return GCD_OK;
}

/* ---- loss ---- */

static void count_end(struct follow *f, const struct follow_sample *s, bool dead)
{
    struct follow_total *t = &f->totals[s->total];
    t->dead += dead;
    t->died += dead && f->doubted;
    t->lost += !dead;
    f->dead += dead;
    f->lost += !dead;
}

void follow_lose(struct follow *f, uint32_t depth)
{
    size_t kept = 0;
    if (!sort_layout(f))
        depth = GEN_OLD;
    for (size_t i = 0; i < f->sample_count; i++) {
        const struct follow_sample *s = &f->samples[i];
        if (is_condemned(generation_of(f, s->address), depth))
            count_end(f, s, false);
        else
            f->samples[kept++] = *s;
    }
    f->sample_count = kept;
}

/* Events of THREAD are missing between its last event and this one at NOW: a collection at that
 * time is not known completely. */
static gcd_status apply_gap(struct follow *f, const struct follow_waiting *w, struct gcd_error *err)
{
    uint32_t i = gcd_idmap_get(&f->thread_index, w->thread);
    int64_t since = i != GCD_IDMAP_NONE ? f->thread_ns[i] : INT64_MIN;
    if (w->gap != 0) {
        f->gaps += w->gap != GCD_GAP_DISORDER ? w->gap : 1;
        if (f->foreground.open || f->background.open ||
            (f->gc_end_ns != INT64_MIN && f->gc_end_ns >= since))
            follow_lose(f, GEN_OLD);
    }
    if (i == GCD_IDMAP_NONE) {
        i = (uint32_t)f->thread_count;
        if (!GROW(f, f->thread_ns, f->thread_cap, f->thread_count + 1) ||
            !gcd_idmap_put(&f->thread_index, w->thread, i))
            return no_room(err);
        f->thread_count++;
    }
    f->thread_ns[i] = gcd_sort_number(w->time);
    return GCD_OK;
}

/* ---- collections ---- */

static void apply_start(struct follow *f, const struct gcd_event *ev)
{
    struct gcd_clr_gc_start s;
    if (gcd_clr_gc_start(ev, &s) != GCD_OK) {
        follow_lose(f, GEN_OLD);
        return;
    }
    f->over = f->last_number != 0 && s.number > f->last_number;
    if (f->over)
        return;
    struct follow_gc *g = s.type == GCD_GC_BACKGROUND ? &f->background : &f->foreground;
    if (g->open || (f->numbered && s.number != f->number + 1))
        follow_lose(f, GEN_OLD); /* an end, or a whole collection, is missing */
    if (!f->numbered)
        f->first_number = s.number;
    f->numbered = true;
    f->number = s.number;
    f->full_began = f->full_began || s.depth >= GEN_OLD;
    *g = (struct follow_gc){ .open = true,
                             .number = s.number,
                             .depth = s.depth,
                             .type = s.type,
                             .start_ns = ev->time_ns,
                             .ranges = g->ranges };
    g->ranges.count = 0;
    f->layout_open = false; /* its own follow */
}

/* GCBulkSurvivingObjectRanges {index u32, count u32, instance u16, {base P, length u64}};
 * GCBulkMovedObjectRanges: {old P, new P, length u64}. */
static gcd_status apply_ranges(struct follow *f, const struct gcd_event *ev, struct gcd_error *err)
{
    struct follow_gc *g = f->foreground.open ? &f->foreground : &f->background;
    bool moved = ev->id == GCD_EV_MOVED_RANGES;
    struct gcd_cur c = gcd_clr_payload(ev);
    size_t item = ev->ptr_bytes * (moved ? 2u : 1u) + 8;
    gcd_cur_skip(&c, 4);
    uint32_t count = gcd_cur_u32(&c);
    gcd_cur_skip(&c, 2);
    const uint8_t *p = gcd_cur_array(&c, count, item);
    /* of a collection that began before the recording: a background one can have others in it */
    if (!f->numbered || (!g->open && !f->full_began))
        return GCD_OK;
    if (c.err != GCD_OK || !g->open) {
        follow_lose(f, GEN_OLD);
        return GCD_OK;
    }
    if (!classify(f, g) || !GROW(f, g->ranges.items, g->ranges.cap, g->ranges.count + count))
        return no_room(err);
    for (uint32_t i = 0; i < count; i++, p += item) {
        struct follow_range r = { .start = gcd_leptr(p, ev->ptr_bytes) };
        r.to = moved ? gcd_leptr(p + ev->ptr_bytes, ev->ptr_bytes) : r.start;
        r.bytes = gcd_le64(p + item - 8);
        g->ranges.items[g->ranges.count++] = r;
    }
    return GCD_OK;
}

/* The range of G that holds the whole object; NULL = none. */
static const struct follow_range *range_of(const struct follow_ranges *ranges,
                                           const struct follow_sample *s, bool ticks)
{
    size_t n = gcd_count_up_to(ranges->items, ranges->count, sizeof *ranges->items, s->address);
    uint64_t size = (s->size_bytes + 7) & ~UINT64_C(7);
    if (ticks && s->kind != 0)
        size = size > LARGE_SLACK ? size - LARGE_SLACK : 0;
    if (n == 0)
        return NULL;
    const struct follow_range *r = &ranges->items[n - 1];
    uint64_t at = s->address - r->start;
    return at < r->bytes && size <= r->bytes - at ? r : NULL;
}

/* A large object has died if a later sample has its address: what a background collection frees is
 * used again before it reports what survives. */
static bool drop_reused(struct follow *f)
{
    size_t kept = 0;
    if (f->reuse_count == 0)
        return true;
    if (!gcd_sort_by_u64(&f->alloc, f->reuses, f->reuse_count, sizeof *f->reuses))
        return false;
    for (size_t i = 0; i < f->sample_count; i++) {
        const struct follow_sample *s = &f->samples[i];
        size_t n = gcd_count_up_to(f->reuses, f->reuse_count, sizeof *f->reuses, s->address);
        const struct follow_reuse *last = n > 0 ? &f->reuses[n - 1] : NULL;
        if (last != NULL && last->address == s->address && last->time_ns > s->time_ns)
            count_end(f, s, true);
        else
            f->samples[kept++] = *s;
    }
    f->sample_count = kept;
    f->reuse_count = 0;
    return true;
}

/* Finds the memory that G moves objects to. */
static bool list_filled(struct follow *f, const struct follow_gc *g)
{
    struct follow_ranges *to = &f->filled;
    to->count = 0;
    if (!GROW(f, to->items, to->cap, g->ranges.count))
        return false;
    for (size_t i = 0; i < g->ranges.count; i++)
        if (g->ranges.items[i].to != g->ranges.items[i].start)
            to->items[to->count++] = (struct follow_range){ .start = g->ranges.items[i].to,
                                                            .bytes = g->ranges.items[i].bytes };
    return gcd_sort_by_u64(&f->alloc, to->items, to->count, sizeof *to->items);
}

/* An old object has died before G if another one is moved to its memory: a background collection
 * frees memory before it reports what survives. */
static bool is_overwritten(const struct follow *f, const struct follow_sample *s)
{
    const struct follow_ranges *to = &f->filled;
    size_t n = gcd_count_up_to(to->items, to->count, sizeof *to->items, s->address);
    return n > 0 && s->generation != YOUNGER &&
           s->address - to->items[n - 1].start < to->items[n - 1].bytes;
}

/* Judges the samples that G has condemned. */
static gcd_status judge(struct follow *f, struct follow_gc *g, struct gcd_error *err)
{
    bool background = g->type == GCD_GC_BACKGROUND;
    if (!drop_reused(f) || !classify(f, g) || !list_filled(f, g) ||
        !gcd_sort_by_u64(&f->alloc, g->ranges.items, g->ranges.count, sizeof *g->ranges.items))
        return no_room(err);
    size_t kept = 0;
    for (size_t i = 0; i < f->sample_count; i++) {
        struct follow_sample s = f->samples[i];
        /* a background collection reports everything that is not free, but decides about old
         * objects only */
        bool judged = background ? s.background != YOUNGER && s.background >= GEN_OLD
                                 : is_condemned(s.generation, g->depth);
        const struct follow_range *r =
            judged ? range_of(&g->ranges, &s, f->source == GCD_SITE_TICKS) : NULL;
        if (judged && r == NULL) {
            count_end(f, &s, g->ranges.count > 0); /* without any range, they did not arrive */
            continue;
        }
        if (!judged && is_overwritten(f, &s)) {
            count_end(f, &s, true);
            continue;
        }
        if (r != NULL)
            s.address += r->to - r->start;
        f->samples[kept++] = s;
    }
    f->sample_count = kept;
    f->collections++;
    return GCD_OK;
}

static gcd_status apply_end(struct follow *f, const struct gcd_event *ev, struct gcd_error *err)
{
    uint32_t number;
    gcd_status st = gcd_clr_gc_end(ev, &number);
    struct follow_gc *g = f->foreground.open && f->foreground.number == number   ? &f->foreground
                          : f->background.open && f->background.number == number ? &f->background
                                                                                 : NULL;
    if (st == GCD_OK && g == NULL && (!f->numbered || number < f->first_number))
        return GCD_OK; /* it began before the recording: no sample is older */
    if (g == NULL) {
        follow_lose(f, GEN_OLD);
        return GCD_OK;
    }
    GCD_TRY(judge(f, g, err));
    g->open = false;
    f->layout_open = false;
    f->gc_end_ns = ev->time_ns;
    if (g->type != GCD_GC_BACKGROUND)
        f->finished = number;
    return GCD_OK;
}

void follow_pass(struct follow *f, uint32_t number, uint32_t depth, bool compacts)
{
    f->number = f->numbered && f->number > number ? f->number : number;
    f->numbered = true;
    if (depth < GEN_OLD) {
        follow_lose(f, depth);
        return;
    }
    f->doubted = true;
    /* young objects become old, at another place */
    size_t kept = 0;
    if (!sort_layout(f))
        compacts = true;
    for (size_t i = 0; i < f->sample_count; i++) {
        const struct follow_sample *s = &f->samples[i];
        bool stays = s->kind != 0 || (!compacts && generation_of(f, s->address) >= GEN_OLD);
        if (stays)
            f->samples[kept++] = *s;
        else
            count_end(f, s, false);
    }
    f->sample_count = kept;
}

/* ---- events in order ---- */

static gcd_status apply(struct follow *f, const struct follow_waiting *w, struct gcd_error *err)
{
    const uint8_t *payload = w->bytes > 0 ? f->payloads + w->off : NULL;
    struct gcd_event ev = { .provider = GCD_PROVIDER_RUNTIME,
                            .id = w->id,
                            .version = w->version,
                            .time_ns = gcd_sort_number(w->time),
                            .ptr_bytes = f->ptr_bytes,
                            .payload = payload,
                            .payload_bytes = w->bytes };
    GCD_TRY(apply_gap(f, w, err));
    switch (w->id) {
    case GCD_EV_GC_START:
        apply_start(f, &ev);
        return GCD_OK;
    case GCD_EV_GC_END:
        return apply_end(f, &ev, err);
    case GCD_EV_GENERATION_RANGE:
        return apply_layout(f, &ev, err);
    case GCD_EV_SURVIVING_RANGES:
    case GCD_EV_MOVED_RANGES:
        return apply_ranges(f, &ev, err);
    case GCD_EV_ALLOCATION_TICK:
    case GCD_EV_ALLOCATION_SAMPLED:
        return apply_sample(f, w, payload, err);
    default:
        return GCD_OK;
    }
}

gcd_status follow_flush(struct follow *f, struct gcd_error *err)
{
    if (!gcd_sort_by_u64(&f->alloc, f->waiting, f->waiting_count, sizeof *f->waiting))
        return no_room(err);
    for (size_t i = 0; i < f->waiting_count && !f->over; i++)
        GCD_TRY(apply(f, &f->waiting[i], err));
    f->waiting_count = f->payload_bytes = 0;
    return drop_reused(f) ? GCD_OK : no_room(err);
}

gcd_status follow_next_trace(struct follow *f, struct gcd_error *err)
{
    GCD_TRY(follow_flush(f, err));
    f->foreground.open = f->background.open = f->numbered = f->held = f->over = false;
    f->full_began = false;
    f->gc_end_ns = INT64_MIN;
    f->epoch = 0;
    f->window_closed = true;
    f->thread_count = 0;
    gcd_idmap_clear(&f->thread_index);
    for (size_t i = 0; i < f->sample_count; i++)
        f->samples[i].time_ns = INT64_MIN; /* older than all that follows */
    return GCD_OK;
}

static bool is_wanted(const struct follow *f, const struct gcd_event *ev)
{
    bool sample = ev->id == GCD_EV_ALLOCATION_TICK || ev->id == GCD_EV_ALLOCATION_SAMPLED;
    if (sample)
        return true;
    return !f->still && (ev->id == GCD_EV_GC_START || ev->id == GCD_EV_GC_END ||
                         ev->id == GCD_EV_SURVIVING_RANGES || ev->id == GCD_EV_MOVED_RANGES ||
                         ev->id == GCD_EV_GENERATION_RANGE);
}

gcd_status follow_event(struct follow *f, const struct gcd_event *ev, struct gcd_error *err)
{
    bool wanted = ev->provider == GCD_PROVIDER_RUNTIME && is_wanted(f, ev);
    f->ptr_bytes = ev->ptr_bytes;
    if (ev->epoch != f->epoch && !f->held)
        GCD_TRY(follow_flush(f, err));
    f->epoch = ev->epoch;
    struct follow_waiting w = { .time = gcd_sort_key(ev->time_ns),
                                .thread = ev->thread,
                                .id = wanted ? ev->id : 0,
                                .version = ev->version,
                                .gap = ev->gap,
                                .stack = GCD_SITE_NONE,
                                .late = f->window_closed,
                                .off = f->payload_bytes,
                                .bytes = wanted ? ev->payload_bytes : 0 };
    if (w.bytes > EPOCH_BYTES_MAX - f->payload_bytes || f->waiting_count >= ITEMS_MAX)
        return gcd_fail(err, GCD_E_LIMIT, "too many events between two sequence points");
    bool sample = w.id == GCD_EV_ALLOCATION_TICK || w.id == GCD_EV_ALLOCATION_SAMPLED;
    if (sample && !w.late && ev->stack_bytes >= ev->ptr_bytes)
        GCD_TRY(intern_stack(f, ev->stack, ev->stack_bytes, &w.stack, err));
    f->all += sample && !w.late;
    if (!GROW(f, f->waiting, f->waiting_cap, f->waiting_count + 1) ||
        !gcd_vec_reserve(&f->alloc, &f->payloads, &f->payload_cap, f->payload_bytes + w.bytes, 1,
                         EPOCH_BYTES_MAX))
        return no_room(err);
    if (w.bytes > 0)
        memcpy(f->payloads + f->payload_bytes, ev->payload, w.bytes);
    f->payload_bytes += w.bytes;
    f->waiting[f->waiting_count++] = w;
    return GCD_OK;
}
