/*
 * Which key leads to which value.  The references of an entry come in the order of memory, the key
 * before the value; in a collection no value is without a key.
 */
#include <gcdumpc/unstable/keys.h>

#include <string.h>
#include <strings.h>

#include "analyze/collections/collections.h"
#include "base/context.h"
#include "base/error.h"

#define CHECK_EVERY (UINT32_C(1) << 20)
/* References of an object with one entry: more are none. */
#define ENTRY_REFERENCES 16u

struct taking {
    struct gcd_collections *c;
    const struct gcd_fields *f;
    gcd_key_fn take;
    void *ctx;
    bool is_set;
};

bool gcd_field_is_called(const char *name, size_t all, const char *word)
{
    size_t n = strlen(word);
    return all >= n && strncasecmp(name + all - n, word, n) == 0 &&
           (all == n || name[all - n - 1] == '_' || name[all - n - 1] == '.');
}

static bool is_called(const char *name, const char *word)
{
    return name != NULL && gcd_field_is_called(name, strlen(name), word);
}

/* Are fields A and B of one struct, or both of none? */
static bool is_beside(const char *a, const char *b)
{
    const char *x = strrchr(a, '.'), *y = strrchr(b, '.');
    size_t n = x != NULL ? (size_t)(x - a) : 0;
    return n == (y != NULL ? (size_t)(y - b) : 0) && strncmp(a, b, n) == 0;
}

static bool is_value(const struct gcd_field *field)
{
    return field->slot != GCD_SLOT_NONE &&
           (is_called(field->name, "value") || is_called(field->name, "val"));
}

static bool is_key(const struct gcd_field *field)
{
    return field->slot != GCD_SLOT_NONE && is_called(field->name, "key");
}

/* Is it a field of a value that is a struct? */
static bool is_in_value(const struct gcd_field *field)
{
    const char *end = field->slot != GCD_SLOT_NONE ? strrchr(field->name, '.') : NULL;
    return end != NULL && gcd_field_is_called(field->name, (size_t)(end - field->name), "value");
}

/* Is VALUE a field of TYPE for values, and the one before it in the layout that of its key? */
static bool follows_key(const struct gcd_fields *f, uint32_t type, const struct gcd_field *value)
{
    uint32_t first;
    (void)gcd_fields_of_type(f, type, &first);
    if (!is_value(value) || value->slot <= first)
        return false;
    const char *before = gcd_fields_slot_name(f, value->slot - 1);
    return is_called(before, "key") && is_beside(before, value->name);
}

/* The key beside VALUE in ENTRY, an object with one of each, wherever they lie. */
static uint32_t key_in_entry(const struct gcd_graph *g, const struct gcd_fields *f, uint32_t entry,
                             uint32_t value)
{
    size_t n, keys = 0;
    const uint32_t *edges = gcd_graph_node_edges(g, entry, &n);
    uint32_t key = GCD_NODE_NONE;
    bool has_value = false;
    for (size_t i = 0; i < n && n <= ENTRY_REFERENCES; i++) {
        struct gcd_field field = gcd_fields_get(f, entry, i);
        if (field.array)
            return GCD_NODE_NONE;
        has_value = has_value || (is_value(&field) && edges[i] == value);
        if (is_key(&field) && keys++ == 0)
            key = edges[i];
    }
    return has_value && keys == 1 ? key : GCD_NODE_NONE;
}

/* The object to which NODE refers by the field called WORD; GCD_NODE_NONE. */
static uint32_t part_called(const struct gcd_graph *g, const struct gcd_fields *f, uint32_t node,
                            const char *word)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, node, &n);
    for (size_t i = 0; i < n && n <= ENTRY_REFERENCES; i++) {
        struct gcd_field field = gcd_fields_get(f, node, i);
        if (field.slot != GCD_SLOT_NONE && is_called(field.name, word))
            return edges[i];
    }
    return GCD_NODE_NONE;
}

/* Are the elements of ARRAY, which refers to something, references? */
static bool has_references(const struct gcd_fields *f, uint32_t array)
{
    const char *name = gcd_fields_get(f, array, 0).name;
    return name != NULL && name[0] == '\0';
}

