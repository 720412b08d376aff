/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include "kit/clock/clock.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A client: handshake -> open -> ending. It is freed by ssls_conn_settle() alone, so call-backs may do what they like. */

enum { RECORDS_A_TURN = 4 };

/* ---- the kernel ---- */

static uint32_t events_of(const struct ssls_own_conn *conn)
{
    const bool has_output = conn->out_len > 0 || conn->wants_output;
    const bool reads =
        !conn->is_open || conn->mode == DUDA_EVENT_READ || conn->mode == DUDA_EVENT_RW;
    const bool writes =
        conn->is_open && (conn->mode == DUDA_EVENT_WRITE || conn->mode == DUDA_EVENT_RW);

    if (conn->is_ending)
        return has_output ? EPOLLOUT : 0;
    return (reads ? (uint32_t)EPOLLIN : 0) | (writes || has_output ? (uint32_t)EPOLLOUT : 0);
}

void ssls_conn_watch(struct ssls_own_conn *conn)
{
    struct epoll_event ready = {.events = events_of(conn), .data.ptr = conn};

    if (ready.events == conn->events)
        return;
    conn->events = ready.events;
    if (epoll_ctl(conn->ctx->base.efd, EPOLL_CTL_MOD, conn->base.fd, &ready) < 0)
        conn->is_broken = true;
}

/* ---- the beginning and the end ---- */

static int make_room_by_fd(struct ssls_own_ctx *c, int fd)
{
    const size_t room = ((size_t)fd + 64) / 64 * 64;
    struct ssls_own_conn **more;

    if ((size_t)fd < c->by_fd_room)
        return 0;
    more = realloc((void *)c->by_fd, room * sizeof(struct ssls_own_conn *));
    if (!more)
        return -1;
    memset((void *)(more + c->by_fd_room), 0,
           (room - c->by_fd_room) * sizeof(struct ssls_own_conn *));
    c->by_fd = more;
    c->by_fd_room = room;
    return 0;
}

static void touch(struct ssls_own_conn *conn, int64_t ms)
{
    conn->deadline_ms = clock_now_ms() + ms;
}

static struct ssls_own_conn *set_up(struct ssls_own_ctx *c, struct ssls_own_conn *conn, int fd)
{
    struct epoll_event ready = {.events = EPOLLIN, .data.ptr = conn};

    conn->ssl = SSL_new(c->tls);
    if (!conn->ssl || SSL_set_fd(conn->ssl, fd) != 1 ||
        epoll_ctl(c->base.efd, EPOLL_CTL_ADD, fd, &ready) < 0) {
        SSL_free(conn->ssl);
        free(conn);
        ERR_clear_error();
        return NULL;
    }
    SSL_set_accept_state(conn->ssl);
    conn->base.fd = fd;
    conn->ctx = c;
    conn->mode = conn->mode_before = DUDA_EVENT_READ;
    conn->events = EPOLLIN;
    touch(conn, SSLS_HANDSHAKE_MS);
    return conn;
}

struct ssls_own_conn *ssls_conn_new(struct ssls_own_ctx *c, int fd)
{
    struct ssls_own_conn *conn;

    if (c->nconns >= SSLS_CONNS_MAX || make_room_by_fd(c, fd) < 0)
        return NULL;
    conn = calloc(1, sizeof(*conn));
    conn = conn ? set_up(c, conn, fd) : NULL;
    if (!conn)
        return NULL;
    mk_list_add(&conn->base._head, &c->base.conns);
    c->by_fd[fd] = conn;
    c->nconns++;
    return conn;
}

static void close_conn(struct ssls_own_conn *conn)
{
    struct ssls_own_ctx *c = conn->ctx;

    if (conn->is_open && c->close)
        c->close(&c->base, &conn->base, conn->base.fd);
    if (conn->is_open && !conn->is_broken) {
        ERR_clear_error();
        (void)SSL_shutdown(conn->ssl);
    }
    ERR_clear_error();
    mk_list_del(&conn->base._head);
    c->by_fd[conn->base.fd] = NULL;
    c->nconns--;
    SSL_free(conn->ssl);
    (void)close(conn->base.fd); /* epoll forgets it */
    free(conn->out);
    free(conn);
}

bool ssls_conn_settle(struct ssls_own_conn *conn)
{
    if (!conn->is_broken && !(conn->is_ending && conn->out_len == 0))
        ssls_conn_watch(conn);
    if (!conn->is_broken && !(conn->is_ending && conn->out_len == 0))
        return false;
    close_conn(conn);
    return true;
}

/* ---- output ---- */

