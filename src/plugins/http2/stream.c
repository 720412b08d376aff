/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include "conn.h"
#include "kit/digest/digest.h"
#include "kit/pure/base64.h"
#include "kit/text/words.h"

#include <stdlib.h>
#include <sys/random.h>

/* A stream's request: its head as fields come, its body as frames come, its answer as the client takes it. */

struct h2_stream *h2_stream_new(struct h2_conn *c, int32_t id)
{
    struct h2_stream *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->conn = c;
    s->id = id;
    s->window = (int32_t)c->local->set.stream_window;
    s->content_length = -1;
    s->head.sum = s->cookie.sum = s->body.sum = s->trailers.sum = &c->held;
    s->moved_ms = h2_conn_now_ms(c);
    s->next = c->streams;
    s->at = &c->streams;
    if (s->next)
        s->next->at = &s->next;
    c->streams = s;
    c->nstreams++;
    h2_count(c->local->row, H2_COUNT_STREAMS, 1);
    h2_count(c->local->row, H2_COUNT_STREAMS_MADE, 1);
    return s;
}

static void set_joined(struct h2_stream *s, bool is_joined)
{
    int by = (int)is_joined - (int)s->is_joined;

    if (by == 0)
        return;
    s->is_joined = is_joined;
    s->conn->njoined += (unsigned)by;
    h2_count(s->conn->local->row, H2_COUNT_TUNNELS, by);
}

void h2_stream_free(struct h2_stream *s)
{
    if (s->exchange)
        mk_exchange_break(s->exchange);
    if (s->tunnel)
        mk_tunnel_break(s->tunnel);
    h2_text_free(&s->body);
    s->conn->widened -= s->window - (int32_t)s->conn->local->set.stream_window;
    if (s->conn->local->writing == s)
        s->conn->local->writing = NULL;
    *s->at = s->next;
    if (s->next)
        s->next->at = s->at;
    s->conn->nstreams--;
    set_joined(s, false);
    h2_count(s->conn->local->row, H2_COUNT_STREAMS, -1);
    if (s->conn->nstreams == 0)
        s->conn->idle_ms = h2_conn_now_ms(s->conn);
    h2_text_free(&s->head);
    h2_text_free(&s->cookie);
    h2_text_free(&s->trailers);
    free(s);
}

/* ---- its head ---- */

static int keep(struct h2_stream *s, struct h2_text *to, struct mk_str text)
{
    size_t max = s->conn->max_head;
    int err = h2_text_append(to, text.p, text.len, 2 * max);

    s->is_large = s->is_large || err == MK_E_LIMIT || s->head.len + s->cookie.len > max;
    return err == MK_E_NOMEM ? err : 0;
}

static int keep_line(struct h2_stream *s, struct mk_str name, struct mk_str value)
{
    int err = keep(s, &s->head, name);

    if (err == 0)
        err = keep(s, &s->head, MK_STR(": "));
    if (err == 0)
        err = keep(s, &s->head, value);
    return err == 0 ? keep(s, &s->head, MK_STR("\r\n")) : err;
}

static struct mk_str part(const struct h2_stream *s, struct h2_part part)
{
    return (struct mk_str){s->head.p + part.at, part.len};
}

/* nghttp2 has seen to it that each comes once, before all other fields (RFC 9113 section 8.3). */
static int take_pseudo(struct h2_stream *s, struct mk_str name, struct mk_str value)
{
    struct h2_part *to = text_is(name, MK_STR(":method"))     ? &s->method
                         : text_is(name, MK_STR(":path"))     ? &s->target
                         : text_is(name, MK_STR(":protocol")) ? &s->protocol
                                                              : &s->authority;

    if (text_is(name, MK_STR(":scheme"))) /* of others nghttp2 would take an absolute path */
        return text_is_word(value, MK_STR("http")) || text_is_word(value, MK_STR("https"))
                   ? 0
                   : MK_E_BAD;
    *to = (struct h2_part){s->head.len, (uint32_t)value.len};
    return keep(s, &s->head, value);
}

/* :authority stands for Host (RFC 9113 section 8.3.1). */
static int begin_fields(struct h2_stream *s)
{
    char host[1024];
    struct mk_str name = part(s, s->authority);

    if (s->fields_at > 0)
        return 0;
    s->fields_at = s->head.len;
    if (name.len == 0)
        return 0;
    if (name.len > sizeof(host)) /* the text moves when it grows, and no host is that long */
        return MK_E_BAD;
    memcpy(host, name.p, name.len);
    return keep_line(s, MK_STR("Host"), (struct mk_str){host, name.len});
}

