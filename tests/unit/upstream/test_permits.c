/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "upstream/permits.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

enum { LANES = 3 };

static struct mk_permits permits;

static void open_permits(unsigned max, unsigned max_waiting, unsigned max_idle)
{
    assert_int_equal(mk_permits_init(&permits, LANES, max, max_waiting, max_idle), 0);
}

static void close_permits(void)
{
    mk_permits_fini(&permits);
    assert_int_equal(mk_heap_live(), 0);
}

/* @return what came of it, with the lane to tell in hundreds. */
static int take(struct mk_permit_wait *wait, unsigned lane, bool fresh)
{
    int tell, ret;

    *wait = (struct mk_permit_wait){.lane = lane, .fresh = fresh};
    ret = mk_permits_take(&permits, wait, &tell);
    return tell < 0 ? ret : ret + 100 * (tell + 1);
}

static enum mk_keep keep(unsigned lane, struct mk_permit_wait **heir)
{
    return mk_permits_keep(&permits, lane, heir);
}

static unsigned surrender(unsigned lane, struct mk_permit_wait **heir)
{
    struct mk_list heirs;
    unsigned n = mk_permits_surrender(&permits, lane, &heirs);

    *heir = NULL;
    if (!mk_list_is_empty(&heirs)) {
        *heir = MK_CONTAINER_OF(heirs.next, struct mk_permit_wait, link);
        mk_list_remove(heirs.next);
    }
    assert_true(mk_list_is_empty(&heirs));
    return n;
}

static void assert_load(unsigned open, unsigned idle, unsigned waiting)
{
    unsigned o, i, w;

    mk_permits_load(&permits, &o, &i, &w);
    if (o != open || i != idle || w != waiting)
        fail_msg("%u open, %u idle, %u waiting; not %u, %u, %u", o, i, w, open, idle, waiting);
}

/* ---- one thing at a time ---- */

static void the_oldest_waiter_is_next(void **state)
{
    struct mk_permit_wait a, b, c, d;

    (void)state;
    open_permits(1, 3, 0);
    assert_int_equal(take(&a, 0, false), MK_PERMIT_NEW);
    assert_int_equal(take(&b, 1, false), MK_PERMIT_WAIT);
    assert_int_equal(take(&c, 2, false), MK_PERMIT_WAIT);
    assert_int_equal(take(&d, 0, false), MK_PERMIT_WAIT);
    assert_load(1, 0, 3);
    assert_ptr_equal(mk_permits_put(&permits), &b);
    assert_true(mk_permits_leave(&permits, &c));
    assert_false(mk_permits_leave(&permits, &b)); /* has a permit already */
    assert_ptr_equal(mk_permits_put(&permits), &d);
    assert_null(mk_permits_put(&permits));
    assert_load(0, 0, 0);
    close_permits();
}

static void waiting_is_bounded(void **state)
{
    struct mk_permit_wait a, b, c;

    (void)state;
    open_permits(1, 1, 0);
    assert_int_equal(take(&a, 0, false), MK_PERMIT_NEW);
    assert_int_equal(take(&b, 0, false), MK_PERMIT_WAIT);
    assert_int_equal(take(&c, 0, false), MK_E_BUSY);
    assert_true(mk_permits_leave(&permits, &b));
    assert_int_equal(take(&c, 0, false), MK_PERMIT_WAIT);
    assert_ptr_equal(mk_permits_put(&permits), &c);
    assert_null(mk_permits_put(&permits));
    close_permits();
}

