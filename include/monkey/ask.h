/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_ASK_H
#define MONKEY_ASK_H

/*
 * In-process requests: a server answers a request that comes from memory instead of a connection. The request
 * goes through everything that a client's goes through: its site is chosen, stages 20, 30 and 40 run, files,
 * handlers, filters and error pages answer. There is no connection, so stages 10 and 50 do not run, and
 * mk_request_facts has conn NULL, which all mk_conn_ calls accept.
 *
 * What is more than requests, such as WebSocket, pipelining or a client library of the program, has a connection without an
 * address:
 *
 *     fd = mk_server_connect(server);
 *     send(fd, "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n...", len, MSG_NOSIGNAL);
 */

#include <monkey/types.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct mk_server;

/** A request. All members are borrowed for the call only. */
struct mk_question {
    size_t size;          /* sizeof(struct mk_question); too small for a body: MK_E_INVALID */
    struct mk_str method; /* p NULL: "GET"; CONNECT is not allowed */
    struct mk_str target; /* "/path?query", or "*" for OPTIONS */
    /**
     * Field lines with their line ends, "Host: a\r\nAccept: *\r\n"; Host: localhost is added without one. The fields of
     * framing are not allowed: Content-Length, Transfer-Encoding, Connection, Upgrade, Expect, TE, Trailer.
     */
    struct mk_str fields;
    struct mk_str body;
    bool is_secure;    /* the scheme is https */
    size_t max_answer; /* bytes of the answer's body; 0: 1 MB */
};

/** The answer to a request. */
struct mk_answer {
    size_t size;
    /**
     * 0: the answer is complete; an enum mk_error otherwise. MK_E_LIMIT: its body is larger than max_answer; MK_E_TIMEOUT: its handler was too slow (HandlerTimeout) after the head; MK_E_PEER: the server stopped or was freed;
     * MK_E_NOMEM, also without room in MaxMemory for the answer; MK_E_BAD: the answer was broken off. What had come before the error is there.
     */
    int error;
    unsigned status;        /* 0: none */
    struct mk_str fields;   /* field lines with their line ends */
    struct mk_str body;     /* decoded: no chunks */
    struct mk_str trailers; /* field lines behind the body */
};

/**
 * Takes an answer, exactly once for each question that was accepted: on a worker's thread, or on the thread that frees the
 * server. It must not block.
 * @param answer  borrowed for the call only
 */
typedef void (*mk_answer_fn)(const struct mk_answer *answer, void *arg);

/**
 * Ask, from any thread, at any time between mk_server_new and mk_server_free. A worker answers once the server has started;
 * its time-outs and MaxBodySize apply. A graceful stop waits for the answers under way as long as for those of other clients,
 * and no more requests are accepted. A head or body above the server's limits is answered as a client's: 414, 431, 413.
 * @return 0: fn will be called; MK_E_INVALID: the question is malformed; MK_E_PEER: mk_server_stop was called; MK_E_NOMEM, also
 *         without room in MaxMemory for the question.
 */
MK_API int mk_server_ask(struct mk_server *server, const struct mk_question *question,
                         mk_answer_fn fn, void *arg) MK_MUST_USE;

/**
 * The same, waiting for the answer. On a thread of the server's workers, or the one of mk_server_start_here, which would
 * wait for itself: MK_E_INVALID. Before mk_server_start has started the workers, which includes the start hooks of plugins:
 * MK_E_PEER.
 * @param answer  out: the caller's, for mk_answer_free, also with answer->error
 * @return 0: answer says more; or as mk_server_ask, and there is nothing to free.
 */
MK_API int mk_server_ask_wait(struct mk_server *server, const struct mk_question *question,
                              struct mk_answer **answer) MK_MUST_USE;
/** NULL is allowed. */
MK_API void mk_answer_free(struct mk_answer *answer);

/**
 * Open a connection to the server without an address. From any thread, at any time between mk_server_new and
 * mk_server_free; the server may listen nowhere. The server's end is accepted like that of a client on a plain unix socket:
 * all stages run, its peer is "unix:" with this process's user, its address in logs "inside". It counts for MaxConnections,
 * but is never refused for it. It is served once the server has started; if that ends before, the input ends.
 * @return a stream socket, blocking, close-on-exec, the caller's; MK_E_INVALID: no server; MK_E_PEER: mk_server_stop was
 *         called; MK_E_NOFD, MK_E_NOMEM or MK_E_SYS.
 */
MK_API int mk_server_connect(struct mk_server *server) MK_MUST_USE;

#ifdef __cplusplus
}
#endif

#endif
