/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/gateway/answer.h"

#include "kit/target/target.h"
#include "kit/text/words.h"

#include <monkey/field.h>

#include <stdlib.h>

enum {
    FIRST_ROOM = 4 << 10,
    OWN_ROOM = 16 << 10, /* in the request's memory, which grows no smaller before its end */
    INTERIMS_MAX = 8,
};

bool gateway_is_of_the_connection(struct mk_str name)
{
    return (mk_field_rules(name) & MK_RULE_HOP) || text_is_word(name, MK_STR("Status")) ||
           text_is_front_order(name);
}

bool gateway_is_local(struct mk_str location)
{
    return location.len > 0 && location.p[0] == '/' && !(location.len > 1 && location.p[1] == '/');
}

void gateway_answer_init(struct gateway_answer *a, struct mk_request *r, enum mk_response_kind kind,
                         int64_t max_head, gateway_output_fn output, void *arg)
{
    struct mk_request_facts f = {.size = sizeof(f)};

    mk_request_facts(r, &f);
    *a = (struct gateway_answer){.r = r,
                                 .kind = kind,
                                 .output = output,
                                 .arg = arg,
                                 .max_head = (uint32_t)max_head,
                                 .head_only =
                                     f.method.len == 4 && memcmp(f.method.p, "HEAD", 4) == 0};
}

static void hold(const struct gateway_answer *a, size_t bytes)
{
    if (a->hold)
        a->hold(a->arg, bytes);
}

static bool is_in_heap(const struct gateway_answer *a)
{
    return a->room > OWN_ROOM;
}

void gateway_answer_fini(struct gateway_answer *a)
{
    if (is_in_heap(a))
        free(a->buf);
    a->buf = NULL;
    a->at = a->len = a->room = 0;
}

/* The head and what came with it were used. */
static void let_go(struct gateway_answer *a)
{
    if (!is_in_heap(a))
        return;
    gateway_answer_fini(a);
    hold(a, 0);
}

void gateway_answer_fail(struct gateway_answer *a, unsigned status, const char *lines)
{
    enum gateway_progress before = a->progress;

    if (before == GATEWAY_MOVED || before == GATEWAY_FAILED)
        return;
    a->progress = GATEWAY_FAILED;
    if (before == GATEWAY_HEAD)
        (void)mk_reply_error(a->r, status, lines);
    else
        mk_reply_abort(a->r);
    mk_request_resume(a->r);
}

static void fail_head(struct gateway_answer *a, const char *why)
{
    char url[TARGET_TEXT];

    mk_request_log(a->r, MK_LOG_ERROR,
                   "invalid answer of a program backend=\"%s\" why=\"%s\" url=\"%s\"",
                   a->backend ? a->backend : "-", why, target_text(a->r, url));
    gateway_answer_fail(a, 502, NULL);
}

/* ---- the body ---- */

/* @return bytes of the program's output, received before or now. */
static ssize_t next_bytes(struct gateway_answer *a, char *dst, size_t len)
{
    if (a->at == a->len) {
        let_go(a);
        return a->output(a->arg, dst, len);
    }
    if (len > a->len - a->at)
        len = a->len - a->at;
    memcpy(dst, a->buf + a->at, len);
    a->at += (uint32_t)len;
    return (ssize_t)len;
}

/* Asked when the client can take more. */
static ssize_t produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct gateway_answer *a = arg;

    (void)r;
    while (!a->ended) {
        ssize_t n = next_bytes(a, dst, len);
        size_t got = (size_t)n, used;
        int err;

        if (n < 0)
            return n;
        a->ended = n == 0;
        if (n == 0)
            return mk_body_end(&a->body);
        err = mk_body_decode(&a->body, dst, &got, &used);
        if (err < 0 && err != MK_E_AGAIN)
            return err;
        a->ended = err == 1;
        if (got > 0)
            return (ssize_t)got;
    }
    return 0;
}

/* ---- the head ---- */

/* Is it named in a Connection field? */
static bool is_named(const struct gateway_answer *a, struct mk_str name)
{
    struct mk_str field, value;
    uint32_t at = 0;

    while (mk_response_next(&a->head, a->buf, &at, &field, &value)) {
        if (!text_is_word(field, MK_STR("Connection")))
            continue;
        for (size_t from = 0, to; from < value.len; from = to + 1) {
            struct mk_str word;

            for (to = from; to < value.len && value.p[to] != ','; to++)
                ;
            word = (struct mk_str){value.p + from, to - from};
            for (; word.len > 0 && (*word.p == ' ' || *word.p == '\t'); word.len--)
                word.p++;
            while (word.len > 0 && (word.p[word.len - 1] == ' ' || word.p[word.len - 1] == '\t'))
                word.len--;
            if (text_is_word(word, name))
                return true;
        }
    }
    return false;
}

static void pass_fields(struct gateway_answer *a, struct mk_reply *p)
{
    struct mk_str name, value;
    bool has_type = false;
    uint32_t at = 0;

    while (mk_response_next(&a->head, a->buf, &at, &name, &value)) {
        if (gateway_is_of_the_connection(name) || is_named(a, name))
            continue;
        has_type = has_type || text_is_word(name, MK_STR("Content-Type"));
        mk_reply_line(p, name, value);
    }
    if (!has_type && a->type.p && a->head.status != 204 && a->head.status != 304)
        mk_reply_line(p, MK_STR("Content-Type"), a->type);
}

