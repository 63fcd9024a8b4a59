/* Collections: kinds by name, elements by shape. */
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/collections.h>
#include <gcdumpc/unstable/fields.h>
#include <gcdumpc/unstable/keys.h>
#include <gcdumpc/unstable/origins.h>
#include <gcdumpc/unstable/session/views.h>

#include "support/check.h"
#include "support/failalloc.h"
#include "support/pile.h"
#include "support/run.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define GENERIC    "System.Collections.Generic."
#define CONCURRENT "System.Collections.Concurrent."
#define CLASS      0x12

static struct gcd_collection describe(struct pile *p, uint32_t node)
{
    struct gcd_graph *g = pile_graph(p);
    struct gcd_collections *c;
    struct gcd_collection it;
    assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
    assert_int_equal(gcd_collection_describe(c, node, &it, &err), GCD_OK);
    struct gcd_collection again;
    assert_int_equal(gcd_collection_describe(c, node, &again, &err), GCD_OK);
    assert_int_equal(again.elements, it.elements);
    assert_int_equal(again.references, it.references);
    gcd_collections_free(c);
    gcd_graph_free(g);
    return it;
}

static void a_list_has_at_least_what_it_refers_to(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t list = node(p, GENERIC "List`1[Shop.Order]", 32),
             items = child(p, list, "Shop.Order[]", 24 + 8 * 8);
    for (int i = 0; i < 5; i++)
        child(p, items, "Shop.Order", 24);
    p->types[type(p, "Shop.Order")].element_type = CLASS;
    static_root(p, list, "s_orders");
    struct gcd_collection it = describe(p, list);
    assert_int_equal(it.kind, GCD_COLLECTION_LIST);
    assert_int_equal(it.at_least, 5);
    assert_int_equal(it.at_most, 8);
    assert_int_equal(it.elements, 5);
    assert_int_equal(it.capacity, 8);
    assert_int_equal(it.structure_objects, 2);
    assert_int_equal(it.structure_bytes, 32 + 88);
    assert_int_equal(it.elements_of_count, 1);
    assert_int_equal(it.elements_of[0].objects, 5);
}

/* Structs of an unknown type may have several references each, but an element that is an object of
 * that type shows that it is a class, wherever it comes. */
