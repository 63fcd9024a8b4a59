/*
 * Calculates how much memory a process has, and how much more it can get: the limits of its cgroup
 * and of every enclosing cgroup, and the memory of the machine.
 *
 * The kernel shows cgroup names and the roots of their mounts relative to the reader's cgroup
 * namespace.  So a name minus the root of a mount is the folder below that mount.  This also holds
 * for a process in another container, whose name begins with "/..": there the mount in its own
 * namespace, below /proc/PID/root, matches.
 */
#include "ipc/process/ipc_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <gcdumpc/unstable/ipc_target.h>

#include "base/safe_open.h"
#include "ipc/process/ipc_procfs.h"

/* Version 1 writes no "max" but the largest number of pages. */
#define UNLIMITED (UINT64_C(1) << 62)

/* A line of mountinfo or cgroup; longer lines are not about cgroups. */
#define LINE_BYTES 8192

enum version { V1, V2 };

static const struct files {
    const char *limits[2];
    const char *usage;
    /* in memory.stat: file pages that the kernel drops before it refuses anything */
    const char *reclaimable;
} files[] = {
    [V1] = { { "memory.limit_in_bytes", NULL }, "memory.usage_in_bytes", "total_inactive_file" },
    [V2] = { { "memory.max", "memory.high" }, "memory.current", "inactive_file" },
};

/* Is WORD in LIST, which is separated by commas? */
static bool has_word(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p != NULL; p = strchr(p, ',')) {
        if (*p == ',')
            p++;
        if (strncmp(p, word, n) == 0 && (p[n] == ',' || p[n] == '\0'))
            return true;
    }
    return false;
}

/* Decodes \040 and the like, see proc(5). */
static void unescape(char *s)
{
    char *to = s;
    for (; *s != '\0'; to++) {
        bool octal = s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' &&
                     s[3] >= '0' && s[3] <= '7';
        *to = *s;
        if (octal)
            *to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
        s += octal ? 4 : 1;
    }
    *to = '\0';
}

/* "36 32 0:33 ROOT POINT OPTIONS [OPTIONAL...] - TYPE SOURCE OPTIONS": a hierarchy of VERSION that
 * limits memory? */
static bool parse_mount(char *line, enum version version, char **ret_root, char **ret_point)
{
    char *save = NULL, *behind = strstr(line, " - ");
    if (behind == NULL)
        return false;
    *behind = '\0';
    char *type = strtok_r(behind + 3, " \n", &save);
    (void)strtok_r(NULL, " \n", &save);
    char *options = strtok_r(NULL, " \n", &save);
    bool fits = type != NULL && (version == V2 ? strcmp(type, "cgroup2") == 0
                                               : strcmp(type, "cgroup") == 0 && options != NULL &&
                                                     has_word(options, "memory"));
    if (!fits)
        return false;
    char *field = strtok_r(line, " ", &save);
    for (int i = 0; i < 3 && field != NULL; i++)
        field = strtok_r(NULL, " ", &save);
    *ret_root = field;
    *ret_point = field != NULL ? strtok_r(NULL, " ", &save) : NULL;
    if (*ret_point == NULL)
        return false;
    unescape(*ret_root);
    unescape(*ret_point);
    return true;
}

/* The part of NAME after ROOT, "" or beginning with a slash; NULL when NAME is not below ROOT. */
static const char *below(const char *name, const char *root)
{
    size_t n = strcmp(root, "/") == 0 ? 0 : strlen(root);
    if (strncmp(name, root, n) != 0 || (name[n] != '\0' && name[n] != '/'))
        return NULL;
    const char *rest = name + n;
    for (const char *p = rest; (p = strstr(p, "/..")) != NULL; p += 3)
        if (p[3] == '\0' || p[3] == '/')
            return NULL; /* the mount does not show it */
    return strcmp(rest, "/") == 0 ? "" : rest;
}

/* Reads a number, UINT64_MAX for "max".  False when the file has none. */
static bool read_number(const char *folder, const char *name, uint64_t *ret)
{
    char path[GCD_IPC_PATH_MAX], text[64], *end;
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof path || gcd_procfs_small(path, text, sizeof text) != 0)
        return false;
    if (strcmp(text, "max\n") == 0) {
        *ret = UINT64_MAX;
        return true;
    }
    errno = 0;
    *ret = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && errno == 0 && (*end == '\n' || *end == '\0');
}

/* The number after KEY at the beginning of a line; 0 when there is none. */
static uint64_t read_key(const char *folder, const char *name, const char *key)
{
    char path[GCD_IPC_PATH_MAX], text[LINE_BYTES];
    size_t k = strlen(key);
    int n = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (n < 0 || (size_t)n >= sizeof path || gcd_procfs_small(path, text, sizeof text) != 0)
        return 0;
    for (const char *p = text; p != NULL; p = strchr(p, '\n')) {
        p += *p == '\n';
        if (strncmp(p, key, k) == 0 && (p[k] == ' ' || p[k] == ':')) {
            p += k + 1;
            p += strspn(p, " \t");
            return *p >= '0' && *p <= '9' ? strtoull(p, NULL, 10) : 0;
        }
    }
    return 0;
}

/* How much a cgroup can still grow; UINT64_MAX without a limit. */
struct room {
    uint64_t bytes, limit, used;
};

static const struct room NO_LIMIT = { .bytes = UINT64_MAX };

static struct room least(struct room a, struct room b)
{
    return b.bytes < a.bytes ? b : a;
}

