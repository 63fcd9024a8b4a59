/*
 * Can a static field hold an object of a type?  "No" is certain; "yes" can mean unknown.
 *
 * Types are compared by name, because their definitions are in other files, possibly forwarded from
 * one assembly to another.  A generic type is compared by its definition where an argument could
 * vary or is unknown.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "resolve/resolve.h"

#define ANCESTORS_MAX 512u
#define CHAIN_MAX     32u

/* A hash of NAME without the type arguments, but with their number: "Shop.Box<System.Int32>.Node"
 * is that of "Shop.Box<1>.Node". */
static uint64_t key_of(const char *name)
{
    uint64_t hash = GCD_TEXT_HASH;
    size_t depth = 0;
    char arguments = 1;
    for (const char *p = name; *p != '\0'; p++) {
        if (*p == '<' && (depth > 0 || (p > name && p[-1] != '.'))) {
            arguments = depth == 0 ? 1 : arguments;
            depth++;
        } else if (*p == '>' && depth > 0) {
            if (--depth == 0)
                hash = gcd_text_hash(&arguments, 1, hash);
        } else if (depth == 0) {
            hash = gcd_text_hash(p, 1, hash);
        } else if (*p == ',' && depth == 1 && arguments < 127) {
            arguments++;
        }
    }
    return hash;
}

static gcd_status add_ancestor(struct resolve *r, struct resolve_stored *s, const char *name,
                               struct gcd_error *err)
{
    if (s->ancestor_count == ANCESTORS_MAX) {
        s->all_ancestors = false;
        return GCD_OK;
    }
    if (!gcd_vec_reserve(r->alloc, &s->ancestors, &s->ancestor_cap, s->ancestor_count + 1,
                         sizeof *s->ancestors, ANCESTORS_MAX))
        return gcd_fail_nomem(err, "completing names");
    s->ancestors[s->ancestor_count++] = key_of(name);
    return GCD_OK;
}

static gcd_status add_interfaces(struct resolve *r, struct resolve_stored *s,
                                 struct gcd_metadata *m, uint32_t token, struct gcd_error *err)
{
    struct gcd_type_definition d;
    gcd_status st = gcd_metadata_type(m, token, &d, err);
    for (uint32_t i = 0; st == GCD_OK && i < d.interfaces && s->ancestor_count < ANCESTORS_MAX;
         i++) {
        uint32_t interface;
        const char *name;
        st = gcd_metadata_interface(m, token, i, &interface, err);
        if (st == GCD_OK)
            st = gcd_metadata_name(m, interface, NULL, 0, &name, err);
        if (st == GCD_OK)
            st = add_ancestor(r, s, name, err);
    }
    return st;
}

/* Does the chain end at BASE, which is in another file?  Then no further base can be the declared
 * type of a field. */
static bool is_last(struct resolve_stored *s, const char *base)
{
    s->delegate = s->delegate || strcmp(base, "System.MulticastDelegate") == 0;
    return strcmp(base, "System.Object") == 0 || strcmp(base, "System.ValueType") == 0;
}

gcd_status resolve_holds_ancestors(struct resolve *r, struct resolve_stored *s,
                                   struct gcd_metadata *m, uint32_t token, struct gcd_error *err)
{
    struct gcd_error own = GCD_ERROR_INIT;
    gcd_status st = GCD_OK;
    for (unsigned i = 0; i < CHAIN_MAX && token >> 24 == GCD_TOKEN_TYPE >> 24; i++) {
        struct gcd_type_definition d;
        const char *name = "";
        st = gcd_metadata_name(m, token, NULL, 0, &name, &own);
        if (st == GCD_OK)
            st = add_ancestor(r, s, name, &own);
        if (st == GCD_OK)
            st = add_interfaces(r, s, m, token, &own);
        if (st == GCD_OK)
            st = gcd_metadata_type(m, token, &d, &own);
        if (st != GCD_OK)
            break;
        token = d.base;
        s->all_ancestors = token == 0; /* System.Object itself */
    }
    if (st == GCD_OK && token != 0) {
        const char *name;
        st = gcd_metadata_name(m, token, NULL, 0, &name, &own);
        if (st == GCD_OK)
            st = add_ancestor(r, s, name, &own);
        if (st == GCD_OK)
            s->all_ancestors = is_last(s, name) && s->ancestor_count < ANCESTORS_MAX;
    }
    s->all_ancestors = s->all_ancestors && st == GCD_OK;
    return gcd_only_fatal(st, &own, err);
}

static bool is_same(const char *name, const struct resolve_stored *s)
{
    return gcd_text_hash(name, strlen(name), GCD_TEXT_HASH) == s->hash &&
           strcmp(name, s->name) == 0;
}

static bool is_ancestor(const char *name, const struct resolve_stored *s)
{
    uint64_t key = key_of(name);
    for (size_t i = 0; i < s->ancestor_count; i++)
        if (s->ancestors[i] == key)
            return true;
    return false;
}

/* Do arrays extend or implement NAME?  Judged by its beginning. */
static bool holds_arrays(const char *name)
{
    static const char *const names[] = { "System.Array", "System.ICloneable",
                                         "System.Collections." };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (gcd_text_begins(name, names[i]))
            return true;
    return false;
}

static bool class_holds(const char *name, const struct resolve_stored *s)
{
    if (is_same(name, s))
        return true;
    if (s->array)
        return holds_arrays(name);
    if (!is_ancestor(name, s))
        return !s->all_ancestors;
    /* its own definition with other arguments: those of a delegate may vary, those of a class never
     * do */
    return s->delegate || key_of(name) != key_of(s->name);
}

bool resolve_holds(const struct gcd_static_field *f, const char *name, bool sealed,
                   const struct resolve_stored *s)
{
    if (s->bare && (f->element_type == ELEMENT_VALUETYPE || f->element_type == ELEMENT_CLASS ||
                    f->element_type == ELEMENT_SZARRAY))
        return true;
    switch (f->element_type) {
    case ELEMENT_OBJECT:
        return true;
    case ELEMENT_STRING:
    case ELEMENT_VALUETYPE:
        return is_same(name, s);
    case ELEMENT_SZARRAY:
    case ELEMENT_ARRAY:
        /* a derived array can be there */
        return is_same(name, s) || (s->array && !s->holds_values);
    case ELEMENT_CLASS:
        return sealed && !s->delegate ? is_same(name, s) : class_holds(name, s);
    default: /* numbers, pointers: the runtime reports no such variable; type parameters: see
                resolve_statics.c */
        return false;
    }
}
