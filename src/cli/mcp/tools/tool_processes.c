/*
 * list_processes, collect: live processes.
 */
#include <inttypes.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gcdumpc/ipc.h>

#include "commands/commands.h"
#include "commands/command_parts.h"
#include "live/live.h"
#include "live/target.h"
#include "mcp/mcp_call.h"
#include "mcp/mcp_root.h"
#include "output/json_out.h"

#ifdef GCDUMPC_HAVE_IPC

/* ---- list_processes ---- */

static json_t *process_row(struct mcp_call *c, const struct gcd_ipc_process *p)
{
    char user[64];
    json_t *o = json_object();
    mcp_put(o, "pid", p->pid != 0 ? json_integer(p->pid) : json_null());
    mcp_put_name(c, o, "name",
                 p->entry_assembly[0] != '\0' ? p->entry_assembly
                 : p->exe[0] != '\0'          ? p->exe
                                              : p->name);
    cli_json_put_text(o, "user", cli_user_name(p->uid, user, sizeof user));
    mcp_put_name(c, o, "runtime", p->runtime_version);
    mcp_put(o, "memory", p->rss_bytes != 0 ? cli_json_number(p->rss_bytes) : json_null());
    mcp_put(o, "uptime_s", p->uptime_ms != 0 ? cli_json_number(p->uptime_ms / 1000) : json_null());
    mcp_put(o, "answer", json_string(cli_process_answer(p)));
    mcp_put_name(c, o, "command_line", p->command_line);
    if (p->container[0] != '\0')
        cli_json_put_container(o, p);
    return o;
}

static enum mcp_outcome run_list(struct mcp_call *c)
{
    struct gcd_ipc_process_list all;
    if (cli_list_processes(&all) != CLI_DONE)
        return mcp_fail_said(c);
    mcp_page_total(c, all.count);
    while (mcp_page_wants(c))
        mcp_page_add(c, process_row(c, &all.items[c->page.next]));
    mcp_page_end(c, "processes");
    if (all.count == 0)
        cli_json_put_text(
            c->out, "none",
            "No .NET process with a diagnostic socket is visible from here: run gcdumpc as its "
            "user or as root, "
            "for containers on the host, and without DOTNET_EnableDiagnostics=0 in the process.");
    gcd_ipc_list_done(&all);
    return MCP_DONE;
}

/* ---- collect ---- */

/* Adds what a dump of process P would cost. */
static enum mcp_outcome put_cost(struct mcp_call *c, const struct gcd_ipc_process *p)
{
    uint64_t heap = gcd_ipc_heap_most(p->pid), bytes = heap != 0 ? heap : p->rss_bytes;
    char *text = NULL;
    mcp_put_name(c, c->out, "name", p->entry_assembly[0] != '\0' ? p->entry_assembly : p->name);
    mcp_put(c->out, "memory", p->rss_bytes != 0 ? cli_json_number(p->rss_bytes) : json_null());
    mcp_put(c->out, "heap_most_bytes", heap != 0 ? cli_json_number(heap) : json_null());
    mcp_put(c->out, "expected_pause_ms",
            bytes != 0 ? cli_json_number(bytes / LIVE_MIB * LIVE_PAUSE_US_PER_MIB / 1000 + 1)
                       : json_null());
    if (asprintf(&text,
                 "Nothing was dumped yet.  All threads of process %u would stand still for about "
                 "%" PRIu64 " ms (2 ms for each MiB "
                 "of its %s; up to ten times as long if its objects are small).  Ask the user "
                 "whether that is acceptable, then call collect again "
                 "with \"confirm\": true.",
                 p->pid, bytes / LIVE_MIB * LIVE_PAUSE_US_PER_MIB / 1000 + 1,
                 heap != 0 ? "managed heap" : "memory") < 0)
        text = NULL;
    cli_json_put_text(c->out, "next", text);
    free(text);
    return MCP_DONE;
}

static enum mcp_outcome estimate(struct mcp_call *c, uint32_t pid)
{
    struct gcd_ipc_process_list all;
    if (cli_list_processes(&all) != CLI_DONE)
        return mcp_fail_said(c);
    size_t i = 0;
    while (i < all.count && all.items[i].pid != pid)
        i++;
    enum mcp_outcome e =
        i == all.count
            ? mcp_fail(
                  c, "process %u is no .NET process that can be dumped; list_processes shows them",
                  pid)
            : put_cost(c, &all.items[i]);
    gcd_ipc_list_done(&all);
    return e;
}

