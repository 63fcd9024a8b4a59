/*
 * A graph from a trace: first all objects, then their references, which can be resolved at once. If
 * nothing is missing and nothing is null, both are read in blocks; otherwise object by object.
 */
#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "clr/clr_gc.h"
#include "graph/graph_build.h"
#include "load/load.h"

/* Objects between two progress calls. */
#define PROGRESS_EVERY UINT64_C(65536)
/* Objects decoded together; they stay in the first-level cache. */
#define BLOCK_OBJECTS 256u
/* About the number of references in an event. */
#define BLOCK_EDGES 4096u

_Static_assert(GCD_CLR_EDGE_FOLLOWS == GCD_BUILD_FOLLOWS, "places are passed on as they are");
_Static_assert(GCD_CLR_EDGE_UNPLACED == GCD_BUILD_UNPLACED, "places are passed on as they are");

static gcd_status copy_text(struct gcd_build *b, const char **s, struct gcd_error *err)
{
    return gcd_build_text(b, *s, strlen(*s), s, err);
}

static gcd_status copy_summary(struct gcd_build *b, struct gcd_dump *d, struct gcd_error *err)
{
    struct gcd_summary *f = gcd_build_summary(b);
    *f = *gcd_dump_summary(d); /* the seal puts the graph's own lists into it */
    const char **const texts[] = { &f->process_name,   &f->command_line,    &f->os,
                                   &f->arch,           &f->runtime_version, &f->image.made_from,
                                   &f->image.ended_by, &f->image.gaps,       &f->image.blocked };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        GCD_TRY(copy_text(b, texts[i], err));
    return GCD_OK;
}

static gcd_status add_types(struct gcd_build *b, const struct gcd_summary *s, struct gcd_error *err)
{
    for (size_t i = 0; i < s->module_count; i++)
        GCD_TRY(gcd_build_module(b, &s->modules[i], err));
    for (uint32_t i = 0; i < s->type_count; i++) {
        uint32_t number; /* equal to the number in the dump */
        GCD_TRY(gcd_build_type(b, &s->types[i], &number, err));
    }
    return GCD_OK;
}

static void show_progress(const struct gcd_graph_options *o, const struct gcd_objects *cursor,
                          uint64_t i)
{
    if (i % PROGRESS_EVERY == 0)
        gcd_context_report(&o->context, gcd_objects_position(cursor), o->progress_total);
}

static gcd_status add_nodes(struct gcd_build *b, struct gcd_objects *cursor,
                            const struct gcd_graph_options *o, struct gcd_error *err)
{
    struct gcd_object object;
    gcd_status st;
    for (uint64_t i = 0; (st = gcd_objects_next(cursor, &object, err)) == GCD_OK; i++) {
        show_progress(o, cursor, i);
        if (object.address == 0)
            gcd_build_notes(b)->objects_dropped++;
        else
            GCD_TRY(gcd_build_node(b, object.address, object.type, object.size_bytes, err));
    }
    return st == GCD_END ? gcd_build_nodes_end(b, err) : st;
}

static gcd_status add_edges(struct gcd_build *b, struct gcd_objects *cursor,
                            const struct gcd_graph_options *o, struct gcd_error *err)
{
    bool has_address;
    uint64_t wanted;
    gcd_status st;
    for (uint64_t i = 0;
         (st = gcd_objects_replay_next(cursor, &has_address, &wanted, err)) == GCD_OK; i++) {
        show_progress(o, cursor, i);
        if (!has_address)
            continue;
        GCD_TRY(gcd_build_next_node(b, err));
        if (wanted == 0)
            continue;
        const uint64_t *targets;
        size_t n;
        uint64_t received = 0;
        while ((st = gcd_objects_edges(cursor, &targets, &n, err)) == GCD_OK) {
            GCD_TRY(gcd_build_edges(b, targets, n, err));
            received += n;
        }
        if (st < 0)
            return st;
        gcd_build_notes(b)->edges_missing += wanted - received;
    }
    return st == GCD_END ? GCD_OK : st;
}

/* ---- the same for dumps of which nothing is missing ---- */

static gcd_status add_all_nodes(struct gcd_build *b, struct gcd_objects *cursor,
                                const struct gcd_graph_options *o, bool *ret_null,
                                struct gcd_error *err)
{
    struct gcd_object objects[BLOCK_OBJECTS];
    gcd_status st = GCD_OK;
    for (uint64_t i = 0; st == GCD_OK && !*ret_null; i++) {
        uint32_t n = BLOCK_OBJECTS;
        show_progress(o, cursor, i * BLOCK_OBJECTS);
        st = gcd_objects_block(cursor, objects, &n, ret_null, err);
        if (st == GCD_OK && !*ret_null)
            st = gcd_build_owners(b, objects, n, err);
    }
    return st == GCD_END ? gcd_build_nodes_end(b, err) : st;
}

