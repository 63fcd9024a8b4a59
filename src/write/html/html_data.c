#include "write/html/html_data.h"

#include <string.h>

#include <gcdumpc/generations.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/session/views.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "base/threads/parallel.h"
#include "write/write.h"

/* Maximum number of steps of the merged trees; objects that need more are in frames "...". */
#define STEPS_OF_TREE  (UINT32_C(1) << 17)
#define STEPS_OF_PATHS (UINT32_C(1) << 15)
/* Paths for this many of the largest types by their own bytes, and for as many by retained bytes.
 */
#define PATHS_BY_BYTES (HTML_PATHS / 2)

/* Progress of one analysis as part of the whole: from FIRST to FIRST + SHARE, in quarters. */
struct stage {
    const struct gcd_context *all;
    double first, share;
};

#define STAGE_STEPS UINT64_C(1000000)

static void stage_progress(void *ctx, uint64_t done, uint64_t total)
{
    const struct stage *s = ctx;
    if (total > 0)
        gcd_context_report(s->all,
                           (uint64_t)((s->first + s->share * (double)done / (double)total) / 4 *
                                      (double)STAGE_STEPS),
                           STAGE_STEPS);
}

/* ---- the largest single objects ---- */

static bool smaller(const struct html_large *a, const struct html_large *b)
{
    return a->retained != b->retained ? a->retained < b->retained : a->node > b->node;
}

/* A heap with the smallest on top. */
static void sift_down(struct html_large *items, size_t n, size_t i)
{
    struct html_large x = items[i];
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        child += child + 1 < n && smaller(&items[child + 1], &items[child]);
        if (!smaller(&items[child], &x))
            break;
        items[i] = items[child];
    }
    items[i] = x;
}

static void offer(struct html_data *h, struct html_large x)
{
    if (h->large_count == HTML_LARGE) {
        if (smaller(&x, &h->large[0]))
            return;
        h->large[0] = x;
        sift_down(h->large, HTML_LARGE, 0);
        return;
    }
    h->large[h->large_count++] = x;
    if (h->large_count == HTML_LARGE)
        for (size_t i = HTML_LARGE / 2; i-- > 0;)
            sift_down(h->large, HTML_LARGE, i);
}

/* Largest first. */
static void sort_large(struct html_data *h)
{
    for (size_t i = h->large_count / 2; i-- > 0;)
        sift_down(h->large, h->large_count, i);
    for (size_t n = h->large_count; n > 1; n--) {
        struct html_large x = h->large[0];
        h->large[0] = h->large[n - 1];
        h->large[n - 1] = x;
        sift_down(h->large, n - 1, 0);
    }
}

/*
 * Among objects of one type that hold each other (a list, a tree), takes only the outermost, whose
 * retained size includes the others. gcd_retained_largest would not do: it could return nothing but
 * the links of one list.
 */
static void find_large(struct html_data *h, const struct gcd_dominators *d)
{
    for (uint32_t node = 0; node < gcd_graph_node_count(h->g); node++) {
        uint64_t retained = gcd_dominators_retained(d, node);
        if (h->large_count == HTML_LARGE && retained < h->large[0].retained)
            continue;
        uint32_t parent = gcd_dominators_parent(d, node);
        if (parent == GCD_NODE_NONE)
            continue;
        if (parent == GCD_NODE_ROOT ||
            gcd_graph_node_type(h->g, parent) != gcd_graph_node_type(h->g, node))
            offer(h, (struct html_large){ .retained = retained, .node = node });
    }
    sort_large(h);
}

/* The label of omitted steps. */
static uint32_t deeper_label(const struct gcd_merged_tree *t)
{
    uint32_t label = 0, n = gcd_merged_tree_label_count(t);
    while (label < n && gcd_merged_tree_name(t, label).kind != GCD_STEP_DEEPER)
        label++;
    return label;
}

static gcd_status add_holder(struct html_data *h, struct html_large *l, struct html_holder holder,
                             struct gcd_error *err)
{
    if (!gcd_vec_reserve(&h->alloc, &h->holders, &h->holder_room, h->holder_count + 1,
                         sizeof *h->holders, SIZE_MAX))
        return gcd_fail_nomem(err, "looking at the largest objects");
    h->holders[h->holder_count++] = holder;
    l->holders++;
    return GCD_OK;
}

