/*
 * Method tables (vm/methodtable.h, GCDesc in gc/gcdesc.h): the same layout in .NET 8 to 11.
 */
#include <string.h>

#include "base/bits.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "image/clr/clr.h"

#define TYPES_MAX  (UINT64_C(4) << 20)
#define SERIES_MAX (UINT64_C(64) << 20)
/* Series of one type, and arguments of one: more means that it is no method table. */
#define SERIES_OF_TYPE_MAX 65536
#define ARGS_OF_TYPE_MAX   1024u

enum {
    MT_BASE_SIZE = 4,
    MT_FLAGS2 = 8,
    MT_TOKEN_8 = 10,
    MT_VIRTUALS = 12,
    MT_PARENT = 16,
    MT_MODULE = 24,
    MT_AUXILIARY = 32,
    MT_CLASS = 40,
    MT_ARGUMENTS = 48,
    MT_ELEMENT = 48,
    CLASS_ELEMENT = 48,
    AUXILIARY_LOADER_MODULE = 8,
    DESC_TYPE_ARG = 16,
    POINTERS_MAX = 8
};
#define FLAG_COMPONENTS    UINT32_C(0x80000000)
#define FLAG_REFERENCES    UINT32_C(0x01000000)
#define FLAG_COLLECTIBLE   UINT32_C(0x00200000)
#define FLAG_COLLECTIBLE_8 UINT32_C(0x10000000)
/* Types whose modules are searched in vain before it is given up. */
#define ALLOCATOR_SEARCHES_MAX 64u
#define FLAG_CATEGORY_MASK     UINT32_C(0x000c0000)
#define FLAG_INTERFACE         UINT32_C(0x000c0000)
#define FLAG_ARRAY             UINT32_C(0x00080000)
#define FLAG_SZ_ARRAY          UINT32_C(0x00020000)
#define FLAG_GENERIC           UINT32_C(0x00000030)
#define FLAG2_MODULE_8         UINT32_C(0x0010) /* .NET 8: the module has a slot of its own */

static gcd_status fail(gcd_status *ret)
{
    *ret = GCD_E_NOMEM;
    return GCD_E_NOMEM;
}

/* ---- references ---- */

static bool read_series(struct clr *c, struct clr_type *t, int64_t n, gcd_status *ret_st)
{
    t->first = (uint32_t)c->series_count;
    t->count = (uint32_t)n;
    if (!gcd_vec_reserve(&c->alloc, &c->series, &c->series_cap, c->series_count + (size_t)n,
                         sizeof *c->series, SERIES_MAX))
        return fail(ret_st) == GCD_OK;
    for (int64_t i = 0; i < n; i++) {
        uint64_t at = t->id - 24 - 16 * (uint64_t)i;
        struct clr_series s = { .bytes = image_u64(c->image, at),
                                .offset = image_u64(c->image, at + 8) };
        if (s.offset < 8 || s.offset % 8 != 0 || s.offset >= t->base_bytes)
            return false; /* no run may begin outside of an object */
        c->series[c->series_count++] = s;
    }
    return true;
}

static bool read_groups(struct clr *c, struct clr_type *t, int64_t n, gcd_status *ret_st)
{
    t->repeated = true;
    t->array_offset = image_u64(c->image, t->id - 16);
    t->first = (uint32_t)c->group_count;
    t->count = (uint32_t)n;
    if (!gcd_vec_reserve(&c->alloc, &c->groups, &c->group_cap, c->group_count + (size_t)n,
                         sizeof *c->groups, SERIES_MAX))
        return fail(ret_st) == GCD_OK;
    uint64_t bytes = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t item = image_u64(c->image, t->id - 24 - 8 * (uint64_t)i);
        struct clr_group g = { .references = (uint32_t)item, .skip_bytes = (uint32_t)(item >> 32) };
        bytes += 8 * (uint64_t)g.references + g.skip_bytes;
        c->groups[c->group_count++] = g;
    }
    return t->array_offset >= 16 && bytes > 0;
}

