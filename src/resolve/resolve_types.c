/*
 * Outer types of nested types.  The runtime sends "Entry[System.String,Shop.Item][]": the
 * definition's name without outer types, the complete arguments, the dimensions (measured, .NET 8
 * to 10).  So only the part before the arguments has to change.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "resolve/resolve.h"

#define LAMBDA_METHOD_MAX 512u /* a longer name is not noted */
#define DIMENSIONS_MAX    32u  /* arrays of arrays that are followed to their element */

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

/* The method of a class of lambdas, in place of events, which it has none of. */
static gcd_status note_lambdas(struct resolve *r, struct gcd_type *t, struct gcd_metadata *m,
                               uint32_t token, struct gcd_error *err)
{
    char text[LAMBDA_METHOD_MAX];
    const char *method;
    struct gcd_error own = GCD_ERROR_INIT;
    gcd_status st = gcd_metadata_lambda_method(m, token, &method, &own);
    if (st != GCD_OK)
        return gcd_only_fatal(st, &own, err);
    int n = snprintf(text, sizeof text, "%s <>;", method);
    return method[0] != '\0' && strpbrk(method, " ;") == NULL && n > 0 && (size_t)n < sizeof text
               ? heap_text(r->d->heap, text, (size_t)n, &t->events, err)
               : GCD_OK;
}

/* Nobody has to look into the methods of the framework. */
static bool is_framework(struct gcd_metadata *m)
{
    const char *assembly = gcd_metadata_identity(m)->assembly_name;
    return gcd_text_begins(assembly, "System.") || gcd_text_begins(assembly, "Microsoft.");
}

/* The methods that become delegates, then the events. */
static gcd_status note_members(struct resolve *r, struct gcd_type *t, struct gcd_metadata *m,
                               uint32_t token, struct gcd_error *err)
{
    const char *members = "";
    char *both = NULL;
    size_t n = 0, room = 0;
    gcd_status st = is_framework(m) ? GCD_OK : gcd_metadata_delegates(m, token, &members, err);
    for (unsigned i = 0; i < 2 && st == GCD_OK; i++) {
        size_t more = strlen(members);
        if (more > 0 && !gcd_vec_reserve(r->alloc, &both, &room, n + more, 1, SIZE_MAX))
            st = gcd_fail_nomem(err, "completing names");
        else if (more > 0)
            memcpy(both + n, members, more);
        n += more;
        if (i == 0 && st == GCD_OK)
            st = gcd_metadata_events(m, token, &members, err);
    }
    if (st == GCD_OK && n > 0)
        st = heap_text(r->d->heap, both, n, &t->events, err);
    gcd_mem_free(r->alloc, both, room);
    return st;
}

/* Only of objects, not of arrays.  A module that cannot tell may still have the names. */
static gcd_status note_events(struct resolve *r, struct gcd_type *t,
                              const struct gcd_type *definition, struct gcd_metadata *m,
                              struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    if (definition->id != t->id || t->objects == 0)
        return GCD_OK;
    GCD_TRY(note_lambdas(r, t, m, definition->name_token, err));
    if (t->events != NULL)
        return GCD_OK;
    gcd_status st = note_members(r, t, m, definition->name_token, &own);
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
