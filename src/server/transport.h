/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_TRANSPORT_H
#define MK_SERVER_TRANSPORT_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

struct mk_conn;

/**
 * How the bytes of a connection travel; chosen per listener. All run on the connection's worker
 * and never block. Counts are bytes; MK_E_AGAIN means that the loop will tell when to try again,
 * MK_E_PEER that the connection is broken.
 */
struct mk_transport {
    const char *name;
    /** @return > 0, 0 at the end of input, MK_E_AGAIN or MK_E_PEER. */
    ssize_t (*recv)(struct mk_conn *c, void *buf, size_t len);
    /** @param more  further bytes follow at once: a partial packet may wait. @return > 0, MK_E_AGAIN or MK_E_PEER. */
    ssize_t (*send)(struct mk_conn *c, const struct iovec *iov, int niov, bool more);
    /** @return > 0, 0 when the file ends before offset, MK_E_AGAIN, MK_E_SYS (cannot read),
     * MK_E_UNSUPPORTED (read and send instead) or MK_E_PEER. */
    ssize_t (*sendfile)(struct mk_conn *c, int fd, uint64_t offset, size_t len);
    /** May input wait inside the transport after a short recv? NULL: never. */
    bool (*has_pending)(const struct mk_conn *c);
    /** Tell the peer that no more will be sent. */
    void (*shutdown)(struct mk_conn *c);
};

/** Plain sockets. */
extern const struct mk_transport mk_transport_liana;

#endif
