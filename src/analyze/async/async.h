/*
 * The parts of gcdumpc/unstable/async.h, in the order in which they run:
 *
 *     async_kinds     classifies types by their names
 *     async_runtime   calls of methods without state machines (runtime async), between the others
 *     async_objects   the unfinished operations
 *     async_wakers    what tasks and lists of continuations resume
 *     async_waits     what each operation waits for
 *     async_bytes     what only operations keep alive
 *     async_callback  what runs when a task completes: of ContinueWith, and of async { } in F#
 *     async_stacks    merged stacks
 */
#ifndef GCD_ANALYZE_ASYNC_ASYNC_H
#define GCD_ANALYZE_ASYNC_ASYNC_H

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/async.h>

#include "base/idmap.h"
#include "base/text.h"

/* What a type is; TASK up to, but not including, SOURCE are tasks. */
enum async_type {
    TYPE_ANY,
    TYPE_MACHINE,       /* the state machine of an async method, if it is a class */
    TYPE_ACTION,        /* System.Action */
    TYPE_ACTION_OBJECT, /* System.Action<object> */
    TYPE_CONTEXT,       /* ExecutionContext */
    TYPE_WRAPPER,       /* ...AwaitTaskContinuation: an Action, and where it is to run */
    TYPE_CONTINUATION,  /* ContinueWithTaskContinuation: refers to its task */
    TYPE_LIST,
    TYPE_ARRAY, /* List<object>, object[] */
    TYPE_TASK_LIST,
    TYPE_TASK_ARRAY, /* lists and arrays of tasks */
    TYPE_SCHEDULER,  /* a task with one has a delegate to run */
    /* System.Object: what a completed task has in place of continuations */
    TYPE_OBJECT,
    TYPE_QUEUE,
    TYPE_STEALING_QUEUE, /* thread pool: an array, or an object with one */
    TYPE_RUNTIME_ASYNC,  /* of runtime async, but not understood */
    TYPE_RUNTIME_CALL,   /* a call of a method without state machine */
    TYPE_RUNTIME_STATE,  /* of a thread, with an empty Continuation */
    TYPE_RUNTIME_WAIT,   /* what the innermost of such calls waits for */
    TYPE_CALLBACK,       /* variables of a lambda or an F# function */
    TYPE_THREAD,         /* SetOnInvokeMres: resumes a thread */
    TYPE_TASK,           /* Task and Task<T> themselves, and tasks of unknown kind */
    TYPE_BOX,
    TYPE_WHEN_ALL,
    TYPE_WHEN_ANY,
    TYPE_UNWRAP,
    TYPE_CONTINUE_WITH,
    TYPE_WAIT_ASYNC,
    TYPE_AS_TASK,
    TYPE_DELAY,
    TYPE_SEMAPHORE,
    TYPE_RUNTIME_TASK, /* of the outermost of such calls */
    TYPE_SOURCE,       /* a possible source of a ValueTask */
    TYPE_POOLED_BOX,
};

static inline bool type_is_task(enum async_type t)
{
    return t >= TYPE_TASK && t < TYPE_SOURCE;
}

static inline bool type_is_box(enum async_type t)
{
    return t == TYPE_BOX || t == TYPE_POOLED_BOX;
}

/* Is an object of type T an operation made of others? */
static inline bool type_is_combined(enum async_type t)
{
    return t == TYPE_THREAD || (t >= TYPE_WHEN_ALL && t <= TYPE_AS_TASK);
}

/* The text of a frame; types with the same text share it. */
struct async_label {
    const char *name;
    enum gcd_async_kind kind;
    uint32_t type;
};

/* The first labels, which belong to no type. */
enum { LABEL_QUEUED, LABEL_RUNNING, LABEL_READY, LABEL_CIRCLE, LABEL_DELEGATE, LABELS_FIXED };

#define OP_NONE    UINT32_MAX
#define LABEL_NONE UINT32_MAX

enum { OP_PROBABLE = 1, OP_QUEUED = 2, OP_RUNNING = 4, OP_DONE = 8 };

/* An unfinished operation. */
struct async_op {
    uint32_t node;
    uint32_t machine; /* of a box: the object with its state, usually the box itself */
    /* the task that has it in its list of continuations; GCD_NODE_NONE = none */
    uint32_t waker;
    /* of a box or runtime async: the operation it waits for; OP_NONE: it waits for LEAF */
    uint32_t awaits;
    /* a label; LABEL_NONE for an operation made of others, whose children are in the pairs */
    uint32_t leaf;
    uint32_t awaited;    /* the object of the leaf; GCD_NODE_NONE = none */
    uint8_t type, flags; /* enum async_type */
};

