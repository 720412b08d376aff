/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_REQUEST_H
#define MK_DUDA_SERVICE_REQUEST_H

/* A request of a service: what it has, and what its service asked for. */

#include "service/gather.h"
#include "service/service.h"
#include "service/state.h"

/** A part of an answer's body: bytes behind this struct, or a range of a file. */
struct mk_duda_chunk {
    struct mk_duda_chunk *next;
    uint64_t at, len; /* at: in the file, or bytes already sent */
    size_t room;      /* of bytes */
    int fd;           /* -1: bytes */
    bool is_lent;     /* the request's memory has it */
    char bytes[];
};

/** The answer as the service has put it together so far. */
struct mk_duda_out {
    struct mk_duda_chunk *first, **last, *newest;
    size_t line_bytes;
    uint64_t queued; /* bytes of the chunks, without those that are sent */
    struct mk_duda_line *lines,
        **last_line;  /* in the request's memory; fields, in the order of the calls */
    int64_t length;   /* http_content_length(); MK_DUDA_LENGTH_UNSET, or -1: not known */
    int64_t promised; /* what the head says; -1: nothing */
    uint64_t given;   /* bytes queued since the head began */
    bool headers_off;
    bool
        has_own_names; /* of lines, at which mk_duda_answer_field has not looked as the server does */
    /* No memory was there, so end() does not send the rest as if it were all: */
    bool lacks_bytes;  /* for what was queued */
    bool lacks_memory; /* for a field, or for what the service asked of the request */
    void (*more)(duda_request_t *dr, void *arg); /* response->stream(); NULL: none */
    void *more_arg;
};

enum { MK_DUDA_LENGTH_UNSET = -2 };

struct mk_duda_line {
    struct mk_duda_line *next;
    struct mk_str name, value; /* in text */
    char text[];
};

/** What gc->add() or gc->call() was given. */
struct mk_duda_garbage {
    struct mk_duda_garbage *next;
    void (*end)(void *arg);
    void *arg;
};

struct cJSON;
struct mk_duda_fields;
struct mk_duda_receiver;
struct mk_duda_session_view;
struct mk_duda_target;
struct mk_duda_values;
struct mk_duda_visit;
struct mk_form;
struct mk_sse;

struct mk_duda_request {
    duda_request_t dr; /* first: what the service has */
    struct session_request sr;
    struct client_session cs;
    struct mk_request *r; /* NULL: it is over */
    struct mk_duda_service *service;
    struct mk_duda_worker *worker;
    struct mk_duda_request *next;         /* of the table of its worker */
    const struct mk_duda_target *target;  /* what is called */
    struct mk_duda_session_view *session; /* objects/session/session_remote.h; NULL: none */
    const char *callback;                 /* the name of the call-back that was called, for logs */
    struct mk_duda_body body;
    struct mk_form *multipart;         /* in place of body; NULL: none */
    struct mk_duda_fields *fields;     /* objects/request/form.c; NULL: not asked for yet */
    struct cJSON *json;                /* objects/request/json_body.h; NULL: not read */
    struct mk_duda_values *values;     /* of a route that describes its inputs; NULL: none */
    struct mk_duda_receiver *receiver; /* service/receive.h; NULL: none */
    struct mk_sse *events;             /* sse->open(); NULL: none */
    struct mk_duda_visit *visit;       /* objects/client/http_visit.h; NULL: no calls of `http` */
    struct mk_duda_out out;
    struct mk_duda_garbage *garbage;
    const struct mk_duda_rule *rule;   /* of the pattern, level 2: service/routes.h */
    const struct mk_duda_route *route; /* level 3: service/route.h; NULL: none */
    const char *id;                    /* guard->request_id(); NULL: none */
    unsigned nguards;                  /* hooks of the route that were called */
    unsigned nparked,
        nasked; /* by packages: as wait() does; for an answer, while hooks and the service go on */
    uint8_t state;         /* enum mk_duda_request_state */
    bool is_waiting;       /* wait() without cont() */
    bool has_waited;       /* wait() was called, or a package has parked it */
    bool is_starved;       /* the producer waits for more */
    bool has_begun;        /* the server has the head of the answer */
    bool is_inside;        /* the hook is on the stack: it need not be resumed */
    bool is_early;         /* it was called before its body had come */
    bool is_at_head;       /* its guards are asked before its body is read */
    bool is_with_callback; /* of its route: hooks and inputs have let it pass */
    bool is_whole;         /* the complete answer was sent */
    bool is_given;  /* to the service, which may answer it without `response`: duda_request() */
    bool is_traced; /* changes of its state are logged */
};

