/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/limits.h"
#include "server/h1/h1_int.h"
#include "server/request/request_state.h"

#include <sys/socket.h>
#include <unistd.h>

/* How long a connection may stay as it is: one made by hand, on a clock that is set. */

enum {
    TIMEOUT = 11000,
    BODY = 13000,
    WRITE = 17000,
    HANDLER = 19000,
    KEEPALIVE = 7000,
    A_SECOND = 1000, /* for which the kernel has held a silent client back (TCP_DEFER_ACCEPT) */
    FOREVER = 24 * 3600 * 1000, /* or longer */
};

static struct fixture fix;
static struct mk_conn conn;

static struct mk_server_settings *settings(void)
{
    return &fix.plan.snapshot.set;
}

static struct mk_loop *loop(void)
{
    return &fix.worker->loop;
}

static struct mk_request *request(void)
{
    return &conn.job->request;
}

/* A tick, a bit before the 32 bits of milliseconds that connections keep are full. */
static const int64_t noon = ((1LL << 32) / MK_TICK_MS - 20) * MK_TICK_MS;

static void pass(int64_t ms)
{
    loop()->clock.mono_ms += ms;
}

static int set_up(void **state)
{
    struct mk_server_settings *set;

    (void)state;
    dir_make(fix.dir);
    fixture_open(&fix, NULL);
    set = settings();
    set->timeout_ms = TIMEOUT;
    fix.plan.snapshot.sites->set.body_timeout_ms = BODY;
    set->write_timeout_ms = WRITE;
    set->keepalive_timeout_ms = KEEPALIVE;
    set->min_read_rate = fix.plan.snapshot.sites->set.min_rate = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

/* A connection over a unix socket, with the timer of no state, and a request that may take its time. */
static int begin(void **state)
{
    (void)state;
    loop()->clock.mono_ms = noon;
    mk_wheel_init(&loop()->wheel, noon);
    conn = (struct mk_conn){.worker = fix.worker,
                            .requests = 1,
                            .holding.since_ms = (uint32_t)noon,
                            .timed_state = MK_H1_STATE_COUNT};
    mk_timer_init(&conn.timer, NULL);
    conn.peer.is_unix = true;
    assert_non_null(mk_job_get(&conn));
    *request() = (struct mk_request){.view = fix.worker->view,
                                     .site = fix.plan.snapshot.sites,
                                     .worker = fix.worker,
                                     .patience_ms = HANDLER,
                                     .asking = MK_ASKING_ASKED};
    return 0;
}

static int end(void **state)
{
    (void)state;
    settings()->min_read_rate = fix.plan.snapshot.sites->set.min_rate = 0;
    settings()->timeout_ms = TIMEOUT;
    mk_timer_cancel(&conn.timer);
    request()->view = NULL;
    mk_job_put(&conn);
    return 0;
}

/* Milliseconds that the present state may still last. */
static int64_t left(void)
{
    assert_true(mk_timer_is_set(&conn.timer));
    return (int64_t)(int32_t)(conn.timer.due - (uint32_t)(loop()->clock.mono_ms / MK_TICK_MS)) *
           MK_TICK_MS;
}

static int64_t left_after_setting(void)
{
    mk_h1_set_timeout(&conn);
    return left();
}

/* ---- for whom it waits, and how long ---- */

static void each_state_has_its_time(void **state)
{
    static const struct {
        const char *sentence;
        enum mk_h1_state in;
        unsigned requests;
        bool is_tcp;
        int64_t ms;
    } rows[] = {
        {"a PROXY header", MK_H1_PROXY, 0, false, TIMEOUT},
        {"a choice of protocol", MK_H1_OFFER, 0, false, TIMEOUT},
        {"a choice over TCP", MK_H1_OFFER, 0, true, TIMEOUT - A_SECOND},
        {"a first byte", MK_H1_IDLE, 0, false, TIMEOUT},
        {"a first byte over TCP", MK_H1_IDLE, 0, true, TIMEOUT - A_SECOND},
        {"a next request", MK_H1_IDLE, 1, true, KEEPALIVE},
        {"a head", MK_H1_HEAD, 1, true, TIMEOUT},
        {"a body that nobody wants", MK_H1_DRAIN, 1, false, BODY},
        {"the last answers", MK_H1_FLUSH, 1, false, WRITE},
        {"a peer that is to close", MK_H1_LINGER, 1, false, MK_LIMIT_LINGER_QUIET_MS},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        conn.state = (uint8_t)rows[i].in;
        conn.requests = rows[i].requests;
        conn.peer.is_unix = !rows[i].is_tcp;
        conn.timed_state = MK_H1_STATE_COUNT;
        if (left_after_setting() != rows[i].ms)
            fail_msg("%s: %lld", rows[i].sentence, (long long)left());
        assert_int_equal(conn.timed_state, conn.state);
    }
}

/* What shook hands was not silent, and no time is below none. */
static void the_kernels_second_counts_once(void **state)
{
    (void)state;
    conn.state = MK_H1_IDLE;
    conn.requests = 0;
    conn.peer.is_unix = false;
    conn.link.state = &conn;
    assert_int_equal(left_after_setting(), TIMEOUT);
    conn.link.state = NULL;
    conn.timed_state = MK_H1_STATE_COUNT;
    settings()->timeout_ms = A_SECOND / 2;
    assert_in_range(left_after_setting(), 0, MK_TICK_MS); /* the next tick */
}

static void an_answer_waits_for_whom_it_needs(void **state)
{
    static const struct {
        const char *sentence;
        enum mk_asking asking;
        enum mk_answering answering;
        enum mk_receiving receiving;
        bool readable, has_leftover;
        enum mk_h1_state then;
        int64_t ms;
    } rows[] = {
        {"a client that reads", MK_ASKING_ASKED, MK_ANSWERING_BODY, MK_RECEIVING_NONE, false, false,
         MK_H1_REPLY, WRITE},
        {"a hook that said LATER", MK_ASKING_PARKED, MK_ANSWERING_NONE, MK_RECEIVING_NONE, false,
         false, MK_H1_HANDLER, HANDLER},
        {"a source that has nothing", MK_ASKING_ASKED, MK_ANSWERING_STARVED, MK_RECEIVING_NONE,
         false, false, MK_H1_HANDLER, HANDLER},
        {"the same, while bytes are to be read first", MK_ASKING_ASKED, MK_ANSWERING_STARVED,
         MK_RECEIVING_NONE, false, true, MK_H1_REPLY, WRITE},
        {"a client that sends its body", MK_ASKING_PARKED, MK_ANSWERING_NONE, MK_RECEIVING_READING,
         false, false, MK_H1_BODY, BODY},
        {"a handler that has not read what came", MK_ASKING_PARKED, MK_ANSWERING_NONE,
         MK_RECEIVING_READING, true, false, MK_H1_HANDLER, HANDLER},
        {"a handler that does not want the body", MK_ASKING_PARKED, MK_ANSWERING_NONE,
         MK_RECEIVING_UNREAD, false, false, MK_H1_HANDLER, HANDLER},
        {"a handler that has all of the body", MK_ASKING_WOKEN, MK_ANSWERING_NONE,
         MK_RECEIVING_DONE, false, false, MK_H1_HANDLER, HANDLER},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        conn.state = MK_H1_REPLY;
        conn.timed_state = MK_H1_STATE_COUNT;
        conn.readable = rows[i].readable;
        conn.leftover_len = rows[i].has_leftover;
        request()->asking = (uint8_t)rows[i].asking;
        request()->answering = (uint8_t)rows[i].answering;
        request()->receiving = (uint8_t)rows[i].receiving;
        mk_h1_set_timeout(&conn);
        if (conn.state != rows[i].then || left() != rows[i].ms)
            fail_msg("%s: state %u, %lld", rows[i].sentence, conn.state, (long long)left());
    }
}

static void a_handler_may_have_all_time(void **state)
{
    (void)state;
    conn.state = MK_H1_REPLY;
    request()->asking = MK_ASKING_PARKED;
    request()->patience_ms = 0;
    assert_true(left_after_setting() >= FOREVER);
    pass(5000);
    request()->patience_ms = 3000;
    mk_h1_renew_timeout(&conn);
    assert_int_equal(left(), 3000);
    request()->patience_ms = 0; /* a timer that was under way finds that there is no end */
    mk_timer_cancel(&conn.timer);
    assert_false(mk_h1_on_timeout(&conn));
    assert_false(conn.closed);
    assert_true(left() >= FOREVER);
}

/* ---- what makes time begin anew ---- */

static void bytes_the_right_way_renew_the_time(void **state)
{
    static const struct {
        const char *sentence;
        enum mk_h1_state in;
        bool came;
        uint32_t sent;
        bool is_renewed;
    } rows[] = {
        {"nothing, of an answer", MK_H1_REPLY, false, 0, false},
        {"input, of an answer", MK_H1_REPLY, true, 0, false},
        {"output, of an answer", MK_H1_REPLY, false, 1, true},
        {"output, of the last answers", MK_H1_FLUSH, false, 1, true},
        {"input, of the last answers", MK_H1_FLUSH, true, 0, false},
        {"input, of a body", MK_H1_BODY, true, 0, true},
        {"output, of a body", MK_H1_BODY, false, 1, false},
        {"input, of a handler", MK_H1_HANDLER, true, 0, true},
        {"output, of a handler", MK_H1_HANDLER, false, 1, true},
        {"nothing, of a handler", MK_H1_HANDLER, false, 0, false},
        {"input, of a head", MK_H1_HEAD, true, 0, false},
        {"input, of a body that nobody wants", MK_H1_DRAIN, true, 0, false},
    };

    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        int64_t before;

        conn.state = (uint8_t)rows[i].in;
        request()->asking = rows[i].in == MK_H1_BODY || rows[i].in == MK_H1_HANDLER
                                ? MK_ASKING_PARKED
                                : MK_ASKING_ASKED;
        request()->receiving =
            rows[i].in == MK_H1_BODY ? MK_RECEIVING_READING : MK_RECEIVING_UNREAD;
        conn.timed_state = MK_H1_STATE_COUNT;
        before = left_after_setting();
        pass(1000);
        conn.progress = rows[i].came;
        conn.sent = rows[i].sent;
        if (left_after_setting() != (rows[i].is_renewed ? before : before - 1000))
            fail_msg("%s: %lld of %lld", rows[i].sentence, (long long)left(), (long long)before);
        if (rows[i].is_renewed)
            assert_true(!conn.progress && conn.sent == 0);
        end(state);
        begin(state);
    }
}

