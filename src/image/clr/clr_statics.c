/*
 * Static variables of reference type (and boxed value types), with class and field.
 *
 * A class has its FieldDescs in a list (vm/class.h, vm/field.h); those of static references have an
 * offset into the statics of the class (.NET 9 and later: DynamicStaticsInfo before the auxiliary
 * data of the method table) or of the module (.NET 8: DomainLocalModule).  Tokens and names come
 * from the metadata; a FieldDesc is believed if its class, its token and its kind agree with them.
 *
 * Each instance of a generic class has variables of its own (.NET 9 and later), described by the
 * FieldDescs of the instance whose code it shares.  Instances are those that objects of the heap,
 * their base types and their arguments are of: a class without objects is not found.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"
#include "names/csharp.h"

#define STATICS_MAX (UINT64_C(16) << 20)
#define FIELDS_MAX  65536u /* of one class */
#define MAP_PARTS   1024u

enum {
    MT_AUXILIARY = 32,
    MT_CLASS = 40,
    CLASS_FIELDS = 24,
    STATICS_BYTES = 24, /* of DynamicStaticsInfo, before the auxiliary data */
    DOMAIN_STATICS = 32
};
/* .NET 8: generic and collectible classes have a place of their own. */
#define FLAG_DYNAMIC_STATICS_8 UINT32_C(0x00000006)