/** A states_log_fn. */
void mk_duda_request_trace(const void *of, const struct states *table, unsigned was, unsigned is);

/** The only place where the state of a request changes. */
static inline void mk_duda_request_turn(struct mk_duda_request *rq, enum mk_duda_request_state to)
{
    states_turn(&mk_duda_request_states, &rq->state, to,
                rq->is_traced ? mk_duda_request_trace : NULL, rq);
}

/** Does the service wait for something before it goes on with the request? */
static inline bool mk_duda_request_waits(const struct mk_duda_request *rq)
{
    return rq->is_waiting || rq->nparked > 0;
}

/** Was end() called, or has a package answered? */
static inline bool mk_duda_request_has_ended(const struct mk_duda_request *rq)
{
    return rq->state == MK_DUDA_REQUEST_HELD || rq->state == MK_DUDA_REQUEST_ENDED;
}

/** Has the request its answer, or does the hook wait? */
static inline enum mk_verdict mk_duda_verdict(const struct mk_duda_request *rq)
{
    return rq->has_begun || rq->state == MK_DUDA_REQUEST_ENDED ? MK_VERDICT_DONE : MK_VERDICT_LATER;
}

/** The request whose dr this is; dr must be alive. */
static inline struct mk_duda_request *mk_duda_request_of(duda_request_t *dr)
{
    return (struct mk_duda_request *)(void *)dr;
}

/** A slice as services have them; they must not write to it. */
static inline mk_pointer mk_duda_pointer(struct mk_str s)
{
    return (mk_pointer){(char *)(uintptr_t)s.p, s.len};
}
static inline struct mk_str mk_duda_str(mk_pointer p)
{
    return (struct mk_str){p.data, p.len};
}

/**
 * The request of a call of a service: alive, and of the worker on whose thread it calls.
 * @param call  "response->print", for the log
 * @return NULL: dr is NULL or not such a request; logged
 */
struct mk_duda_request *mk_duda_request_check(duda_request_t *dr, const char *call);

/** mk_duda_enter, for a call-back of a request. */
struct mk_duda_here mk_duda_enter_request(const struct mk_duda_request *rq);

/** What the head says of the body: it is a form, of one type or the other. Before the request has ended. */
bool mk_duda_request_is_urlencoded(const struct mk_duda_request *rq);
bool mk_duda_request_is_multipart(const struct mk_duda_request *rq);

/** It waits from now on, for WaitTimeout at most. Its client is no reader, so one that leaves is noticed at once. */
void mk_duda_request_rest(struct mk_duda_request *rq);
/** One of those that it waited for is there. */
void mk_duda_request_wake(struct mk_duda_request *rq);

/** Call end(arg), of the service or free, when the request has ended. @return 0, -1 without memory: it is not called. */
int mk_duda_request_gc(struct mk_duda_request *rq, void (*end)(void *arg), void *arg);

/** Report the memory of the request's body and fields, and so many bytes of its answer, as mk_request_hold does. */
void mk_duda_request_hold(struct mk_duda_request *rq, size_t answer);

/** @return a terminated copy: of malloc for rq NULL, else freed when the request ends; NULL without memory. */
char *mk_duda_request_copy(struct mk_duda_request *rq, struct mk_str text) MK_MUST_USE;

#endif
