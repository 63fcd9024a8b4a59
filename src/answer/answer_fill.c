/*
 * Owners that fill up to a limit: the eight latest entries of each of 24,000 accounts.  Between two
 * dumps more entries come, but no owner gets more than the fullest ones had before, and many have
 * just as many.  In a leak the fullest grow, too.
 */
#include "answer/answers.h"

#include <string.h>

#include <gcdumpc/dominators.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/session/views.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

/* Types with fewer objects do not fill many owners. */
#define FEWEST_OBJECTS 100u
/* At least so many owners tell, */
#define FEWEST_OWNERS 10u
/* of which one in so many is full: where the fullest just stopped to grow, few are equal. */
#define FULL_OF 4u

struct counting {
    const struct gcd_graph *g;
    const struct gcd_dominators *d;
    const struct gcd_origins *origins;
    struct gcd_alloc alloc;
    uint32_t nodes, types;
    uint32_t *above;            /* [nodes] the program's object of another type that holds it */
    uint32_t *count;            /* [nodes] objects of one type that it holds; 0 between types */
    struct answer_fill *owners; /* [types] of one type of elements; empty between types */
    uint8_t *slot;              /* [types] its number among the most numerous, else NO_SLOT */
    uint32_t *held; /* [held_count] what holds their objects, one type after the other, */
    size_t held_count,
        begin[ANSWER_FILLS + 1]; /* those of number I from BEGIN[I] to BEGIN[I + 1] */
};
#define NO_SLOT UINT8_MAX

static bool is_owner(const struct counting *c, uint32_t type)
{
    return gcd_origins_get(c->origins, type) == GCD_ORIGIN_OWN &&
           !gcd_text_is_array(gcd_graph_summary(c->g)->types[type].name);
}

static void find_above(struct counting *c)
{
    const uint32_t *order = gcd_dominators_order(c->d);
    uint32_t n = gcd_dominators_reachable(c->d);
    memset(c->above, 0xff, c->nodes * sizeof *c->above);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = order[i], up = gcd_dominators_parent(c->d, node);
        if (up >= GCD_NODE_ROOT)
            continue;
        uint32_t type = gcd_graph_node_type(c->g, up);
        bool other = type != gcd_graph_node_type(c->g, node);
        c->above[node] = other && is_owner(c, type) ? up : c->above[up];
    }
}

/* The most numerous types, fewer than ANSWER_FILLS. */
static size_t most_numerous(const struct counting *c, uint32_t ret[ANSWER_FILLS])
{
    const struct gcd_summary *s = gcd_graph_summary(c->g);
    size_t n = 0;
    for (uint32_t i = 0; i < c->types; i++) {
        if (s->types[i].objects < FEWEST_OBJECTS || gcd_text_is_array(s->types[i].name))
            continue;
        size_t at = n < ANSWER_FILLS ? n++ : ANSWER_FILLS;
        for (; at > 0 && s->types[ret[at - 1]].objects < s->types[i].objects; at--)
            if (at < ANSWER_FILLS)
                ret[at] = ret[at - 1];
        if (at < ANSWER_FILLS)
            ret[at] = i;
    }
    return n;
}

static void add_owner(struct answer_fill *f, uint32_t count)
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
    size_t next[ANSWER_FILLS];
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
        return gcd_fail_nomem(err, "counting what each owner holds");
    for (uint32_t node = 0; node < c->nodes; node++)
        if ((slot = slot_of(c, node)) != NO_SLOT)
            c->held[next[slot]++] = c->above[node];
    return GCD_OK;
}

/* The owners of the type that holds most objects of element number SLOT; *RET_OWNER: that type. */
static struct answer_fill count_one(struct counting *c, size_t slot, uint32_t *ret_owner)
{
    struct answer_fill most = { .owners = 0 };
    const uint32_t *held = c->held + c->begin[slot], *end = c->held + c->begin[slot + 1];
    for (const uint32_t *p = held; p < end; p++)
        c->count[*p]++;
    for (const uint32_t *p = held; p < end; p++) {
        struct answer_fill *f = &c->owners[gcd_graph_node_type(c->g, *p)];
        if (c->count[*p] > 0)
            add_owner(f, c->count[*p]);
        c->count[*p] = 0;
        if (f->elements > most.elements) {
            most = *f;
            *ret_owner = gcd_graph_node_type(c->g, *p);
        }
    }
    for (const uint32_t *p = held; p < end; p++)
        c->owners[gcd_graph_node_type(c->g, *p)] = (struct answer_fill){ .owners = 0 };
    return most;
}

