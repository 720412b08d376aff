/* SPDX-License-Identifier: Apache-2.0 */
#include "watcher.h"

#include "server/h1/conn.h"
#include "server/backend/stream.h"

#include <netinet/in.h>
#include <unistd.h>

/* Connections that a handler takes over, with real sockets on a loop that is turned by hand. */

#define UPGRADE "GET /take HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n"

static struct fixture fix;
static struct watcher owner;
static struct mk_endpoint endpoint;
static struct mk_conn *conn;
static int client;
/* what the handler does */
static unsigned status;
static bool closes_at_once, takes_twice, has_body;
static int taken; /* what mk_request_take said */
/* of mk_request_on_taken_end */
static struct mk_taken went;
static unsigned nwent;
static int watched; /* what it said */

static void on_taken_end(void *arg, const struct mk_taken *t)
{
    assert_ptr_equal(arg, &went);
    assert_int_equal(t->size, sizeof(*t));
    went = *t;
    nwent++;
}

static int watch(const struct mk_request *r)
{
    return mk_request_on_taken_end(r, on_taken_end, &went);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_stream *second;
    struct mk_reply p;

    (void)ctx;
    (void)data;
    if (status == 0) {
        taken = mk_request_take(r, &owner.s, watcher_fn, &owner);
        return MK_VERDICT_PASS;
    }
    assert_int_equal(mk_reply_begin(&p, r, status), 0);
    assert_int_equal(mk_reply_end(&p, has_body ? 4 : 0), 0);
    if (has_body)
        assert_int_equal(mk_reply_memory(r, MK_STR("body")), 0);
    assert_int_equal(watch(r), MK_E_NOENT);
    taken = mk_request_take(r, &owner.s, watcher_fn, &owner);
    if (takes_twice)
        assert_int_equal(mk_request_take(r, &second, watcher_fn, &owner), MK_E_INVALID);
    watched = taken == 0 ? watch(r) : MK_E_NOENT;
    if (closes_at_once) {
        mk_stream_close(owner.s);
        owner.s = NULL;
        assert_int_equal(watch(r), MK_E_NOENT);
    }
    return MK_VERDICT_DONE;
}

static const struct mk_plugin taker = {MK_PLUGIN("taker", ""), .on_handle = on_handle};

static int setup(void **state)
{
    static const struct row rows[] = {{"HANDLERS", "Match", "^/take echo", 0},
                                      {NULL, NULL, NULL, 0}};

    (void)state;
    memset(&owner, 0, sizeof(owner));
    memset(&endpoint, 0, sizeof(endpoint));
    owner.f = &fix;
    endpoint.via[0].transport = endpoint.via[1].transport = &mk_transport_liana;
    status = 101;
    nwent = 0;
    closes_at_once = takes_twice = has_body = false;
    conn = NULL;
    client = -1;
    dir_make(fix.dir);
    file_write(fix.dir, "a.txt", "hello", 5);
    fixture_open(&fix, rows);
    fix.plan.snapshot.sites[0].routes[0].who.plugin = &taker;
    return 0;
}

static void find_conn(void *block, void *arg)
{
    (void)arg;
    conn = block;
}

static void accept_one(int fd)
{
    struct mk_peer peer = {.is_unix = true};

    atomic_fetch_add(&fix.server->shared.connections, 1);
    mk_conn_open(fix.worker, &endpoint, fd, &peer, false);
    mk_pool_each(&fix.worker->conns, find_conn, NULL);
}

static void say_on_pair(const char *text)
{
    int pair[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    client = pair[0];
    peer_say(client, text);
    accept_one(pair[1]);
}

/* A reset needs TCP. */
static void say_on_tcp(const char *text)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&addr, sizeof(addr)), 0);
    peer_say(client, text);
    accept_one(accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
    close(fd);
}

