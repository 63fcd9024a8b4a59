#include "support/fake_target.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { MAX_CONNS = 16, MAX_REQUEST = 65535, MAX_WAIT_S = 10, HEADER = 20 };

struct fake_conn {
    struct fake_target *target;
    const struct fake_act *script;
    pthread_t thread;
    int fd; /* -1 when closed */
    uint8_t *request;
    size_t request_bytes;
    bool client_closed;
    bool next; /* FAKE_NEXT */
    bool done; /* the script has ended */
};

struct fake_target {
    const struct fake_act *const *scripts;
    size_t n_scripts;
    char dir[64];
    char path[96];
    int listen_fd;        /* -1 after FAKE_VANISH, and for a runtime that connects */
    int wake[2];          /* ends the accept thread */
    pthread_t acceptor;   /* or the thread that connects */
    pthread_mutex_t lock; /* guards the fields below and those of the connections */
    pthread_cond_t changed;
    unsigned n_accepted;
    uint32_t flags;
    bool stopping;
    bool dials; /* fake_target_dial */
    struct fake_conn conns[MAX_CONNS];
    size_t n_conns;
};

static void must(bool ok, const char *what)
{
    if (!ok) {
        perror(what);
        abort();
    }
}

static struct timespec from_now(unsigned ms)
{
    struct timespec ts;
    must(clock_gettime(CLOCK_REALTIME, &ts) == 0, "clock_gettime");
    ts.tv_sec += (time_t)(ms / 1000);
    ts.tv_nsec += (long)(ms % 1000) * 1000000;
    if (ts.tv_nsec >= 1000000000) {
        ts.tv_sec++;
        ts.tv_nsec -= 1000000000;
    }
    return ts;
}

static void set_flag(struct fake_target *t, unsigned flag)
{
    pthread_mutex_lock(&t->lock);
    t->flags |= UINT32_C(1) << flag;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

/* Waits until a flag of MASK is set, MS have passed or the target is stopped. */
static void wait_flags(struct fake_target *t, uint32_t mask, unsigned ms)
{
    struct timespec until = from_now(ms);
    pthread_mutex_lock(&t->lock);
    while ((t->flags & mask) == 0 && !t->stopping)
        if (pthread_cond_timedwait(&t->changed, &t->lock, &until) == ETIMEDOUT)
            break;
    pthread_mutex_unlock(&t->lock);
}

static bool recv_all(int fd, uint8_t *buf, size_t n)
{
    while (n > 0) {
        ssize_t r = recv(fd, buf, n, 0);
        if (r <= 0 && !(r < 0 && errno == EINTR))
            return false;
        if (r > 0) {
            buf += r;
            n -= (size_t)r;
        }
    }
    return true;
}

static void receive_request(struct fake_conn *c, int fd)
{
    uint8_t *buf = malloc(MAX_REQUEST);
    must(buf != NULL, "malloc");
    size_t n = 0;
    if (recv_all(fd, buf, HEADER)) {
        n = HEADER;
        size_t size = (size_t)buf[14] | (size_t)buf[15] << 8;
        if (size > HEADER && recv_all(fd, buf + HEADER, size - HEADER))
            n = size;
    }
    pthread_mutex_lock(&c->target->lock);
    free(c->request);
    c->request = buf;
    c->request_bytes = n;
    pthread_mutex_unlock(&c->target->lock);
}

static void send_pieces(struct fake_conn *c, int fd, const struct fake_act *a)
{
    size_t chunk = a->chunk == 0 ? a->n : a->chunk;
    for (size_t off = 0; off < a->n;) {
        size_t want = a->n - off < chunk ? a->n - off : chunk;
        ssize_t r = send(fd, a->bytes + off, want, MSG_NOSIGNAL);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0) /* the client may close */
            return;
        off += (size_t)r;
        if (a->arg != 0 && off < a->n)
            wait_flags(c->target, 0, a->arg);
    }
}

static void hold(struct fake_conn *c, int fd)
{
    char sink[256];
    struct pollfd p = { .fd = fd, .events = POLLIN };
    bool closed = false;
    while (!closed && poll(&p, 1, MAX_WAIT_S * 1000) > 0)
        closed = recv(fd, sink, sizeof sink, 0) <= 0;
    pthread_mutex_lock(&c->target->lock);
    c->client_closed = closed && !c->target->stopping;
    pthread_mutex_unlock(&c->target->lock);
}

