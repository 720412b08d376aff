/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "remote/parking.h"

#include "duda_host.h"
#include "duda_package.h"

#include <string.h>

static struct {
    duda_request_t dr;
    struct parking_lot lot;
    void (*gone)(void *arg);
    void *arg;
    int nwaits, nanswers;
} scene;

static int call_at_end(duda_request_t *dr, void (*gone)(void *arg), void *arg)
{
    assert_ptr_equal(dr, &scene.dr);
    assert_null(scene.gone);
    scene.gone = gone;
    scene.arg = arg;
    return 0;
}

static int park(duda_request_t *dr, enum duda_park kind)
{
    assert_ptr_equal(dr, &scene.dr);
    assert_int_equal(kind, DUDA_PARK_STOPS);
    assert_int_equal(scene.nwaits++, 0);
    return 0;
}

static void unpark(duda_request_t *dr, enum duda_park kind)
{
    assert_ptr_equal(dr, &scene.dr);
    assert_int_equal(kind, DUDA_PARK_STOPS);
    assert_int_equal(--scene.nwaits, 0);
}

static int set_up(void **state)
{
    (void)state;
    memset(&scene, 0, sizeof(scene));
    return 0;
}

static void leave(void)
{
    scene.gone(scene.arg);
    scene.gone = NULL;
}

static void count(duda_request_t *dr, void *arg)
{
    assert_ptr_equal(dr, arg);
    scene.nanswers++;
}

static void a_request_is_parked_until_its_last_answer(void **state)
{
    struct parking *p = parking_enter(&scene.lot, &scene.dr);

    (void)state;
    assert_ptr_equal(parking_enter(&scene.lot, &scene.dr), p);
    parking_leave(p, count, &scene.dr);
    assert_int_equal(scene.nwaits, 1);
    parking_leave(p, count, &scene.dr);
    assert_int_equal(scene.nwaits, 0);
    assert_int_equal(scene.nanswers, 2);
    leave();
}

static void an_answer_comes_after_the_request(void **state)
{
    struct parking *p = parking_enter(&scene.lot, &scene.dr);

    (void)state;
    leave();
    parking_leave(p, count, NULL);
    parking_leave(NULL, count, NULL);
    assert_int_equal(scene.nanswers, 2);
}

static void the_lot_ends_first(void **state)
{
    (void)state;
    assert_non_null(parking_enter(&scene.lot, &scene.dr));
    parking_lot_end(&scene.lot);
    leave();
}

static void ask_in_vain(duda_request_t *dr, void *arg)
{
    (void)arg;
    assert_int_equal(scene.nwaits, 0);
    parking_cancel(parking_enter(&scene.lot, dr));
    assert_int_equal(scene.nwaits, 0);
}

/* No server took the next question: the request has no answer to come, and would wait until its own time limit. */
static void a_function_that_asks_in_vain_leaves_no_request_parked(void **state)
{
    (void)state;
    parking_leave(parking_enter(&scene.lot, &scene.dr), ask_in_vain, NULL);
    assert_int_equal(scene.nwaits, 0);
    leave();
}

static void ask_again(duda_request_t *dr, void *arg)
{
    struct parking **p = arg;

    *p = parking_enter(&scene.lot, dr);
}

static void a_function_asks_for_more(void **state)
{
    struct parking *p = NULL;

    (void)state;
    parking_leave(parking_enter(&scene.lot, &scene.dr), ask_again, &p);
    assert_non_null(p);
    assert_int_equal(scene.nwaits, 1);
    parking_leave(p, count, &scene.dr);
    assert_int_equal(scene.nwaits, 0);
    leave();
}

static void end_request(duda_request_t *dr, void *arg)
{
    (void)arg;
    (void)dr;
    leave();
}

static void a_function_ends_the_request(void **state)
{
    (void)state;
    parking_leave(parking_enter(&scene.lot, &scene.dr), end_request, NULL);
    assert_null(scene.lot.chains[0]);
}

int main(void)
{
    static struct duda_api_gc gcs = {.call = call_at_end};
    static const struct duda_host host = {.size = sizeof(host), .park = park, .unpark = unpark};
    static struct duda_api_objects objects = {.host = &host};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_request_is_parked_until_its_last_answer, set_up),
        cmocka_unit_test_setup(an_answer_comes_after_the_request, set_up),
        cmocka_unit_test_setup(the_lot_ends_first, set_up),
        cmocka_unit_test_setup(a_function_that_asks_in_vain_leaves_no_request_parked, set_up),
        cmocka_unit_test_setup(a_function_asks_for_more, set_up),
        cmocka_unit_test_setup(a_function_ends_the_request, set_up),
    };

    gc = &gcs;
    duda_objects_given = &objects;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
