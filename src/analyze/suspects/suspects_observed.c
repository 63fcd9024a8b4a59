/*
 * What the program did not allocate itself: the descriptions that the runtime makes of its own
 * events and counters when the first event session opens (measured, .NET 10: 255 KB below
 * NativeRuntimeEventSource).  In a small service they are most of the heap, so they are counted,
 * but nobody is accused of them.
 */
#include "analyze/suspects/suspects.h"

#include "base/event_source.h"
#include "base/ovf.h"

/* The descriptions are this deep below their source; a longer way up is something else. */
#define DEEPEST 64u

bool suspects_is_source(const struct gcd_graph *g, uint32_t type)
{
    const char *name = gcd_graph_summary(g)->types[type].name;
    size_t n = gcd_event_source(name);
    return n > 0 && name[n] == '\0';
}

bool suspects_is_observed(const struct suspects_work *w, uint32_t node)
{
    for (unsigned i = 0; i < DEEPEST && node < w->nodes; i++) {
        if (suspects_is_source(w->g, suspects_type_of(w, node)))
            return true;
        node = suspects_parent(w, node);
    }
    return false;
}

void suspects_find_observed(struct suspects_work *w)
{
    const struct gcd_summary *f = gcd_graph_summary(w->g);
    for (uint32_t type = 0; type < w->types; type++) {
        if (f->types[type].objects == 0 || !suspects_is_source(w->g, type))
            continue;
        for (uint32_t node = 0; node < w->nodes; node++)
            if (suspects_type_of(w, node) == type)
                gcd_add_saturating(&w->s->observed_bytes, gcd_dominators_retained(w->d, node));
    }
}
