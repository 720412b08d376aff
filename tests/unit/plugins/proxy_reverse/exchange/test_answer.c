/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../../kit/gateway/fake.h"
#include "exchange/exchange.h"
#include "exchange/front.h"

#include "../no_calls.h"
#include "exchange/head.h"

/* What a backend answers, in pieces of any size, and what the client and the rest of the plugin get of it. */

enum { BODY_MAX = 1 << 20, STALL_MS = 1000 };

struct mk_stream {
    const char *in;
    size_t len, at, step;
    int end;    /* of each read behind that */
    bool waits; /* each other read finds nothing */
    int fd;     /* what a splice reads; -1: none */
};

static struct mk_stream backend;
static struct mk_request r;
static struct proxy_worker home;
static struct proxy_settings set;
static struct proxy_entry entry;
static struct proxy_exchange ex;

static char body[BODY_MAX], events[4096];
static size_t body_len;
static int64_t now_ms;
static int upload_error;
static mk_fill_fn fill;

MK_PRINTF(1, 2) static void note(const char *fmt, ...)
{
    size_t len = strlen(events);
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(events + len, sizeof(events) - len, fmt, args);
    va_end(args);
}

static void take(const char *bytes, size_t len)
{
    assert_true(body_len + len <= sizeof(body));
    memcpy(body + body_len, bytes, len);
    body_len += len;
}

/* ---- the server ---- */

static size_t held_beside; /* the body of the request, for MaxMemory */

void intake_hold(struct intake *i, struct mk_request *req, size_t beside)
{
    (void)i, (void)req;
    held_beside = beside;
}

ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len)
{
    size_t left = s->len - s->at;

    if (s->fd >= 0)
        return read(s->fd, buf, len);
    if (left == 0)
        return s->end;
    s->waits = !s->waits;
    if (s->waits)
        return MK_E_AGAIN;
    len = len < s->step ? len : s->step;
    len = len < left ? len : left;
    memcpy(buf, s->in + s->at, len);
    s->at += len;
    return (ssize_t)len;
}

int mk_stream_fd(const struct mk_stream *s)
{
    return s->fd;
}

void mk_stream_run_soon(struct mk_stream *s)
{
    assert_ptr_equal(s, &backend);
    note("soon;");
}

void mk_upstream_distrust(struct mk_upstream *u)
{
    (void)u;
    note("distrusted;");
}

int64_t mk_worker_now_ms(const struct mk_worker *w)
{
    (void)w;
    return now_ms;
}

void mk_request_reason(struct mk_request *request, const char *why)
{
    (void)request;
    assert_null(why);
}

int mk_reply_memory(struct mk_request *request, struct mk_str bytes)
{
    (void)request;
    take(bytes.p, bytes.len);
    return 0;
}

int mk_reply_piped_producer(struct mk_request *request, mk_produce_fn produce, mk_fill_fn filler,
                            void *arg)
{
    fill = filler;
    return mk_reply_producer(request, produce, arg);
}

int mk_reply_trailer(struct mk_request *request, struct mk_str name, struct mk_str value)
{
    (void)request;
    note("trailer %.*s=%.*s;", (int)name.len, name.p, (int)value.len, value.p);
    return 0;
}

/* ---- the rest of the plugin ---- */

void proxy_answers(struct proxy_attempt *attempt, unsigned status)
{
    assert_int_equal(status, ex.answer.status);
    assert_ptr_equal(attempt, &ex.attempt);
    note("answers;");
}

void proxy_exchange_time(struct proxy_exchange *x, int64_t ms)
{
    x->is_timed = ms > 0;
}

void proxy_exchange_give_up(struct proxy_exchange *x, enum proxy_outcome outcome)
{
    assert_ptr_equal(x, &ex);
    note(outcome == PROXY_ANSWERED ? "answered;" : outcome == PROXY_BROKE ? "broke;" : "other;");
}

void proxy_exchange_fail(struct proxy_exchange *x, unsigned status, const char *why)
{
    note("fail %u %s;", status, why);
    proxy_exchange_turn(x, PROXY_OVER);
}

