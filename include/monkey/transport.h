/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_TRANSPORT_H
#define MONKEY_TRANSPORT_H

/*
 * A transport carries the bytes of connections. It is a table of functions, chosen for each listener (`Listen 443 tls`,
 * TransportLayer) and for each backend. The built-in transport is liana, plain sockets.
 *
 * A transport works on links. It never blocks, and every function runs on the link's worker.
 *
 * Events are edge-triggered: after an event for input, no other one follows before the socket was read to its end. So the
 * library calls recv, at once or later, until nothing is left, and only then waits for another event. MK_E_AGAIN says that
 * nothing is left; is_drained says it one call earlier. Both describe the socket and the transport's own buffers during
 * the current call. A recv that took its bytes from such a buffer has not read the socket, and the results of earlier calls
 * are out of date. A recv that never sets is_drained is correct.
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

/** One end of a connection, part of the object that owns it. Made by the library. */
struct mk_link {
    const struct mk_transport *transport;
    void *state; /* the transport's own; NULL at first */
    int fd;      /* non-blocking socket; -1 once closed */
    /* set by recv and send: MK_IO_READ, MK_IO_WRITE that the transport needs in addition to the caller's wishes, as when
     * a handshake must write while input is awaited; 0 at first */
    uint8_t waits_for;
    bool is_client; /* this server connected; otherwise it accepted */
    /* set by the library before close: the sent bytes are incomplete, and the peer must not be told that they are complete */
    bool is_cut;
    /* set by recv: nothing is left to read; the library clears it before each call */
    bool is_drained;
};

/** Facts of the peer. Texts live as long as the link. */
struct mk_link_facts {
    size_t size; /* sizeof(struct mk_link_facts), set by the caller, who zeroed the rest */
    const char *tls_version, *tls_cipher; /* "TLSv1.3"; NULL: not encrypted */
    struct mk_str server_name;            /* SNI (RFC 6066 section 3); p NULL: none */
    struct mk_str protocol;               /* ALPN (RFC 7301): "http/1.1", "h2"; p NULL: none */
    struct mk_str client_subject;         /* of a verified client certificate; p NULL: none */
};

/**
 * Counts are bytes. MK_E_AGAIN means that an event will follow, MK_E_PEER that the
 * link is broken. A member that is NULL is not needed by this transport.
 */
struct mk_transport {
    size_t size; /* sizeof(struct mk_transport) */
    const char *name;
    /** The descriptor may be used directly: sendfile, splice. */
    bool is_plain;
    /** Bytes on the wire are encrypted; requests have the scheme https. */
    bool is_secure;
    /**
     * Make the state of a new link. The handshake continues inside recv and send.
     * @param ctx   of the transport's plugin, for the default site. Borrowed for the call: a link may outlive its
     *              configuration, so it holds the objects that it needs
     * @param name  of the server to which a client link connects (SNI, verification); NULL for accepted links
     * @return 0, or an error: the connection is closed without a call of close.
     */
    int (*open)(struct mk_link *l, const struct mk_context *ctx, const char *name);
    /**
     * Never NULL.
     * @return > 0; 0: end of input; MK_E_AGAIN: this call read the socket until EAGAIN, and buffers nothing; or MK_E_PEER.
     * With > 0, set l->is_drained if this call read less from the socket than it asked for, and buffers nothing.
     */
    ssize_t (*recv)(struct mk_link *l, void *buf, size_t len);
    /**
     * Never NULL. With niov 0, called for client links that are not plain: return 0 once the
     * handshake is over, or MK_E_UNSUPPORTED if the backend does not agree to the protocol of mk_link_offer, where it has one.
     * @param more  further bytes follow at once: a partial packet may wait
     * @return > 0, MK_E_AGAIN or MK_E_PEER. After fewer bytes than given, as after MK_E_AGAIN, an event will
     *         follow when there is room; then the rest is passed again first.
     */
    ssize_t (*send)(struct mk_link *l, const struct iovec *iov, int niov, bool more);
    /** @return > 0, 0 when the file ends before offset, MK_E_AGAIN, MK_E_SYS (cannot read),
     * MK_E_UNSUPPORTED (read and send instead) or MK_E_PEER. NULL: always unsupported. */
    ssize_t (*sendfile)(struct mk_link *l, int fd, uint64_t offset, size_t len);
    /** Unused: mk_link.is_drained has replaced it. */
    bool (*has_pending)(const struct mk_link *l);
    /** End the sending half. NULL: shutdown(2). */
    void (*shutdown)(struct mk_link *l);
    /** Free the state of a link that is about to be closed. The library closes the descriptor. */
    void (*close)(struct mk_link *l);
    void (*facts)(const struct mk_link *l, struct mk_link_facts *facts);
    /** @return bytes of memory with encrypted data that waits to be sent; they count against MaxMemory. NULL: none. */
    size_t (*held)(const struct mk_link *l);
};

#ifdef __cplusplus
}
#endif

#endif
