/*
 * suspects: possible leaks, in the sentences of the command leaks.
 */
#include <gcdumpc/unstable/session/views.h>
#include <gcdumpc/unstable/suspect_checks.h>

#include "input/memory.h"
#include "mcp/mcp_call.h"
#include "output/json_out.h"

static enum mcp_outcome put_notes(struct mcp_call *c, const struct answer_of_suspects *of)
{
    struct answer *a = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    if (answer_notes(of, &a, &err) == GCD_OK)
        return mcp_put_rows(c, "notes", a);
    answer_free(a);
    return mcp_fail_by(c, &err);
}

static enum mcp_outcome put_headline(struct mcp_call *c, const struct gcd_suspects *s)
{
    char text[GCD_HEADLINE_BYTES];
    struct gcd_error err = GCD_ERROR_INIT;
    if (gcd_session_headline(c->heap->d.session, NULL, text, &err) != GCD_OK)
        return mcp_fail_by(c, &err);
    cli_json_put_text(c->out, "headline", text);
    if (gcd_suspects_count(s) == 0)
        cli_json_put_text(c->out, "none", text);
    return MCP_DONE;
}

/* The first row of the largest consumer, and the largest consumers by type. */
static enum mcp_outcome put_consumers(struct mcp_call *c, const struct answer_of_suspects *of,
                                      const struct gcd_suspects *largest)
{
    const struct gcd_suspects *s = of->suspects;
    struct answer_of_suspects one = *of;
    struct answer *a = NULL;
    struct gcd_error err = GCD_ERROR_INIT;
    size_t count = gcd_suspects_consumer_count(s);
    cli_json_count(c->out, "threshold_bytes", gcd_suspects_threshold(s));
    one.shown = largest;
    one.page = (struct answer_page){ .most = 1 };
    if (largest != NULL && answer_suspects(&one, &a, &err) == GCD_OK && render_ready(a))
        mcp_put(c->out, "largest", mcp_row(c, a, 0));
    answer_free(a);
    a = answer_parts(of, count > 0 ? gcd_suspects_consumer(s, 0) : NULL, count < 3 ? count : 3);
    return mcp_put_rows(c, "consumers", a);
}

/* ---- growth ---- */

struct grown {
    struct gcd_suspects *before, *now;
    struct answer_older *older;
};

static void grown_done(struct grown *g)
{
    answer_older_free(g->older);
    gcd_suspects_free(g->before);
    gcd_suspects_free(g->now);
}

/* Both dumps with the thresholds for growth: what grew may be small. */
static gcd_status find_grown(struct mcp_call *c, struct gcd_session *older, struct grown *g,
                             struct gcd_error *err)
{
    struct gcd_context looking = mcp_context(c, "looking for suspects");
    struct gcd_session *newer = c->heap->d.session;
    gcd_status st = gcd_session_suspects_from(older, &looking, ANSWER_GROWN_SHARE,
                                              ANSWER_GROWN_BYTES, &g->before, err);
    if (st == GCD_OK)
        st = gcd_session_suspects_from(newer, &looking, ANSWER_GROWN_SHARE, ANSWER_GROWN_BYTES,
                                       &g->now, err);
    if (st == GCD_OK)
        st = answer_older_new(older, g->before, true, cli_alloc(), &g->older, err);
    return st == GCD_OK ? answer_older_match(g->older, newer, g->now, NULL, err) : st;
}

/* What has come, or that none of the suspects has grown. */
static void put_said(struct mcp_call *c, const struct answer_older *older, size_t grown)
{
    struct answer *a = answer_growth_said(older);
    if (a != NULL && answer_find(a, 0, "owner")->known && render_ready(a))
        mcp_put(c->out, "growth", mcp_row(c, a, 0));
    if (a != NULL && grown == 0)
        cli_json_put_text(c->out, "none", answer_find(a, 0, "sentence")->text);
    answer_free(a);
}

