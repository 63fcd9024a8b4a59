/*
 * Files below one folder, which no name and no link leads out of.
 */
#ifndef GCD_CLI_MCP_ROOT_H
#define GCD_CLI_MCP_ROOT_H

#include "mcp/mcp_call.h"

/*
 * Opens the file NAME below the root of the server for reading; *RET_FD is closed by the caller.  NAME is a path in the root, or an absolute path
 * that begins with it.
 */
enum mcp_outcome mcp_root_open(struct mcp_call *c, const char *name, int *ret_fd);
/* Opens the folder in which NAME is; RET_NAME: the rest, a name without a slash, a part of NAME. */
enum mcp_outcome mcp_root_open_folder(struct mcp_call *c, const char *name, int *ret_fd, const char **ret_name);
/* Does NAME end as a recording or dump does that open reads? */
bool mcp_root_is_dump(const char *name);
/* Fails with the recordings and dumps that are in the root itself, because there is no FILE. */
enum mcp_outcome mcp_root_no_file(struct mcp_call *c, const char *name);

#endif
