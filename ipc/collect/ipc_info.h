/* gcd_ipc_process_info for the other files of this folder. */
#ifndef GCD_IPC_INFO_H
#define GCD_IPC_INFO_H

#include <gcdumpc/ipc.h>

#include "ipc/collect/ipc_ask.h"

/* The same for any peer, as described by A; also GCD_E_CANCELED. */
GCD_MUST_CHECK gcd_status gcd_info_ask(const struct gcd_ask *a, struct gcd_ipc_process_info *ret,
                                       struct gcd_error *err);

/* A process to ask, and its answer. */
struct gcd_info_question {
    struct gcd_peer peer;
    struct gcd_ipc_process_info info;
    gcd_status status; /* as of gcd_info_ask */
    struct gcd_error err;
};

/* Asks QUESTIONS[N], each as HOW says but for its peer, at most MOST at a time.  GCD_E_NOMEM. */
GCD_MUST_CHECK gcd_status gcd_info_ask_all(struct gcd_info_question *questions, size_t n,
                                           const struct gcd_ask *how, size_t most,
                                           struct gcd_error *err);

#endif
