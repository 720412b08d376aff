/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <monkey/inspect.h>

#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "base/heap.h"
#include "embedded.h"

/* Calls at a wrong time, in a wrong place or with nothing: a return code and a line of the log, and the server goes on. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char logged[8000];

static void take(void *arg, enum mk_log_level level, const char *component, const char *message)
{
    (void)arg, (void)component;
    if (level > MK_LOG_ERROR)
        return;
    pthread_mutex_lock(&lock);
    (void)strncat(logged, message, sizeof(logged) - strlen(logged) - 1);
    pthread_mutex_unlock(&lock);
}

static const struct mk_host host = {.size = sizeof(host), .log = take};

static bool is_logged(const char *text)
{
    bool found;

    pthread_mutex_lock(&lock);
    found = strstr(logged, text) != NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

static enum mk_verdict say(struct mk_request *r)
{
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("goes on"));
}

static void answer_late(struct mk_alarm *alarm, void *arg)
{
    mk_alarm_free(alarm);
    (void)say(arg);
}

static void reload_inside(struct mk_server *server)
{
    struct mk_config *config;

    assert_int_equal(mk_config_new(&config, NULL), 0);
    assert_int_equal(mk_server_reload(server, config), MK_E_INVALID);
    mk_config_free(config);
}

static sem_t may_go_on;

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) < 0)
        continue;
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    (void)data;
    mk_request_facts(r, &facts);
    switch (facts.path.p[1]) {
    case 's': /* stop */
        mk_server_stop(ctx->server, 60000);
        mk_server_stop(ctx->server, 30000);
        break;
    case 'w': /* wait */
        assert_int_equal(mk_server_wait(ctx->server, -1), MK_E_INVALID);
        break;
    case 'f': /* free */
        mk_server_free(ctx->server);
        break;
    case 'r': /* reload */
        reload_inside(ctx->server);
        break;
    case 'l': /* late */
        mk_alarm_set(mk_alarm_new(ctx->worker, answer_late, r), 300);
        return MK_VERDICT_LATER;
    case 'b': /* block */
        wait_for(&may_go_on);
        break;
    case 'n': /* never */
        return MK_VERDICT_LATER;
    default:
        break;
    }
    return say(r);
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("misuses", "calls what it may not"),
    .check_site = embedded_route,
    .on_handle = on_handle,
};

static struct mk_server *make(const char *workers)
{
    struct mk_config *config = embedded_config(workers, &plugin, NULL);
    struct mk_server *server;

    logged[0] = '\0';
    assert_int_equal(mk_config_set(config, "SERVER", "HandlerTimeout", "1", "test"), 0);
    assert_int_equal(mk_server_new(&server, config, &host), 0);
    return server;
}

static struct mk_server *serve(const char *workers)
{
    struct mk_server *server = make(workers);

    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    return server;
}

static void read_answer(int fd, const char *expected)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char text[2000] = "";

    while (!embedded_read(fd, text, sizeof(text)))
        assert_int_equal(poll(&p, 1, 60000), 1);
    if (!strstr(text, expected))
        fail_msg("\"%s\" is not in: %s", expected, text);
    close(fd);
}

static void is_answered(const struct mk_server *server, const char *path, const char *expected)
{
    int fd = embedded_connect(server);

    embedded_get(fd, path);
    read_answer(fd, expected);
}

static void nothing_is_refused(void **state)
{
    struct mk_question question = {.size = sizeof(question), .target = MK_STR("/")};
    struct mk_config *config = embedded_config("1", NULL, NULL);
    struct mk_answer *answer;
    struct mk_server *server;

    (void)state;
    assert_int_equal(mk_server_new(&server, NULL, NULL), MK_E_INVALID);
    assert_null(server);
    assert_int_equal(mk_server_listen(NULL), MK_E_INVALID);
    assert_int_equal(mk_server_start(NULL), MK_E_INVALID);
    assert_int_equal(mk_server_start_here(NULL), MK_E_INVALID);
    assert_int_equal(mk_server_turn(NULL, 0), MK_E_INVALID);
    assert_int_equal(mk_server_poll_fd(NULL), MK_E_INVALID);
    assert_int_equal(mk_server_wait_ms(NULL), -1);
    assert_int_equal(mk_server_reload(NULL, config), MK_E_INVALID);
    assert_int_equal(mk_server_wait(NULL, -1), MK_E_INVALID);
    assert_int_equal(mk_server_ask(NULL, &question, NULL, NULL), MK_E_INVALID);
    assert_int_equal(mk_server_ask_wait(NULL, &question, &answer), MK_E_INVALID);
    assert_string_equal(mk_server_why(NULL), "no reason known");
    mk_server_stop(NULL, 0);
    mk_server_free(NULL);
    mk_config_free(NULL);
    mk_config_free(config);
}

