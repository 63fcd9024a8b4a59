/*
 * Finds the cgroup that limits the memory of a process most, through every mount that shows it.
 *
 * The kernel shows cgroup names and the roots of their mounts relative to the reader's cgroup
 * namespace.  So a name minus the root of a mount is the folder below that mount.  This also holds
 * for a process in another container, whose name begins with "/..": there the mount in its own
 * namespace, below /proc/PID/root, matches.
 */
#include "ipc/process/ipc_cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/safe_open.h"
#include "ipc/process/ipc_procfs.h"

/* Version 1 writes no "max" but the largest number of pages. */
#define UNLIMITED (UINT64_C(1) << 62)

/* A line of mountinfo or cgroup; longer lines are not about cgroups. */
#define LINE_BYTES 8192

static const struct files {
    const char *limits[2];
    const char *usage;
    /* in memory.stat: file pages that the kernel drops before it refuses anything */
    const char *reclaimable;
} files[] = {
    [GCD_CGROUP_1] = { { "memory.limit_in_bytes", NULL },
                       "memory.usage_in_bytes",
                       "total_inactive_file" },
    [GCD_CGROUP_2] = { { "memory.max", "memory.high" }, "memory.current", "inactive_file" },
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
static bool parse_mount(char *line, enum gcd_cgroup_version version, char **ret_root,
                        char **ret_point)
{
    char *save = NULL, *behind = strstr(line, " - ");
    if (behind == NULL)
        return false;
    *behind = '\0';
    char *type = strtok_r(behind + 3, " \n", &save);
    (void)strtok_r(NULL, " \n", &save);
    char *options = strtok_r(NULL, " \n", &save);
    bool fits =
        type != NULL && (version == GCD_CGROUP_2 ? strcmp(type, "cgroup2") == 0
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

void gcd_cgroup_read(struct gcd_cgroup *c)
{
    const struct files *f = &files[c->version];
    uint64_t limit = UINT64_MAX, usage;
    c->room_bytes = UINT64_MAX;
    c->limit_bytes = c->used_bytes = c->usage_bytes = 0;
    for (size_t i = 0; i < 2 && f->limits[i] != NULL && c->folder[0] != '\0'; i++) {
        uint64_t n;
        if (read_number(c->folder, f->limits[i], &n) && n < limit)
            limit = n;
    }
    if (limit >= UNLIMITED || !read_number(c->folder, f->usage, &usage))
        return;
    uint64_t reclaimable = gcd_procfs_key(c->folder, "memory.stat", f->reclaimable);
    c->limit_bytes = limit;
    c->usage_bytes = usage;
    c->used_bytes = usage - (reclaimable < usage ? reclaimable : usage);
    c->room_bytes = limit > c->used_bytes ? limit - c->used_bytes : 0;
}

struct folder {
    char path[GCD_IPC_PATH_MAX];
    size_t top; /* length of the mount's part of the path */
};

/* Moves to RET the cgroup with the smallest room: FOLDER, or one of its parents up to the top of
 * the mount; RET keeps what has less room already. */
static void least_up_from(struct folder *folder, enum gcd_cgroup_version version,
                          struct gcd_cgroup *ret)
{
    for (;;) {
        struct gcd_cgroup here = { .version = version };
        memcpy(here.folder, folder->path, strlen(folder->path) + 1);
        gcd_cgroup_read(&here);
        if (here.room_bytes < ret->room_bytes) {
            memcpy(here.pressure, ret->pressure, sizeof here.pressure);
            *ret = here;
        }
        char *slash = strrchr(folder->path, '/');
        if (slash == NULL || (size_t)(slash - folder->path) < folder->top)
            return;
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
static bool find_folder(const char *proc, const char *whose, bool inside,
                        enum gcd_cgroup_version version, const char *name, struct folder *ret)
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

static void look_in_hierarchy(const char *proc, uint32_t pid, enum gcd_cgroup_version version,
                              const char *name, struct gcd_cgroup *ret)
{
    struct folder folder;
    char whose[16];
    (void)snprintf(whose, sizeof whose, "%" PRIu32, pid);
    if (!find_folder(proc, "self", false, version, name, &folder) &&
        !find_folder(proc, whose, true, version, name, &folder))
        return;
    if (version == GCD_CGROUP_2)
        memcpy(ret->pressure, folder.path, strlen(folder.path) + 1);
    least_up_from(&folder, version, ret);
}

/* Lines "NUMBER:CONTROLLERS:NAME"; the version 2 hierarchy has number 0 and names no controllers.
 */
void gcd_cgroup_find(const char *proc, uint32_t pid, struct gcd_cgroup *ret)
{
    char path[GCD_IPC_PATH_MAX], line[LINE_BYTES];
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/cgroup", proc, pid);
    FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;
    *ret = (struct gcd_cgroup){ .room_bytes = UINT64_MAX };
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'),
             *name = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
        if (name == NULL)
            continue;
        *controllers++ = '\0';
        *name++ = '\0';
        if (strcmp(line, "0") == 0 && controllers[0] == '\0')
            look_in_hierarchy(proc, pid, GCD_CGROUP_2, name, ret);
        else if (has_word(controllers, "memory"))
            look_in_hierarchy(proc, pid, GCD_CGROUP_1, name, ret);
    }
    if (f != NULL)
        (void)fclose(f);
}
