/* SPDX-License-Identifier: Apache-2.0 */
#include "service/receive.h"

#include <monkey/web/multipart.h>

#include <stdlib.h>
#include <string.h>

enum { PIECE = 16384, PARTS = 1000 };

struct mk_duda_receiver {
    struct mk_duda_request *rq;
    struct mk_multipart *multipart; /* NULL: the body is one part */
    struct duda_receiver calls;
    void *arg;
    struct duda_part part; /* its texts are in the next */
    char *texts;
    uint64_t received; /* of the body */
    uint64_t length;   /* of the part */
    unsigned nparts;
    bool is_whole; /* the end of the body was told */
    bool is_late;  /* the service takes no more yet */
    bool is_over;  /* done() was called */
};

/* ---- the parser's calls ---- */

/* @return 0; MK_E_BUSY: the service has failed, or answered */
static int judge(struct mk_duda_receiver *v, int result)
{
    if ((result < 0 && result != DUDA_FORM_LATER) || v->rq->state != MK_DUDA_REQUEST_CALLED)
        return MK_E_BUSY;
    v->is_late = v->is_late || result == DUDA_FORM_LATER;
    return 0;
}

static const char *copy(char **at, struct mk_str text)
{
    char *start = *at;

    if (!text.p)
        return NULL;
    if (text.len > 0)
        memcpy(start, text.p, text.len);
    start[text.len] = '\0';
    *at += text.len + 1;
    return start;
}

static int on_part(void *arg, const struct mk_part *part)
{
    struct mk_duda_receiver *v = arg;
    char *at;

    if (v->nparts == v->calls.parts)
        return MK_E_LIMIT;
    free(v->texts);
    v->texts = at = malloc(part->name.len + part->filename.len + part->type.len + 3);
    if (!at)
        return MK_E_NOMEM;
    v->nparts++;
    v->length = 0;
    v->part.name = copy(&at, part->name);
    v->part.filename = copy(&at, part->filename);
    v->part.type = copy(&at, part->type);
    return v->calls.begin ? judge(v, v->calls.begin(&v->rq->dr, &v->part, v->arg)) : 0;
}

static int on_data(void *arg, struct mk_str bytes)
{
    struct mk_duda_receiver *v = arg;

    v->length += bytes.len;
    if (v->calls.length > 0 && v->length > v->calls.length)
        return MK_E_LIMIT;
    return judge(v, v->calls.data(&v->rq->dr, &v->part, bytes.p, bytes.len, v->arg));
}

static int on_part_end(void *arg)
{
    struct mk_duda_receiver *v = arg;

    return v->calls.end ? judge(v, v->calls.end(&v->rq->dr, &v->part, v->arg)) : 0;
}

static const struct mk_multipart_calls calls = {
    .size = sizeof(calls), .part = on_part, .data = on_data, .end = on_part_end};

/* ---- the body as one part ---- */

static int feed_body(struct mk_duda_receiver *v, struct mk_str bytes)
{
    const struct mk_part part = {.type = mk_request_header(v->rq->r, MK_STR("Content-Type"))};
    int err = v->nparts == 0 ? on_part(v, &part) : 0;

    return err == 0 && bytes.len > 0 ? on_data(v, bytes) : err;
}

static int end_body(struct mk_duda_receiver *v)
{
    int err = feed_body(v, MK_STR(""));

    return err == 0 ? on_part_end(v) : err;
}

/* ---- its end ---- */

static int error_of(ssize_t err)
{
    switch (err) {
    case 0:
        return DUDA_FORM_OK;
    case MK_E_LIMIT:
        return DUDA_FORM_TOO_LARGE;
    case MK_E_NOMEM:
        return DUDA_FORM_NO_MEMORY;
    case MK_E_BUSY:
        return DUDA_FORM_STOPPED;
    default:
        return DUDA_FORM_BAD;
    }
}

static void drop(struct mk_duda_receiver *v)
{
    mk_multipart_free(v->multipart);
    free(v->texts);
    free(v);
}

/* After the request: a client that has left is told of here. */
static void on_request_end(void *arg)
{
    struct mk_duda_receiver *v = arg;

    if (!v->is_over)
        v->calls.done(NULL, DUDA_FORM_LEFT, v->arg);
    drop(v);
}

/* @return the verdict of the hook */
static enum mk_verdict finish(struct mk_duda_receiver *v, ssize_t err)
{
    struct mk_duda_request *rq = v->rq;
    struct mk_duda_here before = mk_duda_enter_request(rq);

