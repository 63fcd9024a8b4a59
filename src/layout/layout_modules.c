/*
 * Which definition a reference of a module names: modules are found by the name of their assembly,
 * and types in them by their full name, through forwarders.  An assembly of which several versions
 * are loaded is no answer.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "layout/layout_impl.h"
#include "metadata/meta_members.h"

#define WORK_MAX        (UINT64_C(1) << 25)
#define TEXT_MAX        (UINT64_C(64) << 20)
#define FORWARDINGS_MAX 8u
#define TYPES_MAX       (UINT32_C(1) << 18) /* of a module */

static void init_maps(struct layout *l)
{
    struct gcd_idmap *const maps[] = { &l->by_assembly,  &l->by_name,  &l->by_forward,
                                       &l->by_reference, &l->by_token, &l->by_hash };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        gcd_idmap_init(maps[i], &l->alloc);
}

static uint64_t assembly_hash(const char *name)
{
    return gcd_text_hash(name, strlen(name), GCD_TEXT_HASH);
}

static gcd_status note_assemblies(struct layout *l, struct gcd_error *err)
{
    for (uint32_t i = 0; i < l->module_count; i++) {
        const char *name = l->modules[i].assembly;
        l->next_module[i] = LAYOUT_NONE;
        if (name == NULL)
            continue;
        uint64_t hash = assembly_hash(name);
        uint32_t first = gcd_idmap_get(&l->by_assembly, hash);
        l->next_module[i] = first == GCD_IDMAP_NONE ? LAYOUT_NONE : first;
        if (!gcd_idmap_put(&l->by_assembly, hash, i))
            return layout_no_memory(err);
    }
    return GCD_OK;
}

/* The only module of ASSEMBLY; LAYOUT_NONE = there is none, or several. */
static uint32_t module_of_assembly(const struct layout *l, const char *assembly)
{
    uint32_t i = gcd_idmap_get(&l->by_assembly, assembly_hash(assembly));
    return i != GCD_IDMAP_NONE && l->next_module[i] == LAYOUT_NONE &&
                   strcmp(l->modules[i].assembly, assembly) == 0
               ? i
               : LAYOUT_NONE;
}

/* The definitions that signatures name by an element type. */
static gcd_status find_primitives(struct layout *l, struct gcd_error *err)
{
    static const char *const names[32] = {
        [0x02] = "System.Boolean", [0x03] = "System.Char",   [0x04] = "System.SByte",
        [0x05] = "System.Byte",    [0x06] = "System.Int16",  [0x07] = "System.UInt16",
        [0x08] = "System.Int32",   [0x09] = "System.UInt32", [0x0a] = "System.Int64",
        [0x0b] = "System.UInt64",  [0x0c] = "System.Single", [0x0d] = "System.Double",
        [0x18] = "System.IntPtr",  [0x19] = "System.UIntPtr"
    };
    static const char *const assemblies[] = { "System.Private.CoreLib", "mscorlib" };
    l->core = l->object = l->string = l->delegate = LAYOUT_NONE;
    for (size_t i = 0; i < 2 && l->core == LAYOUT_NONE; i++)
        l->core = module_of_assembly(l, assemblies[i]);
    for (size_t i = 0; i < 32; i++) {
        l->primitives[i] = LAYOUT_NONE;
        if (names[i] != NULL)
            GCD_TRY(layout_find_core(l, names[i], &l->primitives[i], err));
    }
    GCD_TRY(layout_find_core(l, "System.Object", &l->object, err));
    GCD_TRY(layout_find_core(l, "System.String", &l->string, err));
    return layout_find_core(l, "System.MulticastDelegate", &l->delegate, err);
}

gcd_status layout_new(const struct gcd_alloc *alloc, const struct layout_files *files,
                      const struct layout_module *modules, uint32_t count, struct layout **ret,
                      struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct layout *l = gcd_mem_new(&a, sizeof *l);
    if (l == NULL)
        return layout_no_memory(err);
    l->alloc = a;
    l->files = *files;
    l->modules = modules;
    l->module_count = count;
    l->work = WORK_MAX;
    l->first_array_key = LAYOUT_NONE;
    for (unsigned i = 0; i < LAYOUT_OPEN_MAX; i++)
        l->places[i].module = LAYOUT_NONE;
    gcd_textpool_init(&l->text, &l->alloc, TEXT_MAX);
    init_maps(l);
    l->next_module = gcd_mem_new_array(&l->alloc, count, sizeof *l->next_module);
    l->indexed = gcd_mem_new_array(&l->alloc, count, sizeof *l->indexed);
    gcd_status st = count > 0 && (l->next_module == NULL || l->indexed == NULL)
                        ? layout_no_memory(err)
                        : note_assemblies(l, err);
    if (st == GCD_OK)
        st = find_primitives(l, err);
    if (st == GCD_OK)
        *ret = l;
    else
        layout_free(l);
    return st;
}

