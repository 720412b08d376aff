/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <pthread.h>

#include "backends/health_guard.h"

static const struct health_rules rules = {.attempts = 2, .window_ms = 60000, .offline_ms = 60000};
static const struct health_rules slow = {
    .attempts = 2, .window_ms = 60000, .offline_ms = 60000, .slow_ms = 10000};
static const struct health_rules checked = {
    .attempts = 2, .window_ms = 60000, .offline_ms = 60000, .is_checked = true};
static const struct health_rules alone = {
    .attempts = 2, .window_ms = 60000, .offline_ms = 60000, .is_alone = true};
static const struct health_rules none = {.attempts = 2};

static bool is_same(struct health_change change)
{
    return change.was == change.is;
}

static void fail_at(struct health *h, const struct health_rules *r, int64_t now_ms)
{
    assert_int_equal(proxy_health_admit(h, r, now_ms), HEALTH_NORMAL);
    proxy_health_tell(h, r, HEALTH_NORMAL, HEALTH_BAD, now_ms);
}

static void put_offline(struct health *h, const struct health_rules *r, int64_t now_ms)
{
    fail_at(h, r, now_ms);
    fail_at(h, r, now_ms);
    assert_int_equal(h->state, HEALTH_OFFLINE);
}

static void test_failures_within_the_window(void **state)
{
    static const struct {
        const char *what;
        int64_t at_ms[4];
        unsigned n;
        enum health_state end;
    } rows[] = {
        {"one is not enough", {0}, 1, HEALTH_UP},
        {"two are", {0, 59000}, 2, HEALTH_OFFLINE},
        {"just within", {0, 60000}, 2, HEALTH_OFFLINE},
        {"too far apart", {0, 60001}, 2, HEALTH_UP},
        {"the second begins a window", {0, 60001, 120001}, 3, HEALTH_OFFLINE},
        {"never two in one", {0, 60001, 120002, 180003}, 4, HEALTH_UP},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct health h = {0};

        for (unsigned j = 0; j < rows[i].n; j++)
            fail_at(&h, &rules, rows[i].at_ms[j]);
        if (h.state != rows[i].end)
            fail_msg("%s", rows[i].what);
    }
}

static void test_success_and_departed_clients_do_not_count(void **state)
{
    struct health h = {0};

    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        assert_int_equal(proxy_health_admit(&h, &rules, i), HEALTH_NORMAL);
        proxy_health_tell(&h, &rules, HEALTH_NORMAL, i % 2 ? HEALTH_GOOD : HEALTH_UNKNOWN, i);
    }
    assert_int_equal(h.state, HEALTH_UP);
    assert_int_equal(h.failures, 0);
}

static void test_a_success_takes_a_failure_back(void **state)
{
    struct health h = {0};

    (void)state;
    for (unsigned i = 0; i < 10; i++) {
        fail_at(&h, &rules, i);
        proxy_health_tell(&h, &rules, HEALTH_NORMAL, HEALTH_GOOD, i);
    }
    assert_int_equal(h.failures, 0);
    proxy_health_tell(&h, &rules, HEALTH_NORMAL, HEALTH_GOOD, 10);
    put_offline(&h, &rules, 11); /* there is no credit */
}

static void test_requests_do_not_take_back_what_checks_found(void **state)
{
    struct health h = {0};

    (void)state;
    proxy_health_tell_check(&h, &checked, false, 0);
    fail_at(&h, &(struct health_rules){.attempts = 9, .window_ms = 60000, .offline_ms = 60000}, 1);
    for (unsigned i = 0; i < 10; i++)
        proxy_health_tell(&h, &checked, HEALTH_NORMAL, HEALTH_GOOD, 2);
    assert_int_equal(h.failures, 1);
    proxy_health_tell_check(&h, &checked, false, 5000);
    assert_int_equal(h.state, HEALTH_OFFLINE);
}

static void test_one_alone_is_put_offline_by_checks_only(void **state)
{
    struct health h = {0};

    (void)state;
    for (unsigned i = 0; i < 10; i++)
        fail_at(&h, &alone, i);
    assert_int_equal(h.state, HEALTH_UP);
    proxy_health_tell_check(&h, &alone, false, 10);
    proxy_health_tell_check(&h, &alone, false, 11);
    assert_int_equal(h.state, HEALTH_OFFLINE);
}

