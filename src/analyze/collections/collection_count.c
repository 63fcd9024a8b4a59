/*
 * The number of elements of a collection, from the objects and references inside.  Null references
 * leave no trace, so most rules give two bounds.
 */
#include "analyze/collections/collections.h"

#include <string.h>

#include "base/error.h"
#include "base/ovf.h"

/* More nested wrappers than this form a circle. */
#define WRAPPERS 8u

struct bounds {
    uint64_t least, most;
    uint64_t capacity;
    /* COUNT_SEGMENTS: the number of references is a better estimate than the bounds */
    bool about;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The least number of structs, with at most EACH references in each, that have N references. */
static uint64_t structs_with(uint64_t n, uint64_t each)
{
    return each > 0 ? n / each + (n % each > 0) : n > 0;
}

/* Is the type of an element NAME itself?  Then the elements are references, even if the file does
 * not say so. */
static bool has_element_named(const struct gcd_collections *c, struct text name)
{
    for (size_t i = 0; i < c->counted_count[0]; i++)
        if (collection_text_is(name, c->summary->types[c->counted[0][i]].name))
            return true;
    return false;
}

static struct bounds count_items(struct gcd_collections *c, const struct inside *in)
{
    struct arg arg = collections_arg(c, in->type, 0);
    uint64_t places = in->places;
    struct bounds b = { .least = in->references, .most = places, .capacity = places };
    if (in->arrays == 0)
        return (struct bounds){ 0, GCD_COUNT_UNKNOWN, GCD_COUNT_UNKNOWN, false };
    if (arg.name.n > 0 && arg.nature != ARG_REFERENCE && arg.nature != ARG_PLAIN &&
        !(arg.nature == ARG_UNKNOWN && has_element_named(c, arg.name)))
        b.least =
            in->references > 0; /* possibly structs of unknown size with several references each */
    return b;
}

/* The maximum number of references in a value that takes at most BYTES. */
static uint64_t references_in(const struct gcd_collections *c, const struct arg *arg,
                              uint64_t bytes)
{
    return arg->nature == ARG_PLAIN ? 0 : arg->nature == ARG_REFERENCE ? 1 : bytes / c->ptr_bytes;
}

/* Can a value of type ARG be a string?  Only if ARG is string, object or an interface of string. */
static bool may_be_string(const struct arg *arg)
{
    static const char system[] = "System.";
    return arg->nature != ARG_REFERENCE || collection_text_is(arg->name, "System.String") ||
           collection_text_is(arg->name, "System.Object") ||
           (arg->name.n > sizeof system && memcmp(arg->name.s, system, sizeof system - 1) == 0 &&
            memchr(arg->name.s, 'I', arg->name.n) != NULL);
}

static bool is_string(const struct gcd_collections *c, uint32_t node)
{
    return strcmp(c->summary->types[gcd_graph_node_type(c->g, node)].name, "System.String") == 0;
}

/*
 * Entries with a string as key and an object as value: key, value, key, value ..., without null
 * values.  Anything but a string is the value of the string before it; among N strings in a row,
 * each may be the value of the previous one.
 */
static struct bounds count_strings(struct gcd_collections *c, const struct inside *in,
                                   const struct arg *value)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(c->g, in->entries, &n);
    bool strings_are_keys = !may_be_string(value);
    uint64_t row = 0;
    struct bounds b = { 0, 0, 0, false };
    for (size_t i = 0; i <= n; i++) {
        bool string = i < n && is_string(c, edges[i]);
        row += string;
        if (string)
            continue;
        /* the value of the last one in the row is not a string */
        uint64_t keys = row - (i < n && row > 0);
        b.least += (strings_are_keys ? keys : keys - keys / 2) + (i < n && row > 0);
        b.most += row;
        row = 0;
    }
    return b;
}

/* The bytes of the elements of array NODE. */
static uint64_t array_bytes(const struct gcd_collections *c, uint32_t node)
{
    uint64_t bytes = gcd_graph_node_size(c->g, node), header = 3 * (uint64_t)c->ptr_bytes;
    return bytes > header ? bytes - header : 0;
}