/* What grew from SINCE to the heap of the call; ALL: the answer about the newer heap alone. */
static enum mcp_outcome put_grown(struct mcp_call *c, const struct mcp_heap *since,
                                  const struct answer_of_suspects *all)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct grown g = { .before = NULL };
    struct answer_of_suspects of = *all;
    struct answer *a = NULL;
    if (since == c->heap)
        return mcp_fail(c, "\"since\" is the same heap: give the older one");
    gcd_status st = find_grown(c, since->d.session, &g, &err);
    if (st == GCD_OK) {
        of.suspects = of.shown = g.now;
        of.older = g.older;
        of.order = answer_order_by_growth(g.older, &of.ordered);
        st = answer_suspects(&of, &a, &err);
        cli_json_count(c->out, "older_heap_bytes", answer_older_heap_bytes(g.older));
        put_said(c, g.older, of.ordered);
    }
    if (st == GCD_OK && since->incomplete != NULL)
        cli_json_put_text(c->out, "incomplete", since->incomplete);
    enum mcp_outcome e = mcp_page_answer(c, "suspects", st, a, &err);
    if (e == MCP_DONE)
        e = put_notes(c, &of);
    grown_done(&g);
    return e;
}

static enum mcp_outcome run_suspects(struct mcp_call *c)
{
    struct gcd_context looking = mcp_context(c, "looking for suspects"),
                       finding = mcp_context(c, "finding dominators");
    struct gcd_error err = GCD_ERROR_INIT;
    struct mcp_heap *since = NULL;
    const struct gcd_suspects *s = NULL, *largest = NULL;
    const struct gcd_dominators *d;
    const struct gcd_paths *paths;
    const struct gcd_origins *origins = NULL;
    if (mcp_text(c, "since") != NULL && mcp_heap_find(c, "since", &since) != MCP_DONE)
        return MCP_FAILED;
    if (since != NULL) {
        mcp_heap_borrow(c, c->heap, since);
        mcp_heap_borrow(c, since, c->heap);
    }
    struct gcd_session *session = c->heap->d.session;
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
    struct answer *a = NULL;
    cli_json_count(c->out, "heap_bytes", gcd_suspects_heap_bytes(s));
    cli_json_names_missing(c->out, gcd_suspects_unnamed(s));
    cli_json_count(c->out, "guessed_roots", gcd_dominators_pseudo_roots(d));
    enum mcp_outcome e = since == NULL ? put_headline(c, s) : MCP_DONE;
    if (e != MCP_DONE)
        return e;
    if (since != NULL) {
        e = put_grown(c, since, &of);
    } else {
        st = answer_suspects(&of, &a, &err);
        e = mcp_page_answer(c, "suspects", st, a, &err);
    }
    if (e == MCP_DONE)
        e = answer_jam(session, &looking, &a, &err) == GCD_OK ? mcp_put_rows(c, "waiting", a)
                                                              : mcp_fail_by(c, &err);
    if (e == MCP_DONE && since == NULL)
        e = put_notes(c, &of);
    return e == MCP_DONE && since == NULL && gcd_suspects_count(s) == 0
               ? put_consumers(c, &of, largest)
               : e;
}

static const struct mcp_arg suspect_args[] = {
    { "since", MCP_TEXT, false, 0, 0, NULL,
      "the id of an older open heap of the same program: only what has grown since, most first" },
    { .name = NULL },
};

const struct mcp_tool mcp_suspects = {
    "suspects",
    "Possible leaks",
    "What keeps a large part of the heap alive, each with a "
    "sentence, advice where to look, and in lines the path "
    "from its root.  Of the types in it holds and own_types "
    "have the largest; type and paths have more.  Without "
    "suspects, the largest consumers.  Begin here.  With since, "
    "what has grown since an older dump: the surest sign of a leak.",
    suspect_args,
    "headline:s~ heap_bytes:i names_missing:s? guessed_roots:i older_heap_bytes:i~ growth{*}~ "
    "suspects[*] waiting[*] notes[*] none:s~ threshold_bytes:i~ "
    "largest{*}~ consumers[*]~",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_suspects,
    { &answer_growth_shape, &answer_suspects_shape, &answer_jam_shape, &answer_notes_shape,
      &answer_suspects_shape, &answer_parts_shape }
};
