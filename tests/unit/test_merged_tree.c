/* Merged paths and dominator trees: compared with a slow second computation, and their invariants.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/generations.h>
#include <gcdumpc/unstable/merged_tree.h>

#include "graph/graph_build.h"
#include "support/check.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/graph_roots.h"
#include "support/run.h"
#include "support/shop.h"

static struct gcd_error err = GCD_ERROR_INIT;

/* ---- paths as texts: "root/type/type", with "~" before a type reached through a dependent handle
 * ---- */

struct place {
    char *text;
    uint64_t objects, count, bytes;
};

struct places {
    struct place items[4096];
    size_t n;
};

static struct place *place_at(struct places *p, const char *text)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->items[i].text, text) == 0)
            return &p->items[i];
    assert_true(p->n < sizeof p->items / sizeof *p->items);
    p->items[p->n] = (struct place){ .text = strdup(text) };
    return &p->items[p->n++];
}

static void clear(struct places *p)
{
    while (p->n > 0)
        free(p->items[--p->n].text);
}

/* The key of a root in the tree: name and type for static variables, the group for others. */
static void root_text(const struct gcd_graph *g, size_t root, char *text, size_t cap)
{
    const struct gcd_root *r = root != SIZE_MAX ? &gcd_graph_summary(g)->roots[root] : NULL;
    if (r == NULL)
        (void)snprintf(text, cap, "pseudo-root");
    else if (gcd_root_group(r) == GCD_GROUP_STATICS)
        (void)snprintf(text, cap, "static %s %u", r->name, (unsigned)r->type);
    else
        (void)snprintf(text, cap, "group %d", (int)gcd_root_group(r));
}

struct sources {
    const struct gcd_graph *g;
    const struct gcd_paths *paths;
    const struct gcd_dominators *dominators;
    bool to_root;
};

static uint32_t parent_of(const struct sources *s, uint32_t node)
{
    return s->paths != NULL ? gcd_paths_parent(s->paths, node)
                            : gcd_dominators_parent(s->dominators, node);
}

static bool refers(const struct gcd_graph *g, uint32_t from, uint32_t to)
{
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(g, from, &n);
    for (size_t i = 0; i < n; i++)
        if (edges[i] == to)
            return true;
    return false;
}

#define LONGEST 300

