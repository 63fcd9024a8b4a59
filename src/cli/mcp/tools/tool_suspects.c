/*
 * suspects: possible leaks, in the sentences of the command leaks.
 */
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "mcp/mcp_call.h"
#include "output/json_out.h"

/* Puts all rows of A, which it frees. */
static enum mcp_outcome put_rows(struct mcp_call *c, const char *key, struct answer *a)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < answer_plain_rows(a) && render_ready(a); i++)
        (void)json_array_append_new(rows, mcp_row(c, a, i));
    bool ok = render_ready(a);
    answer_free(a);
    mcp_put(c->out, key, rows);
    return ok ? MCP_DONE : mcp_no_memory(c);
}

/* The first row of the largest consumer, and the largest consumers by type. */
static enum mcp_outcome put_consumers(struct mcp_call *c, const struct answer_of_suspects *of,
                                      const struct gcd_suspects *largest)
{
    char text[GCD_HEALTHY_BYTES];
    const struct gcd_suspects *s = of->suspects;
    struct answer_of_suspects one = *of;
    struct answer *a = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    size_t count = gcd_suspects_consumer_count(s);
    if (gcd_session_healthy_text(of->session, NULL, text, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    cli_json_put_text(c->out, "none", text);
    cli_json_count(c->out, "threshold_bytes", gcd_suspects_threshold(s));
    one.shown = largest;
    one.page = (struct answer_page){ .most = 1 };
    if (largest != NULL && answer_suspects(&one, &a, &err) == GCD_OK && render_ready(a))
        mcp_put(c->out, "largest", mcp_row(c, a, 0));
    answer_free(a);
    a = answer_parts(of, count > 0 ? gcd_suspects_consumer(s, 0) : NULL, count < 3 ? count : 3);
    return put_rows(c, "consumers", a);
}

static enum mcp_outcome run_suspects(struct mcp_call *c)
{
    struct gcd_context looking = mcp_context(c, "looking for suspects"),
                       finding = mcp_context(c, "finding dominators");
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_session *session = c->heap->d.session;
    const struct gcd_suspects *s = NULL, *largest = NULL;
    const struct gcd_dominators *d;
    const struct gcd_paths *paths;
    const struct gcd_origins *origins = NULL;
    gcd_status st = gcd_session_paths_with_dominators(session, &finding, &d, &paths, &err);
    if (st == GCD_OK)
        st = gcd_session_origins(session, &looking, &origins, &err);
    if (st == GCD_OK)
        st = gcd_session_suspects(session, &looking, &s, &err);
    if (st == GCD_OK)
        st = gcd_session_largest_consumer(session, &looking, &largest, &err);
    if (st != GCD_OK)
        return mcp_fail_by(c, &err);
    struct answer_of_suspects of = { .session = session,
                                     .suspects = s,
                                     .shown = s,
                                     .dominators = d,
                                     .origins = origins,
                                     .page = mcp_page_wanted(c) };
    struct answer *a;
    st = answer_suspects(&of, &a, &err);
    cli_json_count(c->out, "heap_bytes", gcd_suspects_heap_bytes(s));
    cli_json_count(c->out, "guessed_roots", gcd_dominators_pseudo_roots(d));
    enum mcp_outcome e = mcp_page_answer(c, "suspects", st, a, &err);
    if (e == MCP_DONE)
        e = answer_jam(session, &looking, &a, &err) == GCD_OK ? put_rows(c, "waiting", a)
                                                              : mcp_fail_by(c, &err);
    if (e == MCP_DONE)
        e = put_rows(c, "notes", answer_notes(&of));
    return e == MCP_DONE && gcd_suspects_count(s) == 0 ? put_consumers(c, &of, largest) : e;
}

static const struct mcp_arg suspect_args[] = { { .name = NULL } };

const struct mcp_tool mcp_suspects = {
    "suspects",
    "Possible leaks",
    "What keeps a large part of the heap alive, each with a "
    "sentence, advice where to look, and in lines the path "
    "from its root.  Of the types in it holds and own_types "
    "have the largest; type and paths have more.  Without "
    "suspects, the largest consumers.  Begin here.",
    suspect_args,
    "heap_bytes:i guessed_roots:i suspects[*] waiting[*] notes[*] none:s~ threshold_bytes:i~ "
    "largest{*}~ consumers[*]~",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_suspects,
    { &answer_suspects_shape, &answer_jam_shape, &answer_notes_shape, &answer_suspects_shape,
      &answer_parts_shape }
};
