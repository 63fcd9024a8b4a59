/*
 * Analyses of random graphs generated from the bytes: they equal a slow computation by definition,
 * and agree with each other.
 */
#include <gcdumpc/diff.h>
#include <gcdumpc/dominators.h>
#include <gcdumpc/paths.h>
#include <gcdumpc/retained.h>
#include <gcdumpc/root_sets.h>
#include <gcdumpc/suspects.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/root_order.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "fuzz/fuzz.h"
#include "support/failalloc.h"
#include "support/graph_gen.h"
#include "support/graph_roots.h"
#include "support/run.h"

#define NODES     24u
#define FEW_NODES 9u

struct heap {
    struct gcd_graph *graph;
    uint32_t nodes, types;
    uint32_t *roots; /* [root_count] */
    size_t root_count;
    uint8_t alive[NODES + 2];
    struct failalloc graph_memory;
    const struct gcd_alloc *alloc; /* of the analyses */
};

static uint64_t plus(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/* Bytes of live objects that die without the nodes marked in GONE. */
static uint64_t kept(const struct heap *h, const uint8_t *gone, uint64_t *ret_count)
{
    uint8_t still[NODES + 2];
    uint64_t bytes = 0, count = 0;
    graph_live(h->graph, gone, still);
    for (uint32_t n = 0; n < h->nodes; n++)
        if (h->alive[n] && !still[n]) {
            bytes = plus(bytes, gcd_graph_node_size(h->graph, n));
            count++;
        }
    *ret_count = count;
    return bytes;
}

static void check_dominators(const struct heap *h, const struct gcd_dominators *d)
{
    uint32_t alive = 0;
    for (uint32_t n = 0; n < h->nodes; n++) {
        uint8_t gone[NODES + 2] = { 0 };
        uint64_t count, bytes;
        gone[n] = 1;
        bytes = kept(h, gone, &count);
        alive += h->alive[n];
        uint32_t parent = gcd_dominators_parent(d, n);
        if ((parent != GCD_NODE_NONE) != (h->alive[n] != 0))
            fuzz_fail("what is alive has a dominator", "or has not");
        if (gcd_dominators_retained(d, n) != bytes)
            fuzz_fail("what would go with an object is its retained size", "another");
    }
    if (gcd_dominators_reachable(d) != alive)
        fuzz_fail("what is alive is counted", "wrongly");
}

static void check_paths(const struct heap *h, const struct gcd_paths *p)
{
    const uint32_t *order = gcd_paths_order(p);
    uint32_t length[NODES + 2];
    int tier[NODES + 2];
    for (uint32_t i = 0; i < gcd_paths_reachable(p); i++) {
        uint32_t n = order[i], parent = gcd_paths_parent(p, n), before = order[i > 0 ? i - 1 : 0];
        length[n] = parent == GCD_NODE_ROOT ? 0 : length[parent] + 1;
        tier[n] = parent == GCD_NODE_ROOT ? graph_root_tier(h->graph, graph_root_of(h->graph, n))
                                          : tier[parent];
        if (parent != GCD_NODE_ROOT && !graph_leads(h->graph, parent, n))
            fuzz_fail("a path follows references", "it does not");
        if (tier[n] < tier[before] || (tier[n] == tier[before] && length[n] < length[before]))
            fuzz_fail("paths come by the order of their roots, then by their length",
                      "they do not");
    }
    /* one tier, then more: each call continues from the one before */
    static const enum gcd_root_group limits[] = { GCD_GROUP_LOCALS, GCD_GROUP_REFCOUNTED,
                                                  GCD_GROUP_FINALIZER };
    uint64_t reached[NODES / 64 + 2] = { 0 };
    for (int limit = 1; limit < 4; limit++) {
        struct gcd_error err = GCD_ERROR_INIT;
        if (gcd_reached_before(h->graph, limits[limit - 1], NULL, reached, &err) != GCD_OK)
            fuzz_fail("what some roots reach", err.msg);
        for (uint32_t n = 0; n < h->nodes; n++)
            if (((reached[n / 64] >> n % 64 & 1) != 0) != (h->alive[n] != 0 && tier[n] < limit))
                fuzz_fail("paths from late roots lead to what no others reach", "they do not");
    }
    for (uint32_t n = 0; n < h->nodes; n++) {
        if ((gcd_paths_parent(p, n) != GCD_NODE_NONE) != (h->alive[n] != 0))
            fuzz_fail("what is alive has a path", "or has not");
        for (uint32_t to = 0; h->alive[n] && to < h->nodes; to++)
            if (h->alive[to] &&
                (tier[to] > tier[n] || (tier[to] == tier[n] && length[to] > length[n] + 1)) &&
                graph_leads(h->graph, n, to))
                fuzz_fail("paths are from the first roots, and the shortest", "they are not");
    }
}

static void check_sets(const struct heap *h, const struct gcd_dominators *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_retained_set set;
    struct gcd_root_sets roots;
    uint64_t lower[64], count;
    uint8_t wanted[64] = { 0 }, gone[NODES + 2] = { 0 };
    if (gcd_retained_by_type(h->graph, d, NULL, lower, &err) != GCD_OK)
        fuzz_fail("retained sizes of types", err.msg);
    for (uint32_t t = 0; t < h->types; t++) {
        wanted[t] = 1;
        for (uint32_t n = 0; n < h->nodes; n++)
            gone[n] = gcd_graph_node_type(h->graph, n) == t;
        uint64_t bytes = kept(h, gone, &count);
        if (gcd_retained_set(h->graph, wanted, NULL, &set, &err) != GCD_OK)
            fuzz_fail("what a type retains", err.msg);
        if (set.retained_bytes != bytes || set.retained_objects != count || lower[t] > bytes)
            fuzz_fail("what would go with a type is its retained size", "another");
        wanted[t] = 0;
    }
    if (gcd_root_sets_of(h->graph, NULL, &roots, &err) != GCD_OK)
        fuzz_fail("sets of roots", err.msg);
    uint64_t sum = roots.shared_objects + roots.unreachable_objects + roots.frozen_objects +
                   roots.pseudo_roots.retained_objects;
    for (size_t i = 0; i < GCD_GROUPS; i++)
        sum += roots.groups[i].retained_objects;
    if (sum != h->nodes)
        fuzz_fail("each object is retained by one group, shared, unreachable or frozen", "not so");
}

static void check_tree(struct gcd_merged_tree *t, uint64_t wanted)
{
    struct gcd_merged_tree_totals sums = gcd_merged_tree_totals(t);
    size_t n;
    const struct gcd_merged_step *s = gcd_merged_tree_steps(t, &n);
    uint64_t top = 0, own = 0;
    for (size_t i = 0; i < n; i++) {
        if ((s[i].depth == 0) != (s[i].parent == GCD_STEP_NONE) || s[i].end <= i || s[i].end > n ||
            (s[i].depth > 0 && (s[i].parent >= i || s[s[i].parent].depth + 1 != s[i].depth)))
            fuzz_fail("a step is below its parent", "it is not");
        top += s[i].depth == 0 ? s[i].count : 0;
        own += s[i].own_count;
    }
    if (top != sums.count || own != sums.count ||
        sums.count + sums.dead_count + sums.frozen_count != wanted)
        fuzz_fail("every wanted object is in the tree once", "not so");
    gcd_merged_tree_free(t);
}

static void check_suspects(const struct heap *h, const struct gcd_dominators *d,
                           const struct gcd_paths *p)
{
    struct gcd_suspects_options o = {
        .share = 0.001, .min_bytes = 1, .paths = p, .context.alloc = h->alloc
    };
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_suspects *s;
    gcd_status st = gcd_suspects_new(h->graph, d, &o, &s, &err);
    if (st == GCD_E_NOMEM && h->alloc != NULL)
        return;
    if (st != GCD_OK)
        fuzz_fail("suspects", err.msg);
    for (size_t i = 0; i < gcd_suspects_count(s); i++) {
        const struct gcd_suspect *one = gcd_suspects_get(s, i);
        if (one->sentence[0] == '\0' || !run_is_utf8(one->sentence, strlen(one->sentence)))
            fuzz_fail("a suspect has a sentence", one->sentence);
        bool is_free = gcd_suspect_kind_is_free(one->kind); /* bytes between objects */
        if (!(one->share >= 0 && one->share <= 1) ||
            (is_free ? one->share != 0 : one->bytes > one->retained_bytes))
            fuzz_fail("a suspect is a part of the heap", one->sentence);
        for (size_t k = 0; k < one->path_count; k++)
            if (one->path[k].node >= h->nodes || one->path[k].repeats == 0)
                fuzz_fail("a path leads through objects", one->sentence);
    }
    gcd_suspects_free(s);
}

static void add_types(struct gcd_diff *d, const struct heap *h)
{
    struct gcd_diff_type types[64];
    struct gcd_error err = GCD_ERROR_INIT;
    for (uint32_t t = 0; t < h->types; t++) {
        const struct gcd_type *type = &gcd_graph_summary(h->graph)->types[t];
        types[t] = (struct gcd_diff_type){ type->name,
                                           type->module_path,
                                           { type->objects, type->bytes, 0 } };
    }
    if (gcd_diff_add(d, types, h->types, &err) != GCD_OK)
        fuzz_fail("types can be compared", err.msg);
}

static void check_diff(const struct heap *before, const struct heap *after)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_diff *d;
    uint64_t old = 0, new = 0;
    if (gcd_diff_new(NULL, &d, &err) != GCD_OK)
        abort();
    add_types(d, before);
    add_types(d, after);
    if (gcd_diff_match(d, &err) != GCD_OK)
        fuzz_fail("types can be matched", err.msg);
    for (size_t i = 0; i < gcd_diff_row_count(d); i++) {
        old += gcd_diff_row(d, i)->sums[0].objects;
        new += gcd_diff_row(d, i)->sums[1].objects;
    }
    if (old != before->nodes || new != after->nodes)
        fuzz_fail("each object is in one row", "not so");
    gcd_diff_free(d);
}