static void test_the_last_one_is_asked_all_the_same(void **state)
{
    struct health h = {0};

    (void)state;
    assert_int_equal(proxy_health_admit_last(&h, &rules), HEALTH_NORMAL);
    put_offline(&h, &rules, 0);
    assert_int_equal(proxy_health_admit_last(&h, &rules), HEALTH_LAST);
    proxy_health_tell(&h, &rules, HEALTH_LAST, HEALTH_UNKNOWN, 1000);
    assert_int_equal(proxy_health_wait(&h, 1000), 59000);
    proxy_health_tell(&h, &rules, HEALTH_LAST, HEALTH_BAD, 1000); /* the others come first */
    assert_int_equal(proxy_health_wait(&h, 1000), 60000);
    proxy_health_tell(&h, &checked, HEALTH_LAST, HEALTH_GOOD, 2000); /* that is for checks to say */
    assert_int_equal(h.state, HEALTH_OFFLINE);
    proxy_health_tell(&h, &rules, HEALTH_LAST, HEALTH_GOOD, 2000);
    assert_int_equal(h.state, HEALTH_UP);
    fail_at(&h, &rules, 3000);
    proxy_health_tell(&h, &rules, HEALTH_LAST, HEALTH_GOOD, 3001); /* others of them end later */
    assert_int_equal(h.failures, 0);
}

static void test_one_probe_decides(void **state)
{
    struct health h = {0};

    (void)state;
    put_offline(&h, &rules, 0);
    assert_int_equal(proxy_health_wait(&h, 10000), 50000);
    assert_false(proxy_health_may(&h, &rules, 59999));
    assert_int_equal(proxy_health_admit(&h, &rules, 59999), HEALTH_REFUSED);
    assert_true(proxy_health_may(&h, &rules, 60000));
    assert_int_equal(proxy_health_admit(&h, &rules, 60000), HEALTH_PROBE);
    assert_false(proxy_health_may(&h, &rules, 60000)); /* the others go elsewhere */
    assert_int_equal(proxy_health_admit(&h, &rules, 99999), HEALTH_REFUSED);
    proxy_health_tell(&h, &rules, HEALTH_PROBE, HEALTH_BAD, 61000);
    assert_int_equal(h.state, HEALTH_OFFLINE);
    assert_int_equal(proxy_health_wait(&h, 61000), 60000);
    assert_int_equal(proxy_health_admit(&h, &rules, 121000), HEALTH_PROBE);
    proxy_health_tell(&h, &rules, HEALTH_PROBE, HEALTH_GOOD, 121500);
    assert_int_equal(h.state, HEALTH_UP);
    fail_at(&h, &rules, 121600); /* what it had before is forgotten */
    assert_int_equal(h.state, HEALTH_UP);
}

static void test_a_probe_is_not_waited_for_for_ever(void **state)
{
    struct health h = {0};

    (void)state;
    put_offline(&h, &rules, 0);
    assert_int_equal(proxy_health_admit(&h, &rules, 60000), HEALTH_PROBE);
    assert_int_equal(proxy_health_admit(&h, &rules, 119999), HEALTH_REFUSED);
    assert_int_equal(proxy_health_admit(&h, &rules, 120000), HEALTH_PROBE);
    assert_false(proxy_health_may(&h, &rules, 120001));
    proxy_health_tell(&h, &rules, HEALTH_PROBE, HEALTH_GOOD, 120002);
    assert_int_equal(h.state, HEALTH_UP);
    proxy_health_tell(&h, &rules, HEALTH_PROBE, HEALTH_BAD, 120003); /* the first one, too late */
    assert_int_equal(h.state, HEALTH_UP);
}

static void test_a_probe_whose_client_leaves_is_followed_by_another(void **state)
{
    struct health h = {0};

    (void)state;
    put_offline(&h, &rules, 0);
    assert_int_equal(proxy_health_admit(&h, &rules, 60000), HEALTH_PROBE);
    proxy_health_tell(&h, &rules, HEALTH_PROBE, HEALTH_UNKNOWN, 60500);
    assert_int_equal(proxy_health_admit(&h, &rules, 60500), HEALTH_PROBE);
}

static void test_what_was_under_way_changes_nothing(void **state)
{
    struct health h = {0};

    (void)state;
    put_offline(&h, &rules, 0);
    proxy_health_tell(&h, &rules, HEALTH_NORMAL, HEALTH_GOOD, 10);
    proxy_health_tell(&h, &rules, HEALTH_NORMAL, HEALTH_BAD, 1000);
    assert_int_equal(h.state, HEALTH_OFFLINE);
    assert_int_equal(proxy_health_wait(&h, 1000), 59000);
}