    v->is_over = true;
    rq->is_waiting = false;
    rq->is_inside = true;
    v->calls.done(&rq->dr, error_of(err), v->arg);
    rq->is_inside = false;
    mk_duda_leave(before);
    return mk_duda_verdict(rq);
}

/* ---- bytes ---- */

static int feed_or_end(struct mk_duda_receiver *v, struct mk_str bytes)
{
    if (bytes.len > 0)
        return v->multipart ? mk_multipart_feed(v->multipart, bytes.p, bytes.len)
                            : feed_body(v, bytes);
    if (v->is_whole)
        return 0;
    v->is_whole = true;
    return v->multipart ? mk_multipart_end(v->multipart) : end_body(v);
}

/* @param bytes  none: all have come */
static int feed(struct mk_duda_receiver *v, struct mk_str bytes)
{
    struct mk_duda_request *rq = v->rq;
    struct mk_duda_here before = mk_duda_enter_request(rq);
    int err;

    v->received += bytes.len;
    rq->is_inside = true;
    err = feed_or_end(v, bytes);
    rq->is_inside = false;
    mk_duda_leave(before);
    return err;
}

/* Nothing is read until the service goes on, so that a client that leaves is noticed then. */
static enum mk_verdict park(struct mk_duda_receiver *v)
{
    mk_request_timeout(v->rq->r, v->rq->service->wait_ms);
    return MK_VERDICT_LATER;
}

/* @return whether there may be more in this turn */
static bool take_piece(struct mk_duda_receiver *v, ssize_t *n)
{
    char piece[PIECE];
    int err;

    *n = mk_request_read(v->rq->r, piece, sizeof(piece));
    if (*n < 0)
        return false;
    err = feed(v, (struct mk_str){piece, (size_t)*n});
    if (err < 0)
        *n = err;
    return err == 0 && *n > 0 && !v->is_late;
}

enum mk_verdict mk_duda_receive(struct mk_duda_request *rq)
{
    struct mk_duda_receiver *v = rq->receiver;
    ssize_t n = MK_E_AGAIN;

    if (v->is_over)
        return mk_duda_verdict(rq);
    if (rq->state != MK_DUDA_REQUEST_CALLED) /* answered while it was waited for */
        return finish(v, MK_E_BUSY);
    while (!v->is_late && take_piece(v, &n))
        ;
    if (v->is_late && (n >= 0 || n == MK_E_AGAIN))
        return park(v);
    if (n == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    if (n == MK_E_PEER)
        return MK_VERDICT_CLOSE;
    return finish(v, n);
}

bool mk_duda_may_receive(const struct mk_duda_request *rq, const struct duda_receiver *with)
{
    return rq && rq->r && rq->is_early && !rq->receiver && rq->state == MK_DUDA_REQUEST_CALLED &&
           with && with->data && with->done;
}

static int begin(struct mk_duda_request *rq, const struct duda_receiver *with, void *arg,
                 bool is_form)
{
    const struct mk_str type = mk_request_header(rq->r, MK_STR("Content-Type"));
    struct mk_duda_receiver *v = calloc(1, sizeof(*v));
    int err = 0;

    if (!v)
        return MK_E_NOMEM;
    *v = (struct mk_duda_receiver){.rq = rq, .calls = *with, .arg = arg};
    v->calls.parts = with->parts > 0 ? with->parts : PARTS;
    if (is_form)
        err = mk_multipart_new(&v->multipart, type, &calls, v);
    if (err == 0 && mk_duda_request_gc(rq, on_request_end, v) < 0)
        err = MK_E_NOMEM;
    if (err < 0) {
        drop(v);
        return err;
    }
    rq->receiver = v;
    rq->is_waiting = true;
    return 0;
}

int mk_duda_receive_form(struct mk_duda_request *rq, const struct duda_receiver *with, void *arg)
{
    return begin(rq, with, arg, true);
}

int mk_duda_receive_body(struct mk_duda_request *rq, const struct duda_receiver *with, void *arg)
{
    return begin(rq, with, arg, false);
}

bool mk_duda_receive_go_on(struct mk_duda_request *rq)
{
    struct mk_duda_receiver *v = rq->receiver;

    if (!v || !v->is_late || v->is_over)
        return false;
    v->is_late = false;
    if (!rq->is_inside)
        mk_request_resume(rq->r);
    return true;
}

uint64_t mk_duda_received(const struct mk_duda_receiver *v)
{
    return v->received;
}
