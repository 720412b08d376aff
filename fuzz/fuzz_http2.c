/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "conn.h"

#include <monkey/transport.h>

#include <string.h>

/*
 * A whole connection of the plugin http2: the input says which frames come, in which pieces, what the handlers do meanwhile,
 * how much the client reads and how time goes on. Frames and header blocks are made here, so that most of them are right.
 * The server is this file: handlers of requests by the second letter of their path, and tunnels that send back what comes.
 */

enum {
    INPUT_MAX = 1 << 18,
    TUNNEL_MAX = 65536,
    TURNS_MAX = 10000, /* of one event, beside those for what the client sent */
};

struct mk_exchange {
    struct mk_exchange *next;
    const struct mk_carrier *carrier;
    void *arg;
    char way; /* of answering, a letter */
    bool has_answer, is_woken;
    size_t left; /* of the answer's body */
};

struct mk_tunnel {
    struct mk_tunnel *next;
    const struct mk_carrier *carrier;
    void *arg;
    bool is_shut, is_closed, is_told;
    size_t waiting;
};

static struct {
    const uint8_t *data; /* of the input, what is left */
    size_t size;
    struct mk_link link;
    mk_stream_fn fn;
    void *arg;
    bool is_soon, is_closed, is_stopping;
    int64_t now_ms;
    uint8_t *in; /* what the client sent and nobody has read */
    size_t in_at, in_len, step;
    size_t room; /* that the client reads */
    size_t held; /* as the plugin says */
    uint8_t out[9];
    size_t out_got, out_left; /* of a frame's head, and of its payload */
    unsigned max_streams, nalive;
    struct mk_exchange *exchanges;
    struct mk_tunnel *tunnels;
} w;

static unsigned byte(void)
{
    return take_byte(&w.data, &w.size);
}

/* ---- the server, as the plugin sees it ---- */

int64_t mk_worker_now_ms(const struct mk_worker *worker)
{
    (void)worker;
    return w.now_ms;
}

unsigned mk_worker_index(const struct mk_worker *worker)
{
    (void)worker;
    return 0;
}

struct mk_server *mk_worker_server(const struct mk_worker *worker)
{
    (void)worker;
    return NULL;
}

bool mk_worker_promise(struct mk_worker *worker, int64_t bytes)
{
    (void)worker;
    return bytes <= 1 << 20;
}

bool mk_server_logs(struct mk_server *server, enum mk_log_level level)
{
    (void)server;
    (void)level;
    return true;
}

void mk_server_log(struct mk_server *server, enum mk_log_level level, const char *fmt, ...)
{
    (void)server;
    (void)level;
    (void)fmt;
}

void mk_conn_facts(const struct mk_conn *c, struct mk_conn_facts *facts)
{
    (void)c;
    *facts = (struct mk_conn_facts){.size = facts->size};
}

const struct mk_link *mk_conn_link(const struct mk_conn *c)
{
    (void)c;
    return &w.link;
}

void mk_conn_limits(const struct mk_conn *c, struct mk_conn_limits *limits)
{
    (void)c;
    *limits = (struct mk_conn_limits){
        .size = limits->size,
        .timeout_ms = 15000,
        .keepalive_ms = 5000,
        .write_ms = 30000,
        .max_head = 2048,
        .max_fields = 40,
        .max_requests = 200,
        .is_stopping = w.is_stopping,
    };
}

void mk_conn_hold(struct mk_conn *c, size_t bytes)
{
    (void)c;
    w.held = bytes;
}

/* ---- the connection's stream ---- */

void mk_stream_tell(struct mk_stream *s, mk_stream_fn fn, void *arg)
{
    (void)s;
    w.fn = fn;
    w.arg = arg;
}

void mk_stream_timeout(struct mk_stream *s, unsigned ms)
{
    (void)s;
    require(ms > 0);
}

void mk_stream_run_soon(struct mk_stream *s)
{
    (void)s;
    require(!w.is_closed);
    w.is_soon = true;
}

void mk_stream_close(struct mk_stream *s)
{
    (void)s;
    require(!w.is_closed && w.held == 0);
    w.is_closed = true;
}

ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len)
{
    size_t n = w.in_len - w.in_at;

    (void)s;
    if (n == 0)
        return MK_E_AGAIN;
    n = n < len ? n : len;
    n = n < w.step ? n : w.step;
    memcpy(buf, w.in + w.in_at, n);
    w.in_at += n;
    return (ssize_t)n;
}

