/* Exceptions: see gcdumpc/unstable/exceptions.h. */
#include <gcdumpc/unstable/exceptions.h>

#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"
#include "base/text.h"

#define CHECK_EVERY (UINT32_C(1) << 20)
#define ENDING      "Exception"

/* Where a type has the fields of System.Exception. */
enum part { MESSAGE, INNER, TRACE, TRACE_TEXT, REMOTE_TRACE_TEXT, PARTS };
static const char *const part_names[PARTS] = { "_message", "_innerException", "_stackTrace",
                                               "_stackTraceString", "_remoteStackTraceString" };

struct of_type {
    bool is_exception;
    uint32_t slots[PARTS]; /* GCD_SLOT_NONE = unknown */
};

struct gcd_exceptions {
    struct gcd_alloc alloc;
    const struct gcd_graph *graph;
    struct gcd_exceptions_of of;
    struct gcd_exception *items; /* [count] */
    size_t count, cap;
    uint32_t *order; /* [order_count] */
    size_t order_count;
};

/* What is needed only while they are found. */
struct finding {
    struct gcd_exceptions *e;
    struct of_type *types; /* [type_count] */
    /* type, message -> a; a, inner exception -> b; the address of a name -> c; c, b -> an item */
    struct gcd_idmap by_message, by_inner, names, by_name;
    struct gcd_field_pass *pass;
};

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "looking for exceptions");
}

/* ---- types ---- */

static struct of_type look_at_type(const struct gcd_exceptions *e, uint32_t type)
{
    struct of_type t = { .is_exception = false };
    uint32_t first, n = gcd_fields_of_type(e->of.fields, type, &first);
    for (unsigned p = 0; p < PARTS; p++)
        t.slots[p] = GCD_SLOT_NONE;
    if (!gcd_fields_has_fields(e->of.fields, type)) {
        t.is_exception = gcd_text_ends(gcd_graph_summary(e->graph)->types[type].name, ENDING);
        return t;
    }
    for (uint32_t i = 0; i < n; i++)
        for (unsigned p = 0; p < PARTS; p++)
            if (t.slots[p] == GCD_SLOT_NONE &&
                strcmp(gcd_fields_slot_name(e->of.fields, first + i), part_names[p]) == 0)
                t.slots[p] = first + i;
    t.is_exception = t.slots[MESSAGE] != GCD_SLOT_NONE && t.slots[INNER] != GCD_SLOT_NONE &&
                     t.slots[TRACE] != GCD_SLOT_NONE;
    return t;
}

/* ---- objects ---- */

static uint32_t text_of(const struct gcd_exceptions *e, uint32_t node)
{
    return e->of.values != NULL
               ? gcd_values_find(e->of.values, gcd_graph_node_address(e->graph, node))
               : GCD_TEXT_NONE;
}

static struct gcd_exception look_at(const struct finding *f, uint32_t node, uint32_t type)
{
    const struct gcd_exceptions *e = f->e;
    const struct of_type *t = &f->types[type];
    struct gcd_exception x = { .type = type,
                               .message = GCD_TEXT_NONE,
                               .inner_type = GCD_TYPE_NONE,
                               .stack_trace = GCD_TEXT_NONE,
                               .node = node,
                               .trace = GCD_NODE_NONE,
                               .count = 1,
                               .bytes = gcd_graph_node_size(e->graph, node) };
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(e->graph, node, &n);
    x.uncertain = t->slots[MESSAGE] == GCD_SLOT_NONE;
    if (x.uncertain > 0)
        return x;
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = gcd_fields_certain(e->of.fields, f->pass, node, i).slot;
        x.uncertain |= slot == GCD_SLOT_NONE;
        if (slot == GCD_SLOT_NONE)
            continue;
        if (slot == t->slots[MESSAGE])
            x.message = text_of(e, edges[i]);
        else if (slot == t->slots[INNER])
            x.inner_type = gcd_graph_node_type(e->graph, edges[i]);
        else if (slot == t->slots[TRACE_TEXT] || slot == t->slots[REMOTE_TRACE_TEXT])
            x.stack_trace = text_of(e, edges[i]);
        if (slot == t->slots[TRACE])
            x.trace = edges[i];
        x.thrown |= slot == t->slots[TRACE] || slot == t->slots[TRACE_TEXT];
    }
    return x;
}

/* Adds those of FROM to TO, a group of the same. */
static void merge(struct gcd_exception *to, const struct gcd_exception *from)
{
    if ((to->thrown == 0 && from->thrown > 0) ||
        (to->trace == GCD_NODE_NONE && from->trace != GCD_NODE_NONE)) {
        to->node = from->node;
        to->trace = from->trace;
    }
    if (to->stack_trace == GCD_TEXT_NONE)
        to->stack_trace = from->stack_trace;
    to->count += from->count;
    to->thrown += from->thrown;
    to->uncertain += from->uncertain;
    gcd_add_saturating(&to->bytes, from->bytes);
}

/* Adds X to its group. */
static bool add_to_group(struct finding *f, const struct gcd_exception *x)
{
    struct gcd_exceptions *e = f->e;
    uint32_t message = gcd_idmap_pair(&f->by_message, x->type, x->message);
    uint32_t inner = gcd_idmap_pair(&f->by_inner, message, x->inner_type);
    uint32_t name = gcd_idmap_number(&f->names, (uintptr_t)x->thrown_in);
    uint32_t i = gcd_idmap_pair(&f->by_name, name, inner);
    if (inner == GCD_IDMAP_NONE || i == GCD_IDMAP_NONE)
        return false;
    if (i < e->count)
        merge(&e->items[i], x);
    else if (!gcd_vec_reserve(&e->alloc, &e->items, &e->cap, i + 1, sizeof *e->items,
                              GCD_IDMAP_NONE))
        return false;
    else
        e->items[e->count++] = *x;
    return true;
}

