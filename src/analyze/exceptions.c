/* Exceptions: see gcdumpc/unstable/exceptions.h. */
#include <gcdumpc/unstable/exceptions.h>

#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/idmap.h"
#include "base/mem.h"
#include "base/sort.h"

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
    const struct gcd_fields *fields;
    const struct gcd_values *values;
    struct gcd_exception *items; /* [count] */
    size_t count, cap;
    uint32_t *order; /* [count] */
};

/* What is needed only while they are found. */
struct finding {
    struct gcd_exceptions *e;
    struct of_type *types;                 /* [type_count] */
    struct gcd_idmap by_message, by_inner; /* type, message -> a number; this, inner -> an item */
    struct gcd_field_pass *pass;
    uint32_t messages;
};

static gcd_status no_memory(struct gcd_error *err)
{
    return gcd_fail_nomem(err, "looking for exceptions");
}

/* ---- types ---- */

static bool ends_so(const char *name)
{
    size_t n = strlen(name), end = strlen(ENDING);
    return n >= end && strcmp(name + n - end, ENDING) == 0;
}

static struct of_type look_at_type(const struct gcd_exceptions *e, uint32_t type)
{
    struct of_type t = { .is_exception = false };
    uint32_t first, n = gcd_fields_of_type(e->fields, type, &first);
    for (unsigned p = 0; p < PARTS; p++)
        t.slots[p] = GCD_SLOT_NONE;
    if (!gcd_fields_has_fields(e->fields, type)) {
        t.is_exception = ends_so(gcd_graph_summary(e->graph)->types[type].name);
        return t;
    }
    for (uint32_t i = 0; i < n; i++)
        for (unsigned p = 0; p < PARTS; p++)
            if (t.slots[p] == GCD_SLOT_NONE &&
                strcmp(gcd_fields_slot_name(e->fields, first + i), part_names[p]) == 0)
                t.slots[p] = first + i;
    t.is_exception = t.slots[MESSAGE] != GCD_SLOT_NONE && t.slots[INNER] != GCD_SLOT_NONE &&
                     t.slots[TRACE] != GCD_SLOT_NONE;
    return t;
}

/* ---- objects ---- */

static uint32_t text_of(const struct gcd_exceptions *e, uint32_t node)
{
    return e->values != NULL ? gcd_values_find(e->values, gcd_graph_node_address(e->graph, node))
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
                               .count = 1 };
    size_t n;
    const uint32_t *edges = gcd_graph_node_edges(e->graph, node, &n);
    if (t->slots[MESSAGE] == GCD_SLOT_NONE)
        return x;
    for (size_t i = 0; i < n; i++) {
        uint32_t slot = gcd_fields_certain(e->fields, f->pass, node, i).slot;
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

/* Adds X to its group. */
static bool add_to_group(struct finding *f, const struct gcd_exception *x)
{
    struct gcd_exceptions *e = f->e;
    uint64_t key = (uint64_t)x->type << 32 | x->message;
    uint32_t message = gcd_idmap_get(&f->by_message, key);
    if (message == GCD_IDMAP_NONE) {
        message = f->messages++;
        if (!gcd_idmap_put(&f->by_message, key, message))
            return false;
    }
    key = (uint64_t)message << 32 | x->inner_type;
    uint32_t i = gcd_idmap_get(&f->by_inner, key);
    if (i == GCD_IDMAP_NONE) {
        i = (uint32_t)e->count;
        if (!gcd_vec_reserve(&e->alloc, &e->items, &e->cap, e->count + 1, sizeof *e->items,
                             GCD_IDMAP_NONE) ||
            !gcd_idmap_put(&f->by_inner, key, i))
            return false;
        e->items[e->count++] = *x;
        return true;
    }
    struct gcd_exception *to = &e->items[i];
    if ((to->thrown == 0 && x->thrown > 0) ||
        (to->trace == GCD_NODE_NONE && x->trace != GCD_NODE_NONE)) {
        to->node = x->node;
        to->trace = x->trace;
    }
    if (to->stack_trace == GCD_TEXT_NONE)
        to->stack_trace = x->stack_trace;
    to->count++;
    to->thrown += x->thrown;
    return true;
}

static int compare_groups(const void *ctx, uint32_t a, uint32_t b)
{
    const struct gcd_exceptions *e = ctx;
    const struct gcd_exception *x = &e->items[a], *y = &e->items[b];
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->type != y->type)
        return x->type < y->type ? -1 : 1;
    if (x->message != y->message)
        return x->message < y->message ? -1 : 1;
    return x->inner_type < y->inner_type ? -1 : x->inner_type > y->inner_type;
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
        if (!add_to_group(f, &x))
            return no_memory(err);
    }
    e->order = gcd_sort_order(&e->alloc, e->count, compare_groups, e);
    return e->order != NULL ? GCD_OK : no_memory(err);
}

gcd_status gcd_exceptions_new(const struct gcd_graph *g, const struct gcd_fields *f,
                              const struct gcd_values *v, const struct gcd_context *call,
                              struct gcd_exceptions **ret, struct gcd_error *err)
{
    struct gcd_alloc a = gcd_alloc_or_default(call != NULL ? call->alloc : NULL);
    struct gcd_exceptions *e = gcd_mem_new(&a, sizeof *e);
    if (e == NULL)
        return no_memory(err);
    *e = (struct gcd_exceptions){ .alloc = a, .graph = g, .fields = f, .values = v };
    size_t types = (size_t)gcd_graph_summary(g)->type_count + 1;
    struct finding x = { .e = e };
    gcd_idmap_init(&x.by_message, &e->alloc);
    gcd_idmap_init(&x.by_inner, &e->alloc);
    x.types = gcd_mem_new_array(&a, types, sizeof *x.types);
    x.pass = gcd_mem_new(&a, sizeof *x.pass);
    gcd_status st = x.types != NULL && x.pass != NULL
                        ? find_all(&x, call != NULL ? call->cancel : NULL, err)
                        : no_memory(err);
    gcd_mem_free(&a, x.types, types * sizeof *x.types);
    gcd_mem_free(&a, x.pass, sizeof *x.pass);
    gcd_idmap_done(&x.by_message);
    gcd_idmap_done(&x.by_inner);
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
    for (size_t i = 0; i < e->count; i++) {
        t.objects += e->items[i].count;
        t.thrown += e->items[i].thrown;
    }
    return t;
}

size_t gcd_exceptions_count(const struct gcd_exceptions *e)
{
    return e->count;
}

const struct gcd_exception *gcd_exceptions_at(const struct gcd_exceptions *e, size_t i)
{
    return &e->items[e->order[i]];
}
