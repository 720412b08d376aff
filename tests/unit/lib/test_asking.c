/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "embedded.h"

/* In-process requests of several threads, while the server reloads and stops: each accepted one is answered exactly once. */

enum {
    THREADS = 4,
    RELOADS = 4,
    BETWEEN = 40,
    UNDER_WAY_MAX = 64, /* a reload waits its turn behind questions that came before it */
};

static struct {
    struct mk_server *server;
    atomic_uint accepted, told; /* of mk_server_ask */
    atomic_uint answered;       /* with status 200, of both calls */
    atomic_uint broken_off;     /* because the server stops */
    atomic_bool is_wrong;
} all;

static bool is_text(struct mk_str s, const char *text)
{
    return s.len == strlen(text) && memcmp(s.p, text, s.len) == 0;
}

static enum mk_verdict say(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    (void)ctx, (void)data;
    mk_request_facts(r, &facts);
    if (is_text(facts.path, "/never"))
        return MK_VERDICT_LATER;
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("here"));
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("says", "answers"),
    .check_site = embedded_route,
    .on_handle = say,
};

static void count(const struct mk_answer *a)
{
    bool is_whole = a->error == 0 && a->status == 200 && is_text(a->body, "here");

    if (is_whole)
        atomic_fetch_add(&all.answered, 1);
    else if (a->error == MK_E_PEER)
        atomic_fetch_add(&all.broken_off, 1);
    else
        atomic_store(&all.is_wrong, true);
}

static void on_answer(const struct mk_answer *a, void *arg)
{
    (void)arg;
    count(a);
    atomic_fetch_add(&all.told, 1);
}

static int ask(const char *target)
{
    const struct mk_question question = {.size = sizeof(question),
                                         .target = {target, strlen(target)}};
    int err;

    /* Before the call: its answer may come first. */
    atomic_fetch_add(&all.accepted, 1);
    err = mk_server_ask(all.server, &question, on_answer, NULL);
    if (err < 0)
        atomic_fetch_sub(&all.accepted, 1);
    return err;
}

static int ask_and_wait(void)
{
    const struct mk_question question = {.size = sizeof(question), .target = MK_STR("/")};
    struct mk_answer *answer;
    int err = mk_server_ask_wait(all.server, &question, &answer);

    if (err == 0)
        count(answer);
    mk_answer_free(answer);
    return err;
}

/* Until the server takes no more. */
static void *ask_on(void *arg)
{
    int err = 0;

    (void)arg;
    while (err == 0) {
        if (atomic_load(&all.accepted) - atomic_load(&all.told) < UNDER_WAY_MAX)
            err = ask("/");
        if (err == 0)
            err = ask_and_wait();
    }
    if (err != MK_E_PEER)
        atomic_store(&all.is_wrong, true);
    return NULL;
}

static void wait_for(const atomic_uint *counter, unsigned value)
{
    while (atomic_load(counter) < value && !atomic_load(&all.is_wrong))
        usleep(1000);
}

static void serve(void)
{
    memset(&all, 0, sizeof(all));
    all.server = embedded_server(embedded_config("2", &plugin, NULL));
    assert_int_equal(mk_server_start(all.server), 0);
}

static void begin(pthread_t *threads)
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on, NULL), 0);
}

static void end(const pthread_t *threads, unsigned grace_ms)
{
    mk_server_stop(all.server, grace_ms);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(mk_server_wait(all.server, -1), 0);
    mk_server_free(all.server);
    assert_false(atomic_load(&all.is_wrong));
    assert_int_equal(atomic_load(&all.told), atomic_load(&all.accepted));
}

static void reloads_break_off_nothing(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    serve();
    begin(threads);
    for (int i = 0; i < RELOADS; i++) {
        wait_for(&all.answered, atomic_load(&all.answered) + BETWEEN);
        assert_int_equal(mk_server_reload(all.server, embedded_config("2", &plugin, NULL)), 0);
    }
    wait_for(&all.answered, atomic_load(&all.answered) + BETWEEN);
    assert_int_equal(atomic_load(&all.broken_off), 0);
    end(threads, 60000);
}

static void a_stop_answers_those_that_wait(void **state)
{
    pthread_t threads[THREADS];

    (void)state;
    serve();
    for (int i = 0; i < BETWEEN; i++)
        assert_int_equal(ask("/never"), 0);
    begin(threads);
    wait_for(&all.answered, BETWEEN);
    end(threads, 0);
    assert_true(atomic_load(&all.broken_off) >= BETWEEN);
}

static void a_server_that_never_started_answers_when_it_is_freed(void **state)
{
    (void)state;
    memset(&all, 0, sizeof(all));
    all.server = embedded_server(embedded_config("2", &plugin, NULL));
    for (int i = 0; i < BETWEEN; i++)
        assert_int_equal(ask("/"), 0);
    assert_int_equal(ask_and_wait(), MK_E_PEER);
    mk_server_free(all.server);
    assert_int_equal(atomic_load(&all.broken_off), BETWEEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reloads_break_off_nothing),
        cmocka_unit_test(a_stop_answers_those_that_wait),
        cmocka_unit_test(a_server_that_never_started_answers_when_it_is_freed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