void proxy_exchange_retry(struct proxy_exchange *x, const char *why)
{
    assert_null(x->down);
    note("retry: %s;", why);
    proxy_exchange_turn(x, PROXY_OVER);
}

void proxy_exchange_refuse(struct proxy_exchange *x, const char *why)
{
    note("refuse: %s;", why);
    proxy_exchange_turn(x, PROXY_OVER);
}

void proxy_exchange_finish(struct proxy_exchange *x, bool reusable)
{
    note("finish %s;", reusable ? "reusable" : "used up");
    proxy_exchange_turn(x, PROXY_REST);
}

struct mk_str proxy_attempt_cookie(const struct proxy_attempt *attempt)
{
    assert_ptr_equal(attempt, &ex.attempt);
    return MK_STR("0123456789abcdef");
}

static const char *refusal; /* of an order; NULL: it is obeyed */

bool proxy_front_find(const struct proxy_exchange *x, struct proxy_front_order *order)
{
    *order = (struct proxy_front_order){
        .value = mk_response_find(&x->answer, x->down->bytes + x->down->at, MK_STR("X-Sendfile")),
        .is_file = true};
    return order->value.p != NULL;
}

const char *proxy_front_obey(struct proxy_exchange *x, const struct proxy_front_order *order)
{
    (void)x;
    note("obey %.*s;", (int)order->value.len, order->value.p);
    return refusal;
}

static bool has_another; /* a backend that may be asked */

bool proxy_exchange_ask_another(struct proxy_exchange *x)
{
    note("another for %u;", x->answer.status);
    if (has_another)
        proxy_exchange_turn(x, PROXY_CONNECT);
    return has_another;
}

int proxy_upload_send(struct proxy_exchange *x)
{
    assert_int_equal(x->sending, PROXY_PART);
    return upload_error;
}

void proxy_tunnel_begin(struct proxy_exchange *x, size_t head_len)
{
    note("tunnel %zu;", head_len);
    proxy_exchange_turn(x, PROXY_TUNNEL);
}

void proxy_trace(const void *exchange, const struct states *table, unsigned was, unsigned is)
{
    (void)exchange, (void)table, (void)was, (void)is;
}

/* ---- an exchange whose request is sent ---- */

static int begin(void **state)
{
    (void)state;
    memset(&r, 0, sizeof(r));
    memset(&home, 0, sizeof(home));
    set = (struct proxy_settings){.read_ms = 60000, .max_answer_head = 64 << 10};
    entry = (struct proxy_entry){.name = "e", .set = &set};
    backend = (struct mk_stream){.step = SIZE_MAX, .end = MK_E_AGAIN, .fd = -1};
    ex = (struct proxy_exchange){.r = &r,
                                 .home = &home,
                                 .set = &set,
                                 .entry = &entry,
                                 .link = {.stream = &backend},
                                 .state = PROXY_SEND,
                                 .sending = PROXY_WHOLE,
                                 .reading = PROXY_READ};
    events[0] = '\0';
    body_len = 0;
    now_ms = 5000;
    upload_error = 0;
    fill = NULL;
    return 0;
}

static int end(void **state)
{
    (void)state;
    proxy_buffer_put(&home.buffers, ex.down);
    proxy_buffer_put(&home.buffers, ex.trailers);
    ex.down = ex.trailers = NULL;
    proxy_buffers_free(&home.buffers);
    proxy_pipes_free(&home.pipes);
    fake_end(&r);
    return 0;
}

/* The backend says this. @param then  of reads behind it: 0: it closes */
static void says(const char *bytes, size_t step, int then)
{
    backend.in = bytes;
    backend.len = strlen(bytes);
    backend.at = 0;
    backend.step = step;
    backend.end = then;
}

static bool is_reading_head(void)
{
    return ex.state == PROXY_SEND || ex.state == PROXY_HEAD;
}

