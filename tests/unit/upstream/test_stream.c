/* SPDX-License-Identifier: Apache-2.0 */
#define MK_PLUGIN_STATIC
#include "watcher.h"

#include "base/limits.h"
#include "server/backend/stream.h"

#include <monkey/protocol.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <unistd.h>

/* Connections that are dialled, to listeners of the test on a loop that is turned by hand. */

static struct fixture fix;
static struct watcher owner;
static int server = -1, peer = -1; /* who listens, and what it accepted */

/* ---- a transport that shakes hands ---- */

static struct {
    ssize_t says; /* what send says of the handshake */
    unsigned nopen, nclose, nasked;
    char name[32], offer[32];
    bool waits_to_write;
} hands;

static const char *wanted; /* mk_dial.protocol */

static int shaking_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    const struct mk_str offer = mk_link_offer(l);

    assert_true(l->is_client);
    assert_ptr_equal(ctx->worker, fix.worker);
    hands.nopen++;
    (void)snprintf(hands.name, sizeof(hands.name), "%s", name ? name : "(none)");
    (void)snprintf(hands.offer, sizeof(hands.offer), "%.*s", (int)offer.len,
                   offer.p ? offer.p : "");
    return hands.says == MK_E_NOMEM ? MK_E_NOMEM : 0;
}

static ssize_t shaking_recv(struct mk_link *l, void *buf, size_t len)
{
    ssize_t n = recv(l->fd, buf, len, 0);

    l->waits_for = hands.waits_to_write ? MK_IO_WRITE : 0;
    return n >= 0 ? n : MK_E_AGAIN;
}

static ssize_t shaking_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    (void)more;
    if (niov == 0) {
        hands.nasked++;
        return hands.says;
    }
    return send(l->fd, iov->iov_base, iov->iov_len, MSG_NOSIGNAL);
}

static void shaking_close(struct mk_link *l)
{
    assert_true(l->fd >= 0);
    hands.nclose++;
}

static const struct mk_transport shaking = {
    .size = sizeof(struct mk_transport),
    .name = "shaking",
    .open = shaking_open,
    .recv = shaking_recv,
    .send = shaking_send,
    .close = shaking_close,
};
static const struct mk_plugin shaker = {MK_PLUGIN("shaking", ""), .transport = &shaking,
                                        .traits = MK_TRAIT_ALWAYS};
MK_PLUGIN_EXPORT(shaker);

/* ---- around each test ---- */

