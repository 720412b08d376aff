/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include "conn.h"
#include "kit/digest/digest.h"
#include "kit/h2/lines.h"
#include "kit/pure/base64.h"
#include "kit/text/words.h"

#include <stdlib.h>
#include <sys/random.h>

/* A stream's request: its head as fields come, its body as frames come, its answer as the client takes it. */

enum {
    TRAILERS = 16 << 10, /* bytes of an answer's, at most */
    STATUS = 32,         /* of :status in a block, at most */
    HOST_MAX = 1024,     /* of a name; no host's is that long */
};

static const struct mk_str version = MK_STR_INIT(" HTTP/1.1\r\n");

static struct http2_stream *stream_of(void *arg)
{
    return arg;
}

static struct http2_stream *whole(struct h2_stream *base)
{
    return (struct http2_stream *)((char *)base - offsetof(struct http2_stream, base));
}

static struct h2_stream *begin(struct h2_session *session, uint32_t id)
{
    struct http2_conn *c = http2_conn_of(session);
    struct http2_stream *s = http2_local_stream(c->local);

    (void)id;
    c->nrequests++;
    if (!s)
        return NULL;
    s->conn = c;
    s->head.sum = s->cookie.sum = s->body.sum = s->trailers.sum = &c->held;
    h2_text_lend(&s->head, &c->local->spare);
    s->moved_ms = http2_conn_now_ms(c);
    s->next = c->streams;
    s->at = &c->streams;
    if (s->next)
        s->next->at = &s->next;
    c->streams = s;
    c->nstreams++;
    http2_count(c->local->row, HTTP2_COUNT_STREAMS, 1);
    http2_count(c->local->row, HTTP2_COUNT_STREAMS_MADE, 1);
    return &s->base;
}

static void set_joined(struct http2_stream *s, bool is_joined)
{
    int by = (int)is_joined - (int)s->is_joined;

    if (by == 0)
        return;
    s->is_joined = is_joined;
    s->conn->njoined += (unsigned)by;
    http2_count(s->conn->local->row, HTTP2_COUNT_TUNNELS, by);
}

void http2_stream_free(struct http2_stream *s)
{
    if (s->exchange)
        mk_exchange_break(s->exchange);
    if (s->tunnel)
        mk_tunnel_break(s->tunnel);
    h2_text_free(&s->body);
    if (s->conn->local->writing == s)
        s->conn->local->writing = NULL;
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    s->conn->nstreams--;
    set_joined(s, false);
    http2_count(s->conn->local->row, HTTP2_COUNT_STREAMS, -1);
    if (s->conn->nstreams == 0)
        s->conn->idle_ms = http2_conn_now_ms(s->conn);
    h2_text_free(&s->head);
    h2_text_free(&s->cookie);
    h2_text_free(&s->trailers);
    http2_local_keep_stream(s->conn->local, s);
}

/* ---- its head ---- */

/* Bytes of the head, as HTTP/1.1 has it. */
static inline size_t head_len(const struct http2_stream *s)
{
    return s->head.len - s->text_at + s->cookie.len;
}

/* The text has to grow, or the head is larger than any may be. */
__attribute__((noinline)) static char *make_room(struct http2_stream *s, struct h2_text *to,
                                                 size_t len, int *err)
{
    size_t max = s->conn->max_head, all = head_len(s) + len;
    char *room = all <= 2 * max ? h2_text_room(to, len) : NULL;

    s->is_large = s->is_large || all > max;
    *err = room || all > 2 * max ? 0 : MK_E_NOMEM;
    return room;
}

/* Room at the end of a text for so many bytes. @return NULL: no memory, or the head is too large for any more. */
static inline char *room_for(struct http2_stream *s, struct h2_text *to, size_t len, int *err)
{
    bool has_room = head_len(s) + len <= s->conn->max_head && len <= to->cap - to->len;
    char *room;

    *err = 0;
    room = has_room ? to->p + to->len : make_room(s, to, len, err);
    if (room)
        to->len += (uint32_t)len;
    return room;
}

static int keep(struct http2_stream *s, struct h2_text *to, struct mk_str text)
{
    char *room;
    int err;

    if (text.len == 0)
        return 0;
    room = room_for(s, to, text.len, &err);
    if (room)
        (void)h2_put(room, text);
    return err;
}

static int keep_line(struct http2_stream *s, struct mk_str name, struct mk_str value)
{
    int err;
    char *room = room_for(s, &s->head, name.len + value.len + 4, &err);

    if (!room)
        return err;
    (void)h2_put_line(room, name, value);
    return 0;
}