/* As events come, until the head was seen to or nothing more comes. */
static void read_head(void)
{
    for (int i = 0; i < 100000 && is_reading_head(); i++) {
        bool was_all = backend.at == backend.len;

        proxy_answer_read(&ex);
        if (was_all && backend.end == MK_E_AGAIN)
            return;
    }
}

/* As a client takes it. @return the last of the producer: 0, an error, or MK_E_AGAIN with nothing more to come. */
static ssize_t pull(void)
{
    char piece[4096];
    ssize_t n = 1;

    while (r.produce && (n > 0 || (n == MK_E_AGAIN && backend.at < backend.len))) {
        n = r.produce(&r, r.produce_arg, piece, sizeof(piece));
        if (n > 0)
            take(piece, (size_t)n);
        if (ex.state == PROXY_REST && n == 0)
            break;
        if (ex.state == PROXY_REST && !ex.down)
            return 0;
    }
    return r.produce ? n : 0;
}

static ssize_t talk(const char *bytes, size_t step, int then)
{
    says(bytes, step, then);
    read_head();
    return pull();
}

#define OK "HTTP/1.1 200 OK\r\n"
#define LENGTH(n) "Content-Length: " #n "\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n"

/* ---- whole answers ---- */

static void answers_are_passed_on_in_pieces_of_any_size(void **state)
{
    static const struct {
        const char *sentence, *bytes;
        int then;
        bool is_head;
        const char *said, *body, *events;
    } rows[] = {
        /* clang-format off */
        {"a length", OK LENGTH(5) "X-A: b\r\n\r\nhello", MK_E_AGAIN, false, "200\nX-A: b\nlength 5\n", "hello", "answers;finish reusable;"},
        {"chunks", OK CHUNKED "X-A: b\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n", MK_E_AGAIN, false, "200\nX-A: b\nlength -1\n", "hello", "answers;finish reusable;"},
        {"until the end of the connection", OK "X-A: b\r\n\r\nhello", 0, false, "200\nX-A: b\nlength -1\n", "hello", "answers;finish used up;"},
        {"no body", OK LENGTH(0) "\r\n", MK_E_AGAIN, false, "200\nlength 0\n", "", "answers;finish reusable;"},
        {"HEAD", OK LENGTH(5) "\r\n", MK_E_AGAIN, true, "200\nlength 5\n", "", "answers;finish reusable;"},
        {"304", "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n\r\n", MK_E_AGAIN, false, "304\nETag: \"a\"\nlength -1\n", "", "answers;finish reusable;"},
        {"fields of the connection stay", OK "Connection: close, X-Gone\r\nKeep-Alive: 5\r\nX-Gone: 1\r\nX-Stays: 2\r\nUpgrade: h2c\r\n" LENGTH(0) "\r\n", MK_E_AGAIN, false, "200\nX-Stays: 2\nlength 0\n", "", "answers;finish reusable;"},
        {"426 names its protocol", "HTTP/1.1 426 Upgrade Required\r\nUpgrade: ws\r\n" LENGTH(0) "\r\n", MK_E_AGAIN, false, "426\nUpgrade: ws\nlength 0\n", "", "answers;finish reusable;"},
        {"an answer before the answer", "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n" OK LENGTH(2) "\r\nhi", MK_E_AGAIN, false, "103\nLink: <a>\nlength -1\n200\nlength 2\n", "hi", "answers;finish reusable;"},
        {"one that is for us", "HTTP/1.1 100 Continue\r\n\r\n" OK LENGTH(2) "\r\nhi", MK_E_AGAIN, false, "200\nlength 2\n", "hi", "soon;answers;finish reusable;"},
        {"more than the answer", OK LENGTH(2) "\r\nhi more", MK_E_AGAIN, false, "200\nlength 2\n", "hi", NULL},
        /* clang-format on */
    };
    static const size_t steps[] = {1, 2, 7, 50, SIZE_MAX};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t j = 0; j < sizeof(steps) / sizeof(steps[0]); j++) {
            begin(state);
            ex.is_head = rows[i].is_head;
            (void)talk(rows[i].bytes, steps[j], rows[i].then);
            if (strcmp(r.said, rows[i].said) != 0 || body_len != strlen(rows[i].body) ||
                memcmp(body, rows[i].body, body_len) != 0 ||
                (rows[i].events && strcmp(events, rows[i].events) != 0))
                fail_msg("%s, by %zu: %s\n%.*s\n%s", rows[i].sentence, steps[j], r.said,
                         (int)body_len, body, events);
            assert_int_equal(ex.report.received, body_len);
            end(state);
        }
    }
}

