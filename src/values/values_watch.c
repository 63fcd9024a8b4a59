#include <gcdumpc/unstable/values_watch.h>

#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"
#include "clr/clr_gc.h"
#include "values/values.h"

/* A read, and what it may cost to read on over memory that nobody asked for. */
#define READ_BYTES ((size_t)1 << 20)
#define GAP_BYTES  4096u
#define BATCH_MOST (READ_BYTES / STRING_BASE)
/* More than any recording has while memory is read; beyond it nothing is certain. */
#define MARKS_MAX ((size_t)1 << 20)

/* A string: method table u64, length u32, UTF-16, a zero. */
#define STRING_BASE   22u
#define STRING_TEXT   12u
#define STRING_LENGTH 8u
/* In the flags of a method table: objects have components, and how large they are. */
#define HAS_COMPONENTS  UINT32_C(0x80000000)
#define COMPONENT_BYTES 0xffffu

#define FROZEN     3u /* a generation that no collection touches */
#define OLDEST     2u
#define NOT_STRING 1u
#define IS_STRING  2u
#define REASON_GC  1u /* of a suspension; the other is for a background collection */
#define REASON_GC2 6u

/* An event of a collection.  Its time, from the smallest on, comes first: gcd_sort_by_u64. */
struct watched_mark {
    uint64_t at;
    uint32_t depth; /* of the collection */
    enum { MARK_PAUSE, MARK_GC_PAUSE, MARK_COLLECTION } kind;
};
/* What one call read. */
struct watched_batch {
    uint64_t end_ns;
    uint32_t generation;
};
struct watched_string {
    uint64_t address;
    uint32_t units, generation;
};

struct gcd_values_watch {
    struct gcd_alloc alloc;
    struct gcd_values_watch_options options;
    struct gcd_trace *trace;
    struct gcd_idmap types; /* IS_STRING or NOT_STRING */
    uint64_t string_type;   /* 0 = none yet */
    /* the walk: its strings as numbers of seven bits a byte, in the order of their events */
    uint8_t *list;
    size_t list_bytes, list_cap;
    uint64_t last, strings, nodes;
    struct gcd_range *ranges;
    size_t range_count, range_cap;
    uint64_t thread;
    uint32_t gc_number;
    int64_t end_ns; /* of the walk, since the start of the recording */
    bool whole;
    struct gcd_clr_gc_start latest; /* collection */
    /* the collections, before the walk, too: their events come in any order */
    struct watched_mark *marks;
    size_t mark_count, mark_cap;
    /* what was read */
    struct gcd_values *values;
    struct watched_batch *batches;
    size_t batch_count, batch_cap;
    struct watched_string *pending; /* [BATCH_MOST] strings to be read at once */
    size_t pending_count;
    uint8_t *buffer; /* [READ_BYTES] */
    char *text;      /* [VALUES_TEXT_BYTES] */
    uint64_t deadline_ns, read_ns;
    uint64_t changed; /* of the strings read: not what the walk saw */
    bool too_many;    /* marks */
    bool several;     /* types that look like that of strings */
    bool read;
};

/* ---- the walk ---- */

static bool is_string_table(struct gcd_values_watch *w, uint64_t type)
{
    uint8_t head[8];
    return w->options.read(w->options.ctx, type, head, sizeof head) == sizeof head &&
           (gcd_le32(head) & (HAS_COMPONENTS | COMPONENT_BYTES)) == (HAS_COMPONENTS | 2) &&
           gcd_le32(head + 4) == STRING_BASE;
}

static gcd_status is_string(struct gcd_values_watch *w, uint64_t type, bool *ret,
                            struct gcd_error *err)
{
    uint32_t known = gcd_idmap_get(&w->types, type);
    if (known == GCD_IDMAP_NONE) {
        known = is_string_table(w, type) ? IS_STRING : NOT_STRING;
        if (!gcd_idmap_put(&w->types, type, known))
            return gcd_fail_nomem(err, "reading values");
        if (known == IS_STRING) {
            w->several = w->string_type != 0;
            w->string_type = type;
        }
    }
    *ret = known == IS_STRING;
    return GCD_OK;
}

