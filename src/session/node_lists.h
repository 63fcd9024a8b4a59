/* Lists of nodes by a key: counted, then filled in the order of the nodes, so nothing is sorted. */
#ifndef GCD_SESSION_NODE_LISTS_H
#define GCD_SESSION_NODE_LISTS_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/context.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/graph.h>
#include <gcdumpc/status.h>

struct node_lists {
    /* [keys + 1] list K is items[starts[K]] up to, but not including, items[starts[K + 1]] */
    uint64_t *starts;
    uint32_t *items;      /* [starts[keys]] */
    uint64_t keys, count; /* number of keys and items */
};

/* The keys of a node. */
enum node_key {
    KEY_TYPE, /* its type */
    /* its parent in the dominator tree, the number of nodes for GCD_NODE_ROOT; none if it is
       unreachable */
    KEY_DOMINATOR,
    KEY_TARGETS /* the targets of its references */
};

struct node_lists_question {
    const struct gcd_graph *graph;
    const struct gcd_dominators *dominators; /* for KEY_DOMINATOR */
    enum node_key key;
    /* KEY_TARGETS: items are the numbers of the references, not the nodes */
    bool slots;
};

/* GCD_E_NOMEM, GCD_E_CANCELED; GCD_E_LIMIT: an object has more than 2^32 references (only with
 * SLOTS).  Leaves nothing behind on failure. */
GCD_MUST_CHECK gcd_status node_lists_init(struct node_lists *l, const struct node_lists_question *q,
                                          const struct gcd_context *context, struct gcd_error *err);
/*
 * The lists of KEY_DOMINATOR with the same starts in another order: largest retained size first,
 * equal ones as before.  *RET[L->count], NULL if the count is 0; free it as an array.  Memory
 * during the call: 32 bytes per item and 8 per key.  GCD_E_NOMEM, GCD_E_CANCELED.
 */
GCD_MUST_CHECK gcd_status node_lists_largest_first(const struct node_lists *l,
                                                   const struct gcd_dominators *d,
                                                   const struct gcd_context *context,
                                                   uint32_t **ret, struct gcd_error *err);
/* ALLOC: the context's.  Zeroed lists are fine. */
void node_lists_done(struct node_lists *l, const struct gcd_alloc *alloc);

#endif
