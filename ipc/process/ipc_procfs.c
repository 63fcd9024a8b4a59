#include "ipc/process/ipc_procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/safe_open.h"
#include "ipc/process/ipc_program.h"

/* A small file of keys, such as meminfo; more is not read. */
#define KEYS_BYTES 8192
/* The files stat and status. */
#define STAT_BYTES 8192
/* real, effective, saved, file system */
#define UID_LINE "%*u %" SCNu32 " %" SCNu32

/* A descriptor or a negated errno.  The file may be a pipe that somebody put there. */
static int open_path(const char *path)
{
    return gcd_safe_open(path, O_RDONLY | O_NONBLOCK, NULL);
}

static int open_file(const char *proc, uint32_t pid, const char *name)
{
    char path[GCD_IPC_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/%s", proc, pid, name);
    if (n < 0 || (size_t)n >= sizeof path)
        return -ENAMETOOLONG;
    return open_path(path);
}

/* Bytes read, 0 at the end, or a negated errno. */
static ssize_t read_some(int fd, char *buf, size_t cap)
{
    ssize_t n;
    do {
        n = read(fd, buf, cap);
    } while (n < 0 && errno == EINTR);
    return n < 0 ? -errno : n;
}

static int read_string(int fd, char *buf, size_t cap)
{
    if (fd < 0)
        return fd;
    size_t n = 0;
    ssize_t r = 1;
    while (r > 0 && n < cap - 1) {
        r = read_some(fd, buf + n, cap - 1 - n);
        if (r > 0)
            n += (size_t)r;
    }
    (void)close(fd);
    buf[n] = '\0';
    return r < 0 ? (int)r : 0;
}

static int read_small(const char *proc, uint32_t pid, const char *name, char *buf, size_t cap)
{
    return read_string(open_file(proc, pid, name), buf, cap);
}

int gcd_procfs_small(const char *path, char *buf, size_t cap)
{
    return read_string(open_path(path), buf, cap);
}

uint64_t gcd_procfs_key(const char *folder, const char *name, const char *key)
{
    char path[GCD_IPC_PATH_MAX], text[KEYS_BYTES];
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

/* "pid (comm) state ppid ...": the name may contain anything, so fields are counted after the last
 * ')'. */
static bool parse_stat(const char *stat, char *ret_state, uint64_t *ret_start)
{
    const char *p = strrchr(stat, ')');
    if (p == NULL || p[1] != ' ' || p[2] == '\0')
        return false;
    p += 2;
    *ret_state = *p;
    /* proc(5): 3 is the state, 22 the start time in jiffies */
    for (int field = 3; field < 22; field++) {
        p = strchr(p, ' ');
        if (p == NULL)
            return false;
        p++;
    }
    if (*p < '0' || *p > '9')
        return false;
    errno = 0;
    *ret_start = strtoull(p, NULL, 10);
    return errno == 0;
}

/* The text after the colon in the line "KEY:\t..." of a status file; NULL when there is none. */
static const char *status_line(const char *status, const char *key)
{
    size_t n = strlen(key);
    for (const char *p = status; p != NULL; p = strchr(p, '\n')) {
        if (*p == '\n')
            p++;
        if (strncmp(p, key, n) == 0 && p[n] == ':')
            return p + n + 1;
    }
    return NULL;
}

/* The count of numbers in a status line, and the last one. */
static unsigned status_numbers(const char *line, uint32_t *ret_last)
{
    unsigned count = 0;
    for (;;) {
        while (*line == ' ' || *line == '\t')
            line++;
        if (*line < '0' || *line > '9')
            return count;
        char *after;
        unsigned long v = strtoul(line, &after, 10);
        if (v > UINT32_MAX)
            return 0;
        *ret_last = (uint32_t)v;
        count++;
        line = after;
    }
}

/* A value in kB from a status file; 0 when it is missing. */
static uint64_t status_bytes(const char *status, const char *key)
{
    uint32_t kib = 0;
    const char *line = status_line(status, key);
    return line != NULL && status_numbers(line, &kib) == 1 ? (uint64_t)kib * 1024 : 0;
}

/* An environment has NAME=VALUE strings, each with its NUL; the first one counts, as with getenv.
 * The file may have megabytes, so it is read in pieces. */
bool gcd_procfs_variable(const char *proc, uint32_t pid, const char *name, char *ret, size_t cap)
{
    char want[64];
    ret[0] = '\0';
    const size_t want_bytes = (size_t)snprintf(want, sizeof want, "%.60s=", name);
    int fd = open_file(proc, pid, "environ");
    if (fd < 0)
        return false;
    char buf[4096];
    size_t in_name = 0; /* matched bytes of the name; want_bytes: inside the value */
    bool skip = false;  /* inside another variable */
    bool found = false;
    size_t n_value = 0;
    ssize_t n;
    while (!found && (n = read_some(fd, buf, sizeof buf)) > 0) {
        for (ssize_t i = 0; i < n && !found; i++) {
            char ch = buf[i];
            if (ch == '\0') {
                found = in_name == want_bytes && !skip;
                if (!found)
                    n_value = 0;
                in_name = 0;
                skip = false;
            } else if (!skip && in_name < want_bytes) {
                skip = ch != want[in_name];
                in_name++;
            } else if (!skip) {
                if (n_value + 1 == cap) /* no directory has a name this long */
                    skip = true;
                else
                    ret[n_value++] = ch;
            }
        }
    }
    if (!found && n >= 0 && in_name == want_bytes && !skip)
        found = true; /* the last string has lost its NUL */
    ret[found ? n_value : 0] = '\0';
    (void)close(fd);
    return found || n >= 0;
}

/* R: what reading the file stat, TEXT, gave. */
static gcd_status start_of(const char *proc, uint32_t pid, int r, const char *text,
                           uint64_t *ret_jiffies, struct gcd_error *err)
{
    char state = '\0';
    if (r == -ENOENT || r == -ESRCH)
        return gcd_because(err, GCD_ERROR_NO_PROCESS,
                           gcd_fail(err, GCD_E_NOT_FOUND, "there is no process %" PRIu32, pid));
    if (r != 0)
        return gcd_because(
            err, r == -EACCES || r == -EPERM ? GCD_ERROR_PERMISSION : GCD_ERROR_OTHER,
            gcd_fail_os(err, -r, "cannot inspect process %" PRIu32 " in %s", pid, proc));
    if (!parse_stat(text, &state, ret_jiffies))
        return gcd_fail(err, GCD_E_FORMAT, "cannot read %s/%" PRIu32 "/stat: no start time in it",
                        proc, pid);
    if (state == 'Z' || state == 'X')
        return gcd_because(err, GCD_ERROR_NO_PROCESS,
                           gcd_fail(err, GCD_E_NOT_FOUND, "process %" PRIu32 " is a zombie", pid));
    return GCD_OK;
}

gcd_status gcd_procfs_start(const char *proc, uint32_t pid, uint64_t *ret_jiffies,
                            struct gcd_error *err)
{
    char text[STAT_BYTES];
    int r = read_small(proc, pid, "stat", text, sizeof text);
    return start_of(proc, pid, r, text, ret_jiffies, err);
}

/* The rest of RET, whose start is known.  TEXT: the file status, NULL if it cannot be read. */
static gcd_status target_of(const char *proc, uint32_t pid, const char *text,
                            struct gcd_procfs_target *ret, struct gcd_error *err)
{
    uint32_t inner = pid;
    unsigned n_ns = 1;
    ret->uids_known = false;
    if (text != NULL) {
        /* /proc/TID exists for every thread, although the directory does not list it. */
        uint32_t tgid = pid;
        const char *line = status_line(text, "Tgid");
        if (line != NULL && status_numbers(line, &tgid) == 1 && tgid != pid)
            return gcd_because(err, GCD_ERROR_NO_PROCESS,
                               gcd_fail(err, GCD_E_NOT_FOUND,
                                        "%" PRIu32
                                        " is not a process but a thread of process %" PRIu32,
                                        pid, tgid));
        line = status_line(text, "Uid");
        ret->uids_known = line != NULL && sscanf(line, UID_LINE, &ret->uid, &ret->saved_uid) == 2;
        /* Outermost namespace first.  Missing before Linux 4.1. */
        line = status_line(text, "NSpid");
        if (line != NULL)
            n_ns = status_numbers(line, &inner);
        if (n_ns < 1) {
            n_ns = 1;
            inner = pid;
        }
    }
    ret->pid = pid;
    ret->inner_pid = inner;
    ret->nested = n_ns > 1;
    ret->env_known = gcd_procfs_variable(proc, pid, "TMPDIR", ret->tmpdir, sizeof ret->tmpdir);
    return GCD_OK;
}

gcd_status gcd_procfs_read(const char *proc, uint32_t pid, struct gcd_procfs_target *ret,
                           struct gcd_error *err)
{
    char text[STAT_BYTES];
    GCD_TRY(gcd_procfs_start(proc, pid, &ret->start_jiffies, err));
    bool known = read_small(proc, pid, "status", text, sizeof text) == 0;
    return target_of(proc, pid, known ? text : NULL, ret, err);
}

/* ---- for lists ---- */

#define PF_KTHREAD       0x00200000ul /* linux/sched.h */
#define COMMAND_LINE_MAX ((size_t)1 << 20)

/* Field NUMBER (>= 3) of a stat file, proc(5); 0 when there is none. */
static uint64_t stat_field(const char *stat, int number)
{
    const char *p = strrchr(stat, ')');
    for (int field = 2; p != NULL && field < number; field++) {
        p = strchr(p, ' ');
        if (p != NULL)
            p++;
    }
    return p != NULL && *p >= '0' && *p <= '9' ? strtoull(p, NULL, 10) : 0;
}

static void copy_name(const char *stat, char *ret, size_t cap)
{
    const char *open_ = strchr(stat, '('), *close_ = strrchr(stat, ')');
    size_t n = open_ != NULL && close_ != NULL && close_ > open_ ? (size_t)(close_ - open_ - 1) : 0;
    if (n >= cap)
        n = cap - 1;
    if (n > 0)
        memcpy(ret, open_ + 1, n);
    ret[n] = '\0';
}

static void read_exe(const char *proc, uint32_t pid, char *ret, size_t cap)
{
    static const char deleted[] = " (deleted)";
    enum { DELETED_BYTES = sizeof deleted - 1 };
    char path[GCD_IPC_PATH_MAX], target[GCD_IPC_PATH_MAX];
    ret[0] = '\0';
    int n_path = snprintf(path, sizeof path, "%s/%" PRIu32 "/exe", proc, pid);
    if (n_path < 0 || (size_t)n_path >= sizeof path)
        return;
    ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0)
        return;
    target[n] = '\0';
    if (n > DELETED_BYTES && strcmp(target + n - DELETED_BYTES, deleted) == 0)
        target[n - DELETED_BYTES] = '\0';
    const char *base = gcd_path_name(target);
    if (strlen(base) < cap)
        memcpy(ret, base, strlen(base) + 1);
}

bool gcd_procfs_exists(const char *proc, uint32_t pid)
{
    char path[GCD_IPC_PATH_MAX];
    int n = snprintf(path, sizeof path, "%s/%" PRIu32, proc, pid);
    return n < 0 || (size_t)n >= sizeof path || access(path, F_OK) == 0 || errno != ENOENT;
}

/* The facts in the file stat, TEXT. */
static void facts_of_stat(const char *text, struct gcd_procfs_facts *ret)
{
    *ret = (struct gcd_procfs_facts){ .uid = UINT32_MAX };
    ret->kernel = (stat_field(text, 9) & PF_KTHREAD) != 0;
    char state = '\0';
    if (parse_stat(text, &state, &ret->start_jiffies))
        ret->stopped = state == 'T' || state == 't';
    copy_name(text, ret->name, sizeof ret->name);
}

/* The facts in the file status, TEXT. */
static void facts_of_status(const char *text, struct gcd_procfs_facts *ret)
{
    uint32_t saved;
    const char *line = status_line(text, "Uid");
    if (line != NULL && sscanf(line, UID_LINE, &ret->uid, &saved) != 2)
        ret->uid = UINT32_MAX;
    ret->rss_bytes = status_bytes(text, "VmRSS");
    ret->anonymous_bytes = status_bytes(text, "RssAnon");
    ret->file_bytes = status_bytes(text, "RssFile");
    ret->shared_bytes = status_bytes(text, "RssShmem");
    ret->swapped_bytes = status_bytes(text, "VmSwap");
    ret->away_bytes = ret->swapped_bytes + status_bytes(text, "HugetlbPages");
}

bool gcd_procfs_facts(const char *proc, uint32_t pid, struct gcd_procfs_facts *ret)
{
    char text[STAT_BYTES];
    *ret = (struct gcd_procfs_facts){ .uid = UINT32_MAX };
    if (read_small(proc, pid, "stat", text, sizeof text) != 0)
        return false;
    facts_of_stat(text, ret);
    if (read_small(proc, pid, "status", text, sizeof text) == 0)
        facts_of_status(text, ret);
    read_exe(proc, pid, ret->exe, sizeof ret->exe);
    return true;
}

bool gcd_procfs_both(const char *proc, uint32_t pid, struct gcd_procfs_facts *ret_facts,
                     struct gcd_procfs_target *ret_target)
{
    char text[STAT_BYTES];
    int r = read_small(proc, pid, "stat", text, sizeof text);
    if (r != 0)
        return false;
    facts_of_stat(text, ret_facts);
    if (ret_facts->kernel ||
        start_of(proc, pid, r, text, &ret_target->start_jiffies, NULL) != GCD_OK)
        return false;
    bool known = read_small(proc, pid, "status", text, sizeof text) == 0;
    if (known)
        facts_of_status(text, ret_facts);
    if (target_of(proc, pid, known ? text : NULL, ret_target, NULL) != GCD_OK)
        return false;
    read_exe(proc, pid, ret_facts->exe, sizeof ret_facts->exe);
    return true;
}

char *gcd_procfs_command_line(const char *proc, uint32_t pid, size_t *ret_cap)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    char *text = NULL;
    size_t n = 0, cap = 0;
    ssize_t r = 0;
    int fd = open_file(proc, pid, "cmdline");
    do {
        if (!gcd_vec_reserve(&alloc, &text, &cap, n + 4096, 1, COMMAND_LINE_MAX)) {
            if (n > 0) /* a missing rest is not worth a failure */
                break;
            if (fd >= 0)
                (void)close(fd);
            return NULL;
        }
        r = fd < 0 ? 0 : read_some(fd, text + n, cap - 1 - n);
        if (r > 0)
            n += (size_t)r;
    } while (r > 0);
    if (fd >= 0)
        (void)close(fd);
    /* A process may write anything here: NULs at the end are not arguments. */
    while (n > 0 && text[n - 1] == '\0')
        n--;
    for (size_t i = 0; i < n; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[n] = '\0';
    *ret_cap = cap;
    return text;
}

/* The threads of the runtime come first: it starts them before the program. */
#define THREADS_MAX     1000u
#define DESCRIPTORS_MAX 4096u

/* Bit I: one of the first threads is called NAMES[I] (NULL: only the first is looked for), but once
 * it is known of NAMES[0], the other is not looked for. */
static unsigned threads_called(const char *proc, uint32_t pid, const char *const names[2])
{
    char path[GCD_IPC_PATH_MAX], file[64], text[64];
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/task", proc, pid);
    DIR *dir = n > 0 && (size_t)n < sizeof path ? opendir(path) : NULL;
    unsigned found = 0;
    struct dirent *e;
    for (unsigned i = 0;
         dir != NULL && (found & 1) == 0 && i < THREADS_MAX && (e = readdir(dir)) != NULL; i++) {
        n = snprintf(file, sizeof file, "task/%.20s/comm", e->d_name);
        if (n < 0 || e->d_name[0] == '.' || read_small(proc, pid, file, text, sizeof text) != 0)
            continue;
        text[strcspn(text, "\n")] = '\0';
        for (unsigned k = 0; k < 2 && names[k] != NULL; k++)
            found |= (unsigned)(strcmp(text, names[k]) == 0) << k;
    }
    if (dir != NULL)
        (void)closedir(dir);
    return found;
}

bool gcd_procfs_has_thread(const char *proc, uint32_t pid, const char *name)
{
    return threads_called(proc, pid, (const char *const[]){ name, NULL }) != 0;
}

static bool has_mapping(const char *proc, uint32_t pid, const char *file)
{
    char line[GCD_IPC_PATH_MAX];
    int n = snprintf(line, sizeof line, "%s/%" PRIu32 "/maps", proc, pid);
    FILE *f = n > 0 && (size_t)n < sizeof line ? fopen(line, "re") : NULL;
    bool found = false;
    while (f != NULL && !found && fgets(line, sizeof line, f) != NULL)
        found = strstr(line, file) != NULL;
    if (f != NULL)
        (void)fclose(f);
    return found;
}

/* The runtimes to .NET 10 start a thread of their own kind first; .NET 11 has none that Native AOT
 * has not.  Its runtime is a library, or in a program that is one file, which exports what a
 * debugger of CoreCLR looks for. */
bool gcd_procfs_is_coreclr(const char *proc, uint32_t pid)
{
    static const char *const names[2] = { ".NET SynchManag", ".NET Finalizer" };
    unsigned found = threads_called(proc, pid, names);
    return (found & 1) != 0 ||
           (found != 0 && (has_mapping(proc, pid, "/libcoreclr.so") ||
                           gcd_program_exports(proc, pid, "DotNetRuntimeInfo")));
}

bool gcd_procfs_is_composite(const char *proc, uint32_t pid)
{
    return has_mapping(proc, pid, ".r2r.dll");
}

bool gcd_procfs_may_have_socket(const char *proc, uint32_t pid)
{
    char path[GCD_IPC_PATH_MAX], link[8];
    static const char socket[] = "socket:";
    int n = snprintf(path, sizeof path, "%s/%" PRIu32 "/fd", proc, pid);
    DIR *dir = n > 0 && (size_t)n < sizeof path ? opendir(path) : NULL;
    if (dir == NULL)
        return true;
    bool found = false;
    struct dirent *e;
    unsigned i = 0;
    for (; !found && i < DESCRIPTORS_MAX && (e = readdir(dir)) != NULL; i++)
        found = readlinkat(dirfd(dir), e->d_name, link, sizeof link) >= (ssize_t)strlen(socket) &&
                memcmp(link, socket, strlen(socket)) == 0;
    (void)closedir(dir);
    return found || i == DESCRIPTORS_MAX;
}

uint64_t gcd_procfs_now_ms(const char *proc)
{
    char path[GCD_IPC_PATH_MAX], text[128];
    int n = snprintf(path, sizeof path, "%s/uptime", proc);
    if (n < 0 || (size_t)n >= sizeof path)
        return 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t r = read_some(fd, text, sizeof text - 1);
    (void)close(fd);
    text[r > 0 ? r : 0] = '\0';
    uint64_t seconds = 0;
    unsigned hundredths = 0;
    if (sscanf(text, "%" SCNu64 ".%2u", &seconds, &hundredths) != 2 || seconds > UINT64_MAX / 2000)
        return 0;
    return seconds * 1000 + hundredths * 10;
}

uint64_t gcd_procfs_age_ms(uint64_t now_ms, uint64_t start_jiffies)
{
    long hz = sysconf(_SC_CLK_TCK);
    if (hz <= 0)
        return 0;
    uint64_t start_ms =
        start_jiffies / (uint64_t)hz * 1000 + start_jiffies % (uint64_t)hz * 1000 / (uint64_t)hz;
    return now_ms > start_ms ? now_ms - start_ms : 0;
}