static void test_slow_start(void **state)
{
    struct health h = {0};

    (void)state;
    put_offline(&h, &slow, 0);
    assert_int_equal(proxy_health_admit(&h, &slow, 60000), HEALTH_PROBE);
    proxy_health_tell(&h, &slow, HEALTH_PROBE, HEALTH_GOOD, 60000);
    assert_int_equal(h.state, HEALTH_RETURNING);
    assert_int_equal(proxy_health_share(&h, &slow, 60000), 50);
    assert_int_equal(proxy_health_share(&h, &slow, 62000), 200);
    assert_int_equal(proxy_health_share(&h, &slow, 69990), 999);
    assert_int_equal(proxy_health_share(&h, &slow, 70000), 1000);
    proxy_health_tell(&h, &slow, HEALTH_NORMAL, HEALTH_GOOD, 70000);
    assert_int_equal(h.state, HEALTH_UP);
    put_offline(&h, &slow, 80000);
    assert_int_equal(proxy_health_admit(&h, &slow, 140000), HEALTH_PROBE);
    proxy_health_tell(&h, &slow, HEALTH_PROBE, HEALTH_GOOD, 140000);
    put_offline(&h, &slow, 141000); /* while it returns */
}

static void test_zero_is_no_high_availability(void **state)
{
    struct health h = {0};

    (void)state;
    for (int64_t i = 0; i < 100; i++)
        fail_at(&h, &none, i);
    proxy_health_tell_check(&h, &none, false, 100);
    assert_int_equal(h.state, HEALTH_UP);
    /* Also when a reload finds it offline. */
    put_offline(&h, &rules, 0);
    assert_true(proxy_health_may(&h, &none, 1));
    assert_int_equal(proxy_health_admit(&h, &none, 1), HEALTH_NORMAL);
}

static void test_checks(void **state)
{
    struct health h = {0};

    (void)state;
    proxy_health_tell_check(&h, &checked, false, 0);
    assert_int_equal(h.state, HEALTH_UP);
    proxy_health_tell_check(&h, &checked, false, 5000);
    assert_int_equal(h.state, HEALTH_OFFLINE);
    assert_int_equal(proxy_health_admit(&h, &checked, 70000),
                     HEALTH_REFUSED); /* no request is risked */
    proxy_health_tell_check(&h, &checked, false, 70000);
    assert_int_equal(h.state, HEALTH_OFFLINE);
    proxy_health_tell_check(&h, &checked, true, 75000);
    assert_int_equal(h.state, HEALTH_UP);
    fail_at(&h, &checked, 80000);
    proxy_health_tell_check(&h, &checked, false, 80001); /* counted together */
    assert_int_equal(h.state, HEALTH_OFFLINE);
}

static void test_a_check_may_decide_before_the_probe(void **state)
{
    struct health h = {0};

    (void)state;
    put_offline(&h, &rules, 0);
    assert_int_equal(proxy_health_admit(&h, &rules, 60000), HEALTH_PROBE);
    proxy_health_tell_check(&h, &rules, true, 60001);
    assert_int_equal(h.state, HEALTH_UP);
    proxy_health_tell(&h, &rules, HEALTH_PROBE, HEALTH_BAD, 60002);
    assert_int_equal(h.state, HEALTH_UP);
}

/* ---- for all workers ---- */

static void test_changes_are_told_once(void **state)
{
    struct health_guard g;
    struct health_facts f;

    (void)state;
    assert_int_equal(proxy_health_guard_init(&g), 0);
    assert_true(is_same(proxy_health_guard_tell(&g, &rules, HEALTH_NORMAL, HEALTH_BAD, 1)));
    proxy_health_guard_facts(&g, &rules, 2, &f);
    assert_int_equal(f.failures, 1);
    assert_int_equal(f.check_ago_ms, -1);
    assert_true(health_went(proxy_health_guard_tell(&g, &rules, HEALTH_NORMAL, HEALTH_BAD, 2)));
    assert_false(proxy_health_guard_may(&g, &rules, 3));
    assert_true(is_same(proxy_health_guard_tell(&g, &rules, HEALTH_NORMAL, HEALTH_BAD, 3)));
    assert_true(is_same(proxy_health_guard_tell_check(&g, &rules, false, 4)));
    proxy_health_guard_facts(&g, &rules, 10, &f);
    assert_int_equal(f.state, HEALTH_OFFLINE);
    assert_int_equal(f.check_ago_ms, 6);
    assert_false(f.check_was_good);
    assert_int_equal(f.wait_ms, 59994);
    assert_true(health_came_back(proxy_health_guard_tell_check(&g, &slow, true, 20)));
    proxy_health_guard_facts(&g, &slow, 5020, &f);
    assert_int_equal(f.state, HEALTH_RETURNING);
    assert_int_equal(f.share, 500);
    assert_int_equal(proxy_health_guard_share(&g, &slow, 5020), 500);
    proxy_health_guard_facts(&g, &slow, 10020, &f);
    assert_int_equal(f.state, HEALTH_UP);
    proxy_health_guard_fini(&g);
}

