/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_engine.h"

#include "kit/tls/plain.h"

/* ---- states ---- */

static void test_only_these_changes_are_allowed(void **state)
{
    static const char *const allowed[] = {
        /* to:             NSOEB  new, shaking, open, ending, broken */
        [TLS_LINK_NEW] = "=x.xx",    [TLS_LINK_SHAKING] = ".=xxx", [TLS_LINK_OPEN] = "..=.x",
        [TLS_LINK_ENDING] = "...=x", [TLS_LINK_BROKEN] = "....=",
    };

    (void)state;
    for (unsigned from = 0; from <= TLS_LINK_BROKEN; from++) {
        for (unsigned to = 0; to <= TLS_LINK_BROKEN; to++) {
            if (tls_link_may_become((enum tls_link_state)from, (enum tls_link_state)to) !=
                (allowed[from][to] != '.'))
                fail_msg("from %u to %u", from, to);
        }
    }
}

static void test_a_handshake_waits_for_input_between_its_steps(void **state)
{
    (void)state;
    fake_open(false);
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    assert_int_equal(fake.own->link.state, TLS_LINK_NEW);
    fake_peer_says(FAKE_HANDSHAKE, "a");
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    assert_int_equal(fake.own->link.state, TLS_LINK_SHAKING);
    assert_int_equal(fake.l.waits_for, MK_IO_READ);
    fake_expect_last(FAKE_HANDSHAKE, "hello");
    fake_peer_says(FAKE_HANDSHAKE, "b");
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    assert_int_equal(fake.own->link.state, TLS_LINK_OPEN);
    assert_int_equal(fake.l.waits_for, 0);
    fake_expect_last(FAKE_HANDSHAKE, "hello");
    fake_close();
}

/* An event tells of more only when the socket was read to its end. */
static void test_a_library_that_stops_within_the_input_is_called_again(void **state)
{
    (void)state;
    fake_open(false);
    fake.own->is_quiet = true;
    fake_peer_says(FAKE_HANDSHAKE, "a");
    fake_peer_says(FAKE_HANDSHAKE, "b");
    fake_peer_says(FAKE_DATA, "data");
    assert_int_equal(fake_recv(), 4);
    assert_true(fake.l.is_drained);
    fake_close();
}

static void test_sending_nothing_tells_whether_a_client_is_ready(void **state)
{
    (void)state;
    fake_open(true);
    assert_int_equal(tls_link_send(&fake.l, NULL, 0, false), MK_E_AGAIN);
    fake_peer_says(FAKE_HANDSHAKE, "a");
    fake_peer_says(FAKE_HANDSHAKE, "b");
    assert_int_equal(tls_link_send(&fake.l, NULL, 0, false), 0);
    assert_int_equal(fake.own->link.state, TLS_LINK_OPEN);
    fake_close();
}

/* ---- refusals ---- */

static void test_a_refused_client_gets_the_alert_and_its_input_is_thrown_away(void **state)
{
    (void)state;
    fake_open(false);
    fake_peer_says(FAKE_HANDSHAKE, "no");
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    assert_int_equal(fake.own->link.state, TLS_LINK_ENDING);
    fake_expect_last(FAKE_ALERT, "refused");
    fake_peer_says(FAKE_DATA, "what was under way");
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    assert_int_equal(tls_link_send(&fake.l, NULL, 0, false), MK_E_AGAIN);
    close(fake.peer);
    fake.peer = -1;
    assert_int_equal(fake_recv(), MK_E_PEER);
    fake_close();
}

static void test_a_backend_that_refuses_is_left_at_once(void **state)
{
    (void)state;
    fake_open(true);
    fake_peer_says(FAKE_HANDSHAKE, "no");
    assert_int_equal(fake_recv(), MK_E_PEER);
    assert_int_equal(fake.own->link.state, TLS_LINK_BROKEN);
    assert_int_equal(fake_recv(), MK_E_PEER);
    fake_close();
}

/* RFC 7301 section 3.2: a server that knows no ALPN chooses nothing. */
static void test_a_backend_has_to_agree_to_what_was_asked(void **state)
{
    static const struct {
        const char *asked, *agreed;
        int says;
    } rows[] = {
        {"h2", "h2", 0},
        {"h2", NULL, MK_E_UNSUPPORTED},
        {"h2", "http/1.1", MK_E_UNSUPPORTED},
        {"h2", "h3", MK_E_UNSUPPORTED},
        {NULL, "http/1.1", 0},
        {NULL, NULL, 0},
    };
    char got[64];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fake_open(true);
        fake.own->link.asked = mk_str_from(rows[i].asked);
        fake.own->agreed = rows[i].agreed;
        fake_peer_says(FAKE_HANDSHAKE, "a");
        fake_peer_says(FAKE_HANDSHAKE, "b");
        assert_int_equal(tls_link_send(&fake.l, NULL, 0, false), rows[i].says);
        if (rows[i].says < 0) { /* its handshake ends, and then the connection */
            assert_int_equal(recv(fake.peer, got, 2 * (FAKE_HEAD + 5), 0), 2 * (FAKE_HEAD + 5));
            fake_expect_last(FAKE_ALERT, "end");
            assert_int_equal(fake_recv(), MK_E_PEER);
        }
        fake_close();
    }
}

