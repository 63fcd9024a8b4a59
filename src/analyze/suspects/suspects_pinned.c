/*
 * Pinned objects, and the free memory around them: ranges of generations 0 to 2 with a pinned
 * object that are at least a quarter free.  The free memory of a range is its size without its
 * objects.
 */
#include "analyze/suspects/suspects.h"

#include "analyze/dominators/live_edges.h"
#include "analyze/suspects/suspects_words.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

/* The large and pinned object heaps are not compacted anyway. */
#define COMPACTED_GENERATIONS 3u

struct span {
    uint64_t start, used_bytes, live_bytes;
    uint64_t pinned; /* number of pinned objects */
};

struct spans {
    struct suspects_work *w;
    struct span *items; /* by start */
    size_t count, room;
    uint64_t *pinned; /* one bit per node */
    size_t words, hint;
};

static struct span *find(struct spans *s, uint64_t address)
{
    size_t low = 0, high = s->count;
    const struct span *hint = &s->items[s->hint];
    if (address - hint->start < hint->used_bytes) /* neighbours are usually in the same range */
        return &s->items[s->hint];
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (s->items[mid].start <= address)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == 0 || address - s->items[low - 1].start >= s->items[low - 1].used_bytes)
        return NULL;
    s->hint = low - 1;
    return &s->items[low - 1];
}

/* Sorts the ranges by start and marks the pinned objects in them; RET_ANY false: there are none. */
static gcd_status prepare(struct spans *s, bool *ret_any, struct gcd_error *err)
{
    const struct gcd_graph *g = s->w->g;
    *ret_any = false;
    if (gcd_graph_summary(g)->range_count == 0 || gcd_graph_notes(g)->addresses_made_up)
        return GCD_OK;
    s->words = ((size_t)s->w->nodes + 63) / 64;
    s->room = gcd_graph_summary(g)->range_count;
    s->pinned = gcd_mem_new_array(s->w->alloc, s->words, sizeof *s->pinned);
    s->items = gcd_mem_new_array(s->w->alloc, s->room, sizeof *s->items);
    if (s->pinned == NULL || s->items == NULL)
        return gcd_fail_nomem(err, "looking at pinned objects");
    for (size_t i = 0; i < s->room; i++) {
        const struct gcd_range *r = &gcd_graph_summary(g)->ranges[i];
        if (r->generation < COMPACTED_GENERATIONS && r->used_bytes > 0)
            s->items[s->count++] = (struct span){ .start = r->start, .used_bytes = r->used_bytes };
    }
    if (!gcd_sort_by_u64(s->w->alloc, s->items, s->count, sizeof *s->items))
        return gcd_fail_nomem(err, "looking at pinned objects");
    for (size_t i = 0; i < gcd_graph_summary(g)->root_count && s->count > 0; i++) {
        const struct gcd_root *r = &gcd_graph_summary(g)->roots[i];
        uint64_t address = gcd_graph_node_address(g, r->node);
        struct span *at =
            (r->flags & GCD_ROOT_PINNED) != 0 && address != 0 && !bits_get(s->pinned, r->node)
                ? find(s, address)
                : NULL;
        if (at == NULL)
            continue;
        bits_set(s->pinned, r->node);
        at->pinned++;
        *ret_any = true;
    }
    return GCD_OK;
}

static gcd_status add_live(struct spans *s, struct gcd_error *err)
{
    const struct gcd_graph *g = s->w->g;
    uint64_t align = gcd_graph_summary(g)->trace.ptr_bytes == 4 ? 3 : 7;
    for (uint32_t node = 0; node < s->w->nodes; node++) {
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(s->w, err));
        struct span *at = find(s, gcd_graph_node_address(g, node));
        uint64_t size = gcd_graph_node_size(g, node);
        if (at != NULL)
            gcd_add_saturating(&at->live_bytes,
                               size <= UINT64_MAX - align ? (size + align) & ~align : size);
    }
    return GCD_OK;
}

static uint64_t free_bytes(const struct span *s)
{
    uint64_t n = s->used_bytes > s->live_bytes ? s->used_bytes - s->live_bytes : 0;
    return s->pinned > 0 && n >= s->used_bytes / 4 ? n : 0;
}