/* Bytes behind an answer would be taken for the next one: nothing of that backend is kept for now. */
static void bytes_that_nobody_asked_for_use_it_up(void **state)
{
    (void)state;
    (void)talk(OK LENGTH(2) "\r\nhi more", SIZE_MAX, MK_E_AGAIN);
    assert_string_equal(events, "answers;distrusted;finish used up;");
    end(state);
    begin(state); /* it would close the connection anyway */
    (void)talk(OK "Connection: close\r\n" LENGTH(2) "\r\nhi more", SIZE_MAX, MK_E_AGAIN);
    assert_string_equal(events, "answers;finish used up;");
}

static void fields_behind_a_body(void **state)
{
    static const char bytes[] =
        OK CHUNKED "Trailer: X-T\r\n\r\n5\r\nhello\r\n0\r\nX-T: 1\r\nContent-Length: 9\r\n\r\n";
    static const size_t steps[] = {1, 3, SIZE_MAX};

    for (size_t i = 0; i < 6; i++) {
        bool wanted = i < 3;

        begin(state);
        ex.wants_trailers = wanted;
        (void)talk(bytes, steps[i % 3], MK_E_AGAIN);
        assert_string_equal(r.said, wanted ? "200\nTrailer: X-T\nlength -1\n" : "200\nlength -1\n");
        assert_string_equal(events, wanted ? "answers;trailer X-T=1;finish reusable;"
                                           : "answers;finish reusable;");
        end(state);
    }
    begin(state); /* fields that Connection names are not known any more when they come */
    ex.wants_trailers = true;
    (void)talk(OK CHUNKED "Connection: X-T\r\n\r\n0\r\nX-T: 1\r\n\r\n", SIZE_MAX, MK_E_AGAIN);
    assert_string_equal(events, "answers;finish reusable;");
}

static void hints_of_the_backend_open_the_body(void **state)
{
    (void)state;
    ex.reading = PROXY_HELD; /* Expect: 100-continue */
    says("HTTP/1.1 100 Continue\r\n\r\n", SIZE_MAX, MK_E_AGAIN);
    read_head();
    assert_int_equal(ex.reading, PROXY_OPEN);
    assert_string_equal(events, "soon;");
    assert_string_equal(r.said, "");
}

/* ---- answers that are none ---- */

static void append(char *to, size_t size, const char *text)
{
    size_t len = strlen(to);

    assert_true(len + strlen(text) < size);
    (void)snprintf(to + len, size - len, "%s", text);
}