/* Both may be there and must say the same; which of them is there decides nothing. */
static int take_host(struct h2_stream *s, struct mk_str value)
{
    struct mk_str name = part(s, s->authority);

    if (s->authority.len == 0)
        return keep_line(s, MK_STR("Host"), value);
    return text_is_word(name, value) ? 0 : MK_E_BAD;
}

static int take_cookie(struct h2_stream *s, struct mk_str crumb)
{
    int err;

    if (crumb.len == 0)
        return h2_conn_pay(s->conn, H2_PRICE_CRUMB) ? 0 : MK_E_BAD;
    err = s->cookie.len > 0 ? keep(s, &s->cookie, MK_STR("; ")) : 0;
    return err == 0 ? keep(s, &s->cookie, crumb) : err;
}

/* nghttp2 has seen to it that it is a number, and there once. */
static void take_length(struct h2_stream *s, struct mk_str value)
{
    s->content_length = 0;
    for (size_t i = 0; i < value.len && s->content_length < INT64_MAX / 16; i++)
        s->content_length = s->content_length * 10 + (value.p[i] - '0');
}

static int take_field(struct h2_stream *s, struct mk_str name, struct mk_str value)
{
    if (text_is(name, MK_STR("content-length"))) {
        take_length(s, value);
        return 0;
    }
    if (text_is(name, MK_STR("expect")) && text_is_word(value, MK_STR("100-continue"))) {
        s->expects_continue = true;
        return 0;
    }
    if (text_is(name, MK_STR("te"))) { /* RFC 9113 section 8.2.2: nothing else may be in it */
        s->takes_trailers = text_is_word(value, MK_STR("trailers"));
        return 0;
    }
    if (text_is(name, MK_STR("trailer")) || text_is(name, MK_STR("expect")))
        return 0;
    if (s->protocol.len > 0 && text_is(name, MK_STR("sec-websocket-key")))
        return 0; /* of HTTP/1.1 (RFC 8441 section 5) */
    if (text_is(name, MK_STR("cookie")))
        return take_cookie(s, value);
    return text_is(name, MK_STR("host")) ? take_host(s, value) : keep_line(s, name, value);
}

int h2_stream_field(struct h2_stream *s, struct mk_str name, struct mk_str value)
{
    int err;

    if (s->is_large)
        return h2_conn_pay(s->conn, H2_PRICE_FIELD) ? 0 : MK_E_BAD;
    if (s->state != H2_STREAM_HEAD)
        return keep_line(s, name, value); /* a trailer */
    if (name.p[0] == ':')
        return take_pseudo(s, name, value);
    err = begin_fields(s);
    return err == 0 ? take_field(s, name, value) : err;
}

/* HTTP/1.1's handshake has a key, which a handler may ask for, and a backend too (RFC 6455 section 4.1). */
static int add_key(struct h2_stream *s)
{
    uint8_t bytes[16];

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return MK_E_NOMEM;
    (void)base64_encode(s->key, bytes, sizeof(bytes));
    return keep_line(s, MK_STR("Sec-WebSocket-Key"), (struct mk_str){s->key, sizeof(s->key)});
}

static int add_rest(struct h2_stream *s)
{
    int err = begin_fields(s);

    if (err == 0 && s->cookie.len > 0)
        err = keep_line(s, MK_STR("Cookie"), (struct mk_str){s->cookie.p, s->cookie.len});
    if (err == 0 && text_is_word(part(s, s->protocol), MK_STR("websocket")))
        err = add_key(s);
    return err;
}

/* ---- as the server's carrier ---- */

static struct h2_stream *stream_of(void *arg)
{
    return arg;
}

/* The window doubles when a whole one was read: one upload is to fill the link. All of a connection share what they grow by. */
static void widen(struct h2_stream *s, size_t len)
{
    struct h2_conn *c = s->conn;

    s->consumed += (int32_t)len;
    if (s->consumed < s->window || s->has_end ||
        s->window > (int32_t)c->local->set.connection_window - c->widened)
        return;
    c->widened += s->window;
    s->window *= 2;
    s->consumed = 0;
    (void)nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, s->id, s->window);
}

