/*
 * Names of types from the metadata in the image.  createdump keeps the metadata of all modules; an
 * image is mapped by sections, or flat as its file.
 *
 * The names are those that the runtime sends in BulkType: bare for a nested type, with arguments in
 * brackets; the outer types come separately, as in a recording with names (src/recorded).
 */
#include <string.h>

#include <gcdumpc/unstable/metadata.h>

#include "base/context.h"
#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"
#include "image/clr/clr.h"
#include "image/clr/clr_names.h"

#define MODULES_MAX  65536u
#define METADATA_MAX (UINT64_C(128) << 20)
#define NAME_MAX     UINT64_C(65536)
#define DEPTH_MAX    16u
#define PATH_UNITS   1024u
#define FILES_MAX    64u
#define MAPPED_PAGE  4096u /* a mapping ends at the end of a page */

/* .NET 8: PEAssembly → PEImage → path; → its layouts, flat and loaded → address */
enum { PE_IMAGE = 8, PE_IMAGE_PATH = 16, PE_IMAGE_FLAT = 112, PE_IMAGE_LOADED = 120, PE_BASE = 8 };

/* ---- modules ---- */

static gcd_status keep_module(struct clr *c, const struct clr_module *m, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&c->alloc, &c->modules, &c->module_cap, c->module_count + 1,
                         sizeof *c->modules, MODULES_MAX) ||
        !gcd_idmap_put(&c->module_by_id, m->id, (uint32_t)c->module_count))
        return gcd_fail_nomem(err, "reading the modules of a process");
    c->modules[c->module_count++] = *m;
    return GCD_OK;
}

static bool is_new_module(const struct clr *c, uint64_t id)
{
    return id != 0 && gcd_idmap_get(&c->module_by_id, id) == GCD_IDMAP_NONE &&
           c->module_count < MODULES_MAX;
}

static gcd_status read_module(struct clr *c, uint64_t id, struct clr_module *ret,
                              struct gcd_error *err)
{
    uint64_t path = 0;
    *ret = (struct clr_module){ .id = id, .path = "", .assembly = "" };
    if (c->layout.module_path != 0) {
        path = image_u64(c->image, id + c->layout.module_path);
    } else {
        uint64_t pe = image_u64(c->image, image_u64(c->image, id + c->layout.module_pe) + PE_IMAGE);
        uint64_t at = image_u64(c->image, pe + PE_IMAGE_LOADED);
        path = image_u64(c->image, pe + PE_IMAGE_PATH);
        at = at != 0 ? at : image_u64(c->image, pe + PE_IMAGE_FLAT);
        ret->base = image_u64(c->image, at + PE_BASE);
    }
    if (c->layout.module_base != 0)
        ret->base = image_u64(c->image, id + c->layout.module_base);
    return image_text(c->image, path, PATH_UNITS, &ret->path, err);
}

static gcd_status add_module(struct clr *c, uint64_t id, struct gcd_error *err)
{
    struct clr_module m;
    if (!is_new_module(c, id))
        return GCD_OK;
    GCD_TRY(read_module(c, id, &m, err));
    return keep_module(c, &m, err);
}

/* ---- metadata ---- */

struct pe_section {
    uint32_t rva, bytes, off;
};

/* The place of RVA in an image that is mapped like its file. */
static uint64_t flat_offset(struct clr *c, uint64_t headers, unsigned sections, uint32_t rva)
{
    for (unsigned i = 0; i < sections; i++) {
        uint64_t s = headers + 40 * (uint64_t)i;
        uint32_t size = image_u32(c->image, s + 8), at = image_u32(c->image, s + 12),
                 raw = image_u32(c->image, s + 16), off = image_u32(c->image, s + 20);
        if (rva >= at && rva - at < (size > raw ? size : raw))
            return (uint64_t)off + (rva - at);
    }
    return 0;
}

static bool is_metadata(struct clr *c, uint64_t address)
{
    return image_u32(c->image, address) == UINT32_C(0x424a5342); /* BSJB */
}

