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
#include "modules/borrowed.h"

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

/* Opens PATH into H, by its arguments. */
static enum mcp_outcome fill(struct mcp_call *c, struct mcp_heap *h, const char *path)
{
    h->args->input = path;
    c->path = path;
    c->shown = h->file;
    enum mcp_outcome e =
        cli_open_session(h->args, CLI_NEED_LEAKS, &h->d) == CLI_DONE ? MCP_DONE : mcp_fail_said(c);
    if (e == MCP_DONE)
        e = say_verdict(c, h);
    cli_base_name(h->file, h->d.name, sizeof h->d.name);
    h->d.subject = h->file;
    h->args->input = h->file;
    c->path = NULL;
    return e;
}

static struct mcp_heap *new_heap(const char *file, const struct cli_args *args)
{
    struct mcp_heap *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    h->file = strdup(file);
    h->args = calloc(1, sizeof *h->args);
    if (h->file == NULL || h->args == NULL) {
        free_heap(h);
        return NULL;
    }
    *h->args = *args;
    /* a recording must not lead to files outside the root */
    h->args->modules.folders_only = true;
    h->args->dump.unmapped = true;
    return h;
}

#define FD_PATH_BYTES 48

static void path_of_fd(int fd, char *ret)
{
    (void)snprintf(ret, FD_PATH_BYTES, "/proc/self/fd/%d", fd);
}

enum mcp_outcome mcp_heap_open(struct mcp_call *c, const char *file, struct mcp_heap **ret)
{
    struct mcp_heaps *heaps = &c->server->heaps;
    struct cli_args args = *c->server->args;
    char path[FD_PATH_BYTES];
    int fd;
    if (heaps->count == MCP_HEAPS_MAX)
        return mcp_fail(c, "%u heaps are open, which is the most; close one first", MCP_HEAPS_MAX);
    enum mcp_outcome e = mcp_root_open(c, file, &fd);
    if (e != MCP_DONE)
        return e;
    args.dump.walk = (uint64_t)mcp_number(c, "walk", 0);
    args.dump.process = (uint64_t)mcp_number(c, "process", 0);
    struct mcp_heap *h = new_heap(file, &args);
    path_of_fd(fd, path);
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

/* ---- names from another heap ---- */

/* Is B what A was, but for names?  Clients keep the numbers of objects. */
static bool is_unchanged(const struct mcp_heap *a, const struct mcp_heap *b)
{
    const struct gcd_summary *x = cli_summary(&a->d), *y = cli_summary(&b->d);
    return x->trace.start_unix_ms == y->trace.start_unix_ms && x->objects == y->objects &&
           x->bytes == y->bytes && x->edges == y->edges;
}

/* Exchanges what H and FRESH have read. */
static void swap_content(struct mcp_heap *h, struct mcp_heap *fresh)
{
    struct mcp_heap was = *h;
    *h = *fresh;
    *fresh = was;
    memcpy(h->id, was.id, sizeof h->id);
}

/* Reads H again from FD, with names from OTHER_FD; NULL: that is not possible, or does not help. */
static struct mcp_heap *read_again(struct mcp_call *c, const struct mcp_heap *h, int fd,
                                   int other_fd)
{
    char path[FD_PATH_BYTES], other[FD_PATH_BYTES];
    const char *const others[] = { other };
    struct mcp_heap *fresh = new_heap(h->file, h->args);
    if (fresh == NULL)
        return NULL;
    path_of_fd(fd, path);
    path_of_fd(other_fd, other);
    fresh->args->modules.others = others;
    fresh->args->modules.other_count = 1;
    fresh->args->quiet = true; /* the path of the other says nothing to the client */
    enum mcp_outcome e = fill(c, fresh, path);
    fresh->args->modules.others = NULL;
    fresh->args->modules.other_count = 0;
    fresh->args->quiet = h->args->quiet;
    if (e == MCP_DONE && is_unchanged(h, fresh))
        return fresh;
    free_heap(fresh);
    return NULL;
}

void mcp_heap_borrow(struct mcp_call *c, struct mcp_heap *h, const struct mcp_heap *other)
{
    int fd = -1, other_fd = -1;
    struct mcp_heap *fresh = NULL;
    json_t *said = c->said;
    if (!cli_may_borrow(&h->d, &other->d))
        return;
    c->said = json_array(); /* the client knows the rest from when it opened H */
    if (mcp_root_open(c, h->file, &fd) == MCP_DONE &&
        mcp_root_open(c, other->file, &other_fd) == MCP_DONE)
        fresh = read_again(c, h, fd, other_fd);
    if (fd >= 0)
        (void)close(fd);
    if (other_fd >= 0)
        (void)close(other_fd);
    json_decref(c->said);
    c->said = said;
    if (fresh == NULL)
        return;
    if (!cli_may_borrow(&fresh->d, &other->d)) {
        swap_content(h, fresh);
        cli_say_borrowed(h->file, other->file);
        size_t n = json_array_size(c->said);
        if (n > 0)
            (void)json_array_append(h->notes, json_array_get(c->said, n - 1));
    }
    free_heap(fresh);
}
