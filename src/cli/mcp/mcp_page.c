/*
 * Rows of an answer: a page of limited number and size, with a cursor for the next page.  The
 * cursor tells where that begins, and is valid only for the same question.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/text/plural.h>

#include "mcp/mcp_call.h"
#include "output/json_out.h"
#include "term/term.h"

#define DEFAULT_ROWS  25
#define DEFAULT_CHARS 8000
#define SHORTEST_TEXT 125u

/* A hash (FNV-1a) of the question - the tool and all arguments that determine its rows - and of row
 * FROM. */
static uint64_t question_of(const struct mcp_call *c, uint64_t from)
{
    static const char *const others[] = { "limit", "cursor", "max_chars" };
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ from;
    json_t *rest = json_copy(c->arguments);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        (void)json_object_del(rest, others[i]);
    if (c->heap != NULL)
        mcp_put(rest, "heap", json_string(c->heap->id));
    char *text = json_dumps(rest, JSON_COMPACT | JSON_SORT_KEYS);
    const char *const parts[] = { c->tool->name, text != NULL ? text : "" };
    for (size_t i = 0; i < 2; i++)
        for (const char *p = parts[i]; *p != '\0'; p++)
            h = (h ^ (unsigned char)*p) * UINT64_C(0x100000001b3);
    free(text);
    json_decref(rest);
    return h;
}

static enum mcp_outcome take_cursor(struct mcp_call *c, const char *cursor)
{
    char expected[40];
    uint64_t from = strtoull(cursor, NULL, 16);
    (void)snprintf(expected, sizeof expected, "%" PRIx64 "-%016" PRIx64, from,
                   question_of(c, from));
    if (strcmp(expected, cursor) != 0)
        return mcp_fail(c, "the cursor belongs to another question: give it the other arguments of "
                           "the call that it came from, or leave it out "
                           "to begin with the first row");
    c->page.from = from;
    return MCP_DONE;
}

enum mcp_outcome mcp_page_begin(struct mcp_call *c)
{
    struct mcp_page *p = &c->page;
    const char *cursor = mcp_text(c, "cursor");
    p->limit = (uint64_t)mcp_number(c, "limit", DEFAULT_ROWS);
    p->most_chars = (uint64_t)mcp_number(c, "max_chars", DEFAULT_CHARS);
    c->text_max =
        (size_t)p->most_chars / 8 > SHORTEST_TEXT ? (size_t)p->most_chars / 8 : SHORTEST_TEXT;
    p->rows = json_array();
    return cursor != NULL ? take_cursor(c, cursor) : MCP_DONE;
}

void mcp_page_total(struct mcp_call *c, uint64_t total)
{
    struct mcp_page *p = &c->page;
    p->total = total;
    p->from = p->from < total ? p->from : total;
    p->next = p->from;
}

void mcp_page_total_capped(struct mcp_call *c, uint64_t total, uint64_t most)
{
    c->page.unlisted = total > most ? total - most : 0;
    mcp_page_total(c, total < most ? total : most);
}

void mcp_page_found_end(struct mcp_call *c, uint64_t total)
{
    if (c->page.from > total)
        mcp_page_total(c, total);
    c->page.total = total;
}

bool mcp_page_wants(const struct mcp_call *c)
{
    const struct mcp_page *p = &c->page;
    return !p->full && p->next < p->total && p->next - p->from < p->limit;
}

void mcp_page_add(struct mcp_call *c, json_t *row)
{
    struct mcp_page *p = &c->page;
    size_t chars = json_dumpb(row, NULL, 0, JSON_COMPACT);
    bool first = p->next == p->from;
    p->full = !first && p->chars + chars > p->most_chars;
    if (p->full) {
        json_decref(row);
        return;
    }
    p->chars += chars;
    p->next++;
    (void)json_array_append_new(p->rows, row);
}

