/* Objects and types as clients name them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/mcp_call.h"
#include "output/filter.h"

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

enum mcp_outcome mcp_find_types(struct mcp_call *c, const char *name, uint8_t **ret)
{
    const char *pattern = mcp_text(c, name);
    const struct cli_dump *d = &c->heap->d;
    *ret = NULL;
    if (pattern == NULL)
        return MCP_DONE;
    return cli_match_types(pattern, d, d->names, ret) == CLI_DONE ? MCP_DONE : mcp_fail_said(c);
}
