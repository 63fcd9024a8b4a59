/*
 * Retained sizes of the largest objects, computed from the model, the roots and the dependent
 * handles.
 *
 * Shapes tree, list and fan need dominators only for the core: the objects that roots and dependent
 * handles refer to, and those between them.  Everything else is below the core, with a single path
 * to it, and known by formula.  So memory does not grow with the heap.  In shapes mix and random
 * every object is in the core, up to GH_RETAINED_MAX objects.
 */
#ifndef GH_RETAINED_H
#define GH_RETAINED_H

#include <stdbool.h>
#include <stdint.h>

#include "gh_holds.h"
#include "gh_model.h"

#define GH_RETAINED_MAX UINT64_C(40000000) /* shapes mix and random: 40 bytes per object */
#define GH_RETAINED_TOP 20u

struct gh_retained {
    bool known; /* false: nothing is held, or too large */
    uint64_t alive_objects, alive_bytes;
    uint32_t n_top;
    struct gh_retainer {
        uint64_t object, bytes;
    } top[GH_RETAINED_TOP]; /* largest first; equal ones in the order of the walk */
};

/* M: as it was during the walk that filled HOLDS.  false: no memory. */
bool gh_retained_find(const struct gh_model *m, const struct gh_holds *holds,
                      struct gh_retained *ret);

#endif
