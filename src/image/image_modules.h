/* Metadata of modules of an image that were used last stay open: each is megabytes to copy. */
#ifndef GCD_IMAGE_IMAGE_MODULES_H
#define GCD_IMAGE_IMAGE_MODULES_H

#include "image/clr/clr_names.h"

#define IMAGE_MODULES_OPEN 24u

struct image_modules {
    struct clr *clr;
    uint64_t time; /* of the next use */
    struct image_module {
        uint64_t id, used; /* ID 0 = none */
        struct clr_metadata metadata;
    } open[IMAGE_MODULES_OPEN];
};

void image_modules_done(struct image_modules *m);
/* Those of the module with this id, until others were asked for; NULL = there are none. */
struct gcd_metadata *image_modules_get(struct image_modules *m, uint64_t id);

#endif
