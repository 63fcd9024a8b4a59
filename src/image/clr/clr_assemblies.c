/*
 * Modules of which the heap has no objects: those of static classes, and of assemblies that are
 * generated at run time.  An AppDomain has its assemblies in a list (vm/arraylist.h) {count u32,
 * first block}, a block {next, places u32, pointers}; the first block has five places.  A pointer
 * leads to the module in one step or two.  The offsets differ between versions: those are taken
 * that lead to System.Private.CoreLib first, and to most modules that objects have shown.
 */
#include "base/context.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"

#define GLOBALS_MAX    256u  /* of g_dacTable */
#define DOMAIN_BYTES   8192u /* that are searched for the list */
#define ASSEMBLY_BYTES 256u  /* and for the pointer to a module */
#define ASSEMBLIES_MAX 65536u
#define LISTS_MAX      512u /* that are tried; .NET 8 to 11 have 7 to 29, alive 8 to 29 */
#define FIRST_PLACES   5u
#define ONE_STEP       UINT32_MAX

enum { LIST_COUNT = 0, LIST_BLOCK = 8, BLOCK_NEXT = 0, BLOCK_PLACES = 8, BLOCK_POINTERS = 16 };

struct assemblies {
    uint64_t list;
    uint32_t first, second; /* offsets of the steps; SECOND may be ONE_STEP */
    uint32_t known;         /* of the first places: modules that are known */
    uint32_t tried;         /* lists: a damaged image may have one at every offset */
};

static uint64_t module_of(struct clr *c, uint64_t assembly, uint32_t first, uint32_t second)
{
    uint64_t to = assembly != 0 ? image_u64(c->image, assembly + first) : 0;
    return second == ONE_STEP || to == 0 ? to : image_u64(c->image, to + second);
}

static void try_steps(struct clr *c, uint64_t core, struct assemblies *at, struct assemblies *best)
{
    uint64_t pointers = at->list + LIST_BLOCK + BLOCK_POINTERS;
    if (module_of(c, image_u64(c->image, pointers), at->first, at->second) != core)
        return;
    at->known = 0;
    for (uint32_t i = 0; i < FIRST_PLACES; i++) {
        uint64_t assembly = image_u64(c->image, pointers + 8 * (uint64_t)i),
                 module = module_of(c, assembly, at->first, at->second);
        at->known += module != 0 && gcd_idmap_get(&c->module_by_id, module) != GCD_IDMAP_NONE;
    }
    if (at->known > best->known)
        *best = *at;
}

/* Is there a list of assemblies at AT->LIST? */
static void try_list(struct clr *c, uint64_t core, struct assemblies *at, struct assemblies *best)
{
    uint32_t count = image_u32(c->image, at->list + LIST_COUNT);
    uint64_t block = at->list + LIST_BLOCK;
    if (count == 0 || count > ASSEMBLIES_MAX ||
        image_u32(c->image, block + BLOCK_PLACES) != FIRST_PLACES)
        return;
    at->tried++;
    for (at->first = 0; at->first < ASSEMBLY_BYTES; at->first += 8) {
        at->second = ONE_STEP;
        try_steps(c, core, at, best);
        for (at->second = 0; at->second < ASSEMBLY_BYTES; at->second += 8)
            try_steps(c, core, at, best);
    }
}

static struct assemblies find_list(struct clr *c, uint64_t core)
{
    struct assemblies best = { .list = 0 }, at = { .list = 0 };
    for (uint32_t i = 0; i < GLOBALS_MAX && at.tried < LISTS_MAX; i++) {
        uint64_t entry = image_u64(c->image, c->dac + 8 * (uint64_t)i);
        uint64_t domain = entry != 0 ? image_u64(c->image, entry) : 0;
        if (domain == 0 || domain % 8 != 0)
            continue;
        for (uint32_t off = 0; off < DOMAIN_BYTES && at.tried < LISTS_MAX; off += 8) {
            at.list = domain + off;
            try_list(c, core, &at, &best);
        }
    }
    c->gaps.no_assembly_list = best.list == 0;
    c->gaps.too_many_lists = at.tried == LISTS_MAX;
    return best;
}

gcd_status
clr_each_assembly(struct clr *c, uint64_t core,
                  gcd_status (*fn)(struct clr *c, uint64_t module, struct gcd_error *err),
                  struct gcd_error *err)
{
    struct assemblies a = { .list = 0 };
    if (core != 0)
        a = find_list(c, core);
    uint64_t block = a.list + LIST_BLOCK;
    uint32_t left = a.list != 0 ? image_u32(c->image, a.list + LIST_COUNT) : 0;
    if (left > ASSEMBLIES_MAX)
        left = ASSEMBLIES_MAX;
    while (left > 0 && block != 0) {
        uint32_t places = image_u32(c->image, block + BLOCK_PLACES);
        if (places == 0 || places > ASSEMBLIES_MAX)
            break;
        for (uint32_t i = 0; i < places && left > 0; i++, left--) {
            uint64_t assembly = image_u64(c->image, block + BLOCK_POINTERS + 8 * (uint64_t)i),
                     module = module_of(c, assembly, a.first, a.second);
            if (module != 0)
                GCD_TRY(fn(c, module, err));
            else if (assembly != 0)
                c->gaps.unread_assemblies++;
        }
        GCD_TRY(gcd_check_canceled(c->context->cancel, err));
        block = image_u64(c->image, block + BLOCK_NEXT);
    }
    c->gaps.unread_assemblies += left;
    return GCD_OK;
}
