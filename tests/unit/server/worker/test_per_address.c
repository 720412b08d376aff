/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "server/worker/shared.h"

static struct mk_peer peer_of(const char *ip)
{
    struct mk_peer peer = {.port = 1};

    assert_int_equal(mk_ip_parse(mk_str_from(ip), peer.ip), 0);
    return peer;
}

/* One connection less, of those that were counted. */
static void put(struct mk_per_address *p, struct mk_peer *peer)
{
    peer->counted = true;
    mk_per_address_put(p, peer);
}

/* The n-th of many addresses. */
static struct mk_peer peer_number(unsigned n)
{
    char ip[32];

    (void)snprintf(ip, sizeof(ip), "10.%u.%u.%u", n >> 16 & 255, n >> 8 & 255, n & 255);
    return peer_of(ip);
}

static void an_address_has_its_share(void **state)
{
    static const struct {
        const char *sentence, *first, *second;
        bool same;
    } rows[] = {
        {"IPv4 by the whole address", "192.0.2.1", "192.0.2.2", false},
        {"the same IPv4", "192.0.2.1", "192.0.2.1", true},
        {"IPv6 by its /64", "2001:db8::1", "2001:db8::ffff:1", true},
        {"another /64", "2001:db8::1", "2001:db8:0:1::1", false},
        {"IPv4 as IPv6 is IPv4", "::ffff:192.0.2.1", "192.0.2.1", true},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_peer a = peer_of(rows[i].first), b = peer_of(rows[i].second);
        struct mk_per_address p;

        mk_per_address_init(&p, 2);
        assert_true(mk_per_address_take(&p, &a));
        assert_true(mk_per_address_take(&p, &b));
        if (mk_per_address_take(&p, &b) == rows[i].same)
            fail_msg("%s", rows[i].sentence);
        mk_per_address_put(&p, &a);
        mk_per_address_put(&p, &b);
        assert_true(mk_per_address_take(&p, &b));
        mk_per_address_fini(&p);
    }
}

static void unix_sockets_and_no_maximum_are_free(void **state)
{
    struct mk_peer unix_peer = {.is_unix = true}, peer = peer_of("1.2.3.4");
    struct mk_per_address p;

    (void)state;
    mk_per_address_init(&p, 1);
    for (int i = 0; i < 10; i++)
        assert_true(mk_per_address_take(&p, &unix_peer));
    mk_per_address_put(&p, &unix_peer);
    atomic_store(&p.max, 0);
    for (int i = 0; i < 10; i++)
        assert_true(mk_per_address_take(&p, &peer));
    mk_per_address_put(&p, &peer); /* what is not counted is ignored */
    assert_true(mk_heap_live() == 0);
    mk_per_address_fini(&p);
}

/* Tables grow and shrink; a slot taken out must not hide the ones behind it. */
static void many_addresses_keep_their_counts(void **state)
{
    enum { COUNT = 5000 };
    struct mk_per_address p;

    (void)state;
    mk_per_address_init(&p, 2);
    for (unsigned i = 0; i < COUNT; i++) {
        struct mk_peer peer = peer_number(i);

        assert_true(mk_per_address_take(&p, &peer));
        assert_true(mk_per_address_take(&p, &peer));
        assert_false(mk_per_address_take(&p, &peer));
    }
    for (unsigned i = 0; i < COUNT; i += 2) {
        struct mk_peer peer = peer_number(i);

        put(&p, &peer);
        put(&p, &peer);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        struct mk_peer peer = peer_number(i);

        assert_int_equal(mk_per_address_take(&p, &peer), i % 2 == 0);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        struct mk_peer peer = peer_number(i);

        for (int j = 0; j < (i % 2 ? 2 : 1); j++)
            put(&p, &peer);
    }
    for (int i = 0; i < MK_ADDRESS_SHARDS; i++)
        assert_int_equal(p.shards[i].used, 0);
    mk_per_address_fini(&p);
    assert_int_equal(mk_heap_live(), 0);
}

static void no_memory_is_a_no(void **state)
{
    struct mk_peer peer = peer_of("1.2.3.4");
    struct mk_per_address p;

    (void)state;
    mk_per_address_init(&p, 2);
    mk_heap_fail_after(0);
    assert_false(mk_per_address_take(&p, &peer));
    assert_true(mk_per_address_take(&p, &peer));
    mk_per_address_fini(&p);
}

/* What ends while nothing is counted must not stay counted for ever. */
static void a_maximum_switched_off_and_on_counts_anew(void **state)
{
    static struct mk_shared shared;
    struct mk_peer peer = peer_of("1.2.3.4");

    (void)state;
    mk_per_address_init(&shared.per_address, 2);
    assert_true(mk_per_address_take(&shared.per_address, &peer));
    assert_true(mk_per_address_take(&shared.per_address, &peer));
    atomic_store(&shared.per_address.max, 0);
    mk_shared_connection_ended(&shared, &peer);
    mk_shared_connection_ended(&shared, &peer);
    atomic_store(&shared.per_address.max, 2);
    assert_true(mk_per_address_take(&shared.per_address, &peer));
    mk_per_address_fini(&shared.per_address);
}

/* ---- several threads ---- */

enum { ROUNDS = 3000, SHARE = 3 };

static struct mk_per_address shared;
static atomic_int open_now[4];

static void *take_and_put(void *arg)
{
    unsigned seed = (unsigned)(uintptr_t)arg;

    for (int i = 0; i < ROUNDS; i++) {
        unsigned n = (seed + (unsigned)i * 7) % 4;
        struct mk_peer peer = peer_number(n);

        if (!mk_per_address_take(&shared, &peer))
            continue;
        assert_true(atomic_fetch_add(&open_now[n], 1) < SHARE);
        atomic_fetch_sub(&open_now[n], 1);
        mk_per_address_put(&shared, &peer);
    }
    return NULL;
}

static void threads_never_exceed_a_share(void **state)
{
    pthread_t threads[4];

    (void)state;
    mk_per_address_init(&shared, SHARE);
    for (uintptr_t i = 0; i < MK_ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_put, (void *)i), 0);
    for (size_t i = 0; i < MK_ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < MK_ADDRESS_SHARDS; i++)
        assert_int_equal(shared.shards[i].used, 0);
    mk_per_address_fini(&shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_has_its_share),
        cmocka_unit_test(unix_sockets_and_no_maximum_are_free),
        cmocka_unit_test(many_addresses_keep_their_counts),
        cmocka_unit_test(no_memory_is_a_no),
        cmocka_unit_test(a_maximum_switched_off_and_on_counts_anew),
        cmocka_unit_test(threads_never_exceed_a_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