static void heads_that_are_none_are_seen_to(void **state)
{
    static char huge[80000], named[2000], many[600];
    static const struct {
        const char *sentence, *bytes;
        int then;
        const char *events;
    } rows[] = {
        /* clang-format off */
        {"nothing", "", 0, "retry: the backend closed the connection;"},
        {"an error", "", MK_E_PEER, "retry: the connection to the backend broke;"},
        {"a part of a head", "HTTP/1.1 200 O", 0, "retry: the backend closed the connection;"},
        {"something else", "SSH-2.0-x\r\n\r\n", MK_E_AGAIN, NULL},
        {"a wrong field", OK "X A: b\r\n\r\n", MK_E_AGAIN, NULL},
        {"two lengths", OK LENGTH(1) LENGTH(2) "\r\n", MK_E_AGAIN, NULL},
        {"a head without an end", huge, MK_E_AGAIN, "refuse: the head is larger than MaxAnswerHead;"},
        {"Connection with very many names", named, MK_E_AGAIN, "refuse: Connection names too many fields;"},
        {"a change of protocol unasked", "HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: ws\r\n\r\n", MK_E_AGAIN, "refuse: the backend changed the protocol unasked;"},
        {"too many answers before the answer", many, MK_E_AGAIN, "refuse: too many interim answers;"},
        /* clang-format on */
    };

    (void)snprintf(huge, sizeof(huge), OK "X: %070000d", 0);
    (void)snprintf(named, sizeof(named), OK "Connection: a%01100d\r\n\r\n", 0);
    for (int i = 0; i < 17; i++)
        append(many, sizeof(many), "HTTP/1.1 103 Hints\r\n\r\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(state);
        (void)talk(rows[i].bytes, SIZE_MAX, rows[i].then);
        if (ex.state != PROXY_OVER || (rows[i].events && strcmp(events, rows[i].events) != 0))
            fail_msg("%s: state %u, %s", rows[i].sentence, ex.state, events);
        if (!rows[i].events) /* what has no status line may be another service: others are asked */
            assert_true(strncmp(events, i == 3 ? "retry: " : "refuse: ", 7) == 0);
        end(state);
    }
}

static void so_many_answers_before_the_answer_pass(void **state)
{
    static char bytes[600];

    (void)state;
    for (int i = 0; i < 16; i++)
        append(bytes, sizeof(bytes), "HTTP/1.1 103 Hints\r\n\r\n");
    append(bytes, sizeof(bytes), OK LENGTH(0) "\r\n");
    (void)talk(bytes, SIZE_MAX, MK_E_AGAIN);
    assert_string_equal(events, "answers;finish reusable;");
}

static void a_change_of_protocol_must_be_the_one_asked_for(void **state)
{
    static const struct fake_field asked[] = {{"Upgrade", "ws, h2c"}, {NULL, NULL}};
    static const char yes[] = "HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: WS\r\n\r\n";
    static const char other[] = "HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: tls\r\n\r\n";
    char expected[32];

    r.fields = asked;
    ex.wants_upgrade = true;
    (void)talk(yes, SIZE_MAX, MK_E_AGAIN);
    (void)snprintf(expected, sizeof(expected), "tunnel %zu;", strlen(yes));
    assert_string_equal(events, expected);
    end(state);
    begin(state);
    r.fields = asked;
    ex.wants_upgrade = true;
    (void)talk(other, SIZE_MAX, MK_E_AGAIN);
    assert_string_equal(events, "refuse: the backend changed the protocol unasked;");
    end(state);
    begin(state);
    r.fields = asked; /* of a request whose change was not passed on */
    (void)talk(yes, SIZE_MAX, MK_E_AGAIN);
    assert_string_equal(events, "refuse: the backend changed the protocol unasked;");
}

static void a_head_that_is_too_large_for_us_is_refused(void **state)
{
    (void)state;
    r.end_error = MK_E_LIMIT;
    (void)talk(OK LENGTH(0) "\r\n", SIZE_MAX, MK_E_AGAIN);
    assert_string_equal(events, "refuse: the head of the answer is too large;");
    end(state);
    begin(state); /* the client is gone, which ends the request elsewhere */
    r.begin_error = MK_E_PEER;
    says(OK LENGTH(0) "\r\n", SIZE_MAX, MK_E_AGAIN);
    backend.waits = true;
    proxy_answer_read(&ex);
    assert_string_equal(events, "");
    assert_int_equal(ex.state, PROXY_HEAD);
}

/* ---- bodies that end too early, and whose fault that is ---- */

