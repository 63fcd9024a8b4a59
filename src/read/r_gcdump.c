/*
 * .gcdump files of dotnet-gcdump, PerfView and our own.
 *
 * The file is held in memory unchanged, because nodes point into it; the part after its block of
 * nodes is released once the addresses are in the graph.  Besides the file, this needs a fifth of a
 * byte per node, and memory for the types and the made-up nodes.
 */
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "read/gcdump_in.h"
#include "read/read.h"

/* References passed on at once. */
#define EDGES_AT_ONCE 512

/* The container's signature, then a class: traces of format 3 begin in the same way and continue
 * with "Trace". */
static bool probe(const uint8_t *head, size_t n)
{
    static const uint8_t signature[] = "\x14\0\0\0!FastSerialization.1\x04\x04\x01";
    static const uint8_t class_name[] = "\x0a\0\0\0GCHeapDump";
    const size_t begin = sizeof signature - 1, class_at = begin + 8,
                 class_n = sizeof class_name - 1;
    return n >= class_at + class_n && memcmp(head, signature, begin) == 0 &&
           memcmp(head + class_at, class_name, class_n) == 0;
}

/*
 * dotnet-gcdump and PerfView keep the stack slots and references that are null: one node, which is
 * never described, has the address 0.  A second one is damage, and then none is null.  In our own
 * files that node stands for all unknown objects.
 */
static void find_null_node(struct gcdump_in *f)
{
    f->null_node = GCDUMP_NONE;
    for (uint32_t n = 0; n < f->node_count && f->has_addresses && !f->ours; n++) {
        if (gcdump_offset(f, n) != 0 || gcdump_address(f, n) != 0)
            continue;
        if (f->null_node != GCDUMP_NONE) {
            f->null_node = GCDUMP_NONE;
            return;
        }
        f->null_node = n;
    }
}

static gcd_status prepare(struct gcdump_in *f, struct gcd_error *err)
{
    size_t words = (size_t)f->node_count / 64 + 1;
    f->kept = gcd_mem_new_array(&f->alloc, words, sizeof *f->kept);
    f->kept_before = gcd_mem_new_array(&f->alloc, words, sizeof *f->kept_before);
    f->in_tree = gcd_mem_new_array(&f->alloc, words, sizeof *f->in_tree);
    if (f->kept == NULL || f->kept_before == NULL || f->in_tree == NULL)
        return gcd_fail_nomem(err, "reading the nodes");
    for (size_t i = 0; i < (size_t)f->node_count * 8 && !f->has_addresses; i++)
        f->has_addresses = f->file[f->addresses + i] != 0;
    return GCD_OK;
}

/* Is node N an object?  If other nodes have an address, a node without one is not, but it counts if
 * it has its own name. */
static bool is_object(struct gcdump_in *f, uint32_t n, uint32_t type)
{
    if (!gcdump_bit(f->in_tree, n) && (!f->has_addresses || gcdump_address(f, n) != 0))
        return true;
    f->dropped += !gcdump_bit(f->in_tree, n) && !f->types[type].bracketed;
    return false;
}

static gcd_status put_nodes(struct gcdump_in *f, struct gcd_build *b, struct gcd_error *err)
{
    uint64_t edges = 0;
    struct gcdump_node node;
    GCD_TRY(gcd_build_reserve(b, f->node_count, 0, err));
    for (uint32_t n = 0; n < f->node_count; n++) {
        if (n % 64 == 0)
            f->kept_before[n / 64] = gcd_build_node_count(b);
        if (n % GCDUMP_CHECK_EVERY == 0 && gcd_is_canceled(f->options->context.cancel))
            return gcd_fail(err, GCD_E_CANCELED, "interrupted");
        if (gcdump_offset(f, n) == 0) /* mentioned, but never described */
            continue;
        GCD_TRY(gcdump_get_node(f, n, &node, err));
        edges += node.children;
        if (edges >
            f->blob_bytes) /* otherwise a small file could demand any number of references */
            return gcdump_bad(f->blob, "the nodes overlap", err);
        GCD_TRY(gcdump_check_node(f, n, &node, err));
        if (!is_object(f, n, node.type))
            continue;
        f->references += node.children;
        f->types[node.type].has_objects = true;
        GCD_TRY(gcdump_put_type(f, b, node.type, err));
        GCD_TRY(gcd_build_node(b, gcdump_address(f, n), f->types[node.type].number,
                               (uint64_t)(uint32_t)node.size, err));
        gcdump_set_bit(f->kept, n);
    }
    gcd_build_notes(b)->objects_dropped += f->dropped;
    GCD_TRY(gcd_build_nodes_end(b, err));
    return gcd_build_reserve(b, 0, edges, err);
}

