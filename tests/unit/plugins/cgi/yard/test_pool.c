/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "yard/pool.h"

/* Messages to workers wait here until they are delivered. */
static struct {
    void (*fn)(struct mk_worker *w, void *arg);
    void *arg;
} posts[64];
static size_t nposts;
static bool no_memory;
static struct place *granted_to[64];
static size_t ngranted;

int mk_worker_post(struct mk_worker *w, void (*fn)(struct mk_worker *w, void *arg), void *arg)
{
    (void)w;
    if (no_memory)
        return MK_E_NOMEM;
    posts[nposts].fn = fn;
    posts[nposts++].arg = arg;
    return 0;
}

static void deliver(void)
{
    for (size_t i = 0; i < nposts; i++)
        posts[i].fn(NULL, posts[i].arg);
    nposts = 0;
}

static void on_granted(struct place *place)
{
    granted_to[ngranted++] = place;
}

static int set_up(void **state)
{
    *state = cgi_pool_new();
    nposts = ngranted = 0;
    no_memory = false;
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    cgi_pool_free(*state);
    return 0;
}

static struct place place(void)
{
    return (struct place){.granted = on_granted};
}

static void test_bounds(void **state)
{
    struct pool *pool = *state;
    struct place p[5] = {place(), place(), place(), place(), place()};

    cgi_pool_bound(pool, 2, 2);
    assert_int_equal(cgi_pool_take(pool, &p[0]), 0);
    assert_int_equal(cgi_pool_take(pool, &p[1]), 0);
    assert_int_equal(cgi_pool_take(pool, &p[2]), MK_E_AGAIN);
    assert_int_equal(cgi_pool_take(pool, &p[3]), MK_E_AGAIN);
    assert_int_equal(cgi_pool_take(pool, &p[4]), MK_E_BUSY);
    assert_true(cgi_pool_leave(&p[4]));
    assert_true(cgi_pool_leave(&p[0]));
    deliver();
    assert_int_equal(ngranted, 1);
    assert_ptr_equal(granted_to[0], &p[2]); /* the longest first */
    assert_int_equal(p[2].state, PLACE_HELD);
    assert_true(cgi_pool_leave(&p[1]));
    assert_true(cgi_pool_leave(&p[2]));
    deliver();
    assert_ptr_equal(granted_to[1], &p[3]);
    assert_true(cgi_pool_leave(&p[3]));
    assert_int_equal(pool->used, 0);
}

/* One place: the first holds it, the others wait. */
static void queue_up(struct pool *pool, struct place *p, int count)
{
    cgi_pool_bound(pool, 1, 9);
    assert_int_equal(cgi_pool_take(pool, &p[0]), 0);
    for (int i = 1; i < count; i++)
        assert_int_equal(cgi_pool_take(pool, &p[i]), MK_E_AGAIN);
}

static void test_who_leaves_the_queue(void **state)
{
    struct pool *pool = *state;
    struct place p[4] = {place(), place(), place(), place()};

    queue_up(pool, p, 4);
    assert_true(cgi_pool_leave(&p[3])); /* the last */
    assert_true(cgi_pool_leave(&p[1])); /* the first */
    assert_true(cgi_pool_leave(&p[0]));
    deliver();
    assert_int_equal(ngranted, 1);
    assert_ptr_equal(granted_to[0], &p[2]);
    assert_true(cgi_pool_leave(&p[2]));
}

static void test_who_leaves_while_the_message_is_under_way(void **state)
{
    struct pool *pool = *state;
    struct place p[3] = {place(), place(), place()};

    queue_up(pool, p, 3);
    assert_true(cgi_pool_leave(&p[0]));
    assert_false(cgi_pool_leave(&p[1])); /* it is to live until it is told */
    assert_true(p[1].unwanted);
    deliver();
    assert_int_equal(ngranted, 2);
    assert_int_equal(p[1].state, PLACE_NONE);
    assert_int_equal(p[2].state, PLACE_HELD);
    assert_true(cgi_pool_leave(&p[2]));
    assert_int_equal(pool->used, 0);
}

static void test_without_memory_nobody_is_forgotten(void **state)
{
    struct pool *pool = *state;
    struct place p[4] = {place(), place(), place(), place()};

    queue_up(pool, p, 3);
    no_memory = true;
    assert_true(cgi_pool_leave(&p[0]));
    assert_int_equal(pool->used, 0);
    no_memory = false;
    assert_int_equal(cgi_pool_take(pool, &p[3]), MK_E_AGAIN); /* behind those who wait */
    deliver();
    assert_int_equal(ngranted, 1);
    assert_ptr_equal(granted_to[0], &p[1]);
    for (int i = 1; i < 4; i++)
        (void)cgi_pool_leave(&p[i]);
    deliver();
    assert_int_equal(pool->used, 0);
}

static void test_more_places(void **state)
{
    struct pool *pool = *state;
    struct place p[3] = {place(), place(), place()};

    queue_up(pool, p, 3);
    cgi_pool_bound(pool, 3, 9);
    deliver();
    assert_int_equal(ngranted, 2);
    cgi_pool_bound(pool, 1, 0);
    for (int i = 0; i < 3; i++)
        assert_true(cgi_pool_leave(&p[i]));
    assert_int_equal(pool->used, 0);
}

#define POOL_TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        POOL_TEST(test_bounds),
        POOL_TEST(test_who_leaves_the_queue),
        POOL_TEST(test_who_leaves_while_the_message_is_under_way),
        POOL_TEST(test_without_memory_nobody_is_forgotten),
        POOL_TEST(test_more_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
