/*
 * types, type, retained: tables of types, and of the largest objects.
 */
#include <stdlib.h>
#include <string.h>

#include "mcp/mcp_call.h"
#include "output/json_out.h"

static enum mcp_outcome retained_by_type(struct mcp_call *c, const uint64_t **ret)
{
    struct gcd_context context = mcp_context(c, "finding dominators");
    struct gcd_error err = GCD_ERROR_INIT;
    return mcp_status(c, gcd_session_retained_by_type(c->heap->d.session, &context, ret, &err),
                      &err);
}

/* The types in the order SORT. */
static enum mcp_outcome list_types(struct mcp_call *c, const char *sort, bool retained,
                                   const uint8_t *chosen)
{
    static const char *const orders[] = { "bytes", "count", "name", "retained" };
    struct gcd_histogram_options options = { .context = mcp_context(c, NULL),
                                             .graph = c->heap->d.graph,
                                             .wanted = chosen };
    struct answer_histogram from = { .summary = gcd_graph_summary(c->heap->d.graph),
                                     .names = c->heap->d.names,
                                     .has_retained = retained,
                                     .page = mcp_page_wanted(c) };
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer *a = NULL;
    enum mcp_outcome e = retained ? retained_by_type(c, &from.retained) : MCP_DONE;
    if (e != MCP_DONE)
        return e;
    while (sort != NULL && strcmp(orders[from.sort], sort) != 0)
        from.sort++;
    gcd_status st = gcd_histogram_new(&options, &from.h, &err);
    if (st == GCD_OK)
        st = answer_of_histogram(&from, &a, &err);
    gcd_histogram_free(from.h);
    return mcp_page_answer(c, "types", st, a, &err);
}

