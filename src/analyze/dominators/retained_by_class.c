/*
 * Lower bounds of what classes of types retain: the topmost objects of each in the dominator tree.
 *
 * In preorder a subtree is a range, so everything below an object of the same class is skipped.
 * Leaves whose class has no inner node (strings and the like) are never below their own class: a
 * separate pass in heap order adds them up.  A node is identified by its position in the order of
 * the tree (dominators.h), which keeps neighbours in the tree close together.
 */
#include <gcdumpc/retained.h>

#include "analyze/dominators/dominators.h"
#include "analyze/dominators/parts.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"

/* This many nodes are looked up together, so that their cache misses overlap. */
#define TOGETHER 64u
/* Prefetch distance, in leaves. */
#define AHEAD 16u
/* Parts of the preorder per thread; each part has its own sums. */
#define PARTS_A_THREAD 2u

struct classes {
    const struct gcd_graph *g;
    const struct gcd_dominators *d;
    const uint32_t *of_type; /* NULL: each type is a class */
    uint32_t count, parts;
    /* [inner + 1] sizes of the subtrees; then where the next child goes; finally the ends of the
     * subtrees */
    uint32_t *end;
    /* [reachable] the nodes in preorder; only the first PLACED are used */
    uint32_t *at;
    uint32_t placed;
    bool counted;    /* END holds positions, no longer sizes */
    bool *has_inner; /* [parts][count]; the first row finally joins all */
    /* [parts][count] where the subtree of the latest topmost object ends */
    uint32_t *covered;
    uint64_t *bytes; /* [parts][count] */
};

static uint32_t class_of(const struct classes *c, uint32_t node)
{
    uint32_t type = gcd_graph_node_type(c->g, node);
    return c->of_type != NULL ? c->of_type[type] : type;
}

static size_t row(const struct classes *c, uint32_t part)
{
    return (size_t)part * c->count;
}

/* ---- which leaves matter ---- */

/* Marks the classes of nodes with references: these may be inner nodes. */
static void find_inner(void *ctx, uint32_t part)
{
    struct classes *c = ctx;
    bool *has_inner = c->has_inner + row(c, part);
    uint32_t node, end, class;
    gcd_part_range(c->d->node_count, 1, part, c->parts, &node, &end);
    for (size_t n; node < end; node++) {
        (void)gcd_graph_node_edges(c->g, node, &n);
        if (n > 0 && (class = class_of(c, node)) != GCD_CLASS_NONE)
            has_inner[class] = true;
    }
}

static void join_inner(struct classes *c)
{
    uint32_t class;
    for (size_t i = 0; i < gcd_graph_dependent_count(c->g); i++)
        if ((class = class_of(c, gcd_graph_dependent(c->g, i)->key)) != GCD_CLASS_NONE)
            c->has_inner[class] = true;
    for (uint32_t part = 1; part < c->parts; part++)
        for (uint32_t i = 0; i < c->count; i++)
            c->has_inner[i] |= c->has_inner[row(c, part) + i];
}

static void add_leaves(void *ctx, uint32_t part)
{
    struct classes *c = ctx;
    const struct gcd_dominators *d = c->d;
    uint64_t *bytes = c->bytes + row(c, part);
    uint32_t i, end;
    gcd_part_range(d->reachable - d->inner, 1, part, c->parts, &i, &end);
    for (; i < end; i++) {
        uint32_t node = d->order[d->inner + 1 + i], class = class_of(c, node);
        if (class != GCD_CLASS_NONE && !c->has_inner[class])
            gcd_add_saturating(&bytes[class], dominators_retained(d, node));
    }
}

static bool is_placed(const struct classes *c, uint32_t leaf)
{
    uint32_t class = class_of(c, c->d->order[leaf]);
    return class != GCD_CLASS_NONE && c->has_inner[class];
}

/* ---- preorder ---- */

/* Counts the leaves of each parent; when called again, places them.  The order of leaves of a
 * parent depends on the threads and does not matter. */
static void take_leaves(void *ctx, uint32_t part)
{
    struct classes *c = ctx;
    const struct gcd_dominators *d = c->d;
    uint32_t i, stop;
    gcd_part_range(d->reachable - d->inner, 1, part, c->parts, &i, &stop);
    for (; i < stop; i++) {
        uint32_t leaf = d->inner + 1 + i;
        if (stop - i > AHEAD)
            __builtin_prefetch(&c->end[d->above[leaf + AHEAD]], 1);
        if (!is_placed(c, leaf))
            continue;
        uint32_t next = __atomic_fetch_add(&c->end[d->above[leaf]], 1, __ATOMIC_RELAXED);
        if (c->counted)
            c->at[next] = leaf;
    }
}

static void number_tree(struct classes *c)
{
    const struct gcd_dominators *d = c->d;
    const uint32_t *above = d->above;
    uint32_t *end = c->end;
    for (uint32_t v = 0; v <= d->inner; v++)
        end[v] = 1;
    gcd_parallel(d->threads, c->parts, take_leaves, c);
    c->counted = true;
    for (uint32_t v = d->inner; v > 0; v--)
        end[above[v]] += end[v];
    c->placed = end[0] - 1;
    end[0] = 0;
    for (uint32_t v = 1; v <= d->inner; v++) {
        uint32_t mine = end[above[v]];
        end[above[v]] += end[v];
        end[v] = mine + 1;
        c->at[mine] = v;
    }
    gcd_parallel(d->threads, c->parts, take_leaves, c);
}

