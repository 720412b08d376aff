/* SPDX-License-Identifier: Apache-2.0 */
#include "core_test.h"

#include "core/timer.h"

struct probe {
    struct mk_timer timer;
    struct mk_wheel *wheel;
    int fired;
    int64_t again_ms;      /* set itself again in the call-back; 0: not */
    struct mk_timer *kill; /* cancel this one in the call-back */
};

static void on_fire(struct mk_timer *t)
{
    struct probe *p = MK_CONTAINER_OF(t, struct probe, timer);

    p->fired++;
    if (p->again_ms)
        mk_timer_set(p->wheel, t, p->again_ms);
    if (p->kill)
        mk_timer_cancel(p->kill);
}

static void init(struct probe *p, struct mk_wheel *w)
{
    *p = (struct probe){.wheel = w};
    mk_timer_init(&p->timer, on_fire);
}

/* Not before its time, and at most one tick after it. */
static void fires_on_time(void **state)
{
    static const struct {
        const char *sentence;
        int64_t start_ms, at_ms;
    } rows[] = {
        {"on a tick", 100000, 100500},
        {"between two ticks", 100000, 100501},
        {"just before one", 100000, 100599},
        {"started between two ticks", 100050, 100060},
        {"now", 100000, 100000},
        {"in the past", 100000, 5000},
        {"at the last slot of a round", 100000, 100000 + 255 * 100},
        {"one round away", 100000, 100000 + 256 * 100},
        {"several rounds away", 100000, 100000 + 1000 * 100},
        {"an hour away", 100000, 100000 + 3600000},
        {"where ticks wrap", INT64_C(429496729500), INT64_C(429496729500) + 5000},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        int64_t at_ms = rows[i].at_ms < rows[i].start_ms ? rows[i].start_ms : rows[i].at_ms;
        struct mk_wheel w;
        struct probe p;
        int64_t now_ms = rows[i].start_ms;

        mk_wheel_init(&w, now_ms);
        init(&p, &w);
        mk_timer_set(&w, &p.timer, rows[i].at_ms);
        for (; p.fired == 0 && now_ms < at_ms + 1000; now_ms += 10)
            mk_wheel_run(&w, now_ms);
        now_ms -= 10;
        if (p.fired != 1 || now_ms < at_ms || now_ms > at_ms + 2 * MK_TICK_MS)
            fail_msg("%s: fired %d times, %lld ms after", rows[i].sentence, p.fired,
                     (long long)(now_ms - at_ms));
        assert_false(mk_timer_is_set(&p.timer));
    }
}

static void fires_after_a_long_sleep(void **state)
{
    struct mk_wheel w;
    struct probe p[100];

    (void)state;
    mk_wheel_init(&w, 0);
    for (int i = 0; i < 100; i++) {
        init(&p[i], &w);
        mk_timer_set(&w, &p[i].timer, i * 1000);
    }
    mk_wheel_run(&w, 50000);
    for (int i = 0; i < 100; i++)
        assert_int_equal(p[i].fired, i <= 50);
    mk_wheel_run(&w, 200000);
    for (int i = 0; i < 100; i++)
        assert_int_equal(p[i].fired, 1);
}

static void moves_later_and_earlier(void **state)
{
    struct mk_wheel w;
    struct probe p;

    (void)state;
    mk_wheel_init(&w, 0);
    init(&p, &w);
    mk_timer_set(&w, &p.timer, 1000);
    mk_timer_set(&w, &p.timer, 5000); /* stays in its slot */
    mk_wheel_run(&w, 4900);
    assert_int_equal(p.fired, 0);
    mk_timer_set(&w, &p.timer, 6000);
    mk_timer_set(&w, &p.timer, 5500); /* earlier than the last, later than its slot */
    mk_wheel_run(&w, 5400);
    assert_int_equal(p.fired, 0);
    mk_wheel_run(&w, 5500);
    assert_int_equal(p.fired, 1);
    mk_timer_set(&w, &p.timer, 100000);
    mk_timer_set(&w, &p.timer, 6000); /* earlier than its slot */
    mk_wheel_run(&w, 6000);
    assert_int_equal(p.fired, 2);
    mk_wheel_run(&w, 200000);
    assert_int_equal(p.fired, 2);
}

