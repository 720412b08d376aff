/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <monkey/ask.h>
#include <monkey/plugin.h>

#include "base/heap.h"

/* Sites and media types of a program: mk_config_set_site, mk_config_set. */

static enum mk_verdict name_site(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    const struct mk_str type = mk_request_mime(r, MK_STR("a.odd"));

    (void)ctx, (void)data;
    mk_request_facts(r, &facts);
    return mk_reply_bytes(r, 200, mk_request_printf(r, "%.*s", (int)type.len, type.p),
                          mk_str_from(facts.site_name));
}

static int own_all(struct mk_setup *setup)
{
    return mk_setup_route(setup, MK_STR("^/"), NULL, NULL, false);
}

static const struct mk_plugin names = {
    MK_PLUGIN("names", "answers with the name of the site"),
    .check_site = own_all,
    .on_handle = name_site,
};

static int set(struct mk_config *config, const char *site, const char *key, const char *value)
{
    return mk_config_set_site(config, site, "HOST", key, value, "test");
}

static struct mk_config *configure(void)
{
    struct mk_config *config;

    assert_int_equal(mk_config_new(&config, NULL), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Listen", "127.0.0.1:0", "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Workers", "1", "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "LogLevel", "error", "test"), 0);
    assert_int_equal(mk_config_set(config, "MIMETYPES", "odd", "application/x-odd", "test"), 0);
    assert_int_equal(mk_config_plugin(config, &names, NULL), 0);
    return config;
}

/* @return 0, or what failed. */
static int add_sites(struct mk_config *config)
{
    int err = set(config, "first", "ServerName", "one uno");

    if (err == 0)
        err = set(config, "second", "ServerName", "two");
    return err == 0 ? set(config, "first", "Header", "X-From first") : err;
}

static struct mk_server *serve(struct mk_config *config)
{
    struct mk_server *server;

    assert_int_equal(mk_server_new(&server, config, NULL), 0);
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    return server;
}

/* line: one that the answer has; NULL: it has no X-From */
static void is_answered_by(struct mk_server *server, const char *host, const char *site,
                           const char *line)
{
    const struct mk_question question = {
        .size = sizeof(question), .target = MK_STR("/"), .fields = mk_str_from(host)};
    struct mk_answer *answer;
    char fields[1000];

    assert_int_equal(mk_server_ask_wait(server, &question, &answer), 0);
    assert_int_equal(answer->status, 200);
    assert_int_equal(answer->body.len, strlen(site));
    if (*site)
        assert_memory_equal(answer->body.p, site, strlen(site));
    (void)snprintf(fields, sizeof(fields), "%.*s", (int)answer->fields.len, answer->fields.p);
    assert_non_null(strstr(fields, "Content-Type: application/x-odd\r\n"));
    if (line)
        assert_non_null(strstr(fields, line));
    else
        assert_null(strstr(fields, "X-From"));
    mk_answer_free(answer);
}

static void requests_find_their_site(void **state)
{
    long live = mk_heap_live();
    struct mk_config *config = configure();
    struct mk_server *server;

    (void)state;
    assert_int_equal(add_sites(config), 0);
    server = serve(config);
    is_answered_by(server, "Host: one\r\n", "one", "X-From: first\r\n");
    is_answered_by(server, "Host: uno\r\n", "one", "X-From: first\r\n");
    is_answered_by(server, "Host: two\r\n", "two", NULL);
    is_answered_by(server, "Host: other\r\n", "", NULL);
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

/* A second check finds each site once. */
static void settings_may_follow_a_check(void **state)
{
    struct mk_config *config = configure();
    struct mk_server *server;

    (void)state;
    assert_int_equal(set(config, "first", "ServerName", "one"), 0);
    assert_int_equal(mk_config_check(config), 0);
    assert_int_equal(set(config, "first", "Header", "X-From late"), 0);
    assert_int_equal(set(config, "second", "ServerName", "two"), 0);
    server = serve(config);
    is_answered_by(server, "Host: one\r\n", "one", "X-From: late\r\n");
    is_answered_by(server, "Host: two\r\n", "two", NULL);
    mk_server_free(server);
}

static void keep_text(void *arg, const char *text, size_t len)
{
    (void)snprintf(arg, 1000, "%.*s", (int)len, text);
}

static void faults_name_their_origin(void **state)
{
    struct mk_config *config = configure();
    char fault[1000] = "";

    (void)state;
    assert_int_equal(set(config, "first", "ServerNames", "one"), 0);
    assert_int_equal(mk_config_check(config), 1);
    mk_config_faults(config, keep_text, fault);
    assert_non_null(strstr(fault, "test"));
    assert_non_null(strstr(fault, "ServerName"));
    mk_config_free(config);
}

static void memory_may_fail(void **state)
{
    long live = mk_heap_live();

    (void)state;
    for (int n = 0, err = MK_E_NOMEM; err == MK_E_NOMEM; n++) {
        struct mk_config *config = configure();

        mk_heap_fail_after(n);
        err = add_sites(config);
        if (err == 0)
            err = mk_config_check(config);
        mk_heap_fail_after(-1);
        assert_in_range(-err, 0, -MK_E_NOMEM);
        mk_config_free(config);
        assert_int_equal(mk_heap_live(), live);
        assert_in_range(n, 0, 1000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_find_their_site),
        cmocka_unit_test(settings_may_follow_a_check),
        cmocka_unit_test(faults_name_their_origin),
        cmocka_unit_test(memory_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
