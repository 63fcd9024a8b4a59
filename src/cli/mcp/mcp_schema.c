#include "mcp/mcp_schema.h"

#include <string.h>

#include "render/render.h"

#define NESTED_MAX 4

const struct mcp_arg mcp_heap_args[] = {
    { "heap", MCP_TEXT, false, 0, 0, NULL,
      "which heap, as open called it (\"h1\"); not needed while only one is open" },
    { .name = NULL },
};
const struct mcp_arg mcp_page_args[] = {
    { "limit", MCP_NUMBER, false, 1, 1000, NULL, "at most this many rows (default 25)" },
    { "cursor", MCP_TEXT, false, 0, 0, NULL,
      "next_cursor of the answer before, with the same other arguments" },
    { "max_chars", MCP_NUMBER, false, 1000, 1000000, NULL,
      "stop when the rows have this many characters (default 8000); a text longer than an eighth "
      "of it is shortened" },
    { .name = NULL },
};

/* ---- answers ---- */

static json_t *type_of(char kind)
{
    return json_string(kind == 's'   ? "string"
                       : kind == 'i' ? "integer"
                       : kind == 'n' ? "number"
                                     : "boolean");
}

/* {"type": T}, or {"type": [T, "null"]}. */
static json_t *plain(json_t *type, bool nullable)
{
    return nullable ? json_pack("{s:[o,s]}", "type", type, "null")
                    : json_pack("{s:o}", "type", type);
}

static json_t *empty_object(void)
{
    return json_pack("{s:s,s:{},s:[]}", "type", "object", "properties", "required");
}

static void add(json_t *object, const char *name, size_t n, json_t *schema, bool required)
{
    char key[48];
    size_t used = n < sizeof key - 1 ? n : sizeof key - 1;
    memcpy(key, name, used);
    key[used] = '\0';
    json_object_set_new(json_object_get(object, "properties"), key, schema);
    if (required)
        json_array_append_new(json_object_get(object, "required"), json_string(key));
}

static json_t *schema_of_column(const struct answer_column *column);

/* Adds the columns of SHAPE that agents get, all of which may be absent. */
static void add_columns(json_t *object, const struct answer_shape *shape)
{
    for (size_t i = 0; i < shape->count; i++)
        if (render_is_brief(&shape->columns[i]))
            add(object, shape->columns[i].key, strlen(shape->columns[i].key),
                schema_of_column(&shape->columns[i]), false);
}

static json_t *schema_of_rows(const struct answer_shape *shape)
{
    if (shape->count == 1 && shape->columns[0].key == NULL)
        return schema_of_column(&shape->columns[0]);
    json_t *object = empty_object();
    add_columns(object, shape);
    return object;
}

static json_t *schema_of_column(const struct answer_column *column)
{
    switch (column->kind) {
    case ANSWER_SHARE:
    case ANSWER_GROWTH:
        return plain(type_of('n'), false);
    case ANSWER_FLAG:
        return plain(type_of('b'), false);
    case ANSWER_ROWS:
        return json_pack("{s:s,s:o}", "type", "array", "items", schema_of_rows(column->of));
    default:
        return plain(type_of(column->kind >= ANSWER_DIGITS ? 's' : 'i'), false);
    }
}

/* Reads the field at P: NAME[N], then its kind.  Opens a level for an array or object.  Returns the
 * text after it. */
