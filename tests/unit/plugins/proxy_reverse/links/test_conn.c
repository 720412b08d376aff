/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "links/call_int.h"

#include "fake_loop.h"

/* ---- those who call ---- */

enum { USERS = 200, HEAD_ROOM = 512, SEEDS = 20 };

/* X(NAME, sentence): how a user's call goes */
enum stand { NONE, WAITS, CALLED, DONE, FAILED, NEVER, PUT };

struct user {
    struct proxy_call *call;
    enum stand stand;
    int error; /* of the beginning */
    bool is_fresh, was_refused;
    size_t body, answer, piece; /* to be sent, and expected; read and written at a time */
    size_t sent, got;
    bool is_chunked, is_lazy; /* it acts when it is asked to */
    bool is_tunnel;           /* both sides end when they like */
    bool can_read, can_write, has_begun, has_head, is_sent, was_broken, was_timed_out;
    char head[HEAD_ROOM];
    size_t head_len;
    struct user *victim; /* put in its next event; itself perhaps */
    bool in_called;      /* in that one already */
};

static struct user users[USERS];
static unsigned nusers;
static struct proxy_calls *calls;
static struct proxy_call_way way;
static bool is_beginning;

static void put_user(struct user *u)
{
    if (!u->call)
        return;
    proxy_call_put(u->call);
    u->call = NULL;
    if (u->stand == WAITS || u->stand == CALLED)
        u->stand = PUT;
}

static void finish(struct user *u, enum stand stand)
{
    assert_int_equal(u->stand, CALLED);
    u->stand = stand;
    u->was_refused = proxy_call_was_refused(u->call);
    put_user(u);
}

/* ---- the request ---- */

static size_t write_head(const struct user *u, char *dst, size_t size)
{
    size_t n = (size_t)snprintf(dst, size, "%s /%zu HTTP/1.1\r\nHost: a\r\nX-Key: v\r\n",
                                u->body > 0 && !u->is_tunnel ? "POST" : "GET", u->answer);

    if (u->is_tunnel)
        n += (size_t)snprintf(dst + n, size - n, "Connection: upgrade\r\nUpgrade: x\r\n");
    else if (u->body > 0 && u->is_chunked)
        n += (size_t)snprintf(dst + n, size - n, "Transfer-Encoding: chunked\r\n");
    else if (u->body > 0)
        n += (size_t)snprintf(dst + n, size - n, "Content-Length: %zu\r\n", u->body);
    return n + (size_t)snprintf(dst + n, size - n, "\r\n");
}

static ssize_t write_piece(struct user *u)
{
    static char bytes[1 << 18];
    size_t head = u->has_begun ? 0 : write_head(u, bytes, HEAD_ROOM), n = u->body - u->sent;
    ssize_t wrote;

    if (n > u->piece)
        n = u->piece;
    memset(bytes + head, 'x', n);
    wrote = proxy_call_write(u->call, &(struct iovec){bytes, head + n}, 1);
    if (wrote < 0)
        return wrote;
    assert_true(wrote > 0 && (size_t)wrote <= head + n && (size_t)wrote >= head);
    u->has_begun = true;
    u->sent += (size_t)wrote - head;
    return wrote;
}

static void write_some(struct user *u)
{
    ssize_t n = 1;

    if (u->sent < u->body || !u->has_begun)
        n = write_piece(u);
    if (n == MK_E_AGAIN)
        u->can_write = false;
    if (n > 0 && u->sent == u->body) {
        u->is_sent = true;
        if (u->is_tunnel || (u->body > 0 && u->is_chunked))
            n = proxy_call_end_body(u->call, u->is_tunnel ? MK_STR("") : MK_STR("t: u\r\n"));
    }
    if (n == MK_E_UNSUPPORTED) {
        u->error = MK_E_UNSUPPORTED;
        finish(u, FAILED);
    } else if (n < 0 && n != MK_E_AGAIN) {
        assert_true(n == MK_E_PEER || has_failed);
        u->is_sent = true;
        if (n == MK_E_NOMEM)
            finish(u, FAILED);
    }
}

/* ---- the answer ---- */

static void take_byte(struct user *u, char byte)
{
    if (u->has_head) {
        assert_int_equal(byte, BODY_BYTE);
        u->got++;
        return;
    }
    assert_in_range(u->head_len, 0, HEAD_ROOM - 2);
    u->head[u->head_len++] = byte;
    u->head[u->head_len] = '\0';
    if (u->head_len < 4 || strcmp(u->head + u->head_len - 4, "\r\n\r\n") != 0)
        return;
    u->has_head = memcmp(u->head,
                         u->is_tunnel ? "HTTP/1.1 101 \r\nConnection: upgrade\r\nUpgrade: x\r\n"
                                      : "HTTP/1.1 2",
                         u->is_tunnel ? 48 : 10) == 0;
    u->head_len = 0;
}

