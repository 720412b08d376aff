/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include "duda_package.h"

#include "data/remote/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* The calls of the package. */

static struct ssls_own_ctx
    *contexts;             /* duda_main() alone adds some; they stay, for their threads do */
static duda_global_t life; /* of the service on a worker */

/* ---- connections ---- */

static int ssls_write(ssls_conn_t *conn, unsigned char *buf, int size)
{
    struct ssls_own_conn *own = (struct ssls_own_conn *)(void *)conn;

    return own && ssls_is_inside(own->ctx) ? ssls_conn_write(own, buf, size) : -1;
}

/* @return NULL: it is no connection of this loop's thread */
static struct ssls_own_conn *find(int efd, int fd)
{
    struct ssls_own_ctx *c = contexts;

    while (c && c->base.efd != efd)
        c = c->next;
    if (!c || !ssls_is_inside(c) || fd < 0 || (size_t)fd >= c->by_fd_room)
        return NULL;
    return c->by_fd[fd];
}

static int set_mode(struct ssls_own_conn *conn, int mode)
{
    if (!conn || conn->is_ending || mode < DUDA_EVENT_READ || mode > DUDA_EVENT_WAKEUP)
        return -1;
    if (mode == DUDA_EVENT_SLEEP && conn->mode != DUDA_EVENT_SLEEP)
        conn->mode_before = conn->mode;
    if (mode != DUDA_EVENT_WAKEUP)
        conn->mode = mode;
    else if (conn->mode == DUDA_EVENT_SLEEP)
        conn->mode = conn->mode_before;
    ssls_conn_watch(conn);
    return 0;
}

static int event_mod(int efd, int fd, int mode)
{
    return set_mode(find(efd, fd), mode);
}

static int event_add(int efd, int fd)
{
    return set_mode(find(efd, fd), DUDA_EVENT_READ);
}

static int event_del(int efd, int fd)
{
    struct ssls_own_conn *conn = find(efd, fd);

    if (!conn || conn->is_ending)
        return -1;
    conn->is_ending = true;
    return 0;
}

static void set_callbacks(ssls_ctx_t *ctx, void (*accepted)(struct ssls_ctx *, ssls_conn_t *, int),
                          void (*read)(struct ssls_ctx *, ssls_conn_t *, int, unsigned char *, int),
                          void (*write)(struct ssls_ctx *, ssls_conn_t *, int),
                          void (*close)(struct ssls_ctx *, ssls_conn_t *, int),
                          void (*timeout)(struct ssls_ctx *, ssls_conn_t *, int))
{
    struct ssls_own_ctx *c = ctx ? ssls_own(ctx) : NULL;

    if (!c || atomic_load(&c->is_running))
        return;
    c->accepted = accepted;
    c->read = read;
    c->write = write;
    c->close = close;
    c->timeout = timeout;
}

/* ---- listeners ---- */

static int read_address(struct address *a, int port, const char *addr)
{
    char text[ADDRESS_TEXT_MAX];
    const char *host = addr ? addr : "0.0.0.0";
    const bool is_v6 = strchr(host, ':') && host[0] != '[';
    const int len = snprintf(text, sizeof(text), is_v6 ? "[%s]:%d" : "%s:%d", host, port);

    return len > 0 && (size_t)len < sizeof(text) ? address_read(a, text, (size_t)len) : -1;
}

/* The port may be shared: a service that is loaded again listens before it has ended. */
static int socket_server(int port, char *listen_addr)
{
    struct address a;
    const int on = 1;
    int fd;

    if (read_address(&a, port, listen_addr) < 0)
        return -1;
    fd = socket(a.place.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) == 0 &&
        bind(fd, (const struct sockaddr *)&a.place, a.len) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;
    (void)close(fd);
    return -1;
}

static int add_event(int efd, int fd, void *what)
{
    struct epoll_event ready = {.events = EPOLLIN, .data.ptr = what};

    return epoll_ctl(efd, EPOLL_CTL_ADD, fd, &ready);
}

static int open_all(struct ssls_own_ctx *c, int port, char *listen_addr)
{
    c->base.fd = socket_server(port, listen_addr);
    c->base.efd = epoll_create1(EPOLL_CLOEXEC);
    c->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->tls = ssls_tls_new();
    if (c->base.fd < 0 || c->base.efd < 0 || c->wake < 0 || !c->tls)
        return -1;
    return add_event(c->base.efd, c->base.fd, &c->base.fd) < 0 ||
                   add_event(c->base.efd, c->wake, &c->wake) < 0
               ? -1
               : 0;
}

static void close_all(struct ssls_own_ctx *c)
{
    const int fds[] = {c->base.fd, c->base.efd, c->wake};

    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0)
            (void)close(fds[i]);
    }
    SSL_CTX_free(c->tls);
    free(c);
}

static ssls_ctx_t *init(int port, char *listen_addr)
{
    struct ssls_own_ctx *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    if (open_all(c, port, listen_addr) < 0) {
        msg->err("ssls->init(): %s:%d cannot be listened to", listen_addr ? listen_addr : "0.0.0.0",
                 port);
        close_all(c);
        return NULL;
    }
    mk_list_init(&c->base.conns);
    c->next = contexts;
    contexts = c;
    return &c->base;
}

/* ---- the end of the service ---- */

static void on_worker_begin(void *arg)
{
    (void)global->set(life, arg);
}

/* A worker has no more use for the service: neither have clients. */
static void on_worker_end(void *value)
{
    (void)value;
    for (struct ssls_own_ctx *c = contexts; c; c = c->next)
        ssls_loop_end(c);
}

static ssls_object_t calls = {
    .write = ssls_write,
    .event_mod = event_mod,
    .event_add = event_add,
    .event_del = event_del,
    .load_dh_param = ssls_load_dh,
    .load_ca_root_cert = ssls_load_chain,
    .load_cert = ssls_load_cert,
    .load_key = ssls_load_key,
    .socket_server = socket_server,
    .set_callbacks = set_callbacks,
    .server_loop = ssls_loop,
    .init = init,
};

duda_package_t *duda_package_main()
{
    static char name[] = "ssls", version[] = "1.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    /* A loop may run when the process exits: OpenSSL must not clean up below it. */
    if (OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL) != 1)
        return NULL;
    global->init_with_end(&life, NULL, NULL, on_worker_end);
    worker->pre_loop(on_worker_begin, &package);
    return &package;
}