static enum mcp_outcome run_types(struct mcp_call *c)
{
    const char *sort = mcp_text(c, "sort");
    uint8_t *chosen;
    enum mcp_outcome e = mcp_find_types(c, "filter", &chosen);
    if (e == MCP_DONE)
        e = list_types(c, sort,
                       mcp_flag(c, "retained") || (sort != NULL && strcmp(sort, "retained") == 0),
                       chosen);
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

const struct mcp_tool mcp_types = { "types",
                                    "Types of a heap",
                                    "Objects and bytes of each type.",
                                    types_args,
                                    "types[*]",
                                    MCP_TAKES_HEAP | MCP_PAGED,
                                    run_types,
                                    { &answer_types_shape } };

/* ---- objects ---- */

static enum mcp_outcome list_objects(struct mcp_call *c, const uint8_t *types)
{
    struct gcd_context context = mcp_context(c, "finding dominators");
    struct answer_of_heap of = {
        .session = c->heap->d.session, .call = &context, .types = types, .page = mcp_page_wanted(c)
    };
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer *a = NULL;
    of.page.min_bytes = 1;
    if (of.page.first > MCP_ROWS_MAX)
        of.page.first = MCP_ROWS_MAX;
    gcd_status st = answer_largest_objects(&of, &a, &err);
    return mcp_page_answer(c, "objects", st, a, &err);
}

/* Adds the exact retained size of all objects of TYPES together. */
static enum mcp_outcome put_exact(struct mcp_call *c, const uint8_t *types)
{
    struct gcd_context context = mcp_context(c, "finding what it retains");
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_retained_set set;
    if (gcd_retained_set(c->heap->d.graph, types, &context, &set, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    cli_json_count(c->out, "count", set.objects);
    cli_json_count(c->out, "bytes", set.bytes);
    cli_json_count(c->out, "retained_objects", set.retained_objects);
    cli_json_count(c->out, "retained_bytes", set.retained_bytes);
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
    cli_json_count(c->out, "type_count", n);
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
                                   "types[] type_count:i " EXACT_SHAPE " objects[*]",
                                   MCP_TAKES_HEAP | MCP_PAGED,
                                   run_type,
                                   { &answer_objects_shape } };

/* ---- retained ---- */

static gcd_status ask_content(const struct answer_of_heap *of, struct answer **ret,
                              struct gcd_error *err)
{
    return answer_content(of, ret, NULL, err);
}

/* Tables that are not of objects or types. */
static const struct retained_by {
    const char *key;
    gcd_status (*ask)(const struct answer_of_heap *of, struct answer **ret, struct gcd_error *err);
    const char *doing;
    bool needs_type;
} retained_by[] = {
    { "content", ask_content, "finding what it retains", true },
    { "dominators", answer_dominators, "finding dominators", true },
    { "fields", answer_fields, "adding up fields", false },
};

static enum mcp_outcome list_by(struct mcp_call *c, const struct retained_by *by,
                                const uint8_t *types)
{
    struct gcd_context context = mcp_context(c, by->doing);
    struct answer_of_heap of = {
        .session = c->heap->d.session, .call = &context, .types = types, .page = mcp_page_wanted(c)
    };
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer *a = NULL;
    gcd_status st = by->ask(&of, &a, &err);
    return mcp_page_answer(c, by->key, st, a, &err);
}

/* The objects of TYPES by the value of a field. */
static enum mcp_outcome list_values(struct mcp_call *c, const uint8_t *types)
{
    struct gcd_context context = mcp_context(c, "grouping objects by a field");
    struct answer_of_heap of = {
        .session = c->heap->d.session, .call = &context, .types = types, .page = mcp_page_wanted(c)
    };
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer *a = NULL;
    gcd_status st = answer_field_values(&of, mcp_text(c, "field"), &a, &err);
    return mcp_page_answer(c, "field_values", st, a, &err);
}

static enum mcp_outcome run_retained(struct mcp_call *c)
{
    const char *name = mcp_text(c, "by") != NULL ? mcp_text(c, "by") : "objects";
    const struct retained_by *by = NULL;
    uint8_t *types;
    for (size_t i = 0; i < sizeof retained_by / sizeof *retained_by; i++)
        if (strcmp(name, retained_by[i].key) == 0)
            by = &retained_by[i];
    bool by_value = strcmp(name, "value") == 0;
    if ((by_value || (by != NULL && by->needs_type)) && mcp_text(c, "type") == NULL)
        return mcp_fail(c, "retained by %s needs \"type\"", name);
    if (by_value != (mcp_text(c, "field") != NULL))
        return mcp_fail(c, by_value ? "retained by value needs \"field\""
                                    : "\"field\" is for retained by value");
    enum mcp_outcome e = mcp_find_types(c, "type", &types);
    if (e == MCP_DONE)
        e = by_value                     ? list_values(c, types)
            : by != NULL                 ? list_by(c, by, types)
            : strcmp(name, "types") == 0 ? list_types(c, "retained", true, types)
                                         : list_objects(c, types);
    free(types);
    return e;
}

static const struct mcp_arg retained_args[] = {
    { "by", MCP_TEXT, false, 0, 0, "objects|types|content|dominators|fields|value",
      "objects: those that retain most (default); types: a lower bound for each; "
      "content: what all objects of \"type\" retain together, by type; dominators: which types "
      "dominate those of \"type\"; fields: what each field of the program's classes retains, or of "
      "\"type\"; value: the objects of \"type\" by the value of \"field\", if the "
      "operator of the server allows it" },
    { "type", MCP_TEXT, false, 0, 0, NULL, "only objects of types " MCP_PATTERN_TEXT },
    { "field", MCP_TEXT, false, 0, 0, NULL, "by value: of this field, such as Tenant or _state" },
    { .name = NULL },
};

const struct mcp_tool mcp_retained = {
    "retained",
    "What retains the most memory",
    "Largest objects, types or fields by retained size, what a type retains, or what dominates "
    "a type.",
    retained_args,
    "objects[*]~ types[*]~ content[*]~ dominators[*]~ fields[*]~ field_values[*]~",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_retained,
    { &answer_objects_shape, &answer_types_shape, &answer_content_shape, &answer_dominators_shape,
      &answer_fields_shape, &answer_field_values_shape }
};
