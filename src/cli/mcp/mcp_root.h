/*
 * Files below one folder; no name and no link leads out of it.
 */
#ifndef GCD_CLI_MCP_ROOT_H
#define GCD_CLI_MCP_ROOT_H

#include "mcp/mcp_call.h"

/*
 * Opens the file NAME below the server's root for reading; the caller closes *RET_FD.  NAME is
 * relative to the root, or an absolute path that begins with it.
 */
enum mcp_outcome mcp_root_open(struct mcp_call *c, const char *name, int *ret_fd);
/* Opens the folder that contains NAME; RET_NAME: the last part of NAME, without a slash. */
enum mcp_outcome mcp_root_open_folder(struct mcp_call *c, const char *name, int *ret_fd,
                                      const char **ret_name);
/* Does NAME have the suffix of a recording or dump that the tool open can read? */
bool mcp_root_is_dump(const char *name);

#endif
