/*
 * Programs that were compiled ahead of time (Native AOT): the runtime sends no names, only the
 * place of each type in the program.  The symbols of the program, or the file with them that was
 * separated from it, tell which type that is.
 *
 * The build id says whether a file belongs to the program that ran.  Where it is not known, a file
 * must have a method table exactly where each type of the dump is.
 */
#include <stdio.h>
#include <string.h>

#include "base/elf_notes.h"
#include "base/error.h"
#include "base/hex.h"
#include "base/mem.h"
#include "base/signature.h"
#include "metadata/elf_file.h"
#include "names/aot_definitions.h"
#include "names/aot_names.h"
#include "resolve/resolve.h"

#define CANDIDATES_MAX 64u
/* Behind them, the assemblies that the program may have been compiled from. */
#define ASSEMBLIES_MAX 4096u
/* So many types that are all in their places are no coincidence. */
#define TYPES_MIN    16u
#define SYMBOLS_MAX  (UINT64_C(1) << 24)
#define SYMBOL_BYTES (AOT_SYMBOL_MAX + 16)

struct native {
    struct resolve *r;
    uint32_t module;
    struct gcd_idmap by_rva; /* -> type number */
    const char **symbols;    /* [type_count] in r->text; NULL = none, "" = several */
    size_t types, found;     /* of the module; those that have a symbol */
    char *buffer;            /* [SYMBOL_BYTES + AOT_NAME_MAX] */
    struct aot_definitions known;
};

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "reading the symbols of a program");
}

static gcd_status list_types(struct native *v, struct gcd_error *err)
{
    const struct gcd_dump *d = v->r->d;
    for (uint32_t i = 0; i < d->type_count; i++) {
        const struct gcd_type *t = &d->types[i];
        if (t->module_number != v->module || (t->flags & GCD_TYPE_NATIVE) == 0 ||
            t->name_token == 0)
            continue;
        if (!gcd_idmap_put(&v->by_rva, t->name_token, i))
            return no_memory(err);
        v->types++;
    }
    return GCD_OK;
}

static gcd_status note_symbol(struct native *v, struct elf_file *f, uint32_t type, uint32_t name,
                              struct gcd_error *err)
{
    const char *mangled;
    size_t n, mangled_n;
    GCD_TRY(elf_file_name(f, name, v->buffer, SYMBOL_BYTES, &n, err));
    if (n == SYMBOL_BYTES || !aot_symbol_of_type(v->buffer, n, &mangled, &mangled_n))
        return GCD_OK;
    const char **to = &v->symbols[type];
    if (*to != NULL) { /* one place, two types: neither is certain */
        if (strcmp(*to, mangled) != 0)
            *to = "";
        return GCD_OK;
    }
    v->found++;
    gcd_status st = gcd_textpool_add(&v->r->text, mangled, mangled_n, to);
    return st == GCD_E_LIMIT ? gcd_fail(err, st, "its symbols exceed the limit for text")
           : st == GCD_OK    ? GCD_OK
                             : no_memory(err);
}

static gcd_status read_symbols(struct native *v, struct elf_file *f, struct gcd_error *err)
{
    uint64_t count = elf_file_symbols(f);
    memset(v->symbols, 0, v->r->d->type_count * sizeof *v->symbols);
    v->found = 0;
    for (uint64_t i = 0; i < count && i < SYMBOLS_MAX; i++) {
        struct elf_entry e;
        if (i % 65536 == 0)
            GCD_TRY(gcd_check_canceled(v->r->d->options.context.cancel, err));
        GCD_TRY(elf_file_symbol(f, i, &e, err));
        uint32_t type = e.rva <= UINT32_MAX ? gcd_idmap_get(&v->by_rva, e.rva) : GCD_IDMAP_NONE;
        if (type != GCD_IDMAP_NONE)
            GCD_TRY(note_symbol(v, f, type, e.name, err));
    }
    return GCD_OK;
}

static gcd_status name_types(struct native *v, struct gcd_error *err)
{
    struct gcd_dump *d = v->r->d;
    for (uint32_t i = 0; i < d->type_count; i++) {
        struct gcd_type *t = &d->types[i];
        if (v->symbols[i] == NULL || v->symbols[i][0] == '\0')
            continue;
        char *name = v->buffer + SYMBOL_BYTES;
        bool value = t->element_type != 0 && !gcd_element_is_reference(t->element_type);
        size_t n = aot_name(v->symbols[i], strlen(v->symbols[i]), value, &v->known, name);
        if (n > 0)
            GCD_TRY(load_name_native(d, t, name, n, err));
    }
    load_native_named(d);
    return GCD_OK;
}

static gcd_status say(struct native *v, enum gcd_module_state state, const char *problem,
                      struct gcd_error *err)
{
    struct gcd_module *m = &v->r->d->modules[v->module];
    m->state = state;
    return heap_text(v->r->d->heap, problem, strlen(problem), &m->problem, err);
}

/* The build id of a file that certainly is the program. */
static gcd_status keep_build_id(struct native *v, const char *id, const char *path,
                                struct gcd_error *err)
{
    struct gcd_module *m = &v->r->d->modules[v->module];
    if (m->path[0] == '\0' && path != NULL && path[0] != '\0')
        GCD_TRY(heap_text(v->r->d->heap, path, strlen(path), &m->path, err));
    return id[0] != '\0' ? heap_text(v->r->d->heap, id, strlen(id), &m->build_id, err) : GCD_OK;
}

