/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "server/run/handoff.h"

#include <sched.h>

static struct mk_handoff ring;

static struct mk_handoff_item item_number(int n)
{
    return (struct mk_handoff_item){.fd = n, .peer = {.port = (uint16_t)n}, .busy = n & 1};
}

static void keeps_order_and_says_when_full(void **state)
{
    struct mk_handoff_item item;

    (void)state;
    assert_false(mk_handoff_take(&ring, &item));
    for (int round = 0; round < 3; round++) { /* beyond the end of the array too */
        for (int i = 0; i < MK_LIMIT_HANDOFF_RING; i++) {
            item = item_number(i);
            assert_true(mk_handoff_put(&ring, &item));
            assert_int_equal(mk_handoff_count(&ring), i + 1);
        }
        assert_false(mk_handoff_put(&ring, &item));
        for (int i = 0; i < MK_LIMIT_HANDOFF_RING; i++) {
            assert_true(mk_handoff_take(&ring, &item));
            assert_int_equal(item.fd, i);
        }
        assert_false(mk_handoff_take(&ring, &item));
        item = item_number(1);
        assert_true(mk_handoff_put(&ring, &item));
        assert_true(mk_handoff_take(&ring, &item));
    }
}

static void indices_may_wrap(void **state)
{
    struct mk_handoff_item item = item_number(5);

    (void)state;
    atomic_store(&ring.head, UINT32_MAX - 1);
    atomic_store(&ring.tail, UINT32_MAX - 1);
    for (int i = 0; i < 5; i++)
        assert_true(mk_handoff_put(&ring, &item));
    assert_int_equal(mk_handoff_count(&ring), 5);
    for (int i = 0; i < 5; i++)
        assert_true(mk_handoff_take(&ring, &item));
    assert_false(mk_handoff_take(&ring, &item));
}

enum { ITEMS = 50000 };

static void *put_all(void *arg)
{
    (void)arg;
    for (int i = 0; i < ITEMS; i++) {
        struct mk_handoff_item item = item_number(i);

        while (!mk_handoff_put(&ring, &item))
            (void)sched_yield();
    }
    return NULL;
}

static void two_threads_lose_nothing(void **state)
{
    struct mk_handoff_item item;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, put_all, NULL), 0);
    for (int i = 0; i < ITEMS; i++) {
        while (!mk_handoff_take(&ring, &item))
            (void)sched_yield();
        assert_int_equal(item.fd, i);
        assert_int_equal(item.peer.port, (uint16_t)i);
        assert_int_equal(item.busy, i & 1);
    }
    pthread_join(thread, NULL);
    assert_int_equal(mk_handoff_count(&ring), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_order_and_says_when_full),
        cmocka_unit_test(indices_may_wrap),
        cmocka_unit_test(two_threads_lose_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
