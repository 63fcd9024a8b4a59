/*
 * The modules of a dump, one after another: finds the file that was loaded, and reads it.
 *
 * First all modules are read for the names of types, then again for static variables, whose
 * candidates need the names of all types, then for the fields of types, in any order.  Between
 * these, only so many modules stay open that memory does not depend on their number.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "resolve/resolve.h"

#define CANDIDATES_PER_MODULE 64u
/* More than any program needs; a hostile recording could ask for far more. */
#define FILES_MAX       16384u
#define COMPARISONS_MAX (UINT64_C(1) << 22)
#define KEPT_MAX        128u
#define PROBLEM_BYTES   sizeof((struct gcd_error *)0)->msg

void resolve_close(const struct resolve *r, struct resolve_file *f)
{
    gcd_metadata_free(f->m);
    r->files->close(r->files->ctx, &f->file);
    f->m = NULL;
}

static void close_kept(struct resolve *r)
{
    for (size_t i = 0; i < r->module_count && r->kept > 0; i++)
        if (r->modules[i].kept.m != NULL) {
            resolve_close(r, &r->modules[i].kept);
            r->kept--;
        }
}

gcd_status resolve_open(struct resolve *r, const struct gcd_module *module, unsigned n,
                        struct resolve_file *ret, struct gcd_error *err)
{
    *ret = (struct resolve_file){ .file = { .bytes = UINT64_MAX, .path = "" } };
    gcd_status st = r->files->open(r->files->ctx, module, n, &ret->file, err);
    if (st != GCD_OK && err != NULL && err->os_errno == EMFILE && r->kept > 0) {
        close_kept(r);
        *err = (struct gcd_error)GCD_ERROR_INIT;
        st = r->files->open(r->files->ctx, module, n, &ret->file, err);
    }
    if (st != GCD_OK)
        return st;
    st = gcd_metadata_open(ret->file.input, ret->file.off, ret->file.bytes, r->alloc, &ret->m, err);
    if (st != GCD_OK)
        resolve_close(r, ret);
    return st;
}

/* Is the open file the module that was loaded?  *RET_PROBLEM: why not. */
static gcd_status judge(struct resolve *r, uint32_t module, const struct resolve_file *o,
                        const char **ret_problem, struct gcd_error *err)
{
    struct gcd_module *to = &r->d->modules[module];
    struct gcd_loaded_module loaded = { .pdb_age = to->pdb_age };
    bool differ;
    memcpy(loaded.pdb_guid.bytes, to->pdb_guid, sizeof to->pdb_guid);
    enum gcd_module_match match = gcd_metadata_match(gcd_metadata_identity(o->m), &loaded);
    *ret_problem = match == GCD_MODULE_OTHER ? "the file is not the one that was loaded"
                   : match == GCD_MODULE_UNKNOWN && !o->file.certain
                       ? "nothing says whether the file is the one that was loaded"
                       : NULL;
    if (match != GCD_MODULE_UNKNOWN || !o->file.certain)
        return GCD_OK;
    GCD_TRY(resolve_types_differ(r, module, o->m, &differ, err));
    *ret_problem = differ ? "the types of the file are not those that were loaded" : NULL;
    return GCD_OK;
}

/* O is the file of MODULE. */
static void accept_file(struct resolve *r, uint32_t module, const struct resolve_file *o)
{
    const struct gcd_module_identity *id = gcd_metadata_identity(o->m);
    load_identify(&r->d->modules[module], GCD_MODULE_READ, id->mvid.bytes,
                  id->has_public_key ? id->public_key_token : NULL);
    r->d->modules[module].problem = "";
}

static gcd_status set_problem(struct resolve *r, uint32_t module, enum gcd_module_state state,
                              const char *problem, struct gcd_error *err)
{
    struct gcd_module *to = &r->d->modules[module];
    to->state = state;
    return heap_text(r->d->heap, problem, strlen(problem), &to->problem, err);
}

