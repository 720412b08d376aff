/* SPDX-License-Identifier: Apache-2.0 */
#include "base/invariant.h"
#include "base/code.h"
#include "base/heap.h"
#include "base/limits.h"
#include "core/fd.h"
#include "server/h1/conn.h"
#include "server/run/listener.h"
#include "server/run/server_int.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Accepting, and what happens when there is no room. */

enum {
    CALM_MS = 1000, /* with room for so long, waiting is over */
    RETRY_MS = 100, /* when nothing of this worker's own will tell that there is room again */
    LINGER_MS = MK_FD_DEFER_S * 1000 + 1000, /* the longest handshake */
};

/*
 * Of the lists of all ports, which their own threads change, and those of others read that accept for them. No hook is
 * called with it: one that blocks would keep all workers from what only one of them waits for.
 */
static pthread_mutex_t lists = PTHREAD_MUTEX_INITIALIZER;

static struct mk_port *port_of(struct mk_watch *w)
{
    return MK_CONTAINER_OF(w, struct mk_port, watch);
}

static uint32_t port_events(const struct mk_port *p)
{
    return EPOLLIN | (p->shared ? (uint32_t)EPOLLEXCLUSIVE : 0U);
}

/* ---- capacity ---- */

static void on_room(struct mk_worker *w);

static void count_paused(struct mk_port *p, int more)
{
    p->ports->npaused += (unsigned)more;
    if (p->worker)
        p->worker->on_room = p->ports->npaused > 0 ? on_room : NULL;
}

static void pause_port(struct mk_port *p)
{
    if (p->paused)
        return;
    p->paused = true;
    count_paused(p, 1);
    mk_watch_pause(p->loop, &p->watch);
    mk_timer_set(&p->loop->wheel, &p->resume, p->loop->clock.mono_ms + RETRY_MS);
}

static void resume_port(struct mk_port *p)
{
    if (!p->paused)
        return;
    p->paused = false;
    count_paused(p, -1);
    mk_timer_set(&p->loop->wheel, &p->resume, p->loop->clock.mono_ms + CALM_MS);
    if (mk_watch_open(p->loop, &p->watch, port_events(p)) < 0)
        pause_port(p);
}

void mk_ports_resume(struct mk_ports *ports)
{
    MK_LIST_EACH (&ports->list, link)
        resume_port(MK_CONTAINER_OF(link, struct mk_port, link));
}

/* A connection of this worker has ended. */
static void on_room(struct mk_worker *w)
{
    mk_ports_resume(&mk_worker_thread_of(w)->ports);
}

/* With the one that was just taken: are more above the maximum than can be told so? */
static bool is_overrun(struct mk_server *server)
{
    return atomic_load_explicit(&server->shared.connections, memory_order_relaxed) >
           atomic_load_explicit(&server->shared.max_connections, memory_order_relaxed) +
               MK_LIMIT_BUSY_ANSWERS;
}

static bool resists(const struct mk_server *server)
{
    return atomic_load_explicit(&server->over_capacity, memory_order_relaxed) == MK_OVER_RESIST;
}

/*
 * A place is taken before its connection is accepted: of two workers that see the last free one only one shall accept.
 * @param within  out: the maximum has room for it @return false: none was taken, since above the maximum clients wait.
 */
