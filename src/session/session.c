#include "session/session.h"

#include <string.h>

#include <gcdumpc/unstable/paths_around.h>

#include "base/context.h"
#include "base/mem.h"

/* ---- the handle ---- */

struct gcd_context session_context(const struct gcd_session *s, const struct gcd_context *call)
{
    struct gcd_context c = s->options.context;
    if (call != NULL) {
        c.cancel = call->cancel;
        c.threads = call->threads != 0 ? call->threads : c.threads;
        c.progress = call->progress;
        c.progress_ctx = call->progress_ctx;
    }
    c.alloc = &s->alloc;
    return c;
}

static gcd_status fill(struct gcd_session *s, const struct gcd_session_options *options,
                       struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(s->graph);
    size_t types = summary->type_count;
    if (options->mine != NULL) {
        s->mine = gcd_mem_new(&s->user, types + 1);
        if (s->mine == NULL)
            return gcd_fail_nomem(err, "opening a session");
        if (types > 0)
            memcpy(s->mine, options->mine, types);
    }
    if (options->names == NULL)
        GCD_TRY(gcd_names_new(summary, GCD_NAMES_CSHARP, &s->user, &s->own_names, err));
    s->names = options->names != NULL ? options->names : s->own_names;
    return GCD_OK;
}

gcd_status gcd_session_new(const struct gcd_graph *g, const struct gcd_session_options *options,
                           struct gcd_session **ret, struct gcd_error *err)
{
    static const struct gcd_session_options defaults;
    options = options != NULL ? options : &defaults;
    struct gcd_alloc user = gcd_alloc_or_default(options->context.alloc);
    pthread_condattr_t clock;
    struct gcd_session *s = gcd_mem_new(&user, sizeof *s);
    if (s == NULL)
        return gcd_fail_nomem(err, "opening a session");
    s->graph = g;
    s->options = *options;
    s->user = user;
    s->alloc = gcd_locked_alloc_init(&s->locked, &s->user);
    /* none of these can fail: they use default attributes and a clock that Linux has */
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_mutex_init(&s->describing, NULL);
    (void)pthread_condattr_init(&clock);
    (void)pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&s->moved, &clock);
    (void)pthread_condattr_destroy(&clock);
    atomic_init(&s->done, 0);
    gcd_status st = fill(s, options, err);
    if (st == GCD_OK)
        *ret = s;
    else
        gcd_session_free(s);
    return st;
}

void gcd_session_free(struct gcd_session *s)
{
    if (s == NULL)
        return;
    struct gcd_alloc user = s->user;
    session_drop(s);
    gcd_names_free(s->own_names);
    if (s->mine != NULL)
        gcd_mem_free(&user, s->mine, (size_t)gcd_graph_summary(s->graph)->type_count + 1);
    (void)pthread_cond_destroy(&s->moved);
    (void)pthread_mutex_destroy(&s->describing);
    (void)pthread_mutex_destroy(&s->lock);
    gcd_locked_alloc_done(&s->locked);
    gcd_mem_free(&user, s, sizeof *s);
}

const struct gcd_graph *gcd_session_graph(const struct gcd_session *s)
{
    return s->graph;
}

const struct gcd_names *gcd_session_names(const struct gcd_session *s)
{
    return s->names;
}

void gcd_session_use_sites(struct gcd_session *s, const struct gcd_sites *sites)
{
    s->sites = sites;
}

void gcd_session_use_values(struct gcd_session *s, const struct gcd_values_view *view)
{
    s->values = *view;
}

struct gcd_values_view gcd_session_values(const struct gcd_session *s)
{
    return s->values;
}

gcd_status session_numbers(struct gcd_session *s, struct gcd_image_numbers **ret,
                           struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    if (s->numbers == NULL)
        st = gcd_image_numbers_new(&s->values, NULL, &s->alloc, &s->numbers, err);
    *ret = s->numbers;
    return st == GCD_END ? GCD_OK : st;
}

gcd_status gcd_session_numbers(struct gcd_session *s, struct gcd_image_numbers **ret,
                               struct gcd_error *err)
{
    *ret = NULL;
    return s->values.show != GCD_SHOW_EQUAL ? session_numbers(s, ret, err) : GCD_OK;
}

/* ---- results ---- */

static gcd_status need(struct gcd_session *s, unsigned parts, const struct gcd_context *call,
                       struct gcd_error *err)
{
    struct gcd_context c = session_context(s, call);
    return session_need(s, parts, &c, err);
}

gcd_status gcd_session_dominators(struct gcd_session *s, const struct gcd_context *call,
                                  const struct gcd_dominators **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_DOMINATORS), call, err));
    *ret = s->dominators;
    return GCD_OK;
}

gcd_status gcd_session_paths(struct gcd_session *s, const struct gcd_context *call,
                             const struct gcd_paths **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_PATHS), call, err));
    *ret = s->paths;
    return GCD_OK;
}

