#include "answer/answers.h"

#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/async_names.h>
#include <gcdumpc/unstable/merged_tree.h>
#include <gcdumpc/unstable/root_order.h>
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/text/plural.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

/* ---- objects ---- */

/* What put_object fills. */
#define OBJECT_COLUMNS                                                                            \
    COLUMN("retained_bytes", "Retained", ANSWER_BYTES), COLUMN("share", "Of live", ANSWER_SHARE), \
        COLUMN("bytes", "Bytes", ANSWER_BYTES), COLUMN("object", "Object", ANSWER_TEXT),          \
        DETAIL("address", ANSWER_ADDRESS), DETAIL("node", ANSWER_COUNT), ANSWER_TYPE("Type")

static const struct answer_column object_columns[] = {
    OBJECT_COLUMNS,
    FIELD("held_by", ANSWER_TEXT),
    PEOPLE("holder", "Held by", ANSWER_TEXT),
    DETAIL("dominator", ANSWER_COUNT),
    DETAIL("field", ANSWER_TEXT),
    DETAIL("class", ANSWER_TEXT),
    DETAIL("label", ANSWER_TEXT),
};
const struct answer_shape answer_objects_shape = ANSWER_SHAPE(object_columns);

static const struct answer_column neighbour_columns[] = {
    OBJECT_COLUMNS,
    FIELD("field", ANSWER_TEXT),
};
const struct answer_shape answer_neighbours_shape = ANSWER_SHAPE(neighbour_columns);

struct holder {
    uint64_t node; /* first: the sort key */
    size_t root;   /* index of the root that holds it; SIZE_MAX = none */
};

static int compare_holders(const void *a, const void *b)
{
    uint64_t x = ((const struct holder *)a)->node, y = ((const struct holder *)b)->node;
    return (x > y) - (x < y);
}

static struct holder *holder_of(struct holder *holders, size_t n, uint32_t node)
{
    struct holder key = { node, 0 };
    return n > 0 ? bsearch(&key, holders, n, sizeof *holders, compare_holders) : NULL;
}

static enum gcd_root_group group_of(const struct gcd_graph *g, size_t root)
{
    return gcd_root_group(&gcd_graph_summary(g)->roots[root]);
}

/* A root of a late GROUP does not count as the holder of objects that earlier groups also reach. */
static gcd_status leave_to_others(const struct answer_of_heap *of, enum gcd_root_group group,
                                  uint64_t *reached, struct holder *holders, size_t n,
                                  struct gcd_error *err)
{
    const struct gcd_graph *g = gcd_session_graph(of->session);
    size_t first = 0;
    while (first < n &&
           (holders[first].root == SIZE_MAX || group_of(g, holders[first].root) != group))
        first++;
    if (first == n)
        return GCD_OK;
    GCD_TRY(gcd_reached_before(g, group, of->call, reached, err));
    for (size_t i = first; i < n; i++) {
        struct holder *h = &holders[i];
        if (h->root != SIZE_MAX && group_of(g, h->root) == group &&
            (reached[h->node / 64] >> h->node % 64 & 1) != 0)
            h->root = SIZE_MAX;
    }
    return GCD_OK;
}