void layout_free(struct layout *l)
{
    if (l == NULL)
        return;
    struct gcd_alloc a = l->alloc;
    for (unsigned i = 0; i < LAYOUT_OPEN_MAX; i++)
        if (l->places[i].module != LAYOUT_NONE)
            l->files.close(l->files.ctx, i);
    gcd_idmap_done(&l->by_assembly);
    gcd_idmap_done(&l->by_name);
    gcd_idmap_done(&l->by_forward);
    gcd_idmap_done(&l->by_reference);
    gcd_idmap_done(&l->by_token);
    gcd_idmap_done(&l->by_hash);
    gcd_textpool_done(&l->text);
    gcd_mem_free(&a, l->next_module, l->module_count * sizeof *l->next_module);
    gcd_mem_free(&a, l->indexed, l->module_count * sizeof *l->indexed);
    gcd_mem_free(&a, l->types, l->type_cap * sizeof *l->types);
    gcd_mem_free(&a, l->defs, l->def_cap * sizeof *l->defs);
    gcd_mem_free(&a, l->fields, l->field_cap * sizeof *l->fields);
    gcd_mem_free(&a, l->slots, l->slot_cap * sizeof *l->slots);
    gcd_mem_free(&a, l->lists, l->list_cap * sizeof *l->lists);
    gcd_mem_free(&a, l->pending, l->pending_cap * sizeof *l->pending);
    gcd_mem_free(&a, l->operands, l->operand_cap * sizeof *l->operands);
    gcd_mem_free(&a, l->array_keys, l->array_key_cap * sizeof *l->array_keys);
    gcd_mem_free(&a, l->out, l->out_cap);
    gcd_mem_free(&a, l, sizeof *l);
}

/* ---- modules ---- */

gcd_status layout_open(struct layout *l, uint32_t module, struct gcd_metadata **ret,
                       struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    unsigned oldest = 0;
    *ret = NULL;
    if (module >= l->module_count || l->modules[module].assembly == NULL ||
        l->indexed[module] == LAYOUT_BAD)
        return GCD_OK;
    for (unsigned i = 0; i < LAYOUT_OPEN_MAX; i++) {
        if (l->places[i].module == module) {
            l->places[i].used = ++l->clock;
            *ret = l->places[i].m;
            return GCD_OK;
        }
        if (l->places[i].used < l->places[oldest].used)
            oldest = i;
    }
    struct layout_place *p = &l->places[oldest];
    if (p->module != LAYOUT_NONE)
        l->files.close(l->files.ctx, oldest);
    p->module = LAYOUT_NONE;
    gcd_status st =
        layout_may(l, 1024) ? l->files.open(l->files.ctx, module, oldest, ret, &own) : GCD_E_LIMIT;
    if (st != GCD_OK) {
        l->indexed[module] = LAYOUT_BAD;
        *ret = NULL;
        return gcd_only_fatal(st, &own, err);
    }
    *p = (struct layout_place){ module, *ret, ++l->clock };
    return GCD_OK;
}

static uint64_t name_hash(uint32_t module, const char *name, size_t n)
{
    uint64_t h = gcd_text_hash((const char *)&module, sizeof module, GCD_TEXT_HASH);
    return gcd_text_hash(name, n, h);
}

static gcd_status index_names(struct layout *l, uint32_t module, struct gcd_metadata *m,
                              struct gcd_error *err)
{
    uint32_t count = gcd_metadata_type_count(m);
    struct meta_origin o;
    const char *name;
    gcd_status st = count <= TYPES_MAX ? GCD_OK : GCD_E_LIMIT;
    for (uint32_t row = 1; st == GCD_OK && row <= count && layout_may(l, 8); row++) {
        st = gcd_metadata_reflection_name(m, GCD_TOKEN_TYPE | row, &name, NULL, err);
        if (st == GCD_OK && !gcd_idmap_put(&l->by_name, name_hash(module, name, strlen(name)), row))
            return layout_no_memory(err);
    }
    for (uint32_t row = 1; st == GCD_OK && row <= TYPES_MAX && layout_may(l, 8); row++) {
        st = meta_forwarder(m, row, &o, err);
        if (st == GCD_OK && o.name[0] != '\0' &&
            !gcd_idmap_put(&l->by_forward, name_hash(module, o.name, o.outermost), row))
            return layout_no_memory(err);
    }
    return st == GCD_END ? GCD_OK : st;
}

