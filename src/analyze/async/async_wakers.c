/*
 * A task refers to what it resumes: a box, an Action, a task made of it, or a list of those.  Most
 * tasks made of others (Task.WhenAll) do not refer to these, so what they wait for is found here,
 * from the other side.
 */
#include "analyze/async/async.h"

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define CHECK_EVERY UINT32_C(65536)
/* Tasks have fewer references, and so do Actions and their wrappers; further references are
 * ignored. */
#define TASK_REFS   64u
#define ACTION_REFS 16u
#define ACTIONS     64u

size_t async_resumed(const struct async *a, uint32_t action, uint32_t *ret)
{
    /* an Action can combine several, in an array */
    uint32_t queue[ACTIONS] = { action };
    size_t count = 1, found = 0, n;
    for (size_t at = 0; at < count; at++) {
        const uint32_t *refs = async_refs(a, queue[at], ACTION_REFS, &n);
        for (size_t i = 0; i < n; i++) {
            enum async_type t = async_type_of(a, refs[i]);
            if (type_is_box(t) && found < RESUMED_MAX && async_op_of(a, refs[i]) != OP_NONE)
                ret[found++] = async_op_of(a, refs[i]);
            else if ((t == TYPE_ACTION || t == TYPE_ARRAY) && count < ACTIONS)
                queue[count++] = refs[i];
        }
    }
    return found;
}

/* ---- pairs ---- */

static gcd_status add_pair(struct async *a, uint32_t op, uint32_t child, bool probable,
                           struct gcd_error *err)
{
    if (a->ops[op].node == child || async_is_over(a, child))
        return GCD_OK;
    if (!gcd_vec_reserve(&a->alloc, &a->pairs, &a->pair_room, a->pair_count + 1, sizeof *a->pairs,
                         UINT32_MAX))
        return gcd_fail_nomem(err, "finding what tasks wait for");
    a->pairs[a->pair_count++] = (struct async_pair){ op, child, probable };
    return GCD_OK;
}

static bool mark_list(struct async *a, uint32_t node)
{
    bool seen = (a->list_seen[node >> 6] >> (node & 63) & 1) != 0;
    a->list_seen[node >> 6] |= UINT64_C(1) << (node & 63);
    return !seen;
}

/* The task of a ContinueWithTaskContinuation. */
static uint32_t continued(const struct async *a, uint32_t continuation)
{
    size_t n;
    const uint32_t *refs = async_refs(a, continuation, ACTION_REFS, &n);
    for (size_t i = 0; i < n; i++)
        if (async_type_of(a, refs[i]) == TYPE_CONTINUE_WITH)
            return async_op_of(a, refs[i]);
    return OP_NONE;
}

static void set_waker(struct async *a, uint32_t op, uint32_t task)
{
    if (a->ops[op].waker == GCD_NODE_NONE)
        a->ops[op].waker = task;
}

/* Records that TASK resumes NODE, which is in its list of continuations or is known to be its
 * continuation. */
static gcd_status resumes(struct async *a, uint32_t task, uint32_t node, struct gcd_error *err)
{
    enum async_type t = async_type_of(a, node);
    uint32_t op = async_op_of(a, node), several[RESUMED_MAX];
    if (t == TYPE_ACTION || t == TYPE_WRAPPER) {
        for (size_t n = async_resumed(a, node, several); n > 0; n--)
            set_waker(a, several[n - 1], task);
        return GCD_OK;
    }
    if (t == TYPE_CONTINUATION)
        op = continued(a, node);
    if (op == OP_NONE)
        return GCD_OK;
    if (type_is_box(t))
        set_waker(a, op, task);
    else
        GCD_TRY(add_pair(a, op, task, false, err));
    return GCD_OK;
}

static bool may_resume(enum async_type t)
{
    return t == TYPE_BOX || t == TYPE_ACTION || t == TYPE_WRAPPER || t == TYPE_CONTINUATION ||
           t == TYPE_RUNTIME_WAIT || (type_is_combined(t) && t != TYPE_AS_TASK);
}

/* The array of LIST, if all its items can be continuations.  GCD_NODE_NONE: it is another list, or
 * has been read already. */
static uint32_t continuations(struct async *a, uint32_t list)
{
    size_t n, k;
    const uint32_t *refs = async_refs(a, list, 1, &n);
    if (n == 0 || async_type_of(a, refs[0]) != TYPE_ARRAY || !mark_list(a, refs[0]))
        return GCD_NODE_NONE;
    const uint32_t *items = gcd_graph_node_edges(a->g, refs[0], &k);
    for (size_t i = 0; i < k; i++)
        if (!may_resume(async_type_of(a, items[i])))
            return GCD_NODE_NONE;
    return refs[0];
}

