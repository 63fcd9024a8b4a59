/*
 * Modules that no event describes, so that only their types are known: before .NET 9 the runtime
 * names modules only in a full rundown, which is not requested from a process at work.  The caller
 * knows which files the process has loaded; the file of a module is the only one in which all its
 * types have the same names as in the dump.
 */
#include <string.h>

#include <gcdumpc/unstable/loads.h>

#include "base/error.h"
#include "base/mem.h"
#include "resolve/resolve.h"

#define FILES_MAX 4096u

/* A file that the process has loaded. */
struct loaded_file {
    unsigned n;               /* which candidate it is */
    uint32_t first;           /* the first copy of it, usually itself */
    bool taken;               /* for the first copy: it is a module of the dump */
    struct gcd_module module; /* what it becomes: path, assembly, identity */
};

/* A module that no event describes. */
struct unknown {
    uint32_t module;
    uint32_t last; /* its last type in the tables of its file */
    /* number of files that it can be; copies of a file count once */
    unsigned fits;
    uint32_t file; /* the first of these */
};

struct loaded {
    struct resolve *r;
    struct unknown *unknown;
    size_t unknown_count, unknown_cap;
    struct loaded_file *files;
    size_t file_count, file_cap;
    struct gcd_idmap by_mvid; /* hash -> first copy */
};

static gcd_status find_unknown(struct loaded *l, struct gcd_error *err)
{
    struct resolve *r = l->r;
    for (uint32_t i = 0; i < r->module_count; i++) {
        const struct gcd_module *m = &r->d->modules[i];
        if (m->described || m->id == 0 || m->state == GCD_MODULE_RECORDED)
            continue;
        struct unknown u = { .module = i };
        for (uint32_t t = r->modules[i].first_type; t != RESOLVE_NONE; t = r->types[t].next)
            u.last = r->types[t].definition->name_token > u.last
                         ? r->types[t].definition->name_token
                         : u.last;
        if (u.last == 0)
            continue;
        if (!gcd_vec_reserve(r->alloc, &l->unknown, &l->unknown_cap, l->unknown_count + 1,
                             sizeof *l->unknown, RESOLVE_NONE))
            return gcd_fail_nomem(err, "completing names");
        l->unknown[l->unknown_count++] = u;
    }
    return GCD_OK;
}

/* Notes for which unknown modules M can be FILE.  Each check of one also counts as a comparison. */
static gcd_status compare_file(struct loaded *l, uint32_t file, struct gcd_metadata *m,
                               struct gcd_error *err)
{
    for (size_t i = 0; i < l->unknown_count; i++) {
        struct unknown *u = &l->unknown[i];
        bool differ = (u->last & 0xffffff) > gcd_metadata_type_count(m);
        if (u->fits > 1)
            continue;
        l->r->comparisons_left -= l->r->comparisons_left > 0;
        if (!differ || l->r->comparisons_left == 0)
            GCD_TRY(resolve_types_differ(l->r, u->module, m, &differ, err));
        if (!differ && u->fits++ == 0)
            u->file = file;
    }
    return GCD_OK;
}

/* Adds F, candidate N, to the files. */
static gcd_status note_file(struct loaded *l, unsigned n, const struct resolve_file *f,
                            struct gcd_error *err)
{
    const struct gcd_module_identity *id = gcd_metadata_identity(f->m);
    struct gcd_heap *heap = l->r->d->heap;
    uint32_t self = (uint32_t)l->file_count;
    uint64_t hash =
        gcd_text_hash((const char *)id->mvid.bytes, sizeof id->mvid.bytes, GCD_TEXT_HASH);
    uint32_t first = gcd_idmap_get(&l->by_mvid, hash);
    struct gcd_module m = { .problem = "" };
    GCD_TRY(heap_text(heap, f->file.path, strlen(f->file.path), &m.path, err));
    GCD_TRY(heap_text(heap, id->assembly_name, strlen(id->assembly_name), &m.assembly, err));
    load_identify(&m, GCD_MODULE_READ, id->mvid.bytes,
                  id->has_public_key ? id->public_key_token : NULL);
    if (!gcd_vec_reserve(l->r->alloc, &l->files, &l->file_cap, l->file_count + 1, sizeof *l->files,
                         FILES_MAX))
        return gcd_fail_nomem(err, "completing names");
    if (first == GCD_IDMAP_NONE || memcmp(l->files[first].module.mvid, m.mvid, sizeof m.mvid) != 0)
        first = self;
    if (first == self && !gcd_idmap_put(&l->by_mvid, hash, self))
        return gcd_fail_nomem(err, "completing names");
    l->files[l->file_count++] = (struct loaded_file){ .n = n, .first = first, .module = m };
    return first == self ? compare_file(l, self, f->m, err) : GCD_OK;
}

