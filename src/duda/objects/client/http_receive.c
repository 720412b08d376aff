/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/client/http_call.h"

#include "kit/backends/repeat.h"

#include <stdlib.h>
#include <string.h>

/* The answer of a call on its way in: its head, then its body, gathered or given to the service piece by piece. */

enum { GATHER_FIRST = 4096 };

/* ---- the body ---- */

/* Room for a byte more than the body: services find it terminated. */
static bool grow(struct http_receiving *in, size_t most)
{
    size_t size = in->gathered_size > 0 ? in->gathered_size * 2 : GATHER_FIRST;
    char *bytes;

    if (size > most + 1)
        size = most + 1;
    bytes = realloc(in->gathered, size);
    if (!bytes)
        return false;
    in->gathered = bytes;
    in->gathered_size = size;
    return true;
}

static int gather(struct http_call *c, const char *bytes, size_t len)
{
    struct http_receiving *in = &c->in;

    while (in->gathered_len + len >= in->gathered_size) {
        if (!grow(in, c->o.max_body))
            return http_call_fail(c, DUDA_HTTP_NO_ROOM, mk_error_text(MK_E_NOMEM));
    }
    memcpy(in->gathered + in->gathered_len, bytes, len);
    in->gathered_len += len;
    in->gathered[in->gathered_len] = '\0';
    return HTTP_AGAIN;
}

static int give(struct http_call *c, const char *bytes, size_t len)
{
    struct mk_duda_visit *v = c->visit;
    struct mk_duda_here before = http_visit_enter(v, c->seat);
    int result;

    c->is_inside = true;
    result = c->o.part(http_call_dr(c), &c->answer, bytes, len, c->arg);
    c->is_inside = false;
    http_visit_leave(v, before);
    if (c->state == HTTP_CALL_OVER)
        return HTTP_GONE;
    if (result < 0 && result != DUDA_HTTP_LATER)
        return http_call_fail(c, DUDA_HTTP_STOPPED, "part() has failed");
    c->in.is_late = result == DUDA_HTTP_LATER;
    return HTTP_AGAIN;
}

static int pass(struct http_call *c, const char *bytes, size_t len)
{
    if (len == 0)
        return HTTP_AGAIN;
    if (c->in.body.total > c->o.max_body)
        return http_call_fail(c, DUDA_HTTP_TOO_LARGE, "the body is larger than max_body");
    return c->o.part ? give(c, bytes, len) : gather(c, bytes, len);
}

/* The body that some send behind the head of an answer to HEAD would be taken for the next answer. */
static bool may_keep(const struct http_call *c, bool has_rest)
{
    if (has_rest && c->in.head.keep_alive)
        mk_upstream_distrust(c->server->upstream);
    return !has_rest && c->in.head.keep_alive && c->out.is_whole &&
           strcmp(c->q.method, "HEAD") != 0;
}

static int end_answer(struct http_call *c)
{
    c->in.is_whole = true;
    return c->in.is_late ? HTTP_WAITS : DUDA_HTTP_OK;
}

/* @return HTTP_AGAIN: there may be more to read */
static int decode(struct http_call *c, char *bytes, size_t got)
{
    size_t len = got, used;
    const int done = mk_body_decode(&c->in.body, bytes, &len, &used);
    int step;

    if (done < 0 && done != MK_E_AGAIN)
        return http_call_fail(c, DUDA_HTTP_BAD_ANSWER, "the framing of the body is malformed");
    step = pass(c, bytes, len);
    if (step != HTTP_AGAIN)
        return step;
    if (done != 1)
        return c->in.is_late ? HTTP_WAITS : HTTP_AGAIN;
    c->in.is_reusable = may_keep(c, used < got);
    return end_answer(c);
}

static int read_body(struct http_call *c)
{
    char piece[HTTP_PIECE];
    ssize_t n;

    if (c->in.is_whole)
        return c->in.is_late ? HTTP_WAITS : DUDA_HTTP_OK;
    if (c->in.is_late)
        return HTTP_WAITS;
    n = mk_stream_read(c->s, piece, sizeof(piece));
    if (n == MK_E_AGAIN)
        return HTTP_WAITS;
    if (n > 0)
        return decode(c, piece, (size_t)n);
    if (n == 0 && mk_body_end(&c->in.body) == 0)
        return end_answer(c);
    return http_call_fail(c, DUDA_HTTP_BROKEN, "the connection ended before the body was whole");
}

/* ---- the head ---- */

/* All fields as one block, for http->field(). */
static bool keep_fields(struct http_receiving *in)
{
    struct mk_str name, value;
    uint32_t at = 0;
    char *to = malloc((size_t)in->head.fields_len + 2);

    in->fields = to;
    if (!to)
        return false;
    while (mk_response_next(&in->head, in->in, &at, &name, &value)) {
        memcpy(to, name.p, name.len);
        to += name.len;
        *to++ = '\0';
        if (value.len > 0)
            memcpy(to, value.p, value.len);
        to += value.len;
        *to++ = '\0';
    }
    *to = '\0';
    return true;
}

