/*
 * Objects and types as clients name them, and paths as people read them: an array of lines, from
 * the root on.
 */
#ifndef GCD_CLI_MCP_WORDS_H
#define GCD_CLI_MCP_WORDS_H

#include "mcp/mcp_call.h"

/* Finds the types of heap H that PATTERN matches: *RET[types + 1], to be freed; NULL without
 * PATTERN. */
enum mcp_outcome mcp_match_types(struct mcp_call *c, const struct mcp_heap *h, const char *pattern,
                                 uint8_t **ret);

#define MCP_PATTERN_TEXT \
    "like Shop.*, *.List<string>, byte[], /REGEX/, module(Shop*); the whole name must match"

struct mcp_path {
    struct mcp_call *c;
    json_t *lines;
    uint64_t hidden, library; /* hidden steps since the last line */
};
void mcp_path_begin(struct mcp_path *p, struct mcp_call *c);
/* Begins a path at ROOT, its number; SIZE_MAX = not recorded. */
void mcp_path_root(struct mcp_path *p, size_t root);
/* Adds a hidden step. */
void mcp_path_hide(struct mcp_path *p, bool library);
/* Add a line; a line for an object of TYPE (NODE may be GCD_NODE_NONE) with a REMARK after it. */
void mcp_path_text(struct mcp_path *p, const char *text);
void mcp_path_step(struct mcp_path *p, uint32_t type, uint32_t node, const char *remark);
/* The lines; the caller releases them. */
json_t *mcp_path_end(struct mcp_path *p);

#endif
