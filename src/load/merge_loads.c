/* Merges types that are loaded several times. */
#include <gcdumpc/unstable/loads.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "load/load.h"

/* Adds the counts of number I, a load of FIRST, to FIRST. */
static void move_objects(struct gcd_dump *d, uint32_t i, uint32_t first)
{
    struct gcd_type *from = &d->types[i], *to = &d->types[first];
    if (from->objects > 0) {
        d->summary.types_used -= to->objects > 0;
        to->uneven_sizes = to->uneven_sizes || from->uneven_sizes;
    }
    if (from->objects > 0 && to->objects == 0)
        to->layout = from->layout;
    else if (from->objects > 0 && to->layout != NULL &&
             (from->layout == NULL || strcmp(from->layout, to->layout) != 0))
        to->layout = NULL; /* two versions of a type */
    gcd_add_saturating(&to->objects, from->objects);
    gcd_add_saturating(&to->bytes, from->bytes);
    gcd_add_saturating(&to->edges, from->edges);
    from->objects = from->bytes = from->edges = 0;
    from->uneven_sizes = false;
}

static void merge(struct gcd_dump *d, const uint32_t *first)
{
    for (uint32_t i = 0; i < d->type_count; i++)
        if (first[i] != i)
            move_objects(d, i, first[i]);
    for (size_t i = 0; i < d->type_number_count; i++)
        if (d->type_number[i] != GCD_TYPE_NONE)
            d->type_number[i] = first[d->type_number[i]];
    for (size_t i = 0; i < d->summary.root_count; i++)
        if (d->roots[i].type != GCD_TYPE_NONE)
            d->roots[i].type = first[d->roots[i].type];
}

gcd_status gcd_dump_merge_loads(struct gcd_dump *d, struct gcd_error *err)
{
    if (d->heap == NULL)
        return gcd_fail(err, GCD_E_STATE, "the dump is not closed");
    uint32_t *first = gcd_mem_new_array(&d->alloc, d->type_count, sizeof *first);
    bool some = false;
    if (first == NULL && d->type_count > 0)
        return gcd_fail_nomem(err, "merging the loads of types");
    gcd_status st = gcd_same_types(&d->summary, &d->alloc, first, &some, err);
    if (some)
        merge(d, first);
    gcd_mem_free(&d->alloc, first, d->type_count * sizeof *first);
    return st;
}