static bool is_redirect(const struct http_call *c)
{
    return c->follows && http_request_is_redirect(c->in.head.status) &&
           mk_response_find(&c->in.head, c->in.in, MK_STR("Location")).len > 0;
}

/* What came behind the head. */
static int begin_body(struct http_call *c, size_t head_len)
{
    struct http_receiving *in = &c->in;
    const int64_t length = in->head.content_length;
    const bool is_head = strcmp(c->q.method, "HEAD") == 0;
    int step;

    if (!keep_fields(in))
        return http_call_fail(c, DUDA_HTTP_NO_ROOM, mk_error_text(MK_E_NOMEM));
    if (is_redirect(c))
        return HTTP_REDIRECT;
    http_call_turn(c, HTTP_CALL_BODY);
    c->answer.url = c->q.url;
    c->answer.status = (int)in->head.status;
    c->answer.fields = in->fields;
    mk_body_init(&in->body, &in->head, is_head);
    if (!is_head && length > 0 && (uint64_t)length > c->o.max_body)
        return http_call_fail(c, DUDA_HTTP_TOO_LARGE, "the body is larger than max_body");
    step = decode(c, in->in + head_len, in->in_len - head_len);
    if (step == HTTP_GONE)
        return step;
    free(in->in);
    in->in = NULL;
    return step;
}

/* @return HTTP_AGAIN: the next head follows */
static int skip_interim(struct http_call *c, size_t head_len)
{
    struct http_receiving *in = &c->in;

    if (in->head.status == 101 || ++in->ninterim > HTTP_INTERIM_MAX)
        return http_call_fail(c, DUDA_HTTP_BAD_ANSWER,
                              in->head.status == 101 ? "the server changed the protocol unasked"
                                                     : "too many interim answers");
    in->in_len -= head_len;
    memmove(in->in, in->in + head_len, in->in_len);
    in->head = (struct mk_response_head){.line = 0};
    return HTTP_AGAIN;
}

static int parse_head(struct http_call *c)
{
    struct http_receiving *in = &c->in;
    const ssize_t n =
        mk_response_parse(&in->head, MK_RESPONSE_HTTP, in->in, in->in_len, HTTP_HEAD_MAX);

    if (n > 0)
        return in->head.status >= 200 ? begin_body(c, (size_t)n) : skip_interim(c, (size_t)n);
    if (n == MK_E_LIMIT || (n == MK_E_AGAIN && in->in_len == HTTP_HEAD_MAX))
        return http_call_fail(c, DUDA_HTTP_TOO_LARGE, "the head of the answer is too large");
    if (n != MK_E_AGAIN)
        return http_call_fail(c, DUDA_HTTP_BAD_ANSWER, in->head.why);
    return HTTP_WAITS;
}

/* The connection ended before a head was whole. */
static int lose(struct http_call *c)
{
    const struct backend_loss loss = {
        .was_heard = c->in.in_len > 0 || c->in.ninterim > 0,
        .has_left = c->out.head_at > 0,
        .is_idempotent = backend_is_idempotent(mk_str_from(c->q.method)),
        .keeps_body = !c->out.has_asked,
        .is_fresh = c->is_fresh,
        .is_last = true,
    };

    if (backend_repeat(&loss, NULL) == BACKEND_REPEAT_SAME)
        return HTTP_RETAKE;
    return http_call_fail(c, DUDA_HTTP_BROKEN, "the connection ended before the answer began");
}

static int read_head(struct http_call *c)
{
    struct http_receiving *in = &c->in;
    ssize_t n;
    int step = in->in_len > 0 ? parse_head(c) : HTTP_WAITS;

    if (step != HTTP_WAITS || c->state != HTTP_CALL_HEAD)
        return step;
    if (!in->in)
        in->in = malloc(HTTP_HEAD_MAX);
    if (!in->in)
        return http_call_fail(c, DUDA_HTTP_NO_ROOM, mk_error_text(MK_E_NOMEM));
    n = mk_stream_read(c->s, in->in + in->in_len, HTTP_HEAD_MAX - in->in_len);
    if (n == MK_E_AGAIN)
        return HTTP_WAITS;
    if (n <= 0)
        return lose(c);
    in->in_len += (size_t)n;
    return HTTP_AGAIN;
}

int http_call_receive(struct http_call *c)
{
    int step = HTTP_AGAIN;

    for (unsigned round = 0; step == HTTP_AGAIN && round < HTTP_ROUNDS_MAX; round++)
        step = c->state == HTTP_CALL_HEAD ? read_head(c) : read_body(c);
    return step;
}

void http_receiving_fini(struct http_receiving *in)
{
    free(in->in);
    free(in->fields);
    free(in->gathered);
    *in = (struct http_receiving){.in = NULL};
}
