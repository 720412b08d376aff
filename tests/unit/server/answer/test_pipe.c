/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include "server/answer/reply.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

/* Pipes as bodies of answers, over real sockets: moved by splice or read, as fast as the client takes them. */

#define GET "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define OLD "GET / HTTP/1.0\r\n\r\n"

static struct fixture fix;

static struct exchange {
    /* to be set */
    int64_t length; /* that the head promises; -1: none */
    uint64_t max;   /* of the pipe */
    bool from_socket;
    bool copied; /* its giver keeps a descriptor of its own */
    /* what comes of it */
    int writer; /* the other end of the pipe; -1: not opened yet */
    int copy;
    unsigned ended;
} now;

static void on_end(void *arg)
{
    struct exchange *e = arg;

    e->ended++;
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_reply p;
    int fds[2];

    (void)ctx;
    (void)data;
    if (now.from_socket)
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    else
        assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    now.writer = fds[1];
    now.copy = now.copied ? dup(fds[0]) : -1;
    assert_int_equal(fcntl(now.writer, F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(mk_request_on_end(r, on_end, &now), 0);
    assert_int_equal(mk_reply_begin(&p, r, 200), 0);
    assert_int_equal(mk_reply_end(&p, now.length), 0);
    assert_int_equal(mk_reply_pipe(r, fds[0], now.max), 0);
    return MK_VERDICT_DONE;
}

static const struct mk_plugin probe = {
    MK_PLUGIN("probe", "answers with a pipe"),
    .on_handle = on_handle,
};

static int set_up(void **state)
{
    static const struct row rows[] = {
        {"HANDLERS", "Match", "/ echo", 0},
        {NULL, NULL, NULL, 0},
    };

    (void)state;
    (void)signal(SIGPIPE, SIG_IGN); /* blocked in the threads of a server */
    dir_make(fix.dir);
    fixture_open(&fix, rows);
    fixture_handle(&fix, &probe, NULL);
    mk_log_set_fd(&fix.server->shared.log, open("/dev/null", O_WRONLY | O_CLOEXEC));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static void turn(void)
{
    mk_loop_turn(&fix.worker->loop, 0, NULL, NULL);
}

/* A connected pair: TCP for splice, or unix. */
static void connect_pair(int fds[2], bool tcp)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(addr);
    int listener;

    if (!tcp) {
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        return;
    }
    listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&addr, len), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&addr, &len), 0);
    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fds[0], (struct sockaddr *)&addr, len), 0);
    fds[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fds[1] >= 0);
    (void)close(listener);
}

/* Ask over a new connection. @return the client's end, non-blocking. */
static int ask(struct mk_endpoint *endpoint, const char *request, bool tcp)
{
    static const struct mk_peer peer = {.is_unix = true};
    int fds[2];

    memset(endpoint, 0, sizeof(*endpoint));
    for (int i = 0; i < 2; i++)
        endpoint->via[i].transport = &mk_transport_liana;
    now.writer = -1;
    now.ended = 0;
    connect_pair(fds, tcp);
    assert_int_equal(write(fds[0], request, strlen(request)), strlen(request));
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(fcntl(fds[1], F_SETFL, O_NONBLOCK), 0);
    atomic_fetch_add(&fix.server->shared.connections, 1);
    mk_conn_open(fix.worker, endpoint, fds[1], &peer, false);
    for (int i = 0; i < 1000 && now.writer < 0; i++)
        turn();
    assert_true(now.writer >= 0);
    return fds[0];
}

struct taken {
    char *p;
    size_t len, cap;
    bool ended, reset;
};

static void take(struct taken *t, int fd, size_t most)
{
    while (most > 0 && !t->ended && !t->reset) {
        ssize_t n;

        if (t->len + 65536 > t->cap) {
            t->cap = (t->len + 65536) * 2;
            t->p = realloc(t->p, t->cap);
            assert_non_null(t->p);
        }
        n = read(fd, t->p + t->len, most < 65536 ? most : 65536);
        if (n < 0 && errno == EAGAIN)
            return;
        t->ended = n == 0;
        t->reset = n < 0;
        t->len += n > 0 ? (size_t)n : 0;
        most -= n > 0 ? (size_t)n : 0;
    }
}

/* What has left the server may still be on its way through the kernel. */
static void take_the_rest(struct taken *t, int fd)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};

    take(t, fd, SIZE_MAX);
    while (!t->ended && !t->reset && poll(&readable, 1, 200) == 1)
        take(t, fd, SIZE_MAX);
}

