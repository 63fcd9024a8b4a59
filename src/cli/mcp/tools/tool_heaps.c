/*
 * open, summary, close.
 */

#include <gcdumpc/unstable/process_memory.h>

#include "mcp/mcp_call.h"
#include "output/json_out.h"
#include "term/term.h"

static void put_heap(struct mcp_call *c, const struct mcp_heap *h)
{
    const struct gcd_summary *f = cli_summary(&h->d);
    char when[CLI_TIME_BYTES];
    mcp_put(c->out, "heap", json_string(h->id));
    mcp_put_name(c, c->out, "file", h->file);
    mcp_put_name(c, c->out, "process", f->process_name);
    cli_json_put_text(c->out, "runtime", f->runtime_version);
    cli_json_put_text(c->out, "recorded", cli_time(f->trace.start_unix_ms, when));
    cli_json_count(c->out, "objects", f->objects);
    cli_json_count(c->out, "bytes", f->bytes);
    cli_json_count(c->out, "types", f->types_used);
    mcp_put(c->out, "complete", json_boolean(f->verdict.complete));
    mcp_put(c->out, "notes", json_deep_copy(h->notes));
}
#define HEAP_FIELDS \
    "heap:s file:s process:s? runtime:s? recorded:s? objects:i bytes:i types:i complete:b notes[]"

static enum mcp_outcome run_open(struct mcp_call *c)
{
    struct mcp_heap *h;
    enum mcp_outcome e = mcp_heap_open(c, mcp_text(c, "file"), &h);
    if (e != MCP_DONE)
        return e;
    put_heap(c, h);
    if (h->incomplete != NULL)
        cli_json_put_text(c->out, "incomplete", h->incomplete);
    return MCP_DONE;
}

static const struct mcp_arg open_args[] = {
    { "file", MCP_TEXT, true, 0, 0, NULL,
      "a recording (.nettrace, .etl) or dump (.gclog, .gcdump, .dartheap), also gzipped, below the "
      "root folder" },
    { "walk", MCP_NUMBER, false, 1, 65536, NULL,
      "which heap walk, if the recording holds several (1)" },
    { "process", MCP_NUMBER, false, 1, UINT32_MAX, NULL,
      "which process by its id, if the recording holds several" },
    { .name = NULL },
};

const struct mcp_tool mcp_open = { "open",
                                   "Open a heap dump",
                                   "Loads a heap dump and returns its id, which the other tools "
                                   "take as \"heap\".  It stays in memory until "
                                   "close or the end of the server; several can be open.",
                                   open_args,
                                   HEAP_FIELDS " incomplete:s~",
                                   MCP_CHANGES,
                                   run_open,
                                   { NULL } };

static json_t *roots_of(const struct gcd_summary *f)
{
    json_t *o = cli_json_roots(f);
    cli_json_count(o, "statics", f->statics);
    return o;
}

static json_t *reasons_of(const struct gcd_verdict *v)
{
    json_t *all = json_array();
    for (size_t i = 0; i < v->reason_count; i++)
        (void)json_array_append_new(all, cli_json_text(v->reasons[i].text));
    return all;
}

static enum mcp_outcome run_summary(struct mcp_call *c)
{
    const struct gcd_summary *f = cli_summary(&c->heap->d);
    char text[GCD_MEMORY_TEXT_BYTES];
    uint64_t used, unused;
    gcd_range_bytes(f, &used, &unused);
    put_heap(c, c->heap);
    mcp_put_name(c, c->out, "command_line", f->command_line);
    mcp_put(c->out, "pause_ms",
            f->pause_ns != 0 ? cli_json_number((f->pause_ns + 500000) / 1000000) : json_null());
    cli_json_count(c->out, "references", f->edges);
    mcp_put(c->out, "roots", roots_of(f));
    cli_json_count(c->out, "gc_used_bytes", used);
    cli_json_count(c->out, "gc_free_bytes", unused);
    cli_json_put_text(c->out, "process_memory",
                      gcd_process_memory_text(&f->memory, text, sizeof text) > 0 ? text : NULL);
    mcp_put(c->out, "unverified", json_boolean(f->verdict.unverified));
    mcp_put(c->out, "reasons", reasons_of(&f->verdict));
    return MCP_DONE;
}

static const struct mcp_arg no_args[] = { { .name = NULL } };

const struct mcp_tool mcp_summary = {
    "summary",
    "What a heap dump contains",
    "Where the dump comes from, how large the heap is, its roots, the memory of the process, and "
    "whether anything is missing.",
    no_args,
    HEAP_FIELDS
    " command_line:s? pause_ms:i? references:i roots{stack:i finalizer:i handle:i other:i weak:i "
    "pinned:i null:i "
    "statics:i} gc_used_bytes:i gc_free_bytes:i process_memory:s? unverified:b reasons[]",
    MCP_TAKES_HEAP,
    run_summary,
    { NULL }
};

static enum mcp_outcome run_close(struct mcp_call *c)
{
    mcp_put(c->out, "closed", json_string(c->heap->id));
    mcp_heap_close(&c->server->heaps, c->heap);
    c->heap = NULL;
    cli_json_count(c->out, "open", c->server->heaps.count);
    return MCP_DONE;
}

const struct mcp_tool mcp_close = {
    "close",   "Close a heap",    "Frees the memory of a heap; its id is not used again.",
    no_args,   "closed:s open:i", MCP_TAKES_HEAP | MCP_CHANGES,
    run_close, { NULL }
};
