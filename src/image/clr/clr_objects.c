/*
 * Objects lie one behind the other, each with its method table at its start.  Gaps are objects of
 * a type of their own, except for the unused rest of an allocation context and for zeros.
 */
#include "base/sort.h"
#include "image/clr/clr.h"

#define ALIGNED(n)  (((n) + 7) & ~UINT64_C(7))
#define OBJECT_MIN  24u
#define MARKS_AHEAD 8u

static void note_hole(struct clr_scan *s)
{
    const struct clr *c = s->c;
    s->hole_start = s->hole < c->hole_count ? c->holes[s->hole].start : UINT64_MAX;
}

void clr_scan_begin(struct clr_scan *s, struct clr *c, const struct clr_region *r,
                    struct clr_lost *lost)
{
    *s = (struct clr_scan){ .c = c, .region = r, .at = r->start, .lost = lost };
    s->hole = gcd_count_up_to(c->holes, c->hole_count, sizeof *c->holes, r->start);
    s->hole -= s->hole > 0; /* it may reach into the region */
    note_hole(s);
}

/* Finds the type of TABLE, which is then in its place among those known. */
bool clr_know_type(struct clr *c, uint64_t table, gcd_status *ret_st)
{
    uint32_t type = table != 0 ? clr_type_of(c, table, ret_st) : CLR_NONE;
    if (type == CLR_NONE || c->types[type].base_bytes == 0)
        return false;
    const struct clr_type *t = &c->types[type];
    c->known_types[table / 8 % CLR_KNOWN_TYPES] =
        (struct clr_known_type){ .id = table,
                                 .type = type,
                                 .base_bytes = t->base_bytes,
                                 .component_bytes = t->component_bytes,
                                 .is_free = t->is_free,
                                 .is_leaf = !t->references && !t->collectible };
    return true;
}

/* Steps over allocation contexts; false if there is none here. */
static bool skip_holes(struct clr_scan *s)
{
    const struct clr *c = s->c;
    uint64_t from = s->at;
    while (s->hole < c->hole_count && c->holes[s->hole].start <= s->at) {
        uint64_t end = c->holes[s->hole++].end;
        s->at = end > s->at ? end : s->at;
    }
    note_hole(s);
    return s->at > from;
}

/* Steps over memory without objects.  *RET_WORD: the first word of the object.  False at the end of
 * the region. */
static inline bool skip_gap(struct clr_scan *s, uint64_t *ret_word)
{
    while (s->at < s->region->end) {
        if (s->at >= s->hole_start && skip_holes(s))
            continue;
        *ret_word = image_u64(s->c->image, s->at);
        if ((uint32_t)*ret_word != 0)
            return true;
        s->at += 8; /* cleared, or the header word before an object */
    }
    return false;
}

bool clr_scan_next(struct clr_scan *s, struct clr_object *ret)
{
    const struct clr_region *r = s->region;
    uint64_t word;
    while (s->st == GCD_OK && skip_gap(s, &word)) {
        bool is_object = clr_object_with(s->c, s->at, word, ret, &s->st);
        uint64_t bytes = is_object ? ALIGNED(ret->bytes) : 0;
        if (!is_object || bytes < OBJECT_MIN || bytes > r->end - s->at) {
            s->lost->regions++;
            s->lost->bytes += r->end - s->at;
            s->at = r->end;
            return false;
        }
        s->at += bytes;
        if (!ret->is_free)
            return true;
    }
    return false;
}

/* The next mark of a region, of memory from *RET_AT on; NULL = there are no more. */
static inline const struct clr_mark *next_mark(const struct clr_scan *s, struct clr_mark_cursor *k,
                                               uint64_t *ret_at)
{
    const struct clr_region *r = s->region;
    while (k->has == 0) {
        if (k->block == clr_blocks_of(r))
            return NULL;
        k->has = r->blocks[k->block++].has;
    }
    *ret_at = r->start + CLR_BLOCK_BYTES * (uint64_t)(k->block - 1) +
              CLR_MARK_BYTES * (uint64_t)__builtin_ctzll(k->has);
    k->has &= k->has - 1;
    return &s->c->marks[r->first_mark + k->mark++];
}

/* The objects of mark M that are looked for. */
static inline uint64_t wanted(const struct clr_scan *s, const struct clr_mark *m)
{
    return s->dead ? s->c->starts[m - s->c->marks] & ~m->live : m->live;
}

