/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/conn_peer.h"

#include "server/h1/conn.h"
#include "server/h1/endpoint.h"
#include "server/worker/worker.h"

#include <sys/socket.h>
#include <unistd.h>

static bool is_trusted_user(const struct mk_server_settings *set, uid_t uid)
{
    for (size_t i = 0; i < set->trusted_users.count; i++) {
        if (set->trusted_uids[i] == uid)
            return true;
    }
    return set->trusted_users.count == 0 && (uid == 0 || uid == geteuid());
}

/* Who is at the other end of a unix socket; systemd or an administrator may have opened its file to all. */
static bool trusts_account(const struct mk_conn *c, uid_t *uid)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    if (getsockopt(c->link.fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return false;
    *uid = peer.uid;
    return is_trusted_user(&c->worker->view->snapshot->set, peer.uid);
}

bool mk_conn_is_trusted(const struct mk_conn *c)
{
    const struct mk_server_settings *set;
    uid_t uid;

    if (!c)
        return false;
    set = &c->worker->view->snapshot->set;
    if (c->peer.is_unix)
        return trusts_account(c, &uid);
    for (size_t i = 0; i < set->ntrusted; i++) {
        if (mk_net_has(&set->trusted[i], c->peer.ip))
            return true;
    }
    return false;
}

bool mk_conn_may_name_peer(const struct mk_conn *c)
{
    uid_t uid = (uid_t)-1;

    if (!c->peer.is_unix)
        return mk_conn_is_trusted(c);
    if (trusts_account(c, &uid))
        return true;
    mk_log_peer(mk_worker_log(c->worker), MK_LOG_WARN, MK_LOG_LISTEN,
                "not one of TrustedUsers uid=%u address=%s", (unsigned)uid, c->endpoint->text);
    return false;
}

bool mk_conn_set_peer(struct mk_conn *c, const uint8_t ip[16], uint16_t port)
{
    struct mk_shared *shared = c->worker->shared;
    struct mk_peer peer = {.port = port};

    memcpy(peer.ip, ip, 16);
    if (!mk_per_address_take(&shared->per_address, &peer))
        return false;
    mk_per_address_put(&shared->per_address, &c->peer);
    c->peer = peer;
    return true;
}