static gcd_status read_list(struct async *a, uint32_t task, uint32_t list, struct gcd_error *err)
{
    uint32_t array = continuations(a, list);
    size_t n = 0;
    const uint32_t *items = array != GCD_NODE_NONE ? gcd_graph_node_edges(a->g, array, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        if (i % CHECK_EVERY == 0)
            GCD_TRY(gcd_check_canceled(a->context->cancel, err));
        GCD_TRY(resumes(a, task, items[i], err));
    }
    return GCD_OK;
}

static bool refers(const struct async *a, uint32_t from, uint32_t to)
{
    size_t n;
    const uint32_t *refs = async_refs(a, from, TASK_REFS, &n);
    return async_contains(refs, n, to);
}

/* TASK has REF in the position of its continuation.  SURE: nothing else can be in that position. */
static gcd_status one(struct async *a, uint32_t task, uint32_t ref, bool sure,
                      struct gcd_error *err)
{
    enum async_type t = async_type_of(a, ref);
    if (t == TYPE_LIST)
        return read_list(a, task, ref, err);
    if (t == TYPE_CONTINUATION ||
        t == TYPE_THREAD) /* internal to the runtime: no program has one in a field */
        return resumes(a, task, ref, err);
    uint32_t op = type_is_combined(t) && t != TYPE_AS_TASK ? async_op_of(a, ref) : OP_NONE;
    return op != OP_NONE ? add_pair(a, op, task, !sure && !refers(a, ref, task), err) : GCD_OK;
}

/* How many of the last tasks that a task made of others refers to are those that it waits for. */
static size_t own_tasks(enum async_type t, size_t tasks)
{
    if (t == TYPE_WHEN_ANY)
        return tasks >= 2 ? 2 : 0;
    return t == TYPE_CONTINUE_WITH || t == TYPE_WAIT_ASYNC || t == TYPE_AS_TASK ? 1 : 0;
}

/*
 * Does BOX refer to TASK among its awaiters, which come after the reference to itself?  Then the
 * first field of its state machine is what it awaits, as in "Task M(Task t) { await t; }", and
 * looks like a continuation.
 */
static bool awaits(const struct async *a, uint32_t box, uint32_t task)
{
    size_t n;
    bool behind = false;
    const uint32_t *refs = gcd_graph_node_edges(a->g, box, &n);
    for (size_t i = 0; i < n; i++) {
        if (behind && refs[i] == task)
            return true;
        behind |= refs[i] == box;
    }
    return false;
}

static gcd_status read_task(struct async *a, uint32_t task, struct gcd_error *err)
{
    enum async_type type = async_type_of(a, task);
    size_t n, tasks = 0;
    if (type == TYPE_BOX) {
        uint32_t ref = async_continuation(a, task), op = async_op_of(a, task);
        return ref != GCD_NODE_NONE && op != OP_NONE && !awaits(a, task, ref)
                   ? one(a, task, ref, a->ops[op].machine != task, err)
                   : GCD_OK;
    }
    const uint32_t *refs = async_refs(a, task, TASK_REFS, &n);
    for (size_t i = 0; i < n; i++)
        tasks += type_is_task(async_type_of(a, refs[i]));
    size_t foreign = tasks > own_tasks(type, tasks) ? tasks - own_tasks(type, tasks) : 0;
    for (size_t i = 0; i < n; i++) {
        bool is_task = type_is_task(async_type_of(a, refs[i]));
        if (is_task && foreign == 0)
            continue;
        foreign -= is_task;
        GCD_TRY(one(a, task, refs[i], true, err));
    }
    return GCD_OK;
}

/* ---- references of tasks made of others ---- */

static gcd_status read_array(struct async *a, uint32_t op, uint32_t array, struct gcd_error *err)
{
    size_t n;
    const uint32_t *items = gcd_graph_node_edges(a->g, array, &n);
    if (!mark_list(a, array))
        return GCD_OK;
    for (size_t i = 0; i < n; i++)
        if (type_is_task(async_type_of(a, items[i])))
            GCD_TRY(add_pair(a, op, items[i], false, err));
    return GCD_OK;
}

/* Reads the tasks that OP has in an array or list, and the source of a ValueTask. */
static gcd_status read_combined(struct async *a, uint32_t op, struct gcd_error *err)
{
    size_t n, k;
    const uint32_t *refs = async_refs(a, a->ops[op].node, TASK_REFS, &n), *list;
    if (a->ops[op].type == TYPE_AS_TASK && n > 0)
        return add_pair(a, op, refs[n - 1], !refers(a, refs[n - 1], a->ops[op].node), err);
    for (size_t i = 0; i < n; i++) {
        enum async_type t = async_type_of(a, refs[i]);
        if (t == TYPE_TASK_ARRAY)
            GCD_TRY(read_array(a, op, refs[i], err));
        list = t == TYPE_TASK_LIST ? async_refs(a, refs[i], 1, &k) : NULL;
        if (list != NULL && k > 0 && async_type_of(a, list[0]) == TYPE_TASK_ARRAY)
            GCD_TRY(read_array(a, op, list[0], err));
    }
    return GCD_OK;
}

