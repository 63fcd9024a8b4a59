/*
 * Instances of generic types that the program has loaded, also those without objects: each module
 * has a table of them (vm/dacenumerablehash.h, vm/typehash.h), {module, heap, buckets, count}.  The
 * buckets are {how many, the table that replaces it, what ends a chain, entries ...}, an
 * entry {type handle, next, hash}.  The end of a chain is 0 or odd.
 */
#include "image/clr/clr.h"

#define TABLE_BUCKETS 16u
#define FIRST_BUCKET  2u
#define BUCKETS_MAX   (UINT32_C(1) << 22)
#define ENTRIES_MAX   (UINT32_C(1) << 22) /* of all modules */

static gcd_status add_chain(struct clr *c, uint64_t entry, uint32_t *left)
{
    gcd_status st = GCD_OK;
    for (; entry != 0 && (entry & 1) == 0 && *left > 0 && st == GCD_OK; (*left)--) {
        uint64_t handle = image_u64(c->image, entry) & ~UINT64_C(1);
        if (handle != 0 && !clr_is_type_desc(handle))
            (void)clr_type_of(c, handle, &st);
        entry = image_u64(c->image, entry + 8);
    }
    return st;
}

gcd_status clr_add_instances(struct clr *c)
{
    uint32_t left = ENTRIES_MAX;
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < c->module_count && c->layout.module_instances != 0; i++) {
        uint64_t module = c->modules[i].id,
                 table = image_u64(c->image, module + c->layout.module_instances);
        if (table == 0 || image_u64(c->image, table) != module)
            continue;
        uint64_t buckets = image_u64(c->image, table + TABLE_BUCKETS),
                 count = image_u64(c->image, buckets);
        bool has_end = (image_u64(c->image, buckets + 8 * (uint64_t)FIRST_BUCKET) & 1) != 0;
        buckets += 8 * (uint64_t)(FIRST_BUCKET + has_end);
        for (uint64_t k = 0; k < count && count <= BUCKETS_MAX && left > 0 && st == GCD_OK; k++)
            st = add_chain(c, image_u64(c->image, buckets + 8 * k), &left);
    }
    return st;
}