/* The path of NODE, which is reachable. */
static void place_text(const struct sources *s, uint32_t node, bool to_root, char *text, size_t cap)
{
    uint32_t way[LONGEST], n = 0, stack[LONGEST], depth = 0;
    bool by_handle[LONGEST];
    for (uint32_t up = node; up != GCD_NODE_ROOT; up = parent_of(s, up)) {
        assert_true(n < LONGEST);
        way[n++] = up;
    }
    for (uint32_t i = n; i-- > 0;) {
        uint32_t type = gcd_graph_node_type(s->g, way[i]), at = 0;
        if (s->paths == NULL && depth > 0)
            at = depth - 1; /* dominators: only direct repetitions merge into one step */
        while (at < depth && stack[at] != type)
            at++;
        if (at == depth) {
            by_handle[depth] = s->paths != NULL && i + 1 < n && !refers(s->g, way[i + 1], way[i]);
            stack[depth++] = type;
        }
        depth = at + 1;
    }
    char root[1200] = "";
    if (s->paths != NULL)
        root_text(s->g, gcd_paths_root(s->paths, node), root, sizeof root);
    size_t used = (size_t)snprintf(text, cap, "%s", to_root ? "" : root);
    for (uint32_t i = 0; i < depth; i++) {
        uint32_t k = to_root ? depth - 1 - i : i;
        used += (size_t)snprintf(text + used, cap - used, "/%s%u", by_handle[k] ? "~" : "",
                                 (unsigned)stack[k]);
    }
    if (to_root)
        (void)snprintf(text + used, cap - used, "/%s", root);
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

static void slow_places(const struct sources *s, const uint8_t *wanted, struct places *ret)
{
    char text[8192];
    uint32_t n = gcd_graph_node_count(s->g);
    uint8_t *passed = calloc(n + 1, 1);
    for (uint32_t i = 0; i < n; i++) {
        if (!wanted[i] || parent_of(s, i) == GCD_NODE_NONE)
            continue;
        for (uint32_t up = i; up != GCD_NODE_ROOT; up = parent_of(s, up))
            passed[up] = 1;
        place_text(s, i, s->to_root, text, sizeof text);
        struct place *p = place_at(ret, text);
        p->count++;
        p->bytes = add(p->bytes, gcd_graph_node_size(s->g, i));
    }
    for (uint32_t i = 0; i < n && !s->to_root; i++)
        if (passed[i]) {
            place_text(s, i, false, text, sizeof text);
            place_at(ret, text)->objects++;
        }
    free(passed);
}

/* ---- what the tree says ---- */

static void step_text(const struct sources *src, const struct gcd_merged_tree *t, size_t at,
                      char *text, size_t cap)
{
    size_t n;
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &n);
    const struct gcd_merged_step *way[LONGEST];
    size_t depth = 0, used = 0;
    for (uint32_t up = (uint32_t)at; up != GCD_STEP_NONE; up = steps[up].parent) {
        assert_true(depth < LONGEST);
        way[depth++] = &steps[up];
    }
    while (depth > 0) {
        const struct gcd_merged_step *s = way[--depth];
        char root[1200];
        struct gcd_step_name name = gcd_merged_tree_name(t, s->label);
        if (name.kind == GCD_STEP_TYPE) {
            used += (size_t)snprintf(text + used, cap - used, "/%s%u", s->dependent ? "~" : "",
                                     (unsigned)name.type);
            continue;
        }
        if (name.kind == GCD_STEP_GROUP)
            (void)snprintf(root, sizeof root, "group %d", (int)name.group);
        else
            root_text(src->g, name.root, root, sizeof root);
        used += (size_t)snprintf(text + used, cap - used, "%s%s", src->to_root ? "/" : "", root);
    }
}

/* Sums, order, numbers. */
static void check_steps(const struct gcd_merged_tree *t, bool to_root)
{
    size_t n;
    const struct gcd_merged_step *s = gcd_merged_tree_steps(t, &n);
    struct gcd_merged_tree_totals totals = gcd_merged_tree_totals(t);
    uint64_t count = 0, bytes = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t below_count = s[i].own_count, below_bytes = s[i].own_bytes;
        const struct gcd_merged_step *before = NULL;
        assert_true(s[i].end > i && s[i].end <= n && s[i].count > 0);
        assert_true((s[i].objects > 0 || to_root ||
                     gcd_merged_tree_name(t, s[i].label).kind != GCD_STEP_TYPE));
        for (size_t k = i + 1; k < s[i].end; k = s[k].end) {
            assert_true(s[k].parent == i && s[k].depth == s[i].depth + 1 && s[k].end <= s[i].end);
            assert_true(before == NULL || before->bytes > s[k].bytes ||
                        (before->bytes == s[k].bytes && before->count >= s[k].count));
            before = &s[k];
            below_count += s[k].count;
            below_bytes = add(below_bytes, s[k].bytes);
        }
        assert_true(s[i].count == below_count && s[i].bytes == below_bytes);
    }
    for (size_t i = 0; i < n; i = s[i].end) {
        assert_true(s[i].parent == GCD_STEP_NONE && s[i].depth == 0);
        count += s[i].count;
        bytes = add(bytes, s[i].bytes);
    }
    assert_true(count == totals.count && bytes == totals.bytes);
}

static struct places want, got;

