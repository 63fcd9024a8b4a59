/*
 * The process that the arguments name.
 */
#ifndef GCD_CLI_LIVE_TARGET_H
#define GCD_CLI_LIVE_TARGET_H

#include <stdbool.h>

#include <gcdumpc/ipc.h>

#include "args.h"
#include "exit.h"
#include "input/input.h"

/* Opens a dump of a live process into RET; a build without ipc reports that it cannot. */
enum cli_exit cli_open_live(const struct cli_args *args, const struct gcd_dump_options *options,
                            bool reread, const char *spool_dir, struct cli_dump *ret);

#ifdef GCDUMPC_HAVE_IPC
/* target.c */
/*
 * The socket of the process that ARGS name by --pid, --name, --container or --port, in
 * RET_PATH[GCD_IPC_PATH_MAX]; sets D->subject.  On failure the message has been printed.
 */
enum cli_exit cli_find_target(const struct cli_args *args, struct cli_dump *d, char *ret_path);
/* All processes that can be dumped; gcd_ipc_list_done frees them.  On failure the message has been
 * printed. */
enum cli_exit cli_list_processes(struct gcd_ipc_process_list *ret);
/* How well P matches what T says of it: 2 exactly, 1 by a pattern, 0 not at all. */
int cli_target_fits(const struct gcd_ipc_process *p, const struct cli_target_args *t);
/* Reports containers of L that cannot be told apart by the beginning of an id in T. */
enum cli_exit cli_target_is_clear(const struct gcd_ipc_process_list *l,
                                  const struct cli_target_args *t);
/* The name or container in T, for messages; NULL = neither. */
const char *cli_target_text(const struct cli_target_args *t);
/* Sets the subject of D to "process 1234". */
void cli_name_process(struct cli_dump *d, uint64_t pid);

/* container.c */
enum { CLI_CONTAINER_NAME_BYTES = 128, CLI_CONTAINER_SHORT = 12 /* digits of an id for people */ };
/* The name of container ID where its engine keeps one below ROOT ("" = /), in a file that only root
 * can read; of Kubernetes, the name in the pod.  "" when unknown. */
const char *cli_container_name(const char *root, const char *id, char *ret);
/* Is ID, of a process, the container that TEXT means: the id or its beginning, also after
 * "docker://" and the like, or the name? */
bool cli_container_fits(const char *root, const char *id, const char *text);

/* The path of "unix:PATH", or TEXT itself. */
const char *cli_socket_path(const char *text);

/* listen.c */
/* --listen: waits for a runtime and lets it start; sets D->port.  On failure the message has been
 * printed. */
enum cli_exit cli_listen_open(const struct cli_args *args, struct cli_dump *d);
/* Removes the socket file. */
void cli_listen_close(struct cli_dump *d);
#else
/* target.c */
enum cli_exit cli_no_ipc(const char *subject);
#endif

#endif