/* A client that sends its first head slowly has no more time than one that sends nothing. */
static void a_first_head_has_its_time_from_the_accept(void **state)
{
    (void)state;
    conn.requests = 0;
    conn.state = MK_H1_IDLE;
    assert_int_equal(left_after_setting(), TIMEOUT);
    pass(4000);
    conn.state = MK_H1_HEAD;
    assert_int_equal(left_after_setting(), TIMEOUT - 4000);
    assert_int_equal(conn.timed_state, MK_H1_HEAD);
    conn.requests = 1;
    conn.state = MK_H1_IDLE;
    assert_int_equal(left_after_setting(), KEEPALIVE);
    conn.state = MK_H1_HEAD;
    assert_int_equal(left_after_setting(), TIMEOUT);
}

/* ---- the pace ---- */

/* MinRate: each byte brings its time, but never more than BodyTimeout for the next. */
static void a_sender_has_a_pace(void **state)
{
    static const struct {
        uint64_t total;
        uint32_t waited_ms;
        int64_t ms;
    } rows[] = {
        {0, 0, BODY},
        {0, 5000, BODY - 5000},
        {400, 5000, BODY - 1000}, /* 4 seconds' worth of 100 a second */
        {500, 5000, BODY},
        {100000, 5000, BODY},
        {UINT64_MAX, 5000, BODY},
    };

    (void)state;
    fix.plan.snapshot.sites->set.min_rate = 100;
    request()->asking = MK_ASKING_PARKED;
    request()->receiving = MK_RECEIVING_READING;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        conn.state = MK_H1_BODY;
        conn.timed_state = MK_H1_STATE_COUNT;
        request()->body.total = rows[i].total;
        request()->body_waited_ms = rows[i].waited_ms;
        if (left_after_setting() != rows[i].ms)
            fail_msg("row %zu: %lld", i, (long long)left());
    }
}