static int setup(void **state)
{
    (void)state;
    memset(&owner, 0, sizeof(owner));
    memset(&hands, 0, sizeof(hands));
    wanted = NULL;
    owner.f = &fix;
    server = peer = -1;
    dir_make(fix.dir);
    fixture_open(&fix, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mk_stream_close(owner.s);
    watcher_turns(&fix);
    assert_true(mk_list_is_empty(&fix.worker->streams));
    assert_int_equal(hands.nopen, hands.nclose + (hands.says == MK_E_NOMEM));
    if (server >= 0)
        close(server);
    if (peer >= 0)
        close(peer);
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static struct mk_addr listen_at(const char *text, int backlog)
{
    struct mk_addr addr;

    assert_int_equal(mk_addr_parse(mk_str_from(text), &addr), 0);
    server = socket(addr.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(server >= 0);
    assert_int_equal(bind(server, &addr.sa, addr.len), 0);
    if (backlog >= 0)
        assert_int_equal(listen(server, backlog), 0);
    addr.len = sizeof(addr.un);
    assert_int_equal(getsockname(server, &addr.sa, &addr.len), 0);
    return addr;
}

static int dial(struct watcher *w, const struct mk_addr *addr, const char *transport,
                unsigned timeout_ms)
{
    const struct mk_dial d = {.size = sizeof(d),
                              .addr = &addr->sa,
                              .addr_len = addr->len,
                              .transport = transport,
                              .name = "backend",
                              .timeout_ms = timeout_ms,
                              .protocol = wanted};
    int err = mk_stream_dial(&w->s, fix.worker, &d, watcher_fn, w);

    assert_int_equal(w->ntold, 0); /* never before the call has returned */
    assert_true((err == 0) == (w->s != NULL));
    return err;
}

static void accept_peer(void)
{
    peer = accept4(server, NULL, NULL, SOCK_CLOEXEC);
    assert_true(peer >= 0);
}

/* Dial, be connected, be accepted. */
static void connect_to(const char *text, const char *transport)
{
    struct mk_addr addr = listen_at(text, 8);

    assert_int_equal(dial(&owner, &addr, transport, 1000), 0);
    watcher_wait(&owner, MK_IO_WRITE);
    assert_int_equal(owner.told[0] & (MK_IO_READ | MK_IO_WRITE), MK_IO_READ | MK_IO_WRITE);
    accept_peer();
}

static void talk(void)
{
    watcher_say(&owner, "ping");
    watcher_turns(&fix);
    assert_string_equal(peer_read(peer), "ping");
    owner.all = 0;
    peer_say(peer, "pong");
    watcher_wait(&owner, MK_IO_READ);
    assert_string_equal(owner.in, "pong");
    assert_int_equal(owner.end, MK_E_AGAIN);
}

/* ---- tests ---- */

static void every_kind_of_address_is_reached(void **state)
{
    static const char *const texts[] = {"127.0.0.1:0", "[::1]:0", NULL};
    char path[64];

    for (int i = 0; i < 3; i++) {
        (void)snprintf(path, sizeof(path), "unix:%s/socket", fix.dir);
        connect_to(texts[i] ? texts[i] : path, i == 1 ? "Liana" : NULL);
        talk();
        teardown(state);
        setup(state);
    }
}

static void sockets_are_as_promised(void **state)
{
    int one = 0, fd;
    socklen_t len = sizeof(one);

    (void)state;
    connect_to("127.0.0.1:0", NULL);
    fd = mk_stream_fd(owner.s);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, &len), 0);
    assert_true(one);
    assert_int_equal(mk_stream_error(owner.s), 0);
}

static void the_end_is_told_and_read(void **state)
{
    (void)state;
    connect_to("127.0.0.1:0", NULL);
    peer_say(peer, "all");
    assert_int_equal(shutdown(peer, SHUT_WR), 0);
    watcher_wait(&owner, MK_IO_HANGUP);
    assert_string_equal(owner.in, "all");
    assert_int_equal(owner.end, 0);
    watcher_say(&owner, "more");
    mk_stream_shutdown(owner.s);
    watcher_turns(&fix);
    assert_string_equal(peer_read(peer), "more");
    assert_string_equal(peer_read(peer), "-");
    assert_false(owner.all & MK_IO_ERROR);
}

/* A short read that saw the end's announcement must not hide what stands behind it. */
static void input_and_its_end_may_come_together(void **state)
{
    (void)state;
    connect_to("127.0.0.1:0", NULL);
    owner.idle = true;
    peer_say(peer, "all");
    close(peer);
    peer = -1;
    watcher_wait(&owner, MK_IO_HANGUP);
    assert_int_equal(mk_stream_read(owner.s, owner.in, 100), 3);
    assert_int_equal(mk_stream_read(owner.s, owner.in, 100), 0);
}

/* One call takes no more parts than its bound; what it took is what it says. */
static void parts_of_a_write_are_bounded(void **state)
{
    static const int rows[] = {MK_LIMIT_STREAM_PARTS - 1, MK_LIMIT_STREAM_PARTS,
                               MK_LIMIT_STREAM_PARTS + 1, 1500};
    static char text[1500];
    struct iovec parts[MK_ARRAY_LEN(text)];

    (void)state;
    connect_to("127.0.0.1:0", NULL);
    for (size_t i = 0; i < MK_ARRAY_LEN(text); i++) {
        text[i] = (char)('a' + i % 26);
        parts[i] = (struct iovec){&text[i], 1};
    }
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        int taken = rows[i] < MK_LIMIT_STREAM_PARTS ? rows[i] : MK_LIMIT_STREAM_PARTS;
        const char *heard;

        assert_int_equal(mk_stream_write(owner.s, parts, rows[i]), taken);
        watcher_turns(&fix);
        heard = peer_read(peer);
        assert_int_equal(strlen(heard), taken);
        assert_memory_equal(heard, text, (size_t)taken);
    }
}

