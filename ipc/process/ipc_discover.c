#include "ipc/process/ipc_discover.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/safe_open.h"
#include "base/sort.h"
#include "ipc/process/ipc_connections.h"
#include "ipc/process/ipc_procfs.h"
#include "ipc/wire/ipc_sock.h"

/* dotnet-diagnostic-PID-KEY-socket, and the name dsrouter uses for a device; KEY is the start time.
 */
static const char *const prefixes[] = { "dotnet-diagnostic-", "dotnet-diagnostic-dsrouter-" };
enum { N_PREFIXES = sizeof prefixes / sizeof prefixes[0], NAME_BYTES = 96 };

struct candidate {
    char name[NAME_BYTES];
    int64_t mtime_s;
    int64_t mtime_ns;
};

/* A name in a folder that a socket of process PID may have. */
struct name {
    uint64_t pid; /* first: gcd_count_up_to */
    char text[NAME_BYTES];
};

/* The names in a folder, which is read once for all processes. */
struct gcd_discover_folder {
    dev_t dev;
    ino_t ino;
    struct name *names; /* [count], by pid */
    size_t count, room;
};

/* A directory to search, and for which process. */
struct place {
    const char *proc;
    const struct gcd_procfs_target *target;
    struct gcd_discover_once *once;
    bool listed;                /* for a list: stale sockets are of no interest */
    char dir[GCD_IPC_PATH_MAX]; /* without a trailing slash */
    int dir_fd;                 /* the same directory, open */
    /* seen in any directory: the socket of this process belongs to another user */
    bool foreign;
    bool root_refused; /* its root folder may not be read */
};

/* ---- candidates ---- */

uint32_t gcd_discover_pid_of(const char *name)
{
    static const char digits[] = "0123456789";
    for (size_t i = N_PREFIXES; i-- > 0;) {
        size_t n = strlen(prefixes[i]);
        if (strncmp(name, prefixes[i], n) != 0 || name[n] < '1' || name[n] > '9')
            continue;
        char *after;
        unsigned long long pid = strtoull(name + n, &after, 10);
        size_t key = *after == '-' ? strspn(after + 1, digits) : 0;
        if (pid <= UINT32_MAX && key > 0 && strcmp(after + 1 + key, "-socket") == 0 &&
            strlen(name) < NAME_BYTES)
            return (uint32_t)pid;
    }
    return 0;
}

/* Is there a socket with this name?  0 or a negated errno (ENOENT also for other kinds of files,
 * including symbolic links). */
static int look(int dir_fd, const char *name, struct candidate *ret)
{
    struct stat sb;
    size_t n = strlen(name);
    if (n >= sizeof ret->name)
        return -ENOENT;
    if (fstatat(dir_fd, name, &sb, AT_SYMLINK_NOFOLLOW) != 0)
        return -errno;
    if (!S_ISSOCK(sb.st_mode))
        return -ENOENT;
    memcpy(ret->name, name, n + 1);
    ret->mtime_s = (int64_t)sb.st_mtim.tv_sec;
    ret->mtime_ns = (int64_t)sb.st_mtim.tv_nsec;
    return 0;
}

static int newest_first(const void *va, const void *vb)
{
    const struct candidate *a = va, *b = vb;
    if (a->mtime_s != b->mtime_s)
        return a->mtime_s < b->mtime_s ? 1 : -1;
    if (a->mtime_ns != b->mtime_ns)
        return a->mtime_ns < b->mtime_ns ? 1 : -1;
    return strcmp(a->name, b->name);
}

static gcd_status join(const char *dir, const char *name, char *ret_path, struct gcd_error *err)
{
    size_t n_dir = strlen(dir), n_name = strlen(name);
    if (n_dir + 1 + n_name >= GCD_IPC_PATH_MAX)
        return gcd_fail(err, GCD_E_ARG, "the path of the diagnostic socket is longer than %d bytes",
                        GCD_IPC_PATH_MAX - 1);
    memcpy(ret_path, dir, n_dir);
    ret_path[n_dir] = '/';
    memcpy(ret_path + n_dir + 1, name, n_name + 1);
    return GCD_OK;
}

