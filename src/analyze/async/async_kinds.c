#include "analyze/async/async.h"

#include <stdio.h>
#include <string.h>

#include <gcdumpc/names.h>
#include <gcdumpc/unstable/async_names.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

/* Longer names are cut; no one reads them. */
#define NAME_BYTES 2000u
#define TASK_REFS  32u

struct known {
    const char *outer; /* everything before NAME, without type arguments */
    const char *name;
    bool bare; /* a nested type that is also known without its outer types */
    enum async_type type;
    enum gcd_async_kind kind;
    const char *label; /* NULL: none */
};

#define TASKS    "System.Threading.Tasks."
#define CHANNELS "System.Threading.Channels."
#define PIPE     "System.IO.Pipelines.Pipe."

static const struct known known[] = {
    { "System.", "Action", false, TYPE_ACTION, GCD_ASYNC_OTHER, NULL },
    { "System.Threading.", "ExecutionContext", false, TYPE_CONTEXT, GCD_ASYNC_OTHER, NULL },
    { "System.", "Object", false, TYPE_OBJECT, GCD_ASYNC_OTHER, NULL },
    { "System.", "Object[]", false, TYPE_ARRAY, GCD_ASYNC_OTHER, NULL },
    { TASKS, "AwaitTaskContinuation", false, TYPE_WRAPPER, GCD_ASYNC_OTHER, NULL },
    { TASKS, "SynchronizationContextAwaitTaskContinuation", false, TYPE_WRAPPER, GCD_ASYNC_OTHER,
      NULL },
    { TASKS, "TaskSchedulerAwaitTaskContinuation", false, TYPE_WRAPPER, GCD_ASYNC_OTHER, NULL },
    { TASKS, "ContinueWithTaskContinuation", false, TYPE_CONTINUATION, GCD_ASYNC_OTHER, NULL },
    { "System.Threading.ThreadPoolWorkQueue.", "WorkStealingQueue", true, TYPE_STEALING_QUEUE,
      GCD_ASYNC_OTHER, NULL },
    { TASKS "Task.", "SetOnInvokeMres", true, TYPE_THREAD, GCD_ASYNC_THREAD,
      "(a thread blocks in Wait or Result)" },
    { TASKS "Task.", "SetOnCountdownMres", true, TYPE_THREAD, GCD_ASYNC_THREAD,
      "(a thread blocks in Wait or Result)" },
    { TASKS "Task.", "WhenAllPromise", true, TYPE_WHEN_ALL, GCD_ASYNC_WHEN_ALL, "Task.WhenAll" },
    { TASKS "Task.", "TwoTaskWhenAnyPromise", true, TYPE_WHEN_ANY, GCD_ASYNC_WHEN_ANY,
      "Task.WhenAny" },
    { TASKS "TaskFactory.", "CompleteOnInvokePromise", true, TYPE_WHEN_ANY, GCD_ASYNC_WHEN_ANY,
      "Task.WhenAny" },
    { TASKS "TaskFactory.", "CompleteOnCountdownPromise", true, TYPE_WHEN_ALL, GCD_ASYNC_WHEN_ALL,
      "TaskFactory.ContinueWhenAll" },
    { TASKS, "UnwrapPromise", false, TYPE_UNWRAP, GCD_ASYNC_UNWRAP, "Task.Run or Unwrap" },
    { TASKS, "ContinuationTaskFromTask", false, TYPE_CONTINUE_WITH, GCD_ASYNC_CONTINUE_WITH,
      "Task.ContinueWith" },
    { TASKS, "ContinuationTaskFromResultTask", false, TYPE_CONTINUE_WITH, GCD_ASYNC_CONTINUE_WITH,
      "Task.ContinueWith" },
    { TASKS, "ContinuationResultTaskFromTask", false, TYPE_CONTINUE_WITH, GCD_ASYNC_CONTINUE_WITH,
      "Task.ContinueWith" },
    { TASKS, "ContinuationResultTaskFromResultTask", false, TYPE_CONTINUE_WITH,
      GCD_ASYNC_CONTINUE_WITH, "Task.ContinueWith" },
    { TASKS "Task.", "CancellationPromise", true, TYPE_WAIT_ASYNC, GCD_ASYNC_WAIT_ASYNC,
      "Task.WaitAsync" },
    { TASKS "ValueTask.", "ValueTaskSourceAsTask", true, TYPE_AS_TASK, GCD_ASYNC_AS_TASK,
      "ValueTask.AsTask" },
    { TASKS "Task.", "DelayPromise", true, TYPE_DELAY, GCD_ASYNC_DELAY, "Task.Delay" },
    { TASKS "Task.", "DelayPromiseWithCancellation", true, TYPE_DELAY, GCD_ASYNC_DELAY,
      "Task.Delay" },
    { "System.Threading.SemaphoreSlim.", "TaskNode", true, TYPE_SEMAPHORE, GCD_ASYNC_SEMAPHORE,
      "SemaphoreSlim.WaitAsync" },
    { "System.Net.Sockets.Socket.", "AwaitableSocketAsyncEventArgs", true, TYPE_SOURCE,
      GCD_ASYNC_SOCKET, "Socket" },
    { "Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets.Internal.", "SocketReceiver", false,
      TYPE_SOURCE, GCD_ASYNC_SOCKET, "Socket (Kestrel)" },
    { "Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets.Internal.", "SocketSender", false,
      TYPE_SOURCE, GCD_ASYNC_SOCKET, "Socket (Kestrel)" },
    { CHANNELS, "BlockedReadAsyncOperation", false, TYPE_SOURCE, GCD_ASYNC_CHANNEL_READER,
      "Channel reader" },
    { CHANNELS, "WaitingReadAsyncOperation", false, TYPE_SOURCE, GCD_ASYNC_CHANNEL_READER,
      "Channel reader" },
    { CHANNELS, "BlockedWriteAsyncOperation", false, TYPE_SOURCE, GCD_ASYNC_CHANNEL_WRITER,
      "Channel writer" },
    { CHANNELS, "WaitingWriteAsyncOperation", false, TYPE_SOURCE, GCD_ASYNC_CHANNEL_WRITER,
      "Channel writer" },
    { CHANNELS, "VoidAsyncOperationWithData", false, TYPE_SOURCE, GCD_ASYNC_CHANNEL_WRITER,
      "Channel writer" },
    { CHANNELS, "AsyncOperation", false, TYPE_SOURCE, GCD_ASYNC_CHANNEL,
      "Channel reader or writer" },
    { "System.Threading.PeriodicTimer.", "State", false, TYPE_SOURCE, GCD_ASYNC_TIMER,
      "PeriodicTimer" },
    { PIPE, "DefaultPipeReader", true, TYPE_SOURCE, GCD_ASYNC_PIPE, "PipeReader" },
    { PIPE, "DefaultPipeWriter", true, TYPE_SOURCE, GCD_ASYNC_PIPE, "PipeWriter" },
    { "Microsoft.Win32.SafeHandles.SafeFileHandle.", "ThreadPoolValueTaskSource", true, TYPE_SOURCE,
      GCD_ASYNC_FILE, "File" },
    { "System.Runtime.CompilerServices.", "Continuation", false, TYPE_RUNTIME_CALL, GCD_ASYNC_OTHER,
      NULL },
    { "System.Runtime.CompilerServices.", "RuntimeAsyncTaskContinuation", false, TYPE_RUNTIME_WAIT,
      GCD_ASYNC_OTHER, NULL },
    { "System.Runtime.CompilerServices.AsyncHelpers.", "ValueTaskSourceContinuation", true,
      TYPE_RUNTIME_WAIT, GCD_ASYNC_OTHER, NULL },
    { "System.Runtime.CompilerServices.AsyncHelpers.", "RuntimeAsyncAwaitState", true,
      TYPE_RUNTIME_STATE, GCD_ASYNC_OTHER, NULL },
    { "System.Runtime.CompilerServices.AsyncHelpers.", "RuntimeAsyncTask", true, TYPE_RUNTIME_TASK,
      GCD_ASYNC_OTHER, NULL },
    { "System.Runtime.CompilerServices.AsyncHelpers.", "ThunkTask", true, TYPE_RUNTIME_ASYNC,
      GCD_ASYNC_OTHER, NULL },
};

