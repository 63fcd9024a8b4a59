/*
 * What the page says about single types: what their objects are held by, hold and refer to, and the largest of them.  One pass over the objects
 * and their references; pairs of types are counted in a table of bounded size.
 */
#include "write/html/html_data.h"

#include <string.h>

#include <gcdumpc/retained.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"

/* Pairs of types of each kind; those that come later are left out. */
#define PAIRS_MAX (UINT32_C(1) << 19)
#define NO_DETAIL UINT16_MAX

/* A table of all pairs of a detail and a type takes not more than this. */
#define DIRECT_MAX (UINT32_C(1) << 20)

/* Of a detail and another type. */
struct pairs {
    uint32_t *direct;            /* [details * types] 1 + item, 0 = none yet; NULL: too many types, MAP has them */
    struct gcd_idmap map;        /* detail << 32 | type -> item */
    struct html_pair *items;
    uint64_t *keys;
    size_t count, room, key_room;
};

struct collector {
    struct html_data *h;
    uint16_t *detail;            /* [types of the graph] its number, NO_DETAIL = not shown */
    struct pairs above, below, refs;
    struct gcd_generations *generations;         /* NULL: no ranges are known */
    size_t hint;
};

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "looking at types");
}

static gcd_status count_pair(struct html_data *h, struct pairs *p, uint32_t detail, struct html_pair add, struct gcd_error *err)
{
    uint64_t key = (uint64_t)detail << 32 | add.type;
    uint32_t types = gcd_graph_summary(h->g)->type_count;
    uint32_t *direct = p->direct != NULL && add.type < types ? &p->direct[(size_t)detail * types + add.type] : NULL;
    uint32_t at = direct == NULL ? gcd_idmap_get(&p->map, key) : *direct > 0 ? *direct - 1 : GCD_IDMAP_NONE;
    if (at == GCD_IDMAP_NONE) {
        if (p->count >= PAIRS_MAX)
            return GCD_OK;
        at = (uint32_t)p->count;
        if (!gcd_vec_reserve(&h->alloc, &p->items, &p->room, p->count + 1, sizeof *p->items, PAIRS_MAX) ||
            !gcd_vec_reserve(&h->alloc, &p->keys, &p->key_room, p->count + 1, sizeof *p->keys, PAIRS_MAX) ||
            (direct == NULL && !gcd_idmap_put(&p->map, key, at)))
            return no_memory(err);
        if (direct != NULL)
            *direct = at + 1;
        p->keys[p->count] = key;
        p->items[p->count++] = (struct html_pair){ .type = add.type };
    }
    p->items[at].count += add.count;
    gcd_add_saturating(&p->items[at].bytes, add.bytes);
    return GCD_OK;
}

/* The first of LIST are the largest. */
static void offer_object(struct html_detail *d, uint32_t node, uint64_t retained)
{
    size_t i = d->object_count < HTML_OBJECTS ? d->object_count++ : HTML_OBJECTS;
    for (; i > 0 && d->objects[i - 1].retained < retained; i--)
        if (i < HTML_OBJECTS)
            d->objects[i] = d->objects[i - 1];
    if (i < HTML_OBJECTS)
        d->objects[i] = (struct html_object){ node, retained };
}

static void count_generation(struct collector *c, struct html_detail *d, uint32_t node)
{
    if (c->generations == NULL)
        return;
    unsigned number = gcd_generations_find(c->generations, gcd_graph_node_address(c->h->g, node), &c->hint);
    struct html_part *part = &d->generations[number < HTML_GENERATIONS - 1 ? number : HTML_GENERATIONS - 1];
    part->objects++;
    gcd_add_saturating(&part->bytes, gcd_graph_node_size(c->h->g, node));
}

static gcd_status look_at(struct collector *c, uint32_t node, struct gcd_error *err)
{
    struct html_data *h = c->h;
    uint32_t parent = gcd_dominators_parent(h->dominators, node), type = gcd_graph_node_type(h->g, node);
    uint32_t holder = parent < GCD_NODE_ROOT ? gcd_graph_node_type(h->g, parent) : parent;
    uint64_t retained = parent != GCD_NODE_NONE ? gcd_dominators_retained(h->dominators, node) : gcd_graph_node_size(h->g, node);
    if (parent < GCD_NODE_ROOT && holder != type && c->detail[holder] != NO_DETAIL)
        GCD_TRY(count_pair(h, &c->below, c->detail[holder], (struct html_pair){ .type = type, .count = 1, .bytes = retained }, err));
    if (c->detail[type] == NO_DETAIL)
        return GCD_OK;
    offer_object(&h->details[c->detail[type]], node, retained);
    count_generation(c, &h->details[c->detail[type]], node);
    GCD_TRY(count_pair(h, &c->above, c->detail[type], (struct html_pair){ .type = holder, .count = 1, .bytes = retained }, err));
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(h->g, node, &n);
    for (size_t i = 0; i < n; i++)
        GCD_TRY(count_pair(h, &c->refs, c->detail[type], (struct html_pair){ .type = gcd_graph_node_type(h->g, edges[i]), .count = 1 }, err));
    return GCD_OK;
}

