/* The metadata of a module in the image. */
#ifndef GCD_IMAGE_CLR_NAMES_H
#define GCD_IMAGE_CLR_NAMES_H

#include <gcdumpc/unstable/metadata.h>

#include "image/clr/clr.h"

struct clr_metadata {
    uint8_t *bytes; /* [n] */
    size_t n;
    struct gcd_input *in; /* of BYTES, or NULL */
    struct gcd_module_file file;
    struct gcd_metadata *m;
    bool is_dynamic; /* of an assembly that was made in memory */
};

/* clr_assemblies.c: calls FN for the module of each assembly that the program has loaded, if they
 * can be found by that of System.Private.CoreLib. */
gcd_status
clr_each_assembly(struct clr *c, uint64_t core,
                  gcd_status (*fn)(struct clr *c, uint64_t module, struct gcd_error *err),
                  struct gcd_error *err);

/* False if the image has none that can be read. */
bool clr_metadata_open(struct clr *c, const struct clr_module *module, struct clr_metadata *ret);
/* The same, or else those of its file, if names were read from it: a file of the same build. */
bool clr_metadata_find(struct clr *c, const struct clr_module *module, struct clr_metadata *ret);
void clr_metadata_close(struct clr *c, struct clr_metadata *m);

/* clr_names.c: the modules of all types that were met, and of the assemblies that the program has
 * loaded, without names. */
gcd_status clr_find_modules(struct clr *c, struct gcd_error *err);

struct clr_of_module {
    uint64_t module; /* the first: gcd_sort_by_u64 */
    size_t type;
};

/* clr_statics.c: the method table of type RID of MODULE, of a generic one that of its definition; 0
 * = the program has not used it. */
uint64_t clr_table_of_definition(struct clr *c, uint64_t module, uint32_t rid);
/* The FieldDesc of field TOKEN of a class, or of an instance of it; 0 = there is
 * none.  {table u64, token and flags u32, offset (27 bits) and CorElementType u32} */
uint64_t clr_field_desc(struct clr *c, uint64_t table, uint32_t token);
#define CLR_FIELD_BYTES  16u
#define CLR_FIELD_STATIC (UINT32_C(1) << 24)
#define CLR_FIELD_THREAD (UINT32_C(1) << 25)
#define CLR_FIELD_RVA    (UINT32_C(1) << 26)

/* clr_statics.c: adds the static variables of MODULE that hold objects, TYPES[N] of which are met;
 * those of generic classes have no class name yet, */
gcd_status clr_static_fields(struct clr *c, const struct clr_module *module,
                             const struct clr_of_module *types, size_t n, struct gcd_metadata *m,
                             struct gcd_error *err);
/* which this fills in, when types have their names. */
gcd_status clr_name_static_classes(struct clr *c, struct gcd_error *err);

/* clr_frames.c: method, module and type of the method with the MethodDesc DESC; 0 = unknown. */
void clr_method_of(struct clr *c, uint64_t desc, struct clr_frame *ret);
/* "Shop.Pump.Run" for the method of F, by the metadata of its module; "" = a method without
 * metadata.  GCD_E_NOMEM. */
gcd_status clr_name_method(const struct clr_frame *f, struct gcd_metadata *m,
                           char ret[CLR_METHOD_BYTES]);
/* Was it signed as the assemblies of the framework are? */
bool clr_is_framework(const struct clr_module *module);
/* clr_frames.c: names the methods of the frames that are of MODULE. */
gcd_status clr_name_methods(struct clr *c, const struct clr_module *module, struct gcd_metadata *m,
                            struct gcd_error *err);

#endif
