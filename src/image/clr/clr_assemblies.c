/*
 * Modules of which the heap has no objects: those of static classes, and of assemblies that are
 * generated at run time.  The AppDomain, which is the global behind GcDacVars in g_dacTable, has
 * its assemblies in a list (vm/arraylist.h) {count u32, first block}, a block {next, places u32,
 * pointers}; the first block has five places.  Where that list lies differs between versions: the
 * first assembly in it is System.Private.CoreLib, whose module leads back to it.
 */
#include "base/context.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"

#define DOMAIN_BYTES   8192u /* that are searched for the list; at 576 to 2544 so far */
#define ASSEMBLIES_MAX 65536u
#define FIRST_PLACES   5u

enum { LIST_COUNT = 0, LIST_BLOCK = 8, BLOCK_NEXT = 0, BLOCK_PLACES = 8, BLOCK_POINTERS = 16 };

/* Of a place in the list; 0 = there is none that leads back to its assembly. */
static uint64_t module_of(struct clr *c, uint64_t place)
{
    const struct clr_layout *l = &c->layout;
    uint64_t assembly = l->list_of_assemblies ? place : image_u64(c->image, place);
    uint64_t module = assembly != 0 ? image_u64(c->image, assembly + l->assembly_module) : 0;
    bool back = module != 0 && image_u64(c->image, module + l->module_assembly) == assembly;
    return back ? module : 0;
}

static uint64_t find_list(struct clr *c, uint64_t core)
{
    uint64_t entry = image_u64(c->image, c->dac + 8 * ((uint64_t)c->dac_index + 1));
    uint64_t domain = entry != 0 ? image_u64(c->image, entry) : 0;
    for (uint32_t off = 0; domain != 0 && off < DOMAIN_BYTES; off += 8) {
        uint64_t list = domain + off, block = list + LIST_BLOCK;
        uint32_t count = image_u32(c->image, list + LIST_COUNT);
        if (count > 0 && count <= ASSEMBLIES_MAX &&
            image_u32(c->image, block + BLOCK_PLACES) == FIRST_PLACES &&
            module_of(c, image_u64(c->image, block + BLOCK_POINTERS)) == core)
            return list;
    }
    return 0;
}

gcd_status
clr_each_assembly(struct clr *c, uint64_t core,
                  gcd_status (*fn)(struct clr *c, uint64_t module, struct gcd_error *err),
                  struct gcd_error *err)
{
    uint64_t list = core != 0 ? find_list(c, core) : 0, block = list + LIST_BLOCK;
    uint32_t left = list != 0 ? image_u32(c->image, list + LIST_COUNT) : 0;
    c->gaps.no_assembly_list = list == 0 && core != 0;
    while (left > 0 && block != 0) {
        uint32_t places = image_u32(c->image, block + BLOCK_PLACES);
        if (places == 0 || places > ASSEMBLIES_MAX)
            break;
        for (uint32_t i = 0; i < places && left > 0; i++, left--) {
            uint64_t place = image_u64(c->image, block + BLOCK_POINTERS + 8 * (uint64_t)i),
                     module = module_of(c, place);
            if (module != 0)
                GCD_TRY(fn(c, module, err));
            else if (place != 0)
                c->gaps.unread_assemblies++;
        }
        GCD_TRY(gcd_check_canceled(c->context->cancel, err));
        block = image_u64(c->image, block + BLOCK_NEXT);
    }
    c->gaps.unread_assemblies += left;
    return GCD_OK;
}
