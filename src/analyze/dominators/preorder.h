/* The private part of the preorder of include/gcdumpc/unstable/merged_tree.h. */
#ifndef GCD_ANALYZE_PREORDER_H
#define GCD_ANALYZE_PREORDER_H

#include <gcdumpc/dominators.h>
#include <gcdumpc/unstable/merged_tree.h>

/* Stands for a retained size that does not fit in 32 bits; the dominators have it. */
#define PREORDER_LARGE UINT32_MAX

struct preorder_object {
    /* objects it dominates, itself included; they are stored from here on */
    uint32_t below;
    uint32_t type;
    uint32_t retained; /* in bytes, or PREORDER_LARGE */
    union {
        uint32_t node;
        uint32_t next; /* for a caller that consumes the order */
    };
};

struct gcd_preorder {
    struct gcd_alloc alloc;
    const struct gcd_graph *g;
    const struct gcd_dominators *d;
    struct preorder_object *objects; /* [count] the live ones */
    uint32_t count;
};

/* Invalid once NEXT has overwritten the node. */
static inline uint64_t preorder_retained(const struct gcd_preorder *p,
                                         const struct preorder_object *o)
{
    return o->retained != PREORDER_LARGE ? o->retained : gcd_dominators_retained(p->d, o->node);
}

#endif