/* Fills HOLDERS[N], whose nodes are set, and sorts them by node. */
static gcd_status find_roots(const struct answer_of_heap *of, const struct gcd_dominators *d,
                             const struct gcd_alloc *alloc, struct holder *holders, size_t n,
                             struct gcd_error *err)
{
    const struct gcd_graph *g = gcd_session_graph(of->session);
    const struct gcd_summary *summary = gcd_graph_summary(g);
    size_t words = ((size_t)gcd_graph_node_count(g) + 63) / 64 + 1;
    uint64_t *reached = gcd_mem_new_array(alloc, words, sizeof *reached);
    gcd_status st = reached != NULL && gcd_sort_by_u64(alloc, holders, n, sizeof *holders)
                        ? GCD_OK
                        : gcd_fail_nomem(err, "finding roots");
    for (size_t i = 0; i < summary->root_count && st == GCD_OK; i++) {
        const struct gcd_root *root = &summary->roots[i];
        struct holder *h = holder_of(holders, n, root->node);
        enum gcd_root_group group = gcd_root_group(root);
        bool idle = group == GCD_GROUP_WEAK ||
                    (gcd_group_is_late(group) && !gcd_dominators_is_late(d, root->node));
        if (h != NULL && !idle && (h->root == SIZE_MAX || group < group_of(g, h->root)))
            h->root = i;
    }
    for (unsigned group = GCD_GROUP_LOCALS + 1; group < GCD_GROUP_WEAK && st == GCD_OK; group++)
        st = leave_to_others(of, (enum gcd_root_group)group, reached, holders, n, err);
    gcd_mem_free(alloc, reached, words * sizeof *reached);
    return st;
}

/* Adds the holder of NODE: its dominator, its root, or a note that several paths lead to it. */
static void put_holder(struct answer *a, const struct answer_of_heap *of,
                       const struct gcd_dominators *d, uint32_t node, const struct holder *h)
{
    const struct gcd_graph *g = gcd_session_graph(of->session);
    const struct gcd_names *names = gcd_session_names(of->session);
    char step[GCD_ASYNC_STEP_BYTES];
    uint32_t parent = gcd_dominators_parent(d, node);
    if (parent != GCD_NODE_ROOT) {
        uint32_t type = gcd_graph_node_type(g, parent);
        answer_text(a, "held_by", gcd_names_get(names, type));
        answer_text(a, "holder", gcd_names_step(names, type, step));
        answer_count(a, "dominator", parent);
        return;
    }
    const struct gcd_root *root =
        h != NULL && h->root != SIZE_MAX ? &gcd_graph_summary(g)->roots[h->root] : NULL;
    for (unsigned i = 0; i < 2; i++) {
        const char *cell = i == 0 ? "held_by" : "holder";
        if (root != NULL || gcd_dominators_pseudo_roots(d) > 0)
            answer_root_label(a, cell, of->session, root);
        else
            answer_text(a, cell, "(several)");
    }
    answer_static(a, of->session, root);
}

static void put_object(struct answer *a, const struct answer_of_heap *of,
                       const struct gcd_dominators *d, uint32_t node)
{
    const struct gcd_graph *g = gcd_session_graph(of->session);
    uint64_t retained = gcd_dominators_retained(d, node);
    answer_row(a);
    answer_count(a, "retained_bytes", retained);
    answer_share(a, "share", retained, gcd_dominators_retained(d, GCD_NODE_ROOT));
    answer_count(a, "bytes", gcd_graph_node_size(g, node));
    answer_object(a, of->session, node);
    answer_type(a, gcd_session_names(of->session), gcd_graph_node_type(g, node));
}

/* Through which field NODE refers to the subject of the list, or the subject to NODE. */
static void put_neighbour_field(struct answer *a, const struct answer_of_heap *of,
                                const struct gcd_fields *fields, uint32_t node)
{
    char label[GCD_FIELD_LABEL_BYTES];
    bool from = of->list == ANSWER_REFERENCES;
    struct gcd_field field =
        gcd_fields_only(fields, from ? of->subject : node, from ? node : of->subject);
    if (gcd_field_label(&field, label)[0] != '\0')
        answer_format(a, "field", "%s", label);
}

