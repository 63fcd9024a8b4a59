/*
 * Parts of commands that mcp also uses: processes as ps shows them, --filter of async.
 */
#ifndef GCD_CLI_COMMAND_PARTS_H
#define GCD_CLI_COMMAND_PARTS_H

#include <stddef.h>
#include <stdint.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/async.h>

#include "exit.h"
#include "output/pattern.h"

#ifdef GCDUMPC_HAVE_IPC
/* cmd_ps.c */
/* The name of user UID in BUF[CAP], or the number if it has none; "" for UINT32_MAX, unknown. */
const char *cli_user_name(uint32_t uid, char *buf, size_t cap);
/* How the process answered: "ok", "no access", "no answer", "failed". */
const char *cli_process_answer(const struct gcd_ipc_process *p);
#endif

/* cmd_async.c */
/* Compiles TEXT, a glob or "/REGEX/", which must outlive *RET.  CLI_USAGE or CLI_FAILED after a
 * message.  Free with cli_pattern_free. */
enum cli_exit cli_stack_pattern(const char *text, struct cli_pattern **ret);
/* Does the name of any frame match P, in the stack that ends with frame STACK? */
enum cli_match cli_stack_match(const struct gcd_async_frame *frames, uint32_t stack,
                               const struct cli_pattern *p);

#endif