static bool read_references(struct clr *c, struct clr_type *t, gcd_status *ret_st)
{
    t->references = (t->flags & FLAG_REFERENCES) != 0;
    if (!t->references)
        return true;
    int64_t n = (int64_t)image_u64(c->image, t->id - 8);
    if (n == 0 || n > SERIES_OF_TYPE_MAX || n < -SERIES_OF_TYPE_MAX)
        return false;
    return n > 0 ? read_series(c, t, n, ret_st) : read_groups(c, t, -n, ret_st);
}

/* ---- what it is an instance of ---- */

/* The target of a pointer type (vm/typedesc.h); 0 = a function pointer, or damaged. */
uint64_t clr_type_desc_target(struct clr *c, uint64_t handle)
{
    uint64_t desc = handle & ~UINT64_C(2);
    uint32_t kind = image_u32(c->image, desc) & 0xff;
    return kind == ELEMENT_PTR || kind == ELEMENT_BYREF
               ? image_u64(c->image, desc + (c->layout.major == 8 ? 8 : DESC_TYPE_ARG))
               : 0;
}

uint64_t clr_table_of(struct clr *c, uint64_t handle)
{
    for (unsigned depth = 0; clr_is_type_desc(handle) && depth < POINTERS_MAX; depth++)
        handle = clr_type_desc_target(c, handle);
    return clr_is_type_desc(handle) ? 0 : handle;
}

static bool read_arguments(struct clr *c, struct clr_type *t, gcd_status *ret_st)
{
    uint64_t info = image_u64(c->image, t->id + MT_ARGUMENTS);
    t->args = (uint32_t)c->arg_count;
    if ((t->flags & FLAG_COMPONENTS) != 0 || (t->flags & FLAG_GENERIC) == 0 || info == 0)
        return true;
    uint16_t dictionaries = image_u16(c->image, info - 4), n = image_u16(c->image, info - 2);
    if (n == 0 || n > ARGS_OF_TYPE_MAX || dictionaries == 0)
        return true;
    uint64_t list = image_u64(c->image, info + 8 * (uint64_t)(dictionaries - 1));
    if (!gcd_vec_reserve(&c->alloc, &c->args, &c->arg_cap, c->arg_count + n, sizeof *c->args,
                         SERIES_MAX))
        return fail(ret_st) == GCD_OK;
    for (uint16_t i = 0; i < n; i++)
        c->args[c->arg_count++] = image_u64(c->image, list + 8 * (uint64_t)i);
    t->arg_count = n;
    return true;
}

/* .NET 8: generic types and arrays have their loader module at +24, which is that of an argument if
 * it can be unloaded.  Their own one, if it is another, is in one of the slots behind the method
 * table; of a generic type, behind that of the canonical instance. */
static uint64_t module_of_8(struct clr *c, const struct clr_type *t)
{
    uint64_t table = t->rank > 0 ? t->id : t->canonical, at = table + MT_MODULE;
    uint16_t flags2 = image_u16(c->image, table + MT_FLAGS2);
    if ((flags2 & FLAG2_MODULE_8) != 0) {
        unsigned mask = flags2 & 15, n = gcd_count_bits(mask);
        unsigned slot = (mask & 3) == 2 && n == 1 ? 0 : n;
        uint16_t virtuals = image_u16(c->image, table + MT_VIRTUALS);
        at = slot < 2 ? table + 48 + 8 * (uint64_t)slot
                      : table + 64 + 8 * (uint64_t)slot - 16 + 8 * (((uint64_t)virtuals + 7) / 8);
    }
    return image_u64(c->image, at);
}

