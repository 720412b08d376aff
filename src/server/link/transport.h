/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_LINK_TRANSPORT_H
#define MK_SERVER_LINK_TRANSPORT_H

#include <monkey/transport.h>

/** Plain sockets. */
extern const struct mk_transport mk_transport_liana;

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
