#include "analyze/async/async.h"
#include "analyze/dominators/live_edges.h"

#include <string.h>

#include "base/bits.h"
#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/ovf.h"
#include "base/sort.h"

#define CHECK_EVERY UINT32_C(65536)
/* A state machine that is a class has fewer references; an object with more is no state machine. */
#define MACHINE_REFS 1024u

const uint32_t *async_refs(const struct async *a, uint32_t node, size_t max, size_t *ret_n)
{
    const uint32_t *refs = gcd_graph_node_edges(a->g, node, ret_n);
    if (*ret_n > max)
        *ret_n = max;
    return refs;
}

static bool has_type(const struct async *a, const uint32_t *refs, size_t n, enum async_type type)
{
    for (size_t i = 0; i < n; i++)
        if (async_type_of(a, refs[i]) == type)
            return true;
    return false;
}

/* ---- operations by node ---- */

static uint32_t op_at(const struct async *a, uint32_t node)
{
    uint64_t word = a->is_op[node >> 6], bit = UINT64_C(1) << (node & 63);
    return (word & bit) != 0 ? a->ops_before[node >> 6] + gcd_count_bits(word & (bit - 1))
                             : OP_NONE;
}

uint32_t async_op_of(const struct async *a, uint32_t node)
{
    uint32_t op = op_at(a, node);
    size_t n;
    if (op != OP_NONE || async_type_of(a, node) != TYPE_MACHINE)
        return op;
    const uint32_t *refs = async_refs(a, node, MACHINE_REFS, &n);
    for (size_t i = 0; i < n; i++) {
        op = op_at(a, refs[i]);
        if (op != OP_NONE && a->ops[op].machine == node)
            return op;
    }
    return OP_NONE;
}

/* ---- collecting ---- */

/*
 * The object with the state of the box NODE: the box itself, if the builder in its state machine
 * refers to it, or another object that refers to it. GCD_NODE_NONE: none, the method has completed.
 */
static uint32_t machine_of(const struct async *a, uint32_t node)
{
    size_t n, k;
    const uint32_t *refs = gcd_graph_node_edges(a->g, node, &n);
    uint32_t label = a->label_of[gcd_graph_node_type(a->g, node)], other = GCD_NODE_NONE;
    for (size_t i = n; i-- > 0;)
        if (async_type_of(a, refs[i]) == TYPE_MACHINE) {
            const uint32_t *back = async_refs(a, refs[i], MACHINE_REFS, &k);
            bool refers_back = async_contains(back, k, node);
            if (refers_back && a->label_of[gcd_graph_node_type(a->g, refs[i])] == label)
                return refs[i];
            /* without its outer types, the name of a method tells less */
            other = refers_back ? refs[i] : other;
        }
    return async_contains(refs, n, node) ? node : other;
}

static gcd_status add(struct async *a, uint32_t node, uint32_t machine, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&a->alloc, &a->ops, &a->op_room, a->op_count + 1, sizeof *a->ops,
                         UINT32_MAX - 1))
        return gcd_fail_nomem(err, "collecting asynchronous operations");
    a->ops[a->op_count++] = (struct async_op){
        .node = node,
        .machine = machine,
        .waker = GCD_NODE_NONE,
        .awaits = OP_NONE,
        .leaf = LABEL_NONE,
        .awaited = GCD_NODE_NONE,
        .type = (uint8_t)async_type_of(a, node),
    };
    a->is_op[node >> 6] |= UINT64_C(1) << (node & 63);
    return GCD_OK;
}

/* Objects of F# async computations and agents: continuations in closures, not tasks. */
static uint64_t fsharp_objects(const struct gcd_summary *s)
{
    static const char *const begins[] = { "Microsoft.FSharp.Control.AsyncActivation",
                                          "Microsoft.FSharp.Control.FSharpMailboxProcessor" };
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->type_count; i++)
        for (size_t k = 0; k < sizeof begins / sizeof *begins; k++)
            if (strncmp(s->types[i].name, begins[k], strlen(begins[k])) == 0)
                gcd_add_saturating(&n, s->types[i].objects);
    return n;
}

struct collected {
    struct gcd_async_completed *by_type; /* [type_count] */
    uint64_t runtime_calls, runtime_async;
};

static gcd_status collect(struct async *a, uint32_t node, struct collected *c,
                          struct gcd_error *err)
{
    uint32_t type = gcd_graph_node_type(a->g, node), machine;
    size_t n;
    const uint32_t *refs;
    switch (a->types[type]) {
    case TYPE_BOX:
    case TYPE_POOLED_BOX:
        machine = machine_of(a, node);
        if (machine != GCD_NODE_NONE)
            return add(a, node, machine, err);
        if (a->types[type] == TYPE_POOLED_BOX) /* kept for the next call */
            return GCD_OK;
        c->by_type[type].objects++;
        gcd_add_saturating(&c->by_type[type].bytes, gcd_graph_node_size(a->g, node));
        return GCD_OK;
    case TYPE_WHEN_ALL:
    case TYPE_WHEN_ANY:
    case TYPE_UNWRAP:
    case TYPE_CONTINUE_WITH:
    case TYPE_WAIT_ASYNC:
    case TYPE_AS_TASK:
    case TYPE_THREAD:
        refs = gcd_graph_node_edges(a->g, node, &n);
        return a->types[type] == TYPE_THREAD || !has_type(a, refs, n, TYPE_OBJECT)
                   ? add(a, node, node, err)
                   : GCD_OK;
    case TYPE_RUNTIME_TASK:
    case TYPE_RUNTIME_CALL:
        if (a->in_chain != NULL && bits_get(a->in_chain, node)) {
            c->runtime_calls += a->types[type] == TYPE_RUNTIME_CALL;
            return add(a, node, node, err);
        }
        c->runtime_async += !async_is_over(a, node);
        return GCD_OK;
    case TYPE_RUNTIME_ASYNC:
        c->runtime_async++;
        return GCD_OK;
    default:
        return GCD_OK;
    }
}

