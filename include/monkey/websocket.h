/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEBSOCKET_H
#define MONKEY_WEBSOCKET_H

/*
 * WebSocket (RFC 6455, RFC 7692; in a stream of HTTP/2: RFC 8441) for handlers of plugins and programs. In libmonkey-websocket:
 * pkg-config --libs monkey-websocket.
 *
 *     static void on_message(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
 *     {
 *         (void)mk_ws_send(ws, kind, message);
 *     }
 *
 *     static const struct mk_ws_spec echo = {.size = sizeof(echo), .on_message = on_message};
 *
 *     static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
 *     {
 *         return mk_ws_accept(r, &echo, NULL, NULL);
 *     }
 *
 * A connection belongs to the worker of its request: call functions with a struct mk_ws on its thread. Other threads use a
 * handle or a group. Nothing blocks.
 *
 * A peer that is silent for ping_ms gets a ping, and is closed if nothing comes within pong_ms. A graceful stop of the server
 * sends 1001 to all. A reload keeps connections. Text is checked as it comes, before on_piece and on_message get it.
 *
 * NULL for a request, a connection, a handle or a group does no harm: a call with a return code gives MK_E_INVALID, one that
 * looks for something finds nothing. A spec that is NULL is answered 500.
 */

#include <monkey/request.h>
#include <monkey/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_ws;
struct mk_ws_group;
struct mk_ws_handle;

/** Kinds of messages (section 5.6). */
enum mk_ws_kind {
    MK_WS_TEXT = 1, /* valid UTF-8 */
    MK_WS_BINARY = 2,
};

/** What happens when a message would make what waits for a slow reader exceed max_queue. */
enum mk_ws_policy {
    MK_WS_CLOSE,    /* what waits is dropped, and the connection is closed with 1013 */
    MK_WS_DROP_NEW, /* the message is dropped */
    MK_WS_DROP_OLD, /* the oldest messages are dropped of which no byte was sent */
};

/**
 * Compression of messages, if the client offers it and the library was built with zlib (RFC 7692). It costs CPU time, and a
 * secret that shares a message with a stranger's text can be guessed by its length.
 */
enum mk_ws_deflate {
    MK_WS_PLAIN, /* none */
    MK_WS_DEFLATE, /* each message by itself: a connection has memory for it, up to 80 KB, during a message alone */
    /*
     * A message may refer to those before it (context takeover): similar small messages become much smaller, for up to 80 KB
     * of memory all the time. Not in what the server sends with MK_WS_DROP_OLD, since a dropped message would be missing.
     */
    MK_WS_DEFLATE_KEEP,
};

/** Codes of Close (section 7.4.1). */
enum mk_ws_code {
    MK_WS_NORMAL = 1000,
    MK_WS_GOING_AWAY = 1001,
    MK_WS_PROTOCOL_ERROR = 1002,
    MK_WS_UNACCEPTABLE = 1003,
    MK_WS_NO_CODE = 1005,  /* reported only: the peer's Close had none */
    MK_WS_ABNORMAL = 1006, /* reported only: the connection ended without Close */
    MK_WS_INVALID_TEXT = 1007,
    MK_WS_POLICY = 1008,
    MK_WS_TOO_LARGE = 1009,
    MK_WS_INTERNAL = 1011,
    MK_WS_TRY_LATER = 1013,
};

enum {
    MK_WS_DEFAULT_MAX = 1 << 20, /* bytes of a frame, of a message, and of what waits to be sent */
    MK_WS_DEFAULT_PING_MS = 30000,   /* of silence */
    MK_WS_DEFAULT_PONG_MS = 10000,   /* for the answer to a ping */
    MK_WS_DEFAULT_CLOSE_MS = 5000,   /* for the closing handshake */
    MK_WS_DEFAULT_DEFLATE_MIN = 128, /* bytes */
    MK_WS_NEVER = 0x7fffffff,        /* for ping_ms: no pings */
};

/** How a kind of connections behaves; 0 and NULL are the defaults. */
struct mk_ws_spec {
    size_t size; /* sizeof(struct mk_ws_spec) */
    /** The answer has been sent. NULL: nothing. */
    void (*on_open)(struct mk_ws *ws);
    /** A whole message came; its bytes are borrowed for the call. NULL: use on_piece. */
    void (*on_message)(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message);
    /**
     * A part of a message came, in place of on_message: memory stays constant. Text is valid up to the last byte, but a
     * character may be divided.
     */
    void (*on_piece)(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str piece, bool is_last);
    /** All that waited to be sent has been sent. */
    void (*on_drain)(struct mk_ws *ws);
    /**
     * The connection has ended: called exactly once for each mk_ws_accept that returned one, as the last call.
     * @param code    of the peer's Close; of ours, if the peer sent none; or MK_WS_ABNORMAL
     * @param reason  of the peer's Close, valid UTF-8
     */
    void (*on_close)(struct mk_ws *ws, unsigned code, struct mk_str reason);
    const char
        *protocols; /* subprotocols, the best first, with blanks between; NULL: none is agreed on */
    /** Allowed ones, with blanks between; "*": any; NULL: the request's own. A client that sends no Origin is always allowed. */
    const char *origins;
    uint32_t max_frame;   /* bytes, as sent; larger: 1009 */
    uint32_t max_message; /* bytes, decompressed; larger: 1009 */
    /**
     * Bytes that wait for a slow reader, in max_queue / 32 + 16 messages; one message alone may be larger. What waits for one
     * reader alone counts for MaxMemory, what a group has sent does not.
     */
    uint32_t max_queue;
    enum mk_ws_policy policy;
    unsigned ping_ms, pong_ms, close_ms;
    enum mk_ws_deflate deflate;
    uint32_t deflate_min; /* bytes; shorter messages are sent as they are */
};