static ssize_t read_body(void *arg, char *dst, size_t len)
{
    struct h2_stream *s = stream_of(arg);
    size_t n = h2_text_left(&s->body);

    if (n == 0)
        return s->has_end ? 0 : MK_E_AGAIN;
    if (n > len)
        n = len;
    memcpy(dst, s->body.p + s->body.at, n);
    h2_text_use(&s->body, n);
    (void)nghttp2_session_consume_stream(s->conn->session, s->id, n);
    widen(s, n);
    h2_conn_wake(s->conn);
    return (ssize_t)n;
}

static size_t buffered(const void *arg)
{
    return h2_text_left(&((const struct h2_stream *)arg)->body);
}

/* In lower case. */
static bool is_of_http1(struct mk_str name)
{
    switch (name.len) {
    case 7:
        return text_is(name, MK_STR("upgrade"));
    case 10:
        return text_is(name, MK_STR("connection")) || text_is(name, MK_STR("keep-alive"));
    case 20:
        return text_is(name, MK_STR("sec-websocket-accept")); /* RFC 8441 section 5 */
    case 16:
        return text_is(name, MK_STR("proxy-connection"));
    case 17:
        return text_is(name, MK_STR("transfer-encoding"));
    default:
        return false;
    }
}

/* Names are lower case in HTTP/2 (RFC 9113 section 8.2). names has room for the lines as a whole. @return the copy's begin. */
static char *lower(char *names, size_t *used, struct mk_str name)
{
    char *copy = names + *used;

    for (size_t i = 0; i < name.len; i++)
        copy[i] = text_lower(name.p[i]);
    *used += name.len;
    return copy;
}

static nghttp2_nv pair(const char *name, size_t name_len, const char *value, size_t value_len)
{
    return (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                        .namelen = name_len,
                        .value = (uint8_t *)(uintptr_t)value,
                        .valuelen = value_len};
}

/* @return false: lines is empty, or its first one is malformed. */
static bool next_line(struct mk_str *lines, struct mk_str *name, struct mk_str *value)
{
    const char *end = lines->len > 0 ? memchr(lines->p, '\r', lines->len) : NULL;
    const char *colon = end ? memchr(lines->p, ':', (size_t)(end - lines->p)) : NULL;

    if (!colon)
        return false;
    *name = (struct mk_str){lines->p, (size_t)(colon - lines->p)};
    *value = text_trim((struct mk_str){colon + 1, (size_t)(end - colon - 1)});
    lines->len -= (size_t)(end + 2 - lines->p);
    lines->p = end + 2;
    return true;
}

/* Room for the names in these lines: the worker's own, but for a large head. */
static char *room_for_names(struct h2_local *l, struct mk_str lines)
{
    return lines.len <= sizeof(l->names) ? l->names : malloc(lines.len);
}

static void free_names(const struct h2_local *l, char *names)
{
    if (names != l->names)
        free(names);
}

/* @return fields in all, until names are freed; MK_E_LIMIT. */
static ssize_t split_fields(struct h2_local *l, char *names, size_t count, struct mk_str lines)
{
    struct mk_str name, value;
    size_t used = 0;

    while (next_line(&lines, &name, &value)) {
        char *copy = lower(names, &used, name);

        if (count == H2_FIELDS)
            return MK_E_LIMIT;
        if (is_of_http1((struct mk_str){copy, name.len}))
            continue;
        l->fields[count++] = pair(copy, name.len, value.p, value.len);
    }
    return lines.len == 0 ? (ssize_t)count : MK_E_LIMIT;
}

/* Only who speaks WebSocket knows it (RFC 6455 section 4.1); the client of HTTP/2 cannot check that (RFC 8441 section 5). */
static bool knows_key(const struct h2_stream *s, struct mk_str lines)
{
    char accept[WEBSOCKET_ACCEPT_LEN];
    struct mk_str name, value;

    if (s->key[0] == '\0')
        return true;
    digest_websocket_accept(accept, s->key, sizeof(s->key));
    while (next_line(&lines, &name, &value)) {
        if (text_is_word(name, MK_STR("Sec-WebSocket-Accept")))
            return text_is(value, (struct mk_str){accept, sizeof(accept)});
    }
    return false;
}

