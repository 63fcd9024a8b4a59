/*
 * async: waiting operations, as stacks of asynchronous methods.
 */
#include <gcdumpc/unstable/session/views.h>

#include "commands/command_parts.h"
#include "mcp/mcp_call.h"
#include "mcp/mcp_words.h"

/* The most frames of a stack (async.h). */
#define FRAMES_MAX 256u

static json_t *stack_row(struct mcp_call *c, const struct gcd_async *a, uint32_t stack)
{
    uint32_t path[FRAMES_MAX];
    size_t n, count = 0;
    const struct gcd_async_frame *frames = gcd_async_frames(a, &n), *last = &frames[stack];
    json_t *o = json_object(), *names = json_array();
    bool certain = true;
    enum gcd_async_kind waits_for = frames[stack].kind;
    for (uint32_t f = stack; f != GCD_FRAME_NONE && count < FRAMES_MAX; f = frames[f].parent) {
        path[count++] = f;
        certain = certain && !frames[f].probable;
        waits_for = frames[f].kind;
    }
    while (count > 0)
        (void)json_array_append_new(names, mcp_name(c, frames[path[--count]].name));
    mcp_put_count(o, "stacks", last->stacks);
    mcp_put(o, "old_stacks",
            gcd_async_totals(a).ages_known ? json_integer((json_int_t)last->old_stacks)
                                           : json_null());
    mcp_put_count(o, "retained", last->bytes);
    mcp_put(o, "certain", json_boolean(certain));
    mcp_put(o, "waits_for", json_string(gcd_async_kind_name(waits_for)));
    mcp_put(o, "frames", names);
    return o;
}

/* Adds the rows of the stacks that match P (NULL: all). */
static enum mcp_outcome list_stacks(struct mcp_call *c, const struct gcd_async *a,
                                    struct cli_pattern *p)
{
    size_t n, frame_count;
    const uint32_t *stacks = gcd_async_stacks(a, &n);
    const struct gcd_async_frame *frames = gcd_async_frames(a, &frame_count);
    uint64_t total = 0;
    mcp_page_total(c, n);
    for (size_t i = 0; i < n; i++) {
        enum cli_match m = p != NULL ? cli_stack_match(frames, stacks[i], p) : CLI_MATCH;
        if (m == CLI_MATCH_NO_MEMORY || m == CLI_MATCH_CANCELED)
            return m == CLI_MATCH_NO_MEMORY ? mcp_no_memory(c) : mcp_fail(c, "interrupted");
        if (m == CLI_MATCH && total++ == c->page.next && mcp_page_wants(c))
            mcp_page_add(c, stack_row(c, a, stacks[i]));
    }
    mcp_page_found_end(c, total);
    mcp_page_end(c, "rows");
    return MCP_DONE;
}

static void put_totals(struct mcp_call *c, const struct gcd_async *a)
{
    struct gcd_async_totals t = gcd_async_totals(a);
    mcp_put_count(c->out, "operations", t.operations);
    mcp_put_count(c->out, "stacks", t.stacks);
    mcp_put_count(c->out, "retained", t.bytes);
    mcp_put_count(c->out, "completed", t.completed);
    mcp_put_count(c->out, "completed_bytes", t.completed_bytes);
    mcp_put_count(c->out, "runtime_async_objects", t.runtime_async);
}

static enum mcp_outcome run_async(struct mcp_call *c)
{
    struct gcd_context context = mcp_context(c, "finding asynchronous operations");
    struct gcd_error err = GCD_ERROR_INIT;
    const struct gcd_async *a;
    struct cli_pattern *p = NULL;
    const char *filter = mcp_text(c, "filter");
    if (filter != NULL && cli_stack_pattern(filter, &p) != CLI_DONE)
        return mcp_fail_said(c);
    enum mcp_outcome e =
        mcp_status(c, gcd_session_async(c->heap->d.session, &context, &a, &err), &err);
    if (e == MCP_DONE) {
        put_totals(c, a);
        e = list_stacks(c, a, p);
    }
    cli_pattern_free(p);
    return e;
}

static const struct mcp_arg async_args[] = {
    { "filter", MCP_TEXT, false, 0, 0, NULL,
      "only stacks with a frame like Shop.*, /REGEX/; the whole name must match" },
    { .name = NULL },
};

const struct mcp_tool mcp_async = {
    "async",
    "What waits",
    "Asynchronous operations that are not over, as stacks from what is waited for to the outermost "
    "method, "
    "the most frequent first.",
    async_args,
    "operations:i stacks:i retained:i completed:i completed_bytes:i runtime_async_objects:i "
    "rows[stacks:i old_stacks:i? "
    "retained:i certain:b waits_for:s frames[]]",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_async,
    { NULL }
};
