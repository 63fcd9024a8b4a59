#include <string.h>

#include <gcdumpc/retained.h>
#include <gcdumpc/unstable/image_numbers.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "base/context.h"
#include "base/limit_name.h"
#include "base/mem.h"
#include "base/text.h"
#include "session/session.h"

static bool number_in_image(void *numbers, uint64_t address, const char *field, int64_t *ret);
static bool has_numbers(const struct gcd_session *s);

static gcd_status make_origins(struct gcd_session *s, const struct gcd_context *c,
                               struct gcd_error *err)
{
    struct gcd_origins_options options = { .alloc = c->alloc, .mine = s->mine };
    return gcd_origins_new(gcd_graph_summary(s->graph), &options, &s->origins, err);
}

static gcd_status make_collections(struct gcd_session *s, const struct gcd_context *c,
                                   struct gcd_error *err)
{
    struct gcd_context kept = session_context(s, NULL); /* the collections keep it */
    (void)c;
    GCD_TRY(gcd_collections_new(s->graph, &kept, &s->collections, err));
    gcd_collections_know(s->collections, has_numbers(s) ? number_in_image : NULL, s);
    return GCD_OK;
}

static gcd_status make_generations(struct gcd_session *s, const struct gcd_context *c,
                                   struct gcd_error *err)
{
    return gcd_generations_new(gcd_graph_summary(s->graph), c->alloc, &s->generations, err);
}

static gcd_status make_fields(struct gcd_session *s, const struct gcd_context *c,
                              struct gcd_error *err)
{
    return gcd_fields_new(s->graph, c->alloc, &s->fields, err);
}

static gcd_status make_dominators(struct gcd_session *s, const struct gcd_context *c,
                                  struct gcd_error *err)
{
    return gcd_dominators_new(s->graph, c, &s->dominators, err);
}

static gcd_status make_paths(struct gcd_session *s, const struct gcd_context *c,
                             struct gcd_error *err)
{
    return gcd_paths_new(s->graph, c, &s->paths, err);
}

static gcd_status make_by_type(struct gcd_session *s, const struct gcd_context *c,
                               struct gcd_error *err)
{
    GCD_TRY(session_need(s, PART_BIT(PART_DOMINATORS), c, err));
    size_t n = (size_t)gcd_graph_summary(s->graph)->type_count + 1;
    uint64_t *bytes = gcd_mem_new_array(c->alloc, n, sizeof *bytes);
    if (bytes == NULL)
        return gcd_fail_nomem(err, "retained sizes of types");
    gcd_status st = gcd_retained_by_type(s->graph, s->dominators, c->alloc, bytes, err);
    if (st == GCD_OK)
        s->by_type = bytes;
    else
        gcd_mem_free(c->alloc, bytes, n * sizeof *bytes);
    return st;
}

static gcd_status make_root_sets(struct gcd_session *s, const struct gcd_context *c,
                                 struct gcd_error *err)
{
    return gcd_root_sets_of(s->graph, c, &s->root_sets, err);
}

/* [gcd_suspects_options.number] Of the session NUMBERS.  Limits of caches are nobody's secrets, so
 * they are read also where values are hidden. */
static bool number_in_image(void *numbers, uint64_t address, const char *field, int64_t *ret)
{
    struct gcd_image_numbers *all;
    if (session_numbers(numbers, &all, NULL) != GCD_OK || all == NULL)
        return false;
    for (uint32_t i = 0, n = gcd_image_field_count(all, address); i < n; i++) {
        struct gcd_image_field f = gcd_image_field(all, address, i);
        if (strcmp(f.name, field) != 0)
            continue;
        bool none = f.number.kind == GCD_NUMBER_NULL;
        *ret = none ? -1 : (int64_t)f.number.bits;
        return f.known && (none || f.number.kind == GCD_NUMBER_SIGNED ||
                           f.number.kind == GCD_NUMBER_TIME_SPAN);
    }
    return false;
}

