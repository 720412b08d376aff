/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_CONN_H
#define MK_SERVER_H1_CONN_H

#include "core/addr.h"
#include "core/loop.h"
#include "server/carried/holder.h"
#include "server/request/refusal.h"
#include "server/link/transport.h"

/*
 * A connection: one block of a worker's pool, and all that an idle connection costs. What a request
 * needs beyond it (struct mk_job) comes when bytes arrive and goes when they are answered.
 */

/*
 * The states of a connection: X(NAME, name, states that may follow, sentence, step that runs in it). While a request is
 * answered the state says whom the connection waits for, so that each has its timeout.
 */
#define MK_H1_STATES(X)                                                                            \
    X(PROXY, proxy, TO(OFFER) | TO(IDLE) | TO(FLUSH), "PROXY protocol header expected", proxy)     \
    X(OFFER, offer, TO(IDLE) | TO(TAKEN) | TO(FLUSH),                                              \
      "no byte yet that tells which protocol its client chose", offer)                             \
    X(IDLE, idle, TO(HEAD) | TO(FLUSH), "no byte of the next request yet", idle)                   \
    X(HEAD, head, TO(ROUTE) | TO(REPLY) | TO(FLUSH), "request line and fields arriving", head)     \
    X(ROUTE, route, TO(REPLY), "choosing virtual host and handler", route)                         \
    X(REPLY, reply, TO(BODY) | TO(HANDLER) | TO(DRAIN) | TO(FLUSH) | TO(IDLE),                     \
      "response leaving: its client is to read", reply)                                            \
    X(BODY, body, TO(REPLY) | TO(HANDLER) | TO(DRAIN) | TO(FLUSH) | TO(IDLE),                      \
      "its handler reads the body: its client is to send", reply)                                  \
    X(HANDLER, handler, TO(REPLY) | TO(BODY) | TO(DRAIN) | TO(FLUSH) | TO(IDLE),                   \
      "its handler, or a source of the response, is to go on", reply)                              \
    X(TAKEN, taken, TO(FLUSH), "taken by a handler: no HTTP any more", taken)                      \
    X(DRAIN, drain, TO(FLUSH) | TO(IDLE), "skipping the rest of the body", drain)                  \
    X(FLUSH, flush, TO(TAKEN) | TO(HEAD) | TO(IDLE) | TO(LINGER), "last answers leaving", flush)   \
    X(LINGER, linger, 0, "discarding input until the peer has read", linger)

enum mk_h1_state {
#define MK_STATE_ENUM(name, ...) MK_H1_##name,
    MK_H1_STATES(MK_STATE_ENUM)
#undef MK_STATE_ENUM
        MK_H1_STATE_COUNT
};

struct mk_endpoint;
struct mk_worker;
struct mk_job;
struct mk_file;
struct mk_stream;

struct mk_conn {
    struct mk_watch watch;
    struct mk_link link; /* the same descriptor, as its transport sees it */
    struct mk_timer timer;
    struct mk_worker *worker;
    const struct mk_endpoint *endpoint;
    struct mk_job *job;       /* NULL while idle */
    struct mk_stream *stream; /* once a handler took the connection; its owner closes it */
    char *leftover;           /* bytes that the kernel did not take; heap, owned */
    uint32_t leftover_at, leftover_len;
    struct mk_file *tail; /* a file's rest that needs no job any more; a reference */
    uint64_t tail_at, tail_end;
    uint64_t id;
    struct mk_peer peer;       /* from the PROXY header when there was one */
    uint32_t requests;         /* answered or being answered */
    uint32_t lingered;         /* bytes thrown away */
    uint32_t of_protocol;      /* bytes that a plugin's protocol says it holds (mk_conn_hold) */
    struct mk_holding holding; /* moved when it began to wait as timed_state says */
    uint32_t sent;             /* bytes since the timeout was set */
    int32_t behind_ms;    /* time waited for its reader, less what MinReadRate allows its bytes */
    uint8_t state;        /* enum mk_h1_state */
    uint8_t close_reason; /* enum mk_close, once closing */
    bool readable;        /* the kernel may have input */
    bool hung_up;         /* the end stands behind the input: no further edge will tell of it */
    bool ended;           /* the peer will send no more, and all was read */
    bool wants_out;       /* EPOLLOUT is among our events */
    bool closing;         /* no further request will be read */
    bool progress;        /* bytes came since the timeout was set */
    uint8_t timed_state;  /* state for which the timeout was set; MK_H1_STATE_COUNT: none */
    bool admitted;        /* stage 10 let it in */
    bool must_linger;     /* input may be unread when the answer is out */
    bool closed;
};

/**
 * Take over an accepted socket: makes the object, reads at once, arms its timeout.
 * @param fd    taken: closed on failure too
 * @param busy  the server is full: answer 503 and end
 */
void mk_conn_open(struct mk_worker *w, const struct mk_endpoint *endpoint, int fd,
                  const struct mk_peer *peer, bool busy);

/** Begin its transport. @return false: it cannot; the link is a plain one then, to be closed. */
bool mk_conn_open_link(struct mk_conn *c) MK_MUST_USE;

/** End it now: watch closed, memory back at the end of the turn. Harmless when closed already. */
void mk_conn_close(struct mk_conn *c, enum mk_close reason);

/** Stop politely: at once when idle, after the answer otherwise. */
void mk_conn_stop(struct mk_conn *c);

/** What epoll said, as plugins are told: enum mk_io_events. */
unsigned mk_conn_events(uint32_t bits);

/** Let the state machine run (event, timer, end of an answer). */
void mk_conn_run(struct mk_conn *c);

/** Has it something to be weighed by mk_budget_weigh, or had it? An idle connection has not. */
static inline bool mk_conn_may_hold(const struct mk_conn *c)
{
    return c->job || c->wants_out || c->holding.held > 0;
}

#endif
