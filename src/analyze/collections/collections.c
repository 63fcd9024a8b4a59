#include "analyze/collections/collections.h"

#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/signature.h"
#include "base/text.h"

static const char *const kinds[GCD_COLLECTION_KINDS] = {
#define COLLECTION_TEXT(kind, name) [kind] = name,
    GCD_COLLECTION_LIST_OF_KINDS(COLLECTION_TEXT)
#undef COLLECTION_TEXT
};

const char *gcd_collection_kind_name(enum gcd_collection_kind kind)
{
    return kinds[kind];
}

gcd_status collections_nomem(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "looking at collections");
}

/* ---- types ---- */

static bool is_named(struct text base, const char *name)
{
    size_t n = strlen(name);
    if (n > 0 && name[n - 1] == '*')
        return base.n >= n && memcmp(base.s, name, n - 1) == 0 &&
               (memmem(base.s, base.n, "FrozenDictionary", 16) != NULL ||
                memmem(base.s, base.n, "FrozenSet", 9) != NULL);
    return collection_text_is(base, name);
}

static uint8_t find_known(const struct type_parts *p)
{
    static const char system[] = "System.", extensions[] = "Microsoft.";
    if (p->dims > 0 || (strncmp(p->base.s, system, sizeof system - 1) != 0 &&
                        strncmp(p->base.s, extensions, sizeof extensions - 1) != 0))
        return 0;
    for (size_t i = 0; i < gcd_collection_type_count; i++)
        if (is_named(p->base, gcd_collection_types[i].name))
            return (uint8_t)(i + 1);
    return 0;
}

/* Marks a name whose types have different element types; the runtime's names of nested types lack
 * the outer ones. */
#define AMBIGUOUS 0u

static bool remember_element_type(struct gcd_collections *c, const struct gcd_type *t)
{
    uint64_t hash = gcd_text_hash(t->name, strlen(t->name), GCD_TEXT_HASH);
    uint32_t before = gcd_idmap_get(&c->element_types, hash);
    return gcd_idmap_put(&c->element_types, hash,
                         before == GCD_IDMAP_NONE || before == t->element_type ? t->element_type
                                                                               : AMBIGUOUS);
}

static gcd_status look_at_types(struct gcd_collections *c, struct gcd_error *err)
{
    for (uint32_t i = 0; i < c->summary->type_count; i++) {
        struct type_parts p = collection_name_parts(c->summary->types[i].name);
        c->is_array[i] = p.dims > 0;
        c->known[i] = find_known(&p);
        if (!remember_element_type(c, &c->summary->types[i]))
            return collections_nomem(err);
    }
    return gcd_length_rules(c->summary, &c->alloc, c->lengths, err);
}

gcd_status gcd_collections_new(const struct gcd_graph *g, const struct gcd_context *context,
                               struct gcd_collections **ret, struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc a = gcd_alloc_or_default(context->alloc);
    struct gcd_collections *c = gcd_mem_new(&a, sizeof *c);
    if (c == NULL)
        return collections_nomem(err);
    c->alloc = a;
    c->context = *context;
    c->g = g;
    c->summary = gcd_graph_summary(g);
    c->ptr_bytes = c->summary->trace.ptr_bytes == 4 ? 4 : 8;
    c->words = ((size_t)gcd_graph_node_count(g) + 63) / 64;
    gcd_idmap_init(&c->element_types, &c->alloc);
    gcd_idmap_init(&c->roles, &c->alloc);
    size_t types = c->summary->type_count;
    c->known = gcd_mem_new_array(&a, types, sizeof *c->known);
    c->is_array = gcd_mem_new_array(&a, types, sizeof *c->is_array);
    c->lengths = gcd_mem_new_array(&a, types, sizeof *c->lengths);
    gcd_status st = c->known != NULL && c->is_array != NULL && c->lengths != NULL
                        ? look_at_types(c, err)
                        : collections_nomem(err);
    if (st == GCD_OK)
        *ret = c;
    else
        gcd_collections_free(c);
    return st;
}