static void make(struct heap *h, const uint8_t *data, size_t size, const struct gcd_alloc *alloc)
{
    uint64_t hash = fuzz_hash(data, size);
    struct graph_gen o = { .seed = data[0],
                           .bytes = data + 1,
                           .byte_count = size - 1,
                           .keep_unknown = data[0] & 1,
                           .max_nodes = hash >> 8 & 1 ? NODES : FEW_NODES,
                           .name_bytes = (hash >> 16) % 64 == 0 ? 0 : 300,
                           .alloc = &h->graph_memory.alloc };
    h->alloc = alloc;
    failalloc_init(&h->graph_memory);
    h->graph = graph_gen(&o);
    h->nodes = gcd_graph_node_count(h->graph);
    h->types = gcd_graph_summary(h->graph)->type_count;
    h->roots = graph_roots(h->graph, &h->root_count);
    graph_mark(h->graph, h->roots, h->root_count, NULL, h->alive);
    if (h->nodes > NODES + 1 || h->types >= 64)
        fuzz_fail("a graph is as large as it was ordered", "larger");
}

static void done(struct heap *h)
{
    free(h->roots);
    gcd_graph_free(h->graph);
    fuzz_check_memory(&h->graph_memory);
}

/* Everything with little memory: it fails cleanly, without a leak. */
static void check_memory(const struct heap *h, const struct failalloc *f)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dominators *d = NULL;
    struct gcd_paths *p = NULL;
    struct gcd_merged_tree *t = NULL;
    gcd_status st =
        gcd_dominators_new(h->graph, &(struct gcd_context){ .alloc = h->alloc }, &d, &err);
    if (st == GCD_OK)
        st = gcd_paths_new(h->graph, &(struct gcd_context){ .alloc = h->alloc }, &p, &err);
    if (st == GCD_OK)
        st = gcd_merged_tree_new(
            h->graph, &(struct gcd_merged_tree_options){ .paths = p, .context.alloc = h->alloc },
            &t, &err);
    if (st == GCD_OK)
        check_suspects(h, d, p);
    else if (st != GCD_E_NOMEM || f->failed == 0)
        fuzz_fail("out of memory is told", err.msg);
    gcd_merged_tree_free(t);
    gcd_paths_free(p);
    gcd_dominators_free(d);
}