static void elements_of_their_own_type_are_references(void **state)
{
    (void)state;
    static const struct {
        const char *elements; /* o: an order, u: the type of the list */
        uint64_t at_least;
    } rows[] = { { "", 0 }, { "ooo", 1 }, { "u", 1 }, { "uoo", 3 }, { "oou", 3 }, { "uuu", 3 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pile *p = pile_new();
        uint32_t list = node(p, GENERIC "List`1[Shop.Unknown]", 32),
                 items = child(p, list, "Shop.Unknown[]", 24 + 8 * 8);
        p->types[type(p, "Shop.Unknown")].described = false;
        for (const char *e = rows[i].elements; *e != '\0'; e++)
            child(p, items, *e == 'o' ? "Shop.Order" : "Shop.Unknown", 24);
        static_root(p, list, "s_all");
        struct gcd_collection it = describe(p, list);
        assert_int_equal(it.at_least, rows[i].at_least);
    }
}

/* "kov": a key, another object, a key that is its own value. */
static struct gcd_collection dictionary(const char *type_name, const char *entries,
                                        const char *references)
{
    struct pile *p = pile_new();
    uint32_t d = node(p, type_name, 80);
    child(p, d, "System.Int32[]", 24 + 4 * 17);
    uint32_t array = child(p, d, entries, 24 + 24 * 17);
    for (const char *r = references; *r != '\0'; r++)
        child(p, array, *r == 'k' ? "System.String" : "Shop.Order", 30);
    node(p, "Shop.Order", 24);
    p->types[type(p, "Shop.Order")].element_type = CLASS;
    static_root(p, d, "s_orders");
    return describe(p, d);
}

static void keys_of_a_dictionary_are_counted_where_they_are_strings(void **state)
{
    (void)state;
    struct gcd_collection it = dictionary(GENERIC "Dictionary`2[System.String,Shop.Order]",
                                          "Entry[System.String,Shop.Order][]", "kokkokk");
    assert_int_equal(it.at_least, 5);
    assert_int_equal(it.at_most, 5);
    assert_int_equal(it.capacity, 17);
    assert_int_equal(it.references, 7);
    assert_int_equal(it.structure_objects, 3);
    /* with full names */
    it = dictionary(GENERIC "Dictionary`2[System.String,Shop.Order]",
                    GENERIC "Dictionary`2+Entry[System.String,Shop.Order][]", "koko");
    assert_int_equal(it.at_least, 2);
    assert_int_equal(it.at_most, 2);
    assert_int_equal(it.keys_of[0].objects, 2);
    assert_int_equal(it.elements_of[0].objects, 2);
    /* each string may be the value of the one before */
    it = dictionary(GENERIC "Dictionary`2[System.String,System.Object]",
                    "Entry[System.String,System.Object][]", "kokkkok");
    assert_int_equal(it.at_least, 1 + 1 + 1 + 1);
    assert_int_equal(it.at_most, 5);
    it = dictionary(GENERIC "Dictionary`2[System.String,System.String]",
                    "Entry[System.String,System.String][]", "kkkkk");
    assert_int_equal(it.at_least, 3);
    assert_int_equal(it.at_most, 5);
    /* in the spelling of C# */
    it = dictionary(GENERIC "Dictionary<System.String, Shop.Order>",
                    GENERIC "Dictionary<System.String, Shop.Order>.Entry[]", "kokok");
    assert_int_equal(it.at_least, 3);
    assert_int_equal(it.structure_objects, 3);
    it = dictionary(GENERIC "Dictionary<System.String, Shop.Order>",
                    "Entry<System.String, Shop.Order>[]", "kok");
    assert_int_equal(it.at_most, 2);
    assert_int_equal(it.structure_objects, 3);
    it = dictionary(GENERIC "Dictionary<System.String, Shop.Order>",
                    "Entry<System.String, Shop.Item>[]", "kok");
    assert_int_equal(it.structure_objects, 2);
    it = dictionary(GENERIC "Dictionary`2[System.Int32,Shop.Order]",
                    "Entry[System.Int32,Shop.Order][]", "ooo");
    assert_int_equal(it.at_least, 3);
    assert_int_equal(it.at_most, 17);
    it = dictionary(GENERIC "Dictionary`2[System.Int32,System.Int32]",
                    "Entry[System.Int32,System.Int32][]", "");
    assert_int_equal(it.at_least, 0);
    assert_int_equal(it.elements, 17);
}

static void nodes_are_counted_once_in_any_shape(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t list = node(p, GENERIC "LinkedList`1[Shop.Order]", 40),
             other = node(p, GENERIC "LinkedList`1[Shop.Order]", 40), first = 0, last = 0;
    for (int i = 0; i < 7; i++) {
        uint32_t at = i == 0 ? child(p, list, GENERIC "LinkedListNode`1[Shop.Order]", 48)
                             : node(p, GENERIC "LinkedListNode`1[Shop.Order]", 48);
        edge(p, at, list);
        if (i > 0) {
            edge(p, last, at);
            edge(p, at, last);
        } else {
            first = at;
        }
        last = at;
    }
    edge(p, last, first);
    edge(p, first, last);
    uint32_t foreign = child(p, other, GENERIC "LinkedListNode`1[Shop.Order]", 48);
    edge(p, foreign, other);
    edge(p, first, foreign); /* pretends */
    static_root(p, list, "s_list");
    struct gcd_collection it = describe(p, list);
    assert_int_equal(it.kind, GCD_COLLECTION_LINKED_LIST);
    assert_int_equal(it.at_least, 7);
    assert_int_equal(it.at_most, 7);
}

static void tables_lead_to_nodes(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t d = node(p, CONCURRENT "ConcurrentDictionary`2[System.Guid,Shop.Order]", 40);
    uint32_t tables = child(p, d, "Tables[System.Guid,Shop.Order]", 48);
    uint32_t buckets = child(p, tables, "VolatileNode[System.Guid,Shop.Order][]", 24 + 8 * 31);
    for (int i = 0; i < 6; i++) {
        uint32_t at = child(p, buckets, "Node[System.Guid,Shop.Order]", 56);
        child(p, at, "Shop.Order", 24);
        child(p, child(p, at, "Node[System.Guid,Shop.Order]", 56), "Shop.Order", 24);
    }
    child(p, buckets, "Node[System.Int32,Shop.Order]", 56); /* of something else */
    uint32_t path[4] = { d, tables, buckets, buckets + 1 };
    static_root(p, d, "s_orders");
    struct gcd_graph *g = pile_graph(p);
    struct gcd_collections *c;
    struct gcd_collection it;
    assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
    assert_int_equal(gcd_collection_describe(c, d, &it, &err), GCD_OK);
    assert_int_equal(it.at_least, 12);
    assert_int_equal(it.at_most, 12);
    assert_int_equal(it.structure_objects, 3 + 12);
    assert_int_equal(it.elements_of[0].objects, 12);
    assert_int_equal(gcd_collections_inside(c, path, 4, 0), 3);
    assert_int_equal(gcd_collections_inside(c, path, 3, 0), 2);
    assert_int_equal(gcd_collections_inside(c, path, 4, 1), 0);
    assert_int_equal(gcd_collection_describe(c, path[3], &it, &err), GCD_END);
    gcd_collections_free(c);
    gcd_graph_free(g);
}

/* Columns have their values beside the rows. */
static void elements_of_a_data_table_are_its_rows(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t table = node(p, "System.Data.DataTable", 512),
             rows = child(p, child(p, table, "System.Data.RecordManager", 64),
                          "System.Data.DataRow[]", 24 + 8 * 16);
    child(p, child(p, table, "System.Data.DataColumnCollection", 96), "System.String[]", 24);
    for (int i = 0; i < 10; i++)
        edge(p, child(p, rows, "System.Data.DataRow", 96), table);
    static_root(p, table, "s_audit");
    struct gcd_graph *g = pile_graph(p);
    struct gcd_collections *c;
    struct gcd_collection it;
    assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
    assert_int_equal(gcd_collection_describe(c, table, &it, &err), GCD_OK);
    assert_int_equal(it.at_least, 10);
    assert_int_equal(it.elements_of_count, 1);
    assert_string_equal(gcd_graph_summary(g)->types[it.elements_of[0].type].name,
                        "System.Data.DataRow");
    assert_int_equal(it.elements_of[0].objects, 10);
    gcd_collections_free(c);
    gcd_graph_free(g);
}

#define CACHING  "Microsoft.Extensions.Caching.Memory."
#define CACHED   CONCURRENT "ConcurrentDictionary`2"
#define OF_CACHE "[System.String," CACHING "CacheEntry]"

static void elements_of_a_cache_are_its_values(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t cache = node(p, CACHING "MemoryCache", 64),
             state_of_it = child(p, cache, CACHING "MemoryCache+CoherentState", 40);
    uint32_t table = child(p, state_of_it, CACHED OF_CACHE, 40);
    uint32_t nodes = child(p, child(p, table, CACHED "+Tables" OF_CACHE, 40),
                           CACHED "+VolatileNode" OF_CACHE "[]", 24 + 8 * 31);
    for (int i = 0; i < 6; i++) {
        uint32_t it = child(p, nodes, CACHED "+Node" OF_CACHE, 48),
                 key = child(p, it, "System.String", 40);
        uint32_t entry = child(p, it, CACHING "CacheEntry", 96);
        edge(p, entry, cache);
        child(p, entry, CACHING "CacheEntryTokens", 40);
        edge(p, entry, key);
        if (i < 4)
            child(p, entry, "Shop.Page", 2000);
    }
    static_root(p, cache, "s_pages");
    struct gcd_graph *g = pile_graph(p);
    struct gcd_collections *c;
    struct gcd_collection it;
    assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
    assert_int_equal(gcd_collection_describe(c, cache, &it, &err), GCD_OK);
    assert_int_equal(it.elements, 6); /* two without a value */
    assert_int_equal(it.elements_of_count, 1);
    assert_string_equal(gcd_graph_summary(g)->types[it.elements_of[0].type].name, "Shop.Page");
    assert_int_equal(it.elements_of[0].objects, 4);
    assert_int_equal(it.keys_of_count, 1);
    assert_int_equal(it.keys_of[0].objects, 6);
    gcd_collections_free(c);
    gcd_graph_free(g);
}

static void a_wrapper_has_the_elements_of_what_it_wraps(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t channel = node(p, "System.Threading.Channels.UnboundedChannel`1[Shop.Order]", 88);
    uint32_t queue = child(p, channel, CONCURRENT "ConcurrentQueue`1[Shop.Order]", 40), at = queue;
    for (int i = 0; i < 3; i++) {
        at = child(p, at, CONCURRENT "ConcurrentQueueSegment`1[Shop.Order]", 232);
        uint32_t slots = child(p, at, "Slot[Shop.Order][]", 24 + 16 * 32);
        for (int k = 0; k < 10; k++)
            child(p, slots, "Shop.Order", 24);
    }
    static_root(p, channel, "s_channel");
    struct gcd_collection it = describe(p, channel);
    assert_int_equal(it.kind, GCD_COLLECTION_CHANNEL);
    assert_int_equal(it.elements, 30);
    assert_int_equal(it.structure_objects, 2 + 6);
    /* around itself */
    p = pile_new();
    channel = node(p, "System.Collections.ObjectModel.Collection`1[Shop.Order]", 88);
    edge(p, channel, channel);
    struct gcd_graph *g = pile_graph(p);
    struct gcd_collections *c;
    assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
    assert_int_equal(gcd_collection_describe(c, channel, &it, &err), GCD_END);
    gcd_collections_free(c);
    gcd_graph_free(g);
}

static void a_key_that_was_removed_is_the_table_itself(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t d = node(p, "System.Collections.Hashtable", 80),
             buckets = child(p, d, "Bucket[]", 24 + 24 * 7);
    for (int i = 0; i < 4; i++)
        child(p, buckets, "System.String", 30);
    edge(p, buckets, buckets);
    static_root(p, d, "s_table");
    struct gcd_collection it = describe(p, d);
    assert_int_equal(it.at_least, 2);
    assert_int_equal(it.at_most, 4);
    assert_int_equal(it.capacity, 7);
}

static void a_queue_has_at_most_what_its_segments_hold(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t queue = node(p, CONCURRENT "ConcurrentQueue`1[Shop.Order]", 40);
    uint32_t slots =
        child(p, child(p, queue, CONCURRENT "ConcurrentQueueSegment`1[Shop.Order]", 232),
              "Slot[Shop.Order][]", 24 + 16 * 32);
    for (int i = 0; i < 5; i++)
        child(p, slots, "Shop.Order", 24);
    p->types[type(p, "Shop.Order")].element_type = CLASS;
    static_root(p, queue, "s_queue");
    struct gcd_collection it = describe(p, queue);
    assert_int_equal(it.at_least, 0);
    assert_int_equal(it.elements, 5);
    assert_int_equal(it.at_most, 32);
}

/* Nothing reveals how many numbers a list has, but an empty list of objects has no visible ones. */
static void only_the_capacity_is_known_of_values(void **state)
{
    (void)state;
    for (int numbers = 0; numbers < 2; numbers++) {
        struct pile *p = pile_new();
        uint32_t list =
            node(p, numbers ? GENERIC "List`1[System.Int32]" : GENERIC "List`1[System.String]", 32);
        child(p, list, numbers ? "System.Int32[]" : "System.String[]",
              numbers ? 24 + 4 * 16 : 24 + 8 * 16);
        static_root(p, list, "s_list");
        struct gcd_collection it = describe(p, list);
        assert_int_equal(it.at_least, 0);
        assert_int_equal(it.at_most, 16);
        assert_int_equal(it.elements, numbers ? 16 : 0);
        assert_int_equal(it.only_capacity, numbers);
    }
}

/* ---- any graph ---- */

static const char *const palette[] = {
    GENERIC "List`1[X]",
    GENERIC "Dictionary`2[X,Y]",
    GENERIC "Dictionary`2[System.String,X]",
    "Entry[X,Y][]",
    "Entry[System.String,X][]",
    GENERIC "HashSet`1[X]",
    "Entry[X][]",
    "System.Int32[]",
    "X[]",
    "X",
    "Y",
    "System.String",
    GENERIC "LinkedList`1[X]",
    GENERIC "LinkedListNode`1[X]",
    GENERIC "SortedSet`1[X]",
    "Node[X]",
    GENERIC "SortedDictionary`2[X,Y]",
    "Node[System.Collections.Generic.KeyValuePair`2[X,Y]]",
    GENERIC "SortedList`2[X,Y]",
    "Y[]",
    GENERIC "PriorityQueue`2[X,System.Int32]",
    "System.ValueTuple`2[X,System.Int32][]",
    CONCURRENT "ConcurrentDictionary`2[X,Y]",
    "Tables[X,Y]",
    "VolatileNode[X,Y][]",
    "Node[X,Y]",
    CONCURRENT "ConcurrentQueue`1[X]",
    CONCURRENT "ConcurrentQueueSegment`1[X]",
    "Slot[X][]",
    CONCURRENT "ConcurrentBag`1[X]",
    "WorkStealingQueue[X]",
    CONCURRENT "BlockingCollection`1[X]",
    "System.Collections.ObjectModel.Collection`1[X]",
    "System.Threading.Channels.UnboundedChannel`1[X]",
    "System.Collections.Immutable.ImmutableList`1[X]",
    "System.Collections.Immutable.ImmutableStack`1[X]",
    "System.Collections.Frozen.DefaultFrozenDictionary`2[X,Y]",
    "System.Collections.Hashtable",
    "Bucket[]",
    "System.Collections.ArrayList",
    "System.Object[]",
    "System.Action",
    "Microsoft.Extensions.Caching.Memory.MemoryCache",
    "CoherentState",
    CONCURRENT "ConcurrentDictionary`2[X,Microsoft.CacheEntry]",
    "System.Runtime.CompilerServices.ConditionalWeakTable`2[X,Y]",
    "Container[X,Y]",
    "System.Text.StringBuilder",
    "System.Char[]",
};
#define PALETTE (sizeof palette / sizeof *palette)

static uint32_t draw(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static struct gcd_graph *any_graph(uint64_t seed)
{
    static const uint8_t element_types[] = { 0, 0x12, 0x11, 0x08, 0x1d, 0xff };
    struct pile *p = pile_new();
    uint32_t first = draw(&seed, PALETTE), nodes = 1 + draw(&seed, 40);
    for (uint32_t i = 0; i < nodes; i++)
        node(p, palette[(first + draw(&seed, 16)) % PALETTE],
             draw(&seed, 4) == 0 ? draw(&seed, 60) : 24 + 8 * (uint64_t)draw(&seed, 200));
    for (uint32_t i = draw(&seed, 4 * nodes); i > 0; i--)
        edge(p, draw(&seed, nodes), draw(&seed, nodes));
    for (size_t i = 0; i < p->type_count; i++) {
        p->types[i].element_type = element_types[draw(&seed, sizeof element_types)];
        for (size_t k = 0; k < GCD_TYPE_PARAMETERS; k++)
            p->types[i].parameters[k] = element_types[draw(&seed, sizeof element_types)];
    }
    p->ptr_bytes = draw(&seed, 4) == 0 ? 4 : 8;
    static_root(p, 0, "s_any");
    return pile_graph(p);
}

static void check_any(struct gcd_collections *c, const struct gcd_graph *g, uint32_t node)
{
    struct gcd_collection it;
    gcd_status st = gcd_collection_describe(c, node, &it, &err);
    if (st == GCD_END)
        return;
    assert_int_equal(st, GCD_OK);
    assert_true(it.at_least <= it.at_most);
    assert_true(it.structure_objects > 0 && it.structure_objects <= gcd_graph_node_count(g));
    assert_true(gcd_collection_object(c, it.structure_objects) == GCD_NODE_NONE);
    if (it.kind != GCD_COLLECTION_CONCURRENT_QUEUE && it.kind != GCD_COLLECTION_CHANNEL &&
        it.kind != GCD_COLLECTION_BLOCKING && it.kind != GCD_COLLECTION_WRAPPER)
        assert_true(it.at_least <= it.elements && it.elements <= it.at_most);
    for (uint64_t i = 0; i < it.structure_objects; i++)
        for (uint64_t k = 0; k < i; k++)
            assert_true(gcd_collection_object(c, i) != gcd_collection_object(c, k));
}

static void any_graph_is_described(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct gcd_graph *g = any_graph(seed);
        struct gcd_collections *c;
        assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
        for (uint32_t n = 0; n < gcd_graph_node_count(g); n++)
            check_any(c, g, n);
        gcd_collections_free(c);
        gcd_graph_free(g);
    }
}

static void without_memory_it_fails_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct gcd_graph *g = any_graph(seed);
        struct failalloc memory = { .failed = 1 };
        for (uint64_t fail = 1; memory.failed > 0; fail++) {
            struct gcd_collections *c = NULL;
            struct gcd_collection it;
            failalloc_init(&memory);
            memory.fail_at = fail;
            gcd_status st =
                gcd_collections_new(g, &(struct gcd_context){ .alloc = &memory.alloc }, &c, &err);
            for (uint32_t n = 0; n < gcd_graph_node_count(g) && st >= 0; n++)
                st = gcd_collection_describe(c, n, &it, &err);
            assert_true(st >= 0 || (st == GCD_E_NOMEM && memory.failed > 0));
            gcd_collections_free(c);
            assert_null(failalloc_complaint(&memory));
        }
        gcd_graph_free(g);
    }
}