static void vanish(struct fake_target *t)
{
    pthread_mutex_lock(&t->lock);
    if (t->listen_fd >= 0) {
        /* close() alone leaves it listening for as long as the other thread polls it. */
        (void)shutdown(t->listen_fd, SHUT_RDWR);
        (void)close(t->listen_fd);
    }
    t->listen_fd = -1;
    for (size_t i = 0; i < t->n_conns; i++)
        if (t->conns[i].fd >= 0)
            (void)shutdown(t->conns[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&t->lock);
}

/* The next connection may be made. */
static void allow_next(struct fake_conn *c)
{
    pthread_mutex_lock(&c->target->lock);
    c->next = true;
    pthread_cond_broadcast(&c->target->changed);
    pthread_mutex_unlock(&c->target->lock);
}

/* A connection that nobody uses yet is one that was not accepted yet. */
static void wait_for_use(struct fake_conn *c, int fd)
{
    static const char words[] = FAKE_ADVERTISE_BYTES(FAKE_COOKIE, FAKE_PID);
    struct pollfd p = { .fd = fd, .events = POLLIN };
    (void)!send(fd, words, sizeof words - 1, MSG_NOSIGNAL);
    (void)poll(&p, 1, MAX_WAIT_S * 1000);
    allow_next(c);
}

static void *play(void *arg)
{
    struct fake_conn *c = arg;
    struct fake_target *t = c->target;
    int fd = c->fd;
    if (t->dials)
        wait_for_use(c, fd);
    for (const struct fake_act *a = c->script; a->op != FAKE_CLOSE; a++) {
        switch (a->op) {
        case FAKE_RECV:
            receive_request(c, fd);
            break;
        case FAKE_BYTES:
            send_pieces(c, fd, a);
            break;
        case FAKE_SLEEP:
            wait_flags(t, 0, a->arg);
            break;
        case FAKE_SET:
            set_flag(t, a->arg);
            break;
        case FAKE_WAIT:
            wait_flags(t, UINT32_C(1) << a->arg, MAX_WAIT_S * 1000);
            break;
        case FAKE_HOLD:
            hold(c, fd);
            break;
        case FAKE_SHUT_WR:
            (void)shutdown(fd, SHUT_WR);
            break;
        case FAKE_NEXT:
            allow_next(c);
            break;
        case FAKE_VANISH:
            vanish(t);
            break;
        case FAKE_CLOSE:
            break;
        }
    }
    pthread_mutex_lock(&t->lock);
    (void)close(fd);
    c->fd = -1;
    c->done = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void take_connection(struct fake_target *t, int fd)
{
    pthread_mutex_lock(&t->lock);
    t->n_accepted++;
    if (t->n_conns >= t->n_scripts || t->n_conns >= MAX_CONNS || t->stopping) {
        (void)close(fd);
    } else {
        struct fake_conn *c = &t->conns[t->n_conns];
        c->target = t;
        c->script = t->scripts[t->n_conns];
        c->fd = fd;
        t->n_conns++;
        must(pthread_create(&c->thread, NULL, play, c) == 0, "pthread_create");
    }
    pthread_mutex_unlock(&t->lock);
}

static void *accept_all(void *arg)
{
    struct fake_target *t = arg;
    for (;;) {
        pthread_mutex_lock(&t->lock);
        int listen_fd = t->listen_fd;
        pthread_mutex_unlock(&t->lock);
        struct pollfd p[2] = { { .fd = t->wake[0], .events = POLLIN },
                               { .fd = listen_fd, .events = POLLIN } };
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            return NULL;
        if (p[0].revents != 0)
            return NULL;
        if (p[1].revents == 0)
            continue;
        /* vanish() must not close the number between poll and accept */
        pthread_mutex_lock(&t->lock);
        int fd = t->listen_fd < 0 ? -1 : accept(t->listen_fd, NULL, NULL);
        bool gone = t->listen_fd < 0;
        pthread_mutex_unlock(&t->lock);
        if (fd >= 0)
            take_connection(t, fd);
        else if (gone)
            return NULL;
    }
}

static int connect_tcp(const char *port)
{
    struct sockaddr_in addr = { .sin_family = AF_INET,
                                .sin_port = htons((uint16_t)strtoul(port, NULL, 10)) };
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(fd >= 0, "socket");
    if (connect(fd, (const struct sockaddr *)&addr, sizeof addr) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

int fake_connect(const char *path)
{
    if (strncmp(path, "tcp:127.0.0.1:", 14) == 0)
        return connect_tcp(path + 14);
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(fd >= 0, "socket");
    if (connect(fd, (const struct sockaddr *)&addr, sizeof addr) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

/* Waits until connection I allows the next one; false: there is none. */
static bool wait_turn(struct fake_target *t, size_t i)
{
    struct timespec until = from_now(MAX_WAIT_S * 1000);
    pthread_mutex_lock(&t->lock);
    while (!t->stopping && !t->conns[i].next && !t->conns[i].done)
        if (pthread_cond_timedwait(&t->changed, &t->lock, &until) == ETIMEDOUT)
            break;
    bool go_on = !t->stopping && (t->conns[i].next || t->conns[i].done);
    pthread_mutex_unlock(&t->lock);
    return go_on;
}

static bool is_stopping(struct fake_target *t)
{
    pthread_mutex_lock(&t->lock);
    bool stopping = t->stopping;
    pthread_mutex_unlock(&t->lock);
    return stopping;
}

static void *connect_all(void *arg)
{
    struct fake_target *t = arg;
    for (size_t i = 0; i < t->n_scripts && (i == 0 || wait_turn(t, i - 1)); i++) {
        int fd = -1;
        for (unsigned ms = 0;
             (fd = fake_connect(t->path)) < 0 && ms < MAX_WAIT_S * 1000 && !is_stopping(t);
             ms += 10)
            wait_flags(t, 0, 10);
        if (fd < 0)
            break;
        take_connection(t, fd);
    }
    return NULL;
}

static struct fake_target *connect_with(bool dials, const char *path,
                                        const struct fake_act *const *scripts, size_t n_scripts)
{
    struct fake_target *t = calloc(1, sizeof *t);
    must(t != NULL, "calloc");
    must(n_scripts > 0 && n_scripts <= MAX_CONNS, "number of scripts");
    t->scripts = scripts;
    t->n_scripts = n_scripts;
    t->listen_fd = -1;
    t->dials = dials;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    (void)snprintf(t->path, sizeof t->path, "%s", path);
    must(pipe(t->wake) == 0, "pipe");
    must(pthread_create(&t->acceptor, NULL, connect_all, t) == 0, "pthread_create");
    return t;
}

struct fake_target *fake_target_connect(const char *path, const struct fake_act *const *scripts,
                                        size_t n_scripts)
{
    return connect_with(false, path, scripts, n_scripts);
}

struct fake_target *fake_target_dial(const char *path, const struct fake_act *const *scripts,
                                     size_t n_scripts)
{
    return connect_with(true, path, scripts, n_scripts);
}

struct fake_target *fake_target_start(const struct fake_act *const *scripts, size_t n_scripts)
{
    struct fake_target *t = calloc(1, sizeof *t);
    must(t != NULL, "calloc");
    t->scripts = scripts;
    t->n_scripts = n_scripts;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    (void)snprintf(t->dir, sizeof t->dir, "/tmp/gcd-fake-XXXXXX");
    must(mkdtemp(t->dir) != NULL, "mkdtemp");
    (void)snprintf(t->path, sizeof t->path, "%s/socket", t->dir);
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    (void)snprintf(addr.sun_path, sizeof addr.sun_path, "%s", t->path);
    t->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    must(t->listen_fd >= 0, "socket");
    must(bind(t->listen_fd, (const struct sockaddr *)&addr, sizeof addr) == 0, "bind");
    must(listen(t->listen_fd, 8) == 0, "listen");
    must(pipe(t->wake) == 0, "pipe");
    must(pthread_create(&t->acceptor, NULL, accept_all, t) == 0, "pthread_create");
    return t;
}

const char *fake_target_path(const struct fake_target *t)
{
    return t->path;
}

void fake_target_stop(struct fake_target *t)
{
    pthread_mutex_lock(&t->lock);
    t->stopping = true;
    pthread_cond_broadcast(&t->changed);
    for (size_t i = 0; i < t->n_conns; i++)
        if (t->conns[i].fd >= 0)
            (void)shutdown(t->conns[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&t->lock);
    must(write(t->wake[1], "", 1) == 1, "write");
    pthread_join(t->acceptor, NULL);
    for (size_t i = 0; i < t->n_conns; i++) {
        pthread_join(t->conns[i].thread, NULL);
        free(t->conns[i].request);
    }
    if (t->listen_fd >= 0)
        (void)close(t->listen_fd);
    (void)close(t->wake[0]);
    (void)close(t->wake[1]);
    if (t->dir[0] != '\0') { /* otherwise the socket is not ours */
        (void)unlink(t->path);
        (void)rmdir(t->dir);
    }
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    free(t);
}

unsigned fake_target_accepted(struct fake_target *t)
{
    pthread_mutex_lock(&t->lock);
    unsigned n = t->n_accepted;
    pthread_mutex_unlock(&t->lock);
    return n;
}

size_t fake_target_request(struct fake_target *t, size_t i, const uint8_t **ret_bytes)
{
    pthread_mutex_lock(&t->lock);
    size_t n = i < t->n_conns ? t->conns[i].request_bytes : 0;
    *ret_bytes = i < t->n_conns ? t->conns[i].request : NULL;
    pthread_mutex_unlock(&t->lock);
    return n;
}

bool fake_target_client_closed(struct fake_target *t, size_t i)
{
    struct timespec until = from_now(MAX_WAIT_S * 1000);
    pthread_mutex_lock(&t->lock);
    while (i < t->n_conns && !t->conns[i].done)
        if (pthread_cond_timedwait(&t->changed, &t->lock, &until) == ETIMEDOUT)
            break;
    bool closed = i < t->n_conns && t->conns[i].client_closed;
    pthread_mutex_unlock(&t->lock);
    return closed;
}
