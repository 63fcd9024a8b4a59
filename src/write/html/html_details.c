/*
 * Details of single types: what holds their objects, what they hold and refer to, and the largest
 * of them.  One pass over the objects and their references counts pairs of types; a holder and what
 * it holds are the same pair.
 */
#include "write/html/html_data.h"

#include <gcdumpc/retained.h>
#include <gcdumpc/unstable/session/views.h>

#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"

/* Number of the detail of a type without details. */
#define NO_DETAIL UINT16_MAX
/* Maximum number of pairs of types; later ones are left out.  If all possible pairs are no more,
 * each has its place in a table. */
#define PAIRS_MAX (UINT32_C(1) << 19)

#define TOGETHER 64u

/* Sums for objects of one type and of another. */
struct pair {
    uint64_t refs; /* references from the first to the second type */
    /* objects of the second type that the first dominates directly, with what they retain */
    uint64_t held, held_bytes;
};

struct collector {
    struct html_data *h;
    uint32_t types;
    uint16_t *detail; /* [types] number of the detail, NO_DETAIL = not shown */
    /* PAIRS is [types][types]; else MAP and KEYS tell the types of each */
    bool table;
    struct pair *pairs;
    size_t count, room, key_room;
    uint64_t *keys;            /* holder << 32 | type, of each pair */
    struct gcd_idmap map;      /* key -> number of the pair */
    struct pair *roots, *dead; /* [types] held by no single object, and by nothing */
    const struct gcd_generations *generations; /* NULL: ranges are unknown */
    size_t hint;
    /* references whose targets are looked up together, so that they wait for memory together */
    struct waiting {
        uint32_t from, to; /* FROM: a type; TO: a node, later its type */
    } waiting[TOGETHER];
    size_t waiting_count;
};

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "looking at types");
}

/* The pair of the types FROM and TO; *RET NULL: there are too many. */
static gcd_status find_in_map(struct collector *c, uint32_t from, uint32_t to, struct pair **ret,
                              struct gcd_error *err)
{
    const struct gcd_alloc *a = &c->h->alloc;
    uint64_t key = (uint64_t)from << 32 | to;
    uint32_t at = gcd_idmap_get(&c->map, key);
    *ret = NULL;
    if (at == GCD_IDMAP_NONE) {
        if (c->count >= PAIRS_MAX)
            return GCD_OK;
        at = (uint32_t)c->count;
        if (!gcd_vec_reserve(a, &c->pairs, &c->room, c->count + 1, sizeof *c->pairs, PAIRS_MAX) ||
            !gcd_vec_reserve(a, &c->keys, &c->key_room, c->count + 1, sizeof *c->keys, PAIRS_MAX) ||
            !gcd_idmap_put(&c->map, key, at))
            return no_memory(err);
        c->keys[at] = key;
        c->pairs[c->count++] = (struct pair){ .refs = 0 };
    }
    *ret = &c->pairs[at];
    return GCD_OK;
}

static gcd_status find_pair(struct collector *c, uint32_t from, uint32_t to, struct pair **ret,
                            struct gcd_error *err)
{
    if (!c->table)
        return find_in_map(c, from, to, ret, err);
    *ret = &c->pairs[(size_t)from * c->types + to];
    return GCD_OK;
}

static void add_held(struct pair *p, uint64_t bytes)
{
    if (p == NULL)
        return;
    p->held++;
    gcd_add_saturating(&p->held_bytes, bytes);
}

/* Offers NODE to the list of the largest objects. */
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
    unsigned number =
        gcd_generations_find(c->generations, gcd_graph_node_address(c->h->g, node), &c->hint);
    struct html_part *part =
        &d->generations[number < HTML_GENERATIONS - 1 ? number : HTML_GENERATIONS - 1];
    part->objects++;
    gcd_add_saturating(&part->bytes, gcd_graph_node_size(c->h->g, node));
}

/* Counts an object of TYPE that retains RETAINED bytes and that PARENT holds. */
static gcd_status count_held(struct collector *c, uint32_t parent, uint32_t type, uint64_t retained,
                             struct gcd_error *err)
{
    struct pair *p;
    if (parent >= GCD_NODE_ROOT) {
        add_held(parent == GCD_NODE_ROOT ? &c->roots[type] : &c->dead[type], retained);
        return GCD_OK;
    }
    uint32_t holder = gcd_graph_node_type(c->h->g, parent);
    if (c->detail[type] == NO_DETAIL && c->detail[holder] == NO_DETAIL)
        return GCD_OK;
    GCD_TRY(find_pair(c, holder, type, &p, err));
    add_held(p, retained);
    return GCD_OK;
}

static gcd_status count_waiting(struct collector *c, struct gcd_error *err)
{
    struct pair *p;
    for (size_t i = 0; i < c->waiting_count; i++)
        c->waiting[i].to = gcd_graph_node_type(c->h->g, c->waiting[i].to);
    for (size_t i = 0; i < c->waiting_count; i++) {
        GCD_TRY(find_pair(c, c->waiting[i].from, c->waiting[i].to, &p, err));
        if (p != NULL)
            p->refs++;
    }
    c->waiting_count = 0;
    return GCD_OK;
}