static gcd_status add_all_edges(struct gcd_build *b, struct gcd_objects *cursor,
                                const struct gcd_graph_options *o, bool *ret_null,
                                struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    for (uint64_t i = 0; st == GCD_OK && !*ret_null; i++) {
        const uint64_t *targets;
        size_t n;
        show_progress(o, cursor, i * BLOCK_EDGES);
        st = gcd_objects_edge_block(cursor, &targets, &n, ret_null, err);
        if (st == GCD_OK && !*ret_null && n > 0)
            st = gcd_build_placed_edges(b, targets, gcd_objects_edge_places(cursor), n, err);
    }
    return st == GCD_END ? GCD_OK : st;
}

/* *RET_NULL: there is an object at address 0 or a null reference, which only the functions for
 * single objects leave out. */
static gcd_status add_whole(struct gcd_build *b, struct gcd_objects *cursor,
                            const struct gcd_graph_options *o, bool *ret_null,
                            struct gcd_error *err)
{
    GCD_TRY(add_all_nodes(b, cursor, o, ret_null, err));
    gcd_objects_replay(cursor);
    return *ret_null ? GCD_OK : add_all_edges(b, cursor, o, ret_null, err);
}

static gcd_status add_one_by_one(struct gcd_build *b, struct gcd_objects *cursor,
                                 const struct gcd_graph_options *o, struct gcd_error *err)
{
    GCD_TRY(gcd_objects_keep_for_replay(cursor, err));
    GCD_TRY(add_nodes(b, cursor, o, err));
    gcd_objects_replay(cursor);
    return add_edges(b, cursor, o, err);
}

static gcd_status add_objects(struct gcd_build *b, struct gcd_dump *d,
                              const struct gcd_graph_options *o, bool nulls, bool *ret_null,
                              struct gcd_error *err)
{
    struct gcd_objects *cursor;
    *ret_null = false;
    GCD_TRY(gcd_objects_new(d, &cursor, err));
    bool whole = !nulls && gcd_objects_whole(cursor);
    gcd_status st =
        whole ? add_whole(b, cursor, o, ret_null, err) : add_one_by_one(b, cursor, o, err);
    gcd_objects_free(cursor);
    return st;
}

static gcd_status add_roots(struct gcd_build *b, struct gcd_dump *d, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_dump_summary(d);
    for (size_t i = 0; i < s->root_count; i++) {
        struct gcd_root r = s->roots[i];
        r.node = gcd_build_find(b, r.object);
        GCD_TRY(gcd_build_root(b, &r, err));
    }
    for (size_t i = 0; i < gcd_dump_dependent_count(d); i++) {
        const struct gcd_dependent *h = gcd_dump_dependent(d, i);
        GCD_TRY(
            gcd_build_dependent(b, gcd_build_find(b, h->key), gcd_build_find(b, h->value), err));
    }
    for (size_t i = 0; i < s->range_count; i++)
        GCD_TRY(gcd_build_range(b, &s->ranges[i], err));
    return GCD_OK;
}

/* Makes the graph, or sets *RET_NULL: it has to be made again with NULLS. */
static gcd_status make(struct gcd_build *b, struct gcd_dump *d, const struct gcd_graph_options *o,
                       bool nulls, bool *ret_null, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_dump_summary(d);
    GCD_TRY(copy_summary(b, d, err));
    /* the first pass has counted them */
    GCD_TRY(gcd_build_reserve(b, summary->objects, summary->edges, err));
    gcd_build_touch(b);
    GCD_TRY(add_types(b, summary, err));
    GCD_TRY(add_objects(b, d, o, nulls, ret_null, err));
    return *ret_null ? GCD_OK : add_roots(b, d, err);
}

static gcd_status build(struct gcd_dump *d, const struct gcd_graph_options *o, bool nulls,
                        bool *ret_null, struct gcd_graph **ret, struct gcd_error *err)
{
    struct gcd_build *b;
    GCD_TRY(gcd_build_new(o, &b, err));
    gcd_status st = make(b, d, o, nulls, ret_null, err);
    if (st == GCD_OK && !*ret_null)
        return gcd_build_seal(b, ret, err);
    gcd_build_free(b);
    return st;
}

gcd_status gcd_graph_from_dump(struct gcd_dump *d, const struct gcd_graph_options *options,
                               struct gcd_graph **ret, struct gcd_error *err)
{
    static const struct gcd_graph_options defaults;
    bool null;
    if (options == NULL)
        options = &defaults;
    struct gcd_graph *g = NULL;
    GCD_TRY(build(d, options, false, &null, &g, err));
    if (null)
        GCD_TRY(build(d, options, true, &null, &g, err));
    gcd_status st = load_place_references(d, g, options->context.cancel, err);
    if (st == GCD_OK)
        *ret = g;
    else
        gcd_graph_free(g);
    return st;
}