void gcd_collections_free(struct gcd_collections *c)
{
    if (c == NULL)
        return;
    struct gcd_alloc a = c->alloc;
    size_t types = c->summary->type_count;
    gcd_idmap_done(&c->element_types);
    gcd_idmap_done(&c->roles);
    gcd_mem_free(&a, c->known, types * sizeof *c->known);
    gcd_mem_free(&a, c->is_array, types * sizeof *c->is_array);
    gcd_mem_free(&a, c->lengths, types * sizeof *c->lengths);
    gcd_mem_free(&a, c->seen, c->words * sizeof *c->seen);
    gcd_mem_free(&a, c->inside, c->inside_room * sizeof *c->inside);
    for (unsigned i = 0; i < 2; i++) {
        gcd_mem_free(&a, c->counts[i], types * sizeof *c->counts[i]);
        gcd_mem_free(&a, c->counted[i], c->counted_room[i] * sizeof *c->counted[i]);
    }
    gcd_mem_free(&a, c, sizeof *c);
}

enum gcd_collection_kind gcd_collections_kind(const struct gcd_collections *c, uint32_t type)
{
    if (c->known[type] != 0)
        return (enum gcd_collection_kind)gcd_collection_types[c->known[type] - 1].kind;
    return c->is_array[type] ? GCD_COLLECTION_ARRAY : GCD_COLLECTION_NONE;
}

/* The nature of a type argument; plain_types has the sizes of values. */
static enum arg_nature nature_of(uint32_t element_type)
{
    return gcd_element_is_reference(element_type) ? ARG_REFERENCE
           : element_type == ELEMENT_VALUETYPE    ? ARG_VALUE
                                                  : ARG_UNKNOWN;
}

bool gcd_collections_of_references(const struct gcd_collections *c, uint32_t type)
{
    const struct gcd_type *t = &c->summary->types[type];
    const struct gcd_length_rule *rule = &c->lengths[type];
    if (!c->is_array[type] || rule->element_bytes != c->ptr_bytes)
        return false;
    if (t->parameters[0] != 0)
        return nature_of(t->parameters[0]) == ARG_REFERENCE;
    struct type_parts p = collection_name_parts(t->name);
    struct text element = { t->name, strlen(t->name) - 2 };
    if (p.dims > 1 || (p.plain_dims && (collection_text_is(element, "System.String") ||
                                        collection_text_is(element, "System.Object"))))
        return true;
    uint32_t element_type =
        gcd_idmap_get(&c->element_types, gcd_text_hash(element.s, element.n, GCD_TEXT_HASH));
    return p.plain_dims && nature_of(element_type) == ARG_REFERENCE;
}

/* ---- the internals ---- */

/* Is ARG a KeyValuePair of these OUTER arguments? */
static bool is_pair(struct text arg, struct text outer)
{
    static const char *const begins[] = { "System.Collections.Generic.KeyValuePair`2[",
                                          "System.Collections.Generic.KeyValuePair<" };
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        size_t n = strlen(begins[i]);
        if (arg.n == n + outer.n + 1 && memcmp(arg.s, begins[i], n) == 0 &&
            memcmp(arg.s + n, outer.s, outer.n) == 0)
            return true;
    }
    return false;
}

/* Is it a type NAME?  NAME may be nested in another type, which C# also separates with a dot. */
static bool is_called(const struct type_parts *p, const char *name)
{
    size_t n = strlen(name);
    return collection_text_is(p->simple, name) || collection_text_is(p->base, name) ||
           (p->base.n > n && p->base.s[p->base.n - n - 1] == '.' &&
            memcmp(p->base.s + p->base.n - n, name, n) == 0);
}

static bool has_args(const struct inner_type *inner, struct text args, struct text outer)
{
    switch ((enum inner_args)inner->args) {
    case ARGS_ANY:
        return true;
    case ARGS_SAME:
        return args.n == outer.n && memcmp(args.s, outer.s, outer.n) == 0;
    case ARGS_PAIR:
        return is_pair(args, outer);
    }
    return false;
}

/* Is type NAME, in parts P, an array of argument number I of OUTER_ARGS? */
static bool is_array_of_arg(const char *name, const struct type_parts *p, struct text outer_args,
                            unsigned i)
{
    struct text arg, element = { name, strlen(name) - 2 };
    return p->dims > 0 && collection_name_arg(outer_args, i, &arg) &&
           collection_same_type(element, arg);
}