static void read_definition(struct clr *c, struct clr_type *t)
{
    struct image *m = c->image;
    uint64_t class = image_u64(m, t->id + MT_CLASS);
    t->canonical = (class & 1) != 0 ? class & ~UINT64_C(1) : t->id;
    t->parent = image_u64(m, t->id + MT_PARENT);
    uint32_t rid = c->layout.major == 8 ? image_u16(m, t->id + MT_TOKEN_8)
                                        : image_u32(m, t->id + MT_FLAGS2) >> 8;
    t->token = t->rank == 0 && !(c->layout.major == 8 && rid == 0xffff) ? rid : 0;
    if (t->rank > 0)
        t->element = image_u64(m, t->id + MT_ELEMENT);
    t->module = c->layout.major == 8 ? module_of_8(c, t) : image_u64(m, t->id + MT_MODULE);
}

void clr_definition_of(struct clr *c, uint64_t table, uint64_t *ret_module, uint32_t *ret_token)
{
    struct clr_type t = { .id = table };
    read_definition(c, &t);
    *ret_module = t.module;
    *ret_token = t.token;
}

static bool is_array(uint32_t flags)
{
    return (flags & FLAG_COMPONENTS) != 0 && (flags & FLAG_CATEGORY_MASK) == FLAG_ARRAY;
}

static bool read_type(struct clr *c, struct clr_type *t, gcd_status *ret_st)
{
    struct image *m = c->image;
    if (t->id % 8 != 0 || image_available(m, t->id) < 56)
        return false;
    t->flags = image_u32(m, t->id);
    t->base_bytes = image_u32(m, t->id + MT_BASE_SIZE);
    t->component_bytes = (t->flags & FLAG_COMPONENTS) != 0 ? t->flags & 0xffff : 0;
    t->raw_name = t->outer = t->noted = "";
    bool is_interface = (t->flags & FLAG_CATEGORY_MASK) == FLAG_INTERFACE;
    if ((t->base_bytes < 22 && !(is_interface && t->base_bytes == 0)) || t->base_bytes > UINT32_C(1)
                                                                                             << 30)
        return false;
    if (is_array(t->flags))
        t->rank =
            (t->flags & FLAG_SZ_ARRAY) != 0 || t->base_bytes < 32 ? 1 : (t->base_bytes - 24) / 8;
    t->is_free = t->component_bytes == 1 && t->base_bytes == 24 && t->rank == 0 &&
                 image_u64(m, t->id + MT_PARENT) == 0;
    t->collectible =
        (t->flags & (c->layout.major == 8 ? FLAG_COLLECTIBLE_8 : FLAG_COLLECTIBLE)) != 0;
    read_definition(c, t);
    return read_references(c, t, ret_st) && read_arguments(c, t, ret_st);
}

uint32_t clr_type_of(struct clr *c, uint64_t method_table, gcd_status *ret_st)
{
    uint32_t i = gcd_idmap_get(&c->type_by_id, method_table);
    if (i != GCD_IDMAP_NONE)
        return c->types[i].known ? i : CLR_NONE;
    if (!gcd_vec_reserve(&c->alloc, &c->types, &c->type_cap, c->type_count + 1, sizeof *c->types,
                         TYPES_MAX) ||
        !gcd_idmap_put(&c->type_by_id, method_table, (uint32_t)c->type_count)) {
        *ret_st = GCD_E_NOMEM;
        return CLR_NONE;
    }
    i = (uint32_t)c->type_count++;
    struct clr_type t = { .id = method_table };
    t.known = read_type(c, &t, ret_st);
    if (!t.known) /* remembered, so that it is refused quickly */
        t = (struct clr_type){ .id = method_table, .raw_name = "", .outer = "", .noted = "" };
    c->types[i] = t;
    return t.known ? i : CLR_NONE;
}

static void add_handle(struct clr *c, uint64_t handle, gcd_status *ret_st)
{
    uint64_t table = clr_table_of(c, handle);
    if (table != 0)
        (void)clr_type_of(c, table, ret_st);
}

gcd_status clr_complete_types(struct clr *c, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < c->type_count && st == GCD_OK; i++) {
        struct clr_type t = c->types[i];
        if (!t.known)
            continue;
        add_handle(c, t.element, &st);
        for (uint32_t k = 0; k < t.arg_count; k++)
            add_handle(c, c->args[t.args + k], &st);
        add_handle(c, t.canonical, &st);
        add_handle(c, t.parent, &st);
    }
    return st == GCD_OK ? GCD_OK : gcd_fail_nomem(err, "reading the types of a heap");
}

