/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_EXCHANGE_H
#define PROXY_EXCHANGE_H

#include "backends/backend.h"
#include "exchange/buffer.h"
#include "exchange/splice.h"
#include "exchange/states.h"
#include "links/link.h"

#include "kit/backends/notes.h"
#include "kit/clock/clock.h"
#include "kit/intake/uploads.h"

/*
 * One request of a client and the backend that answers it.
 *
 *     states.h     how far it is
 *     exchange.c   from one attempt to the next: connections, failures, the end
 *     upload.c     the request to the backend
 *     answer.c     the answer to the client
 *     front.c      or what the answer has sent in its place
 *     trailer.c    fields behind it
 *     tunnel.c     what follows 101, over both protocols
 *
 * It lives with the request. What a slow client sends is gathered first (intake.h). Nothing else waits in memory that
 * grows: a head and 16 KB of body on the way to the backend, a head on the way back.
 */

/** ctx->local: what a worker has for itself. */
struct proxy_worker {
    struct proxy_buffers buffers;
    struct proxy_pipes pipes;
    struct proxy_checks *checks;
    struct proxy_calls *calls; /* to backends that speak HTTP/2 */
};

struct proxy_exchange {
    struct mk_request *r;
    struct mk_worker *worker;
    struct proxy_worker *home;
    struct proxy_entry *entry;
    const struct proxy_settings *set;
    uint8_t state, sending, reading; /* enum proxy_exchange_state, proxy_sending, proxy_reading */
    bool is_traced;                  /* their changes are logged */

    /* the attempt */
    struct proxy_ask ask;
    struct proxy_attempt attempt;
    struct proxy_report report;
    struct backend_notes notes;
    int64_t began_us;       /* clock_now_us */
    struct proxy_link link; /* to the backend */
    unsigned tries;         /* of backends that heard something */
    unsigned refusals;      /* by backends that did not look at it */
    unsigned status;        /* that tells why the last attempt failed */
    bool is_fresh;          /* the connection cannot have been closed while it was idle */
    bool is_timed;          /* a timeout of the stream is set */
    struct upload upload;   /* while it holds the connection */

    /* the request */
    struct intake intake;      /* its body, as it comes from the client */
    struct proxy_buffer *head; /* what is to be sent of it; NULL: not made, or sent */
    struct proxy_buffer *up;   /* its body, as it is framed for the backend; NULL: none */
    int64_t length;            /* of the body; -1: chunked; 0: none */
    int64_t hops;              /* proxy_hops; < 0: nobody counts */
    uint64_t taken;            /* body bytes that came from the client */
    bool is_kept;              /* all of the body that was read is still in up */
    bool is_idempotent, is_head, expects; /* its method, HEAD; Expect: 100-continue */
    bool wants_upgrade, wants_trailers;

    /* the answer */
    struct proxy_buffer *down; /* received and not passed on; NULL: nothing */
    struct mk_response_head answer;
    struct mk_body body;
    struct proxy_pipe pipe;        /* for a large body */
    struct proxy_buffer *trailers; /* as they came; NULL: none */
    unsigned ninterim;
    bool has_told; /* some of them were passed on */
    int64_t
        passed_ms; /* since when there is more for the client to take; 0: the backend is waited for */
    bool ended_late; /* the backend has closed while the client was waited for */
    struct mk_str
        file;      /* that is sent in its place: beneath SendfileRoot, terminated; p NULL: none */
    bool is_moved; /* another path of the site is answered in its place */
    bool names_fields; /* the head does, in Connection */
    bool has_pipe;
};

/** The head of its answer was passed on. */
static inline bool proxy_has_answered(const struct proxy_exchange *x)
{
    return x->state >= PROXY_BODY && x->state != PROXY_OVER;
}

/** Some of the request has left. */
static inline bool proxy_has_left(const struct proxy_exchange *x)
{
    return x->sending >= PROXY_PART && x->sending != PROXY_DEAF;
}

/** No more of the request is going to leave. */
static inline bool proxy_has_sent(const struct proxy_exchange *x)
{
    return x->sending >= PROXY_WHOLE;
}

/** on_handle for a path of an entry. */
enum mk_verdict proxy_exchange_handle(struct mk_request *r, const struct mk_context *ctx,
                                      struct proxy_entry *entry);

/* ---- exchange.c, for the other files ---- */

/** A states_log_fn. */
void proxy_trace(const void *exchange, const struct states *table, unsigned was, unsigned is);

/** The only place where a state changes. */
static inline void proxy_turn(const struct proxy_exchange *x, const struct states *table,
                              uint8_t *state, unsigned to)
{
    states_turn(table, state, to, x->is_traced ? proxy_trace : NULL, x);
}

