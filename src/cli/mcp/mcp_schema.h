/*
 * JSON schemas from a short notation, so that a tool's schema is one line beside its code.
 *
 *     "heap:s objects:i share:n process:s? complete:b notes[] rows[type:s bytes:i] memory{heap:i}"
 *
 * s text, i integer, n number, b boolean, a rows (an array of arrays); name[] texts, name[...]
 * objects, name{...} one object; "?" may be null, "~" may be absent; "*" stands for the columns of
 * the next shape.
 */
#ifndef GCD_CLI_MCP_SCHEMA_H
#define GCD_CLI_MCP_SCHEMA_H

#include <jansson.h>

#include "mcp/mcp.h"

/* The schema of an object with the fields of NOTATION and the columns of SHAPES; NULL: out of
 * memory. */
json_t *mcp_schema_of(const char *notation, const struct answer_shape *const *shapes);
/* The schemas of a tool's arguments, and of its answer. */
json_t *mcp_input_schema(const struct mcp_tool *tool);
json_t *mcp_output_schema(const struct mcp_tool *tool);

/* Arguments that flags give to a tool; the last one has no name. */
extern const struct mcp_arg mcp_heap_args[], mcp_page_args[];

#endif
