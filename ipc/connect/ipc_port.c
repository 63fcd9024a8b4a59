#include "ipc/connect/ipc_port.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <gcdumpc/unstable/ipc_target.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/monotonic.h"
#include "ipc/connect/ipc_portfile.h"
#include "ipc/connect/ipc_tcp.h"
#include "ipc/process/ipc_pidfd.h"
#include "ipc/wire/ipc_sock.h"
#include "ipc/wire/ipc_wire.h"

enum {
    GUESTS = 64, /* connections kept at once */
    EVENTS = 16, /* handled per call, so that a flood leaves time for other work */
    PATIENCE_MS = 5000,
    /* in multiples of the patience: how long a runtime that is not visible may be without a
       connection; it tries twice a second */
    ABSENCES = 3,
    TICK_MS = 100, /* how often cancel is checked */
    REST_MS = 100, /* wait before accepting again when descriptors ran out */
    TAG_LISTEN = GUESTS,
    TAG_PROCESS, /* the chosen runtime has ended */
    TAG_REST
};

/* An idle connection. */
struct guest {
    int fd; /* -1 = free */
    size_t n_have;
    uint8_t bytes[GCD_WIRE_ADVERTISE_BYTES];
    struct gcd_wire_advertise who; /* once it has identified itself */
    uint64_t since_ms;
    uint64_t number; /* order of arrival */
};

struct gcd_ipc_port {
    struct gcd_portfile file; /* none over TCP: */
    bool tcp;
    struct gcd_ipc_tcp_place place;
    int listen_fd, epoll_fd;
    /* a timer that runs while nothing is accepted because descriptors or memory ran out */
    int rest_fd;
    /* of the chosen runtime, if visible; if not, only a broken connection shows its end */
    struct gcd_pidfd process;
    struct guest guests[GUESTS];
    uint64_t arrivals;
    uint64_t patience_ms;
    unsigned strangers; /* connections that did not identify themselves */
    bool has_runtime, gone;
    struct gcd_wire_advertise chosen;
    uint64_t seen_ms; /* when the chosen runtime last had a connection here */
    uint64_t pid;     /* of the chosen runtime: our view when it is visible, otherwise its own */
    bool visible;
};

static uint64_t now_ms(void)
{
    return gcd_clock_ns() / GCD_NS_PER_MS;
}

/* ---- open and close ---- */

static gcd_status watch(const struct gcd_ipc_port *port, int op, int fd, uint32_t events,
                        uint32_t tag, struct gcd_error *err)
{
    struct epoll_event e = { .events = events, .data.u32 = tag };
    return epoll_ctl(port->epoll_fd, op, fd, &e) == 0
               ? GCD_OK
               : gcd_fail_os(err, errno, "cannot wait for runtimes");
}

static gcd_status set_up(struct gcd_ipc_port *port, struct gcd_error *err)
{
    port->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    port->rest_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (port->epoll_fd < 0 || port->rest_fd < 0)
        return gcd_fail_os(err, errno, "cannot set up a socket");
    return watch(port, EPOLL_CTL_ADD, port->rest_fd, EPOLLIN, TAG_REST, err);
}

static gcd_status listen_at_file(struct gcd_ipc_port *port, struct gcd_error *err)
{
    port->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The file gets the socket's mode minus the umask, so nobody else can ever connect. */
    if (port->listen_fd < 0 || fchmod(port->listen_fd, S_IRUSR | S_IWUSR) != 0)
        return gcd_fail_os(err, errno, "cannot set up a socket");
    return gcd_portfile_listen(&port->file, port->listen_fd, err);
}

/* A port without a socket; NULL: no memory. */
static struct gcd_ipc_port *port_new(void)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    struct gcd_ipc_port *port = gcd_mem_new(&alloc, sizeof *port);
    if (port == NULL)
        return NULL;
    port->file.dir_fd = port->listen_fd = port->epoll_fd = port->rest_fd = port->process.fd = -1;
    port->patience_ms = PATIENCE_MS;
    for (size_t i = 0; i < GUESTS; i++)
        port->guests[i].fd = -1;
    return port;
}

/* The last step: from now on connections are accepted.  Frees PORT unless ST and this step are
 * GCD_OK. */