gcd_status resolve_open_again(struct resolve *r, uint32_t module, struct resolve_file *ret,
                              struct gcd_error *err)
{
    uint32_t owner = r->modules[module].same_as;
    struct resolve_module *from = &r->modules[owner];
    const struct gcd_module *found = &r->d->modules[owner];
    if (from->kept.m != NULL) {
        *ret = from->kept;
        from->kept.m = NULL;
        r->kept--;
        return GCD_OK;
    }
    gcd_status st = resolve_open(r, from->loaded ? NULL : found, from->candidate, ret, err);
    if (st == GCD_END)
        return gcd_fail(err, GCD_E_IO, "the file is gone: it was there when the types were read");
    if (st != GCD_OK)
        return st;
    if (memcmp(found->mvid, gcd_metadata_identity(ret->m)->mvid.bytes, sizeof found->mvid) == 0)
        return GCD_OK;
    resolve_close(r, ret);
    return gcd_fail(err, GCD_E_FORMAT, "the file has changed while it was read");
}

void resolve_put_back(struct resolve *r, uint32_t module, struct resolve_file *f)
{
    struct resolve_module *to = &r->modules[r->modules[module].same_as];
    if (to->kept.m != NULL || r->kept == KEPT_MAX) {
        resolve_close(r, f);
        return;
    }
    to->kept = *f;
    f->m = NULL;
    r->kept++;
}

static gcd_status count_file(struct resolve *r, struct gcd_error *err)
{
    if (r->files_left == 0)
        return gcd_fail(err, GCD_E_LIMIT, "%u other files were read before, which is the limit",
                        FILES_MAX);
    r->files_left--;
    return GCD_OK;
}

/* Finds the file of a module; OPENED->m is NULL when there is none. */
static gcd_status find_file(struct resolve *r, uint32_t module, struct resolve_file *ret,
                            struct gcd_error *err)
{
    struct gcd_module *to = &r->d->modules[module];
    char problem[PROBLEM_BYTES] = "";
    const char *other = NULL;
    to->state = to->path[0] == '\0' ? GCD_MODULE_NO_PATH : GCD_MODULE_NOT_FOUND;
    ret->m = NULL;
    for (unsigned n = 0; n < CANDIDATES_PER_MODULE; n++) {
        struct gcd_error own = GCD_ERROR_INIT;
        const char *refused = NULL;
        gcd_status st = count_file(r, &own);
        if (st == GCD_OK && (st = resolve_open(r, to, n, ret, &own)) == GCD_END) {
            r->files_left++;
            break;
        }
        if (st == GCD_OK)
            st = judge(r, module, ret, &refused, &own);
        if (st == GCD_OK && refused == NULL) {
            accept_file(r, module, ret);
            r->modules[module].candidate = n;
            return GCD_OK;
        }
        if (st == GCD_OK)
            other = refused;
        else if (problem[0] == '\0')
            (void)snprintf(problem, sizeof problem, "%s", own.msg);
        if (ret->m != NULL)
            resolve_close(r, ret);
        GCD_TRY(gcd_only_fatal(st, &own, err));
    }
    if (other != NULL)
        return set_problem(r, module, GCD_MODULE_REPLACED, other, err);
    return problem[0] != '\0' ? set_problem(r, module, GCD_MODULE_UNREADABLE, problem, err)
                              : GCD_OK;
}

/* A file that was valid and no longer is has changed: the names read so far are right or, at worst,
 * those of something else. */
static gcd_status note_failure(struct resolve *r, uint32_t module, gcd_status st,
                               const struct gcd_error *own, struct gcd_error *err)
{
    GCD_TRY(gcd_only_fatal(st, own, err));
    return st == GCD_OK ? GCD_OK : set_problem(r, module, GCD_MODULE_UNREADABLE, own->msg, err);
}

gcd_status resolve_find_recorded(struct resolve *r, uint32_t module, struct gcd_error *err)
{
    const struct gcd_module *to = &r->d->modules[module];
    for (unsigned n = 0; n < CANDIDATES_PER_MODULE && !r->modules[module].found; n++) {
        struct resolve_file o;
        struct gcd_error own = GCD_ERROR_INIT;
        gcd_status st = count_file(r, &own);
        if (st == GCD_OK)
            st = resolve_open(r, to, n, &o, &own);
        GCD_TRY(gcd_only_fatal(st, &own, err));
        if (st == GCD_END || st == GCD_E_LIMIT)
            return GCD_OK;
        if (st != GCD_OK)
            continue;
        r->modules[module].candidate = n;
        r->modules[module].found =
            memcmp(to->mvid, gcd_metadata_identity(o.m)->mvid.bytes, sizeof to->mvid) == 0;
        resolve_close(r, &o);
    }
    return GCD_OK;
}