/* A collection with an array of keys and one of values (SortedList, frozen ones): as many values as
 * keys, none of which is null, are those of the keys.  A reference in a struct is no key, only a
 * part of one. */
struct key_arrays {
    uint32_t keys, values; /* the arrays; GCD_NODE_NONE: there is none */
    const uint32_t *key, *value;
    size_t n; /* of keys */
    bool match;
};

static struct key_arrays key_arrays_of(const struct gcd_graph *g, const struct gcd_fields *f,
                                       uint32_t node)
{
    struct key_arrays a = { .keys = part_called(g, f, node, "keys"),
                            .values = part_called(g, f, node, "values") };
    size_t m = 0;
    if (a.keys != GCD_NODE_NONE)
        a.key = gcd_graph_node_edges(g, a.keys, &a.n);
    if (a.values != GCD_NODE_NONE)
        a.value = gcd_graph_node_edges(g, a.values, &m);
    if (a.n > 0 && !has_references(f, a.keys))
        a.n = 0;
    a.match = a.n > 0 && m == a.n && has_references(f, a.values);
    return a;
}

uint32_t gcd_key_array_of(const struct gcd_graph *g, const struct gcd_fields *f,
                          uint32_t collection, uint32_t values)
{
    if (part_called(g, f, collection, "values") != values)
        return GCD_NODE_NONE;
    uint32_t keys = part_called(g, f, collection, "keys"), table;
    if (keys == GCD_NODE_NONE) /* the hash code of a number is the number */
        keys = part_called(g, f, collection, "HashCodes");
    if (keys == GCD_NODE_NONE && (table = part_called(g, f, collection, "hashTable")) != keys)
        keys = part_called(g, f, table, "HashCodes");
    return keys;
}

/* The key of VALUE in ENTRY, the array of values of COLLECTION. */
static uint32_t key_in_arrays(const struct gcd_graph *g, const struct gcd_fields *f,
                              uint32_t collection, uint32_t entry, uint32_t value)
{
    struct key_arrays a = key_arrays_of(g, f, collection);
    uint32_t key = GCD_NODE_NONE;
    if (!a.match || a.values != entry)
        return GCD_NODE_NONE;
    for (size_t i = 0; i < a.n; i++) {
        if (a.value[i] != value)
            continue;
        if (key != GCD_NODE_NONE) /* one of two */
            return GCD_NODE_NONE;
        key = a.key[i];
    }
    return key;
}

uint32_t gcd_key_of(const struct gcd_graph *g, const struct gcd_fields *f, uint32_t collection,
                    uint32_t entry, uint32_t value)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, entry, &n);
    bool of_collection = collection != GCD_NODE_NONE;
    for (size_t i = 1; i < n; i++) {
        if (edges[i] != value)
            continue;
        struct gcd_field to_value = gcd_fields_get(f, entry, i),
                         to_key = gcd_fields_get(f, entry, i - 1);
        if (of_collection
                ? follows_key(f, gcd_graph_node_type(g, entry), &to_value)
                : is_value(&to_value) && is_key(&to_key) && is_beside(to_key.name, to_value.name))
            return edges[i - 1];
        break;
    }
    uint32_t key = of_collection ? key_in_entry(g, f, entry, value) : GCD_NODE_NONE;
    return of_collection && key == GCD_NODE_NONE ? key_in_arrays(g, f, collection, entry, value)
                                                 : key;
}

/* ---- the entries of a collection ---- */

static gcd_status take_entry(const struct taking *t, uint32_t holder, uint32_t key, uint32_t value,
                             struct gcd_error *err)
{
    struct gcd_key_pair pair = {
        .key = key, .value = value, .key_holder = holder, .value_holder = holder
    };
    return t->take(t->ctx, &pair, err);
}