static void end_answer(struct user *u)
{
    bool is_whole = u->has_head && u->got == u->answer;

    if (u->is_tunnel && !proxy_call_is_over(u->call)) {
        u->can_read = false; /* more is to be sent */
        return;
    }
    assert_true(is_whole || has_failed);
    finish(u, is_whole ? DONE : FAILED);
}

static void read_some(struct user *u)
{
    char bytes[1 << 12];
    ssize_t n =
        proxy_call_read(u->call, bytes, u->piece < sizeof(bytes) ? u->piece : sizeof(bytes));

    for (ssize_t i = 0; i < n; i++)
        take_byte(u, bytes[i]);
    if (n == 0)
        end_answer(u);
    else if (n == MK_E_PEER)
        finish(u, FAILED);
    else if (n < 0)
        u->can_read = false;
}

static bool can_act(const struct user *u)
{
    return u->call && u->stand == CALLED && ((u->can_write && !u->is_sent) || u->can_read);
}

static void act_once(struct user *u)
{
    if (u->can_write && !u->is_sent)
        write_some(u);
    if (u->call && u->can_read)
        read_some(u);
}

/* ---- what they are told ---- */

/* @return whether it was put itself. */
static bool put_victim(struct user *u)
{
    struct user *victim = u->victim;

    u->victim = NULL;
    if (victim)
        put_user(victim);
    return !u->call;
}

static void on_call(struct mk_stream *s, unsigned events, void *arg)
{
    struct user *u = arg;

    assert_null(s);
    assert_false(is_beginning);
    assert_non_null(u->call);
    assert_int_equal(u->stand, CALLED);
    assert_false(u->was_broken);
    u->was_broken = events & MK_IO_ERROR;
    u->was_timed_out = events & MK_IO_TIMEOUT;
    u->can_read = u->can_read || events & (MK_IO_READ | MK_IO_ERROR);
    u->can_write = u->can_write || events & MK_IO_WRITE;
    if (put_victim(u))
        return;
    if (u->was_timed_out)
        finish(u, FAILED);
    while (!u->is_lazy && can_act(u))
        act_once(u);
}

static void on_called(void *arg, bool fresh, int error)
{
    struct user *u = arg;

    assert_false(is_beginning);
    assert_int_equal(u->stand, WAITS);
    u->stand = error < 0 ? NEVER : CALLED;
    u->error = error;
    u->is_fresh = fresh;
    if (error < 0) {
        u->call = NULL;
        (void)put_victim(u);
        return;
    }
    proxy_call_tell(u->call, on_call, u);
    if (u->in_called)
        (void)put_victim(u);
}

static struct user *begin_with(size_t body, size_t bytes, bool fresh)
{
    struct user *u = &users[nusers];
    int err;

    assert_true(nusers < USERS);
    nusers++;
    *u = (struct user){.stand = WAITS, .body = body, .answer = bytes, .piece = 1 << 16};
    is_beginning = true;
    err = proxy_call_begin(&u->call, calls, &way, fresh, on_called, u);
    is_beginning = false;
    if (err < 0) {
        assert_null(u->call);
        u->stand = NEVER;
        u->error = err;
    }
    return u;
}

static struct user *begin_user(void)
{
    return begin_with(0, 10, false);
}

/* ---- the whole ---- */

static void open_all(void)
{
    memset(&fake, 0, sizeof(fake));
    memset(users, 0, sizeof(users));
    nusers = 0;
    fails_in = 0;
    has_failed = false;
    fake.max_connections = 8;
    fake.max_streams = 100;
    fake.random = 1;
    way = (struct proxy_call_way){.upstream = (struct mk_upstream *)&fake, .max_waiting = 1000};
    calls = proxy_calls_new(NULL);
    assert_non_null(calls);
}

static void close_all(void)
{
    fails_in = 0;
    for (unsigned i = 0; i < nusers; i++)
        put_user(&users[i]);
    proxy_calls_free(calls);
    bury();
    assert_int_equal(fake.nopen, 0);
    assert_null(fake.waits);
    assert_null(fake.alarms);
}

