/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/events/dthread.h"
#include "objects/events/fiber.h"

static const struct duda_api_dthread *const dthread = &mk_duda_dthread;

/* What the dthreads of a test do, in order. */
struct story {
    char text[512];
    int first, second;
    duda_dthread_channel_t *chan;
    int numbers[64];
    int n, result;
};

static void tell(struct story *s, const char *what)
{
    size_t len = strlen(s->text);

    (void)snprintf(s->text + len, sizeof(s->text) - len, "%s ", what);
}

static void yields_once(void *arg)
{
    struct story *s = arg;

    tell(s, "begin");
    s->result = dthread->status(dthread->running());
    dthread->yield();
    tell(s, "end");
}

static void goes_from_ready_to_dead(void **state)
{
    struct story s = {0};

    (void)state;
    assert_int_equal(dthread->running(), -1);
    s.first = dthread->create(yields_once, &s);
    assert_int_equal(s.first, 0);
    assert_int_equal(dthread->status(s.first), DTHREAD_READY);
    assert_string_equal(s.text, "");
    dthread->resume(s.first);
    tell(&s, "between");
    assert_int_equal(s.result, DTHREAD_RUNNING);
    assert_int_equal(dthread->status(s.first), DTHREAD_SUSPEND);
    assert_int_equal(dthread->running(), -1);
    dthread->resume(s.first);
    assert_int_equal(dthread->status(s.first), DTHREAD_DEAD);
    assert_string_equal(s.text, "begin between end ");
    dthread->resume(s.first); /* nothing happens */
    assert_string_equal(s.text, "begin between end ");
}

static void resumes_the_second(void *arg)
{
    struct story *s = arg;

    tell(s, "first");
    dthread->resume(s->second);
    tell(s, "first-again");
}

static void tells(void *arg)
{
    tell(arg, "second");
}

static void control_returns_to_the_resumer(void **state)
{
    struct story s = {0};

    (void)state;
    s.first = dthread->create(resumes_the_second, &s);
    s.second = dthread->create(tells, &s);
    dthread->resume(s.first);
    tell(&s, "outside");
    assert_string_equal(s.text, "first second first-again outside ");
}

static void resumes_the_first(void *arg)
{
    struct story *s = arg;

    tell(s, "second");
    dthread->resume(s->first);
    tell(s, "never");
}

/* The second resumes its own resumer, which ends: control goes outside, not to the second. */
static void a_resumer_that_is_resumed_ends_where_it_would_have(void **state)
{
    struct story s = {0};

    (void)state;
    s.first = dthread->create(resumes_the_second, &s);
    s.second = dthread->create(resumes_the_first, &s);
    dthread->resume(s.first);
    assert_string_equal(s.text, "first second first-again ");
    assert_int_equal(dthread->status(s.first), DTHREAD_DEAD);
    assert_int_equal(dthread->status(s.second), DTHREAD_SUSPEND);
    mk_duda_dthread_forget();
    assert_int_equal(dthread->status(s.second), DTHREAD_DEAD);
}

static void yield_returns_outside_from_any_depth(void **state)
{
    struct story s = {0};

    (void)state;
    s.first = dthread->create(resumes_the_second, &s);
    s.second = dthread->create(yields_once, &s);
    dthread->resume(s.first);
    tell(&s, "outside");
    dthread->resume(s.second);
    tell(&s, "outside");
    dthread->resume(s.first);
    assert_string_equal(s.text, "first begin outside end outside first-again ");
}

/* ---- channels ---- */

static void produces(void *arg)
{
    struct story *s = arg;

    for (int i = 0; i < s->n && s->result == DTHREAD_CHANNEL_OK; i++) {
        s->numbers[i] = i;
        s->result = dthread->chan_send(s->chan, &s->numbers[i]);
        if (s->result == DTHREAD_CHANNEL_OK)
            tell(s, "+");
    }
    dthread->chan_end(s->chan);
}

static void consumes(void *arg)
{
    struct story *s = arg;
    char text[16];

    while (!dthread->chan_done(s->chan)) {
        const int *number = dthread->chan_recv(s->chan);

        if (!number)
            continue;
        (void)snprintf(text, sizeof(text), "%d", *number);
        tell(s, text);
    }
}

