/* What a definition says: read once, then kept. */
#include <string.h>

#include "base/error.h"
#include "layout/layout_impl.h"
#include "metadata/meta_members.h"

#define INTERFACES_MAX 1024u
#define ANCESTORS_MAX  2048u
#define SPECIFICATION  0x1bu /* table of TypeSpec */

/* What the metadata could not tell is not known; GCD_END stays, and what says nothing about the
 * file. */
static gcd_status soften(gcd_status st, const struct gcd_error *own, struct gcd_error *err)
{
    GCD_TRY(gcd_only_fatal(st, own, err));
    return st == GCD_OK || st == GCD_END ? st : GCD_E_FORMAT;
}

static gcd_status type_of_token(struct layout *l, uint32_t module, uint32_t token, uint32_t *ret,
                                struct gcd_error *err)
{
    struct gcd_metadata *m;
    struct gcd_error own = GCD_ERROR_INIT;
    const uint8_t *signature;
    uint8_t copy[4096]; /* the metadata may be closed for those of another module */
    size_t n;
    if (token >> 24 != SPECIFICATION)
        return layout_named(l, &(struct layout_name){ module, token, .value = false }, ret, err);
    GCD_TRY(layout_open(l, module, &m, err));
    gcd_status st = m != NULL ? meta_specification(m, token, &signature, &n, &own) : GCD_E_FORMAT;
    GCD_TRY(gcd_only_fatal(st, &own, err));
    if (st != GCD_OK || n > sizeof copy)
        return layout_unknown(l, false, ret, err);
    memcpy(copy, signature, n);
    return layout_read_type(l, module, copy, n, ret, err);
}