static gcd_status not_ours(uint32_t pid, uid_t owner, struct gcd_error *err)
{
    return gcd_because(err, GCD_ERROR_PERMISSION,
                       gcd_fail_os(err, EACCES,
                                   "the diagnostic socket of process %" PRIu32
                                   " belongs to user %lu; only that user and root may use it",
                                   pid, (unsigned long)owner));
}

/*
 * Anybody can create a file with any name in /tmp, and root would trust it.  The owner must be the
 * user the process runs as, or ran as when it created the socket.
 */
static bool is_of_the_process(const struct gcd_procfs_target *t, uid_t owner)
{
    return !t->uids_known || owner == 0 || owner == t->uid || owner == t->saved_uid;
}

static gcd_status of_another(uint32_t pid, const char *path, const char *whose,
                             unsigned long number, struct gcd_error *err)
{
    return gcd_because(err, GCD_ERROR_NO_SOCKET,
                       gcd_fail(err, GCD_E_NOT_FOUND,
                                "process %" PRIu32
                                " has no diagnostic socket: %s belongs to %s %lu",
                                pid, path, whose, number));
}

/*
 * Decides whether a socket belongs to the process.  A name with the process's start time (EXACT) is
 * not stale.  Any other name nearly always is: it belongs to a killed process with the same number
 * or, in a shared directory, to a process in another container.  Connecting shows who listens
 * there.  FD is the socket, opened with O_PATH so that nobody can swap it between these checks; SB
 * says who owns it.
 */
static gcd_status judge(struct place *pl, int fd, const struct stat *sb, const char *path,
                        bool exact, struct gcd_error *err)
{
    uint32_t pid = pl->target->pid;
    if (!is_of_the_process(pl->target, sb->st_uid))
        return of_another(pid, path, "user", sb->st_uid, err);
    int sock = gcd_sock_connect_to(fd);
    /* the runtime creates the file with mode 0600 and checks nothing else */
    if (sock == -EACCES || sock == -EPERM) {
        pl->foreign = pl->foreign || exact;
        return not_ours(pid, sb->st_uid, err);
    }
    /* EAGAIN: its queue is full, so it is alive.  If an exact one does not answer, the real
     * connection attempt reports why. */
    if (sock < 0 && sock != -EAGAIN && !exact)
        return gcd_because(
            err, GCD_ERROR_STALE_SOCKET,
            gcd_fail(
                err, GCD_E_NOT_FOUND,
                "process %" PRIu32
                " has no diagnostic socket: it is not a .NET process, or its diagnostics are off "
                "(DOTNET_EnableDiagnostics=0; only a start without it helps); %s is stale, nobody "
                "listens there",
                pid, path));
    uint32_t peer = sock < 0 ? 0 : gcd_sock_peer_pid(sock);
    if (sock >= 0)
        (void)close(sock);
    /* A process that has ended may have left the socket to a child that inherited it. */
    if (peer != 0 && peer != pid && gcd_procfs_exists(pl->proc, peer))
        return of_another(pid, path, "process", peer, err);
    return GCD_OK;
}

static gcd_status try_out(struct place *pl, const struct candidate *c, bool exact, char *ret_path,
                          struct gcd_error *err)
{
    char path[GCD_IPC_PATH_MAX];
    struct stat sb;
    GCD_TRY(join(pl->dir, c->name, path, err));
    int fd = openat(pl->dir_fd, c->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &sb) != 0) {
        int e = errno;
        if (fd >= 0)
            (void)close(fd);
        return gcd_fail_os(err, e, "cannot use the diagnostic socket of process %" PRIu32,
                           pl->target->pid);
    }
    gcd_status st = judge(pl, fd, &sb, path, exact, err);
    (void)close(fd);
    if (st == GCD_OK)
        memcpy(ret_path, path, strlen(path) + 1);
    return st;
}