static gcd_status add_string(struct gcd_values_watch *w, const struct gcd_clr_node *node,
                             struct gcd_error *err)
{
    enum { MOST = 20 };
    if (!gcd_vec_reserve(&w->alloc, &w->list, &w->list_cap, w->list_bytes + MOST, 1, SIZE_MAX))
        return gcd_fail_nomem(err, "reading values");
    struct gcd_put p = gcd_put_make(w->list + w->list_bytes, MOST);
    gcd_put_varuint(&p, node->address - w->last);
    gcd_put_varuint(&p, (node->size - STRING_BASE) / 2);
    w->list_bytes += gcd_put_bytes_done(&p);
    w->last = node->address;
    w->strings++;
    return GCD_OK;
}

static void begin_walk(struct gcd_values_watch *w, uint64_t thread)
{
    w->list_bytes = w->range_count = 0;
    w->last = w->strings = w->nodes = 0;
    w->thread = thread;
}

static gcd_status take_nodes(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    struct gcd_clr_bulk b;
    gcd_status st = gcd_clr_bulk_node(ev, &b);
    if (st != GCD_OK || w->whole)
        return GCD_OK; /* the verdict says it */
    if (b.index == 0 || ev->thread != w->thread)
        begin_walk(w, ev->thread);
    for (uint32_t i = 0; i < b.count; i++) {
        struct gcd_clr_node node = gcd_clr_node_at(&b, i);
        bool string = false;
        GCD_TRY(is_string(w, node.type, &string, err));
        if (string && node.size >= STRING_BASE && node.size <= UINT32_MAX)
            GCD_TRY(add_string(w, &node, err));
    }
    w->nodes += b.count;
    return GCD_OK;
}

static gcd_status take_range(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    struct gcd_clr_range r;
    if (w->whole || w->nodes == 0 || ev->thread != w->thread || gcd_clr_range(ev, &r) != GCD_OK)
        return GCD_OK;
    if (!gcd_vec_reserve(&w->alloc, &w->ranges, &w->range_cap, w->range_count + 1,
                         sizeof *w->ranges, SIZE_MAX))
        return gcd_fail_nomem(err, "reading values");
    w->ranges[w->range_count++] = (struct gcd_range){ .start = r.start,
                                                      .reserved_bytes = r.reserved_bytes,
                                                      .used_bytes = r.used_bytes,
                                                      .generation = r.generation };
    return GCD_OK;
}

/* ---- the collections ---- */

static gcd_status add_mark(struct gcd_values_watch *w, struct watched_mark mark,
                           struct gcd_error *err)
{
    w->too_many = w->too_many || w->mark_count == MARKS_MAX;
    if (w->too_many)
        return GCD_OK;
    if (!gcd_vec_reserve(&w->alloc, &w->marks, &w->mark_cap, w->mark_count + 1, sizeof *w->marks,
                         MARKS_MAX))
        return gcd_fail_nomem(err, "reading values");
    w->marks[w->mark_count++] = mark;
    return GCD_OK;
}

static gcd_status take_start(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    struct gcd_clr_gc_start gc;
    uint32_t depth = OLDEST;
    if (gcd_clr_gc_start(ev, &gc) == GCD_OK) {
        depth = gc.depth;
        w->latest = gc;
    }
    return add_mark(w, (struct watched_mark){ gcd_sort_key(ev->time_ns), depth, MARK_COLLECTION },
                    err);
}

static gcd_status take_pause(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    uint32_t reason = gcd_cur_u32(&c);
    bool is_gc = c.err != GCD_OK || reason == REASON_GC || reason == REASON_GC2;
    struct watched_mark mark = { .at = gcd_sort_key(ev->time_ns),
                                 .kind = is_gc ? MARK_GC_PAUSE : MARK_PAUSE };
    return add_mark(w, mark, err);
}

/* The end of a collection says its depth once more: it may have gone deeper. */
static gcd_status take_other_end(struct gcd_values_watch *w, const struct gcd_event *ev,
                                 struct gcd_error *err)
{
    struct gcd_cur c = gcd_clr_payload(ev);
    gcd_cur_skip(&c, 4);
    uint32_t depth = gcd_cur_u32(&c);
    if (c.err != GCD_OK)
        depth = OLDEST;
    return add_mark(w, (struct watched_mark){ gcd_sort_key(ev->time_ns), depth, MARK_COLLECTION },
                    err);
}