static void compare(const struct sources *s, const struct gcd_merged_tree *t, const uint8_t *wanted)
{
    char text[8192];
    size_t n;
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &n);
    check_steps(t, s->to_root);
    slow_places(s, wanted, &want);
    for (size_t i = 0; i < n; i++) {
        step_text(s, t, i, text, sizeof text);
        struct place *p = place_at(&got, text);
        assert_true(p->objects == 0 && p->count == 0); /* each place once */
        p->objects = steps[i].objects;
        p->count = steps[i].own_count;
        p->bytes = steps[i].own_bytes;
        assert_false(steps[i].cut);
    }
    for (size_t i = 0; i < want.n; i++) {
        struct place *p = place_at(&got, want.items[i].text);
        if (p->count != want.items[i].count || p->bytes != want.items[i].bytes)
            fail_msg("%s: %llu, not %llu", want.items[i].text, (unsigned long long)p->count,
                     (unsigned long long)want.items[i].count);
        /* a step may be absent from the tree: its path returned to a step above it */
        assert_true(p->objects == want.items[i].objects || (p->objects == 0 && p->count == 0));
    }
    for (size_t i = 0; i < got.n; i++)
        assert_true(got.items[i].count == place_at(&want, got.items[i].text)->count);
    clear(&want);
    clear(&got);
}

static void random_graphs_merge_as_expected(void **state)
{
    (void)state;
    uint64_t s = 11;
    for (uint64_t seed = 0; seed < 1200; seed++) {
        struct gcd_graph *g = graph_gen(&(struct graph_gen){ .seed = seed,
                                                             .max_nodes = 3 + (uint32_t)(seed % 60),
                                                             .plain_names = true,
                                                             .keep_unknown = seed % 3 == 0 });
        uint32_t n = gcd_graph_node_count(g), *nodes = malloc((2 * n + 1) * sizeof *nodes);
        uint8_t *types = calloc(gcd_graph_summary(g)->type_count + 1, 1),
                *wanted = calloc(n + 1, 1);
        struct gcd_paths *paths;
        struct gcd_dominators *dominators;
        assert_int_equal(gcd_paths_new(g, NULL, &paths, &err), GCD_OK);
        assert_int_equal(gcd_dominators_new(g, NULL, &dominators, &err), GCD_OK);
        struct gcd_merged_tree_options o = { .node_count = 0 };
        bool to_root = run_random(&s) % 2 == 0;
        unsigned how = (unsigned)(run_random(&s) % 3); /* all, types, nodes */
        for (uint32_t t = 0; t < gcd_graph_summary(g)->type_count; t++)
            types[t] = run_random(&s) % 3 == 0;
        for (uint32_t i = 0; i < n; i++) {
            wanted[i] =
                how == 0 || (how == 1 ? types[gcd_graph_node_type(g, i)] : run_random(&s) % 4 == 0);
            if (how == 2 && wanted[i]) /* now and then twice */
                for (uint64_t times = 1 + run_random(&s) % 2; times > 0; times--)
                    nodes[o.node_count++] = i;
        }
        o.types = how == 1 ? types : NULL;
        o.nodes = how == 2 ? nodes : NULL;
        for (int which = 0; which < 2; which++) {
            struct sources src = { .g = g,
                                   .paths = which == 0 ? paths : NULL,
                                   .dominators = which == 1 ? dominators : NULL,
                                   .to_root = which == 0 && to_root };
            struct gcd_merged_tree *t;
            o.paths = src.paths;
            o.dominators = src.dominators;
            o.to_root = src.to_root;
            assert_int_equal(gcd_merged_tree_new(g, &o, &t, &err), GCD_OK);
            compare(&src, t, wanted);
            struct gcd_merged_tree_totals totals = gcd_merged_tree_totals(t);
            uint64_t dead = 0, frozen = 0;
            struct gcd_generations *ages;
            size_t hint = 0;
            assert_int_equal(gcd_frozen_new(gcd_graph_summary(g), gcd_paths_pseudo_roots(paths),
                                            NULL, &ages, &err),
                             GCD_OK);
            for (uint32_t i = 0; i < n; i++)
                if (wanted[i] && gcd_paths_parent(paths, i) == GCD_NODE_NONE)
                    gcd_is_frozen(ages, gcd_graph_node_address(g, i), &hint) ? frozen++ : dead++;
            gcd_generations_free(ages);
            assert_true(totals.dead_count == dead && totals.frozen_count == frozen &&
                        totals.cut_count == 0);
            assert_true(how != 0 || which != 1 ||
                        totals.bytes == gcd_dominators_retained(dominators, GCD_NODE_ROOT));
            gcd_merged_tree_free(t);
        }
        free(nodes);
        free(types);
        free(wanted);
        gcd_paths_free(paths);
        gcd_dominators_free(dominators);
        gcd_graph_free(g);
    }
}