static bool take_place(struct mk_server *server, bool *within)
{
    int64_t max = atomic_load_explicit(&server->shared.max_connections, memory_order_relaxed);
    int64_t taken = atomic_load_explicit(&server->shared.connections, memory_order_relaxed);

    do {
        *within = taken < max;
        if (!*within && resists(server))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&server->shared.connections, &taken, taken + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

static void give_place_back(struct mk_server *server)
{
    atomic_fetch_sub_explicit(&server->shared.connections, 1, memory_order_relaxed);
}

static void note_full(struct mk_port *p, const char *what)
{
    mk_log_peer(&p->server->shared.log, MK_LOG_WARN, MK_LOG_LISTEN,
                "%s address=%s connections=%lld", what, p->listener->endpoint.text,
                (long long)atomic_load(&p->server->shared.connections));
}

/* Told once, however many ports wait, and however often they look whether there is room. */
static void wait_for_room(struct mk_port *p, const char *what)
{
    if (!p->waiting && atomic_fetch_add(&p->server->waiting_ports, 1) == 0)
        note_full(p, what);
    p->waiting = true;
    pause_port(p);
    mk_crowd_ask(&p->server->shared);
}

static void stop_waiting(struct mk_port *p)
{
    if (p->waiting && atomic_fetch_sub(&p->server->waiting_ports, 1) == 1)
        mk_log(&p->server->shared.log, MK_LOG_INFO, MK_LOG_LISTEN,
               "no longer waiting connections=%lld",
               (long long)atomic_load(&p->server->shared.connections));
    p->waiting = false;
}

static void on_resume_timer(struct mk_timer *t)
{
    struct mk_port *p = MK_CONTAINER_OF(t, struct mk_port, resume);

    if (p->paused)
        resume_port(p);
    else
        stop_waiting(p);
}

/* ---- accepting ---- */

static void deliver(struct mk_port *p, int fd, const struct mk_peer *peer, bool busy)
{
    if (p->worker)
        mk_conn_open(p->worker, &p->listener->endpoint, fd, peer, busy);
    else
        mk_acceptor_give(p->server->acceptor, &p->listener->endpoint, fd, peer, busy);
}

static void admit(struct mk_port *p, int fd, const struct mk_addr *addr, bool busy)
{
    struct mk_server *server = p->server;
    bool too_busy =
        atomic_load_explicit(&server->over_capacity, memory_order_relaxed) == MK_OVER_TOO_BUSY;
    struct mk_peer peer;
    bool counted;

    mk_peer_from_addr(&peer, addr);
    /* Behind a proxy all have its address until the header tells: only then are they counted. */
    counted = atomic_load(&p->listener->endpoint.proxy) ||
              mk_per_address_take(&server->shared.per_address, &peer);
    if (counted && (!busy || (too_busy && !is_overrun(server)))) {
        deliver(p, fd, &peer, busy);
        return;
    }
    if (counted)
        mk_crowd_ask(&server->shared);
    note_full(p, counted ? "closed: too many connections"
                         : "closed: too many connections of one address");
    mk_fd_close(&fd);
    mk_shared_connection_ended(&server->shared, &peer);
}

/* Out of descriptors: a kept one makes room to take the connection and end it, where that is wanted. */
static bool drop_with_reserve(struct mk_port *p)
{
    int fd;

    if (p->ports->reserve_fd < 0)
        return false;
    mk_fd_close(&p->ports->reserve_fd);
    fd = accept4(p->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0)
        mk_fd_close(&fd);
    p->ports->reserve_fd = fcntl(p->loop->epfd, F_DUPFD_CLOEXEC, 0);
    return fd >= 0;
}

/* @return false: stop accepting for now. */
static bool on_accept_error(struct mk_port *p, int err)
{
    switch (err) {
    case EAGAIN:
        return false;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOBUFS:
        if (!resists(p->server) && drop_with_reserve(p)) {
            note_full(p, "closed: out of descriptors or memory");
            return true;
        }
        wait_for_room(p, "waiting: out of descriptors or memory");
        return false;
    default:
        return true; /* the peer left meanwhile, and the like: on to the next one */
    }
}

/* @return false: nothing more to accept now. */
static bool accept_one(struct mk_port *p)
{
    struct mk_addr addr;
    bool within;
    int fd;

    if (!p->worker && !mk_acceptor_has_room(p->server->acceptor)) {
        pause_port(p); /* the workers are late: clients wait in the backlog */
        return false;
    }
    if (!take_place(p->server, &within)) {
        wait_for_room(p, "waiting: too many connections");
        return false;
    }
    addr.len = sizeof(addr.un);
    fd = accept4(p->watch.fd, &addr.sa, &addr.len, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        give_place_back(p->server);
        return on_accept_error(p, errno);
    }
    admit(p, fd, &addr, !within);
    return true;
}

/* epoll puts us behind everybody who asks; whoever waits at the door has a share of each turn instead. */
static void on_port_event(struct mk_watch *w, uint32_t events)
{
    struct mk_port *p = port_of(w);

    if (events != MK_RUN) {
        mk_watch_run_soon(p->loop, w);
        return;
    }
    for (int i = 0; i < MK_LIMIT_TURN_ACCEPTS && w->fd >= 0; i++) {
        if (!accept_one(p))
            return;
        if (mk_crowd_is_next_near(&p->server->shared))
            break;
    }
    if (w->fd >= 0)
        mk_watch_run_soon(p->loop, w);
}

/* ---- life ---- */

static void on_port_gone(struct mk_watch *w)
{
    mk_heap_free(port_of(w));
}

void mk_ports_init(struct mk_ports *ports)
{
    mk_list_init(&ports->list);
    ports->npaused = 0;
    ports->reserve_fd = -1;
}

static struct mk_port *find_port(struct mk_ports *ports, const struct mk_listener *l)
{
    MK_LIST_EACH (&ports->list, link) {
        struct mk_port *p = MK_CONTAINER_OF(link, struct mk_port, link);

        if (p->listener == l && !p->leaving && !p->lender)
            return p;
    }
    return NULL;
}

/* From now on the socket is this port's alone. @return false: others still wait on it. */
static bool take_socket(struct mk_port *p)
{
    struct mk_listener *l = p->listener;
    bool is_last = atomic_fetch_sub(&l->users, 1) == 1 || l->nfds > 1;

    if (is_last)
        l->fds[l->nfds > 1 ? p->worker->index : 0] = -1;
    return is_last;
}

/* @return whether its socket is to end. */
static bool let_go(struct mk_port *p)
{
    if (p->lender)
        return false;
    if (p->leaving)
        atomic_fetch_sub(&p->listener->lingering, 1);
    else if (!take_socket(p))
        p->watch.fd = -1;
    return true;
}

/* What has shaken hands already is served; then the socket closes, unless others still wait on it. */
static void close_port(struct mk_port *p)
{
    resume_port(p);
    for (int i = 0; i < MK_LIMIT_DRAIN_ACCEPTS && accept_one(p); i++)
        ;
    pthread_mutex_lock(&lists);
    mk_list_remove(&p->link);
    pthread_mutex_unlock(&lists);
    if (p->paused)
        count_paused(p, -1);
    stop_waiting(p);
    mk_timer_cancel(&p->resume);
    mk_timer_cancel(&p->leave);
    mk_watch_pause(p->loop, &p->watch);
    if (let_go(p))
        mk_listener_end_socket(p->listener, p->watch.fd);
    mk_watch_close(p->loop, &p->watch);
}

static void on_leave_timer(struct mk_timer *t)
{
    close_port(MK_CONTAINER_OF(t, struct mk_port, leave));
}

/* Let go of a port that is no longer wanted. */
static void leave_port(struct mk_port *p)
{
    if (!p->listener->lingers || p->shared) { /* one that is lent is */
        close_port(p);
        return;
    }
    pthread_mutex_lock(&lists);
    p->leaving = true;
    pthread_mutex_unlock(&lists);
    atomic_fetch_add(&p->listener->lingering, 1);
    (void)take_socket(p); /* which is not shared */
    mk_timer_set(&p->loop->wheel, &p->leave, p->loop->clock.mono_ms + LINGER_MS);
}

static int open_port(struct mk_ports *ports, struct mk_listener *l, struct mk_server *server,
                     struct mk_worker *worker, struct mk_loop *loop, const struct mk_worker *lender,
                     int fd)
{
    struct mk_port *p = mk_heap_zalloc(1, sizeof(*p));
    int err;

    if (!p)
        return MK_E_NOMEM;
    p->ports = ports;
    p->server = server;
    p->worker = worker;
    p->loop = loop;
    p->listener = l;
    p->lender = lender;
    p->shared = lender || (l->nfds == 1 && worker && server->shared.nworkers > 1);
    mk_watch_init(&p->watch, fd, on_port_event, on_port_gone);
    mk_timer_init(&p->resume, on_resume_timer);
    mk_timer_init(&p->leave, on_leave_timer);
    mk_list_add_tail(&ports->list, &p->link);
    err = mk_watch_open(loop, &p->watch, port_events(p));
    if (err < 0) {
        mk_list_remove(&p->link);
        mk_heap_free(p);
    }
    return err;
}

MK_AT_START int mk_ports_update(struct mk_ports *ports, struct mk_server *server,
                                struct mk_worker *worker, struct mk_loop *loop)
{
    int err = 0;

    if (ports->reserve_fd < 0 && atomic_load(&server->over_capacity) != MK_OVER_RESIST)
        ports->reserve_fd = fcntl(loop->epfd, F_DUPFD_CLOEXEC, 0);
    MK_LIST_EACH (&ports->list, link) {
        struct mk_port *p = MK_CONTAINER_OF(link, struct mk_port, link);

        if (!p->listener->wanted && !p->leaving)
            leave_port(p);
    }
    pthread_mutex_lock(&lists);
    for (struct mk_listener *l = server->listeners; l && err == 0; l = l->next) {
        if (l->open && l->wanted && !find_port(ports, l))
            err = open_port(ports, l, server, worker, loop, NULL,
                            l->fds[l->nfds > 1 ? worker->index : 0]);
    }
    pthread_mutex_unlock(&lists);
    return err;
}

MK_AT_START void mk_ports_close(struct mk_ports *ports)
{
    MK_LIST_EACH (&ports->list, link)
        close_port(MK_CONTAINER_OF(link, struct mk_port, link));
    mk_fd_close(&ports->reserve_fd);
}

/* ---- for workers that are blocked ---- */

static void borrow(struct mk_worker *w, struct mk_worker *lender)
{
    struct mk_ports *ports = &mk_worker_thread_of(w)->ports;

    MK_LIST_EACH (&mk_worker_thread_of(lender)->ports.list, link) {
        const struct mk_port *p = MK_CONTAINER_OF(link, struct mk_port, link);
        const bool is_over = p->shared || p->leaving || !p->listener->wanted;
        int fd = is_over ? -1 : fcntl(p->watch.fd, F_DUPFD_CLOEXEC, 0);

        if (fd >= 0 && open_port(ports, p->listener, w->server, w, &w->loop, lender, fd) < 0)
            (void)close(fd);
    }
}

void mk_ports_lend(struct mk_worker *w)
{
    MK_LIST_EACH (&mk_worker_thread_of(w)->ports.list, link) {
        if (MK_CONTAINER_OF(link, struct mk_port, link)->lender)
            close_port(MK_CONTAINER_OF(link, struct mk_port, link));
    }
    pthread_mutex_lock(&lists);
    for (unsigned i = 0; i < w->shared->nworkers; i++) {
        struct mk_worker *lender = w->shared->workers[i];

        if (atomic_load_explicit(&lender->is_stuck, memory_order_relaxed))
            borrow(w, lender);
    }
    pthread_mutex_unlock(&lists);
}

MK_AT_START void mk_ports_free(struct mk_ports *ports)
{
    MK_LIST_EACH (&ports->list, link) {
        struct mk_port *p = MK_CONTAINER_OF(link, struct mk_port, link);

        mk_list_remove(&p->link);
        mk_heap_free(p);
    }
    mk_fd_close(&ports->reserve_fd);
}
