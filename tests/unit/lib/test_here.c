/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <monkey/inspect.h>

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/heap.h"
#include "embedded.h"

/* A server in the loop of its program: mk_server_start_here. */

static int client = -1, inside;

static enum mk_verdict say(struct mk_request *r)
{
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("here"));
}

static void answer_late(struct mk_alarm *alarm, void *arg)
{
    mk_alarm_free(alarm);
    (void)say(arg);
}

static void work(void *arg)
{
    *(bool *)arg = true;
}

static void say_that_it_is_done(void *arg)
{
    assert_true(*(bool *)arg);
    inside++;
}

static enum mk_verdict answer_large(struct mk_request *r)
{
    static char large[4 << 20];

    close(client);
    client = -1;
    return mk_reply_bytes(r, 200, "text/plain", (struct mk_str){large, sizeof(large)});
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    static bool done;

    (void)data;
    mk_request_facts(r, &facts);
    switch (facts.path.p[1]) {
    case 'l': /* late */
        mk_alarm_set(mk_alarm_new(ctx->worker, answer_late, r), 200);
        return MK_VERDICT_LATER;
    case 'n': /* never */
        return MK_VERDICT_LATER;
    case 'o': /* offload */
        done = false;
        assert_int_equal(mk_offload(ctx->worker, work, say_that_it_is_done, &done), 0);
        return say(r);
    case 's': /* stop */
        mk_server_stop(ctx->server, 5000);
        return say(r);
    case 'i': /* inside */
        assert_int_equal(mk_server_turn(ctx->server, 0), MK_E_INVALID);
        assert_int_equal(mk_server_wait_ms(ctx->server), -1);
        return say(r);
    case 'b': /* broken */
        return answer_large(r);
    default:
        return say(r);
    }
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("here", "answers"),
    .check_site = embedded_route,
    .on_handle = on_handle,
};

static struct mk_server *serve_with(const char *key, const char *value)
{
    struct mk_config *config = embedded_config("1", &plugin, NULL);
    struct mk_server *server;

    assert_int_equal(mk_config_set(config, "SERVER", key, value, "test"), 0);
    server = embedded_server(config);
    assert_int_equal(mk_server_start_here(server), 0);
    return server;
}

static struct mk_server *serve(void)
{
    return serve_with("KeepAlive", "on");
}

/* One turn of a program's loop. @return of mk_server_turn. */
static int turn(struct mk_server *server)
{
    struct pollfd p[] = {{.fd = mk_server_poll_fd(server), .events = POLLIN},
                         {.fd = client, .events = POLLIN}};

    assert_true(poll(p, 2, mk_server_wait_ms(server)) >= 0);
    return mk_server_turn(server, 0);
}

static void is_answered(struct mk_server *server, const char *path, const char *expected)
{
    char text[1000] = "";

    client = embedded_connect(server);
    embedded_get(client, path);
    while (!embedded_read(client, text, sizeof(text)))
        assert_true(turn(server) >= 0);
    if (!strstr(text, expected))
        fail_msg("\"%s\" is not in: %s", expected, text);
    close(client);
    client = -1;
}

static void turns_answer_requests(void **state)
{
    long live = mk_heap_live();
    struct mk_server *server = serve();

    (void)state;
    is_answered(server, "/", "\r\n\r\nhere");
    is_answered(server, "/late", "\r\n\r\nhere");
    is_answered(server, "/inside", "\r\n\r\nhere");
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

static void a_turn_need_not_block(void **state)
{
    struct mk_server *server = serve();

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(mk_server_turn(server, 0), 1);
    assert_int_equal(mk_server_turn(server, 20), 1);
    mk_server_free(server);
}

static void timeouts_need_no_event(void **state)
{
    struct mk_server *server = serve_with("HandlerTimeout", "1");

    (void)state;
    is_answered(server, "/never", "500 ");
    mk_server_free(server);
}

static void on_answer(const struct mk_answer *answer, void *arg)
{
    *(unsigned *)arg = answer->status;
}

static void *ask(void *server)
{
    const struct mk_question question = {.size = sizeof(question), .target = MK_STR("/")};
    struct mk_answer *answer;
    unsigned status;

    assert_int_equal(mk_server_ask_wait(server, &question, &answer), 0);
    status = answer->status;
    mk_answer_free(answer);
    assert_int_equal(mk_server_turn(server, 0), MK_E_INVALID);
    return (void *)(uintptr_t)status;
}

static void questions_of_other_threads_wake_it(void **state)
{
    const struct mk_question question = {.size = sizeof(question), .target = MK_STR("/")};
    struct mk_server *server = serve();
    struct mk_answer *answer;
    unsigned status = 0;
    pthread_t thread;
    void *got;

    (void)state;
    assert_int_equal(mk_server_ask_wait(server, &question, &answer), MK_E_INVALID);
    assert_int_equal(mk_server_ask(server, &question, on_answer, &status), 0);
    while (status == 0)
        assert_int_equal(turn(server), 1);
    assert_int_equal(status, 200);

    assert_int_equal(pthread_create(&thread, NULL, ask, server), 0);
    while (pthread_tryjoin_np(thread, &got) != 0)
        assert_int_equal(mk_server_turn(server, 10), 1);
    assert_int_equal((uintptr_t)got, 200);
    mk_server_free(server);
}

static void the_end_of_work_on_the_pool_wakes_it(void **state)
{
    struct mk_server *server = serve();

    (void)state;
    inside = 0;
    is_answered(server, "/offload", "here");
    while (inside == 0)
        assert_int_equal(turn(server), 1);
    mk_server_free(server);
}

static void a_reload_happens_between_turns(void **state)
{
    struct mk_server_facts facts = {.size = sizeof(facts)};
    struct mk_server *server = serve();

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct mk_config *config = embedded_config("1", NULL, NULL);

        assert_int_equal(mk_config_set(config, "HOST", "Header", "X-New yes", "test"), 0);
        assert_int_equal(mk_server_reload(server, config), 0);
        is_answered(server, "/", "X-New: yes");
    }
    mk_server_facts(server, &facts);
    assert_int_equal(facts.reloads, 3);
    mk_server_free(server);
}