/* GCD_END after the last; GCD_E_FORMAT: the fields are not known. */
static gcd_status read_field(struct layout *l, uint32_t def, struct meta_member *x,
                             struct gcd_error *err)
{
    struct gcd_metadata *m;
    struct gcd_error own = GCD_ERROR_INIT;
    uint8_t copy[4096];
    struct layout_field f;
    uint32_t module = l->defs[def].module;
    GCD_TRY(layout_open(l, module, &m, err));
    gcd_status st = m != NULL && l->defs[def].field_count < LAYOUT_FIELDS_MAX && layout_may(l, 4)
                        ? meta_next_member(m, l->defs[def].token, x, &own)
                        : GCD_E_FORMAT;
    if (st != GCD_OK)
        return soften(st, &own, err);
    /* compilers write none of these into a name; the text of layouts needs them */
    for (const char *c = x->name; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            return GCD_E_FORMAT;
    f.offset = x->offset;
    st = gcd_textpool_add(&l->text, x->name, strlen(x->name), &f.name);
    if (st != GCD_OK || x->signature_bytes > sizeof copy)
        return st == GCD_E_NOMEM ? layout_no_memory(err) : GCD_E_FORMAT;
    memcpy(copy, x->signature, x->signature_bytes);
    GCD_TRY(layout_read_type(l, module, copy, x->signature_bytes, &f.type, err));
    if (!LAYOUT_GROW(l, fields, field_count, field_cap))
        return layout_no_memory(err);
    l->fields[l->field_count++] = f;
    l->defs[def].field_count++;
    return GCD_OK;
}

/* Moves the operands from BOTTOM on to the end of layout.lists. */
static gcd_status keep_operands(struct layout *l, size_t bottom, uint32_t *ret_first,
                                uint32_t *ret_count, struct gcd_error *err)
{
    *ret_first = (uint32_t)l->list_count;
    *ret_count = (uint32_t)(l->operand_count - bottom);
    for (size_t i = bottom; i < l->operand_count; i++)
        GCD_TRY(layout_list_add(l, l->operands[i], err));
    l->operand_count = bottom;
    return GCD_OK;
}

static gcd_status read_interfaces(struct layout *l, uint32_t def, uint32_t count,
                                  struct gcd_error *err)
{
    size_t bottom = l->operand_count;
    gcd_status st = count <= INTERFACES_MAX ? GCD_OK : GCD_E_FORMAT;
    for (uint32_t i = 0; i < count && st == GCD_OK; i++) {
        struct gcd_metadata *m;
        struct gcd_error own = GCD_ERROR_INIT;
        uint32_t token, type = LAYOUT_NONE;
        GCD_TRY(layout_open(l, l->defs[def].module, &m, err));
        st = m != NULL && layout_may(l, 1)
                 ? gcd_metadata_interface(m, l->defs[def].token, i, &token, &own)
                 : GCD_E_FORMAT;
        if (st != GCD_OK) {
            st = soften(st, &own, err);
            break;
        }
        GCD_TRY(type_of_token(l, l->defs[def].module, token, &type, err));
        GCD_TRY(layout_push(l, type, err));
    }
    if (st != GCD_OK) {
        l->operand_count = bottom;
        return st;
    }
    return keep_operands(l, bottom, &l->defs[def].first_interface, &l->defs[def].interface_count,
                         err);
}

static void note_name(struct layout_def *d, const char *name)
{
    static const char *const arrays[] = {
        "System.Array",
        "System.ICloneable",
        "System.Collections.IList",
        "System.Collections.ICollection",
        "System.Collections.IEnumerable",
        "System.Collections.IStructuralComparable",
        "System.Collections.IStructuralEquatable",
        "System.Collections.Generic.IList`1",
        "System.Collections.Generic.ICollection`1",
        "System.Collections.Generic.IEnumerable`1",
        "System.Collections.Generic.IReadOnlyList`1",
        "System.Collections.Generic.IReadOnlyCollection`1",
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        d->arrays = d->arrays || strcmp(name, arrays[i]) == 0;
    d->reflection = gcd_text_begins(name, "System.Reflection.");
    d->castable = strcmp(name, "System.__ComObject") == 0 ||
                  strcmp(name, "System.Runtime.InteropServices.IDynamicInterfaceCastable") == 0;
}

/* GCD_E_FORMAT: it is not known. */
static gcd_status read_all(struct layout *l, uint32_t def, struct gcd_error *err)
{
    struct gcd_metadata *m;
    struct gcd_error own = GCD_ERROR_INIT;
    struct gcd_type_definition t;
    struct meta_member x = { .row = 0 };
    const char *name;
    uint32_t token = l->defs[def].token, module = l->defs[def].module;
    GCD_TRY(layout_open(l, module, &m, err));
    gcd_status st =
        m != NULL && layout_may(l, 8) ? gcd_metadata_type(m, token, &t, &own) : GCD_E_FORMAT;
    if (st == GCD_OK)
        st = meta_inline_length(m, token, &l->defs[def].inline_length, &own);
    if (st == GCD_OK)
        st = gcd_metadata_reflection_name(m, token, &name, NULL, &own);
    if (st != GCD_OK)
        return soften(st, &own, err);
    note_name(&l->defs[def], name);
    l->defs[def].flags = t.flags;
    l->defs[def].parameters = t.parameters;
    if (t.base != 0) {
        uint32_t base;
        GCD_TRY(type_of_token(l, module, t.base, &base, err));
        l->defs[def].base = base;
    }
    GCD_TRY(read_interfaces(l, def, t.interfaces, err));
    l->defs[def].first_field = (uint32_t)l->field_count;
    while ((st = read_field(l, def, &x, err)) == GCD_OK)
        continue;
    return st == GCD_END ? GCD_OK : st;
}

gcd_status layout_read_def(struct layout *l, uint32_t def, struct gcd_error *err)
{
    if (l->defs[def].state != LAYOUT_UNSEEN)
        return GCD_OK;
    l->defs[def].state = LAYOUT_BAD;
    gcd_status st = read_all(l, def, err);
    if (st == GCD_OK)
        l->defs[def].state = LAYOUT_KNOWN;
    return gcd_is_fatal(st) ? st : GCD_OK;
}

/* ---- base types and interfaces ---- */

/* Adds what TYPE is a definition of to the ancestors of DEF, the operands from BOTTOM on, unless it
 * is there. */
static gcd_status add_ancestor(struct layout *l, uint32_t def, size_t bottom, uint32_t type,
                               struct gcd_error *err)
{
    const struct layout_type *t = &l->types[type];
    size_t n = l->operand_count - bottom;
    if (t->kind != LAYOUT_NAMED || n >= ANCESTORS_MAX || !layout_may(l, 1 + n)) {
        l->defs[def].all_ancestors = false;
        return GCD_OK;
    }
    for (size_t i = bottom; i < l->operand_count; i++)
        if (l->operands[i] == t->number)
            return GCD_OK;
    return layout_push(l, t->number, err);
}

gcd_status layout_find_ancestors(struct layout *l, uint32_t def, struct gcd_error *err)
{
    if (l->defs[def].ancestors_found)
        return GCD_OK;
    l->defs[def].ancestors_found = l->defs[def].all_ancestors = true;
    size_t bottom = l->operand_count, next = bottom;
    for (uint32_t current = def;; current = l->operands[next++]) {
        GCD_TRY(layout_read_def(l, current, err));
        const struct layout_def *c = &l->defs[current];
        if (c->state != LAYOUT_KNOWN)
            l->defs[def].all_ancestors = false;
        if (c->base != LAYOUT_NONE)
            GCD_TRY(add_ancestor(l, def, bottom, c->base, err));
        for (uint32_t k = 0; k < c->interface_count; k++)
            GCD_TRY(add_ancestor(l, def, bottom, l->lists[c->first_interface + k], err));
        if (next == l->operand_count)
            break;
    }
    return keep_operands(l, bottom, &l->defs[def].first_ancestor, &l->defs[def].ancestor_count,
                         err);
}
