/*
 * types, type, retained: tables of types, and of the largest objects.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/root_order.h>
#include <gcdumpc/unstable/session/views.h>

#include "mcp/mcp_call.h"
#include "mcp/mcp_words.h"
#include "output/json_out.h"
#include "output/type_pattern.h"

/* A line of a table of types, with its sort keys. */
struct line {
    uint64_t key;
    const char *name; /* breaks ties; the only key when all keys are 0 */
    uint32_t type;
};

static int compare(const void *pa, const void *pb)
{
    const struct line *a = pa, *b = pb;
    int by_name = a->key != b->key ? (a->key < b->key ? 1 : -1) : strcmp(a->name, b->name);
    return by_name != 0 ? by_name : (a->type > b->type) - (a->type < b->type);
}

/* The types that are nonzero in CHOSEN (NULL: all with objects), sorted by KEYS (NULL: by name).
 * free() it; NULL: out of memory. */
static struct line *sorted(const struct mcp_call *c, const uint8_t *chosen, const uint64_t *keys,
                           uint32_t *ret_n)
{
    const struct gcd_summary *f = gcd_graph_summary(c->heap->d.graph);
    struct line *lines = calloc((size_t)f->type_count + 1, sizeof *lines);
    uint32_t n = 0;
    for (uint32_t t = 0; t < f->type_count && lines != NULL; t++)
        if (f->types[t].objects > 0 && (chosen == NULL || chosen[t] != 0))
            lines[n++] =
                (struct line){ keys != NULL ? keys[t] : 0, gcd_names_get(c->heap->d.names, t), t };
    if (lines != NULL)
        qsort(lines, n, sizeof *lines, compare);
    *ret_n = n;
    return lines;
}

static json_t *type_row(struct mcp_call *c, uint32_t type, const uint64_t *retained)
{
    const struct gcd_type *t = &gcd_graph_summary(c->heap->d.graph)->types[type];
    json_t *o = json_object();
    mcp_put_name(c, o, "type", gcd_names_get(c->heap->d.names, type));
    mcp_put_name(c, o, "module", cli_module_file(t));
    mcp_put_count(o, "objects", t->objects);
    mcp_put_count(o, "bytes", t->bytes);
    if (retained != NULL)
        mcp_put_count(o, "retained_at_least", retained[type]);
    return o;
}
#define TYPE_SHAPE "type:s module:s? objects:i bytes:i retained_at_least:i~"

/* The keys for the sort order SORT: KEYS[types]; NULL without an error: by name. */
static enum mcp_outcome keys_of(struct mcp_call *c, const char *sort, const uint64_t *retained,
                                uint64_t **ret)
{
    const struct gcd_summary *f = gcd_graph_summary(c->heap->d.graph);
    *ret = NULL;
    if (sort != NULL && strcmp(sort, "name") == 0)
        return MCP_DONE;
    bool by_count = sort != NULL && strcmp(sort, "count") == 0,
         by_retained = sort != NULL && strcmp(sort, "retained") == 0;
    *ret = calloc((size_t)f->type_count + 1, sizeof **ret);
    for (uint32_t t = 0; t < f->type_count && *ret != NULL; t++)
        (*ret)[t] = by_count ? f->types[t].objects : by_retained ? retained[t] : f->types[t].bytes;
    return *ret != NULL ? MCP_DONE : mcp_no_memory(c);
}

static enum mcp_outcome list_types(struct mcp_call *c, const char *sort, const uint64_t *retained,
                                   const uint8_t *chosen)
{
    uint64_t *keys;
    uint32_t n;
    enum mcp_outcome e = keys_of(c, sort, retained, &keys);
    struct line *lines = e == MCP_DONE ? sorted(c, chosen, keys, &n) : NULL;
    if (e == MCP_DONE && lines == NULL)
        e = mcp_no_memory(c);
    if (e == MCP_DONE) {
        mcp_page_total(c, n);
        while (mcp_page_wants(c))
            mcp_page_add(c, type_row(c, lines[c->page.next].type, retained));
        mcp_page_end(c, "types");
    }
    free(lines);
    free(keys);
    return e;
}

static enum mcp_outcome retained_by_type(struct mcp_call *c, const uint64_t **ret)
{
    struct gcd_context context = mcp_context(c, "finding dominators");
    struct gcd_error err = GCD_ERROR_INIT;
    return mcp_status(c, gcd_session_retained_by_type(c->heap->d.session, &context, ret, &err),
                      &err);
}

static enum mcp_outcome run_types(struct mcp_call *c)
{
    const char *sort = mcp_text(c, "sort");
    const uint64_t *retained = NULL;
    uint8_t *chosen;
    enum mcp_outcome e = mcp_find_types(c, "filter", &chosen);
    if (e == MCP_DONE &&
        (mcp_flag(c, "retained") || (sort != NULL && strcmp(sort, "retained") == 0)))
        e = retained_by_type(c, &retained);
    if (e == MCP_DONE)
        e = list_types(c, sort, retained, chosen);
    free(chosen);
    return e;
}

