/*
 * Other paths ("ways") to the objects of a type that no single object holds: cutting only the path
 * that is shown does not free the memory.
 *
 * The samples of suspects_type.c represent all objects.  Each object that refers to a sample is a
 * way.  It is named after the nearest of the program's own types on its shortest path, or the
 * static variable at the end.  A path through the holder of the typical object does not count as
 * another way, nor one through the object itself (its parts often refer back to it) or through
 * another object of the suspect (which is held, too).
 */
#include "analyze/suspects/suspects.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

/* Maximum number of referrers examined per sample, and of steps of a way. */
#define SOURCES   32u
#define STEPS_MAX 256u
/* Maximum number of distinct ways of one suspect; a way that fewer than one in RARE objects have is
 * not worth mentioning. */
#define KEYS 16u
#define RARE 10u

/* The origin of a way: an own type, else the object that a root holds. */
struct key {
    /* the first of the types that are alike (w->alike); GCD_TYPE_NONE = no own type */
    uint32_t type;
    uint32_t node; /* the own object; GCD_NODE_NONE = none, or several */
    uint32_t next; /* the object below that one; GCD_NODE_NONE = several */
    uint32_t top;  /* the object at the root */
};

struct tally {
    struct key key;
    uint32_t last; /* 1 + the last object that counted */
    uint64_t objects;
};

struct source {
    uint32_t object; /* number of the sample */
    uint32_t node;
};

struct search {
    struct suspects_work *w;
    const struct suspects_drawn *drawn;
    size_t count;
    uint64_t *bits;    /* [w->words] the sampled nodes */
    uint32_t *by_node; /* [count] samples by node */
    uint8_t *seen;     /* [count] number of sources */
    struct source *sources;
    size_t source_count, room;
};

static bool is_told(const struct suspects_work *w, const struct suspect *x)
{
    return x->pub.kind == GCD_SUSPECT_TYPE && x->holder != SUSPECT_BY_ROOTS && x->statics == 0 &&
           x->pub.node != GCD_NODE_NONE && gcd_paths_parent(w->paths, x->pub.node) < GCD_NODE_ROOT;
}

static int compare_nodes(const void *ctx, uint32_t a, uint32_t b)
{
    const struct suspects_drawn *d = ctx;
    return (d[a].node > d[b].node) - (d[a].node < d[b].node);
}

/* The number of the sample NODE. */
static uint32_t find_drawn(const struct search *s, uint32_t node)
{
    size_t low = 0, high = s->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (s->drawn[s->by_node[middle]].node <= node)
            low = middle;
        else
            high = middle;
    }
    return s->by_node[low];
}

static gcd_status find_sources(struct search *s, struct gcd_error *err)
{
    const struct suspects_work *w = s->w;
    for (uint32_t node = 0; node < w->nodes; node++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
        if (node % SUSPECTS_CHECK_EVERY == 0)
            GCD_TRY(suspects_check(w, err));
        for (size_t i = 0; i < n; i++) {
            if (!bits_get(s->bits, edges[i]))
                continue;
            uint32_t object = find_drawn(s, edges[i]);
            if (s->seen[object] == SOURCES)
                continue;
            s->seen[object]++;
            if (!gcd_vec_reserve(w->alloc, &s->sources, &s->room, s->source_count + 1,
                                 sizeof *s->sources, UINT32_MAX - 1))
                return gcd_fail_nomem(err, "looking what else holds the objects of a type");
            s->sources[s->source_count++] = (struct source){ .object = object, .node = node };
        }
    }
    return GCD_OK;
}

/* The way from the roots to NODE and BELOW, which it refers to.  False if it goes through HOLDER or
 * an object of TYPE, or is very long. */
static bool follow(const struct suspects_work *w, uint32_t node, uint32_t below, uint32_t holder,
                   uint32_t type, struct key *ret)
{
    *ret = (struct key){ .type = GCD_TYPE_NONE, .node = GCD_NODE_NONE, .next = GCD_NODE_NONE };
    for (unsigned n = 0; n < STEPS_MAX; n++) {
        uint32_t here = suspects_type_of(w, node), up = gcd_paths_parent(w->paths, node);
        if (up == GCD_NODE_NONE || here == type || node == holder)
            return false;
        if (ret->type == GCD_TYPE_NONE && w->is_own[here]) {
            ret->type = w->alike[here];
            ret->node = node;
            ret->next = below;
        }
        if (up == GCD_NODE_ROOT) {
            ret->top = node;
            return true;
        }
        below = node;
        node = up;
    }
    return false;
}

static bool is_same(const struct key *a, const struct key *b)
{
    return a->type == b->type && (a->type != GCD_TYPE_NONE || a->top == b->top);
}

/* Counts OBJECT once for the way KEY. */
static void count_way(struct tally *tallies, size_t *n, const struct key *key, uint32_t object)
{
    size_t i = 0;
    while (i < *n && !is_same(&tallies[i].key, key))
        i++;
    if (i == KEYS)
        return;
    if (i == *n)
        tallies[(*n)++] = (struct tally){ .key = *key };
    struct tally *t = &tallies[i];
    if (t->key.node != key->node)
        t->key.node = GCD_NODE_NONE;
    if (t->key.next != key->next)
        t->key.next = GCD_NODE_NONE;
    t->objects += t->last != object + 1;
    t->last = object + 1;
}