static const char *take_field(const char *p, json_t **levels, size_t *depth)
{
    size_t n = strcspn(p, ":[{");
    const char *after = p + n + (p[n] == ':' ? 2 : 1);
    json_t *into = levels[*depth];
    if (p[n] == ':' && p[n + 1] == 'a') {
        add(into, p, n, json_pack("{s:s,s:{s:s}}", "type", "array", "items", "type", "array"),
            true);
        return after;
    }
    if (p[n] == ':') {
        bool nullable = *after == '?';
        after += nullable;
        add(into, p, n, plain(type_of(p[n + 1]), nullable), *after != '~');
        return after + (*after == '~');
    }
    if (p[n] == '[' && *after == ']') {
        add(into, p, n, json_pack("{s:s,s:{s:s}}", "type", "array", "items", "type", "string"),
            after[1] != '~');
        return after + 1 + (after[1] == '~');
    }
    json_t *object = empty_object(),
           *schema = p[n] == '[' ? json_pack("{s:s,s:O}", "type", "array", "items", object)
                                 : json_incref(object);
    /* the marks for null and absent come after its fields */
    const char *end = after;
    for (int open = 1; open > 0; end++)
        open += (*end == '[' || *end == '{') - (*end == ']' || *end == '}');
    if (*end == '?' && p[n] == '{')
        schema = json_pack("{s:[o,{s:s}]}", "anyOf", schema, "type", "null");
    end += *end == '?';
    add(into, p, n, schema, *end != '~');
    json_decref(object); /* SCHEMA holds it */
    if (*depth + 1 < NESTED_MAX)
        levels[++*depth] = object;
    return after;
}

json_t *mcp_schema_of(const char *notation, const struct answer_shape *const *shapes)
{
    json_t *levels[NESTED_MAX] = { empty_object() };
    size_t depth = 0;
    for (const char *p = notation; *p != '\0';) {
        if (*p == ' ') {
            p++;
        } else if (*p == '*') {
            add_columns(levels[depth], *shapes++);
            p++;
        } else if (*p == ']' || *p == '}') {
            depth -= depth > 0;
            p++;
            p += *p == '?';
            p += *p == '~';
        } else {
            p = take_field(p, levels, &depth);
        }
    }
    return levels[0];
}

/* ---- arguments ---- */

/* Turns "a|b|c" into a list. */
static json_t *list_of(const char *words)
{
    json_t *all = json_array();
    for (const char *p = words; *p != '\0';) {
        size_t n = strcspn(p, "|");
        json_array_append_new(all, json_stringn(p, n));
        p += n + (p[n] == '|');
    }
    return all;
}

static json_t *argument(const struct mcp_arg *a)
{
    static const char *const types[] = {
        [MCP_TEXT] = "string", [MCP_NUMBER] = "integer", [MCP_FLAG] = "boolean"
    };
    json_t *o = a->kind == MCP_OBJECT ? json_pack("{s:[s,s]}", "type", "string", "integer")
                                      : json_pack("{s:s}", "type", types[a->kind]);
    json_object_set_new(o, "description", json_string(a->about));
    if (a->kind == MCP_NUMBER) {
        json_object_set_new(o, "minimum", json_integer(a->min));
        json_object_set_new(o, "maximum", json_integer(a->max));
    }
    if (a->words != NULL)
        json_object_set_new(o, "enum", list_of(a->words));
    return o;
}

static void add_arguments(json_t *schema, const struct mcp_arg *args)
{
    for (const struct mcp_arg *a = args; a->name != NULL; a++)
        add(schema, a->name, strlen(a->name), argument(a), a->required);
}

json_t *mcp_input_schema(const struct mcp_tool *tool)
{
    json_t *o = empty_object();
    if ((tool->flags & MCP_TAKES_HEAP) != 0)
        add_arguments(o, mcp_heap_args);
    add_arguments(o, tool->args);
    if ((tool->flags & MCP_PAGED) != 0)
        add_arguments(o, mcp_page_args);
    json_object_set_new(o, "additionalProperties", json_false());
    return o;
}

json_t *mcp_output_schema(const struct mcp_tool *tool)
{
    json_t *o = mcp_schema_of(tool->answer, tool->shapes);
    if ((tool->flags & MCP_TAKES_HEAP) != 0) {
        add(o, "heap", 4, plain(type_of('s'), false), false);
        add(o, "incomplete", 10, plain(type_of('s'), false), false);
    }
    if ((tool->flags & MCP_PAGED) != 0) {
        add(o, "total", 5, plain(type_of('i'), true), true);
        add(o, "next_cursor", 11, plain(type_of('s'), true), true);
        add(o, "cut", 3, plain(type_of('s'), true), true);
    }
    return o;
}