static void a_body_that_is_not_whole_is_broken_off(void **state)
{
    static const struct {
        const char *sentence, *bytes;
        int then;
    } rows[] = {
        {"a length", OK LENGTH(5) "\r\nhel", 0},
        {"a length, and an error", OK LENGTH(5) "\r\nhel", MK_E_PEER},
        {"chunks", OK CHUNKED "\r\n5\r\nhel", 0},
        {"chunks without the last", OK CHUNKED "\r\n3\r\nhel\r\n", 0},
        {"until the end, and an error", OK "\r\nhel", MK_E_PEER},
        {"chunks that are none", OK CHUNKED "\r\n3\r\nhelzz\r\n", MK_E_AGAIN},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(state);
        if (talk(rows[i].bytes, 1, rows[i].then) != MK_E_BAD ||
            strcmp(events, "answers;broke;") != 0 || ex.state != PROXY_OVER)
            fail_msg("%s: %s", rows[i].sentence, events);
        assert_true(body_len <= 3 && memcmp(body, "hel", body_len) == 0);
        assert_int_equal(r.produce(&r, r.produce_arg, body, 1), MK_E_BAD); /* for good */
        end(state);
    }
    begin(state); /* in the bytes that came with the head: before anything of the body */
    (void)talk(OK CHUNKED "\r\nzz\r\n", SIZE_MAX, MK_E_AGAIN);
    assert_string_equal(events, "answers;broke;");
    assert_string_equal(r.said, "200\nlength -1\naborted\n");
}

/* A backend that waited long for the client says nothing of its health by giving up. */
static void a_client_that_is_slow_is_no_fault_of_the_backend(void **state)
{
    static const struct {
        int64_t ms;
        bool owes;
        const char *events;
    } rows[] = {{STALL_MS - 1, false, "answers;broke;"},
                {STALL_MS, false, "answers;answered;"},
                {0, true, "answers;answered;"}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(state);
        says(OK LENGTH(5) "\r\nhel", SIZE_MAX, 0);
        read_head();
        now_ms += rows[i].ms;
        ex.intake.owes = rows[i].owes;
        assert_int_equal(pull(), MK_E_BAD);
        assert_string_equal(events, rows[i].events);
        end(state);
    }
    begin(state); /* since the backend is waited for, the client takes all there is */
    says(OK LENGTH(5) "\r\nhel", SIZE_MAX, MK_E_AGAIN);
    read_head();
    assert_false(ex.is_timed);
    assert_int_equal(pull(), MK_E_AGAIN);
    assert_true(ex.is_timed); /* ReadTimeout runs */
    now_ms += 10 * STALL_MS;
    backend.end = 0;
    assert_int_equal(pull(), MK_E_BAD);
    assert_string_equal(events, "answers;broke;");
}

static void the_rest_of_the_request_goes_on(void **state)
{
    static const struct {
        int error;
        bool goes_on;
    } rows[] = {
        {0, true}, {MK_E_AGAIN, true}, {MK_E_PEER, true}, {MK_E_BAD, false}, {MK_E_EOF, false}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(state);
        ex.sending = PROXY_PART;
        says(OK LENGTH(5) "\r\nhello", strlen(OK LENGTH(5) "\r\n"), MK_E_AGAIN);
        read_head();
        upload_error = rows[i].error;
        if ((pull() == 0) != rows[i].goes_on)
            fail_msg("row %zu: %s", i, events);
        assert_string_equal(events,
                            rows[i].goes_on ? "answers;finish reusable;" : "answers;answered;");
        end(state);
    }
}

/* ---- large bodies ---- */

