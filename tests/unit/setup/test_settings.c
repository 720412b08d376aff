/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "base/limits.h"

/* What single lines of a configuration are taken for, and what is said of wrong ones. */

static void wrong_lines_are_named(void **state)
{
    static const struct {
        struct row row;
        const char *says; /* part of the fault; NULL: no fault */
    } rows[] = {
        {{"SERVER", "Listen", "80", 0}, NULL},
        {{"SERVER", "Listen", "127.0.0.1:80", 0}, NULL},
        {{"SERVER", "Listen", "unix:/run/x", 0}, NULL},
        {{"SERVER", "Listen", "0", 0}, NULL},
        {{"SERVER", "Listen", "", 0}, "Listen: expected a port"},
        {{"SERVER", "Listen", "nonsense", 0}, "Listen: expected a port"},
        {{"SERVER", "Listen", "1.2.3.4", 0}, "has no port, and no Port line"},
        {{"SERVER", "Listen", "[::1]", 0}, "has no port, and no Port line"},
        {{"SERVER", "Listen", "80 tls", 0}, "neither proxy nor h2 nor a transport"},
        {{"SERVER", "Listen", "80 h2", 0}, "needs the plugin http2"},
        {{"SERVER", "Listen", "80 !http", 0}, "leaves no protocol"},
        {{"SERVER", "Listen", "80 !h2", 0}, NULL},
        {{"SERVER", "Listen", "80 h2 !h2", 0}, "\"!h2\" contradicts \"h2\""},
        {{"SERVER", "Listen", "80 !h2 !http", 0}, "\"!h2\" contradicts \"!http\""},
        {{"SERVER", "Listen", "80 fast", 0}, "flag \"fast\" is neither proxy"},
        {{"SERVER", "Listen", "80 Liana", 0}, NULL},
        {{"SERVER", "Listen", "80 liana mbedtls", 0}, "not \"liana\" and \"mbedtls\""},
        {{"SERVER", "Listen", "80 proxy", 0}, "needs TrustedProxies"},
        {{"SERVER", "Port", "0", 0}, "Port"},
        {{"SERVER", "Workers", "256", 0}, NULL},
        {{"SERVER", "Workers", "257", 0}, "Workers"},
        {{"SERVER", "HandlerThreads", "1", 0}, NULL},
        {{"SERVER", "HandlerThreads", "1024", 0}, NULL},
        {{"SERVER", "HandlerThreads", "0", 0}, "HandlerThreads"},
        {{"SERVER", "HandlerThreads", "1025", 0}, "HandlerThreads"},
        {{"SERVER", "HandlerQueue", "0", 0}, NULL},
        {{"SERVER", "HandlerQueue", "-1", 0}, "HandlerQueue"},
        {{"SERVER", "CPUAffinity", "0 1 2", 0}, NULL},
        {{"SERVER", "CPUAffinity", "0 x", 0}, "CPUAffinity: expected CPU numbers"},
        {{"SERVER", "Scheduler", "fair", 0}, NULL},
        {{"SERVER", "Scheduler", "Unfair", 0}, "Scheduler"},
        {{"SERVER", "LogLevel", "debug", 0}, NULL},
        {{"SERVER", "LogLevel", "trace:conn,http", 0}, NULL},
        {{"SERVER", "LogLevel", "loud", 0}, "LogLevel: expected error, warn"},
        {{"SERVER", "LogLevel", "trace:conn,kitchen", 0}, "LogLevel: expected components"},
        {{"SERVER", "Timeout", "99ms", 0}, "Timeout"},
        {{"SERVER", "MaxRequestSize", "1", 0}, NULL},
        {{"SERVER", "MaxRequestSize", "2000K", 0}, "MaxRequestSize"},
        {{"SERVER", "TrustedProxies", "10.0.0.0/8 ::1", 0}, NULL},
        {{"SERVER", "TrustedProxies", "10.0.0.0/33", 0}, "TrustedProxies: expected networks"},
        {{"SERVER", "DefaultMimeType", "text", 0}, "DefaultMimeType: expected a media type"},
        {{"SERVER", "TransportLayer", "Liana", 0}, NULL},
        {{"SERVER", "TransportLayer", "tls", 0}, "needs the plugin of that name"},
        {{"SERVER", "TransportLayer", "rope", 0}, "needs the plugin of that name"},
        {{"SERVER", "OverCapacity", "Resist", 0}, NULL},
        {{"SERVER", "MaxKeepAliveRequests", "7", 0}, NULL},
        {{"SERVER", "Tiemout", "7", 0}, "Timeout"},
        {{"HOST", "DocumentRoot", "/nonexistent-of-all", 0}, "DocumentRoot: /nonexistent-of-all"},
        {{"HOST", "DocumentRoot", "/dev/null", 0}, "/dev/null: Not a directory"},
        {{"HOST", "Redirect", "http://a/", 0}, NULL},
        {{"HOST", "Redirect", "http://a/ 307", 0}, NULL},
        {{"HOST", "Redirect", "http://a/ 300", 0}, "one of 301"},
        {{"HOST", "Redirect", "http://a/ 301 x", 0}, "one of 301"},
        {{"HOST", "Redirect", "http://a/ 30", 0}, "one of 301"},
        {{"HOST", "Redirect", "https://$host/ 302", 0}, NULL},
        {{"HOST", "Redirect", "$scheme://$host$request_uri", 0}, NULL},
        {{"HOST", "Redirect", "/x$uri", 0}, NULL},
        {{"HOST", "Redirect", "https://a.test?u=$remote_addr", 0}, NULL},
        {{"HOST", "Redirect", "https://$remote_addr/", 0}, "has no variables but $host"},
        {{"HOST", "Redirect", "$host", 0}, "has no variables but $host"},
        {{"HOST", "Redirect", "https://$hosts/", 0}, "unknown variable"},
        {{"HOST", "Listen", "127.0.0.1:8001", 0}, NULL},
        {{"HOST", "Listen", "nowhere", 0}, "Listen: expected a port"},
        {{"HOST", "Answer", "410", 0}, "needs the plugin of that name"},
        {{"HOST", "Header", "X-A: b c", 0}, NULL},
        {{"HOST", "Header", "X-A", 0}, NULL},
        {{"HOST", "Header", "X(A) b", 0}, "Header: expected a field name"},
        {{"HOST", "Header", "content-length 5", 0}, "is set by the server itself"},
        {{"HOST", "Header", "Keep-Alive timeout=5", 0}, "is set by the server itself"},
        {{"HOST", "CacheControl", "*.css max-age=60", 0}, NULL},
        {{"HOST", "CacheControl", "*.css", 0}, "CacheControl: expected a glob"},
        {{"HOST", "TryFiles", "$uri $uri/ /index.html =404", 0}, NULL},
        {{"HOST", "TryFiles", "=200", 0}, "TryFiles"},
        {{"HOST", "TryFiles", "=4040", 0}, "TryFiles"},
        {{"HOST", "TryFiles", "index.html", 0}, "TryFiles"},
        {{"HOST", "TryFiles", "/1 /2 /3 /4 /5 /6 /7 /8 /9 /10 /11", 0}, "up to 10"},
        {{"HOST", "TryFiles", "/of/$host$uri $uri.$scheme /x?$request_uri @", 0}, "up to 10"},
        {{"HOST", "TryFiles", "/of/$host$uri $uri.$scheme /x?$request_uri", 0}, NULL},
        {{"HOST", "TryFiles", "/x/$request_uri", 0}, "is no file's name"},
        {{"HOST", "TryFiles", "/x?$hosts", 0}, "unknown variable"},
        {{"HOST", "TryFiles", "$host/x", 0}, "up to 10"},
        {{"HOST", "ServerName", "a *.b", 0}, NULL},
        {{"HOST", "ServerName", "a*b", 0}, "is neither a name nor *.name"},
        {{"ERROR_PAGES", "404", "404.html", 0}, NULL},
        {{"ERROR_PAGES", "404", "/sub/404.html", 0}, NULL},
        {{"ERROR_PAGES", "404", "../404.html", 0}, "a file below the document root"},
        {{"ERROR_PAGES", "200", "x", 0}, "a status from 400 to 599"},
        {{"ERROR_PAGES", "six", "x", 0}, "a status from 400 to 599"},
        {{"HANDLERS", "Match", "^/x echo", 0}, NULL},
        {{"HANDLERS", "Match", "^/x", 0}, "a regular expression and a plugin"},
        {{"HANDLERS", "Match", "^/(x echo", 0}, "invalid regular expression"},
        {{"HANDLERS", "Match", "^/x nothing", 0}, "needs the plugin of that name"},
        {{"HANDLERS", "Match", "^/x echo loud", 0}, "takes no parameters"},
        {{"MIMETYPES", "html", "text/html", 0}, NULL},
        {{"MIMETYPES", "html", "html", 0}, "a media type such as"},
        {{"PLUGINS", "Load", "x.so", 0}, "cannot load \""},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        const struct row one[] = {rows[i].row, {NULL, NULL, NULL, 0}};
        struct plan plan;
        const char *said;

        plan_make(&plan, one);
        assert_int_equal(plan.error, 0);
        said = plan_faults(&plan);
        if ((plan.faults.count > 0) != (rows[i].says != NULL) ||
            (rows[i].says && !strstr(said, rows[i].says)))
            fail_msg("%s %s: said \"%s\"", rows[i].row.key, rows[i].row.value, said);
        plan_free(&plan);
    }
}

