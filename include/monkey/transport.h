/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_TRANSPORT_H
#define MONKEY_TRANSPORT_H

/*
 * How bytes travel: a table of functions, chosen for each listener (`Listen 443 tls`, TransportLayer)
 * and for each backend. liana, plain sockets, is the built-in one.
 *
 * A transport works on links. It never blocks, and every function runs on the link's worker.
 *
 * Events are edge-triggered: one event tells of input, and none follows before the socket was read to its end. So the
 * library calls recv, at once or later, until it knows that nothing is left, and only then waits for another event. It
 * knows by MK_E_AGAIN, or by is_drained, which saves the call in vain. Both speak of the socket and of what the transport
 * keeps inside, as they are in this very call: a recv that takes its bytes from inside has not asked the socket, and what an
 * earlier call found there is past. A recv that never sets is_drained is right.
 */

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_context;
struct mk_link;
struct mk_transport;

/** One end of a connection, inside the object that has it. Made by the library. */
struct mk_link {
    const struct mk_transport *transport;
    void *state; /* the transport's own; NULL at first */
    int fd;      /* non-blocking socket; -1 once closed */
    uint8_t
        waits_for; /* the transport's, set by recv and send: MK_IO_READ, MK_IO_WRITE that it needs besides what its caller waits for, as when a handshake must write while input is awaited; 0 at first */
    bool is_client; /* we connected; otherwise we accepted */
    bool
        is_cut; /* the library's, set before close: what was sent is not whole, and nothing may tell the peer that it were */
    bool
        is_drained; /* recv's: nothing is left to read; the library makes it false before each call */
};

/** What a transport knows of the other end. Texts live as long as the link. */
struct mk_link_facts {
    size_t size; /* sizeof(struct mk_link_facts), set by the caller, who zeroed the rest */
    const char *tls_version, *tls_cipher; /* "TLSv1.3"; NULL: not encrypted */
    struct mk_str server_name;            /* SNI (RFC 6066 section 3); p NULL: none */
    struct mk_str protocol;               /* ALPN (RFC 7301): "http/1.1", "h2"; p NULL: none */
    struct mk_str client_subject; /* of a client certificate that was verified; p NULL: none */
};

/**
 * Counts are bytes. MK_E_AGAIN means that the loop will tell when to try again, MK_E_PEER that the
 * link is broken. A function that is NULL is not needed by this transport.
 */
struct mk_transport {
    size_t size; /* sizeof(struct mk_transport) */
    const char *name;
    /** May the descriptor be used past the transport: sendfile, splice? */
    bool is_plain;
    /** Are bytes on the wire encrypted? Then requests have the scheme https. */
    bool is_secure;
    /**
     * A link begins: make its state. The handshake goes on inside recv and send.
     * @param ctx   of the plugin that the transport belongs to, at the default site. Borrowed for
     *              the call: a link may outlive its configuration, and holds what it needs of it itself
     * @param name  of the server that a client link talks to (SNI, verification); NULL for accepted ones
     * @return 0, or an error: the connection ends, and close is not called.
     */
    int (*open)(struct mk_link *l, const struct mk_context *ctx, const char *name);
    /**
     * Never NULL.
     * @return > 0; 0 at the end of input; MK_E_AGAIN: this call read the socket until EAGAIN, and nothing is inside; or MK_E_PEER.
     * With > 0, set l->is_drained if this call read less from the socket than it asked for, and keeps nothing inside.
     */
    ssize_t (*recv)(struct mk_link *l, void *buf, size_t len);
    /**
     * Never NULL. With niov 0, asked of links that we connected and that are not plain: 0 once the
     * handshake is over.
     * @param more  further bytes follow at once: a partial packet may wait
     * @return > 0, MK_E_AGAIN or MK_E_PEER. Fewer than given means, like MK_E_AGAIN, that an event will
     *         tell of room; the rest comes again first then.
     */
    ssize_t (*send)(struct mk_link *l, const struct iovec *iov, int niov, bool more);
    /** @return > 0, 0 when the file ends before offset, MK_E_AGAIN, MK_E_SYS (cannot read),
     * MK_E_UNSUPPORTED (read and send instead) or MK_E_PEER. NULL: always unsupported. */
    ssize_t (*sendfile)(struct mk_link *l, int fd, uint64_t offset, size_t len);
    /** Not called: is_drained of the link has replaced it. */
    bool (*has_pending)(const struct mk_link *l);
    /** Tell the peer that no more will be sent. NULL: shutdown(2). */
    void (*shutdown)(struct mk_link *l);
    /** The link is about to be closed: free its state. The library closes the descriptor. */
    void (*close)(struct mk_link *l);
    void (*facts)(const struct mk_link *l, struct mk_link_facts *facts);
    /** Bytes of memory in which what was encrypted waits to be sent; they count against MaxMemory. NULL: none. */
    size_t (*held)(const struct mk_link *l);
};

#ifdef __cplusplus
}
#endif

#endif
