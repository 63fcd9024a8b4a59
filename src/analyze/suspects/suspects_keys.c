/*
 * Dictionaries and sets whose keys nobody finds again: only they refer to them, and the class of
 * the keys compares by reference, so another key is never equal.  What looks for an entry adds a
 * new one each time.  Maps by identity are not meant: others refer to their keys.  Nor are sets of
 * objects without an equality, which may be there to be enumerated.
 */
#include "analyze/suspects/suspects.h"

#include <stdlib.h>

#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/keys.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

/* So many keys tell; of more, so many are looked at. */
#define FEWEST 100u
#define DRAWN  1024u
/* One part in so many may be in use while the dump is taken. */
#define IN_USE_OF 64u

/* Keys of a dictionary: every STEP-th. */
struct drawing {
    struct suspects_work *w;
    uint64_t seen, step;
    uint32_t type; /* of all; GCD_TYPE_NONE = there are several */
    bool others;   /* keys that are no objects, or lie elsewhere */
    size_t count;
    uint32_t keys[DRAWN];
    uint8_t references[DRAWN]; /* to each, at most 2 */
};

/* Is TYPE one of the framework's for contents, which people compare, but compared by reference?
 * Tasks, streams and the like are not meant: each is one of its kind. */
static bool is_new_each_time(const struct suspects_work *w, uint32_t type)
{
    static const char *const begins[] = {
        SUSPECTS_EXPRESSIONS,
        "System.Collections.Generic.",
        "System.Collections.Immutable.",
        "System.Collections.ObjectModel.",
        "System.Collections.Specialized.",
        "System.Text.StringBuilder",
        "System.Text.RegularExpressions.Regex",
        "System.Text.Json.",
        "System.Xml.Linq.",
    };
    const char *name = gcd_graph_summary(w->g)->types[type].name;
    bool found = gcd_text_is_array(name);
    for (size_t i = 0; i < sizeof begins / sizeof *begins && !found; i++)
        found = gcd_text_begins(name, begins[i]);
    return found;
}

