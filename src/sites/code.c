#include "sites/code.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define METHODS_MAX     ((size_t)1 << 24)
#define MAP_ENTRIES_MAX ((size_t)1 << 28)
#define TEXT_BYTES_MAX  (UINT64_C(1) << 30)

void code_init(struct code *c, const struct gcd_alloc *alloc)
{
    *c = (struct code){ .alloc = gcd_alloc_or_default(alloc) };
    gcd_idmap_init(&c->module_by_id, &c->alloc);
    gcd_textpool_init(&c->texts, &c->alloc, TEXT_BYTES_MAX);
}

void code_done(struct code *c)
{
    gcd_mem_free(&c->alloc, c->methods, c->method_cap * sizeof *c->methods);
    gcd_mem_free(&c->alloc, c->map, c->map_cap * sizeof *c->map);
    gcd_mem_free(&c->alloc, c->modules, c->module_cap * sizeof *c->modules);
    gcd_idmap_done(&c->module_by_id);
    gcd_textpool_done(&c->texts);
}

static gcd_status no_room(const struct code *c, struct gcd_error *err)
{
    if (c->texts.bytes >= TEXT_BYTES_MAX / 2 || c->method_count >= METHODS_MAX)
        return gcd_fail(err, GCD_E_LIMIT, "the process has too many methods");
    return gcd_fail_nomem(err, "reading the methods of the process");
}

/*
 * MethodDCEndILToNativeMap {method u64, ReJIT u64, extent u8, count u16, IL offset u32 * count,
 * native offset u32 * count}: directly before its method.
 */
static gcd_status take_map(struct code *c, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_cur cur = gcd_clr_payload(ev);
    uint64_t method = gcd_cur_u64(&cur);
    gcd_cur_skip(&cur, 9);
    uint16_t n = gcd_cur_u16(&cur);
    const uint8_t *il = gcd_cur_array(&cur, n, 4), *native = gcd_cur_array(&cur, n, 4);
    c->pending_count = 0;
    if (cur.err != GCD_OK) {
        c->damaged++;
        return GCD_OK;
    }
    if (!gcd_vec_reserve(&c->alloc, &c->map, &c->map_cap, c->map_count + n, sizeof *c->map,
                         MAP_ENTRIES_MAX))
        return no_room(c, err);
    c->pending_method = method;
    c->pending_map = (uint32_t)c->map_count;
    c->pending_count = n;
    for (size_t i = 0; i < n; i++)
        c->map[c->map_count++] = (struct code_map_entry){ .il = gcd_le32(il + 4 * i),
                                                          .native = gcd_le32(native + 4 * i) };
    return GCD_OK;
}

/* MethodDCEndVerbose {method u64, module u64, start u64, size u32, token u32, flags u32,
 * namespace z, name z, ...}. */
static gcd_status take_method(struct code *c, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_cur cur = gcd_clr_payload(ev);
    struct code_method m = { .map_count = 0 };
    size_t type_units, name_units;
    uint64_t id = gcd_cur_u64(&cur);
    m.module = gcd_cur_u64(&cur);
    m.start = gcd_cur_u64(&cur);
    m.bytes = gcd_cur_u32(&cur);
    m.token = gcd_cur_u32(&cur);
    gcd_cur_skip(&cur, 4);
    const uint8_t *type = gcd_cur_utf16z(&cur, &type_units);
    const uint8_t *name = gcd_cur_utf16z(&cur, &name_units);
    if (cur.err != GCD_OK) {
        c->damaged++;
        return GCD_OK;
    }
    if (c->pending_count > 0 && c->pending_method == id) {
        m.map = c->pending_map;
        m.map_count = c->pending_count;
    }
    c->pending_count = 0;
    if (gcd_textpool_add_utf16(&c->texts, type, type_units, &m.type) != GCD_OK ||
        gcd_textpool_add_utf16(&c->texts, name, name_units, &m.name) != GCD_OK ||
        !gcd_vec_reserve(&c->alloc, &c->methods, &c->method_cap, c->method_count + 1,
                         sizeof *c->methods, METHODS_MAX))
        return no_room(c, err);
    c->methods[c->method_count++] = m;
    return GCD_OK;
}