static void a_graceful_stop_takes_turns(void **state)
{
    struct mk_server *server = serve();
    char text[1000] = "";

    (void)state;
    client = embedded_connect(server);
    embedded_get(client, "/late");
    for (int i = 0; i < 5; i++)
        assert_int_equal(mk_server_turn(server, 20), 1);
    mk_server_stop(server, 60000);
    while (turn(server) > 0)
        ;
    assert_int_equal(mk_server_turn(server, -1), 0);
    assert_int_equal(mk_server_wait_ms(server), -1);
    assert_int_equal(mk_server_wait(server, -1), 0);
    while (!embedded_read(client, text, sizeof(text)))
        ;
    assert_non_null(strstr(text, "here"));
    close(client);
    client = -1;
    mk_server_free(server);
}

static void waiting_takes_turns(void **state)
{
    struct mk_server *server = serve();
    char text[1000] = "";

    (void)state;
    assert_int_equal(mk_server_wait(server, 0), MK_E_TIMEOUT);
    assert_int_equal(mk_server_wait(server, 20), MK_E_TIMEOUT);
    client = embedded_connect(server);
    embedded_get(client, "/stop");
    assert_int_equal(mk_server_wait(server, -1), 0);
    assert_int_equal(embedded_read(client, text, sizeof(text)), 1);
    assert_non_null(strstr(text, "here"));
    close(client);
    client = -1;
    mk_server_free(server);
}

/* SIGPIPE has its default action here. */
static void a_client_that_left_ends_no_program(void **state)
{
    struct mk_server *server = serve();
    sigset_t pending;

    (void)state;
    client = embedded_connect(server);
    embedded_get(client, "/broken");
    while (client >= 0)
        assert_int_equal(turn(server), 1);
    for (int i = 0; i < 10; i++)
        assert_int_equal(mk_server_turn(server, 5), 1);
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
    mk_server_free(server);
}

static void two_servers_share_a_loop(void **state)
{
    struct mk_server *one = serve(), *two = serve();

    (void)state;
    is_answered(one, "/", "here");
    is_answered(two, "/", "here");
    is_answered(one, "/", "here");
    mk_server_free(one);
    is_answered(two, "/", "here");
    mk_server_free(two);
}

static void other_servers_have_no_turns(void **state)
{
    struct mk_config *config = embedded_config("2", &plugin, NULL);
    struct mk_server *server;

    (void)state;
    assert_int_equal(mk_config_set(config, "SERVER", "ErrorLog", "/dev/null", "test"), 0);
    server = embedded_server(config);
    assert_int_equal(mk_server_poll_fd(server), MK_E_INVALID);
    assert_int_equal(mk_server_turn(server, 0), MK_E_INVALID);
    assert_int_equal(mk_server_start_here(server), MK_E_INVALID);
    assert_non_null(strstr(mk_server_why(server), "one worker"));
    assert_int_equal(mk_server_start(server), 0);
    assert_int_equal(mk_server_poll_fd(server), MK_E_INVALID);
    assert_int_equal(mk_server_turn(server, 0), MK_E_INVALID);
    assert_int_equal(mk_server_wait_ms(server), -1);
    mk_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_answer_requests),
        cmocka_unit_test(a_turn_need_not_block),
        cmocka_unit_test(timeouts_need_no_event),
        cmocka_unit_test(questions_of_other_threads_wake_it),
        cmocka_unit_test(the_end_of_work_on_the_pool_wakes_it),
        cmocka_unit_test(a_reload_happens_between_turns),
        cmocka_unit_test(a_graceful_stop_takes_turns),
        cmocka_unit_test(waiting_takes_turns),
        cmocka_unit_test(a_client_that_left_ends_no_program),
        cmocka_unit_test(two_servers_share_a_loop),
        cmocka_unit_test(other_servers_have_no_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
