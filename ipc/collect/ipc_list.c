/* Lists the processes that can be dumped. */
#include "ipc/collect/ipc_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uv.h>

#include "base/error.h"
#include "base/mem.h"
#include "ipc/collect/ipc_info.h"
#include "ipc/process/ipc_container.h"
#include "ipc/process/ipc_discover.h"
#include "ipc/process/ipc_procfs.h"
#include "ipc/wire/ipc_sock.h"

/*
 * A silent process costs half a second, so many are asked at the same time.  Anybody can create
 * silent sockets, so the total is bounded.
 */
enum { AT_A_TIME = 16, DEFAULT_ANSWER_MS = 500, DEFAULT_TOTAL_MS = 5000 };

/* A listener at PATH that was not found through a process. */
struct listener {
    uint32_t pid; /* 0 = not visible */
    char *path;
};

struct search {
    const char *proc;
    gcd_list_known_fn known; /* NULL: look at all */
    void *ctx;
    struct gcd_ipc_list_options options;
    struct gcd_alloc alloc;
    struct gcd_ipc_process_list list;
    struct gcd_discover_once once;
    uint64_t now_ms;  /* since boot */
    uint32_t *others; /* [n_others] processes without a socket of their own */
    size_t n_others, other_room;
    size_t n_processes; /* in the list: those found through /proc, by pid */
    const char **paths; /* [n_processes] of their sockets, sorted */
    int unused;         /* of gcd_sock_connect_next: most names are stale */
    struct listener *listeners;
    size_t n_listeners, listener_room;
};

static void free_string(const struct gcd_alloc *alloc, char **s)
{
    if (*s != NULL)
        gcd_mem_free(alloc, *s, strlen(*s) + 1);
    *s = NULL;
}

void gcd_ipc_list_done(struct gcd_ipc_process_list *list)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    for (size_t i = 0; i < list->count; i++) {
        struct gcd_ipc_process *p = &list->items[i];
        char **const strings[] = { &p->name,           &p->exe,
                                   &p->command_line,   &p->socket_path,
                                   &p->entry_assembly, &p->runtime_version,
                                   &p->arch,           &p->container };
        for (size_t k = 0; k < sizeof strings / sizeof strings[0]; k++)
            free_string(&alloc, strings[k]);
    }
    gcd_mem_free(&alloc, list->items, list->room * sizeof *list->items);
    *list = (struct gcd_ipc_process_list){ .items = NULL };
}

static char *copy(const struct search *s, const char *text)
{
    return gcd_mem_strndup(&s->alloc, text, strlen(text));
}

/* What is known about a process; its pid within its own namespace is 0 when unknown. */
struct known {
    uint32_t pid, inner_pid;
    struct gcd_procfs_facts facts;
};

/* Adds P with its data from /proc and the socket to ask; "" = none, for this REASON:
 * GCD_ERROR_NO_SOCKET = it is known to be CoreCLR. */
static gcd_status add(struct search *s, const struct known *k, const char *socket_path,
                      enum gcd_error_reason reason, struct gcd_error *err)
{
    const struct gcd_procfs_facts *facts = &k->facts;
    uint32_t pid = k->pid;
    struct gcd_ipc_process_list *l = &s->list;
    if (!gcd_vec_reserve(&s->alloc, &l->items, &l->room, l->count + 1, sizeof *l->items,
                         SIZE_MAX / sizeof *l->items))
        return gcd_fail_nomem(err, "listing processes");
    struct gcd_ipc_process *p = &l->items[l->count++];
    *p = (struct gcd_ipc_process){ .pid = pid,
                                   .inner_pid = k->inner_pid,
                                   .uid = facts->uid,
                                   .rss_bytes = facts->rss_bytes,
                                   .reason = reason };
    if (facts->start_jiffies != 0)
        p->uptime_ms = gcd_procfs_age_ms(s->now_ms, facts->start_jiffies);
    size_t cap = 0;
    char *command_line = pid == 0 ? NULL : gcd_procfs_command_line(s->proc, pid, &cap);
    p->command_line = copy(s, command_line != NULL ? command_line : "");
    gcd_mem_free(&s->alloc, command_line, cap);
    p->name = copy(s, facts->name);
    p->exe = copy(s, facts->exe);
    p->socket_path = copy(s, socket_path);
    p->entry_assembly = copy(s, "");
    p->runtime_version = copy(s, "");
    p->arch = copy(s, "");
    char container[GCD_CONTAINER_ID_MAX] = "";
    if (pid != 0) {
        gcd_container_find(s->proc, pid, container);
        p->coreclr = reason == GCD_ERROR_NO_SOCKET || gcd_procfs_is_coreclr(s->proc, pid);
    }
    p->container = copy(s, container);
    if (p->command_line == NULL || p->name == NULL || p->exe == NULL || p->socket_path == NULL ||
        p->entry_assembly == NULL || p->runtime_version == NULL || p->arch == NULL ||
        p->container == NULL)
        return gcd_fail_nomem(err, "listing processes");
    return GCD_OK;
}