/* NAME without type arguments; false if it does not fit. */
static bool head_of(const char *name, char *ret, size_t cap)
{
    size_t n = 0, depth = 0;
    for (const char *p = name; *p != '\0'; p++) {
        depth += *p == '<';
        if (depth == 0) {
            if (n + 1 >= cap)
                return false;
            ret[n++] = *p;
        }
        depth -= *p == '>' && depth > 0;
    }
    ret[n] = '\0';
    return true;
}

static bool is_known(const struct known *k, const char *head)
{
    size_t outer = strlen(k->outer);
    return (strncmp(head, k->outer, outer) == 0 && strcmp(head + outer, k->name) == 0) ||
           (k->bare && strcmp(head, k->name) == 0);
}

static const struct known *find_known(const char *head)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (is_known(&known[i], head))
            return &known[i];
    return NULL;
}

/* Classifies NAME by its form; TYPE_ANY: none. */
static enum async_type type_by_form(const char *name)
{
    if (strcmp(name, "System.Action<System.Object>") == 0)
        return TYPE_ACTION_OBJECT;
    if (strcmp(name, "System.Collections.Generic.List<System.Object>") == 0)
        return TYPE_LIST;
    if (strncmp(name, "System.Collections.Generic.List<" TASKS "Task",
                strlen("System.Collections.Generic.List<" TASKS "Task")) == 0)
        return TYPE_TASK_LIST;
    if (strncmp(name, TASKS "Task", strlen(TASKS "Task")) == 0 && gcd_text_ends(name, "[]"))
        return TYPE_TASK_ARRAY;
    if (strstr(name, "ConcurrentQueueSegment<System.Object>.Slot[]") != NULL ||
        strcmp(name, "Slot<System.Object>[]") == 0)
        return TYPE_QUEUE;
    return gcd_text_ends(name, "TaskScheduler") ? TYPE_SCHEDULER : TYPE_ANY;
}