static uint64_t stride_of(const struct gcd_collections *c, const struct inside *in, uint64_t places)
{
    uint64_t bytes = array_bytes(c, in->entries);
    return places > 0 && bytes % places == 0 ? bytes / places : 0;
}

static struct bounds count_table(struct gcd_collections *c, const struct inside *in)
{
    uint64_t places = in->buckets, n = in->references;
    struct arg key = collections_arg(c, in->type, 0), value = collections_arg(c, in->type, 1);
    struct bounds b = { .least = 0, .most = places, .capacity = places };
    if (in->entries == GCD_NODE_NONE)
        return (struct bounds){ 0, 0, 0, false };
    uint64_t stride = places == GCD_COUNT_UNKNOWN ? 0 : stride_of(c, in, places);
    if (stride < 8)
        return (struct bounds){ n > 0, GCD_COUNT_UNKNOWN, GCD_COUNT_UNKNOWN, false };
    uint64_t key_bytes = key.nature == ARG_REFERENCE || key.nature == ARG_PLAIN ? key.bytes : 0;
    uint64_t in_value =
        references_in(c, &value, stride - 8 > key_bytes ? stride - 8 - key_bytes : 0);
    if (key.nature == ARG_REFERENCE) {
        if (value.nature == ARG_REFERENCE && collection_text_is(key.name, "System.String"))
            b = count_strings(c, in, &value);
        else
            b = (struct bounds){ .least = structs_with(n, 1 + in_value), .most = n };
    } else {
        b.least = structs_with(n, key.nature == ARG_PLAIN ? in_value : (stride - 8) / c->ptr_bytes);
    }
    b.most = smaller(b.most, places);
    b.least = smaller(b.least, b.most);
    b.capacity = places;
    return b;
}

static struct bounds count_set(struct gcd_collections *c, const struct inside *in)
{
    struct arg arg = collections_arg(c, in->type, 0);
    uint64_t places = in->buckets,
             stride = in->entries == GCD_NODE_NONE || places == GCD_COUNT_UNKNOWN
                          ? 0
                          : stride_of(c, in, places);
    if (in->entries == GCD_NODE_NONE)
        return (struct bounds){ 0, 0, 0, false };
    if (stride < 8)
        return (struct bounds){ in->references > 0, GCD_COUNT_UNKNOWN, GCD_COUNT_UNKNOWN, false };
    struct bounds b = { .least = structs_with(in->references, references_in(c, &arg, stride - 8)),
                        .most = places,
                        .capacity = places };
    if (arg.nature == ARG_REFERENCE)
        b.most = smaller(places, in->references + 1);
    b.least = smaller(b.least, b.most);
    return b;
}

/* Structs of two arguments at the beginning of an array: a PriorityQueue. */
static struct bounds count_tuples(struct gcd_collections *c, const struct inside *in)
{
    struct arg a = collections_arg(c, in->type, 0), b = collections_arg(c, in->type, 1);
    uint64_t n = in->references;
    if (in->entries == GCD_NODE_NONE)
        return (struct bounds){ 0, 0, 0, false };
    bool known = (a.nature == ARG_REFERENCE || a.nature == ARG_PLAIN) &&
                 (b.nature == ARG_REFERENCE || b.nature == ARG_PLAIN);
    bool references = a.nature == ARG_REFERENCE || b.nature == ARG_REFERENCE;
    if (!known || !references)
        return (struct bounds){ n > 0, GCD_COUNT_UNKNOWN, GCD_COUNT_UNKNOWN, false };
    uint64_t stride = (uint64_t)a.bytes + b.bytes + c->ptr_bytes - 1;
    stride -= stride % c->ptr_bytes;
    uint64_t places = array_bytes(c, in->entries) / stride;
    return (struct bounds){ structs_with(n, a.nature == b.nature ? 2 : 1), places, places, false };
}

