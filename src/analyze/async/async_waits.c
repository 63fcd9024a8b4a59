/*
 * What each box waits for.  The box has a reference to itself; one of the references after it is
 * the awaiter's, whose target refers back to the box.
 */
#include "analyze/async/async.h"

#include "base/context.h"
#include "base/error.h"

#define CHECK_EVERY UINT32_C(65536)
/* A state machine has fewer references that can be awaiters; among more, the last ones count. */
#define AWAITERS     64u
#define MACHINE_REFS 1024u
#define SOURCE_REFS  256u
#define NEAR_REFS    32u

/* ---- does it resume the box? ---- */

static bool resumes(const struct async *a, uint32_t action, uint32_t op)
{
    uint32_t several[RESUMED_MAX];
    for (size_t n = async_resumed(a, action, several); n > 0; n--)
        if (several[n - 1] == op)
            return true;
    return false;
}

/* Does task TASK have OP as a continuation? */
static bool task_resumes(const struct async *a, uint32_t task, uint32_t op)
{
    size_t n = 1;
    uint32_t first = GCD_NODE_NONE;
    const uint32_t *refs = &first;
    if (a->ops[op].waker == task)
        return true;
    if (async_type_of(a, task) == TYPE_BOX)
        first = async_continuation(a, task);
    else
        refs = async_refs(a, task, AWAITERS, &n);
    for (size_t i = 0; i < n && refs[i] != GCD_NODE_NONE; i++) {
        enum async_type t = async_type_of(a, refs[i]);
        if (refs[i] == a->ops[op].node ||
            ((t == TYPE_ACTION || t == TYPE_WRAPPER) && resumes(a, refs[i], op)))
            return true;
    }
    return false;
}

/* Does NODE have an Action<object> with the box of OP as its state, or an Action that resumes OP?
 * The source of a ValueTask does. */
static bool source_resumes(const struct async *a, uint32_t node, uint32_t op, size_t max)
{
    size_t n;
    const uint32_t *refs = async_refs(a, node, max, &n);
    bool action = false, box = false;
    for (size_t i = 0; i < n; i++) {
        enum async_type t = async_type_of(a, refs[i]);
        action |= t == TYPE_ACTION_OBJECT;
        box |= refs[i] == a->ops[op].node;
        if (t == TYPE_ACTION && resumes(a, refs[i], op))
            return true;
    }
    return action && box;
}

/* The same for the targets of NODE's references: a PipeReader is part of its Pipe. */
static bool near_resumes(const struct async *a, uint32_t node, uint32_t op)
{
    size_t n;
    const uint32_t *refs = async_refs(a, node, NEAR_REFS, &n);
    for (size_t i = 0; i < n; i++)
        if (async_type_of(a, refs[i]) == TYPE_ANY && source_resumes(a, refs[i], op, NEAR_REFS))
            return true;
    return false;
}

static bool is_awaited(const struct async *a, uint32_t node, uint32_t op)
{
    enum async_type t = async_type_of(a, node);
    if (node == a->ops[op].node || (type_is_task(t) && task_resumes(a, node, op)))
        return true;
    if (type_is_task(t) || t == TYPE_ACTION || t == TYPE_CONTEXT || t == TYPE_ARRAY ||
        t == TYPE_LIST)
        return false;
    return source_resumes(a, node, op, SOURCE_REFS) || near_resumes(a, node, op);
}

/* ---- what it waits for ---- */

gcd_status async_set_awaited(struct async *a, uint32_t op, uint32_t node, bool probable,
                             struct gcd_error *err)
{
    struct async_op *o = &a->ops[op];
    o->awaits = async_op_of(a, node);
    o->flags |= probable ? OP_PROBABLE : 0;
    o->leaf = LABEL_NONE;
    o->awaited = node;
    return o->awaits == OP_NONE ? async_leaf(a, node, &o->leaf, err) : GCD_OK;
}

/* The last of REFS[N] that resumes OP; GCD_NODE_NONE = none.  Also returns how many distinct ones
 * do. */
static uint32_t last_awaited(const struct async *a, uint32_t op, const uint32_t *refs, size_t n,
                             unsigned *ret_count)
{
    uint32_t found = GCD_NODE_NONE;
    size_t least = n > AWAITERS ? n - AWAITERS : 0;
    *ret_count = 0;
    for (size_t i = n; i-- > least;)
        if (refs[i] != found && is_awaited(a, refs[i], op)) {
            found = *ret_count == 0 ? refs[i] : found;
            ++*ret_count;
        }
    return found;
}

/* The task of an awaiter that is a separate object, as with dynamic. */
static uint32_t boxed_awaiter(const struct async *a, uint32_t op, uint32_t node)
{
    size_t n;
    const uint32_t *refs = async_refs(a, node, 4, &n);
    for (size_t i = 0; i < n && n < 4; i++)
        if (type_is_task(async_type_of(a, refs[i])) && task_resumes(a, refs[i], op))
            return refs[i];
    return GCD_NODE_NONE;
}

