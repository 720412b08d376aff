/* SPDX-License-Identifier: Apache-2.0 */
#include "service/answer.h"

#include "inputs/answers.h"
#include "kit/text/words.h"
#include "service/route.h"
#include "service/session_steps.h"

#include <monkey/field.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SOURCES_MAX = 32,  /* with more pieces a producer gives them */
    CHUNK_SMALL = 192, /* of the request's own memory, where the first piece is a short one */
    CHUNK_MIN = 1024 - sizeof(struct mk_duda_chunk), /* what malloc gives from its cache */
    CHUNK_MAX = 64 * 1024,
    LINES_MAX = 12 * 1024 /* bytes of a head's fields; the server takes 16 KB */
};

void mk_duda_answer_init(struct mk_duda_request *rq)
{
    struct mk_duda_out *out = &rq->out;

    out->last = &out->first;
    out->last_line = &out->lines;
    out->length = MK_DUDA_LENGTH_UNSET;
    out->promised = -1;
    rq->sr.headers.content_length = -1;
}

static void drop_first(struct mk_duda_out *out)
{
    struct mk_duda_chunk *chunk = out->first;

    out->first = chunk->next;
    if (!out->first)
        out->last = &out->first;
    if (chunk->fd >= 0)
        close(chunk->fd);
    if (!chunk->is_lent)
        free(chunk);
}

void mk_duda_answer_fini(struct mk_duda_request *rq)
{
    struct mk_duda_out *out = &rq->out;

    while (out->first)
        drop_first(out);
}

/* What is left is no answer. */
static bool is_short(const struct mk_duda_out *out)
{
    return out->lacks_bytes || out->lacks_memory;
}

/* ---- fields ---- */

static bool is_control(char c)
{
    return (unsigned char)c < ' ' || c == 0x7f;
}

/* The server looks at what else is no letter. */
static bool is_name(struct mk_str name)
{
    for (size_t i = 0; i < name.len; i++) {
        if (is_control(name.p[i]) || name.p[i] == ' ')
            return false;
    }
    return name.len > 0;
}

/* Has one of these bytes the value of a control? They are made one more in seven bits, so that DEL is a control below 0x21 too. */
static bool has_control(uint64_t eight)
{
    const uint64_t each = UINT64_MAX / UINT8_MAX;
    uint64_t up = ((eight & each * 0x7f) + each) | each << 7;

    return ~((up - each * 0x21) | eight) & each << 7;
}

/* RFC 9110 section 5.5: controls are not allowed, but for the tab. Eight bytes are looked at at once where there is none. */
static bool is_clean(struct mk_str value)
{
    size_t i = 0;

    for (uint64_t eight; value.len - i >= sizeof(eight); i += sizeof(eight)) {
        memcpy(&eight, value.p + i, sizeof(eight));
        if (has_control(eight))
            break;
    }
    for (; i < value.len; i++) {
        if (is_control(value.p[i]) && value.p[i] != '\t')
            return false;
    }
    return true;
}

static int refuse_line(const struct mk_duda_request *rq, const char *fault)
{
    mk_duda_log(rq->service, MK_LOG_WARN, "response->http_header() in %s: %s", rq->callback, fault);
    return -1;
}

static int keep_line(struct mk_duda_request *rq, struct mk_str name, struct mk_str value)
{
    struct mk_duda_out *out = &rq->out;
    struct mk_duda_line *line = mk_request_alloc(rq->r, sizeof(*line) + name.len + value.len);

    if (!line) {
        out->lacks_memory = true;
        return -1;
    }
    memcpy(line->text, name.p, name.len);
    if (value.len > 0)
        memcpy(line->text + name.len, value.p, value.len);
    line->name = (struct mk_str){line->text, name.len};
    line->value = (struct mk_str){line->text + name.len, value.len};
    line->next = NULL;
    *out->last_line = line;
    out->last_line = &line->next;
    out->line_bytes += name.len + value.len + 4;
    return 0;
}

static int set_length(struct mk_duda_request *rq, struct mk_str value)
{
    int64_t n = 0;

    for (size_t i = 0; i < value.len; i++) {
        if (value.p[i] < '0' || value.p[i] > '9' || n > INT64_MAX / 16)
            return refuse_line(rq, "its Content-Length is no number");
        n = n * 10 + (value.p[i] - '0');
    }
    rq->out.length = n;
    return 0;
}

