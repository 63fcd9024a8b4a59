/*
 * What the server reports about itself: versions, capabilities, tools with their schemas.
 */
#include <gcdumpc/version.h>

#include "mcp/mcp.h"
#include "mcp/mcp_schema.h"

#define LIST_VALID_MS 3600000

static const char instructions[] =
    "Looks for memory leaks in heap dumps of .NET programs.  Begin with open, then suspects: "
    "sentences about what keeps memory alive, with the path "
    "from its root.  paths shows what holds an object or type, tree what retains it, diff what has "
    "grown between two dumps.  Sizes are bytes; "
    "\"retained\" is what would be freed with an object.  A heap that is \"incomplete\" lacks "
    "data, and answers about it are lower bounds.";

static json_t *info(void)
{
    return json_pack("{s:s,s:s,s:s}", "name", "gcdumpc", "title", "gcdumpc: .NET heap dumps",
                     "version", GCDUMPC_VERSION);
}

json_t *mcp_initialize_result(const struct mcp_server *s)
{
    (void)s;
    return json_pack("{s:s,s:{s:{}},s:o,s:s}", "protocolVersion", MCP_LEGACY, "capabilities",
                     "tools", "serverInfo", info(), "instructions", instructions);
}

json_t *mcp_discover_result(const struct mcp_server *s)
{
    (void)s;
    return json_pack("{s:s,s:[s,s],s:{s:{}},s:s,s:{s:o},s:i,s:s}", "resultType", "complete",
                     "supportedVersions", MCP_MODERN, MCP_LEGACY, "capabilities", "tools",
                     "instructions", instructions, "_meta", MCP_META "serverInfo", info(), "ttlMs",
                     LIST_VALID_MS, "cacheScope", "private");
}

static json_t *describe(const struct mcp_tool *t)
{
    bool reads = (t->flags & MCP_CHANGES) == 0;
    return json_pack("{s:s,s:s,s:s,s:o,s:o,s:{s:b,s:b,s:b}}", "name", t->name, "title", t->title,
                     "description", t->about, "inputSchema", mcp_input_schema(t), "outputSchema",
                     mcp_output_schema(t), "annotations", "readOnlyHint", reads, "destructiveHint",
                     false, "openWorldHint", false);
}

json_t *mcp_list_result(const struct mcp_server *s, bool modern)
{
    json_t *all = json_array();
    const struct mcp_tool *t;
    for (size_t i = 0; (t = mcp_tool_at(i)) != NULL; i++)
        if (t != &mcp_collect || s->args->mcp.allow_collect)
            (void)json_array_append_new(all, describe(t));
    if (!modern)
        return json_pack("{s:o}", "tools", all);
    return json_pack("{s:s,s:o,s:i,s:s,s:{s:o}}", "resultType", "complete", "tools", all, "ttlMs",
                     LIST_VALID_MS, "cacheScope", "private", "_meta", MCP_META "serverInfo",
                     info());
}
