/* The tools in the order of the list. */
#include <string.h>

#include "mcp/mcp.h"

static const struct mcp_tool *const tools[] = {
    &mcp_open,  &mcp_summary,  &mcp_suspects, &mcp_types,          &mcp_type,    &mcp_object,
    &mcp_paths, &mcp_retained, &mcp_tree,     &mcp_async,          &mcp_strings, &mcp_exceptions,
    &mcp_diff,  &mcp_sql,      &mcp_close,    &mcp_list_processes, &mcp_collect,
};

const struct mcp_tool *mcp_tool_at(size_t i)
{
    return i < sizeof tools / sizeof *tools ? tools[i] : NULL;
}

const struct mcp_tool *mcp_tool_find(const char *name)
{
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    return NULL;
}
