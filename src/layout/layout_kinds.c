/*
 * Which slots can refer to an object of a type, and the description of its layout.
 *
 * "No" is certain.  Classes are compared with their arguments, which never vary; interfaces and
 * delegates by their definition, because theirs do.  An array can stand for an array of a base type
 * of its elements, and arrays of numbers and enumerations for each other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"
#include "layout/layout_impl.h"

#define KEYS_MAX 4096u
#define OUT_MAX  ((size_t)1 << 18)

/* As in the format of gcd_type.layout. */
enum { KEY_ANY, KEY_METHOD, KEY_INVOCATIONS, KEYS_RESERVED };

/* Numbers the declared types of all slots. */
static void number_keys(struct layout *l)
{
    for (; l->numbered < l->slot_count; l->numbered++) {
        uint32_t type = l->slots[l->numbered].type;
        struct layout_type *t = &l->types[type];
        if (t->key != KEY_ANY || t->vague || (t->kind == LAYOUT_NAMED && t->number == l->object))
            continue;
        uint32_t *first = t->kind == LAYOUT_NAMED ? &l->defs[t->number].keys : &l->first_array_key;
        t->key = KEYS_RESERVED + l->key_count++;
        t->same_key = *first;
        *first = type;
    }
}

/* ---- which slots ---- */

/* The keys of a type, at the end of layout.lists. */
struct keys {
    struct layout *l;
    size_t first;
    bool all;
};

static gcd_status add_key(struct keys *k, uint32_t key, struct gcd_error *err)
{
    k->all = k->all || k->l->list_count - k->first >= KEYS_MAX || !layout_may(k->l, 1);
    return k->all || key == KEY_ANY ? GCD_OK : layout_list_add(k->l, key, err);
}

static gcd_status add_keys_of_def(struct keys *k, uint32_t def, struct gcd_error *err)
{
    for (uint32_t i = k->l->defs[def].keys; i != LAYOUT_NONE && !k->all;
         i = k->l->types[i].same_key)
        GCD_TRY(add_key(k, k->l->types[i].key, err));
    return GCD_OK;
}

/* Is DEF derived from ANCESTOR, or does it implement it?  Its ancestors have been found. */
static bool descends(struct layout *l, uint32_t def, uint32_t ancestor)
{
    const struct layout_def *d = &l->defs[def];
    bool found = def == ancestor || !d->all_ancestors || !layout_may(l, d->ancestor_count);
    for (uint32_t i = 0; i < d->ancestor_count && !found; i++)
        found = l->lists[d->first_ancestor + i] == ancestor;
    return found;
}

/* Can an array of A stand for an array of B? */
static bool elements_fit(struct layout *l, uint32_t a, uint32_t b)
{
    for (;;) {
        const struct layout_type *x = &l->types[a], *y = &l->types[b];
        if (a == b || x->vague || y->vague)
            return true;
        bool x_is_value = !layout_is_reference(x), y_is_value = !layout_is_reference(y);
        if (x_is_value || y_is_value)
            /* of the same size, for numbers and enumerations */
            return x_is_value && y_is_value && x->slot_count == 0 && y->slot_count == 0;
        if (y->kind == LAYOUT_NAMED && y->number == l->object)
            return true;
        if (x->kind == LAYOUT_ARRAY && y->kind == LAYOUT_ARRAY) {
            a = l->lists[x->first];
            b = l->lists[y->first];
            continue;
        }
        if (y->kind == LAYOUT_ARRAY)
            return false;
        return x->kind == LAYOUT_ARRAY
                   ? l->defs[y->number].arrays || l->defs[y->number].state != LAYOUT_KNOWN
                   : descends(l, x->number, y->number);
    }
}

static gcd_status read_ancestors_of_elements(struct layout *l, uint32_t type, struct gcd_error *err)
{
    while (l->types[type].kind == LAYOUT_ARRAY)
        type = l->lists[l->types[type].first];
    return l->types[type].kind == LAYOUT_NAMED
               ? layout_find_ancestors(l, l->types[type].number, err)
               : GCD_OK;
}

