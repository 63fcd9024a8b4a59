/*
 * mcp: starts the server, serves, and ends.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/commands.h"
#include "input/fail.h"
#include "input/memory.h"
#include "mcp/mcp.h"
#include "term/message.h"

/* Opens the folder that files must be in; its full path in *RET, to be freed. */
static enum cli_exit open_root(struct mcp_server *s, const char *folder, char **ret)
{
    *ret = realpath(folder, NULL);
    s->root_fd = *ret != NULL ? open(*ret, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (s->root_fd < 0)
        return cli_error(CLI_FAILED, folder,
                         "is not a folder that can be opened; --root needs one");
    s->root = *ret;
    return CLI_DONE;
}

enum cli_exit cmd_mcp(const struct cli_args *args)
{
    struct mcp_server s;
    char *root = NULL;
    json_object_seed(0); /* before a second thread exists */
    cli_memory_for_sql();
    if (!mcp_server_init(&s, args, stdout))
        return cli_no_memory(NULL);
    enum cli_exit e = args->mcp.root != NULL ? open_root(&s, args->mcp.root, &root) : CLI_DONE;
    if (e == CLI_DONE)
        e = cli_memory_open(args);
    if (e == CLI_DONE)
        e = mcp_serve(&s);
    mcp_server_done(&s);
    if (s.root_fd >= 0)
        (void)close(s.root_fd);
    free(root);
    return e;
}