struct crowd {
    struct health_guard g;
    _Atomic unsigned probes, admitted;
};

static void *knock(void *arg)
{
    struct crowd *c = arg;

    for (unsigned i = 0; i < 2000; i++) {
        if (!proxy_health_guard_may(&c->g, &rules, 100000))
            continue;
        switch (proxy_health_guard_admit(&c->g, &rules, 100000)) {
        case HEALTH_PROBE:
            c->probes++;
            break;
        case HEALTH_NORMAL:
            c->admitted++;
            break;
        case HEALTH_REFUSED:
        case HEALTH_LAST:
            break;
        }
    }
    return NULL;
}

static void test_of_many_threads_one_probes(void **state)
{
    static struct crowd c;
    pthread_t threads[4];

    (void)state;
    assert_int_equal(proxy_health_guard_init(&c.g), 0);
    assert_true(is_same(proxy_health_guard_tell(&c.g, &rules, HEALTH_NORMAL, HEALTH_BAD, 1)));
    assert_true(health_went(proxy_health_guard_tell(&c.g, &rules, HEALTH_NORMAL, HEALTH_BAD, 1)));
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, knock, &c), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(c.probes, 1);
    assert_int_equal(c.admitted, 0);
    assert_true(
        health_came_back(proxy_health_guard_tell(&c.g, &rules, HEALTH_PROBE, HEALTH_GOOD, 100001)));
    proxy_health_guard_fini(&c.g);
}

/* ---- the table of states ---- */

/* One of the things that can happen, by chance. */
static void happen(struct health *h, const struct health_rules *r, uint32_t chance, int64_t now_ms)
{
    enum health_end end = (enum health_end)(chance >> 4 & 3) % 3;

    switch (chance & 3) {
    case 0:
        proxy_health_tell_check(h, r, chance >> 4 & 1, now_ms);
        break;
    case 1:
        proxy_health_tell(h, r, proxy_health_admit_last(h, r), end, now_ms);
        break;
    default:
        proxy_health_tell(h, r, proxy_health_admit(h, r, now_ms), end, now_ms);
    }
}

static void walk(const struct health_rules *r, unsigned *seen)
{
    struct health h = {0};
    uint32_t chance = 1;
    int64_t now_ms = 0;

    for (unsigned i = 0; i < 20000; i++) {
        enum health_state was = h.state;

        chance = chance * 1664525 + 1013904223; /* the same in every run */
        now_ms += chance >> 18 & 16383;
        if (chance >> 12 & 1)
            (void)proxy_health_admit(&h, r, now_ms);
        else
            happen(&h, r, chance >> 20, now_ms);
        if (was != h.state && !proxy_health_may_turn(was, h.state))
            fail_msg("%s after %s", proxy_health_name(h.state), proxy_health_name(was));
        seen[was] |= 1U << h.state;
    }
}

/* Whatever happens, only what the table allows follows, and all of that does. */
static void test_only_allowed_states_follow(void **state)
{
    unsigned seen[HEALTH_STATE_COUNT] = {0};

    (void)state;
    walk(&rules, seen);
    walk(&slow, seen);
    walk(&checked, seen);
    walk(&alone, seen);
    for (unsigned from = 0; from < HEALTH_STATE_COUNT; from++) {
        for (unsigned to = 0; to < HEALTH_STATE_COUNT; to++) {
            bool may = proxy_health_may_turn((enum health_state)from, (enum health_state)to);

            if (from != to && may != (seen[from] >> to & 1))
                fail_msg("%s never follows %s", proxy_health_name((enum health_state)to),
                         proxy_health_name((enum health_state)from));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_allowed_states_follow),
        cmocka_unit_test(test_failures_within_the_window),
        cmocka_unit_test(test_success_and_departed_clients_do_not_count),
        cmocka_unit_test(test_a_success_takes_a_failure_back),
        cmocka_unit_test(test_requests_do_not_take_back_what_checks_found),
        cmocka_unit_test(test_one_alone_is_put_offline_by_checks_only),
        cmocka_unit_test(test_the_last_one_is_asked_all_the_same),
        cmocka_unit_test(test_one_probe_decides),
        cmocka_unit_test(test_a_probe_is_not_waited_for_for_ever),
        cmocka_unit_test(test_a_probe_whose_client_leaves_is_followed_by_another),
        cmocka_unit_test(test_what_was_under_way_changes_nothing),
        cmocka_unit_test(test_slow_start),
        cmocka_unit_test(test_zero_is_no_high_availability),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_a_check_may_decide_before_the_probe),
        cmocka_unit_test(test_changes_are_told_once),
        cmocka_unit_test(test_of_many_threads_one_probes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