/* An awaiter that is a class is an ordinary field, before the builder: the one of REFS[N] that
 * resumes OP. */
static uint32_t class_awaiter(const struct async *a, uint32_t op, const uint32_t *refs, size_t n)
{
    size_t least = n > AWAITERS ? n - AWAITERS : 0;
    for (size_t i = n; i-- > least;) {
        if (async_type_of(a, refs[i]) != TYPE_ANY)
            continue;
        uint32_t task = boxed_awaiter(a, op, refs[i]);
        if (task != GCD_NODE_NONE || source_resumes(a, refs[i], op, SOURCE_REFS))
            return task != GCD_NODE_NONE ? task : refs[i];
    }
    return GCD_NODE_NONE;
}

/* Nothing resumes the box: it has what it waited for, or it is running.  REFS[N]: the references
 * after the builder. */
static gcd_status without_awaited(struct async *a, uint32_t op, const uint32_t *refs, size_t n,
                                  struct gcd_error *err)
{
    struct async_op *o = &a->ops[op];
    o->leaf = LABEL_READY;
    if ((o->flags & OP_QUEUED) != 0)
        o->leaf = LABEL_QUEUED;
    else if ((o->flags & OP_RUNNING) != 0)
        o->leaf = LABEL_RUNNING;
    else
        for (size_t i = n; i-- > 0 && n - i <= AWAITERS;) {
            enum async_type t = async_type_of(a, refs[i]);
            if ((type_is_task(t) && !async_is_over(a, refs[i])) || t == TYPE_SOURCE)
                return async_set_awaited(a, op, refs[i], true, err);
        }
    return GCD_OK;
}

static gcd_status box_waits(struct async *a, uint32_t op, struct gcd_error *err)
{
    struct async_op *o = &a->ops[op];
    size_t n, builder = 0;
    unsigned count;
    const uint32_t *refs =
        async_refs(a, o->machine, o->machine == o->node ? SIZE_MAX : MACHINE_REFS, &n);
    while (builder < n && refs[builder] != o->node)
        builder++;
    size_t first = builder < n ? builder + 1 : n;
    uint32_t found = last_awaited(a, op, refs + first, n - first, &count);
    if (found != GCD_NODE_NONE)
        return async_set_awaited(a, op, found, count > 1, err);
    found = class_awaiter(a, op, refs, builder);
    if (found != GCD_NODE_NONE)
        return async_set_awaited(a, op, found, true, err);
    return without_awaited(a, op, refs + first, n - first, err);
}

/* ---- operations made of others ---- */

/*
 * Makes pairs certain.  If only one task refers to the operation, the operation waits for it.  If
 * several boxes of one method have the operation in the same position, the operation waits for all
 * of them.
 */
static void confirm(struct async *a, struct async_pair *pairs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool next = i + 1 < n && gcd_graph_node_type(a->g, pairs[i].child) ==
                                     gcd_graph_node_type(a->g, pairs[i + 1].child);
        bool previous = i > 0 && gcd_graph_node_type(a->g, pairs[i].child) ==
                                     gcd_graph_node_type(a->g, pairs[i - 1].child);
        pairs[i].probable = pairs[i].probable && n > 1 && !next && !previous;
    }
}

/* Drops those of N pairs whose child waits for the operation: it only holds the operation to wait
 * for it.  Returns how many are left. */
static size_t drop_waiters(struct async *a, uint32_t op, struct async_pair *pairs, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t child = async_op_of(a, pairs[i].child);
        if (!pairs[i].probable || child == OP_NONE || a->ops[child].awaits != op)
            pairs[kept++] = pairs[i];
    }
    return kept;
}

static gcd_status combined_wait(struct async *a, struct gcd_error *err)
{
    size_t kept = 0, end;
    for (size_t i = 0; i < a->pair_count; i = end) {
        uint32_t op = a->pairs[i].op;
        for (end = i; end < a->pair_count && a->pairs[end].op == op;)
            end++;
        size_t n = drop_waiters(a, op, a->pairs + i, end - i);
        confirm(a, a->pairs + i, n);
        for (size_t k = 0; k < n; k++)
            a->pairs[kept++] = a->pairs[i + k];
    }
    a->pair_count = kept;
    for (uint32_t op = 0; op < a->op_count; op++) {
        size_t n;
        if (!type_is_combined((enum async_type)a->ops[op].type))
            continue;
        (void)async_pairs(a, op, &n);
        if (n == 0)
            a->ops[op].leaf = a->ops[op].type == TYPE_CONTINUE_WITH ? LABEL_DELEGATE : LABEL_READY;
    }
    return gcd_check_canceled(a->context->cancel, err);
}

gcd_status async_waits(struct async *a, struct gcd_error *err)
{
    for (uint32_t op = 0; op < a->op_count; op++) {
        if (op % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(a->context->cancel, err));
        if (type_is_box((enum async_type)a->ops[op].type))
            GCD_TRY(box_waits(a, op, err));
    }
    GCD_TRY(async_runtime_waits(a, err));
    return combined_wait(a, err);
}