/* [gcd_suspects_options.limit] Of the session NUMBERS; they are read as those above. */
static const char *limit_in_image(void *numbers, uint64_t address, const char *of, uint64_t least,
                                  uint64_t *ret)
{
    struct gcd_image_numbers *all;
    const char *best = NULL;
    if (session_numbers(numbers, &all, NULL) != GCD_OK || all == NULL)
        return NULL;
    for (uint32_t i = 0, n = gcd_image_field_count(all, address); i < n; i++) {
        struct gcd_image_field f = gcd_image_field(all, address, i);
        bool number =
            f.known && (f.number.kind == GCD_NUMBER_SIGNED || f.number.kind == GCD_NUMBER_UNSIGNED);
        if (!number || f.number.bits > INT64_MAX || f.number.bits < least ||
            (best != NULL && f.number.bits >= *ret) ||
            !gcd_is_limit_name(f.name, strlen(f.name), of))
            continue;
        best = f.name;
        *ret = f.number.bits;
    }
    return best;
}

static bool has_numbers(const struct gcd_session *s)
{
    const struct gcd_summary *summary = gcd_graph_summary(s->graph);
    return (s->values.memory != NULL && summary->image.made_from[0] != '\0') ||
           (s->values.values != NULL && summary->values.numbers > 0);
}

const char *gcd_session_limit(struct gcd_session *s, uint64_t address, uint64_t least,
                              uint64_t *ret)
{
    bool known = has_numbers(s) && !gcd_graph_notes(s->graph)->addresses_made_up;
    return known ? limit_in_image(s, address, "", least, ret) : NULL;
}

static struct gcd_suspects_options suspects_options(struct gcd_session *s,
                                                    const struct gcd_context *c)
{
    bool image = has_numbers(s);
    return (struct gcd_suspects_options){ .context = *c,
                                          .share = s->options.share,
                                          .min_bytes = s->options.min_bytes,
                                          .names = s->names,
                                          .paths = s->paths,
                                          .only_large = s->options.only_large,
                                          .origins = s->origins,
                                          .fields = s->fields,
                                          .values = s->values.values,
                                          .number = image ? number_in_image : NULL,
                                          .limit = image ? limit_in_image : NULL,
                                          .numbers = s };
}

gcd_status session_suspects(struct gcd_session *s, const struct gcd_context *c, double share,
                            uint64_t min_bytes, struct gcd_suspects **ret, struct gcd_error *err)
{
    GCD_TRY(session_need(s, PART_BIT(PART_DOMINATORS) | PART_BIT(PART_PATHS), c, err));
    GCD_TRY(session_need(s, PART_BIT(PART_FIELDS), c, err));
    GCD_TRY(session_need(s, PART_BIT(PART_ORIGINS), c, err));
    struct gcd_suspects_options options = suspects_options(s, c);
    options.share = share;
    options.min_bytes = min_bytes;
    return gcd_suspects_new(s->graph, s->dominators, &options, ret, err);
}

static gcd_status make_suspects(struct gcd_session *s, const struct gcd_context *c,
                                struct gcd_error *err)
{
    return session_suspects(s, c, s->options.share, s->options.min_bytes, &s->suspects, err);
}

static gcd_status make_largest(struct gcd_session *s, const struct gcd_context *c,
                               struct gcd_error *err)
{
    GCD_TRY(session_need(s, PART_BIT(PART_SUSPECTS), c, err));
    struct gcd_suspects_options options = suspects_options(s, c);
    if (gcd_suspects_count(s->suspects) > 0)
        return GCD_OK;
    return gcd_largest_consumer(s->graph, s->dominators, &options, s->suspects, &s->largest, err);
}

static gcd_status make_async(struct gcd_session *s, const struct gcd_context *c,
                             struct gcd_error *err)
{
    return gcd_async_new(s->graph, c, &s->async, err);
}

static gcd_status make_waits(struct gcd_session *s, const struct gcd_context *c,
                             struct gcd_error *err)
{
    return gcd_async_waits_new(s->graph, c, &s->waits, err);
}

