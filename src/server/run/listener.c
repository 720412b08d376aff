/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/listener.h"

#include "base/invariant.h"
#include "base/heap.h"
#include "core/fd.h"
#include "server/run/server_int.h"
#include "setup/host.h"

#include <monkey/events.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BACKLOG = 65535, /* the kernel lowers it to net.core.somaxconn */
    FAST_OPEN_QUEUE = 256,
};

/* Every port 0 is another address: what one Listen line has got is not found for the next. */
static bool is_spoken_for(const struct mk_listener *l)
{
    return l->wanted && l->asked.sa.sa_family != AF_UNIX && mk_addr_port(&l->asked) == 0;
}

static struct mk_listener *find_listener(struct mk_server *server, const struct mk_addr *asked)
{
    struct mk_listener *l = server->listeners;

    while (l && (is_spoken_for(l) || !mk_addr_eq(&l->asked, asked)))
        l = l->next;
    return l;
}

/* Behind the others: a reload finds those with port 0 in the order in which they were written. */
static struct mk_listener *add_listener(struct mk_server *server, const struct mk_listen *listen)
{
    struct mk_listener *l = mk_heap_zalloc(1, sizeof(*l)), **at = &server->listeners;

    if (l)
        l->fds = mk_heap_alloc(server->shared.nworkers * sizeof(*l->fds));
    if (!l || !l->fds) {
        mk_heap_free(l);
        return NULL;
    }
    for (unsigned i = 0; i < server->shared.nworkers; i++)
        l->fds[i] = -1;
    l->asked = listen->addr;
    (void)snprintf(l->asked_text, sizeof(l->asked_text), "%s", listen->text);
    while (*at)
        at = &(*at)->next;
    *at = l;
    return l;
}

/* ---- sockets ---- */

static bool get_address(int fd, struct mk_addr *addr)
{
    addr->len = sizeof(addr->un);
    return getsockname(fd, &addr->sa, &addr->len) == 0;
}

