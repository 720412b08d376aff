/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_REQUEST_WIRE_H
#define MK_SERVER_REQUEST_WIRE_H

#include "server/request/pump.h"
#include "server/request/request.h"

#include <monkey/stream.h>

/*
 * The seam between a request and the protocol that carries it. HTTP/1 (server/h1/) and requests from memory
 * (server/memory/) are its implementations; handlers, sources, filters and pages stand above it and know none of them.
 *
 * A protocol owns its requests. It fills in what needs no call: conn (NULL when no connection carries the request),
 * worker, wire, id, is_secure, text and head_len, which it keeps right when its buffer moves. It lets the request go on
 * with mk_body_pump() and mk_route_resume() in turns of its own, and ends it. The request asks the protocol through
 * these operations, all of them on the request's worker and none of them after the request has ended (OVER).
 *
 * The verdicts of operations that send are those of pump.h: READER means that the protocol runs the request when the client
 * takes more, CUT that the client is lost. No operation keeps a pointer that it is given, unless it says so.
 */
struct mk_wire {
    /* ---- the request's body ---- */

    /**
     * Decoded bytes of the body. The first call tells a client that waits for 100 (Continue) to send.
     * @param len  > 0
     * @return > 0; 0 at its end, MK_RECEIVING_DONE is its state; MK_E_AGAIN: r is run when more has come; MK_E_PEER: the
     *         client left in the middle; MK_E_BAD, MK_E_LIMIT: malformed, or too large; MK_E_NOMEM.
     */
    ssize_t (*read)(struct mk_request *r, char *dst, size_t len);
    /** Bytes that have come and were not read, framing counted. */
    size_t (*buffered)(const struct mk_request *r);

    /* ---- the answer's head: field lines as text, which the protocol sends as it likes ---- */

    /**
     * Room for the head that p->status begins, what comes before the first field included: sets p->start and p->at to the first
     * field, p->end to the end of the room. It is the request's until something else is sent on its worker.
     * @return 0 or MK_E_PEER.
     */
    int (*begin_head)(struct mk_reply *p);
    /** Is the room of begin_head still this head's? */
    bool (*has_head)(const struct mk_reply *p);
    /** An interim response (RFC 9110 section 15.2) is complete; left out where the client knows none. @return 0 or MK_E_LIMIT. */
    int (*end_interim)(struct mk_reply *p);
    /**
     * The head is complete but for its framing, which is the protocol's: Content-Length unless p->has_length, chunks, Connection.
     * @param length       of the body; -1: not known
     * @param has_content  there may be a body (RFC 9110 section 6.4.1)
     * @return 0; MK_E_LIMIT: it does not fit, nothing was sent.
     */
    int (*end_head)(struct mk_reply *p, int64_t length, bool has_content);

    /* ---- the answer's body: called from mk_body_pump() only ---- */

    /** @return DONE: the client takes more; READER. */
    enum mk_pump (*may_send)(const struct mk_request *r);
    /**
     * Send of a source of known length, MEMORY or FILE, from s->at, which moves on, to s->end; also called when nothing of it
     * is left but the end of its framing. The protocol may keep references to a cached file.
     * @param budget  bytes this turn may still send; lowered
     * @return DONE: all of it; READER, TURN, TRUNCATED, CUT, BROKEN.
     */
    enum mk_pump (*send_part)(struct mk_request *r, struct mk_source *s, size_t *budget);
    /** Send a piece of a body that comes as it likes, after may_send. @param len  > 0, at most 8192. @return DONE or CUT. */
    enum mk_pump (*send_piece)(struct mk_request *r, const char *bytes, size_t len);
    /** May splice be used for this answer's body? NULL: never. */
    bool (*can_splice)(const struct mk_request *r);
    /**
     * Move bytes from a pipe to the client, after a flush.
     * @param moved  out: bytes; with DONE and 0 the pipe has ended
     * @return DONE; READER: client or pipe, whichever it is; COPY: they must be read; CUT.
     */
    enum mk_pump (*splice)(struct mk_request *r, int fd, size_t len, size_t *moved);
    /** Let what was sent leave now. @param more  a body follows at once. @return DONE, READER, CUT, NO_MEMORY. */
    enum mk_pump (*flush)(struct mk_request *r, bool more);
    /** The body is complete: last chunk, and r->trailer. @return DONE or CUT. */
    enum mk_pump (*end_body)(struct mk_request *r);

    /* ---- time and ends ---- */

    /** Run the request in a turn of its own soon: something that it waits for has come. Harmless more than once. */
    void (*wake)(struct mk_request *r);
    /** r->patience_ms has changed: the handler's time begins anew. */
    void (*renew_timeout)(struct mk_request *r);
    /**
     * Hand the client's connection over behind the answer's head, as mk_request_take(); its conditions hold. NULL: there is none.
     * @return 0; MK_E_INVALID: it is taken already; MK_E_NOMEM.
     */
    int (*take)(struct mk_request *r, struct mk_stream **stream, mk_stream_fn fn, void *arg);
    /**
     * mk_request_on_taken_end(), of what take gave. NULL: there is none.
     * @return 0; MK_E_NOENT: there is none, or it has ended; MK_E_NOMEM.
     */
    int (*watch_taken)(const struct mk_request *r, mk_taken_fn fn, void *arg);
    /** The protocol's name and version, for logs and scripts. NULL: that of the head's text. */
    struct mk_str (*version)(const struct mk_request *r);
    /** Who is at the other end, for the log. NULL: nobody. */
    void (*peer)(const struct mk_request *r, char dst[MK_PEER_TEXT]);
    /** Of a head that was refused: its first line, as far as it came; p NULL: none. NULL: it has no line. */
    struct mk_str (*refused_line)(const struct mk_request *r);
};

/** A status behind which the connection speaks another protocol (RFC 9110 sections 7.8 and 9.3.6). */
static inline bool mk_request_opens_tunnel(const struct mk_request *r)
{
    return r->status == 101 || (r->head.method == MK_METHOD_CONNECT && r->status / 100 == 2);
}

#endif