/* ModuleLookupMap {next, table, count, flags}. */
uint64_t clr_table_of_definition(struct clr *c, uint64_t module, uint32_t rid)
{
    uint64_t map = module + c->layout.module_types;
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

uint64_t clr_field_desc(struct clr *c, uint64_t table, uint32_t token)
{
    uint64_t class = image_u64(c->image, table + MT_CLASS);
    uint64_t shared = (class & 1) != 0 ? class & ~UINT64_C(1) : table;
    if (shared != table)
        class = image_u64(c->image, shared + MT_CLASS);
    uint64_t field = image_u64(c->image, class + CLASS_FIELDS);
    for (unsigned i = 0; field != 0 && i < FIELDS_MAX; i++, field += CLR_FIELD_BYTES) {
        uint64_t owner = image_u64(c->image, field);
        if (owner != shared)
            return 0; /* the list of another class begins here */
        if ((image_u32(c->image, field + 8) & 0xffffff) == (token & 0xffffff))
            return field;
    }
    return 0;
}

static gcd_status keep_text(struct clr *c, const char *text, size_t n, const char **ret,
                            struct gcd_error *err)
{
    gcd_status st = gcd_textpool_add(&c->text, text, n, ret);
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot keep the names of static variables");
}

/* The class that declares a variable. */
struct declaring {
    uint64_t table;
    const char *name; /* of an instance of a generic class: not yet known */
    uint32_t type;    /* such an instance, else CLR_NONE */
};

static gcd_status add_static(struct clr *c, uint64_t address, const struct declaring *by,
                             const char *field, struct gcd_error *err)
{
    uint64_t object = image_u64(c->image, address);
    if (object == 0 || clr_region_at(c, object) == NULL)
        return GCD_OK;
    if (!gcd_vec_reserve(&c->alloc, &c->statics, &c->static_cap, c->static_count + 1,
                         sizeof *c->statics, STATICS_MAX))
        return gcd_fail_nomem(err, "reading static variables");
    struct clr_static *s = &c->statics[c->static_count];
    *s = (struct clr_static){
        .object = object, .address = address, .class_name = by->name, .type = by->type
    };
    GCD_TRY(keep_text(c, field, strlen(field), &s->field, err));
    c->static_count++;
    return GCD_OK;
}

static gcd_status take_field(struct clr *c, const struct clr_module *module,
                             const struct declaring *by, const struct gcd_static_field *f,
                             struct gcd_error *err)
{
    uint64_t desc = clr_field_desc(c, by->table, f->token),
             statics = statics_of(c, module, by->table);
    uint32_t first = desc != 0 ? image_u32(c->image, desc + 8) : 0;
    uint32_t second = desc != 0 ? image_u32(c->image, desc + 12) : 0;
    uint32_t kind = second >> 27, offset = second & UINT32_C(0x7ffffff);
    if (desc == 0 || statics == 0 || (first & CLR_FIELD_STATIC) == 0 ||
        (first & (CLR_FIELD_THREAD | CLR_FIELD_RVA)) != 0 ||
        (kind != ELEMENT_CLASS && kind != ELEMENT_VALUETYPE) || offset % 8 != 0)
        return GCD_OK;
    /* variables of an instance lie in an array of the heap */
    if (by->type != CLR_NONE && clr_region_at(c, statics + offset) == NULL)
        return GCD_OK;
    return add_static(c, statics + offset, by, f->name, err);
}

/* The same for all instances of the generic class with this token. */
static gcd_status take_instances(struct clr *c, const struct clr_module *module,
                                 const struct clr_of_module *types, size_t n,
                                 const struct gcd_static_field *f, struct gcd_error *err)
{
    for (size_t i = 0; i < n && c->layout.module_statics == 0; i++) {
        const struct clr_type *t = &c->types[types[i].type];
        struct declaring by = { .table = t->id, .name = "", .type = (uint32_t)types[i].type };
        if (t->token == (f->class_token & 0xffffff) && t->arg_count > 0 && t->rank == 0)
            GCD_TRY(take_field(c, module, &by, f, err));
    }
    return GCD_OK;
}

/* ---- names of the classes ---- */

static gcd_status name_class(struct clr *c, struct clr_static *s, struct csharp *spelling,
                             struct gcd_error *err)
{
    const struct clr_type *t = &c->types[s->type];
    size_t outer = strlen(t->outer);
    spelling->n = 0;
    if ((outer > 0 && (!csharp_put(spelling, t->outer, outer) || !csharp_put(spelling, "+", 1))) ||
        !csharp_put(spelling, t->raw_name, strlen(t->raw_name)))
        return gcd_fail_nomem(err, "reading static variables");
    GCD_TRY(keep_text(c, spelling->out, spelling->n, &s->class_name, err));
    if (csharp_name(spelling, s->class_name, true) != GCD_OK)
        return gcd_fail_nomem(err, "reading static variables");
    return keep_text(c, spelling->out, spelling->n, &s->spelled, err);
}

gcd_status clr_name_static_classes(struct clr *c, struct gcd_error *err)
{
    struct csharp spelling;
    gcd_status st = GCD_OK;
    csharp_init(&spelling, &c->alloc);
    for (size_t i = 0; i < c->static_count && st == GCD_OK; i++)
        if (c->statics[i].type != CLR_NONE)
            st = name_class(c, &c->statics[i], &spelling, err);
        else
            c->statics[i].spelled = c->statics[i].class_name;
    csharp_done(&spelling);
    return st;
}

gcd_status clr_static_fields(struct clr *c, const struct clr_module *module,
                             const struct clr_of_module *types, size_t n, struct gcd_metadata *m,
                             struct gcd_error *err)
{
    struct gcd_static_field f = { 0 };
    uint32_t class_token = 0;
    struct declaring by = { .name = "", .type = CLR_NONE };
    gcd_status st;
    struct gcd_error own = GCD_ERROR_INIT;
    while ((st = gcd_metadata_next_static(m, &f, &own)) == GCD_OK) {
        if (f.class_token != class_token) {
            class_token = f.class_token;
            by.table = clr_table_of_definition(c, module->id, class_token & 0xffffff);
            by.name = NULL;
        }
        if (f.thread_static)
            continue;
        GCD_TRY(take_instances(c, module, types, n, &f, err));
        if (by.table == 0)
            continue;
        if (by.name == NULL) {
            const char *name;
            if (gcd_metadata_name(m, class_token, NULL, 0, &name, &own) != GCD_OK)
                continue;
            GCD_TRY(keep_text(c, name, strlen(name), &by.name, err));
        }
        GCD_TRY(take_field(c, module, &by, &f, err));
    }
    return st == GCD_E_NOMEM ? gcd_fail_nomem(err, "reading static variables") : GCD_OK;
}
