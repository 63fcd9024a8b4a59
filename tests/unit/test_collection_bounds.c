/*
 * The bounds of the numbers of elements, for every kind of arguments, both sizes of a pointer, and
 * arrays that are there, too small, of an odd size, or missing: compared with a file.  A line has
 * for each heap what there is at least, at most, and room for.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/collections.h>

#include "support/expected.h"
#include "support/pile.h"

static struct gcd_error err = GCD_ERROR_INIT;
static FILE *to;
static char *all;
static size_t all_bytes;

static int begin(void **state)
{
    (void)state;
    to = open_memstream(&all, &all_bytes);
    return to == NULL;
}

/* Strings, classes, values whose size is known and unknown, and what the file does not tell. */
static const char *const args[] = { "System.String", "System.Object", "System.IComparable",
                                    "Shop.Order",    "System.Int32",  "Shop.Point",
                                    "Shop.Unknown" };
enum { ARGS = sizeof args / sizeof *args };

static void describe_types(struct pile *p)
{
    p->types[type(p, "Shop.Order")].element_type = 0x12;
    p->types[type(p, "System.IComparable")].element_type = 0x12;
    p->types[type(p, "Shop.Point")].element_type = 0x11;
}

static void put(struct pile *p, uint32_t collection)
{
    describe_types(p);
    static_root(p, collection, "s_all");
    struct gcd_graph *g = pile_graph(p);
    struct gcd_collections *c;
    struct gcd_collection it;
    assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
    assert_int_equal(gcd_collection_describe(c, collection, &it, &err), GCD_OK);
    fprintf(to, " %lld-%lld/%lld", (long long)it.at_least, (long long)it.at_most,
            (long long)it.capacity);
    gcd_collections_free(c);
    gcd_graph_free(g);
}

/* Bytes of the elements of an array; 0 = there is no array. */
static const uint64_t lengths[] = { 0, 28, 24 * 7, 25 * 7, 40 * 7 };
static const char *const references[] = { "", "o", "soso", "ssoss", "sssssssss" };

/* A collection TYPE with ARRAY, whose references are s for a string and o for an order. */
static void put_with(const char *name, const char *array, bool buckets, unsigned ptr_bytes)
{
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t k = 0; k < (lengths[i] > 0 ? sizeof references / sizeof *references : 1); k++) {
            struct pile *p = pile_new();
            p->ptr_bytes = ptr_bytes;
            uint32_t it = node(p, name, 80);
            if (buckets)
                child(p, it, "System.Int32[]", 3 * (uint64_t)ptr_bytes + 4 * 7);
            uint32_t entries =
                lengths[i] > 0 ? child(p, it, array, 3 * (uint64_t)ptr_bytes + lengths[i]) : 0;
            for (const char *r = references[k]; *r != '\0'; r++)
                child(p, entries, *r == 's' ? "System.String" : "Shop.Order", 30);
            put(p, it);
        }
    fputs("\n", to);
}

/* NAME and ARRAY have %s for each argument. */
static void all_arguments(const char *name, const char *array, unsigned arguments, bool buckets)
{
    for (unsigned ptr_bytes = 4; ptr_bytes <= 8; ptr_bytes += 4)
        for (size_t a = 0; a < ARGS; a++)
            for (size_t b = 0; b < (arguments > 1 ? ARGS : 1); b++) {
                char both[200], full[300], entries[300];
                (void)snprintf(both, sizeof both, arguments > 1 ? "%s,%s" : "%s", args[a], args[b]);
                (void)snprintf(full, sizeof full, "%s[%s]", name, both);
                (void)snprintf(entries, sizeof entries, "%s[%s][]", array, both);
                fprintf(to, "%s %u:", full, ptr_bytes);
                put_with(full, array[0] != '\0' ? entries : args[a], buckets, ptr_bytes);
            }
}

static void tables(void **state)
{
    (void)state;
    all_arguments("System.Collections.Generic.Dictionary`2", "Entry", 2, true);
}