/* Frames that leave are whole and not too large (RFC 9113 section 4.2), and of a type that a server may send. */
static void judge_output(uint8_t b)
{
    if (w.out_left > 0) {
        w.out_left--;
        return;
    }
    w.out[w.out_got++] = b;
    if (w.out_got < sizeof(w.out))
        return;
    w.out_got = 0;
    w.out_left = (size_t)w.out[0] << 16 | (size_t)w.out[1] << 8 | w.out[2];
    require(w.out_left <= H2_FRAME_MAX);
    require(w.out[3] <= H2_CONTINUATION && w.out[3] != H2_PRIORITY && w.out[3] != H2_PUSH_PROMISE);
}

ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int niov)
{
    size_t n = iov->iov_len < w.room ? iov->iov_len : w.room;

    (void)s;
    require(niov == 1 && iov->iov_len > 0 && !w.is_closed);
    for (size_t i = 0; i < n; i++)
        judge_output(((const uint8_t *)iov->iov_base)[i]);
    w.room -= n;
    return n > 0 ? (ssize_t)n : MK_E_AGAIN;
}

/* ---- requests ---- */

static void drop_exchange(struct mk_exchange *x)
{
    struct mk_exchange **at = &w.exchanges;

    while (*at != x)
        at = &(*at)->next;
    *at = x->next;
    free(x);
    w.nalive--;
}

static void finish(struct mk_exchange *x, int error)
{
    const struct mk_carrier *carrier = x->carrier;
    void *arg = x->arg;

    drop_exchange(x);
    carrier->end(arg, error);
}

static void answer(struct mk_exchange *x, unsigned status, size_t len)
{
    char *room = x->carrier->begin_head(x->arg, 1024);
    static const char fields[] =
        "X-Field: value\r\nConnection: close\r\nContent-Type: text/plain\r\n";

    require(room && x->carrier->has_head(x->arg));
    memcpy(room, fields, sizeof(fields) - 1);
    x->has_answer = true;
    x->left = len;
    if (x->carrier->head(x->arg, status, (struct mk_str){room, sizeof(fields) - 1}, len > 0) < 0)
        finish(x, MK_E_BAD);
    else if (len == 0)
        finish(x, 0);
}

static void join(struct mk_exchange *x)
{
    struct mk_tunnel *t = calloc(1, sizeof(*t));
    const struct mk_carrier *carrier = x->carrier;

    require(t != NULL);
    if (carrier->head(x->arg, 101, MK_STR("Upgrade: tunnel\r\n"), true) < 0) { /* it has a key */
        free(t);
        finish(x, MK_E_BAD);
        return;
    }
    *t = (struct mk_tunnel){.next = w.tunnels, .carrier = carrier, .arg = x->arg};
    w.tunnels = t;
    drop_exchange(x);
    w.nalive++;
    carrier->open(t->arg, t);
}

static void act(struct mk_exchange *x, bool wants_upgrade)
{
    switch (x->way) {
    case 'a':
        answer(x, 200, 10);
        break;
    case 'b':
        answer(x, 200, 100000);
        break;
    case 'c':
        answer(x, 404, 0);
        break;
    case 't':
        if (wants_upgrade)
            join(x);
        break;
    default: /* later */
        break;
    }
}

int mk_exchange_begin(struct mk_exchange **exchange, struct mk_conn *c,
                      const struct mk_exchange_head *head, const struct mk_carrier *carrier,
                      void *arg)
{
    struct mk_exchange *x = calloc(1, sizeof(*x));

    (void)c;
    require(x && head->method.len > 0 && head->target.len > 0);
    free(exact_copy(head->fields.p, head->fields.len));
    free(exact_copy(head->method.p, head->method.len));
    free(exact_copy(head->target.p, head->target.len));
    require(head->upgrade.len == 0 || !head->has_body);
    *x = (struct mk_exchange){.next = w.exchanges, .carrier = carrier, .arg = arg};
    x->way = head->target.len > 1 ? head->target.p[1] : 'a';
    w.exchanges = x;
    require(++w.nalive <= w.max_streams);
    *exchange = x;
    act(x, head->upgrade.len > 0);
    return 0;
}