/* The newest candidate that belongs to the process; otherwise the problem of the newest one. */
static gcd_status try_all(struct place *pl, struct candidate *list, size_t n, bool exact,
                          char *ret_path, struct gcd_error *err)
{
    gcd_status st = GCD_E_NOT_FOUND;
    if (n > 1)
        qsort(list, n, sizeof *list, newest_first);
    for (size_t i = 0; i < n; i++) {
        struct gcd_error e = GCD_ERROR_INIT;
        gcd_status one = try_out(pl, &list[i], exact, ret_path, &e);
        if (one != GCD_OK && i > 0)
            continue;
        st = one;
        if (one == GCD_OK)
            break;
        *err = e;
    }
    return st;
}

/* ---- one directory ---- */

/* GCD_E_NOT_FOUND with this reason: this directory has nothing to report, explain() finds out why.
 */
static gcd_status nothing_here(struct gcd_error *err)
{
    return gcd_because(err, GCD_ERROR_OTHER, GCD_E_NOT_FOUND);
}

static gcd_status cannot_look(const struct place *pl, int os_errno, struct gcd_error *err)
{
    if (os_errno == ENOENT || os_errno == ENOTDIR)
        return nothing_here(err);
    return gcd_because(
        err, os_errno == EACCES || os_errno == EPERM ? GCD_ERROR_PERMISSION : GCD_ERROR_OTHER,
        gcd_fail_os(err, os_errno,
                    "cannot look for the diagnostic socket of process %" PRIu32 " in %s",
                    pl->target->pid, pl->dir));
}

static int by_pid(const void *va, const void *vb)
{
    const struct name *a = va, *b = vb;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return strcmp(a->text, b->text);
}

/* Reads the names in DIR.  False when out of memory. */
static bool read_names(const struct gcd_alloc *alloc, struct gcd_discover_folder *f, DIR *dir)
{
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        uint32_t pid = gcd_discover_pid_of(e->d_name);
        if (pid == 0)
            continue;
        if (!gcd_vec_reserve(alloc, &f->names, &f->room, f->count + 1, sizeof *f->names,
                             SIZE_MAX / sizeof *f->names))
            return false;
        f->names[f->count] = (struct name){ .pid = pid };
        memcpy(f->names[f->count++].text, e->d_name, strlen(e->d_name) + 1);
    }
    if (f->count > 1)
        qsort(f->names, f->count, sizeof *f->names, by_pid);
    return true;
}

void gcd_discover_done(struct gcd_discover_once *o)
{
    gcd_listeners_done(&o->listeners);
    for (size_t i = 0; i < o->count; i++)
        gcd_mem_free(&o->alloc, o->folders[i].names,
                     o->folders[i].room * sizeof *o->folders[i].names);
    gcd_mem_free(&o->alloc, o->folders, o->room * sizeof *o->folders);
    *o = (struct gcd_discover_once){ .alloc = o->alloc };
}

/* The names in the folder of PL. */
static gcd_status names_in(const struct place *pl, const struct gcd_discover_folder **ret,
                           struct gcd_error *err)
{
    struct gcd_discover_once *o = pl->once;
    struct stat sb;
    if (fstat(pl->dir_fd, &sb) != 0)
        return cannot_look(pl, errno, err);
    for (size_t i = 0; i < o->count; i++)
        if (o->folders[i].dev == sb.st_dev && o->folders[i].ino == sb.st_ino) {
            *ret = &o->folders[i];
            return GCD_OK;
        }
    int fd = openat(pl->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        int e = errno;
        if (fd >= 0)
            (void)close(fd);
        return cannot_look(pl, e, err);
    }
    bool done = gcd_vec_reserve(&o->alloc, &o->folders, &o->room, o->count + 1, sizeof *o->folders,
                                SIZE_MAX / sizeof *o->folders);
    if (done) {
        struct gcd_discover_folder *f = &o->folders[o->count++];
        *f = (struct gcd_discover_folder){ .dev = sb.st_dev, .ino = sb.st_ino };
        done = read_names(&o->alloc, f, dir);
        *ret = f;
    }
    (void)closedir(dir);
    return done ? GCD_OK : gcd_fail_nomem(err, "looking for a diagnostic socket");
}

