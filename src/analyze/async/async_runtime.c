/*
 * Runtime async: methods without state machines, as .NET 11 runs them (seen in 11.0.0).  Each
 * suspended call is a Continuation with its locals; its first reference is the Continuation of its
 * caller.  The task of the outermost call refers to an object that knows the innermost call and
 * what that waits for:
 *
 *     RuntimeAsyncTask             delegate, one of the two below, continuations as of any task
 *     RuntimeAsyncTaskContinuation innermost Continuation, the awaited task, the RuntimeAsyncTask
 *     ValueTaskSourceContinuation  innermost Continuation, the source of the awaited ValueTask
 *
 * So all of it is certain, but for the names of methods: they are only in the code that runs next.
 * .NET 10 has other objects with these names, without the second kind: they stay unknown.
 */
#include "analyze/async/async.h"
#include "analyze/dominators/live_edges.h"

#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"

#define CHECK_EVERY UINT32_C(65536)
#define TASK_REFS   8u
/* So many types are named, of at most so many references. */
#define KEPT_TYPES  3u
#define KEPT_REFS   64u
#define LABEL_BYTES 1000u

/* The caller of CALL; GCD_NODE_NONE = it is the outermost call. */
static uint32_t caller(const struct async *a, uint32_t call)
{
    size_t n;
    const uint32_t *refs = async_refs(a, call, 1, &n);
    return n > 0 && async_type_of(a, refs[0]) == TYPE_RUNTIME_CALL ? refs[0] : GCD_NODE_NONE;
}

struct wait {
    uint32_t call; /* GCD_NODE_NONE: TASK does not wait */
    uint32_t awaited;
};

/* What TASK itself waits for; of a task that it resumes, it has the same kind of object. */
static struct wait wait_of(const struct async *a, uint32_t task)
{
    struct wait none = { GCD_NODE_NONE, GCD_NODE_NONE };
    size_t n, k;
    const uint32_t *refs = async_refs(a, task, TASK_REFS, &n);
    if (async_is_over(a, task))
        return none;
    for (size_t i = 0; i < n; i++) {
        const uint32_t *to = async_refs(a, refs[i], 3, &k);
        if (async_type_of(a, refs[i]) != TYPE_RUNTIME_WAIT || k == 0 ||
            async_type_of(a, to[0]) != TYPE_RUNTIME_CALL || (k == 3 && to[2] != task))
            continue;
        /* without what it waits for, its task is the second one */
        return (struct wait){ to[0], k > 1 && to[1] != task ? to[1] : GCD_NODE_NONE };
    }
    return none;
}

static bool is_used(const struct async *a)
{
    for (uint32_t type = 0; type < a->type_count; type++)
        if (a->types[type] == TYPE_RUNTIME_TASK || a->types[type] == TYPE_RUNTIME_STATE)
            return true;
    return false;
}

/* The empty Continuation of a thread's STATE, to which the first call is linked, is no call. */
static void find_empty(struct async *a, uint32_t state)
{
    size_t n, k;
    const uint32_t *refs = async_refs(a, state, TASK_REFS, &n);
    for (size_t i = 0; i < n; i++) {
        (void)gcd_graph_node_edges(a->g, refs[i], &k);
        if (k == 0 && async_type_of(a, refs[i]) == TYPE_RUNTIME_CALL)
            a->no_calls += !bits_get(a->in_chain, refs[i]);
    }
}

gcd_status async_runtime_find(struct async *a, struct gcd_error *err)
{
    if (!is_used(a))
        return GCD_OK;
    a->in_chain = gcd_mem_new_array(&a->alloc, a->words + 1, sizeof *a->in_chain);
    if (a->in_chain == NULL)
        return gcd_fail_nomem(err, "collecting asynchronous operations");
    for (uint32_t node = 0; node < a->nodes; node++) {
        if (node % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(a->context->cancel, err));
        uint32_t call = GCD_NODE_NONE;
        if (async_type_of(a, node) == TYPE_RUNTIME_TASK)
            call = wait_of(a, node).call;
        if (call != GCD_NODE_NONE)
            bits_set(a->in_chain, node);
        for (; call != GCD_NODE_NONE && !bits_get(a->in_chain, call); call = caller(a, call))
            bits_set(a->in_chain, call);
    }
    for (uint32_t node = 0; node < a->nodes; node++)
        if (async_type_of(a, node) == TYPE_RUNTIME_STATE)
            find_empty(a, node);
    return GCD_OK;
}

