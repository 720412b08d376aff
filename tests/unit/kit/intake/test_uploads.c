/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "uploads.h"

/* ---- a worker: a clock, and alarms that a test lets go off ---- */

struct mk_alarm {
    mk_alarm_fn fn;
    void *arg;
    bool is_set;
};

static int64_t now_ms;
static bool no_memory;
static unsigned nalarms;

int64_t mk_worker_now_ms(const struct mk_worker *w)
{
    (void)w;
    return now_ms;
}

struct mk_alarm *mk_alarm_new(struct mk_worker *w, mk_alarm_fn fn, void *arg)
{
    struct mk_alarm *alarm = no_memory ? NULL : calloc(1, sizeof(*alarm));

    (void)w;
    if (!alarm)
        return NULL;
    *alarm = (struct mk_alarm){.fn = fn, .arg = arg};
    nalarms++;
    return alarm;
}

void mk_alarm_set(struct mk_alarm *alarm, unsigned ms)
{
    (void)ms;
    alarm->is_set = true;
}

void mk_alarm_free(struct mk_alarm *alarm)
{
    nalarms -= alarm != NULL;
    free(alarm);
}

/* ---- three uploads ---- */

struct one {
    struct upload upload;
    struct intake intake;
    bool has_ended;
};

static struct {
    struct uploads *all;
    struct one one[3];
    unsigned waiting;
} scene;

static unsigned waiting(void *of)
{
    assert_ptr_equal(of, &scene);
    return scene.waiting;
}

static void end(struct upload *upload)
{
    struct one *one = (struct one *)(void *)upload;

    one->has_ended = true;
    upload_leave(upload);
}

static void look_at(struct one *one)
{
    struct mk_alarm *alarm = one->upload.alarm;

    if (!alarm)
        return;
    assert_true(alarm->is_set);
    alarm->is_set = false;
    alarm->fn(alarm, alarm->arg);
}

static void look_at_all(void)
{
    for (size_t i = 0; i < 3; i++)
        look_at(&scene.one[i]);
}

/* They wait for their clients from then on. */
static int set_up(void **state)
{
    (void)state;
    now_ms = 1000;
    no_memory = false;
    scene.waiting = 0;
    scene.all = uploads_new(waiting, &scene);
    for (size_t i = 0; i < 3; i++) {
        struct one *one = &scene.one[i];

        *one = (struct one){.intake = {.mode = INTAKE_AUTO, .owes = true}};
        one->intake.arrival = (struct arrival){.waits = true, .since_ms = now_ms};
        assert_int_equal(upload_begin(&one->upload, scene.all, NULL, &one->intake, end), 0);
    }
    return scene.all ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        upload_leave(&scene.one[i].upload);
    assert_int_equal(nalarms, 0);
    uploads_free(scene.all);
    return 0;
}

static unsigned ended(void)
{
    return scene.one[0].has_ended + scene.one[1].has_ended + scene.one[2].has_ended;
}

static void test_nobody_ends_while_nobody_waits(void **state)
{
    (void)state;
    for (; now_ms < 60000; now_ms += 1000)
        look_at_all();
    assert_int_equal(ended(), 0);
}

static void test_the_slowest_ends_first(void **state)
{
    (void)state;
    scene.one[0].intake.arrival.balance = 3000;
    scene.one[2].intake.arrival.balance = 2000;
    now_ms = 2500;
    look_at_all(); /* nobody waits yet: who is slowest is known now */
    scene.waiting = 1;
    look_at(&scene.one[0]);
    look_at(&scene.one[2]);
    assert_int_equal(ended(), 0);
    look_at(&scene.one[1]);
    assert_true(scene.one[1].has_ended);
    look_at(&scene.one[0]);
    look_at(&scene.one[2]);
    assert_int_equal(ended(), 1); /* what it held is on its way to who waits */
    now_ms += 1000;
    look_at(&scene.one[0]);
    look_at(&scene.one[2]);
    assert_true(scene.one[2].has_ended && !scene.one[0].has_ended);
}

static void test_as_many_end_as_wait(void **state)
{
    (void)state;
    now_ms = 2500;
    look_at_all();
    scene.waiting = 2;
    look_at_all();
    assert_int_equal(ended(), 2);
}

static void test_who_is_not_slow_does_not_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        scene.one[i].intake.arrival.balance = ARRIVAL_MOST;
    scene.waiting = 9;
    now_ms = 4000;
    look_at_all();
    assert_int_equal(ended(), 0);
    now_ms = 9000;
    look_at_all();
    assert_int_equal(ended(), 3);
}

static void test_a_whole_body_is_not_looked_at(void **state)
{
    struct one late = {.intake = {.mode = INTAKE_AUTO}};

    (void)state;
    scene.waiting = 1;
    now_ms = 9000;
    for (size_t i = 0; i < 3; i++)
        scene.one[i].intake.owes = false;
    look_at_all();
    assert_int_equal(ended(), 0);
    assert_int_equal(nalarms, 0);
    assert_int_equal(upload_begin(&late.upload, scene.all, NULL, &late.intake, end), 0);
    late.intake = (struct intake){.mode = INTAKE_OFF, .owes = true};
    assert_int_equal(upload_begin(&late.upload, scene.all, NULL, &late.intake, end), 0);
    assert_int_equal(nalarms, 0);
    upload_leave(&late.upload);
}

static void test_without_memory(void **state)
{
    struct one late = {.intake = {.mode = INTAKE_AUTO, .owes = true}};

    (void)state;
    no_memory = true;
    assert_int_equal(upload_begin(&late.upload, scene.all, NULL, &late.intake, end), MK_E_NOMEM);
    upload_leave(&late.upload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nobody_ends_while_nobody_waits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_slowest_ends_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_as_many_end_as_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_who_is_not_slow_does_not_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_whole_body_is_not_looked_at, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_without_memory, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
