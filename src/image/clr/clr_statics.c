/*
 * Static variables of reference type (and boxed value types), with class and field.
 *
 * A class has its FieldDescs in a list (vm/class.h, vm/field.h); those of static references have an
 * offset into the statics of the class (.NET 9 and later: DynamicStaticsInfo before the auxiliary
 * data of the method table) or of the module (.NET 8: DomainLocalModule).  Tokens and names come
 * from the metadata; a FieldDesc is believed if its class, its token and its kind agree with them.
 */
#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"

#define STATICS_MAX (UINT64_C(16) << 20)
#define FIELDS_MAX  65536u /* of one class */
#define MAP_PARTS   1024u

enum {
    MT_AUXILIARY = 32,
    MT_CLASS = 40,
    CLASS_FIELDS = 24,
    FIELD_BYTES = 16,
    STATICS_BYTES = 24, /* of DynamicStaticsInfo, before the auxiliary data */
    DOMAIN_STATICS = 32
};
/* .NET 8: generic and collectible classes have a place of their own. */
#define FLAG_DYNAMIC_STATICS_8 UINT32_C(0x00000006)

#define FIELD_STATIC (UINT32_C(1) << 24)
#define FIELD_THREAD (UINT32_C(1) << 25)
#define FIELD_RVA    (UINT32_C(1) << 26)

/* The method table of type RID of a module: ModuleLookupMap {next, table, count, flags}. */
static uint64_t table_of_type(struct clr *c, const struct clr_module *m, uint32_t rid)
{
    uint64_t map = m->id + c->layout.module_types;
    for (unsigned i = 0; map != 0 && i < MAP_PARTS; i++) {
        uint32_t count = image_u32(c->image, map + 16);
        uint64_t flags = image_u64(c->image, map + 24);
        if (rid < count)
            return image_u64(c->image, image_u64(c->image, map + 8) + 8 * (uint64_t)rid) & ~flags;
        rid -= count;
        map = image_u64(c->image, map);
    }
    return 0;
}

/* Where the static references of the class with this method table lie; 0 = not allocated. */
static uint64_t statics_of(struct clr *c, const struct clr_module *m, uint64_t table)
{
    if (c->layout.module_statics != 0) {
        if ((image_u32(c->image, table) & FLAG_DYNAMIC_STATICS_8) != 0)
            return 0;
        uint64_t local = image_u64(c->image, m->id + c->layout.module_statics);
        return local != 0 ? image_u64(c->image, local + DOMAIN_STATICS) : 0;
    }
    uint64_t auxiliary = image_u64(c->image, table + MT_AUXILIARY);
    return auxiliary != 0 ? image_u64(c->image, auxiliary - STATICS_BYTES) & ~UINT64_C(1) : 0;
}

/* The FieldDesc of field TOKEN of a class; 0 = there is none. */
static uint64_t find_field(struct clr *c, uint64_t table, uint32_t token)
{
    uint64_t class = image_u64(c->image, table + MT_CLASS);
    if ((class & 1) != 0)
        class = image_u64(c->image, (class & ~UINT64_C(1)) + MT_CLASS);
    uint64_t field = image_u64(c->image, class + CLASS_FIELDS);
    for (unsigned i = 0; field != 0 && i < FIELDS_MAX; i++, field += FIELD_BYTES) {
        uint64_t owner = image_u64(c->image, field);
        if (owner != table)
            return 0; /* the list of another class begins here */
        if ((image_u32(c->image, field + 8) & 0xffffff) == (token & 0xffffff))
            return field;
    }
    return 0;
}

static gcd_status add_static(struct clr *c, uint64_t address, const char *class_name,
                             const char *field, struct gcd_error *err)
{
    uint64_t object = image_u64(c->image, address);
    if (object == 0 || clr_region_at(c, object) == NULL)
        return GCD_OK;
    if (!gcd_vec_reserve(&c->alloc, &c->statics, &c->static_cap, c->static_count + 1,
                         sizeof *c->statics, STATICS_MAX))
        return gcd_fail_nomem(err, "reading static variables");
    struct clr_static *s = &c->statics[c->static_count];
    *s = (struct clr_static){ .object = object, .address = address, .class_name = class_name };
    gcd_status st = gcd_textpool_add(&c->text, field, strlen(field), &s->field);
    if (st != GCD_OK)
        return gcd_fail(err, st, "cannot keep the names of static variables");
    c->static_count++;
    return GCD_OK;
}

static gcd_status take_field(struct clr *c, const struct clr_module *module, uint64_t table,
                             const struct gcd_static_field *f, const char *class_name,
                             struct gcd_error *err)
{
    uint64_t desc = find_field(c, table, f->token), statics = statics_of(c, module, table);
    uint32_t first = desc != 0 ? image_u32(c->image, desc + 8) : 0;
    uint32_t second = desc != 0 ? image_u32(c->image, desc + 12) : 0;
    uint32_t kind = second >> 27, offset = second & UINT32_C(0x7ffffff);
    if (desc == 0 || statics == 0 || (first & FIELD_STATIC) == 0 ||
        (first & (FIELD_THREAD | FIELD_RVA)) != 0 ||
        (kind != ELEMENT_CLASS && kind != ELEMENT_VALUETYPE) || offset % 8 != 0)
        return GCD_OK;
    return add_static(c, statics + offset, class_name, f->name, err);
}

gcd_status clr_static_fields(struct clr *c, const struct clr_module *module, struct gcd_metadata *m,
                             struct gcd_error *err)
{
    struct gcd_static_field f = { 0 };
    uint32_t class_token = 0;
    const char *class_name = "";
    uint64_t table = 0;
    gcd_status st;
    struct gcd_error own = GCD_ERROR_INIT;
    while ((st = gcd_metadata_next_static(m, &f, &own)) == GCD_OK) {
        if (f.class_token != class_token) {
            class_token = f.class_token;
            table = table_of_type(c, module, class_token & 0xffffff);
            class_name = NULL;
        }
        if (table == 0 || f.thread_static)
            continue;
        if (class_name == NULL) {
            const char *name;
            if (gcd_metadata_name(m, class_token, NULL, 0, &name, &own) != GCD_OK)
                continue;
            st = gcd_textpool_add(&c->text, name, strlen(name), &class_name);
            if (st != GCD_OK)
                return gcd_fail(err, st, "cannot keep the names of static variables");
        }
        GCD_TRY(take_field(c, module, table, &f, class_name, err));
    }
    return st == GCD_E_NOMEM ? gcd_fail_nomem(err, "reading static variables") : GCD_OK;
}
