/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "kit/clock/clock.h"

#include <pthread.h>
#include <time.h>

/* Handlers of a program: those that keep their worker (src/web/handlers.c), and fields that they give beforehand. */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char logged[4000];

static void take(void *arg, enum mk_log_level level, const char *component, const char *message)
{
    (void)arg, (void)level, (void)component;
    pthread_mutex_lock(&lock);
    (void)strncat(logged, message, sizeof(logged) - strlen(logged) - 1);
    pthread_mutex_unlock(&lock);
}

static const struct mk_host host = {.size = sizeof(host), .log = take};

/* @return the milliseconds that the line of a pattern names; -1: there is no such line. */
static long long reported_ms(const char *pattern)
{
    char line[200];
    const char *at;
    long long ms = -1;

    snprintf(line, sizeof(line), "handler blocked its worker pattern=%s ms=", pattern);
    pthread_mutex_lock(&lock);
    at = strstr(logged, line);
    if (at)
        ms = strtoll(at + strlen(line), NULL, 10);
    pthread_mutex_unlock(&lock);
    return ms;
}

static enum mk_verdict block(struct mk_request *r, void *arg)
{
    const struct timespec while_ = {.tv_nsec = 10000000};
    const int64_t end_ms = clock_now_ms() + MK_HANDLER_HELD_MS + 50;

    (void)arg;
    while (clock_now_ms() < end_ms)
        nanosleep(&while_, NULL);
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("at last"));
}

static struct mk_server *serve(void)
{
    struct mk_config *config = web_config();
    struct mk_server *server;

    logged[0] = '\0';
    assert_int_equal(mk_config_set(config, "SERVER", "LogLevel", "warn", "test"), 0);
    assert_int_equal(mk_config_handle(config, "GET", "/slow/:id", block, NULL), 0);
    assert_int_equal(mk_config_handle(config, NULL, "/slow", block, NULL), 0);
    assert_int_equal(mk_server_new(&server, config, &host), 0);
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    return server;
}

static void a_handler_that_blocks_is_reported(void **state)
{
    struct mk_server *server = serve();

    (void)state;
    web_expect(server, "/slow/1", 200, "at last");
    web_expect(server, "/slow", 200, "at last");
    web_expect(server, "/none", 404, NULL);
    mk_server_free(server);
    assert_true(reported_ms("/slow/:id") > MK_HANDLER_HELD_MS);
    assert_true(reported_ms("/slow") > MK_HANDLER_HELD_MS);
}

static void other_paths_are_not_blamed(void **state)
{
    struct mk_server *server = serve();

    (void)state;
    web_is(web_ask(server, "DELETE", "/slow/1", NULL, NULL), 405, NULL);
    web_expect(server, "/slow/2", 200, "at last");
    mk_server_free(server);
    assert_true(reported_ms("/slow/:id") > MK_HANDLER_HELD_MS);
    assert_int_equal(reported_ms("/slow"), -1);
}

/* ---- fields before an answer ---- */

static const char *answered_by;

static enum mk_verdict answer_with_fields(struct mk_request *r, void *arg)
{
    struct mk_json j;

    (void)arg;
    assert_int_equal(mk_reply_field(r, MK_STR("X-One"), MK_STR("1")), 0);
    assert_int_equal(mk_reply_field(r, MK_STR("X-Two"), (struct mk_str){NULL, 0}), 0);
    assert_int_equal(mk_reply_field(r, MK_STR("Content-Length"), MK_STR("1")), MK_E_INVALID);
    assert_int_equal(mk_reply_field(r, MK_STR("date"), MK_STR("1")), MK_E_INVALID);
    assert_int_equal(mk_reply_field(r, MK_STR("X-A"), MK_STR("b\r\nX-C: d")), MK_E_INVALID);
    assert_int_equal(mk_reply_field(r, MK_STR("X A"), MK_STR("b")), MK_E_INVALID);
    if (strcmp(answered_by, "error") == 0)
        return mk_reply_error(r, 404, NULL);
    if (strcmp(answered_by, "redirect") == 0)
        return mk_reply_redirect(r, 302, MK_STR("/"));
    if (strcmp(answered_by, "bytes") == 0) {
        (void)mk_reply_bytes(r, 200, "text/plain", MK_STR("bytes"));
        assert_int_equal(mk_reply_field(r, MK_STR("X-Late"), MK_STR("1")), MK_E_EXISTS);
        return MK_VERDICT_DONE;
    }
    mk_json_begin_reply(&j, r, 100);
    mk_json_null(&j);
    return mk_reply_json(r, 200, &j);
}

static void every_answer_has_the_fields_before_it(void **state)
{
    static const char *const answers[] = {"error", "redirect", "bytes", "json"};
    struct mk_server *server = web_serve_one("GET", "/", answer_with_fields, NULL);

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct mk_answer *answer;

        answered_by = answers[i];
        answer = web_ask(server, "GET", "/", NULL, NULL);
        assert_true(web_has_line(answer, "X-One: 1"));
        assert_true(web_has_line(answer, "X-Two: "));
        assert_false(web_has_line(answer, "X-Late: 1"));
        assert_false(web_has_line(answer, "X-C: d"));
        mk_answer_free(answer);
    }
    mk_server_free(server);
}

static void a_site_overrides_such_fields(void **state)
{
    struct mk_config *config = web_config();
    struct mk_answer *answer;
    struct mk_server *server;

    (void)state;
    answered_by = "bytes";
    assert_int_equal(mk_config_set(config, "HOST", "Header", "X-One site", "test"), 0);
    assert_int_equal(mk_config_handle(config, "GET", "/", answer_with_fields, NULL), 0);
    server = web_serve(config);
    answer = web_ask(server, "GET", "/", NULL, NULL);
    assert_true(web_has_line(answer, "X-One: site"));
    assert_false(web_has_line(answer, "X-One: 1"));
    mk_answer_free(answer);
    mk_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_that_blocks_is_reported),
        cmocka_unit_test(other_paths_are_not_blamed),
        cmocka_unit_test(every_answer_has_the_fields_before_it),
        cmocka_unit_test(a_site_overrides_such_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