ssize_t mk_exchange_pull(struct mk_exchange *x, char *dst, size_t len, bool *is_last)
{
    size_t n = x->left < len ? x->left : len;

    require(len > 0 && x->has_answer);
    *is_last = false;
    if (x->way == 'f') {
        finish(x, MK_E_BAD);
        return MK_E_BAD;
    }
    memset(dst, 'x', n);
    x->left -= n;
    *is_last = x->left == 0;
    if (*is_last)
        finish(x, 0);
    return (ssize_t)n;
}

void mk_exchange_arrived(struct mk_exchange *x)
{
    x->is_woken = true;
}

int mk_exchange_set_trailers(struct mk_exchange *x, struct mk_str lines)
{
    (void)x;
    free(exact_copy(lines.p, lines.len));
    return 0;
}

void mk_exchange_break(struct mk_exchange *x)
{
    drop_exchange(x);
}

/* What came is read, and its end is answered. */
static void run_exchange(struct mk_exchange *x)
{
    char piece[1000];
    ssize_t n;

    x->is_woken = false;
    if (x->way == 'd') /* nobody reads */
        return;
    do
        n = x->carrier->read(x->arg, piece, sizeof(piece));
    while (n > 0);
    if (n == 0 && !x->has_answer)
        answer(x, 200, 3000);
}

/* ---- tunnels ---- */

ssize_t mk_tunnel_pull(struct mk_tunnel *t, char *dst, size_t len, bool *is_last)
{
    size_t n = t->waiting < len ? t->waiting : len;

    require(len > 0);
    memset(dst, 't', n);
    t->waiting -= n;
    *is_last = t->is_shut && t->waiting == 0;
    return n > 0 || *is_last ? (ssize_t)n : MK_E_AGAIN;
}

void mk_tunnel_tell(struct mk_tunnel *t, unsigned events)
{
    require(!t->is_closed && events != 0);
    t->is_told = true;
}

void mk_tunnel_break(struct mk_tunnel *t)
{
    struct mk_tunnel **at = &w.tunnels;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    free(t);
    w.nalive--;
}

static void run_tunnel(struct mk_tunnel *t)
{
    char piece[4096];
    ssize_t n = 1;

    t->is_told = false;
    while (n > 0 && t->waiting < TUNNEL_MAX) {
        n = t->carrier->read(t->arg, piece, sizeof(piece));
        t->waiting += n > 0 ? (size_t)n : 0;
    }
    t->is_shut = t->is_shut || n == 0;
    t->carrier->ready(t->arg);
}

/* ---- turns ---- */

/* @return false: nobody had something to do. */
static bool run_handlers(void)
{
    for (struct mk_exchange *x = w.exchanges; x; x = x->next) {
        if (x->is_woken) {
            run_exchange(x);
            return true;
        }
    }
    for (struct mk_tunnel *t = w.tunnels; t; t = t->next) {
        if (t->is_told && !t->is_closed) {
            run_tunnel(t);
            return true;
        }
    }
    return false;
}

static void run(unsigned events)
{
    size_t turns = TURNS_MAX + w.in_len - w.in_at;

    w.is_soon = false;
    w.fn(NULL, events, w.arg);
    while (!w.is_closed && (w.is_soon || run_handlers())) {
        require(turns-- > 0); /* it does not spin */
        if (!w.is_soon)
            continue;
        w.is_soon = false;
        w.fn(NULL, MK_IO_READ | MK_IO_WRITE, w.arg);
    }
}

/* ---- what the client sends ---- */

static void send_bytes(const void *bytes, size_t len)
{
    if (w.in_at == w.in_len)
        w.in_at = w.in_len = 0;
    if (len > INPUT_MAX - w.in_len)
        return;
    if (len > 0)
        memcpy(w.in + w.in_len, bytes, len);
    w.in_len += len;
}