static gcd_status take_end(struct gcd_values_watch *w, const struct gcd_event *ev,
                           struct gcd_error *err)
{
    if (w->whole || w->nodes == 0 || ev->thread != w->thread ||
        gcd_clr_gc_end(ev, &w->gc_number) != GCD_OK)
        return take_other_end(w, ev, err);
    if (w->gc_number == w->latest.number && !gcd_clr_gc_is_full(&w->latest)) {
        begin_walk(w, ev->thread); /* the dump is of a later one */
        return take_other_end(w, ev, err);
    }
    w->whole = true;
    w->end_ns = ev->time_ns;
    return GCD_OK;
}

static gcd_status take_event(struct gcd_values_watch *w, const struct gcd_event *ev,
                             struct gcd_error *err)
{
    if (ev->provider != GCD_PROVIDER_RUNTIME)
        return GCD_OK;
    switch (ev->id) {
    case GCD_EV_BULK_NODE:
        return take_nodes(w, ev, err);
    case GCD_EV_GENERATION_RANGE:
        return take_range(w, ev, err);
    case GCD_EV_GC_START:
        return take_start(w, ev, err);
    case GCD_EV_SUSPEND_EE_BEGIN:
        return take_pause(w, ev, err);
    case GCD_EV_GC_END:
        return take_end(w, ev, err);
    default:
        return GCD_OK;
    }
}

gcd_status gcd_values_watch_new(const struct gcd_values_watch_options *options,
                                struct gcd_values_watch **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(options->context.alloc);
    if (options->read == NULL || options->now_ns == NULL)
        return gcd_fail(err, GCD_E_ARG, "values need memory and a clock");
    struct gcd_values_watch *w = gcd_mem_new(&a, sizeof *w);
    if (w == NULL)
        return gcd_fail_nomem(err, "reading values");
    w->alloc = a;
    w->options = *options;
    gcd_idmap_init(&w->types, &w->alloc);
    w->pending = gcd_mem_new_uncleared(&a, BATCH_MOST, sizeof *w->pending);
    w->buffer = gcd_mem_new_uncleared(&a, READ_BYTES, 1);
    w->text = gcd_mem_new_uncleared(&a, VALUES_TEXT_BYTES, 1);
    gcd_status st = w->pending != NULL && w->buffer != NULL && w->text != NULL
                        ? gcd_trace_new(&options->context, &w->trace, err)
                        : gcd_fail_nomem(err, "reading values");
    if (st == GCD_OK)
        st = values_new(&a, options->context.limits, &options->values, &w->values, err);
    if (st == GCD_OK)
        *ret = w;
    else
        gcd_values_watch_free(w);
    return st;
}

void gcd_values_watch_free(struct gcd_values_watch *w)
{
    if (w == NULL)
        return;
    const struct gcd_alloc a = w->alloc;
    gcd_trace_free(w->trace);
    gcd_idmap_done(&w->types);
    values_free(w->values);
    gcd_mem_free(&a, w->list, w->list_cap);
    gcd_mem_free(&a, w->ranges, w->range_cap * sizeof *w->ranges);
    gcd_mem_free(&a, w->marks, w->mark_cap * sizeof *w->marks);
    gcd_mem_free(&a, w->batches, w->batch_cap * sizeof *w->batches);
    gcd_mem_free(&a, w->pending, BATCH_MOST * sizeof *w->pending);
    gcd_mem_free(&a, w->buffer, READ_BYTES);
    gcd_mem_free(&a, w->text, VALUES_TEXT_BYTES);
    gcd_mem_free(&a, w, sizeof *w);
}

gcd_status gcd_values_watch_feed(struct gcd_values_watch *w, const void *bytes, size_t n,
                                 struct gcd_error *err)
{
    struct gcd_event ev;
    gcd_status st = gcd_trace_feed(w->trace, bytes, n, err);
    while (st == GCD_OK && (st = gcd_trace_next(w->trace, &ev, err)) == GCD_OK)
        st = take_event(w, &ev, err);
    if (st == GCD_E_NOMEM)
        return st;
    return w->whole ? GCD_END : GCD_OK;
}

/* ---- reading ---- */