gcd_status gcd_session_paths_with_dominators(struct gcd_session *s, const struct gcd_context *call,
                                             const struct gcd_dominators **ret_dominators,
                                             const struct gcd_paths **ret_paths,
                                             struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_DOMINATORS) | PART_BIT(PART_PATHS), call, err));
    *ret_dominators = s->dominators;
    *ret_paths = s->paths;
    return GCD_OK;
}

gcd_status gcd_session_retained_by_type(struct gcd_session *s, const struct gcd_context *call,
                                        const uint64_t **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_BY_TYPE), call, err));
    *ret = s->by_type;
    return GCD_OK;
}

gcd_status gcd_session_root_sets(struct gcd_session *s, const struct gcd_context *call,
                                 const struct gcd_root_sets **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_ROOT_SETS), call, err));
    *ret = &s->root_sets;
    return GCD_OK;
}

gcd_status gcd_session_suspects(struct gcd_session *s, const struct gcd_context *call,
                                const struct gcd_suspects **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_SUSPECTS), call, err));
    *ret = s->suspects;
    return GCD_OK;
}

gcd_status gcd_session_suspects_from(struct gcd_session *s, const struct gcd_context *call,
                                     double share, uint64_t min_bytes, struct gcd_suspects **ret,
                                     struct gcd_error *err)
{
    struct gcd_context context = session_context(s, call);
    return session_suspects(s, &context, share, min_bytes, ret, err);
}

gcd_status gcd_session_origins(struct gcd_session *s, const struct gcd_context *call,
                               const struct gcd_origins **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_ORIGINS), call, err));
    *ret = s->origins;
    return GCD_OK;
}

gcd_status gcd_session_site_list(struct gcd_session *s, const struct gcd_context *call,
                                 const struct gcd_site_list **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_SITES), call, err));
    *ret = s->site_list;
    return GCD_OK;
}

gcd_status gcd_session_async(struct gcd_session *s, const struct gcd_context *call,
                             const struct gcd_async **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_ASYNC), call, err));
    *ret = s->async;
    return GCD_OK;
}

gcd_status gcd_session_waits(struct gcd_session *s, const struct gcd_context *call,
                             const struct gcd_async **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_WAITS), call, err));
    *ret = s->waits;
    return GCD_OK;
}

gcd_status gcd_session_largest_consumer(struct gcd_session *s, const struct gcd_context *call,
                                        const struct gcd_suspects **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_LARGEST), call, err));
    *ret = s->largest;
    return GCD_OK;
}

gcd_status gcd_session_headline(struct gcd_session *s, const struct gcd_context *call,
                                char ret[GCD_HEADLINE_BYTES], struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_LARGEST), call, err));
    gcd_suspects_headline(s->graph, s->names, s->origins, s->suspects, s->largest, ret);
    return GCD_OK;
}

gcd_status gcd_session_merge(struct gcd_session *s, const struct gcd_context *call,
                             const struct gcd_merged_tree_options *options,
                             struct gcd_merged_tree **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_FIELDS), call, err));
    GCD_TRY(need(s, PART_BIT(PART_ORIGINS), call, err));
    return session_merge(s, options, ret, err);
}

static bool is_one_type(const struct gcd_session *s, const uint8_t *types)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < gcd_graph_summary(s->graph)->type_count; i++)
        n += types[i] != 0;
    return n == 1;
}

gcd_status gcd_session_merge_paths(struct gcd_session *s, const struct gcd_context *call,
                                   const struct gcd_merged_tree_options *options,
                                   struct gcd_merged_tree **ret, struct gcd_error *err)
{
    struct gcd_merged_tree_options o = *options;
    struct gcd_paths *around = NULL;
    bool meet = false;
    GCD_TRY(gcd_session_paths(s, call, &o.paths, err));
    if (is_one_type(s, o.types))
        GCD_TRY(gcd_paths_meet(o.paths, s->graph, o.types, &o.context, &meet, err));
    if (meet) {
        GCD_TRY(gcd_paths_around_new(s->graph, o.types, &o.context, &around, err));
        o.paths = around;
    }
    gcd_status st = gcd_session_merge(s, call, &o, ret, err);
    gcd_paths_free(around);
    return st;
}

gcd_status gcd_session_dominator_tree(struct gcd_session *s, const struct gcd_context *call,
                                      const struct gcd_merged_tree **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_TREE), call, err));
    *ret = s->tree;
    return GCD_OK;
}

gcd_status gcd_session_generations(struct gcd_session *s, const struct gcd_context *call,
                                   const struct gcd_generations **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_GENERATIONS), call, err));
    *ret = s->generations;
    return GCD_OK;
}

gcd_status gcd_session_fields(struct gcd_session *s, const struct gcd_context *call,
                              const struct gcd_fields **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_FIELDS), call, err));
    *ret = s->fields;
    return GCD_OK;
}

gcd_status gcd_session_collections(struct gcd_session *s, const struct gcd_context *call,
                                   const struct gcd_collections **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_COLLECTIONS), call, err));
    *ret = s->collections;
    return GCD_OK;
}