static void call_backs_may_set_and_cancel(void **state)
{
    struct mk_wheel w;
    struct probe again, killer, victim;

    (void)state;
    mk_wheel_init(&w, 0);
    init(&again, &w);
    init(&killer, &w);
    init(&victim, &w);
    again.again_ms = 2000;
    killer.kill = &victim.timer;
    mk_timer_set(&w, &again.timer, 1000);
    mk_timer_set(&w, &killer.timer, 1000);
    mk_timer_set(&w, &victim.timer, 1000);
    mk_wheel_run(&w, 1000);
    assert_int_equal(again.fired, 1);
    assert_true(mk_timer_is_set(&again.timer));
    assert_int_equal(killer.fired, 1);
    assert_int_equal(victim.fired, 0);
    again.again_ms = 0;
    mk_wheel_run(&w, 3000);
    assert_int_equal(again.fired, 2);
}

/* A timer that renews itself for now fires once a run: no run lasts for ever. */
static void a_timer_for_now_waits_a_tick(void **state)
{
    struct mk_wheel w;
    struct probe p;

    (void)state;
    mk_wheel_init(&w, 1000);
    init(&p, &w);
    p.again_ms = 1;
    mk_timer_set(&w, &p.timer, 1000);
    mk_wheel_run(&w, 1100);
    assert_int_equal(p.fired, 1);
    mk_wheel_run(&w, 1100);
    assert_int_equal(p.fired, 1);
}

static void says_how_long_to_wait(void **state)
{
    static const struct {
        const char *sentence;
        int64_t now_ms, at_ms;
        int at_least, at_most;
    } rows[] = {
        {"soon", 100000, 100500, 400, 500},
        {"soon, seen from between two ticks", 100050, 100500, 350, 450},
        {"the next tick", 100000, 100100, 1, 100},
        {"more than a round", 100000, 200000, 25000, 25600},
    };
    struct mk_wheel w;

    (void)state;
    mk_wheel_init(&w, 100000);
    assert_int_equal(mk_wheel_wait_ms(&w, 100000), -1);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct probe p;
        int wait_ms;

        mk_wheel_init(&w, 100000);
        init(&p, &w);
        mk_timer_set(&w, &p.timer, rows[i].at_ms);
        wait_ms = mk_wheel_wait_ms(&w, rows[i].now_ms);
        if (wait_ms < rows[i].at_least || wait_ms > rows[i].at_most)
            fail_msg("%s: %d", rows[i].sentence, wait_ms);
        assert_int_equal(mk_wheel_wait_ms(&w, rows[i].at_ms + 5000), 0);
    }
}

/* Sleeping as long as told never misses a timer and needs few wake-ups. */
static void sleeping_as_told_is_enough(void **state)
{
    struct mk_wheel w;
    struct probe p[50];
    int64_t now_ms = 77777;
    int wakes = 0;

    (void)state;
    srand(1);
    mk_wheel_init(&w, now_ms);
    for (int i = 0; i < 50; i++) {
        init(&p[i], &w);
        p[i].again_ms = 0;
        mk_timer_set(&w, &p[i].timer, now_ms + rand() % 100000);
    }
    for (;; wakes++) {
        int wait_ms = mk_wheel_wait_ms(&w, now_ms);

        if (wait_ms < 0)
            break;
        now_ms += wait_ms;
        mk_wheel_run(&w, now_ms);
        assert_true(wakes < 300);
    }
    for (int i = 0; i < 50; i++)
        assert_int_equal(p[i].fired, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fires_on_time),
        cmocka_unit_test(fires_after_a_long_sleep),
        cmocka_unit_test(moves_later_and_earlier),
        cmocka_unit_test(call_backs_may_set_and_cancel),
        cmocka_unit_test(a_timer_for_now_waits_a_tick),
        cmocka_unit_test(says_how_long_to_wait),
        cmocka_unit_test(sleeping_as_told_is_enough),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