static gcd_status put_references(struct gcdump_in *f, struct gcd_build *b, struct gcd_error *err)
{
    uint32_t targets[EDGES_AT_ONCE];
    for (uint32_t n = 0; n < f->node_count; n++) {
        struct gcdump_node node;
        if (!gcdump_bit(f->kept, n))
            continue;
        GCD_TRY(gcdump_get_node(f, n, &node, err));
        GCD_TRY(gcd_build_next_node(b, err));
        while (node.children > 0) {
            size_t k = node.children < EDGES_AT_ONCE ? node.children : EDGES_AT_ONCE;
            size_t kept = 0;
            for (size_t i = 0; i < k; i++) {
                uint32_t child;
                GCD_TRY(gcdump_next_child(f, n, &node, &child, err));
                if (child != f->null_node)
                    targets[kept++] = gcdump_graph_node(f, child);
            }
            GCD_TRY(gcd_build_edge_nodes(b, targets, kept, err));
            node.children -= (uint32_t)k;
        }
    }
    return GCD_OK;
}

/* In file order, so that numbers stay the same; types of made-up nodes only when an object turns
 * out to have one. */
static gcd_status put_types(struct gcdump_in *f, struct gcd_build *b, struct gcd_error *err)
{
    for (uint32_t t = 1; t < f->type_count; t++) /* 0 is "UNDEFINED" */
        if (!f->types[t].bracketed)
            GCD_TRY(gcdump_put_type(f, b, t, err));
    return GCD_OK;
}

static gcd_status read_all(struct gcdump_in *f, struct gcd_input *in, struct gcd_build *b,
                           struct gcd_error *err)
{
    GCD_TRY(gcdump_load(f, in, err));
    if (!probe(f->file, f->bytes))
        return gcd_fail(err, GCD_E_UNSUPPORTED, "this is not a .gcdump");
    GCD_TRY(gcdump_parse(f, err));
    GCD_TRY(prepare(f, err));
    GCD_TRY(gcdump_put_facts(f, b, err));
    GCD_TRY(gcdump_join_size_classes(f, b, err));
    find_null_node(f);
    GCD_TRY(put_types(f, b, err));
    GCD_TRY(gcdump_find_tree(f, err));
    GCD_TRY(put_nodes(f, b, err));
    size_t used = f->blob + f->blob_bytes;
    uint8_t *p = f->alloc.resize(f->alloc.ctx, f->file, f->room, used);
    if (p != NULL) { /* a failure to shrink it does not matter */
        f->file = p;
        f->room = used;
    }
    GCD_TRY(put_references(f, b, err));
    GCD_TRY(gcdump_put_roots(f, b, err));
    return gcdump_judge(f, b, err);
}

static void done(struct gcdump_in *f)
{
    size_t words = (size_t)f->node_count / 64 + 1;
    gcd_mem_free(&f->alloc, f->types, f->type_count * sizeof *f->types);
    gcd_mem_free(&f->alloc, f->deferred, f->deferred_count * sizeof *f->deferred);
    gcd_mem_free(&f->alloc, f->segments, f->segment_count * sizeof *f->segments);
    gcd_mem_free(&f->alloc, f->modules, f->module_room * sizeof *f->modules);
    gcd_idmap_done(&f->module_at);
    gcd_mem_free(&f->alloc, f->kept, words * sizeof *f->kept);
    gcd_mem_free(&f->alloc, f->kept_before, words * sizeof *f->kept_before);
    gcd_mem_free(&f->alloc, f->in_tree, words * sizeof *f->in_tree);
    gcd_mem_free(&f->alloc, f->tree, f->tree_room * sizeof *f->tree);
    gcd_idmap_done(&f->type_by_name);
    gcd_idmap_done(&f->static_of_type);
    gcd_mem_free(&f->alloc, f->statics, f->static_room * sizeof *f->statics);
    gcd_mem_free(&f->alloc, f->extras, f->extra_room * sizeof *f->extras);
    gcd_mem_free(&f->alloc, f->text, f->text_room);
    gcd_mem_free(&f->alloc, f->text2, f->text2_room);
    gcd_mem_free(&f->alloc, f->file, f->room);
}

static gcd_status read_gcdump(struct gcd_input *in, const struct gcd_graph_options *options,
                              struct gcd_build *b, struct gcd_error *err)
{
    static const struct gcd_graph_options defaults;
    struct gcdump_in f = { .options = options != NULL ? options : &defaults };
    f.alloc = gcd_alloc_or_default(f.options->context.alloc);
    f.text_limit =
        gcd_limit_or(f.options->context.limits != NULL ? f.options->context.limits->text_bytes : 0,
                     UINT64_C(1) << 30);
    gcd_idmap_init(&f.module_at, &f.alloc);
    gcd_idmap_init(&f.type_by_name, &f.alloc);
    gcd_idmap_init(&f.static_of_type, &f.alloc);
    gcd_status st = read_all(&f, in, b, err);
    done(&f);
    return st;
}

const struct graph_reader gcd_r_gcdump = { .name = "gcdump", .probe = probe, .read = read_gcdump };
