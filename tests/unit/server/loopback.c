/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct loopback *of(const struct mk_link *link)
{
    const struct mk_conn *c =
        (const struct mk_conn *)(const void *)((const char *)link - offsetof(struct mk_conn, link));
    const struct mk_endpoint *e = c->endpoint;

    return (struct loopback *)(uintptr_t)((const char *)e - offsetof(struct loopback, endpoint));
}

static ssize_t lb_recv(struct mk_link *link, void *buf, size_t len)
{
    struct loopback *lb = of(link);
    size_t n = lb->arrived - lb->in_at;

    lb->nrecv++;
    if (lb->broken)
        return MK_E_PEER;
    if (n == 0)
        return lb->end_arrived ? 0 : MK_E_AGAIN;
    if (n > len)
        n = len;
    link->is_drained = n < len;
    memcpy(buf, lb->in.p + lb->in_at, n);
    lb->in_at += n;
    return (ssize_t)n;
}

static char *grow_out(struct loopback *lb, size_t more)
{
    if (lb->out_len + more > lb->out_cap) {
        lb->out_cap = (lb->out_len + more) * 2;
        lb->out = realloc(lb->out, lb->out_cap);
        assert_non_null(lb->out);
    }
    return lb->out + lb->out_len;
}

static void took(struct loopback *lb, size_t n)
{
    lb->room -= n;
    lb->out_len += n;
    lb->taken += n;
    if (lb->taken > lb->most_at_once)
        lb->most_at_once = lb->taken;
}

static ssize_t lb_send(struct mk_link *link, const struct iovec *iov, int niov, bool more)
{
    struct loopback *lb = of(link);
    size_t sent = 0;

    (void)more;
    lb->nsend++;
    if (lb->broken)
        return MK_E_PEER;
    for (int i = 0; i < niov && lb->room > 0; i++) {
        size_t n = iov[i].iov_len < lb->room ? iov[i].iov_len : lb->room;

        memcpy(grow_out(lb, n), iov[i].iov_base, n);
        took(lb, n);
        sent += n;
        lb->blocked = lb->blocked || n < iov[i].iov_len;
    }
    lb->blocked = lb->blocked || sent == 0;
    return sent > 0 ? (ssize_t)sent : MK_E_AGAIN;
}

static ssize_t lb_sendfile(struct mk_link *link, int fd, uint64_t offset, size_t len)
{
    struct loopback *lb = of(link);
    size_t want = len < lb->room ? len : lb->room;
    ssize_t n;

    lb->nsendfile++;
    if (lb->broken)
        return MK_E_PEER;
    if (lb->no_sendfile)
        return MK_E_UNSUPPORTED;
    if (lb->read_error)
        return MK_E_SYS;
    lb->blocked = lb->blocked || want == 0;
    if (want == 0)
        return MK_E_AGAIN;
    n = pread(fd, grow_out(lb, want), want, (off_t)offset);
    assert_true(n >= 0);
    took(lb, (size_t)n);
    lb->blocked = lb->blocked || (lb->room == 0 && (size_t)n < len);
    return n;
}

static void lb_shutdown(struct mk_link *link)
{
    of(link)->nshutdown++;
}

static const struct mk_transport loopback_transport = {
    .size = sizeof(struct mk_transport),
    .name = "loopback",
    .recv = lb_recv,
    .send = lb_send,
    .sendfile = lb_sendfile,
    .shutdown = lb_shutdown,
};

void loopback_init(struct loopback *lb, struct mk_worker *w, struct mk_str in)
{
    memset(lb, 0, sizeof(*lb));
    lb->worker = w;
    lb->in = in;
    lb->endpoint.via[0].transport = lb->endpoint.via[1].transport = &loopback_transport;
    lb->peer.is_unix = true;
}

static void find_conn(void *block, void *arg)
{
    struct loopback *lb = arg;
    struct mk_conn *c = block;

    if (c->endpoint == &lb->endpoint)
        lb->conn = c;
}

static void find_open(void *block, void *arg)
{
    const struct mk_conn *c = block;
    const struct loopback **lb = arg;

    if (*lb && c->endpoint == &(*lb)->endpoint && !c->closed)
        *lb = NULL;
}

void loopback_open(struct loopback *lb)
{
    int fd = epoll_create1(EPOLL_CLOEXEC); /* a descriptor on which nothing ever happens */

    assert_true(fd >= 0);
    lb->room = lb->out_piece ? lb->out_piece : SIZE_MAX / 2;
    lb->taken = 0;
    atomic_fetch_add(&lb->worker->server->shared.connections, 1);
    mk_conn_open(lb->worker, &lb->endpoint, fd, &lb->peer, lb->busy);
    mk_pool_each(&lb->worker->conns, find_conn, lb);
}