gcd_status answer_list(const struct answer_of_heap *of, const struct gcd_node_list *list,
                       struct answer **ret, struct gcd_error *err)
{
    static const char *const of_holders[] = { "held_by", "holder", "dominator",
                                              "field",   "class",  "label" };
    const struct gcd_dominators *d;
    uint64_t first = of->page.first < list->count ? of->page.first : list->count,
             n = list->count - first;
    const struct gcd_fields *fields = NULL; /* of references to the subject, or from it */
    *ret = NULL;
    GCD_TRY(gcd_session_dominators(of->session, of->call, &d, err));
    if (of->list != ANSWER_OBJECTS)
        GCD_TRY(gcd_session_fields(of->session, of->call, &fields, err));
    struct answer *a = *ret =
        answer_new(NULL, fields != NULL ? &answer_neighbours_shape : &answer_objects_shape);
    if (of->page.most != 0 && n > of->page.most)
        n = of->page.most;
    struct holder *holders = a != NULL && of->holders
                                 ? gcd_mem_new_array(&a->alloc, (size_t)n + 1, sizeof *holders)
                                 : NULL;
    if (a == NULL || (of->holders && holders == NULL))
        return gcd_fail_nomem(err, "listing objects");
    a->first = first;
    a->total = list->count;
    for (uint64_t i = 0; i < n && of->holders; i++)
        holders[i] = (struct holder){ list->nodes[first + i], SIZE_MAX };
    gcd_status st = of->holders ? find_roots(of, d, &a->alloc, holders, (size_t)n, err) : GCD_OK;
    bool hides = !of->holders && fields == NULL;
    for (size_t i = 0; i < sizeof of_holders / sizeof *of_holders && hides; i++)
        answer_hide(a, of_holders[i]);
    for (uint64_t i = first; i < first + n && st == GCD_OK; i++) {
        put_object(a, of, d, list->nodes[i]);
        if (of->holders)
            put_holder(a, of, d, list->nodes[i], holder_of(holders, (size_t)n, list->nodes[i]));
        if (fields != NULL)
            put_neighbour_field(a, of, fields, list->nodes[i]);
    }
    gcd_mem_free(&a->alloc, holders, (size_t)(n + 1) * sizeof *holders);
    return st;
}

/* The objects of the types, also dead ones. */
static uint64_t count_objects(const struct answer_of_heap *of)
{
    const struct gcd_summary *f = gcd_graph_summary(gcd_session_graph(of->session));
    uint64_t n = 0;
    for (uint32_t t = 0; t < f->type_count; t++)
        n += of->types == NULL || of->types[t] != 0 ? f->types[t].objects : 0;
    return n;
}

gcd_status answer_largest_objects(const struct answer_of_heap *of, struct answer **ret,
                                  struct gcd_error *err)
{
    const struct gcd_graph *g = gcd_session_graph(of->session);
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    const struct gcd_dominators *d;
    uint64_t wanted =
        of->page.most != 0 ? gcd_sum_saturating(of->page.first, of->page.most) : UINT64_MAX;
    uint32_t n = gcd_graph_node_count(g);
    *ret = NULL;
    GCD_TRY(gcd_session_dominators(of->session, of->call, &d, err));
    n = wanted < n ? (uint32_t)wanted : n;
    size_t room = (size_t)n + 1;
    uint32_t *nodes = gcd_mem_new_array(&alloc, room, sizeof *nodes);
    if (nodes == NULL)
        return gcd_fail_nomem(err, "listing objects");
    gcd_retained_largest(g, d, of->types, of->page.min_bytes, nodes, &n);
    struct gcd_node_list list = { nodes, n };
    gcd_status st = answer_list(of, &list, ret, err);
    if (st == GCD_OK && n == wanted)
        (*ret)->total = count_objects(of);
    gcd_mem_free(&alloc, nodes, room * sizeof *nodes);
    return st;
}

/* ---- types: a set of sums for each ---- */

static const struct answer_column content_columns[] = {
    COLUMN("bytes", "Bytes", ANSWER_BYTES), COLUMN("share", "Of these", ANSWER_SHARE),
    COLUMN("count", "Count", ANSWER_COUNT), ANSWER_TYPE("Type"),
    DETAIL("folded_types", ANSWER_COUNT),
};
const struct answer_shape answer_content_shape = ANSWER_SHAPE(content_columns);

