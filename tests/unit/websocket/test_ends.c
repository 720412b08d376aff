/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/ws_int.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <monkey/events.h>
#include <monkey/server.h>

#include <stdlib.h>

/*
 * However the events of a connection follow each other, it ends once: one on_close, one close of the stream, no call after
 * that, and what the peer got is whole frames of which only the last is Close. Schedules are drawn from their number.
 */

enum { SCHEDULES = 4000, STEPS = 60, ROOM = 64 << 10, JOBS = 64, QUIET_TIMEOUTS = 8 };

struct job {
    void (*fn)(struct mk_worker *w, void *arg);
    void *arg;
};

static struct world {
    unsigned number, seed;
    struct mk_ws *ws; /* NULL: on_close was called */
    struct mk_ws_spec spec;
    struct mk_ws_handle *handle;
    mk_stream_fn fn;
    void *arg;
    unsigned nopens, ncloses;
    bool has_begun, is_stream_closed, is_soon, is_broken, has_peer_ended;
    unsigned timer_ms; /* 0: none */
    int64_t now_ms;
    char input[ROOM], output[ROOM];
    size_t at, arrived, ninput; /* of the input: read, arrived, all */
    size_t read_max;            /* by one call; 0: what there is */
    size_t credit, noutput;
    struct job jobs[JOBS];
    unsigned njobs;
    unsigned fails_in; /* one of so many allocations fails; 0: none */
} world;

static unsigned any(unsigned below)
{
    world.seed = world.seed * 1103515245U + 12345U;
    return (world.seed >> 16) % below;
}

/* ---- memory ---- */

static bool memory_fails(void)
{
    return world.fails_in > 0 && any(world.fails_in) == 0;
}

#define WRAPS_REALLOC
#include "../wrapped_memory.h"

/* ---- what the library calls ---- */

static void assert_stream_lives(void)
{
    if (world.is_stream_closed)
        fail_msg("schedule %u: a closed stream is used", world.number);
}

ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len)
{
    const size_t there = world.arrived - world.at;
    size_t n = there < len ? there : len;

    (void)s;
    assert_stream_lives();
    if (world.read_max > 0 && n > world.read_max)
        n = world.read_max;
    if (world.is_broken)
        return MK_E_PEER;
    if (n == 0)
        return world.has_peer_ended ? 0 : MK_E_AGAIN;
    memcpy(buf, world.input + world.at, n);
    world.at += n;
    return (ssize_t)n;
}

void mk_stream_hold(struct mk_stream *s, size_t bytes)
{
    (void)s, (void)bytes;
    assert_stream_lives();
}

ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int niov)
{
    size_t taken = 0;

    (void)s;
    assert_stream_lives();
    if (world.is_broken)
        return MK_E_PEER;
    if (!world.has_begun)
        return MK_E_AGAIN;
    for (int i = 0; i < niov; i++) {
        const size_t n = iov[i].iov_len < world.credit ? iov[i].iov_len : world.credit;

        assert_true(world.noutput + n <= ROOM);
        if (n > 0)
            memcpy(world.output + world.noutput, iov[i].iov_base, n);
        world.noutput += n;
        world.credit -= n;
        taken += n;
    }
    return taken > 0 ? (ssize_t)taken : MK_E_AGAIN;
}

void mk_stream_timeout(struct mk_stream *s, unsigned ms)
{
    (void)s;
    assert_stream_lives();
    world.timer_ms = ms;
}

void mk_stream_run_soon(struct mk_stream *s)
{
    (void)s;
    assert_stream_lives();
    world.is_soon = true;
}

void mk_stream_shutdown(struct mk_stream *s)
{
    (void)s;
    assert_stream_lives();
}

void mk_stream_close(struct mk_stream *s)
{
    (void)s;
    assert_stream_lives();
    assert_int_equal(world.ncloses, 1);
    world.is_stream_closed = true;
}

int64_t mk_worker_now_ms(const struct mk_worker *w)
{
    (void)w;
    return world.now_ms;
}

int mk_worker_post(struct mk_worker *w, void (*fn)(struct mk_worker *w, void *arg), void *arg)
{
    (void)w;
    if (world.njobs == JOBS)
        return MK_E_NOMEM;
    world.jobs[world.njobs++] = (struct job){fn, arg};
    return 0;
}

struct mk_server_handle *mk_server_handle(struct mk_server *server)
{
    return (struct mk_server_handle *)server;
}

struct mk_server *mk_worker_server(const struct mk_worker *w)
{
    (void)w;
    return (struct mk_server *)&world;
}

bool mk_server_handle_is_of(const struct mk_server_handle *h, struct mk_server *server)
{
    return (const void *)h == (const void *)server;
}