static gcd_status search_others(struct place *pl, char *ret_path, struct gcd_error *err)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    const struct gcd_discover_folder *f = NULL;
    struct candidate *list = NULL;
    uint64_t pid = pl->target->inner_pid;
    size_t n = 0, cap = 0;
    if (pl->listed && !gcd_listeners_may_have(&pl->once->listeners, pl->proc, pl->target->pid,
                                              pl->target->inner_pid))
        return nothing_here(err); /* a folder such as /tmp may have thousands of names */
    GCD_TRY(names_in(pl, &f, err));
    bool mem_ok = true;
    for (size_t i = gcd_count_up_to(f->names, f->count, sizeof *f->names, pid - 1);
         mem_ok && i < f->count && f->names[i].pid == pid; i++) {
        struct candidate c;
        if (look(pl->dir_fd, f->names[i].text, &c) != 0)
            continue;
        mem_ok = gcd_vec_reserve(&alloc, &list, &cap, n + 1, sizeof *list, SIZE_MAX / sizeof *list);
        if (mem_ok)
            list[n++] = c;
    }
    gcd_status st = nothing_here(err);
    if (!mem_ok)
        st = gcd_fail_nomem(err, "looking for a diagnostic socket");
    else if (n > 0)
        st = try_all(pl, list, n, false, ret_path, err);
    gcd_mem_free(&alloc, list, cap * sizeof *list);
    return st;
}

static gcd_status search_dir(struct place *pl, char *ret_path, struct gcd_error *err)
{
    struct candidate found[N_PREFIXES];
    size_t n = 0;
    int failed = 0;
    for (size_t i = 0; i < N_PREFIXES; i++) {
        char name[NAME_BYTES];
        (void)snprintf(name, sizeof name, "%s%" PRIu32 "-%" PRIu64 "-socket", prefixes[i],
                       pl->target->inner_pid, pl->target->start_jiffies);
        int r = look(pl->dir_fd, name, &found[n]);
        if (r == 0)
            n++;
        else if (r != -ENOENT)
            failed = -r;
    }
    if (n > 0) {
        /* dsrouter is a .NET program and has two; the reference client also takes the newer one. */
        gcd_status st = try_all(pl, found, n, true, ret_path, err);
        if (st == GCD_OK || err->reason != GCD_ERROR_NO_SOCKET)
            return st;
        failed = 0; /* another process took the name; ours may have a different one */
    }
    if (failed != 0)
        return cannot_look(pl, failed, err);
    return search_others(pl, ret_path, err);
}

static gcd_status search_place(struct place *pl, char *ret_path, struct gcd_error *err)
{
    pl->dir_fd = gcd_safe_open(pl->dir[0] == '\0' ? "/" : pl->dir, O_PATH | O_DIRECTORY, NULL);
    if (pl->dir_fd < 0)
        return cannot_look(pl, -pl->dir_fd, err);
    gcd_status st = search_dir(pl, ret_path, err);
    (void)close(pl->dir_fd);
    return st;
}

/* ---- all directories ---- */

/*
 * The directory BASE as the process sees it: as it is, or (INSIDE) through the process's root
 * directory, which no symbolic link can leave (gcd_safe_open).  False when the path does not fit or
 * is the same place.
 */
static bool make_place(const char *proc, const char *base, bool inside, struct place *pl)
{
    size_t n_base = strlen(base);
    while (n_base > 0 && base[n_base - 1] == '/')
        n_base--;
    if (base[0] != '/' &&
        inside != pl->target->env_known) /* our own TMPDIR is relative to our own directory */
        return false;
    int n = inside ? snprintf(pl->dir, sizeof pl->dir, "%s/%" PRIu32 "/%s%.*s", proc,
                              pl->target->pid, base[0] == '/' ? "root" : "cwd/", (int)n_base, base)
                   : snprintf(pl->dir, sizeof pl->dir, "%.*s", (int)n_base, base);
    return n >= 0 && (size_t)n < sizeof pl->dir;
}