static void facts_of_nothing_are_none(void **state)
{
    struct mk_worker_stats stats = {.size = sizeof(stats)};
    char text[16000] = "";

    (void)state;
    assert_int_equal(mk_server_workers(NULL), 0);
    assert_int_equal(mk_server_stats(NULL, 0, &stats), MK_E_INVALID);
    assert_int_equal(mk_server_port(NULL, 0), 0);
    mk_server_addresses(NULL, embedded_append, text);
    assert_string_equal(text, "");
    assert_int_equal(mk_server_fd(NULL), MK_E_INVALID);
    assert_null(mk_server_config(NULL));
    assert_int_equal(mk_server_reopen_logs(NULL), MK_E_INVALID);
    mk_server_stop_because(NULL, 0, "test");
    mk_server_reload_failed(NULL, "test");
}

static void nothing(void *arg)
{
    (void)arg;
}

/* What is refused leaves no trace: the configuration has no fault afterwards. */
static void nothing_is_no_setting(void **state)
{
    const struct mk_config_files files = {.size = sizeof(files)};
    struct mk_config *config = embedded_config("1", NULL, NULL);

    (void)state;
    assert_int_equal(mk_config_set(NULL, "SERVER", "Timeout", "1", "test"), MK_E_INVALID);
    assert_int_equal(mk_config_set(config, NULL, "Timeout", "1", "test"), MK_E_INVALID);
    assert_int_equal(mk_config_set(config, "SERVER", NULL, "1", "test"), MK_E_INVALID);
    assert_int_equal(mk_config_set(config, "SERVER", "Timeout", NULL, "test"), MK_E_INVALID);
    assert_int_equal(mk_config_set(config, "SERVER", "Timeout", "1", NULL), MK_E_INVALID);
    assert_int_equal(mk_config_set_site(NULL, "a", "HOST", "b", "c", "test"), MK_E_INVALID);
    assert_int_equal(mk_config_set_site(config, NULL, "HOST", "b", "c", "test"), MK_E_INVALID);
    assert_int_equal(mk_config_set_site(config, "a", NULL, "b", "c", "test"), MK_E_INVALID);
    assert_int_equal(mk_config_set_site(config, "a", "HOST", NULL, "c", "test"), MK_E_INVALID);
    assert_int_equal(mk_config_set_site(config, "a", "HOST", "b", NULL, "test"), MK_E_INVALID);
    assert_int_equal(mk_config_set_site(config, "a", "HOST", "b", "c", NULL), MK_E_INVALID);
    assert_int_equal(mk_config_read(NULL, &files), MK_E_INVALID);
    assert_int_equal(mk_config_read(config, NULL), MK_E_INVALID);
    assert_int_equal(mk_config_one_shot(NULL, "/"), MK_E_INVALID);
    assert_int_equal(mk_config_one_shot(config, NULL), MK_E_INVALID);
    assert_int_equal(mk_config_plugin_dir(NULL, "/"), MK_E_INVALID);
    assert_int_equal(mk_config_plugin_dir(config, NULL), MK_E_INVALID);
    assert_int_equal(mk_config_plugin(NULL, &plugin, NULL), MK_E_INVALID);
    assert_int_equal(mk_config_plugin(config, NULL, NULL), MK_E_INVALID);
    assert_int_equal(mk_config_on_free(NULL, nothing, NULL), MK_E_INVALID);
    assert_int_equal(mk_config_on_free(config, NULL, NULL), MK_E_INVALID);
    assert_int_equal(mk_config_check(NULL), MK_E_INVALID);
    assert_int_equal(mk_config_check(config), 0);
    mk_config_free(config);
}

