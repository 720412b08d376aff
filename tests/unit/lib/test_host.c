/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "embedded.h"

/* What a program takes from its server and gives to it: struct mk_host. */

static char logged[4000], lines[400];

static void take(void *arg, enum mk_log_level level, const char *component, const char *message)
{
    char line[600];

    assert_ptr_equal(arg, logged);
    (void)snprintf(line, sizeof(line), "%d %s %s\n", (int)level, component, message);
    (void)strncat(logged, line, sizeof(logged) - strlen(logged) - 1);
}

static void take_lines(void *arg, const char *name, const char *text, size_t len)
{
    assert_ptr_equal(arg, logged);
    (void)snprintf(lines, sizeof(lines), "%s: %.*s", name, (int)len, text);
}

static struct mk_config *configure(const struct mk_host *host, const char *error_log)
{
    struct mk_config *config;

    assert_int_equal(mk_config_new(&config, host), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Listen", "127.0.0.1:0", "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Workers", "1", "test"), 0);
    if (error_log)
        assert_int_equal(mk_config_set(config, "SERVER", "ErrorLog", error_log, "test"), 0);
    return config;
}

static struct mk_server *serve(const struct mk_host *host, const char *error_log)
{
    struct mk_server *server;

    assert_int_equal(mk_server_new(&server, configure(host, error_log), host), 0);
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    return server;
}

static void the_error_log_comes_to_a_function(void **state)
{
    const struct mk_host host = {.size = sizeof(host), .arg = logged, .log = take};
    struct mk_server *server;

    (void)state;
    logged[0] = '\0';
    server = serve(&host, NULL);
    mk_server_log(server, MK_LOG_WARN, "words n=%d", 5);
    mk_server_log(server, MK_LOG_DEBUG, "not wanted");
    assert_int_equal(mk_server_reload(server, configure(&host, NULL)), 0);
    assert_int_equal(mk_server_reopen_logs(server), 0);
    mk_server_free(server);
    assert_non_null(strstr(logged, "2 listen listening address=127.0.0.1:"));
    assert_non_null(strstr(logged, "2 server started workers=1"));
    assert_non_null(strstr(logged, "1 plugin words n=5\n"));
    assert_non_null(strstr(logged, "2 server configuration reloaded"));
    assert_non_null(strstr(logged, "2 server stopped\n"));
    assert_null(strstr(logged, "not wanted"));
}

static void older_programs_have_no_such_function(void **state)
{
    struct mk_host host = {.size = offsetof(struct mk_host, log),
                           .arg = logged,
                           .log = take,
                           .log_lines = take_lines,
                           .ntexts = 1};
    struct mk_server *server;

    (void)state;
    logged[0] = '\0';
    server = serve(&host, "/dev/null");
    assert_int_equal(mk_server_log_lines(server, "program:a", "x\n", 2), MK_E_UNSUPPORTED);
    mk_server_free(server);
    assert_string_equal(logged, "");
}

static void lines_of_logs_come_to_a_function(void **state)
{
    const struct mk_host host = {
        .size = sizeof(host), .arg = logged, .log = take, .log_lines = take_lines};
    struct mk_server *server = serve(&host, NULL);

    (void)state;
    lines[0] = '\0';
    assert_int_equal(mk_server_log_lines(server, "program:a", NULL, 0), 0);
    assert_string_equal(lines, "");
    assert_int_equal(mk_server_log_lines(server, "program:a", "one\ntwo\n", 8), 0);
    assert_string_equal(lines, "a: one\ntwo\n");
    assert_int_equal(mk_server_log_lines(server, "/var/log/a", "one\n", 4), MK_E_UNSUPPORTED);
    mk_server_free(server);
}

static void texts_are_opened_by_name(void **state)
{
    static char text[] = "first";
    const struct mk_host_text texts[] = {
        {NULL, "x"}, {"other", "x"}, {"empty", NULL}, {"word", text}};
    const struct mk_host host = {.size = sizeof(host),
                                 .arg = logged,
                                 .log = take,
                                 .texts = texts,
                                 .ntexts = sizeof(texts) / sizeof(texts[0])};
    struct mk_server *server = serve(&host, NULL);
    char read_back[20] = "";
    int fd = mk_server_open_file(server, "program:word", 0, 0);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(read(fd, read_back, sizeof(read_back)), 5);
    assert_string_equal(read_back, text);
    close(fd);
    assert_int_equal(mk_server_open_file(server, "program:empty", 0, 0), MK_E_NOENT);
    assert_int_equal(mk_server_open_file(server, "program:none", 0, 0), MK_E_NOENT);
    mk_server_free(server);
}

/* The dump of a configuration whose one file is a text. */
static void dump_text(const char *text, char all[16000])
{
    const struct mk_host_text texts[] = {{"conf", text}};
    const struct mk_host host = {.size = sizeof(host), .texts = texts, .ntexts = 1};
    const struct mk_config_files files = {.size = sizeof(files), .server = "program:conf"};
    struct mk_config *config;

    *all = '\0';
    assert_int_equal(mk_config_new(&config, &host), 0);
    assert_int_equal(mk_config_read(config, &files), 0);
    assert_int_equal(mk_config_check(config), 0);
    assert_int_equal(mk_config_check(config), 0); /* twice does no harm */
    assert_int_equal(mk_config_dump(config, embedded_append, all), 0);
    mk_config_free(config);
}

static void a_configuration_may_be_a_text(void **state)
{
    char all[16000];

    (void)state;
    dump_text("[SERVER]\n    Listen 127.0.0.1:0\n    Timeout 7\n", all);
    assert_non_null(strstr(all, "Timeout 7"));
}

/* No file and no folder is read: sites of the text, and their plugins, are found in it alone. */
static void sites_may_be_in_the_text(void **state)
{
    char all[16000];

    (void)state;
    dump_text("[SERVER]\n    Listen 127.0.0.1:0\n[HOST]\n    DocumentRoot /\n"
              "[ERROR_PAGES]\n    404 /lost\n[HOST]\n    ServerName b.test\n    DocumentRoot /\n",
              all);
    assert_non_null(strstr(all, "# program:conf:3\n[HOST]\n"));
    assert_non_null(strstr(all, "# program:conf:7\n[HOST]\n"));
    assert_non_null(strstr(all, "404 /lost"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_log_comes_to_a_function),
        cmocka_unit_test(older_programs_have_no_such_function),
        cmocka_unit_test(lines_of_logs_come_to_a_function),
        cmocka_unit_test(texts_are_opened_by_name),
        cmocka_unit_test(a_configuration_may_be_a_text),
        cmocka_unit_test(sites_may_be_in_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