static gcd_status add_keys_of_array(struct keys *k, uint32_t type, struct gcd_error *err)
{
    struct layout *l = k->l;
    uint32_t element = l->lists[l->types[type].first];
    bool vector = l->types[type].number <= 1;
    if (l->types[element].kind == LAYOUT_NAMED && l->types[element].number == l->object)
        GCD_TRY(add_key(k, KEY_INVOCATIONS, err));
    for (uint32_t i = l->first_array_key; i != LAYOUT_NONE && !k->all; i = l->types[i].same_key)
        if ((l->types[i].number <= 1) == vector &&
            (vector || l->types[i].number == l->types[type].number) &&
            elements_fit(l, element, l->lists[l->types[i].first]))
            GCD_TRY(add_key(k, l->types[i].key, err));
    for (size_t def = 0; def < l->array_key_count && !k->all; def++)
        GCD_TRY(add_keys_of_def(k, l->array_keys[def], err));
    return GCD_OK;
}

static gcd_status add_keys_of_named(struct keys *k, uint32_t type, struct gcd_error *err)
{
    struct layout *l = k->l;
    uint32_t def = l->types[type].number;
    struct layout_def d = l->defs[def];
    k->all = !d.all_ancestors || d.castable;
    bool delegate = l->delegate != LAYOUT_NONE && descends(l, def, l->delegate);
    if (delegate)
        GCD_TRY(add_keys_of_def(k, def, err));
    if (d.reflection) {
        GCD_TRY(add_key(k, KEY_METHOD, err));
        GCD_TRY(add_key(k, KEY_INVOCATIONS, err));
    }
    for (uint32_t i = 0; i < d.ancestor_count && !k->all; i++) {
        uint32_t ancestor = l->lists[d.first_ancestor + i];
        k->all = l->defs[ancestor].castable;
        if ((l->defs[ancestor].flags & LAYOUT_FLAG_INTERFACE) != 0 || l->types[type].value)
            GCD_TRY(add_keys_of_def(k, ancestor, err));
    }
    for (uint32_t t = type; t != LAYOUT_NONE && !l->types[type].value && !k->all;
         t = l->types[t].base) {
        k->all = l->types[t].vague || l->types[t].state != LAYOUT_KNOWN;
        GCD_TRY(add_key(k, l->types[t].key, err));
    }
    return GCD_OK;
}

static int compare_keys(const void *ctx, uint32_t a, uint32_t b)
{
    (void)ctx;
    return a < b ? -1 : a > b;
}

/* The ancestors of TYPE and of its elements have been found. */
static gcd_status find_keys(struct keys *k, uint32_t type, struct gcd_error *err)
{
    struct layout *l = k->l;
    if (l->types[type].kind == LAYOUT_NAMED)
        GCD_TRY(add_keys_of_named(k, type, err));
    else if (l->types[type].kind == LAYOUT_ARRAY)
        GCD_TRY(add_keys_of_array(k, type, err));
    else
        k->all = true;
    size_t n = l->list_count - k->first;
    if (n > 0 && !gcd_sort_numbers(&l->alloc, l->lists + k->first, n, compare_keys, NULL))
        return layout_no_memory(err);
    return GCD_OK;
}

/* Reads what the comparison of arrays needs. */
static gcd_status prepare_arrays(struct layout *l, struct gcd_error *err)
{
    for (uint32_t i = l->first_array_key; i != LAYOUT_NONE; i = l->types[i].same_key)
        GCD_TRY(read_ancestors_of_elements(l, i, err));
    l->array_key_count = 0;
    for (uint32_t def = 0; def < l->def_count; def++) {
        if (l->defs[def].keys == LAYOUT_NONE)
            continue;
        GCD_TRY(layout_read_def(l, def, err));
        if (l->defs[def].state == LAYOUT_KNOWN && !l->defs[def].arrays)
            continue;
        if (!LAYOUT_GROW(l, array_keys, array_key_count, array_key_cap))
            return layout_no_memory(err);
        l->array_keys[l->array_key_count++] = def;
    }
    return GCD_OK;
}