static bool is_inner(const struct inner_type *inner, const char *name, const struct type_parts *p,
                     struct text outer_args)
{
    if (!p->plain_dims)
        return false;
    if (inner->name[0] == '\0')
        return is_array_of_arg(name, p, outer_args, inner->arg);
    return p->dims == inner->dims && is_called(p, inner->name) &&
           has_args(inner, p->args, outer_args);
}

static enum inner_role role_in(const struct collection_type *known, struct text outer_args,
                               const char *name, const struct type_parts *p)
{
    for (size_t i = 0; i < INNER_TYPES && known->inner[i].name != NULL; i++)
        if (is_inner(&known->inner[i], name, p, outer_args))
            return (enum inner_role)known->inner[i].role;
    return INNER_NONE;
}

static enum inner_role find_role(const struct gcd_collections *c, uint32_t outer, uint32_t type)
{
    const struct collection_type *known = &gcd_collection_types[c->known[outer] - 1];
    struct text args = collection_name_parts(c->summary->types[outer].name).args;
    const char *name = c->summary->types[type].name;
    struct type_parts p = collection_name_parts(name);
    if (known->rule != COUNT_WRAPPED)
        return role_in(known, args, name, &p);
    if (c->known[type] != 0)
        return p.args.n == args.n && memcmp(p.args.s, args.s, args.n) == 0 ? INNER_HOLDER
                                                                           : INNER_NONE;
    for (size_t i = 0; i < gcd_collection_type_count; i++) {
        enum inner_role role = role_in(&gcd_collection_types[i], args, name, &p);
        if (role != INNER_NONE && gcd_collection_types[i].inner[0].args != ARGS_ANY)
            return role;
    }
    return is_array_of_arg(name, &p, args, 0) && p.plain_dims ? INNER_ITEMS : INNER_NONE;
}

enum inner_role collections_role(struct gcd_collections *c, uint32_t outer, uint32_t type)
{
    if (c->known[outer] == 0)
        return INNER_NONE;
    uint64_t id = (uint64_t)outer << 32 | type;
    uint32_t known = gcd_idmap_get(&c->roles, id);
    if (known != GCD_IDMAP_NONE)
        return (enum inner_role)known;
    enum inner_role role = find_role(c, outer, type);
    /* if out of memory, it is computed again next time */
    (void)gcd_idmap_put(&c->roles, id, role);
    return role;
}

enum inner_role collections_role_below(struct gcd_collections *c, uint32_t outer, uint32_t parent,
                                       enum inner_role parent_role, uint32_t type)
{
    enum inner_role role;
    switch (parent_role) {
    case INNER_HOLDER:
        return collections_role(c, outer, type);
    case INNER_NODE: /* a value of a dictionary can be an array like the internal ones */
        role = type == parent ? INNER_NODE : collections_role(c, outer, type);
        return role == INNER_NODE || (role == INNER_OTHER &&
                                      gcd_collections_kind(c, outer) == GCD_COLLECTION_CACHE)
                   ? role
                   : INNER_NONE;
    default:
        return INNER_NONE;
    }
}

enum inner_role collections_own_role(struct gcd_collections *c, uint32_t type)
{
    return c->known[type] == 0                             ? INNER_ITEMS
           : collections_role(c, type, type) == INNER_NODE ? INNER_NODE
                                                           : INNER_HOLDER;
}

bool gcd_collections_is_inside(struct gcd_collections *c, uint32_t outer, uint32_t parent,
                               uint32_t inner)
{
    if (c->known[outer] == 0)
        return false;
    enum inner_role role =
        parent == outer ? collections_own_role(c, outer) : collections_role(c, outer, parent);
    return collections_role_below(c, outer, parent, role, inner) != INNER_NONE;
}

size_t gcd_collections_inside(struct gcd_collections *c, const uint32_t *path, size_t n, size_t i)
{
    uint32_t outer = gcd_graph_node_type(c->g, path[i]), parent = outer;
    size_t inside = 0;
    while (i + inside + 1 < n) {
        uint32_t type = gcd_graph_node_type(c->g, path[i + inside + 1]);
        if (!gcd_collections_is_inside(c, outer, parent, type))
            break;
        parent = type;
        inside++;
    }
    return inside;
}