/* ---- labels ---- */

static gcd_status add_label(struct async *a, const char *name, enum gcd_async_kind kind,
                            uint32_t type, struct gcd_error *err)
{
    const char *copy;
    if (gcd_textpool_add(a->texts, name, strlen(name), &copy) != GCD_OK ||
        !gcd_vec_reserve(&a->alloc, &a->labels, &a->label_room, a->label_count + 1,
                         sizeof *a->labels, UINT32_MAX / 4))
        return gcd_fail_nomem(err, "naming async methods");
    a->labels[a->label_count++] = (struct async_label){ copy, kind, type };
    return GCD_OK;
}

gcd_status async_label(struct async *a, const char *name, enum gcd_async_kind kind, uint32_t type,
                       uint32_t *ret, struct gcd_error *err)
{
    uint64_t hash = gcd_text_hash(name, strlen(name), GCD_TEXT_HASH + kind);
    *ret = gcd_idmap_get(&a->label_by_text, hash);
    if (*ret != GCD_IDMAP_NONE && strcmp(a->labels[*ret].name, name) == 0)
        return GCD_OK;
    *ret = (uint32_t)a->label_count;
    GCD_TRY(add_label(a, name, kind, type, err));
    return gcd_idmap_put(&a->label_by_text, hash, *ret)
               ? GCD_OK
               : gcd_fail_nomem(err, "naming async methods");
}

struct naming {
    struct async *a;
    char text[NAME_BYTES];
};

