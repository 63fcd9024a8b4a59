/* The list of modules: those that events describe, and those that only types refer to. */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/verdict.h"
#include "load/load.h"

static void add_described(struct gcd_dump *d, const struct heap_module *from,
                          struct gcd_idmap *numbers, bool *ret_room)
{
    struct gcd_module *to = &d->modules[d->summary.module_count];
    *to = (struct gcd_module){ .id = from->id,
                               .path = from->path,
                               .assembly = heap_assembly_name(d->heap, from->assembly),
                               .pdb_age = from->pdb_age,
                               .pdb_path = from->pdb_path[0] != '\0' ? from->pdb_path : NULL,
                               .flags = from->flags,
                               .described = true,
                               .problem = "" };
    memcpy(to->pdb_guid, from->pdb_guid, sizeof to->pdb_guid);
    *ret_room = gcd_idmap_put(numbers, to->id, (uint32_t)d->summary.module_count++);
}

static gcd_status fill(struct gcd_dump *d, struct gcd_idmap *numbers, struct gcd_error *err)
{
    bool room = true;
    for (size_t i = 0; i < d->heap->module_count && room; i++)
        if (!d->heap->modules[i].known.copy &&
            d->heap->modules[i].id != 0) /* 0: all its descriptions are of others */
            add_described(d, &d->heap->modules[i], numbers, &room);
    for (uint32_t i = 0; i < d->type_count && room; i++) {
        struct gcd_type *t = &d->types[i];
        t->module_number = t->module != 0 ? gcd_idmap_get(numbers, t->module) : GCD_IDMAP_NONE;
        if (t->module == 0 || t->module_number != GCD_IDMAP_NONE)
            continue;
        if (!gcd_vec_reserve(&d->alloc, &d->modules, &d->module_room, d->summary.module_count + 1,
                             sizeof *d->modules, GCD_IDMAP_NONE))
            return gcd_fail_nomem(err, "building the list of modules");
        t->module_number = (uint32_t)d->summary.module_count;
        d->modules[d->summary.module_count++] =
            (struct gcd_module){ .id = t->module, .path = "", .assembly = "", .problem = "" };
        room = gcd_idmap_put(numbers, t->module, t->module_number);
    }
    for (uint32_t i = 0; i < d->type_count && room; i++)
        if ((d->types[i].flags & GCD_TYPE_NATIVE) != 0 &&
            d->types[i].module_number != GCD_IDMAP_NONE)
            d->modules[d->types[i].module_number].native = true;
    return room ? GCD_OK : gcd_fail_nomem(err, "building the list of modules");
}

gcd_status load_modules(struct gcd_dump *d, struct gcd_error *err)
{
    struct gcd_idmap numbers;
    _Static_assert(GCD_MODULE_NONE == GCD_IDMAP_NONE, "no number is no number");
    if (!gcd_vec_reserve(&d->alloc, &d->modules, &d->module_room, d->heap->module_count + 1,
                         sizeof *d->modules, SIZE_MAX))
        return gcd_fail_nomem(err, "building the list of modules");
    gcd_idmap_init(&numbers, &d->alloc);
    gcd_status st = fill(d, &numbers, err);
    gcd_idmap_done(&numbers);
    d->summary.modules = d->modules;
    return st;
}

gcd_status load_nest(struct gcd_dump *d, struct gcd_type *t, const char *outer, size_t n,
                     struct gcd_error *err)
{
    size_t raw = strlen(t->raw_name);
    if (n == 0 || !t->named)
        return GCD_OK;
    char *s = gcd_mem_new(&d->alloc, n + 1 + raw);
    if (s == NULL)
        return gcd_fail_nomem(err, "completing names");
    memcpy(s, outer, n);
    s[n] = '+';
    memcpy(s + n + 1, t->raw_name, raw);
    gcd_status st = heap_text(d->heap, s, n + 1 + raw, &t->name, err);
    gcd_mem_free(&d->alloc, s, n + 1 + raw);
    return st;
}

gcd_status load_name_native(struct gcd_dump *d, struct gcd_type *t, const char *name, size_t n,
                            struct gcd_error *err)
{
    if (t->named)
        return GCD_OK;
    t->named = true;
    return heap_text(d->heap, name, n, &t->name, err);
}

void load_native_named(struct gcd_dump *d)
{
    for (uint32_t i = 0; i < d->type_count; i++)
        if ((d->types[i].flags & GCD_TYPE_NATIVE) != 0 && d->types[i].named) {
            if (d->summary.types_undescribed == 0)
                gcd_verdict_remove(&d->summary.verdict, GCD_REASON_TYPES_UNDESCRIBED);
            return;
        }
}