int mk_duda_answer_field(struct mk_duda_request *rq, struct mk_str name, struct mk_str value)
{
    const unsigned rules = mk_field_rules(name); /* a name that has some is none of bad bytes */

    if (rq->state > MK_DUDA_REQUEST_CALLED)
        return refuse_line(rq, "the head was sent already");
    if ((rules == 0 && !is_name(name)) || !is_clean(value))
        return refuse_line(rq, "no field \"Name: value\" of one line");
    rq->out.has_own_names |= rules == 0;
    if (rules & MK_RULE_MESSAGE) /* framing and the connection are the server's */
        return text_is_word(name, MK_STR("Content-Length")) ? set_length(rq, value) : 0;
    if (rq->out.line_bytes + name.len + value.len > LINES_MAX)
        return refuse_line(rq, "too many fields");
    return keep_line(rq, name, value);
}

static void drop_lines(struct mk_duda_out *out, struct mk_str name)
{
    struct mk_duda_line **at = &out->lines;

    while (*at) {
        struct mk_duda_line *line = *at;

        if (text_is_word(line->name, name)) {
            out->line_bytes -= line->name.len + line->value.len + 4;
            *at = line->next;
        } else {
            at = &line->next;
        }
    }
    out->last_line = at;
}

int mk_duda_answer_replace(struct mk_duda_request *rq, struct mk_str name, struct mk_str value)
{
    if (rq->state == MK_DUDA_REQUEST_CALLED)
        drop_lines(&rq->out, name);
    return mk_duda_answer_field(rq, name, value);
}

/* Nearly all have one blank before them and none after. */
static struct mk_str trim(struct mk_str value)
{
    if (value.len < 2 || value.p[0] != ' ' || text_is_blank(value.p[1]) ||
        text_is_blank(value.p[value.len - 1]))
        return text_trim(value);
    return (struct mk_str){value.p + 1, value.len - 1};
}

int mk_duda_answer_line(struct mk_duda_request *rq, struct mk_str row)
{
    const char *colon = row.p ? memchr(row.p, ':', row.len) : NULL;
    struct mk_str value;

    if (!colon)
        return refuse_line(rq, "no field \"Name: value\"");
    value = (struct mk_str){colon + 1, row.len - (size_t)(colon + 1 - row.p)};
    return mk_duda_answer_field(rq, (struct mk_str){row.p, (size_t)(colon - row.p)}, trim(value));
}

/* ---- the queue ---- */

/* @param lender  the request whose memory has it; NULL: its own */
static struct mk_duda_chunk *add_chunk(struct mk_duda_out *out, struct mk_request *lender,
                                       size_t room)
{
    const size_t size = sizeof(struct mk_duda_chunk) + room;
    struct mk_duda_chunk *chunk = lender ? mk_request_alloc(lender, size) : malloc(size);

    if (!chunk) {
        out->lacks_bytes = true;
        return NULL;
    }
    *chunk = (struct mk_duda_chunk){.fd = -1, .room = room, .is_lent = lender};
    *out->last = chunk;
    out->newest = chunk;
    out->last = &chunk->next;
    return chunk;
}

/* Where the head was sent with a length, no more than that follows. */
static uint64_t clip(struct mk_duda_request *rq, uint64_t len)
{
    struct mk_duda_out *out = &rq->out;
    uint64_t left = out->promised >= 0 ? (uint64_t)out->promised - out->given : len;

    if (len > left) {
        mk_duda_log(rq->service, MK_LOG_WARN,
                    "%s queues more than its Content-Length, which is cut off", rq->callback);
        len = left;
    }
    out->given += len;
    out->queued += len;
    return len;
}

static bool is_open(const struct mk_duda_request *rq)
{
    return rq->state == MK_DUDA_REQUEST_CALLED || rq->state == MK_DUDA_REQUEST_OPEN;
}

/* Answers that are short as a whole cost no block of their own. A stream's chunks come and go, and are never lent. */
static struct mk_duda_chunk *add_room(struct mk_duda_request *rq, size_t len)
{
    struct mk_duda_out *out = &rq->out;
    size_t room;