/* Where the metadata of an image at BASE are; 0 = nowhere. */
static uint64_t find_metadata(struct clr *c, uint64_t base, uint32_t *ret_bytes)
{
    struct image *m = c->image;
    uint64_t pe = base + image_u32(m, base + 0x3c);
    if (base == 0 || image_u16(m, base) != 0x5a4d || image_u32(m, pe) != 0x4550)
        return 0;
    unsigned sections = image_u16(m, pe + 6);
    uint64_t optional = pe + 24, headers = optional + image_u16(m, pe + 20);
    uint64_t directories = optional + (image_u16(m, optional) == 0x20b ? 112 : 96);
    uint32_t cli = image_u32(m, directories + 8 * 14);
    if (cli == 0 || sections > 96)
        return 0;
    for (int flat = 0; flat < 2; flat++) {
        uint64_t header = base + (flat ? flat_offset(c, headers, sections, cli) : cli);
        uint32_t rva = image_u32(m, header + 8);
        uint64_t at = base + (flat ? flat_offset(c, headers, sections, rva) : rva);
        *ret_bytes = image_u32(m, header + 12);
        if (image_u32(m, header) == 72 && is_metadata(c, at))
            return at;
    }
    return 0;
}

/* Opens N bytes of metadata at ADDRESS. */
static bool open_at(struct clr *c, uint64_t address, uint32_t n, struct clr_metadata *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    *ret = (struct clr_metadata){ .bytes = NULL };
    if (address == 0 || n == 0 || n > METADATA_MAX || image_available(c->image, address) < n)
        return false;
    ret->n = n;
    ret->bytes = gcd_mem_new_uncleared(&c->alloc, n, 1);
    if (ret->bytes != NULL && image_read_run(c->image, address, ret->bytes, n) == n) {
        struct gcd_input_options options = { .context.alloc = &c->alloc };
        if (gcd_input_from_memory(ret->bytes, n, &options, &ret->in, &err) == GCD_OK &&
            gcd_metadata_open(ret->in, 0, n, &c->alloc, &ret->m, &err) == GCD_OK)
            return true;
    }
    clr_metadata_close(c, ret);
    return false;
}

static bool open_image(struct clr *c, uint64_t base, struct clr_metadata *ret)
{
    uint32_t n = 0;
    uint64_t at = find_metadata(c, base, &n);
    return open_at(c, at, n, ret);
}

/* The metadata of a dynamic assembly, which the runtime keeps for debuggers: {bytes u32, data}. */
static bool open_dynamic(struct clr *c, const struct clr_module *module, struct clr_metadata *ret)
{
    uint32_t off = c->layout.module_dynamic;
    uint64_t at = off != 0 ? image_u64(c->image, module->id + off) : 0;
    if (at == 0 || !is_metadata(c, at + 4) || !open_at(c, at + 4, image_u32(c->image, at), ret))
        return false;
    ret->is_dynamic = true;
    return true;
}

bool clr_metadata_open(struct clr *c, const struct clr_module *module, struct clr_metadata *ret)
{
    if (open_image(c, module->base, ret) || open_dynamic(c, module, ret))
        return true;
    for (size_t i = 0; i < c->image->mapping_count; i++) {
        const struct image_mapping *m = &c->image->mappings[i];
        if (m->file_off == 0 && module->path[0] != '\0' && strcmp(m->path, module->path) == 0 &&
            open_image(c, m->start, ret))
            return true;
    }
    return false;
}

void clr_metadata_close(struct clr *c, struct clr_metadata *m)
{
    gcd_metadata_free(m->m);
    gcd_input_free(m->in);
    if (m->file.input != NULL)
        c->files->close(c->files->ctx, &m->file);
    gcd_mem_free(&c->alloc, m->bytes, m->n);
    *m = (struct clr_metadata){ .bytes = NULL };
}

/* ---- definitions ---- */

static gcd_status keep(struct clr *c, const char *s, size_t n, const char **ret,
                       struct gcd_error *err)
{
    gcd_status st = gcd_textpool_add(&c->text, s, n, ret);
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "cannot keep the names of types");
}