/* Of an object at ADDRESS; *LAST: the range of the object before. */
static uint32_t generation_of(const struct gcd_values_watch *w, uint64_t address, size_t *last)
{
    if (w->range_count == 0)
        return 0; /* unknown: every collection counts */
    for (size_t i = 0; i < w->range_count; i++) {
        size_t k = (*last + i) % w->range_count;
        const struct gcd_range *r = &w->ranges[k];
        if (address - r->start < r->reserved_bytes) {
            *last = k;
            return r->generation < OLDEST ? r->generation : OLDEST;
        }
    }
    return FROZEN;
}

static uint64_t read_end_of(const struct watched_string *s)
{
    return s->address + STRING_TEXT + 2 * (uint64_t)s->units;
}

static bool is_head(const struct gcd_values_watch *w, const struct watched_string *s,
                    const uint8_t *head)
{
    return (gcd_le64(head) & ~UINT64_C(7)) == w->string_type &&
           gcd_le32(head + STRING_LENGTH) == s->units;
}

static gcd_status add_value(struct gcd_values_watch *w, const struct watched_string *s,
                            uint64_t hash, const uint8_t *units, struct gcd_error *err)
{
    struct values_content c = { .hash = hash, .length = s->units };
    if (w->options.values.kind == GCD_VALUES_STRINGS) {
        c.bytes = values_characters(&w->options.values, units,
                                    s->units < READ_BYTES / 2 ? s->units : READ_BYTES / 2, w->text);
        c.utf8 = w->text;
    }
    return values_add(w->values, s->address, (uint32_t)w->batch_count, &c, err);
}

/* Hashes in this number are computed before the first is looked up. */
#define GROUP ((size_t)32)

/* The N pending strings from number I on, whose bytes are in the buffer from BEGIN on. */
static gcd_status take_group(struct gcd_values_watch *w, size_t i, size_t n, uint64_t begin,
                             struct gcd_error *err)
{
    uint64_t hashes[GROUP];
    for (size_t k = 0; k < n; k++) {
        const struct watched_string *s = &w->pending[i + k];
        hashes[k] =
            values_hash_of(w->options.values.key, w->buffer + (s->address - begin) + STRING_TEXT,
                           2 * (size_t)s->units);
        values_fetch(w->values, hashes[k]);
    }
    for (size_t k = 0; k < n; k++) {
        const struct watched_string *s = &w->pending[i + k];
        const uint8_t *head = w->buffer + (s->address - begin);
        if (is_head(w, s, head))
            GCD_TRY(add_value(w, s, hashes[k], head + STRING_TEXT, err));
        else
            w->changed++;
    }
    return GCD_OK;
}

/* The N bytes from the first pending string on are in the buffer.  Takes the strings that are whole
 * there; *RET becomes their number. */
static gcd_status take_read(struct gcd_values_watch *w, size_t n, size_t *ret,
                            struct gcd_error *err)
{
    uint64_t begin = w->pending[0].address;
    size_t whole = 0;
    while (whole < w->pending_count && read_end_of(&w->pending[whole]) - begin <= n)
        whole++;
    for (size_t i = 0; i < whole; i += GROUP)
        GCD_TRY(take_group(w, i, whole - i < GROUP ? whole - i : GROUP, begin, err));
    *ret = whole;
    return GCD_OK;
}

/* A string that is larger than the buffer, piece by piece. */
static gcd_status read_large(struct gcd_values_watch *w, const struct watched_string *s,
                             struct gcd_error *err)
{
    void *ctx = w->options.ctx;
    uint8_t head[STRING_TEXT];
    struct values_hash h;
    uint64_t at = s->address + STRING_TEXT, left = 2 * (uint64_t)s->units;
    values_hash_init(&h, w->options.values.key);
    if (w->options.read(ctx, s->address, head, sizeof head) != sizeof head)
        return GCD_OK;
    for (; left > READ_BYTES; left -= READ_BYTES, at += READ_BYTES) {
        if (w->options.read(ctx, at, w->buffer, READ_BYTES) != READ_BYTES)
            return GCD_OK;
        values_hash_words(&h, w->buffer, READ_BYTES);
    }
    bool all = w->options.read(ctx, at, w->buffer, (size_t)left) == left;
    uint64_t hash = values_hash_end(&h, w->buffer, (size_t)left);
    all =
        all && w->options.read(ctx, s->address + STRING_TEXT, w->buffer, READ_BYTES) == READ_BYTES;
    w->changed += all && !is_head(w, s, head);
    return all && is_head(w, s, head) ? add_value(w, s, hash, w->buffer, err) : GCD_OK;
}

