#include "ipc/connect/ipc_tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "ipc/wire/ipc_sock.h"

enum {
    IDLE_S = 10, /* silence before the first probe */
    ASK_S = 5,   /* between two probes */
    QUESTIONS = 4
};

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* The number after the last colon; -1: there is none. */
static long port_number(const char *text)
{
    long n = 0;
    if (text[0] == '\0' || strlen(text) > 5)
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9')
            return -1;
        n = n * 10 + (*text - '0');
    }
    return n <= UINT16_MAX ? n : -1;
}

/* Splits "HOST:PORT" and parses both.  Brackets mark IPv6. */
static bool parse(const char *text, union address *ret)
{
    char host[GCD_IPC_TCP_BYTES];
    const char *colon = strrchr(text, ':');
    size_t n = colon == NULL ? 0 : (size_t)(colon - text);
    long port = colon == NULL ? -1 : port_number(colon + 1);
    if (n == 0 || n >= sizeof host || port < 0)
        return false;
    memcpy(host, text, n);
    host[n] = '\0';
    memset(ret, 0, sizeof *ret);
    if (host[0] == '[' && host[n - 1] == ']') {
        host[n - 1] = '\0';
        ret->v6.sin6_family = AF_INET6;
        ret->v6.sin6_port = htons((uint16_t)port);
        return inet_pton(AF_INET6, host + 1, &ret->v6.sin6_addr) == 1;
    }
    ret->v4.sin_family = AF_INET;
    ret->v4.sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                     &ret->v4.sin_addr) == 1;
}

static bool is_loopback(const union address *a)
{
    if (a->any.sa_family == AF_INET)
        return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr) ||
           (IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr) && a->v6.sin6_addr.s6_addr[12] == 127);
}

static bool is_wildcard(const union address *a)
{
    return a->any.sa_family == AF_INET ? a->v4.sin_addr.s_addr == htonl(INADDR_ANY)
                                       : IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);
}

static void say(const union address *a, struct gcd_ipc_tcp_place *ret)
{
    char host[INET6_ADDRSTRLEN] = "";
    bool v6 = a->any.sa_family == AF_INET6;
    unsigned port = ntohs(v6 ? a->v6.sin6_port : a->v4.sin_port);
    (void)inet_ntop(a->any.sa_family, v6 ? (const void *)&a->v6.sin6_addr : &a->v4.sin_addr, host,
                    sizeof host);
    (void)snprintf(ret->address, sizeof ret->address, v6 ? "[%s]:%u" : "%s:%u", host, port);
    (void)snprintf(ret->variable, sizeof ret->variable, "%s:%u", is_wildcard(a) ? "HOST" : host,
                   port);
    ret->loopback = is_loopback(a);
}

static gcd_status refused(const struct gcd_ipc_tcp_place *place, int errno_, struct gcd_error *err)
{
    if (errno_ == EADDRINUSE)
        return gcd_fail(err, GCD_E_IO, "cannot listen at %s: another program does", place->address);
    if (errno_ == EADDRNOTAVAIL)
        return gcd_fail(err, GCD_E_IO, "cannot listen at %s: this machine has no such address",
                        place->address);
    if (errno_ == EAFNOSUPPORT)
        return gcd_fail(err, GCD_E_IO, "cannot listen at %s: this machine has no IPv6",
                        place->address);
    return gcd_fail_os(err, errno_, "cannot listen at %s", place->address);
}

/* 0 or an errno. */
static int listen_at(int fd, union address *a)
{
    const int on = 1;
    socklen_t n = a->any.sa_family == AF_INET6 ? sizeof a->v6 : sizeof a->v4, all = sizeof *a;
    /* Connections of an earlier run that are still closing must not block the port. */
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
        bind(fd, &a->any, n) != 0 || listen(fd, GCD_BACKLOG) != 0 ||
        getsockname(fd, &a->any, &all) != 0)
        return errno;
    return 0;
}

gcd_status gcd_tcp_listen(const char *address, bool any_address,
                          struct gcd_ipc_tcp_place *ret_place, int *ret_fd, struct gcd_error *err)
{
    union address a;
    struct gcd_ipc_tcp_place place;
    if (address == NULL || !parse(address, &a))
        return gcd_fail(err, GCD_E_ARG,
                        "HOST:PORT is expected, HOST being an address of this machine such as "
                        "127.0.0.1, [::1] or localhost, "
                        "not \"%.80s\"",
                        address == NULL ? "" : address);
    say(&a, &place);
    if (!place.loopback && !any_address)
        return gcd_because(err, GCD_ERROR_PERMISSION,
                           gcd_fail(err, GCD_E_ARG,
                                    "other machines can reach %s, and it asks for no password",
                                    place.address));
    int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int e = fd < 0 ? errno : listen_at(fd, &a);
    if (e != 0) {
        if (fd >= 0)
            (void)close(fd);
        return refused(&place, e, err);
    }
    say(&a, ret_place);
    *ret_fd = fd;
    return GCD_OK;
}

void gcd_tcp_watch(int fd)
{
    const int on = 1, idle = IDLE_S, ask = ASK_S, questions = QUESTIONS;
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &ask, sizeof ask);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &questions, sizeof questions);
}

/* accept(2) also reports network errors of the new connection. */
bool gcd_tcp_is_of_connection(int errno_)
{
    static const int of_connection[] = { ECONNABORTED, EPROTO, ENETDOWN,     ENOPROTOOPT,
                                         EHOSTDOWN,    ENONET, EHOSTUNREACH, EOPNOTSUPP,
                                         ENETUNREACH,  EPERM };
    for (size_t i = 0; i < sizeof of_connection / sizeof *of_connection; i++)
        if (errno_ == of_connection[i])
            return true;
    return false;
}
