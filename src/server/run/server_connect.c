/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "core/fd.h"
#include "server/h1/conn.h"
#include "server/run/server_int.h"

#include <monkey/ask.h>

#include <fcntl.h>
#include <sys/socket.h>

/* Connections of the program itself: one end of a socket pair, without an address. */

static const struct mk_peer program = {.is_unix = true};
static const struct mk_endpoint inside = {
    .text = "inside",
    .via = {{.transport = &mk_transport_liana}, {.transport = &mk_transport_liana}},
};

static void take(struct mk_worker *w, void *arg)
{
    int fd = (int)(intptr_t)arg;

    if (!w->stopping && !w->ended) {
        mk_conn_open(w, &inside, fd, &program, false);
        return;
    }
    mk_fd_close(&fd);
    mk_shared_connection_ended(w->shared, &program);
}

/* To the workers in turn, as requests from memory. */
static int give(struct mk_shared *shared, int fd)
{
    struct mk_asks *asks = &shared->asks;
    int err = MK_E_PEER;

    pthread_mutex_lock(&asks->lock);
    if (asks->state != MK_ASK_OVER)
        err = mk_worker_post(shared->workers[asks->next++ % shared->nworkers], take,
                             (void *)(intptr_t)fd);
    if (err == 0)
        atomic_fetch_add_explicit(&shared->connections, 1, memory_order_relaxed);
    pthread_mutex_unlock(&asks->lock);
    return err;
}

MK_AT_START int mk_server_connect(struct mk_server *server)
{
    int pair[2], err;

    if (!server)
        return MK_E_INVALID;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return MK_E_NOFD;
    err = fcntl(pair[1], F_SETFL, O_NONBLOCK) < 0 ? MK_E_SYS : give(&server->shared, pair[1]);
    if (err == 0)
        return pair[0];
    mk_fd_close(&pair[0]);
    mk_fd_close(&pair[1]);
    return err;
}