static gcd_status count_all(struct counting *c, const struct gcd_names *names,
                            struct answer_fills *ret, struct gcd_error *err)
{
    uint32_t elements[ANSWER_FILLS], owner = 0;
    size_t n = most_numerous(c, elements);
    if (n == 0)
        return GCD_OK;
    c->above = gcd_mem_new_array(&c->alloc, c->nodes, sizeof *c->above);
    c->count = gcd_mem_new_array(&c->alloc, c->nodes, sizeof *c->count);
    c->owners = gcd_mem_new_array(&c->alloc, c->types, sizeof *c->owners);
    c->slot = gcd_mem_new_array(&c->alloc, c->types, sizeof *c->slot);
    if (c->above == NULL || c->count == NULL || c->owners == NULL || c->slot == NULL)
        return gcd_fail_nomem(err, "counting what each owner holds");
    find_above(c);
    GCD_TRY(list_held(c, elements, n, err));
    for (size_t i = 0; i < n; i++) {
        struct answer_fill f = count_one(c, i, &owner);
        if (f.owners < FEWEST_OWNERS)
            continue;
        const char *of = gcd_names_plain(names, owner), *in = gcd_names_plain(names, elements[i]);
        if (gcd_textpool_add(&ret->text, of, strlen(of), &f.owner) != GCD_OK ||
            gcd_textpool_add(&ret->text, in, strlen(in), &f.element) != GCD_OK)
            return gcd_fail_nomem(err, "counting what each owner holds");
        ret->fills[ret->count++] = f;
    }
    return GCD_OK;
}

gcd_status answer_fills_count(struct gcd_session *s, const struct gcd_alloc *alloc,
                              struct answer_fills *ret, struct gcd_error *err)
{
    struct counting c = { .g = gcd_session_graph(s), .alloc = *alloc };
    c.nodes = gcd_graph_node_count(c.g);
    c.types = (uint32_t)gcd_graph_summary(c.g)->type_count;
    GCD_TRY(gcd_session_dominators(s, NULL, &c.d, err));
    GCD_TRY(gcd_session_origins(s, NULL, &c.origins, err));
    gcd_status st = count_all(&c, gcd_session_names(s), ret, err);
    gcd_mem_free(&c.alloc, c.above, c.nodes * sizeof *c.above);
    gcd_mem_free(&c.alloc, c.count, c.nodes * sizeof *c.count);
    gcd_mem_free(&c.alloc, c.owners, c.types * sizeof *c.owners);
    gcd_mem_free(&c.alloc, c.slot, c.types * sizeof *c.slot);
    gcd_mem_free(&c.alloc, c.held, (c.held_count + 1) * sizeof *c.held);
    return st;
}

static const struct answer_fill *find(const struct answer_fills *in, const char *owner,
                                      const char *element)
{
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->fills[i].owner, owner) == 0 && strcmp(in->fills[i].element, element) == 0)
            return &in->fills[i];
    return NULL;
}

const struct answer_fill *answer_fills_limited(const struct answer_fills *before,
                                               const struct answer_fills *now,
                                               const struct answer_come *come)
{
    const struct answer_fill *was = find(before, come->owner, come->element),
                             *is = find(now, come->owner, come->element);
    if (was == NULL || is == NULL || is->most > was->most || is->full < is->owners / FULL_OF)
        return NULL;
    /* new owners bring their own: what holds the owners is the question then */
    uint64_t owners = is->owners > was->owners ? is->owners - was->owners : 0,
             come_there = is->elements > was->elements ? is->elements - was->elements : 0;
    return owners <= come_there / is->most / 2 ? is : NULL;
}