static size_t give(size_t at, size_t len)
{
    char piece[4096];
    size_t given = 0;

    while (given < len) {
        size_t part = len - given < sizeof(piece) ? len - given : sizeof(piece);
        ssize_t n;

        for (size_t i = 0; i < part; i++)
            piece[i] = file_byte(at + given + i);
        n = write(now.writer, piece, part);
        if (n <= 0)
            break;
        given += (size_t)n;
    }
    return given;
}

/* Take the chunks apart, in place. */
static void unchunk(struct taken *t, size_t body)
{
    size_t to = body, from = body;

    for (;;) {
        char *end;
        size_t n = strtoul(t->p + from, &end, 16);

        assert_memory_equal(end, "\r\n", 2);
        from = (size_t)(end - t->p) + 2;
        assert_true(from + n + 2 <= t->len);
        if (n == 0)
            break;
        memmove(t->p + to, t->p + from, n);
        to += n;
        from += n;
        assert_memory_equal(t->p + from, "\r\n", 2);
        from += 2;
    }
    assert_int_equal(from + 2, t->len);
    t->len = to;
}

static size_t body_of(const struct taken *t)
{
    const char *end = memmem(t->p, t->len, "\r\n\r\n", 4);

    assert_non_null(end);
    return (size_t)(end + 4 - t->p);
}

static void check_body(struct taken *t, size_t len)
{
    size_t body = body_of(t);

    if (memmem(t->p, body, "chunked", 7))
        unchunk(t, body);
    assert_int_equal(t->len - body, len);
    for (size_t i = 0; i < len; i++)
        assert_int_equal(t->p[body + i], file_byte(i));
}

static void finish(int client, struct taken *t)
{
    (void)close(client);
    if (now.writer >= 0)
        (void)close(now.writer);
    for (int i = 0; i < 1000 && atomic_load(&fix.server->shared.connections) > 0; i++)
        turn();
    assert_int_equal(atomic_load(&fix.server->shared.connections), 0);
    assert_int_equal(now.ended, 1);
    free(t->p);
}

static const struct way {
    const char *sentence, *request;
    bool tcp, from_socket, promised;
} ways[] = {
    {"spliced, of a known length", GET, true, false, true},
    {"spliced, until close", OLD, true, false, false},
    {"read, in chunks", GET, true, false, false},
    {"from a socket", GET, true, true, true},
    {"over a unix socket", OLD, false, false, false},
    {"from a socket in chunks over a unix socket", GET, false, true, false},
};

/* A writer and a reader that are each slower than the other at times. */
static void all_bytes_come_in_order(void **state)
{
    enum { TOTAL = 3000000 };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(ways); i++) {
        struct mk_endpoint endpoint;
        struct taken t = {0};
        size_t given = 0;
        int client;

        now = (struct exchange){.length = ways[i].promised ? TOTAL : -1,
                                .max = i % 2 ? UINT64_MAX : TOTAL,
                                .from_socket = ways[i].from_socket};
        client = ask(&endpoint, ways[i].request, ways[i].tcp);
        for (int round = 0; round < 100000 && !t.ended; round++) {
            size_t want = TOTAL - given < 30000 ? TOTAL - given : 30000;

            if (given < TOTAL && round % 7 != 3)
                given += give(given, want);
            if (given == TOTAL && now.writer >= 0) {
                (void)close(now.writer);
                now.writer = -1;
            }
            turn();
            if (round % 5 != 1)
                take(&t, client, (size_t)(round % 11 + 1) * 9000);
            if (now.ended && !strstr(ways[i].request, "1.0") && round % 50 == 49)
                break; /* the connection stays */
        }
        take_the_rest(&t, client);
        if (given != TOTAL || !now.ended)
            fail_msg("%s: given %zu, taken %zu", ways[i].sentence, given, t.len);
        check_body(&t, TOTAL);
        finish(client, &t);
    }
}