static gcd_status opened(struct gcd_ipc_port *port, gcd_status st, struct gcd_ipc_port **ret,
                         struct gcd_error *err)
{
    if (st == GCD_OK)
        st = watch(port, EPOLL_CTL_ADD, port->listen_fd, EPOLLIN, TAG_LISTEN, err);
    if (st == GCD_OK)
        *ret = port;
    else
        gcd_ipc_port_free(port);
    return st;
}

gcd_status gcd_ipc_port_listen(const char *path, struct gcd_ipc_port **ret, struct gcd_error *err)
{
    if (path == NULL || path[0] == '\0' || strlen(path) >= GCD_IPC_PATH_MAX)
        return gcd_fail(err, GCD_E_ARG, "a diagnostic port needs a path of 1 to %d bytes",
                        GCD_IPC_PATH_MAX - 1);
    struct gcd_ipc_port *port = port_new();
    if (port == NULL)
        return gcd_fail_nomem(err, "opening a diagnostic port");
    (void)snprintf(port->file.path, sizeof port->file.path, "%s", path);
    gcd_status st = set_up(port, err);
    if (st == GCD_OK)
        st = listen_at_file(port, err);
    return opened(port, st, ret, err);
}

gcd_status gcd_ipc_port_listen_tcp(const char *address, bool any_address,
                                   struct gcd_ipc_tcp_place *ret_place, struct gcd_ipc_port **ret,
                                   struct gcd_error *err)
{
    struct gcd_ipc_port *port = port_new();
    if (port == NULL)
        return gcd_fail_nomem(err, "opening a diagnostic port");
    port->tcp = true;
    gcd_status st = set_up(port, err);
    if (st == GCD_OK)
        st = gcd_tcp_listen(address, any_address, &port->place, &port->listen_fd, err);
    st = opened(port, st, ret, err);
    if (st == GCD_OK)
        *ret_place = port->place;
    return st;
}

static void drop(struct guest *g)
{
    (void)close(g->fd); /* this also removes it from the epoll set */
    g->fd = -1;
}

void gcd_ipc_port_free(struct gcd_ipc_port *port)
{
    struct gcd_alloc alloc = gcd_alloc_or_default(NULL);
    if (port == NULL)
        return;
    /* first, so that late clients find nothing instead of being cut off */
    gcd_portfile_remove(&port->file);
    for (size_t i = 0; i < GUESTS; i++)
        if (port->guests[i].fd >= 0)
            drop(&port->guests[i]);
    gcd_pidfd_close(&port->process);
    const int fds[] = { port->listen_fd, port->epoll_fd, port->rest_fd };
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    gcd_mem_free(&alloc, port, sizeof *port);
}

/* ---- connections ---- */

static bool has_advertised(const struct guest *g)
{
    return g->n_have == GCD_WIRE_ADVERTISE_BYTES;
}

static bool is_wanted(const struct gcd_ipc_port *port, const struct guest *g)
{
    return port->has_runtime && has_advertised(g) &&
           memcmp(g->who.cookie, port->chosen.cookie, sizeof g->who.cookie) == 0;
}

/* Makes room for one more.  Drops other runtimes first, then silent connections, then the oldest.
 */
static struct guest *make_room(struct gcd_ipc_port *port)
{
    struct guest *worst = NULL;
    unsigned worst_rank = 0;
    for (size_t i = 0; i < GUESTS; i++) {
        struct guest *g = &port->guests[i];
        if (g->fd < 0)
            return g;
        unsigned rank = is_wanted(port, g) ? 0 : has_advertised(g) ? 1 : 2;
        if (worst == NULL || rank > worst_rank ||
            (rank == worst_rank && g->number < worst->number)) {
            worst = g;
            worst_rank = rank;
        }
    }
    drop(worst);
    return worst;
}

/* Descriptors become free again, and clients wait meanwhile; the socket stays ready, so stop
 * polling it. */
static gcd_status rest(struct gcd_ipc_port *port, struct gcd_error *err)
{
    const struct itimerspec t = { .it_value = { .tv_nsec = REST_MS * 1000000L } };
    if (timerfd_settime(port->rest_fd, 0, &t, NULL) != 0)
        return gcd_fail_os(err, errno, "cannot wait for runtimes");
    return watch(port, EPOLL_CTL_MOD, port->listen_fd, 0, TAG_LISTEN, err);
}

