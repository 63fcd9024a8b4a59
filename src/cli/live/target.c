/*
 * Finds the process for --pid, --name, --container or --port.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/folders.h>

#include "args.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "live/target.h"
#include "signals.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_IPC

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "term/path.h"
#include "term/suggest.h"

void cli_name_process(struct cli_dump *d, uint64_t pid)
{
    (void)snprintf(d->process, sizeof d->process, "process %" PRIu64, pid);
    d->pid = (uint32_t)pid;
    d->subject = d->process;
}

const char *cli_target_text(const struct cli_target_args *t)
{
    return t->name != NULL ? t->name : t->container;
}

int cli_target_fits(const struct gcd_ipc_process *p, const struct cli_target_args *t)
{
    const char *name = t->name;
    if (t->container != NULL && !cli_container_fits("", p->container, t->container))
        return 0;
    if (t->pid != 0 && (t->container != NULL ? p->inner_pid : p->pid) != t->pid)
        return 0;
    if (name == NULL)
        return 2;
    const char *const names[] = { p->name, p->exe, p->entry_assembly };
    int best = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i][0] == '\0')
            continue;
        if (strcmp(names[i], name) == 0)
            return 2;
        if (fnmatch(name, names[i], 0) == 0)
            best = 1;
    }
    return best;
}

/* A part of a sentence: why some processes have no name; "" when all have one. */
static const char *unnamed(const struct gcd_ipc_process_list *l)
{
    bool foreign = false, silent = false;
    for (size_t i = 0; i < l->count; i++) {
        bool refused = l->items[i].reason == GCD_ERROR_PERMISSION;
        foreign = foreign || (!l->items[i].answered && refused);
        silent = silent || (!l->items[i].answered && !refused);
    }
    if (!foreign)
        return silent ? " (some processes could not be asked: they do not answer)" : "";
    return silent
               ? " (some processes could not be asked: they belong to another user (run as root), "
                 "or do not answer)"
               : " (some processes could not be asked: they belong to another user (run as root))";
}

enum cli_exit cli_target_is_clear(const struct gcd_ipc_process_list *l,
                                  const struct cli_target_args *t)
{
    const struct gcd_ipc_process *first = NULL;
    for (size_t i = 0; t->container != NULL && i < l->count; i++) {
        const struct gcd_ipc_process *p = &l->items[i];
        if (!cli_container_fits("", p->container, t->container))
            continue;
        if (first == NULL)
            first = p;
        if (strcmp(first->container, p->container) != 0)
            return cli_error(CLI_USAGE, NULL,
                             "\"%s\" means several containers, such as %.*s and %.*s; give more "
                             "of the id",
                             t->container, CLI_CONTAINER_SHORT, first->container,
                             CLI_CONTAINER_SHORT, p->container);
    }
    return CLI_DONE;
}

static enum cli_exit nobody_inside(const struct gcd_ipc_process_list *l,
                                   const struct cli_target_args *t)
{
    bool any = false;
    for (size_t i = 0; i < l->count; i++)
        any = any || cli_container_fits("", l->items[i].container, t->container);
    if (!any)
        return cli_error(CLI_FAILED, NULL,
                         "no .NET process is in a container \"%s\": give at least 4 digits of its "
                         "id%s; see gcdumpc ps",
                         t->container, unnamed(l));
    return cli_error(CLI_FAILED, NULL,
                     "no .NET process in container \"%s\" fits --name or --pid (its number inside "
                     "the container)%s; see gcdumpc ps",
                     t->container, unnamed(l));
}

static enum cli_exit nobody(const struct gcd_ipc_process_list *l, const char *name)
{
    char meant[CLI_MEANT_BYTES];
    struct cli_nearest near;
    cli_nearest_begin(&near, name);
    for (size_t i = 0; i < l->count; i++) {
        cli_nearest_try(&near, l->items[i].name);
        cli_nearest_try(&near, l->items[i].entry_assembly);
    }
    return cli_error(CLI_FAILED, NULL, "no .NET process is called \"%s\"%s%s; see gcdumpc ps", name,
                     cli_meant(&near, "", meant), unnamed(l));
}

/* Says which of the processes that fit T equally well there are. */
static enum cli_exit too_many(const struct gcd_ipc_process_list *l, const struct cli_target_args *t,
                              int best, size_t n)
{
    bool inside = t->container != NULL;
    enum cli_exit e =
        inside ? cli_error(CLI_USAGE, NULL,
                           "%zu processes of container \"%s\" fit; choose one with --name, or with "
                           "--pid and its number inside, the second one:",
                           n, t->container)
               : cli_error(CLI_USAGE, NULL,
                           "%zu processes are called \"%s\"; choose one with --pid:", n, t->name);
    for (size_t i = 0; i < l->count; i++) {
        const struct gcd_ipc_process *p = &l->items[i];
        if (cli_target_fits(p, t) != best)
            continue;
        if (inside)
            cli_say_more("%10" PRIu32 " %7" PRIu32 "  %s", p->pid, p->inner_pid, p->command_line);
        else
            cli_say_more("%10" PRIu32 "  %s", p->pid, p->command_line);
    }
    return e;
}