static void reset_client(void)
{
    struct linger now = {.l_onoff = 1};

    assert_int_equal(setsockopt(client, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    close(client);
    client = -1;
}

static int teardown(void **state)
{
    (void)state;
    mk_stream_close(owner.s);
    watcher_turns(&fix);
    if (client >= 0)
        close(client);
    watcher_turns(&fix);
    assert_int_equal(fix.worker->conns.used, 0);
    assert_int_equal(fix.worker->jobs.used, 0);
    assert_true(mk_list_is_empty(&fix.worker->streams));
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static bool begins(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The usual beginning: taken, 101 read. */
static void take_with(void (*say)(const char *text), const char *behind)
{
    char text[256];

    (void)snprintf(text, sizeof(text), "%s%s", UPGRADE, behind);
    say(text);
    watcher_turns(&fix);
    assert_int_equal(taken, 0);
    assert_int_equal(watched, 0);
    assert_int_equal(conn->state, MK_H1_TAKEN);
    assert_true(begins(peer_read(client), "HTTP/1.1 101 "));
    assert_int_equal(owner.told[0] & (MK_IO_READ | MK_IO_WRITE), MK_IO_READ | MK_IO_WRITE);
}

static void bytes_go_both_ways(void **state)
{
    (void)state;
    take_with(say_on_pair, "");
    assert_int_equal(owner.end, MK_E_AGAIN);
    assert_null(conn->job);
    assert_false(mk_timer_is_set(&conn->timer));
    peer_say(client, "ping");
    watcher_turns(&fix);
    assert_string_equal(owner.in, "ping");
    watcher_say(&owner, "pong");
    assert_string_equal(peer_read(client), "pong");
    assert_true(mk_stream_fd(owner.s) >= 0);
    mk_stream_close(owner.s);
    owner.s = NULL;
    watcher_turns(&fix);
    assert_string_equal(peer_read(client), "-");
}

/* HTTP/1.1 has no other end than this one. What was written arrives. */
static void one_that_is_aborted_is_closed(void **state)
{
    (void)state;
    take_with(say_on_pair, "");
    watcher_say(&owner, "pong");
    mk_stream_abort(owner.s);
    owner.s = NULL;
    watcher_turns(&fix);
    assert_string_equal(peer_read(client), "pong");
    assert_string_equal(peer_read(client), "-");
}

static void assert_went(bool whole, uint64_t received, uint64_t sent)
{
    assert_int_equal(nwent, 1);
    assert_int_equal(went.whole, whole);
    assert_int_equal(went.received, received);
    assert_int_equal(went.sent, sent);
}

static void its_bytes_are_told_at_its_end(void **state)
{
    (void)state;
    take_with(say_on_pair, "early");
    peer_say(client, "ping");
    watcher_turns(&fix);
    watcher_say(&owner, "pong!!");
    assert_int_equal(nwent, 0);
    mk_stream_close(owner.s);
    owner.s = NULL;
    assert_went(true, 9, 6);
    watcher_turns(&fix);
    assert_int_equal(nwent, 1);
}

static void an_end_by_its_owner_is_told_once(void **state)
{
    (void)state;
    take_with(say_on_pair, "");
    mk_stream_abort(owner.s);
    owner.s = NULL;
    watcher_turns(&fix);
    assert_went(false, 0, 0);
}

static void an_end_by_its_client_is_told_once(void **state)
{
    (void)state;
    take_with(say_on_tcp, "bye");
    reset_client();
    watcher_wait(&owner, MK_IO_ERROR);
    assert_went(false, 3, 0);
    mk_stream_close(owner.s);
    owner.s = NULL;
    assert_int_equal(nwent, 1);
}

static void an_end_before_its_beginning_is_told(void **state)
{
    (void)state;
    closes_at_once = true;
    say_on_pair(UPGRADE);
    watcher_turns(&fix);
    assert_went(true, 0, 0);
}

static void what_came_behind_the_request_is_read_first(void **state)
{
    (void)state;
    owner.idle = true;
    take_with(say_on_pair, "one");
    assert_int_equal(mk_stream_fd(owner.s), -1);
    assert_non_null(conn->job);
    peer_say(client, "two");
    watcher_turns(&fix);
    assert_int_equal(mk_stream_read(owner.s, owner.in, 2), 2);
    assert_int_equal(mk_stream_fd(owner.s), -1);
    assert_int_equal(mk_stream_read(owner.s, owner.in + 2, 100), 1);
    assert_null(conn->job);
    assert_true(mk_stream_fd(owner.s) >= 0);
    assert_int_equal(mk_stream_read(owner.s, owner.in + 3, 100), 3);
    assert_string_equal(owner.in, "onetwo");
    assert_int_equal(mk_stream_read(owner.s, owner.in, 100), MK_E_AGAIN);
}

static void answers_before_it_leave_first(void **state)
{
    const char *text;

    (void)state;
    say_on_pair("GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n" UPGRADE);
    watcher_turns(&fix);
    text = peer_read(client);
    assert_true(begins(text, "HTTP/1.1 200 "));
    text = strstr(text, "\r\n\r\nhello");
    assert_non_null(text);
    assert_true(begins(text + 9, "HTTP/1.1 101 "));
    assert_int_equal(conn->state, MK_H1_TAKEN);
}

static void a_peer_that_only_stops_sending_can_still_read(void **state)
{
    (void)state;
    take_with(say_on_pair, "");
    peer_say(client, "last");
    assert_int_equal(shutdown(client, SHUT_WR), 0);
    watcher_wait(&owner, MK_IO_HANGUP);
    assert_string_equal(owner.in, "last");
    assert_int_equal(owner.end, 0);
    watcher_say(&owner, "reply");
    assert_string_equal(peer_read(client), "reply");
    assert_false(owner.all & MK_IO_ERROR);
    mk_stream_shutdown(owner.s);
    watcher_turns(&fix);
    assert_string_equal(peer_read(client), "-");
    assert_false(owner.all & MK_IO_ERROR);
}

static void a_reset_is_the_last_event(void **state)
{
    char byte;
    unsigned ntold;

    (void)state;
    take_with(say_on_tcp, "");
    reset_client();
    watcher_wait(&owner, MK_IO_ERROR);
    assert_int_equal(owner.told[owner.ntold - 1], MK_IO_ERROR);
    assert_int_equal(mk_stream_read(owner.s, &byte, 1), MK_E_PEER);
    assert_int_equal(mk_stream_write(owner.s, &(struct iovec){&byte, 1}, 1), MK_E_PEER);
    assert_int_equal(mk_stream_fd(owner.s), -1);
    ntold = owner.ntold;
    mk_stream_run_soon(owner.s);
    mk_stream_timeout(owner.s, 1);
    watcher_turns(&fix);
    assert_int_equal(owner.ntold, ntold);
    assert_int_equal(fix.worker->conns.used, 0);
}

static void what_came_before_a_reset_can_be_read(void **state)
{
    (void)state;
    take_with(say_on_tcp, "");
    peer_say(client, "bye");
    reset_client();
    watcher_wait(&owner, MK_IO_ERROR);
    assert_string_equal(owner.in, "bye");
}

static void a_client_that_left_before_the_head_gives_an_error_alone(void **state)
{
    int pair[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
    peer_say(pair[0], UPGRADE);
    close(pair[0]);
    accept_one(pair[1]);
    watcher_turns(&fix);
    assert_int_equal(taken, 0);
    assert_int_equal(owner.ntold, 1);
    assert_int_equal(owner.told[0], MK_IO_ERROR);
}

static void timeouts_are_told_once(void **state)
{
    unsigned ntold;

    (void)state;
    take_with(say_on_pair, "");
    mk_stream_timeout(owner.s, 1);
    watcher_wait(&owner, MK_IO_TIMEOUT);
    ntold = owner.ntold;
    watcher_say(&owner, "still here");
    mk_stream_timeout(owner.s, 1);
    mk_stream_timeout(owner.s, 0);
    for (int i = 0; i < 15; i++)
        mk_loop_turn(&fix.worker->loop, 20, NULL, NULL);
    assert_int_equal(owner.ntold, ntold);
}

static void a_stop_is_told_first_and_cuts_later(void **state)
{
    (void)state;
    take_with(say_on_pair, "");
    mk_conn_stop(conn);
    watcher_turns(&fix);
    assert_int_equal(owner.told[owner.ntold - 1], MK_IO_HANGUP);
    watcher_say(&owner, "goodbye");
    mk_conn_close(conn, MK_CLOSE_STOPPING);
    assert_int_equal(owner.told[owner.ntold - 1], MK_IO_ERROR);
    watcher_turns(&fix);
    assert_string_equal(peer_read(client), "goodbye");
    assert_string_equal(peer_read(client), "-");
}

static void a_tunnel_that_begins_while_the_server_stops_is_told(void **state)
{
    (void)state;
    fix.worker->stopping = true;
    say_on_pair(UPGRADE);
    watcher_turns(&fix);
    assert_int_equal(owner.told[0] & (MK_IO_READ | MK_IO_WRITE), MK_IO_READ | MK_IO_WRITE);
    assert_true(owner.all & MK_IO_HANGUP);
    fix.worker->stopping = false;
}

static void it_may_be_closed_inside_any_event(void **state)
{
    (void)state;
    owner.closes_on = MK_IO_WRITE;
    say_on_pair(UPGRADE);
    watcher_turns(&fix);
    assert_null(owner.s);
    assert_int_equal(owner.ntold, 1);
    assert_true(begins(peer_read(client), "HTTP/1.1 101 "));
    assert_string_equal(peer_read(client), "-");
}

static void it_may_be_closed_inside_its_last_event(void **state)
{
    (void)state;
    owner.closes_on = MK_IO_ERROR;
    take_with(say_on_tcp, "");
    reset_client();
    watcher_wait(&owner, MK_IO_ERROR);
    assert_null(owner.s);
}

static void closed_by_its_handler_it_ends_behind_the_head(void **state)
{
    (void)state;
    closes_at_once = true;
    say_on_pair(UPGRADE "no request any more");
    watcher_turns(&fix);
    assert_int_equal(owner.ntold, 0);
    assert_true(begins(peer_read(client), "HTTP/1.1 101 "));
    assert_string_equal(peer_read(client), "-");
}

/* A close with unread input would reset the connection, and what was written might be lost. */
static void a_close_lets_the_peer_read(void **state)
{
    (void)state;
    owner.idle = true;
    take_with(say_on_tcp, "never read");
    peer_say(client, "neither");
    watcher_turns(&fix);
    watcher_say(&owner, "farewell");
    mk_stream_close(owner.s);
    owner.s = NULL;
    watcher_turns(&fix);
    peer_say(client, "nor this");
    watcher_turns(&fix);
    assert_string_equal(peer_read(client), "farewell");
    assert_string_equal(peer_read(client), "-");
    assert_int_equal(conn->state, MK_H1_LINGER);
}

static void room_is_told_when_the_peer_reads(void **state)
{
    char bytes[4096] = "", sink[4096];
    struct iovec part = {bytes, sizeof(bytes)};
    ssize_t n;
    unsigned ntold;

    (void)state;
    take_with(say_on_pair, "");
    while ((n = mk_stream_write(owner.s, &part, 1)) > 0)
        ;
    assert_int_equal(n, MK_E_AGAIN);
    ntold = owner.ntold;
    watcher_turns(&fix);
    assert_int_equal(owner.ntold, ntold);
    while (recv(client, sink, sizeof(sink), MSG_DONTWAIT) > 0)
        ;
    watcher_turns(&fix);
    assert_true(owner.ntold > ntold);
    assert_true(owner.told[owner.ntold - 1] & MK_IO_WRITE);
    assert_true(mk_stream_write(owner.s, &part, 1) > 0);
}

static void another_owner_can_be_told(void **state)
{
    struct watcher heir = {.f = &fix};

    (void)state;
    take_with(say_on_pair, "");
    heir.s = owner.s;
    watcher_turns(&fix);
    mk_stream_tell(owner.s, watcher_fn, &heir);
    mk_stream_run_soon(owner.s);
    mk_stream_run_soon(owner.s);
    assert_int_equal(heir.ntold, 0);
    watcher_turns(&fix);
    assert_int_equal(heir.ntold, 1);
    assert_int_equal(heir.told[0], MK_IO_READ | MK_IO_WRITE);
}

static void it_is_refused_when_it_is_not_the_time(void **state)
{
    static const struct {
        const char *sentence, *in;
        unsigned status;
        bool has_body;
    } rows[] = {
        {"another status", UPGRADE, 200, false},
        {"no answer", UPGRADE, 0, false},
        {"a body not read", "POST /take HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", 101,
         false},
        {"an answer with a body", UPGRADE, 200, true},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        status = rows[i].status;
        has_body = rows[i].has_body;
        taken = 1;
        say_on_pair(rows[i].in);
        watcher_turns(&fix);
        if (taken != MK_E_INVALID)
            fail_msg("%s: %d", rows[i].sentence, taken);
        assert_null(owner.s);
        close(client);
        client = -1;
        watcher_turns(&fix);
    }
}

static void it_is_taken_once(void **state)
{
    (void)state;
    takes_twice = true;
    take_with(say_on_pair, "");
}

static void without_memory_it_says_so(void **state)
{
    bool refused = false;

    (void)state;
    say_on_pair("GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n"); /* so that the pools have their blocks */
    close(client);
    watcher_turns(&fix);
    for (long n = 0; n < 30 && !owner.s; n++) {
        taken = 1;
        mk_heap_fail_after(n);
        say_on_pair(UPGRADE);
        mk_heap_fail_after(-1);
        refused = refused || taken == MK_E_NOMEM;
        if (!owner.s) {
            close(client);
            watcher_turns(&fix);
        }
    }
    assert_true(refused);
    assert_non_null(owner.s);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(bytes_go_both_ways),
        CASE(one_that_is_aborted_is_closed),
        CASE(its_bytes_are_told_at_its_end),
        CASE(an_end_by_its_owner_is_told_once),
        CASE(an_end_by_its_client_is_told_once),
        CASE(an_end_before_its_beginning_is_told),
        CASE(what_came_behind_the_request_is_read_first),
        CASE(answers_before_it_leave_first),
        CASE(a_peer_that_only_stops_sending_can_still_read),
        CASE(a_reset_is_the_last_event),
        CASE(what_came_before_a_reset_can_be_read),
        CASE(a_client_that_left_before_the_head_gives_an_error_alone),
        CASE(timeouts_are_told_once),
        CASE(a_stop_is_told_first_and_cuts_later),
        CASE(a_tunnel_that_begins_while_the_server_stops_is_told),
        CASE(it_may_be_closed_inside_any_event),
        CASE(it_may_be_closed_inside_its_last_event),
        CASE(closed_by_its_handler_it_ends_behind_the_head),
        CASE(a_close_lets_the_peer_read),
        CASE(room_is_told_when_the_peer_reads),
        CASE(another_owner_can_be_told),
        CASE(it_is_refused_when_it_is_not_the_time),
        CASE(it_is_taken_once),
        CASE(without_memory_it_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