static gcd_status visit_files(struct loaded *l, struct gcd_error *err)
{
    for (unsigned n = 0; n < FILES_MAX; n++) {
        struct gcd_error own = GCD_ERROR_INIT;
        struct resolve_file f;
        GCD_TRY(gcd_check_canceled(l->r->d->options.context.cancel, err));
        gcd_status st = resolve_open(l->r, NULL, n, &f, &own);
        if (st == GCD_END)
            break;
        if (st == GCD_OK) {
            st = note_file(l, n, &f, &own);
            resolve_close(l->r, &f);
        }
        GCD_TRY(gcd_only_fatal(st, &own, err));
    }
    return GCD_OK;
}

/* F becomes module TO. */
static void take(struct resolve *r, uint32_t to, const struct loaded_file *f)
{
    struct gcd_module *m = &r->d->modules[to];
    uint64_t id = m->id;
    *m = f->module;
    m->id = id;
    r->modules[to].loaded = true;
    r->modules[to].candidate = f->n;
}

/* A file that is not a module of the dump also has static fields. */
static gcd_status add_file(struct resolve *r, const struct loaded_file *f, struct gcd_error *err)
{
    struct gcd_dump *d = r->d;
    if (!gcd_vec_reserve(&d->alloc, &d->modules, &d->module_room, d->summary.module_count + 1,
                         sizeof *d->modules, GCD_MODULE_NONE))
        return gcd_fail_nomem(err, "completing names");
    d->summary.modules = d->modules;
    GCD_TRY(resolve_add_module(r, err));
    d->modules[d->summary.module_count] = (struct gcd_module){ .id = 0 };
    take(r, (uint32_t)d->summary.module_count++, f);
    return GCD_OK;
}

static gcd_status take_files(struct loaded *l, struct gcd_error *err)
{
    for (size_t i = 0; i < l->unknown_count; i++) {
        const struct unknown *u = &l->unknown[i];
        if (u->fits != 1 || l->r->comparisons_left == 0) /* or not all files were compared */
            continue;
        take(l->r, u->module, &l->files[u->file]);
        l->files[u->file].taken = true;
    }
    for (size_t i = 0; i < l->file_count; i++)
        if (!l->files[l->files[i].first].taken)
            GCD_TRY(add_file(l->r, &l->files[i], err));
    for (uint32_t i = 0; i < l->r->type_count; i++) {
        struct gcd_type *t = &l->r->d->types[i];
        if (t->module_number != GCD_MODULE_NONE && l->r->modules[t->module_number].loaded)
            t->module_path = gcd_module_label(&l->r->d->modules[t->module_number]);
    }
    return GCD_OK;
}

gcd_status resolve_loaded(struct resolve *r, struct gcd_error *err)
{
    struct loaded l = { .r = r };
    gcd_idmap_init(&l.by_mvid, r->alloc);
    gcd_status st = find_unknown(&l, err);
    if (st == GCD_OK && l.unknown_count > 0)
        st = visit_files(&l, err);
    if (st == GCD_OK)
        st = take_files(&l, err);
    gcd_idmap_done(&l.by_mvid);
    gcd_mem_free(r->alloc, l.files, l.file_cap * sizeof *l.files);
    gcd_mem_free(r->alloc, l.unknown, l.unknown_cap * sizeof *l.unknown);
    return st;
}