/* They go from socket to socket: what came with the head first, then by a pipe. */
static void a_large_body_goes_by_a_pipe(void **state)
{
    static char bytes[PROXY_SPLICE_MIN + 1000], head[128];
    size_t len = sizeof(bytes), at = 1000, piped = 0;
    int ends[2], out = -1;
    ssize_t n = 0;

    (void)state;
    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)(i * 7 + i / 251);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    (void)snprintf(head, sizeof(head), OK "Content-Length: %zu\r\n\r\n", len);
    assert_int_equal(write(ends[1], head, strlen(head)), strlen(head));
    assert_int_equal(write(ends[1], bytes, at), at);
    backend.fd = ends[0];
    proxy_answer_read(&ex);
    assert_true(ex.has_pipe && fill != NULL);
    assert_int_equal(body_len, at);
    while (ex.state == PROXY_BODY) {
        size_t more = len - at < 30000 ? len - at : 30000;

        assert_int_equal(write(ends[1], bytes + at, more), more);
        at += more;
        n = fill(&r, &ex, n > 0 ? (size_t)n : 0, &out);
        assert_true(n > 10);
        piped += (size_t)n;
        assert_int_equal(read(out, body + body_len, 10), 10); /* a client that takes little */
        body_len += 10;
        n -= 10;
        assert_int_equal(fill(&r, &ex, 10, &out), n);
        assert_int_equal(read(out, body + body_len, (size_t)n), n);
        body_len += (size_t)n;
    }
    assert_int_equal(piped, len - 1000);
    assert_memory_equal(body, bytes, len);
    assert_string_equal(events, "answers;finish reusable;");
    assert_int_equal(fill(&r, &ex, (size_t)n, &out), 0);
    assert_int_equal(ex.report.received, len);
    assert_true(ex.body.total == len && ex.body.left == 0);
    proxy_pipe_put(&home.pipes, &ex.pipe);
    close(ends[0]);
    close(ends[1]);
}

/* Another backend's answer takes the place of one with such a status, of which nothing is passed on. */
static void an_answer_of_retry_on_is_for_another_backend(void **state)
{
    static const struct {
        const char *sentence, *bytes, *events, *said;
        bool has_another, is_repeated;
    } rows[] = {
        /* clang-format off */
        {"another is there", "HTTP/1.1 503 No\r\nX-A: b\r\n" LENGTH(2) "\r\nno", "another for 503;", "", true, true},
        {"part of the body is to come", "HTTP/1.1 502 No\r\n" LENGTH(20) "\r\nno", "another for 502;", "", true, true},
        {"none is there", "HTTP/1.1 503 No\r\n" LENGTH(2) "\r\nno", "another for 503;answers;finish reusable;", "503\nlength 2\n", false, false},
        {"not of RetryOn", "HTTP/1.1 504 No\r\n" LENGTH(2) "\r\nno", "answers;finish reusable;", "504\nlength 2\n", true, false},
        {"well", OK LENGTH(2) "\r\nno", "answers;finish reusable;", "200\nlength 2\n", true, false},
        /* clang-format on */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(state);
        set.retry_on = 1U << 2 | 1U << 3;
        has_another = rows[i].has_another;
        says(rows[i].bytes, SIZE_MAX, MK_E_AGAIN);
        read_head();
        if (strcmp(events, rows[i].events) != 0 || strcmp(r.said, rows[i].said) != 0)
            fail_msg("%s: %s\n%s", rows[i].sentence, events, r.said);
        assert_int_equal(ex.state == PROXY_CONNECT, rows[i].is_repeated);
        if (rows[i].is_repeated) {
            assert_null(ex.down);
            assert_int_equal(ex.answer.status, 0);
        }
        end(state);
    }
    begin(state);
    set.retry_on = 1U << 3;
    has_another = false;
    says("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 503 No\r\n" LENGTH(0) "\r\n", SIZE_MAX,
         MK_E_AGAIN);
    read_head();
    assert_true(ex.has_told); /* so that no other is asked */
}

/* The final answer has it, no interim one does (Sticky). */
static void a_cookie_names_the_backend(void **state)
{
    static const struct {
        const char *scheme, *said;
        bool sets;
    } rows[] = {
        {"http",
         "103\nlength -1\n200\nSet-Cookie: a=b\nSet-Cookie: at=0123456789abcdef; Path=/; HttpOnly; "
         "SameSite=Lax\nlength 0\n",
         true},
        {"https",
         "103\nlength -1\n200\nSet-Cookie: a=b\nSet-Cookie: at=0123456789abcdef; Path=/; HttpOnly; "
         "SameSite=Lax; Secure\nlength 0\n",
         true},
        {"https", "103\nlength -1\n200\nSet-Cookie: a=b\nlength 0\n", false},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(state);
        set.sticky = MK_STR("at");
        r.facts.scheme = rows[i].scheme;
        ex.attempt.sets_cookie = rows[i].sets;
        (void)talk("HTTP/1.1 103 Early Hints\r\n\r\n" OK "Set-Cookie: a=b\r\n" LENGTH(0) "\r\n", 7,
                   MK_E_AGAIN);
        assert_string_equal(r.said, rows[i].said);
        end(state);
    }
    begin(state);
}

