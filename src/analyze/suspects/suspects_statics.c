/*
 * Where the runtime keeps static variables: arrays that it holds with handles.  Variables that it
 * names are separate roots.  An object that only such an array holds is in a variable without a
 * name, usually of a generic class.  A thread that works on a variable holds the array, too.
 */
#include "analyze/suspects/suspects.h"

#include "base/error.h"
#include "base/mem.h"

/* At least this many of the objects in the array must be values of named variables. */
#define NAMED_LEAST 8u

static bool is_array_of_statics(const struct suspects_work *w, uint32_t node, const uint64_t *named)
{
    size_t n, found = 0;
    const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
    if (strcmp(gcd_graph_summary(w->g)->types[suspects_type_of(w, node)].name, "System.Object[]") !=
        0)
        return false;
    for (size_t i = 0; i < n && found < NAMED_LEAST; i++)
        found += bits_get(named, edges[i]);
    return found == NAMED_LEAST;
}

gcd_status suspects_find_statics(struct suspects_work *w, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(w->g);
    uint64_t *named = gcd_mem_new_array(w->alloc, w->words, sizeof *named);
    if (named == NULL)
        return gcd_fail_nomem(err, "looking for static variables");
    for (size_t i = 0; i < s->root_count; i++)
        if (gcd_root_group(&s->roots[i]) == GCD_GROUP_STATICS)
            bits_set(named, s->roots[i].node);
    for (size_t i = 0; i < s->root_count && w->static_count < SUSPECTS_STATICS; i++) {
        const struct gcd_root *r = &s->roots[i];
        enum gcd_root_group group = gcd_root_group(r);
        bool handle = group == GCD_GROUP_STRONG_HANDLES || group == GCD_GROUP_PINNED_HANDLES;
        if (handle && suspects_statics_root(w, r->node) == SIZE_MAX &&
            is_array_of_statics(w, r->node, named))
            w->statics[w->static_count++] = (struct suspects_statics){ r->node, i };
    }
    gcd_mem_free(w->alloc, named, w->words * sizeof *named);
    return GCD_OK;
}

size_t suspects_statics_root(const struct suspects_work *w, uint32_t node)
{
    for (size_t i = 0; i < w->static_count; i++)
        if (w->statics[i].node == node)
            return w->statics[i].root;
    return SIZE_MAX;
}