static void check_retained(const struct heap *h)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_dominators *d;
    struct gcd_merged_tree *t;
    if (gcd_dominators_new(h->graph, &(struct gcd_context){ .alloc = h->alloc }, &d, &err) !=
        GCD_OK)
        fuzz_fail("every graph has dominators", err.msg);
    check_dominators(h, d);
    check_sets(h, d);
    if (gcd_merged_tree_new(
            h->graph,
            &(struct gcd_merged_tree_options){ .dominators = d, .context.alloc = h->alloc }, &t,
            &err) != GCD_OK)
        fuzz_fail("the dominator tree can be merged", err.msg);
    check_tree(t, h->nodes);
    gcd_dominators_free(d);
}

static void check_paths_and_trees(const struct heap *h)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_paths *p;
    struct gcd_merged_tree *t;
    if (gcd_paths_new(h->graph, &(struct gcd_context){ .alloc = h->alloc }, &p, &err) != GCD_OK)
        fuzz_fail("every graph has paths", err.msg);
    check_paths(h, p);
    for (int to_root = 0; to_root < 2; to_root++) {
        struct gcd_merged_tree_options o = { .context.alloc = h->alloc,
                                             .paths = p,
                                             .to_root = to_root };
        if (gcd_merged_tree_new(h->graph, &o, &t, &err) != GCD_OK)
            fuzz_fail("paths can be merged", err.msg);
        check_tree(t, h->nodes);
    }
    gcd_paths_free(p);
}

static void check_two(const uint8_t *data, size_t size)
{
    struct heap a, b;
    size_t cut = 1 + (size - 3) * data[0] / 256;
    make(&a, data + 2, cut, NULL);
    make(&b, data + 2 + cut, size - 2 - cut, NULL);
    check_diff(&a, &b);
    done(&a);
    done(&b);
}

/* The bytes choose the checks; all checks for each input would be four times slower. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct heap h;
    struct failalloc f;
    if (size < 4)
        return 0;
    uint64_t which = fuzz_hash(data, size) % 16;
    if (which == 0) {
        check_two(data, size);
        return 0;
    }
    failalloc_init(&f);
    f.fail_at = which < 4 ? data[1] : 0;
    make(&h, data + 2, size - 2, &f.alloc);
    if (which < 6)
        check_memory(&h, &f);
    else if (which < 11)
        check_retained(&h);
    else
        check_paths_and_trees(&h);
    fuzz_check_memory(&f);
    done(&h);
    return 0;
}