static struct mk_str part(const struct http2_stream *s, struct http2_part part)
{
    return part.len > 0 ? (struct mk_str){s->head.p + part.at, part.len} : MK_STR("");
}

/* One that is too large for any head is cut: its head is refused. */
static int keep_part(struct http2_stream *s, struct http2_part *to, struct mk_str value)
{
    size_t room = 2 * s->conn->max_head - s->head.len - s->cookie.len;

    if (value.len > room)
        value.len = room;
    *to = (struct http2_part){s->head.len, (uint32_t)value.len};
    return keep(s, &s->head, value);
}

/* Of CONNECT, it is the authority. */
static struct mk_str target_of(const struct http2_stream *s)
{
    return part(s, s->target.len > 0 ? s->target : s->authority);
}

/* The parts have come: the request line. :authority stands for Host (RFC 9113 section 8.3.1). */
static int begin_fields(struct http2_stream *s)
{
    const size_t host = s->authority.len;
    const size_t line = s->method.len + 1 + target_of(s).len + version.len;
    char *at;
    int err;

    if (host > HOST_MAX)
        return MK_E_BAD;
    s->text_at = s->fields_at = s->head.len;
    at = room_for(s, &s->head, line + (host > 0 ? sizeof("Host: \r\n") - 1 + host : 0), &err);
    if (!at)
        return err;
    s->fields_at += (uint32_t)line;
    at = h2_put(at, part(s, s->method));
    *at++ = ' ';
    at = h2_put(h2_put(at, target_of(s)), version);
    if (host > 0)
        (void)h2_put_line(at, MK_STR("Host"), part(s, s->authority));
    return 0;
}

/* Both may be there and must say the same; which of them is there decides nothing. */
static int take_host(struct http2_stream *s, struct mk_str value)
{
    struct mk_str name = part(s, s->authority);

    if (s->authority.len == 0)
        return keep_line(s, MK_STR("Host"), value);
    return text_is_word(name, value) ? 0 : MK_E_BAD;
}

static int take_cookie(struct http2_stream *s, struct mk_str crumb)
{
    int err;

    if (crumb.len == 0)
        return h2_session_pay(s->base.session, H2_PRICE_CRUMB) ? 0 : MK_E_BAD;
    err = s->cookie.len > 0 ? keep(s, &s->cookie, MK_STR("; ")) : 0;
    return err == 0 ? keep(s, &s->cookie, crumb) : err;
}

/* Of WebSocket, HTTP/2 has no key (RFC 8441 section 5). */
static int take_other(struct http2_stream *s, struct mk_str name, struct mk_str value)
{
    if (s->protocol.len > 0 && text_is(name, MK_STR("sec-websocket-key")))
        return 0;
    return keep_line(s, name, value);
}

static int take_field(struct http2_stream *s, enum h2_field kind, struct mk_str name,
                      struct mk_str value)
{
    switch (kind) {
    case H2_FIELD_METHOD:
        return keep_part(s, &s->method, value);
    case H2_FIELD_PATH:
        return keep_part(s, &s->target, value);
    case H2_FIELD_AUTHORITY:
        return keep_part(s, &s->authority, value);
    case H2_FIELD_PROTOCOL:
        return keep_part(s, &s->protocol, value);
    case H2_FIELD_HOST:
        return take_host(s, value);
    case H2_FIELD_COOKIE:
        return take_cookie(s, value);
    case H2_FIELD_TE:
        s->takes_trailers = true;
        return 0;
    case H2_FIELD_EXPECT:
        s->expects_continue = s->expects_continue || text_is_word(value, MK_STR("100-continue"));
        return 0;
    case H2_FIELD_OTHER:
        return take_other(s, name, value);
    default: /* of framing */
        return 0;
    }
}

static bool is_pseudo(enum h2_field kind)
{
    return kind < H2_FIELD_HOST;
}

/* A field of its head, or of its trailers. */
static int field(struct h2_stream *base, enum h2_field kind, const struct hpack_field *f)
{
    struct http2_stream *s = whole(base);
    int err;

    if (s->is_large)
        return h2_session_pay(base->session, H2_PRICE_FIELD) ? 0 : MK_E_BAD;
    if (base->message.is_trailer)
        return keep_line(s, f->name, f->value);
    err = is_pseudo(kind) || s->fields_at > 0 ? 0 : begin_fields(s);
    return err == 0 ? take_field(s, kind, f->name, f->value) : err;
}

