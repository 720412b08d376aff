/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "server/worker/ask.h"
#include "server/worker/worker.h"

static unsigned heard;
static struct mk_ask ask;

static void on_ask(struct mk_post *post)
{
    assert_ptr_equal(post, &ask.post);
    mk_ask_begin(&ask);
    heard++;
}

static void asked_twice_before_it_looks_a_worker_hears_once(void **state)
{
    static struct mk_worker w;

    (void)state;
    assert_int_equal(mk_loop_init(&w.loop), 0);
    mk_ask_init(&ask, on_ask);
    mk_ask(&w, &ask);
    mk_ask(&w, &ask);
    mk_loop_turn(&w.loop, 0, NULL, NULL);
    assert_int_equal(heard, 1);
    mk_loop_turn(&w.loop, 0, NULL, NULL);
    assert_int_equal(heard, 1);
    mk_ask(&w, &ask);
    mk_loop_turn(&w.loop, 0, NULL, NULL);
    assert_int_equal(heard, 2);
    mk_loop_fini(&w.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_twice_before_it_looks_a_worker_hears_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