static int submit_head(struct h2_stream *s, ssize_t count, bool is_interim, bool has_body)
{
    struct h2_conn *c = s->conn;
    const nghttp2_data_provider body = {.source = {.ptr = s}, .read_callback = h2_stream_give};

    if (is_interim)
        return nghttp2_submit_headers(c->session, NGHTTP2_FLAG_NONE, s->id, NULL, c->local->fields,
                                      (size_t)count, NULL);
    s->state = has_body ? H2_STREAM_SENDING : H2_STREAM_ENDED;
    s->moved_ms = h2_conn_now_ms(c);
    return nghttp2_submit_response(c->session, s->id, c->local->fields, (size_t)count,
                                   has_body ? &body : NULL);
}

static char *begin_head(void *arg, size_t len)
{
    struct h2_stream *s = stream_of(arg);
    struct h2_local *l = s->conn->local;

    l->writing = s;
    return len <= sizeof(l->room) ? l->room : NULL;
}

static bool has_head(const void *arg)
{
    const struct h2_stream *s = arg;

    return s->conn->local->writing == s;
}

/* nghttp2 copies them. */
static int send_head(struct h2_stream *s, unsigned status, char *names, struct mk_str fields,
                     bool has_body)
{
    char digits[3] = {(char)('0' + status / 100), (char)('0' + status / 10 % 10),
                      (char)('0' + status % 10)};
    struct h2_local *l = s->conn->local;
    ssize_t count;

    l->fields[0] = pair(":status", 7, digits, sizeof(digits));
    count = split_fields(l, names, 1, fields);
    if (count < 0)
        return (int)count;
    h2_conn_wake(s->conn);
    return submit_head(s, count, status < 200, has_body) == 0 ? 0 : MK_E_NOMEM;
}

static int take_head(void *arg, unsigned asked, struct mk_str fields, bool has_body)
{
    struct h2_stream *s = stream_of(arg);
    struct h2_local *l = s->conn->local;
    char *names;
    int err;

    l->writing = NULL;
    if (asked == 101 && !knows_key(s, fields))
        return MK_E_BAD;
    names = room_for_names(l, fields);
    if (!names)
        return MK_E_NOMEM;
    /* RFC 8441 section 5 */
    err = send_head(s, asked == 101 ? 200 : asked, names, fields, has_body);
    free_names(l, names);
    return err;
}

static void be_ready(void *arg)
{
    struct h2_stream *s = stream_of(arg);

    if (s->state != H2_STREAM_STARVED || s->conn->is_broken)
        return;
    s->state = H2_STREAM_SENDING;
    s->moved_ms = h2_conn_now_ms(s->conn);
    (void)nghttp2_session_resume_data(s->conn->session, s->id);
    h2_conn_wake(s->conn);
}

static void take_trailers(void *arg, struct mk_str lines)
{
    struct h2_stream *s = stream_of(arg);

    h2_text_free(&s->trailers);
    (void)h2_text_append(&s->trailers, lines.p, lines.len, H2_NAMES);
}

void h2_stream_rest(struct h2_stream *s)
{
    if (s->is_answered && !s->has_end && !s->is_connect && !s->conn->is_broken)
        (void)nghttp2_submit_rst_stream(s->conn->session, NGHTTP2_FLAG_NONE, s->id,
                                        NGHTTP2_NO_ERROR);
}

/* Its handler has closed it: nobody reads what still comes. */
static void part_from(struct h2_stream *s)
{
    if (!s->is_joined)
        return;
    set_joined(s, false);
    h2_text_free(&s->body);
    h2_conn_wake(s->conn);
}

static void end_exchange(void *arg, int error)
{
    struct h2_stream *s = stream_of(arg);

    s->exchange = NULL;
    part_from(s);
    if (error == 0) {
        h2_credit_earn(&s->conn->credit, H2_CREDIT_A_REQUEST);
        be_ready(s); /* without a byte: only the end of its body is missing */
        return;
    }
    s->state = H2_STREAM_ENDED;
    if (s->is_pulled || s->conn->is_broken)
        return;
    (void)nghttp2_submit_rst_stream(s->conn->session, NGHTTP2_FLAG_NONE, s->id,
                                    NGHTTP2_INTERNAL_ERROR);
    h2_conn_wake(s->conn);
}

