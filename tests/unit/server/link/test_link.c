/* SPDX-License-Identifier: Apache-2.0 */
#include "loopback.h"

#include "setup/snapshot.h"

/* What a transport is asked, and when. */

static struct {
    unsigned nopen, nclose, nrecv, nshutdown;
    const struct mk_context *ctx;
    int fd_at_close;
    bool refuses, waits, pending, drained;
    const char *input;
} seen;

static int spy_open(struct mk_link *l, const struct mk_context *ctx, const char *name)
{
    assert_null(name);
    assert_null(l->state);
    assert_false(l->is_client);
    seen.nopen++;
    seen.ctx = ctx;
    if (seen.refuses)
        return MK_E_NOMEM;
    l->state = &seen;
    return 0;
}

static ssize_t spy_recv(struct mk_link *l, void *buf, size_t len)
{
    size_t n = seen.input ? strlen(seen.input) : 0;

    seen.nrecv++;
    l->waits_for = seen.waits ? MK_IO_WRITE : 0;
    if (n == 0 || seen.waits)
        return MK_E_AGAIN;
    if (seen.pending) /* a byte at a time, and more inside */
        n = 1;
    assert_true(n <= len);
    assert_false(l->is_drained);
    if (seen.drained)
        l->is_drained = true;
    seen.drained = false;
    memcpy(buf, seen.input, n);
    seen.input += n;
    return (ssize_t)n;
}

static ssize_t spy_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    ssize_t n = 0;

    (void)more;
    assert_ptr_equal(l->state, &seen);
    for (int i = 0; i < niov; i++)
        n += (ssize_t)iov[i].iov_len;
    return n;
}

static void spy_close(struct mk_link *l)
{
    assert_ptr_equal(l->state, &seen);
    seen.nclose++;
    seen.fd_at_close = l->fd;
}

static void spy_facts(const struct mk_link *l, struct mk_link_facts *facts)
{
    assert_ptr_equal(l->state, &seen);
    facts->tls_version = "SPYv1";
    facts->client_subject = MK_STR("CN=spy");
}

static const struct mk_transport spy = {
    .size = sizeof(struct mk_transport),
    .name = "spy",
    .open = spy_open,
    .recv = spy_recv,
    .send = spy_send,
    .close = spy_close,
    .facts = spy_facts,
};

static struct loopback open_spy(struct fixture *f, const char *input)
{
    struct loopback lb;

    seen.input = input;
    loopback_init(&lb, f->worker, MK_STR(""));
    lb.endpoint.via[0].transport = lb.endpoint.via[1].transport = &spy;
    return lb;
}

static int setup(void **state)
{
    static struct fixture f;

    memset(&seen, 0, sizeof(seen));
    dir_make(f.dir);
    file_write(f.dir, "a.txt", "hello", 5);
    fixture_open(&f, NULL);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    fixture_close(f);
    dir_remove(f->dir);
    return 0;
}

static void a_link_lives_as_long_as_its_connection(void **state)
{
    struct fixture *f = *state;
    struct loopback lb = open_spy(f, "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");

    loopback_open(&lb);
    assert_int_equal(seen.nopen, 1);
    assert_ptr_equal(seen.ctx->worker, f->worker);
    assert_ptr_equal(seen.ctx->server, f->server);
    assert_int_equal(seen.nclose, 0);
    assert_int_equal(lb.conn->requests, 1);
    loopback_close(&lb);
    assert_int_equal(seen.nclose, 1);
    assert_true(seen.fd_at_close >= 0);
}

static void a_link_that_cannot_begin_ends_the_connection(void **state)
{
    struct fixture *f = *state;
    struct loopback lb = open_spy(f, NULL);

    seen.refuses = true;
    loopback_open(&lb);
    assert_int_equal(seen.nopen, 1);
    assert_true(loopback_is_closed(&lb));
    loopback_close(&lb);
    assert_int_equal(seen.nclose, 0);
    assert_int_equal(f->worker->conns.used, 0);
}

static void recv_is_asked_again_when_there_is_room_for_what_it_must_send(void **state)
{
    struct fixture *f = *state;
    struct loopback lb = open_spy(f, "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");

    seen.waits = true;
    loopback_open(&lb);
    assert_int_equal(seen.nrecv, 1);
    assert_true(lb.conn->wants_out);
    seen.waits = false;
    lb.conn->watch.on_event(&lb.conn->watch, EPOLLOUT);
    assert_int_equal(lb.conn->requests, 1);
    loopback_close(&lb);
}