    if (len <= CHUNK_SMALL && !out->newest && rq->state == MK_DUDA_REQUEST_CALLED)
        return add_chunk(out, rq->r, CHUNK_SMALL);
    room =
        out->queued < CHUNK_MIN ? CHUNK_MIN : (out->queued > CHUNK_MAX ? CHUNK_MAX : out->queued);
    return add_chunk(out, NULL, room > len ? room : len);
}

int mk_duda_answer_bytes(struct mk_duda_request *rq, const char *bytes, size_t len)
{
    struct mk_duda_out *out = &rq->out;
    struct mk_duda_chunk *chunk = out->first ? out->newest : NULL;

    if (!is_open(rq))
        return -1;
    if (!chunk || chunk->fd >= 0 || chunk->room - chunk->at - chunk->len < len) {
        chunk = add_room(rq, len);
        if (!chunk)
            return -1;
        if (out->queued >= CHUNK_MAX)
            mk_duda_request_hold(rq, (size_t)out->queued + chunk->room);
    }
    len = (size_t)clip(rq, len);
    if (len > 0)
        memcpy(chunk->bytes + chunk->at + chunk->len, bytes, len);
    chunk->len += len;
    return 0;
}

bool mk_duda_answer_take(struct mk_duda_request *rq)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    if (!rq->r || rq->state != MK_DUDA_REQUEST_CALLED)
        return false;
    mk_request_facts(rq->r, &facts);
    if (facts.status == 0)
        return false;
    (void)mk_duda_session_commit(rq); /* the head has gone without it */
    mk_duda_request_turn(rq, MK_DUDA_REQUEST_ENDED);
    rq->has_begun = true;
    mk_duda_answer_push(rq);
    return true;
}

int mk_duda_answer_clear(struct mk_duda_request *rq)
{
    struct mk_duda_out *out = &rq->out;

    if (rq->state != MK_DUDA_REQUEST_CALLED || out->headers_off || mk_duda_answer_adopt(rq))
        return -1;
    while (out->first)
        drop_first(out);
    out->queued = out->given = 0;
    out->length = MK_DUDA_LENGTH_UNSET;
    out->lacks_bytes = false;
    return 0;
}

int mk_duda_answer_file(struct mk_duda_request *rq, int fd, uint64_t at, uint64_t len)
{
    struct mk_duda_chunk *chunk = is_open(rq) ? add_chunk(&rq->out, NULL, 0) : NULL;

    if (!chunk) {
        close(fd);
        return -1;
    }
    chunk->fd = fd;
    chunk->at = at;
    chunk->len = clip(rq, len);
    return 0;
}

/* ---- giving it to the server ---- */

static ssize_t take_bytes(struct mk_duda_chunk *chunk, char *dst, size_t len)
{
    ssize_t n;

    if (len > chunk->len)
        len = (size_t)chunk->len;
    if (chunk->fd < 0) {
        memcpy(dst, chunk->bytes + chunk->at, len);
        n = (ssize_t)len;
    } else {
        n = pread(chunk->fd, dst, len, (off_t)chunk->at);
        if (n <= 0)
            return MK_E_SYS; /* it has become shorter */
    }
    chunk->at += (uint64_t)n;
    chunk->len -= (uint64_t)n;
    return n;
}

static void drop_empty(struct mk_duda_out *out)
{
    while (out->first && out->first->len == 0)
        drop_first(out);
}

/* The service is asked inside a call of the server, which sees itself what was queued. */
static void ask_for_more(struct mk_duda_request *rq)
{
    struct mk_duda_here before = mk_duda_enter_request(rq);
    bool was_inside = rq->is_inside;

    rq->is_inside = true;
    rq->out.more(&rq->dr, rq->out.more_arg);
    rq->is_inside = was_inside;
    mk_duda_leave(before);
    drop_empty(&rq->out);
}

static ssize_t produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct mk_duda_request *rq = arg;
    struct mk_duda_out *out = &rq->out;
    ssize_t n;

    (void)r;
    drop_empty(out);
    if (!out->first && out->more && rq->state != MK_DUDA_REQUEST_ENDED)
        ask_for_more(rq);
    if (!out->first && is_short(out))
        return MK_E_NOMEM;
    if (!out->first) {
        rq->is_starved = rq->state != MK_DUDA_REQUEST_ENDED;
        return rq->is_starved ? MK_E_AGAIN : 0;
    }
    n = take_bytes(out->first, dst, len);
    if (n > 0)
        out->queued -= (uint64_t)n;
    return n;
}

