/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_engine.h"

/*
 * Random schedules of a link and its peer, against lost wake-ups and bytes lost, doubled or counted too early. Events
 * are edge-triggered: one comes when the other side wrote or read something, and none otherwise. As the
 * library does, the test calls recv until MK_E_AGAIN or is_drained, and send until it took all or could not.
 */

enum { SEEDS = 400, STEPS_MAX = 200000, SCRIPT_MAX = 40000, BODY_MAX = 60000 };

struct schedule {
    uint64_t random;
    char script[SCRIPT_MAX]; /* records of the peer */
    size_t script_len, script_at;
    size_t data_len, data_got; /* of its data */
    size_t body_len, body_at;  /* what the link sends: offered and told as sent */
    size_t peer_got, peer_len; /* data that the peer read, and what of a record is to come */
    size_t head_len;
    unsigned asked, answered; /* records without data */
    char head[FAKE_HEAD];
    bool can_read, can_write, wants_write;
};

static char byte_at(size_t at)
{
    return (char)(at * 7 + at / 251);
}

static size_t below(struct schedule *s, size_t limit)
{
    s->random = s->random * 6364136223846793005U + 1442695040888963407U;
    return (size_t)(s->random >> 33) % limit;
}

static void add_record(struct schedule *s, int type, size_t len)
{
    char *at = s->script + s->script_len;

    s->script_len += fake_record(at, type, NULL, 0) + len;
    at[1] = (char)(len >> 8);
    at[2] = (char)len;
    for (size_t i = 0; i < len; i++)
        at[FAKE_HEAD + i] = type == FAKE_DATA ? byte_at(s->data_len + i) : 'x';
    if (type == FAKE_DATA)
        s->data_len += len;
}

static void write_script(struct schedule *s)
{
    size_t records = below(s, 20);

    add_record(s, FAKE_HANDSHAKE, 1 + below(s, 300));
    add_record(s, FAKE_HANDSHAKE, 1 + below(s, 300));
    for (size_t i = 0; i < records; i++) {
        if (below(s, 2) == 0) {
            add_record(s, FAKE_QUIET, below(s, 20));
            s->asked++;
        }
        add_record(s, FAKE_DATA, 1 + below(s, below(s, 3) == 0 ? 1500 : 60));
    }
    s->body_len = below(s, 3) == 0 ? below(s, BODY_MAX) : below(s, 2000);
}

/* ---- the peer ---- */

static void peer_writes(struct schedule *s)
{
    size_t left = s->script_len - s->script_at, n = 1 + below(s, below(s, 2) == 0 ? 8 : 3000);
    ssize_t sent;

    if (left == 0)
        return;
    sent = send(fake.peer, s->script + s->script_at, n < left ? n : left, MSG_NOSIGNAL);
    if (sent <= 0)
        return;
    s->script_at += (size_t)sent;
    s->can_read = true;
}

static void peer_takes(struct schedule *s, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (s->peer_len == 0) {
            s->head[s->head_len++] = bytes[i];
            if (s->head_len < FAKE_HEAD)
                continue;
            s->head_len = 0;
            s->peer_len = fake_content_len(s->head);
            s->answered += s->head[0] == FAKE_QUIET;
            continue;
        }
        s->peer_len--;
        if (s->head[0] == FAKE_DATA && bytes[i] != byte_at(s->peer_got++))
            fail_msg("byte %zu of the body is another", s->peer_got - 1);
    }
}

static void peer_reads(struct schedule *s)
{
    static char buf[8192];
    ssize_t n = recv(fake.peer, buf, 1 + below(s, sizeof(buf)), 0);

    if (n <= 0)
        return;
    peer_takes(s, buf, (size_t)n);
    s->can_write = true;
}

/* ---- the link, as the library uses it ---- */

static void check_drained(void)
{
    char byte;

    assert_int_equal(recv(fake.l.fd, &byte, 1, MSG_PEEK), -1);
    assert_int_equal(fake.own->in_len, 0);
}

static void link_reads(struct schedule *s)
{
    char buf[700];

    for (;;) {
        ssize_t n;

        fake.l.is_drained = false;
        n = tls_link_recv(&fake.l, buf, 1 + below(s, sizeof(buf)));
        assert_int_equal(fake.local.used, 0);
        if (n == MK_E_AGAIN)
            return;
        assert_true(n > 0);
        for (ssize_t i = 0; i < n; i++)
            assert_int_equal(buf[i], byte_at(s->data_got++));
        if (fake.l.is_drained) {
            check_drained();
            return;
        }
        if (below(s, 4) == 0)
            peer_writes(s); /* its event is for later */
    }
}

static void link_writes(struct schedule *s)
{
    static char body[BODY_MAX];
    size_t left = s->body_len - s->body_at, first = left > 0 ? below(s, left) : 0;
    struct iovec iov[2] = {{body, first}, {body + first, left - first}};
    ssize_t n;

    for (size_t i = 0; i < left; i++)
        body[i] = byte_at(s->body_at + i);
    n = tls_link_send(&fake.l, iov, 2, below(s, 2) == 0);
    assert_int_equal(fake.local.used, 0);
    s->wants_write = n == MK_E_AGAIN || (n >= 0 && (size_t)n < left);
    if (n < 0) {
        assert_int_equal(n, MK_E_AGAIN);
        return;
    }
    s->body_at += (size_t)n;
    assert_true(s->body_at <= s->body_len);
}

/* One turn of the loop: what the events since the last one ask for. */
static void turn(struct schedule *s)
{
    bool can_read = s->can_read, can_write = s->can_write;
    bool waits_to_write = (fake.l.waits_for & MK_IO_WRITE) != 0;

    s->can_read = s->can_write = false;
    if (can_read || (can_write && waits_to_write))
        link_reads(s);
    if (s->body_at < s->body_len && (!s->wants_write || can_write || can_read))
        link_writes(s);
}

static bool is_over(const struct schedule *s)
{
    return s->script_at == s->script_len && s->data_got == s->data_len &&
           s->body_at == s->body_len && s->peer_got == s->body_len && s->answered == s->asked;
}

static void run_schedule(unsigned seed)
{
    static struct schedule s;

    memset(&s, 0, sizeof(s));
    s.random = seed * 0x9E3779B97F4A7C15U + 1;
    write_script(&s);
    fake_open(seed % 5 == 0);
    fake.own->read_size = 1 + below(&s, 2000);
    fake.own->is_quiet = below(&s, 2) == 0;
    for (unsigned step = 0; !is_over(&s); step++) {
        if (step == STEPS_MAX)
            fail_msg("seed %u stands still: %zu of %zu written, %zu of %zu got, %zu of %zu sent",
                     seed, s.script_at, s.script_len, s.data_got, s.data_len, s.peer_got,
                     s.body_len);
        switch (below(&s, 3)) {
        case 0:
            peer_writes(&s);
            break;
        case 1:
            peer_reads(&s);
            break;
        default:
            turn(&s);
        }
    }
    assert_int_equal(fake.own->link.outlet.untold, 0);
    fake_close();
}

static void test_no_schedule_stands_still_or_loses_bytes(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SEEDS; seed++)
        run_schedule(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_schedule_stands_still_or_loses_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