void mk_server_handle_put(struct mk_server_handle *h)
{
    (void)h;
}

int mk_server_handle_each_worker(struct mk_server_handle *h, void (*fn)(struct mk_worker *, void *),
                                 void *arg)
{
    (void)h;
    fn((struct mk_worker *)&world, arg);
    return 0;
}

unsigned mk_server_workers(const struct mk_server *server)
{
    (void)server;
    return 1;
}

unsigned mk_worker_index(const struct mk_worker *w)
{
    (void)w;
    return 0;
}

/* ---- the request ---- */

void mk_request_facts(const struct mk_request *r, struct mk_request_facts *facts)
{
    (void)r;
    facts->method = MK_STR("GET");
    facts->scheme = "http";
    facts->host = MK_STR("here");
    facts->minor = 1;
    facts->worker = (struct mk_worker *)&world;
}

bool mk_request_next_header(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                            struct mk_str *value)
{
    static const char *const fields[][2] = {
        {"Connection", "Upgrade"},
        {"Upgrade", "websocket"},
        {"Sec-WebSocket-Version", "13"},
        {"Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="},
    };

    (void)r;
    if (*at == sizeof(fields) / sizeof(fields[0]))
        return false;
    *name = mk_str_from(fields[*at][0]);
    *value = mk_str_from(fields[(*at)++][1]);
    return true;
}

int mk_reply_begin(struct mk_reply *p, struct mk_request *r, unsigned status)
{
    (void)p, (void)r;
    assert_int_equal(status, 101);
    return 0;
}

void mk_reply_line(struct mk_reply *p, struct mk_str name, struct mk_str value)
{
    (void)p, (void)name, (void)value;
}

int mk_reply_end(struct mk_reply *p, int64_t length)
{
    (void)p, (void)length;
    return 0;
}

enum mk_verdict mk_reply_error(struct mk_request *r, unsigned status, const char *lines)
{
    (void)r, (void)lines;
    fail_msg("schedule %u: refused with %u", world.number, status);
    return MK_VERDICT_DONE;
}

void mk_request_reason(struct mk_request *r, const char *text)
{
    (void)r, (void)text;
}

int mk_request_take(struct mk_request *r, struct mk_stream **stream, mk_stream_fn fn, void *arg)
{
    (void)r;
    *stream = (struct mk_stream *)&world;
    world.fn = fn;
    world.arg = arg;
    return 0;
}

/* ---- the application ---- */

static void say(struct mk_ws *ws)
{
    static const char text[300];

    (void)mk_ws_send(ws, MK_WS_BINARY, (struct mk_str){text, any(sizeof(text))});
}

/* Sends and closes from inside a callback. */
static void act(struct mk_ws *ws)
{
    assert_int_equal(world.ncloses, 0);
    if (any(3) == 0)
        say(ws);
    if (any(8) == 0)
        mk_ws_close(ws, 4000 + any(1000), MK_STR("enough"));
}

static void on_open(struct mk_ws *ws)
{
    world.nopens++;
    act(ws);
}

static void on_message(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    (void)kind, (void)message;
    assert_int_equal(world.nopens, 1);
    act(ws);
}

static void on_close(struct mk_ws *ws, unsigned code, struct mk_str reason)
{
    assert_true(code >= 1000 && code < 5000);
    assert_true(reason.len <= WS_CONTROL_MAX - 2);
    world.ncloses++;
    world.ws = NULL;
    assert_int_equal(mk_ws_send(ws, MK_WS_TEXT, MK_STR("late")), MK_E_PEER);
    mk_ws_close(ws, MK_WS_NORMAL, MK_STR("late"));
}

/* ---- the peer ---- */

static void peer_writes(unsigned first, const void *payload, size_t len)
{
    char *to = world.input + world.ninput;

    assert_true(len <= WS_CONTROL_MAX && world.ninput + 6 + len <= ROOM);
    to[0] = (char)first;
    to[1] = (char)(0x80 | len);
    memset(to + 2, 0, 4); /* the mask */
    memcpy(to + 6, payload, len);
    world.ninput += 6 + len;
}

static void peer_writes_any(void)
{
    switch (any(7)) {
    case 0:
        peer_writes(0x80 | WS_PING, "ping", 4);
        break;
    case 1:
        peer_writes(WS_TEXT, "be", 2);
        peer_writes(0x80 | WS_PONG, "", 0);
        peer_writes(0x80 | WS_CONTINUATION, "gin", 3);
        break;
    case 2:
        if (any(3) == 0)
            peer_writes(0x80 | WS_CLOSE,
                        "\x03\xe8"
                        "done",
                        any(2) * 6);
        break;
    case 3:
        if (any(4) == 0)
            peer_writes(0xb0, "reserved", 8);
        break;
    default:
        peer_writes(0x80 | WS_TEXT, "message", any(8));
    }
}

