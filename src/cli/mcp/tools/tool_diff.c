/*
 * diff: the types that grew from one open heap to the other.
 */
#include <stdlib.h>
#include <string.h>

#include "commands/compare.h"
#include "mcp/mcp_call.h"
#include "output/json_out.h"

static enum mcp_outcome list_rows(struct mcp_call *c, const struct cli_comparison *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct answer_compared from;
    struct answer *a = NULL;
    gcd_status st = GCD_E_NOMEM;
    if (cli_compared(d, &from)) {
        from.page = mcp_page_wanted(c);
        from.people = false;
        st = answer_diff(&from, &a, &err);
    }
    free((void *)from.sides);
    return mcp_page_answer(c, "types", st, a, &err);
}

static json_t *side(const struct mcp_heap *h, const struct cli_comparison *d, size_t i)
{
    json_t *o = json_object();
    mcp_put(o, "heap", json_string(h->id));
    cli_json_put_text(o, "file", h->file);
    cli_json_count(o, "objects", d->sides[i].sum.objects);
    cli_json_count(o, "bytes", d->sides[i].sum.bytes);
    return o;
}

static enum cli_sort sort_of(const struct mcp_call *c)
{
    const char *word = mcp_text(c, "sort");
    return word == NULL || strcmp(word, "bytes") == 0 ? CLI_SORT_BYTES
           : strcmp(word, "count") == 0               ? CLI_SORT_COUNT
           : strcmp(word, "name") == 0                ? CLI_SORT_NAME
                                                      : CLI_SORT_RETAINED;
}

/* Adds the messages about the two heaps, except those that call one incomplete, because a field
 * says that. */
static void put_notes(struct mcp_call *c, const struct mcp_heap *old, const struct mcp_heap *new)
{
    const char *incomplete = new->incomplete != NULL ? new->incomplete : old->incomplete;
    mcp_put(c->out, "notes", json_copy(c->said));
    if (incomplete != NULL)
        cli_json_put_text(c->out, "incomplete", incomplete);
}

static enum mcp_outcome run_diff(struct mcp_call *c)
{
    struct mcp_heap *old, *new;
    struct cli_args args = *c->server->args;
    struct cli_comparison d = { .args = NULL };
    enum mcp_outcome e = mcp_heap_find(c, "old", &old);
    if (e == MCP_DONE)
        e = mcp_heap_find(c, "new", &new);
    if (e != MCP_DONE)
        return e;
    mcp_heap_borrow(c, old, new);
    mcp_heap_borrow(c, new, old);
    args.view.sort = sort_of(c);
    args.view.retained = mcp_flag(c, "retained") || args.view.sort == CLI_SORT_RETAINED;
    args.view.filter = mcp_text(c, "filter");
    const struct cli_dump *const dumps[] = { &old->d, &new->d };
    if (cli_compare_dumps(&args, dumps, 2, &d) == CLI_DONE) {
        mcp_put(c->out, "old", side(old, &d, 0));
        mcp_put(c->out, "new", side(new, &d, 1));
        put_notes(c, old, new);
        e = list_rows(c, &d);
    } else {
        e = mcp_fail_said(c);
    }
    cli_compare_close(&d);
    return e;
}

static const struct mcp_arg diff_args[] = {
    { "old", MCP_TEXT, true, 0, 0, NULL, "the id of the older heap, as open called it" },
    { "new", MCP_TEXT, true, 0, 0, NULL, "the id of the newer one" },
    { "filter", MCP_TEXT, false, 0, 0, NULL, "only types " MCP_PATTERN_TEXT },
    { "sort", MCP_TEXT, false, 0, 0, "bytes|count|retained|name", "by the growth of what (bytes)" },
    { "retained", MCP_FLAG, false, 0, 0, NULL,
      "also what the objects of a type retain, a lower bound" },
    { .name = NULL },
};

#define SIDE_SHAPE "{heap:s file:s? objects:i bytes:i}"

const struct mcp_tool mcp_diff = { "diff",
                                   "What has grown",
                                   "Types whose objects became more or fewer from one open heap to "
                                   "another one, those that grew most first.",
                                   diff_args,
                                   "old" SIDE_SHAPE " new" SIDE_SHAPE
                                   " notes[] incomplete:s~ types[*]",
                                   MCP_PAGED,
                                   run_diff,
                                   { &answer_diff_shape } };
