/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_TRANSPORT_H
#define MONKEY_TRANSPORT_H

/*
 * How bytes travel: a table of functions, chosen for each listener (`Listen 443 tls`, TransportLayer)
 * and for each backend. liana, plain sockets, is the built-in one.
 *
 * A transport works on links. It never blocks, and every function runs on the link's worker.
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
        waits_for; /* the transport's: events (enum mk_io_events) that it needs besides what its caller waits for: a handshake that must write while input is awaited */
    bool is_client; /* we connected; otherwise we accepted */
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
     * @param ctx   of the plugin that the transport belongs to
     * @param name  of the server that a client link talks to (SNI, verification); NULL for accepted ones
     * @return 0 or an error: the link is closed.
     */
    int (*open)(struct mk_link *l, const struct mk_context *ctx, const char *name);
    /** @return > 0, 0 at the end of input, MK_E_AGAIN or MK_E_PEER. */
    ssize_t (*recv)(struct mk_link *l, void *buf, size_t len);
    /** @param more  further bytes follow at once: a partial packet may wait. @return > 0, MK_E_AGAIN or MK_E_PEER. After MK_E_AGAIN the same bytes come again first. */
    ssize_t (*send)(struct mk_link *l, const struct iovec *iov, int niov, bool more);
    /** @return > 0, 0 when the file ends before offset, MK_E_AGAIN, MK_E_SYS (cannot read),
     * MK_E_UNSUPPORTED (read and send instead) or MK_E_PEER. NULL: always unsupported. */
    ssize_t (*sendfile)(struct mk_link *l, int fd, uint64_t offset, size_t len);
    /** May input wait inside the transport after a short recv? NULL: never. */
    bool (*has_pending)(const struct mk_link *l);
    /** Tell the peer that no more will be sent. */
    void (*shutdown)(struct mk_link *l);
    /** The link is about to be closed: free its state. The library closes the descriptor. */
    void (*close)(struct mk_link *l);
    void (*facts)(const struct mk_link *l, struct mk_link_facts *facts);
};

#ifdef __cplusplus
}
#endif

#endif