/* An array of entries.  What lies in a struct is part of a key or of a value. */
static gcd_status take_array(const struct taking *t, uint32_t node, struct gcd_error *err)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(t->c->g, node, &n);
    uint32_t type = gcd_graph_node_type(t->c->g, node), key = GCD_NODE_NONE;
    for (size_t i = 0; i < n; i++) {
        struct gcd_field field = gcd_fields_get(t->f, node, i);
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(t->c->context.cancel, err));
        if (field.slot != GCD_SLOT_NONE && strchr(field.name, '.') != NULL)
            field.slot = GCD_SLOT_NONE;
        if (t->is_set ? is_value(&field) : i > 0 && follows_key(t->f, type, &field)) {
            GCD_TRY(t->is_set ? take_entry(t, node, edges[i], GCD_NODE_NONE, err)
                              : take_entry(t, node, edges[i - 1], edges[i], err));
            key = GCD_NODE_NONE;
            continue;
        }
        if (!t->is_set && is_value(&field)) /* its key is no object */
            GCD_TRY(take_entry(t, node, GCD_NODE_NONE, edges[i], err));
        if (key != GCD_NODE_NONE) /* its value is null, or no object */
            GCD_TRY(take_entry(t, node, key, GCD_NODE_NONE, err));
        key = is_key(&field) ? edges[i] : GCD_NODE_NONE;
    }
    return key != GCD_NODE_NONE ? take_entry(t, node, key, GCD_NODE_NONE, err) : GCD_OK;
}

/* An object with one entry. */
static gcd_status take_node(const struct taking *t, uint32_t node, struct gcd_error *err)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(t->c->g, node, &n);
    uint32_t key = GCD_NODE_NONE, value = GCD_NODE_NONE;
    for (size_t i = 0; i < n && n <= ENTRY_REFERENCES; i++) {
        struct gcd_field field = gcd_fields_get(t->f, node, i);
        if (is_in_value(&field))
            continue;
        bool item = t->is_set && field.slot != GCD_SLOT_NONE && is_called(field.name, "item");
        if (is_key(&field) || item)
            key = edges[i];
        else if (is_value(&field))
            value = edges[i];
    }
    return key != GCD_NODE_NONE || value != GCD_NODE_NONE ? take_entry(t, node, key, value, err)
                                                          : GCD_OK;
}

/* A collection with arrays of both. */
static gcd_status take_arrays(const struct taking *t, uint32_t node, struct gcd_error *err)
{
    struct key_arrays a = key_arrays_of(t->c->g, t->f, node);
    for (size_t i = 0; i < a.n; i++) {
        struct gcd_key_pair pair = { .key = a.key[i],
                                     .value = a.match ? a.value[i] : GCD_NODE_NONE,
                                     .key_holder = a.keys,
                                     .value_holder = a.values };
        GCD_TRY(t->take(t->ctx, &pair, err));
    }
    uint32_t values = part_called(t->c->g, t->f, node, "values");
    size_t m = 0;
    if (a.n == 0 && values != GCD_NODE_NONE &&
        gcd_key_array_of(t->c->g, t->f, node, values) != GCD_NODE_NONE)
        a.value = gcd_graph_node_edges(t->c->g, values, &m);
    for (size_t i = 0; i < m; i++)
        GCD_TRY(take_entry(t, values, GCD_NODE_NONE, a.value[i], err));
    return GCD_OK;
}

gcd_status gcd_collection_keys(struct gcd_collections *c, const struct gcd_fields *f, uint32_t node,
                               gcd_key_fn take, void *ctx, struct gcd_error *err)
{
    enum gcd_collection_kind kind = gcd_collections_kind(c, gcd_graph_node_type(c->g, node));
    struct taking t = { c, f, take, ctx,
                        kind == GCD_COLLECTION_SET || kind == GCD_COLLECTION_SORTED_SET };
    struct inside in;
    if (kind == GCD_COLLECTION_NONE || kind == GCD_COLLECTION_ARRAY)
        return GCD_END;
    GCD_TRY(collections_walk(c, node, &in, err));
    gcd_status st = take_arrays(&t, node, err);
    for (size_t i = 0; i < in.objects && st == GCD_OK; i++) {
        if (i % CHECK_EVERY == 0)
            st = gcd_check_canceled(c->context.cancel, err);
        if (st == GCD_OK && c->inside[i].role == INNER_ENTRIES)
            st = take_array(&t, c->inside[i].node, err);
        else if (st == GCD_OK && c->inside[i].role == INNER_NODE)
            st = take_node(&t, c->inside[i].node, err);
    }
    return st;
}