/* The time in which the server or a handler was busy is not the client's. */
static void only_waiting_for_the_sender_counts(void **state)
{
    (void)state;
    fix.plan.snapshot.sites->set.min_rate = 100;
    conn.state = MK_H1_BODY;
    request()->asking = MK_ASKING_PARKED;
    request()->receiving = MK_RECEIVING_READING;
    mk_h1_set_timeout(&conn);
    pass(3000);
    conn.progress = true;
    request()->body.total = 100;
    assert_int_equal(left_after_setting(), BODY + 1000 - 3000);
    assert_int_equal(request()->body_waited_ms, 3000);
    conn.readable = true; /* the handler does not read */
    assert_int_equal(left_after_setting(), HANDLER);
    pass(6000);
    conn.readable = false;
    assert_int_equal(left_after_setting(), BODY + 1000 - 3000);
    assert_int_equal(request()->body_waited_ms, 3000);
}

/* MinReadRate: what was read faster counts for one WriteTimeout ahead. */
static void a_reader_has_a_pace(void **state)
{
    static const struct {
        const char *sentence;
        uint32_t wait_ms, sent;
        int32_t behind_ms; /* afterwards */
        int64_t ms;
    } rows[] = {
        {"slower", 4000, 1000, 3000, WRITE - 3000},
        {"slower again", 2000, 1000, 4000, WRITE - 4000},
        {"as fast as it should be", 2000, 2000, 4000, WRITE - 4000},
        {"faster", 1000, 9000, -4000, WRITE},
        {"much faster", 0, 1000000, -WRITE, WRITE},
        {"slower, after that", 10000, 1000, -WRITE + 9000, WRITE},
    };

    (void)state;
    settings()->min_read_rate = 1000;
    conn.state = MK_H1_REPLY;
    mk_h1_set_timeout(&conn);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        pass(rows[i].wait_ms);
        conn.sent = rows[i].sent;
        mk_h1_set_timeout(&conn);
        if (conn.behind_ms != rows[i].behind_ms || left() != rows[i].ms)
            fail_msg("%s: behind %d, %lld", rows[i].sentence, conn.behind_ms, (long long)left());
    }
    conn.state = MK_H1_IDLE;
    mk_h1_set_timeout(&conn);
    assert_int_equal(conn.behind_ms, 0);
}