static void names_are_taken_whole(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum gcd_collection_kind kind;
    } cases[] = {
        { GENERIC "List`1[X]", GCD_COLLECTION_LIST },
        { GENERIC "List`1[X][]", GCD_COLLECTION_ARRAY },
        { GENERIC "List`1+Enumerator[X]", GCD_COLLECTION_NONE },
        { GENERIC "List`1", GCD_COLLECTION_LIST },
        { "Shop.List`1[X]", GCD_COLLECTION_NONE },
        { "X[,]", GCD_COLLECTION_ARRAY },
        { "[]", GCD_COLLECTION_NONE },
        { GENERIC "Dictionary`2[X,Y]", GCD_COLLECTION_DICTIONARY },
        { GENERIC "Dictionary`2+KeyCollection[X,Y]", GCD_COLLECTION_NONE },
        { "System.Collections.Frozen.EmptyFrozenSet`1[X]", GCD_COLLECTION_FROZEN },
        { "System.Collections.Frozen.KeyAnalyzer", GCD_COLLECTION_NONE },
        { "]", GCD_COLLECTION_NONE },
        { "a]]", GCD_COLLECTION_NONE },
        { "System.Collections.Hashtable", GCD_COLLECTION_DICTIONARY },
    };
    struct pile *p = pile_new();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        node(p, cases[i].name, 24);
    struct gcd_graph *g = pile_graph(p);
    struct gcd_collections *c;
    assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(gcd_collection_kind_name(gcd_collections_kind(c, i)),
                            gcd_collection_kind_name(cases[i].kind));
    gcd_collections_free(c);
    gcd_graph_free(g);
}