/* Does the process listen at the name that the runtime would give its socket?  At RET. */
static bool listens(const struct place *pl, char *ret, size_t cap)
{
    const struct gcd_procfs_target *t = pl->target;
    char name[NAME_BYTES];
    (void)snprintf(name, sizeof name, "%s%" PRIu32 "-%" PRIu64 "-socket", prefixes[0], t->inner_pid,
                   t->start_jiffies);
    return gcd_listeners_have(&pl->once->listeners, pl->proc, t->pid, name, ret, cap);
}

/* Its socket exists, but in a root folder that we may not read: a container beside ours. */
static gcd_status out_of_sight(struct place *pl, const char *path, struct gcd_error *err)
{
    pl->foreign = true;
    return gcd_because(
        err, GCD_ERROR_PERMISSION,
        gcd_fail(err, GCD_E_IO,
                 "it listens at %.120s, which is not here, and its root folder cannot be read: run "
                 "as its user, or as root with the capability SYS_PTRACE",
                 path));
}

/* The advice depends on what could be read. */
static gcd_status explain(const struct place *pl, const char *const *bases, size_t n_bases,
                          struct gcd_error *err)
{
    const struct gcd_procfs_target *t = pl->target;
    const char *first = bases[0];
    char name[NAME_BYTES], path[GCD_IPC_PATH_MAX];
    int n = snprintf(name, sizeof name, "%s%" PRIu32 "-%" PRIu64 "-socket", prefixes[0],
                     t->inner_pid, t->start_jiffies);
    if (listens(pl, path, sizeof path))
        return gcd_fail(err, GCD_E_NOT_FOUND,
                        "process %" PRIu32 " still listens at %.120s, but the file was removed (by "
                        "a tmp cleaner?): only a restart of the program makes it again; exclude "
                        "dotnet-diagnostic-* in tmpfiles.d, or give the program its own TMPDIR",
                        t->pid, path);
    if (!t->env_known)
        return gcd_fail(
            err, GCD_E_NOT_FOUND,
            "process %" PRIu32 " has no diagnostic socket in %.120s%s%.120s: it is not a .NET "
            "process, its diagnostics are "
            "off, or it has another TMPDIR (its environment cannot be read: other user?)",
            t->pid, first, n_bases > 1 ? " and " : "", n_bases > 1 ? bases[1] : "");
    struct sockaddr_un addr;
    /* Measured: the runtime then continues without a port and prints nothing. */
    if (n > 0 && strlen(first) + 1 + (size_t)n >= sizeof addr.sun_path)
        return gcd_fail(err, GCD_E_NOT_FOUND,
                        "process %" PRIu32 " has no diagnostic socket: its TMPDIR has %zu bytes, "
                        "too long for the path of a socket",
                        t->pid, strlen(first));
    return gcd_fail(
        err, GCD_E_NOT_FOUND,
        "process %" PRIu32
        " has no diagnostic socket in %.120s: it is not a .NET process, or its diagnostics are off "
        "(DOTNET_EnableDiagnostics=0 or DOTNET_EnableDiagnostics_IPC=0; only a start without them "
        "helps), or "
        "%.120s was not usable when it started",
        t->pid, first, first);
}

/* Of several failures, the most informative one is reported. */
static int telling(gcd_status st, const struct gcd_error *err)
{
    switch (err->reason) {
    case GCD_ERROR_NO_SOCKET: /* belongs to another process */
        return 1;
    case GCD_ERROR_STALE_SOCKET:
        return 2;
    case GCD_ERROR_PERMISSION:
        return 3;
    default:
        return st == GCD_E_NOT_FOUND ? 0 : 4;
    }
}

/*
 * A process in another pid namespace certainly has another root directory.  A process in ours may
 * still have another /tmp: a unit with PrivateTmp, or containers that share their pid namespace. So
 * the second search, through its root, is done for every process.  False: BEST is the most
 * informative failure.
 */
