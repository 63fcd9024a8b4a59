/*
 * --listen: waits for a program that was told to connect to us (DOTNET_DiagnosticPorts), until it
 * can be dumped.
 */
#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>
#include <gcdumpc/unstable/text/plural.h>

#include "args.h"
#include "exit.h"
#include "input/fail.h"
#include "input/input.h"
#include "live/clock.h"
#include "live/target.h"
#include "signals.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_IPC

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWER_MS     10000u
#define FAREWELL_MS   2000u
#define START_MS      2000u
#define START_STEP_MS 10u

/* Prints the setting that the program needs; it may run in another folder, so the path is absolute.
 */
static void say_where(const char *path)
{
    char *folder = path[0] == '/' ? NULL : getcwd(NULL, 0);
    cli_say(NULL, "waiting for a program started with DOTNET_DiagnosticPorts=%s%s%s",
            folder != NULL ? folder : "", folder != NULL ? "/" : "", path);
    free(folder);
}

/*
 * Before it has started, a runtime reports only its executable; later, when the host has handed
 * over the program, also the path of the managed assembly (measured, .NET 8 to 10; a dump before
 * that forces no GC and would never arrive).
 */
static bool has_assembly(const struct gcd_ipc_process_info *info)
{
    return strstr(info->command_line, ".dll") != NULL;
}

/* Asks the process for its name.  *RET: has it started? */
static gcd_status look(struct cli_dump *d, bool tell, bool *ret, struct gcd_error *err)
{
    struct gcd_ipc_process_info info;
    *ret = false;
    gcd_status st = gcd_ipc_port_process_info(d->port, ANSWER_MS, &cli_canceled, &info, err);
    if (st != GCD_OK)
        return st;
    if (tell)
        cli_say(d->subject, "has connected: %s", info.command_line);
    *ret = has_assembly(&info);
    gcd_ipc_process_info_done(&info);
    return GCD_OK;
}

/* A program with its own host never reports an assembly; once the time is up, it has started as
 * well. */
static gcd_status wait_for_start(struct cli_dump *d, struct gcd_error *err)
{
    bool started = false;
    gcd_status st = GCD_OK;
    for (unsigned ms = 0; st == GCD_OK && !started && ms < START_MS; ms += START_STEP_MS) {
        st = gcd_ipc_port_pause(d->port, START_STEP_MS, &cli_canceled, err);
        if (st == GCD_OK)
            st = look(d, false, &started, err);
    }
    return st;
}

/* Lets the program start even after an interrupt, because nobody else will and it would wait
 * forever.  Failure is not reported. */
static void resume_all_the_same(struct cli_dump *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status ignored = gcd_ipc_port_resume(d->port, FAREWELL_MS, NULL, &err);
    (void)ignored;
}

static enum cli_exit connected(const struct cli_args *args, struct cli_dump *d,
                               struct gcd_error *err)
{
    bool started = false;
    gcd_status st = look(d, !args->quiet, &started, err);
    if (st == GCD_OK)
        st = gcd_ipc_port_resume(d->port, ANSWER_MS, &cli_canceled, err);
    if (st != GCD_OK && err->reason != GCD_ERROR_GONE)
        resume_all_the_same(d);
    if (st == GCD_OK && !started)
        st = wait_for_start(d, err);
    if (st == GCD_OK)
        st = gcd_ipc_port_pause(d->port, args->target.delay_s * 1000, &cli_canceled, err);
    return st == GCD_OK ? CLI_DONE : cli_fail(d->subject, err);
}

static enum cli_exit listen_at_file(const struct cli_args *args, struct cli_dump *d,
                                    struct gcd_error *err)
{
    const char *path = cli_socket_path(args->target.listen);
    d->subject = path;
    if (path[0] == '\0' || strlen(path) >= GCD_IPC_PATH_MAX || strpbrk(path, ",;") != NULL)
        return cli_error(CLI_USAGE, NULL,
                         "--listen takes the path of a socket, without \",\" and \";\", or "
                         "tcp:HOST:PORT, not \"%.100s\"",
                         args->target.listen);
    if (gcd_ipc_port_listen(path, &d->port, err) != GCD_OK)
        return cli_fail(NULL, err); /* the message names the path */
    cli_temporary(CLI_SLOT_PORT, path);
    if (!args->quiet)
        say_where(path);
    return CLI_DONE;
}

static enum cli_exit listen_at_address(const struct cli_args *args, struct cli_dump *d,
                                       struct gcd_error *err)
{
    struct gcd_ipc_tcp_place place;
    d->subject = args->target.listen;
    gcd_status st = gcd_ipc_port_listen_tcp(cli_tcp_address(args), args->target.any_address, &place,
                                            &d->port, err);
    if (st == GCD_E_ARG)
        return cli_error(CLI_USAGE, NULL, "--listen tcp: %s%s", err->msg,
                         err->reason == GCD_ERROR_PERMISSION ? " (--any-address allows it)" : "");
    if (st != GCD_OK)
        return cli_fail(NULL, err);
    if (!place.loopback)
        cli_say(
            NULL,
            "whoever can reach %s can connect and pass for the program, and nothing is encrypted",
            place.address);
    if (!args->quiet)
        cli_say(NULL, "waiting at %s for a program started with DOTNET_DiagnosticPorts=%s",
                place.address, place.variable);
    return CLI_DONE;
}

enum cli_exit cli_listen_open(const struct cli_args *args, struct cli_dump *d)
{
    struct gcd_error err = GCD_ERROR_INIT;
    struct gcd_ipc_runtime runtime;
    enum cli_exit e = cli_tcp_address(args) != NULL ? listen_at_address(args, d, &err)
                                                    : listen_at_file(args, d, &err);
    if (e != CLI_DONE)
        return e;
    if (gcd_ipc_port_wait(d->port, cli_timeout_ms(args), &cli_canceled, &runtime, &err) != GCD_OK)
        return cli_fail(d->subject, &err);
    cli_name_process(d, runtime.pid);
    if (!runtime.visible)
        d->pid = 0; /* on this machine the number may belong to another process */
    return connected(args, d, &err);
}

void cli_listen_close(struct cli_dump *d)
{
    size_t others = d->port != NULL ? gcd_ipc_port_others(d->port) : 0;
    if (others > 0)
        cli_say(NULL, "%zu other program%s connected, too, and still wait%s for somebody to listen",
                others, gcd_plural(others), gcd_by_number(others, "s", ""));
    gcd_ipc_port_free(d->port);
    cli_temporary(CLI_SLOT_PORT, NULL);
    d->port = NULL;
}

#endif