/* ---- the thread pool, and threads ---- */

static void queued(struct async *a, uint32_t array)
{
    size_t n, k;
    uint32_t several[RESUMED_MAX];
    const uint32_t *items = gcd_graph_node_edges(a->g, array, &n);
    for (size_t i = 0; i < n; i++) {
        uint32_t op = async_op_of(a, items[i]);
        if (op != OP_NONE)
            a->ops[op].flags |= OP_QUEUED;
        else if (async_type_of(a, items[i]) == TYPE_ACTION)
            for (k = async_resumed(a, items[i], several); k > 0; k--)
                a->ops[several[k - 1]].flags |= OP_QUEUED;
    }
}

static void read_queue(struct async *a, uint32_t node)
{
    size_t n;
    const uint32_t *refs = async_refs(a, node, TASK_REFS, &n);
    if (async_type_of(a, node) == TYPE_QUEUE)
        queued(a, node);
    for (size_t i = 0; async_type_of(a, node) == TYPE_STEALING_QUEUE && i < n; i++)
        if (async_type_of(a, refs[i]) == TYPE_ARRAY && mark_list(a, refs[i]))
            queued(a, refs[i]);
}

static void mark_running(struct async *a)
{
    const struct gcd_summary *summary = gcd_graph_summary(a->g);
    for (size_t i = 0; i < summary->root_count; i++) {
        const struct gcd_root *r = &summary->roots[i];
        uint32_t op =
            r->kind == GCD_ROOT_STACK && r->node < a->nodes ? async_op_of(a, r->node) : OP_NONE;
        if (op != OP_NONE)
            a->ops[op].flags |= OP_RUNNING;
    }
}

/* ---- together ---- */

static int compare_pairs(const void *ctx, uint32_t x, uint32_t y)
{
    const struct async_pair *p = ctx;
    if (p[x].op != p[y].op)
        return p[x].op < p[y].op ? -1 : 1;
    if (p[x].child != p[y].child)
        return p[x].child < p[y].child ? -1 : 1;
    return p[x].probable - p[y].probable;
}

/* Sorts the pairs and removes duplicates; a certain one wins over a probable one. */
static gcd_status sort_pairs(struct async *a, struct gcd_error *err)
{
    size_t n = a->pair_count, kept = 0;
    uint32_t *order = n > 0 ? gcd_sort_order(&a->alloc, n, compare_pairs, a->pairs) : NULL;
    struct async_pair *sorted = gcd_mem_new_uncleared(&a->alloc, n + 1, sizeof *sorted);
    bool ok = sorted != NULL && (order != NULL || n == 0);
    for (size_t i = 0; ok && i < n; i++) {
        const struct async_pair *p = &a->pairs[order[i]];
        if (kept == 0 || sorted[kept - 1].op != p->op || sorted[kept - 1].child != p->child)
            sorted[kept++] = *p;
    }
    gcd_mem_free(&a->alloc, order, n * sizeof *order);
    if (!ok) {
        gcd_mem_free(&a->alloc, sorted, (n + 1) * sizeof *sorted);
        return gcd_fail_nomem(err, "finding what tasks wait for");
    }
    gcd_mem_free(&a->alloc, a->pairs, a->pair_room * sizeof *a->pairs);
    a->pairs = sorted;
    a->pair_room = n + 1;
    a->pair_count = kept;
    return GCD_OK;
}

const struct async_pair *async_pairs(const struct async *a, uint32_t op, size_t *ret_n)
{
    size_t low = 0, high = a->pair_count, end;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (a->pairs[mid].op < op)
            low = mid + 1;
        else
            high = mid;
    }
    for (end = low; end < a->pair_count && a->pairs[end].op == op;)
        end++;
    *ret_n = end - low;
    return a->pairs + low;
}

gcd_status async_wakers(struct async *a, struct gcd_error *err)
{
    a->list_seen = gcd_mem_new_array(&a->alloc, a->words + 1, sizeof *a->list_seen);
    if (a->list_seen == NULL)
        return gcd_fail_nomem(err, "finding what tasks wait for");
    for (uint32_t op = 0; op < a->op_count; op++)
        if (type_is_combined((enum async_type)a->ops[op].type))
            GCD_TRY(read_combined(a, op, err));
    for (uint32_t node = 0; node < a->nodes && a->op_count > 0; node++) {
        if (node % CHECK_EVERY == 0)
            GCD_TRY(gcd_context_step(a->context, (uint64_t)a->nodes + node, UINT64_C(3) * a->nodes,
                                     err));
        enum async_type t = async_type_of(a, node);
        if (type_is_task(t))
            GCD_TRY(read_task(a, node, err));
        else if (t == TYPE_QUEUE || t == TYPE_STEALING_QUEUE)
            read_queue(a, node);
    }
    mark_running(a);
    return sort_pairs(a, err);
}