/* ---- which key leads to which value ---- */

/* How a collection keeps entries. */
enum keeping { IN_ENTRIES, IN_NODES, IN_ARRAYS };

struct keeper {
    const char *collection, *layout; /* of the collection */
    const char *part, *part_layout;  /* an array of entries, a node, or an array of keys */
    enum keeping keeping;
    bool keys, values; /* are objects */
    bool in_struct;    /* a value is a struct with two references */
};

#define PAIR "[Shop.Key,Shop.Item]"
#define SOLO "[Shop.Key]"

static const struct keeper keepers[] = {
    { GENERIC "Dictionary`2" PAIR, "o 9\n0 _entries", "Entry" PAIR "[]", "v 8\n1 key\n2 value",
      IN_ENTRIES, true, true, false },
    { GENERIC "Dictionary`2" PAIR, "o 9\n0 _entries", "Entry" PAIR "[]",
      "v 8\n1 key\n3 value.Key\n2 value.Value", IN_ENTRIES, true, false, true },
    { GENERIC "Dictionary`2" PAIR, "o 9\n0 _entries", "Entry" PAIR "[]", "v 8\n1 key", IN_ENTRIES,
      true, false, false },
    { GENERIC "Dictionary`2" PAIR, "o 9\n0 _entries", "Entry" PAIR "[]", "v 8\n2 value", IN_ENTRIES,
      false, true, false },
    { GENERIC "HashSet`1" SOLO, "o 9\n0 _entries", "Entry" SOLO "[]", "v 8\n1 Value", IN_ENTRIES,
      true, false, false },
    { GENERIC "SortedSet`1" SOLO, "o 9\n0 root", "Node" SOLO,
      "o 4\n1 <Item>k__BackingField\n4 <Left>k__BackingField", IN_NODES, true, false, false },
    { CONCURRENT "ConcurrentDictionary`2" PAIR, "o 9\n0 _tables", "Node" PAIR,
      "o 4\n1 _key\n2 _value\n4 _next", IN_NODES, true, true, false },
    { CONCURRENT "ConcurrentDictionary`2" PAIR, "o 9\n0 _tables", "Node" PAIR,
      "o 4\n2 _value\n4 _next", IN_NODES, false, true, false },
    { CONCURRENT "ConcurrentDictionary`2" PAIR, "o 9\n0 _tables", "Node" PAIR,
      "o 4\n1 _key\n3 _value.Key\n2 _value.Value\n4 _next", IN_NODES, true, false, true },
    { GENERIC "SortedList`2" PAIR, "o 9\n5 keys\n6 values", "Shop.Key[]", "v 5\n1 ", IN_ARRAYS,
      true, true, false },
    { GENERIC "SortedList`2" PAIR, "o 9\n5 keys\n6 values", "Shop.Key[]", "v 5", IN_ARRAYS, false,
      true, false },
};

