/* The keys of a collection, by their beginnings: compared with a count over all keys. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/session.h>
#include <gcdumpc/unstable/keys.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/writer.h>

#include "graph/graph_build.h"
#include "support/failalloc.h"
#include "support/run.h"
#include "values/values.h"

static struct gcd_error err = GCD_ERROR_INIT;

#define DICTIONARY "System.Collections.Generic.Dictionary`2"
#define KEYS_MAX   400u
#define TEXT_BYTES 64u

enum { TABLE, ENTRIES, STRING, ITEM, TYPES };

struct heap {
    struct gcd_graph *graph;
    struct gcd_dominators *dominators;
    struct gcd_fields *fields;
    struct gcd_collections *collections;
    struct gcd_values *values;
    char (*keys)[TEXT_BYTES];
    uint64_t bytes[KEYS_MAX]; /* below each key and its value */
    size_t count;
};

static uint64_t address_of(uint32_t node)
{
    return 0x1000 + 64 * (uint64_t)node;
}

static void add_node(struct gcd_build *b, uint32_t node, uint32_t type, uint64_t bytes)
{
    assert_int_equal(gcd_build_node(b, address_of(node), type, bytes, &err), GCD_OK);
}

static void add_text(struct gcd_values *v, uint32_t node, const char *text)
{
    uint32_t n = (uint32_t)strlen(text);
    struct values_content c = {
        .hash = values_hash_of(values_no_key, (const uint8_t *)text, n),
        .utf8 = text,
        .length = n,
        .bytes = n,
    };
    assert_int_equal(values_add(v, address_of(node), 0, &c, &err), GCD_OK);
}

/*
 * A dictionary with KEYS[COUNT]: node 0, its entries node 1, then a key and a value for each. Every
 * fifth value is also held by a root, so that its bytes are not the dictionary's alone; every
 * seventh is null.
 */