/* ---- find processes ---- */

static gcd_status keep_other(struct search *s, uint32_t pid, struct gcd_error *err)
{
    if (!gcd_vec_reserve(&s->alloc, &s->others, &s->other_room, s->n_others + 1, sizeof *s->others,
                         SIZE_MAX / sizeof *s->others))
        return gcd_fail_nomem(err, "listing processes");
    s->others[s->n_others++] = pid;
    return GCD_OK;
}

static gcd_status try_process(struct search *s, uint32_t pid, struct gcd_error *err)
{
    struct known k = { .pid = pid };
    struct gcd_procfs_target target;
    char path[GCD_IPC_PATH_MAX] = "";
    bool foreign = false;
    /* a search again and again leaves out at once what has no socket: most new processes */
    if (s->known != NULL && !gcd_procfs_may_have_socket(s->proc, pid))
        return keep_other(s, pid, err);
    if (!gcd_procfs_both(s->proc, pid, &k.facts, &target))
        return GCD_OK;
    k.inner_pid = target.inner_pid;
    gcd_status st =
        gcd_discover_listed(s->proc, &target, s->options.own_tmpdir, &s->once, path, &foreign);
    if (st == GCD_E_NOMEM)
        return gcd_fail_nomem(err, "looking for diagnostic sockets");
    if (st == GCD_OK)
        return add(s, &k, path, GCD_ERROR_OTHER, err);
    /* An unreadable directory proves nothing; an unusable socket proves that the process exists. */
    if (foreign)
        return add(s, &k, "", GCD_ERROR_PERMISSION, err);
    return keep_other(s, pid, err);
}

/* With diagnostics switched off there is no socket, but the memory can still be read. */
static gcd_status try_socketless(struct search *s, uint32_t pid, struct gcd_error *err)
{
    struct known k = { .pid = pid };
    struct gcd_procfs_target target;
    for (size_t i = 0; i < s->list.count; i++)
        if (s->list.items[i].pid == pid)
            return GCD_OK;
    if (!gcd_procfs_is_coreclr(s->proc, pid) || !gcd_procfs_both(s->proc, pid, &k.facts, &target))
        return GCD_OK;
    k.inner_pid = target.inner_pid;
    return add(s, &k, "", GCD_ERROR_NO_SOCKET, err);
}

static gcd_status search_others(struct search *s, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    for (size_t i = 0; st == GCD_OK && i < s->n_others; i++)
        st = gcd_is_canceled(s->options.cancel) ? gcd_fail(err, GCD_E_CANCELED, "interrupted")
                                                : try_socketless(s, s->others[i], err);
    return st;
}

static gcd_status search_proc(struct search *s, struct gcd_error *err)
{
    DIR *dir = opendir(s->proc);
    if (dir == NULL)
        return gcd_fail_os(err, errno, "cannot list the processes in %s", s->proc);
    gcd_status st = GCD_OK;
    for (struct dirent *e; st == GCD_OK && (e = readdir(dir)) != NULL;) {
        if (e->d_name[0] < '1' || e->d_name[0] > '9' ||
            e->d_name[strspn(e->d_name, "0123456789")] != '\0')
            continue;
        unsigned long pid = strtoul(e->d_name, NULL, 10);
        if (gcd_is_canceled(s->options.cancel))
            st = gcd_fail(err, GCD_E_CANCELED, "interrupted");
        else if (pid <= UINT32_MAX && (s->known == NULL || !s->known(s->ctx, (uint32_t)pid)))
            st = try_process(s, (uint32_t)pid, err);
    }
    (void)closedir(dir);
    return st;
}

static int by_pid(const void *va, const void *vb)
{
    const struct gcd_ipc_process *a = va, *b = vb;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return strcmp(a->socket_path, b->socket_path);
}

static int by_listener(const void *va, const void *vb)
{
    const struct listener *a = va, *b = vb;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return strcmp(a->path, b->path);
}

static int by_text(const void *va, const void *vb)
{
    return strcmp(*(const char *const *)va, *(const char *const *)vb);
}

static int pid_of(const void *key, const void *item)
{
    uint32_t pid = *(const uint32_t *)key, other = ((const struct gcd_ipc_process *)item)->pid;
    return pid < other ? -1 : pid > other;
}