/* A part begins inside the subtrees of V's ancestors: these cover what follows. */
static void cover_above(const struct classes *c, uint32_t v, uint32_t *covered)
{
    while ((v = c->d->above[v]) != 0) {
        uint32_t class = class_of(c, c->d->order[v]);
        if (class != GCD_CLASS_NONE && covered[class] < c->end[v])
            covered[class] = c->end[v];
    }
}

static void add_topmost(void *ctx, uint32_t part)
{
    struct classes *c = ctx;
    const struct gcd_dominators *d = c->d;
    uint32_t *covered = c->covered + row(c, part), i, stop, nodes[TOGETHER], classes[TOGETHER];
    uint64_t *bytes = c->bytes + row(c, part);
    gcd_part_range(c->placed, 1, part, c->parts, &i, &stop);
    if (i < stop)
        cover_above(c, c->at[i], covered);
    for (uint32_t n; i < stop; i += n) {
        n = stop - i < TOGETHER ? stop - i : TOGETHER;
        for (uint32_t k = 0; k < n; k++)
            nodes[k] = d->order[c->at[i + k]];
        for (uint32_t k = 0; k < n; k++) {
            dominators_fetch_retained(d, nodes[k]);
            classes[k] = class_of(c, nodes[k]);
        }
        for (uint32_t k = 0; k < n; k++) {
            uint32_t class = classes[k], v = c->at[i + k];
            if (class == GCD_CLASS_NONE || i + k < covered[class])
                continue;
            covered[class] = v <= d->inner ? c->end[v] : i + k + 1;
            gcd_add_saturating(&bytes[class], dominators_retained(d, nodes[k]));
        }
    }
}

/* ---- the whole ---- */

static void add_up(struct classes *c, uint64_t *ret_bytes)
{
    unsigned threads = c->d->threads;
    gcd_parallel(threads, c->parts, find_inner, c);
    join_inner(c);
    gcd_parallel(threads, c->parts, add_leaves, c);
    number_tree(c);
    gcd_parallel(threads, c->parts, add_topmost, c);
    for (uint32_t i = 0; i < c->count; i++) {
        ret_bytes[i] = 0;
        for (uint32_t part = 0; part < c->parts; part++)
            gcd_add_saturating(&ret_bytes[i], c->bytes[row(c, part) + i]);
    }
}

/* Limits the number of parts so that their sums take less memory than the nodes. */
static uint32_t part_count(const struct classes *c)
{
    uint64_t wanted = c->d->threads > 1 ? (uint64_t)c->d->threads * PARTS_A_THREAD : 1;
    uint64_t most = 1 + c->d->node_count / (4 * ((uint64_t)c->count + 1));
    return (uint32_t)(wanted < most ? wanted : most);
}

gcd_status gcd_retained_by_class(const struct gcd_graph *g, const struct gcd_dominators *d,
                                 const struct gcd_type_classes *classes,
                                 const struct gcd_alloc *alloc, uint64_t *ret_bytes,
                                 struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct classes c = { .g = g, .d = d, .of_type = classes->of_type, .count = classes->count };
    c.parts = part_count(&c);
    size_t nodes = (size_t)d->inner + 1, cells = row(&c, c.parts);
    c.end = gcd_mem_new_uncleared(&a, nodes, sizeof *c.end);
    c.at = gcd_mem_new_uncleared(&a, d->reachable, sizeof *c.at);
    c.has_inner = gcd_mem_new_array(&a, cells, sizeof *c.has_inner);
    c.covered = gcd_mem_new_array(&a, cells, sizeof *c.covered);
    c.bytes = gcd_mem_new_array(&a, cells, sizeof *c.bytes);
    bool ok = c.end != NULL && c.at != NULL && c.has_inner != NULL && c.covered != NULL &&
              c.bytes != NULL;
    if (ok)
        add_up(&c, ret_bytes);
    gcd_mem_free(&a, c.end, nodes * sizeof *c.end);
    gcd_mem_free(&a, c.at, d->reachable * sizeof *c.at);
    gcd_mem_free(&a, c.has_inner, cells * sizeof *c.has_inner);
    gcd_mem_free(&a, c.covered, cells * sizeof *c.covered);
    gcd_mem_free(&a, c.bytes, cells * sizeof *c.bytes);
    return ok ? GCD_OK : gcd_fail_nomem(err, "adding up retained sizes");
}

gcd_status gcd_retained_by_type(const struct gcd_graph *g, const struct gcd_dominators *d,
                                const struct gcd_alloc *alloc, uint64_t *ret_bytes,
                                struct gcd_error *err)
{
    struct gcd_type_classes classes = { .count = gcd_graph_summary(g)->type_count };
    return gcd_retained_by_class(g, d, &classes, alloc, ret_bytes, err);
}
