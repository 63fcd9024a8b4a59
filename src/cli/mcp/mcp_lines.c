#include "mcp/mcp_lines.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for N more bytes; false: the line is too long, or out of memory. */
static bool make_room(struct mcp_lines *l, size_t n)
{
    if (n > MCP_LINE_BYTES - l->used)
        return false;
    size_t cap = l->cap == 0 ? 4096 : l->cap;
    while (cap < l->used + n)
        cap *= 2;
    if (cap == l->cap)
        return true;
    char *bytes = realloc(l->bytes, cap);
    if (bytes == NULL)
        return false;
    l->bytes = bytes;
    l->cap = cap;
    return true;
}

static void add(struct mcp_lines *l, const char *bytes, size_t n)
{
    if (l->skips || n == 0)
        return;
    if (!make_room(l, n)) {
        l->skips = true;
        return;
    }
    memcpy(l->bytes + l->used, bytes, n);
    l->used += n;
}

/* Ends a line; ignores empty ones. */
static void finish(struct mcp_lines *l)
{
    size_t n = l->used;
    if (n > 0 && l->bytes[n - 1] == '\r')
        n--;
    if (l->skips)
        l->take(l->ctx, NULL, 0);
    else if (n > 0)
        l->take(l->ctx, l->bytes, n);
    l->used = 0;
    l->skips = false;
}

void mcp_lines_feed(struct mcp_lines *l, const char *bytes, size_t n)
{
    while (n > 0) {
        const char *end = memchr(bytes, '\n', n);
        size_t part = end != NULL ? (size_t)(end - bytes) : n;
        add(l, bytes, part);
        if (end == NULL)
            return;
        finish(l);
        bytes += part + 1;
        n -= part + 1;
    }
}

void mcp_lines_end(struct mcp_lines *l)
{
    finish(l);
    free(l->bytes);
    l->bytes = NULL;
    l->cap = 0;
}