/* ---- events ---- */

static void tell(unsigned events)
{
    if (world.is_stream_closed)
        return;
    if (!world.has_begun && !(events & MK_IO_ERROR))
        events |= MK_IO_READ | MK_IO_WRITE;
    world.has_begun = true;
    world.is_soon = false;
    world.fn((struct mk_stream *)&world, events, world.arg);
}

static void run_jobs(void)
{
    for (unsigned i = 0; i < world.njobs; i++)
        world.jobs[i].fn((struct mk_worker *)&world, world.jobs[i].arg);
    world.njobs = 0;
}

static void pass_time(void)
{
    if (world.timer_ms == 0)
        return;
    world.now_ms += world.timer_ms;
    world.timer_ms = 0;
    tell(MK_IO_TIMEOUT);
}

static void arrive(void)
{
    if (world.arrived == world.ninput || any(4) == 0)
        peer_writes_any();
    if (world.arrived < world.ninput)
        world.arrived += 1 + any((unsigned)(world.ninput - world.arrived));
    tell(MK_IO_READ);
}

/* Another thread asks by the handle, also after the end. */
static void ask_by_handle(void)
{
    int err = any(3) > 0 ? mk_ws_handle_send(world.handle, MK_WS_TEXT, MK_STR("from afar"))
                         : mk_ws_handle_close(world.handle, 4999);

    if (!world.ws && world.fails_in == 0)
        assert_int_equal(err, MK_E_PEER);
}

static void step_of_server(void)
{
    switch (any(4)) {
    case 0:
        if (world.ws && any(4) == 0)
            mk_ws_close(world.ws, MK_WS_NORMAL, MK_STR(""));
        break;
    case 1:
        ask_by_handle();
        break;
    case 2:
        run_jobs();
        break;
    default:
        if (world.ws)
            say(world.ws);
    }
}

/* What happens once in some schedules: time, the end of the peer's half, the server's stop, a reset. */
static void rare_step(void)
{
    switch (any(8)) {
    case 0:
        world.has_peer_ended = true;
        tell(MK_IO_READ | MK_IO_HANGUP);
        break;
    case 1:
        tell(MK_IO_HANGUP);
        break;
    case 2:
        world.is_broken = true;
        if (any(2))
            tell(MK_IO_READ | MK_IO_HANGUP);
        tell(MK_IO_ERROR);
        break;
    default:
        pass_time();
    }
}

static void step(void)
{
    const unsigned what = any(16);

    if (what == 0)
        rare_step();
    else if (what < 6)
        step_of_server();
    else if (what < 9) {
        world.credit += any(200);
        tell(MK_IO_WRITE);
    } else if (what < 11 && world.is_soon)
        tell(MK_IO_READ | MK_IO_WRITE);
    else if (!world.has_peer_ended)
        arrive();
}

/* ---- what is held ---- */

/* @return the length of the frame at this place; 0: it is not all there. */
static size_t frame_at(size_t at)
{
    const uint8_t *p = (const uint8_t *)world.output + at;
    const size_t have = world.noutput - at;
    size_t len;

    if (have < 2)
        return 0;
    assert_true(p[1] <= 126); /* not masked, small */
    if (p[1] == 126 && have < 4)
        return 0;
    len = p[1] == 126 ? 4 + ((size_t)p[2] << 8 | p[3]) : 2U + p[1];
    return len <= have ? len : 0;
}

static void judge_output(void)
{
    size_t at = 0, len;

    while ((len = frame_at(at)) > 0) {
        const unsigned first = (uint8_t)world.output[at];

        at += len;
        if (first == (0x80 | WS_CLOSE) && at != world.noutput)
            fail_msg("schedule %u: bytes follow Close", world.number);
    }
}

/* A peer that is silent is closed by time alone. */
static void finish(void)
{
    for (unsigned i = 0; i < QUIET_TIMEOUTS && !world.is_stream_closed; i++) {
        run_jobs();
        while (world.is_soon && !world.is_stream_closed)
            tell(MK_IO_READ | MK_IO_WRITE);
        pass_time();
    }
    run_jobs();
    if (world.is_soon)
        tell(MK_IO_READ | MK_IO_WRITE);
}

