/*
 * Counts the connections to a diagnostic socket, and finds who listens.  An accepted connection
 * carries the name of the listening socket, and PROC/PID/net/unix shows all sockets in the network
 * namespace of the process to everybody.
 */
#include "ipc/process/ipc_connections.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <gcdumpc/ipc.h>
#include <gcdumpc/unstable/ipc_target.h>

#include "base/mem.h"
#include "base/safe_open.h"
#include "ipc/process/ipc_discover.h"

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

/* ---- who listens ---- */

struct path {
    uint32_t pid; /* in its name */
    char text[LINE_BYTES - 54];
};

/* One network namespace: the kernel has an own net/unix for each. */
struct gcd_listeners_there {
    dev_t dev;
    ino_t ino;
    struct path *items; /* [count], one path several times */
    size_t count, room;
};

void gcd_listeners_done(struct gcd_listeners *l)
{
    for (size_t i = 0; i < l->count; i++)
        gcd_mem_free(&l->alloc, l->items[i].items, l->items[i].room * sizeof *l->items[i].items);
    gcd_mem_free(&l->alloc, l->items, l->room * sizeof *l->items);
    *l = (struct gcd_listeners){ .alloc = l->alloc };
}

static bool read_there(struct gcd_listeners *l, struct gcd_listeners_there *t, FILE *f)
{
    char line[LINE_BYTES];
    while (fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        const char *slash = strrchr(line, '/'),
                   *path = slash != NULL && gcd_discover_pid_of(slash + 1) != 0
                               ? path_in(line, LISTENING, slash + 1)
                               : NULL;
        if (path == NULL)
            continue;
        if (!gcd_vec_reserve(&l->alloc, &t->items, &t->room, t->count + 1, sizeof *t->items,
                             SIZE_MAX / sizeof *t->items))
            return false;
        t->items[t->count].pid = gcd_discover_pid_of(slash + 1);
        (void)snprintf(t->items[t->count++].text, sizeof t->items->text, "%s", path);
    }
    return true;
}

/* The listeners that PATH, a net/unix, shows; NULL when unknown. */
static const struct gcd_listeners_there *find_there(struct gcd_listeners *l, const char *path)
{
    struct stat sb;
    FILE *f = fopen(path, "re");
    struct gcd_listeners_there *there = NULL;
    bool known = f != NULL && fstat(fileno(f), &sb) == 0;
    for (size_t i = 0; known && i < l->count && there == NULL; i++)
        if (l->items[i].dev == sb.st_dev && l->items[i].ino == sb.st_ino)
            there = &l->items[i];
    if (known && there == NULL &&
        gcd_vec_reserve(&l->alloc, &l->items, &l->room, l->count + 1, sizeof *l->items,
                        SIZE_MAX / sizeof *l->items)) {
        there = &l->items[l->count++];
        *there = (struct gcd_listeners_there){ .dev = sb.st_dev, .ino = sb.st_ino };
        /* The kernel may skip lines while other sockets come and go. */
        for (int i = 0; i < READINGS && read_there(l, there, f); i++)
            rewind(f);
    }
    if (f != NULL)
        (void)fclose(f);
    return there;
}

static const struct gcd_listeners_there *there_of(struct gcd_listeners *l, const char *proc,
                                                  uint32_t pid)
{
    char path[64];
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/net/unix", proc, pid);
    return n > 0 && (size_t)n < sizeof path ? find_there(l, path) : NULL;
}

bool gcd_listeners_may_have(struct gcd_listeners *l, const char *proc, uint32_t pid,
                            uint32_t inner_pid)
{
    const struct gcd_listeners_there *there = there_of(l, proc, pid);
    bool found = there == NULL;
    for (size_t i = 0; !found && i < there->count; i++)
        found = there->items[i].pid == inner_pid;
    return found;
}

bool gcd_listeners_have(struct gcd_listeners *l, const char *proc, uint32_t pid, const char *name,
                        char *ret, size_t cap)
{
    const struct gcd_listeners_there *there = there_of(l, proc, pid);
    for (size_t i = 0; there != NULL && i < there->count; i++)
        if (strcmp(gcd_path_name(there->items[i].text), name) == 0) {
            (void)snprintf(ret, cap, "%s", there->items[i].text);
            return true;
        }
    return false;
}

uint32_t gcd_ipc_connections(uint32_t pid, const char *socket_path)
{
    return gcd_connections_read("/proc", pid, socket_path);
}