/* Fetches the objects of a mark that comes soon: one after the other, each would be waited for. */
static inline void fetch_ahead(struct clr_scan *s)
{
    uint64_t at;
    const struct clr_mark *m = next_mark(s, &s->ahead, &at);
    for (uint64_t live = m != NULL ? wanted(s, m) : 0; live != 0; live >>= 8, at += 64)
        if ((live & 255) != 0)
            image_prefetch(s->c->image, at);
}

bool clr_scan_next_live(struct clr_scan *s, struct clr_object *ret)
{
    if (s->ahead.block == 0)
        for (unsigned i = 0; i < MARKS_AHEAD; i++)
            fetch_ahead(s);
    while (s->st == GCD_OK) {
        while (s->live == 0) {
            const struct clr_mark *m = next_mark(s, &s->marks, &s->live_at);
            if (m == NULL)
                return false;
            s->live = wanted(s, m);
            fetch_ahead(s);
        }
        uint64_t at = s->live_at + 8 * (uint64_t)__builtin_ctzll(s->live);
        s->live &= s->live - 1;
        if (clr_object_at(s->c, at, ret, &s->st) && ret->bytes <= s->region->end - at)
            return true;
    }
    return false;
}

/* ---- references ---- */

/* The next run of slots.  False: there are no more. */
static bool next_run(struct clr_slots *s)
{
    const struct clr_type *t = s->type;
    if (!t->repeated) {
        if (s->next == t->count)
            return false;
        const struct clr_series *r = &s->c->series[t->first + s->next++];
        s->at = s->object + r->offset;
        s->run_end = s->at + (r->bytes + s->bytes);
        return true;
    }
    if (s->begun) {
        s->at = s->run_end + s->c->groups[t->first + s->next].skip_bytes;
        s->next = s->next + 1 < t->count ? s->next + 1 : 0;
    }
    s->begun = true;
    s->run_end = s->at + 8 * (uint64_t)s->c->groups[t->first + s->next].references;
    return s->at < s->object + s->bytes - 8; /* behind them is the header of the next object */
}

/* Takes slots into view, or gives the next one without: its page has a gap before it. */
static inline bool view_run(struct clr_slots *s, uint64_t *ret_target, uint64_t *ret_slot)
{
    uint64_t skip = s->at - s->page_at;
    if (skip >= s->page_bytes || s->page_bytes - skip < 8) {
        size_t n;
        s->page = image_view(s->c->image, s->at, &n);
        s->page_at = s->at;
        s->page_bytes = n;
        skip = 0;
    }
    const uint8_t *view = s->page + skip;
    uint64_t have = (s->page_bytes - skip) / 8, want = (s->end - s->at - 1) / 8 + 1;
    if (have == 0) {
        *ret_target = image_u64(s->c->image, s->at);
        *ret_slot = s->at;
        s->at += 8;
        s->place++;
        return *ret_target != 0;
    }
    have = have < want ? have : want;
    s->view = view;
    s->view_end = view + 8 * have;
    s->at += 8 * have;
    return false;
}

bool clr_slots_next_run(struct clr_slots *s, uint64_t *ret_target, uint64_t *ret_slot)
{
    if (s->allocator) {
        s->allocator = false;
        *ret_target = s->type->loader_allocator;
        *ret_slot = 0;
        return true;
    }
    uint64_t object_end = s->object + s->bytes;
    for (;;) {
        while (s->at < s->end) {
            if (view_run(s, ret_target, ret_slot))
                return true;
            for (; s->view < s->view_end; s->view += 8) {
                s->place++;
                *ret_target = gcd_le64(s->view);
                if (*ret_target != 0) {
                    *ret_slot = s->at - (uint64_t)(s->view_end - s->view);
                    s->view += 8;
                    return true;
                }
            }
        }
        if (!s->type->references || !next_run(s))
            return false;
        s->end = s->run_end < object_end ? s->run_end : object_end;
    }
}

uint64_t clr_slots_count(struct clr_slots *s)
{
    uint64_t count = 0, target, slot;
    while (clr_slots_next(s, &target, &slot))
        for (count++; s->view < s->view_end; s->view += 8)
            count += gcd_le64(s->view) != 0;
    return count;
}