static enum cli_exit choose(const struct gcd_ipc_process_list *l, const struct cli_target_args *t,
                            struct cli_dump *d, char *ret_path, uint32_t *ret_pid)
{
    const struct gcd_ipc_process *found = NULL;
    size_t n = 0;
    int best = 1;
    for (size_t i = 0; i < l->count; i++) {
        int how = cli_target_fits(&l->items[i], t);
        if (how > best) {
            best = how;
            n = 0;
        }
        if (how == best) {
            found = &l->items[i];
            n++;
        }
    }
    enum cli_exit clear = cli_target_is_clear(l, t);
    if (clear != CLI_DONE)
        return clear;
    if (n == 0)
        return t->container != NULL ? nobody_inside(l, t) : nobody(l, t->name);
    if (n > 1)
        return too_many(l, t, best, n);
    *ret_pid = found->pid;
    if (found->pid != 0)
        cli_name_process(d, found->pid);
    (void)snprintf(ret_path, GCD_IPC_PATH_MAX, "%s", found->socket_path);
    return CLI_DONE;
}

enum cli_exit cli_list_processes(struct gcd_ipc_process_list *ret)
{
    struct gcd_ipc_list_options options = { .own_tmpdir = getenv("TMPDIR"),
                                            .cancel = &cli_canceled };
    struct gcd_error err = GCD_ERROR_INIT;
    return gcd_ipc_list(&options, ret, &err) == GCD_OK ? CLI_DONE : cli_fail(NULL, &err);
}

static enum cli_exit by_list(const struct cli_target_args *t, struct cli_dump *d, char *ret_path,
                             uint32_t *ret_pid)
{
    struct gcd_ipc_process_list l;
    enum cli_exit e = cli_list_processes(&l);
    if (e != CLI_DONE)
        return e;
    e = choose(&l, t, d, ret_path, ret_pid);
    gcd_ipc_list_done(&l);
    return e;
}

const char *cli_socket_path(const char *text)
{
    return strncmp(text, "unix:", 5) == 0 ? text + 5 : text;
}

/* Examines PATH, which may be below /proc/PID/root.  0 or an errno. */
static int look_at(const char *path, struct stat *ret)
{
    struct gcd_error err = GCD_ERROR_INIT;
    int fd;
    if (gcd_folder_open_parent(path, &fd, &err) != GCD_OK)
        return err.os_errno;
    int e = fstatat(fd, cli_path_name(path), ret, AT_SYMLINK_NOFOLLOW) == 0 ? 0 : errno;
    (void)close(fd);
    return e;
}

static enum cli_exit by_port(const char *port, struct cli_dump *d, char *ret_path)
{
    const char *path = cli_socket_path(port);
    struct stat sb = { .st_mode = 0 };
    d->subject = path;
    if (path[0] == '\0' || strlen(path) >= GCD_IPC_PATH_MAX)
        return cli_error(CLI_USAGE, NULL, "--port takes the path of a socket, not \"%.100s\"",
                         port);
    int e = look_at(path, &sb);
    if (e == ENOENT)
        return cli_error(
            CLI_FAILED, path,
            "there is no diagnostic socket %s; gcdumpc ps lists the processes that have one", path);
    if (e == 0 && !S_ISSOCK(sb.st_mode) && !S_ISLNK(sb.st_mode))
        return cli_error(CLI_FAILED, path,
                         "is not a socket; gcdumpc ps lists the processes that have one");
    memcpy(ret_path, path, strlen(path) + 1);
    return CLI_DONE;
}

enum cli_exit cli_find_target(const struct cli_args *args, struct cli_dump *d, char *ret_path)
{
    uint32_t pid = (uint32_t)args->target.pid;
    ret_path[0] = '\0';
    d->subject = cli_target_text(&args->target);
    if (args->target.port != NULL)
        return by_port(args->target.port, d, ret_path);
    if (args->target.name != NULL || args->target.container != NULL) {
        enum cli_exit e = by_list(&args->target, d, ret_path, &pid);
        if (e != CLI_DONE || ret_path[0] != '\0')
            return e;
        /* no usable socket: the search below reports why */
    }
    cli_name_process(d, pid);
    if (cli_is_direct(args)) /* it needs no socket */
        return CLI_DONE;
    struct gcd_error err = GCD_ERROR_INIT;
    if (gcd_ipc_find_socket(pid, getenv("TMPDIR"), ret_path, &err) == GCD_OK)
        return CLI_DONE;
    if (err.reason != GCD_ERROR_NO_PROCESS && err.reason != GCD_ERROR_NO_SOCKET)
        return cli_fail(d->subject, &err);
    return cli_error(CLI_FAILED, NULL, "%s; gcdumpc ps lists what can be dumped", err.msg);
}

#else

enum cli_exit cli_no_ipc(const char *subject)
{
    return cli_error(CLI_FAILED, subject,
                     "this build of gcdumpc cannot talk to running processes (it was built with "
                     "GCDUMPC_IPC=OFF)");
}

#endif
