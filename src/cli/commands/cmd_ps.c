/*
 * ps: lists the processes that can be dumped.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/process_reader.h>

#include "args.h"
#include "commands/commands.h"
#include "commands/command_parts.h"
#include "exit.h"
#include "live/target.h"
#include "output/json_out.h"
#include "output/output.h"
#include "term/message.h"
#include "term/term.h"

#ifdef GCDUMPC_HAVE_IPC

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 8
/* only shown if a process is in one */
#define CONTAINER 7
enum { GAP = 2 };

struct cells {
    const char *text[COLUMNS]; /* a string outside BUF belongs to the process */
    char buf[COLUMNS][CLI_CONTAINER_NAME_BYTES + 20];
};

/* NULL when there is none.  A static program must not use a name service, which would load
 * libraries of another libc. */
static const struct passwd *find_user(uid_t uid)
{
#ifdef GCDUMPC_STATIC
    FILE *f = fopen("/etc/passwd", "re");
    const struct passwd *pw = NULL;
    if (f == NULL)
        return NULL;
    while ((pw = fgetpwent(f)) != NULL && pw->pw_uid != uid) {
    }
    fclose(f);
    return pw;
#else
    return getpwuid(uid);
#endif
}

const char *cli_user_name(uint32_t uid, char *buf, size_t cap)
{
    const struct passwd *pw = uid == UINT32_MAX ? NULL : find_user((uid_t)uid);
    if (uid == UINT32_MAX)
        buf[0] = '\0';
    else if (pw != NULL && pw->pw_name != NULL && pw->pw_name[0] != '\0')
        (void)snprintf(buf, cap, "%s", pw->pw_name);
    else
        (void)snprintf(buf, cap, "%" PRIu32, uid);
    return buf;
}

const char *cli_process_answer(const struct gcd_ipc_process *p)
{
    if (p->answered)
        return "ok";
    switch (p->reason) {
    case GCD_ERROR_PERMISSION:
        return "no access";
    case GCD_ERROR_TIMEOUT:
        return "no answer";
    case GCD_ERROR_NO_SOCKET:
        return "no socket";
    default:
        return "failed";
    }
}

/* Which ways of a dump are open: by events, and by its memory (--direct). */
struct ways {
    bool events, direct;
};

static struct ways ways_of(const struct gcd_ipc_process *p)
{
    return (struct ways){ .events = p->socket_path[0] != '\0',
                          .direct = p->coreclr && gcd_process_may_trace(p->pid, NULL) == GCD_OK };
}

static json_t *ways_json(const struct gcd_ipc_process *p)
{
    struct ways w = ways_of(p);
    json_t *list = json_array();
    if (w.events)
        json_array_append_new(list, json_string("events"));
    if (w.direct)
        json_array_append_new(list, json_string("direct"));
    return list;
}

void cli_json_put_container(json_t *row, const struct gcd_ipc_process *p)
{
    char name[CLI_CONTAINER_NAME_BYTES] = "";
    bool inside = p->container[0] != '\0';
    json_object_set_new(row, "container", cli_json_text_or_null(p->container));
    json_object_set_new(
        row, "container_name",
        cli_json_text_or_null(inside ? cli_container_name("", p->container, name) : ""));
    json_object_set_new(row, "container_pid",
                        inside && p->inner_pid != 0 ? cli_json_number(p->inner_pid) : json_null());
}

static int print_json(const struct gcd_ipc_process_list *l)
{
    json_t *o = json_object(), *list = json_array();
    for (size_t i = 0; i < l->count; i++) {
        const struct gcd_ipc_process *p = &l->items[i];
        json_t *row = json_object();
        char user[64];
        json_object_set_new(row, "pid", p->pid != 0 ? cli_json_number(p->pid) : json_null());
        json_object_set_new(row, "user",
                            cli_json_text_or_null(cli_user_name(p->uid, user, sizeof user)));
        json_object_set_new(row, "uid",
                            p->uid != UINT32_MAX ? cli_json_number(p->uid) : json_null());
        json_object_set_new(row, "name",
                            cli_json_text_or_null(p->exe[0] != '\0' ? p->exe : p->name));
        json_object_set_new(row, "answer", cli_json_text_or_null(cli_process_answer(p)));
        json_object_set_new(row, "ways", ways_json(p));
        json_object_set_new(row, "runtime_version", cli_json_text_or_null(p->runtime_version));
        json_object_set_new(row, "architecture", cli_json_text_or_null(p->arch));
        json_object_set_new(row, "entry_assembly", cli_json_text_or_null(p->entry_assembly));
        json_object_set_new(row, "uptime_ms",
                            p->uptime_ms != 0 ? cli_json_number(p->uptime_ms) : json_null());
        json_object_set_new(row, "resident_bytes",
                            p->rss_bytes != 0 ? cli_json_number(p->rss_bytes) : json_null());
        json_object_set_new(row, "command_line", cli_json_text_or_null(p->command_line));
        json_object_set_new(row, "socket", cli_json_text_or_null(p->socket_path));
        cli_json_put_container(row, p);
        json_array_append_new(list, row);
    }
    json_object_set_new(o, "schema", json_integer(cli_json_schema()));
    json_object_set_new(o, "processes", list);
    return cli_json_print(o, stdout);
}

/* The version, or why it is unknown. */
static const char *runtime_of(const struct gcd_ipc_process *p)
{
    if (p->reason == GCD_ERROR_PERMISSION)
        return "(no access)";
    if (p->reason == GCD_ERROR_TIMEOUT)
        return "(no answer)";
    if (p->reason == GCD_ERROR_NO_SOCKET)
        return "(no socket)";
    return p->runtime_version[0] != '\0' ? p->runtime_version : "?";
}