/* What a failed call of OpenSSL waits for. */
static void look_at_error(struct ssls_own_conn *conn, int result)
{
    switch (SSL_get_error(conn->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        break;
    case SSL_ERROR_WANT_WRITE:
        conn->wants_output = true;
        break;
    case SSL_ERROR_ZERO_RETURN:
        conn->is_ending = true;
        break;
    default:
        conn->is_broken = true;
    }
}

static void flush(struct ssls_own_conn *conn)
{
    while (conn->out_len > 0 && !conn->is_broken) {
        int n;

        ERR_clear_error();
        n = SSL_write(conn->ssl, conn->out + conn->out_at, (int)conn->out_len);
        if (n <= 0) {
            look_at_error(conn, n);
            return;
        }
        conn->out_at += (size_t)n;
        conn->out_len -= (size_t)n;
        touch(conn, SSLS_IDLE_MS);
    }
    free(conn->out);
    conn->out = NULL;
    conn->out_at = conn->out_room = 0;
}

static int make_room(struct ssls_own_conn *conn, size_t size)
{
    const size_t room = conn->out_len + size;
    unsigned char *more;

    if (conn->out_at + room <= conn->out_room)
        return 0;
    if (conn->out_len > 0)
        memmove(conn->out, conn->out + conn->out_at, conn->out_len);
    conn->out_at = 0;
    if (room <= conn->out_room)
        return 0;
    more = realloc(conn->out, room);
    if (!more)
        return -1;
    conn->out = more;
    conn->out_room = room;
    return 0;
}

int ssls_conn_write(struct ssls_own_conn *conn, const unsigned char *bytes, int size)
{
    if (!conn->is_open || conn->is_ending || conn->is_broken || size < 0 || (size > 0 && !bytes) ||
        conn->out_len + (size_t)size > SSLS_OUT_MAX || make_room(conn, (size_t)size) < 0)
        return -1;
    if (size > 0)
        memcpy(conn->out + conn->out_at + conn->out_len, bytes, (size_t)size);
    conn->out_len += (size_t)size;
    flush(conn);
    ssls_conn_watch(conn);
    return conn->is_broken ? -1 : size;
}

/* ---- input ---- */

static void shake_hands(struct ssls_own_conn *conn)
{
    struct ssls_own_ctx *c = conn->ctx;
    int result;

    conn->wants_output = false;
    ERR_clear_error();
    result = SSL_do_handshake(conn->ssl);
    if (result != 1) {
        look_at_error(conn, result);
        return;
    }
    conn->is_open = true;
    touch(conn, SSLS_IDLE_MS);
    if (c->accepted)
        c->accepted(&c->base, &conn->base, conn->base.fd);
}

static bool reads(const struct ssls_own_conn *conn)
{
    return !conn->is_ending && !conn->is_broken &&
           (conn->mode == DUDA_EVENT_READ || conn->mode == DUDA_EVENT_RW);
}

/* OpenSSL keeps no more than the record that it is in, and the buffer has room for it: the kernel tells of the next. */
static void receive(struct ssls_own_conn *conn)
{
    struct ssls_own_ctx *c = conn->ctx;

    for (int i = 0; i < RECORDS_A_TURN && reads(conn); i++) {
        int n;

        ERR_clear_error();
        n = SSL_read(conn->ssl, c->record, sizeof(c->record));
        if (n <= 0) {
            look_at_error(conn, n);
            return;
        }
        touch(conn, SSLS_IDLE_MS);
        if (c->read)
            c->read(&c->base, &conn->base, conn->base.fd, c->record, n);
    }
}

static void tell_writable(struct ssls_own_conn *conn)
{
    struct ssls_own_ctx *c = conn->ctx;

    if (!conn->is_ending && conn->out_len == 0 && c->write &&
        (conn->mode == DUDA_EVENT_WRITE || conn->mode == DUDA_EVENT_RW))
        c->write(&c->base, &conn->base, conn->base.fd);
}

void ssls_conn_drive(struct ssls_own_conn *conn, uint32_t events)
{
    const bool has_end = events & (EPOLLHUP | EPOLLERR);

    if (!conn->is_open) {
        shake_hands(conn);
        return;
    }
    if (has_end && (conn->is_ending || !reads(conn))) {
        conn->is_broken = true;
        return;
    }
    if (events & EPOLLOUT) {
        conn->wants_output = false;
        flush(conn);
    }
    if ((events & EPOLLIN) || has_end || SSL_has_pending(conn->ssl))
        receive(conn);
    if ((events & EPOLLOUT) && !conn->is_broken)
        tell_writable(conn);
}

/* A service that writes in its call-back, or output that goes on, gives it more time. */
void ssls_conn_expire(struct ssls_own_conn *conn)
{
    struct ssls_own_ctx *c = conn->ctx;
    const int64_t deadline = conn->deadline_ms;

    if (conn->is_open && !conn->is_ending && c->timeout)
        c->timeout(&c->base, &conn->base, conn->base.fd);
    if (conn->deadline_ms == deadline)
        conn->is_broken = true;
}