bool loopback_is_closed(const struct loopback *lb)
{
    const struct loopback *sought = lb->conn ? lb : NULL;

    if (sought) /* its memory may be another's by now */
        mk_pool_each(&lb->worker->conns, find_open, &sought);
    return !lb->conn || sought;
}

void loopback_say(struct loopback *lb, struct mk_str in)
{
    assert_true(lb->in_at == lb->in.len);
    lb->in = in;
    lb->arrived = lb->in_at = 0;
}

uint32_t loopback_arrive(struct loopback *lb)
{
    size_t left = lb->in.len - lb->arrived, piece = lb->in_piece ? lb->in_piece : left;
    uint32_t events = lb->blocked ? EPOLLOUT : 0;
    bool had_ended = lb->end_arrived;

    if (lb->arrived == 0 && lb->first_piece > 0)
        piece = lb->first_piece;
    lb->arrived += piece < left ? piece : left;
    lb->end_arrived = lb->half_close && lb->arrived == lb->in.len;
    lb->room = lb->out_piece ? lb->out_piece : SIZE_MAX / 2;
    lb->taken = 0;
    lb->blocked = false;
    if (left > 0 || lb->end_arrived > had_ended)
        events |= EPOLLIN | (lb->end_arrived ? (uint32_t)EPOLLRDHUP : 0U);
    return events;
}

void loopback_turn(struct loopback *lb)
{
    uint32_t events;

    if (loopback_is_closed(lb))
        return;
    events = loopback_arrive(lb);
    if (events)
        lb->conn->watch.on_event(&lb->conn->watch, events);
    mk_loop_turn(&lb->worker->loop, 0, NULL, NULL);
}

void loopback_run(struct loopback *lb)
{
    size_t in_at, out_len;

    for (int still = 0; still < 3 && !loopback_is_closed(lb);) {
        in_at = lb->in_at;
        out_len = lb->out_len;
        loopback_turn(lb);
        still = lb->in_at == in_at && lb->out_len == out_len && lb->arrived == lb->in.len
                    ? still + 1
                    : 0;
    }
}

void loopback_close(struct loopback *lb)
{
    if (!loopback_is_closed(lb))
        mk_conn_close(lb->conn, MK_CLOSE_STOPPING);
    mk_loop_turn(&lb->worker->loop, 0, NULL, NULL);
    lb->conn = NULL;
}

void loopback_talk(struct loopback *lb)
{
    loopback_open(lb);
    loopback_run(lb);
    loopback_close(lb);
}

void loopback_time_out(struct loopback *lb)
{
    assert_true(mk_timer_is_set(&lb->conn->timer));
    mk_timer_cancel(&lb->conn->timer);
    lb->conn->timer.fn(&lb->conn->timer);
}

void loopback_free(struct loopback *lb)
{
    free(lb->out);
    lb->out = NULL;
    lb->out_len = lb->out_cap = 0;
}

struct mk_str loopback_answer(struct loopback *lb)
{
    static const char name[] = "\r\nDate: ";
    char *p = lb->out, *end = lb->out + lb->out_len;

    while (p && (p = memmem(p, (size_t)(end - p), name, sizeof(name) - 1))) {
        p += sizeof(name) - 1;
        for (int i = 0; i < 29 && p < end; i++)
            *p++ = 'D';
    }
    return (struct mk_str){lb->out ? lb->out : "", lb->out_len};
}

unsigned loopback_status(struct loopback *lb, unsigned n)
{
    static const char line[] = "HTTP/1.1 ";
    const char *p = lb->out, *end = lb->out + lb->out_len;

    while (p && (p = memmem(p, (size_t)(end - p), line, sizeof(line) - 1))) {
        p += sizeof(line) - 1;
        if (n-- == 0)
            return (unsigned)strtoul(p, NULL, 10);
    }
    return 0;
}

/* @return how much of what was answered follows the text; -1: it is not that. */
static ptrdiff_t match(struct loopback *lb, const char *expected)
{
    struct mk_str got = loopback_answer(lb);
    const char *at = got.p, *end = got.p + got.len;

    for (; *expected; expected++) {
        if (*expected == '*') {
            while (at < end && *at != '\r')
                at++;
        } else if (at == end || *at++ != *expected) {
            return -1;
        }
    }
    return end - at;
}

bool loopback_begins(struct loopback *lb, const char *expected)
{
    return match(lb, expected) >= 0;
}

bool loopback_matches(struct loopback *lb, const char *expected)
{
    return match(lb, expected) == 0;
}

bool loopback_has(struct loopback *lb, const char *text)
{
    return lb->out && memmem(lb->out, lb->out_len, text, strlen(text)) != NULL;
}
