/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include <poll.h>

#include "base/heap.h"

/* The server's counters as text: src/web/metrics.c. */

static void append(void *arg, const char *text, size_t len)
{
    char *all = arg;

    assert_true(len > 0 && text[len - 1] == '\n');
    assert_true(strlen(all) + len < 65536);
    strncat(all, text, len);
}

static bool has(const char *all, const char *line)
{
    const char *at = strstr(all, line);

    return at && (at == all || at[-1] == '\n');
}

/* The worker counts a request after its answer is there. */
static void read_until(struct mk_server *server, char *all, const char *line)
{
    for (int i = 0; i < 12000; i++) {
        all[0] = '\0';
        assert_int_equal(mk_metrics_write(server, append, all), 0);
        if (has(all, line))
            return;
        (void)poll(NULL, 0, 5);
    }
    fail_msg("\"%s\" is not in: %s", line, all);
}

static void a_program_reads_the_counters(void **state)
{
    static char all[65536];
    struct mk_server *server = web_serve_one("GET", "/metrics", mk_reply_metrics, NULL);

    (void)state;
    for (int i = 0; i < 3; i++)
        web_expect(server, "/none", 404, NULL);
    read_until(server, all, "monkey_refusals_total{worker=\"0\",reason=\"not_found\"} 3\n");
    read_until(server, all,
               "# HELP monkey_requests_total Requests answered or being answered.\n"
               "# TYPE monkey_requests_total counter\n"
               "monkey_requests_total{worker=\"0\"} 3\n");
    assert_true(has(all, "# TYPE monkey_connections gauge\n"));
    assert_true(has(all, "monkey_workers 1\n"));
    mk_server_free(server);
}

static void a_handler_answers_with_them(void **state)
{
    const long live = mk_heap_live();
    struct mk_server *server = web_serve_one("GET", "/metrics", mk_reply_metrics, NULL);
    struct mk_answer *answer = web_ask(server, "GET", "/metrics", NULL, NULL);

    (void)state;
    assert_int_equal(answer->status, 200);
    assert_true(web_has_line(answer, "Content-Type: text/plain; version=0.0.4; charset=utf-8"));
    assert_non_null(memmem(answer->body.p, answer->body.len, "\nmonkey_reloads_total 0\n", 24));
    mk_answer_free(answer);
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

static void nothing_is_refused(void **state)
{
    struct mk_server *server = web_serve(web_config());

    (void)state;
    assert_int_equal(mk_metrics_write(NULL, append, NULL), MK_E_INVALID);
    assert_int_equal(mk_metrics_write(server, NULL, NULL), MK_E_INVALID);
    mk_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_reads_the_counters),
        cmocka_unit_test(a_handler_answers_with_them),
        cmocka_unit_test(nothing_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