/* HTTP/1.1's handshake has a key, which a handler may ask for, and a backend too (RFC 6455 section 4.1). */
static int add_key(struct http2_stream *s)
{
    uint8_t bytes[16];

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return MK_E_NOMEM;
    (void)base64_encode(s->key, bytes, sizeof(bytes));
    return keep_line(s, MK_STR("Sec-WebSocket-Key"), (struct mk_str){s->key, sizeof(s->key)});
}

/* Some of its fields were not kept, and without them it may be small enough: the server is to refuse it (431) all the same. */
static int add_too_much(struct http2_stream *s)
{
    size_t max = s->conn->max_head;
    char *line = h2_text_room(&s->head, max + 5);

    if (!line)
        return MK_E_NOMEM;
    memset(h2_put(line, MK_STR("x: ")), 'x', max);
    (void)h2_put(line + 3 + max, MK_STR("\r\n"));
    s->head.len += (uint32_t)max + 5;
    return 0;
}

static int add_rest(struct http2_stream *s)
{
    int err = s->fields_at > 0 ? 0 : begin_fields(s);

    if (err == 0 && s->is_large)
        return add_too_much(s);
    if (err == 0 && s->cookie.len > 0)
        err = keep_line(s, MK_STR("Cookie"), (struct mk_str){s->cookie.p, s->cookie.len});
    if (err == 0 && text_is_word(part(s, s->protocol), MK_STR("websocket")))
        err = add_key(s);
    return err;
}

/* ---- the same head again ---- */

/* Its block is like the last one that was kept. */
static bool again(struct h2_stream *base, uint64_t number)
{
    struct http2_stream *s = whole(base);
    const struct http2_again *a = &s->conn->local->again;
    char *room;
    int err;

    if (a->number != number)
        return false;
    room = room_for(s, &s->head, a->len, &err);
    if (!room)
        return false;
    memcpy(room, a->text, a->len);
    s->method = (struct http2_part){0, a->method_len};
    s->target = (struct http2_part){a->method_len + 1, a->target_len};
    s->fields_at = (uint32_t)(a->method_len + 1 + a->target_len + version.len);
    s->takes_trailers = a->takes_trailers;
    return true;
}

static bool is_kept(const struct http2_again *a, const struct http2_stream *s, struct mk_str text)
{
    return a->len == text.len && a->method_len == s->method.len && a->target_len == s->target.len &&
           a->takes_trailers == s->takes_trailers && memcmp(a->text, text.p, text.len) == 0;
}

static void keep_text(struct http2_again *a, const struct http2_stream *s, struct mk_str text)
{
    if (is_kept(a, s, text))
        return;
    memcpy(a->text, text.p, text.len);
    a->len = (uint32_t)text.len;
    a->method_len = s->method.len;
    a->target_len = s->target.len;
    a->takes_trailers = s->takes_trailers;
    a->number++;
}

/* What its fields have become is what they would become again. */
static void keep_head(struct http2_stream *s)
{
    struct http2_again *a = &s->conn->local->again;
    const struct mk_str text = {s->head.p ? s->head.p + s->text_at : NULL,
                                s->head.len - s->text_at};

    if (!text.p || !h2_stream_may_keep(&s->base) || s->is_large || s->base.message.is_connect ||
        s->expects_continue || text.len > HTTP2_AGAIN)
        return;
    keep_text(a, s, text);
    h2_stream_keep(&s->base, a->number);
}

/* ---- as the server's carrier ---- */

static ssize_t read_body(void *arg, char *dst, size_t len)
{
    struct http2_stream *s = stream_of(arg);
    const size_t n = h2_text_take(&s->body, dst, len);

    if (n == 0)
        return s->has_end ? 0 : MK_E_AGAIN;
    s->base.session->now_ms = http2_conn_now_ms(s->conn);
    h2_stream_use(&s->base, n);
    http2_conn_wake(s->conn);
    return (ssize_t)n;
}

static size_t buffered(const void *arg)
{
    return h2_text_left(&((const struct http2_stream *)arg)->body);
}

/* Only who speaks WebSocket knows it (RFC 6455 section 4.1); the client of HTTP/2 cannot check that (RFC 8441 section 5). */
static bool knows_key(const struct http2_stream *s, struct mk_str lines)
{
    char accept[WEBSOCKET_ACCEPT_LEN];
    struct mk_str name, value;

    if (s->key[0] == '\0')
        return true;
    digest_websocket_accept(accept, s->key, sizeof(s->key));
    while (h2_next_line(&lines, &name, &value)) {
        if (text_is_word(name, MK_STR("Sec-WebSocket-Accept")))
            return text_is(value, (struct mk_str){accept, sizeof(accept)});
    }
    return false;
}