static bool comes_before(const struct html_pair *a, const struct html_pair *b)
{
    return a->bytes != b->bytes ? a->bytes > b->bytes : a->count != b->count ? a->count > b->count : a->type < b->type;
}

/* The largest ones of each detail: LISTS(detail) has room for HTML_PAIRS. */
static void choose(struct html_data *h, const struct pairs *p, size_t list)
{
    for (size_t k = 0; k < p->count; k++) {
        struct html_list *l = &h->details[p->keys[k] >> 32].lists[list];
        size_t i = l->count < HTML_PAIRS ? l->count++ : HTML_PAIRS;
        for (; i > 0 && comes_before(&p->items[k], &l->items[i - 1]); i--)
            if (i < HTML_PAIRS)
                l->items[i] = l->items[i - 1];
        if (i < HTML_PAIRS)
            l->items[i] = p->items[k];
    }
}

static size_t direct_count(const struct html_data *h)
{
    uint64_t n = (uint64_t)h->detail_count * gcd_graph_summary(h->g)->type_count;
    return n <= DIRECT_MAX ? (size_t)n : 0;
}

static bool pairs_init(struct html_data *h, struct pairs *p)
{
    size_t n = direct_count(h);
    gcd_idmap_init(&p->map, &h->alloc);
    p->direct = n > 0 ? gcd_mem_new_array(&h->alloc, n, sizeof *p->direct) : NULL;
    return n == 0 || p->direct != NULL;
}

static void pairs_done(struct html_data *h, struct pairs *p)
{
    gcd_mem_free(&h->alloc, p->direct, p->direct != NULL ? direct_count(h) * sizeof *p->direct : 0);
    gcd_idmap_done(&p->map);
    gcd_mem_free(&h->alloc, p->items, p->room * sizeof *p->items);
    gcd_mem_free(&h->alloc, p->keys, p->key_room * sizeof *p->keys);
}

gcd_status html_details_collect(struct html_data *h, struct gcd_error *err)
{
    struct collector c = { .h = h };
    uint32_t types = gcd_graph_summary(h->g)->type_count;
    gcd_status st = GCD_OK;
    c.detail = gcd_mem_new_uncleared(&h->alloc, types, sizeof *c.detail);
    if (c.detail == NULL && types > 0)
        return no_memory(err);
    for (uint32_t i = 0; i < types; i++)
        c.detail[i] = NO_DETAIL;
    for (size_t i = 0; i < h->detail_count; i++)
        c.detail[h->details[i].type] = (uint16_t)i;
    if (gcd_graph_summary(h->g)->range_count > 0)
        st = gcd_generations_new(gcd_graph_summary(h->g), &h->alloc, &c.generations, err);
    bool room = pairs_init(h, &c.above);
    room = pairs_init(h, &c.below) && room;
    room = pairs_init(h, &c.refs) && room;
    if (st == GCD_OK && !room)
        st = no_memory(err);
    for (uint32_t node = 0; node < gcd_graph_node_count(h->g) && st == GCD_OK; node++)
        st = look_at(&c, node, err);
    choose(h, &c.above, HTML_ABOVE);
    choose(h, &c.below, HTML_BELOW);
    choose(h, &c.refs, HTML_REFS);
    pairs_done(h, &c.above);
    pairs_done(h, &c.below);
    pairs_done(h, &c.refs);
    gcd_generations_free(c.generations);
    gcd_mem_free(&h->alloc, c.detail, types * sizeof *c.detail);
    return st;
}

/* ---- which types ---- */

static void add_detail(struct html_data *h, uint32_t type)
{
    for (size_t i = 0; i < h->detail_count; i++)
        if (h->details[i].type == type)
            return;
    if (h->detail_count < (h->role->part ? HTML_DETAILS_OF_PART : HTML_DETAILS))
        h->details[h->detail_count++] = (struct html_detail){ .type = type };
}

gcd_status html_details_choose(struct html_data *h, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(h->g);
    h->details = gcd_mem_new_array(&h->alloc, HTML_DETAILS, sizeof *h->details);
    if (h->details == NULL)
        return no_memory(err);
    for (size_t i = 0; i < h->types_with_objects; i++) {
        uint32_t type = h->types[i];
        if (i < HTML_DETAILS_FIRST || h->retained[type] >= s->bytes / 1000 || s->types[type].bytes >= s->bytes / 1000)
            add_detail(h, type);
    }
    return GCD_OK;
}