static const struct mcp_arg types_args[] = {
    { "filter", MCP_TEXT, false, 0, 0, NULL, "only types " MCP_PATTERN_TEXT },
    { "sort", MCP_TEXT, false, 0, 0, "bytes|count|retained|name", "order of the rows (bytes)" },
    { "retained", MCP_FLAG, false, 0, 0, NULL,
      "also what the objects of a type retain, a lower bound" },
    { .name = NULL },
};

const struct mcp_tool mcp_types = {
    "types",    "Types of a heap",       "Objects and bytes of each type.",
    types_args, "types[" TYPE_SHAPE "]", MCP_TAKES_HEAP | MCP_PAGED,
    run_types
};

/* ---- objects ---- */

/* The largest objects are selected in one pass; no list is longer than this. */
#define LARGEST_MAX 100000u

/* The number of objects of TYPES (NULL: all), including dead ones. */
static uint64_t count_objects(const struct mcp_call *c, const uint8_t *types)
{
    const struct gcd_summary *f = gcd_graph_summary(c->heap->d.graph);
    uint64_t n = 0;
    for (uint32_t t = 0; t < f->type_count; t++)
        n += types == NULL || types[t] != 0 ? f->types[t].objects : 0;
    return n;
}

/* Lists the largest objects of TYPES (NULL: all), at most LARGEST_MAX. */
static enum mcp_outcome list_objects(struct mcp_call *c, const uint8_t *types)
{
    struct gcd_context context = mcp_context(c, "finding dominators");
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_dominators *d;
    uint32_t n = gcd_graph_node_count(c->heap->d.graph) < LARGEST_MAX
                     ? gcd_graph_node_count(c->heap->d.graph)
                     : LARGEST_MAX;
    uint32_t *nodes = calloc((size_t)n + 1, sizeof *nodes);
    if (nodes == NULL)
        return mcp_no_memory(c);
    enum mcp_outcome e =
        mcp_status(c, gcd_session_dominators(c->heap->d.session, &context, &d, &err), &err);
    if (e == MCP_DONE) {
        gcd_retained_largest(c->heap->d.graph, d, types, 1, nodes, &n);
        mcp_page_total_capped(c, n < LARGEST_MAX ? n : count_objects(c, types), LARGEST_MAX);
        while (mcp_page_wants(c))
            mcp_page_add(c, mcp_object_row(c, d, nodes[c->page.next]));
        mcp_page_end(c, "objects");
    }
    free(nodes);
    return e;
}

