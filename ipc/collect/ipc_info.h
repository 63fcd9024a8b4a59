/* gcd_ipc_process_info for the other files of this folder. */
#ifndef GCD_IPC_INFO_H
#define GCD_IPC_INFO_H

#include <gcdumpc/ipc.h>

#include "ipc/collect/ipc_ask.h"

/* The same for any peer, as described by A; also GCD_E_CANCELED. */
GCD_MUST_CHECK gcd_status gcd_info_ask(const struct gcd_ask *a, struct gcd_ipc_process_info *ret,
                                       struct gcd_error *err);

#endif