static void what_is_pending_inside_needs_no_event(void **state)
{
    struct fixture *f = *state;
    struct loopback lb = open_spy(f, "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");

    seen.pending = true;
    loopback_open(&lb);
    assert_int_equal(lb.conn->requests, 1);
    loopback_close(&lb);
}

/* The first recv says so, the second, of an event later, does not; and there was no event for what the third finds. */
static void a_link_is_drained_only_by_the_word_of_the_last_recv(void **state)
{
    struct fixture *f = *state;
    struct loopback lb = open_spy(f, "GET /a.txt HTTP/1.1\r\nHost: a\r\n\r\n");

    seen.drained = seen.pending = true;
    loopback_open(&lb);
    assert_int_equal(seen.nrecv, 1);
    assert_int_equal(lb.conn->requests, 0);
    lb.conn->watch.on_event(&lb.conn->watch, EPOLLIN);
    assert_int_equal(lb.conn->requests, 1);
    loopback_close(&lb);
}

static void facts_come_from_connection_and_transport(void **state)
{
    struct fixture *f = *state;
    struct loopback lb = open_spy(f, NULL);
    struct mk_conn_facts facts = {.size = sizeof(facts)}, half = {.size = 16, .requests = 77};
    char text[MK_PEER_TEXT];

    lb.peer = (struct mk_peer){.ip = {[10] = 255, 255, 192, 0, 2, 1}, .port = 4711};
    (void)snprintf(lb.endpoint.text, sizeof(lb.endpoint.text), "127.0.0.1:80");
    loopback_open(&lb);
    mk_conn_facts(lb.conn, &facts);
    assert_int_equal(facts.id, lb.conn->id);
    assert_ptr_equal(facts.worker, f->worker);
    assert_ptr_equal(facts.server, f->server);
    assert_int_equal(facts.peer_ip[15], 1);
    assert_int_equal(facts.peer_port, 4711);
    assert_false(facts.peer_is_unix);
    assert_string_equal(facts.listen, "127.0.0.1:80");
    assert_string_equal(facts.transport, "spy");
    assert_string_equal(facts.tls_version, "SPYv1");
    assert_null(facts.tls_cipher);
    assert_int_equal(facts.client_subject.len, 6);
    assert_int_equal(facts.requests, 0);
    mk_conn_facts(lb.conn, &half); /* as an older plugin asks, which knows less */
    assert_int_equal(half.id, lb.conn->id);
    assert_int_equal(half.requests, 77);
    lb.conn->link.state = NULL; /* as in stage 10, before the transport begins: it is not asked */
    facts.tls_version = "old";
    mk_conn_facts(lb.conn, &facts);
    assert_null(facts.tls_version);
    assert_string_equal(facts.transport, "spy");
    lb.conn->link.state = &seen;
    assert_int_equal(mk_conn_peer(lb.conn, text), 9);
    assert_string_equal(text, "192.0.2.1");
    loopback_close(&lb);
}

static void a_reload_changes_what_carries_new_connections(void **state)
{
    struct fixture *f = *state;
    struct mk_server_settings set = {.nlistens = 0};
    struct mk_listen listen = {.text = "127.0.0.1:0", .via = {.transport = &mk_transport_liana}};
    struct mk_listener *l;
    char why[64];

    assert_int_equal(mk_addr_parse(mk_str_from(listen.text), &listen.addr), 0);
    f->server->snapshot->set.listens = &listen;
    f->server->snapshot->set.nlistens = 1;
    assert_int_equal(mk_server_listen(f->server), 0);
    l = f->server->listeners;
    assert_ptr_equal(l->endpoint.via[f->worker->view->side].transport, &mk_transport_liana);
    set.listens = &listen;
    set.nlistens = 1;
    listen.via.transport = &spy;
    assert_int_equal(mk_listeners_open(f->server, &set, why, sizeof(why)), 0);
    assert_ptr_equal(f->server->listeners, l);
    assert_ptr_equal(l->endpoint.via[f->worker->view->side].transport, &mk_transport_liana);
    assert_ptr_equal(l->endpoint.via[!f->worker->view->side].transport, &spy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_link_lives_as_long_as_its_connection, setup, teardown),
        cmocka_unit_test_setup_teardown(a_link_that_cannot_begin_ends_the_connection, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            recv_is_asked_again_when_there_is_room_for_what_it_must_send, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_pending_inside_needs_no_event, setup, teardown),
        cmocka_unit_test_setup_teardown(a_link_is_drained_only_by_the_word_of_the_last_recv, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(facts_come_from_connection_and_transport, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reload_changes_what_carries_new_connections, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