/* The field by which NODE holds BELOW, which may be no object. */
static uint32_t slot_to(const struct html_data *h, uint32_t node, uint32_t below)
{
    uint32_t type = gcd_graph_node_type(h->g, node);
    return below < GCD_NODE_ROOT && h->field_types[type] != 0 &&
                   gcd_fields_has_fields(h->fields, type)
               ? gcd_fields_between(h->fields, node, below).slot
               : GCD_SLOT_NONE;
}

/* Adds the types on the way up from a large object, consecutive equal ones once, then the steps
 * above its outermost dominator, from AT on. */
static gcd_status find_holders_of(struct html_data *h, struct html_large *l,
                                  const struct gcd_merged_tree *t, uint32_t at,
                                  struct gcd_error *err)
{
    size_t steps_n;
    const struct gcd_merged_step *steps = gcd_merged_tree_steps(t, &steps_n);
    uint32_t last = GCD_STEP_NONE, below = GCD_NODE_NONE;
    l->holder = h->holder_count;
    for (uint32_t node = l->node; node < GCD_NODE_ROOT;
         below = node, node = gcd_dominators_parent(h->dominators, node)) {
        uint32_t type = gcd_graph_node_type(h->g, node);
        if (type == last)
            continue;
        struct html_holder holder = { type, slot_to(h, node, below) };
        if (l->holders >= HTML_HOLDERS)
            holder = (struct html_holder){ deeper_label(t), GCD_SLOT_NONE };
        GCD_TRY(add_holder(h, l, holder, err));
        last = type;
        if (l->holders > HTML_HOLDERS)
            break;
    }
    for (; at != GCD_STEP_NONE; at = steps[at].parent)
        GCD_TRY(add_holder(h, l, (struct html_holder){ steps[at].label, GCD_SLOT_NONE }, err));
    for (size_t i = 0, n = l->holders; i < n / 2; i++) {
        struct html_holder *all = h->holders + l->holder, holder = all[i];
        all[i] = all[n - 1 - i];
        all[n - 1 - i] = holder;
    }
    return GCD_OK;
}

/* FOUND[i]: the step of T in which the outermost dominator of large object I begins. */
static gcd_status find_holders(struct html_data *h, const struct gcd_merged_tree *t,
                               const uint32_t *found, struct gcd_error *err)
{
    for (size_t i = 0; i < h->large_count; i++)
        GCD_TRY(find_holders_of(h, &h->large[i], t, found[i], err));
    return GCD_OK;
}

/* ---- types ---- */

static int by_bytes(const void *ctx, uint32_t a, uint32_t b)
{
    const struct html_data *h = ctx;
    const struct gcd_type *x = &gcd_graph_summary(h->g)->types[a],
                          *y = &gcd_graph_summary(h->g)->types[b];
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? 1 : -1;
    return x->objects != y->objects ? (x->objects < y->objects ? 1 : -1) : 0;
}

static int by_retained(const void *ctx, uint32_t a, uint32_t b)
{
    const struct html_data *h = ctx;
    return h->retained[a] != h->retained[b] ? (h->retained[a] < h->retained[b] ? 1 : -1)
                                            : by_bytes(ctx, a, b);
}

/* Sorts all types that have objects.  Paths are wanted for the first types in either order, each
 * once. */
static gcd_status choose_types(struct html_data *h, uint32_t *ret_wanted, size_t *ret_n,
                               struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(h->g);
    size_t n = 0, wanted = 0;
    h->type_room = summary->type_count;
    h->types = gcd_mem_new_uncleared(&h->alloc, h->type_room, sizeof *h->types);
    if (h->types == NULL && h->type_room > 0)
        return gcd_fail_nomem(err, "sorting types");
    for (uint32_t i = 0; i < h->type_room; i++)
        if (summary->types[i].objects > 0)
            h->types[n++] = i;
    if (!gcd_sort_numbers(&h->alloc, h->types, n, by_retained, h))
        return gcd_fail_nomem(err, "sorting types");
    for (; wanted < PATHS_BY_BYTES && wanted < n; wanted++)
        ret_wanted[wanted] = h->types[wanted];
    size_t first = wanted;
    if (!gcd_sort_numbers(&h->alloc, h->types, n, by_bytes, h))
        return gcd_fail_nomem(err, "sorting types");
    for (size_t i = 0; i < n && wanted < HTML_PATHS; i++) {
        bool there = false;
        for (size_t k = 0; k < first; k++)
            there |= ret_wanted[k] == h->types[i];
        if (!there)
            ret_wanted[wanted++] = h->types[i];
    }
    *ret_n = wanted;
    h->types_with_objects = n;
    size_t most = h->role->part ? HTML_TYPES_OF_PART : HTML_TYPES;
    h->type_count = n < most ? n : most;
    return GCD_OK;
}

