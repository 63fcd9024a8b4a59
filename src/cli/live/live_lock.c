#include <gcdumpc/gcdumpc.h>
#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "args.h"
#include "exit.h"
#include "input/fail.h"
#include "live/clock.h"
#include "live/live_lock.h"
#include "signals.h"
#include "term/message.h"

#ifdef GCDUMPC_HAVE_IPC

/* How soon Ctrl-C and the end of --wait are noticed. */
#define WAIT_MS 200

/* Takes the machine lock first, so that nobody holds a process while waiting for the machine. */
static gcd_status try_locks(const struct cli_args *args, uint32_t pid, const char *path,
                            struct live_lock *l, struct gcd_error *err)
{
    gcd_status st = args->live.exclusive && l->machine.fds[0] == 0
                        ? gcd_ipc_lock_machine(&l->machine, err)
                        : GCD_OK;
    return st == GCD_OK ? gcd_ipc_lock(pid, path[0] != '\0' ? path : NULL, &l->process, err) : st;
}

/* Waits until another try may succeed.  False: the time is up, or the user gave up. */
static bool wait_for_holder(const struct cli_args *args, uint64_t start, struct live_lock *l)
{
    struct gcd_ipc_lock *taken =
        args->live.exclusive && l->machine.fds[0] == 0 ? &l->machine : &l->process;
    bool let_go = false;
    while (!let_go && live_now_ms() - start < args->live.wait_s * 1000 &&
           !atomic_load(&cli_canceled)) {
        let_go = gcd_ipc_lock_wait(taken, WAIT_MS);
        l->waited = true;
    }
    if (let_go)
        gcd_ipc_unlock(taken);
    return let_go;
}

enum cli_exit live_lock_take(const struct cli_args *args, const char *subject, uint32_t pid,
                             const char *path, struct live_lock *ret)
{
    uint64_t start = live_now_ms();
    struct gcd_error err = GCD_ERROR_INIT;
    gcd_status st = try_locks(args, pid, path, ret, &err);
    while (st == GCD_E_STATE && wait_for_holder(args, start, ret))
        st = try_locks(args, pid, path, ret, &err);
    if (st == GCD_E_STATE && atomic_load(&cli_canceled))
        st = err.code = GCD_E_CANCELED;
    /* The owner of the process could hold its lock forever, which must not keep root out. */
    if (st == GCD_E_STATE && args->live.force)
        cli_say(subject, "%s; continuing anyway (--force)", err.msg);
    else if (st != GCD_OK)
        return cli_fail(subject, &err);
    if (ret->process.usurped || ret->machine.usurped)
        cli_say(subject, "another user holds the dump lock; continuing without it");
    return CLI_DONE;
}

void live_lock_release(struct live_lock *lock)
{
    gcd_ipc_unlock(&lock->process);
    gcd_ipc_unlock(&lock->machine);
}

#endif
