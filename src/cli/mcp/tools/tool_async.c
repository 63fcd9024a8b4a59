/*
 * async: waiting operations, as stacks of asynchronous methods.
 */
#include <stdlib.h>

#include <gcdumpc/unstable/async_values.h>
#include <gcdumpc/unstable/session/views.h>

#include "commands/command_parts.h"
#include "mcp/mcp_call.h"

/* Lists the stacks that match P (NULL: all). */
static enum mcp_outcome list_stacks(struct mcp_call *c, const struct gcd_async *async,
                                    const struct gcd_origins *origins, struct cli_pattern *p)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer *a = NULL;
    uint32_t *stacks;
    size_t n, own;
    enum cli_match m = cli_choose_stacks(async, p, 0, &stacks, &n);
    if (m == CLI_MATCH && !cli_own_stacks_first(async, origins, stacks, n, &own))
        m = CLI_MATCH_NO_MEMORY;
    size_t first = c->page.from < n ? (size_t)c->page.from : n,
           most = n - first < c->page.limit ? n - first : (size_t)c->page.limit;
    struct answer_of_stacks of = { .stacks = stacks + first, .n = most };
    gcd_status st = m == CLI_MATCH ? answer_stacks(async, &of, &a, &err) : GCD_E_NOMEM;
    if (st == GCD_OK) {
        a->first = first;
        a->total = n;
    }
    free(stacks);
    return m == CLI_MATCH_CANCELED ? mcp_fail(c, "interrupted")
                                   : mcp_page_answer(c, "stacks", st, a, &err);
}

/* Of timers and requests; the most frequent are enough to see what they are. */
#define ROWS_MAX 20u

/* What memory tells of tasks, timers and requests, on the first page. */
static enum mcp_outcome put_values(struct mcp_call *c)
{
    struct gcd_context context = mcp_context(c, "reading tasks and timers");
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_session *s = c->heap->d.session;
    struct gcd_async_values *v = NULL;
    struct answer *a = NULL;
    enum mcp_outcome e = c->page.from == 0
                             ? mcp_status(c, answer_find_async_values(s, &context, &v, &err), &err)
                             : MCP_DONE;
    if (e == MCP_DONE && v != NULL)
        e = answer_tasks(s, v, &a, &err) == GCD_OK ? mcp_put_rows(c, "tasks", a)
                                                   : mcp_fail_by(c, &err);
    if (e == MCP_DONE && v != NULL)
        e = answer_timers(s, v, ROWS_MAX, &a, &err) == GCD_OK ? mcp_put_rows(c, "timers", a)
                                                              : mcp_fail_by(c, &err);
    if (e == MCP_DONE && v != NULL)
        e = answer_requests(s, v, ROWS_MAX, &a, &err) == GCD_OK ? mcp_put_rows(c, "requests", a)
                                                                : mcp_fail_by(c, &err);
    gcd_async_values_free(v);
    return e;
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
    const struct gcd_origins *origins;
    if (e == MCP_DONE)
        e = mcp_status(c, gcd_session_origins(c->heap->d.session, &context, &origins, &err), &err);
    if (e == MCP_DONE) {
        struct gcd_unnamed u = gcd_types_unnamed(gcd_graph_summary(c->heap->d.graph));
        (void)cli_async_head(c->out, a, &u);
        e = list_stacks(c, a, origins, p);
    }
    if (e == MCP_DONE)
        e = put_values(c);
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
    "those with code of the program first, the most frequent first.  Of a memory image also the "
    "states of tasks, the most frequent timers and the requests that a web server has at work.",
    async_args,
    "operations:i? stack_count:i? bytes:i? probable_stacks:i? completed_count:i? "
    "completed_bytes:i? runtime_async_calls:i? runtime_async_objects:i? fsharp_async_objects:i? "
    "names_missing:s? "
    "old_stacks:i? stacks[*] tasks[*]~ timers[*]~ requests[*]~",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_async,
    { &answer_stacks_shape, &answer_tasks_shape, &answer_timers_shape, &answer_requests_shape }
};
