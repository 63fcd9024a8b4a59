/* The private part of the preorder of include/gcdumpc/unstable/merged_tree.h. */
#ifndef GCD_ANALYZE_PREORDER_H
#define GCD_ANALYZE_PREORDER_H

#include <gcdumpc/dominators.h>
#include <gcdumpc/unstable/merged_tree.h>

/* Retained bytes that need more than 32 bits: the dominators know them. */
#define PREORDER_LARGE UINT32_MAX

struct preorder_object {
    uint32_t below;              /* objects that it dominates, with itself; they are those from here on */
    uint32_t type;
    uint32_t retained;           /* in bytes, or PREORDER_LARGE */
    union {
        uint32_t node;
        uint32_t next;           /* for who uses the order up */
    };
};

struct gcd_preorder {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    const struct gcd_dominators *d;
    struct preorder_object *objects;     /* [count] the live ones */
    uint32_t count;
};

/* Not once NEXT has taken the place of its node. */
static inline uint64_t preorder_retained(const struct gcd_preorder *p, const struct preorder_object *o)
{
    return o->retained != PREORDER_LARGE ? o->retained : gcd_dominators_retained(p->d, o->node);
}

#endif
