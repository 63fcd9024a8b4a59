/*
 * The open heaps: each a dump with names and session, opened as the commands open it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/open_dump.h"
#include "input/dump_verdict.h"
#include "mcp/mcp_call.h"
#include "mcp/mcp_root.h"

static void free_heap(struct mcp_heap *h)
{
    if (h == NULL)
        return;
    cli_close(&h->d);
    json_decref(h->notes);
    free(h->incomplete);
    free(h->file);
    free(h->args);
    free(h);
}

void mcp_heap_close(struct mcp_heaps *heaps, struct mcp_heap *h)
{
    size_t i = 0;
    while (i < heaps->count && heaps->items[i] != h)
        i++;
    if (i < heaps->count) {
        heaps->count--;
        memmove(&heaps->items[i], &heaps->items[i + 1], (heaps->count - i) * sizeof *heaps->items);
    }
    free_heap(h);
}

/* The ids of all open heaps, "h1, h3". */
static void list_ids(const struct mcp_heaps *heaps, char *ret, size_t cap)
{
    ret[0] = '\0';
    for (size_t i = 0; i < heaps->count; i++) {
        size_t n = strlen(ret);
        (void)snprintf(ret + n, cap - n, "%s%s", i > 0 ? ", " : "", heaps->items[i]->id);
    }
}

enum mcp_outcome mcp_heap_find(struct mcp_call *c, const char *name, struct mcp_heap **ret)
{
    const struct mcp_heaps *heaps = &c->server->heaps;
    const char *id = mcp_text(c, name);
    char ids[16 * MCP_HEAPS_MAX];
    if (heaps->count == 0)
        return mcp_fail(c, "no heap is open; open a recording with the tool open");
    if (id == NULL && heaps->count == 1) {
        *ret = heaps->items[0];
        return MCP_DONE;
    }
    for (size_t i = 0; i < heaps->count && id != NULL; i++)
        if (strcmp(heaps->items[i]->id, id) == 0) {
            *ret = heaps->items[i];
            return MCP_DONE;
        }
    list_ids(heaps, ids, sizeof ids);
    if (id == NULL)
        return mcp_fail(c, "several heaps are open: say in \"%s\" which one, of %s", name, ids);
    return mcp_fail(c, "there is no heap \"%.20s\"; open are %s", id, ids);
}

/* ---- open ---- */

/* Reports what the commands report: which dump it is, what does not fit, why it is incomplete. */
static enum mcp_outcome say_verdict(struct mcp_call *c, struct mcp_heap *h)
{
    cli_say_verdict(&h->d, false);
    h->notes = json_copy(c->said);
    size_t n = json_array_size(h->notes);
    if (cli_judge(&h->d) == CLI_DONE || n == 0)
        return MCP_DONE;
    h->incomplete = strdup(json_string_value(json_array_get(h->notes, n - 1)));
    return h->incomplete != NULL ? MCP_DONE : mcp_no_memory(c);
}

/* Opens PATH into H. */
static enum mcp_outcome fill(struct mcp_call *c, struct mcp_heap *h, const char *path)
{
    *h->args = *c->server->args;
    h->args->input = path;
    /* a recording must not lead to files outside the root */
    h->args->modules.folders_only = true;
    h->args->dump.walk = (uint64_t)mcp_number(c, "walk", 0);
    h->args->dump.process = (uint64_t)mcp_number(c, "process", 0);
    c->path = path;
    c->shown = h->file;
    enum mcp_outcome e =
        cli_open_session(h->args, CLI_NEED_LEAKS, &h->d) == CLI_DONE ? MCP_DONE : mcp_fail_said(c);
    if (e == MCP_DONE)
        e = say_verdict(c, h);
    cli_base_name(h->file, h->d.name, sizeof h->d.name);
    h->d.subject = h->file;
    h->args->input = h->file;
    return e;
}

static struct mcp_heap *new_heap(const char *file)
{
    struct mcp_heap *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    h->file = strdup(file);
    h->args = calloc(1, sizeof *h->args);
    if (h->file != NULL && h->args != NULL)
        return h;
    free_heap(h);
    return NULL;
}

enum mcp_outcome mcp_heap_open(struct mcp_call *c, const char *file, struct mcp_heap **ret)
{
    struct mcp_heaps *heaps = &c->server->heaps;
    char path[48];
    int fd;
    if (heaps->count == MCP_HEAPS_MAX)
        return mcp_fail(c, "%u heaps are open, which is the most; close one first", MCP_HEAPS_MAX);
    enum mcp_outcome e = mcp_root_open(c, file, &fd);
    if (e != MCP_DONE)
        return e;
    struct mcp_heap *h = new_heap(file);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    e = h != NULL ? fill(c, h, path) : mcp_no_memory(c);
    (void)close(fd);
    if (e != MCP_DONE) {
        free_heap(h);
        return e;
    }
    (void)snprintf(h->id, sizeof h->id, "h%u", ++heaps->last_number % 100000);
    heaps->items[heaps->count++] = h;
    *ret = h;
    return MCP_DONE;
}