/* What is counted is what there is. */
static void check_conn(const struct proxy_conn *conn)
{
    unsigned ncalls = 0, in[PROXY_CALL_COUNT] = {0}, ntold = 0, nnoted = 0;

    for (const struct proxy_call *c = conn->calls; c; c = c->next) {
        assert_ptr_equal(c->conn, conn);
        assert_ptr_equal(*c->at, c);
        ncalls++;
        in[c->state]++;
        nnoted += c->told_at != NULL;
        assert_true(c->state == PROXY_CALL_WAITING || conn->channel.stream);
    }
    for (const struct proxy_call *c = conn->told; c; c = c->told) {
        assert_ptr_equal(*c->told_at, c);
        ntold++;
    }
    assert_null(*conn->told_last);
    assert_int_equal(conn->ncalls, ncalls);
    assert_memory_equal(conn->ncalls_in, in, sizeof(in));
    assert_int_equal(ntold, nnoted);
}

static void check(void)
{
    for (const struct proxy_conn *conn = calls->conns; conn; conn = conn->next)
        check_conn(conn);
}

static void run(void)
{
    check();
    settle();
    check();
}

static unsigned count(enum stand stand)
{
    unsigned n = 0;

    for (unsigned i = 0; i < nusers; i++)
        n += users[i].stand == stand;
    return n;
}

/* ---- beginnings ---- */

static void test_a_call_before_and_after_there_is_a_connection(void **state)
{
    struct user *first, *second;

    (void)state;
    open_all();
    first = begin_user();
    run();
    assert_int_equal(first->stand, DONE);
    assert_true(first->is_fresh);
    second = begin_with(100000, 70000, false);
    run();
    assert_int_equal(second->stand, DONE);
    assert_false(second->is_fresh);
    assert_int_equal(fake.nmade, 1);
    close_all();
}

static void test_a_fresh_call_has_a_connection_of_its_own(void **state)
{
    struct user *u;

    (void)state;
    open_all();
    (void)begin_user();
    run();
    u = begin_with(0, 10, true);
    run();
    assert_int_equal(u->stand, DONE);
    assert_true(u->is_fresh);
    assert_int_equal(fake.nmade, 2);
    close_all();
}

/* With all connections that may be, it takes what there is; no other one waits with it. */
static void test_a_fresh_call_does_not_wait_for_ever(void **state)
{
    struct user *u, *other;

    (void)state;
    for (int has_other = 0; has_other < 2; has_other++) {
        open_all();
        fake.max_connections = 1;
        (void)begin_user();
        run();
        u = begin_with(0, 10, true);
        other = has_other ? begin_user() : u;
        run();
        assert_int_equal(u->stand, DONE);
        assert_int_equal(other->stand, DONE);
        assert_false(u->is_fresh);
        close_all();
    }
}

static void test_calls_above_what_the_backend_takes(void **state)
{
    (void)state;
    open_all();
    fake.max_streams = 3;
    (void)begin_user();
    run();
    for (int i = 0; i < 20; i++)
        (void)begin_with(i % 2 ? 1000 : 0, 100, false);
    run();
    assert_int_equal(count(DONE) + count(FAILED), 21);
    for (unsigned i = 0; i < nusers; i++)
        assert_true(users[i].stand == DONE || users[i].was_refused);
    close_all();
}

static void test_a_connection_that_cannot_be_made(void **state)
{
    (void)state;
    open_all();
    fake.connect_error = MK_E_TIMEOUT;
    (void)begin_user();
    begin_user()->victim = &users[0]; /* whichever is told first puts the other one */
    users[0].victim = &users[1];
    run();
    assert_int_equal(count(NEVER), 1);
    assert_int_equal(count(PUT), 1);
    assert_int_equal(users[0].error + users[1].error, MK_E_TIMEOUT);
    assert_null(calls->conns);
    close_all();
}

static void test_so_many_may_wait(void **state)
{
    (void)state;
    open_all();
    fake.max_connections = 0;
    way.max_waiting = 150;
    for (int i = 0; i < 152; i++) /* the first one does not count, as of mk_upstream */
        (void)begin_user();
    assert_int_equal(count(WAITS), 151);
    assert_int_equal(users[151].error, MK_E_BUSY);
    assert_int_equal(fake.ntakes, 2);
    close_all();
}

/* The oldest one has the stream of a backend that takes one at a time. */
static void test_the_first_one_is_served_first(void **state)
{
    (void)state;
    open_all();
    fake.max_streams = 1;
    for (int i = 0; i < 3; i++)
        (void)begin_user();
    run();
    assert_int_equal(count(DONE), 3);
    assert_true(users[0].is_fresh);
    close_all();
}

/* ---- waiting for a connection that never comes ---- */

static struct user *begin_first(void)
{
    struct user *u;

