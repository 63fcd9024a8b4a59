/* Names of a native program from another dump of the same build. */
#include <string.h>

#include <gcdumpc/unstable/full_names.h>

#include "base/error.h"
#include "base/verdict.h"
#include "load/load.h"

/* So many types that are in the same places are no coincidence: a change of the program moves them.
 * Of the dump that has fewer types, the other may lack one in ten. */
#define TYPES_MIN     16u
#define PART_IN_PLACE 9u / 10u

static bool has_place(const struct gcd_summary *s, uint32_t module, const struct gcd_type *t)
{
    return t->module_number == module && module < s->module_count &&
           (t->flags & GCD_TYPE_NATIVE) != 0 && t->name_token != 0;
}

/* The first native module; GCD_MODULE_NONE. */
static uint32_t native_module(const struct gcd_summary *s)
{
    for (uint32_t i = 0; i < s->module_count; i++)
        if (s->modules[i].native)
            return i;
    return GCD_MODULE_NONE;
}

static const char *build_id(const struct gcd_module *m)
{
    return m->build_id != NULL ? m->build_id : "";
}

struct borrowed {
    struct gcd_dump *d;
    const struct gcd_summary *from;
    uint32_t to_module, from_module;
    struct gcd_idmap by_place; /* of FROM -> type number */
};

/* The type of FROM in the place of T; NULL = none. */
static const struct gcd_type *same_place(const struct borrowed *b, const struct gcd_type *t)
{
    uint32_t i = has_place(&b->d->summary, b->to_module, t)
                     ? gcd_idmap_get(&b->by_place, t->name_token)
                     : GCD_IDMAP_NONE;
    bool same = i != GCD_IDMAP_NONE && strcmp(b->from->types[i].raw_name, t->raw_name) == 0;
    return same ? &b->from->types[i] : NULL;
}

/* Do the places of types say that both are of one build? */
static bool are_in_place(const struct borrowed *b, size_t from_types)
{
    size_t types = 0, same = 0;
    for (uint32_t i = 0; i < b->d->type_count; i++) {
        types += has_place(&b->d->summary, b->to_module, &b->d->types[i]);
        same += same_place(b, &b->d->types[i]) != NULL;
    }
    return same >= TYPES_MIN && same >= (types < from_types ? types : from_types) * PART_IN_PLACE;
}

/* What has still no name. */
static void judge(struct gcd_dump *d)
{
    size_t unnamed = 0;
    for (uint32_t i = 0; i < d->type_count; i++)
        unnamed += d->types[i].objects > 0 && !d->types[i].named;
    load_native_named(d);
    if (unnamed > 0 && d->summary.types_undescribed == 0)
        gcd_verdict_add(&d->summary.verdict, GCD_REASON_TYPES_UNDESCRIBED, unnamed,
                        "%zu of its types %s no name, in the other dump neither", unnamed,
                        unnamed == 1 ? "has" : "have");
}

static gcd_status borrow(struct borrowed *b, bool *ret_same, struct gcd_error *err)
{
    struct gcd_module *to = &b->d->modules[b->to_module];
    const struct gcd_module *from = &b->from->modules[b->from_module];
    size_t from_types = 0, named = 0;
    for (uint32_t i = 0; i < b->from->type_count; i++) {
        if (!has_place(b->from, b->from_module, &b->from->types[i]))
            continue;
        from_types++;
        if (!gcd_idmap_put(&b->by_place, b->from->types[i].name_token, i))
            return gcd_fail_nomem(err, "borrowing names");
    }
    bool known = build_id(to)[0] != '\0' && build_id(from)[0] != '\0';
    *ret_same = known ? strcmp(build_id(to), build_id(from)) == 0 : are_in_place(b, from_types);
    if (!*ret_same)
        return GCD_OK;
    if (build_id(to)[0] == '\0' && build_id(from)[0] != '\0')
        GCD_TRY(heap_text(b->d->heap, from->build_id, strlen(from->build_id), &to->build_id, err));
    for (uint32_t i = 0; i < b->d->type_count; i++) {
        const struct gcd_type *t = same_place(b, &b->d->types[i]);
        if (t == NULL || !t->named)
            continue;
        GCD_TRY(load_name_native(b->d, &b->d->types[i], t->name, strlen(t->name), err));
        named++;
    }
    if (named > 0) {
        to->state = GCD_MODULE_RECORDED;
        judge(b->d);
    }
    return GCD_OK;
}

gcd_status gcd_dump_borrow_names(struct gcd_dump *d, const struct gcd_summary *from, bool *ret_same,
                                 struct gcd_error *err)
{
    *ret_same = false;
    if (d->heap == NULL)
        return gcd_fail(err, GCD_E_STATE, "the dump is not closed");
    struct borrowed b = { .d = d,
                          .from = from,
                          .to_module = native_module(&d->summary),
                          .from_module = native_module(from) };
    if (b.to_module == GCD_MODULE_NONE || b.from_module == GCD_MODULE_NONE)
        return GCD_OK;
    gcd_idmap_init(&b.by_place, &d->alloc);
    gcd_status st = borrow(&b, ret_same, err);
    gcd_idmap_done(&b.by_place);
    return st;
}