static int compare_keys(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_exceptions *e = ctx;
    const struct gcd_exception *x = &e->items[a], *y = &e->items[b];
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->message != y->message)
        return x->message < y->message ? -1 : 1;
    if (x->inner_type != y->inner_type)
        return x->inner_type < y->inner_type ? -1 : 1;
    if (x->thrown_in == NULL || y->thrown_in == NULL)
        return (x->thrown_in == NULL) - (y->thrown_in == NULL);
    return strcmp(x->thrown_in, y->thrown_in);
}

static int compare_groups(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_exceptions *e = ctx;
    const struct gcd_exception *x = &e->items[a], *y = &e->items[b];
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return compare_keys(ctx, a, b);
}

/* Several methods may have one name: overloads, and a method of instances of a generic class. */
static bool merge_equal_names(struct gcd_exceptions *e)
{
    uint32_t *order = gcd_sort_order(&e->alloc, e->count, compare_keys, e);
    if (order == NULL)
        return false;
    for (size_t i = 1, first = 0; i < e->count; i++) {
        if (compare_keys(e, order[first], order[i]) != 0) {
            first = i;
            continue;
        }
        merge(&e->items[order[first]], &e->items[order[i]]);
        e->items[order[i]].count = 0;
    }
    gcd_mem_free(&e->alloc, order, e->count * sizeof *order);
    return true;
}

static bool sort_groups(struct gcd_exceptions *e)
{
    if (!merge_equal_names(e))
        return false;
    e->order = gcd_sort_order(&e->alloc, e->count, compare_groups, e);
    e->order_count = e->count;
    while (e->order != NULL && e->order_count > 0 &&
           e->items[e->order[e->order_count - 1]].count == 0)
        e->order_count--; /* merged into others */
    return e->order != NULL;
}

static gcd_status find_all(struct finding *f, const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    struct gcd_exceptions *e = f->e;
    uint32_t nodes = gcd_graph_node_count(e->graph);
    for (uint32_t type = 0; type < gcd_graph_summary(e->graph)->type_count; type++)
        f->types[type] = look_at_type(e, type);
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t type = gcd_graph_node_type(e->graph, node);
        if (node % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(cancel, err));
        if (!f->types[type].is_exception)
            continue;
        struct gcd_exception x = look_at(f, node, type);
        if (x.trace != GCD_NODE_NONE && e->of.thrown_in != NULL)
            x.thrown_in = e->of.thrown_in(e->of.traces, gcd_graph_node_address(e->graph, x.trace));
        if (!add_to_group(f, &x))
            return no_memory(err);
    }
    return sort_groups(e) ? GCD_OK : no_memory(err);
}

gcd_status gcd_exceptions_new(const struct gcd_graph *g, const struct gcd_exceptions_of *of,
                              struct gcd_exceptions **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(of->context.alloc);
    struct gcd_exceptions *e = gcd_mem_new(&a, sizeof *e);
    if (e == NULL)
        return no_memory(err);
    *e = (struct gcd_exceptions){ .alloc = a, .graph = g, .of = *of };
    size_t types = (size_t)gcd_graph_summary(g)->type_count + 1;
    struct finding x = { .e = e };
    struct gcd_idmap *const maps[] = { &x.by_message, &x.by_inner, &x.names, &x.by_name };
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        gcd_idmap_init(maps[i], &e->alloc);
    x.types = gcd_mem_new_array(&a, types, sizeof *x.types);
    x.pass = gcd_mem_new(&a, sizeof *x.pass);
    gcd_status st =
        x.types != NULL && x.pass != NULL ? find_all(&x, of->context.cancel, err) : no_memory(err);
    gcd_mem_free(&a, x.types, types * sizeof *x.types);
    gcd_mem_free(&a, x.pass, sizeof *x.pass);
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        gcd_idmap_done(maps[i]);
    if (st == GCD_OK)
        *ret = e;
    else
        gcd_exceptions_free(e);
    return st;
}

void gcd_exceptions_free(struct gcd_exceptions *e)
{
    if (e == NULL)
        return;
    struct gcd_alloc a = e->alloc;
    gcd_mem_free(&a, e->order, e->count * sizeof *e->order);
    gcd_mem_free(&a, e->items, e->cap * sizeof *e->items);
    gcd_mem_free(&a, e, sizeof *e);
}

struct gcd_exception_totals gcd_exceptions_totals(const struct gcd_exceptions *e)
{
    struct gcd_exception_totals t = { .objects = 0 };
    for (size_t i = 0; i < e->order_count; i++) {
        const struct gcd_exception *x = gcd_exceptions_at(e, i);
        t.objects += x->count;
        t.thrown += x->thrown;
        t.uncertain += x->uncertain;
        gcd_add_saturating(&t.bytes, x->bytes);
    }
    return t;
}

size_t gcd_exceptions_count(const struct gcd_exceptions *e)
{
    return e->order_count;
}

const struct gcd_exception *gcd_exceptions_at(const struct gcd_exceptions *e, size_t i)
{
    return &e->items[e->order[i]];
}
