/*
 * Modules that no event describes, so that only their types are known: before .NET 9 the runtime names modules only with a full rundown, which is not
 * asked of a process that works.  The caller knows which files the process has loaded; the file of a module is the only one in which all types of the
 * dump have the names that they have there.
 */
#include <string.h>

#include <gcdumpc/unstable/loads.h>

#include "base/error.h"
#include "base/mem.h"
#include "resolve/resolve.h"

#define FILES_MAX 4096u

static bool is_unknown(const struct gcd_module *m)
{
    return !m->described && m->id != 0 && m->state != GCD_MODULE_RECORDED;
}

/* Begins with the type that is least likely to be in another file, too: the last one of the tables. */
static gcd_status fits(struct resolve *r, uint32_t module, struct gcd_metadata *m, bool *ret, struct gcd_error *err)
{
    uint32_t last = 0;
    *ret = false;
    for (uint32_t i = r->modules[module].first_type; i != RESOLVE_NONE; i = r->types[i].next)
        last = r->types[i].definition->name_token > last ? r->types[i].definition->name_token : last;
    if (last == 0 || (last & 0xffffff) > gcd_metadata_type_count(m))
        return GCD_OK;
    bool differ;
    GCD_TRY(resolve_types_differ(r, module, m, &differ, err));
    *ret = !differ;
    return GCD_OK;
}

/* Notes file N with the unknown modules that it can be; copies of one file are one. */
static gcd_status compare_file(struct resolve *r, unsigned n, const struct resolve_file *f, struct gcd_error *err)
{
    const struct gcd_module_guid *mvid = &gcd_metadata_identity(f->m)->mvid;
    for (uint32_t i = 0; i < r->d->summary.module_count; i++) {
        struct resolve_module *m = &r->modules[i];
        bool fit;
        if (!is_unknown(&r->d->modules[i]) || m->fits > 1)
            continue;
        GCD_TRY(fits(r, i, f->m, &fit, err));
        if (!fit || (m->fits == 1 && memcmp(&m->mvid, mvid, sizeof *mvid) == 0))
            continue;
        m->fits++;
        m->mvid = *mvid;
        m->candidate = n;
    }
    return GCD_OK;
}

static gcd_status visit(struct resolve *r, gcd_status (*file)(struct resolve *r, unsigned n, const struct resolve_file *f, struct gcd_error *err),
                        struct gcd_error *err)
{
    for (unsigned n = 0; n < FILES_MAX; n++) {
        struct gcd_error own = GCD_ERROR_INIT;
        struct resolve_file f;
        GCD_TRY(gcd_check_canceled(r->d->options.context.cancel, err));
        gcd_status st = resolve_open(r, NULL, n, &f, &own);
        if (st == GCD_END)
            break;
        if (st == GCD_OK) {
            st = file(r, n, &f, &own);
            resolve_close(r, &f);
        }
        if (resolve_is_fatal(st)) {
            if (err != NULL)
                *err = own;
            return st;
        }
    }
    return GCD_OK;
}

/* File N becomes module TO. */
static gcd_status take(struct resolve *r, uint32_t to, unsigned n, const struct resolve_file *f, struct gcd_error *err)
{
    const struct gcd_module_identity *id = gcd_metadata_identity(f->m);
    struct gcd_module *m = &r->d->modules[to];
    r->modules[to].loaded = true;
    r->modules[to].candidate = n;
    GCD_TRY(heap_text(r->d->heap, f->file.path, strlen(f->file.path), &m->path, err));
    GCD_TRY(heap_text(r->d->heap, id->assembly_name, strlen(id->assembly_name), &m->assembly, err));
    resolve_accept(r, to, f);
    for (uint32_t i = 0; i < r->type_count; i++)
        if (r->d->types[i].module_number == to)
            r->d->types[i].module_path = gcd_module_label(m);
    return GCD_OK;
}

/* A file that is none of the modules in the dump has static fields, too. */
static gcd_status take_file(struct resolve *r, unsigned n, const struct resolve_file *f, struct gcd_error *err)
{
    struct gcd_dump *d = r->d;
    bool taken = false;
    for (uint32_t i = 0; i < r->module_count; i++) {
        if (r->modules[i].fits != 1 || memcmp(&r->modules[i].mvid, &gcd_metadata_identity(f->m)->mvid, sizeof r->modules[i].mvid) != 0)
            continue;
        if (r->modules[i].candidate == n)
            GCD_TRY(take(r, i, n, f, err));
        taken = true;
    }
    if (taken)
        return GCD_OK;
    if (!gcd_vec_reserve(&d->alloc, &d->modules, &d->module_room, d->summary.module_count + 1, sizeof *d->modules, GCD_MODULE_NONE))
        return gcd_fail_nomem(err, "completing names");
    d->summary.modules = d->modules;
    GCD_TRY(resolve_add_module(r, err));
    d->modules[d->summary.module_count] = (struct gcd_module){ .path = "", .assembly = "", .problem = "" };
    return take(r, (uint32_t)d->summary.module_count++, n, f, err);
}

gcd_status resolve_loaded(struct resolve *r, struct gcd_error *err)
{
    bool any = false;
    for (uint32_t i = 0; i < r->module_count; i++)
        any = any || (is_unknown(&r->d->modules[i]) && r->modules[i].first_type != RESOLVE_NONE);
    if (!any)
        return GCD_OK;
    GCD_TRY(visit(r, compare_file, err));
    return visit(r, take_file, err);
}