/* ---- the description ---- */

static gcd_status put_text(struct layout *l, const char *s, struct gcd_error *err)
{
    size_t n = strlen(s);
    if (n >= OUT_MAX - l->out_n)
        return GCD_E_LIMIT;
    if (!gcd_vec_reserve(&l->alloc, &l->out, &l->out_cap, l->out_n + n + 1, 1, OUT_MAX))
        return layout_no_memory(err);
    memcpy(l->out + l->out_n, s, n + 1);
    l->out_n += n;
    return GCD_OK;
}

static gcd_status put_number(struct layout *l, const char *before, uint32_t n,
                             struct gcd_error *err)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%s%" PRIu32, before, n);
    return put_text(l, text, err);
}

static uint32_t key_of_slot(const struct layout *l, const struct layout_slot *s, bool delegate)
{
    if (delegate && strcmp(s->name, "_methodBase") == 0)
        return KEY_METHOD;
    if (delegate && strcmp(s->name, "_invocationList") == 0)
        return KEY_INVOCATIONS;
    return l->types[s->type].key;
}

static gcd_status put_slots(struct layout *l, uint32_t type, struct gcd_error *err)
{
    const struct layout_type *t = &l->types[type];
    bool delegate = t->kind == LAYOUT_NAMED && l->delegate != LAYOUT_NONE &&
                    l->defs[t->number].all_ancestors && descends(l, t->number, l->delegate);
    for (uint32_t i = 0; i < t->slot_count; i++) {
        const struct layout_slot *s = &l->slots[t->first_slot + i];
        GCD_TRY(put_number(l, "\n", key_of_slot(l, s, delegate), err));
        GCD_TRY(put_text(l, " ", err));
        GCD_TRY(put_text(l, s->name, err));
    }
    return GCD_OK;
}

static gcd_status put_layout(struct layout *l, uint32_t type, const struct keys *k,
                             struct gcd_error *err)
{
    struct layout_type t = l->types[type];
    bool array = t.kind == LAYOUT_ARRAY;
    const struct layout_type *element = array ? &l->types[l->lists[t.first]] : NULL;
    bool references = array && layout_is_reference(element);
    bool known = array
                     ? references || element->kind == LAYOUT_PLAIN || element->state == LAYOUT_KNOWN
                     : t.state == LAYOUT_KNOWN;
    GCD_TRY(put_text(l, !array ? "o" : t.number <= 1 ? "v" : "m", err));
    GCD_TRY(put_text(l, known ? " " : "? ", err));
    if (k->all)
        GCD_TRY(put_text(l, "*", err));
    for (size_t i = k->first; i < l->list_count && !k->all; i++)
        if (i == k->first || l->lists[i] != l->lists[i - 1])
            GCD_TRY(put_number(l, i == k->first ? "" : ",", l->lists[i], err));
    if (references)
        return put_text(l, "\n0 ", err);
    return known ? put_slots(l, array ? l->lists[t.first] : type, err) : GCD_OK;
}

gcd_status layout_describe(struct layout *l, uint32_t type, const char **ret, struct gcd_error *err)
{
    if (l->numbered < l->slot_count) {
        number_keys(l);
        GCD_TRY(prepare_arrays(l, err));
    }
    GCD_TRY(read_ancestors_of_elements(l, type, err));
    struct keys k = { .l = l, .first = l->list_count };
    GCD_TRY(find_keys(&k, type, err));
    l->out_n = 0;
    gcd_status st = put_layout(l, type, &k, err);
    if (st == GCD_OK && k.all && l->types[type].state != LAYOUT_KNOWN &&
        l->types[type].kind != LAYOUT_ARRAY)
        l->out_n = 0;
    if (st == GCD_E_LIMIT)
        l->out_n = 0;
    else if (st != GCD_OK)
        return st;
    l->list_count = k.first;
    *ret = l->out_n > 0 ? l->out : "";
    return GCD_OK;
}
