#include "analyze/flow.h"

#include "base/mem.h"

bool flow_init(struct flow *f, const struct gcd_graph *g, const struct gcd_alloc *alloc)
{
    *f = (struct flow){ .alloc = *alloc, .g = g };
    size_t n = gcd_graph_dependent_count(g);
    if (n == 0)
        return true;
    f->words = ((size_t)gcd_graph_node_count(g) + 63) / 64;
    f->is_key = gcd_mem_new_array(&f->alloc, f->words, sizeof *f->is_key);
    if (f->is_key == NULL)
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t key = gcd_graph_dependent(g, i)->key;
        f->is_key[key >> 6] |= UINT64_C(1) << (key & 63);
    }
    return true;
}

void flow_done(struct flow *f)
{
    gcd_mem_free(&f->alloc, f->is_key, f->words * sizeof *f->is_key);
    f->is_key = NULL;
}

size_t flow_first_dependent(const struct flow *f, uint32_t node)
{
    size_t low = 0, high = gcd_graph_dependent_count(f->g);
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (gcd_graph_dependent(f->g, mid)->key < node)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}