static struct bounds count_keys(struct gcd_collections *c, const struct inside *in)
{
    struct arg key = collections_arg(c, in->type, 0), value = collections_arg(c, in->type, 1);
    bool same = in->key_arrays > 1; /* arrays of one type: both are arrays of keys */
    uint64_t places = in->key_places == GCD_COUNT_UNKNOWN || !same
                          ? in->key_places
                          : in->key_places / in->key_arrays;
    if (places == GCD_COUNT_UNKNOWN)
        places = in->places;
    if (in->key_arrays == 0)
        return (struct bounds){ 0, GCD_COUNT_UNKNOWN, GCD_COUNT_UNKNOWN, false };
    if (key.nature == ARG_REFERENCE && !same)
        return (struct bounds){ in->keys, in->keys, places, false };
    if (key.nature == ARG_REFERENCE)
        return (struct bounds){ structs_with(in->keys, 2), smaller(in->keys, places), places,
                                false };
    return (struct bounds){ value.nature == ARG_REFERENCE ? in->references : in->references > 0,
                            places, places, false };
}

static struct bounds exactly(uint64_t n)
{
    return (struct bounds){ n, n, GCD_COUNT_UNKNOWN, false };
}

/* Arrays without spare room: the length of the items, else of the keys, else of the buckets,
 * whichever is known. */
static struct bounds count_length(const struct inside *in)
{
    uint64_t n = in->arrays > 0 && in->places != GCD_COUNT_UNKNOWN ? in->places / in->arrays
                 : in->key_arrays > 0 && in->key_places != GCD_COUNT_UNKNOWN
                     ? in->key_places / in->key_arrays
                     : in->buckets;
    return (struct bounds){ n == GCD_COUNT_UNKNOWN ? 0 : n, n, n, false };
}

/*
 * Structs of key, value and a number: a Hashtable.  If other keys follow a removed key in its
 * chain, the array itself replaces the key, and null the value.
 */
static struct bounds count_pairs(const struct gcd_collections *c, const struct inside *in)
{
    size_t n;
    uint64_t there = 0, places;
    if (in->entries == GCD_NODE_NONE)
        return exactly(0);
    const uint32_t *edges = gcd_graph_node_edges(c->g, in->entries, &n);
    for (size_t i = 0; i < n; i++)
        there += edges[i] != in->entries;
    places = array_bytes(c, in->entries) / (3 * (uint64_t)c->ptr_bytes);
    return (struct bounds){ structs_with(there, 2), smaller(there, places), places, false };
}

/* Slots with a reference and a number.  Dequeued elements remain in them once the queue has been
 * enumerated. */
static struct bounds count_segments(struct gcd_collections *c, const struct inside *in)
{
    uint64_t places = 0;
    if (collections_arg(c, in->type, 0).nature != ARG_REFERENCE)
        return (struct bounds){ 0, GCD_COUNT_UNKNOWN, GCD_COUNT_UNKNOWN, true };
    for (size_t i = 0; i < in->objects; i++)
        if (c->inside[i].role == INNER_ITEMS)
            gcd_add_saturating(&places,
                               array_bytes(c, c->inside[i].node) / (2 * (uint64_t)c->ptr_bytes));
    return (struct bounds){ 0, places, places, true };
}

static struct bounds count(struct gcd_collections *c, const struct inside *in)
{
    switch ((enum inner_rule)in->known->rule) {
    case COUNT_ITEMS:
        return count_items(c, in);
    case COUNT_LENGTH:
        return count_length(in);
    case COUNT_TABLE:
        return count_table(c, in);
    case COUNT_SET:
        return count_set(c, in);
    case COUNT_TUPLES:
        return count_tuples(c, in);
    case COUNT_KEYS:
        return count_keys(c, in);
    case COUNT_NODES:
        return exactly(in->nodes);
    case COUNT_BRANCHES:
        return exactly(in->branches);
    case COUNT_CHAINED:
        return exactly(in->chained);
    case COUNT_OBJECT_PAIRS:
        return count_pairs(c, in);
    case COUNT_SEGMENTS:
        return count_segments(c, in);
    case COUNT_CAPACITY:
        return (struct bounds){ 0, in->buckets, in->buckets, false };
    case COUNT_NOTHING:
    case COUNT_WRAPPED:
        break;
    }
    return (struct bounds){ 0, GCD_COUNT_UNKNOWN, GCD_COUNT_UNKNOWN, false };
}