/* ---- the analyses ---- */

static gcd_status generations(struct html_data *h, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(h->g);
    struct gcd_generations *all;
    if (summary->range_count == 0)
        return GCD_OK;
    GCD_TRY(gcd_generations_new(summary, &h->alloc, &all, err));
    for (uint32_t node = 0; node < gcd_graph_node_count(h->g); node++)
        gcd_generations_add(all, gcd_graph_node_address(h->g, node),
                            gcd_graph_node_size(h->g, node));
    for (unsigned i = 0; i < HTML_GENERATIONS; i++)
        h->generations[i] =
            *gcd_generations_get(all, i < HTML_GENERATIONS - 1 ? i : GCD_GENERATION_NONE);
    gcd_generations_free(all);
    return GCD_OK;
}

/* Independent analyses run in parallel: one part in the calling thread, which reports progress. */
struct analysis {
    struct html_data *h;
    const struct gcd_paths *paths;
    uint32_t wanted[HTML_PATHS]; /* [wanted_count] types whose paths the page has */
    size_t wanted_count;
    gcd_status here, beside;
    struct gcd_error *err, beside_err; /* ERR may be NULL */
};

/* The context of one stage of the work, which reports its part of the progress. */
static struct gcd_context staged(const struct html_data *h, struct stage *stage)
{
    struct gcd_context c = h->options->context;
    stage->all = &h->options->context;
    c.alloc = &h->alloc;
    c.progress = stage_progress;
    c.progress_ctx = stage;
    return c;
}

static struct gcd_merged_tree_options merging(const struct html_data *h, struct gcd_context context,
                                              uint32_t max_steps)
{
    return (struct gcd_merged_tree_options){ .context = context,
                                             .fields = h->fields,
                                             .field_types = h->field_types,
                                             .stacks = true,
                                             .max_depth = STACKS_DEPTH,
                                             .max_steps = max_steps };
}

static gcd_status merge_dominators(struct html_data *h, const struct gcd_paths *paths,
                                   struct gcd_error *err)
{
    struct stage stage = { .first = 2, .share = 1 };
    struct gcd_merged_tree_options merge = merging(h, staged(h, &stage), STEPS_OF_TREE);
    struct gcd_merged_tree *t;
    uint32_t large[HTML_LARGE], found[HTML_LARGE];
    find_large(h, h->dominators);
    for (size_t i = 0; i < h->large_count; i++)
        large[i] = h->large[i].node;
    merge.dominators = h->dominators;
    merge.paths = paths;
    merge.preorder = h->preorder;
    h->preorder = NULL;
    merge.heaviest = HTML_TREE;
    merge.find = large;
    merge.find_count = h->large_count;
    merge.ret_found = found;
    GCD_TRY(gcd_merged_tree_heaviest(h->g, &merge, &t, err));
    gcd_status st = find_holders(h, t, found, err);
    if (st == GCD_OK)
        st = gcd_merged_tree_largest(t, NULL, 0, HTML_TREE, &h->tree, err);
    gcd_merged_tree_free(t);
    return st;
}

/* The MAX heaviest steps of the paths to the objects of TYPE, from the tree of paths to all
 * objects. */
static gcd_status paths_of_type(struct html_data *h, uint32_t type, size_t max,
                                struct gcd_merged_tree **ret, struct gcd_error *err)
{
    struct gcd_context quiet = html_quietly(h);
    struct gcd_node_list of;
    GCD_TRY(gcd_session_objects_of_type(h->session, &quiet, type, &of, err));
    return gcd_merged_tree_largest(h->by_paths, of.nodes, (size_t)of.count, max, ret, err);
}

static bool has_path(const struct html_data *h, uint32_t type)
{
    size_t i = 0;
    while (i < h->path_count && h->paths[i].type != type)
        i++;
    return i < h->path_count;
}