/* Its texts are dropped when a server takes it: what is left does not lead there. */
static void the_configuration_of_a_server_has_no_texts(void **state)
{
    struct mk_config *config = embedded_config("1", NULL, NULL);
    const struct mk_config *in_force;
    struct mk_server *server;
    char text[16000] = "";

    (void)state;
    assert_int_equal(mk_config_set_site(config, "other", "HOST", "DocumentRoot", "/", "test"), 0);
    assert_int_equal(mk_config_check(config), 0);
    mk_config_faults(config, embedded_append, text);
    assert_non_null(strstr(text, "no request reaches this site"));
    assert_int_equal(mk_server_new(&server, config, &host), 0);
    in_force = mk_server_config(server);
    text[0] = '\0';
    mk_config_faults(in_force, embedded_append, text);
    assert_string_equal(text, "");
    assert_int_equal(mk_config_dump(in_force, embedded_append, text), MK_E_INVALID);
    assert_string_equal(text, "");
    mk_server_free(server);
}

/* The server has taken it: a program that keeps its pointer changes, serves and frees nothing with it. */
static void the_configuration_of_a_server_is_not_changed(void **state)
{
    const struct mk_config_files files = {.size = sizeof(files)};
    struct mk_config *config = embedded_config("2", &plugin, NULL);
    struct mk_server *server, *other = NULL;

    (void)state;
    assert_int_equal(mk_server_new(&server, config, &host), 0);
    assert_int_equal(mk_server_listen(server), 0);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(mk_config_set(config, "SERVER", "Workers", "1", "test"), MK_E_INVALID);
        assert_int_equal(mk_config_set_site(config, "a", "HOST", "ServerName", "b", "test"),
                         MK_E_INVALID);
        assert_int_equal(mk_config_read(config, &files), MK_E_INVALID);
        assert_int_equal(mk_config_one_shot(config, "/"), MK_E_INVALID);
        assert_int_equal(mk_config_plugin_dir(config, "/"), MK_E_INVALID);
        assert_int_equal(mk_config_plugin(config, &plugin, NULL), MK_E_INVALID);
        assert_null(mk_config_argument(config, &plugin));
        assert_int_equal(mk_server_new(&other, config, &host), MK_E_INVALID);
        assert_null(other);
        mk_config_follow(config, NULL);
        assert_int_equal(mk_config_check(config), 0);
        mk_config_free(config);
        if (round == 0)
            assert_int_equal(mk_server_start(server), 0);
        assert_int_equal(mk_server_reload(server, config), MK_E_INVALID);
        is_answered(server, "/", "goes on");
    }
    mk_server_free(server);
}

static void calls_have_an_order(void **state)
{
    struct mk_server *server = make("2");
    struct mk_config *config = embedded_config("2", NULL, NULL);

    (void)state;
    mk_server_stop(server, 0); /* it has not started: nothing happens */
    assert_int_equal(mk_server_wait(server, -1), 0);
    assert_int_equal(mk_server_reload(server, config), MK_E_INVALID);
    assert_true(is_logged("cannot be reloaded"));
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    assert_int_equal(mk_server_start(server), MK_E_INVALID);
    assert_int_equal(mk_server_listen(server), MK_E_INVALID);
    assert_true(is_logged("the server was started before"));
    is_answered(server, "/", "goes on");
    mk_server_stop(server, 60000);
    mk_server_stop(server, 1000);
    assert_int_equal(mk_server_reload(server, config), MK_E_INVALID);
    assert_int_equal(mk_server_wait(server, -1), 0);
    assert_int_equal(mk_server_wait(server, -1), 0);
    mk_server_stop(server, 0);
    assert_int_equal(mk_server_reload(server, config), MK_E_INVALID);
    assert_int_equal(mk_server_start(server), MK_E_INVALID);
    mk_config_free(config);
    mk_server_free(server);
}

static void handlers_may_not_wait_for_themselves(void **state)
{
    struct mk_server *server = serve("2");

    (void)state;
    is_answered(server, "/wait", "goes on");
    is_answered(server, "/free", "goes on");
    is_answered(server, "/reload", "goes on");
    assert_true(is_logged("a handler may not wait for its own worker"));
    is_answered(server, "/", "goes on");
    mk_server_free(server);
}

static void a_handler_may_stop_its_server(void **state)
{
    struct mk_server *server = serve("2");

    (void)state;
    is_answered(server, "/stop", "goes on");
    assert_int_equal(mk_server_wait(server, -1), 0);
    mk_server_free(server);
}

