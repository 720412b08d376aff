/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_HTTP_CALL_H
#define MK_DUDA_OBJECTS_HTTP_CALL_H

#include "objects/client/http_request.h"
#include "objects/client/http_servers.h"
#include "objects/client/http_visit.h"

#include "kit/states/states.h"

/* A call of `http`: one request to another server, with its redirects. */

#define HTTP_CALL_TO(state) (1U << HTTP_CALL_##state)
#define HTTP_CALL_STATES(X)                                                                        \
    X(TAKE, "take", HTTP_CALL_TO(TAKE) | HTTP_CALL_TO(HEAD) | HTTP_CALL_TO(OVER),                  \
      "waits for a connection")                                                                    \
    X(HEAD, "head", HTTP_CALL_TO(TAKE) | HTTP_CALL_TO(BODY) | HTTP_CALL_TO(OVER),                  \
      "sends the request; the head of the answer is not whole")                                    \
    X(BODY, "body", HTTP_CALL_TO(OVER), "the body of the answer arrives")                          \
    X(OVER, "over", 0, "nothing of it is under way any more")

enum http_call_state {
#define HTTP_CALL_ENUM(name, text, next, meaning) HTTP_CALL_##name,
    HTTP_CALL_STATES(HTTP_CALL_ENUM)
#undef HTTP_CALL_ENUM
};

/** What a step of a call gives, beside enum duda_http_error: how the call ended. */
enum {
    HTTP_WAITS = -1,    /* for the next event */
    HTTP_AGAIN = -2,    /* for its turn: there is more to do at once */
    HTTP_RETAKE = -3,   /* for a new connection: the kept one was closed */
    HTTP_REDIRECT = -4, /* for the server of the next URL */
    HTTP_GONE = -5      /* for nothing: the service has cancelled it inside one of its functions */
};

enum {
    HTTP_HEAD_MAX = 16384, /* of an answer */
    HTTP_PIECE = 16384,    /* bytes that are read or asked for at once */
    HTTP_ROUNDS_MAX = 16,  /* pieces in an event: then others have their turn */
    HTTP_INTERIM_MAX = 16, /* answers before the answer */
    HTTP_FRAME = 10,       /* "4000\r\n" before a chunk, and the line end after it */
    HTTP_WHY_MAX = 192
};

struct http_home;

/** The request on its way out. */
struct http_sending {
    char *head; /* NULL: not written yet */
    size_t head_len, head_at;
    size_t body_at;
    char *piece; /* what more() gave, framed; NULL: nothing yet */
    size_t piece_len, piece_at;
    uint64_t given;            /* by more() */
    bool has_asked, has_ended; /* more() */
    bool is_late;              /* more() has nothing yet */
    bool is_whole, is_broken;
};

/** The answer on its way in. */
struct http_receiving {
    char *in; /* up to the end of the head */
    size_t in_len;
    struct mk_response_head head;
    struct mk_body body;
    char *
        fields; /* name, value, name ... each terminated; an empty name ends them. NULL: no head yet */
    char *gathered;
    size_t gathered_len, gathered_size;
    unsigned ninterim;
    bool is_late; /* part() takes no more yet */
    bool is_whole;
    bool is_reusable; /* the connection, then */
};

struct http_call {
    struct http_home *home;
    struct mk_duda_seat *seat;
    struct mk_duda_visit *visit;    /* NULL: without a request */
    struct http_call *next, **link; /* of the visit */
    long id;
    uint8_t state;      /* enum http_call_state */
    bool is_inside;     /* one of its functions is on the stack */
    bool follows;       /* redirects */
    bool is_fresh;      /* its connection was not kept */
    bool was_looked_at; /* its connection, before the first byte */
    int early;          /* its end, known before anything was under way; 0: none */
    struct http_request q;
    struct duda_http_options o;
    duda_http_done_fn done;
    void *arg;
    struct http_server *server;
    struct mk_upstream_wait *wait;
    struct mk_stream *s;
    struct mk_alarm *alarm;
    struct http_sending out;
    struct http_receiving in;
    struct duda_http_answer answer;
    char why[HTTP_WHY_MAX];
};

/** Begin; nothing is called inside. @return 0; MK_E_NOMEM: it is still the caller's */
int http_call_begin(struct http_call *c) MK_MUST_USE;
/** Break it off, and end it. */
void http_call_drop(struct http_call *c);
/** Free one that has not begun. */
void http_call_free(struct http_call *c);

/** The body of the answer can be taken, or that of the request given. @return false: it does not wait */
bool http_call_go_on(struct http_call *c);

/* ---- for the files of the call ---- */

/** Send what can be sent. @return HTTP_WAITS, HTTP_AGAIN, HTTP_GONE, or an error */
int http_call_send(struct http_call *c) MK_MUST_USE;
/** Read what is there. @return any of the results of a step */
int http_call_receive(struct http_call *c) MK_MUST_USE;
void http_call_turn(struct http_call *c, enum http_call_state to);
/** Say why a call fails. @return error */
int http_call_fail(struct http_call *c, int error, const char *why);
/** Its answer begins anew, with another request. */
void http_sending_fini(struct http_sending *out);
void http_receiving_fini(struct http_receiving *in);

static inline duda_request_t *http_call_dr(const struct http_call *c)
{
    return c->visit ? &c->visit->rq->dr : NULL;
}

/* ---- of the home: http.c ---- */

/** The number of the call is not valid any more. */
void http_home_forget(struct http_home *home, const struct http_call *c);
struct http_servers *http_home_servers(struct http_home *home);

#endif