/* Something else is sent in its place, and of its body no more is read than came with the head. */
static void an_answer_that_is_an_order_is_not_passed_on(void **state)
{
    static const struct {
        const char *sentence, *bytes, *refusal, *events;
        bool is_off;
    } rows[] = {
        /* clang-format off */
        {"no body", OK "X-Sendfile: a\r\n" LENGTH(0) "\r\n", NULL, "obey a;answers;finish reusable;", false},
        {"all of the body", OK "X-Sendfile: a\r\n" LENGTH(2) "\r\nhi", NULL, "obey a;answers;finish reusable;", false},
        {"chunks", OK "X-Sendfile: a\r\n" CHUNKED "\r\n2\r\nhi\r\n0\r\n\r\n", NULL, "obey a;answers;finish reusable;", false},
        {"part of the body", OK "X-Sendfile: a\r\n" LENGTH(20) "\r\nhi", NULL, "obey a;answers;finish used up;", false},
        {"a malformed body", OK "X-Sendfile: a\r\n" CHUNKED "\r\nxx\r\n", NULL, "obey a;answers;finish used up;", false},
        {"until the end", OK "X-Sendfile: a\r\n\r\nhi", NULL, "obey a;answers;finish used up;", false},
        {"more than the body", OK "X-Sendfile: a\r\n" LENGTH(2) "\r\nhi more", NULL, "obey a;answers;finish used up;", false},
        {"refused", OK "X-Sendfile: a\r\n" LENGTH(2) "\r\nhi", "no", "obey a;refuse: no;", false},
        {"not obeyed", OK "X-Sendfile: a\r\n" LENGTH(2) "\r\nhi", NULL, "answers;finish reusable;", true},
        {"no order", OK LENGTH(2) "\r\nhi", NULL, "answers;finish reusable;", false},
        /* clang-format on */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(state);
        set.sendfile_root = rows[i].is_off ? NULL : "/srv";
        refusal = rows[i].refusal;
        says(rows[i].bytes, SIZE_MAX, MK_E_AGAIN);
        read_head();
        if (strcmp(events, rows[i].events) != 0)
            fail_msg("%s: %s", rows[i].sentence, events);
        if (strncmp(events, "obey", 4) == 0) {
            assert_int_equal(ex.state, PROXY_OVER);
            assert_null(ex.down);
            assert_string_equal(r.said, "");
        } else {
            assert_string_equal(r.said, "200\nlength 2\n"); /* and no such field */
        }
        end(state);
    }
    begin(state);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(answers_are_passed_on_in_pieces_of_any_size),
        CASE(bytes_that_nobody_asked_for_use_it_up),
        CASE(fields_behind_a_body),
        CASE(hints_of_the_backend_open_the_body),
        CASE(heads_that_are_none_are_seen_to),
        CASE(so_many_answers_before_the_answer_pass),
        CASE(a_change_of_protocol_must_be_the_one_asked_for),
        CASE(a_head_that_is_too_large_for_us_is_refused),
        CASE(a_body_that_is_not_whole_is_broken_off),
        CASE(a_client_that_is_slow_is_no_fault_of_the_backend),
        CASE(the_rest_of_the_request_goes_on),
        CASE(a_large_body_goes_by_a_pipe),
        CASE(an_answer_of_retry_on_is_for_another_backend),
        CASE(a_cookie_names_the_backend),
        CASE(an_answer_that_is_an_order_is_not_passed_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