/**
 * Answer a request with the opening handshake (section 4.2), or refuse it with 400, 403, 405 or 426. In on_handle.
 * @param spec  borrowed until on_close
 * @param data  of the application, for mk_ws_data
 * @param ws    out: the connection; NULL: the request was refused, and on_close will not be called. May be NULL.
 */
MK_API enum mk_verdict mk_ws_accept(struct mk_request *r, const struct mk_ws_spec *spec, void *data,
                                    struct mk_ws **ws) MK_MUST_USE;

/** @return the data that mk_ws_accept was given. */
MK_API void *mk_ws_data(const struct mk_ws *ws);
/** @return the worker to which the connection belongs. */
MK_API struct mk_worker *mk_ws_worker(const struct mk_ws *ws);
/** @return the number of the agreed subprotocol in the spec's list, from 1; 0: none. */
MK_API unsigned mk_ws_protocol(const struct mk_ws *ws);

/**
 * Send a message. Text must be valid UTF-8, which is not checked.
 * @return >= 0: bytes that wait now; MK_E_BUSY: dropped by the policy, or the connection is being closed by it;
 *         MK_E_NOMEM: not sent; MK_E_PEER: the connection is closing.
 */
MK_API ssize_t mk_ws_send(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message);

/**
 * Send a ping of the application's own (section 5.5.2), beside those of ping_ms. Its pong is not reported.
 * @param payload  at most 125 bytes, which come back
 * @return 0; MK_E_LIMIT; MK_E_NOMEM; MK_E_PEER: the connection is closing.
 */
MK_API int mk_ws_ping(struct mk_ws *ws, struct mk_str payload);

/**
 * Begin the closing handshake (section 7.1.2) after what waits. Messages that still come are dropped. The connection ends
 * when the peer has answered, at the latest after close_ms. The first call counts.
 * @param code    1000 to 1014 without those that are reported only, or 3000 to 4999; others become 1011
 * @param reason  valid UTF-8, cut to 123 bytes
 */
MK_API void mk_ws_close(struct mk_ws *ws, unsigned code, struct mk_str reason);

/* ---- from any thread ---- */

/** @return a handle that stays valid after the connection and its server have ended; NULL: no memory. On the worker. */
MK_API struct mk_ws_handle *mk_ws_handle(struct mk_ws *ws) MK_MUST_USE;
/** Another reference to a handle. */
MK_API struct mk_ws_handle *mk_ws_handle_get(struct mk_ws_handle *h);
MK_API void mk_ws_handle_put(struct mk_ws_handle *h);
/** Send a copy of the message as mk_ws_send, later; messages of one thread keep their order. @return 0, MK_E_PEER: the connection has ended; MK_E_NOMEM. */
MK_API int mk_ws_handle_send(struct mk_ws_handle *h, enum mk_ws_kind kind, struct mk_str message);
/** As mk_ws_close, later and without a reason. @return 0, MK_E_PEER or MK_E_NOMEM. */
MK_API int mk_ws_handle_close(struct mk_ws_handle *h, unsigned code);

/* ---- groups ---- */

/** @return a group of connections of this server; NULL: no memory. Any thread, while the server lives. */
MK_API struct mk_ws_group *mk_ws_group_new(struct mk_server *server) MK_MUST_USE;
/** Give the group back: members and messages on their way hold it until they are done. Any thread. */
MK_API void mk_ws_group_free(struct mk_ws_group *g);
/**
 * Join; again is allowed and changes nothing. On the connection's worker.
 * @return 0; MK_E_INVALID: the connection is of another server; MK_E_NOMEM.
 */
MK_API int mk_ws_group_join(struct mk_ws_group *g, struct mk_ws *ws) MK_MUST_USE;
/** Leave; a connection that ends leaves all its groups. On its worker. */
MK_API void mk_ws_group_leave(struct mk_ws_group *g, struct mk_ws *ws);
/**
 * Send a message to all members: one copy for all, which each worker sends to its own. Messages of one thread arrive in
 * their order. Any thread, also after the server has ended.
 * @return 0; MK_E_NOMEM, MK_E_PEER: the server has ended: nobody gets it.
 */
MK_API int mk_ws_group_send(struct mk_ws_group *g, enum mk_ws_kind kind, struct mk_str message);
/** The same to all members but ws, which may be none. On the worker of ws. */
MK_API int mk_ws_group_send_others(struct mk_ws_group *g, struct mk_ws *ws, enum mk_ws_kind kind,
                                   struct mk_str message);

#ifdef __cplusplus
}
#endif

#endif
