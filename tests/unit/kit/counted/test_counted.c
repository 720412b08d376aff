/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "counted.h"

#include <pthread.h>

static void test_only_the_last_reference_ends_it(void **state)
{
    struct counted c;

    (void)state;
    counted_init(&c, 1);
    counted_get(&c);
    counted_get(&c);
    assert_false(counted_put(&c));
    assert_false(counted_put(&c));
    assert_true(counted_put(&c));
}

static void test_the_maker_may_hand_out_several(void **state)
{
    struct counted c;

    (void)state;
    counted_init(&c, 2);
    assert_false(counted_put(&c));
    assert_true(counted_put(&c));
}

/* ---- threads: ThreadSanitizer sees whether the end may read what others wrote without a lock ---- */

enum { THREADS = 4, TURNS = 2000, ROUNDS = 50 };

struct shared {
    struct counted count;
    atomic_uint *ends;
    unsigned written[THREADS]; /* by one thread each, without a lock; read at the end */
};

struct holder {
    pthread_t thread;
    struct shared *shared;
    unsigned index;
};

static void end_shared(struct shared *s)
{
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(s->written[i], TURNS);
    atomic_fetch_add(s->ends, 1);
    free(s);
}

static void *hold(void *arg)
{
    struct holder *h = arg;
    struct shared *s = h->shared;

    for (unsigned i = 0; i < TURNS; i++) {
        counted_get(&s->count);
        s->written[h->index]++;
        if (counted_put(&s->count))
            abort(); /* this thread's own reference is still there */
    }
    if (counted_put(&s->count))
        end_shared(s);
    return NULL;
}

static void test_threads_give_back_in_any_order(void **state)
{
    atomic_uint ends = 0;

    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct holder holders[THREADS];
        struct shared *s = calloc(1, sizeof(*s));

        assert_non_null(s);
        s->ends = &ends;
        counted_init(&s->count, THREADS);
        for (unsigned i = 0; i < THREADS; i++) {
            holders[i] = (struct holder){.shared = s, .index = i};
            assert_int_equal(pthread_create(&holders[i].thread, NULL, hold, &holders[i]), 0);
        }
        for (unsigned i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(holders[i].thread, NULL), 0);
    }
    assert_int_equal(atomic_load(&ends), ROUNDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_the_last_reference_ends_it),
        cmocka_unit_test(test_the_maker_may_hand_out_several),
        cmocka_unit_test(test_threads_give_back_in_any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
