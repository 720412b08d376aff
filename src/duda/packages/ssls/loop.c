/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include "kit/clock/clock.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* server_loop(): clients and their time, until the service has ended and the last client has left. */

enum { EVENTS_A_TURN = 64, ACCEPTS_A_TURN = 32, LOOK_MS = 250, DEAF_MS = 100 };

static bool is_listening(const struct ssls_own_ctx *c)
{
    return c->base.fd >= 0;
}

/* ---- clients ---- */

static void listen_again(struct ssls_own_ctx *c)
{
    struct epoll_event ready = {.events = EPOLLIN, .data.ptr = &c->base.fd};

    c->deaf_until_ms = 0;
    (void)epoll_ctl(c->base.efd, EPOLL_CTL_MOD, c->base.fd, &ready);
}

/* Without a descriptor or memory for a client the listener would be ready again at once. */
static void be_deaf(struct ssls_own_ctx *c)
{
    struct epoll_event ready = {.events = 0, .data.ptr = &c->base.fd};

    c->deaf_until_ms = clock_now_ms() + DEAF_MS;
    (void)epoll_ctl(c->base.efd, EPOLL_CTL_MOD, c->base.fd, &ready);
}

static bool is_of_client(int error)
{
    return error == ECONNABORTED || error == EINTR || error == EPROTO || error == ENETDOWN ||
           error == ENETUNREACH || error == EHOSTUNREACH || error == ENOPROTOOPT;
}

static void take_clients(struct ssls_own_ctx *c)
{
    for (int i = 0; i < ACCEPTS_A_TURN; i++) {
        const int fd = accept4(c->base.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd < 0 && is_of_client(errno))
            continue;
        if (fd < 0) {
            if (errno != EAGAIN)
                be_deaf(c);
            return;
        }
        if (!ssls_conn_new(c, fd))
            (void)close(fd);
    }
}

/* ---- time ---- */

static void look_at_time(struct ssls_own_ctx *c)
{
    const int64_t now = clock_now_ms();
    struct mk_list *at, *next;

    if (c->deaf_until_ms && now >= c->deaf_until_ms && is_listening(c))
        listen_again(c);
    mk_list_foreach_safe(at, next, &c->base.conns)
    {
        ssls_conn_t *base = mk_list_entry(at, ssls_conn_t, _head);
        struct ssls_own_conn *conn = (struct ssls_own_conn *)(void *)base;

        if (now >= conn->deadline_ms)
            ssls_conn_expire(conn);
        (void)ssls_conn_settle(conn);
    }
}

/* ---- the loop ---- */

void ssls_loop_end(struct ssls_own_ctx *c)
{
    const uint64_t one = 1;

    atomic_store(&c->is_over, true);
    (void)!write(c->wake, &one, sizeof(one));
}

static void stop_listening(struct ssls_own_ctx *c)
{
    if (is_listening(c))
        (void)close(c->base.fd);
    c->base.fd = -1;
    (void)epoll_ctl(c->base.efd, EPOLL_CTL_DEL, c->wake, NULL);
}

static void turn(struct ssls_own_ctx *c)
{
    struct epoll_event events[EVENTS_A_TURN];
    const int n = epoll_wait(c->base.efd, events, EVENTS_A_TURN, LOOK_MS);

    for (int i = 0; i < n; i++) {
        struct ssls_own_conn *conn = events[i].data.ptr;

        if (events[i].data.ptr == &c->base.fd) {
            take_clients(c);
        } else if (events[i].data.ptr != &c->wake) {
            ssls_conn_drive(conn, events[i].events);
            (void)ssls_conn_settle(conn);
        }
    }
}

void ssls_loop(ssls_ctx_t *ctx)
{
    struct ssls_own_ctx *c = ctx ? ssls_own(ctx) : NULL;
    int64_t looked_ms = 0;

    if (!c || SSL_CTX_check_private_key(c->tls) != 1) {
        msg->err("ssls->server_loop(): the certificate and its key are missing, or differ");
        return;
    }
    c->thread = pthread_self();
    if (atomic_exchange(&c->is_running, true))
        return;
    while (is_listening(c) || c->nconns > 0) {
        turn(c);
        if (atomic_load(&c->is_over) && is_listening(c))
            stop_listening(c);
        if (clock_now_ms() - looked_ms >= LOOK_MS) {
            looked_ms = clock_now_ms();
            look_at_time(c);
        }
    }
}