static gcd_status read_types(struct resolve *r, uint32_t module, struct gcd_error *err)
{
    struct resolve_file o;
    struct gcd_error own = GCD_ERROR_INIT;
    /* its file is known already */
    if (r->d->modules[r->modules[module].same_as].state == GCD_MODULE_READ) {
        gcd_status st = count_file(r, &own);
        if (st == GCD_OK)
            st = resolve_open_again(r, module, &o, &own);
        if (st != GCD_OK)
            return note_failure(r, module, st, &own, err);
        accept_file(r, module, &o);
    } else {
        GCD_TRY(find_file(r, module, &o, err));
        if (o.m == NULL)
            return GCD_OK;
    }
    gcd_status st = resolve_types_name(r, module, o.m, &own);
    if (st == GCD_OK)
        st = resolve_statics_ancestors(r, module, o.m, &own);
    resolve_put_back(r, module, &o);
    return note_failure(r, module, st, &own, err);
}

static gcd_status read_statics(struct resolve *r, uint32_t module, struct gcd_error *err)
{
    struct resolve_file o;
    struct gcd_error own = GCD_ERROR_INIT;
    gcd_status st = resolve_open_again(r, module, &o, &own);
    if (st == GCD_OK) {
        st = resolve_statics_add(r, module, o.m, &own);
        resolve_put_back(r, module, &o);
    }
    return note_failure(r, module, st, &own, err);
}

static uint64_t symbols_hash(const struct gcd_module *m)
{
    return gcd_text_hash((const char *)m->pdb_guid, sizeof m->pdb_guid, m->pdb_age);
}

/* The module with a file that has the same symbol file as MODULE; RESOLVE_NONE = none, or MODULE
 * itself. */
static uint32_t find_owner(const struct resolve *r, const struct gcd_idmap *by_symbols,
                           uint32_t module)
{
    static const uint8_t none[sizeof r->d->modules->pdb_guid];
    const struct gcd_module *m = &r->d->modules[module];
    uint32_t owner = gcd_idmap_get(by_symbols, symbols_hash(m));
    if (owner == GCD_IDMAP_NONE || owner == module || memcmp(m->pdb_guid, none, sizeof none) == 0)
        return RESOLVE_NONE;
    const struct gcd_module *o = &r->d->modules[owner];
    return memcmp(o->pdb_guid, m->pdb_guid, sizeof m->pdb_guid) == 0 && o->pdb_age == m->pdb_age
               ? r->modules[owner].same_as
               : RESOLVE_NONE;
}

/* A module from a stream or a deleted file is the same as another module with the same symbol file
 * that has a file. */
static gcd_status share_files(struct resolve *r, struct gcd_error *err)
{
    struct gcd_idmap by_symbols;
    bool room = true;
    gcd_status st = GCD_OK;
    gcd_idmap_init(&by_symbols, r->alloc);
    for (uint32_t i = 0; i < r->module_count && room; i++)
        if (r->d->modules[i].state == GCD_MODULE_READ)
            room = gcd_idmap_put(&by_symbols, symbols_hash(&r->d->modules[i]), i);
    for (uint32_t i = 0; i < r->module_count && room && st == GCD_OK; i++) {
        bool known = r->d->modules[i].native || r->d->modules[i].state == GCD_MODULE_READ ||
                     r->d->modules[i].state == GCD_MODULE_RECORDED;
        uint32_t owner = known ? RESOLVE_NONE : find_owner(r, &by_symbols, i);
        if (owner == RESOLVE_NONE)
            continue;
        r->modules[i].same_as = owner;
        st = read_types(r, i, err);
    }
    gcd_idmap_done(&by_symbols);
    return room ? st : gcd_fail_nomem(err, "completing names");
}