/* *RET is NULL when the module cannot be read. */
static gcd_status open_indexed(struct layout *l, uint32_t module, struct gcd_metadata **ret,
                               struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    GCD_TRY(layout_open(l, module, ret, err));
    if (*ret == NULL || l->indexed[module] == LAYOUT_KNOWN)
        return GCD_OK;
    gcd_status st = index_names(l, module, *ret, &own);
    l->indexed[module] = st == GCD_OK ? LAYOUT_KNOWN : LAYOUT_BAD;
    if (st != GCD_OK)
        *ret = NULL;
    return gcd_only_fatal(st, &own, err);
}

/* ---- definitions ---- */

static gcd_status def_of_row(struct layout *l, uint32_t module, uint32_t row, uint32_t *ret,
                             struct gcd_error *err)
{
    uint64_t id = (uint64_t)module << 32 | row;
    *ret = gcd_idmap_get(&l->by_token, id);
    if (*ret != GCD_IDMAP_NONE)
        return GCD_OK;
    if (!LAYOUT_GROW(l, defs, def_count, def_cap) ||
        !gcd_idmap_put(&l->by_token, id, (uint32_t)l->def_count))
        return layout_no_memory(err);
    *ret = (uint32_t)l->def_count;
    l->defs[l->def_count++] = (struct layout_def){
        .module = module, .token = GCD_TOKEN_TYPE | row, .base = LAYOUT_NONE, .keys = LAYOUT_NONE
    };
    return GCD_OK;
}

gcd_status layout_find_core(struct layout *l, const char *name, uint32_t *ret,
                            struct gcd_error *err)
{
    struct gcd_metadata *m;
    *ret = LAYOUT_NONE;
    GCD_TRY(open_indexed(l, l->core, &m, err));
    if (m == NULL)
        return GCD_OK;
    uint32_t row = gcd_idmap_get(&l->by_name, name_hash(l->core, name, strlen(name)));
    return row != GCD_IDMAP_NONE ? def_of_row(l, l->core, row, ret, err) : GCD_OK;
}

/* The definition of NAME, whose outermost type has the length OUTERMOST, in MODULE or where it is
 * forwarded to. */
static gcd_status follow_name(struct layout *l, uint32_t module, const char *name, size_t outermost,
                              uint32_t *ret, struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    for (unsigned i = 0; i < FORWARDINGS_MAX && module != LAYOUT_NONE; i++) {
        struct gcd_metadata *m;
        struct meta_origin o;
        GCD_TRY(open_indexed(l, module, &m, err));
        if (m == NULL)
            return GCD_OK;
        uint32_t row = gcd_idmap_get(&l->by_name, name_hash(module, name, strlen(name)));
        if (row != GCD_IDMAP_NONE)
            return def_of_row(l, module, row, ret, err);
        row = gcd_idmap_get(&l->by_forward, name_hash(module, name, outermost));
        if (row == GCD_IDMAP_NONE || meta_forwarder(m, row, &o, &own) != GCD_OK)
            return GCD_OK;
        module = module_of_assembly(l, o.assembly);
    }
    return GCD_OK;
}

static gcd_status find_reference(struct layout *l, uint32_t module, uint32_t token, uint32_t *ret,
                                 struct gcd_error *err)
{
    struct gcd_metadata *m;
    struct meta_origin o;
    struct gcd_error own = GCD_ERROR_INIT;
    const char *name;
    GCD_TRY(layout_open(l, module, &m, err));
    if (m == NULL || meta_reference(m, token, &o, &own) != GCD_OK)
        return GCD_OK;
    uint32_t to = o.assembly[0] == '\0' ? module : module_of_assembly(l, o.assembly);
    gcd_status st = gcd_textpool_add(&l->text, o.name, strlen(o.name), &name);
    if (st != GCD_OK)
        return st == GCD_E_NOMEM ? layout_no_memory(err) : GCD_OK;
    return follow_name(l, to, name, o.outermost, ret, err);
}

gcd_status layout_find_def(struct layout *l, uint32_t module, uint32_t token, uint32_t *ret,
                           struct gcd_error *err)
{
    uint32_t row = token & UINT32_C(0xffffff);
    *ret = LAYOUT_NONE;
    if (module >= l->module_count || row == 0 || !layout_may(l, 1))
        return GCD_OK;
    if (token >> 24 == GCD_TOKEN_TYPE >> 24)
        return def_of_row(l, module, row, ret, err);
    uint64_t id = (uint64_t)module << 32 | token;
    uint32_t known = gcd_idmap_get(&l->by_reference, id);
    if (known != GCD_IDMAP_NONE) {
        *ret = known > 0 ? known - 1 : LAYOUT_NONE;
        return GCD_OK;
    }
    GCD_TRY(find_reference(l, module, token, ret, err));
    if (!gcd_idmap_put(&l->by_reference, id, *ret == LAYOUT_NONE ? 0 : *ret + 1))
        return layout_no_memory(err);
    return GCD_OK;
}