gcd_status session_merge(const struct gcd_session *s, const struct gcd_merged_tree_options *options,
                         struct gcd_merged_tree **ret, struct gcd_error *err)
{
    struct gcd_merged_tree_options o = *options;
    struct gcd_alloc alloc = gcd_alloc_or_default(o.context.alloc);
    size_t types = (size_t)gcd_graph_summary(s->graph)->type_count + 1;
    uint8_t *of_class = gcd_mem_new(&alloc, types);
    if (of_class == NULL)
        return gcd_fail_nomem(err, "merging paths");
    gcd_origins_outside_framework(s->origins, of_class);
    o.fields = gcd_fields_type_count(s->fields) > 0 ? s->fields : NULL;
    o.field_types = of_class;
    gcd_status st = gcd_merged_tree_new(s->graph, &o, ret, err);
    gcd_mem_free(&alloc, of_class, types);
    return st;
}

static gcd_status make_tree(struct gcd_session *s, const struct gcd_context *c,
                            struct gcd_error *err)
{
    GCD_TRY(session_need(s, PART_BIT(PART_DOMINATORS), c, err));
    GCD_TRY(session_need(s, PART_BIT(PART_FIELDS), c, err));
    GCD_TRY(session_need(s, PART_BIT(PART_ORIGINS), c, err));
    struct gcd_merged_tree_options options = { .context = *c, .dominators = s->dominators };
    return session_merge(s, &options, &s->tree, err);
}

static gcd_status make_depths(struct gcd_session *s, const struct gcd_context *c,
                              struct gcd_error *err)
{
    GCD_TRY(session_need(s, PART_BIT(PART_PATHS), c, err));
    size_t n = (size_t)gcd_graph_node_count(s->graph) + 1;
    uint32_t *depths = gcd_mem_new_uncleared(c->alloc, n, sizeof *depths);
    if (depths == NULL)
        return gcd_fail_nomem(err, "depths of objects");
    memset(depths, 0xff, n * sizeof *depths); /* GCD_DEPTH_NONE */
    const uint32_t *order = gcd_paths_order(s->paths);
    /* every node comes after its parent */
    for (uint32_t i = 0; i < gcd_paths_reachable(s->paths); i++) {
        uint32_t parent = gcd_paths_parent(s->paths, order[i]);
        depths[order[i]] = parent == GCD_NODE_ROOT ? 0 : depths[parent] + 1;
    }
    s->depths = depths;
    return GCD_OK;
}

static gcd_status make_of_type(struct gcd_session *s, const struct gcd_context *c,
                               struct gcd_error *err)
{
    struct node_lists_question q = { .graph = s->graph, .key = KEY_TYPE };
    return node_lists_init(&s->of_type, &q, c, err);
}

static gcd_status make_dominated(struct gcd_session *s, const struct gcd_context *c,
                                 struct gcd_error *err)
{
    GCD_TRY(session_need(s, PART_BIT(PART_DOMINATORS), c, err));
    struct node_lists_question q = { .graph = s->graph,
                                     .dominators = s->dominators,
                                     .key = KEY_DOMINATOR };
    return node_lists_init(&s->dominated, &q, c, err);
}

static gcd_status make_referrers(struct gcd_session *s, const struct gcd_context *c,
                                 struct gcd_error *err)
{
    struct node_lists_question q = { .graph = s->graph, .key = KEY_TARGETS };
    return node_lists_init(&s->referrers, &q, c, err);
}

static gcd_status make_slots(struct gcd_session *s, const struct gcd_context *c,
                             struct gcd_error *err)
{
    struct node_lists_question q = { .graph = s->graph, .key = KEY_TARGETS, .slots = true };
    struct node_lists lists;
    GCD_TRY(session_need(s, PART_BIT(PART_REFERRERS), c, err));
    GCD_TRY(node_lists_init(&lists, &q, c, err));
    s->slots = lists.items;
    lists.items = NULL; /* the slots use the starts of the referrers */
    lists.count = 0;
    node_lists_done(&lists, c->alloc);
    return GCD_OK;
}

/* Sorts each list of dominated nodes by retained size; the starts stay the same. */
static gcd_status make_largest_first(struct gcd_session *s, const struct gcd_context *c,
                                     struct gcd_error *err)
{
    GCD_TRY(session_need(s, PART_BIT(PART_DOMINATED), c, err));
    return node_lists_largest_first(&s->dominated, s->dominators, c, &s->largest_first, err);
}

static gcd_status make_sites(struct gcd_session *s, const struct gcd_context *c,
                             struct gcd_error *err)
{
    if (s->sites == NULL)
        return GCD_OK;
    GCD_TRY(session_need(s, PART_BIT(PART_ORIGINS), c, err));
    return gcd_site_list_new(s->sites, gcd_graph_summary(s->graph), s->origins, &s->site_list, err);
}