/* ---- the description ---- */

static void keep_most(struct gcd_collection_part *parts, size_t *n, struct gcd_collection_part part)
{
    size_t i = *n < GCD_COLLECTION_PARTS ? (*n)++ : GCD_COLLECTION_PARTS;
    for (; i > 0 && parts[i - 1].objects < part.objects; i--)
        if (i < GCD_COLLECTION_PARTS)
            parts[i] = parts[i - 1];
    if (i < GCD_COLLECTION_PARTS)
        parts[i] = part;
}

static void take_parts(const struct gcd_collections *c, struct gcd_collection *it)
{
    for (size_t i = 0; i < c->counted_count[0]; i++)
        keep_most(it->elements_of, &it->elements_of_count,
                  (struct gcd_collection_part){ c->counted[0][i], c->counts[0][c->counted[0][i]] });
    for (size_t i = 0; i < c->counted_count[1]; i++)
        keep_most(it->keys_of, &it->keys_of_count,
                  (struct gcd_collection_part){ c->counted[1][i], c->counts[1][c->counted[1][i]] });
}

/* Counts the types of elements in arrays of structs: keys and values alternate if each entry has
 * both. */
static gcd_status tally_entries(struct gcd_collections *c, const struct inside *in,
                                const struct bounds *b, struct gcd_error *err)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(c->g, in->entries, &n);
    bool both = in->keyed && b->least == b->most && b->least == n / 2 && n % 2 == 0;
    bool only_keys = in->keyed && b->least == n;
    struct gcd_graph_types types = gcd_graph_types(c->g);
    for (size_t i = 0; i < n; i++) {
        collections_fetch_type(&types, edges, n, i);
        GCD_TRY(collections_tally(c, only_keys || (both && i % 2 == 0), edges[i], err));
    }
    return GCD_OK;
}

/* Are the elements values, so that references do not tell their number? */
static bool is_of_values(const struct gcd_collections *c, const struct inside *in)
{
    if (in->known == NULL || in->known->rule == COUNT_CAPACITY ||
        in->known->kind == GCD_COLLECTION_TEXT)
        return true;
    struct arg first = collections_arg(c, in->type, 0), second = collections_arg(c, in->type, 1);
    return first.name.n > 0 && first.nature != ARG_REFERENCE && second.nature != ARG_REFERENCE &&
           in->references == 0;
}

static void set_bounds(struct gcd_collection *it, const struct bounds *b)
{
    /* more references than slots: the dump is damaged */
    it->at_least = smaller(b->least, b->most);
    it->at_most = b->most;
    it->capacity = b->capacity;
    it->only_capacity &= b->least != b->most;
    it->elements = b->about                                            ? it->references
                   : it->only_capacity && b->most != GCD_COUNT_UNKNOWN ? b->most
                                                                       : it->at_least;
}

/* All slots of an array are elements, null or not. */
static struct bounds count_array(const struct inside *in)
{
    if (in->places == GCD_COUNT_UNKNOWN)
        return (struct bounds){ in->references > 0, GCD_COUNT_UNKNOWN, GCD_COUNT_UNKNOWN, false };
    return (struct bounds){ in->places, in->places, in->places, false };
}

/* The first collection that the wrapper NODE refers to. */
static uint32_t wrapped_by(const struct gcd_collections *c, uint32_t node)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(c->g, node, &n);
    for (size_t i = 0; i < n; i++)
        if (gcd_collections_kind(c, gcd_graph_node_type(c->g, edges[i])) != GCD_COLLECTION_NONE)
            return edges[i];
    return GCD_NODE_NONE;
}

static bool is_wrapper(const struct gcd_collections *c, uint32_t node)
{
    uint8_t known = c->known[gcd_graph_node_type(c->g, node)];
    return known != 0 && gcd_collection_types[known - 1].rule == COUNT_WRAPPED;
}

