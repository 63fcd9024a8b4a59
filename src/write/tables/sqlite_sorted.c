/*
 * Rows are counted by buckets of their values, then put into their bucket.  In heap order they are
 * already sorted by primary key, and stay so. A value below the number of objects has its own
 * bucket: types, objects and most sizes are such values.  Larger values share buckets, 2048 per
 * power of two, and are sorted there.
 */
#include "write/tables/sqlite_sorted.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "write/tables/sqlite_schema.h"
#include "write/write.h"

#define SIGN (UINT64_C(1) << 63)
enum { MANTISSA_BITS = 11, MANTISSAS = 1 << MANTISSA_BITS, SHARED_BUCKETS = 64 * MANTISSAS };

/* A row: the primary key is the object, and for references also their number. */
struct row {
    struct sqlite_number value;
    uint32_t node, slot;
};

/* A sorted row without its value; struct valued has the value as the distance from the least one.
 */
struct place {
    uint32_t node, slot;
};
struct valued {
    uint64_t distance;
    struct place place;
};

struct sorted {
    const struct tables *t;
    int index;
    sqlite_sorted_fn row;
    void *ctx;
    struct gcd_alloc alloc;
    /* the least value with its sign bit flipped: then unsigned order is SQLite's */
    uint64_t least;
    uint64_t exact; /* number of buckets with one value; bucket 0 is NULL */
    uint64_t bucket_count;
    /* [bucket_count] number of rows; while a slice is filled: position of the next row; then: end
     * of the bucket */
    uint32_t *buckets;
    struct place *places; /* [place_room] */
    uint64_t rows;
    uint32_t largest; /* number of rows of the largest bucket */
    size_t place_room;
    struct valued *valued; /* [valued_room] */
    size_t valued_room;
};

/* ---- rows in heap order ---- */

struct walk {
    const struct sorted *s;
    uint32_t node, end;
    const uint32_t *edges; /* of the node before NODE */
    size_t slot, edge_count;
};

static inline bool node_value(const struct tables *t, int index, uint32_t node,
                              struct sqlite_number *ret)
{
    *ret = (struct sqlite_number){ .null = false };
    if (index == INDEX_OF_TYPES) {
        ret->value = gcd_graph_node_type(t->graph, node);
        return true;
    }
    if (index == INDEX_OF_ADDRESSES) {
        ret->value = (int64_t)gcd_graph_node_address(t->graph, node);
        ret->null = ret->value == 0;
        return true;
    }
    uint32_t parent = gcd_dominators_parent(t->dominators, node);
    uint64_t retained =
        index == INDEX_OF_RETAINED ? gcd_dominators_retained(t->dominators, node) : 0;
    ret->null = index == INDEX_OF_PARENTS && parent == GCD_NODE_ROOT;
    ret->value = index == INDEX_OF_PARENTS ? parent
                 : retained > INT64_MAX    ? INT64_MAX
                                           : (int64_t)retained;
    return parent != GCD_NODE_NONE;
}

static inline bool walk_next(struct walk *w, struct row *ret)
{
    const struct tables *t = w->s->t;
    if (w->s->index != INDEX_OF_TARGETS) {
        while (w->node < w->end) {
            *ret = (struct row){ .node = w->node++ };
            if (node_value(t, w->s->index, ret->node, &ret->value))
                return true;
        }
        return false;
    }
    while (w->slot >= w->edge_count) {
        if (w->node >= w->end)
            return false;
        w->edges = gcd_graph_node_edges(t->graph, w->node++, &w->edge_count);
        w->slot = 0;
    }
    *ret = (struct row){ .node = w->node - 1,
                         .slot = (uint32_t)w->slot,
                         .value.value = w->edges[w->slot] };
    w->slot++;
    return true;
}

/* The next part of all objects, up to the next check of the cancel flag. */
static bool next_part(const struct sorted *s, struct walk *w, gcd_status *st, struct gcd_error *err)
{
    uint32_t n = gcd_graph_node_count(s->t->graph), left = n - w->end;
    *w = (struct walk){ .s = s,
                        .node = w->end,
                        .end = w->end + (left < WRITE_CHECK_EVERY ? left : WRITE_CHECK_EVERY) };
    *st = gcd_check_canceled(s->t->options->context.cancel, err);
    return left > 0 && *st == GCD_OK;
}

