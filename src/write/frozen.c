#include "write/frozen.h"

#include <gcdumpc/generations.h>

#include "base/error.h"
#include "base/mem.h"

static void mark(struct frozen_nodes *f, uint32_t node)
{
    f->bits[node / 64] |= UINT64_C(1) << node % 64;
}

/* Marks what something refers to. */
static void mark_referenced(struct frozen_nodes *f, const struct gcd_graph *g)
{
    const struct gcd_summary *s = gcd_graph_summary(g);
    for (uint32_t node = 0; node < gcd_graph_node_count(g); node++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
        for (size_t i = 0; i < n; i++)
            if (edges[i] != node)
                mark(f, edges[i]);
    }
    for (size_t i = 0; i < gcd_graph_dependent_count(g); i++)
        mark(f, gcd_graph_dependent(g, i)->value);
    for (size_t i = 0; i < s->root_count; i++)
        if (gcd_root_group(&s->roots[i]) != GCD_GROUP_WEAK)
            mark(f, s->roots[i].node);
}

static bool has_root(const struct gcd_summary *s)
{
    for (size_t i = 0; i < s->root_count; i++)
        if (gcd_root_group(&s->roots[i]) != GCD_GROUP_WEAK)
            return true;
    return false;
}

/* Leaves those marked that are frozen and were not marked before. */
static void keep_frozen(struct frozen_nodes *f, const struct gcd_graph *g,
                        const struct gcd_generations *ages)
{
    size_t hint = 0;
    for (uint32_t node = 0; node < gcd_graph_node_count(g); node++) {
        uint64_t bit = UINT64_C(1) << node % 64, *word = &f->bits[node / 64];
        bool keep = (*word & bit) == 0 && node != gcd_graph_unknown(g) &&
                    gcd_is_frozen(ages, gcd_graph_node_address(g, node), &hint);
        *word = keep ? *word | bit : *word & ~bit;
        f->count += keep;
    }
}

gcd_status frozen_nodes_find(struct frozen_nodes *f, const struct gcd_graph *g,
                             const struct gcd_alloc *a, struct gcd_error *err)
{
    struct gcd_generations *ages;
    *f = (struct frozen_nodes){ .words = ((size_t)gcd_graph_node_count(g) + 63) / 64 };
    GCD_TRY(gcd_frozen_new(gcd_graph_summary(g), !has_root(gcd_graph_summary(g)), a, &ages, err));
    if (ages == NULL)
        return GCD_OK;
    f->bits = gcd_mem_new_array(a, f->words, sizeof *f->bits);
    if (f->bits != NULL) {
        mark_referenced(f, g);
        keep_frozen(f, g, ages);
    }
    gcd_generations_free(ages);
    return f->bits != NULL ? GCD_OK : gcd_fail_nomem(err, "looking for frozen objects");
}

void frozen_nodes_done(struct frozen_nodes *f, const struct gcd_alloc *a)
{
    gcd_mem_free(a, f->bits, f->words * sizeof *f->bits);
}