static gcd_status read_modules(struct resolve *r, struct gcd_error *err)
{
    const gcd_cancel_flag *cancel = r->d->options.context.cancel;
    GCD_TRY(resolve_types_begin(r, err));
    GCD_TRY(resolve_statics_begin(r, err));
    GCD_TRY(resolve_loaded(r, err));
    for (uint32_t i = 0; i < r->module_count; i++) {
        GCD_TRY(gcd_check_canceled(cancel, err));
        if (r->d->modules[i].state == GCD_MODULE_RECORDED)
            continue;
        GCD_TRY(r->d->modules[i].native ? resolve_native(r, i, err) : read_types(r, i, err));
    }
    GCD_TRY(share_files(r, err));
    GCD_TRY(resolve_statics_names(r, err));
    for (uint32_t i = 0; i < r->module_count && r->variable_count > 0; i++) {
        GCD_TRY(gcd_check_canceled(cancel, err));
        if (r->d->modules[i].state == GCD_MODULE_READ && !r->d->modules[i].native)
            GCD_TRY(read_statics(r, i, err));
    }
    return resolve_statics_end(r, err);
}

gcd_status resolve_add_module(struct resolve *r, struct gcd_error *err)
{
    if (!gcd_vec_reserve(r->alloc, &r->modules, &r->module_cap, r->module_count + 1,
                         sizeof *r->modules, RESOLVE_NONE))
        return gcd_fail_nomem(err, "completing names");
    r->modules[r->module_count++] =
        (struct resolve_module){ .first_type = RESOLVE_NONE, .first_stored = RESOLVE_NONE };
    r->modules[r->module_count - 1].same_as = (uint32_t)r->module_count - 1;
    return GCD_OK;
}

static gcd_status number_modules(struct resolve *r, struct gcd_error *err)
{
    for (uint32_t i = 0; i < r->d->summary.module_count; i++) {
        GCD_TRY(resolve_add_module(r, err));
        if (!gcd_idmap_put(&r->module_by_id, r->d->modules[i].id, i))
            return gcd_fail_nomem(err, "completing names");
    }
    return GCD_OK;
}

static void done(struct resolve *r)
{
    close_kept(r);
    for (size_t i = 0; i < r->stored_count; i++)
        gcd_mem_free(r->alloc, r->stored[i].ancestors,
                     r->stored[i].ancestor_cap * sizeof *r->stored[i].ancestors);
    gcd_mem_free(r->alloc, r->stored, r->stored_cap * sizeof *r->stored);
    gcd_mem_free(r->alloc, r->types, r->type_count * sizeof *r->types);
    gcd_mem_free(r->alloc, r->variables, (size_t)r->d->summary.statics * sizeof *r->variables);
    gcd_mem_free(r->alloc, r->candidates, r->candidate_cap * sizeof *r->candidates);
    gcd_mem_free(r->alloc, r->modules, r->module_cap * sizeof *r->modules);
    gcd_idmap_done(&r->variable_by_name);
    gcd_idmap_done(&r->module_by_id);
    csharp_done(&r->spelling);
    gcd_textpool_done(&r->text);
}

gcd_status gcd_dump_resolve(struct gcd_dump *d, const struct gcd_module_files *files,
                            struct gcd_error *err)
{
    if (!d->closed || d->heap == NULL)
        return gcd_fail(err, GCD_E_STATE, "the dump is not closed");
    struct resolve r = { .d = d,
                         .files = files,
                         .alloc = &d->alloc,
                         .files_left = FILES_MAX,
                         .comparisons_left = COMPARISONS_MAX };
    gcd_textpool_init(&r.text, r.alloc, d->heap->limits.text_bytes);
    csharp_init(&r.spelling, r.alloc);
    gcd_idmap_init(&r.module_by_id, r.alloc);
    gcd_idmap_init(&r.variable_by_name, r.alloc);
    gcd_status st = number_modules(&r, err);
    if (st == GCD_OK)
        st = read_modules(&r, err);
    if (st == GCD_OK && files->layouts)
        st = resolve_layouts(&r, err);
    done(&r);
    return st;
}
