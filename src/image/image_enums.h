/* The enums of an image, and where definitions of other modules are. */
#ifndef GCD_IMAGE_IMAGE_ENUMS_H
#define GCD_IMAGE_IMAGE_ENUMS_H

#include <gcdumpc/unstable/metadata.h>

#include "base/idmap.h"
#include "base/text.h"
#include "image/image_modules.h"

struct enum_literal {
    uint64_t value;
    const char *name;
};

struct enumeration {
    uint64_t module;
    uint32_t token;
    uint8_t element;               /* CorElementType of its number */
    bool flags;                    /* its values are combined */
    struct enum_literal *literals; /* [count] in the order of the source, then combinations that
                                      were met, up to KNOWN */
    size_t count, known, cap;
};

struct definition {
    uint32_t module; /* of clr.modules */
    uint32_t token;  /* 0 = several modules have one of this name */
};

struct image_enums {
    struct gcd_alloc alloc;
    struct clr *clr;
    struct gcd_textpool *text;
    struct image_modules modules; /* that have enums */
    struct enumeration *items;    /* [count] */
    size_t count, cap;
    bool indexed;
    struct gcd_idmap by_name;       /* hash of a reflection name -> a definition */
    struct definition *definitions; /* [definition_count] */
    size_t definition_count, definition_cap;
};

/* Of C; names are kept in TEXT. */
void image_enums_init(struct image_enums *e, const struct gcd_alloc *alloc, struct clr *c,
                      struct gcd_textpool *text);
void image_enums_done(struct image_enums *e);

/* The number + 1 of enum TOKEN of MODULE, whose metadata are M; 0 = it is none, or it cannot be
 * kept. */
uint32_t image_enum_add(struct image_enums *e, uint64_t module, struct gcd_metadata *m,
                        uint32_t token);
/* The same of the type that NAME, as reflection spells it, means in another module: only if a
 * single module has such a type. */
uint32_t image_enum_find(struct image_enums *e, const char *name);

/* The definition that NAME, as reflection spells it, means: only if a single module has such a
 * type; until the next call, *RET_M has its metadata. */
bool image_enums_definition(struct image_enums *e, const char *name, uint64_t *ret_module,
                            struct gcd_metadata **ret_m, uint32_t *ret_token);

/* The name of VALUE of enum NUMBER, "Read | Write" of flags; NULL = it has none. */
const char *image_enum_name(struct image_enums *e, uint32_t number, uint64_t value);

#endif