static gcd_status end_batch(struct gcd_values_watch *w, uint32_t generation, struct gcd_error *err)
{
    w->read_ns = w->options.now_ns(w->options.ctx);
    if (!gcd_vec_reserve(&w->alloc, &w->batches, &w->batch_cap, w->batch_count + 1,
                         sizeof *w->batches, UINT32_MAX))
        return gcd_fail_nomem(err, "reading values");
    w->batches[w->batch_count++] = (struct watched_batch){ w->read_ns, generation };
    return GCD_OK;
}

static void drop_pending(struct gcd_values_watch *w, size_t n)
{
    w->pending_count -= n;
    memmove(w->pending, w->pending + n, w->pending_count * sizeof *w->pending);
}

/* Reads the pending strings; a hole between them ends a call early. */
static gcd_status read_pending(struct gcd_values_watch *w, struct gcd_error *err)
{
    while (w->pending_count > 0) {
        const struct watched_string *first = &w->pending[0];
        uint64_t n = read_end_of(&w->pending[w->pending_count - 1]) - first->address;
        uint32_t generation = first->generation;
        size_t taken = 1;
        GCD_TRY(gcd_check_canceled(w->options.context.cancel, err));
        if (w->read_ns > w->deadline_ns) {
            w->pending_count = 0;
            return GCD_OK;
        }
        for (size_t i = 1; i < w->pending_count; i++)
            generation =
                w->pending[i].generation < generation ? w->pending[i].generation : generation;
        if (n > READ_BYTES) { /* only one that is alone is so large */
            GCD_TRY(read_large(w, first, err));
        } else {
            size_t got = w->options.read(w->options.ctx, first->address, w->buffer, (size_t)n);
            GCD_TRY(take_read(w, got, &taken, err));
            taken += taken == 0; /* the first cannot be read */
        }
        GCD_TRY(end_batch(w, generation, err));
        drop_pending(w, taken);
    }
    return GCD_OK;
}

static gcd_status add_pending(struct gcd_values_watch *w, const struct watched_string *s,
                              struct gcd_error *err)
{
    if (w->pending_count > 0) {
        const struct watched_string *first = &w->pending[0],
                                    *last = &w->pending[w->pending_count - 1];
        if (s->address < read_end_of(last) || s->address - read_end_of(last) > GAP_BYTES ||
            read_end_of(s) - first->address > READ_BYTES || w->pending_count == BATCH_MOST)
            GCD_TRY(read_pending(w, err));
    }
    w->pending[w->pending_count++] = *s;
    return GCD_OK;
}

/* The strings whose generation is FROM to TO. */
static gcd_status read_generations(struct gcd_values_watch *w, uint32_t from, uint32_t to,
                                   struct gcd_error *err)
{
    struct gcd_cur c = gcd_cur_make(w->list, w->list_bytes, 0);
    struct watched_string s = { .address = 0 };
    size_t range = 0;
    while (gcd_cur_left(&c) > 0) {
        s.address += gcd_cur_varuint64(&c);
        s.units = gcd_cur_varuint32(&c);
        s.generation = generation_of(w, s.address, &range);
        if (s.generation >= from && s.generation <= to)
            GCD_TRY(add_pending(w, &s, err));
    }
    return read_pending(w, err);
}

gcd_status gcd_values_watch_read(struct gcd_values_watch *w, uint64_t budget_ns,
                                 struct gcd_error *err)
{
    if (!w->whole || w->read)
        return gcd_fail(err, GCD_E_STATE, "the heap walk is not over, or its strings were read");
    w->read = true;
    w->read_ns = w->options.now_ns(w->options.ctx);
    w->deadline_ns = w->read_ns + budget_ns;
    GCD_TRY(values_expect(w->values, w->strings, err));
    GCD_TRY(read_generations(w, 0, 1, err));
    GCD_TRY(read_generations(w, OLDEST, OLDEST, err));
    return read_generations(w, FROZEN, FROZEN, err);
}

/* ---- judging ---- */