/* ---- buckets ---- */

static uint64_t distance(const struct sorted *s, const struct row *r)
{
    return ((uint64_t)r->value.value ^ SIGN) - s->least;
}

static uint64_t bucket(const struct sorted *s, const struct row *r)
{
    if (r->value.null)
        return 0;
    uint64_t d = distance(s, r);
    if (d < s->exact)
        return 1 + d;
    unsigned bits = 64 - (unsigned)__builtin_clzll(d | 1),
             shift = bits > MANTISSA_BITS + 1 ? bits - MANTISSA_BITS - 1 : 0;
    return 1 + s->exact + shift * MANTISSAS + (d >> shift);
}

static gcd_status find_least(struct sorted *s, struct gcd_error *err)
{
    s->least = SIGN; /* only addresses can be negative, and are far from 0 */
    if (s->index != INDEX_OF_ADDRESSES)
        return GCD_OK;
    s->least = UINT64_MAX;
    struct walk w = { .s = s };
    struct row r;
    gcd_status st;
    while (next_part(s, &w, &st, err))
        while (walk_next(&w, &r))
            if (!r.value.null && ((uint64_t)r.value.value ^ SIGN) < s->least)
                s->least = (uint64_t)r.value.value ^ SIGN;
    return st;
}

/* Some rows and their buckets, whose counts are being prefetched. */
struct batch {
    struct place places[64];
    uint64_t buckets[64];
    size_t count;
};

/* The next rows in the buckets from FIRST up to, but not including, END; no rows: there are no
 * more. */
static bool next_batch(struct walk *w, uint64_t first, uint64_t end, struct batch *ret)
{
    struct row r;
    ret->count = 0;
    while (ret->count < sizeof ret->places / sizeof *ret->places && walk_next(w, &r)) {
        uint64_t b = bucket(w->s, &r);
        if (b < first || b >= end)
            continue;
        __builtin_prefetch(&w->s->buckets[b], 1);
        ret->places[ret->count] = (struct place){ .node = r.node, .slot = r.slot };
        ret->buckets[ret->count++] = b;
    }
    return ret->count > 0;
}

static gcd_status count(struct sorted *s, struct gcd_error *err)
{
    struct walk w = { .s = s };
    struct batch b;
    gcd_status st;
    while (next_part(s, &w, &st, err))
        while (next_batch(&w, 0, s->bucket_count, &b))
            for (size_t i = 0; i < b.count; i++) {
                uint32_t n = ++s->buckets[b.buckets[i]];
                if (n == UINT32_MAX || b.places[i].slot == UINT32_MAX)
                    return gcd_fail(err, GCD_E_LIMIT,
                                    "an index of a database has 2^32 rows with one value");
                s->rows++;
                s->largest = n > s->largest ? n : s->largest;
            }
    return st;
}

/* ---- slices: as many buckets as fit into memory ---- */

static gcd_status put_places(struct sorted *s, uint64_t first, uint64_t end, struct gcd_error *err)
{
    struct walk w = { .s = s };
    struct batch b;
    gcd_status st;
    while (next_part(s, &w, &st, err))
        while (next_batch(&w, first, end, &b)) {
            for (size_t i = 0; i < b.count; i++) {
                uint32_t at = s->buckets[b.buckets[i]]++;
                b.buckets[i] = at;
                __builtin_prefetch(&s->places[at], 1);
            }
            for (size_t i = 0; i < b.count; i++)
                s->places[b.buckets[i]] = b.places[i];
        }
    return st;
}

static gcd_status give(struct sorted *s, const struct sqlite_number *value, struct place p,
                       struct gcd_error *err)
{
    const struct sqlite_number row[] = { *value, { .value = p.node }, { .value = p.slot } };
    return s->row(s->ctx, row, s->index == INDEX_OF_TARGETS ? 3 : 2, err);
}