static gcd_status look_at(struct collector *c, uint32_t node, struct gcd_error *err)
{
    struct html_data *h = c->h;
    uint32_t parent = gcd_dominators_parent(h->dominators, node),
             type = gcd_graph_node_type(h->g, node);
    uint64_t retained = parent != GCD_NODE_NONE ? gcd_dominators_retained(h->dominators, node)
                                                : gcd_graph_node_size(h->g, node);
    GCD_TRY(count_held(c, parent, type, retained, err));
    if (c->detail[type] == NO_DETAIL)
        return GCD_OK;
    offer_object(&h->details[c->detail[type]], node, retained);
    count_generation(c, &h->details[c->detail[type]], node);
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(h->g, node, &n);
    for (size_t i = 0; i < n; i++) {
        c->waiting[c->waiting_count++] = (struct waiting){ type, edges[i] };
        if (c->waiting_count == TOGETHER)
            GCD_TRY(count_waiting(c, err));
    }
    return GCD_OK;
}

/* ---- the largest ones of each detail ---- */

static bool comes_before(const struct html_pair *a, const struct html_pair *b)
{
    return a->bytes != b->bytes   ? a->bytes > b->bytes
           : a->count != b->count ? a->count > b->count
                                  : a->type < b->type;
}

static void offer_pair(struct html_list *l, struct html_pair pair)
{
    size_t i = l->count < HTML_PAIRS ? l->count++ : HTML_PAIRS;
    for (; i > 0 && comes_before(&pair, &l->items[i - 1]); i--)
        if (i < HTML_PAIRS)
            l->items[i] = l->items[i - 1];
    if (i < HTML_PAIRS)
        l->items[i] = pair;
}

static void offer(struct collector *c, uint32_t type, unsigned list, struct html_pair pair)
{
    if (pair.count > 0 && c->detail[type] != NO_DETAIL)
        offer_pair(&c->h->details[c->detail[type]].lists[list], pair);
}

static void publish(struct collector *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const struct pair *p = &c->pairs[i];
        uint32_t from = (uint32_t)(c->table ? i / c->types : c->keys[i] >> 32),
                 to = (uint32_t)(c->table ? i % c->types : c->keys[i]);
        offer(c, from, HTML_REFS, (struct html_pair){ .type = to, .count = p->refs });
        offer(c, to, HTML_ABOVE,
              (struct html_pair){ .type = from, .count = p->held, .bytes = p->held_bytes });
        if (from != to)
            offer(c, from, HTML_BELOW,
                  (struct html_pair){ .type = to, .count = p->held, .bytes = p->held_bytes });
    }
    for (uint32_t type = 0; type < c->types; type++) {
        const struct pair *roots = &c->roots[type], *dead = &c->dead[type];
        offer(c, type, HTML_ABOVE,
              (struct html_pair){
                  .type = GCD_NODE_ROOT, .count = roots->held, .bytes = roots->held_bytes });
        offer(c, type, HTML_ABOVE,
              (struct html_pair){
                  .type = GCD_NODE_NONE, .count = dead->held, .bytes = dead->held_bytes });
    }
}

static gcd_status init(struct collector *c, struct gcd_error *err)
{
    const struct gcd_alloc *a = &c->h->alloc;
    struct gcd_context quiet = html_quietly(c->h);
    size_t cells = (size_t)c->types * c->types;
    gcd_idmap_init(&c->map, a);
    c->table = c->types <= PAIRS_MAX && cells <= PAIRS_MAX;
    c->detail = gcd_mem_new_uncleared(a, c->types, sizeof *c->detail);
    c->roots = gcd_mem_new_array(a, c->types, sizeof *c->roots);
    c->dead = gcd_mem_new_array(a, c->types, sizeof *c->dead);
    if (c->table && (c->pairs = gcd_mem_new_array(a, cells, sizeof *c->pairs)) != NULL)
        c->room = c->count = cells;
    if (c->detail == NULL || c->roots == NULL || c->dead == NULL || (c->table && c->pairs == NULL))
        return no_memory(err);
    for (uint32_t i = 0; i < c->types; i++)
        c->detail[i] = NO_DETAIL;
    for (size_t i = 0; i < c->h->detail_count; i++)
        c->detail[c->h->details[i].type] = (uint16_t)i;
    return gcd_graph_summary(c->h->g)->range_count > 0
               ? gcd_session_generations(c->h->session, &quiet, &c->generations, err)
               : GCD_OK;
}

gcd_status html_details_collect(struct html_data *h, struct gcd_error *err)
{
    struct collector c = { .h = h, .types = gcd_graph_summary(h->g)->type_count };
    gcd_status st = init(&c, err);
    for (uint32_t node = 0; node < gcd_graph_node_count(h->g) && st == GCD_OK; node++)
        st = look_at(&c, node, err);
    if (st == GCD_OK)
        st = count_waiting(&c, err);
    if (st == GCD_OK)
        publish(&c);
    gcd_idmap_done(&c.map);
    gcd_mem_free(&h->alloc, c.keys, c.key_room * sizeof *c.keys);
    gcd_mem_free(&h->alloc, c.pairs, c.room * sizeof *c.pairs);
    gcd_mem_free(&h->alloc, c.roots, c.types * sizeof *c.roots);
    gcd_mem_free(&h->alloc, c.dead, c.types * sizeof *c.dead);
    gcd_mem_free(&h->alloc, c.detail, c.types * sizeof *c.detail);
    return st;
}

/* ---- choosing the types ---- */

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
        if (i < HTML_DETAILS_FIRST || h->retained[type] >= s->bytes / 1000 ||
            s->types[type].bytes >= s->bytes / 1000)
            add_detail(h, type);
    }
    return GCD_OK;
}