static inline void proxy_exchange_turn(struct proxy_exchange *x, enum proxy_exchange_state state)
{
    proxy_turn(x, &proxy_exchange_states, &x->state, state);
}

static inline void proxy_sending_turn(struct proxy_exchange *x, enum proxy_sending state)
{
    proxy_turn(x, &proxy_sending_states, &x->sending, state);
}

static inline void proxy_reading_turn(struct proxy_exchange *x, enum proxy_reading state)
{
    proxy_turn(x, &proxy_reading_states, &x->reading, state);
}

/** Microseconds since then, of clock_now_us. */
static inline uint64_t proxy_spent_us(int64_t since_us)
{
    return (uint64_t)(clock_now_us() - since_us);
}

/** Set or, with 0, cancel the stream's timeout. */
void proxy_exchange_time(struct proxy_exchange *x, int64_t ms);
/** May the connection of this attempt be kept, as far as we decide? */
bool proxy_exchange_keeps(const struct proxy_exchange *x);
/** The present attempt has ended: its connection is closed. */
void proxy_exchange_give_up(struct proxy_exchange *x, enum proxy_outcome outcome);
/** Answer with an error page; behind the head of an answer: break it off. Logs why. */
void proxy_exchange_fail(struct proxy_exchange *x, unsigned status, const char *why);
/** The backend failed in the middle: another attempt where that harms nobody, else 502. */
void proxy_exchange_retry(struct proxy_exchange *x, const char *why);
/** The head of its answer is not passed on: 502, which says nothing of the backend's health. */
void proxy_exchange_refuse(struct proxy_exchange *x, const char *why);
/**
 * The answer has a status of RetryOn: ask another backend in place of passing it on, where its method may be acted on twice (RFC
 * 9110 section 9.2.2), nothing of an answer went to the client, all of the body can be sent again, and a backend that is online
 * was not tried.
 * @return whether one is asked; the answer is the caller's to drop. False: it is to be passed on.
 */
bool proxy_exchange_ask_another(struct proxy_exchange *x);
/** Another path of the site is answered: this exchange is none of what handles that. */
void proxy_exchange_leave(struct proxy_exchange *x);
/** All of the answer came. @param reusable  as far as the answer says */
void proxy_exchange_finish(struct proxy_exchange *x, bool reusable);

/* ---- upload.c ---- */

/** A proxy_fields_fn: of the head of an mk_request. */
bool proxy_next_field(const void *of, uint32_t *at, struct mk_str *name, struct mk_str *value);
/** Begin anew, for another connection. */
void proxy_upload_rewind(struct proxy_exchange *x);
/**
 * Send what there is.
 * @return 0: the backend has all that there is; MK_E_AGAIN: it takes no more now; MK_E_PEER: it takes no more at all;
 *         MK_E_BAD, MK_E_LIMIT, MK_E_EOF (the client left): of the client's body; MK_E_NOMEM; MK_E_INVALID: there
 *         is no head that a backend could be sent; MK_E_UNSUPPORTED: it takes no tunnels.
 */
int proxy_upload_send(struct proxy_exchange *x);

/* ---- answer.c ---- */

/** Read the head of an answer, and pass it on when it is whole. */
void proxy_answer_read(struct proxy_exchange *x);
/** The backend has closed its connection within the body; what it sent before may be read later. */
void proxy_answer_closed(struct proxy_exchange *x);
/** Its fields, but those of the backend's connection. */
void proxy_answer_fields(struct proxy_exchange *x, struct mk_reply *p);
/** The value of a field of the answer as the client gets it (RewriteAnswers). */
struct mk_str proxy_answer_value(const struct proxy_exchange *x, struct mk_str name,
                                 struct mk_str value);
enum { PROXY_COOKIE_ROOM = PROXY_COOKIE_MAX + 128 };
/** The value of Set-Cookie that names the backend (Sticky). @return it, in text. */
struct mk_str proxy_answer_cookie(const struct proxy_exchange *x, char text[PROXY_COOKIE_ROOM]);

/* ---- trailer.c ---- */

/** Keep these bytes of a trailer section, the empty line included. */
void proxy_trailers_take(struct proxy_exchange *x, const char *bytes, size_t len);
/** It is whole: the client gets them behind the body. Those that were lost for want of memory are left out together. */
void proxy_trailers_pass(struct proxy_exchange *x);
/** Those of a call, whose answer was read to its end. */
void proxy_trailers_of_call(struct proxy_exchange *x);

/* ---- tunnel.c ---- */

/** The backend agreed to another protocol: x->answer, whose head has that many bytes. */
void proxy_tunnel_begin(struct proxy_exchange *x, size_t head_len);

#endif
