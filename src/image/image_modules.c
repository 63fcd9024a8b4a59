#include "image/image_modules.h"

static void close_module(struct image_modules *m, struct image_module *at)
{
    if (at->id != 0)
        clr_metadata_close(m->clr, &at->metadata);
    *at = (struct image_module){ .id = 0 };
}

void image_modules_done(struct image_modules *m)
{
    for (size_t i = 0; i < IMAGE_MODULES_OPEN; i++)
        close_module(m, &m->open[i]);
}

struct gcd_metadata *image_modules_get(struct image_modules *m, uint64_t id)
{
    uint32_t number = id != 0 ? gcd_idmap_get(&m->clr->module_by_id, id) : GCD_IDMAP_NONE;
    struct image_module *at = &m->open[0];
    if (number == GCD_IDMAP_NONE)
        return NULL;
    for (size_t i = 0; i < IMAGE_MODULES_OPEN && at->id != id; i++)
        if (m->open[i].id == id || m->open[i].used < at->used)
            at = &m->open[i];
    if (at->id != id) {
        close_module(m, at);
        if (!clr_metadata_find(m->clr, &m->clr->modules[number], &at->metadata))
            at->metadata = (struct clr_metadata){ .bytes = NULL };
        at->id = id;
    }
    at->used = ++m->time;
    return at->metadata.m;
}
