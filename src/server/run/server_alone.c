/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "server/run/plugin_life.h"
#include "server/run/server_int.h"

#include <stdio.h>

/* A server that has neither threads nor sockets, for what is done once on a worker of its. */

/* @return 0, or an error with nothing left begun; server->why. */
static int begin(struct mk_server *server, struct mk_worker *w)
{
    int err = mk_plugins_start(server, server->snapshot, NULL);

    if (err < 0)
        return err;
    err = mk_view_begin(w->view, w);
    if (err < 0) {
        (void)snprintf(server->why, sizeof(server->why), "%s", w->why);
        mk_plugins_stop(server->snapshot);
    }
    return err;
}

MK_AT_START int mk_server_alone(struct mk_server *server,
                                void (*fn)(struct mk_worker *w, void *arg), void *arg)
{
    struct mk_worker *w = server->shared.workers[0], *before = mk_worker_enter(w);
    int err = begin(server, w);

    if (err == 0) {
        mk_loop_turn(&w->loop, 0, NULL, NULL); /* its clock goes */
        fn(w, arg);
        mk_view_end(w->view);
        mk_plugins_stop(server->snapshot);
    }
    (void)mk_worker_enter(before);
    return err;
}