/* A sentence about what is missing and how to get it; free() it. */
static char *what_was_cut(const struct mcp_call *c)
{
    const struct mcp_page *p = &c->page;
    char *rows = NULL, *texts = NULL, *all = NULL;
    if (p->next < p->total || p->from > 0 || p->unlisted > 0) {
        const char *how = p->next == p->total ? ""
                          : p->full ? "; next_cursor has more, max_chars makes pages larger"
                                    : "; next_cursor has more, limit makes pages larger";
        char all_rows[2 * CLI_NUMBER_BYTES + 80] = "";
        if (p->total != MCP_TOTAL_UNKNOWN)
            (void)snprintf(all_rows, sizeof all_rows, " of %s", GCD_DIGITS(p->total + p->unlisted));
        size_t used = strlen(all_rows);
        if (p->unlisted > 0)
            (void)snprintf(all_rows + used, sizeof all_rows - used,
                           ", the first %s are listed: a filter, or sql, finds others",
                           GCD_DIGITS(p->total));
        if (asprintf(&rows, "rows %s to %s%s%s",
                     GCD_DIGITS(p->next > p->from ? p->from + 1 : p->from), GCD_DIGITS(p->next),
                     all_rows, how) < 0)
            rows = NULL;
    }
    if (c->shortened > 0 &&
        asprintf(
            &texts,
            "%zu texts are shortened to %zu characters; max_chars %zu would show 8 times as much",
            c->shortened, c->text_max, c->text_max * 64) < 0)
        texts = NULL;
    if (rows != NULL && texts != NULL && asprintf(&all, "%s; %s", rows, texts) < 0)
        all = NULL;
    if (rows != NULL && texts != NULL) {
        free(rows);
        free(texts);
        return all;
    }
    return rows != NULL ? rows : texts;
}

void mcp_page_end(struct mcp_call *c, const char *key)
{
    struct mcp_page *p = &c->page;
    char cursor[40], *cut = what_was_cut(c);
    mcp_put(c->out, key, json_incref(p->rows));
    mcp_put(c->out, "total",
            p->total != MCP_TOTAL_UNKNOWN ? cli_json_number(p->total + p->unlisted) : json_null());
    (void)snprintf(cursor, sizeof cursor, "%" PRIx64 "-%016" PRIx64, p->next,
                   question_of(c, p->next));
    cli_json_put_text(c->out, "next_cursor", p->next < p->total ? cursor : NULL);
    cli_json_put_text(c->out, "cut", cut);
    free(cut);
}

struct answer_page mcp_page_wanted(const struct mcp_call *c)
{
    return (struct answer_page){ .first = c->page.from, .most = c->page.limit, .no_rest = true };
}

static json_t *short_text(void *ctx, const char *text)
{
    return mcp_name(ctx, text);
}

json_t *mcp_row(struct mcp_call *c, const struct answer *a, size_t i)
{
    struct render_json how = { .brief = true, .text = short_text, .ctx = c };
    json_t *o = json_object();
    render_json_row(a, i, &how, o);
    return o;
}

enum mcp_outcome mcp_page_answer(struct mcp_call *c, const char *key, gcd_status st,
                                 struct answer *a, const struct gcd_error *err)
{
    if (st == GCD_OK && !render_ready(a))
        st = GCD_E_NOMEM;
    if (st == GCD_OK) {
        mcp_page_total_capped(c, a->total, MCP_ROWS_MAX);
        while (mcp_page_wants(c) && c->page.next - a->first < answer_plain_rows(a))
            mcp_page_add(c, mcp_row(c, a, (size_t)(c->page.next - a->first)));
        mcp_page_end(c, key);
    }
    answer_free(a);
    return st == GCD_E_NOMEM ? mcp_no_memory(c) : mcp_status(c, st, err);
}

enum mcp_outcome mcp_put_rows(struct mcp_call *c, const char *key, struct answer *a)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < answer_plain_rows(a) && render_ready(a); i++)
        (void)json_array_append_new(rows, mcp_row(c, a, i));
    bool ok = render_ready(a);
    answer_free(a);
    mcp_put(c->out, key, rows);
    return ok ? MCP_DONE : mcp_no_memory(c);
}