/* Builds the tree of shortest paths of each wanted type, and of each type with details. */
static gcd_status merge_paths_to(struct html_data *h, const struct gcd_paths *p,
                                 const uint32_t *wanted, size_t n, struct gcd_error *err)
{
    struct stage stage = { .first = 3, .share = 1 };
    struct gcd_merged_tree_options merge = merging(h, staged(h, &stage), STEPS_OF_PATHS);
    merge.paths = p;
    merge.keep_places = true;
    merge.fields_by_types = true;
    GCD_TRY(gcd_merged_tree_new(h->g, &merge, &h->by_paths, err));
    for (size_t i = 0; i < n; i++) {
        GCD_TRY(paths_of_type(h, wanted[i], HTML_PATH_NODES, &h->paths[i].tree, err));
        h->paths[i].type = wanted[i];
        h->path_count++;
    }
    for (size_t i = 0; i < h->detail_count; i++)
        if (!has_path(h, h->details[i].type))
            GCD_TRY(
                paths_of_type(h, h->details[i].type, HTML_DETAIL_NODES, &h->details[i].tree, err));
    return GCD_OK;
}

/* Takes much memory, so only what takes little runs beside it.  Does without the session, which one
 * thread at a time may use. */
static void shared_and_tree(void *ctx)
{
    struct analysis *a = ctx;
    a->here = html_shared_find(a->h, a->paths, a->err);
    if (a->here == GCD_OK)
        a->here = merge_dominators(a->h, a->paths, a->err);
}

static gcd_status look_at_objects(struct html_data *h, struct gcd_error *err)
{
    GCD_TRY(generations(h, err));
    return html_details_collect(h, err);
}

static void objects_beside(void *ctx)
{
    struct analysis *a = ctx;
    a->beside = look_at_objects(a->h, &a->beside_err);
}

static void paths_and_async(void *ctx)
{
    struct analysis *a = ctx;
    struct gcd_context quiet = html_quietly(a->h);
    a->here = merge_paths_to(a->h, a->paths, a->wanted, a->wanted_count, a->err);
    if (a->here == GCD_OK)
        a->here = gcd_session_async(a->h->session, &quiet, &a->h->async, a->err);
}

static gcd_status look_for_suspects(struct html_data *h, struct gcd_error *err)
{
    struct gcd_context quiet = html_quietly(h);
    GCD_TRY(gcd_session_suspects(h->session, &quiet, &h->suspects, err));
    GCD_TRY(gcd_session_largest_consumer(h->session, &quiet, &h->consumer, err));
    GCD_TRY(gcd_session_headline(h->session, &quiet, h->headline, err));
    GCD_TRY(gcd_session_fold_facts(h->session, &quiet, NULL, 0, err));
    quiet.alloc = &h->alloc;
    if (!h->role->part)
        GCD_TRY(gcd_owner_fills(h->g, h->dominators, h->origins, &quiet, &h->fills, err));
    for (size_t i = 0; i < h->fills.count; i++)
        h->limits[i].field =
            gcd_session_owner_limit(h->session, &h->fills.rows[i], &h->limits[i].number);
    return html_own_bytes(h, err);
}

static void suspects_beside(void *ctx)
{
    struct analysis *a = ctx;
    a->beside = look_for_suspects(a->h, &a->beside_err);
}

static gcd_status run_both(struct analysis *a, void (*here)(void *), void (*beside)(void *))
{
    gcd_parallel_invoke(a->h->options->context.threads, here, beside, a);
    if (a->here == GCD_OK && a->beside != GCD_OK && a->err != NULL)
        *a->err = a->beside_err;
    return a->here != GCD_OK ? a->here : a->beside;
}

/* Whose fields the trees tell apart. */
static gcd_status choose_fields(struct html_data *h, struct gcd_error *err)
{
    struct gcd_context quiet = html_quietly(h);
    GCD_TRY(gcd_session_fields(h->session, &quiet, &h->fields, err));
    GCD_TRY(gcd_session_origins(h->session, &quiet, &h->origins, err));
    h->field_types = gcd_mem_new_array(&h->alloc, gcd_graph_summary(h->g)->type_count, 1);
    if (h->field_types == NULL)
        return gcd_fail_nomem(err, "looking at fields");
    gcd_origins_outside_framework(h->origins, h->field_types);
    return GCD_OK;
}