static void unknown_sections_are_named(void **state)
{
    static const struct row rows[] = {{"HSOT", "DocumentRoot", "/", 0}, {NULL, NULL, NULL, 0}};
    struct plan plan;

    (void)state;
    plan_make(&plan, rows);
    assert_non_null(strstr(plan_faults(&plan), "HOST"));
    plan_free(&plan);
}

static void defaults_are_in_force(void **state)
{
    const struct mk_server_settings *s;
    struct plan plan;

    (void)state;
    plan_make(&plan, NULL);
    assert_int_equal(plan.faults.count, 0);
    s = &plan.snapshot.set;
    assert_int_equal(s->nlistens, 1);
    assert_int_equal(mk_addr_port(&s->listens[0].addr), 2001);
    assert_int_equal(s->scheduler, MK_SCHEDULER_REUSEPORT);
    assert_int_equal(s->timeout_ms, 15000);
    assert_int_equal(s->keepalive_timeout_ms, 5000);
    assert_int_equal(s->max_keepalive_requests, 1000);
    assert_int_equal(s->max_request_size, 32 << 10);
    assert_int_equal(s->max_body_size, 8 << 20);
    assert_int_equal(s->file_cache, 256 << 10);
    assert_int_equal(s->over_capacity, MK_OVER_RESIST);
    assert_true(s->keepalive && s->resume && s->fdt && s->fast_open);
    assert_false(s->symlink || s->hide_version || s->shared_sockets);
    assert_int_equal(s->log.level, MK_LOG_INFO);
    assert_int_equal(s->index_files.count, 1);
    assert_string_equal(s->error_log, "stderr");
    plan_free(&plan);
}