/* The order reaches every worker, or none of it is given. */
static void a_stop_may_come_during_a_reload(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct mk_server *server = serve("2");
        int fd = embedded_connect(server), err = 0;

        embedded_get(fd, "/stop");
        while (err == 0) {
            struct mk_config *config = embedded_config("2", NULL, NULL);

            err = mk_server_reload(server, config);
            if (err != 0)
                mk_config_free(config);
        }
        assert_int_equal(err, MK_E_INVALID);
        read_answer(fd, "goes on");
        assert_int_equal(mk_server_wait(server, -1), 0);
        mk_server_free(server);
    }
}

static void a_graceful_stop_finishes_requests(void **state)
{
    struct mk_server *server = serve("1");
    struct mk_worker_stats stats = {.size = sizeof(stats)};
    int fd = embedded_connect(server);

    (void)state;
    embedded_get(fd, "/late");
    while (stats.bytes_in == 0) {
        (void)poll(NULL, 0, 5);
        assert_int_equal(mk_server_stats(server, 0, &stats), 0);
    }
    mk_server_stop(server, 60000);
    assert_int_equal(mk_server_wait(server, -1), 0);
    read_answer(fd, "goes on");
    mk_server_free(server);
}

static void a_running_server_may_be_freed(void **state)
{
    long live = mk_heap_live();
    struct mk_server *server = serve("2");
    int fd = embedded_connect(server);

    (void)state;
    embedded_get(fd, "/never");
    mk_server_free(server);
    close(fd);
    assert_int_equal(mk_heap_live(), live);
}

static void a_handler_that_never_answers_is_ended(void **state)
{
    struct mk_server *server = serve("1");

    (void)state;
    is_answered(server, "/never", "500 ");
    assert_true(is_logged("did not answer within HandlerTimeout"));
    is_answered(server, "/", "goes on");
    mk_server_free(server);
}

/* Other workers go on meanwhile; the connections of the one that is held up wait for it. The kernel chooses a client's worker. */
static void a_handler_that_blocks_holds_up_its_worker_alone(void **state)
{
    enum { CLIENTS_MAX = 64, PATIENCE_MS = 60000 };
    struct mk_server *server = serve("2");
    struct mk_worker_stats stats = {.size = sizeof(stats)};
    int blocked = embedded_connect(server);
    struct pollfd clients[CLIENTS_MAX];
    unsigned count = 0;
    int nanswered = 0;

    (void)state;
    assert_int_equal(sem_init(&may_go_on, 0, 0), 0);
    embedded_get(blocked, "/block");
    for (unsigned worker = 0; stats.connections == 0; worker ^= 1) {
        (void)poll(NULL, 0, 5);
        assert_int_equal(mk_server_stats(server, worker, &stats), 0);
    }
    while (nanswered == 0 && count < CLIENTS_MAX) {
        clients[count] = (struct pollfd){.fd = embedded_connect(server), .events = POLLIN};
        embedded_get(clients[count++].fd, "/");
        nanswered = poll(clients, count, count < CLIENTS_MAX ? 50 : PATIENCE_MS);
    }
    assert_true(nanswered > 0);
    sem_post(&may_go_on);
    for (unsigned i = 0; i < count; i++)
        read_answer(clients[i].fd, "goes on");
    read_answer(blocked, "goes on");
    mk_server_free(server);
    sem_destroy(&may_go_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_refused),
        cmocka_unit_test(facts_of_nothing_are_none),
        cmocka_unit_test(nothing_is_no_setting),
        cmocka_unit_test(the_configuration_of_a_server_has_no_texts),
        cmocka_unit_test(the_configuration_of_a_server_is_not_changed),
        cmocka_unit_test(calls_have_an_order),
        cmocka_unit_test(handlers_may_not_wait_for_themselves),
        cmocka_unit_test(a_handler_may_stop_its_server),
        cmocka_unit_test(a_stop_may_come_during_a_reload),
        cmocka_unit_test(a_graceful_stop_finishes_requests),
        cmocka_unit_test(a_running_server_may_be_freed),
        cmocka_unit_test(a_handler_that_never_answers_is_ended),
        cmocka_unit_test(a_handler_that_blocks_holds_up_its_worker_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