static char *begin_head(void *arg, size_t len)
{
    struct http2_stream *s = stream_of(arg);
    struct http2_local *l = s->conn->local;

    l->writing = s;
    return len <= sizeof(l->room) ? l->room : NULL;
}

static bool has_head(const void *arg)
{
    const struct http2_stream *s = arg;

    return s->conn->local->writing == s;
}

static int take_head(void *arg, unsigned asked, struct mk_str fields, bool has_body)
{
    struct http2_stream *s = stream_of(arg);
    struct h2_head head;

    s->conn->local->writing = NULL;
    if (asked == 101 && !knows_key(s, fields))
        return MK_E_BAD;
    if (!h2_head_begin(&head, &s->base, STATUS + h2_lines_most(fields)))
        return MK_E_NOMEM;
    h2_head_status(&head, asked == 101 ? 200 : asked); /* RFC 8441 section 5 */
    h2_head_add_lines(&head, fields);
    if (asked >= 200 || asked == 101)
        s->moved_ms = http2_conn_now_ms(s->conn);
    h2_head_end(&head, asked < 200 && asked != 101 ? H2_FOLLOWS_HEAD
                       : has_body                  ? H2_FOLLOWS_BODY
                                                   : H2_FOLLOWS_NOTHING);
    http2_conn_wake(s->conn);
    return 0;
}

static void be_ready(void *arg)
{
    struct http2_stream *s = stream_of(arg);

    if (s->base.sending != H2_SENDING_STARVED)
        return;
    s->moved_ms = http2_conn_now_ms(s->conn);
    h2_stream_resume(&s->base);
    http2_conn_wake(s->conn);
}

static void take_trailers(void *arg, struct mk_str lines)
{
    struct http2_stream *s = stream_of(arg);

    h2_text_free(&s->trailers);
    (void)h2_text_append(&s->trailers, lines.p, lines.len, TRAILERS);
}

/* Its answer has left. What its client still sends of the body nobody reads (RFC 9113 section 8.1); of a tunnel, the client ends
   its own side. */
static void answered(struct h2_stream *base)
{
    if (!whole(base)->is_connect)
        h2_stream_reset(base, H2_E_NO_ERROR);
}

/* Nobody reads what is left or still comes. Its client needs a window to come to its end all the same. */
static void part_from(struct http2_stream *s)
{
    if (!s->is_joined && h2_text_left(&s->body) == 0)
        return;
    set_joined(s, false);
    h2_stream_use(&s->base, h2_text_left(&s->body));
    h2_text_free(&s->body);
    http2_conn_wake(s->conn);
}

static void end_exchange(void *arg, int error)
{
    struct http2_stream *s = stream_of(arg);

    s->exchange = NULL;
    part_from(s);
    if (error == 0) {
        h2_credit_earn(&s->base.session->credit, H2_CREDIT_A_REQUEST);
        be_ready(s); /* without a byte: only the end of its body is missing */
        return;
    }
    if (s->is_pulled)
        return;
    h2_stream_reset(&s->base, H2_E_INTERNAL_ERROR);
    http2_conn_wake(s->conn);
}

static void open_tunnel(void *arg, struct mk_tunnel *tunnel)
{
    struct http2_stream *s = stream_of(arg);

    s->exchange = NULL;
    s->tunnel = tunnel;
    set_joined(s, true);
}

static const struct mk_carrier carrier = {
    .size = sizeof(struct mk_carrier),
    .version = MK_STR_INIT("HTTP/2.0"),
    .read = read_body,
    .buffered = buffered,
    .begin_head = begin_head,
    .has_head = has_head,
    .head = take_head,
    .ready = be_ready,
    .trailers = take_trailers,
    .end = end_exchange,
    .open = open_tunnel,
};

/* ---- what its client sends ---- */

/* Is it as HTTP/1.1 has it, but for fields that the server adds? */
static bool is_plain(const struct http2_stream *s)
{
    return !s->is_large && s->protocol.len == 0 && !s->expects_continue && !s->takes_trailers &&
           (s->has_end || s->base.message.content_length <= 0);
}

static int end_text(struct http2_stream *s, struct mk_str *text)
{
    char *end = h2_text_room(&s->head, 2);

    if (!end)
        return MK_E_NOMEM;
    memcpy(end, "\r\n", 2);
    s->head.len += 2;
    *text = (struct mk_str){s->head.p + s->text_at, s->head.len - s->text_at};
    return 0;
}