/* Gives TYPE the label with the text in N. */
static gcd_status label(struct naming *n, enum gcd_async_kind kind, uint32_t type,
                        struct gcd_error *err)
{
    return async_label(n->a, n->text, kind, type, &n->a->label_of[type], err);
}

static void set_text(struct naming *n, const char *before, const char *text)
{
    size_t k = strlen(before), m = strlen(text), room = sizeof n->text - 1 - k;
    memcpy(n->text, before, k);
    memcpy(n->text + k, text, m < room ? m : room);
    n->text[k + (m < room ? m : room)] = '\0';
}

/* "TaskCompletionSource<X>" for Task<X>. */
static gcd_status label_task(struct naming *n, const char *name, uint32_t type,
                             struct gcd_error *err)
{
    const char *arguments = strchr(name, '<');
    set_text(n, "TaskCompletionSource", arguments != NULL ? arguments : "");
    return label(n, GCD_ASYNC_TASK_SOURCE, type, err);
}

/* Does the compiler generate types with this name for methods?  Then the type may be a state
 * machine; only its objects tell. */
static bool is_machine_name(struct naming *n, const char *name)
{
    gcd_async_method(name, strlen(name), n->text, sizeof n->text);
    return strcmp(name, n->text) != 0 && gcd_made_of(name) != GCD_MADE_OF_FUNCTION;
}

/* "Shop.Main.work, line 8" for a function of F#, "lambda in Shop.Poller"; not those of the core
 * library of F#, which stand between a task and what the user wrote. */
static gcd_status label_callback(struct naming *n, const char *name, uint32_t type,
                                 struct gcd_error *err)
{
    char method[NAME_BYTES];
    enum gcd_made_of of = gcd_made_of(name);
    if ((of != GCD_MADE_OF_LAMBDA && of != GCD_MADE_OF_FUNCTION) ||
        strncmp(name, "Microsoft.FSharp.", strlen("Microsoft.FSharp.")) == 0 ||
        strncmp(name, "<StartupCode$FSharp-Core>", strlen("<StartupCode$FSharp-Core>")) == 0)
        return GCD_OK;
    const char *lambda_of = gcd_names_lambda_method(n->a->names, type);
    if (lambda_of != NULL)
        (void)snprintf(method, sizeof method, "%s", lambda_of);
    else
        gcd_made_of_method(name, method, sizeof method);
    if (method[0] == '\0') /* its outer types are not known */
        return GCD_OK;
    set_text(n, of == GCD_MADE_OF_LAMBDA ? "lambda in " : "", method);
    n->a->types[type] = TYPE_CALLBACK;
    return label(n, GCD_ASYNC_METHOD, type, err);
}

static gcd_status classify(struct naming *n, uint32_t type, struct gcd_error *err)
{
    struct async *a = n->a;
    const char *name = gcd_names_plain(a->names, type), *machine;
    char head[256];
    size_t bytes;
    if (gcd_async_machine(name, &machine, &bytes)) {
        bool pooled = strstr(name, "AsyncStateMachineBox<") == NULL;
        a->types[type] = pooled ? TYPE_POOLED_BOX : TYPE_BOX;
        gcd_async_method(machine, bytes, n->text, sizeof n->text);
        return label(n, GCD_ASYNC_METHOD, type, err);
    }
    a->types[type] = (uint8_t)type_by_form(name);
    if (a->types[type] != TYPE_ANY || !head_of(name, head, sizeof head))
        return GCD_OK;
    if (strcmp(head, TASKS "Task") == 0) {
        a->types[type] = TYPE_TASK;
        return label_task(n, name, type, err);
    }
    const struct known *k = find_known(head);
    if (k == NULL) {
        if (!is_machine_name(n, name))
            return label_callback(n, name, type, err);
        a->types[type] = TYPE_MACHINE;
        return label(n, GCD_ASYNC_METHOD, type, err); /* the label of its box */
    }
    a->types[type] = (uint8_t)k->type;
    if (k->kind == GCD_ASYNC_CHANNEL &&
        strstr(name, "<System.Boolean>") ==
            NULL) /* waiting until a read or write is possible has bool */
        k = find_known(CHANNELS "BlockedReadAsyncOperation");
    set_text(n, k->label != NULL ? k->label : "", "");
    return k->label != NULL ? label(n, k->kind, type, err) : GCD_OK;
}

