/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "outlet.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

/* A peer that reads slowly, on a socket pair: no byte may be lost, doubled or counted before it left. */

enum { RECORDS = 300, BODY = 100 }; /* bytes of a batch, and those of the caller's in it */

struct pair {
    int ours, theirs;
};

static int open_pair(void **state)
{
    static struct pair p;
    int fds[2], small = 4096;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) < 0)
        return -1;
    p = (struct pair){fds[0], fds[1]};
    (void)setsockopt(p.ours, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
    *state = &p;
    return 0;
}

static int close_pair(void **state)
{
    struct pair *p = *state;

    close(p->ours);
    close(p->theirs);
    return 0;
}

/* What is sent at a place of the stream. */
static char byte_at(size_t at)
{
    return (char)(at * 7 + at / 251);
}

static void fill(char *to, size_t from, size_t len)
{
    for (size_t i = 0; i < len; i++)
        to[i] = byte_at(from + i);
}

/* @return bytes read, all of them the right ones. */
static size_t take(int fd, size_t from, size_t max)
{
    char bytes[4096];
    ssize_t n = read(fd, bytes, max < sizeof(bytes) ? max : sizeof(bytes));

    for (ssize_t i = 0; i < n; i++)
        assert_int_equal(bytes[i], byte_at(from + (size_t)i));
    return n > 0 ? (size_t)n : 0;
}

static void all_leaves_at_once_where_there_is_room(void **state)
{
    const struct pair *p = *state;
    struct tls_outlet o = {.left = NULL};
    char records[RECORDS];
    size_t told = 0;

    fill(records, 0, RECORDS);
    assert_int_equal(tls_outlet_send(&o, p->ours, records, RECORDS, BODY, false, &told), 0);
    assert_int_equal(told, BODY);
    assert_null(o.left);
    assert_int_equal(take(p->theirs, 0, RECORDS), RECORDS);
    assert_int_equal(tls_outlet_send(&o, p->ours, NULL, 0, 0, false, &told), 0);
    assert_int_equal(told, BODY);
}

/* As a link sends: no batch while an older one waits. */
static void a_slow_reader_gets_all_in_order(void **state)
{
    const struct pair *p = *state;
    struct tls_outlet o = {.left = NULL};
    size_t sent = 0, received = 0, told = 0, batches = 0;
    bool has_waited = false;

    for (int turn = 0; turn < 10000 && (batches < 200 || o.left_len > 0); turn++) {
        char records[RECORDS];
        int err = tls_outlet_send(&o, p->ours, NULL, 0, 0, false, &told);

        assert_true(err == 0 || err == MK_E_AGAIN);
        assert_true(told <= batches * BODY);
        if (err == 0) {
            assert_int_equal(told, batches * BODY); /* when nothing waits, all is told */
            fill(records, sent, RECORDS);
            err = tls_outlet_send(&o, p->ours, records, RECORDS, BODY, true, &told);
            assert_true(err == 0 || err == MK_E_AGAIN);
            has_waited |= err == MK_E_AGAIN;
            sent += RECORDS;
            batches++;
        }
        assert_int_equal(told + o.untold, batches * BODY);
        received += take(p->theirs, received, 37);
    }
    while (received < sent) {
        size_t n;

        assert_true(tls_outlet_send(&o, p->ours, NULL, 0, 0, false, &told) != MK_E_PEER);
        n = take(p->theirs, received, 4096);
        assert_true(n > 0);
        received += n;
    }
    assert_true(has_waited);
    assert_int_equal(told, batches * BODY);
    assert_null(o.left);
}

/* Alerts go behind what waits, and count for nobody. */
static void what_is_nobodys_waits_behind(void **state)
{
    const struct pair *p = *state;
    struct tls_outlet o = {.left = NULL};
    static char much[1 << 20];
    size_t told = 0, sent, received = 0;

    fill(much, 0, sizeof(much));
    sent = 200 << 10;
    assert_int_equal(tls_outlet_send(&o, p->ours, much, sent, 1000, false, &told), MK_E_AGAIN);
    assert_true(told < 1000);
    assert_int_equal(tls_outlet_send(&o, p->ours, much + sent, 30, 0, false, &told), MK_E_AGAIN);
    sent += 30;
    while (received < sent) {
        received += take(p->theirs, received, 4096);
        assert_true(tls_outlet_send(&o, p->ours, NULL, 0, 0, false, &told) != MK_E_PEER);
    }
    assert_int_equal(told, 1000);
}

static void who_reads_nothing_meets_a_bound(void **state)
{
    const struct pair *p = *state;
    struct tls_outlet o = {.left = NULL};
    char records[16384] = "";
    size_t told = 0;
    int err = 0;

    for (int i = 0; i < 1000 && err != MK_E_PEER; i++)
        err = tls_outlet_send(&o, p->ours, records, sizeof(records), 0, false, &told);
    assert_int_equal(err, MK_E_PEER);
    assert_true(o.left_len <= TLS_OUTLET_MAX);
    tls_outlet_fini(&o);
    assert_null(o.left);
}

static void a_peer_that_left_is_told(void **state)
{
    struct pair *p = *state;
    struct tls_outlet o = {.left = NULL};
    size_t told = 0;

    close(p->theirs);
    assert_int_equal(tls_outlet_send(&o, p->ours, "records", 7, 7, false, &told), MK_E_PEER);
    assert_int_equal(told, 0);
    p->theirs = -1;
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, open_pair, close_pair)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(all_leaves_at_once_where_there_is_room),
        CASE(a_slow_reader_gets_all_in_order),
        CASE(what_is_nobodys_waits_behind),
        CASE(who_reads_nothing_meets_a_bound),
        CASE(a_peer_that_left_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
