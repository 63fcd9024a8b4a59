/*
 * Structs that are fields of objects: which method table says where their parts lie.
 *
 * That of a struct of its own stands in the table of its module.  An instance of a generic struct
 * is one of the types that were met: those of objects, of elements of arrays, arguments of others,
 * and those that the modules list.  Instances over references share one layout, so any of them will
 * do.  What is not found is unknown.
 */
#include <string.h>

#include "base/mem.h"
#include "base/signature.h"
#include "image/image_numbers.h"
#include "metadata/meta_members.h"

#define CORE_NAME       "System.Private.CoreLib"
#define SIGNATURE_BYTES ((size_t)512)
#define ARGUMENTS_MAX   8u
#define ARGUMENTS_DEEP  4u
#define INSTANCES_MAX   4096u /* of one generic struct that are compared */

/* ---- names ---- */

bool image_is_of_platform(struct gcd_metadata *m, uint32_t token)
{
    struct gcd_error own = GCD_ERROR_INIT;
    const char *assembly;
    return gcd_metadata_reference_assembly(m, token, &assembly, &own) == GCD_OK &&
           (strcmp(assembly, "System") == 0 || strncmp(assembly, "System.", 7) == 0 ||
            strcmp(assembly, "netstandard") == 0 || strcmp(assembly, "mscorlib") == 0);
}

bool image_is_core(struct gcd_metadata *m)
{
    return strcmp(gcd_metadata_identity(m)->assembly_name, CORE_NAME) == 0;
}

static const struct {
    const char *name;
    uint8_t element;
} primitives[] = { { "System.Boolean", 2 },
                   { "System.Char", 3 },
                   { "System.SByte", 4 },
                   { "System.Byte", 5 },
                   { "System.Int16", 6 },
                   { "System.UInt16", 7 },
                   { "System.Int32", 8 },
                   { "System.UInt32", 9 },
                   { "System.Int64", 10 },
                   { "System.UInt64", 11 },
                   { "System.Single", 12 },
                   { "System.Double", 13 },
                   { "System.IntPtr", ELEMENT_INTPTR },
                   { "System.UIntPtr", ELEMENT_UINTPTR } };

uint32_t image_primitive_element(const char *name)
{
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        if (strcmp(name, primitives[i].name) == 0)
            return primitives[i].element;
    return 0;
}

/* ---- method tables ---- */

/* What a type in a signature is for the layout of what has it as an argument. */
struct part_type {
    enum { PART_UNKNOWN, PART_REFERENCE, PART_VALUE } kind;
    uint64_t table; /* of a value type */
};

struct resolving {
    struct gcd_image_numbers *n;
    const struct clr_type *owner;
    struct gcd_cur c;
};

static struct part_type value_of(uint64_t table)
{
    return (struct part_type){ table != 0 ? PART_VALUE : PART_UNKNOWN, table };
}

/* Is the type that TABLE is of a value type with definition TOKEN of MODULE? */
static uint32_t value_type_of(struct clr *c, uint64_t table, uint64_t module, uint32_t token)
{
    gcd_status st = GCD_OK;
    uint32_t type = table != 0 ? clr_type_of(c, table, &st) : CLR_NONE;
    return type != CLR_NONE && clr_is_value_type(&c->types[type]) &&
                   c->types[type].module == module && c->types[type].token == (token & 0xffffff) &&
                   !c->types[type].collectible
               ? type
               : CLR_NONE;
}

/* A definition in a module of the image. */
struct definition_at {
    uint64_t module;
    uint32_t token; /* 0 = unknown */
};

/* The one that TOKEN of MODULE names: by its name, if a single module has such a type, and that is
 * the assembly that is meant, or one that a reference to the platform can lead to. */
static struct definition_at find_definition(struct gcd_image_numbers *n, uint64_t module,
                                            uint32_t token)
{
    struct definition_at at = { module, token };
    struct gcd_error own = GCD_ERROR_INIT;
    struct gcd_metadata *m = image_modules_get(&n->arguments, module), *other;
    const char *name, *assembly;
    char text[SIGNATURE_BYTES];
    if (token >> 24 == GCD_TOKEN_TYPE >> 24)
        return at;
    at.token = 0;
    if (m == NULL || gcd_metadata_reflection_name(m, token, &name, NULL, &own) != GCD_OK ||
        strlen(name) >= sizeof text)
        return at;
    memcpy(text, name, strlen(name) + 1);
    if (!image_enums_definition(&n->enums, text, &at.module, &other, &at.token))
        return (struct definition_at){ 0 };
    bool meant = gcd_metadata_reference_assembly(m, token, &assembly, &own) == GCD_OK &&
                 (strcmp(assembly, gcd_metadata_identity(other)->assembly_name) == 0 ||
                  (image_is_of_platform(m, token) &&
                   strncmp(gcd_metadata_identity(other)->assembly_name, "System.", 7) == 0));
    return meant ? at : (struct definition_at){ 0 };
}

