/*
 * Objects and types as clients name them, and paths as people read them: an array of lines, from the root on.
 */
#ifndef GCD_CLI_MCP_WORDS_H
#define GCD_CLI_MCP_WORDS_H

#include "mcp/mcp_call.h"

/* The types of heap H that PATTERN means: *RET[types + 1], to be freed; NULL without PATTERN. */
enum mcp_outcome mcp_match_types(struct mcp_call *c, const struct mcp_heap *h, const char *pattern, uint8_t **ret);

#define MCP_PATTERN_TEXT "like Shop.*, *.List<string>, byte[], /REGEX/, module(Shop*); the whole name must match"

/* An object with its type and sizes, and the shape of that. */
json_t *mcp_object_row(struct mcp_call *c, const struct gcd_dominators *d, uint32_t node);
#define MCP_OBJECT_SHAPE "object:s type:s retained:i share:n size:i"

struct mcp_path {
    struct mcp_call *c;
    json_t *lines;
    uint64_t hidden, library;    /* steps since the last line */
};
void mcp_path_begin(struct mcp_path *p, struct mcp_call *c);
/* ROOT: its number, SIZE_MAX = not recorded. */
void mcp_path_root(struct mcp_path *p, size_t root);
/* A step that people need not see. */
void mcp_path_hide(struct mcp_path *p, bool library);
/* A line, and a line for an object (NODE may be GCD_NODE_NONE) of TYPE with a REMARK behind it. */
void mcp_path_text(struct mcp_path *p, const char *text);
void mcp_path_step(struct mcp_path *p, uint32_t type, uint32_t node, const char *remark);
/* The lines, for the caller to release. */
json_t *mcp_path_end(struct mcp_path *p);

#endif