static gcd_status take_module(struct code *c, const struct gcd_event *ev, struct gcd_error *err)
{
    struct gcd_clr_module from;
    if (gcd_clr_module(ev, &from) != GCD_OK) {
        c->damaged++;
        return GCD_OK;
    }
    if (gcd_idmap_get(&c->module_by_id, from.id) != GCD_IDMAP_NONE)
        return GCD_OK;
    struct code_module m = { .id = from.id, .pdb_age = from.pdb_age };
    memcpy(m.pdb_guid, from.pdb_guid, sizeof m.pdb_guid);
    if (gcd_textpool_add_utf16(&c->texts, from.path, from.path_units, &m.path) != GCD_OK ||
        !gcd_vec_reserve(&c->alloc, &c->modules, &c->module_cap, c->module_count + 1,
                         sizeof *c->modules, METHODS_MAX) ||
        !gcd_idmap_put(&c->module_by_id, from.id, (uint32_t)c->module_count))
        return no_room(c, err);
    c->modules[c->module_count++] = m;
    return GCD_OK;
}

gcd_status code_event(struct code *c, const struct gcd_event *ev, struct gcd_error *err)
{
    if (ev->provider != GCD_PROVIDER_RUNDOWN)
        return GCD_OK;
    if (ev->id == GCD_RD_IL_MAP_END)
        return take_map(c, ev, err);
    if (ev->id == GCD_RD_METHOD_END)
        return take_method(c, ev, err);
    if (ev->id == GCD_RD_MODULE_END && gcd_clr_description_fits(ev))
        return take_module(c, ev, err);
    return GCD_OK;
}

gcd_status code_seal(struct code *c, struct gcd_error *err)
{
    if (!gcd_sort_by_u64(&c->alloc, c->methods, c->method_count, sizeof *c->methods))
        return no_room(c, err);
    return GCD_OK;
}

/*
 * From the IL offset of the last entry at or before native offset OFF that has one.  Prologs and
 * other code without IL have negative numbers; optimized code may have none for its first
 * statement.
 */
static struct gcd_il_range part_at(const struct code *c, const struct code_method *m, uint32_t off)
{
    if (m->map_count == 0)
        return (struct gcd_il_range){ CODE_NO_IL, CODE_NO_IL };
    struct gcd_il_range part = { .first = 0, .end = CODE_NO_IL };
    uint32_t best = 0;
    const struct code_map_entry *map = c->map + m->map;
    for (uint32_t i = 0; i < m->map_count; i++)
        if (map[i].native <= off && (int32_t)map[i].il >= 0 && map[i].native >= best) {
            part.first = map[i].il;
            best = map[i].native;
        }
    for (uint32_t i = 0; i < m->map_count; i++)
        if ((int32_t)map[i].il >= 0 && map[i].il > part.first && map[i].il < part.end)
            part.end = map[i].il;
    return part;
}

const struct code_method *code_find(const struct code *c, uint64_t address,
                                    struct gcd_il_range *ret)
{
    size_t n = gcd_count_up_to(c->methods, c->method_count, sizeof *c->methods, address);
    *ret = (struct gcd_il_range){ CODE_NO_IL, CODE_NO_IL };
    /* code that was unloaded may have left an older method behind at the same place */
    if (n == 0 || address - c->methods[n - 1].start >= c->methods[n - 1].bytes)
        return NULL;
    *ret = part_at(c, &c->methods[n - 1], (uint32_t)(address - c->methods[n - 1].start));
    return &c->methods[n - 1];
}

const struct code_module *code_module_of(const struct code *c, uint64_t id)
{
    uint32_t i = gcd_idmap_get(&c->module_by_id, id);
    return i != GCD_IDMAP_NONE ? &c->modules[i] : NULL;
}