    fake.max_connections = 1;
    fake.max_streams = 1;
    (void)begin_user();
    run();
    u = begin_user();
    fake.what = STALL;
    run();
    assert_int_equal(u->stand, CALLED);
    return u;
}

static void test_who_waits_moves_to_where_there_is_room(void **state)
{
    unsigned first;

    (void)state;
    open_all();
    (void)begin_first();
    first = nusers;
    for (int i = 0; i < 5; i++)
        (void)begin_user();
    run();
    assert_int_equal(count(WAITS), 5);
    for (unsigned i = 0; i < 5; i++) { /* the oldest one first */
        answer_all();
        run();
        for (unsigned j = first; j < nusers; j++)
            assert_int_equal(users[j].stand, j < first + i    ? DONE
                                             : j == first + i ? CALLED
                                                              : WAITS);
    }
    assert_null(fake.waits);
    close_all();
}

/* Room that one leaves who is put is another one's, whenever that is. */
static void test_who_is_put_makes_room(void **state)
{
    static const char *const sentences[] = {"outside of events", "in its own event",
                                            "in its own event, before it had a stream",
                                            "before it had a stream"};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct user *u, *waiting;

        open_all();
        u = begin_first();
        if (i >= 2) { /* another one has all the room, and has not begun */
            answer_all();
            run();
            u = begin_user();
            u->is_lazy = true;
            u->victim = i == 2 ? u : NULL;
            waiting = begin_user();
        } else {
            waiting = begin_user();
        }
        fake.what = ANSWER;
        if (i == 1) {
            u->victim = u;
            proxy_call_run_soon(u->call);
        }
        if (i != 2)
            run();
        if (i == 0 || i == 3)
            put_user(u);
        run();
        if (waiting->stand != DONE)
            fail_msg("%s", sentences[i]);
        close_all();
    }
}

/* The other one that is there has nothing to say, and wakes nobody. */
static void test_who_is_put_without_a_stream_makes_room(void **state)
{
    struct user *u, *waiting;

    (void)state;
    open_all();
    fake.max_connections = 1;
    fake.max_streams = 2;
    (void)begin_user();
    run();
    fake.what = STALL;
    (void)begin_user();
    run();
    u = begin_user();
    u->is_lazy = true;
    waiting = begin_user();
    run();
    assert_int_equal(waiting->stand, WAITS);
    put_user(u);
    run();
    assert_int_equal(waiting->stand, CALLED);
    close_all();
}

/* ---- connections that end ---- */

static void lose(bool is_reset)
{
    if (is_reset)
        break_stream(stream_at(0));
    else
        close_stream(stream_at(0));
}

static void test_a_connection_is_lost_in_each_state(void **state)
{
    (void)state;
    for (int is_reset = 0; is_reset < 2; is_reset++) {
        struct user *ready, *open, *over;

        open_all();
        fake.what = STALL;
        open = begin_user();
        ready = begin_user();
        ready->is_lazy = true;
        run();
        fake.what = ANSWER;
        over = begin_with(0, 1000, false);
        over->is_lazy = true;
        run();
        over->piece = 1;
        act_once(over);
        run();
        assert_int_equal(over->call->state, PROXY_CALL_OVER);
        lose(is_reset);
        run();
        assert_int_equal(open->stand, FAILED);
        assert_true(ready->was_broken);
        assert_true(proxy_call_was_refused(ready->call));
        assert_false(over->was_broken); /* its answer is whole */
        while (can_act(over))
            act_once(over);
        assert_int_equal(over->stand, DONE);
        assert_null(calls->conns);
        close_all();
    }
}

/* What it says puts the other one, who has not heard of it yet. */
static void test_one_puts_another_one_when_a_connection_is_lost(void **state)
{
    (void)state;
    for (int is_reset = 0; is_reset < 2; is_reset++) {
        open_all();
        fake.what = STALL;
        (void)begin_user();
        (void)begin_user();
        run();
        users[0].victim = &users[1];
        users[1].victim = &users[0];
        lose(is_reset);
        run();
        assert_int_equal(count(PUT), 1);
        assert_int_equal(count(FAILED), 1);
        close_all();
    }
}

/* The end of input comes at the same time as a call begins. */
static void test_a_call_begins_as_its_connection_ends(void **state)
{
    struct user *u;

    (void)state;
    open_all();
    (void)begin_user();
    run();
    u = begin_with(10, 10, false);
    close_stream(stream_at(0));
    run();
    assert_int_equal(u->stand, FAILED);
    assert_true(u->was_refused); /* nothing of it has left */
    close_all();
}