/* Bytes that left while a handler was waited for are read faster than nobody asked. */
static void only_waiting_for_the_reader_counts(void **state)
{
    (void)state;
    settings()->min_read_rate = 1000;
    conn.state = MK_H1_REPLY;
    request()->answering = MK_ANSWERING_STARVED;
    assert_int_equal(left_after_setting(), HANDLER);
    pass(8000);
    conn.sent = 2000;
    request()->answering = MK_ANSWERING_BODY;
    assert_int_equal(left_after_setting(), WRITE);
    assert_int_equal(conn.behind_ms, -2000);
    pass(INT32_MAX); /* longer than any time-out: no number overflows */
    conn.sent = 1;
    mk_h1_set_timeout(&conn);
    assert_int_equal(conn.behind_ms, FOREVER);
}

/* ---- a peer that is to close ---- */

static int64_t left_after_more(uint32_t bytes)
{
    conn.progress = bytes > 0;
    conn.lingered += bytes;
    return left_after_setting();
}

static void begin_lingering(void)
{
    conn.state = MK_H1_LINGER;
    conn.link.fd = -1; /* all is delivered */
    assert_int_equal(left_after_setting(), MK_LIMIT_LINGER_QUIET_MS);
}

static void an_upload_lingers_while_it_goes_on(void **state)
{
    (void)state;
    begin_lingering();
    for (int ms = 4000; ms <= 24000; ms += 4000) {
        pass(4000);
        assert_int_equal(left_after_more(4 * MK_LIMIT_LINGER_RATE), MK_LIMIT_LINGER_QUIET_MS);
    }
    pass(4000);
    assert_int_equal(left_after_more(4 * MK_LIMIT_LINGER_RATE), MK_LIMIT_LINGER_MS - 28000);
    assert_int_equal(mk_h1_useless_ms(&conn), 28000);
}

