#include "analyze/async/async.h"

#include <string.h>

#include "base/context.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/sort.h"

#define TEXTS_BYTES (UINT64_C(1) << 30)

struct gcd_async {
    struct gcd_alloc alloc;
    struct gcd_textpool texts;
    struct gcd_async_totals totals;
    struct async_frames frames;
    struct gcd_async_completed *completed;
    size_t completed_count;
    uint32_t *stacks;
    size_t stack_count;
};

const char *gcd_async_kind_name(enum gcd_async_kind kind)
{
    static const char *const names[GCD_ASYNC_KINDS] = {
        [GCD_ASYNC_METHOD] = "method",
        [GCD_ASYNC_RUNTIME_METHOD] = "runtime_method",
        [GCD_ASYNC_WHEN_ALL] = "when_all",
        [GCD_ASYNC_WHEN_ANY] = "when_any",
        [GCD_ASYNC_UNWRAP] = "unwrap",
        [GCD_ASYNC_CONTINUE_WITH] = "continue_with",
        [GCD_ASYNC_WAIT_ASYNC] = "wait_async",
        [GCD_ASYNC_AS_TASK] = "as_task",
        [GCD_ASYNC_THREAD] = "thread",
        [GCD_ASYNC_DELAY] = "delay",
        [GCD_ASYNC_SEMAPHORE] = "semaphore",
        [GCD_ASYNC_SOCKET] = "socket",
        [GCD_ASYNC_CHANNEL_READER] = "channel_reader",
        [GCD_ASYNC_CHANNEL_WRITER] = "channel_writer",
        [GCD_ASYNC_CHANNEL] = "channel",
        [GCD_ASYNC_TIMER] = "timer",
        [GCD_ASYNC_PIPE] = "pipe",
        [GCD_ASYNC_FILE] = "file",
        [GCD_ASYNC_TASK_SOURCE] = "task_source",
        [GCD_ASYNC_DELEGATE] = "delegate",
        [GCD_ASYNC_OTHER] = "other",
        [GCD_ASYNC_QUEUED] = "queued",
        [GCD_ASYNC_RUNNING] = "running",
        [GCD_ASYNC_READY] = "ready",
        [GCD_ASYNC_CIRCLE] = "circle",
    };
    return names[kind];
}

static void work_done(struct async *w)
{
    const struct gcd_alloc *a = &w->alloc;
    gcd_names_free(w->names);
    gcd_mem_free(a, w->types, ((size_t)w->type_count + 1) * sizeof *w->types);
    gcd_mem_free(a, w->label_of, ((size_t)w->type_count + 1) * sizeof *w->label_of);
    gcd_mem_free(a, w->labels, w->label_room * sizeof *w->labels);
    gcd_idmap_done(&w->label_by_text);
    gcd_mem_free(a, w->ops, w->op_room * sizeof *w->ops);
    gcd_mem_free(a, w->bytes, (w->op_count + 1) * sizeof *w->bytes);
    gcd_mem_free(a, w->pairs, w->pair_room * sizeof *w->pairs);
    gcd_mem_free(a, w->is_op, (w->words + 1) * sizeof *w->is_op);
    gcd_mem_free(a, w->ops_before, (w->words + 1) * sizeof *w->ops_before);
    gcd_mem_free(a, w->list_seen, (w->words + 1) * sizeof *w->list_seen);
    gcd_mem_free(a, w->in_chain, (w->words + 1) * sizeof *w->in_chain);
}

static int compare_stacks(const void *ctx, uint32_t x, uint32_t y)
{
    const struct gcd_async_frame *f = ctx;
    if (f[x].stacks != f[y].stacks)
        return f[x].stacks < f[y].stacks ? 1 : -1;
    if (f[x].bytes != f[y].bytes)
        return f[x].bytes < f[y].bytes ? 1 : -1;
    int by_name = strcmp(f[x].name, f[y].name);
    return by_name != 0 ? by_name : (x > y) - (x < y);
}