static const struct answer_column dominator_columns[] = {
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("share", "Of these", ANSWER_SHARE),
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("dominators", "Dominators", ANSWER_COUNT),
    COLUMN("dominator_bytes", "Their bytes", ANSWER_BYTES),
    ANSWER_TYPE("Dominated by"),
    DETAIL("folded_types", ANSWER_COUNT),
};
const struct answer_shape answer_dominators_shape = ANSWER_SHAPE(dominator_columns);

/* Sums by type; the entry after the last type is for the roots. */
struct sums {
    const struct answer_of_heap *of;
    uint32_t types;
    uint32_t *order; /* [count] types with objects, those with the most bytes first */
    size_t count;
    struct gcd_dominating_type *items; /* [types + 1] */
    struct gcd_alloc alloc;
};

static const char *name_of(const struct sums *s, uint32_t type)
{
    return type == s->types ? "(roots)" : gcd_names_get(gcd_session_names(s->of->session), type);
}

static int compare_types(const void *ctx, uint32_t a, uint32_t b)
{
    const struct sums *s = ctx;
    if (s->items[a].bytes != s->items[b].bytes)
        return s->items[a].bytes < s->items[b].bytes ? 1 : -1;
    int by_name = strcmp(name_of(s, a), name_of(s, b));
    return by_name != 0 ? by_name : (a > b) - (a < b);
}

static gcd_status sums_begin(struct sums *s, const struct answer_of_heap *of, struct gcd_error *err)
{
    *s = (struct sums){ .of = of, .alloc = gcd_alloc_or_default(NULL) };
    s->types = gcd_graph_summary(gcd_session_graph(of->session))->type_count;
    s->items = gcd_mem_new_array(&s->alloc, (size_t)s->types + 1, sizeof *s->items);
    s->order = gcd_mem_new_array(&s->alloc, (size_t)s->types + 1, sizeof *s->order);
    return s->items != NULL && s->order != NULL ? GCD_OK : gcd_fail_nomem(err, "adding up types");
}

static gcd_status sums_sort(struct sums *s, struct gcd_error *err)
{
    for (uint32_t t = 0; t <= s->types; t++)
        if (s->items[t].objects > 0)
            s->order[s->count++] = t;
    return gcd_sort_numbers(&s->alloc, s->order, s->count, compare_types, s)
               ? GCD_OK
               : gcd_fail_nomem(err, "sorting types");
}

static void sums_done(struct sums *s)
{
    gcd_mem_free(&s->alloc, s->items, ((size_t)s->types + 1) * sizeof *s->items);
    gcd_mem_free(&s->alloc, s->order, ((size_t)s->types + 1) * sizeof *s->order);
}

static void put_sums(struct answer *a, const struct gcd_dominating_type *s, uint64_t whole)
{
    answer_row(a);
    answer_count(a, "bytes", s->bytes);
    answer_share(a, "share", s->bytes, whole);
    answer_count(a, "count", s->objects);
}

static void put_dominating(struct answer *a, const struct gcd_dominating_type *s)
{
    answer_count(a, "dominators", s->dominators);
    answer_count(a, "dominator_bytes", s->dominator_bytes);
}