static void join(struct story *s, int size, duda_dthread_func producer, duda_dthread_func consumer)
{
    s->chan = dthread->chan_create(size);
    assert_non_null(s->chan);
    s->first = dthread->create(producer, s);
    s->second = dthread->create(consumer, s);
    dthread->chan_set_sender(s->chan, s->first);
    dthread->chan_set_receiver(s->chan, s->second);
    assert_int_equal(dthread->chan_get_sender(s->chan), s->first);
    assert_int_equal(dthread->chan_get_receiver(s->chan), s->second);
}

static void a_channel_holds_one_more_than_its_size(void **state)
{
    static const struct {
        int size;
        const char *story;
    } rows[] = {
        {0, "+ 0 + 1 + 2 + 3 "},
        {1, "+ + 0 1 + + 2 3 "},
        {2, "+ + + 0 1 2 + 3 "},
        {9, "+ + + + 0 1 2 3 "},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct story s = {.n = 4};

        join(&s, rows[i].size, produces, consumes);
        dthread->resume(s.second);
        assert_string_equal(s.text, rows[i].story);
        assert_true(dthread->chan_done(s.chan));
        assert_int_equal(dthread->status(s.first), DTHREAD_DEAD);
        assert_int_equal(dthread->status(s.second), DTHREAD_DEAD);
        dthread->chan_free(s.chan);
    }
}

static void takes_one(void *arg)
{
    struct story *s = arg;

    (void)dthread->chan_recv(s->chan);
    tell(s, "gone");
}

static void a_channel_without_receiver_is_broken(void **state)
{
    struct story s = {.n = 9};

    (void)state;
    join(&s, 0, produces, takes_one);
    dthread->resume(s.second);
    assert_string_equal(s.text, "+ gone ");
    dthread->resume(s.first); /* it waits for room, and the receiver is dead */
    assert_int_equal(s.result, DTHREAD_CHANNEL_BROKEN);
    dthread->chan_free(s.chan);
}

static void forgets_to_end(void *arg)
{
    struct story *s = arg;

    (void)dthread->chan_send(s->chan, &s->numbers[0]);
}

static void a_sender_that_is_dead_has_ended(void **state)
{
    struct story s = {0};

    (void)state;
    join(&s, 4, forgets_to_end, consumes);
    dthread->resume(s.second);
    assert_string_equal(s.text, "0 ");
    assert_true(dthread->chan_done(s.chan));
    assert_null(dthread->chan_recv(s.chan));
    dthread->chan_free(s.chan);
}

static void what_waits_in_a_freed_channel_ends(void **state)
{
    struct story s = {.n = 9};

    (void)state;
    join(&s, 0, produces, takes_one);
    dthread->resume(s.second);
    assert_int_equal(dthread->status(s.first), DTHREAD_SUSPEND);
    dthread->chan_free(s.chan);
    assert_int_equal(dthread->status(s.first), DTHREAD_DEAD);
}

static void code_outside_dthreads_may_receive(void **state)
{
    struct story s = {.n = 5};
    int sum = 0;

    (void)state;
    s.chan = dthread->chan_create(1);
    s.first = dthread->create(produces, &s);
    dthread->chan_set_sender(s.chan, s.first);
    for (const int *number; (number = dthread->chan_recv(s.chan)) != NULL;)
        sum += *number;
    assert_int_equal(sum, 0 + 1 + 2 + 3 + 4);
    assert_true(dthread->chan_done(s.chan));
    dthread->chan_free(s.chan);
}

static void a_number_is_not_used_again_while_a_channel_names_it(void **state)
{
    struct story s = {0};
    int other;

    (void)state;
    join(&s, 0, forgets_to_end, consumes);
    dthread->resume(s.second);
    other = dthread->create(tells, &s);
    assert_int_not_equal(other, s.first);
    assert_int_not_equal(other, s.second);
    dthread->chan_free(s.chan);
    dthread->resume(other);
    other = dthread->create(tells, &s);
    assert_int_equal(other, 0);
    dthread->resume(other);
}

