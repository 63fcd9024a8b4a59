/*
 * How many objects each owner has: include/gcdumpc/unstable/owner_fills.h.
 */
#include <gcdumpc/unstable/owner_fills.h>

#include <stdbool.h>
#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/most_types.h"
#include "base/text.h"

/* Types with fewer objects do not fill many owners. */
#define FEWEST_OBJECTS 100u
/* At least so many owners tell. */
#define FEWEST_OWNERS 10u
#define CHECK_EVERY   UINT32_C(65536)
#define DOING         "counting what each owner holds"

struct counting {
    const struct gcd_graph *g;
    const struct gcd_dominators *d;
    const struct gcd_origins *origins;
    struct gcd_alloc alloc;
    uint32_t nodes, types;
    uint32_t *above; /* [nodes] the program's object of another type that holds it */
    uint32_t *count; /* [nodes] objects of one type that it holds, and SEEN; 0 between types */
    struct gcd_owner_fill *owners; /* [types] of one type of elements; empty between types */
    uint8_t *slot;                 /* [types] its number among the most numerous, else NO_SLOT */
    bool *is_owner;                /* [types] the program's, and no array */
    uint32_t *held; /* [held_count] what holds their objects, one type after the other, */
    /* those of number I from BEGIN[I] to BEGIN[I + 1] */
    size_t held_count, begin[GCD_OWNER_FILLS_MAX + 1];
};
#define NO_SLOT UINT8_MAX
/* Counts end below it. */
#define SEEN (UINT32_C(1) << 31)

static gcd_status find_above(struct counting *c, const struct gcd_context *context,
                             struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(c->g);
    const uint32_t *order = gcd_dominators_order(c->d);
    uint32_t n = gcd_dominators_reachable(c->d);
    for (uint32_t i = 0; i < c->types; i++)
        c->is_owner[i] = gcd_origins_get(c->origins, i) == GCD_ORIGIN_OWN &&
                         !gcd_text_is_array(s->types[i].name);
    memset(c->above, 0xff, c->nodes * sizeof *c->above);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = order[i], up = gcd_dominators_parent(c->d, node);
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(context->cancel, err));
        if (up >= GCD_NODE_ROOT)
            continue;
        uint32_t type = gcd_graph_node_type(c->g, up);
        bool holds = c->is_owner[type] && type != gcd_graph_node_type(c->g, node);
        c->above[node] = holds ? up : c->above[up];
    }
    return GCD_OK;
}

/* The most numerous types, fewer than GCD_OWNER_FILLS_MAX. */
static size_t most_numerous(const struct counting *c, uint32_t ret[GCD_OWNER_FILLS_MAX])
{
    const struct gcd_summary *s = gcd_graph_summary(c->g);
    size_t n = 0;
    for (uint32_t i = 0; i < c->types; i++)
        if (s->types[i].objects >= FEWEST_OBJECTS && !gcd_text_is_array(s->types[i].name))
            most_types_add(s, i, ret, GCD_OWNER_FILLS_MAX, &n);
    return n;
}

static void add_owner(struct gcd_owner_fill *f, uint32_t count)
{
    f->owners++;
    f->elements += count;
    if (count > f->most) {
        f->most = count;
        f->full = 0;
    }
    f->full += count == f->most;
}

/* The number of the type of NODE, if a program's object holds it. */
static uint8_t slot_of(const struct counting *c, uint32_t node)
{
    return c->above[node] != GCD_NODE_NONE ? c->slot[gcd_graph_node_type(c->g, node)] : NO_SLOT;
}

/* Puts what holds the objects of the N types ELEMENTS beside each other, so that each type is
 * counted without looking at all nodes. */
static gcd_status list_held(struct counting *c, const uint32_t *elements, size_t n,
                            struct gcd_error *err)
{
    size_t next[GCD_OWNER_FILLS_MAX];
    uint8_t slot;
    memset(c->slot, NO_SLOT, c->types);
    for (size_t i = 0; i < n; i++)
        c->slot[elements[i]] = (uint8_t)i;
    for (uint32_t node = 0; node < c->nodes; node++)
        if ((slot = slot_of(c, node)) != NO_SLOT)
            c->begin[slot + 1]++;
    for (size_t i = 0; i < n; i++) {
        next[i] = c->begin[i];
        c->begin[i + 1] += c->begin[i];
    }
    c->held_count = c->begin[n];
    c->held = gcd_mem_new_array(&c->alloc, c->held_count + 1, sizeof *c->held);
    if (c->held == NULL)
        return gcd_fail_nomem(err, DOING);
    for (uint32_t node = 0; node < c->nodes; node++)
        if ((slot = slot_of(c, node)) != NO_SLOT)
            c->held[next[slot]++] = c->above[node];
    return GCD_OK;
}