/* A connection that was taken; no event has come. */
static void begin(unsigned number)
{
    world = (struct world){.number = number, .seed = number * 2654435761U};
    world.spec = (struct mk_ws_spec){
        .size = sizeof(world.spec),
        .on_open = on_open,
        .on_message = on_message,
        .on_drain = act,
        .on_close = on_close,
        .max_queue = 100 + any(1000),
        .policy = (enum mk_ws_policy)any(3),
    };
    assert_int_equal(mk_ws_accept((struct mk_request *)&world, &world.spec, NULL, &world.ws),
                     MK_VERDICT_DONE);
    world.handle = mk_ws_handle(world.ws);
    assert_non_null(world.handle);
}

static void run_schedule(unsigned number, unsigned fails_in)
{
    begin(number);
    world.fails_in = fails_in;
    for (unsigned i = 0; i < STEPS; i++)
        step();
    finish();
    if (world.ncloses != 1 || !world.is_stream_closed)
        fail_msg("schedule %u: %u ends", number, world.ncloses);
    judge_output();
    mk_ws_handle_put(world.handle);
}

static void each_schedule_ends_once(void **state)
{
    (void)state;
    for (unsigned number = 1; number <= SCHEDULES; number++)
        run_schedule(number, 0);
}

static void each_schedule_ends_once_without_memory(void **state)
{
    (void)state;
    for (unsigned number = 1; number <= SCHEDULES; number++)
        run_schedule(number, 2 + number % 20);
}

static struct mk_ws_handle *late_handle;
static struct mk_ws_group *late_group;

static void ask_at_the_end(struct mk_ws *ws, unsigned code, struct mk_str reason)
{
    on_close(ws, code, reason);
    late_handle = mk_ws_handle(ws);
    assert_non_null(late_handle);
    assert_int_equal(mk_ws_group_join(late_group, ws), 0);
}

/* Also a handle and a group that are asked for in on_close know that the connection has ended. */
static void what_on_close_asks_for_ends_too(void **state)
{
    (void)state;
    for (unsigned has_handle = 0; has_handle < 2; has_handle++) {
        begin(1);
        world.spec.on_close = ask_at_the_end;
        late_group = mk_ws_group_new((struct mk_server *)&world);
        assert_non_null(late_group);
        if (!has_handle) {
            mk_ws_handle_put(world.handle);
            world.handle = NULL;
        }
        tell(MK_IO_ERROR);
        assert_int_equal(mk_ws_handle_send(late_handle, MK_WS_TEXT, MK_STR("late")), MK_E_PEER);
        assert_int_equal(mk_ws_group_send(late_group, MK_WS_TEXT, MK_STR("late")), 0);
        mk_ws_handle_put(late_handle);
        mk_ws_group_free(late_group);
        mk_ws_handle_put(world.handle);
    }
}

/* The server's stop comes together with events that are due, such as the first or one that was asked for. */
static void a_stop_beside_other_events_is_noticed(void **state)
{
    static const unsigned beside[] = {0, MK_IO_READ, MK_IO_WRITE, MK_IO_READ | MK_IO_WRITE};

    (void)state;
    for (unsigned i = 0; i < 2 * sizeof(beside) / sizeof(beside[0]); i++) {
        begin(1);
        world.spec.on_open = NULL;
        world.credit = ROOM;
        if (i % 2)
            tell(MK_IO_READ | MK_IO_WRITE);
        peer_writes(0x80 | WS_PING, "ping", 4);
        world.arrived = world.ninput;
        tell(beside[i / 2] | MK_IO_HANGUP);
        assert_int_equal(world.noutput, 6 + 4);
        assert_memory_equal(world.output, "\x8a\4ping\x88\2\x03\xe9", 10);
        finish();
        assert_int_equal(world.ncloses, 1);
        mk_ws_handle_put(world.handle);
    }
}

/* A peer that sends faster than a turn reads is told of the stop when its input pauses. */
static void a_stop_beside_much_input_is_noticed(void **state)
{
    static const char text[WS_CONTROL_MAX];

    (void)state;
    begin(1);
    world.spec.on_open = NULL;
    world.spec.on_message = NULL;
    world.credit = ROOM;
    world.read_max = 1;
    peer_writes(0x80 | WS_BINARY, text, sizeof(text));
    world.arrived = world.ninput;
    tell(MK_IO_READ | MK_IO_HANGUP);
    assert_int_equal(world.noutput, 0);
    finish();
    assert_int_equal(world.ncloses, 1);
    assert_memory_equal(world.output, "\x88\2\x03\xe9", 4);
    mk_ws_handle_put(world.handle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_schedule_ends_once),
        cmocka_unit_test(each_schedule_ends_once_without_memory),
        cmocka_unit_test(what_on_close_asks_for_ends_too),
        cmocka_unit_test(a_stop_beside_other_events_is_noticed),
        cmocka_unit_test(a_stop_beside_much_input_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