static void no_bound_waits_for_nothing(void **state)
{
    struct mk_permit_wait wait;

    (void)state;
    open_permits(0, 0, 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(take(&wait, 0, false), MK_PERMIT_NEW);
    for (int i = 0; i < 1000; i++)
        assert_null(mk_permits_put(&permits));
    close_permits();
}

static void keeps_so_many_a_lane(void **state)
{
    struct mk_permit_wait wait, *heir;

    (void)state;
    open_permits(0, 0, 2);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(take(&wait, 0, false), MK_PERMIT_NEW);
    assert_int_equal(keep(0, &heir), MK_KEEP_IDLE);
    assert_int_equal(keep(0, &heir), MK_KEEP_IDLE);
    assert_int_equal(keep(0, &heir), MK_KEEP_CLOSE);
    assert_null(heir);
    assert_load(3, 2, 0);
    assert_int_equal(take(&wait, 1, false), MK_PERMIT_NEW); /* not of another lane */
    assert_int_equal(take(&wait, 0, true), MK_PERMIT_NEW);
    assert_int_equal(take(&wait, 0, false), MK_PERMIT_IDLE);
    assert_null(mk_permits_lose(&permits, 0));
    for (int i = 0; i < 4; i++)
        assert_null(mk_permits_put(&permits));
    assert_load(0, 0, 0);
    close_permits();
}

static void a_connection_goes_to_the_oldest_of_its_lane_only(void **state)
{
    struct mk_permit_wait a, b, *heir;

    (void)state;
    open_permits(1, 2, 1);
    assert_int_equal(take(&a, 0, false), MK_PERMIT_NEW);
    assert_int_equal(take(&a, 0, false), MK_PERMIT_WAIT);
    assert_int_equal(keep(0, &heir), MK_KEEP_HAND);
    assert_ptr_equal(heir, &a);
    assert_int_equal(take(&b, 1, false), MK_PERMIT_WAIT);
    assert_int_equal(take(&a, 0, false), MK_PERMIT_WAIT);
    assert_int_equal(keep(0, &heir), MK_KEEP_CLOSE); /* the oldest is elsewhere */
    assert_ptr_equal(heir, &b);
    assert_ptr_equal(mk_permits_put(&permits), &a);
    assert_int_equal(take(&b, 0, true), MK_PERMIT_WAIT);
    assert_int_equal(keep(0, &heir), MK_KEEP_CLOSE); /* wants a new one */
    assert_ptr_equal(heir, &b);
    assert_null(mk_permits_put(&permits));
    close_permits();
}

static void another_lanes_idle_one_is_given_up(void **state)
{
    struct mk_permit_wait a, b, c, *heir;

    (void)state;
    open_permits(1, 0, 1);
    assert_int_equal(take(&a, 0, false), MK_PERMIT_NEW);
    assert_int_equal(keep(0, &heir), MK_KEEP_IDLE);
    assert_int_equal(take(&b, 1, false), MK_PERMIT_WAIT + 100); /* though none may wait in vain */
    assert_int_equal(take(&c, 2, false), MK_E_BUSY);
    assert_int_equal(take(&c, 0, false), MK_E_BUSY); /* it is promised */
    assert_int_equal(surrender(0, &heir), 1);
    assert_ptr_equal(heir, &b);
    assert_load(1, 0, 0);
    assert_null(mk_permits_put(&permits));
    close_permits();
}

static void what_was_asked_for_nobody_stays(void **state)
{
    struct mk_permit_wait a, b, *heir;

    (void)state;
    open_permits(1, 1, 1);
    assert_int_equal(take(&a, 0, false), MK_PERMIT_NEW);
    assert_int_equal(keep(0, &heir), MK_KEEP_IDLE);
    assert_int_equal(take(&b, 1, false), MK_PERMIT_WAIT + 100);
    assert_true(mk_permits_leave(&permits, &b));
    assert_int_equal(surrender(0, &heir), 0);
    assert_null(heir);
    assert_load(1, 1, 0);
    assert_int_equal(take(&b, 0, true), MK_PERMIT_WAIT + 100); /* its own, for a new one */
    assert_true(mk_permits_leave(&permits, &b));
    assert_int_equal(take(&b, 1, false), MK_PERMIT_WAIT); /* asked already */
    assert_int_equal(surrender(0, &heir), 1);
    assert_ptr_equal(heir, &b);
    assert_null(mk_permits_put(&permits));
    close_permits();
}

static void an_idle_one_that_ends_serves_the_waiter(void **state)
{
    struct mk_permit_wait a, b, *heir;

    (void)state;
    open_permits(1, 1, 1);
    assert_int_equal(take(&a, 0, false), MK_PERMIT_NEW);
    assert_int_equal(keep(0, &heir), MK_KEEP_IDLE);
    assert_int_equal(take(&b, 1, false), MK_PERMIT_WAIT + 100);
    assert_ptr_equal(mk_permits_lose(&permits, 0), &b);
    assert_int_equal(surrender(0, &heir), 0);
    assert_int_equal(permits.asked, 0);
    assert_null(mk_permits_put(&permits));
    close_permits();
}

static void nothing_is_kept_behind_close(void **state)
{
    struct mk_permit_wait a, *heir;

    (void)state;
    open_permits(0, 1, 2);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(&a, 1, false), MK_PERMIT_NEW);
    assert_int_equal(keep(1, &heir), MK_KEEP_IDLE);
    assert_int_equal(keep(1, &heir), MK_KEEP_IDLE);
    assert_true(mk_permits_must_tell(&permits, 1));
    assert_false(mk_permits_must_tell(&permits, 1)); /* once */
    assert_false(mk_permits_must_tell(&permits, 0));
    mk_permits_close(&permits);
    assert_int_equal(surrender(1, &heir), 2);
    assert_int_equal(keep(1, &heir), MK_KEEP_CLOSE);
    assert_load(0, 0, 0);
    close_permits();
}