static void a_reset_is_the_last_event(void **state)
{
    struct linger now = {.l_onoff = 1};

    (void)state;
    connect_to("127.0.0.1:0", NULL);
    peer_say(peer, "bye");
    assert_int_equal(setsockopt(peer, SOL_SOCKET, SO_LINGER, &now, sizeof(now)), 0);
    close(peer);
    peer = -1;
    watcher_wait(&owner, MK_IO_ERROR);
    assert_string_equal(owner.in, "bye");
    assert_int_equal(owner.told[owner.ntold - 1], MK_IO_ERROR);
    assert_int_equal(mk_stream_read(owner.s, owner.in, 1), MK_E_PEER);
    assert_int_equal(mk_stream_fd(owner.s), -1);
    mk_stream_shutdown(owner.s);
    mk_stream_run_soon(owner.s);
    watcher_turns(&fix);
}

static void a_refusal_is_told(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", -1); /* bound, but nobody listens */
    int err = dial(&owner, &addr, NULL, 1000);

    (void)state;
    if (err == MK_E_PEER) { /* loopback may know at once */
        assert_int_equal(errno, ECONNREFUSED);
        return;
    }
    assert_int_equal(err, 0);
    watcher_wait(&owner, MK_IO_ERROR);
    assert_int_equal(owner.ntold, 1);
    assert_int_equal(owner.told[0], MK_IO_ERROR);
    assert_int_equal(mk_stream_error(owner.s), ECONNREFUSED);
}

static void what_cannot_be_is_said_at_once(void **state)
{
    struct mk_addr addr;
    char path[64];

    (void)state;
    (void)snprintf(path, sizeof(path), "unix:%s/nobody", fix.dir);
    assert_int_equal(mk_addr_parse(mk_str_from(path), &addr), 0);
    assert_int_equal(dial(&owner, &addr, NULL, 0), MK_E_PEER);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(dial(&owner, &addr, "rope", 0), MK_E_UNSUPPORTED);
    addr.sa.sa_family = AF_MAX;
    assert_int_equal(dial(&owner, &addr, NULL, 0), MK_E_PEER);
    watcher_turns(&fix);
}

static void a_full_queue_is_told(void **state)
{
    struct watcher crowd[8] = {{.s = NULL}};
    struct mk_addr addr;
    char path[64];
    int err = 0;

    (void)state;
    (void)snprintf(path, sizeof(path), "unix:%s/socket", fix.dir);
    addr = listen_at(path, 1);
    for (size_t i = 0; i < MK_ARRAY_LEN(crowd) && err == 0; i++) {
        crowd[i].f = &fix;
        err = dial(&crowd[i], &addr, NULL, 0);
    }
    assert_int_equal(err, MK_E_BUSY);
    for (size_t i = 0; i < MK_ARRAY_LEN(crowd); i++)
        mk_stream_close(crowd[i].s);
}

static void a_dial_has_its_time(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 0);
    int fill[4];

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(fill); i++) { /* then the kernel drops what comes */
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(fill[i], &addr.sa, addr.len);
    }
    assert_int_equal(dial(&owner, &addr, NULL, 100), 0);
    watcher_wait(&owner, MK_IO_TIMEOUT);
    assert_int_equal(owner.ntold, 1);
    assert_int_equal(owner.told[0], MK_IO_TIMEOUT);
    assert_int_equal(mk_stream_error(owner.s), ETIMEDOUT);
    assert_int_equal(mk_stream_read(owner.s, owner.in, 1), MK_E_PEER);
    for (size_t i = 0; i < MK_ARRAY_LEN(fill); i++)
        close(fill[i]);
}

static void its_time_ends_with_the_connection(void **state)
{
    (void)state;
    connect_to("127.0.0.1:0", NULL);
    assert_false(mk_timer_is_set(&owner.s->timer));
    mk_stream_timeout(owner.s, 1);
    owner.all = 0;
    watcher_wait(&owner, MK_IO_TIMEOUT);
    talk();
}