gcd_status gcd_session_depths(struct gcd_session *s, const struct gcd_context *call,
                              const uint32_t **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_DEPTHS), call, err));
    *ret = s->depths;
    return GCD_OK;
}

/* ---- one thread at a time ---- */

gcd_status gcd_session_collection(struct gcd_session *s, const struct gcd_context *call,
                                  uint32_t node, struct gcd_collection *ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_COLLECTIONS), call, err));
    (void)pthread_mutex_lock(&s->describing);
    gcd_status st = gcd_collection_describe(s->collections, node, ret, err);
    (void)pthread_mutex_unlock(&s->describing);
    return st;
}

gcd_status gcd_session_keys(struct gcd_session *s, const struct gcd_context *call, uint32_t node,
                            struct gcd_keys **ret, struct gcd_error *err)
{
    struct gcd_keys_question question = { .graph = s->graph, .view = s->values };
    if (s->values.values == NULL || s->values.show == GCD_SHOW_EQUAL)
        return GCD_END;
    GCD_TRY(need(s, PART_BIT(PART_COLLECTIONS), call, err));
    GCD_TRY(need(s, PART_BIT(PART_FIELDS), call, err));
    GCD_TRY(need(s, PART_BIT(PART_DOMINATORS), call, err));
    question.collections = s->collections;
    question.fields = s->fields;
    question.dominators = s->dominators;
    (void)pthread_mutex_lock(&s->describing);
    gcd_status st = gcd_keys_new(&question, node, call, ret, err);
    (void)pthread_mutex_unlock(&s->describing);
    return st;
}

gcd_status session_collection_keys(struct gcd_session *s, uint32_t node, gcd_key_fn take, void *ctx,
                                   struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_COLLECTIONS), NULL, err));
    GCD_TRY(need(s, PART_BIT(PART_FIELDS), NULL, err));
    (void)pthread_mutex_lock(&s->describing);
    gcd_status st = gcd_collection_keys(s->collections, s->fields, node, take, ctx, err);
    (void)pthread_mutex_unlock(&s->describing);
    return st;
}

gcd_status gcd_session_fold_path(struct gcd_session *s, const struct gcd_context *call,
                                 struct gcd_fold_step *steps, size_t n, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_ORIGINS), call, err));
    GCD_TRY(need(s, PART_BIT(PART_COLLECTIONS), call, err));
    (void)pthread_mutex_lock(&s->describing);
    gcd_fold_path(s->origins, s->collections, steps, n);
    (void)pthread_mutex_unlock(&s->describing);
    return GCD_OK;
}

gcd_status gcd_session_fold_facts(struct gcd_session *s, const struct gcd_context *call,
                                  struct gcd_fold_node *nodes, size_t n, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_ORIGINS), call, err));
    GCD_TRY(need(s, PART_BIT(PART_COLLECTIONS), call, err));
    (void)pthread_mutex_lock(&s->describing);
    gcd_fold_facts(s->origins, s->collections, nodes, n);
    (void)pthread_mutex_unlock(&s->describing);
    return GCD_OK;
}

/* ---- lists of nodes ---- */

static void list_of(const struct node_lists *l, uint64_t key, struct gcd_node_list *ret)
{
    uint64_t first = l->starts[key];
    ret->count = l->starts[key + 1] - first;
    ret->nodes = ret->count > 0 ? l->items + first : NULL;
}

gcd_status gcd_session_objects_of_type(struct gcd_session *s, const struct gcd_context *call,
                                       uint32_t type, struct gcd_node_list *ret,
                                       struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_OF_TYPE), call, err));
    list_of(&s->of_type, type, ret);
    return GCD_OK;
}

gcd_status gcd_session_dominated_by(struct gcd_session *s, const struct gcd_context *call,
                                    uint32_t node, struct gcd_node_list *ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_DOMINATED), call, err));
    list_of(&s->dominated, node == GCD_NODE_ROOT ? gcd_graph_node_count(s->graph) : node, ret);
    return GCD_OK;
}

gcd_status gcd_session_dominated_largest(struct gcd_session *s, const struct gcd_context *call,
                                         uint32_t node, struct gcd_node_list *ret,
                                         struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_LARGEST_FIRST), call, err));
    uint64_t key = node == GCD_NODE_ROOT ? gcd_graph_node_count(s->graph) : node;
    list_of(&s->dominated, key, ret);
    if (ret->count > 0)
        ret->nodes = s->largest_first + s->dominated.starts[key];
    return GCD_OK;
}

gcd_status gcd_session_referrers(struct gcd_session *s, const struct gcd_context *call,
                                 uint32_t node, struct gcd_node_list *ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_REFERRERS), call, err));
    list_of(&s->referrers, node, ret);
    return GCD_OK;
}

gcd_status gcd_session_referrer_slots(struct gcd_session *s, const struct gcd_context *call,
                                      uint32_t node, const uint32_t **ret, struct gcd_error *err)
{
    GCD_TRY(need(s, PART_BIT(PART_SLOTS), call, err));
    *ret = s->slots != NULL ? s->slots + s->referrers.starts[node] : NULL;
    return GCD_OK;
}