/* The owners of the type that holds most objects of number SLOT. */
static struct gcd_owner_fill count_one(struct counting *c, size_t slot)
{
    struct gcd_owner_fill most = { .owners = 0 };
    const uint32_t *held = c->held + c->begin[slot], *end = c->held + c->begin[slot + 1];
    for (const uint32_t *p = held; p < end; p++)
        c->count[*p] += c->count[*p] < SEEN - 1;
    for (const uint32_t *p = held; p < end; p++) {
        if ((c->count[*p] & SEEN) != 0)
            continue;
        uint32_t type = gcd_graph_node_type(c->g, *p);
        struct gcd_owner_fill *f = &c->owners[type];
        add_owner(f, c->count[*p]);
        c->count[*p] |= SEEN;
        f->owner = type;
        if (f->elements > most.elements)
            most = *f;
    }
    most = c->owners[most.owner];
    for (const uint32_t *p = held; p < end; p++) {
        uint32_t count = c->count[*p] & ~SEEN;
        if (count == 0)
            continue;
        uint32_t type = gcd_graph_node_type(c->g, *p);
        most.nearly += type == most.owner && count >= most.most - most.most / 4;
        c->count[*p] = 0;
        c->owners[type] = (struct gcd_owner_fill){ .owners = 0 };
    }
    return most;
}

static gcd_status count_all(struct counting *c, const struct gcd_context *context,
                            struct gcd_owner_fills *ret, struct gcd_error *err)
{
    uint32_t elements[GCD_OWNER_FILLS_MAX];
    size_t n = most_numerous(c, elements);
    if (n == 0)
        return GCD_OK;
    c->above = gcd_mem_new_array(&c->alloc, c->nodes, sizeof *c->above);
    c->count = gcd_mem_new_array(&c->alloc, c->nodes, sizeof *c->count);
    c->owners = gcd_mem_new_array(&c->alloc, c->types, sizeof *c->owners);
    c->slot = gcd_mem_new_array(&c->alloc, c->types, sizeof *c->slot);
    c->is_owner = gcd_mem_new_array(&c->alloc, c->types, sizeof *c->is_owner);
    if (c->above == NULL || c->count == NULL || c->owners == NULL || c->slot == NULL ||
        c->is_owner == NULL)
        return gcd_fail_nomem(err, DOING);
    GCD_TRY(find_above(c, context, err));
    GCD_TRY(list_held(c, elements, n, err));
    for (size_t i = 0; i < n; i++) {
        struct gcd_owner_fill f = count_one(c, i);
        f.element = elements[i];
        if (f.owners >= FEWEST_OWNERS)
            ret->rows[ret->count++] = f;
    }
    return GCD_OK;
}

gcd_status gcd_owner_fills(const struct gcd_graph *g, const struct gcd_dominators *d,
                           const struct gcd_origins *origins, const struct gcd_context *context,
                           struct gcd_owner_fills *ret, struct gcd_error *err)
{
    const struct gcd_context *how = gcd_context_or_default(context);
    struct counting c = {
        .g = g, .d = d, .origins = origins, .alloc = gcd_alloc_or_default(how->alloc)
    };
    c.nodes = gcd_graph_node_count(g);
    c.types = (uint32_t)gcd_graph_summary(g)->type_count;
    *ret = (struct gcd_owner_fills){ .count = 0 };
    gcd_status st = count_all(&c, how, ret, err);
    gcd_mem_free(&c.alloc, c.above, c.nodes * sizeof *c.above);
    gcd_mem_free(&c.alloc, c.count, c.nodes * sizeof *c.count);
    gcd_mem_free(&c.alloc, c.owners, c.types * sizeof *c.owners);
    gcd_mem_free(&c.alloc, c.slot, c.types * sizeof *c.slot);
    gcd_mem_free(&c.alloc, c.is_owner, c.types * sizeof *c.is_owner);
    gcd_mem_free(&c.alloc, c.held, (c.held_count + 1) * sizeof *c.held);
    return st;
}