static struct room room_in(const char *folder, const struct files *f)
{
    uint64_t limit = UINT64_MAX, usage;
    for (size_t i = 0; i < 2 && f->limits[i] != NULL; i++) {
        uint64_t n;
        if (read_number(folder, f->limits[i], &n) && n < limit)
            limit = n;
    }
    if (limit >= UNLIMITED || !read_number(folder, f->usage, &usage))
        return NO_LIMIT;
    uint64_t reclaimable = read_key(folder, "memory.stat", f->reclaimable);
    usage -= reclaimable < usage ? reclaimable : usage;
    return (
        struct room){ .bytes = limit > usage ? limit - usage : 0, .limit = limit, .used = usage };
}

struct folder {
    char path[GCD_IPC_PATH_MAX];
    size_t top; /* length of the mount's part of the path */
};

/* The smallest room of FOLDER and its parents, up to the top of the mount. */
static struct room room_up_from(struct folder *folder, const struct files *f)
{
    struct room room = NO_LIMIT;
    for (;;) {
        room = least(room, room_in(folder->path, f));
        char *slash = strrchr(folder->path, '/');
        if (slash == NULL || (size_t)(slash - folder->path) < folder->top)
            return room;
        *slash = '\0';
    }
}

static bool can_be_read(const char *folder)
{
    int fd = gcd_safe_open(folder, O_RDONLY | O_DIRECTORY, NULL);
    if (fd >= 0)
        (void)close(fd);
    return fd >= 0;
}

/* Finds the folder of cgroup NAME as we see it, using PROC/WHOSE/mountinfo; INSIDE: below the root
 * folder of that process. */
static bool find_folder(const char *proc, const char *whose, bool inside, enum version version,
                        const char *name, struct folder *ret)
{
    char path[GCD_IPC_PATH_MAX], line[LINE_BYTES], *root, *point;
    int n = snprintf(path, sizeof path, "%s/%s/mountinfo", proc, whose);
    FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
    bool found = false;
    (void)snprintf(path, sizeof path, "%s/%s/root", proc, whose);
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL) {
        const char *rest = parse_mount(line, version, &root, &point) ? below(name, root) : NULL;
        if (rest == NULL)
            continue;
        n = snprintf(ret->path, sizeof ret->path, "%s%s%s", inside ? path : "", point, rest);
        ret->top = (size_t)n - strlen(rest);
        found = n >= 0 && (size_t)n < sizeof ret->path && can_be_read(ret->path);
    }
    if (f != NULL)
        (void)fclose(f);
    return found;
}

static struct room room_of_hierarchy(const char *proc, uint32_t pid, enum version version,
                                     const char *name)
{
    struct folder folder;
    char whose[16];
    (void)snprintf(whose, sizeof whose, "%" PRIu32, pid);
    if (find_folder(proc, "self", false, version, name, &folder) ||
        find_folder(proc, whose, true, version, name, &folder))
        return room_up_from(&folder, &files[version]);
    return NO_LIMIT;
}

/* Lines "NUMBER:CONTROLLERS:NAME"; the version 2 hierarchy has number 0 and names no controllers.
 */
static struct room room_of_cgroups(const char *proc, uint32_t pid)
{
    char path[GCD_IPC_PATH_MAX], line[LINE_BYTES];
    struct room room = NO_LIMIT;
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/cgroup", proc, pid);
    FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'),
             *name = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (name == NULL)
            continue;
        *controllers++ = '\0';
        *name++ = '\0';
        struct room here = NO_LIMIT;
        if (strcmp(line, "0") == 0 && controllers[0] == '\0')
            here = room_of_hierarchy(proc, pid, V2, name);
        else if (has_word(controllers, "memory"))
            here = room_of_hierarchy(proc, pid, V1, name);
        room = least(room, here);
    }
    if (f != NULL)
        (void)fclose(f);
    return room;
}

/* 0 if the value is missing or invalid. */
static uint64_t meminfo_bytes(const char *proc, const char *key)
{
    uint64_t kib = read_key(proc, "meminfo", key);
    return kib < UINT64_MAX / 2048 ? kib * 1024 : 0;
}

void gcd_memory_read(const char *proc, uint32_t pid, struct gcd_ipc_memory *ret)
{
    struct gcd_procfs_facts facts;
    *ret = (struct gcd_ipc_memory){ .room_bytes = UINT64_MAX };
    uint64_t available = meminfo_bytes(proc, "MemAvailable");
    if (available > 0) {
        ret->room_bytes = available;
        ret->limit = GCD_IPC_LIMIT_MACHINE;
    }
    ret->machine_bytes = meminfo_bytes(proc, "MemTotal") + meminfo_bytes(proc, "SwapTotal");
    if (pid == 0)
        return;
    if (gcd_procfs_facts(proc, pid, &facts)) {
        ret->rss_bytes = facts.rss_bytes;
        ret->away_bytes = facts.away_bytes;
    }
    struct room room = room_of_cgroups(proc, pid);
    ret->cgroup_limit_bytes = room.limit;
    ret->cgroup_used_bytes = room.used;
    if (room.bytes < ret->room_bytes) {
        ret->room_bytes = room.bytes;
        ret->limit = GCD_IPC_LIMIT_CGROUP;
    }
}

void gcd_ipc_memory(uint32_t pid, struct gcd_ipc_memory *ret)
{
    gcd_memory_read("/proc", pid, ret);
}

uint64_t gcd_ipc_resident(uint32_t pid)
{
    struct gcd_procfs_facts facts;
    return gcd_procfs_facts("/proc", pid, &facts) ? facts.rss_bytes : 0;
}

bool gcd_ipc_stopped(uint32_t pid)
{
    struct gcd_procfs_facts facts;
    return gcd_procfs_facts("/proc", pid, &facts) && facts.stopped;
}

bool gcd_ipc_server_gc(uint32_t pid)
{
    /* the runtime's name for them, .NET 5 to 10 */
    return gcd_procfs_has_thread("/proc", pid, ".NET Server GC");
}
