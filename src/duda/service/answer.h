/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_ANSWER_H
#define MK_DUDA_SERVICE_ANSWER_H

#include "service/request.h"

/* The answer of a service, from what it queued to the sources of the server. Results are 0 and -1, as services know them. */

void mk_duda_answer_init(struct mk_duda_request *rq);
/** Free what is still queued. */
void mk_duda_answer_fini(struct mk_duda_request *rq);

/** Add a field, copied. @param row  "Name: value". @return -1: it is none, or one of the framing; logged */
int mk_duda_answer_line(struct mk_duda_request *rq, struct mk_str row);
/** Add a field of these parts. */
int mk_duda_answer_field(struct mk_duda_request *rq, struct mk_str name, struct mk_str value);

/** Likewise, in place of those of that name. */
int mk_duda_answer_replace(struct mk_duda_request *rq, struct mk_str name, struct mk_str value);

/** Drop what is queued, and the length that was set; the fields stay. @return -1: the head was sent */
int mk_duda_answer_clear(struct mk_duda_request *rq);

/** Queue bytes, copied. */
int mk_duda_answer_bytes(struct mk_duda_request *rq, const char *bytes, size_t len);
/** Queue a range of a file. fd is taken, also on failure. */
int mk_duda_answer_file(struct mk_duda_request *rq, int fd, uint64_t at, uint64_t len);

/** Send the head now, and from now on what is queued. @return -1: it was sent already */
int mk_duda_answer_open(struct mk_duda_request *rq);
/** Likewise, and ask more(dr, arg) for the next bytes whenever none is queued, until the answer is ended. */
int mk_duda_answer_stream(struct mk_duda_request *rq, void (*more)(duda_request_t *dr, void *arg),
                          void *arg);
/**
 * Nothing more comes. Where there was no memory for a part of the answer, the client gets 503 in its place, or an answer that
 * is visibly cut off. @return -1: that, or it was ended already
 */
int mk_duda_answer_end(struct mk_duda_request *rq);
/** The end of a call that makes a whole answer. @param result  -1: it failed. @return -1: likewise; the request has ended where memory was missing */
int mk_duda_answer_whole(struct mk_duda_request *rq, int result);
/** mk_duda_answer_adopt for a request that duda_request() has given to the service. */
bool mk_duda_answer_take(struct mk_duda_request *rq);
/**
 * Has the service given the answer by calls of the server, with duda_request()? It is that of the request then, and what was
 * queued is dropped.
 */
static inline bool mk_duda_answer_adopt(struct mk_duda_request *rq)
{
    return rq->is_given && mk_duda_answer_take(rq);
}
/** What end() waited for has happened. @param is_good  false: the client gets 503 in place of the answer */
void mk_duda_answer_release(struct mk_duda_request *rq, bool is_good);
/** The service forgot it: the client gets 500 in place of what was queued. Nothing of it was sent. */
void mk_duda_answer_forgotten(struct mk_duda_request *rq);
/** With headers_off(): take the head that the service has printed first out of the queue. raw.c. @return -1: there is none; 500 */
int mk_duda_raw_read(struct mk_duda_request *rq);
/** Let the server go on with what was queued meanwhile. */
void mk_duda_answer_push(struct mk_duda_request *rq);

#endif