static gcd_status collect_all(struct async *a, struct collected *c, struct gcd_error *err)
{
    for (uint32_t node = 0; node < a->nodes; node++) {
        if (node % CHECK_EVERY == 0)
            GCD_TRY(gcd_context_step(a->context, node, UINT64_C(3) * a->nodes, err));
        GCD_TRY(collect(a, node, c, err));
    }
    uint32_t before = 0;
    for (size_t i = 0; i < a->words; i++) {
        a->ops_before[i] = before;
        before += gcd_count_bits(a->is_op[i]);
    }
    return GCD_OK;
}

/* ---- completed operations ---- */

static int compare_completed(const void *ctx, uint32_t x, uint32_t y)
{
    const struct gcd_async_completed *c = ctx;
    if (c[x].objects != c[y].objects)
        return c[x].objects < c[y].objects ? 1 : -1;
    int by_name = strcmp(c[x].name, c[y].name);
    return by_name != 0 ? by_name : (x > y) - (x < y);
}

/* Stores the types of ALL that have objects in RET, with one entry per method, and sorts them. */
static gcd_status sort_completed(struct async *a, struct gcd_async_completed *all,
                                 struct gcd_async_completed **ret, size_t *ret_n,
                                 struct gcd_error *err)
{
    size_t n = 0;
    for (uint32_t type = 0; type < a->type_count; type++) {
        uint32_t first = a->label_of[type] != LABEL_NONE ? a->labels[a->label_of[type]].type : type;
        if (all[type].objects > 0 && first < type && first != GCD_FRAME_NONE) {
            all[first].objects += all[type].objects;
            gcd_add_saturating(&all[first].bytes, all[type].bytes);
            all[type].objects = 0;
        }
    }
    for (uint32_t type = 0; type < a->type_count; type++)
        if (all[type].objects > 0) {
            all[n] = (struct gcd_async_completed){ a->labels[a->label_of[type]].name, type,
                                                   all[type].objects, all[type].bytes };
            n++;
        }
    uint32_t *order = n > 0 ? gcd_sort_order(&a->alloc, n, compare_completed, all) : NULL;
    *ret = gcd_mem_new_array(&a->alloc, n + 1, sizeof **ret);
    bool ok = *ret != NULL && (order != NULL || n == 0);
    for (size_t i = 0; ok && i < n; i++)
        (*ret)[i] = all[order[i]];
    gcd_mem_free(&a->alloc, order, n * sizeof *order);
    *ret_n = n;
    return ok ? GCD_OK : gcd_fail_nomem(err, "collecting asynchronous operations");
}

gcd_status async_objects(struct async *a, struct gcd_async_completed **completed, size_t *ret_n,
                         struct gcd_async_totals *totals, struct gcd_error *err)
{
    struct collected c = { .by_type = gcd_mem_new_array(&a->alloc, (size_t)a->type_count + 1,
                                                        sizeof *c.by_type) };
    a->words = ((size_t)a->nodes + 63) / 64;
    a->is_op = gcd_mem_new_array(&a->alloc, a->words + 1, sizeof *a->is_op);
    a->ops_before = gcd_mem_new_array(&a->alloc, a->words + 1, sizeof *a->ops_before);
    bool ok = c.by_type != NULL && a->is_op != NULL && a->ops_before != NULL;
    gcd_status st =
        ok ? async_runtime_find(a, err) : gcd_fail_nomem(err, "collecting asynchronous operations");
    if (st == GCD_OK)
        st = collect_all(a, &c, err);
    if (st == GCD_OK)
        st = sort_completed(a, c.by_type, completed, ret_n, err);
    gcd_mem_free(&a->alloc, c.by_type, ((size_t)a->type_count + 1) * sizeof *c.by_type);
    for (size_t i = 0; st == GCD_OK && i < *ret_n; i++) {
        totals->completed += (*completed)[i].objects;
        gcd_add_saturating(&totals->completed_bytes, (*completed)[i].bytes);
    }
    totals->operations = a->op_count;
    totals->runtime_calls = c.runtime_calls;
    totals->fsharp_async = fsharp_objects(gcd_graph_summary(a->g));
    totals->runtime_async =
        c.runtime_async - (c.runtime_async < a->no_calls ? c.runtime_async : a->no_calls);
    return st;
}

/* ---- the references of a task ---- */

bool async_is_over(const struct async *a, uint32_t node)
{
    size_t n;
    const uint32_t *refs = async_refs(a, node, MACHINE_REFS, &n);
    if (type_is_box(async_type_of(a, node)))
        return async_op_of(a, node) == OP_NONE;
    return type_is_task(async_type_of(a, node)) && has_type(a, refs, n, TYPE_OBJECT);
}

uint32_t async_continuation(const struct async *a, uint32_t box)
{
    size_t n, i = 0;
    uint32_t op = op_at(a, box);
    const uint32_t *refs = gcd_graph_node_edges(a->g, box, &n);
    while (i < n &&
           (async_type_of(a, refs[i]) == TYPE_ACTION || async_type_of(a, refs[i]) == TYPE_CONTEXT))
        i++;
    return i < n && refs[i] != box && (op == OP_NONE || refs[i] != a->ops[op].machine)
               ? refs[i]
               : GCD_NODE_NONE;
}