/* Adds up what types retain; the preorder is kept for the tree. */
static gcd_status retained_by_type(struct html_data *h, struct gcd_error *err)
{
    struct gcd_context quiet = html_quietly(h);
    quiet.alloc = &h->alloc;
    h->retained =
        gcd_mem_new_array(&h->alloc, gcd_graph_summary(h->g)->type_count, sizeof *h->retained);
    if (h->retained == NULL)
        return gcd_fail_nomem(err, "adding up retained sizes");
    GCD_TRY(gcd_preorder_new(h->g, h->dominators, &quiet, &h->preorder, err));
    return gcd_preorder_retained_by_type(h->preorder, h->retained, err);
}

/* Opens a session for this page, unless the caller has one. */
static gcd_status open_session(struct html_data *h, struct gcd_error *err)
{
    const struct gcd_origins *origins = h->options->origins;
    size_t types = gcd_graph_summary(h->g)->type_count;
    struct gcd_session_options options = { .context = h->options->context,
                                           .names = h->options->names };
    uint8_t *mine = NULL;
    h->session = h->role->session;
    if (h->session != NULL)
        return GCD_OK;
    if (origins != NULL && (mine = gcd_mem_new(&h->alloc, types + 1)) == NULL)
        return gcd_fail_nomem(err, "looking whose the types are");
    for (uint32_t i = 0; i < types && mine != NULL; i++)
        mine[i] = gcd_origins_get(origins, i) == GCD_ORIGIN_OWN;
    options.context.alloc = &h->alloc;
    options.context.progress = NULL;
    options.mine = mine;
    gcd_status st = gcd_session_new(h->g, &options, &h->own_session, err);
    gcd_mem_free(&h->alloc, mine, types + 1);
    h->session = h->own_session;
    if (st == GCD_OK)
        gcd_session_use_sites(h->session, h->options->sites);
    if (st == GCD_OK && h->options->values != NULL)
        gcd_session_use_values(h->session, h->options->values);
    return st;
}

static int by_dead_bytes(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_suspect_part *x = (const struct gcd_suspect_part *)ctx + a,
                                  *y = (const struct gcd_suspect_part *)ctx + b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1) : 0;
}

/* PARTS[n], in which types without dead objects have none. */
static gcd_status keep_dead(struct html_data *h, const struct gcd_suspect_part *parts, size_t n,
                            struct gcd_error *err)
{
    uint32_t *order = gcd_sort_order(&h->alloc, n, by_dead_bytes, parts);
    if (order == NULL && n > 0)
        return gcd_fail_nomem(err, "counting dead objects");
    for (size_t i = 0; i < n; i++) {
        if (parts[order[i]].objects == 0)
            continue;
        h->dead_types++;
        if (h->dead_count < HTML_DEAD)
            h->dead[h->dead_count++] = parts[order[i]];
    }
    gcd_mem_free(&h->alloc, order, n * sizeof *order);
    return GCD_OK;
}

/* Adds up frozen objects to those alive, and the dead ones in PARTS by type.  AGES: NULL = which
 * are frozen is not known. */
static void tell_dead(struct html_data *h, const struct gcd_generations *ages,
                      struct gcd_suspect_part *parts)
{
    size_t hint = 0;
    for (uint32_t node = 0; node < gcd_graph_node_count(h->g); node++) {
        uint64_t bytes = gcd_graph_node_size(h->g, node);
        if (gcd_dominators_parent(h->dominators, node) != GCD_NODE_NONE)
            continue;
        if (gcd_is_frozen(ages, gcd_graph_node_address(h->g, node), &hint)) {
            h->alive_objects++;
            gcd_add_saturating(&h->alive_bytes, bytes);
        } else {
            struct gcd_suspect_part *part = &parts[gcd_graph_node_type(h->g, node)];
            part->objects++;
            gcd_add_saturating(&part->bytes, bytes);
        }
    }
}