/* The bare name and the outer types of T, which is no array. */
static gcd_status name_definition(struct clr *c, struct gcd_metadata *m, struct clr_type *t,
                                  struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    const char *name;
    size_t last;
    gcd_status st = gcd_metadata_reflection_name(m, GCD_TOKEN_TYPE | t->token, &name, &last, &own);
    if (st != GCD_OK)
        return st == GCD_E_NOMEM ? gcd_fail_nomem(err, "reading names") : GCD_OK;
    if (last > 0) /* without the "+" */
        GCD_TRY(keep(c, name, last - 1, &t->outer, err));
    return keep(c, name + last, strlen(name + last), &t->raw_name, err);
}

static gcd_status identify(struct clr *c, struct clr_module *to, struct gcd_metadata *m,
                           struct gcd_error *err)
{
    const struct gcd_module_identity *id = gcd_metadata_identity(m);
    memcpy(to->mvid, id->mvid.bytes, sizeof to->mvid);
    memcpy(to->token, id->public_key_token, sizeof to->token);
    to->has_token = id->has_public_key;
    to->named = true;
    return keep(c, id->assembly_name, strlen(id->assembly_name), &to->assembly, err);
}

/* Is this metadata that of the loaded module?  A gcore or kernel core has no MVID: each class must
 * extend the same one as in the image. */
static bool is_same_build(struct clr *c, struct gcd_metadata *m, const struct clr_of_module *list,
                          size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct clr_type *t = &c->types[list[i].type];
        uint32_t number =
            t->parent != 0 ? gcd_idmap_get(&c->type_by_id, t->parent) : GCD_IDMAP_NONE;
        const struct clr_type *parent = number != GCD_IDMAP_NONE ? &c->types[number] : NULL;
        struct gcd_type_definition def;
        struct gcd_error own = GCD_ERROR_INIT;
        if (gcd_metadata_type(m, GCD_TOKEN_TYPE | t->token, &def, &own) != GCD_OK)
            return false;
        bool is_interface = t->base_bytes == 0, defined = def.base >> 24 == GCD_TOKEN_TYPE >> 24;
        if (!is_interface && (parent != NULL) != (def.base != 0))
            return false;
        if (defined && parent != NULL &&
            (parent->module != t->module || parent->token != (def.base & 0xffffff)))
            return false;
    }
    return true;
}

/* Where the file of a module is sought: at WANTED.path, from byte OFF on. */
struct place {
    struct gcd_module wanted;
    uint64_t off;
};

/* The file of MODULE.  An assembly in a program of one file has no path: it is mapped from that
 * program, of which it is a part. */
static struct place place_of(const struct image *m, const struct clr_module *module)
{
    struct place p = { .wanted = { .id = module->id, .path = module->path, .assembly = "" } };
    const struct image_mapping *at = image_mapping_at(m, module->base);
    if (module->path[0] != '\0' || at == NULL)
        return p;
    p.wanted.path = at->path;
    p.wanted.native = true;
    p.off = at->file_off + (module->base - at->start);
    return p;
}

/* The next file at P from candidate *I on that has metadata.  False: there is none. */
static bool open_candidate(struct clr *c, const struct place *p, unsigned *i,
                           struct clr_metadata *ret)
{
    while (c->files != NULL && *i < FILES_MAX) {
        struct gcd_error own = GCD_ERROR_INIT;
        *ret = (struct clr_metadata){ .bytes = NULL };
        gcd_status st = c->files->open(c->files->ctx, &p->wanted, (*i)++, &ret->file, &own);
        if (st == GCD_END || gcd_is_fatal(st))
            return false;
        const struct gcd_module_file *f = &ret->file;
        if (st == GCD_OK && p->off < f->bytes && p->off <= UINT64_MAX - f->off &&
            gcd_metadata_open(f->input, f->off + p->off, f->bytes - p->off, &c->alloc, &ret->m,
                              &own) == GCD_OK)
            return true;
        if (st == GCD_OK)
            clr_metadata_close(c, ret);
    }
    return false;
}