bool gcd_collections_can_hold_handlers(const char *array_name)
{
    return strcmp(array_name, "System.Object[]") == 0 || strcmp(array_name, "Wrapper[]") == 0 ||
           strcmp(array_name, "System.Delegate+Wrapper[]") == 0;
}

uint32_t gcd_collections_handlers(const struct gcd_collections *c, uint32_t node, size_t *ret_count)
{
    size_t n, count;
    const uint32_t *edges = gcd_graph_node_edges(c->g, node, &n);
    if (n != 2 || (edges[0] != node && edges[1] != node) || edges[0] == edges[1])
        return GCD_NODE_NONE;
    uint32_t list = edges[0] != node ? edges[0] : edges[1], type = gcd_graph_node_type(c->g, node);
    if (!c->is_array[gcd_graph_node_type(c->g, list)] ||
        !gcd_collections_can_hold_handlers(c->summary->types[gcd_graph_node_type(c->g, list)].name))
        return GCD_NODE_NONE;
    const uint32_t *handlers = gcd_graph_node_edges(c->g, list, &count);
    for (size_t i = 0; i < count; i++)
        if (gcd_graph_node_type(c->g, handlers[i]) != type)
            return GCD_NODE_NONE;
    *ret_count = count;
    return count > 1 ? list : GCD_NODE_NONE;
}

/* ---- arguments ---- */

static const struct {
    const char *name;
    uint8_t bytes;
} plain_types[] = {
    { "System.Boolean", 1 },  { "System.Byte", 1 },
    { "System.SByte", 1 },    { "System.Char", 2 },
    { "System.Int16", 2 },    { "System.UInt16", 2 },
    { "System.Half", 2 },     { "System.Int32", 4 },
    { "System.UInt32", 4 },   { "System.Single", 4 },
    { "System.DateOnly", 4 }, { "System.Int64", 8 },
    { "System.UInt64", 8 },   { "System.Double", 8 },
    { "System.DateTime", 8 }, { "System.TimeSpan", 8 },
    { "System.TimeOnly", 8 }, { "System.Guid", 16 },
    { "System.Decimal", 16 }, { "System.DateTimeOffset", 16 },
    { "System.Int128", 16 },  { "System.UInt128", 16 },
};

static unsigned plain_bytes(const struct gcd_collections *c, uint32_t element_type)
{
    static const uint8_t bytes[] = {
        [0x02] = 1, [0x03] = 2, 1, 1, 2, 2, 4, 4, 8, 8, 4, [0x0d] = 8
    };
    if (element_type == 0x18 || element_type == 0x19)
        return c->ptr_bytes;
    return element_type < sizeof bytes ? bytes[element_type] : 0;
}

struct arg collections_arg(const struct gcd_collections *c, uint32_t type, unsigned i)
{
    struct arg arg = { .name = { "", 0 } };
    const struct gcd_type *t = &c->summary->types[type];
    struct type_parts p = collection_name_parts(t->name);
    if (!collection_name_arg(p.args, i, &arg.name))
        return arg;
    uint32_t element_type = i < GCD_TYPE_PARAMETERS ? t->parameters[i] : 0;
    if (element_type == 0)
        element_type =
            gcd_idmap_get(&c->element_types, gcd_text_hash(arg.name.s, arg.name.n, GCD_TEXT_HASH));
    for (size_t k = 0; k < sizeof plain_types / sizeof *plain_types; k++)
        if (collection_text_is(arg.name, plain_types[k].name))
            return (struct arg){ arg.name, ARG_PLAIN, plain_types[k].bytes };
    if (plain_bytes(c, element_type) > 0)
        return (struct arg){ arg.name, ARG_PLAIN, plain_bytes(c, element_type) };
    bool is_array = arg.name.n > 2 && arg.name.s[arg.name.n - 1] == ']' &&
                    (arg.name.s[arg.name.n - 2] == '[' || arg.name.s[arg.name.n - 2] == ',');
    arg.nature = is_array || collection_text_is(arg.name, "System.String") ||
                         collection_text_is(arg.name, "System.Object")
                     ? ARG_REFERENCE
                     : nature_of(element_type);
    arg.bytes = arg.nature == ARG_REFERENCE ? c->ptr_bytes : 0;
    return arg;
}
