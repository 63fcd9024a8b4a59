#include <gcdumpc/unstable/metadata.h>

#include <string.h>

#include "base/cur.h"
#include "base/error.h"
#include "base/mem.h"
#include "metadata/meta_impl.h"
#include "metadata/pe.h"

#define PUBLIC_KEY_MAX 65536u

void meta_begin(struct gcd_metadata *m)
{
    m->w.st = GCD_OK;
    m->w.err = (struct gcd_error)GCD_ERROR_INIT;
    m->text_n = m->muted = 0;
}

gcd_status meta_end(struct gcd_metadata *m, struct gcd_error *err)
{
    return meta_status(&m->w, err);
}

/* ---- the module ---- */

/* Copies a text of the tables to the names of the identity; returns where it begins there. */
static size_t keep_name(struct gcd_metadata *m, const char *s)
{
    size_t at = m->text_n;
    meta_put(m, s);
    m->text_n++; /* the zero stays */
    return at;
}

static void read_assembly(struct gcd_metadata *m)
{
    struct gcd_module_identity *id = &m->identity;
    for (unsigned i = 0; i < 4; i++)
        id->version[i] = (uint16_t)meta_cell(&m->t, META_ASSEMBLY, 1, ASSEMBLY_VERSION + i);
    struct meta_region key =
        meta_blob_region(&m->t, meta_cell(&m->t, META_ASSEMBLY, 1, ASSEMBLY_PUBLIC_KEY));
    if (key.n > PUBLIC_KEY_MAX)
        meta_fail(&m->w, GCD_E_LIMIT, key.off, "the public key is longer than any key");
    id->has_public_key = key.n > 0 && m->w.st == GCD_OK;
    if (id->has_public_key)
        meta_public_key_token(m, key, id->public_key_token);
}

static void read_identity(struct gcd_metadata *m)
{
    bool assembly = m->t.table[META_ASSEMBLY].rows > 0;
    memcpy(m->identity.mvid.bytes, meta_guid(&m->t, meta_cell(&m->t, META_MODULE, 1, MODULE_MVID)),
           16);
    size_t module_at =
        keep_name(m, meta_string(&m->t, meta_cell(&m->t, META_MODULE, 1, MODULE_NAME)));
    size_t name_at = keep_name(
        m, assembly ? meta_string(&m->t, meta_cell(&m->t, META_ASSEMBLY, 1, ASSEMBLY_NAME)) : "");
    if (assembly)
        read_assembly(m);
    if (m->w.st != GCD_OK)
        return;
    m->names_bytes = m->text_n;
    m->names = gcd_mem_new(&m->alloc, m->names_bytes);
    if (m->names == NULL) {
        meta_fail(&m->w, GCD_E_NOMEM, GCD_OFF_NONE, "out of memory while opening an image");
        return;
    }
    memcpy(m->names, m->text, m->names_bytes);
    m->identity.module_name = m->names + module_at;
    m->identity.assembly_name = m->names + name_at;
}

gcd_status gcd_metadata_open(struct gcd_input *in, uint64_t off, uint64_t n,
                             const struct gcd_alloc *alloc, struct gcd_metadata **ret,
                             struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(alloc);
    struct gcd_metadata *m = gcd_mem_new(&a, sizeof *m);
    if (m == NULL)
        return gcd_fail_nomem(err, "opening an image");
    m->alloc = a;
    meta_show(&m->w, in, off, n);
    if (!meta_open(&m->w, &a))
        meta_fail(&m->w, GCD_E_NOMEM, GCD_OFF_NONE, "out of memory while opening an image");
    struct meta_region r = pe_find_metadata(&m->w, &m->identity);
    meta_tables_open(&m->t, &m->w, r);
    read_identity(m);
    gcd_status st = meta_end(m, err);
    if (st == GCD_OK)
        *ret = m;
    else
        gcd_metadata_free(m);
    return st;
}

void gcd_metadata_free(struct gcd_metadata *m)
{
    if (m == NULL)
        return;
    struct gcd_alloc a = m->alloc;
    meta_close(&m->w, &a);
    gcd_mem_free(&a, m->names, m->names_bytes);
    gcd_mem_free(&a, m->text, m->text_cap);
    gcd_mem_free(&a, m, sizeof *m);
}

const struct gcd_module_identity *gcd_metadata_identity(const struct gcd_metadata *m)
{
    return &m->identity;
}

enum gcd_module_match gcd_metadata_match(const struct gcd_module_identity *file,
                                         const struct gcd_loaded_module *loaded)
{
    static const struct gcd_module_guid none;
    if (file->codeview_count == 0 || memcmp(&loaded->pdb_guid, &none, sizeof none) == 0)
        return GCD_MODULE_UNKNOWN;
    for (size_t i = 0; i < file->codeview_count; i++)
        if (memcmp(&file->codeview[i].guid, &loaded->pdb_guid, sizeof none) == 0 &&
            file->codeview[i].age == loaded->pdb_age)
            return GCD_MODULE_SAME;
    return GCD_MODULE_OTHER;
}

/* ---- types ---- */