/* A module was found in candidate I for P. */
static void note_program(struct clr *c, const struct place *p, unsigned i)
{
    struct clr_program *to = &c->program;
    if (!p->wanted.native)
        return;
    if (to->path == NULL)
        *to =
            (struct clr_program){ .path = p->wanted.path, .candidate = i, .several = to->several };
    to->several = to->several || to->candidate != i || strcmp(to->path, p->wanted.path) != 0;
}

/* The metadata of a module that the image lacks, from its file. */
static bool open_file(struct clr *c, struct clr_module *module, const struct clr_of_module *list,
                      size_t n, struct clr_metadata *ret)
{
    struct place p = place_of(c->image, module);
    for (unsigned i = 0; open_candidate(c, &p, &i, ret);) {
        if (is_same_build(c, ret->m, list, n)) {
            note_program(c, &p, i - 1);
            return true;
        }
        module->replaced = true;
        c->program.several = c->program.several || p.wanted.native;
        clr_metadata_close(c, ret);
    }
    return false;
}

/* Lambdas, delegates and events of T. */
static gcd_status note(struct clr *c, struct gcd_metadata *m, struct gcd_metadata *code,
                       struct clr_type *t, struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    struct gcd_noted noted = { .alloc = &c->alloc };
    gcd_status st = gcd_metadata_note(m, code, GCD_TOKEN_TYPE | t->token, &noted, &own);
    if (st == GCD_OK && noted.n > 0 && noted.n < NAME_MAX)
        st = keep(c, noted.text, noted.n, &t->noted, &own);
    gcd_noted_done(&noted);
    return st == GCD_OK ? GCD_OK : gcd_only_fatal(st, &own, err);
}

/* The file of MODULE, if it is the build that was loaded: it has the code of methods, too. */
static bool open_same_file(struct clr *c, const struct clr_module *module, struct clr_metadata *ret)
{
    struct place p = place_of(c->image, module);
    for (unsigned i = 0; module->named && open_candidate(c, &p, &i, ret);) {
        const struct gcd_module_identity *id = gcd_metadata_identity(ret->m);
        if (memcmp(module->mvid, id->mvid.bytes, sizeof module->mvid) == 0)
            return true;
        clr_metadata_close(c, ret);
    }
    return false;
}

bool clr_metadata_find(struct clr *c, const struct clr_module *module, struct clr_metadata *ret)
{
    return clr_metadata_open(c, module, ret) || open_same_file(c, module, ret);
}

/* LIST[N]: the types of a module that were met. */
static gcd_status name_by_metadata(struct clr *c, struct clr_module *module,
                                   const struct clr_of_module *list, size_t n,
                                   struct clr_metadata *m, struct gcd_error *err)
{
    module->is_dynamic = m->is_dynamic;
    GCD_TRY(identify(c, module, m->m, err));
    if (m->is_dynamic && module->path[0] == '\0')
        module->path = module->assembly; /* as the runtime tells it */
    for (size_t i = 0; i < n; i++)
        GCD_TRY(name_definition(c, m->m, &c->types[list[i].type], err));
    struct clr_metadata file;
    bool has_code = m->file.input == NULL && n > 0 && gcd_metadata_notes_code(m->m) &&
                    open_same_file(c, module, &file);
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < n && st == GCD_OK; i++)
        st = note(c, m->m, has_code ? file.m : m->m, &c->types[list[i].type], err);
    if (has_code)
        clr_metadata_close(c, &file);
    GCD_TRY(st);
    GCD_TRY(clr_static_fields(c, module, list, n, m->m, err));
    return clr_name_methods(c, module, m->m, err);
}

static gcd_status name_module(struct clr *c, const struct clr_of_module *list, size_t n,
                              struct gcd_error *err)
{
    uint32_t number = gcd_idmap_get(&c->module_by_id, list->module);
    struct clr_metadata m;
    if (number == GCD_IDMAP_NONE)
        return GCD_OK;
    c->modules[number].used = (uint32_t)n;
    if (!clr_metadata_open(c, &c->modules[number], &m) &&
        !open_file(c, &c->modules[number], list, n, &m)) {
        c->gaps.unread_modules++;
        return GCD_OK;
    }
    gcd_status st = name_by_metadata(c, &c->modules[number], list, n, &m, err);
    clr_metadata_close(c, &m);
    return st;
}