static void fill(const struct gcd_ipc_process *p, const char *user, bool people, struct cells *c)
{
    uint64_t s = p->uptime_ms / 1000;
    for (int i = 0; i < COLUMNS; i++)
        c->text[i] = c->buf[i];
    (void)snprintf(c->buf[0], sizeof c->buf[0], p->pid != 0 ? "%" PRIu32 : "?", p->pid);
    (void)snprintf(c->buf[1], sizeof c->buf[1], "%s", user[0] != '\0' ? user : "?");
    c->text[2] = runtime_of(p);
    if (p->uptime_ms == 0)
        c->text[3] = "?";
    else if (s < 86400)
        (void)snprintf(c->buf[3], sizeof c->buf[3], "%02u:%02u:%02u", (unsigned)(s / 3600),
                       (unsigned)(s / 60 % 60), (unsigned)(s % 60));
    else
        (void)snprintf(c->buf[3], sizeof c->buf[3], "%" PRIu64 "d %02u:%02u", s / 86400,
                       (unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60));
    if (p->rss_bytes == 0)
        c->text[4] = "?";
    else
        (void)(people ? cli_size(p->rss_bytes, c->buf[4])
                      : cli_number(p->rss_bytes, false, c->buf[4]));
    struct ways w = ways_of(p);
    c->text[5] = w.events && w.direct ? "events, direct"
                 : w.events           ? "events"
                 : w.direct           ? "direct"
                                      : "-";
    c->text[6] = p->entry_assembly[0] != '\0' ? p->entry_assembly : "?";
    char name[CLI_CONTAINER_NAME_BYTES];
    if (p->container[0] == '\0')
        c->text[CONTAINER] = "-";
    else if (cli_container_name("", p->container, name)[0] != '\0')
        (void)snprintf(c->buf[CONTAINER], sizeof c->buf[0], "%s pid %" PRIu32, name, p->inner_pid);
    else
        (void)snprintf(c->buf[CONTAINER], sizeof c->buf[0], "%.*s pid %" PRIu32,
                       CLI_CONTAINER_SHORT, p->container, p->inner_pid);
}

static void print_row(const char *const *text, const size_t *widths, const char *command_line,
                      size_t columns)
{
    size_t used = 0;
    for (int i = 0; i < COLUMNS; i++) {
        if (widths[i] == 0)
            continue; /* not shown */
        bool right = i == 0 || i == 3 || i == 4;
        size_t n = cli_print_cut(NULL, text[i], SIZE_MAX), pad = widths[i] > n ? widths[i] - n : 0;
        printf("%*s", right ? (int)pad : 0, "");
        (void)cli_print_cut(stdout, text[i], SIZE_MAX);
        printf("%*s", (right ? 0 : (int)pad) + GAP, "");
        used += widths[i] + GAP;
    }
    (void)cli_print_cut(stdout, command_line,
                        columns == SIZE_MAX ? SIZE_MAX
                        : columns > used    ? columns - used
                                            : 0);
    putchar('\n');
}

/* False: out of memory. */
static bool print_table(const struct gcd_ipc_process_list *l)
{
    static const char *const heads[COLUMNS] = { "PID",    "User", "Runtime",  "Uptime",
                                                "Memory", "Ways", "Assembly", "Container" };
    size_t widths[COLUMNS], columns = cli_window_columns(stdout);
    bool people = cli_is_terminal(stdout);
    struct cells *rows = calloc(l->count, sizeof *rows);
    char user[64] = "";
    bool inside = false;
    if (rows == NULL)
        return false;
    for (int i = 0; i < COLUMNS; i++)
        widths[i] = strlen(heads[i]);
    for (size_t i = 0; i < l->count; i++)
        inside = inside || l->items[i].container[0] != '\0';
    for (size_t i = 0; i < l->count; i++) {
        /* looked up once for neighbors of one user */
        if (i == 0 || l->items[i].uid != l->items[i - 1].uid)
            (void)cli_user_name(l->items[i].uid, user, sizeof user);
        fill(&l->items[i], user, people, &rows[i]);
        for (int k = 0; k < COLUMNS; k++) {
            size_t n = cli_print_cut(NULL, rows[i].text[k], SIZE_MAX);
            widths[k] = n > widths[k] ? n : widths[k];
        }
    }
    if (!inside)
        widths[CONTAINER] = 0;
    print_row(heads, widths, "Command line", columns);
    for (size_t i = 0; i < l->count; i++)
        print_row(rows[i].text, widths, l->items[i].command_line, columns);
    free(rows);
    return true;
}

enum cli_exit cmd_ps(const struct cli_args *args)
{
    struct gcd_ipc_process_list l;
    enum cli_exit e = cli_list_processes(&l);
    if (e != CLI_DONE)
        return e;
    if (args->view.json)
        e = print_json(&l) == 0 || errno != ENOMEM ? CLI_DONE : CLI_FAILED;
    else if (l.count > 0)
        e = print_table(&l) ? CLI_DONE : CLI_FAILED;
    enum cli_exit flushed = cli_flush_stdout();
    if (e != CLI_DONE)
        cli_say(NULL, "out of memory");
    if (l.count == 0 && !args->quiet)
        cli_say(NULL, "no .NET process is visible from here; run gcdumpc as its user or as root, "
                      "and for containers on the host");
    gcd_ipc_list_done(&l);
    return e == CLI_DONE ? flushed : e;
}

#else

enum cli_exit cmd_ps(const struct cli_args *args)
{
    (void)args;
    return cli_no_ipc(NULL);
}

#endif
