/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_GATEWAY_ANSWER_H
#define KIT_GATEWAY_ANSWER_H

#include "kit/target/answer_head.h"

#include <monkey/request.h>
#include <monkey/response.h>

/*
 * What a program answers (RFC 3875 section 6), read piece by piece and passed on as the answer to a request: a
 * document, a redirect, another path of this site, or nothing but a status. Whoever has the program's output tells when
 * there is more, and is asked for it when the client can take it (back-pressure).
 */

/**
 * Give bytes of the program's output.
 * @return > 0; 0: its end, and all is well; MK_E_AGAIN: none yet, gateway_answer_input will be called; another error: it broke
 *         off, and what came so far is not all.
 */
typedef ssize_t (*gateway_output_fn)(void *arg, char *dst, size_t len);

enum gateway_progress {
    GATEWAY_HEAD, /* its head is not complete */
    GATEWAY_BODY, /* our answer has begun; output is asked for when the client takes it */
    GATEWAY_MOVED, /* it named another path of this site, which is asked now: nobody waits for its output any more */
    GATEWAY_FAILED, /* answered with an error, or broken off */
};

struct gateway_answer {
    struct mk_request *r;
    gateway_output_fn output;
    int64_t (*left)(
        void *
            arg); /* set by the caller: output not given yet, when its end is known already; -1. NULL: never */
    /* Set by the caller: so much memory is kept beyond the request's own. NULL: nobody counts it. */
    void (*hold)(void *arg, size_t bytes);
    const char *backend; /* set by the caller: who answers, for the log. NULL: not known */
    void *arg;
    uint32_t max_head;
    enum mk_response_kind kind;
    enum gateway_progress progress;
    struct mk_str type; /* Content-Type of a body that has none; p NULL: none */
    struct mk_response_head head;
    struct mk_body body;
    unsigned interims;      /* passed on */
    bool head_only;         /* the request was HEAD */
    bool ended;             /* no more of its body will be given */
    char *buf;              /* in the request's memory; that of a large head in the heap */
    uint32_t at, len, room; /* of buf: what was received and not used */
};

/**
 * Begin. Nothing is read yet.
 * @param kind  MK_RESPONSE_CGI; MK_RESPONSE_HTTP for "nph" programs, which write a status line: their answer is read and framed
 *              anew, since how the connection goes on is the server's business
 * @param max_head  bytes of a head
 * @param a     lives until gateway_answer_fini, at the latest when the request ends
 */
void gateway_answer_init(struct gateway_answer *a, struct mk_request *r, enum mk_response_kind kind,
                         int64_t max_head, gateway_output_fn output, void *arg);

/** Nobody asks for more of it. Zeroed ones are allowed, and more than one call. */
void gateway_answer_fini(struct gateway_answer *a);

/**
 * There may be more output, or its end: reads it while the head is not complete, and has the request go on. Outside of hooks
 * as well as inside; a hook then returns LATER while progress is GATEWAY_HEAD or GATEWAY_MOVED, else DONE.
 * @return a->progress. Failed heads are logged and answered with 502; a program that ends without a byte, too.
 */
enum gateway_progress gateway_answer_input(struct gateway_answer *a);

/** Answer with an error if nothing has left, break off otherwise. @param lines  as mk_reply_error */
void gateway_answer_fail(struct gateway_answer *a, unsigned status, const char *lines);

/** Is it a field that belongs to one connection (RFC 9110 section 7.6.1), or that only a gateway reads? */
bool gateway_is_of_the_connection(struct mk_str name);

/** "/path" and not "//host/path": another path of this site. */
bool gateway_is_local(struct mk_str location);

#endif