static uint64_t table_of_primitive(struct gcd_image_numbers *n, uint32_t element)
{
    uint64_t module;
    struct gcd_metadata *m;
    uint32_t token;
    for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
        if (primitives[i].element == element)
            return image_enums_definition(&n->enums, primitives[i].name, &module, &m, &token) &&
                           image_is_core(m)
                       ? clr_table_of_definition(&n->image->clr, module, token & 0xffffff)
                       : 0;
    return 0;
}

/* ---- instances of generic structs ---- */

static uint64_t key_of(struct definition_at d)
{
    return (d.module ^ (uint64_t)(d.token & 0xffffff) << 40) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Adds the types that were met since the last time. */
static bool index_instances(struct gcd_image_numbers *n)
{
    struct clr *c = &n->image->clr;
    if (!n->has_instances && clr_add_instances(c) != GCD_OK)
        return false;
    n->has_instances = true;
    if (!gcd_vec_reserve(&n->alloc, &n->same_generic, &n->generic_cap, c->type_count,
                         sizeof *n->same_generic, SIZE_MAX))
        return false;
    for (; n->generic_count < c->type_count; n->generic_count++) {
        const struct clr_type *t = &c->types[n->generic_count];
        n->same_generic[n->generic_count] = CLR_NONE;
        if (!t->known || t->arg_count == 0 || t->collectible || !clr_is_value_type(t))
            continue;
        uint64_t key = key_of((struct definition_at){ t->module, t->token });
        uint32_t before = gcd_idmap_get(&n->by_generic, key);
        if (before != GCD_IDMAP_NONE)
            n->same_generic[n->generic_count] = before;
        if (!gcd_idmap_put(&n->by_generic, key, (uint32_t)n->generic_count))
            return false;
    }
    return true;
}

/* The method table whose code and layout TABLE shares. */
static uint64_t canonical_of(struct clr *c, uint64_t table)
{
    gcd_status st = GCD_OK;
    uint32_t type = clr_type_of(c, table, &st);
    return type != CLR_NONE ? c->types[type].canonical : 0;
}

static bool is_argument(struct clr *c, uint64_t handle, struct part_type wanted)
{
    gcd_status st = GCD_OK;
    uint32_t type = clr_is_type_desc(handle) ? CLR_NONE : clr_type_of(c, handle, &st);
    if (type == CLR_NONE)
        return false;
    bool value = clr_is_value_type(&c->types[type]);
    uint64_t canonical = c->types[type].canonical;
    return wanted.kind == PART_REFERENCE
               ? !value
               : value && canonical != 0 && canonical == canonical_of(c, wanted.table);
}

static uint64_t find_instance(struct gcd_image_numbers *n, struct definition_at d,
                              const struct part_type *args, uint32_t count)
{
    struct clr *c = &n->image->clr;
    if (d.token == 0 || !index_instances(n))
        return 0;
    uint32_t at = gcd_idmap_get(&n->by_generic, key_of(d));
    at = at == GCD_IDMAP_NONE ? CLR_NONE : at;
    for (unsigned i = 0; at != CLR_NONE && i < INSTANCES_MAX; i++, at = n->same_generic[at]) {
        uint64_t id = c->types[at].id;
        bool same =
            c->types[at].arg_count == count && value_type_of(c, id, d.module, d.token) != CLR_NONE;
        for (uint32_t k = 0; k < count && same; k++)
            same = is_argument(c, c->args[c->types[at].args + k], args[k]);
        if (same)
            return id;
    }
    return 0;
}

/* ---- signatures ---- */

/* II.23.2.8: TypeDefOrRefOrSpecEncoded. */
static uint32_t token_of(uint32_t coded)
{
    static const uint32_t tables[] = { 0x02, 0x01, 0x1b, 0 };
    return tables[coded & 3] << 24 | coded >> 2;
}

static struct part_type resolve(struct resolving *r, unsigned depth);

static struct part_type resolve_instance(struct resolving *r, unsigned depth)
{
    struct part_type args[ARGUMENTS_MAX];
    uint32_t kind = gcd_cur_compressed(&r->c), token = token_of(gcd_cur_compressed(&r->c)),
             count = gcd_cur_compressed(&r->c);
    bool known = count <= ARGUMENTS_MAX;
    for (uint32_t i = 0; known && i < count; i++) {
        args[i] = resolve(r, depth + 1);
        known = args[i].kind != PART_UNKNOWN;
    }
    if (kind == ELEMENT_CLASS && r->c.err == GCD_OK)
        return (struct part_type){ known ? PART_REFERENCE : PART_UNKNOWN, 0 };
    return known && r->c.err == GCD_OK
               ? value_of(find_instance(r->n, find_definition(r->n, r->owner->module, token), args,
                                        count))
               : value_of(0);
}

static struct part_type resolve_parameter(struct resolving *r)
{
    struct clr *c = &r->n->image->clr;
    uint32_t number = gcd_cur_compressed(&r->c);
    uint64_t handle = number < r->owner->arg_count ? c->args[r->owner->args + number] : UINT64_C(2);
    gcd_status st = GCD_OK;
    uint32_t type = clr_is_type_desc(handle) ? CLR_NONE : clr_type_of(c, handle, &st);
    if (type == CLR_NONE)
        return value_of(0);
    return clr_is_value_type(&c->types[type]) ? value_of(handle)
                                              : (struct part_type){ PART_REFERENCE, 0 };
}

static struct part_type resolve_definition(struct resolving *r)
{
    struct clr *c = &r->n->image->clr;
    uint32_t token = token_of(gcd_cur_compressed(&r->c));
    struct definition_at d = find_definition(r->n, r->owner->module, token);
    uint64_t table = d.token != 0 ? clr_table_of_definition(c, d.module, d.token & 0xffffff) : 0;
    return value_of(value_type_of(c, table, d.module, d.token) != CLR_NONE ? table : 0);
}

/* The type at R->c.  Arrays are only understood as the last type. */
static struct part_type resolve(struct resolving *r, unsigned depth)
{
    uint32_t element = gcd_cur_compressed(&r->c);
    while (element == ELEMENT_CMOD_REQD || element == ELEMENT_CMOD_OPT) {
        (void)gcd_cur_compressed(&r->c);
        element = gcd_cur_compressed(&r->c);
    }
    if (depth > ARGUMENTS_DEEP || r->c.err != GCD_OK)
        return value_of(0);
    switch (element) {
    case ELEMENT_STRING:
    case ELEMENT_OBJECT:
        return (struct part_type){ PART_REFERENCE, 0 };
    case ELEMENT_CLASS:
        (void)gcd_cur_compressed(&r->c);
        return (struct part_type){ PART_REFERENCE, 0 };
    case ELEMENT_SZARRAY:
        return (struct part_type){ resolve(r, depth + 1).kind != PART_UNKNOWN ? PART_REFERENCE
                                                                              : PART_UNKNOWN,
                                   0 };
    case ELEMENT_VAR:
        return resolve_parameter(r);
    case ELEMENT_VALUETYPE:
        return resolve_definition(r);
    case ELEMENT_GENERICINST:
        return resolve_instance(r, depth);
    default:
        return value_of(table_of_primitive(r->n, element));
    }
}

uint32_t image_part_type(struct gcd_image_numbers *n, const struct clr_type *owner, uint32_t token)
{
    uint8_t signature[SIGNATURE_BYTES];
    struct gcd_error own = GCD_ERROR_INIT;
    gcd_status st = GCD_OK;
    struct meta_member x = { .row = (token & 0xffffff) - 1 };
    struct gcd_metadata *m = image_modules_get(&n->arguments, owner->module);
    if (m == NULL || meta_next_member(m, GCD_TOKEN_TYPE | owner->token, &x, &own) != GCD_OK ||
        x.row != (token & 0xffffff) || x.signature_bytes > sizeof signature)
        return CLR_NONE;
    memcpy(signature, x.signature, x.signature_bytes);
    struct resolving r = { n, owner, gcd_cur_make(signature, x.signature_bytes, 0) };
    struct part_type t = resolve(&r, 0);
    return t.kind == PART_VALUE ? clr_type_of(&n->image->clr, t.table, &st) : CLR_NONE;
}