static void send_frame(unsigned type, unsigned flags, uint32_t id, const void *payload, size_t len)
{
    const uint8_t head[9] = {(uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len,
                             (uint8_t)type,        (uint8_t)flags,      (uint8_t)(id >> 24),
                             (uint8_t)(id >> 16),  (uint8_t)(id >> 8),  (uint8_t)id};

    send_bytes(head, sizeof(head));
    send_bytes(payload, len);
}

static void send_number(unsigned type, uint32_t id, uint32_t number)
{
    const uint8_t payload[4] = {(uint8_t)(number >> 24), (uint8_t)(number >> 16),
                                (uint8_t)(number >> 8), (uint8_t)number};

    send_frame(type, 0, id, payload, sizeof(payload));
}

/* Bytes of the input, as many as its next byte says. */
static size_t take_bytes(uint8_t *dst, size_t max)
{
    size_t n = byte();

    n = n < max ? n : max;
    n = n < w.size ? n : w.size;
    if (n > 0)
        memcpy(dst, w.data, n);
    w.data += n;
    w.size -= n;
    return n;
}

struct block {
    uint8_t bytes[1024];
    size_t len;
};

static void put_text(struct block *b, const char *text, size_t len)
{
    b->bytes[b->len++] = (uint8_t)len;
    memcpy(b->bytes + b->len, text, len);
    b->len += len;
}

/* A literal, without indexing, of a new name (RFC 7541 section 6.2.2). */
static void put_field(struct block *b, const char *name, const char *value)
{
    if (sizeof(b->bytes) - b->len < 256)
        return;
    b->bytes[b->len++] = 0;
    put_text(b, name, strlen(name));
    put_text(b, value, strlen(value));
}

static const char *const names[] = {":method",          ":path",  ":scheme", ":authority",
                                    ":protocol",        "host",   "cookie",  "te",
                                    "content-length",   "expect", "x",       "connection",
                                    "trailer",          "Upper",  ":status", "priority",
                                    "sec-websocket-key"};
static const char *const values[] = {"GET",       "CONNECT",   "/a",           "/b",     "/d",
                                     "http",      "localhost", "websocket",    "3",      "trailers",
                                     "",          "a=1; b=2",  "100-continue", "u=0, i", "/t",
                                     "two words", "POST"};

static void put_raw(struct block *b)
{
    uint8_t bytes[64];
    size_t n = take_bytes(bytes, sizeof(bytes));

    if (n > sizeof(b->bytes) - b->len)
        return;
    memcpy(b->bytes + b->len, bytes, n);
    b->len += n;
}

/* A head that is right, or nearly so. kind: its lower bits say what it asks for, the higher ones what is added. */
static void send_head(uint32_t id, unsigned kind)
{
    static const char *const paths[] = {"/a", "/b", "/c", "/d", "/e", "/f", "/t", "/a"};
    const char *path = paths[kind & 7];
    struct block b = {.len = 0};
    bool is_socket = path[1] == 't';
    unsigned extra = kind >> 6;

    put_field(&b, ":method", is_socket ? "CONNECT" : kind & 8 ? "POST" : "GET");
    put_field(&b, ":scheme", "http");
    put_field(&b, ":authority", "localhost");
    put_field(&b, ":path", path);
    if (is_socket)
        put_field(&b, ":protocol", kind & 32 ? "websocket" : "tunnel");
    for (; extra > 0; extra--) {
        unsigned name = byte(), value = byte();

        if (name == 255)
            put_raw(&b);
        else
            put_field(&b, names[name % (sizeof(names) / sizeof(*names))],
                      values[value % (sizeof(values) / sizeof(*values))]);
    }
    send_frame(H2_HEADERS, H2_FLAG_END_HEADERS | (kind & 16 ? H2_FLAG_END_STREAM : 0), id, b.bytes,
               b.len);
}

static void send_any_frame(void)
{
    unsigned type = byte(), flags = byte();
    uint32_t id = byte() & 63;
    uint8_t payload[255];

    send_frame(type, flags, id, payload, take_bytes(payload, sizeof(payload)));
}

static void send_data(uint32_t id)
{
    static const uint8_t zeros[16384];
    unsigned kind = byte();

    send_frame(H2_DATA, kind & 1, id, zeros, (size_t)(kind >> 1) << 7);
}

static void send_setting(void)
{
    const uint8_t payload[6] = {0, (uint8_t)(byte() % 10), 0, 0, (uint8_t)byte(), (uint8_t)byte()};

    send_frame(H2_SETTINGS, 0, 0, payload, sizeof(payload));
}

/* ---- what handlers do by themselves ---- */

static void act_on_exchange(unsigned what)
{
    struct mk_exchange *x = w.exchanges;

    for (unsigned skip = what >> 3; x && x->next && skip > 0; skip--)
        x = x->next;
    if (!x)
        return;
    if ((what & 7) == 0)
        finish(x, MK_E_TIMEOUT);
    else if (!x->has_answer)
        answer(x, 200 + (what & 7), (what & 3) * 700);
    else
        x->carrier->ready(x->arg);
}

static void act_on_tunnel(unsigned what)
{
    struct mk_tunnel *t = w.tunnels;

    for (unsigned skip = what >> 3; t && t->next && skip > 0; skip--)
        t = t->next;
    if (!t || t->is_closed)
        return;
    if ((what & 7) == 0) {
        t->is_shut = t->is_closed = true;
        t->carrier->end(t->arg, 0);
        return;
    }
    t->is_shut = t->is_shut || (what & 7) == 1;
    t->waiting += t->is_shut ? 0 : 1000;
    t->carrier->ready(t->arg);
}

static void pass_time(unsigned exponent)
{
    w.now_ms += 1 << (exponent & 15);
    run(MK_IO_TIMEOUT);
}

static void step_on(void)
{
    unsigned op = byte(), kind = byte();
    uint32_t id = (kind & 31) * 2 + 1;

    switch (op & 15) {
    case 5:
    case 6:
        send_data(id);
        break;
    case 7:
        send_number(H2_WINDOW_UPDATE, kind & 32 ? 0 : id, byte() << 8);
        break;
    case 8:
        send_number(H2_RST_STREAM, id, byte());
        break;
    case 9:
        send_setting();
        break;
    case 10:
        send_any_frame();
        break;
    case 11:
        send_bytes(&(uint8_t){(uint8_t)kind}, 1);
        break;
    case 12:
        pass_time(kind);
        return;
    case 13:
        w.room = kind < 200 ? (size_t)kind << 4 : SIZE_MAX / 2;
        break;
    case 14:
        act_on_exchange(kind);
        break;
    case 15:
        act_on_tunnel(kind);
        break;
    default: /* the most frequent */
        send_head((byte() & 31) * 2 + 1, kind);
    }
    if (!(op & 16)) /* otherwise more comes with it */
        run(MK_IO_READ | MK_IO_WRITE);
}

static void begin(struct http2_local *local, unsigned kind)
{
    const struct mk_context ctx = {.local = local};

    require(http2_conn_begin(&ctx, NULL, (struct mk_stream *)(void *)&w) == 0);
    w.step = kind & 1 ? 1 : kind & 2 ? 7 : SIZE_MAX;
    if (kind & 128)
        return;
    send_bytes(H2_PREFACE, H2_PREFACE_LEN);
    send_frame(H2_SETTINGS, 0, 0, NULL, 0);
}

static void end(void)
{
    if (!w.is_closed && (byte() & 1)) {
        w.is_stopping = true;
        run(MK_IO_HANGUP);
    }
    if (!w.is_closed)
        run(MK_IO_READ | MK_IO_WRITE);
    if (!w.is_closed)
        w.fn(NULL, MK_IO_ERROR, w.arg);
    require(w.is_closed && w.nalive == 0 && !w.exchanges && !w.tunnels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t in[INPUT_MAX];
    struct http2_settings set = {.stream_window = 4096, .connection_window = 65536};
    struct http2_local *local;
    unsigned kind;

    memset(&w, 0, sizeof(w));
    w.data = data;
    w.size = size;
    w.in = in;
    w.link.fd = -1;
    w.now_ms = 1;
    w.room = SIZE_MAX / 2;
    kind = byte();
    set.max_streams = w.max_streams = kind & 4 ? 3 : 20;
    set.ping_ms = kind & 8 ? 1000 : 0;
    set.counts = http2_counts_new();
    require(set.counts != NULL);
    local = http2_local_new(NULL, &set);
    require(local != NULL);
    begin(local, kind);
    while (w.size > 0 && !w.is_closed)
        step_on();
    end();
    http2_local_put(local);
    http2_counts_put(set.counts);
    return 0;
}