/* ---- shapes ---- */

/* A list whose types repeat in turn; each node also holds a leaf of type LEAF, if that is a type.
 */
static struct gcd_graph *list_of(uint32_t nodes, uint32_t types, bool leaves)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (uint32_t i = 0; i <= types; i++)
        assert_int_equal(
            gcd_build_type(b, &(struct gcd_type){ .id = i + 1, .name = "T", .module_path = "" },
                           &type, &err),
            GCD_OK);
    for (uint32_t i = 0; i < nodes * (1 + leaves); i++)
        assert_int_equal(gcd_build_node(b, 0, i < nodes ? i % types : types, 10, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < nodes * (1 + leaves); i++) {
        uint32_t next[2] = { nodes + i, i + 1 };
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        if (i < nodes && leaves)
            assert_int_equal(gcd_build_edge_nodes(b, next, 1, &err), GCD_OK);
        if (i + 1 < nodes)
            assert_int_equal(gcd_build_edge_nodes(b, next + 1, 1, &err), GCD_OK);
    }
    assert_int_equal(
        gcd_build_root(b, &(struct gcd_root){ .node = 0, .kind = GCD_ROOT_STATIC, .name = "head" },
                       &err),
        GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static struct gcd_merged_tree *paths_tree(const struct gcd_graph *g,
                                          struct gcd_merged_tree_options o)
{
    struct gcd_paths *p;
    struct gcd_merged_tree *t;
    assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
    o.paths = p;
    assert_int_equal(gcd_merged_tree_new(g, &o, &t, &err), GCD_OK);
    gcd_paths_free(p);
    check_steps(t, o.to_root);
    return t;
}

static void lists_and_circles_of_types_are_short(void **state)
{
    (void)state;
    size_t n;
    for (uint32_t types = 1; types <= 3; types++)
        for (int to_root = 0; to_root < 2; to_root++) {
            struct gcd_graph *g = list_of(100000, types, true);
            uint8_t wanted[4] = { 0 };
            wanted[types] = 1;
            struct gcd_merged_tree *t = paths_tree(
                g, (struct gcd_merged_tree_options){ .types = wanted, .to_root = to_root });
            const struct gcd_merged_step *s = gcd_merged_tree_steps(t, &n);
            assert_true(gcd_merged_tree_totals(t).count == 100000 &&
                        gcd_merged_tree_totals(t).cut_count == 0);
            if (!to_root) {
                /* the root, each type, leaves of each */
                assert_int_equal(n, 1 + 2 * types);
                struct gcd_step_name top = gcd_merged_tree_name(t, s[0].label);
                assert_true(top.kind == GCD_STEP_VARIABLE &&
                            strcmp(gcd_graph_summary(g)->roots[top.root].name, "head") == 0);
                assert_true(s[1].label == 0 && s[1].repeats &&
                            s[1].objects == (100000 + types - 1) / types && s[1].own_count == 0);
            } else {
                assert_true(s[0].label == types && s[0].count == 100000 && s[1].label < types);
                assert_true(gcd_merged_tree_name(t, s[n - 1].label).kind == GCD_STEP_VARIABLE &&
                            s[n - 1].depth <= 1 + types);
            }
            gcd_merged_tree_free(t);
            gcd_graph_free(g);
        }
}

static void nodes_beyond_the_depth_count_at_the_last_step(void **state)
{
    (void)state;
    struct gcd_graph *g = list_of(300, 300, false);
    size_t n;
    struct gcd_merged_tree *t = paths_tree(g, (struct gcd_merged_tree_options){ .max_depth = 10 });
    const struct gcd_merged_step *s = gcd_merged_tree_steps(t, &n);
    assert_true(n == 11 && s[10].cut && !s[9].cut && s[10].count == 291 && s[10].own_count == 291 &&
                s[0].count == 300);
    assert_true(gcd_merged_tree_totals(t).cut_count == 290);
    gcd_merged_tree_free(t);
    t = paths_tree(g, (struct gcd_merged_tree_options){ .max_steps = 20 });
    s = gcd_merged_tree_steps(t, &n);
    assert_true(n == 20 && s[19].cut && s[19].own_count == 282);
    gcd_merged_tree_free(t);
    t = paths_tree(g, (struct gcd_merged_tree_options){ .max_steps = 20, .to_root = true });
    s = gcd_merged_tree_steps(t, &n);
    assert_true(n > 20 && n <= 40 && s[0].own_count == 282 && s[0].cut &&
                gcd_merged_tree_totals(t).count == 300);
    gcd_merged_tree_free(t);
    /* 256, whatever the options say */
    t = paths_tree(g, (struct gcd_merged_tree_options){ 0 });
    (void)gcd_merged_tree_steps(t, &n);
    assert_int_equal(n, 257);
    gcd_merged_tree_free(t);
    gcd_graph_free(g);

    g = list_of(5000, 2, false); /* dominators do not merge what comes back later */
    struct gcd_dominators *d;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    assert_int_equal(
        gcd_merged_tree_new(g, &(struct gcd_merged_tree_options){ .dominators = d, .max_depth = 3 },
                            &t, &err),
        GCD_OK);
    s = gcd_merged_tree_steps(t, &n);
    assert_true(n == 3 && s[0].bytes == 50000 && s[1].bytes == 49990 && s[2].bytes == 49980 &&
                s[2].own_count == 4998 && s[2].cut);
    assert_true(gcd_merged_tree_totals(t).cut_count == 4997);
    gcd_merged_tree_free(t);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

/* ROOTS static variables, each with its own name and object, then as many on thread stacks, each
 * second one of a thread with the name "pump". */
static struct gcd_graph *statics_of(uint32_t roots)
{
    struct gcd_build *b;
    struct gcd_graph *g;
    uint32_t type;
    char name[32];
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    assert_int_equal(
        gcd_build_type(b, &(struct gcd_type){ .name = "T", .module_path = "" }, &type, &err),
        GCD_OK);
    for (uint32_t i = 0; i < 2 * roots; i++)
        assert_int_equal(gcd_build_node(b, 0, type, 10, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (uint32_t i = 0; i < 2 * roots; i++)
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
    for (uint32_t i = 0; i < 2 * roots; i++) {
        (void)snprintf(name, sizeof name, "field%u", (unsigned)i);
        struct gcd_root r = { .node = i,
                              .kind = i < roots ? GCD_ROOT_STATIC : GCD_ROOT_STACK,
                              .name = i < roots    ? name
                                      : i % 2 == 0 ? ""
                                                   : "pump" };
        assert_int_equal(gcd_build_root(b, &r, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

static void roots_are_told_apart_or_taken_together(void **state)
{
    (void)state;
    struct gcd_graph *g = statics_of(50);
    size_t n, tops = 0, groups = 0, pumps = 0;
    struct gcd_merged_tree *t = paths_tree(g, (struct gcd_merged_tree_options){ 0 });
    const struct gcd_merged_step *s = gcd_merged_tree_steps(t, &n);
    for (size_t i = 0; i < n; i = s[i].end) {
        tops++;
        struct gcd_step_name name = gcd_merged_tree_name(t, s[i].label);
        groups += name.kind == GCD_STEP_GROUP;
        if (name.kind != GCD_STEP_VARIABLE || name.group != GCD_GROUP_LOCALS)
            continue;
        pumps++;
        assert_string_equal(gcd_graph_summary(g)->roots[name.root].name, "pump");
        assert_int_equal(s[i].count, 25);
    }
    assert_true(tops == 52 && groups == 1 && pumps == 1);
    /* stacks of threads without a name share one step */
    assert_true(gcd_merged_tree_name(t, s[0].label).group == GCD_GROUP_LOCALS && s[0].count == 25);
    gcd_merged_tree_free(t);
    t = paths_tree(g, (struct gcd_merged_tree_options){ .max_steps = 20 });
    s = gcd_merged_tree_steps(t, &n);
    tops = 0;
    for (size_t i = 0; i < n; i = s[i].end)
        tops++;
    assert_true(tops == 12 && n <= 24 && gcd_merged_tree_totals(t).count == 100);
    gcd_merged_tree_free(t);
    gcd_graph_free(g);
}

/* ---- what may go wrong ---- */

/* ---- fields ---- */

enum { CACHE, LIST, ITEM, FIELD_TYPES };

/* A cache with two lists in its fields _a and _b, each with two items; the cache refers to an item
 * in its field _last, and the second item of a list to the first of it. */
static struct gcd_graph *two_lists(void)
{
    static const struct gcd_type types[FIELD_TYPES] = {
        { .name = "Cache", .module_path = "", .layout = "o 9\n3 _a\n3 _b\n4 _last" },
        { .name = "List", .module_path = "", .layout = "o 3,9\n4 _first\n4 _second" },
        { .name = "Item", .module_path = "", .layout = "o 4,9\n4 _before" },
    };
    static const struct {
        uint32_t type, edges[3];
        size_t n;
    } nodes[] = { { CACHE, { 1, 2, 7 }, 3 }, { LIST, { 3, 4 }, 2 }, { LIST, { 5, 6 }, 2 },
                  { ITEM, { 0 }, 0 },        { ITEM, { 3 }, 1 },    { ITEM, { 0 }, 0 },
                  { ITEM, { 5 }, 1 },        { ITEM, { 0 }, 0 } };
    const size_t count = sizeof nodes / sizeof *nodes;
    const struct gcd_root root = { .object = 0x1000, .name = "", .kind = GCD_ROOT_STACK };
    struct gcd_graph *g;
    struct gcd_build *b;
    uint32_t type;
    assert_int_equal(gcd_build_new(NULL, &b, &err), GCD_OK);
    for (unsigned i = 0; i < FIELD_TYPES; i++)
        assert_int_equal(gcd_build_type(b, &types[i], &type, &err), GCD_OK);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(gcd_build_node(b, 0x1000 + 64 * i, nodes[i].type, 24, &err), GCD_OK);
    assert_int_equal(gcd_build_nodes_end(b, &err), GCD_OK);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(gcd_build_next_node(b, &err), GCD_OK);
        assert_int_equal(gcd_build_edge_nodes(b, nodes[i].edges, nodes[i].n, &err), GCD_OK);
    }
    assert_int_equal(gcd_build_root(b, &root, &err), GCD_OK);
    assert_int_equal(gcd_build_seal(b, &g, &err), GCD_OK);
    return g;
}

/* The steps of a tree, "1 Cache, 2 _a: List*4", with depth, field and the sum of objects. */
static const char *steps_text(const struct gcd_graph *g, const struct gcd_merged_tree_options *o)
{
    static char text[4096];
    struct gcd_merged_tree *t;
    size_t n, used = 0;
    assert_int_equal(gcd_merged_tree_new(g, o, &t, &err), GCD_OK);
    const struct gcd_merged_step *s = gcd_merged_tree_steps(t, &n);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        struct gcd_step_name name = gcd_merged_tree_name(t, s[i].label);
        const char *field = gcd_merged_tree_field(t, &s[i]);
        assert_true(s[i].label < gcd_merged_tree_label_count(t));
        used += (size_t)snprintf(
            text + used, sizeof text - used, "%s%u %s%s%s*%u", i > 0 ? ", " : "",
            (unsigned)s[i].depth, field != NULL ? field : "", field != NULL ? ": " : "",
            name.kind == GCD_STEP_TYPE ? gcd_graph_summary(g)->types[name.type].name : "root",
            (unsigned)s[i].count);
    }
    gcd_merged_tree_free(t);
    return text;
}

static void what_different_fields_lead_to_is_told_apart(void **state)
{
    (void)state;
    static const uint8_t items[FIELD_TYPES] = { [ITEM] = 1 }, caches[FIELD_TYPES] = { [CACHE] = 1 };
    struct gcd_graph *g = two_lists();
    struct gcd_fields *fields;
    struct gcd_paths *paths;
    struct gcd_dominators *dominators;
    assert_int_equal(gcd_fields_new(g, NULL, &fields, &err), GCD_OK);
    assert_int_equal(gcd_paths_new(g, NULL, &paths, &err), GCD_OK);
    assert_int_equal(gcd_dominators_new(g, NULL, &dominators, &err), GCD_OK);
    struct gcd_merged_tree_options o = {
        .paths = paths, .types = items, .fields = fields, .field_types = caches
    };
    assert_string_equal(steps_text(g, &o), "0 root*5, 1 Cache*5, 2 _a: List*2, 3 Item*2, "
                                           "2 _b: List*2, 3 Item*2, 2 _last: Item*1");
    o.to_root = true; /* the field belongs to the holder */
    assert_string_equal(steps_text(g, &o), "0 Item*5, 1 List*4, 2 _a: Cache*2, 3 root*2, "
                                           "2 _b: Cache*2, 3 root*2, 1 _last: Cache*1, 2 root*1");
    o.to_root = false;
    o.field_types = NULL;
    assert_string_equal(steps_text(g, &o),
                        "0 root*5, 1 Cache*5, 2 _a: List*2, 3 _first: Item*1, 3 _second: Item*1, "
                        "2 _b: List*2, 3 _first: Item*1, 3 _second: Item*1, 2 _last: Item*1");
    o.fields = NULL;
    assert_string_equal(steps_text(g, &o), "0 root*5, 1 Cache*5, 2 List*4, 3 Item*4, 2 Item*1");
    o = (struct gcd_merged_tree_options){ .dominators = dominators,
                                          .fields = fields,
                                          .field_types = caches };
    assert_string_equal(steps_text(g, &o), "0 Cache*8, 1 _b: List*3, 2 Item*2, 1 _a: List*3, "
                                           "2 Item*2, 1 _last: Item*1");
    o.stacks = true; /* in the order of discovery */
    assert_string_equal(steps_text(g, &o), "0 root*8, 1 Cache*8, 2 _b: List*3, 2 _a: List*3, "
                                           "3 Item*2, 3 Item*2, 2 _last: Item*1");
    gcd_dominators_free(dominators);
    gcd_paths_free(paths);
    gcd_fields_free(fields);
    gcd_graph_free(g);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct gcd_graph *g =
            graph_gen(&(struct graph_gen){ .seed = seed, .max_nodes = 60, .plain_names = true });
        struct gcd_paths *p;
        uint32_t node = 0;
        assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
        for (uint64_t at = 1;; at++) {
            struct failalloc f;
            struct gcd_merged_tree *t = NULL;
            failalloc_init(&f);
            f.fail_at = at;
            struct gcd_merged_tree_options o = { .context.alloc = &f.alloc,
                                                 .paths = p,
                                                 .to_root = seed % 2 == 0,
                                                 .nodes = seed % 3 == 0 ? &node : NULL,
                                                 .node_count = gcd_graph_node_count(g) > 0 };
            gcd_status st = gcd_merged_tree_new(g, &o, &t, &err);
            assert_int_equal(st, f.failed == 0 ? GCD_OK : GCD_E_NOMEM);
            assert_int_equal(t != NULL, st == GCD_OK);
            gcd_merged_tree_free(t);
            assert_null(failalloc_complaint(&f));
            if (f.failed == 0)
                break;
        }
        gcd_paths_free(p);
        gcd_graph_free(g);
    }
}

static void it_can_be_canceled(void **state)
{
    (void)state;
    struct gcd_graph *g = list_of(10, 2, true);
    struct gcd_paths *p;
    struct gcd_merged_tree *t = NULL;
    gcd_cancel_flag stop = true;
    assert_int_equal(gcd_paths_new(g, NULL, &p, &err), GCD_OK);
    assert_int_equal(
        gcd_merged_tree_new(
            g, &(struct gcd_merged_tree_options){ .paths = p, .context.cancel = &stop }, &t, &err),
        GCD_E_CANCELED);
    assert_null(t);
    gcd_merged_tree_free(NULL);
    gcd_paths_free(p);
    gcd_graph_free(g);
}

/* The dominator tree for profiles: objects held by the finalizer queue and also by a static
 * variable are held by that, and by several roots if it is another late one. */
static void late_roots_yield_to_earlier_ones(void **state)
{
    (void)state;
    struct gcd_graph *g = shop_build(&(struct shop){
        SHOP_TYPES({ .id = 1, .name = "A" }, { .id = 2, .name = "B" }, { .id = 3, .name = "C" },
                   { .id = 4, .name = "D" }),
        SHOP_NODES({ 0, 10 }, { 1, 20 }, { 2, 40 }, { 3, 80 }), SHOP_EDGES({ 0, 1 }, { 3, 2 }),
        SHOP_ROOTS({ .node = 1, .kind = GCD_ROOT_FINALIZER },
                   { .node = 2, .kind = GCD_ROOT_FINALIZER }, { .node = 3, .kind = GCD_ROOT_COM },
                   { .node = 0, .kind = GCD_ROOT_STATIC, .name = "s" },
                   { .node = 3, .kind = GCD_ROOT_FINALIZER }) });
    static const struct {
        enum gcd_step_kind kind;
        enum gcd_root_group group;
    } tops[] = {
        { GCD_STEP_GROUP, GCD_GROUP_STATICS },
        { GCD_STEP_GROUP, GCD_GROUP_STATICS },
        { GCD_STEP_SEVERAL_ROOTS, 0 },
        { GCD_STEP_GROUP, GCD_GROUP_REFCOUNTED },
    };
    uint32_t all[] = { 0, 1, 2, 3 }, found[4];
    struct gcd_dominators *d;
    struct gcd_merged_tree *t;
    size_t n;
    assert_int_equal(gcd_dominators_new(g, NULL, &d, &err), GCD_OK);
    assert_int_equal(
        gcd_merged_tree_new(
            g,
            &(struct gcd_merged_tree_options){
                .dominators = d, .stacks = true, .find = all, .find_count = 4, .ret_found = found },
            &t, &err),
        GCD_OK);
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &n);
    for (size_t i = 0; i < 4; i++) {
        uint32_t top = found[i];
        while (steps[top].parent != GCD_STEP_NONE)
            top = steps[top].parent;
        struct gcd_step_name name = gcd_merged_tree_name(t, steps[top].label);
        assert_int_equal(name.kind, tops[i].kind);
        assert_true(name.kind != GCD_STEP_GROUP || name.group == tops[i].group);
    }
    gcd_merged_tree_free(t);
    gcd_dominators_free(d);
    gcd_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs_merge_as_expected),
        cmocka_unit_test(lists_and_circles_of_types_are_short),
        cmocka_unit_test(nodes_beyond_the_depth_count_at_the_last_step),
        cmocka_unit_test(roots_are_told_apart_or_taken_together),
        cmocka_unit_test(late_roots_yield_to_earlier_ones),
        cmocka_unit_test(what_different_fields_lead_to_is_told_apart),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(it_can_be_canceled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