static void without_memory_there_are_none(void **state)
{
    (void)state;
    mk_heap_fail_after(0);
    assert_int_equal(mk_permits_init(&permits, LANES, 1, 1, 1), MK_E_NOMEM);
    mk_heap_fail_after(-1);
}

/* ---- many things in any order ---- */

enum { SCHEDULES = 10000, STEPS = 60, WAITS = 8 };

/** What the lanes of a schedule have. */
struct world {
    unsigned seed, in_use[LANES], told[LANES];
    struct mk_permit_wait waits[WAITS];
    bool waiting[WAITS];
};

static unsigned any(struct world *w, unsigned below)
{
    w->seed = w->seed * 1103515245U + 12345U;
    return (w->seed >> 16) % below;
}

static unsigned sum(const unsigned lanes[LANES])
{
    return lanes[0] + lanes[1] + lanes[2];
}

/* What permits.h says is always so. */
static void check_world(const struct world *w, unsigned schedule)
{
    unsigned idle = 0, asked = 0, waiting = 0;

    for (int i = 0; i < LANES; i++) {
        const struct mk_permit_lane *lane = &permits.lanes[i];

        idle += lane->idle;
        asked += lane->asked;
        assert_true(lane->asked <= lane->idle && lane->idle <= permits.max_idle);
        assert_int_equal(lane->told, w->told[i]);
        assert_true(lane->told || lane->asked == 0);
    }
    for (int i = 0; i < WAITS; i++)
        waiting += w->waiting[i];
    if (permits.open != sum(w->in_use) + idle || permits.idle != idle || permits.asked != asked ||
        permits.nwaiting != waiting || (permits.max > 0 && permits.open > permits.max) ||
        (waiting > 0 && permits.open < permits.max) ||
        (asked < waiting && asked < idle)) /* somebody waits in vain */
        fail_msg("schedule %u: open %u, in use %u, idle %u, asked %u, waiting %u", schedule,
                 permits.open, sum(w->in_use), idle, asked, waiting);
}

static void wake(struct world *w, struct mk_permit_wait *heir)
{
    if (!heir)
        return;
    assert_true(w->waiting[heir - w->waits]);
    w->waiting[heir - w->waits] = false;
    w->in_use[heir->lane]++;
}

static void step_take(struct world *w, unsigned lane)
{
    unsigned i = any(w, WAITS);
    int ret;

    if (w->waiting[i])
        return;
    ret = take(&w->waits[i], lane, any(w, 4) == 0);
    if (ret >= 100) {
        w->told[ret / 100 - 1]++;
        ret %= 100;
    }
    if (ret == MK_PERMIT_WAIT)
        w->waiting[i] = true;
    else if (ret >= 0)
        w->in_use[lane]++;
}

static void step_leave(struct world *w)
{
    unsigned i = any(w, WAITS);

    if (!w->waiting[i])
        return;
    assert_true(mk_permits_leave(&permits, &w->waits[i]));
    w->waiting[i] = false;
}

static void step_put(struct world *w, unsigned lane)
{
    if (w->in_use[lane] == 0)
        return;
    w->in_use[lane]--;
    wake(w, mk_permits_put(&permits));
}

static void step_keep(struct world *w, unsigned lane)
{
    struct mk_permit_wait *heir;

    if (w->in_use[lane] == 0)
        return;
    w->in_use[lane]--;
    (void)keep(lane, &heir);
    wake(w, heir);
}

static void step_surrender(struct world *w, unsigned lane)
{
    struct mk_list heirs;

    if (w->told[lane] == 0)
        return;
    w->told[lane]--;
    (void)!mk_permits_surrender(&permits, lane, &heirs);
    MK_LIST_EACH (&heirs, link) {
        mk_list_remove(link);
        wake(w, MK_CONTAINER_OF(link, struct mk_permit_wait, link));
    }
}

static void step(struct world *w)
{
    unsigned lane = any(w, LANES);

    switch (any(w, 8)) {
    case 0:
        step_put(w, lane);
        break;
    case 1:
    case 2:
        step_keep(w, lane);
        break;
    case 3:
        step_leave(w);
        break;
    case 4:
        step_surrender(w, lane);
        break;
    case 5:
        if (permits.lanes[lane].idle > 0)
            wake(w, mk_permits_lose(&permits, lane));
        break;
    default:
        step_take(w, lane);
    }
}