/* A module of which no type was met.  Its metadata must be in the image: a file could be of another
 * build. */
static gcd_status name_further_module(struct clr *c, uint64_t id, struct gcd_error *err)
{
    struct clr_module module;
    struct clr_metadata m;
    if (!is_new_module(c, id))
        return GCD_OK;
    GCD_TRY(read_module(c, id, &module, err));
    if (!clr_metadata_open(c, &module, &m)) {
        /* the file that it is mapped from may do (open_mapped_file) */
        c->gaps.unread_assemblies += module.path[0] == '\0';
        return GCD_OK;
    }
    gcd_status st = name_by_metadata(c, &module, NULL, 0, &m, err);
    clr_metadata_close(c, &m);
    return st == GCD_OK ? keep_module(c, &module, err) : st;
}

/* The module of System.Object: what extends nothing and is no interface; 0 = not met. */
static uint64_t core_module(const struct clr *c)
{
    for (size_t i = 0; i < c->type_count; i++)
        if (c->types[i].known && !c->types[i].is_free && c->types[i].parent == 0 &&
            c->types[i].base_bytes != 0)
            return c->types[i].module;
    return 0;
}

gcd_status clr_find_modules(struct clr *c, struct gcd_error *err)
{
    for (size_t i = 0; i < c->type_count; i++)
        if (c->types[i].known && !c->types[i].is_free)
            GCD_TRY(add_module(c, c->types[i].module, err));
    return clr_each_assembly(c, core_module(c), add_module, err);
}

/* Opens each module once. */
static gcd_status name_definitions(struct clr *c, struct gcd_error *err)
{
    struct clr_of_module *list = gcd_mem_new_uncleared(&c->alloc, c->type_count + 1, sizeof *list);
    size_t n = 0;
    gcd_status st = GCD_OK;
    if (list == NULL)
        return gcd_fail_nomem(err, "naming types");
    for (size_t i = 0; i < c->type_count && st == GCD_OK; i++)
        if (c->types[i].known && !c->types[i].is_free) {
            st = add_module(c, c->types[i].module, err);
            if (c->types[i].token != 0)
                list[n++] = (struct clr_of_module){ .module = c->types[i].module, .type = i };
        }
    if (st == GCD_OK && !gcd_sort_by_u64(&c->alloc, list, n, sizeof *list))
        st = gcd_fail_nomem(err, "naming types");
    for (size_t i = 0, next; i < n && st == GCD_OK; i = next) {
        for (next = i + 1; next < n && list[next].module == list[i].module;)
            next++;
        st = name_module(c, list + i, next - i, err);
        if (st == GCD_OK)
            st = gcd_check_canceled(c->context->cancel, err);
    }
    gcd_mem_free(&c->alloc, list, (c->type_count + 1) * sizeof *list);
    if (st == GCD_OK)
        st = clr_take_program(c, err);
    if (st == GCD_OK)
        st = clr_each_assembly(c, core_module(c), name_further_module, err);
    return st;
}

/* .NET 11 makes types of its own, without metadata, for what suspended calls of runtime async keep:
 * of each layout one that extends Continuation.  They are told by the class that they extend, as
 * its events do. */
static void name_extended(struct clr *c)
{
    for (size_t i = 0; i < c->type_count; i++) {
        struct clr_type *t = &c->types[i];
        uint32_t number = t->known && !t->is_free && t->rank == 0 && t->token == 0
                              ? gcd_idmap_get(&c->type_by_id, t->parent)
                              : GCD_IDMAP_NONE;
        const struct clr_type *parent = number != GCD_IDMAP_NONE ? &c->types[number] : NULL;
        if (parent == NULL || parent->token == 0 || parent->arg_count > 0)
            continue;
        t->token = parent->token;
        t->module = parent->module;
        t->raw_name = parent->raw_name;
        t->outer = parent->outer;
    }
}