/* All sources at once: files by sendfile. The chunks stay until the request ends. */
static int queue_sources(struct mk_duda_request *rq, uint64_t length)
{
    for (struct mk_duda_chunk *chunk = rq->out.first; chunk && length > 0; chunk = chunk->next) {
        uint64_t len = chunk->len < length ? chunk->len : length;
        int err, fd = chunk->fd;

        chunk->fd = -1;
        err = fd >= 0
                  ? mk_reply_fd(rq->r, fd, chunk->at, len)
                  : mk_reply_memory(rq->r, (struct mk_str){chunk->bytes + chunk->at, (size_t)len});
        if (err < 0)
            return -1;
        length -= len;
    }
    return 0;
}

static bool is_final(unsigned status)
{
    return status >= 200 && status <= 599;
}

static unsigned status_of(const struct mk_duda_request *rq)
{
    const struct response_headers *h = &rq->sr.headers;

    if (h->status == MK_CUSTOM_STATUS && h->custom_status.data && h->custom_status.len >= 12)
        return (unsigned)strtoul(h->custom_status.data + 9, NULL, 10);
    return (unsigned)h->status;
}

/* [DUDA] CheckAnswers: is it one of those that the route says it gives? */
static void check(const struct mk_duda_request *rq, unsigned status)
{
    struct mk_str type = {NULL, 0};

    if (!rq->service->checks_answers || !rq->is_with_callback || !rq->route || !rq->route->answers)
        return;
    for (const struct mk_duda_line *line = rq->out.lines; line; line = line->next) {
        if (text_is_word(line->name, MK_STR("Content-Type")))
            type = line->value;
    }
    if (mk_duda_answers_have(rq->route->answers, status, type))
        return;
    mk_duda_log(rq->service, MK_LOG_ERROR, "%s: its table has no answer %u of the type \"%.*s\"",
                rq->route->target.name, status, (int)type.len, type.p ? type.p : "");
}

/* The head. @return 0; -1: the server has an answer of its own, or closes the connection */
static int begin(struct mk_duda_request *rq, int64_t length)
{
    unsigned status = status_of(rq);
    struct mk_reply p;

    if (!is_final(status)) {
        mk_duda_log(rq->service, MK_LOG_ERROR, "%s answers without a status: http_status(%u)",
                    rq->callback, status);
        (void)mk_reply_error(rq->r, 500, NULL);
        return -1;
    }
    check(rq, status);
    rq->has_begun = true;
    if (mk_reply_begin(&p, rq->r, status) < 0)
        return -1;
    p.is_clean = !rq->out.has_own_names;
    for (const struct mk_duda_line *line = rq->out.lines; line; line = line->next)
        mk_reply_line(&p, line->name, line->value);
    if (mk_reply_end(&p, length) == 0)
        return 0;
    mk_duda_log(rq->service, MK_LOG_ERROR, "%s: its head cannot be sent", rq->callback);
    return -1;
}

void mk_duda_answer_push(struct mk_duda_request *rq)
{
    if (rq->r && !rq->is_inside)
        mk_request_resume(rq->r);
}

static bool is_head(const struct mk_duda_request *rq)
{
    return rq->sr.method == MK_HTTP_METHOD_HEAD;
}

/* What the service has queued is not sent. */
static int refuse(struct mk_duda_request *rq, unsigned status)
{
    mk_duda_request_turn(rq, MK_DUDA_REQUEST_ENDED);
    rq->has_begun = true;
    (void)mk_reply_error(rq->r, status, NULL);
    mk_duda_answer_push(rq);
    return -1;
}