static gcd_status give_shared(struct sorted *s, const struct place *places, uint32_t n,
                              struct gcd_error *err)
{
    if (!gcd_vec_reserve(&s->alloc, &s->valued, &s->valued_room, n, sizeof *s->valued, SIZE_MAX))
        return gcd_fail_nomem(err, "sorting an index");
    for (uint32_t i = 0; i < n; i++) {
        struct row r = { .node = places[i].node };
        /* only objects have such large values */
        (void)node_value(s->t, s->index, r.node, &r.value);
        s->valued[i] = (struct valued){ .distance = distance(s, &r), .place = places[i] };
    }
    if (!gcd_sort_by_u64(&s->alloc, s->valued, n, sizeof *s->valued))
        return gcd_fail_nomem(err, "sorting an index");
    for (uint32_t i = 0; i < n; i++) {
        const struct sqlite_number value = { .value = (int64_t)((s->valued[i].distance + s->least) ^
                                                                SIGN) };
        GCD_TRY(give(s, &value, s->valued[i].place, err));
    }
    return GCD_OK;
}

static gcd_status give_slice(struct sorted *s, uint64_t first, uint64_t end, struct gcd_error *err)
{
    uint32_t at = 0;
    for (uint64_t b = first; b < end; b++) {
        uint32_t bucket_end = s->buckets[b];
        if (b > s->exact && bucket_end > at) {
            GCD_TRY(give_shared(s, s->places + at, bucket_end - at, err));
            at = bucket_end;
        }
        const struct sqlite_number value = {
            .null = b == 0, .value = b == 0 ? 0 : (int64_t)((b - 1 + s->least) ^ SIGN)
        };
        for (; at < bucket_end; at++)
            GCD_TRY(give(s, &value, s->places[at], err));
    }
    return GCD_OK;
}

/* Takes the buckets from FIRST on that fit, at least one, and turns their counts into positions. */
static uint64_t slice(struct sorted *s, uint64_t first)
{
    uint32_t rows = 0;
    uint64_t b = first;
    while (b < s->bucket_count && (b == first || s->buckets[b] <= s->place_room - rows)) {
        uint32_t n = s->buckets[b];
        s->buckets[b++] = rows;
        rows += n;
    }
    return b;
}

static gcd_status sort(struct sorted *s, struct gcd_error *err)
{
    uint32_t nodes = gcd_graph_node_count(s->t->graph);
    GCD_TRY(find_least(s, err));
    s->exact = nodes;
    s->bucket_count = 1 + s->exact + SHARED_BUCKETS;
    s->buckets = s->bucket_count < SIZE_MAX
                     ? gcd_mem_new_array(&s->alloc, (size_t)s->bucket_count, sizeof *s->buckets)
                     : NULL;
    if (s->buckets == NULL)
        return gcd_fail_nomem(err, "sorting an index");
    GCD_TRY(count(s, err));
    s->place_room = s->rows < nodes ? (size_t)s->rows : s->largest > nodes ? s->largest : nodes;
    if (s->place_room == 0)
        return GCD_OK;
    s->places = gcd_mem_new_uncleared(&s->alloc, s->place_room, sizeof *s->places);
    if (s->places == NULL)
        return gcd_fail_nomem(err, "sorting an index");
    for (uint64_t first = 0, end; first < s->bucket_count; first = end) {
        end = slice(s, first);
        GCD_TRY(put_places(s, first, end, err));
        GCD_TRY(give_slice(s, first, end, err));
    }
    return GCD_OK;
}

gcd_status sqlite_sorted(const struct tables *t, int index, sqlite_sorted_fn row, void *ctx,
                         struct gcd_error *err)
{
    struct sorted s = { .t = t, .index = index, .row = row, .ctx = ctx, .alloc = t->alloc };
    gcd_status st = sort(&s, err);
    gcd_mem_free(&s.alloc, s.buckets, (size_t)s.bucket_count * sizeof *s.buckets);
    gcd_mem_free(&s.alloc, s.places, s.place_room * sizeof *s.places);
    gcd_mem_free(&s.alloc, s.valued, s.valued_room * sizeof *s.valued);
    return st;
}