/* Nobody moves to a connection that ends. */
static void test_who_waits_does_not_move_to_what_ends(void **state)
{
    struct user *waiting;

    (void)state;
    open_all();
    (void)begin_first();
    waiting = begin_user();
    run();
    fake.what = ANSWER;
    answer_all();
    (void)aside(run_backend, stream_at(0), PIPE);
    close_stream(stream_at(0));
    run();
    assert_int_equal(waiting->stand, DONE);
    assert_int_equal(fake.nmade, 2);
    close_all();
}

static void test_a_backend_goes_away(void **state)
{
    struct user *open, *later;

    (void)state;
    open_all();
    fake.what = STALL;
    open = begin_user();
    run();
    h2_session_refuse(&stream_at(0)->session);
    run();
    fake.what = ANSWER;
    later = begin_user();
    run();
    assert_int_equal(later->stand, DONE);
    assert_int_equal(fake.nmade, 2);
    assert_int_equal(open->stand, CALLED);
    answer_all();
    run();
    assert_int_equal(open->stand, DONE);
    assert_int_equal(fake.nopen, 1);
    close_all();
}

/* RFC 9113 section 6.8 and 8.7: it was not seen. */
static void test_a_call_above_goaway_may_be_made_again(void **state)
{
    struct user *u;

    (void)state;
    open_all();
    (void)begin_user();
    run();
    u = begin_user();
    h2_session_refuse(&stream_at(0)->session);
    run();
    assert_int_equal(u->stand, FAILED);
    assert_true(u->was_refused);
    close_all();
}

/* What it says last does not leave, and those that wait hear of the end all the same. */
static void test_a_session_fails_while_the_backend_reads_nothing(void **state)
{
    struct user *u;
    struct mk_stream *s;

    (void)state;
    open_all();
    fake.what = STALL;
    u = begin_user();
    run();
    s = stream_at(0);
    s->up_max = 0;
    memcpy(s->down.p, "\0\0\x08\x06\0\0\0\0\1abcdefgh",
           17); /* PING of a stream: RFC 9113 section 6.7 */
    s->down.len = 17;
    s->events = MK_IO_READ;
    run();
    assert_int_equal(u->stand, FAILED);
    close_all();
}

/* ---- time ---- */

static void test_an_idle_connection_is_closed(void **state)
{
    (void)state;
    for (int is_deaf = 0; is_deaf < 2; is_deaf++) {
        open_all();
        way.idle_ms = 1000;
        (void)begin_user();
        run();
        if (is_deaf)
            stream_at(0)->up_max = 0;
        pass(999);
        run();
        assert_int_equal(fake.nopen, 1);
        pass(1);
        run();
        assert_int_equal(fake.nopen, 0);
        close_all();
    }
}

/* What a backend says of itself keeps no connection that nobody needs. */
static void test_pings_keep_no_idle_connection(void **state)
{
    (void)state;
    open_all();
    way.idle_ms = 1000;
    (void)begin_user();
    run();
    for (int i = 0; i < 3 && stream_at(0); i++) {
        h2_session_ping(&stream_at(0)->session);
        run();
        pass(400);
        run();
    }
    assert_int_equal(fake.nopen, 0);
    close_all();
}

static struct user *begin_doubt(void)
{
    struct user *u;

    fake.what = STALL;
    u = begin_user();
    run();
    proxy_call_timeout(u->call, 1000);
    pass(1000);
    assert_true(u->was_timed_out);
    return u;
}

static void test_a_backend_proves_that_it_lives(void **state)
{
    struct user *u;

    (void)state;
    open_all();
    (void)begin_doubt();
    fake.what = ANSWER;
    run();
    pass(5000);
    run();
    u = begin_user();
    run();
    assert_int_equal(u->stand, DONE);
    assert_int_equal(fake.nmade, 1);
    close_all();
}

static void test_a_backend_gives_no_proof(void **state)
{
    struct user *later, *open;

    (void)state;
    open_all();
    fake.what = STALL;
    open = begin_user();
    (void)begin_doubt();
    fake.is_deaf = true;
    later = begin_user();
    run();
    assert_int_equal(later->stand, CALLED);
    assert_int_equal(fake.nmade, 2);
    for (int i = 0; i < 5; i++) { /* what others do is no proof */
        assert_int_equal(open->stand, CALLED);
        proxy_call_run_soon(open->call);
        run();
        pass(1000);
    }
    assert_int_equal(open->stand, FAILED);
    assert_int_equal(fake.nopen, 1);
    close_all();
}