int mk_duda_answer_open(struct mk_duda_request *rq)
{
    struct mk_duda_out *out = &rq->out;

    if (rq->state != MK_DUDA_REQUEST_CALLED || out->headers_off)
        return -1;
    if (is_short(out))
        return refuse(rq, 503);
    (void)mk_duda_session_commit(rq); /* what goes at once does not wait for it */
    mk_duda_request_turn(rq, MK_DUDA_REQUEST_OPEN);
    if (is_head(rq))
        return 0; /* without a body its end would be now: the head waits for end() */
    out->promised = out->length >= 0 ? out->length : -1;
    if (out->promised >= 0 && out->queued > (uint64_t)out->promised)
        out->promised = (int64_t)out->queued;
    out->given = out->queued;
    if (begin(rq, out->promised) < 0 || mk_reply_producer(rq->r, produce, rq) < 0) {
        mk_duda_request_turn(rq, MK_DUDA_REQUEST_ENDED);
        mk_duda_answer_push(rq);
        return -1;
    }
    mk_duda_answer_push(rq);
    return 0;
}

int mk_duda_answer_stream(struct mk_duda_request *rq, void (*more)(duda_request_t *dr, void *arg),
                          void *arg)
{
    rq->out.more = more;
    rq->out.more_arg = arg;
    if (is_head(rq))
        return mk_duda_answer_end(rq);
    return mk_duda_answer_open(rq);
}

static int64_t length_of(const struct mk_duda_request *rq)
{
    const struct mk_duda_out *out = &rq->out;
    int64_t queued = (int64_t)out->queued;

    if (out->length == MK_DUDA_LENGTH_UNSET || (is_head(rq) && out->length >= 0))
        return out->length >= 0 ? out->length : queued;
    if (out->length <= queued)
        return out->length;
    mk_duda_log(rq->service, MK_LOG_WARN, "%s: Content-Length %lld, but %lld bytes are queued",
                rq->callback, (long long)out->length, (long long)queued);
    return queued;
}

static unsigned count_chunks(const struct mk_duda_out *out)
{
    unsigned n = 0;

    for (const struct mk_duda_chunk *chunk = out->first; chunk; chunk = chunk->next)
        n++;
    return n;
}

static int send_whole(struct mk_duda_request *rq)
{
    int64_t length = length_of(rq);

    if (begin(rq, length) < 0)
        return -1;
    if (is_head(rq))
        return 0;
    if (length < 0 || count_chunks(&rq->out) > SOURCES_MAX)
        return mk_reply_producer(rq->r, produce, rq) < 0 ? -1 : 0;
    return queue_sources(rq, (uint64_t)length);
}

/* Nothing of it was sent. */
static int send_now(struct mk_duda_request *rq)
{
    int result;

    mk_duda_request_turn(rq, MK_DUDA_REQUEST_ENDED);
    result = send_whole(rq);
    mk_duda_answer_push(rq);
    return result;
}

void mk_duda_answer_forgotten(struct mk_duda_request *rq)
{
    (void)refuse(rq, 500);
}

void mk_duda_answer_release(struct mk_duda_request *rq, bool is_good)
{
    if (is_good)
        (void)send_now(rq);
    else
        (void)refuse(
            rq, 503); /* what the service says of a session that is not kept would not be true */
}

int mk_duda_answer_end(struct mk_duda_request *rq)
{
    uint8_t state = rq->state;

    if (!is_open(rq))
        return -1;
    if (mk_duda_answer_adopt(rq))
        return 0;
    if (state == MK_DUDA_REQUEST_CALLED && is_short(&rq->out))
        return refuse(rq, 503);
    if (rq->out.headers_off)
        (void)mk_duda_raw_read(rq);
    if (state == MK_DUDA_REQUEST_OPEN && !is_head(rq)) {
        mk_duda_request_turn(rq, MK_DUDA_REQUEST_ENDED);
        mk_duda_answer_push(rq);
        return 0;
    }
    switch (mk_duda_session_commit(rq)) {
    case MK_DUDA_SESSION_LATER:
        mk_duda_request_turn(rq, MK_DUDA_REQUEST_HELD);
        return 0;
    case MK_DUDA_SESSION_FAILED:
        return refuse(rq, 503);
    case MK_DUDA_SESSION_DONE:
        break;
    }
    return send_now(rq);
}

int mk_duda_answer_whole(struct mk_duda_request *rq, int result)
{
    if (result < 0 && !is_short(&rq->out))
        return -1;
    return mk_duda_answer_end(rq) < 0 || result < 0 ? -1 : 0;
}