/* Adds a row for each type on the page, and one for those after it. */
static void sums_fill(const struct sums *s, struct answer *a, uint64_t whole, bool dominating)
{
    const struct answer_page *page = &s->of->page;
    struct gcd_dominating_type rest = { .objects = 0 };
    uint64_t left_out = 0, shown = 0;
    a->first = page->first;
    a->total = s->count;
    for (size_t i = (size_t)(page->first < s->count ? page->first : s->count); i < s->count; i++) {
        const struct gcd_dominating_type *item = &s->items[s->order[i]];
        bool roots = s->order[i] == s->types; /* the roots always get a line */
        if (page->no_rest && shown == page->most)
            break;
        if (!roots &&
            ((page->most != 0 && i >= page->first + page->most) || item->bytes < page->min_bytes)) {
            left_out++;
            rest.objects += item->objects;
            gcd_add_saturating(&rest.bytes, item->bytes);
            rest.dominators += item->dominators;
            rest.dominator_bytes += item->dominator_bytes;
            continue;
        }
        put_sums(a, item, whole);
        if (dominating && !roots)
            put_dominating(a, item);
        if (roots)
            answer_types_note(a, "(roots)");
        else
            answer_type(a, gcd_session_names(s->of->session), s->order[i]);
        shown++;
    }
    if (left_out == 0)
        return;
    put_sums(a, &rest, whole);
    if (dominating)
        put_dominating(a, &rest);
    answer_types_note(a, "(%s more type%s)", GCD_DIGITS(left_out), gcd_plural(left_out));
    answer_count(a, "folded_types", left_out);
}

gcd_status answer_content(const struct answer_of_heap *of, struct answer **ret,
                          struct gcd_retained_set *ret_set, struct gcd_error *err)
{
    struct sums s;
    struct gcd_retained_set set;
    *ret = NULL;
    gcd_status st = sums_begin(&s, of, err);
    struct gcd_content *content = gcd_mem_new_array(&s.alloc, (size_t)s.types + 1, sizeof *content);
    if (st == GCD_OK && content == NULL)
        st = gcd_fail_nomem(err, "adding up types");
    if (st == GCD_OK)
        st = gcd_retained_content(gcd_session_graph(of->session), of->types, of->call, &set,
                                  content, err);
    for (uint32_t t = 0; t < s.types && st == GCD_OK; t++)
        s.items[t] = (struct gcd_dominating_type){ .objects = content[t].objects,
                                                   .bytes = content[t].bytes };
    if (st == GCD_OK)
        st = sums_sort(&s, err);
    if (st == GCD_OK && (*ret = answer_new(NULL, &answer_content_shape)) == NULL)
        st = gcd_fail_nomem(err, "listing types");
    if (st == GCD_OK) {
        sums_fill(&s, *ret, set.retained_bytes, false);
        if (ret_set != NULL)
            *ret_set = set;
    }
    gcd_mem_free(&s.alloc, content, ((size_t)s.types + 1) * sizeof *content);
    sums_done(&s);
    return st;
}

gcd_status answer_dominators(const struct answer_of_heap *of, struct answer **ret,
                             struct gcd_error *err)
{
    struct gcd_dominators_of which = { .types = of->types, .skip = of->skip };
    const struct gcd_dominators *d;
    struct sums s;
    uint64_t whole = 0;
    *ret = NULL;
    gcd_status st = sums_begin(&s, of, err);
    if (st == GCD_OK)
        st = gcd_session_dominators(of->session, of->call, &d, err);
    if (st == GCD_OK)
        st = gcd_immediate_dominators(gcd_session_graph(of->session), d, &which, of->call, s.items,
                                      err);
    if (st == GCD_OK)
        st = sums_sort(&s, err);
    if (st == GCD_OK && (*ret = answer_new(NULL, &answer_dominators_shape)) == NULL)
        st = gcd_fail_nomem(err, "listing types");
    for (uint32_t t = 0; t <= s.types && st == GCD_OK; t++)
        gcd_add_saturating(&whole, s.items[t].bytes);
    if (st == GCD_OK)
        sums_fill(&s, *ret, whole, true);
    sums_done(&s);
    return st;
}

/* ---- the exact size of types ---- */

static const struct answer_column exact_columns[] = {
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    COLUMN("share", "Share", ANSWER_SHARE),
    COLUMN("retained_bytes", "Retained", ANSWER_BYTES),
    ANSWER_TYPE("Type"),
};
static const struct answer_shape exact_shape = ANSWER_SHAPE(exact_columns);