static void give_layout(struct pile *p, const char *name, const char *layout)
{
    p->types[type(p, name)].layout = layout;
}

struct pairs {
    struct gcd_key_pair of[64];
    size_t n;
};

static gcd_status take_pair(void *ctx, const struct gcd_key_pair *pair, struct gcd_error *e)
{
    struct pairs *got = ctx;
    (void)e;
    assert_true(got->n < 64);
    got->of[got->n++] = *pair;
    return GCD_OK;
}

static int by_objects(const void *a, const void *b)
{
    const struct gcd_key_pair *x = a, *y = b;
    return x->key != y->key ? (x->key < y->key ? -1 : 1)
                            : (x->value > y->value) - (x->value < y->value);
}

/* An entry, kept by K in the object HOLDER; a value is null from time to time. */
static void add_entry(struct pile *p, const struct keeper *k, uint32_t holder, unsigned random,
                      struct pairs *wanted)
{
    struct gcd_key_pair pair = { GCD_NODE_NONE, GCD_NODE_NONE, holder, holder };
    bool is_null = random % 4 == 0;
    if (k->keys)
        pair.key = child(p, holder, "Shop.Key", 40);
    if (k->in_struct && !is_null) { /* of a value that is a struct: no entries */
        child(p, holder, "Shop.Owner", 24);
        child(p, holder, "Shop.Item", 24);
    }
    if (k->values && !is_null)
        pair.value = child(p, holder, "Shop.Item", 24);
    if (pair.key != GCD_NODE_NONE || pair.value != GCD_NODE_NONE)
        wanted->of[wanted->n++] = pair;
}