static void open_tunnel(void *arg, struct mk_tunnel *tunnel)
{
    struct h2_stream *s = stream_of(arg);

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

int h2_stream_begin(struct h2_stream *s)
{
    struct mk_exchange_head head = {.size = sizeof(head)};
    int err = add_rest(s);

    if (err < 0)
        return err;
    s->is_connect = text_is(part(s, s->method), MK_STR("CONNECT"));
    head.upgrade = part(s, s->protocol);
    head.method = head.upgrade.len > 0 ? MK_STR("GET") : part(s, s->method);
    head.target = s->target.len > 0 ? part(s, s->target) : part(s, s->authority); /* CONNECT */
    head.fields = (struct mk_str){s->head.p + s->fields_at, s->head.len - s->fields_at};
    head.has_body = !s->has_end && !s->is_connect;
    head.content_length = s->content_length;
    head.expects_continue = s->expects_continue;
    head.takes_trailers = s->takes_trailers;
    s->state = H2_STREAM_ASKED;
    err = mk_exchange_begin(&s->exchange, s->conn->conn, &head, &carrier, s);
    h2_text_free(&s->head);
    h2_text_free(&s->cookie);
    return err == 0 || err == MK_E_NOMEM ? err : MK_E_BAD;
}

/* Before its handler has the stream, nobody waits for what comes in it. */
static void tell_reader(struct h2_stream *s)
{
    if (s->is_joined)
        mk_tunnel_tell(s->tunnel, s->has_end ? MK_IO_READ | MK_IO_HANGUP : MK_IO_READ);
    else if (s->exchange && !s->is_connect)
        mk_exchange_arrived(s->exchange);
}

int h2_stream_take(struct h2_stream *s, const uint8_t *bytes, size_t len)
{
    if (!s->exchange && !s->is_joined) { /* nobody reads it any more */
        (void)nghttp2_session_consume_stream(s->conn->session, s->id, len);
        return 0;
    }
    if (h2_text_append(&s->body, bytes, len, UINT32_MAX / 8) < 0)
        return MK_E_NOMEM;
    tell_reader(s);
    return 0;
}

void h2_stream_end_input(struct h2_stream *s)
{
    s->has_end = true;
    if (s->exchange && s->head.len > 0)
        (void)!mk_exchange_set_trailers(s->exchange, (struct mk_str){s->head.p, s->head.len});
    h2_text_free(&s->head);
    tell_reader(s);
}

void h2_stream_stop(struct h2_stream *s)
{
    if (s->is_joined)
        mk_tunnel_tell(s->tunnel, MK_IO_HANGUP);
}

/* ---- what its client takes ---- */

static bool submit_trailers(struct h2_stream *s)
{
    struct h2_local *l = s->conn->local;
    ssize_t count = split_fields(l, l->names, 0, (struct mk_str){s->trailers.p, s->trailers.len});
    int err =
        count < 0 ? -1 : nghttp2_submit_trailer(s->conn->session, s->id, l->fields, (size_t)count);

    h2_text_free(&s->trailers);
    return err == 0;
}

static void end_body(struct h2_stream *s, uint32_t *flags)
{
    s->state = H2_STREAM_ENDED;
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (s->trailers.len > 0 && submit_trailers(s))
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
}

ssize_t h2_stream_give(nghttp2_session *session, int32_t id, uint8_t *buf, size_t length,
                       uint32_t *flags, nghttp2_data_source *source, void *user)
{
    struct h2_stream *s = source->ptr;
    struct h2_local *l = s->conn->local;
    bool is_last = true;
    ssize_t n = 0;

    (void)session, (void)id, (void)buf, (void)user;
    if (s->tunnel) {
        n = mk_tunnel_pull(s->tunnel, l->out + l->used + H2_FRAME_HEAD, length, &is_last);
    } else if (s->exchange) {
        s->is_pulled = true;
        n = mk_exchange_pull(s->exchange, l->out + l->used + H2_FRAME_HEAD, length, &is_last);
        s->is_pulled = false;
    }
    if (n == MK_E_AGAIN) {
        s->state = H2_STREAM_STARVED;
        return NGHTTP2_ERR_DEFERRED;
    }
    if (n < 0)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    s->moved_ms = h2_conn_now_ms(s->conn);
    h2_credit_move(&s->conn->credit, (uint64_t)n);
    if (s->tunnel)
        h2_credit_earn(&s->conn->credit, H2_CREDIT_A_PIECE);
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (is_last)
        end_body(s, flags);
    return n;
}