/* Later finds are looked up in these indexes; both can be large. */
static gcd_status index_processes(struct search *s, struct gcd_error *err)
{
    size_t n = s->n_processes = s->list.count;
    if (n == 0)
        return GCD_OK;
    s->paths = gcd_mem_new_array(&s->alloc, n, sizeof *s->paths);
    if (s->paths == NULL)
        return gcd_fail_nomem(err, "listing processes");
    qsort(s->list.items, n, sizeof *s->list.items, by_pid);
    for (size_t i = 0; i < n; i++)
        s->paths[i] = s->list.items[i].socket_path;
    qsort(s->paths, n, sizeof *s->paths, by_text);
    return GCD_OK;
}

/*
 * Sockets not found through a process: /proc may hide their owners, or the processes changed TMPDIR
 * after they started.  Only the process that listens counts, not the number in the name.
 */
static gcd_status try_socket(struct search *s, const char *dir, const char *name,
                             struct gcd_error *err)
{
    char path[GCD_IPC_PATH_MAX];
    const char *key = path;
    size_t n = s->n_processes;
    int n_path = snprintf(path, sizeof path, "%s/%s", dir, name);
    if (n_path < 0 || (size_t)n_path >= sizeof path ||
        (n > 0 && bsearch(&key, s->paths, n, sizeof *s->paths, by_text) != NULL))
        return GCD_OK;
    int fd = gcd_sock_connect_next(path, &s->unused);
    if (fd < 0) /* stale, or owned by a user whose processes /proc hides */
        return GCD_OK;
    struct listener l = { .pid = gcd_sock_peer_pid(fd) };
    (void)close(fd);
    if (l.pid != 0 && n > 0 &&
        bsearch(&l.pid, s->list.items, n, sizeof *s->list.items, pid_of) != NULL)
        return GCD_OK;
    if (!gcd_vec_reserve(&s->alloc, &s->listeners, &s->listener_room, s->n_listeners + 1, sizeof l,
                         SIZE_MAX / sizeof l) ||
        (l.path = copy(s, path)) == NULL)
        return gcd_fail_nomem(err, "listing processes");
    s->listeners[s->n_listeners++] = l;
    return GCD_OK;
}

/* Adds each process once, regardless of its number of sockets. */
static gcd_status add_listeners(struct search *s, struct gcd_error *err)
{
    gcd_status st = GCD_OK;
    if (s->n_listeners > 1)
        qsort(s->listeners, s->n_listeners, sizeof *s->listeners, by_listener);
    for (size_t i = 0; st == GCD_OK && i < s->n_listeners; i++) {
        const struct listener *l = &s->listeners[i];
        struct known k = { .pid = l->pid, .facts.uid = UINT32_MAX };
        struct gcd_procfs_target target;
        if (l->pid != 0 && i > 0 && l[-1].pid == l->pid)
            continue;
        if (l->pid != 0)
            (void)gcd_procfs_facts(s->proc, l->pid, &k.facts);
        if (l->pid != 0 && gcd_procfs_read(s->proc, l->pid, &target, NULL) == GCD_OK)
            k.inner_pid = target.inner_pid;
        st = add(s, &k, l->path, GCD_ERROR_OTHER, err);
    }
    return st;
}

static void free_finds(struct search *s)
{
    for (size_t i = 0; i < s->n_listeners; i++)
        free_string(&s->alloc, &s->listeners[i].path);
    gcd_mem_free(&s->alloc, s->listeners, s->listener_room * sizeof *s->listeners);
    gcd_mem_free(&s->alloc, s->paths, s->n_processes * sizeof *s->paths);
    gcd_mem_free(&s->alloc, s->others, s->other_room * sizeof *s->others);
    gcd_discover_done(&s->once);
    if (s->unused >= 0)
        (void)close(s->unused);
}

static gcd_status search_dir(struct search *s, const char *path, struct gcd_error *err)
{
    DIR *dir = opendir(path);
    if (dir == NULL)
        return GCD_OK;
    gcd_status st = GCD_OK;
    for (struct dirent *e;
         st == GCD_OK && !gcd_is_canceled(s->options.cancel) && (e = readdir(dir)) != NULL;)
        if ((e->d_type == DT_SOCK || e->d_type == DT_UNKNOWN) &&
            gcd_discover_pid_of(e->d_name) != 0)
            st = try_socket(s, path, e->d_name, err);
    (void)closedir(dir);
    return st;
}

/* ---- ask processes ---- */

static void take(const struct search *s, char **field, const char *text)
{
    char *own = copy(s, text);
    if (own == NULL)
        return; /* the string stays empty */
    free_string(&s->alloc, field);
    *field = own;
}