static void a_port_completes_listens_of_the_old_form(void **state)
{
    static const struct row rows[] = {{"SERVER", "Listen", "1.2.3.4", 0},
                                      {"SERVER", "Listen", "::1", 0},
                                      {"SERVER", "Port", "99", 0},
                                      {"SERVER", "Listen", "98", 0},
                                      {NULL, NULL, NULL, 0}};
    static const char *const expected[] = {"1.2.3.4:99", "[::1]:99", "98"};
    struct plan plan;

    (void)state;
    plan_make(&plan, rows);
    assert_string_equal(plan_faults(&plan), "");
    assert_int_equal(plan.snapshot.set.nlistens, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(plan.snapshot.set.listens[i].text, expected[i]);
    plan_free(&plan);
}

static void the_same_address_twice_is_a_fault(void **state)
{
    static const struct row twice[] = {
        {"SERVER", "Listen", "80", 0}, {"SERVER", "Listen", "[::]:80", 0}, {NULL, NULL, NULL, 0}};
    static const struct row any[] = {
        {"SERVER", "Listen", "0", 0}, {"SERVER", "Listen", "0", 0}, {NULL, NULL, NULL, 0}};
    struct plan plan;

    (void)state;
    plan_make(&plan, twice);
    assert_non_null(strstr(plan_faults(&plan), "appears twice"));
    plan_free(&plan);
    plan_make(&plan, any); /* every port 0 is another one */
    assert_int_equal(plan.faults.count, 0);
    plan_free(&plan);
}

static void traces_join_a_level(void **state)
{
    static const struct row rows[] = {{"SERVER", "LogLevel", "warn", 0},
                                      {"SERVER", "LogLevel", "trace:conn, HTTP", 0},
                                      {NULL, NULL, NULL, 0}};
    struct plan plan;

    (void)state;
    plan_make(&plan, rows);
    assert_string_equal(plan_faults(&plan), "");
    assert_int_equal(plan.snapshot.set.log.level, MK_LOG_WARN);
    assert_int_equal(plan.snapshot.set.log.traced_level, MK_LOG_TRACE);
    assert_int_equal(plan.snapshot.set.log.traced, 1U << MK_LOG_CONN | 1U << MK_LOG_HTTP);
    plan_free(&plan);
}

/* As many lines of one key as its bound lets through, then one more. */
static void check_lines(const struct row *line, size_t max, const char *says)
{
    struct row rows[66] = {{NULL, NULL, NULL, 0}};

    assert_true(max + 1 < MK_ARRAY_LEN(rows));
    for (size_t count = 0; count <= max; count++) {
        struct plan plan;

        rows[count] = *line;
        plan_make(&plan, rows);
        assert_int_equal(plan.error, 0);
        if ((strstr(plan_faults(&plan), says) != NULL) != (count == max))
            fail_msg("%zu times %s: %s", count + 1, line->key, plan_faults(&plan));
        plan_free(&plan);
    }
}

static void lines_are_bounded(void **state)
{
    static const struct row listen = {"SERVER", "Listen", "0", 0},
                            load = {"PLUGINS", "Load", "liana", 0};

    (void)state;
    check_lines(&listen, MK_LIMIT_LISTENERS, "at most 64 Listen lines");
    /* one is the test's own: echo */
    check_lines(&load, MK_LIMIT_PLUGINS - 1, "at most 64 of them");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_lines_are_named),
        cmocka_unit_test(unknown_sections_are_named),
        cmocka_unit_test(defaults_are_in_force),
        cmocka_unit_test(a_port_completes_listens_of_the_old_form),
        cmocka_unit_test(the_same_address_twice_is_a_fault),
        cmocka_unit_test(traces_join_a_level),
        cmocka_unit_test(lines_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