static gcd_status make_suspect(struct spans *s, struct gcd_error *err)
{
    struct suspects_work *w = s->w;
    struct gcd_suspect sum = suspects_blank(GCD_SUSPECT_PINNED, GCD_NODE_NONE, 0);
    sum.overlaps = true;
    uint64_t most = 0, around = 0;
    for (size_t i = 0; i < s->count; i++)
        if (free_bytes(&s->items[i]) > 0) {
            gcd_add_saturating(&sum.bytes, free_bytes(&s->items[i]));
            gcd_add_saturating(&around, s->items[i].used_bytes);
        }
    w->s->checks[GCD_SUSPECT_PINNED].bytes = sum.bytes;
    if (sum.bytes < w->s->threshold)
        return GCD_OK;
    uint64_t *of_type = gcd_mem_new_array(w->alloc, w->types, sizeof *of_type);
    uint32_t *first = gcd_mem_new_array(w->alloc, w->types, sizeof *first);
    for (uint32_t node = 0; node < w->nodes && of_type != NULL && first != NULL; node++) {
        const struct span *at =
            bits_get(s->pinned, node) ? find(s, gcd_graph_node_address(w->g, node)) : NULL;
        if (at == NULL || free_bytes(at) == 0)
            continue;
        uint32_t type = suspects_type_of(w, node);
        sum.objects++;
        gcd_add_saturating(&sum.shallow_bytes, gcd_graph_node_size(w->g, node));
        gcd_add_saturating(&sum.retained_bytes, gcd_dominators_retained(w->d, node));
        if (of_type[type]++ == 0)
            first[type] = node;
        if (of_type[type] > most) {
            most = of_type[type];
            sum.type = type;
            sum.node = first[type];
        }
    }
    bool ok = of_type != NULL && first != NULL;
    gcd_mem_free(w->alloc, of_type, w->types * sizeof *of_type);
    gcd_mem_free(w->alloc, first, w->types * sizeof *first);
    struct suspect *x;
    if (!ok)
        return gcd_fail_nomem(err, "looking at pinned objects");
    if (sum.objects < SUSPECTS_PINNED)
        return GCD_OK;
    GCD_TRY(suspects_add(w, GCD_SUSPECT_PINNED, sum.node, sum.type, &x, err));
    x->pub = sum;
    x->type_objects = most;
    x->around_bytes = around;
    return GCD_OK;
}

gcd_status suspects_pinned(struct suspects_work *w, struct gcd_error *err)
{
    struct spans s = { .w = w };
    bool any;
    w->s->checks[GCD_SUSPECT_PINNED].unknown =
        gcd_graph_summary(w->g)->range_count == 0 || gcd_graph_notes(w->g)->addresses_made_up;
    gcd_status st = prepare(&s, &any, err);
    if (st == GCD_OK && any)
        st = add_live(&s, err);
    if (st == GCD_OK && any)
        st = make_suspect(&s, err);
    gcd_mem_free(w->alloc, s.items, s.room * sizeof *s.items);
    gcd_mem_free(w->alloc, s.pinned, s.words * sizeof *s.pinned);
    return st;
}

void suspects_say_pinned(struct suspect_words *s, const struct suspect *x)
{
    const struct gcd_suspect *p = &x->pub;
    suspects_put_bytes(s, p->bytes);
    suspects_put(s, " of ");
    suspects_put_bytes(s, x->around_bytes);
    suspects_put(s, " are free around ");
    suspects_put_number(s, p->objects);
    suspects_put(s, " pinned objects");
    suspects_put(s, p->objects == x->type_objects ? ", all " : ", mostly ");
    suspects_put_type(s, p->type);
    suspects_put(s, ": the collector cannot move them to close the gaps.");
    suspects_put_held_by(s, x, "One of them is");
}

void suspects_advise_pinned(struct suspect_words *s, const struct suspect *x)
{
    suspects_put(s, "Pin for a short time only, or allocate what stays pinned with "
                    "GC.AllocateArray, away from other objects");
    suspects_put_look_in(s, &x->pub);
}
