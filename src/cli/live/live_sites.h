/*
 * Records the allocations of a process, for the command sites: a window in which they are sampled,
 * then what is needed to follow the sampled objects, then a time in which short-lived ones die.
 * Collections are watched until the heap walk is over.
 */
#ifndef GCD_CLI_LIVE_SITES_H
#define GCD_CLI_LIVE_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include <gcdumpc/unstable/sites.h>

#include "args.h"
#include "exit.h"
#include "live/live_lock.h"

struct live_sites;

/*
 * Samples the process of ARGS until the heap should be walked.  The lock of the process is held
 * from here on.  On failure the message has been printed.  Call live_sites_free in any case.
 */
enum cli_exit live_sites_begin(const struct cli_args *args, struct live_sites **ret);
/* The lock, for the walk, and the process, in case a name was given. */
const struct live_lock *live_sites_lock(const struct live_sites *s);
uint64_t live_sites_pid(const struct live_sites *s);
/* What is left of --timeout for the walk; 0 = it was not given. */
uint64_t live_sites_timeout_s(const struct live_sites *s);
/* The walk is over: ends the sessions that are left.  On failure the message has been printed. */
enum cli_exit live_sites_end(struct live_sites *s);
struct gcd_site_recorder *live_sites_recorder(struct live_sites *s);
/* Stops all sessions. */
void live_sites_free(struct live_sites *s);

#endif