static void nothing_moves_before_it_is_connected(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);
    char byte = 'x';

    (void)state;
    hands.says = MK_E_AGAIN;
    assert_int_equal(dial(&owner, &addr, "shaking", 0), 0);
    assert_int_equal(mk_stream_read(owner.s, &byte, 1), MK_E_AGAIN);
    assert_int_equal(mk_stream_write(owner.s, &(struct iovec){&byte, 1}, 1), MK_E_AGAIN);
    assert_int_equal(mk_stream_fd(owner.s), -1);
    mk_stream_run_soon(owner.s);
    watcher_turns(&fix);
    assert_int_equal(owner.ntold, 0);
}

static void a_handshake_is_part_of_connecting(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);

    (void)state;
    hands.says = MK_E_AGAIN;
    assert_int_equal(dial(&owner, &addr, "Shaking", 0), 0);
    assert_string_equal(hands.name, "backend");
    watcher_turns(&fix);
    accept_peer();
    assert_true(hands.nasked > 0);
    assert_int_equal(owner.ntold, 0);
    hands.says = 0;
    peer_say(peer, "hello"); /* also bytes that came with the end of the handshake */
    watcher_wait(&owner, MK_IO_WRITE);
    assert_string_equal(owner.in, "hello");
    assert_int_equal(mk_stream_fd(owner.s), -1); /* not plain */
    owner.in_len = 0;
    talk();
}

static void a_handshake_may_fail(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);

    (void)state;
    hands.says = MK_E_PEER;
    assert_int_equal(dial(&owner, &addr, "shaking", 0), 0);
    watcher_wait(&owner, MK_IO_ERROR);
    assert_int_equal(owner.told[0], MK_IO_ERROR);
    assert_int_equal(mk_stream_error(owner.s), EPROTO);
    assert_int_equal(hands.nclose, 1);
}

static void a_transport_learns_which_protocol_is_wanted(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);
    char text[] = "h2";

    (void)state;
    wanted = text;
    hands.says = MK_E_UNSUPPORTED;
    assert_int_equal(dial(&owner, &addr, "shaking", 0), 0);
    text[0] = 'x'; /* it was copied */
    assert_string_equal(hands.offer, "h2");
    assert_string_equal(owner.s->protocol, "h2");
    watcher_wait(&owner, MK_IO_ERROR);
    assert_int_equal(mk_stream_error(owner.s), EPROTO);
    assert_true(owner.s->unagreed);
}

static void a_plain_transport_ignores_the_protocol(void **state)
{
    (void)state;
    wanted = "h2";
    connect_to("127.0.0.1:0", NULL);
    talk();
}

static void an_older_caller_names_no_protocol(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);
    const struct mk_dial d = {.size = offsetof(struct mk_dial, protocol),
                              .addr = &addr.sa,
                              .addr_len = addr.len,
                              .transport = "shaking",
                              .protocol = "behind the end"};

    (void)state;
    hands.says = MK_E_AGAIN;
    assert_int_equal(mk_stream_dial(&owner.s, fix.worker, &d, watcher_fn, &owner), 0);
    assert_string_equal(hands.offer, "");
}

/* RFC 7301 section 3.1: 1 to 255 bytes. */
static void a_protocols_name_fits_into_a_byte(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);
    char name[257];

    (void)state;
    memset(name, 'n', sizeof(name));
    name[256] = '\0';
    wanted = name;
    assert_int_equal(dial(&owner, &addr, "shaking", 0), MK_E_INVALID);
    wanted = "";
    assert_int_equal(dial(&owner, &addr, "shaking", 0), MK_E_INVALID);
    wanted = name;
    name[255] = '\0';
    assert_int_equal(dial(&owner, &addr, "shaking", 0), 0);
}

static void a_handshake_has_its_time(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);

    (void)state;
    hands.says = MK_E_AGAIN;
    assert_int_equal(dial(&owner, &addr, "shaking", 100), 0);
    watcher_wait(&owner, MK_IO_TIMEOUT);
    assert_int_equal(owner.ntold, 1);
    assert_int_equal(hands.nclose, 1);
}

static void a_link_that_cannot_begin_is_said_at_once(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);

    (void)state;
    hands.says = MK_E_NOMEM;
    assert_int_equal(dial(&owner, &addr, "shaking", 0), MK_E_NOMEM);
}

