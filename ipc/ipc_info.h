/*
 * gcd_ipc_process_info for the other files of this folder.
 */
#ifndef GCD_IPC_INFO_H
#define GCD_IPC_INFO_H

#include <gcdumpc/ipc.h>

#include "ipc/ipc_dial.h"

/* The same of any peer, given up with GCD_E_CANCELED when CANCEL (may be NULL) is set. */
GCD_MUST_CHECK gcd_status gcd_info_ask(const struct gcd_peer *peer, uint64_t timeout_ms, const gcd_cancel_flag *cancel,
                                       struct gcd_ipc_process_info *ret, enum gcd_ipc_reason *ret_reason,
                                       struct gcd_error *err);

#endif
