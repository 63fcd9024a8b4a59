/* Which types are loads of the same one. */
#include <string.h>

#include <gcdumpc/unstable/loads.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define UNKNOWN UINT32_MAX

struct same {
    const struct gcd_summary *from;
    /* [modules] the first module of the same file; UNKNOWN = file unknown */
    uint32_t *file;
    bool repeated; /* some file is loaded several times */
};

/* ---- modules ---- */

static int compare_modules(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_module *x = &((const struct gcd_module *)ctx)[a],
                            *y = &((const struct gcd_module *)ctx)[b];
    int c = strcmp(gcd_module_label(x), gcd_module_label(y));
    if (c == 0)
        c = memcmp(x->pdb_guid, y->pdb_guid, sizeof x->pdb_guid);
    return c != 0 ? c : (x->pdb_age > y->pdb_age) - (x->pdb_age < y->pdb_age);
}

/* ITEMS: the modules, sorted. */
static void number_files(struct same *s, const uint32_t *items)
{
    const struct gcd_module *modules = s->from->modules;
    for (size_t i = 0; i < s->from->module_count; i++) {
        bool again = i > 0 && compare_modules(modules, items[i - 1], items[i]) == 0;
        bool known = gcd_module_label(&modules[items[i]])[0] != '\0';
        s->file[items[i]] = !known ? UNKNOWN : again ? s->file[items[i - 1]] : items[i];
        s->repeated = s->repeated || (known && again);
    }
}

/* ---- types ---- */

static uint32_t type_file(const struct same *s, const struct gcd_type *t)
{
    return t->named && t->module_number < s->from->module_count ? s->file[t->module_number]
                                                                : UNKNOWN;
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_types(const void *ctx, uint32_t a, uint32_t b)
{
    const struct same *s = ctx;
    const struct gcd_type *x = &s->from->types[a], *y = &s->from->types[b];
    int c = compare_numbers(type_file(s, x), type_file(s, y));
    if (c == 0)
        c = compare_numbers(x->name_token, y->name_token);
    return c != 0 ? c : strcmp(x->name, y->name);
}

/* Equal types keep their order: sorting is stable. */
static bool number_types(const struct same *s, const uint32_t *items, uint32_t *ret_first)
{
    bool some = false;
    for (uint32_t i = 1; i < s->from->type_count; i++) {
        if (type_file(s, &s->from->types[items[i]]) == UNKNOWN ||
            compare_types(s, items[i - 1], items[i]) != 0)
            continue;
        ret_first[items[i]] = ret_first[items[i - 1]];
        some = true;
    }
    return some;
}

gcd_status gcd_same_types(const struct gcd_summary *from, const struct gcd_alloc *alloc,
                          uint32_t *ret_first, bool *ret_some, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct same s = { .from = from };
    *ret_some = false;
    for (uint32_t i = 0; i < from->type_count; i++)
        ret_first[i] = i;
    if (from->module_count == 0)
        return GCD_OK;
    s.file = gcd_mem_new_array(&a, from->module_count, sizeof *s.file);
    uint32_t *modules = gcd_sort_order(&a, from->module_count, compare_modules, from->modules),
             *types = NULL;
    bool ok = s.file != NULL && modules != NULL;
    if (ok)
        number_files(&s, modules);
    if (ok && s.repeated) {
        types = gcd_sort_order(&a, from->type_count, compare_types, &s);
        ok = types != NULL;
        *ret_some = ok && number_types(&s, types, ret_first);
    }
    gcd_mem_free(&a, types, from->type_count * sizeof *types);
    gcd_mem_free(&a, modules, from->module_count * sizeof *modules);
    gcd_mem_free(&a, s.file, from->module_count * sizeof *s.file);
    return ok ? GCD_OK : gcd_fail_nomem(err, "comparing the loads of types");
}