/* Looks whether F belongs to the module and names its types; *RET_DONE if so, else *RET_WHY may say
 * why not. */
static gcd_status try_file(struct native *v, struct elf_file *f, const struct gcd_module_file *from,
                           bool *ret_done, const char **ret_why, struct gcd_error *err)
{
    const struct gcd_module *m = &v->r->d->modules[v->module];
    size_t n;
    const uint8_t *bytes = elf_file_build_id(f, &n);
    char id[2 * GCD_BUILD_ID_MAX + 1];
    gcd_hex_bytes(bytes, n, id);
    bool known = m->build_id != NULL && m->build_id[0] != '\0';
    if (from->certain && !known) {
        GCD_TRY(keep_build_id(v, id, from->path, err));
        known = true;
    } else if (known && strcmp(id, m->build_id) != 0) {
        *ret_why = "the file is of another build";
        return GCD_OK;
    }
    if (elf_file_symbols(f) == 0)
        return GCD_OK;
    GCD_TRY(read_symbols(v, f, err));
    if (v->found == 0)
        return GCD_OK;
    if (!known && (v->found < v->types || v->types < TYPES_MIN)) {
        *ret_why = "nothing says whether the file is of the program that ran";
        return GCD_OK;
    }
    if (!known)
        GCD_TRY(keep_build_id(v, id, from->path, err));
    *ret_done = true;
    return GCD_OK;
}

static gcd_status try_candidate(struct native *v, unsigned n, bool *ret_done, const char **ret_why,
                                struct gcd_error *err)
{
    struct resolve *r = v->r;
    struct gcd_module_file from = { .bytes = UINT64_MAX, .path = "" };
    struct elf_file *f;
    gcd_status st = r->files->open(r->files->ctx, &r->d->modules[v->module], n, &from, err);
    if (st != GCD_OK)
        return st;
    st = elf_file_open(from.input, from.off, from.bytes, r->alloc, &f, err);
    if (st == GCD_OK) {
        st = try_file(v, f, &from, ret_done, ret_why, err);
        elf_file_free(f);
    }
    r->files->close(r->files->ctx, &from);
    return st;
}

/* The types of candidate N, if it is an assembly. */
static gcd_status add_assembly(struct native *v, unsigned n, struct gcd_error *err)
{
    struct resolve_file f;
    GCD_TRY(resolve_open(v->r, &v->r->d->modules[v->module], n, &f, err));
    gcd_status st = aot_definitions_add(&v->known, f.m, err);
    resolve_close(v->r, &f);
    return st;
}

/* From candidate N on.  What cannot be read only leaves names as they are mangled. */
static gcd_status add_assemblies(struct native *v, unsigned n, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    for (; n < ASSEMBLIES_MAX && st != GCD_END; n++) {
        struct gcd_error own = GCD_ERROR_INIT;
        GCD_TRY(gcd_check_canceled(v->r->d->options.context.cancel, err));
        st = add_assembly(v, n, &own);
        GCD_TRY(gcd_only_fatal(st, &own, err));
    }
    return GCD_OK;
}

/* The module's types have names afterwards, or its problem says why not. */
static gcd_status find_symbols(struct native *v, struct gcd_error *err)
{
    const char *why = NULL;
    char damage[sizeof err->msg] = "";
    bool done = false;
    unsigned n = 0;
    for (; n < CANDIDATES_MAX && !done; n++) {
        struct gcd_error own = GCD_ERROR_INIT;
        gcd_status st = try_candidate(v, n, &done, &why, &own);
        GCD_TRY(gcd_only_fatal(st, &own, err));
        if (st == GCD_END)
            break;
        if (st != GCD_OK && st != GCD_E_UNSUPPORTED && damage[0] == '\0')
            (void)snprintf(damage, sizeof damage, "%s", own.msg);
    }
    if (done) {
        GCD_TRY(add_assemblies(v, n, err));
        GCD_TRY(name_types(v, err));
        return say(v, GCD_MODULE_READ, "", err);
    }
    if (why != NULL)
        return say(v, GCD_MODULE_REPLACED, why, err);
    return damage[0] != '\0' ? say(v, GCD_MODULE_UNREADABLE, damage, err)
                             : say(v, GCD_MODULE_NOT_FOUND, "its symbols were not found", err);
}

gcd_status resolve_native(struct resolve *r, uint32_t module, struct gcd_error *err)
{
    struct native v = { .r = r, .module = module };
    gcd_idmap_init(&v.by_rva, r->alloc);
    aot_definitions_init(&v.known, r->alloc);
    v.symbols = gcd_mem_new_array(r->alloc, (size_t)r->d->type_count + 1, sizeof *v.symbols);
    v.buffer = gcd_mem_new(r->alloc, SYMBOL_BYTES + AOT_NAME_MAX);
    gcd_status st = v.symbols != NULL && v.buffer != NULL ? list_types(&v, err) : no_memory(err);
    if (st == GCD_OK)
        st = find_symbols(&v, err);
    gcd_mem_free(r->alloc, v.symbols, ((size_t)r->d->type_count + 1) * sizeof *v.symbols);
    gcd_mem_free(r->alloc, v.buffer, SYMBOL_BYTES + AOT_NAME_MAX);
    aot_definitions_done(&v.known);
    gcd_idmap_done(&v.by_rva);
    return st;
}
