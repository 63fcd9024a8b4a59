/* Objects that only code holds, for formats in which the roots must lead to all that lives. */
#ifndef GCD_WRITE_FROZEN_H
#define GCD_WRITE_FROZEN_H

#include <gcdumpc/graph.h>

struct frozen_nodes {
    uint64_t *bits; /* [words] one per node; NULL = there are none, or it is not known which */
    size_t words;
    uint64_t count;
};

/*
 * Those frozen objects (gcd_is_frozen) that nothing refers to; the others follow from them, since
 * frozen objects refer to frozen ones only.  Takes 1 bit per node.  Always call frozen_nodes_done.
 * GCD_E_NOMEM.
 */
GCD_MUST_CHECK gcd_status frozen_nodes_find(struct frozen_nodes *f, const struct gcd_graph *g,
                                            const struct gcd_alloc *a, struct gcd_error *err);
void frozen_nodes_done(struct frozen_nodes *f, const struct gcd_alloc *a);

static inline bool frozen_nodes_has(const struct frozen_nodes *f, uint32_t node)
{
    return f->bits != NULL && (f->bits[node / 64] >> node % 64 & 1) != 0;
}

#endif