/* As many keys as values are pairs; if a value is null, it is not known whose. */
static void add_arrays(struct pile *p, const struct keeper *k, uint32_t it, unsigned n,
                       bool has_null, struct pairs *wanted)
{
    uint32_t keys = child(p, it, k->part, 24 + 8 * 40);
    uint32_t values = child(p, it, "Shop.Item[]", 24 + 8 * 40);
    for (unsigned i = 0; i < n; i++)
        wanted->of[i] =
            (struct gcd_key_pair){ k->keys ? child(p, keys, "Shop.Key", 40) : GCD_NODE_NONE,
                                   GCD_NODE_NONE, k->keys ? keys : values, values };
    wanted->n = k->keys ? n : n - has_null;
    for (unsigned i = 0; i < n - has_null; i++) {
        uint32_t value = child(p, values, "Shop.Item", 24);
        if (!has_null || !k->keys)
            wanted->of[i].value = value;
    }
}

static uint32_t fill(struct pile *p, const struct keeper *k, uint64_t *seed, struct pairs *wanted)
{
    uint32_t it = node(p, k->collection, 80), part = it;
    unsigned n = (unsigned)(run_random(seed) % 20);
    if (k->keeping == IN_ARRAYS) {
        add_arrays(p, k, it, n, n > 0 && run_random(seed) % 2 == 0, wanted);
        return it;
    }
    if (k->keeping == IN_ENTRIES)
        part = child(p, it, k->part, 24 + 32 * 20);
    for (unsigned i = 0; i < n; i++) {
        if (k->keeping == IN_NODES) /* the first of a chain, or the next one of it */
            part = child(p, run_random(seed) % 3 == 0 ? it : part, k->part, 48);
        add_entry(p, k, part, (unsigned)run_random(seed), wanted);
    }
    return it;
}