static void sets(void **state)
{
    (void)state;
    all_arguments("System.Collections.Generic.HashSet`1", "Entry", 1, true);
    all_arguments("System.Collections.Generic.HashSet`1", "Entry", 1, false);
}

static void tuples(void **state)
{
    (void)state;
    all_arguments("System.Collections.Generic.PriorityQueue`2", "System.ValueTuple`2", 2, false);
}

static void segments(void **state)
{
    (void)state;
    for (unsigned ptr_bytes = 4; ptr_bytes <= 8; ptr_bytes += 4)
        for (size_t a = 0; a < ARGS; a++) {
            char full[200], segment[200], slot[200];
            (void)snprintf(full, sizeof full, "System.Collections.Concurrent.ConcurrentQueue`1[%s]",
                           args[a]);
            (void)snprintf(segment, sizeof segment,
                           "System.Collections.Concurrent.ConcurrentQueueSegment`1[%s]", args[a]);
            (void)snprintf(slot, sizeof slot, "Slot[%s][]", args[a]);
            fprintf(to, "%s %u:", full, ptr_bytes);
            for (unsigned n = 0; n < 4; n++) {
                struct pile *p = pile_new();
                p->ptr_bytes = ptr_bytes;
                uint32_t it = node(p, full, 40);
                for (unsigned i = 0; i < n; i++) {
                    uint32_t slots =
                        child(p, child(p, it, segment, 232), slot,
                              3 * (uint64_t)ptr_bytes + 2 * (uint64_t)ptr_bytes * (8u << i));
                    for (unsigned k = 0; k < i + n; k++)
                        child(p, slots, "Shop.Order", 24);
                }
                put(p, it);
            }
            fputs("\n", to);
        }
}

static void items_keys_and_pairs(void **state)
{
    (void)state;
    static const char *const generic[] = { "List`1", "Queue`1", "Stack`1" };
    for (unsigned ptr_bytes = 4; ptr_bytes <= 8; ptr_bytes += 4) {
        for (size_t a = 0; a < ARGS; a++) {
            char full[200], array[200];
            (void)snprintf(array, sizeof array, "%s[]", args[a]);
            (void)snprintf(full, sizeof full, "System.Collections.Generic.%s[%s]", generic[a % 3],
                           args[a]);
            fprintf(to, "%s %u:", full, ptr_bytes);
            put_with(full, array, false, ptr_bytes);
            for (size_t b = 0; b < ARGS; b++) {
                (void)snprintf(full, sizeof full, "System.Collections.Generic.SortedList`2[%s,%s]",
                               args[a], args[b]);
                fprintf(to, "%s %u:", full, ptr_bytes);
                for (unsigned n = 0; n < 3; n++) {
                    struct pile *p = pile_new();
                    p->ptr_bytes = ptr_bytes;
                    uint32_t it = node(p, full, 64);
                    uint32_t keys = child(p, it, array, 3 * (uint64_t)ptr_bytes + ptr_bytes * 9ull);
                    char values_type[200];
                    (void)snprintf(values_type, sizeof values_type, "%s[]", args[b]);
                    uint32_t values = n > 0 ? child(p, it, values_type,
                                                    3 * (uint64_t)ptr_bytes + ptr_bytes * 9ull)
                                            : keys;
                    for (unsigned i = 0; i < 5; i++)
                        child(p, keys, "System.String", 30);
                    for (unsigned i = 0; i < 3 * n; i++)
                        child(p, values, "Shop.Order", 24);
                    put(p, it);
                }
                fputs("\n", to);
            }
        }
        fprintf(to, "Hashtable %u:", ptr_bytes);
        put_with("System.Collections.Hashtable", "Bucket[]", false, ptr_bytes);
        fprintf(to, "ArrayList %u:", ptr_bytes);
        put_with("System.Collections.ArrayList", "System.Object[]", false, ptr_bytes);
    }
}

/* How nodes lead to each other; the leaves of some refer to one empty node of their type.  If those
 * references were lost, only nodes with two others are certain. */
enum linking { CHAIN, TREE, TREE_LOST, CHAIN_WITH_EMPTY, TREE_WITH_EMPTY };