/* People can change an own object or a static variable of an own class; objects that wait for their
 * finalizers go away by themselves. */
static bool is_worth(const struct suspects_work *w, const struct tally *t, size_t *ret_root)
{
    *ret_root = gcd_paths_root(w->paths, t->key.top);
    if (*ret_root == SIZE_MAX)
        return t->key.type != GCD_TYPE_NONE;
    const struct gcd_root *r = &gcd_graph_summary(w->g)->roots[*ret_root];
    return gcd_root_group(r) != GCD_GROUP_FINALIZER &&
           (t->key.type != GCD_TYPE_NONE || suspects_is_own_static(w, *ret_root));
}

/* Keeps the ways that most of the DRAWN samples have. */
static void keep(const struct suspects_work *w, struct suspect *x, const struct tally *tallies,
                 size_t n, uint64_t drawn)
{
    struct gcd_suspect *p = &x->pub;
    for (size_t i = 0; i < n; i++) {
        const struct tally *t = &tallies[i];
        struct gcd_suspect_way way = { .owner = t->key.type,
                                       .owner_node = t->key.node,
                                       .next = t->key.next,
                                       .share = (double)t->objects / (double)drawn };
        if (t->objects < (drawn + RARE - 1) / RARE || !is_worth(w, t, &way.root))
            continue;
        size_t at = p->way_count < GCD_SUSPECT_WAYS ? p->way_count++ : GCD_SUSPECT_WAYS;
        for (; at > 0 && p->ways[at - 1].share < way.share; at--)
            if (at < GCD_SUSPECT_WAYS)
                p->ways[at] = p->ways[at - 1];
        if (at < GCD_SUSPECT_WAYS)
            p->ways[at] = way;
    }
}

static int compare_sources(const void *ctx, uint32_t a, uint32_t b)
{
    const struct search *s = ctx;
    const struct suspects_drawn *x = &s->drawn[s->sources[a].object],
                                *y = &s->drawn[s->sources[b].object];
    if (x->suspect != y->suspect)
        return x->suspect < y->suspect ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static gcd_status tell_apart(const struct search *s, struct gcd_error *err)
{
    const struct suspects_work *w = s->w;
    uint32_t *order = gcd_sort_order(w->alloc, s->source_count, compare_sources, s);
    if (order == NULL && s->source_count > 0)
        return gcd_fail_nomem(err, "looking what else holds the objects of a type");
    for (size_t i = 0, end; i < s->source_count; i = end) {
        uint32_t suspect = s->drawn[s->sources[order[i]].object].suspect;
        struct suspect *x = &w->s->items[suspect];
        struct tally tallies[KEYS] = { 0 };
        size_t n = 0;
        uint64_t drawn = 0;
        uint32_t holder = gcd_paths_parent(w->paths, x->pub.node);
        struct key usual, key;
        bool known = follow(w, holder, x->pub.node, GCD_NODE_NONE, GCD_TYPE_NONE, &usual);
        for (end = i;
             end < s->source_count && s->drawn[s->sources[order[end]].object].suspect == suspect;
             end++) {
            const struct source *from = &s->sources[order[end]];
            drawn += end == i || from->object != s->sources[order[end - 1]].object;
            if (follow(w, from->node, s->drawn[from->object].node, holder, x->pub.type, &key) &&
                !(known && is_same(&key, &usual)))
                count_way(tallies, &n, &key, from->object);
        }
        keep(w, x, tallies, n, drawn);
    }
    gcd_mem_free(w->alloc, order, s->source_count * sizeof *order);
    return GCD_OK;
}

gcd_status suspects_ways(struct suspects_work *w, const struct suspects_drawn *drawn, size_t count,
                         struct gcd_error *err)
{
    struct search s = { .w = w, .drawn = drawn };
    gcd_status st = GCD_OK;
    s.bits = gcd_mem_new_array(w->alloc, w->words, sizeof *s.bits);
    s.by_node = gcd_mem_new_array(w->alloc, count, sizeof *s.by_node);
    s.seen = gcd_mem_new_array(w->alloc, count, sizeof *s.seen);
    if (s.bits == NULL || s.by_node == NULL || s.seen == NULL) {
        st = gcd_fail_nomem(err, "looking what else holds the objects of a type");
    } else {
        for (size_t i = 0; i < count; i++)
            if (is_told(w, &w->s->items[drawn[i].suspect])) {
                bits_set(s.bits, drawn[i].node);
                s.by_node[s.count++] = (uint32_t)i;
            }
        if (!gcd_sort_numbers(w->alloc, s.by_node, s.count, compare_nodes, drawn))
            st = gcd_fail_nomem(err, "looking what else holds the objects of a type");
        if (st == GCD_OK && s.count > 0)
            st = find_sources(&s, err);
        if (st == GCD_OK)
            st = tell_apart(&s, err);
    }
    gcd_mem_free(w->alloc, s.bits, w->words * sizeof *s.bits);
    gcd_mem_free(w->alloc, s.by_node, count * sizeof *s.by_node);
    gcd_mem_free(w->alloc, s.seen, count * sizeof *s.seen);
    gcd_mem_free(w->alloc, s.sources, s.room * sizeof *s.sources);
    return st;
}
