/*
 * Outer types of nested types.  The runtime sends "Entry[System.String,Shop.Item][]": the
 * definition's name without outer types, the complete arguments, the dimensions (measured, .NET 8
 * to 10).  So only the part before the arguments has to change.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "resolve/resolve.h"

#define DIMENSIONS_MAX 32u /* arrays of arrays that are followed to their element */

static const struct heap_type *type_of_id(const struct resolve *r, uint64_t id)
{
    uint32_t i = gcd_idmap_get(&r->d->heap->type_by_id, id);
    return i != GCD_IDMAP_NONE ? &r->d->heap->types[i] : NULL;
}

/* The type whose definition the name of T begins with; NULL if unknown. */
static const struct gcd_type *definition_of(const struct resolve *r, const struct gcd_type *t)
{
    const struct heap_type *h = type_of_id(r, t->id);
    for (unsigned i = 0; h != NULL && h->element != 0 && i < DIMENSIONS_MAX; i++)
        h = type_of_id(r, h->element);
    return h != NULL && h->definition && h->type.named ? &h->type : NULL;
}

gcd_status resolve_types_begin(struct resolve *r, struct gcd_error *err)
{
    r->type_count = r->d->type_count;
    r->types = gcd_mem_new_array(r->alloc, r->type_count, sizeof *r->types);
    if (r->types == NULL)
        return gcd_fail_nomem(err, "completing names");
    for (uint32_t i = 0; i < r->type_count; i++) {
        struct resolve_type *t = &r->types[i];
        t->definition = definition_of(r, &r->d->types[i]);
        t->module = t->definition != NULL ? gcd_idmap_get(&r->module_by_id, t->definition->module)
                                          : GCD_MODULE_NONE;
        t->next = RESOLVE_NONE;
        if (t->module != GCD_MODULE_NONE) {
            uint32_t *first = &r->modules[t->module].first_type;
            t->next = *first;
            *first = i;
        }
    }
    return GCD_OK;
}

/* The length of the part of RAW (the runtime's spelling) that is NAME (reflection's spelling); 0 if
 * RAW does not begin with it. */
static size_t head_length(const char *raw, const char *name)
{
    size_t n = 0;
    for (; *name != '\0'; name++, n++) {
        if (*name == '\\' && name[1] != '\0' && raw[n] != '\\')
            name++;
        if (raw[n] != *name)
            return 0;
    }
    return raw[n] == '\0' || strchr("[*&", raw[n]) != NULL ? n : 0;
}

/* GCD_OK with *RET_DIFFERS, unless it is fatal. */
static gcd_status compare(const struct gcd_type *t, struct gcd_metadata *m, bool *ret_differs,
                          struct gcd_error *err)
{
    const char *name;
    size_t last;
    struct gcd_error own = GCD_ERROR_INIT;
    gcd_status st = gcd_metadata_reflection_name(m, t->name_token, &name, &last, &own);
    *ret_differs = st != GCD_OK || head_length(t->name, name + last) == 0;
    return gcd_only_fatal(st, &own, err);
}

gcd_status resolve_types_differ(struct resolve *r, uint32_t module, struct gcd_metadata *m,
                                bool *ret_differ, struct gcd_error *err)
{
    *ret_differ = false;
    for (uint32_t i = r->modules[module].first_type; i != RESOLVE_NONE && !*ret_differ;
         i = r->types[i].next) {
        if (r->comparisons_left == 0)
            return gcd_fail(err, GCD_E_LIMIT,
                            "it would take more comparisons of types and files than the limit");
        r->comparisons_left--;
        GCD_TRY(compare(r->types[i].definition, m, ret_differ, err));
    }
    return GCD_OK;
}

/* Only of objects, not of arrays.  A module that cannot tell may still have the names. */
static gcd_status note_events(struct resolve *r, struct gcd_type *t,
                              const struct gcd_type *definition, struct gcd_metadata *m,
                              struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    struct gcd_noted noted = { .alloc = r->alloc };
    if (definition->id != t->id || t->objects == 0)
        return GCD_OK;
    gcd_status st = gcd_metadata_note(m, m, definition->name_token, &noted, &own);
    if (st == GCD_OK && noted.n > 0)
        st = heap_text(r->d->heap, noted.text, noted.n, &t->events, &own);
    gcd_noted_done(&noted);
    return st == GCD_OK ? GCD_OK : gcd_only_fatal(st, &own, err);
}

gcd_status resolve_types_name(struct resolve *r, uint32_t module, struct gcd_metadata *m,
                              struct gcd_error *err)
{
    for (uint32_t i = r->modules[module].first_type; i != RESOLVE_NONE; i = r->types[i].next) {
        struct gcd_type *t = &r->d->types[i];
        const char *name;
        size_t last;
        gcd_status st =
            gcd_metadata_reflection_name(m, r->types[i].definition->name_token, &name, &last, err);
        if (gcd_is_fatal(st))
            return st;
        if (st == GCD_OK && last > 0 && head_length(t->raw_name, name + last) > 0)
            GCD_TRY(load_nest(r->d, t, name, last - 1, err)); /* before the "+" */
        GCD_TRY(note_events(r, t, r->types[i].definition, m, err));
    }
    return GCD_OK;
}