/* What others opened for us may block, and a worker must not. */
static int make_nonblocking(int fd)
{
    int flags = fd >= 0 ? fcntl(fd, F_GETFL) : -1;

    if (flags >= 0)
        (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    return fd;
}

/* A socket that was passed to us and is bound to the address asked for. */
static int find_inherited(const struct mk_server *server, const struct mk_addr *asked)
{
    for (size_t i = 0; i < server->shared.host->ninherited; i++) {
        struct mk_addr addr;

        if (get_address(server->shared.host->inherited[i], &addr) && mk_addr_eq(&addr, asked))
            return make_nonblocking(fcntl(server->shared.host->inherited[i], F_DUPFD_CLOEXEC, 0));
    }
    return -1;
}

/* Of another listener? That matters where the kernel chooses the port. */
static bool is_in_use(const struct mk_server *server, const struct mk_listener *l,
                      const struct mk_addr *addr)
{
    const struct mk_listener *other = server->listeners;

    while (other && (other == l || !other->open || !mk_addr_eq(&other->addr, addr)))
        other = other->next;
    return other != NULL;
}

/* @return a copy of the n-th socket of this listener that a server before us left, or -1. */
MK_AT_START static int find_kept(const struct mk_server *server, const struct mk_listener *l,
                                 unsigned n)
{
    const struct mk_host *host = server->shared.host;

    for (size_t i = 0; MK_HOST_HAS(host, nkept) && i < host->nkept; i++) {
        struct mk_addr addr, asked = l->addr;

        if (!get_address(host->kept[i], &addr))
            continue;
        if (asked.sa.sa_family != AF_UNIX && mk_addr_port(&asked) == 0 &&
            !is_in_use(server, l, &addr))
            mk_addr_set_port(&asked, mk_addr_port(&addr));
        if (mk_addr_eq(&addr, &asked) && n-- == 0)
            return fcntl(host->kept[i], F_DUPFD_CLOEXEC, 0);
    }
    return -1;
}

static int bind_for_some(struct mk_server *server, const char *text)
{
    char name[MK_LISTEN_SOCKET];

    mk_listen_socket_name(text, name);
    return mk_server_bind_socket(server, name);
}

static int bind_one(struct mk_server *server, struct mk_listener *l, const struct mk_addr *addr,
                    bool share)
{
    const struct mk_host *host = server->shared.host;
    int fd = mk_fd_bind(addr, share);

    atomic_store(&l->bound_by, fd >= 0 && addr->sa.sa_family != AF_UNIX ? getpid() : 0);
    if (fd == MK_E_ACCESS && host->bind)
        fd = make_nonblocking(host->bind(host->arg, l->asked_text, share));
    return fd;
}

void mk_listener_end_socket(const struct mk_listener *l, int fd)
{
    if (fd >= 0 && atomic_load(&l->bound_by) == getpid())
        (void)shutdown(fd, SHUT_RDWR);
}

/* "127.0.0.1:80" and "80": the kernel gives both only to sockets that all agree to share. */
static bool is_in_the_way(const struct mk_listener *other, const struct mk_addr *asked)
{
    const struct mk_addr *addr = &other->addr;

    if (!other->open && atomic_load(&other->lingering) == 0)
        return false;
    return mk_addr_covers(addr, asked) || mk_addr_covers(asked, addr) ||
           (mk_addr_port(asked) > 0 && mk_addr_eq(addr, asked));
}

/* @return true when sockets of our own are in the way; from now on they share. */
static bool make_way(struct mk_server *server, const struct mk_listener *l)
{
    bool found = false;

    for (struct mk_listener *other = server->listeners; other; other = other->next) {
        if (other == l || !is_in_the_way(other, &l->asked))
            continue;
        found = true;
        for (unsigned i = 0; i < other->nfds; i++)
            mk_fd_share_port(other->fds[i]);
    }
    return found;
}

/* Sharing a port is for our own workers: without SO_REUSEPORT the kernel tells whether somebody listens there. */
static bool is_taken(struct mk_server *server, struct mk_listener *l)
{
    int fd;

    if (mk_addr_port(&l->asked) == 0)
        return false;
    fd = bind_one(server, l, &l->asked, false);
    if (fd >= 0)
        mk_fd_close(&fd);
    return fd == MK_E_BUSY;
}

static void close_sockets(struct mk_listener *l)
{
    for (unsigned i = 0; i < l->nfds; i++) {
        mk_listener_end_socket(l, l->fds[i]);
        mk_fd_close(&l->fds[i]);
    }
    if (l->open && !l->inherited && l->addr.sa.sa_family == AF_UNIX)
        (void)unlink(l->addr.un.sun_path);
    l->open = false;
}

static int open_sockets(struct mk_server *server, struct mk_listener *l,
                        const struct mk_server_settings *set)
{
    bool ours = make_way(server, l), share = ours || l->nfds > 1 || set->shared_sockets;
    const struct mk_listen_options options = {.backlog = BACKLOG,
                                              .fast_open = set->fast_open ? FAST_OPEN_QUEUE : 0};

    if (!l->inherited)
        l->fds[0] = find_kept(server, l, 0);
    if (l->fds[0] < 0 && share && !ours && !set->shared_sockets && is_taken(server, l))
        return MK_E_BUSY;
    for (unsigned i = 0; i < l->nfds; i++) {
        int err;

        if (i > 0)
            l->fds[i] = find_kept(server, l, i);
        if (l->fds[i] < 0) {
            l->fds[i] = l->is_for_some ? bind_for_some(server, l->asked_text)
                                       : bind_one(server, l, &l->addr, share);
            if (l->fds[i] < 0) {
                err = l->fds[i];
                l->fds[i] = -1;
                return err;
            }
        }
        if (!get_address(l->fds[i], &l->addr))
            return MK_E_SYS;
        err = mk_fd_listen(l->fds[i], &l->addr, &options);
        if (err < 0)
            return err;
    }
    (void)mk_addr_format(&l->addr, l->endpoint.text);
    return 0;
}

static int open_listener(struct mk_server *server, struct mk_listener *l,
                         const struct mk_server_settings *set)
{
    bool each_worker = set->scheduler == MK_SCHEDULER_REUSEPORT && l->asked.sa.sa_family != AF_UNIX;
    int err;

    l->addr = l->asked;
    mk_fd_fall_back(&l->addr);
    l->fds[0] = find_inherited(server, &l->addr);
    l->inherited = l->fds[0] >= 0;
    l->nfds = each_worker && !l->inherited ? server->shared.nworkers : 1;
    err = open_sockets(server, l, set);
    if (err < 0) {
        int saved = errno;

        close_sockets(l);
        errno = saved;
        return err;
    }
    l->open = true;
    atomic_store(&l->users, l->nfds == 1 && !server->acceptor ? server->shared.nworkers : 1);
    mk_log(&server->shared.log, MK_LOG_INFO, MK_LOG_LISTEN, "listening address=%s%s",
           l->endpoint.text, l->inherited ? " inherited=yes" : "");
    return 0;
}

static void explain(char *why, size_t size, const struct mk_listen *listen, int err)
{
    switch (err) {
    case MK_E_BUSY:
        (void)snprintf(why, size, "cannot listen on %s: another process listens there",
                       listen->text);
        break;
    case MK_E_ACCESS:
        (void)snprintf(why, size, "cannot listen on %s: no permission", listen->text);
        break;
    case MK_E_SYS:
        (void)snprintf(why, size, "cannot listen on %s: %s", listen->text, strerror(errno));
        break;
    default:
        (void)snprintf(why, size, "cannot listen on %s: %s", listen->text, mk_error_text(err));
    }
}

/* The wanted listener that connections to this one's address reach as well. */
static const struct mk_listener *cover_of(const struct mk_server *server,
                                          const struct mk_listener *l)
{
    const struct mk_listener *wide = server->listeners;

    while (wide && !(wide->wanted && mk_addr_covers(&wide->addr, &l->addr)))
        wide = wide->next;
    return wide;
}

static bool is_replaced(const struct mk_server *server, const struct mk_listener *l)
{
    for (const struct mk_listener *by = server->listeners; by; by = by->next) {
        if (by->fresh && (mk_addr_covers(&l->addr, &by->addr) || mk_addr_eq(&l->addr, &by->addr)))
            return true;
    }
    return false;
}

/*
 * Handshakes belong to the socket they began with, and end with it. So a socket stays for good when a wider one
 * takes its place, and for a moment when a narrower one does.
 */
static void spare_handshakes(struct mk_server *server, bool side)
{
    for (struct mk_listener *l = server->listeners; l; l = l->next) {
        const struct mk_listener *wide = l->open && !l->wanted ? cover_of(server, l) : NULL;

        l->lingers = l->open && !l->wanted && !wide && is_replaced(server, l);
        if (wide) {
            l->wanted = true;
            l->wants_proxy = wide->wants_proxy;
            l->endpoint.via[side].site = wide->endpoint.via[side].site;
        }
    }
}

int mk_listeners_open(struct mk_server *server, const struct mk_server_settings *set, char *why,
                      size_t size)
{
    bool side = set == &server->snapshot->set ? server->side : !server->side;

    for (struct mk_listener *l = server->listeners; l; l = l->next) {
        l->wanted = l->fresh = false;
        l->endpoint.via[side] = l->endpoint.via[server->side];
        l->endpoint.via[side].site = 0; /* sites have other numbers now */
    }
    for (size_t i = 0; i < set->nlistens; i++) {
        const struct mk_listen *listen = &set->listens[i];
        struct mk_listener *l = find_listener(server, &listen->addr);
        int err = 0;

        if (!l)
            l = add_listener(server, listen);
        if (!l) {
            err = MK_E_NOMEM;
        } else {
            l->wanted = true;
            l->wants_proxy = listen->proxy;
            l->endpoint.via[side] = listen->via;
            if (!l->open) {
                atomic_store(&l->endpoint.proxy, l->wants_proxy);
                l->is_for_some = mk_listen_is_for_some(listen);
                err = open_listener(server, l, set);
                l->fresh = err == 0;
            }
        }
        if (err < 0) {
            explain(why, size, listen, err);
            mk_listeners_undo(server);
            return err;
        }
    }
    spare_handshakes(server, side);
    return 0;
}

void mk_listeners_undo(struct mk_server *server)
{
    for (struct mk_listener *l = server->listeners; l; l = l->next) {
        if (l->fresh)
            close_sockets(l);
        l->wanted = l->open;
    }
}

void mk_listeners_settle(struct mk_server *server)
{
    for (struct mk_listener *l = server->listeners; l; l = l->next) {
        atomic_store(&l->endpoint.proxy, l->wants_proxy);
        if (l->open && !l->wanted) {
            close_sockets(l); /* the ports have closed theirs; a unix socket has its file left */
            mk_log(&server->shared.log, MK_LOG_INFO, MK_LOG_LISTEN,
                   "no longer listening address=%s", l->endpoint.text);
        }
    }
}

MK_AT_START void mk_server_sockets(const struct mk_server *server, void (*fn)(void *arg, int fd),
                                   void *arg)
{
    for (const struct mk_listener *l = server ? server->listeners : NULL; l; l = l->next) {
        for (unsigned i = 0; l->open && l->wanted && !l->inherited && i < l->nfds; i++)
            fn(arg, l->fds[i]);
    }
}

void mk_listeners_free(struct mk_server *server)
{
    while (server->listeners) {
        struct mk_listener *l = server->listeners;

        server->listeners = l->next;
        close_sockets(l);
        mk_heap_free(l->fds);
        mk_heap_free(l);
    }
}