static bool is_set(const struct async_op *o)
{
    return o->awaits != OP_NONE || o->leaf != LABEL_NONE;
}

/* Calls are taken in the order in which they were found, so each gets what it waits for; a damaged
 * dump can have calls in several chains, and then only the first one counts. */
static gcd_status task_waits(struct async *a, uint32_t op, struct gcd_error *err)
{
    struct wait w = wait_of(a, a->ops[op].node);
    uint32_t inner = async_op_of(a, w.call), outer;
    a->ops[op].leaf = LABEL_READY;
    if (is_set(&a->ops[inner]))
        return GCD_OK;
    if (w.awaited != GCD_NODE_NONE)
        GCD_TRY(async_set_awaited(a, inner, w.awaited, false, err));
    else
        a->ops[inner].leaf = LABEL_READY;
    for (uint32_t call; (call = caller(a, a->ops[inner].node)) != GCD_NODE_NONE; inner = outer) {
        outer = async_op_of(a, call);
        if (is_set(&a->ops[outer]))
            return GCD_OK;
        a->ops[outer].awaits = inner;
    }
    a->ops[op].leaf = LABEL_NONE;
    a->ops[op].awaits = inner;
    return GCD_OK;
}

gcd_status async_runtime_waits(struct async *a, struct gcd_error *err)
{
    for (uint32_t op = 0; op < a->op_count; op++) {
        if (op % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(a->context->cancel, err));
        if (a->ops[op].type == TYPE_RUNTIME_TASK)
            GCD_TRY(task_waits(a, op, err));
    }
    return GCD_OK;
}

/* ---- what a call keeps ---- */

static bool is_framework(const char *name)
{
    return strncmp(name, "System.", 7) == 0 || strncmp(name, "Microsoft.", 10) == 0;
}

/* Its frame is next to that of the call. */
static bool has_frame(enum async_type t)
{
    return t == TYPE_RUNTIME_CALL || t == TYPE_MACHINE || type_is_box(t);
}

/* Adds the types of the objects that CALL keeps to TYPES[N], either those of the framework or the
 * others; returns how many there are then. */
static size_t add_kept(const struct async *a, uint32_t call, bool framework, uint32_t *types,
                       size_t n)
{
    size_t count;
    const uint32_t *refs = async_refs(a, call, KEPT_REFS, &count);
    for (size_t i = 0; i < count && n < KEPT_TYPES; i++) {
        uint32_t type = gcd_graph_node_type(a->g, refs[i]);
        if (!has_frame((enum async_type)a->types[type]) && !async_contains(types, n, type) &&
            is_framework(gcd_names_plain(a->names, type)) == framework)
            types[n++] = type;
    }
    return n;
}

gcd_status async_runtime_label(struct async *a, uint32_t node, uint32_t *ret, struct gcd_error *err)
{
    char text[LABEL_BYTES] = "a runtime-async method";
    uint32_t types[KEPT_TYPES];
    size_t at = strlen(text), n = add_kept(a, node, false, types, 0);
    n = add_kept(a, node, true, types, n);
    for (size_t i = 0; i < n; i++) {
        const char *name = gcd_names_plain(a->names, types[i]), *join = i > 0 ? ", " : " with ";
        size_t k = strlen(join), m = strlen(name);
        if (at + k + m >= sizeof text)
            break;
        memcpy(text + at, join, k);
        memcpy(text + at + k, name, m + 1);
        at += k + m;
    }
    return async_label(a, text, GCD_ASYNC_RUNTIME_METHOD, n > 0 ? types[0] : GCD_FRAME_NONE, ret,
                       err);
}