/* A recv that must send first goes on when there is room, and its caller only waits for input. */
static void whoever_reads_is_told_when_the_transport_can_write(void **state)
{
    (void)state;
    hands.waits_to_write = true;
    connect_to("127.0.0.1:0", "shaking");
    watcher_turns(&fix);
    owner.ntold = 0;
    owner.s->watch.on_event(&owner.s->watch, EPOLLOUT);
    assert_int_equal(owner.told[0], MK_IO_READ | MK_IO_WRITE);
}

static void it_may_be_closed_inside_any_event(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);

    (void)state;
    owner.closes_on = MK_IO_WRITE;
    assert_int_equal(dial(&owner, &addr, NULL, 0), 0);
    watcher_wait(&owner, MK_IO_WRITE);
    assert_null(owner.s);
    assert_true(mk_list_is_empty(&fix.worker->streams));
}

static void it_may_be_closed_before_it_is_connected(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);

    (void)state;
    assert_int_equal(dial(&owner, &addr, NULL, 50), 0);
    mk_stream_close(owner.s);
    owner.s = NULL;
    watcher_turns(&fix);
    assert_int_equal(owner.ntold, 0);
    mk_stream_close(NULL);
    mk_stream_abort(NULL);
}

static void a_worker_that_ends_tells_all(void **state)
{
    struct watcher other = {.f = &fix}, third = {.f = &fix}, late = {.f = &fix};
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);

    (void)state;
    assert_int_equal(dial(&owner, &addr, NULL, 0), 0);
    assert_int_equal(dial(&other, &addr, NULL, 0), 0);
    assert_int_equal(dial(&third, &addr, NULL, 0), 0);
    watcher_wait(&other, MK_IO_WRITE);
    owner.closes_on = MK_IO_ERROR; /* as the two ends of a tunnel do */
    owner.closes = &other;
    mk_streams_end(fix.worker);
    assert_null(owner.s);
    assert_null(other.s);
    assert_false(other.all & MK_IO_ERROR);
    assert_int_equal(third.told[third.ntold - 1], MK_IO_ERROR);
    assert_int_equal(mk_stream_read(third.s, third.in, 1), MK_E_PEER);
    mk_stream_close(third.s);
    assert_int_equal(dial(&late, &addr, NULL, 0), MK_E_PEER);
}

static void what_its_owner_forgets_is_freed_at_the_end(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);

    assert_int_equal(dial(&owner, &addr, NULL, 0), 0);
    watcher_turns(&fix);
    fixture_close(&fix); /* fails when memory was lost */
    assert_true(owner.all & MK_IO_ERROR);
    owner.s = NULL;
    fixture_open(&fix, NULL);
    (void)state;
}

static void without_memory_it_says_so(void **state)
{
    struct mk_addr addr = listen_at("127.0.0.1:0", 8);

    (void)state;
    mk_heap_fail_after(0);
    assert_int_equal(dial(&owner, &addr, NULL, 0), MK_E_NOMEM);
    mk_heap_fail_after(-1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(every_kind_of_address_is_reached),
        CASE(sockets_are_as_promised),
        CASE(the_end_is_told_and_read),
        CASE(input_and_its_end_may_come_together),
        CASE(parts_of_a_write_are_bounded),
        CASE(a_reset_is_the_last_event),
        CASE(a_refusal_is_told),
        CASE(what_cannot_be_is_said_at_once),
        CASE(a_full_queue_is_told),
        CASE(a_dial_has_its_time),
        CASE(its_time_ends_with_the_connection),
        CASE(nothing_moves_before_it_is_connected),
        CASE(a_handshake_is_part_of_connecting),
        CASE(a_handshake_may_fail),
        CASE(a_transport_learns_which_protocol_is_wanted),
        CASE(a_plain_transport_ignores_the_protocol),
        CASE(an_older_caller_names_no_protocol),
        CASE(a_protocols_name_fits_into_a_byte),
        CASE(a_handshake_has_its_time),
        CASE(a_link_that_cannot_begin_is_said_at_once),
        CASE(whoever_reads_is_told_when_the_transport_can_write),
        CASE(it_may_be_closed_inside_any_event),
        CASE(it_may_be_closed_before_it_is_connected),
        CASE(a_worker_that_ends_tells_all),
        CASE(what_its_owner_forgets_is_freed_at_the_end),
        CASE(without_memory_it_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