/* Operation OP, made of others, waits for CHILD. */
struct async_pair {
    uint32_t op, child; /* child: a node */
    bool probable;
};

struct async {
    const struct gcd_graph *g;
    const struct gcd_context *context;
    struct gcd_alloc alloc;
    struct gcd_textpool *texts; /* of the result */
    uint32_t nodes;
    bool wants_bytes; /* of what operations keep alive; else they are 0 */

    struct gcd_names *names;
    uint8_t *types;     /* [type_count] enum async_type */
    uint32_t *label_of; /* [type_count] LABEL_NONE = none */
    uint32_t type_count;
    struct async_label *labels;
    size_t label_count, label_room;
    struct gcd_idmap label_by_text; /* hash -> label */

    struct async_op *ops; /* by node */
    size_t op_count, op_room;
    uint64_t *is_op;      /* one bit per node */
    uint32_t *ops_before; /* [words + 1] operations before the 64 nodes of a word */
    size_t words;
    uint64_t no_calls;   /* objects of the type of a call that are none */
    uint64_t *in_chain;  /* one bit per node: understood objects of runtime async; NULL = none */
    uint64_t *list_seen; /* one bit per node: this list of continuations has been read */
    struct async_pair *pairs; /* by op, then by child */
    size_t pair_count, pair_room;
    uint64_t *bytes; /* [op_count] bytes that belong to the operation */
};

static inline enum async_type async_type_of(const struct async *a, uint32_t node)
{
    return (enum async_type)a->types[gcd_graph_node_type(a->g, node)];
}

/* The number of the operation whose object or state machine is NODE; OP_NONE = none. */
uint32_t async_op_of(const struct async *a, uint32_t node);

/* The first references of NODE, at most MAX. */
const uint32_t *async_refs(const struct async *a, uint32_t node, size_t max, size_t *ret_n);

static inline bool async_contains(const uint32_t *nodes, size_t n, uint32_t node)
{
    for (size_t i = 0; i < n; i++)
        if (nodes[i] == node)
            return true;
    return false;
}

/* Is NODE a completed task? */
bool async_is_over(const struct async *a, uint32_t node);

/*
 * The reference of a box in the position of its continuation; GCD_NODE_NONE = none.  Without a
 * continuation it is the first field of the state machine, so the caller must check what it is.
 */
uint32_t async_continuation(const struct async *a, uint32_t box);

#define RESUMED_MAX 32u

/* The boxes that ACTION, an Action or a wrapper of one, resumes: at most RESUMED_MAX operations in
 * RET.  Returns their number. */
size_t async_resumed(const struct async *a, uint32_t action, uint32_t *ret);

/* The pairs of operation OP: the first one and their number. */
const struct async_pair *async_pairs(const struct async *a, uint32_t op, size_t *ret_n);

/* The label of NODE, which is awaited and is no operation. */
gcd_status async_leaf(struct async *a, uint32_t node, uint32_t *ret, struct gcd_error *err);

/* The label of what the ContinueWith NODE calls, if it is a lambda or a function of F#; LABEL_NONE
 * = not found. */
uint32_t async_callback(const struct async *a, uint32_t node);

/* The label of TYPE with the text NAME; labels with the same text are one. */
gcd_status async_label(struct async *a, const char *name, enum gcd_async_kind kind, uint32_t type,
                       uint32_t *ret, struct gcd_error *err);

/* OP, a box or a call of runtime async, waits for NODE. */
gcd_status async_set_awaited(struct async *a, uint32_t op, uint32_t node, bool probable,
                             struct gcd_error *err);

/* Finds the calls of runtime async that belong to an unfinished task. */
gcd_status async_runtime_find(struct async *a, struct gcd_error *err);
/* What these calls and tasks wait for, after the operations have been collected. */
gcd_status async_runtime_waits(struct async *a, struct gcd_error *err);
/* The label of the call NODE: what it keeps, as its method is not known. */
gcd_status async_runtime_label(struct async *a, uint32_t node, uint32_t *ret,
                               struct gcd_error *err);

gcd_status async_kinds(struct async *a, struct gcd_error *err);
gcd_status async_objects(struct async *a, struct gcd_async_completed **completed, size_t *ret_n,
                         struct gcd_async_totals *totals, struct gcd_error *err);
gcd_status async_wakers(struct async *a, struct gcd_error *err);
gcd_status async_waits(struct async *a, struct gcd_error *err);
gcd_status async_bytes(struct async *a, struct gcd_error *err);

struct async_frames {
    struct gcd_async_frame *items;
    size_t count, room;
};
gcd_status async_stacks(struct async *a, struct async_frames *ret, struct gcd_async_totals *totals,
                        struct gcd_error *err);

#endif