static void test_proof_makes_room(void **state)
{
    struct user *waiting;

    (void)state;
    open_all();
    fake.max_connections = 1;
    fake.what = STALL;
    (void)begin_doubt();
    fake.what = ANSWER;
    waiting = begin_user();
    run();
    assert_int_equal(waiting->stand, DONE);
    close_all();
}

/* ---- large bodies ---- */

static void test_a_body_waits_for_windows(void **state)
{
    struct user *u;

    (void)state;
    open_all();
    for (int is_chunked = 0; is_chunked < 2; is_chunked++) {
        u = begin_with(1 << 20, 1 << 20, false);
        u->is_chunked = is_chunked;
        u->piece = is_chunked ? 1 << 16 : 777;
        run();
        assert_int_equal(u->stand, DONE);
    }
    close_all();
}

static void test_an_answer_waits_for_its_reader(void **state)
{
    struct user *u, *other;

    (void)state;
    open_all();
    u = begin_with(0, 1 << 20, false);
    u->is_lazy = true;
    run();
    act_once(u);
    run();
    assert_in_range(u->call->body.len, 60000, 1 << 17);
    other = begin_user();
    run();
    assert_int_equal(other->stand, DONE);
    while (can_act(u)) {
        act_once(u);
        run();
    }
    assert_int_equal(u->stand, DONE);
    close_all();
}

/* ---- putting ---- */

/* In whichever state it is, and whoever does it, the others go on. */
static void test_put_at_any_time(void **state)
{
    (void)state;
    for (unsigned turns = 0; turns < 12; turns++) {
        for (unsigned way_of = 0; way_of < 4; way_of++) {
            struct user *u, *other;

            open_all();
            fake.max_connections = 1;
            u = begin_with(100, 100000, false);
            other = begin_with(100, 100000, false);
            for (unsigned i = 0; i < turns; i++)
                (void)turn();
            if (way_of == 0) {
                put_user(u);
            } else {
                u->in_called = way_of == 3;
                (way_of == 2 ? other : u)->victim = u;
                if (u->stand == CALLED)
                    proxy_call_run_soon(u->call);
            }
            check();
            run();
            assert_int_equal(other->stand, DONE);
            assert_true(u->stand == PUT || u->stand == DONE);
            close_all();
        }
    }
}

/* ---- no memory ---- */

static void live(void)
{
    (void)begin_user();
    (void)begin_with(200000, 200000, false);
    settle();
    users[0].is_lazy = true;
    (void)begin_with(1000, 10, false);
    users[2].is_chunked = true;
    (void)begin_with(0, 10, true);
    (void)begin_user();
    if (users[4].call)
        proxy_call_timeout(users[4].call, 1000);
    settle();
    fake.what = STALL;
    (void)begin_user();
    (void)begin_user();
    settle();
    if (users[5].call)
        proxy_call_timeout(users[5].call, 1000);
    settle();
    pass(1000);
    settle();
}

static void test_memory_is_missing(void **state)
{
    unsigned n = 0;

    (void)state;
    do {
        open_all();
        fails_in = ++n;
        live();
        check();
        fails_in = 0;
        fake.what = ANSWER;
        answer_all();
        run();
        for (unsigned i = 0; i < nusers; i++)
            assert_true(users[i].stand > CALLED);
        close_all();
    } while (has_failed);
    assert_in_range(n, 30, 1000);
}

/* ---- tunnels ---- */

static struct user *begin_tunnel(size_t body, size_t answer)
{
    struct user *u = begin_with(body, answer, false);

    u->is_tunnel = true;
    return u;
}

static void test_a_tunnel_ends_with_both_sides(void **state)
{
    static const size_t sizes[][2] = {{0, 0}, {0, 500}, {500, 0}, {500, 500}, {300000, 300000}};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct user *u, *other;

        open_all();
        u = begin_tunnel(sizes[i][0], sizes[i][1]);
        other = begin_user();
        run();
        assert_int_equal(u->stand, DONE);
        assert_int_equal(other->stand, DONE);
        assert_int_equal(fake.nmade, 1);
        assert_int_equal(stream_at(0)->session.resets_of_peer, 0);
        close_all();
    }
}

/* RFC 8441 section 3: until they say so; nothing else lets it leave. */
static void test_a_tunnel_waits_for_settings(void **state)
{
    struct user *u;

    (void)state;
    open_all();
    fake.is_deaf = true;
    u = begin_tunnel(10, 10);
    run();
    pass(1500);
    run();
    assert_int_equal(u->stand, CALLED);
    assert_int_equal(u->call->state, PROXY_CALL_READY);
    fake.is_deaf = false;
    run();
    assert_int_equal(u->stand, DONE);
    close_all();
}

