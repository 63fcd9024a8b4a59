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

#endif