static int head(struct h2_stream *base)
{
    struct http2_stream *s = whole(base);
    struct mk_exchange_head head = {.size = sizeof(head)};
    int err = add_rest(s);

    s->has_end = h2_stream_has_end(base);
    if (err == 0)
        keep_head(s);
    if (err == 0 && is_plain(s))
        err = end_text(s, &head.text);
    if (err < 0)
        return err;
    s->is_connect = base->message.is_connect;
    head.upgrade = part(s, s->protocol);
    head.method = head.upgrade.len > 0 ? MK_STR("GET") : part(s, s->method);
    head.target = target_of(s);
    head.fields = (struct mk_str){s->head.p + s->fields_at, s->head.len - s->fields_at};
    head.has_body = !s->has_end && !s->is_connect;
    head.content_length = base->message.content_length;
    head.expects_continue = s->expects_continue;
    head.takes_trailers = s->takes_trailers;
    head.is_judged = true;
    err = mk_exchange_begin(&s->exchange, s->conn->conn, &head, &carrier, s);
    h2_text_give_back(&s->head, &s->conn->local->spare);
    s->text_at = 0;
    h2_text_free(&s->cookie);
    return err == 0 || err == MK_E_NOMEM ? err : MK_E_BAD;
}

/* Before its handler has the stream, nobody waits for what comes in it. */
static void tell_reader(struct http2_stream *s)
{
    if (s->is_joined)
        mk_tunnel_tell(s->tunnel, s->has_end ? MK_IO_READ | MK_IO_HANGUP : MK_IO_READ);
    else if (s->exchange && !s->is_connect)
        mk_exchange_arrived(s->exchange);
}

static int data(struct h2_stream *base, const uint8_t *bytes, size_t len)
{
    struct http2_stream *s = whole(base);

    if (!s->exchange && !s->is_joined) { /* nobody reads it any more */
        h2_stream_use(base, len);
        return 0;
    }
    if (h2_text_append(&s->body, bytes, len, UINT32_MAX / 8) < 0)
        return MK_E_NOMEM;
    tell_reader(s);
    return 0;
}

static void end_input(struct h2_stream *base)
{
    struct http2_stream *s = whole(base);

    s->has_end = true;
    if (s->exchange && s->head.len > 0 && !s->is_large) /* RFC 9110 section 6.5.1 */
        (void)!mk_exchange_set_trailers(s->exchange, (struct mk_str){s->head.p, s->head.len});
    h2_text_free(&s->head);
    tell_reader(s);
}

void http2_stream_cut_input(struct http2_stream *s)
{
    if (s->has_end)
        return;
    if (s->is_joined)
        end_input(&s->base);
    else
        h2_stream_reset(&s->base, H2_E_CANCEL);
}

void http2_stream_stop(struct http2_stream *s)
{
    if (s->is_joined)
        mk_tunnel_tell(s->tunnel, MK_IO_HANGUP);
}

/* ---- what its client takes ---- */

static bool send_trailers(struct h2_stream *base)
{
    struct http2_stream *s = whole(base);
    const bool is_sent = h2_send_trailers(base, (struct mk_str){s->trailers.p, s->trailers.len});

    if (is_sent)
        h2_text_free(&s->trailers);
    return is_sent;
}

static ssize_t pull(struct http2_stream *s, char *dst, size_t len, bool *is_last)
{
    ssize_t n;

    *is_last = true;
    if (s->tunnel)
        return mk_tunnel_pull(s->tunnel, dst, len, is_last);
    if (!s->exchange)
        return 0;
    s->is_pulled = true;
    n = mk_exchange_pull(s->exchange, dst, len, is_last);
    s->is_pulled = false;
    return n;
}

static ssize_t give(struct h2_stream *base, char *dst, size_t len, enum h2_last *last)
{
    struct http2_stream *s = whole(base);
    bool is_last;
    ssize_t n = pull(s, dst, len, &is_last);

    if (s->tunnel && n == MK_E_PEER) /* RFC 9113 section 8.5 */
        h2_stream_reset(base, H2_E_CONNECT_ERROR);
    if (n < 0)
        return n;
    s->moved_ms = http2_conn_now_ms(s->conn);
    h2_credit_move(&base->session->credit, (uint64_t)n);
    if (s->tunnel)
        h2_credit_earn(&base->session->credit, H2_CREDIT_A_PIECE);
    if (is_last)
        *last = s->trailers.len > 0 ? H2_LAST_TRAILERS : H2_LAST_END;
    return n;
}

static void over(struct h2_stream *base)
{
    http2_stream_free(whole(base));
}

const struct h2_events http2_stream_events = {
    .begin = begin,
    .field = field,
    .again = again,
    .head = head,
    .data = data,
    .end = end_input,
    .give = give,
    .trailers = send_trailers,
    .answered = answered,
    .over = over,
};