static void take_answer(const struct search *s, struct gcd_ipc_process *p,
                        struct gcd_info_question *q)
{
    p->answered = q->status == GCD_OK;
    if (!p->answered) {
        p->reason = q->err.reason;
        return;
    }
    take(s, &p->entry_assembly, q->info.entry_assembly);
    take(s, &p->runtime_version, q->info.runtime_version);
    take(s, &p->arch, q->info.arch);
    if (p->command_line[0] == '\0')
        take(s, &p->command_line, q->info.command_line);
    gcd_ipc_process_info_done(&q->info);
}

static gcd_status ask_all(struct search *s, struct gcd_error *err)
{
    const struct gcd_ipc_list_options *o = &s->options;
    uint64_t total_ms = o->total_ms != 0 ? o->total_ms : DEFAULT_TOTAL_MS;
    struct gcd_ask how = { .timeout_ms = o->answer_ms != 0 ? o->answer_ms : DEFAULT_ANSWER_MS,
                           .until_ns = uv_hrtime() + total_ms * 1000000,
                           .cancel = o->cancel };
    struct gcd_info_question *questions =
        gcd_mem_new_array(&s->alloc, s->list.count + 1, sizeof *questions);
    size_t n = 0, k = 0;
    if (questions == NULL)
        return gcd_fail_nomem(err, "asking processes");
    for (size_t i = 0; i < s->list.count; i++)
        if (s->list.items[i].socket_path[0] != '\0')
            questions[n++] =
                (struct gcd_info_question){ .peer.socket_path = s->list.items[i].socket_path };
    gcd_status st = n > 0 ? gcd_info_ask_all(questions, n, &how, AT_A_TIME, err) : GCD_OK;
    for (size_t i = 0; i < s->list.count && st == GCD_OK; i++)
        if (s->list.items[i].socket_path[0] != '\0')
            take_answer(s, &s->list.items[i], &questions[k++]);
    gcd_mem_free(&s->alloc, questions, (s->list.count + 1) * sizeof *questions);
    return st;
}

/* The processes whose sockets are found by their names, not through /proc. */
static gcd_status search_sockets(struct search *s, const char *shared_dir, struct gcd_error *err)
{
    const char *own = s->options.own_tmpdir;
    gcd_status st = index_processes(s, err);
    if (st == GCD_OK)
        st = search_dir(s, shared_dir, err);
    if (st == GCD_OK && own != NULL && own[0] != '\0' && strcmp(own, shared_dir) != 0)
        st = search_dir(s, own, err);
    return st == GCD_OK ? add_listeners(s, err) : st;
}

/* SHARED_DIR NULL: only what /proc shows. */
static gcd_status list(struct search *s, const char *shared_dir, struct gcd_ipc_process_list *ret,
                       struct gcd_error *err)
{
    s->once.alloc = s->once.listeners.alloc = s->alloc;
    s->unused = -1;
    s->now_ms = gcd_procfs_now_ms(s->proc);
    gcd_status st = search_proc(s, err);
    if (st == GCD_OK && shared_dir != NULL)
        st = search_sockets(s, shared_dir, err);
    if (st == GCD_OK)
        st = search_others(s, err);
    free_finds(s);
    if (st == GCD_OK)
        st = ask_all(s, err); /* first those found through /proc */
    if (st == GCD_OK && gcd_is_canceled(s->options.cancel))
        st = gcd_fail(err, GCD_E_CANCELED, "interrupted");
    if (st != GCD_OK) {
        gcd_ipc_list_done(&s->list);
        return st;
    }
    if (s->list.count > 1)
        qsort(s->list.items, s->list.count, sizeof *s->list.items, by_pid);
    *ret = s->list;
    return GCD_OK;
}

gcd_status gcd_list_processes(const char *proc, const char *shared_dir,
                              const struct gcd_ipc_list_options *options,
                              struct gcd_ipc_process_list *ret, struct gcd_error *err)
{
    struct search s = { .proc = proc, .alloc = gcd_alloc_or_default(NULL) };
    if (options != NULL)
        s.options = *options;
    return list(&s, shared_dir, ret, err);
}

gcd_status gcd_list_unknown(const char *proc, const struct gcd_ipc_list_options *options,
                            const struct gcd_list_known *known, struct gcd_ipc_process_list *ret,
                            struct gcd_error *err)
{
    struct search s = { .proc = proc,
                        .alloc = gcd_alloc_or_default(NULL),
                        .known = known->is_known,
                        .ctx = known->ctx };
    if (options != NULL)
        s.options = *options;
    return list(&s, NULL, ret, err);
}

gcd_status gcd_ipc_list(const struct gcd_ipc_list_options *options,
                        struct gcd_ipc_process_list *ret, struct gcd_error *err)
{
    return gcd_list_processes("/proc", "/tmp", options, ret, err);
}