static struct heap heap_with(char (*keys)[TEXT_BYTES], size_t count)
{
    static const struct gcd_type types[TYPES] = {
        { .name = DICTIONARY "[System.String,Item]",
          .module_path = "",
          .layout = "o 9\n0 _entries" },
        { .name = DICTIONARY "+Entry[System.String,Item][]",
          .module_path = "",
          .layout = "v 8\n1 key\n2 value" },
        { .name = "System.String", .module_path = "", .layout = "o 1" },
        { .name = "Item", .module_path = "", .layout = "o 2" },
    };
    struct heap h = { .keys = keys, .count = count };
    struct gcd_values_options options = { .kind = GCD_VALUES_STRINGS };
    struct gcd_build *b;
    uint32_t type, nodes[2 * KEYS_MAX];
    size_t edges = 0;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    assert_int_equal(values_new(NULL, NULL, &options, &h.values, &err), GCD_OK);
    for (unsigned i = 0; i < TYPES; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    add_node(b, 0, TABLE, 80);
    add_node(b, 1, ENTRIES, 24 + 24 * count);
    for (uint32_t i = 0; i < count; i++) {
        bool is_null = i % 7 == 6, shared = i % 5 == 4;
        add_node(b, 2 + 2 * i, STRING, 24 + i % 40);
        add_node(b, 3 + 2 * i, ITEM, 100 + i);
        add_text(h.values, 2 + 2 * i, keys[i]);
        h.bytes[i] = 24 + i % 40 + (is_null || shared ? 0 : 100 + i);
        nodes[edges++] = 2 + 2 * i;
        if (!is_null)
            nodes[edges++] = 3 + 2 * i;
    }
    assert_int_equal(values_sort(h.values, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    assert_int_equal(gcd_build_edge_nodes(b, (const uint32_t[]){ 1 }, 1, &err), GCD_OK);
    assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    assert_int_equal(gcd_build_edge_nodes(b, nodes, edges, &err), GCD_OK);
    for (size_t i = 0; i < 2 * count; i++)
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    for (uint32_t i = 0; i <= count; i++) {
        uint32_t node = i == 0 ? 0 : 3 + 2 * (i - 1);
        struct gcd_root r = { .object = address_of(node),
                              .name = "",
                              .class_name = "",
                              .label = "",
                              .node = node,
                              .type = ITEM,
                              .kind = GCD_ROOT_HANDLE };
        if (i == 0 || (i - 1) % 5 == 4)
            assert_int_equal(gcd_build_root(b, &r, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_seal(b, &h.graph, &err), GCD_OK);
    assert_int_equal(gcd_dominators_new(h.graph, NULL, &h.dominators, &err), GCD_OK);
    assert_int_equal(gcd_fields_new(h.graph, NULL, &h.fields, &err), GCD_OK);
    assert_int_equal(gcd_collections_new(h.graph, NULL, &h.collections, &err), GCD_OK);
    return h;
}

static void free_heap(struct heap *h)
{
    gcd_collections_free(h->collections);
    gcd_fields_free(h->fields);
    gcd_dominators_free(h->dominators);
    gcd_graph_free(h->graph);
    values_free(h->values);
}

static gcd_status keys_of(const struct heap *h, bool raw, const struct gcd_context *context,
                          struct gcd_keys **ret)
{
    struct gcd_keys_question about = { .graph = h->graph,
                                       .collections = h->collections,
                                       .fields = h->fields,
                                       .dominators = h->dominators,
                                       .view = { .values = h->values,
                                                 .show = raw ? GCD_SHOW_RAW : GCD_SHOW_MASKED } };
    return gcd_keys_new(&about, 0, context, ret, &err);
}

static bool begins(const struct gcd_key_group *g, const char *key)
{
    return strlen(key) >= g->beginning_bytes && memcmp(key, g->beginning, g->beginning_bytes) == 0;
}

/* The group with this beginning; NULL. */
static const struct gcd_key_group *group_called(const struct gcd_keys *k, const char *beginning)
{
    size_t n;
    const struct gcd_key_group *groups = gcd_keys_groups(k, &n);
    for (size_t i = 0; i < n; i++)
        if (groups[i].secret == NULL && groups[i].beginning_bytes == strlen(beginning) &&
            begins(&groups[i], beginning))
            return &groups[i];
    return NULL;
}

/* Each group has all keys with its beginning, and no key is in two. */
static void check_groups(const struct heap *h, const struct gcd_keys *k)
{
    size_t n;
    const struct gcd_key_group *groups = gcd_keys_groups(k, &n);
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t count = 0, bytes = 0;
        assert_true(groups[i].beginning_bytes > 0);
        for (size_t j = 0; j < h->count; j++) {
            if (!begins(&groups[i], h->keys[j]))
                continue;
            count++;
            bytes += h->bytes[j];
        }
        assert_int_equal(groups[i].count, count);
        assert_int_equal(groups[i].bytes, bytes);
        assert_true(i == 0 || groups[i - 1].bytes >= groups[i].bytes);
        all += count;
    }
    assert_true(all <= h->count);
    for (size_t j = 0; j < h->count; j++) {
        size_t in = 0;
        for (size_t i = 0; i < n; i++)
            in += begins(&groups[i], h->keys[j]);
        assert_true(in <= 1);
    }
}

static void test_tenants_are_told_apart_below_what_all_have(void **state)
{
    static char keys[100][TEXT_BYTES];
    struct gcd_keys *k;
    size_t n;
    (void)state;
    for (unsigned i = 0; i < 100; i++)
        (void)snprintf(keys[i], TEXT_BYTES, "user:tenant-%u/session-%u", i % 10 < 6 ? 42 : i % 10,
                       i);
    struct heap h = heap_with(keys, 100);
    assert_int_equal(keys_of(&h, false, NULL, &k), GCD_OK);
    check_groups(&h, k);
    assert_non_null(group_called(k, "user:tenant-42/"));
    assert_int_equal(group_called(k, "user:tenant-42/")->count, 60);
    assert_non_null(group_called(k, "user:tenant-7/"));
    (void)gcd_keys_groups(k, &n);
    assert_int_equal(n, 5);
    struct gcd_key_totals t = gcd_keys_totals(k);
    uint64_t bytes = 0;
    for (size_t i = 0; i < h.count; i++)
        bytes += h.bytes[i];
    assert_int_equal(t.count, 100);
    assert_int_equal(t.different, 100);
    assert_int_equal(t.bytes, bytes);
    const uint32_t *examples = gcd_keys_examples(k, &n);
    assert_int_equal(n, GCD_KEY_EXAMPLES);
    struct gcd_text first = gcd_values_text(h.values, examples[0]);
    assert_memory_equal(first.utf8, "user:tenant-42/session-0", first.bytes);
    gcd_keys_free(k);
    free_heap(&h);
}

static void test_the_largest_part_is_divided_as_long_as_that_tells_something(void **state)
{
    static char keys[200][TEXT_BYTES];
    struct gcd_keys *k;
    (void)state;
    for (unsigned i = 0; i < 200; i++)
        if (i % 10 == 0)
            (void)snprintf(keys[i], TEXT_BYTES, "order:%u", i);
        else
            (void)snprintf(keys[i], TEXT_BYTES, "cart:%s:%u", i % 3 == 0 ? "alice" : "bob", i);
    struct heap h = heap_with(keys, 200);
    assert_int_equal(keys_of(&h, false, NULL, &k), GCD_OK);
    check_groups(&h, k);
    assert_non_null(group_called(k, "order:"));
    assert_non_null(group_called(k, "cart:alice:"));
    assert_non_null(group_called(k, "cart:bob:"));
    assert_null(group_called(k, "cart:"));
    gcd_keys_free(k);
    free_heap(&h);
}

static void test_keys_without_a_common_beginning_have_no_groups(void **state)
{
    static char keys[100][TEXT_BYTES];
    struct gcd_keys *k;
    size_t n;
    (void)state;
    uint64_t seed = 5;
    for (unsigned i = 0; i < 100; i++)
        (void)snprintf(keys[i], TEXT_BYTES, "%08x-%04x", (unsigned)run_random(&seed),
                       (unsigned)(run_random(&seed) & 0xffff));
    struct heap h = heap_with(keys, 100);
    assert_int_equal(keys_of(&h, true, NULL, &k), GCD_OK);
    (void)gcd_keys_groups(k, &n);
    assert_int_equal(n, 0);
    (void)gcd_keys_examples(k, &n);
    assert_int_equal(n, GCD_KEY_EXAMPLES);
    gcd_keys_free(k);
    free_heap(&h);
}

/* The number of groups of COUNT keys. */
static size_t groups_of(char (*keys)[TEXT_BYTES], size_t count, const char *expected)
{
    struct gcd_keys *k;
    size_t n;
    struct heap h = heap_with(keys, count);
    assert_int_equal(keys_of(&h, true, NULL, &k), GCD_OK);
    check_groups(&h, k);
    (void)gcd_keys_groups(k, &n);
    assert_true(expected == NULL || group_called(k, expected) != NULL);
    gcd_keys_free(k);
    free_heap(&h);
    return n;
}

static void test_beginnings_of_few_keys_tell_nothing(void **state)
{
    static char keys[KEYS_MAX][TEXT_BYTES];
    (void)state;
    for (unsigned i = 0; i < 60; i++)
        (void)snprintf(keys[i], TEXT_BYTES, i < 24 ? "big/%u" : "other-%u", i);
    assert_int_equal(groups_of(keys, 60, "big/"), 2);
    for (unsigned i = 24; i < 60; i++)
        (void)snprintf(keys[i], TEXT_BYTES, "x%u/", i);
    assert_int_equal(groups_of(keys, 60, NULL), 0); /* most share it with none */
    for (unsigned i = 0; i < 100; i++)
        (void)snprintf(keys[i], TEXT_BYTES, "w%u/%u", i / 2, i);
    assert_int_equal(groups_of(keys, 100, NULL), 0); /* none is frequent */
}

static void test_the_largest_of_many_beginnings_are_found(void **state)
{
    static char keys[KEYS_MAX][TEXT_BYTES];
    (void)state;
    for (unsigned i = 0; i < KEYS_MAX; i++)
        (void)snprintf(keys[i], TEXT_BYTES, i % 4 == 0 ? "z/%u" : "w%02u/%u",
                       i % 4 == 0 ? i : i / 8, i);
    assert_int_equal(groups_of(keys, KEYS_MAX, "z/"), GCD_KEY_GROUPS);
}

static void test_secrets_are_one_group_without_their_beginning(void **state)
{
    static char keys[40][TEXT_BYTES];
    struct gcd_keys *k;
    size_t n;
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        (void)snprintf(keys[i], TEXT_BYTES, i % 4 == 0 ? "page/%u" : "jo.doe.%u@shop.example", i);
    struct heap h = heap_with(keys, 40);
    assert_int_equal(keys_of(&h, false, NULL, &k), GCD_OK);
    const struct gcd_key_group *groups = gcd_keys_groups(k, &n);
    assert_int_equal(n, 1);
    assert_string_equal(groups[0].secret, "e-mail address");
    assert_int_equal(groups[0].count, 30);
    const uint32_t *examples = gcd_keys_examples(k, &n);
    for (size_t i = 0; i < n; i++)
        assert_memory_equal(gcd_values_text(h.values, examples[i]).utf8, "page/", 5);
    gcd_keys_free(k);
    assert_int_equal(keys_of(&h, true, NULL, &k), GCD_OK);
    assert_non_null(group_called(k, "jo."));
    gcd_keys_free(k);
    free_heap(&h);
}

static struct gcd_values_view view_of(const struct heap *h, enum gcd_values_show show)
{
    return (struct gcd_values_view){ .values = h->values, .show = show };
}

/* What is said of the dictionary of H, until the next call. */
static const char *sentence_of(const struct heap *h, enum gcd_values_show show)
{
    struct gcd_session *session;
    struct gcd_values_view view = view_of(h, show);
    struct gcd_suspect s = { .kind = GCD_SUSPECT_OBJECT, .node = 0, .collection = "Dictionary" };
    static char text[GCD_KEYS_BYTES];
    assert_int_equal(gcd_session_new(h->graph, NULL, &session, &err), GCD_OK);
    gcd_session_use_values(session, &view);
    assert_int_equal(gcd_session_suspect_keys(session, &s, NULL, text, &err), GCD_OK);
    gcd_session_free(session);
    return text;
}

static void test_a_sentence_has_examples_and_beginnings_that_may_be_seen(void **state)
{
    static char keys[40][TEXT_BYTES];
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        (void)snprintf(keys[i], TEXT_BYTES, i % 4 == 0 ? "page/%02u" : "jo.doe.%02u@shop.example",
                       i);
    struct heap h = heap_with(keys, 40);
    assert_string_equal(
        sentence_of(&h, GCD_SHOW_MASKED),
        "40 keys, such as \"page/00\", \"page/16\", \"page/36\". (e-mail address) has "
        "75 % of their bytes (30 keys).");
    assert_non_null(strstr(sentence_of(&h, GCD_SHOW_RAW), "\"jo.doe."));
    assert_string_equal(sentence_of(&h, GCD_SHOW_EQUAL), "");
    free_heap(&h);
}

static void test_examples_are_told_where_they_differ(void **state)
{
    static const struct {
        const char *begin, *says;
    } rows[] = {
        { "customers/of/a/shop/",
          "40 keys, such as those that begin with \"customers/of/a/shop/\" and go on with \"00\", "
          "\"19\", \"39\"." },
        { "customers/of/a/sho/", "40 keys, such as \"customers/of/a/sho/00\", " },
        { "customers/of/a/sh\u00f6/",
          "40 keys, such as those that begin with \"customers/of/a/sh\u00f6/\" and go on with " },
    };
    static char keys[40][TEXT_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (unsigned k = 0; k < 40; k++)
            (void)snprintf(keys[k], TEXT_BYTES, "%s%02u", rows[i].begin, k);
        struct heap h = heap_with(keys, 40);
        const char *said = sentence_of(&h, GCD_SHOW_MASKED);
        if (strncmp(said, rows[i].says, strlen(rows[i].says)) != 0)
            fail_msg("%s", said);
        free_heap(&h);
    }
}

/* The page of H; free with gcd_sink_free. */
static const char *page_of(const struct heap *h, enum gcd_values_show show, struct gcd_sink **ret)
{
    struct gcd_values_view view = view_of(h, show);
    struct gcd_write_options options = { .values = &view };
    size_t n;
    assert_int_equal(gcd_sink_new_memory(NULL, ret, &err), GCD_OK);
    assert_int_equal(
        gcd_write_graph(gcd_format_by_name("html"), h->graph, *ret, &options, NULL, &err), GCD_OK);
    gcd_sink_write(*ret, "", 1);
    assert_int_equal(gcd_sink_commit(*ret, &err), GCD_OK);
    return (const char *)gcd_sink_memory(*ret, &n);
}

static void test_a_page_has_the_keys_that_may_be_seen(void **state)
{
    static char keys[40][TEXT_BYTES];
    struct gcd_sink *s;
    (void)state;
    for (unsigned i = 0; i < 40; i++)
        (void)snprintf(keys[i], TEXT_BYTES, "jo.doe.%02u@shop.example", i);
    struct heap h = heap_with(keys, 40);
    assert_non_null(
        strstr(page_of(&h, GCD_SHOW_MASKED, &s), "keys\":\"40 keys. (e-mail address) "));
    assert_null(strstr((const char *)gcd_sink_memory(s, &(size_t){ 0 }), "jo.doe."));
    gcd_sink_free(s);
    assert_non_null(strstr(page_of(&h, GCD_SHOW_RAW, &s), "such as \\\"jo.doe.00@shop.example"));
    gcd_sink_free(s);
    assert_null(strstr(page_of(&h, GCD_SHOW_EQUAL, &s), "40 keys"));
    gcd_sink_free(s);
    free_heap(&h);
}

static void test_groups_of_random_keys_are_what_a_count_finds(void **state)
{
    static const char *const words[] = { "a", "b", "ab", "a:b", "", "tenant-1", "\xc3\xa9", "x/y" };
    static char keys[KEYS_MAX][TEXT_BYTES];
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed;
        size_t count = 1 + run_random(&random) % KEYS_MAX;
        for (size_t i = 0; i < count; i++) {
            int used = 0;
            for (unsigned parts = 1 + (unsigned)(run_random(&random) % 4); parts > 0; parts--)
                used += snprintf(keys[i] + used, TEXT_BYTES - (size_t)used, "%s%c",
                                 words[run_random(&random) % (seed % 8 + 1)],
                                 ":/-."[run_random(&random) % (seed % 4 + 1)]);
            (void)snprintf(keys[i] + used, TEXT_BYTES - (size_t)used, "%u",
                           (unsigned)(run_random(&random) % 50));
        }
        struct heap h = heap_with(keys, count);
        struct gcd_keys *k;
        assert_int_equal(keys_of(&h, true, NULL, &k), GCD_OK);
        check_groups(&h, k);
        assert_int_equal(gcd_keys_totals(k).count, count);
        gcd_keys_free(k);
        free_heap(&h);
    }
}

static void test_a_failing_allocator_leaves_nothing(void **state)
{
    static char keys[20][TEXT_BYTES];
    gcd_status st = GCD_E_NOMEM;
    (void)state;
    for (unsigned i = 0; i < 20; i++)
        (void)snprintf(keys[i], TEXT_BYTES, "t-%u/%u", i % 3, i);
    struct heap h = heap_with(keys, 20);
    for (uint64_t fail_at = 1; st != GCD_OK; fail_at++) {
        struct failalloc fa;
        struct gcd_keys *k = NULL;
        failalloc_init(&fa);
        fa.fail_at = fail_at;
        struct gcd_context context = { .alloc = &fa.alloc };
        st = keys_of(&h, false, &context, &k);
        assert_true(st == GCD_OK || (st == GCD_E_NOMEM && k == NULL));
        gcd_keys_free(k);
        assert_null(failalloc_complaint(&fa));
    }
    free_heap(&h);
}

/* ---- the key of one value ---- */

/* Nodes of TYPES[N], each with the references in EDGES[node], which end with 0. */
static struct gcd_graph *small_graph(const struct gcd_type *types, const uint32_t *of, uint32_t n,
                                     const uint32_t edges[][5])
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    for (uint32_t i = 0; i < n; i++)
        add_node(b, i, of[i], 64);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < n; i++) {
        size_t count = 0;
        while (edges[i][count] != 0)
            count++;
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        if (count > 0)
            assert_int_equal(gcd_build_edge_nodes(b, edges[i], count, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

/* A cache's entry has its key where it likes: before the value or not beside it. */
static void test_key_and_value_need_not_be_neighbours(void **state)
{
    static const struct gcd_type types[] = {
        { .name = "Entry", .module_path = "", .layout = "o 4\n0 _value\n5 _cache\n1 Key" },
        { .name = "Cache", .module_path = "", .layout = "o 5" },
        { .name = "System.String", .module_path = "", .layout = "o 1" },
    };
    static const uint32_t of[] = { 0, 1, 2, 2 }, edges[][5] = { { 2, 1, 3 }, { 0 }, { 0 }, { 0 } };
    struct gcd_graph *g = small_graph(types, of, 4, edges);
    struct gcd_fields *f;
    (void)state;
    assert_int_equal(gcd_fields_new(g, NULL, &f, &err), GCD_OK);
    assert_int_equal(gcd_key_of(g, f, 1, 0, 2), 3);
    assert_int_equal(gcd_key_of(g, f, 1, 0, 3), GCD_NODE_NONE); /* no value */
    assert_int_equal(gcd_key_of(g, f, 1, 0, 1), GCD_NODE_NONE);
    assert_int_equal(gcd_key_of(g, f, GCD_NODE_NONE, 0, 2), GCD_NODE_NONE);
    gcd_fields_free(f);
    gcd_graph_free(g);
}

/* Frozen dictionaries and sorted lists have an array of keys and one of values. */
static void test_keys_in_an_array_of_their_own(void **state)
{
    static const struct gcd_type types[] = {
        { .name = "Frozen", .module_path = "", .layout = "o 2\n0 _keys\n0 _values" },
        { .name = "System.Object[]", .module_path = "", .layout = "v 8\n0 " },
        { .name = "System.String", .module_path = "", .layout = "o 1" },
    };
    static const uint32_t of[] = { 0, 1, 1, 2, 2, 2, 2, 2 };
    static const uint32_t edges[][5] = { { 1, 2 }, { 3, 4, 5 }, { 6, 7, 7 }, { 0 },
                                         { 0 },    { 0 },       { 0 },       { 0 } };
    static const uint32_t short_edges[][5] = { { 1, 2 }, { 3, 4, 5 }, { 6, 7 }, { 0 },
                                               { 0 },    { 0 },       { 0 },    { 0 } };
    struct gcd_fields *f;
    (void)state;
    struct gcd_graph *g = small_graph(types, of, 8, edges);
    assert_int_equal(gcd_fields_new(g, NULL, &f, &err), GCD_OK);
    assert_int_equal(gcd_key_of(g, f, 0, 2, 6), 3);
    assert_int_equal(gcd_key_of(g, f, 0, 2, 7), GCD_NODE_NONE); /* it has two */
    assert_int_equal(gcd_key_of(g, f, 0, 1, 3), GCD_NODE_NONE); /* a key */
    assert_int_equal(gcd_key_of(g, f, GCD_NODE_NONE, 2, 6), GCD_NODE_NONE);
    gcd_fields_free(f);
    gcd_graph_free(g);
    /* a value that is null is left out: which one is not known */
    g = small_graph(types, of, 8, short_edges);
    assert_int_equal(gcd_fields_new(g, NULL, &f, &err), GCD_OK);
    assert_int_equal(gcd_key_of(g, f, 0, 2, 6), GCD_NODE_NONE);
    gcd_fields_free(f);
    gcd_graph_free(g);
}

/* A text in a key that is a struct is not the key. */
static void test_a_part_of_a_key_is_none(void **state)
{
    static const struct gcd_type types[] = {
        { .name = "Frozen", .module_path = "", .layout = "o 2\n0 _keys\n0 _values" },
        { .name = "System.ValueTuple`2[System.String,System.Int32][]",
          .module_path = "",
          .layout = "v 8\n1 Item1" },
        { .name = "System.Object", .module_path = "", .layout = "o 1" },
    };
    static const uint32_t of[] = { 0, 1, 1, 2, 2, 2, 2 };
    static const uint32_t edges[][5] = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 0 }, { 0 }, { 0 }, { 0 } };
    struct gcd_fields *f;
    (void)state;
    struct gcd_graph *g = small_graph(types, of, 7, edges);
    assert_int_equal(gcd_fields_new(g, NULL, &f, &err), GCD_OK);
    assert_int_equal(gcd_key_of(g, f, 0, 2, 5), GCD_NODE_NONE);
    assert_int_equal(gcd_key_array_of(g, f, 0, 2), 1);
    gcd_fields_free(f);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_and_value_need_not_be_neighbours),
        cmocka_unit_test(test_keys_in_an_array_of_their_own),
        cmocka_unit_test(test_a_part_of_a_key_is_none),
        cmocka_unit_test(test_tenants_are_told_apart_below_what_all_have),
        cmocka_unit_test(test_the_largest_part_is_divided_as_long_as_that_tells_something),
        cmocka_unit_test(test_keys_without_a_common_beginning_have_no_groups),
        cmocka_unit_test(test_beginnings_of_few_keys_tell_nothing),
        cmocka_unit_test(test_the_largest_of_many_beginnings_are_found),
        cmocka_unit_test(test_secrets_are_one_group_without_their_beginning),
        cmocka_unit_test(test_a_sentence_has_examples_and_beginnings_that_may_be_seen),
        cmocka_unit_test(test_examples_are_told_where_they_differ),
        cmocka_unit_test(test_a_page_has_the_keys_that_may_be_seen),
        cmocka_unit_test(test_groups_of_random_keys_are_what_a_count_finds),
        cmocka_unit_test(test_a_failing_allocator_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