static void lower(int64_t limits[OLDEST + 1], uint32_t depth, uint64_t at)
{
    int64_t ns = gcd_sort_number(at);
    for (uint32_t g = 0; g <= OLDEST && g <= depth; g++)
        limits[g] = ns < limits[g] ? ns : limits[g];
}

/*
 * When the first collection after the walk began that can touch objects of each generation.  It
 * begins with its suspension, or at an unknown time after the walk if that is missing; one of which
 * only the suspension is there may be of any depth.
 */
static void find_limits(const struct gcd_values_watch *w, int64_t limits[OLDEST + 1])
{
    uint64_t end = gcd_sort_key(w->end_ns), begin = end;
    bool open = false; /* a suspension for a collection that has not begun */
    for (uint32_t g = 0; g <= OLDEST; g++)
        limits[g] = INT64_MAX;
    for (size_t i = 0; i < w->mark_count; i++) {
        const struct watched_mark *m = &w->marks[i];
        if (m->at <= end)
            continue;
        if (m->kind == MARK_COLLECTION) {
            lower(limits, m->depth, begin);
            open = false;
            continue;
        }
        if (open)
            lower(limits, OLDEST, begin);
        open = m->kind == MARK_GC_PAUSE;
        begin = m->at;
    }
    if (open)
        lower(limits, OLDEST, begin);
}

/* Why nothing that was read is certain; NULL = much is. */
static const char *problem_of(const struct gcd_values_watch *w, const struct gcd_summary *s,
                              const struct gcd_trace_info *t)
{
    if (!w->read)
        return "the heap walk did not reach its end";
    if (t->end != GCD_TRACE_CLOSED || !t->loss_verified || t->lost_events > 0 ||
        t->unknown_events > 0 || w->too_many)
        return "events were lost, or may have been";
    if (s->gc_number != w->gc_number || s->gc_end_ns != w->end_ns)
        return "the dump is of another heap walk";
    if (t->ptr_bytes != 8 || t->ticks_per_second != UINT64_C(1000000000))
        return "the runtime is not of 64 bits, or has another clock";
    if (w->several)
        return "several types look like that of strings";
    return NULL;
}

static bool is_certain(const struct gcd_values_watch *w, uint32_t batch, uint64_t start_ticks,
                       const int64_t limits[OLDEST + 1])
{
    const struct watched_batch *b = &w->batches[batch];
    uint64_t end = start_ticks + (uint64_t)w->end_ns;
    if (b->end_ns < end) /* another clock: nobody reads before the walk is over */
        return false;
    return b->generation >= FROZEN || b->end_ns - start_ticks < (uint64_t)limits[b->generation];
}

/* Keeps the objects of batches that are certain. */
static void judge(struct gcd_values_watch *w, const struct gcd_trace_info *t)
{
    struct gcd_values *v = w->values;
    struct gcd_values_facts *f = &v->facts;
    int64_t limits[OLDEST + 1];
    size_t kept = 0;
    find_limits(w, limits);
    for (size_t i = 0; i < v->object_count; i++)
        if (is_certain(w, v->objects[i].batch, t->start_ticks, limits))
            v->objects[kept++] = v->objects[i];
    f->collected = v->object_count - kept;
    f->changed = w->changed;
    f->unread = w->strings - w->changed - v->object_count;
    f->objects = v->object_count = kept;
    uint64_t end = t->start_ticks + (uint64_t)w->end_ns;
    f->after_ms = w->read_ns > end ? (w->read_ns - end) / 1000000 : 0;
}

gcd_status gcd_values_watch_finish(struct gcd_values_watch *w, struct gcd_dump *d,
                                   struct gcd_error *err)
{
    struct gcd_trace_info t;
    gcd_trace_get_info(w->trace, &t);
    const char *problem = problem_of(w, gcd_dump_summary(d), &t);
    if (problem != NULL)
        return gcd_fail(err, GCD_E_UNSUPPORTED, "%s", problem);
    if (!gcd_sort_by_u64(&w->alloc, w->marks, w->mark_count, sizeof *w->marks))
        return gcd_fail_nomem(err, "reading values");
    judge(w, &t);
    struct gcd_values *v = w->values;
    w->values = NULL;
    gcd_status st = values_sort(v, err);
    if (st == GCD_OK)
        st = gcd_dump_set_values(d, v, err);
    if (st != GCD_OK)
        values_free(v);
    return st;
}