static bool has_scheduler(const struct async *a, uint32_t task)
{
    size_t n;
    const uint32_t *refs = async_refs(a, task, TASK_REFS, &n);
    for (size_t i = 0; i < n; i++)
        if (async_type_of(a, refs[i]) == TYPE_SCHEDULER)
            return true;
    return false;
}

gcd_status async_leaf(struct async *a, uint32_t node, uint32_t *ret, struct gcd_error *err)
{
    uint32_t type = gcd_graph_node_type(a->g, node);
    *ret = LABEL_READY;
    if (async_is_over(a, node) || a->types[type] == TYPE_MACHINE)
        return GCD_OK;
    if (a->types[type] == TYPE_TASK && has_scheduler(a, node)) {
        *ret = LABEL_DELEGATE;
        return GCD_OK;
    }
    if (a->label_of[type] == LABEL_NONE) {
        a->label_of[type] = (uint32_t)a->label_count;
        GCD_TRY(add_label(a, gcd_names_plain(a->names, type), GCD_ASYNC_OTHER, type, err));
    }
    *ret = a->label_of[type];
    return GCD_OK;
}

static gcd_status fixed_labels(struct async *a, struct gcd_error *err)
{
    static const struct {
        const char *name;
        enum gcd_async_kind kind;
    } fixed[LABELS_FIXED] = {
        [LABEL_QUEUED] = { "(queued in the thread pool)", GCD_ASYNC_QUEUED },
        [LABEL_RUNNING] = { "(running)", GCD_ASYNC_RUNNING },
        [LABEL_READY] = { "(ready to run, or between two elements)", GCD_ASYNC_READY },
        [LABEL_CIRCLE] = { "(a circle: it waits for itself)", GCD_ASYNC_CIRCLE },
        [LABEL_DELEGATE] = { "(a delegate that runs or is queued)", GCD_ASYNC_DELEGATE },
    };
    for (size_t i = 0; i < LABELS_FIXED; i++)
        GCD_TRY(add_label(a, fixed[i].name, fixed[i].kind, GCD_FRAME_NONE, err));
    return GCD_OK;
}

gcd_status async_kinds(struct async *a, struct gcd_error *err)
{
    struct naming *n = gcd_mem_new(&a->alloc, sizeof *n);
    const struct gcd_summary *summary = gcd_graph_summary(a->g);
    a->type_count = summary->type_count;
    a->types = gcd_mem_new_array(&a->alloc, (size_t)a->type_count + 1, sizeof *a->types);
    a->label_of = gcd_mem_new_array(&a->alloc, (size_t)a->type_count + 1, sizeof *a->label_of);
    if (n == NULL || a->types == NULL || a->label_of == NULL) {
        gcd_mem_free(&a->alloc, n, sizeof *n);
        return gcd_fail_nomem(err, "naming async methods");
    }
    n->a = a;
    gcd_idmap_init(&a->label_by_text, &a->alloc);
    gcd_status st = gcd_names_new(summary, GCD_NAMES_CSHARP, &a->alloc, &a->names, err);
    if (st == GCD_OK)
        st = fixed_labels(a, err);
    for (uint32_t type = 0; type < a->type_count && st == GCD_OK; type++) {
        a->label_of[type] = LABEL_NONE;
        st = gcd_check_canceled(a->context->cancel, err);
        if (st == GCD_OK && summary->types[type].objects > 0)
            st = classify(n, type, err);
    }
    gcd_mem_free(&a->alloc, n, sizeof *n);
    return st;
}