static gcd_status sort_stacks(struct gcd_async *r, struct gcd_error *err)
{
    r->stacks = gcd_mem_new_uncleared(&r->alloc, r->frames.count + 1, sizeof *r->stacks);
    for (size_t i = 0; r->stacks != NULL && i < r->frames.count; i++)
        if (r->frames.items[i].stacks > 0)
            r->stacks[r->stack_count++] = (uint32_t)i;
    bool ok = r->stacks != NULL && gcd_sort_numbers(&r->alloc, r->stacks, r->stack_count,
                                                    compare_stacks, r->frames.items);
    return ok ? GCD_OK : gcd_fail_nomem(err, "sorting stacks");
}

static gcd_status run(struct gcd_async *r, struct async *w, struct gcd_error *err)
{
    GCD_TRY(async_kinds(w, err));
    GCD_TRY(async_objects(w, &r->completed, &r->completed_count, &r->totals, err));
    GCD_TRY(async_wakers(w, err));
    GCD_TRY(async_waits(w, err));
    GCD_TRY(async_bytes(w, err));
    GCD_TRY(async_stacks(w, &r->frames, &r->totals, err));
    return sort_stacks(r, err);
}

static gcd_status make(const struct gcd_graph *g, const struct gcd_context *context, bool bytes,
                       struct gcd_async **ret, struct gcd_error *err)
{
    context = gcd_context_or_default(context);
    struct gcd_alloc alloc = gcd_alloc_or_default(context->alloc);
    struct gcd_async *r = gcd_mem_new(&alloc, sizeof *r);
    if (r == NULL)
        return gcd_fail_nomem(err, "finding asynchronous operations");
    r->alloc = alloc;
    gcd_textpool_init(&r->texts, &r->alloc, TEXTS_BYTES);
    struct async w = { .g = g,
                       .context = context,
                       .alloc = alloc,
                       .texts = &r->texts,
                       .wants_bytes = bytes,
                       .nodes = gcd_graph_node_count(g) };
    gcd_status st = run(r, &w, err);
    work_done(&w);
    if (st == GCD_OK)
        *ret = r;
    else
        gcd_async_free(r);
    return st;
}

gcd_status gcd_async_new(const struct gcd_graph *g, const struct gcd_context *context,
                         struct gcd_async **ret, struct gcd_error *err)
{
    return make(g, context, true, ret, err);
}

gcd_status gcd_async_waits_new(const struct gcd_graph *g, const struct gcd_context *context,
                               struct gcd_async **ret, struct gcd_error *err)
{
    return make(g, context, false, ret, err);
}

void gcd_async_free(struct gcd_async *a)
{
    if (a == NULL)
        return;
    struct gcd_alloc alloc = a->alloc;
    gcd_textpool_done(&a->texts);
    gcd_mem_free(&alloc, a->completed, (a->completed_count + 1) * sizeof *a->completed);
    gcd_mem_free(&alloc, a->stacks, (a->frames.count + 1) * sizeof *a->stacks);
    gcd_mem_free(&alloc, a->frames.items, a->frames.room * sizeof *a->frames.items);
    gcd_mem_free(&alloc, a, sizeof *a);
}

struct gcd_async_totals gcd_async_totals(const struct gcd_async *a)
{
    return a->totals;
}

const struct gcd_async_frame *gcd_async_frames(const struct gcd_async *a, size_t *ret_n)
{
    *ret_n = a->frames.count;
    return a->frames.items;
}

const uint32_t *gcd_async_stacks(const struct gcd_async *a, size_t *ret_n)
{
    *ret_n = a->stack_count;
    return a->stacks;
}

const struct gcd_async_completed *gcd_async_completed(const struct gcd_async *a, size_t *ret_n)
{
    *ret_n = a->completed_count;
    return a->completed;
}