static void end_world(struct world *w)
{
    for (int i = 0; i < WAITS; i++) {
        if (w->waiting[i])
            assert_true(mk_permits_leave(&permits, &w->waits[i]));
        w->waiting[i] = false;
    }
    mk_permits_close(&permits);
    for (unsigned lane = 0; lane < LANES; lane++) {
        w->told[lane] += mk_permits_must_tell(&permits, lane);
        step_surrender(w, lane);
        while (w->in_use[lane] > 0)
            step_put(w, lane);
    }
    assert_load(0, 0, 0);
    close_permits();
}

static void no_permit_is_lost_in_any_order(void **state)
{
    (void)state;
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
        struct world w = {.seed = schedule};
        unsigned max = any(&w, 5), max_waiting = any(&w, 4), max_idle = any(&w, 3);

        open_permits(max, max_waiting, max_idle);
        for (int i = 0; i < STEPS; i++) {
            step(&w);
            check_world(&w, schedule);
        }
        end_world(&w);
    }
}

/* ---- from several threads ---- */

enum { THREADS = 3, ROUNDS = 5000, SHARE = 2 };

static struct box {
    struct mk_permit_wait wait;
    atomic_int has_permit, told;
} boxes[THREADS];
static atomic_int in_use, done;
static atomic_bool finished;

static void give_to(struct mk_permit_wait *heir)
{
    if (heir)
        atomic_store(&MK_CONTAINER_OF(heir, struct box, wait)->has_permit, 1);
}

/* Does what its lane was told. */
static void look_after(unsigned lane)
{
    struct mk_list heirs;

    if (!atomic_exchange(&boxes[lane].told, 0))
        return;
    (void)!mk_permits_surrender(&permits, lane, &heirs);
    MK_LIST_EACH (&heirs, link) {
        mk_list_remove(link);
        give_to(MK_CONTAINER_OF(link, struct mk_permit_wait, link));
    }
}

static bool get_permit(struct box *box, unsigned lane, bool fresh)
{
    int tell, ret;

    box->wait = (struct mk_permit_wait){.lane = lane, .fresh = fresh};
    atomic_store(&box->has_permit, 0);
    ret = mk_permits_take(&permits, &box->wait, &tell);
    if (tell >= 0)
        atomic_store(&boxes[tell].told, 1);
    if (ret != MK_PERMIT_WAIT)
        return ret >= 0;
    for (int turns = 0; !atomic_load(&box->has_permit); turns++) {
        look_after(lane);
        if (turns == 300 && mk_permits_leave(&permits, &box->wait))
            return false;
        (void)sched_yield();
    }
    return true;
}

static void *use_permits(void *arg)
{
    unsigned lane = (unsigned)(uintptr_t)arg;
    struct mk_permit_wait *heir;

    for (unsigned i = 0; i < ROUNDS; i++) {
        if (!get_permit(&boxes[lane], lane, i % 7 == 0))
            continue;
        assert_true(atomic_fetch_add(&in_use, 1) < SHARE);
        atomic_fetch_sub(&in_use, 1);
        if (i % 5 == 0)
            give_to(mk_permits_put(&permits));
        else if (mk_permits_keep(&permits, lane, &heir) == MK_KEEP_HAND)
            fail_msg("one waiter a lane, and it is busy");
        else
            give_to(heir);
        look_after(lane);
    }
    atomic_fetch_add(&done, 1);
    while (!atomic_load(&finished)) { /* others may still ask for what this lane keeps */
        look_after(lane);
        (void)sched_yield();
    }
    return NULL;
}

static void threads_share_permits(void **state)
{
    pthread_t threads[THREADS];
    struct mk_permit_wait *heir;

    (void)state;
    open_permits(SHARE, THREADS, 1);
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_permits, (void *)i), 0);
    while (atomic_load(&done) < THREADS)
        (void)sched_yield();
    atomic_store(&finished, true);
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    mk_permits_close(&permits);
    for (unsigned i = 0; i < LANES; i++)
        (void)surrender(i, &heir);
    assert_load(0, 0, 0);
    close_permits();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_oldest_waiter_is_next),
        cmocka_unit_test(waiting_is_bounded),
        cmocka_unit_test(no_bound_waits_for_nothing),
        cmocka_unit_test(keeps_so_many_a_lane),
        cmocka_unit_test(a_connection_goes_to_the_oldest_of_its_lane_only),
        cmocka_unit_test(another_lanes_idle_one_is_given_up),
        cmocka_unit_test(what_was_asked_for_nobody_stays),
        cmocka_unit_test(an_idle_one_that_ends_serves_the_waiter),
        cmocka_unit_test(nothing_is_kept_behind_close),
        cmocka_unit_test(without_memory_there_are_none),
        cmocka_unit_test(no_permit_is_lost_in_any_order),
        cmocka_unit_test(threads_share_permits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