static void test_a_tunnel_waits_in_vain(void **state)
{
    (void)state;
    for (int is_reset = 0; is_reset < 2; is_reset++) {
        struct user *u;

        open_all();
        fake.is_deaf = true;
        u = begin_tunnel(10, 10);
        run();
        lose(is_reset);
        run();
        assert_int_equal(u->stand, FAILED);
        assert_true(u->was_refused);
        close_all();
    }
}

/* It may be asked for with each request, and others go on. */
static void test_a_backend_without_tunnels(void **state)
{
    (void)state;
    open_all();
    fake.has_no_tunnels = true;
    fake.max_streams = fake.max_connections = 1;
    for (int i = 0; i < 5; i++) {
        (void)begin_tunnel(10, 10);
        (void)begin_user();
    }
    run();
    for (unsigned i = 0; i < nusers; i += 2) {
        assert_int_equal(users[i].error, MK_E_UNSUPPORTED);
        assert_int_equal(users[i + 1].stand, DONE);
    }
    assert_int_equal(fake.nmade, 1);
    close_all();
}

/* What waits for the backend is told of when it has left. */
static void test_what_a_tunnel_holds(void **state)
{
    struct user *u;

    (void)state;
    open_all();
    u = begin_tunnel(30000, 10);
    u->is_lazy = true;
    run();
    act_once(u);
    assert_true(proxy_call_held(u->call) >= 30000);
    u->can_write = false;
    run();
    assert_true(u->can_write);
    assert_in_range(proxy_call_held(u->call), 0, 1000); /* the answer */
    close_all();
}

/* Tunnels outlive those who began them. The last one takes all with it. */
static void test_tunnels_are_left(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct user *u, *put;

        open_all();
        (void)begin_user();
        u = begin_tunnel(200000, 200000);
        put = begin_tunnel(10, 10);
        u->is_lazy = put->is_lazy = true;
        run();
        act_once(u);
        act_once(put);
        run();
        put_user(put);
        proxy_calls_free(calls);
        calls = NULL;
        settle();
        assert_int_equal(u->stand, CALLED);
        if (how == 0)
            lose(true);
        while (how == 1 && can_act(u)) {
            act_once(u);
            settle();
        }
        if (how == 2)
            put_user(u);
        settle();
        if (how == 0)
            act_once(u);
        settle();
        assert_int_equal(u->stand, how == 0 ? CALLED : how == 1 ? DONE : PUT);
        bury();
        assert_int_equal(fake.nopen, 0);
        close_all();
    }
}

/* ---- by chance ---- */

static struct user *any_user(void)
{
    return nusers > 0 ? &users[draw(nusers)] : NULL;
}

/* Those whose call has ended make room for new ones. */
static void begin_any(void)
{
    static const uint32_t most[] = {1, 50, 3000, 200000};
    struct user *u;
    unsigned i = 0;

    while (i < nusers && (users[i].call || users[i].stand == WAITS))
        i++;
    if (i == USERS || i > 40)
        return;
    if (i < nusers) {
        unsigned kept = nusers;

        nusers = i;
        u = begin_with(draw(most[draw(4)]), draw(most[draw(4)]), draw(10) == 0);
        nusers = kept;
    } else {
        u = begin_with(draw(most[draw(4)]), draw(most[draw(4)]), draw(10) == 0);
    }
    u->is_lazy = draw(2) == 0;
    u->is_chunked = draw(2) == 0;
    u->is_tunnel = draw(4) == 0;
    u->piece = 1 + draw(most[1 + draw(3)]);
    if (draw(8) == 0)
        u->victim = any_user();
    u->in_called = draw(2) == 0;
}

static void end_any_stream(void)
{
    struct mk_stream *s = stream_at(draw(3));

    if (!s)
        return;
    if (draw(3) == 0)
        h2_session_refuse(&s->session);
    else if (draw(2) == 0)
        close_stream(s);
    else
        break_stream(s);
}

static void run_any(void)
{
    struct mk_stream *s = stream_at(draw(3));

    if (draw(3) == 0)
        (void)connect_one();
    if (s && draw(2) == 0)
        (void)aside(run_backend, s, 1 + draw(20000));
    if (s && draw(2) == 0)
        (void)tell(s);
    bury();
}

