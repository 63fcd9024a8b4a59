/* The limit of the collections in objects of one class, from a field of each. */
#include <gcdumpc/unstable/graph/graph_types.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "base/text.h"

/* One owner in so many is nearly full. */
#define FULL_OF 4u
/* Fewer elements are near many numbers. */
#define LEAST_LIMITED 8u
/* Owners whose fields are looked at. */
#define OWNERS_SEEN 64u

/* Has OWNER an array?  Then its capacity may be the length of that, which grows when it is full. */
static bool has_array(const struct gcd_graph *g, uint32_t owner)
{
    size_t n;
    const uint32_t *edges = gcd_graph_few_edges(g, owner, &n);
    for (size_t i = 0; i < n; i++)
        if (gcd_text_is_array(gcd_graph_summary(g)->types[gcd_graph_node_type(g, edges[i])].name))
            return true;
    return false;
}

const char *gcd_session_owner_limit(struct gcd_session *s, const struct gcd_owner_fill *f,
                                    uint64_t *ret)
{
    const struct gcd_graph *g = gcd_session_graph(s);
    const char *field = NULL;
    uint64_t number = 0, first = 0;
    uint32_t nodes = gcd_graph_node_count(g), seen = 0;
    if (f->nearly < f->owners / FULL_OF || f->most < LEAST_LIMITED)
        return NULL;
    for (uint32_t node = 0; node < nodes && seen < OWNERS_SEEN; node++) {
        if (gcd_graph_node_type(g, node) != f->owner)
            continue;
        field = gcd_session_limit(s, gcd_graph_node_address(g, node), f->most, &number);
        if (field == NULL || (seen > 0 && number != first) || f->most < number - number / 4 ||
            (gcd_limit_is_capacity(field) && has_array(g, node)))
            return NULL;
        first = number;
        seen++;
    }
    *ret = first;
    return field;
}
