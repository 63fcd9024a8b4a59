/*
 * Counts the connections to a diagnostic socket.  An accepted connection carries the name of the
 * listening socket, and PROC/PID/net/unix shows all sockets in the network namespace of the process
 * to everybody.
 */
#include "ipc/process/ipc_connections.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "base/safe_open.h"

#define READINGS   4
#define LISTENING  1   /* SS_UNCONNECTED of linux/net.h: a name, and nobody at the other end */
#define CONNECTED  3   /* SS_CONNECTED */
#define LINE_BYTES 512 /* 54 bytes and the path, which has at most 108 */

/* "Num: RefCount Protocol Flags Type St Inode Path".  The process may see a different folder than
 * we do, so only file names are compared. */
static const char *path_in(const char *line, unsigned wanted, const char *name)
{
    unsigned state;
    int path = 0;
    if (sscanf(line, "%*x: %*x %*x %*x %*x %2x %*u %n", &state, &path) != 1 || path == 0 ||
        state != wanted)
        return NULL;
    const char *slash = strrchr(line + path, '/');
    return slash != NULL && strcmp(slash + 1, name) == 0 ? line + path : NULL;
}

uint32_t gcd_connections_read(const char *proc, uint32_t pid, const char *socket_path)
{
    char path[64];
    const char *name = gcd_path_name(socket_path);
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/net/unix", proc, pid);
    FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
    if (f == NULL)
        return GCD_IPC_UNKNOWN;
    uint32_t count = 0;
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        count += path_in(line, CONNECTED, name) != NULL;
    }
    bool whole = feof(f) && !ferror(f);
    (void)fclose(f);
    return whole ? count : GCD_IPC_UNKNOWN;
}

/* Finds a line with NAME in PATH, once; LINE holds it. */
static const char *find_listening(const char *path, const char *name, char line[LINE_BYTES])
{
    const char *found = NULL;
    FILE *f = fopen(path, "re");
    while (f != NULL && found == NULL && fgets(line, LINE_BYTES, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = path_in(line, LISTENING, name);
    }
    if (f != NULL)
        (void)fclose(f);
    return found;
}

bool gcd_connections_listens(const char *proc, uint32_t pid, const char *name, char *ret,
                             size_t cap)
{
    char path[64], line[LINE_BYTES];
    const char *found = NULL;
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/net/unix", proc, pid);
    /* The kernel may skip lines while other sockets come and go. */
    for (int i = 0; i < READINGS && found == NULL && n > 0 && (size_t)n < sizeof path; i++)
        found = find_listening(path, name, line);
    if (found != NULL)
        (void)snprintf(ret, cap, "%s", found);
    return found != NULL;
}

uint32_t gcd_ipc_connections(uint32_t pid, const char *socket_path)
{
    return gcd_connections_read("/proc", pid, socket_path);
}
