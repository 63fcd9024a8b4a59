/*
 * Objects and types as clients name them, and paths as people read them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gcdumpc/unstable/session/views.h>

#include "mcp/mcp_words.h"
#include "output/folded_paths.h"
#include "output/json_out.h"
#include "output/root_labels.h"
#include "term/term.h"

enum mcp_outcome mcp_find_object(struct mcp_call *c, const char *name, uint32_t *ret)
{
    const struct gcd_graph *g = c->heap->d.graph;
    const char *text = mcp_text(c, name);
    bool is_address = text != NULL && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    uint64_t number = (uint64_t)mcp_number(c, name, 0);
    if (text != NULL) {
        const char *digits = is_address ? text + 2 : text;
        errno = 0;
        number = strtoull(digits, NULL, is_address ? 16 : 10);
        if (digits[0] == '\0' ||
            digits[strspn(digits, is_address ? "0123456789abcdefABCDEF" : "0123456789")] != '\0' ||
            errno != 0)
            return mcp_fail(
                c, "\"%s\" takes an address (0x...) or the number of an object, not \"%.60s\"",
                name, text);
    }
    if (is_address && gcd_graph_notes(g)->addresses_made_up)
        return mcp_fail(
            c, "there are no addresses in this dump; \"%s\" takes the number of an object", name);
    *ret = is_address                         ? gcd_graph_find(g, number)
           : number < gcd_graph_node_count(g) ? (uint32_t)number
                                              : GCD_NODE_NONE;
    if (*ret != GCD_NODE_NONE)
        return MCP_DONE;
    if (is_address)
        return mcp_fail(c, "there is no object at %.20s; addresses differ between dumps", text);
    return mcp_fail(c, "there is no object %" PRIu64 "; they are numbered from 0 to %" PRIu32,
                    number, gcd_graph_node_count(g) - 1);
}

enum mcp_outcome mcp_match_types(struct mcp_call *c, const struct mcp_heap *h, const char *pattern,
                                 uint8_t **ret)
{
    *ret = NULL;
    if (pattern == NULL)
        return MCP_DONE;
    return cli_match_types(pattern, &h->d, h->d.names, ret) == CLI_DONE ? MCP_DONE
                                                                        : mcp_fail_said(c);
}

enum mcp_outcome mcp_find_types(struct mcp_call *c, const char *name, uint8_t **ret)
{
    return mcp_match_types(c, c->heap, mcp_text(c, name), ret);
}

/* ---- paths ---- */

void mcp_path_begin(struct mcp_path *p, struct mcp_call *c)
{
    *p = (struct mcp_path){ .c = c, .lines = json_array() };
}

void mcp_path_root(struct mcp_path *p, size_t root)
{
    const struct gcd_graph *g = p->c->heap->d.graph;
    char *text = cli_root_label(g, p->c->heap->d.names,
                                root != SIZE_MAX ? &gcd_graph_summary(g)->roots[root] : NULL);
    (void)json_array_append_new(p->lines, text != NULL ? mcp_name(p->c, text) : NULL);
    free(text);
}

void mcp_path_hide(struct mcp_path *p, bool library)
{
    p->hidden++;
    p->library += library;
}

/* Adds a line for the hidden steps before the next line. */
static void show_hidden(struct mcp_path *p)
{
    char buf[ANSWER_HIDDEN_BYTES];
    if (p->hidden > 0)
        (void)json_array_append_new(p->lines,
                                    json_string(answer_hidden_text(p->hidden, p->library, buf)));
    p->hidden = p->library = 0;
}

void mcp_path_text(struct mcp_path *p, const char *text)
{
    show_hidden(p);
    (void)json_array_append_new(p->lines, mcp_name(p->c, text));
}

void mcp_path_step(struct mcp_path *p, uint32_t type, uint32_t node, const char *remark)
{
    char *text = NULL, buf[CLI_NUMBER_BYTES];
    const struct gcd_graph *g = p->c->heap->d.graph;
    const char *name = gcd_names_get(p->c->heap->d.names, type);
    int n = node != GCD_NODE_NONE
                ? asprintf(&text, "%s %s%s", answer_object_text(g, node, buf), name, remark)
                : asprintf(&text, "%s%s", name, remark);
    mcp_path_text(p, n >= 0 ? text : "");
    if (n >= 0)
        free(text);
}

json_t *mcp_path_end(struct mcp_path *p)
{
    show_hidden(p);
    return p->lines;
}
