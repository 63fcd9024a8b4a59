/*
 * strings and exceptions: what texts and exceptions the heap has, as far as the operator of the
 * server lets clients see them.
 */
#include <stdlib.h>

#include <gcdumpc/unstable/session/views.h>

#include "commands/command_parts.h"
#include "mcp/mcp_call.h"

/* ---- strings ---- */

#define NO_VALUES "this heap has no values of strings: " CLI_WHERE_TEXTS_ARE
#define NO_TEXTS                                                                      \
    "filter needs texts, and this server shows none: its operator can start it with " \
    "--show-values"

/* Lists the contents that match P (NULL: all). */
static enum mcp_outcome list_contents(struct mcp_call *c, const struct gcd_duplicates *d,
                                      enum gcd_duplicate_kind kind, struct cli_pattern *p)
{
    struct gcd_context context = mcp_context(c, "looking for what holds them");
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer *a = NULL;
    struct gcd_session *session = c->heap->d.session;
    struct gcd_values_view view = gcd_session_values(session);
    struct answer_page page = mcp_page_wanted(c);
    struct cli_strings_wanted wanted = {
        .kind = kind, .filter = p, .first = page.first, .most = page.most
    };
    struct cli_strings_chosen chosen;
    enum cli_match m = cli_choose_strings(d, view.values, &wanted, &chosen);
    struct cli_strings_shown of = {
        .session = session, .view = view, .duplicates = d, .kind = kind, .chosen = &chosen
    };
    gcd_status st = m == CLI_MATCH ? cli_answer_strings(&of, &context, &a, &err) : GCD_E_NOMEM;
    if (st == GCD_OK) {
        a->first = page.first < chosen.matched ? page.first : chosen.matched;
        a->total = chosen.matched;
        struct gcd_unnamed u = gcd_types_unnamed(gcd_graph_summary(c->heap->d.graph));
        (void)cli_strings_head(c->out, d, kind, &u);
    }
    free(chosen.rows);
    return m == CLI_MATCH_CANCELED
               ? mcp_fail(c, "interrupted")
               : mcp_page_answer(c, kind == GCD_DUPLICATE_ARRAYS ? "arrays" : "strings", st, a,
                                 &err);
}

static enum mcp_outcome run_strings(struct mcp_call *c)
{
    struct gcd_context context = mcp_context(c, "comparing values");
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_values_view view = gcd_session_values(c->heap->d.session);
    struct gcd_duplicates *d = NULL;
    struct cli_pattern *p = NULL;
    const char *filter = mcp_text(c, "filter");
    if (view.values == NULL)
        return mcp_fail(c, NO_VALUES);
    if (filter != NULL && view.show == GCD_SHOW_EQUAL)
        return mcp_fail(c, NO_TEXTS);
    if (filter != NULL && cli_stack_pattern(filter, &p) != CLI_DONE)
        return mcp_fail_said(c);
    enum mcp_outcome e =
        mcp_status(c, gcd_duplicates_new(c->heap->d.graph, view.values, &context, &d, &err), &err);
    if (e == MCP_DONE)
        e = list_contents(c, d,
                          mcp_flag(c, "arrays") ? GCD_DUPLICATE_ARRAYS : GCD_DUPLICATE_STRINGS, p);
    gcd_duplicates_free(d);
    cli_pattern_free(p);
    return e;
}

static const struct mcp_arg strings_args[] = {
    { "filter", MCP_TEXT, false, 0, 0, NULL,
      "only texts like *Germany*, /REGEX/; the whole text must match" },
    { "arrays", MCP_FLAG, false, 0, 0, NULL, "arrays of numbers instead of strings" },
    { .name = NULL },
};

#define TOTALS "{count:i? bytes:i? different:i? wasted_bytes:i? unknown:i?}~ "

const struct mcp_tool mcp_strings = {
    "strings",
    "Equal strings",
    "Which texts the heap has how often, what their copies waste, and which fields hold them; the "
    "most wasteful first.  Texts only if the operator of the server allows it.",
    strings_args,
    "string_totals" TOTALS "array_totals" TOTALS "names_missing:s?~ strings[*]~ arrays[*]~",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_strings,
    { &answer_strings_shape, &answer_arrays_shape }
};

/* ---- exceptions ---- */

static enum mcp_outcome run_exceptions(struct mcp_call *c)
{
    struct gcd_context context = mcp_context(c, "looking for exceptions");
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_session *session = c->heap->d.session;
    struct answer_page page = mcp_page_wanted(c);
    struct answer_of_exceptions of = { .session = session,
                                       .view = gcd_session_values(session),
                                       .in = c->heap->d.input,
                                       .first = page.first,
                                       .most = page.most };
    struct answer *a = NULL;
    if (of.view.show == GCD_SHOW_EQUAL)
        of.view.values = NULL;
    enum mcp_outcome e = mcp_status(c, answer_find_exceptions(&of, &context, &err), &err);
    if (e == MCP_DONE) {
        (void)cli_exceptions_head(c->out, of.found, c->heap->d.graph);
        gcd_status st = answer_exceptions(&of, &a, &err);
        e = mcp_page_answer(c, "exceptions", st, a, &err);
    }
    answer_exceptions_done(&of);
    return e;
}

static const struct mcp_arg exceptions_args[] = {
    { .name = NULL },
};

const struct mcp_tool mcp_exceptions = {
    "exceptions",
    "Exceptions",
    "The exceptions on the heap by type, message, inner "
    "exception and, of a memory image, the method that "
    "threw them, the most frequent first: what "
    "the program has thrown and something still holds.  "
    "Messages only if the operator of the server "
    "allows it.",
    exceptions_args,
    "count:i? bytes:i? thrown:i?~ names_missing:s? exceptions[*]",
    MCP_TAKES_HEAP | MCP_PAGED,
    run_exceptions,
    { &answer_exceptions_shape }
};