/* @return false: it could not be, and the answer has failed. */
static bool write_head(struct gateway_answer *a, int64_t length)
{
    struct mk_reply p;
    int err = mk_reply_begin(&p, a->r, a->head.status);

    if (err == 0) {
        pass_fields(a, &p);
        err = mk_reply_end(&p, length);
    }
    if (err < 0)
        gateway_answer_fail(a, 502, NULL);
    return err == 0;
}

/* A length that is known spares the chunks, and lets connections of HTTP/1.0 stay open. */
static int64_t length_of_body(const struct gateway_answer *a)
{
    int64_t left;

    if (a->head.content_length >= 0 || a->head_only || !a->left)
        return a->head.content_length;
    left = a->left(a->arg);
    return left < 0 ? -1 : left + (int64_t)(a->len - a->at);
}

static void begin_body(struct gateway_answer *a)
{
    mk_body_init(&a->body, &a->head, a->head_only);
    if (!write_head(a, length_of_body(a)))
        return;
    a->progress = GATEWAY_BODY;
    if (mk_reply_producer(a->r, produce, a) < 0)
        gateway_answer_fail(a, 502, NULL);
}

static void forget_head(struct gateway_answer *a, size_t head_len)
{
    a->len -= (uint32_t)head_len;
    memmove(a->buf, a->buf + head_len, a->len);
    a->head = (struct mk_response_head){.line = 0};
}

/* 1xx: told to the client, but for what the server has said itself. */
static void pass_interim(struct gateway_answer *a, size_t head_len)
{
    if (a->kind == MK_RESPONSE_CGI || a->head.status == 101 || ++a->interims > INTERIMS_MAX) {
        fail_head(a, "an invalid status");
        return;
    }
    if (a->head.status != 100 && !write_head(a, -1))
        return;
    forget_head(a, head_len);
}

/* "Location: /path" without a status (RFC 3875 section 6.2.2). */
static bool is_elsewhere(const struct gateway_answer *a, struct mk_str *location)
{
    if (a->kind != MK_RESPONSE_CGI || mk_response_find(&a->head, a->buf, MK_STR("Status")).p)
        return false;
    *location = mk_response_find(&a->head, a->buf, MK_STR("Location"));
    return gateway_is_local(*location);
}

static void move(struct gateway_answer *a, struct mk_str location)
{
    int err = mk_request_reroute(a->r, location);

    if (err == 0) {
        a->progress = GATEWAY_MOVED;
        return;
    }
    mk_request_log(a->r, MK_LOG_ERROR, "cannot follow a program's Location why=\"%s\"",
                   mk_error_text(err));
    gateway_answer_fail(a, err == MK_E_LIMIT ? 500 : 502, NULL);
}

static const char *why_of(const struct gateway_answer *a, ssize_t err)
{
    return err == MK_E_LIMIT && mk_response_is_too_long(&a->head)
               ? "the head is larger than MaxAnswerHead"
               : a->head.why;
}

/* @return false when more output is needed. */
static bool parse(struct gateway_answer *a)
{
    ssize_t n = mk_response_parse(&a->head, a->kind, a->buf, a->len, a->max_head);
    struct mk_str location;

    if (n == MK_E_AGAIN)
        return false;
    if (n < 0)
        fail_head(a, why_of(a, n));
    else if (a->head.status < 200)
        pass_interim(a, (size_t)n);
    else if (is_elsewhere(a, &location))
        move(a, location);
    else {
        a->at = (uint32_t)n;
        begin_body(a);
    }
    return true;
}

/* A head that fills its room has not been too large so far. @return bytes */
static uint32_t next_room(const struct gateway_answer *a)
{
    uint32_t room = a->room == 0 ? FIRST_ROOM : a->room * 2;

    return room > OWN_ROOM && room > a->max_head ? a->max_head : room;
}

/* @return whether there is room for more of the head. */
static bool make_room(struct gateway_answer *a)
{
    uint32_t room = next_room(a);
    char *buf;

    if (a->len < a->room)
        return true;
    if (room <= OWN_ROOM)
        buf = mk_request_alloc(a->r, room);
    else
        buf = is_in_heap(a) ? realloc(a->buf, room) : malloc(room);
    if (!buf)
        return false;
    if (a->len > 0 && !is_in_heap(a))
        memcpy(buf, a->buf, a->len);
    a->buf = buf;
    a->room = room;
    if (is_in_heap(a))
        hold(a, room);
    return true;
}

/* @return false: there is no more for now. */
static bool read_head(struct gateway_answer *a)
{
    ssize_t n;

    if (!make_room(a)) {
        fail_head(a, "no memory for the head");
        return false;
    }
    n = a->output(a->arg, a->buf + a->len, a->room - a->len);
    if (n == MK_E_AGAIN)
        return false;
    if (n <= 0) {
        if (a->progress == GATEWAY_HEAD) /* whoever gives output may have said why there is none */
            fail_head(a, "the program ended before its head was complete");
        return false;
    }
    a->len += (uint32_t)n;
    while (a->progress == GATEWAY_HEAD && a->len > 0 && parse(a))
        ;
    return true;
}

enum gateway_progress gateway_answer_input(struct gateway_answer *a)
{
    if (a->progress == GATEWAY_BODY)
        mk_request_resume(a->r);
    while (a->progress == GATEWAY_HEAD && read_head(a))
        ;
    return a->progress;
}
