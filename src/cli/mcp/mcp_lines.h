/*
 * Bytes in, lines out: whole lines of at most MCP_LINE_BYTES, whatever comes.
 */
#ifndef GCD_CLI_MCP_LINES_H
#define GCD_CLI_MCP_LINES_H

#include <stdbool.h>
#include <stddef.h>

/* The longest line that is read.  A question has a few hundred bytes; this is room for a long SQL statement. */
#define MCP_LINE_BYTES ((size_t)1 << 20)

/* Gets LINE[N] without its end; LINE NULL: a line of more than MCP_LINE_BYTES, or there was no memory for it, and it was left out. */
typedef void mcp_take_line(void *ctx, const char *line, size_t n);

/* Zero to begin with. */
struct mcp_lines {
    char *bytes;                 /* [cap] the begin of a line */
    size_t used, cap;
    bool skips;                  /* the rest of this line is left out */
    mcp_take_line *take;
    void *ctx;
};

/* The next bytes of the input; in any pieces. */
void mcp_lines_feed(struct mcp_lines *l, const char *bytes, size_t n);
/* The input is over: what is left is a line, too.  Frees what L holds. */
void mcp_lines_end(struct mcp_lines *l);

#endif