static bool search_bases(struct place *pl, const char *const *bases, size_t n, char *ret_path,
                         struct gcd_error *best)
{
    for (int inside = pl->target->nested; inside < 2; inside++)
        for (size_t i = 0; i < n; i++) {
            struct gcd_error e = GCD_ERROR_INIT;
            if (!make_place(pl->proc, bases[i], inside, pl))
                continue;
            e.code = search_place(pl, ret_path, &e);
            if (e.code == GCD_OK)
                return true;
            /* A refused /proc/PID/root means nothing when the socket is usually elsewhere. */
            if (inside && !pl->target->nested && e.reason == GCD_ERROR_PERMISSION)
                pl->root_refused = true;
            else if (telling(e.code, &e) > telling(best->code, best))
                *best = e;
        }
    return false;
}

static gcd_status search_all(struct place *pl, const char *own_tmpdir, char *ret_path,
                             struct gcd_error *err)
{
    const struct gcd_procfs_target *t = pl->target;
    const char *bases[2];
    size_t n_bases = 0;
    if (t->tmpdir[0] != '\0')
        bases[n_bases++] = t->tmpdir;
    else if (!t->env_known && own_tmpdir != NULL && own_tmpdir[0] != '\0' &&
             strcmp(own_tmpdir, "/tmp") != 0)
        bases[n_bases++] = own_tmpdir;
    if (t->tmpdir[0] == '\0') /* an empty TMPDIR counts as unset */
        bases[n_bases++] = "/tmp";

    struct gcd_error best = GCD_ERROR_INIT;
    best.code = GCD_E_NOT_FOUND;
    if (search_bases(pl, bases, n_bases, ret_path, &best))
        return GCD_OK;
    char path[GCD_IPC_PATH_MAX];
    bool elsewhere = telling(best.code, &best) == 0 && (err != NULL || pl->root_refused) &&
                     listens(pl, path, sizeof path);
    if (elsewhere && err != NULL) {
        /* glibc takes TMPDIR from a program with capabilities: it is elsewhere */
        char folder[GCD_IPC_PATH_MAX];
        size_t n = (size_t)(gcd_path_name(path) - path);
        memcpy(folder, path, n);
        folder[n] = '\0';
        const char *const there[] = { folder };
        if (n > 0 && search_bases(pl, there, 1, ret_path, &best))
            return GCD_OK;
    }
    if (elsewhere && telling(best.code, &best) == 0 && pl->root_refused)
        return out_of_sight(pl, path, err);
    if (telling(best.code, &best) == 0 && err == NULL)
        return GCD_E_NOT_FOUND; /* nobody reads the reason */
    if (telling(best.code, &best) == 0)
        return gcd_because(err, GCD_ERROR_NO_SOCKET, explain(pl, bases, n_bases, err));
    if (err != NULL)
        *err = best;
    return best.code;
}

gcd_status gcd_discover_socket(const char *proc, uint32_t pid, const char *own_tmpdir,
                               char *ret_path, struct gcd_error *err)
{
    struct gcd_procfs_target target;
    struct gcd_discover_once once = { .alloc = gcd_alloc_or_default(NULL) };
    once.listeners.alloc = once.alloc;
    struct place pl = { .proc = proc, .target = &target, .once = &once };
    gcd_status st = gcd_procfs_read(proc, pid, &target, err);
    if (st == GCD_OK)
        st = search_all(&pl, own_tmpdir, ret_path, err);
    gcd_discover_done(&once);
    return st;
}

gcd_status gcd_discover_listed(const char *proc, const struct gcd_procfs_target *target,
                               const char *own_tmpdir, struct gcd_discover_once *once,
                               char *ret_path, bool *ret_foreign)
{
    struct place pl = { .proc = proc, .target = target, .once = once, .listed = true };
    gcd_status st = search_all(&pl, own_tmpdir, ret_path, NULL);
    *ret_foreign = st != GCD_OK && pl.foreign;
    return st;
}

gcd_status gcd_ipc_find_socket(uint32_t pid, const char *own_tmpdir, char *ret_path,
                               struct gcd_error *err)
{
    return gcd_discover_socket("/proc", pid, own_tmpdir, ret_path, err);
}