/* ---- modules without objects ---- */

/* How much of the file at PATH is mapped, from its first byte to the last one.  Its sections have
 * mappings of their own if it was precompiled. */
static uint64_t mapped_bytes(const struct image *m, const char *path)
{
    uint64_t most = 0;
    for (size_t i = 0; i < m->mapping_count; i++) {
        const struct image_mapping *x = &m->mappings[i];
        if (strcmp(x->path, path) == 0 && x->end > x->start &&
            x->file_off <= UINT64_MAX - (x->end - x->start) &&
            x->file_off + (x->end - x->start) > most)
            most = x->file_off + (x->end - x->start);
    }
    return most;
}

/* The file of a mapping, for images that leave mapped files out (gcore, kernel cores).  Nothing in
 * the image tells builds of such a module apart but its size. */
static bool open_mapped_file(struct clr *c, const struct image_mapping *from,
                             struct clr_metadata *ret)
{
    struct place p = { .wanted = { .id = from->start, .path = from->path, .assembly = "" } };
    for (unsigned i = 0; open_candidate(c, &p, &i, ret);) {
        uint64_t bytes = gcd_input_size(ret->file.input),
                 mapped = mapped_bytes(c->image, from->path);
        if (bytes <= mapped && mapped - bytes < MAPPED_PAGE)
            return true;
        clr_metadata_close(c, ret);
    }
    return false;
}

static gcd_status add_mapped(struct clr *c, const struct image_mapping *from, struct gcd_error *err)
{
    struct clr_module m = { .id = from->start, .base = from->start, .path = from->path };
    struct clr_metadata open;
    if (c->module_count == MODULES_MAX || gcd_idmap_get(&c->module_by_id, m.id) != GCD_IDMAP_NONE)
        return GCD_OK;
    if (!open_image(c, from->start, &open) &&
        (!gcd_text_ends(from->path, ".dll") || !open_mapped_file(c, from, &open)))
        return GCD_OK;
    gcd_status st = identify(c, &m, open.m, err);
    clr_metadata_close(c, &open);
    return st == GCD_OK ? keep_module(c, &m, err) : st;
}

/* A class is found through the assembly that its module names, such as System.Runtime, which has no
 * types of its own.  Such a module is known by its mapping only, so its address stands for it. */
static gcd_status add_mapped_modules(struct clr *c, struct gcd_error *err)
{
    struct gcd_idmap by_path;
    gcd_status st = GCD_OK;
    gcd_idmap_init(&by_path, &c->alloc);
    size_t modules = c->module_count, all = modules + c->image->mapping_count;
    for (size_t i = 0; i < all && st == GCD_OK; i++) {
        bool is_module = i < modules;
        const struct image_mapping *m = is_module ? NULL : &c->image->mappings[i - modules];
        const char *path = is_module ? c->modules[i].path : m->path;
        uint64_t hash = gcd_text_hash(path, strlen(path), GCD_TEXT_HASH);
        bool is_new = gcd_idmap_get(&by_path, hash) == GCD_IDMAP_NONE;
        if (path[0] == '\0' || (!is_module && (m->file_off != 0 || !is_new)))
            continue;
        if (!gcd_idmap_put(&by_path, hash, 0))
            st = gcd_fail_nomem(err, "reading the modules of a process");
        else if (!is_module)
            st = add_mapped(c, m, err);
    }
    gcd_idmap_done(&by_path);
    return st;
}

/* ---- arrays and arguments ---- */

struct text {
    char *p;
    size_t n, cap;
    bool full;
};

static void put(struct text *t, const char *s)
{
    size_t n = strlen(s);
    if (n >= t->cap - t->n)
        t->full = true;
    else
        memcpy(t->p + t->n, s, n), t->n += n;
}

static void put_type(struct clr *c, struct text *to, uint64_t id, bool whole, unsigned depth);