static gcd_status end_of_rest(struct gcd_ipc_port *port, struct gcd_error *err)
{
    uint64_t n;
    (void)!read(port->rest_fd, &n, sizeof n); /* so that it is no longer readable */
    return watch(port, EPOLL_CTL_MOD, port->listen_fd, EPOLLIN, TAG_LISTEN, err);
}

static gcd_status accept_one(struct gcd_ipc_port *port, struct gcd_error *err)
{
    int fd = accept4(port->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
        return rest(port, err);
    if (fd < 0)
        return errno == EAGAIN || errno == EINTR || gcd_tcp_is_of_connection(errno)
                   ? GCD_OK
                   : gcd_fail_os(err, errno, "cannot accept a connection at %s",
                                 port->tcp ? port->place.address : port->file.path);
    if (port->tcp)
        gcd_tcp_watch(fd);
    struct guest *g = make_room(port);
    *g = (struct guest){ .fd = fd, .since_ms = now_ms(), .number = port->arrivals++ };
    gcd_status st = watch(port, EPOLL_CTL_ADD, fd, EPOLLIN, (uint32_t)(g - port->guests), err);
    if (st != GCD_OK)
        drop(g);
    return st;
}

static gcd_status choose(struct gcd_ipc_port *port, const struct guest *g, struct gcd_error *err)
{
    uint32_t pid = gcd_sock_peer_pid(g->fd);
    port->has_runtime = true;
    port->chosen = g->who;
    port->visible = pid != 0;
    port->pid = port->visible ? pid : g->who.pid;
    if (port->visible)
        port->gone = !gcd_pidfd_open(&port->process, pid);
    return port->process.fd < 0
               ? GCD_OK
               : watch(port, EPOLL_CTL_ADD, port->process.fd, EPOLLIN, TAG_PROCESS, err);
}

static gcd_status read_guest(struct gcd_ipc_port *port, struct guest *g, struct gcd_error *err)
{
    /* A connection that has identified itself is only watched for its end; bytes sent too early
     * stay unread. */
    ssize_t n =
        has_advertised(g) ? 0 : recv(g->fd, g->bytes + g->n_have, sizeof g->bytes - g->n_have, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return GCD_OK;
    if (n <= 0) {
        port->strangers += !has_advertised(g) && g->n_have > 0;
        drop(g);
        return GCD_OK;
    }
    g->n_have += (size_t)n;
    if (!has_advertised(g))
        return GCD_OK;
    if (gcd_wire_decode_advertise(g->bytes, &g->who, NULL) != GCD_OK) {
        port->strangers++;
        drop(g);
        return GCD_OK;
    }
    GCD_TRY(watch(port, EPOLL_CTL_MOD, g->fd, EPOLLRDHUP, (uint32_t)(g - port->guests), err));
    return port->has_runtime ? GCD_OK : choose(port, g, err);
}

static void drop_silent(struct gcd_ipc_port *port)
{
    uint64_t now = now_ms();
    for (size_t i = 0; i < GUESTS; i++) {
        struct guest *g = &port->guests[i];
        if (g->fd >= 0 && !has_advertised(g) && now - g->since_ms >= port->patience_ms) {
            port->strangers++;
            drop(g);
        }
    }
}

/* Handles what happened, waiting at most WAIT_MS. */
static gcd_status serve(struct gcd_ipc_port *port, int wait_ms, struct gcd_error *err)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(port->epoll_fd, events, EVENTS, wait_ms);
    if (n < 0 && errno != EINTR)
        return gcd_fail_os(err, errno, "cannot wait for runtimes");
    for (int i = 0; i < n; i++) {
        uint32_t tag = events[i].data.u32;
        if (tag == TAG_LISTEN) {
            GCD_TRY(accept_one(port, err));
        } else if (tag == TAG_REST) {
            GCD_TRY(end_of_rest(port, err));
        } else if (tag == TAG_PROCESS) {
            port->gone = gcd_pidfd_ended(&port->process);
            if (port->gone)
                gcd_pidfd_close(&port->process);
        } else if (port->guests[tag].fd >= 0) {
            /* A slot reused in this round is read once too often, which is harmless. */
            GCD_TRY(read_guest(port, &port->guests[tag], err));
        }
    }
    drop_silent(port);
    return port->gone ? gcd_fail_gone(err) : GCD_OK;
}

int gcd_port_fd(const struct gcd_ipc_port *port)
{
    return port->epoll_fd;
}

gcd_status gcd_port_serve(struct gcd_ipc_port *port, struct gcd_error *err)
{
    return serve(port, 0, err);
}

int gcd_port_take(struct gcd_ipc_port *port)
{
    struct guest *first = NULL;
    for (size_t i = 0; i < GUESTS; i++) {
        struct guest *g = &port->guests[i];
        if (g->fd >= 0 && is_wanted(port, g) && (first == NULL || g->number < first->number))
            first = g;
    }
    if (first == NULL)
        return -1;
    int fd = first->fd;
    first->fd = -1;
    (void)epoll_ctl(port->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
    return fd;
}

void gcd_port_set_patience(struct gcd_ipc_port *port, uint64_t ms)
{
    port->patience_ms = ms;
}

/* ---- waiting ---- */

/* The only sign that an invisible process has ended is that it does not connect again. */
static gcd_status check_presence(struct gcd_ipc_port *port, uint64_t now, struct gcd_error *err)
{
    if (port->visible || !port->has_runtime)
        return GCD_OK;
    for (size_t i = 0; i < GUESTS; i++)
        if (port->guests[i].fd >= 0 && is_wanted(port, &port->guests[i]))
            port->seen_ms = now;
    if (now - port->seen_ms < ABSENCES * port->patience_ms)
        return GCD_OK;
    return gcd_because(
        err, GCD_ERROR_GONE,
        gcd_fail(err, GCD_E_PEER, "the process has ended, or it cannot connect any more"));
}

/* Serves the port until a runtime is chosen (FOR_RUNTIME) or the time is up (0 = never): GCD_END.
 */
static gcd_status wait_for(struct gcd_ipc_port *port, bool for_runtime, uint64_t ms,
                           const gcd_cancel_flag *cancel, struct gcd_error *err)
{
    uint64_t until = ms == 0 ? UINT64_MAX : now_ms() + ms;
    for (;;) {
        if (gcd_is_canceled(cancel))
            return gcd_fail(err, GCD_E_CANCELED, "canceled");
        if (for_runtime && port->has_runtime)
            return GCD_OK;
        uint64_t now = now_ms();
        if (now >= until)
            return GCD_END;
        if (!for_runtime)
            GCD_TRY(check_presence(port, now, err));
        GCD_TRY(serve(port, until - now < TICK_MS ? (int)(until - now) : TICK_MS, err));
    }
}

gcd_status gcd_ipc_port_wait(struct gcd_ipc_port *port, uint64_t timeout_ms,
                             const gcd_cancel_flag *cancel, struct gcd_ipc_runtime *ret,
                             struct gcd_error *err)
{
    gcd_status st = wait_for(port, true, timeout_ms, cancel, err);
    if (st == GCD_END && port->strangers > 0)
        st = gcd_fail(err, GCD_E_PEER,
                      "no runtime has connected within %" PRIu64
                      " ms, only %u others that do not speak its protocol",
                      timeout_ms, port->strangers);
    else if (st == GCD_END)
        st =
            gcd_fail(err, GCD_E_PEER, "no runtime has connected within %" PRIu64 " ms", timeout_ms);
    else if (st != GCD_OK)
        return st;
    if (st != GCD_OK)
        return gcd_because(err, GCD_ERROR_TIMEOUT, st);
    *ret = (struct gcd_ipc_runtime){ .pid = port->pid, .visible = port->visible };
    memcpy(ret->cookie, port->chosen.cookie, sizeof ret->cookie);
    return GCD_OK;
}

gcd_status gcd_ipc_port_pause(struct gcd_ipc_port *port, uint64_t ms, const gcd_cancel_flag *cancel,
                              struct gcd_error *err)
{
    port->seen_ms = now_ms();
    gcd_status st = ms == 0 ? GCD_END : wait_for(port, false, ms, cancel, err);
    return st == GCD_END ? GCD_OK : st;
}

size_t gcd_ipc_port_others(const struct gcd_ipc_port *port)
{
    size_t n = 0;
    for (size_t i = 0; i < GUESTS; i++)
        n += port->guests[i].fd >= 0 && has_advertised(&port->guests[i]) &&
             !is_wanted(port, &port->guests[i]);
    return n;
}
