/*
 * Splits any input into lines of at most MCP_LINE_BYTES.
 */
#ifndef GCD_CLI_MCP_LINES_H
#define GCD_CLI_MCP_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* The longest accepted line.  A question has a few hundred bytes; this leaves room for a long SQL
 * statement. */
#define MCP_LINE_BYTES ((size_t)1 << 20)

/* Receives LINE[N] without its end; LINE NULL: a line was left out because it exceeds
 * MCP_LINE_BYTES, or memory is out. */
typedef void mcp_take_line(void *ctx, const char *line, size_t n);

/* All zero before the first use, but for TAKE and CTX. */
struct mcp_lines {
    char *bytes; /* [cap] the beginning of a line */
    size_t used, cap;
    bool skips; /* skipping the rest of a line */
    mcp_take_line *take;
    void *ctx;
};

/* Takes the next bytes of the input, in pieces of any size. */
void mcp_lines_feed(struct mcp_lines *l, const char *bytes, size_t n);
/* Ends the input: the rest counts as a line.  Frees what L holds. */
void mcp_lines_end(struct mcp_lines *l);

#endif