/* N nodes below PARENT, with an element each.  EMPTY, if there is one, is where none is. */
static void add_nodes(struct pile *p, uint32_t parent, const char *type_name, unsigned n,
                      enum linking how, uint32_t empty)
{
    uint32_t those[64] = { parent };
    bool tree = how != CHAIN && how != CHAIN_WITH_EMPTY;
    assert_true(n < 64);
    for (unsigned i = 1; i <= n; i++) {
        those[i] = child(p, those[tree ? i / 2 : i - 1], type_name, 56);
        child(p, those[i], "Shop.Order", 24);
    }
    for (unsigned i = 1; i <= n && empty != 0; i++)
        for (unsigned k = tree ? 2 * i : i + 1; k <= (tree ? 2 * i + 1 : i + 1); k++)
            if (k > n)
                edge(p, those[i], empty);
}

/* The elements of collections of nodes are counted, whatever their shape. */
static void nodes(void **state)
{
    (void)state;
    static const struct {
        const char *collection, *node;
        enum linking how;
    } rows[] = {
        { "Generic.SortedSet`1[Shop.Order]", "Node[Shop.Order]", TREE },
        { "Concurrent.ConcurrentStack`1[Shop.Order]", "Node[Shop.Order]", CHAIN },
        { "Concurrent.ConcurrentDictionary`2[System.Int32,Shop.Order]",
          "Node[System.Int32,Shop.Order]", CHAIN },
        { "Immutable.ImmutableList`1[Shop.Order]", "Node[Shop.Order]", TREE_WITH_EMPTY },
        { "Immutable.ImmutableSortedSet`1[Shop.Order]", "Node[Shop.Order]", TREE_WITH_EMPTY },
        { "Immutable.ImmutableSortedDictionary`2[System.Int32,Shop.Order]",
          "Node[System.Int32,Shop.Order]", TREE_WITH_EMPTY },
        { "Immutable.ImmutableQueue`1[Shop.Order]",
          "System.Collections.Immutable.ImmutableStack`1[Shop.Order]", CHAIN_WITH_EMPTY },
        { "Immutable.ImmutableList`1[Shop.Order]", "Node[Shop.Order]", TREE_LOST },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned n = 0; n < 12; n++) {
            char name[200];
            struct pile *p = pile_new();
            struct gcd_collections *c;
            struct gcd_collection it;
            (void)snprintf(name, sizeof name, "System.Collections.%s", rows[i].collection);
            uint32_t root = node(p, name, 40),
                     empty = rows[i].how >= CHAIN_WITH_EMPTY ? node(p, rows[i].node, 56) : 0;
            if (empty != 0 && n == 0)
                edge(p, root, empty);
            add_nodes(p, root, rows[i].node, n, rows[i].how, empty);
            describe_types(p);
            static_root(p, root, "s_all");
            struct gcd_graph *g = pile_graph(p);
            assert_int_equal(gcd_collections_new(g, NULL, &c, &err), GCD_OK);
            assert_int_equal(gcd_collection_describe(c, root, &it, &err), GCD_OK);
            unsigned wanted = rows[i].how == TREE_LOST && n > 0 ? (n - 1) / 2 : n;
            if (it.at_least != wanted || it.at_most != wanted)
                fail_msg("%s: %lu to %lu, not %u", name, (unsigned long)it.at_least,
                         (unsigned long)it.at_most, wanted);
            assert_int_equal(it.elements_of_count, n > 0);
            assert_true(n == 0 || it.elements_of[0].objects == n);
            gcd_collections_free(c);
            gcd_graph_free(g);
        }
}

static void as_expected(void **state)
{
    (void)state;
    assert_int_equal(fclose(to), 0);
    expect_file("collection_bounds.txt", all);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables),
        cmocka_unit_test(sets),
        cmocka_unit_test(tuples),
        cmocka_unit_test(segments),
        cmocka_unit_test(items_keys_and_pairs),
        cmocka_unit_test(nodes),
        cmocka_unit_test(as_expected),
    };
    return cmocka_run_group_tests_name("test_collection_bounds", tests, begin, NULL);
}