/* What the objects of TYPES retain; the row counts all of them, also dead ones. */
static gcd_status put_exact(struct answer *a, const struct answer_of_heap *of, const uint8_t *types,
                            const struct gcd_content *all, struct gcd_error *err)
{
    const struct gcd_graph *g = gcd_session_graph(of->session);
    struct gcd_retained_set set;
    GCD_TRY(gcd_retained_set(g, types, of->call, &set, err));
    if (set.retained_bytes < of->page.min_bytes)
        return GCD_OK;
    answer_row(a);
    answer_count(a, "count", all->objects);
    answer_count(a, "bytes", all->bytes);
    answer_share(a, "share", all->bytes, gcd_graph_summary(g)->bytes);
    answer_count(a, "retained_bytes", set.retained_bytes);
    return GCD_OK;
}

struct retained_order {
    const uint64_t *bytes;
    const struct gcd_names *names;
};

static int compare_retained(const void *ctx, uint32_t a, uint32_t b)
{
    const struct retained_order *o = ctx;
    if (o->bytes[a] != o->bytes[b])
        return o->bytes[a] < o->bytes[b] ? 1 : -1;
    int by_name = strcmp(gcd_names_get(o->names, a), gcd_names_get(o->names, b));
    return by_name != 0 ? by_name : (a > b) - (a < b);
}

/* One row for each of the first types in ORDER[N], and one for all of them together. */
static gcd_status fill_exact(struct answer *a, const struct answer_of_heap *of, uint8_t *one,
                             const uint32_t *order, size_t n, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(gcd_session_graph(of->session));
    struct gcd_content all = { .objects = 0 };
    gcd_status st = GCD_OK;
    for (size_t i = 0; i < n && st == GCD_OK; i++) {
        const struct gcd_type *type = &summary->types[order[i]];
        struct gcd_content this = { type->objects, type->bytes };
        size_t rows = a->rows;
        all.objects += type->objects;
        all.bytes += type->bytes;
        if (i >= of->page.most)
            continue;
        one[order[i]] = 1;
        st = put_exact(a, of, one, &this, err);
        one[order[i]] = 0;
        if (a->rows > rows)
            answer_type(a, gcd_session_names(of->session), order[i]);
    }
    size_t rows = a->rows;
    if (n > 1 && st == GCD_OK)
        st = put_exact(a, of, of->types, &all, err);
    if (a->rows > rows)
        answer_types_note(a, "(%s types together)", GCD_DIGITS(n));
    return st;
}