static gcd_status (*const makers[PARTS])(struct gcd_session *, const struct gcd_context *,
                                         struct gcd_error *) = {
    [PART_ORIGINS] = make_origins,
    [PART_COLLECTIONS] = make_collections,
    [PART_GENERATIONS] = make_generations,
    [PART_FIELDS] = make_fields,
    [PART_DOMINATORS] = make_dominators,
    [PART_PATHS] = make_paths,
    [PART_BY_TYPE] = make_by_type,
    [PART_ROOT_SETS] = make_root_sets,
    [PART_SUSPECTS] = make_suspects,
    [PART_LARGEST] = make_largest,
    [PART_ASYNC] = make_async,
    [PART_WAITS] = make_waits,
    [PART_TREE] = make_tree,
    [PART_DEPTHS] = make_depths,
    [PART_OF_TYPE] = make_of_type,
    [PART_DOMINATED] = make_dominated,
    [PART_REFERRERS] = make_referrers,
    [PART_SLOTS] = make_slots,
    [PART_LARGEST_FIRST] = make_largest_first,
    [PART_SITES] = make_sites,
};

gcd_status session_make(struct gcd_session *s, unsigned parts, const struct gcd_context *context,
                        struct gcd_error *err)
{
    if (parts == (PART_BIT(PART_DOMINATORS) | PART_BIT(PART_PATHS)))
        return gcd_paths_with_dominators_new(s->graph, context, &s->dominators, &s->paths, err);
    for (unsigned part = 0; part < PARTS; part++)
        if ((parts & PART_BIT(part)) != 0)
            return makers[part](s, context, err);
    return GCD_OK;
}

void session_drop(struct gcd_session *s)
{
    const struct gcd_alloc *a = &s->alloc;
    gcd_image_numbers_free(s->numbers);
    gcd_site_list_free(s->site_list);
    gcd_mem_free(a, s->largest_first, (size_t)s->dominated.count * sizeof *s->largest_first);
    gcd_mem_free(a, s->slots, (size_t)s->referrers.count * sizeof *s->slots);
    gcd_mem_free(a, s->depths, ((size_t)gcd_graph_node_count(s->graph) + 1) * sizeof *s->depths);
    node_lists_done(&s->referrers, a);
    node_lists_done(&s->dominated, a);
    node_lists_done(&s->of_type, a);
    gcd_merged_tree_free(s->tree);
    gcd_async_free(s->waits);
    gcd_async_free(s->async);
    gcd_suspects_free(s->largest);
    gcd_suspects_free(s->suspects);
    gcd_mem_free(a, s->by_type,
                 ((size_t)gcd_graph_summary(s->graph)->type_count + 1) * sizeof *s->by_type);
    gcd_paths_free(s->paths);
    gcd_dominators_free(s->dominators);
    gcd_generations_free(s->generations);
    gcd_fields_free(s->fields);
    gcd_collections_free(s->collections);
    gcd_origins_free(s->origins);
}

uint32_t gcd_session_step(void *session, uint64_t address)
{
    static const char *const names[] = { "StateMachine.<>1__state", "<>1__state",
                                         "StateMachine.$State", "$State" }; /* C#, Visual Basic */
    struct gcd_session *s = session;
    struct gcd_image_numbers *all;
    if (!has_numbers(s) || gcd_graph_notes(s->graph)->addresses_made_up ||
        session_numbers(s, &all, NULL) != GCD_OK || all == NULL)
        return GCD_STEP_UNKNOWN;
    uint32_t n = gcd_image_field_count(all, address);
    for (uint32_t i = 0; i < n; i++) {
        struct gcd_image_field f = gcd_image_field(all, address, i);
        bool fits = f.known && f.number.kind == GCD_NUMBER_SIGNED && f.number.bits <= INT32_MAX;
        for (size_t k = 0; k < sizeof names / sizeof *names && fits; k++)
            if (strcmp(f.name, names[k]) == 0)
                return (uint32_t)f.number.bits;
    }
    return GCD_STEP_UNKNOWN;
}
