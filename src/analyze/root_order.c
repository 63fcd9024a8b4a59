#include <gcdumpc/unstable/root_order.h>

#include "analyze/dominators/live_reached.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"

gcd_status gcd_reached_before(const struct gcd_graph *g, enum gcd_root_group limit,
                              const struct gcd_context *context, uint64_t *reached,
                              struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct live_edges f = { .alloc = a };
    if (gcd_graph_node_count(g) == 0)
        return GCD_OK;
    gcd_status st = live_edges_init(&f, g, &a)
                        ? live_reached(&f, limit, context->cancel, reached, err)
                        : gcd_fail_nomem(err, "following the roots");
    live_edges_done(&f);
    return st;
}
