/*
 * Stops another process for a short time.  Linux only.
 *
 * A child process of ours does it, with ptrace: it has a clock of its own, so that the process goes
 * on after a given time whatever happens to us: if we are stopped ourselves, blocked by a disk, or
 * killed.  If the child is killed, the kernel lets the process go on.
 */
#ifndef GCD_IMAGE_PROCESS_HOLD_H
#define GCD_IMAGE_PROCESS_HOLD_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/alloc.h>
#include <gcdumpc/cancel.h>
#include <gcdumpc/status.h>

#include "image/space/image.h"

#define HOLD_THREADS_MAX 32768u

struct process_hold;

/* Makes the child for the process PID, which is not disturbed yet. */
gcd_status process_hold_new(uint32_t pid, const struct gcd_alloc *alloc, struct process_hold **ret,
                            struct gcd_error *err);
/* Lets the process go on, if it is stopped, and ends the child. */
void process_hold_free(struct process_hold *h);

/*
 * Stops all threads of the process, for at most MOST_NS, and waits until they have stopped.
 * GCD_E_IO (PERMISSION): another debugger traces it, or it may not be stopped; GCD_E_PEER (GONE):
 * it has ended; GCD_E_PEER (TIMEOUT): not all of them stopped in time; GCD_E_UNSUPPORTED,
 * GCD_E_LIMIT.  If it fails, the process goes on.
 */
gcd_status process_hold_stop(struct process_hold *h, uint64_t most_ns, struct gcd_error *err);
/* Its threads, with registers, as long as it is stopped: [*RET_COUNT]. */
const struct image_thread *process_hold_threads(const struct process_hold *h, size_t *ret_count);
/*
 * Lets the process go on.  *RET_NS: how long it was stopped, from the first thread on.  False: it
 * had been let go before, because MOST_NS had passed or the child was killed.
 */
bool process_hold_release(struct process_hold *h, uint64_t *ret_ns);

#endif
