/*
 * Locks that allow one dump of a process at a time.  The one who takes the lock decides when to
 * release it: a dump alone releases it at the end of the stream; a job holds it until the dump is
 * recorded, because other jobs that wait check that record.
 */
#ifndef GCD_CLI_LIVE_LOCK_H
#define GCD_CLI_LIVE_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "args.h"
#include "exit.h"

#ifdef GCDUMPC_HAVE_IPC

/* All zero before the first use. */
struct live_lock {
    struct gcd_ipc_lock process, machine;
    bool waited; /* another dump had it first */
};

/*
 * Locks the process PID (0 = not known) whose socket is PATH; with --exclusive, the machine too.
 * Waits for another dump as long as --wait allows. On failure the message has been printed.  Call
 * live_lock_release in any case.
 */
enum cli_exit live_lock_take(const struct cli_args *args, const char *subject, uint32_t pid,
                             const char *path, struct live_lock *ret);
void live_lock_release(struct live_lock *lock);

#endif
#endif