static void test_an_alert_may_say_that_a_protocol_is_not_spoken(void **state)
{
    (void)state;
    fake_open(true);
    fake.own->link.asked = mk_str_from("h2");
    fake.own->link.is_unagreed = true;
    fake_peer_says(FAKE_HANDSHAKE, "no");
    assert_int_equal(tls_link_send(&fake.l, NULL, 0, false), MK_E_UNSUPPORTED);
    fake_close();
}

static void test_input_behind_the_end_has_a_limit(void **state)
{
    static char bytes[4096];
    ssize_t n = MK_E_AGAIN;
    size_t sent = 0;

    (void)state;
    fake_open(false);
    fake_peer_says(FAKE_HANDSHAKE, "no");
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    while (n == MK_E_AGAIN && sent < 2 * TLS_DRAIN_MAX) {
        assert_int_equal(send(fake.peer, bytes, sizeof(bytes), MSG_NOSIGNAL), sizeof(bytes));
        sent += sizeof(bytes);
        n = fake_recv();
    }
    assert_int_equal(n, MK_E_PEER);
    assert_int_equal(sent, TLS_DRAIN_MAX + sizeof(bytes));
    fake_close();
}

static void test_a_request_in_the_clear_is_answered_in_the_clear(void **state)
{
    char got[TLS_PLAIN_MAX + 1] = "";

    (void)state;
    fake_open(false);
    assert_int_equal(send(fake.peer, "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 16);
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    assert_int_equal(fake.own->link.state, TLS_LINK_ENDING);
    assert_true(recv(fake.peer, got, TLS_PLAIN_MAX, 0) > 0);
    assert_int_equal(strncmp(got, "HTTP/1.1 400 ", 13), 0);
    assert_int_equal(recv(fake.peer, got, 1, 0), 0); /* and we said that no more comes */
    fake_close();
}

/* No event would tell again of an end that was read. */
static void test_a_peer_that_leaves_in_the_handshake_breaks_the_link(void **state)
{
    (void)state;
    for (int records = 0; records < 2; records++) {
        fake_open(false);
        if (records > 0)
            fake_peer_says(FAKE_HANDSHAKE, "a");
        assert_int_equal(shutdown(fake.peer, SHUT_WR), 0);
        assert_int_equal(fake_recv(), MK_E_PEER);
        assert_int_equal(fake.own->link.state, TLS_LINK_BROKEN);
        fake_close();
    }
}

static void test_a_reset_in_the_handshake_breaks_the_link(void **state)
{
    char byte;

    (void)state;
    fake_open(false);
    fake_peer_says(FAKE_HANDSHAKE, "a");
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    assert_int_equal(recv(fake.peer, &byte, 1, 0), 1); /* the rest is unread: a reset */
    close(fake.peer);
    fake.peer = -1;
    assert_int_equal(fake_recv(), MK_E_PEER);
    assert_int_equal(fake.own->link.state, TLS_LINK_BROKEN);
    fake_close();
}

/* ---- data ---- */

static void test_records_without_data_have_a_limit(void **state)
{
    (void)state;
    fake_open_shaken(false);
    for (int i = 0; i < 31; i++)
        fake_peer_says(FAKE_QUIET, "");
    fake_peer_says(FAKE_DATA, "x");
    assert_int_equal(fake_recv(), 1);
    for (int i = 0; i < 32; i++)
        fake_peer_says(FAKE_QUIET, "");
    fake_peer_says(FAKE_DATA, "x");
    assert_int_equal(fake_recv(), MK_E_PEER);
    fake_close();
}

static void test_only_a_client_may_end_without_close_notify(void **state)
{
    (void)state;
    fake_open_shaken(false);
    assert_int_equal(shutdown(fake.peer, SHUT_WR), 0);
    assert_int_equal(fake_recv(), 0);
    assert_int_equal(fake.own->link.state, TLS_LINK_OPEN);
    fake_close();
    fake_open_shaken(true);
    assert_int_equal(shutdown(fake.peer, SHUT_WR), 0);
    assert_int_equal(fake_recv(), MK_E_PEER);
    assert_int_equal(fake.own->link.state, TLS_LINK_BROKEN);
    fake_close();
    fake_open_shaken(true);
    fake_peer_says(FAKE_ALERT, "end");
    assert_int_equal(fake_recv(), 0);
    fake_close();
}

static void test_memory_is_given_back_when_nothing_goes_on(void **state)
{
    char bytes[] = "x";
    struct iovec iov = {bytes, 1};
    unsigned before;

    (void)state;
    fake_open_shaken(false);
    before = fake.own->rests;
    assert_int_equal(tls_link_send(&fake.l, &iov, 1, true), 1);
    assert_int_equal(fake.own->rests, before);
    assert_int_equal(tls_link_send(&fake.l, &iov, 1, false), 1);
    assert_int_equal(fake.own->rests, before + 1);
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    assert_int_equal(fake.own->rests, before + 2);
    fake_close();
}

static void test_bytes_that_wait_are_not_counted_before_they_leave(void **state)
{
    static char bytes[64 << 10];
    struct iovec iov = {bytes, sizeof(bytes)};
    char got[4096];
    size_t told = 0;

    (void)state;
    fake_open_shaken(false);
    while (told < sizeof(bytes)) {
        ssize_t n;

        iov = (struct iovec){bytes + told, sizeof(bytes) - told};
        n = tls_link_send(&fake.l, &iov, 1, false);
        assert_true(n > 0);
        told += (size_t)n;
        if (told == sizeof(bytes))
            break;
        iov = (struct iovec){bytes + told, sizeof(bytes) - told};
        assert_int_equal(tls_link_send(&fake.l, &iov, 1, false), MK_E_AGAIN);
        while (recv(fake.peer, got, sizeof(got), 0) > 0)
            continue;
    }
    assert_int_equal(tls_link_held(&fake.l), 0);
    assert_int_equal(fake.l.waits_for, 0);
    fake_close();
}

/* ---- close_notify ---- */

static void test_the_end_is_said_once(void **state)
{
    char byte;

    (void)state;
    fake_open_shaken(false);
    tls_link_shutdown(&fake.l);
    fake_expect_last(FAKE_ALERT, "end");
    tls_link_shutdown(&fake.l);
    assert_int_equal(recv(fake.peer, &byte, 1, 0), 0);
    fake_close();
}

static void test_the_end_is_not_said_of_a_link_that_is_cut(void **state)
{
    char byte;

    (void)state;
    fake_open_shaken(false);
    fake.l.is_cut = true;
    tls_link_close(&fake.l);
    close(fake.l.fd);
    assert_int_equal(recv(fake.peer, &byte, 1, 0), 0);
    close(fake.peer);
}

static void test_the_end_is_not_said_in_a_handshake(void **state)
{
    char byte;

    (void)state;
    fake_open(false);
    assert_int_equal(fake_recv(), MK_E_AGAIN);
    tls_link_shutdown(&fake.l);
    assert_int_equal(recv(fake.peer, &byte, 1, 0), 0);
    fake_close();
}

/* The peer would take it for the whole. */
static void test_the_end_is_not_said_behind_bytes_that_wait(void **state)
{
    static char bytes[64 << 10];
    struct iovec iov = {bytes, sizeof(bytes)};
    char got[4096];

    (void)state;
    fake_open_shaken(false);
    assert_true(tls_link_send(&fake.l, &iov, 1, false) < (ssize_t)sizeof(bytes));
    assert_int_equal(fake.l.waits_for, MK_IO_WRITE);
    assert_true(tls_link_held(&fake.l) > 0);
    while (recv(fake.peer, got, sizeof(got), 0) > 0)
        continue; /* there is room for it */
    tls_link_close(&fake.l);
    close(fake.l.fd);
    assert_int_equal(recv(fake.peer, got, sizeof(got), 0), 0);
    close(fake.peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_these_changes_are_allowed),
        cmocka_unit_test(test_a_handshake_waits_for_input_between_its_steps),
        cmocka_unit_test(test_a_library_that_stops_within_the_input_is_called_again),
        cmocka_unit_test(test_sending_nothing_tells_whether_a_client_is_ready),
        cmocka_unit_test(test_a_refused_client_gets_the_alert_and_its_input_is_thrown_away),
        cmocka_unit_test(test_a_backend_that_refuses_is_left_at_once),
        cmocka_unit_test(test_a_backend_has_to_agree_to_what_was_asked),
        cmocka_unit_test(test_an_alert_may_say_that_a_protocol_is_not_spoken),
        cmocka_unit_test(test_input_behind_the_end_has_a_limit),
        cmocka_unit_test(test_a_request_in_the_clear_is_answered_in_the_clear),
        cmocka_unit_test(test_a_peer_that_leaves_in_the_handshake_breaks_the_link),
        cmocka_unit_test(test_a_reset_in_the_handshake_breaks_the_link),
        cmocka_unit_test(test_records_without_data_have_a_limit),
        cmocka_unit_test(test_only_a_client_may_end_without_close_notify),
        cmocka_unit_test(test_memory_is_given_back_when_nothing_goes_on),
        cmocka_unit_test(test_bytes_that_wait_are_not_counted_before_they_leave),
        cmocka_unit_test(test_the_end_is_said_once),
        cmocka_unit_test(test_the_end_is_not_said_of_a_link_that_is_cut),
        cmocka_unit_test(test_the_end_is_not_said_in_a_handshake),
        cmocka_unit_test(test_the_end_is_not_said_behind_bytes_that_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
