/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/tls/tickets.h"

enum { START_S = 1000 };

static struct tls_ticket_key issue(struct tls_tickets *t, int64_t now_s)
{
    struct tls_ticket_key key;

    assert_true(tls_tickets_issue(t, now_s, &key));
    return key;
}

static bool same(const struct tls_ticket_key *a, const struct tls_ticket_key *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

static void test_a_key_issues_for_its_period(void **state)
{
    struct tls_tickets *t = tls_tickets_new();
    struct tls_ticket_key first = issue(t, START_S), second;

    (void)state;
    second = issue(t, START_S + TLS_TICKET_PERIOD_S - 1);
    assert_true(same(&first, &second));
    second = issue(t, START_S + TLS_TICKET_PERIOD_S);
    assert_false(same(&first, &second));
    assert_memory_not_equal(first.name, second.name, sizeof(first.name));
    tls_tickets_put(t);
}

static void test_a_ticket_is_accepted_for_its_life(void **state)
{
    struct tls_tickets *t = tls_tickets_new();
    int64_t last = START_S + TLS_TICKET_PERIOD_S - 1; /* the latest that a ticket of it is issued */
    struct tls_ticket_key key = issue(t, START_S), found;
    bool current;

    (void)state;
    assert_true(tls_tickets_find(t, last, key.name, &found, &current));
    assert_true(current);
    assert_true(same(&key, &found));
    (void)issue(t, last + 1);
    assert_true(tls_tickets_find(t, last + TLS_TICKET_LIFE_S, key.name, &found, &current));
    assert_false(current);
    assert_true(same(&key, &found));
    assert_false(tls_tickets_find(t, last + TLS_TICKET_LIFE_S + 1, key.name, &found, &current));
    tls_tickets_put(t);
}

static void test_an_old_key_is_not_current_though_none_came_after(void **state)
{
    struct tls_tickets *t = tls_tickets_new();
    struct tls_ticket_key key = issue(t, START_S), found;
    bool current = true;

    (void)state;
    assert_true(tls_tickets_find(t, START_S + TLS_TICKET_PERIOD_S, key.name, &found, &current));
    assert_false(current);
    tls_tickets_put(t);
}

static void test_at_most_so_many_keys_are_kept(void **state)
{
    struct tls_tickets *t = tls_tickets_new();
    struct tls_ticket_key keys[TLS_TICKET_KEYS + 1], found;
    bool current;

    (void)state;
    for (int i = 0; i <= TLS_TICKET_KEYS; i++)
        keys[i] = issue(t, START_S + (int64_t)i * TLS_TICKET_PERIOD_S);
    for (int i = 0; i <= TLS_TICKET_KEYS; i++)
        assert_int_equal(tls_tickets_find(t, START_S + TLS_TICKET_KEYS * TLS_TICKET_PERIOD_S,
                                          keys[i].name, &found, &current),
                         i > 0);
    tls_tickets_put(t);
}

static void test_strange_names(void **state)
{
    struct tls_tickets *t = tls_tickets_new();
    struct tls_ticket_key found;
    uint8_t zero[16] = {0};
    bool current;

    (void)state;
    assert_false(
        tls_tickets_find(t, START_S, zero, &found, &current)); /* an empty slot has no name */
    (void)issue(t, START_S);
    assert_false(tls_tickets_find(t, START_S, zero, &found, &current));
    tls_tickets_put(t);
}

static void test_references(void **state)
{
    struct tls_tickets *t = tls_tickets_new(), *u = tls_tickets_ref(t);
    struct tls_ticket_key key = issue(t, START_S), found;
    bool current;

    (void)state;
    tls_tickets_put(t);
    assert_true(tls_tickets_find(u, START_S, key.name, &found, &current));
    tls_tickets_put(u);
    tls_tickets_put(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_issues_for_its_period),
        cmocka_unit_test(test_a_ticket_is_accepted_for_its_life),
        cmocka_unit_test(test_an_old_key_is_not_current_though_none_came_after),
        cmocka_unit_test(test_at_most_so_many_keys_are_kept),
        cmocka_unit_test(test_strange_names),
        cmocka_unit_test(test_references),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