/* ---- collectible types ---- */

/* How much of a LoaderAllocator and of a Module is searched for pointers. */
#define ALLOCATOR_BYTES 2048u
#define MODULE_BYTES    1536u

static bool is_allocator(struct clr *c, uint64_t object)
{
    struct clr_object o;
    gcd_status st = GCD_OK;
    return clr_region_at(c, object) != NULL && clr_object_at(c, object, &o, &st) &&
           strcmp(c->types[o.type].raw_name, "System.Reflection.LoaderAllocator") == 0;
}

/* The object that a handle at OFF of a LoaderAllocator holds; 0 = another one. */
static uint64_t object_at(struct clr *c, uint64_t allocator, uint32_t off)
{
    uint64_t object = image_u64(c->image, image_u64(c->image, allocator + off));
    return object != 0 && is_allocator(c, object) ? object : 0;
}

/* The same; finds out where the handle is. */
static uint64_t allocator_object(struct clr *c, uint64_t allocator)
{
    uint32_t *off = &c->layout.allocator_handle;
    if (*off != 0)
        return object_at(c, allocator, *off);
    for (uint32_t i = 8; i < ALLOCATOR_BYTES; i += 8) {
        uint64_t object = object_at(c, allocator, i);
        if (object != 0) {
            *off = i;
            return object;
        }
    }
    return 0;
}

/* The LoaderAllocator's object of a module; finds out where its pointer is. */
static uint64_t module_allocator(struct clr *c, uint64_t module)
{
    uint32_t *off = &c->layout.module_allocator;
    if (*off != 0)
        return allocator_object(c, image_u64(c->image, module + *off));
    for (uint32_t i = 8; i < MODULE_BYTES; i += 8) {
        uint64_t allocator = image_u64(c->image, module + i);
        uint64_t object = allocator % 8 == 0 && image_available(c->image, allocator) > 8
                              ? allocator_object(c, allocator)
                              : 0;
        if (object != 0) {
            *off = i;
            return object;
        }
    }
    return 0;
}

/* CorElementType: it is in the EEClass, but .NET 8 has it packed; there only values are told. */
static uint8_t element_type(struct clr *c, const struct clr_type *t)
{
    if (t->rank > 0)
        return (t->flags & FLAG_SZ_ARRAY) != 0 ? ELEMENT_SZARRAY : ELEMENT_ARRAY;
    if (strcmp(t->raw_name, "System.String") == 0)
        return ELEMENT_STRING;
    if (strcmp(t->raw_name, "System.Object") == 0)
        return ELEMENT_OBJECT;
    uint64_t class = image_u64(c->image, t->canonical + MT_CLASS);
    uint8_t type = 0;
    bool known = c->layout.major >= 9 && image_read(c->image, class + CLASS_ELEMENT, &type, 1);
    if (known && type > 0 && type <= ELEMENT_SZARRAY)
        return type;
    return clr_is_value_type(t) ? ELEMENT_VALUETYPE : ELEMENT_CLASS;
}

void clr_find_allocators(struct clr *c)
{
    bool old = c->layout.major == 8;
    uint32_t searches = 0;
    for (size_t i = 0; i < c->type_count; i++) {
        struct clr_type *t = &c->types[i];
        if (!t->known)
            continue;
        t->element_type = element_type(c, t);
        if (!t->collectible ||
            (c->layout.module_allocator == 0 && searches++ >= ALLOCATOR_SEARCHES_MAX))
            continue;
        uint64_t auxiliary = image_u64(c->image, t->id + MT_AUXILIARY);
        uint64_t module =
            image_u64(c->image, old ? t->id + MT_MODULE : auxiliary + AUXILIARY_LOADER_MODULE);
        t->loader_allocator = module != 0 ? module_allocator(c, module) : 0;
    }
}