static void step(void)
{
    struct user *u = any_user();
    uint32_t what = draw(100);

    fake.connect_error = draw(30) == 0 ? MK_E_PEER : 0;
    if (what < 15)
        begin_any();
    else if (what < 40 && u && can_act(u))
        act_once(u);
    else if (what < 44 && u)
        put_user(u);
    else if (what < 46)
        answer_all();
    else if (what < 47)
        end_any_stream();
    else if (what < 49)
        pass(1 + draw(3000));
    else if (what < 52 && u && u->call && u->stand == CALLED && !u->was_broken)
        proxy_call_timeout(u->call, 1 + draw(5000));
    else if (what < 55 && stream_at(0))
        stream_at(0)->up_max = draw(2) == 0 ? draw(100) : 1 << 16;
    else if (what < 56)
        fake.is_deaf = draw(4) == 0;
    else if (what < 58 && u && u->call && u->stand == CALLED)
        proxy_call_run_soon(u->call);
    else
        run_any();
    check();
}

/* @return whether anyone did something. */
static bool act_all(void)
{
    bool did = false;

    for (unsigned i = 0; i < nusers; i++) {
        while (can_act(&users[i])) {
            act_once(&users[i]);
            did = true;
        }
    }
    return did;
}

/* When nothing is left to do, each call has had its end. */
static void wind_up(uint32_t seed)
{
    fake.connect_error = 0;
    fake.what = ANSWER;
    fake.is_deaf = false;
    for (unsigned i = 0; stream_at(i); i++) {
        stream_at(i)->up_max = 1 << 16;
        stream_at(i)->events |= MK_IO_WRITE;
    }
    do {
        answer_all();
        run();
    } while (act_all());
    for (unsigned i = 0; i < nusers; i++) {
        if (users[i].call)
            fail_msg("seed %u: call %u starves as %d, state %u", seed, i, users[i].stand,
                     users[i].call->state);
    }
}

static void live_by_chance(uint32_t seed, bool has_memory)
{
    open_all();
    fake.random = seed;
    fake.max_connections = 1 + draw(3);
    fake.max_streams = 1 + draw(6);
    fake.has_no_tunnels = draw(5) == 0;
    fake.what = BY_CHANCE;
    for (int i = 0; i < 2000; i++) {
        fails_in = has_memory || draw(4) > 0 ? 0 : 1 + draw(3);
        step();
        fails_in = 0;
    }
    wind_up(seed);
    close_all();
}

static void test_by_chance(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        live_by_chance(seed, true);
}

static void test_by_chance_with_little_memory(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        live_by_chance(seed, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_call_before_and_after_there_is_a_connection),
        cmocka_unit_test(test_a_fresh_call_has_a_connection_of_its_own),
        cmocka_unit_test(test_a_fresh_call_does_not_wait_for_ever),
        cmocka_unit_test(test_calls_above_what_the_backend_takes),
        cmocka_unit_test(test_a_connection_that_cannot_be_made),
        cmocka_unit_test(test_so_many_may_wait),
        cmocka_unit_test(test_the_first_one_is_served_first),
        cmocka_unit_test(test_who_waits_moves_to_where_there_is_room),
        cmocka_unit_test(test_who_is_put_makes_room),
        cmocka_unit_test(test_who_is_put_without_a_stream_makes_room),
        cmocka_unit_test(test_a_connection_is_lost_in_each_state),
        cmocka_unit_test(test_one_puts_another_one_when_a_connection_is_lost),
        cmocka_unit_test(test_a_call_begins_as_its_connection_ends),
        cmocka_unit_test(test_who_waits_does_not_move_to_what_ends),
        cmocka_unit_test(test_a_backend_goes_away),
        cmocka_unit_test(test_a_call_above_goaway_may_be_made_again),
        cmocka_unit_test(test_a_session_fails_while_the_backend_reads_nothing),
        cmocka_unit_test(test_an_idle_connection_is_closed),
        cmocka_unit_test(test_pings_keep_no_idle_connection),
        cmocka_unit_test(test_a_backend_proves_that_it_lives),
        cmocka_unit_test(test_a_backend_gives_no_proof),
        cmocka_unit_test(test_proof_makes_room),
        cmocka_unit_test(test_a_body_waits_for_windows),
        cmocka_unit_test(test_an_answer_waits_for_its_reader),
        cmocka_unit_test(test_put_at_any_time),
        cmocka_unit_test(test_memory_is_missing),
        cmocka_unit_test(test_a_tunnel_ends_with_both_sides),
        cmocka_unit_test(test_a_tunnel_waits_for_settings),
        cmocka_unit_test(test_a_tunnel_waits_in_vain),
        cmocka_unit_test(test_a_backend_without_tunnels),
        cmocka_unit_test(test_what_a_tunnel_holds),
        cmocka_unit_test(test_tunnels_are_left),
        cmocka_unit_test(test_by_chance),
        cmocka_unit_test(test_by_chance_with_little_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