static gcd_status stop(void *ctx, const struct gcd_key_pair *pair, struct gcd_error *e)
{
    (void)pair;
    (void)e;
    return --*(size_t *)ctx == 0 ? GCD_E_CANCELED : GCD_OK;
}

static void check_pairs(const struct gcd_graph *g, uint32_t it, struct pairs *wanted)
{
    struct pairs got = { .n = 0 };
    struct gcd_collections *c;
    struct gcd_fields *f;
    assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(g, NULL, &f, &err), GCD_OK);
    assert_int_equal(gcd_collection_keys(c, f, it, take_pair, &got, &err), GCD_OK);
    qsort(got.of, got.n, sizeof *got.of, by_objects);
    qsort(wanted->of, wanted->n, sizeof *got.of, by_objects);
    assert_int_equal(got.n, wanted->n);
    assert_memory_equal(got.of, wanted->of, got.n * sizeof *got.of);
    for (size_t i = 0; i < got.n; i++)
        if (got.of[i].value != GCD_NODE_NONE)
            assert_int_equal(gcd_key_of(g, f, it, got.of[i].value_holder, got.of[i].value),
                             got.of[i].key);
    for (size_t i = 1; i <= got.n; i++) {
        size_t left = i;
        assert_int_equal(gcd_collection_keys(c, f, it, stop, &left, &err), GCD_E_CANCELED);
        assert_int_equal(left, 0);
    }
    if (got.n > 0)
        assert_int_equal(gcd_collection_keys(c, f, got.of[0].value_holder, take_pair, &got, &err),
                         GCD_END);
    gcd_fields_free(f);
    gcd_collections_free(c);
}

static void each_entry_has_its_key_and_its_value(void **state)
{
    (void)state;
    uint64_t seed = 37;
    for (size_t i = 0; i < sizeof keepers / sizeof *keepers; i++)
        for (unsigned round = 0; round < 40; round++) {
            const struct keeper *k = &keepers[i];
            struct pairs wanted = { .n = 0 };
            struct pile *p = pile_new();
            give_layout(p, k->collection, k->layout);
            give_layout(p, k->part, k->part_layout);
            give_layout(p, "Shop.Item[]", "v 6\n2 ");
            give_layout(p, "Shop.Key", "o 1");
            give_layout(p, "Shop.Item", "o 2");
            give_layout(p, "Shop.Owner", "o 3");
            uint32_t it = fill(p, k, &seed, &wanted);
            static_root(p, it, "s_all");
            struct gcd_graph *g = pile_graph(p);
            check_pairs(g, it, &wanted);
            gcd_graph_free(g);
        }
}

/* ---- steps of a path: which of them is the collection, its entry, and its value ---- */

#define STEPS 6u

