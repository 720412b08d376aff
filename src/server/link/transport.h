/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_LINK_TRANSPORT_H
#define MK_SERVER_LINK_TRANSPORT_H

#include <monkey/transport.h>

struct mk_setup;
struct mk_snapshot;

/** Plain sockets. */
extern const struct mk_transport mk_transport_liana;

/** What carries the bytes of a listener or of a stream, and whose context it is given. */
struct mk_via {
    const struct mk_transport *transport;
    unsigned plugin; /* among the snapshot's; of no use for liana, which needs no context */
};

/** The transport of a name, in any case: liana, or that of a loaded plugin. @return false: there is none. */
bool mk_via_find(struct mk_via *via, const struct mk_snapshot *s, struct mk_str name) MK_MUST_USE;

/** Give each Listen line its transport, once the plugins are known. Names that are none become faults. */
void mk_via_choose(struct mk_snapshot *s, struct mk_setup *ctx);

/** Tell the peer that no more will be sent, once what was given to send has left. */
void mk_link_shutdown(struct mk_link *l);
/** Free the transport's state; the descriptor is still to be closed. */
void mk_link_close(struct mk_link *l);

/** As transport->sendfile, for any transport. */
static inline ssize_t mk_link_sendfile(struct mk_link *l, int fd, uint64_t offset, size_t len)
{
    return l->transport->sendfile ? l->transport->sendfile(l, fd, offset, len) : MK_E_UNSUPPORTED;
}

/** As transport->recv; l->is_drained is what this call says. */
static inline ssize_t mk_link_recv(struct mk_link *l, void *buf, size_t len)
{
    l->is_drained = false;
    return l->transport->recv(l, buf, len);
}

#endif