/* ---- arguments, limits ---- */

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    assert_int_equal(dthread->create(NULL, NULL), -1);
    assert_null(dthread->chan_create(-1));
    assert_int_equal(dthread->status(-5), DTHREAD_DEAD);
    assert_int_equal(dthread->status(5), DTHREAD_DEAD);
    dthread->resume(7);
    dthread->yield();
    dthread->chan_free(NULL);
    dthread->chan_end(NULL);
    dthread->chan_set_sender(NULL, 0);
    dthread->chan_set_receiver(NULL, 0);
    assert_int_equal(dthread->chan_get_sender(NULL), -1);
    assert_int_equal(dthread->chan_get_receiver(NULL), -1);
    assert_true(dthread->chan_done(NULL));
    assert_int_equal(dthread->chan_send(NULL, NULL), DTHREAD_CHANNEL_BROKEN);
    assert_null(dthread->chan_recv(NULL));
}

static void nobody_is_there(void **state)
{
    duda_dthread_channel_t *chan = dthread->chan_create(0);
    int number = 1;

    (void)state;
    assert_int_equal(dthread->chan_send(chan, &number), DTHREAD_CHANNEL_OK);
    assert_int_equal(dthread->chan_send(chan, &number), DTHREAD_CHANNEL_BROKEN); /* full */
    assert_ptr_equal(dthread->chan_recv(chan), &number);
    assert_null(dthread->chan_recv(chan));
    dthread->chan_free(chan);
}

static void their_number_is_bounded(void **state)
{
    int n = 0;

    (void)state;
    while (n <= MK_DUDA_DTHREADS_MAX && dthread->create(yields_once, NULL) >= 0)
        n++;
    assert_int_equal(n, MK_DUDA_DTHREADS_MAX);
    mk_duda_dthread_forget();
    assert_int_equal(dthread->status(0), DTHREAD_DEAD);
}

enum { DEEP = 64 * 1024 };

static void uses_much_stack(void *arg)
{
    volatile char room[DEEP];
    struct story *s = arg;

    for (size_t i = 0; i < sizeof(room); i += 64)
        room[i] = (char)i;
    dthread->yield();
    for (size_t i = 0; i < sizeof(room); i += 64)
        s->result += room[i] != (char)i;
    tell(s, "whole");
}

static void stacks_stay_apart(void **state)
{
    enum { CROWD = 20 };
    struct story s = {0};
    int ids[CROWD];

    (void)state;
    for (int i = 0; i < CROWD; i++)
        ids[i] = dthread->create(uses_much_stack, &s);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < CROWD; i++)
            dthread->resume(ids[i]);
    assert_int_equal(s.result, 0);
    assert_int_equal(strlen(s.text), CROWD * strlen("whole "));
}

static void *in_another_thread(void *arg)
{
    struct story *s = arg;

    if (dthread->running() == -1 && dthread->create(tells, s) == 0)
        dthread->resume(0);
    return NULL;
}

static void threads_have_their_own(void **state)
{
    struct story outer = {0}, inner = {0};
    pthread_t thread;

    (void)state;
    outer.first = dthread->create(yields_once, &outer);
    dthread->resume(outer.first);
    assert_int_equal(pthread_create(&thread, NULL, in_another_thread, &inner), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(inner.text, "second ");
    dthread->resume(outer.first);
    assert_string_equal(outer.text, "begin end ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_from_ready_to_dead),
        cmocka_unit_test(control_returns_to_the_resumer),
        cmocka_unit_test(a_resumer_that_is_resumed_ends_where_it_would_have),
        cmocka_unit_test(yield_returns_outside_from_any_depth),
        cmocka_unit_test(a_channel_holds_one_more_than_its_size),
        cmocka_unit_test(a_channel_without_receiver_is_broken),
        cmocka_unit_test(a_sender_that_is_dead_has_ended),
        cmocka_unit_test(what_waits_in_a_freed_channel_ends),
        cmocka_unit_test(code_outside_dthreads_may_receive),
        cmocka_unit_test(a_number_is_not_used_again_while_a_channel_names_it),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(nobody_is_there),
        cmocka_unit_test(their_number_is_bounded),
        cmocka_unit_test(stacks_stay_apart),
        cmocka_unit_test(threads_have_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