/* Adds the exact retained size of all objects of TYPES together. */
static enum mcp_outcome put_exact(struct mcp_call *c, const uint8_t *types)
{
    struct gcd_context context = mcp_context(c, "finding what it retains");
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_retained_set set;
    if (gcd_retained_set(c->heap->d.graph, types, &context, &set, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    mcp_put_count(c->out, "count", set.objects);
    mcp_put_count(c->out, "bytes", set.bytes);
    mcp_put_count(c->out, "retained_objects", set.retained_objects);
    mcp_put_count(c->out, "retained_bytes", set.retained_bytes);
    return MCP_DONE;
}
#define EXACT_SHAPE "count:i bytes:i retained_objects:i retained_bytes:i"

static void put_names(struct mcp_call *c, const uint8_t *types)
{
    const struct gcd_summary *f = gcd_graph_summary(c->heap->d.graph);
    json_t *names = json_array();
    uint64_t n = 0;
    for (uint32_t t = 0; t < f->type_count; t++)
        if (types[t] != 0 && n++ < 10)
            (void)json_array_append_new(names, mcp_name(c, gcd_names_get(c->heap->d.names, t)));
    mcp_put(c->out, "types", names);
    mcp_put_count(c->out, "type_count", n);
}

static enum mcp_outcome run_type(struct mcp_call *c)
{
    uint8_t *types;
    enum mcp_outcome e = mcp_find_types(c, "type", &types);
    if (e == MCP_DONE)
        e = put_exact(c, types);
    if (e == MCP_DONE)
        put_names(c, types);
    if (e == MCP_DONE)
        e = list_objects(c, types);
    free(types);
    return e;
}

static const struct mcp_arg type_args[] = {
    { "type", MCP_TEXT, true, 0, 0, NULL, "a type, or several " MCP_PATTERN_TEXT },
    { .name = NULL },
};

const struct mcp_tool mcp_type = { "type",
                                   "One type",
                                   "What the live objects of a type retain together, exactly, and "
                                   "the objects that retain most, the largest first.",
                                   type_args,
                                   "types[] type_count:i " EXACT_SHAPE " objects[" MCP_OBJECT_SHAPE
                                   "]",
                                   MCP_TAKES_HEAP | MCP_PAGED,
                                   run_type };

/* ---- retained ---- */

/* Lists bytes and number of objects by type, of dominators or of retained objects. */
static void list_parts(struct mcp_call *c, const struct line *lines, uint32_t n,
                       const struct gcd_content *content)
{
    mcp_page_total(c, n);
    while (mcp_page_wants(c)) {
        const struct line *l = &lines[c->page.next];
        json_t *o = json_object();
        mcp_put_name(c, o, "type", l->name);
        mcp_put_count(o, "objects", content[l->type].objects);
        mcp_put_count(o, "bytes", content[l->type].bytes);
        mcp_page_add(c, o);
    }
    mcp_page_end(c, "rows");
}

static struct line *lines_of(const struct mcp_call *c, const struct gcd_content *content,
                             uint32_t count, uint32_t *ret_n)
{
    uint32_t type_count = gcd_graph_summary(c->heap->d.graph)->type_count;
    struct line *lines = calloc((size_t)count + 1, sizeof *lines);
    *ret_n = 0;
    for (uint32_t t = 0; t < count && lines != NULL; t++)
        if (content[t].objects > 0)
            lines[(*ret_n)++] =
                (struct line){ content[t].bytes,
                               t == type_count ? "(roots)" : gcd_names_get(c->heap->d.names, t),
                               t };
    if (lines != NULL)
        qsort(lines, *ret_n, sizeof *lines, compare);
    return lines;
}

static gcd_status find_content(struct mcp_call *c, const uint8_t *types,
                               struct gcd_content *content, struct gcd_error *err)
{
    struct gcd_context context = mcp_context(c, "finding what it retains");
    struct gcd_retained_set set;
    return gcd_retained_content(c->heap->d.graph, types, &context, &set, content, err);
}

static gcd_status find_dominating(struct mcp_call *c, const uint8_t *types,
                                  struct gcd_content *content, struct gcd_error *err)
{
    struct gcd_context context = mcp_context(c, "finding dominators");
    struct gcd_dominators_of which = { .types = types };
    const struct gcd_dominators *d;
    size_t n = (size_t)gcd_graph_summary(c->heap->d.graph)->type_count + 1;
    struct gcd_dominating_type *of = calloc(n, sizeof *of);
    gcd_status st = gcd_session_dominators(c->heap->d.session, &context, &d, err);
    if (st == GCD_OK)
        st = of != NULL ? gcd_immediate_dominators(c->heap->d.graph, d, &which, &context, of, err)
                        : GCD_E_NOMEM;
    for (size_t t = 0; t < n && st == GCD_OK; t++)
        content[t] = (struct gcd_content){ .objects = of[t].objects, .bytes = of[t].bytes };
    free(of);
    return st;
}

static enum mcp_outcome list_content(struct mcp_call *c, const uint8_t *types, bool dominators)
{
    struct gcd_error err = GCD_ERROR_INIT;
    uint32_t count = gcd_graph_summary(c->heap->d.graph)->type_count + dominators, n;
    struct gcd_content *content = calloc((size_t)count + 1, sizeof *content);
    if (content == NULL)
        return mcp_no_memory(c);
    gcd_status st = dominators ? find_dominating(c, types, content, &err)
                               : find_content(c, types, content, &err);
    struct line *lines = st == GCD_OK ? lines_of(c, content, count, &n) : NULL;
    if (lines != NULL)
        list_parts(c, lines, n, content);
    enum mcp_outcome e = st != GCD_OK    ? mcp_fail_by(c, &err)
                         : lines != NULL ? MCP_DONE
                                         : mcp_no_memory(c);
    free(lines);
    free(content);
    return e;
}

static enum mcp_outcome list_retained_types(struct mcp_call *c, const uint8_t *types)
{
    const uint64_t *retained;
    enum mcp_outcome e = retained_by_type(c, &retained);
    return e == MCP_DONE ? list_types(c, "retained", retained, types) : e;
}

static enum mcp_outcome run_retained(struct mcp_call *c)
{
    const char *by = mcp_text(c, "by") != NULL ? mcp_text(c, "by") : "objects";
    bool content = strcmp(by, "content") == 0, dominators = strcmp(by, "dominators") == 0;
    uint8_t *types;
    if ((content || dominators) && mcp_text(c, "type") == NULL)
        return mcp_fail(c, "retained by %s needs \"type\"", by);
    enum mcp_outcome e = mcp_find_types(c, "type", &types);
    if (e == MCP_DONE)
        e = content || dominators      ? list_content(c, types, dominators)
            : strcmp(by, "types") == 0 ? list_retained_types(c, types)
                                       : list_objects(c, types);
    free(types);
    return e;
}

static const struct mcp_arg retained_args[] = {
    { "by", MCP_TEXT, false, 0, 0, "objects|types|content|dominators",
      "objects: those that retain most (default); types: a lower bound for each; "
      "content: what all objects of \"type\" retain together, by type; dominators: which types "
      "dominate those of \"type\"" },
    { "type", MCP_TEXT, false, 0, 0, NULL, "only objects of types " MCP_PATTERN_TEXT },
    { .name = NULL },
};

const struct mcp_tool mcp_retained = {
    "retained",
    "What retains the most memory",
    "Largest objects or types by retained size, what a type retains, or what dominates a "
    "type.",
    retained_args,
    "objects[" MCP_OBJECT_SHAPE "]~ types[" TYPE_SHAPE "]~ rows[type:s objects:i bytes:i]~",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_retained
};