static gcd_status describe_handlers(struct gcd_collections *c, struct gcd_collection *it,
                                    struct gcd_collection *ret, struct gcd_error *err)
{
    size_t count;
    struct inside in;
    uint32_t list = gcd_collections_handlers(c, it->node, &count);
    if (list == GCD_NODE_NONE)
        return GCD_END;
    GCD_TRY(collections_walk(c, list, &in, err));
    GCD_TRY(collections_add_object(c, &in, it->node, err));
    it->kind = GCD_COLLECTION_HANDLERS;
    it->references = it->elements = it->at_least = it->at_most = count;
    it->capacity = in.places;
    it->structure_objects = in.objects;
    it->structure_bytes = in.bytes;
    take_parts(c, it);
    *ret = *it;
    return GCD_OK;
}

/* The field of NODE with the number of its elements, and that with those that it has not. */
static bool read_count(const struct gcd_collections *c, enum gcd_collection_kind kind,
                       uint32_t node, uint64_t *ret)
{
    bool table = kind == GCD_COLLECTION_DICTIONARY || kind == GCD_COLLECTION_SET,
         sized = kind == GCD_COLLECTION_LIST || kind == GCD_COLLECTION_QUEUE ||
                 kind == GCD_COLLECTION_STACK || kind == GCD_COLLECTION_PRIORITY_QUEUE;
    uint64_t address = gcd_graph_node_address(c->g, node);
    int64_t count, free = 0;
    if ((!table && !sized) || !c->number(c->numbers, address, table ? "_count" : "_size", &count) ||
        (table && !c->number(c->numbers, address, "_freeCount", &free)) || free < 0 || count < free)
        return false;
    *ret = (uint64_t)(count - free);
    return true;
}

/* What a number in the collection NODE says of it, unless that contradicts what is seen. */
static void know_count(const struct gcd_collections *c, uint32_t node, struct gcd_collection *it)
{
    uint64_t count;
    if (c->number == NULL || gcd_collection_is_exact(it) ||
        !read_count(c, it->kind, node, &count) || count > it->at_most ||
        (!it->only_capacity && count < it->at_least))
        return;
    if (it->kind == GCD_COLLECTION_LIST && !it->only_capacity && count > it->references)
        it->nulls = count - it->references;
    it->elements = it->at_least = it->at_most = count;
    it->only_capacity = false;
}

void gcd_collections_know(struct gcd_collections *c,
                          bool (*number)(void *numbers, uint64_t address, const char *field,
                                         int64_t *ret),
                          void *numbers)
{
    c->number = gcd_graph_notes(c->g)->addresses_made_up ? NULL : number;
    c->numbers = numbers;
}

gcd_status gcd_collection_describe(struct gcd_collections *c, uint32_t node,
                                   struct gcd_collection *ret, struct gcd_error *err)
{
    struct gcd_collection it = { .node = node,
                                 .kind = gcd_collections_kind(c, gcd_graph_node_type(c->g, node)) };
    uint32_t at = node, wrappers[WRAPPERS];
    size_t n = 0;
    if (it.kind == GCD_COLLECTION_NONE)
        return describe_handlers(c, &it, ret, err);
    while (is_wrapper(c, at)) {
        if (n == WRAPPERS)
            return GCD_END;
        wrappers[n++] = at;
        at = wrapped_by(c, at);
        if (at == GCD_NODE_NONE)
            return GCD_END;
    }
    struct inside in;
    GCD_TRY(collections_walk(c, at, &in, err));
    while (n > 0)
        GCD_TRY(collections_add_object(c, &in, wrappers[--n], err));
    it.references = in.references;
    it.structure_objects = in.objects;
    it.structure_bytes = in.bytes;
    struct bounds b = in.known == NULL ? count_array(&in) : count(c, &in);
    it.only_capacity = is_of_values(c, &in);
    set_bounds(&it, &b);
    know_count(c, at, &it);
    if (in.entries != GCD_NODE_NONE)
        GCD_TRY(tally_entries(c, &in, &b, err));
    take_parts(c, &it);
    *ret = it;
    return GCD_OK;
}

uint32_t gcd_collection_object(const struct gcd_collections *c, uint64_t i)
{
    return i < c->inside_count ? c->inside[i].node : GCD_NODE_NONE;
}