/* Records PID as NAME in the open FOLDER. */
static enum mcp_outcome record(struct mcp_call *c, uint32_t pid, int folder, const char *name)
{
    struct cli_args args = *c->server->args;
    char path[64 + 256];
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        return mcp_fail(c, "%s exists already; give another name", mcp_text(c, "file"));
    if (strlen(name) > 255)
        return mcp_fail(c, "the name of the file is too long");
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d/%s", folder, name);
    args.target.pid = pid;
    args.dump.values = args.mcp.values; /* the client has no say in it */
    args.view.values = CLI_VALUES_HIDDEN;
    args.output.path = path;
    args.quiet = false; /* the client wants to know what it cost */
    c->path = path;
    c->shown = mcp_text(c, "file");
    enum cli_exit e = cmd_convert(&args);
    c->path = c->shown = NULL;
    return e == CLI_DONE || e == CLI_INCOMPLETE ? MCP_DONE : mcp_fail_said(c);
}

static enum mcp_outcome dump(struct mcp_call *c, uint32_t pid)
{
    const char *file = mcp_text(c, "file"), *name;
    struct mcp_heap *h;
    int folder;
    enum mcp_outcome e = mcp_root_open_folder(c, file, &folder, &name);
    if (e != MCP_DONE)
        return e;
    e = record(c, pid, folder, name);
    (void)close(folder);
    json_t *notes = e == MCP_DONE ? json_copy(c->said) : NULL;
    (void)json_array_clear(c->said);
    if (e == MCP_DONE && (e = mcp_heap_open(c, file, &h)) == MCP_DONE) {
        const struct gcd_summary *f = cli_summary(&h->d);
        mcp_put(c->out, "heap", json_string(h->id));
        mcp_put(c->out, "pause_ms",
                f->pause_ns != 0 ? cli_json_number((f->pause_ns + 500000) / 1000000) : json_null());
        mcp_put(c->out, "notes", json_incref(notes));
        if (h->incomplete != NULL)
            cli_json_put_text(c->out, "incomplete", h->incomplete);
    }
    json_decref(notes);
    return e;
}

static enum mcp_outcome run_collect(struct mcp_call *c)
{
    uint32_t pid = (uint32_t)mcp_number(c, "pid", 0);
    const char *file = mcp_text(c, "file");
    bool confirmed = mcp_flag(c, "confirm");
    if (!c->server->args->mcp.allow_collect)
        return mcp_fail(c, "this server may not dump processes; start it with --allow-collect");
    if (!mcp_root_is_dump(file))
        return mcp_fail(
            c, "%.200s: the file ends with .nettrace, .nettrace.gz, .gclog or .gclog.gz", file);
    mcp_put(c->out, "dumped", json_boolean(confirmed));
    cli_json_count(c->out, "pid", pid);
    cli_json_put_text(c->out, "file", file);
    return confirmed ? dump(c, pid) : estimate(c, pid);
}

#else

static enum mcp_outcome run_list(struct mcp_call *c)
{
    return mcp_fail(
        c, "this build of gcdumpc cannot talk to processes; it opens recordings and dumps");
}

static enum mcp_outcome run_collect(struct mcp_call *c)
{
    return run_list(c);
}

#endif

static const struct mcp_arg list_args[] = { { .name = NULL } };

const struct mcp_tool mcp_list_processes = {
    "list_processes",
    "Processes that can be dumped",
    "The .NET processes of this machine, with their memory.",
    list_args,
    "processes[pid:i? name:s? user:s? runtime:s? memory:i? uptime_s:i? answer:s command_line:s?] "
    "none:s~",
    MCP_PAGED,
    run_list,
    { NULL }
};

static const struct mcp_arg collect_args[] = {
    { "pid", MCP_NUMBER, true, 1, INT32_MAX, NULL, "the process, from list_processes" },
    { "file", MCP_TEXT, true, 0, 0, NULL,
      "a new file below the root folder for the dump: shop.nettrace.gz" },
    { "confirm", MCP_FLAG, false, 0, 0, NULL,
      "true: dump it now, after a call without has said how long it will stand still" },
    { .name = NULL },
};

const struct mcp_tool mcp_collect = {
    "collect",
    "Dump a process",
    "Dumps the heap of a living process into a file and opens it.  The process stands still "
    "meanwhile: the "
    "first call only says for how long, the second one, with \"confirm\", dumps.",
    collect_args,
    "dumped:b pid:i file:s name:s?~ memory:i?~ heap_most_bytes:i?~ expected_pause_ms:i?~ next:s~ "
    "heap:s~ pause_ms:i?~ "
    "notes[]~ incomplete:s~",
    MCP_CHANGES,
    run_collect,
    { NULL }
};