/* What the client does not read stays in the pipe, and so with its writer. */
static void a_slow_client_makes_the_writer_wait(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(ways); i++) {
        struct mk_endpoint endpoint;
        struct taken t = {0};
        size_t given = 0, before = 1;
        int client;

        now =
            (struct exchange){.length = -1, .max = UINT64_MAX, .from_socket = ways[i].from_socket};
        client = ask(&endpoint, ways[i].request, ways[i].tcp);
        for (int still = 0; still < 20 && given < 64 << 20;
             still = given == before ? still + 1 : 0) {
            before = given;
            given += give(given, 1 << 20);
            turn();
        }
        if (given > 32 << 20)
            fail_msg("%s: %zu bytes were taken from the writer", ways[i].sentence, given);
        (void)close(now.writer);
        now.writer = -1;
        for (int round = 0; round < 10000 && !now.ended; round++) {
            take(&t, client, 100000);
            turn();
        }
        for (int round = 0; round < 100; round++) {
            turn();
            take(&t, client, SIZE_MAX);
        }
        check_body(&t, given);
        finish(client, &t);
    }
}

static void the_head_does_not_wait_for_the_pipe(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(ways); i++) {
        struct mk_endpoint endpoint;
        struct taken t = {0};
        int client;

        now =
            (struct exchange){.length = -1, .max = UINT64_MAX, .from_socket = ways[i].from_socket};
        client = ask(&endpoint, ways[i].request, ways[i].tcp);
        for (int round = 0; round < 100; round++) {
            turn();
            take(&t, client, SIZE_MAX);
        }
        (void)body_of(&t);
        assert_int_equal(now.ended, 0);
        assert_int_equal(give(0, 5), 5);
        for (int round = 0; round < 100; round++) {
            turn();
            take(&t, client, SIZE_MAX);
        }
        assert_non_null(memmem(t.p, t.len, "ahovc", 5));
        finish(client, &t);
    }
}

static void a_client_that_leaves_ends_the_pipe(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(ways); i++) {
        static const struct linger at_once = {1, 0};
        struct mk_endpoint endpoint;
        struct taken t = {0};
        int client;

        now =
            (struct exchange){.length = -1, .max = UINT64_MAX, .from_socket = ways[i].from_socket};
        client = ask(&endpoint, ways[i].request, ways[i].tcp);
        (void)setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
        (void)close(client);
        for (int round = 0; round < 1000 && !now.ended; round++) {
            (void)give(0, 10000);
            turn();
        }
        assert_int_equal(now.ended, 1);
        turn();
        assert_int_equal(give(0, 1), 0); /* nobody has the other end */
        finish(-1, &t);
    }
}

/* Without a length only a reset tells that the answer is not whole. */
static void a_pipe_that_ends_early_breaks_the_answer_off(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(ways); i++) {
        struct mk_endpoint endpoint;
        struct taken t = {0};
        int client;

        now = (struct exchange){.length = -1, .max = 100, .from_socket = ways[i].from_socket};
        client = ask(&endpoint, ways[i].request, ways[i].tcp);
        assert_int_equal(give(0, 99), 99);
        (void)close(now.writer);
        now.writer = -1;
        for (int round = 0; round < 1000 && !t.ended && !t.reset; round++) {
            turn();
            take(&t, client, SIZE_MAX);
        }
        assert_int_equal(now.ended, 1);
        if (ways[i].tcp && strstr(ways[i].request, "1.0"))
            assert_true(t.reset);
        else
            assert_true(t.len == 0 || !memmem(t.p, t.len, "\r\n0\r\n\r\n", 7));
        finish(client, &t);
    }
}

/* A descriptor that a child process has, say, keeps the pipe alive: it must be no business of ours any more. */
static void a_copy_of_the_descriptor_wakes_nobody(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(ways); i++) {
        struct mk_endpoint endpoint;
        struct taken t = {0};
        int client;

        now = (struct exchange){
            .length = -1, .max = UINT64_MAX, .from_socket = ways[i].from_socket, .copied = true};
        client = ask(&endpoint, ways[i].request, ways[i].tcp);
        (void)close(client);
        for (int round = 0; round < 1000 && !now.ended; round++) {
            (void)give(0, 10000);
            turn();
        }
        assert_int_equal(now.ended, 1);
        turn();
        (void)give(0, 10000);
        turn();
        (void)close(now.copy);
        finish(-1, &t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_bytes_come_in_order),
        cmocka_unit_test(a_slow_client_makes_the_writer_wait),
        cmocka_unit_test(the_head_does_not_wait_for_the_pipe),
        cmocka_unit_test(a_client_that_leaves_ends_the_pipe),
        cmocka_unit_test(a_copy_of_the_descriptor_wakes_nobody),
        cmocka_unit_test(a_pipe_that_ends_early_breaks_the_answer_off),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
