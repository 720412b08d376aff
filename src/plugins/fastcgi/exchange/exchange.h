/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_EXCHANGE_H
#define FASTCGI_EXCHANGE_H

#include "backends/backend.h"
#include "entry/settings.h"
#include "exchange/buffers.h"
#include "exchange/records.h"
#include "exchange/scripts.h"
#include "exchange/states.h"

#include "kit/backends/notes.h"
#include "kit/gateway/answer.h"
#include "kit/gateway/complaint.h"
#include "kit/gateway/script.h"
#include "kit/intake/uploads.h"

/*
 * One request and its application. What happens on the server's connection only has the request resumed: everything is
 * decided when it is the request's turn, so that head and body of an answer leave together.
 *
 *     states.h    how far it is
 *     exchange.c  its life: from the first call to its end
 *     target.c    which script it is
 *     attempt.c   which server is asked, and which after that
 *     send.c      BEGIN_REQUEST, PARAMS and STDIN
 *     receive.c   STDOUT, STDERR and END_REQUEST
 *     linger.c    the end of a conversation whose request has ended
 */

/* ctx->local */
struct fcgi_local {
    struct buffers buffers;
    struct scripts scripts;
    unsigned turn; /* for equals among servers */
};

/** To the server: records in a buffer, at first from BEGIN_REQUEST on, later more of STDIN. */
struct outgoing {
    char *buf;        /* of the worker's; NULL: none */
    size_t at, len;   /* sent; written */
    size_t open;      /* bytes of the body behind len, whose record is not complete */
    bool is_replaced; /* buf does not hold the request from its beginning any more */
};

/** From the server. */
struct incoming {
    struct fcgi_reader reader;
    char *buf;      /* of the worker's; NULL: none */
    size_t at, end; /* of buf: STDOUT that was not given yet */
    int error;      /* behind what is in buf nothing will come; 0: not so */
};

struct exchange {
    struct mk_request *r;
    struct mk_worker *worker;
    struct fcgi_local *local;
    const struct fcgi_location *location;
    struct gateway_script script;
    struct intake body;
    struct upload upload; /* while it holds a connection */
    struct gateway_answer answer;

    uint8_t state, written, sending, time; /* of states.h, of the present attempt */
    bool is_traced;                        /* their changes are logged */

    const struct fcgi_server *server; /* asked last; NULL: none */
    struct backend *busy;             /* whose work it counts as; NULL: nobody's */
    struct mk_upstream_wait *wait;    /* for a connection; NULL: not waiting */
    struct mk_stream *s;              /* the connection; NULL: none */
    uint64_t tried;                   /* servers that are not asked again */
    unsigned at_server;               /* its bit */
    int error;                        /* no server took it, or its body cannot be had; 0: not so */
    bool is_fresh;                    /* s was connected for this request */
    bool is_untold;                   /* s has had no event */
    bool is_idempotent;               /* its method (RFC 9110 section 9.2.2) */

    struct outgoing out;
    struct incoming in;
    struct gateway_complaint complaint;
    struct backend_notes notes;
};

/** on_handle of a request for this location. */
enum mk_verdict fastcgi_exchange_handle(struct mk_request *r, const struct mk_context *ctx,
                                        const struct fcgi_location *location);

/** A states_log_fn. */
void fastcgi_exchange_trace(const void *exchange, const struct states *table, unsigned was,
                            unsigned is);

/** The only place where a state changes. @param state  a member of x */
static inline void exchange_turn(const struct exchange *x, const struct states *table,
                                 uint8_t *state, unsigned to)
{
    states_turn(table, state, to, x->is_traced ? fastcgi_exchange_trace : NULL, x);
}

/** The server is waited for from now on, or it was heard of. */
void fastcgi_exchange_arm(struct exchange *x);
void fastcgi_exchange_disarm(struct exchange *x);
/** A connection is held. @return 0 or MK_E_NOMEM. */
int fastcgi_exchange_hold(struct exchange *x);
/** Give the connection back; the server has no part in the request any more. */
void fastcgi_exchange_leave(struct exchange *x, bool reusable);

/* ---- target.c ---- */

/** Which script it is. In on_handle. @return PASS: x->script is set; DONE: it was answered. @param left_alone  out: PASS means that it is not ours */
enum mk_verdict fastcgi_target_find(struct exchange *x, struct mk_request *r, bool *left_alone);

/* ---- attempt.c ---- */

/** Look for a server. @return 0: a connection is waited for, or x->error will say why there is none; or that at once. */
int fastcgi_attempt_begin(struct exchange *x);
/** The connection ended before the first byte of an answer. @return 0: another one is waited for; or why that is all. */
int fastcgi_attempt_repeat(struct exchange *x, int why);
/** The server answers. */
void fastcgi_attempt_worked(const struct exchange *x);
/** The request is no work of the server any more. */
void fastcgi_attempt_count_out(struct exchange *x);
void fastcgi_attempt_log(const struct exchange *x, const char *why);

/* ---- send.c ---- */

/**
 * Write the records up to STDIN, and that too when it is small, so that all of it leaves together.
 * @return 0; MK_E_AGAIN: call again when more of the body came; MK_E_NOMEM; MK_E_LIMIT: too much; or an error of the body.
 */
int fastcgi_send_prepare(struct exchange *x);
/** Send what can be sent. @return 0; or an error of the request's body: MK_E_BAD, MK_E_LIMIT, MK_E_PEER. */
int fastcgi_send_some(struct exchange *x);
/** Is the whole request on its way? */
bool fastcgi_send_is_done(const struct exchange *x);
/** Is some of it? */
bool fastcgi_send_has_left(const struct exchange *x);
/** Could it be sent again from the beginning? */
bool fastcgi_send_can_repeat(const struct exchange *x);
/** To another connection. @return as fastcgi_send_prepare. */
int fastcgi_send_repeat(struct exchange *x);

/* ---- receive.c ---- */

/**
 * Is there output, or its end?
 * @return 1; MK_E_AGAIN: the request is resumed when there is; MK_E_TIMEOUT: ReadTimeout is over;
 *         MK_E_PEER: the connection ended before its time; MK_E_BAD: no FastCGI; MK_E_BUSY: END_REQUEST says that the
 *         application is overloaded, MK_E_UNSUPPORTED: that it cannot do it.
 */
int fastcgi_receive_some(struct exchange *x);
/** The gateway_output_fn. @param arg  the exchange */
ssize_t fastcgi_receive_output(void *arg, char *dst, size_t len);
/** How much output is still to come, as far as that is known. @return -1: it is not. */
int64_t fastcgi_receive_left(void *arg);

/** What the application wrote to STDERR without a line end is a line too. */
void fastcgi_receive_end_complaint(struct exchange *x);

/* ---- linger.c ---- */

/**
 * The answer is complete, but the application has not said END_REQUEST: it is waited for, so that the connection can be
 * used again. Takes s and, for itself, a reference of backend.
 */
void fastcgi_linger(struct backend *backend, struct mk_stream *s, const struct fcgi_reader *reader);

#endif
