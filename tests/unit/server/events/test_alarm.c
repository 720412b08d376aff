/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <monkey/events.h>

#include <time.h>

struct probe {
    struct mk_alarm *alarm, *other;
    unsigned calls, again_soon;
    bool frees, frees_other;
};

static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    struct probe *p = arg;

    p->calls++;
    if (p->again_soon > 0) {
        p->again_soon--;
        mk_alarm_soon(alarm);
    }
    if (p->frees_other) {
        mk_alarm_free(p->other);
        p->other = NULL;
    }
    if (p->frees) {
        mk_alarm_free(alarm);
        p->alarm = NULL;
    }
}

static void open_probe(struct probe *p, struct mk_worker *w)
{
    *p = (struct probe){.alarm = mk_alarm_new(w, on_alarm, p)};
    assert_non_null(p->alarm);
}

static void turn(struct mk_worker *w, int max_ms)
{
    mk_loop_turn(&w->loop, max_ms, NULL, NULL);
}

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int set_up(void **state)
{
    static struct fixture f;

    dir_make(f.dir);
    fixture_open(&f, NULL);
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    fixture_close(f);
    dir_remove(f->dir);
    return 0;
}

static void fires_once_and_not_early(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    int64_t from, took;
    struct probe p;

    open_probe(&p, w);
    turn(w, 0);
    from = mk_worker_now_ms(w);
    mk_alarm_set(p.alarm, 60000);
    mk_alarm_set(p.alarm, 150); /* the later setting counts */
    while (p.calls == 0 && now_ms() < from + 5000)
        turn(w, 1000);
    took = mk_worker_now_ms(w) - from;
    assert_int_equal(p.calls, 1);
    assert_in_range(took, 150, 2000);
    turn(w, 150);
    assert_int_equal(p.calls, 1);
    mk_alarm_set(p.alarm, 1);
    mk_alarm_cancel(p.alarm);
    turn(w, 150);
    assert_int_equal(p.calls, 1);
    mk_alarm_free(p.alarm);
}

static void soon_comes_at_the_end_of_the_turn(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p;

    open_probe(&p, w);
    mk_alarm_set(p.alarm, 1);
    mk_alarm_soon(p.alarm); /* instead of the time */
    mk_alarm_soon(p.alarm);
    assert_int_equal(p.calls, 0);
    turn(w, -1); /* does not sleep */
    assert_int_equal(p.calls, 1);
    for (int i = 0; i < 3; i++) /* the clock is coarse */
        turn(w, 100);
    assert_int_equal(p.calls, 1);
    mk_alarm_soon(p.alarm);
    mk_alarm_cancel(p.alarm);
    turn(w, 0);
    assert_int_equal(p.calls, 1);
    mk_alarm_soon(p.alarm);
    mk_alarm_set(p.alarm, 60000);
    turn(w, 0);
    assert_int_equal(p.calls, 1);
    mk_alarm_free(p.alarm);
}

static void soon_inside_soon_is_the_next_turn(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;
    struct probe p;

    open_probe(&p, w);
    p.again_soon = 2;
    mk_alarm_soon(p.alarm);
    turn(w, -1);
    assert_int_equal(p.calls, 1);
    turn(w, -1);
    assert_int_equal(p.calls, 2);
    turn(w, -1);
    assert_int_equal(p.calls, 3);
    turn(w, 0);
    assert_int_equal(p.calls, 3);
    mk_alarm_free(p.alarm);
}

/* In one round: the first frees the second and itself. */
static void frees_inside_its_call(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;

    for (int soon = 0; soon < 2; soon++) {
        struct probe p, q;

        open_probe(&p, w);
        open_probe(&q, w);
        p.frees = p.frees_other = true;
        p.other = q.alarm;
        if (soon) {
            mk_alarm_soon(p.alarm);
            mk_alarm_soon(q.alarm);
        } else {
            mk_alarm_set(p.alarm, 1);
            mk_alarm_set(q.alarm, 1);
        }
        for (int i = 0; i < 50 && p.calls == 0; i++)
            turn(w, 100);
        turn(w, 150);
        assert_int_equal(p.calls, 1);
        assert_int_equal(q.calls, 0);
        assert_null(p.alarm);
    }
    mk_alarm_free(NULL);
}

static void no_memory_is_told(void **state)
{
    struct mk_worker *w = ((struct fixture *)*state)->worker;

    mk_heap_fail_after(0);
    assert_null(mk_alarm_new(w, on_alarm, NULL));
    mk_heap_fail_after(-1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fires_once_and_not_early),
        cmocka_unit_test(soon_comes_at_the_end_of_the_turn),
        cmocka_unit_test(soon_inside_soon_is_the_next_turn),
        cmocka_unit_test(frees_inside_its_call),
        cmocka_unit_test(no_memory_is_told),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