/* What roots reach, frozen objects, and the others by type. */
static gcd_status count_alive(struct html_data *h, struct gcd_error *err)
{
    const struct gcd_summary *s = gcd_graph_summary(h->g);
    struct gcd_generations *ages;
    struct gcd_suspect_part *parts = gcd_mem_new_array(&h->alloc, s->type_count, sizeof *parts);
    h->alive_objects = h->reachable_objects;
    h->alive_bytes = h->reachable_bytes;
    gcd_status st = parts != NULL || s->type_count == 0
                        ? gcd_frozen_new(s, h->pseudo_roots, &h->alloc, &ages, err)
                        : gcd_fail_nomem(err, "counting dead objects");
    if (st == GCD_OK) {
        for (uint32_t i = 0; i < s->type_count; i++)
            parts[i].type = i;
        tell_dead(h, ages, parts);
        gcd_generations_free(ages);
        st = keep_dead(h, parts, s->type_count, err);
    }
    gcd_mem_free(&h->alloc, parts, s->type_count * sizeof *parts);
    return st;
}

static gcd_status analyze(struct html_data *h, struct analysis *a)
{
    struct stage stage = { .first = 0, .share = 2 };
    struct gcd_context context = staged(h, &stage);
    GCD_TRY(open_session(h, a->err));
    GCD_TRY(
        gcd_session_paths_with_dominators(h->session, &context, &h->dominators, &a->paths, a->err));
    h->pseudo_roots = gcd_dominators_pseudo_roots(h->dominators);
    h->reachable_objects = gcd_dominators_reachable(h->dominators);
    h->reachable_bytes = gcd_dominators_retained(h->dominators, GCD_NODE_ROOT);
    GCD_TRY(count_alive(h, a->err));
    GCD_TRY(retained_by_type(h, a->err));
    GCD_TRY(choose_fields(h, a->err));
    GCD_TRY(choose_types(h, a->wanted, &a->wanted_count, a->err));
    GCD_TRY(html_details_choose(h, a->err));
    GCD_TRY(run_both(a, shared_and_tree, objects_beside));
    GCD_TRY(html_shared_climb(h, a->paths, a->err));
    GCD_TRY(run_both(a, paths_and_async, suspects_beside));
    GCD_TRY(gcd_session_site_list(h->session, &context, &h->sites, a->err));
    if (h->sites != NULL && h->sites->sites->alive == 0)
        h->sites = NULL;
    return write_check(h->options, NULL, STAGE_STEPS, STAGE_STEPS, a->err);
}

gcd_status html_data_make(struct html_data *h, const struct gcd_graph *g,
                          const struct gcd_write_options *options, const struct html_role *role,
                          struct gcd_error *err)
{
    memset(h, 0, sizeof *h);
    struct gcd_alloc user = gcd_alloc_or_default(options->context.alloc);
    h->alloc = gcd_locked_alloc_init(&h->locked, &user);
    h->g = g;
    h->options = options;
    h->role = role;
    for (size_t i = 0; i < gcd_graph_summary(g)->root_count; i++)
        h->roots[gcd_root_group(&gcd_graph_summary(g)->roots[i])]++;
    struct analysis a = { .h = h, .err = err, .beside_err = GCD_ERROR_INIT };
    return analyze(h, &a);
}

struct gcd_write_options html_options_of(const struct gcd_session *session,
                                         const struct gcd_write_options *options)
{
    struct gcd_write_options o = { .name = NULL };
    if (options != NULL)
        o = *options;
    o.names = gcd_session_names(session);
    return o;
}

void html_data_done(struct html_data *h)
{
    gcd_mem_free(&h->alloc, h->types, h->type_room * sizeof *h->types);
    gcd_mem_free(&h->alloc, h->holders, h->holder_room * sizeof *h->holders);
    gcd_preorder_free(h->preorder);
    gcd_mem_free(&h->alloc, h->field_types, gcd_graph_summary(h->g)->type_count);
    gcd_mem_free(&h->alloc, h->retained, gcd_graph_summary(h->g)->type_count * sizeof *h->retained);
    gcd_merged_tree_free(h->tree);
    for (size_t i = 0; i < h->path_count; i++)
        gcd_merged_tree_free(h->paths[i].tree);
    for (size_t i = 0; i < h->detail_count; i++)
        gcd_merged_tree_free(h->details[i].tree);
    gcd_mem_free(&h->alloc, h->details, HTML_DETAILS * sizeof *h->details);
    gcd_merged_tree_free(h->by_paths);
    html_shared_done(h);
    gcd_session_free(h->own_session);
    gcd_locked_alloc_done(&h->locked);
}
