/*
 * async: waiting operations, as stacks of asynchronous methods.
 */
#include <stdlib.h>

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
    "those with code of the program first, the most frequent first.",
    async_args,
    "operations:i? stack_count:i? bytes:i? probable_stacks:i? completed_count:i? "
    "completed_bytes:i? runtime_async_calls:i? runtime_async_objects:i? names_missing:s? "
    "old_stacks:i? stacks[*]",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_async,
    { &answer_stacks_shape }
};
