/*
 * Finds the container of a process in the names of its cgroups, without asking the engine.
 *
 * All engines end the name of a container's cgroup with its id, 64 hexadecimal digits:
 * /docker/ID and /kubepods/burstable/podUID/ID, docker-ID.scope, libpod-ID.scope, crio-ID.scope,
 * cri-containerd-ID.scope, and kubepods-podUID.slice:cri-containerd:ID.  What follows it was made
 * inside (init.scope).  A monitor of the engine has a cgroup with the same id, but is outside.
 */
#include "ipc/process/ipc_container.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gcdumpc/ipc.h>

#include "ipc/process/ipc_procfs.h"

#define ID_DIGITS (GCD_CONTAINER_ID_MAX - 1)
/* A dozen hierarchies with names of at most 4096 bytes; the first that names an id is enough. */
#define CGROUP_BYTES 16384

static size_t hex_digits(const char *s, size_t n)
{
    size_t digits = 0;
    while (digits < n &&
           ((s[digits] >= '0' && s[digits] <= '9') || (s[digits] >= 'a' && s[digits] <= 'f')))
        digits++;
    return digits;
}

static bool contains(const char *s, size_t n, const char *word)
{
    size_t w = strlen(word);
    for (size_t i = 0; i + w <= n; i++)
        if (memcmp(s + i, word, w) == 0)
            return true;
    return false;
}

/* Copies the id in the part S[N] of a cgroup's name; false when there is none. */
static bool id_of(const char *s, size_t n, char *ret)
{
    static const char scope[] = ".scope";
    size_t n_scope = sizeof scope - 1;
    if (n > n_scope && memcmp(s + n - n_scope, scope, n_scope) == 0)
        n -= n_scope;
    if (n < ID_DIGITS)
        return false;
    const char *id = s + n - ID_DIGITS;
    if (hex_digits(id, ID_DIGITS) != ID_DIGITS || (id > s && id[-1] != '-' && id[-1] != ':') ||
        contains(s, (size_t)(id - s), "conmon"))
        return false;
    memcpy(ret, id, ID_DIGITS);
    ret[ID_DIGITS] = '\0';
    return true;
}

void gcd_container_find(const char *proc, uint32_t pid, char *ret)
{
    char path[GCD_IPC_PATH_MAX], text[CGROUP_BYTES], *save = NULL;
    ret[0] = '\0';
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/cgroup", proc, pid);
    if (n < 0 || (size_t)n >= sizeof path || gcd_procfs_small(path, text, sizeof text) != 0)
        return;
    /* "NUMBER:CONTROLLERS:NAME" */
    for (char *line = strtok_r(text, "\n", &save); line != NULL && ret[0] == '\0';
         line = strtok_r(NULL, "\n", &save)) {
        const char *p = strchr(line, '/');
        while (p != NULL && *p == '/') {
            size_t part = strcspn(++p, "/");
            (void)id_of(p, part, ret);
            p += part;
        }
    }
}
