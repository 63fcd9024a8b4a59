/*
 * What a dump has only because the process is observed: the descriptions that the runtime makes of
 * its own events.  They come with the first event session, so they are not what has grown.
 */
#include "answer/answers.h"

#include <string.h>

#include "base/error.h"
#include "base/event_source.h"
#include "base/mem.h"
#include "base/ovf.h"

enum { UNKNOWN, OBSERVED, OTHER };

/* Marks NODE and those above it: is it a source, or below one?  SOURCES: which types are sources.
 */
static void mark(const struct gcd_graph *g, const struct gcd_dominators *d, const bool *sources,
                 uint32_t node, uint8_t *marks)
{
    uint32_t up = node, n = gcd_graph_node_count(g);
    uint8_t found = OTHER;
    for (; up < n && marks[up] == UNKNOWN && found == OTHER; up = gcd_dominators_parent(d, up))
        if (sources[gcd_graph_node_type(g, up)])
            found = OBSERVED;
    if (found == OTHER && up < n)
        found = marks[up];
    for (uint32_t k = node; k != up; k = gcd_dominators_parent(d, k))
        marks[k] = found;
}

static gcd_status add_up(struct gcd_session *s, const bool *sources, uint64_t *of_type,
                         struct gcd_error *err)
{
    const struct gcd_graph *g = gcd_session_graph(s);
    const struct gcd_dominators *d;
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    uint32_t n = gcd_graph_node_count(g);
    GCD_TRY(gcd_session_dominators(s, NULL, &d, err));
    uint8_t *marks = gcd_mem_new(&a, n);
    if (marks == NULL)
        return gcd_fail_nomem(err, "comparing types");
    for (uint32_t node = 0; node < n; node++) {
        mark(g, d, sources, node, marks);
        if (marks[node] == OBSERVED)
            gcd_add_saturating(&of_type[gcd_graph_node_type(g, node)],
                               gcd_graph_node_size(g, node));
    }
    gcd_mem_free(&a, marks, n);
    return GCD_OK;
}

gcd_status answer_observed(struct gcd_session *s, const struct gcd_diff *d, uint64_t *ret,
                           struct gcd_error *err)
{
    const struct gcd_summary *f = gcd_graph_summary(gcd_session_graph(s));
    struct gcd_alloc a = gcd_alloc_or_default(NULL);
    uint32_t n = f->type_count;
    uint64_t *of_type = gcd_mem_new_array(&a, (size_t)n + 1, sizeof *of_type);
    bool *sources = gcd_mem_new_array(&a, (size_t)n + 1, sizeof *sources), any = false;
    gcd_status st =
        of_type != NULL && sources != NULL ? GCD_OK : gcd_fail_nomem(err, "comparing types");
    for (uint32_t i = 0; i < n && st == GCD_OK; i++) {
        sources[i] = f->types[i].objects > 0 && gcd_event_source(f->types[i].name) > 0;
        any = any || sources[i];
    }
    if (any)
        st = add_up(s, sources, of_type, err);
    for (uint32_t i = 0; i < n && st == GCD_OK; i++)
        for (size_t row = 0; of_type[i] > 0 && row < gcd_diff_row_count(d); row++)
            if (strcmp(gcd_diff_row(d, row)->name, gcd_names_plain(gcd_session_names(s), i)) == 0)
                gcd_add_saturating(&ret[row], of_type[i]);
    gcd_mem_free(&a, sources, ((size_t)n + 1) * sizeof *sources);
    gcd_mem_free(&a, of_type, ((size_t)n + 1) * sizeof *of_type);
    return st;
}