static struct gcd_suspect random_path(uint64_t *seed, uint32_t list, uint32_t order,
                                      struct gcd_suspect_step steps[STEPS])
{
    static const enum gcd_suspect_kind kinds[] = { GCD_SUSPECT_OBJECT, GCD_SUSPECT_DESIGN,
                                                   GCD_SUSPECT_TYPE, GCD_SUSPECT_TASKS };
    struct gcd_suspect s = { .kind = kinds[run_random(seed) % 4],
                             .node = 77,
                             .collection = run_random(seed) % 3 == 0 ? NULL : "list",
                             .path = steps,
                             .path_count = run_random(seed) % (STEPS + 1) };
    for (uint32_t i = 0; i < STEPS; i++)
        steps[i] = (struct gcd_suspect_step){
            .node = 10 + i,
            .last = 20 + i,
            .type = run_random(seed) % 3 == 0 ? order : list,
            .repeats = 1 + run_random(seed) % 5 / 4,
            .dependent = run_random(seed) % 6 == 0,
            .skipped = run_random(seed) % 6 == 0,
            .fold = run_random(seed) % 2 == 0 ? GCD_FOLD_INSIDE : GCD_FOLD_SHOWN,
        };
    return s;
}

/* The first step from I on that is not inside a collection. */
static size_t outside(const struct gcd_suspect *s, size_t i)
{
    return i < s->path_count && s->path[i].fold == GCD_FOLD_INSIDE ? outside(s, i + 1) : i;
}

static uint32_t collection_of(const struct gcd_suspect *s, uint32_t list)
{
    bool object = s->kind == GCD_SUSPECT_OBJECT || s->kind == GCD_SUSPECT_DESIGN;
    if (object && s->collection != NULL)
        return s->node;
    for (size_t i = s->path_count; i-- > 0 && s->kind == GCD_SUSPECT_TYPE && s->path_count > 1;)
        if (i + 1 < s->path_count && s->path[i].fold != GCD_FOLD_INSIDE)
            return !s->path[i].skipped && s->path[i].type == list ? s->path[i].node : GCD_NODE_NONE;
    return GCD_NODE_NONE;
}

static void steps_of_a_path_are_entries(void **state)
{
    (void)state;
    struct pile *p = pile_new();
    uint32_t list = type(p, GENERIC "List`1[Shop.Order]"), order = type(p, "Shop.Order");
    static_root(p, child(p, node_of(p, list, 32), "Shop.Order", 24), "s_all");
    struct gcd_graph *g = pile_graph(p);
    struct gcd_session *session;
    uint64_t seed = 11;
    size_t entries = 0, collections = 0;
    assert_int_equal(gcd_session_new(g, NULL, &session, &err), GCD_OK);
    for (unsigned round = 0; round < 2000; round++) {
        struct gcd_suspect_step steps[STEPS];
        struct gcd_suspect s = random_path(&seed, list, order, steps);
        for (size_t i = 0; i < s.path_count; i++) {
            struct gcd_session_entry e = { .entry = 1 };
            size_t next = outside(&s, i + 1);
            bool known = next < s.path_count && !steps[next].dependent && !steps[next].skipped &&
                         !steps[next - 1].skipped && steps[i].repeats == 1;
            assert_int_equal(gcd_session_step_entry(&s, i, &e), known);
            assert_int_equal(e.entry, known ? steps[next - 1].last : 1);
            assert_true(!known || e.value == steps[next].node);
            assert_true(!known || e.collection == (next > i + 1 ? steps[i].node : GCD_NODE_NONE));
            entries += known;
        }
        assert_int_equal(gcd_session_suspect_collection(session, &s), collection_of(&s, list));
        collections += s.kind == GCD_SUSPECT_TYPE && collection_of(&s, list) != GCD_NODE_NONE;
    }
    assert_true(entries > 500 && collections > 100);
    gcd_session_free(session);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_list_has_at_least_what_it_refers_to),
        cmocka_unit_test(elements_of_their_own_type_are_references),
        cmocka_unit_test(keys_of_a_dictionary_are_counted_where_they_are_strings),
        cmocka_unit_test(nodes_are_counted_once_in_any_shape),
        cmocka_unit_test(tables_lead_to_nodes),
        cmocka_unit_test(elements_of_a_cache_are_its_values),
        cmocka_unit_test(elements_of_a_data_table_are_its_rows),
        cmocka_unit_test(a_wrapper_has_the_elements_of_what_it_wraps),
        cmocka_unit_test(a_key_that_was_removed_is_the_table_itself),
        cmocka_unit_test(a_queue_has_at_most_what_its_segments_hold),
        cmocka_unit_test(only_the_capacity_is_known_of_values),
        cmocka_unit_test(any_graph_is_described),
        cmocka_unit_test(without_memory_it_fails_whole),
        cmocka_unit_test(names_are_taken_whole),
        cmocka_unit_test(each_entry_has_its_key_and_its_value),
        cmocka_unit_test(steps_of_a_path_are_entries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