/* [gcd_key_fn] */
static gcd_status take(void *ctx, const struct gcd_key_pair *pair, struct gcd_error *err)
{
    struct drawing *d = ctx;
    (void)err;
    if (pair->key == GCD_NODE_NONE) {
        d->others = true;
        return GCD_OK;
    }
    uint32_t type = suspects_type_of(d->w, pair->key);
    if (d->seen == 0)
        d->type = type;
    d->others = d->others || (type != d->type &&
                              !(is_new_each_time(d->w, type) && is_new_each_time(d->w, d->type)));
    if (d->seen++ % d->step == 0 && d->count < DRAWN)
        d->keys[d->count++] = pair->key;
    return GCD_OK;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Counts the references of all objects to the keys of D. */
static gcd_status count_references(struct drawing *d, struct gcd_error *err)
{
    const struct suspects_work *w = d->w;
    uint64_t *drawn = gcd_mem_new_array(w->alloc, w->words, sizeof *drawn);
    gcd_status st = drawn != NULL ? GCD_OK : gcd_fail_nomem(err, "looking at keys");
    qsort(d->keys, d->count, sizeof *d->keys, compare);
    for (size_t i = 0; i < d->count && st == GCD_OK; i++)
        bits_set(drawn, d->keys[i]);
    for (uint32_t node = 0; node < w->nodes && st == GCD_OK; node++) {
        size_t n;
        const uint32_t *edges = gcd_graph_node_edges(w->g, node, &n);
        if (node % SUSPECTS_CHECK_EVERY == 0)
            st = suspects_check(w, err);
        for (size_t i = 0; i < n; i++) {
            if (!bits_get(drawn, edges[i]))
                continue;
            const uint32_t *key = bsearch(&edges[i], d->keys, d->count, sizeof *d->keys, compare);
            uint8_t *count = &d->references[key - d->keys];
            *count = *count == 0 ? 1 : 2;
        }
    }
    gcd_mem_free(w->alloc, drawn, w->words * sizeof *drawn);
    return st;
}

/* Has NODE a comparer that is none of those that ask the keys themselves? */
static bool has_comparer(const struct suspects_work *w, uint32_t node)
{
    static const char *const plain[] = {
        "System.Collections.Generic.ObjectEqualityComparer`1",
        "System.Collections.Generic.GenericEqualityComparer`1",
    };
    size_t n;
    const uint32_t *edges = gcd_graph_few_edges(w->g, node, &n);
    for (size_t i = 0; i < n; i++) {
        struct gcd_field field = gcd_fields_get(w->o->fields, node, i);
        const char *type = gcd_graph_summary(w->g)->types[suspects_type_of(w, edges[i])].name;
        if (field.slot == GCD_SLOT_NONE ||
            !gcd_field_is_called(field.name, strlen(field.name), "comparer"))
            continue;
        if (!gcd_text_begins(type, plain[0]) && !gcd_text_begins(type, plain[1]))
            return true;
    }
    return false;
}

/* The same of a dictionary NODE, or of its tables. */
static bool has_own_comparer(const struct suspects_work *w, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_few_edges(w->g, node, &n);
    bool own = has_comparer(w, node);
    for (size_t i = 0; i < n && !own; i++) {
        struct gcd_field field = gcd_fields_get(w->o->fields, node, i);
        own = field.slot != GCD_SLOT_NONE &&
              gcd_field_is_called(field.name, strlen(field.name), "tables") &&
              has_comparer(w, edges[i]);
    }
    return own;
}

/* What objects of TYPE compare by reference: a field in RET, "*" = themselves, "" = themselves, and
 * the framework says so; false: nothing, or not known. */
static bool by_reference(const struct suspects_work *w, uint32_t type,
                         char ret[GCD_FIELD_LABEL_BYTES])
{
    ret[0] = '\0';
    if (!w->is_own[type])
        return is_new_each_time(w, type);
    const char *text = gcd_graph_summary(w->g)->types[type].events;
    size_t n = text != NULL ? strcspn(text, " ;") : 0;
    if (n == 0 || n >= GCD_FIELD_LABEL_BYTES || !gcd_text_begins(text + n, " =;"))
        return false;
    ret[gcd_field_source_name(text, n, ret)] = '\0';
    return true;
}

/* Is what KEY has in FIELD held by nothing but the key? */
static bool has_its_own(const struct suspects_work *w, uint32_t key, const char *field)
{
    size_t all;
    const uint32_t *edges = gcd_graph_few_edges(w->g, key, &all);
    for (size_t i = 0; i < all; i++) {
        struct gcd_field f = gcd_fields_get(w->o->fields, key, i);
        if (f.slot != GCD_SLOT_NONE && strcmp(f.name, field) == 0)
            return suspects_parent(w, edges[i]) == key;
    }
    return false; /* null is equal to null */
}

static gcd_status look_at(struct drawing *d, struct suspect *x, struct gcd_error *err)
{
    struct suspects_work *w = d->w;
    char field[GCD_FIELD_LABEL_BYTES];
    size_t shared = 0, alone = 0;
    uint64_t count = x->collection.at_least;
    d->step = count / DRAWN + 1;
    gcd_status st =
        gcd_collection_keys(w->collections, w->o->fields, x->collection.node, take, d, err);
    if (st != GCD_OK || d->others || d->count < FEWEST)
        return st == GCD_END ? GCD_OK : st;
    if (!by_reference(w, d->type, field) || has_own_comparer(w, x->collection.node) ||
        (field[0] == '*' && x->collection.kind == GCD_COLLECTION_SET))
        return GCD_OK;
    bool whole = field[0] == '*' || field[0] == '\0';
    for (size_t i = 0; i < d->count && !whole; i++)
        shared += !has_its_own(w, d->keys[i], field);
    if (shared > d->count / IN_USE_OF)
        return GCD_OK;
    GCD_TRY(count_references(d, err));
    for (size_t i = 0; i < d->count; i++)
        alone += d->references[i] == 1 && suspects_parent(w, d->keys[i]) != GCD_NODE_NONE;
    if (alone < d->count - d->count / IN_USE_OF)
        return GCD_OK;
    x->lost_keys = d->type;
    st = gcd_textpool_add(&w->s->pool, field, strlen(field), &x->lost_by);
    return st == GCD_OK ? GCD_OK : gcd_fail(err, st, "looking at keys");
}

gcd_status suspects_find_lost_keys(struct suspects_work *w, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    if (w->o->fields == NULL || w->lacks_references)
        return GCD_OK;
    for (size_t i = 0; i < w->s->count && st == GCD_OK; i++) {
        struct suspect *x = &w->s->items[i];
        enum gcd_collection_kind kind = x->collection.kind;
        if (x->pub.kind != GCD_SUSPECT_OBJECT ||
            (kind != GCD_COLLECTION_DICTIONARY && kind != GCD_COLLECTION_CONCURRENT_DICTIONARY &&
             kind != GCD_COLLECTION_SET))
            continue;
        struct drawing *d = gcd_mem_new(w->alloc, sizeof *d);
        if (d == NULL)
            return gcd_fail_nomem(err, "looking at keys");
        d->w = w;
        st = look_at(d, x, err);
        gcd_mem_free(w->alloc, d, sizeof *d);
    }
    return st;
}