static void put_arguments(struct clr *c, struct text *to, const struct clr_type *t, unsigned depth)
{
    for (uint32_t i = 0; i < t->arg_count && !to->full; i++) {
        put(to, i == 0 ? "[" : ",");
        put_type(c, to, c->args[t->args + i], true, depth + 1);
    }
    if (t->arg_count > 0)
        put(to, "]");
}

static void put_rank(struct text *to, const struct clr_type *t)
{
    bool vector = (t->flags & UINT32_C(0x20000)) != 0;
    put(to, "[");
    if (t->rank == 1 && !vector)
        put(to, "*");
    for (uint32_t i = 1; i < t->rank && !to->full; i++)
        put(to, ",");
    put(to, "]");
}

/* WHOLE: with its outer types, as in an argument.  What is deeper than DEPTH_MAX is left out: no
 * program has it, but a damaged image may have a type that contains itself. */
static void put_type(struct clr *c, struct text *to, uint64_t id, bool whole, unsigned depth)
{
    if (clr_is_type_desc(id) && depth < DEPTH_MAX) {
        uint64_t target = clr_type_desc_target(c, id);
        if (target != 0)
            put_type(c, to, target, whole, depth + 1);
        put(to, target != 0 ? "*" : "FNPTR");
        return;
    }
    uint32_t i = id != 0 ? gcd_idmap_get(&c->type_by_id, id) : GCD_IDMAP_NONE;
    const struct clr_type *t = i != GCD_IDMAP_NONE ? &c->types[i] : NULL;
    if (t == NULL || depth == DEPTH_MAX || to->full) {
        put(to, "?");
        return;
    }
    if (t->rank > 0) {
        put_type(c, to, t->element, whole, depth + 1);
        put_rank(to, t);
        return;
    }
    if (whole && t->outer[0] != '\0') {
        put(to, t->outer);
        put(to, "+");
    }
    put(to, t->raw_name[0] != '\0' ? t->raw_name : "?");
    put_arguments(c, to, t, depth);
}

/* Definitions keep their bare names until all types have their own. */
static gcd_status name_instances(struct clr *c, const char **names, struct gcd_error *err)
{
    struct text t = { .p = gcd_mem_new_uncleared(&c->alloc, NAME_MAX, 1), .cap = NAME_MAX };
    gcd_status st = t.p != NULL ? GCD_OK : gcd_fail_nomem(err, "naming types");
    for (size_t i = 0; i < c->type_count && st == GCD_OK; i++) {
        t.n = 0;
        t.full = false;
        put_type(c, &t, c->types[i].id, false, 0);
        bool known = !t.full && t.n > 0 && t.p[0] != '?';
        if (c->types[i].rank == 0 && c->types[i].raw_name[0] == '\0')
            known = false;
        st = keep(c, t.p, known ? t.n : 0, &names[i], err);
    }
    gcd_mem_free(&c->alloc, t.p, NAME_MAX);
    return st;
}

gcd_status clr_name_types(struct clr *c, struct gcd_error *err)
{
    GCD_TRY(name_definitions(c, err));
    name_extended(c);
    GCD_TRY(add_mapped_modules(c, err));
    const char **names = gcd_mem_new_array(&c->alloc, c->type_count + 1, sizeof *names);
    if (names == NULL)
        return gcd_fail_nomem(err, "naming types");
    gcd_status st = name_instances(c, names, err);
    for (size_t i = 0; i < c->type_count && st == GCD_OK; i++) {
        struct clr_type *t = &c->types[i];
        t->raw_name = names[i];
        const struct clr_type *e = t;
        for (unsigned depth = 0; e->rank > 0 && depth < DEPTH_MAX; depth++) {
            uint32_t n = gcd_idmap_get(&c->type_by_id, clr_table_of(c, e->element));
            if (n == GCD_IDMAP_NONE)
                break;
            e = &c->types[n];
        }
        t->outer = e->outer;
    }
    gcd_mem_free(&c->alloc, names, (c->type_count + 1) * sizeof *names);
    return st == GCD_OK ? clr_name_static_classes(c, err) : st;
}