gcd_status answer_exact(const struct answer_of_heap *of, struct answer **ret, struct gcd_error *err)
{
    const struct gcd_summary *summary = gcd_graph_summary(gcd_session_graph(of->session));
    struct retained_order by = { .names = gcd_session_names(of->session) };
    size_t n = 0, room = (size_t)summary->type_count + 1;
    *ret = NULL;
    GCD_TRY(gcd_session_retained_by_type(of->session, of->call, &by.bytes, err));
    struct answer *a = *ret = answer_new(NULL, &exact_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing types");
    uint8_t *one = gcd_mem_new(&a->alloc, room);
    uint32_t *order = gcd_mem_new_array(&a->alloc, room, sizeof *order);
    for (uint32_t t = 0; order != NULL && t < summary->type_count; t++)
        if (summary->types[t].objects > 0 && of->types[t] != 0)
            order[n++] = t;
    gcd_status st =
        one != NULL && order != NULL && gcd_sort_numbers(&a->alloc, order, n, compare_retained, &by)
            ? fill_exact(a, of, one, order, n, err)
            : gcd_fail_nomem(err, "sorting types");
    gcd_mem_free(&a->alloc, one, room);
    gcd_mem_free(&a->alloc, order, room * sizeof *order);
    return st;
}

/* ---- the dominator tree ---- */

static const struct answer_column tree_columns[] = {
    FIELD("depth", ANSWER_COUNT),
    COLUMN("retained_bytes", "Retained", ANSWER_BYTES),
    COLUMN("share", "Of live", ANSWER_SHARE),
    COLUMN("count", "Count", ANSWER_COUNT),
    COLUMN("bytes", "Bytes", ANSWER_BYTES),
    FIELD("type", ANSWER_TEXT),
    PEOPLE("shown", "Type", ANSWER_TREE),
    FIELD("field", ANSWER_TEXT),
    FIELD("folded_types", ANSWER_COUNT),
};
const struct answer_shape answer_tree_shape = ANSWER_SHAPE(tree_columns);

static void put_step(struct answer *a, uint32_t depth, uint64_t retained, uint64_t whole)
{
    answer_row(a);
    answer_count(a, "depth", depth);
    answer_count(a, "retained_bytes", retained);
    answer_share(a, "share", retained, whole);
}

/* The field that leads to a type comes before it. */
static void put_type(struct answer *a, const struct answer_of_heap *of, uint32_t type,
                     const char *field)
{
    const struct gcd_names *names = gcd_session_names(of->session);
    char step[GCD_ASYNC_STEP_BYTES];
    const char *before = field != NULL ? field : "", *colon = field != NULL ? ": " : "";
    answer_format(a, "type", "%s%s%s", before, colon, gcd_names_get(names, type));
    answer_format(a, "shown", "%s%s%s", before, colon, gcd_names_step(names, type, step));
    answer_text(a, "field", field);
}

/* An open level: its end, the number of its lines, and the sums of what it hides. */
struct level {
    uint32_t end;
    uint64_t lines, rest_types, rest_retained;
};

/* Adds one line for the hidden part below a step, or at the top, so that the lines always add up.
 */
static void put_rest(struct answer *a, uint32_t depth, const struct level *l, uint64_t whole)
{
    if (l->rest_types == 0)
        return;
    put_step(a, depth, l->rest_retained, whole);
    answer_types_note(a, "(%s more type%s)", GCD_DIGITS(l->rest_types), gcd_plural(l->rest_types));
    answer_depth(a, "shown", depth);
    answer_count(a, "folded_types", l->rest_types);
}

gcd_status answer_tree(const struct answer_of_heap *of, const struct gcd_merged_tree *tree,
                       uint32_t max_depth, struct answer **ret, struct gcd_error *err)
{
    struct level levels[256];
    const struct gcd_dominators *d;
    size_t n;
    const struct gcd_merged_step *s = gcd_merged_tree_steps(tree, &n);
    uint32_t depth = 0, i = 0;
    *ret = NULL;
    GCD_TRY(gcd_session_dominators(of->session, of->call, &d, err));
    uint64_t whole = gcd_dominators_retained(d, GCD_NODE_ROOT),
             most = of->page.most != 0 ? of->page.most : UINT64_MAX,
             least = of->page.min_bytes != 0 ? of->page.min_bytes : whole / 100;
    struct answer *a = *ret = answer_new(NULL, &answer_tree_shape);
    if (a == NULL)
        return gcd_fail_nomem(err, "listing types");
    levels[0] = (struct level){ .end = (uint32_t)n };
    for (;;) {
        struct level *l = &levels[depth];
        if (i == l->end) {
            put_rest(a, depth, l, whole);
            if (depth-- == 0)
                break;
            continue;
        }
        if (s[i].bytes < least || l->lines == most) {
            l->rest_types++;
            l->rest_retained += s[i].bytes;
            i = s[i].end;
            continue;
        }
        l->lines++;
        put_step(a, depth, s[i].bytes, whole);
        answer_count(a, "count", s[i].objects);
        answer_count(a, "bytes", s[i].own_bytes);
        put_type(a, of, s[i].label, gcd_merged_tree_field(tree, &s[i]));
        answer_depth(a, "shown", depth);
        if (depth + 1 < max_depth && s[i].end > i + 1) {
            levels[++depth] = (struct level){ .end = s[i].end };
            i++;
        } else {
            i = s[i].end;
        }
    }
    a->total = a->rows;
    return GCD_OK;
}