static void what_drips_lingers_as_silence_does(void **state)
{
    (void)state;
    begin_lingering();
    pass(4000);
    assert_int_equal(left_after_more(1), MK_LIMIT_LINGER_QUIET_MS - 4000);
    assert_int_equal(left_after_more(MK_LIMIT_LINGER_RATE), MK_LIMIT_LINGER_QUIET_MS - 3000);
}

static void what_is_not_delivered_lingers_on(void **state)
{
    static const char answer[16384];
    int sockets[2];

    (void)state;
    begin_lingering();
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
    conn.link.fd = sockets[0];
    assert_int_equal(send(sockets[0], answer, sizeof(answer), 0), (ssize_t)sizeof(answer));
    for (int ms = 5000; ms < MK_LIMIT_LINGER_MS; ms += 5000) {
        pass(5000);
        assert_false(mk_h1_on_timeout(&conn));
        assert_false(conn.closed);
        assert_int_equal(left(), MK_LIMIT_LINGER_QUIET_MS);
    }
    assert_false(mk_h1_is_delivered(&conn));
    assert_int_equal(read(sockets[1], (char[sizeof(answer)]){0}, sizeof(answer)),
                     (ssize_t)sizeof(answer));
    assert_true(mk_h1_is_delivered(&conn));
    conn.link.fd = -1;
    close(sockets[0]);
    close(sockets[1]);
}

/* ---- who is of no use ---- */

static void a_peer_that_keeps_waiting_is_of_no_use(void **state)
{
    static const struct {
        const char *sentence;
        enum mk_h1_state in;
        int32_t behind_ms;
        uint32_t body_waited_ms, ms;
    } rows[] = {
        {"a first byte", MK_H1_IDLE, 0, 0, 5000},
        {"a head", MK_H1_HEAD, 0, 0, 5000},
        {"a body that nobody wants", MK_H1_DRAIN, 0, 0, 5000},
        {"a peer that is to close", MK_H1_LINGER, 0, 0, 5000},
        {"a reader", MK_H1_REPLY, 0, 0, 5000},
        {"a reader that was slow", MK_H1_FLUSH, 2000, 0, 7000},
        {"a reader that was fast", MK_H1_REPLY, -2000, 0, 5000},
        {"a sender", MK_H1_BODY, 0, 0, 5000},
        {"a sender that was slow", MK_H1_BODY, 0, 3000, 8000},
        {"a handler", MK_H1_HANDLER, 2000, 3000, 0},
        {"one that was taken", MK_H1_TAKEN, 2000, 0, 0},
    };

    (void)state;
    fix.plan.snapshot.sites->set.min_rate = 100;
    pass(5000);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        conn.timed_state = (uint8_t)rows[i].in;
        conn.behind_ms = rows[i].behind_ms;
        request()->body_waited_ms = rows[i].body_waited_ms;
        if (mk_h1_useless_ms(&conn) != rows[i].ms)
            fail_msg("%s: %u", rows[i].sentence, mk_h1_useless_ms(&conn));
    }
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(each_state_has_its_time),
        CASE(the_kernels_second_counts_once),
        CASE(an_answer_waits_for_whom_it_needs),
        CASE(a_handler_may_have_all_time),
        CASE(bytes_the_right_way_renew_the_time),
        CASE(a_first_head_has_its_time_from_the_accept),
        CASE(a_sender_has_a_pace),
        CASE(only_waiting_for_the_sender_counts),
        CASE(a_reader_has_a_pace),
        CASE(only_waiting_for_the_reader_counts),
        CASE(an_upload_lingers_while_it_goes_on),
        CASE(what_drips_lingers_as_silence_does),
        CASE(what_is_not_delivered_lingers_on),
        CASE(a_peer_that_keeps_waiting_is_of_no_use),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