uint32_t gcd_metadata_type_count(const struct gcd_metadata *m)
{
    return m->t.table[META_TYPE_DEF].rows;
}

/* The row of type definition TOKEN, 0 after a failure. */
static uint32_t type_row(struct gcd_metadata *m, uint32_t token)
{
    uint32_t row = token & 0xffffff;
    if (token >> 24 == META_TYPE_DEF && row != 0 && row <= gcd_metadata_type_count(m))
        return row;
    meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
    return 0;
}

gcd_status gcd_metadata_type(struct gcd_metadata *m, uint32_t token,
                             struct gcd_type_definition *ret, struct gcd_error *err)
{
    struct gcd_type_definition d = { 0 };
    uint32_t first;
    meta_begin(m);
    uint32_t row = type_row(m, token);
    if (row != 0) {
        d.flags = meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_FLAGS);
        d.base = meta_type_token(&m->t, meta_cell(&m->t, META_TYPE_DEF, row, TYPE_DEF_EXTENDS));
        d.parameters = meta_parameters(m, row, &first);
        d.interfaces = meta_find(&m->t, META_INTERFACE_IMPL, INTERFACE_CLASS, row, &first);
        uint32_t outer = meta_outer(m, row);
        d.outer = outer != 0 ? GCD_TOKEN_TYPE | outer : 0;
    }
    if (m->w.st == GCD_OK)
        *ret = d;
    return meta_end(m, err);
}

gcd_status gcd_metadata_interface(struct gcd_metadata *m, uint32_t token, uint32_t i, uint32_t *ret,
                                  struct gcd_error *err)
{
    uint32_t first = 0, found = 0;
    meta_begin(m);
    uint32_t row = type_row(m, token);
    if (row != 0 && i >= meta_find(&m->t, META_INTERFACE_IMPL, INTERFACE_CLASS, row, &first))
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the type names no such interface");
    if (m->w.st == GCD_OK)
        found = meta_type_token(&m->t,
                                meta_cell(&m->t, META_INTERFACE_IMPL, first + i, INTERFACE_TYPE));
    if (found == 0)
        meta_fail(&m->w, GCD_E_FORMAT, GCD_OFF_NONE, "an interface is no type");
    if (m->w.st == GCD_OK)
        *ret = found;
    return meta_end(m, err);
}

/* Writes the name of a definition with arguments, or with the names of its parameters. */
static void put_definition(struct gcd_metadata *m, uint32_t row, const char *const *args,
                           size_t n_args)
{
    uint32_t first, n = meta_parameters(m, row, &first);
    if (args != NULL && n != n_args) {
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the type has another number of type parameters");
        return;
    }
    bool more = n > 0;
    meta_name_begin(m, &m->frames[0], GCD_TOKEN_TYPE | row, n);
    for (uint32_t i = 0; more && i < n && m->w.st == GCD_OK; i++) {
        meta_put(m, args != NULL ? args[i]
                                 : meta_string(&m->t, meta_cell(&m->t, META_GENERIC_PARAM,
                                                                first + i, GENERIC_PARAM_NAME)));
        more = meta_name_next(m, &m->frames[0]);
    }
}

gcd_status gcd_metadata_reflection_name(struct gcd_metadata *m, uint32_t token, const char **ret,
                                        size_t *ret_last, struct gcd_error *err)
{
    uint32_t table = token >> 24, row = token & 0xffffff;
    size_t last = 0;
    meta_begin(m);
    if ((table != META_TYPE_REF && table != META_TYPE_DEF) || row == 0 ||
        row > m->t.table[table].rows)
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
    else
        last = meta_reflection_name(m, token);
    meta_put(m, "");
    if (m->w.st == GCD_OK) {
        *ret = m->text;
        if (ret_last != NULL)
            *ret_last = last;
    }
    return meta_end(m, err);
}

static void put_specification(struct gcd_metadata *m, uint32_t row)
{
    size_t n;
    const uint8_t *p =
        meta_blob(&m->t, meta_cell(&m->t, META_TYPE_SPEC, row, TYPE_SPEC_SIGNATURE), &n);
    struct gcd_cur c = gcd_cur_make(p, n, 0);
    meta_signature(m, &c, 0);
}

gcd_status gcd_metadata_name(struct gcd_metadata *m, uint32_t token, const char *const *args,
                             size_t n_args, const char **ret, struct gcd_error *err)
{
    uint32_t table = token >> 24, row = token & 0xffffff;
    meta_begin(m);
    if ((table != META_TYPE_REF && table != META_TYPE_SPEC && table != META_TYPE_DEF) || row == 0 ||
        row > m->t.table[table].rows)
        meta_fail(&m->w, GCD_E_ARG, GCD_OFF_NONE, "the module has no such type");
    else if (table == META_TYPE_DEF)
        put_definition(m, row, args, n_args);
    else if (table == META_TYPE_REF)
        meta_name_begin(m, &m->frames[0], token, 0);
    else
        put_specification(m, row);
    meta_put(m, "");
    if (m->w.st == GCD_OK)
        *ret = m->text;
    return meta_end(m, err);
}
