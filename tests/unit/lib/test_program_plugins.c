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

/* Plugins that a program has in itself: mk_config_plugin. */

static char first[] = "first", second[] = "second", one_word[] = "one", two_word[] = "two";

static enum mk_verdict say(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const char *word = ctx->config;

    (void)data;
    return mk_reply_bytes(r, 200, "text/plain", (struct mk_str){word, strlen(word)});
}

static int add_route(struct mk_setup *setup)
{
    assert_ptr_equal(mk_setup_argument(setup), mk_setup_config(setup));
    return mk_setup_route(setup, MK_STR("^/word$"), NULL, NULL, false);
}

static const struct mk_plugin says = {
    MK_PLUGIN("says", "says its argument"),
    .check_site = add_route,
    .on_handle = say,
};

static enum mk_verdict refuse(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)ctx, (void)data;
    return mk_reply_error(r, 403, NULL);
}

static const struct mk_plugin refuses = {
    MK_PLUGIN("says", "the same name, another thing"),
    .check_site = add_route,
    .on_handle = refuse,
};

static struct mk_config *configure(void)
{
    struct mk_config *config;

    assert_int_equal(mk_config_new(&config, NULL), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Listen", "127.0.0.1:0", "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Workers", "1", "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "LogLevel", "error", "test"), 0);
    return config;
}

static struct mk_config *configure_with(const struct mk_plugin *plugin, void *argument)
{
    struct mk_config *config = configure();

    assert_int_equal(mk_config_plugin(config, plugin, argument), 0);
    return config;
}

static struct mk_server *serve(struct mk_config *config)
{
    struct mk_server *server;

    assert_int_equal(mk_server_new(&server, config, NULL), 0);
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    return server;
}

/* status 200: with that body */
static void is_answered(struct mk_server *server, unsigned status, const char *body)
{
    const struct mk_question question = {.size = sizeof(question), .target = MK_STR("/word")};
    struct mk_answer *answer;

    assert_int_equal(mk_server_ask_wait(server, &question, &answer), 0);
    assert_int_equal(answer->status, status);
    if (status == 200) {
        assert_int_equal(answer->body.len, strlen(body));
        assert_memory_equal(answer->body.p, body, strlen(body));
    }
    mk_answer_free(answer);
}

static void the_argument_arrives(void **state)
{
    long live = mk_heap_live();
    struct mk_server *one = serve(configure_with(&says, one_word));
    struct mk_server *two = serve(configure_with(&says, two_word));

    (void)state;
    is_answered(one, 200, "one");
    is_answered(two, 200, "two");
    mk_server_free(one);
    is_answered(two, 200, "two");
    mk_server_free(two);
    assert_int_equal(mk_heap_live(), live);
}

static void a_reload_keeps_it(void **state)
{
    struct mk_server *server = serve(configure_with(&says, first));

    (void)state;
    assert_int_equal(mk_server_reload(server, configure()), 0);
    is_answered(server, 200, "first");
    assert_int_equal(mk_server_reload(server, configure()), 0);
    is_answered(server, 200, "first");
    mk_server_free(server);
}

static void a_reload_replaces_it(void **state)
{
    struct mk_server *server = serve(configure_with(&says, first));

    (void)state;
    assert_int_equal(mk_server_reload(server, configure_with(&says, second)), 0);
    is_answered(server, 200, "second");
    assert_int_equal(mk_server_reload(server, configure_with(&refuses, NULL)), 0);
    is_answered(server, 403, NULL);
    assert_int_equal(mk_server_reload(server, configure()), 0);
    is_answered(server, 403, NULL);
    mk_server_free(server);
}

static void keep_text(void *arg, const char *text, size_t len)
{
    (void)snprintf(arg, 1000, "%.*s", (int)len, text);
}

static void a_reload_adds_none(void **state)
{
    static const struct mk_plugin other = {MK_PLUGIN("other", "was not there")};
    struct mk_server *server = serve(configure_with(&says, first));
    struct mk_config *config = configure_with(&other, NULL);
    char fault[1000] = "";

    (void)state;
    assert_int_equal(mk_server_reload(server, config), 1);
    mk_config_faults(config, keep_text, fault);
    assert_non_null(strstr(fault, "the program added the plugin \"other\", which the running"));
    mk_config_free(config);
    is_answered(server, 200, "first");
    mk_server_free(server);
}

static void wrong_descriptions_are_refused(void **state)
{
    static const struct mk_plugin rows[] = {
        {.size = 8, .major = MK_PLUGIN_MAJOR, .name = "short"},
        {.size = sizeof(rows[0]), .major = MK_PLUGIN_MAJOR + 1, .name = "newer"},
        {.size = sizeof(rows[0]), .major = MK_PLUGIN_MAJOR, .name = "Upper"},
        {.size = sizeof(rows[0]), .major = MK_PLUGIN_MAJOR},
        {MK_PLUGIN("liana", "is built in")},
        {MK_PLUGIN("says", "is there")},
    };
    struct mk_config *config = configure_with(&says, first);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(mk_config_plugin(config, &rows[i], NULL), MK_E_INVALID);
    assert_int_equal(mk_config_check(config), 0);
    mk_config_free(config);
}

static void memory_may_fail(void **state)
{
    long live = mk_heap_live();

    (void)state;
    for (int n = 0, err = MK_E_NOMEM; err == MK_E_NOMEM; n++) {
        struct mk_config *config = configure();

        mk_heap_fail_after(n);
        err = mk_config_plugin(config, &says, first);
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
        cmocka_unit_test(the_argument_arrives),           cmocka_unit_test(a_reload_keeps_it),
        cmocka_unit_test(a_reload_replaces_it),           cmocka_unit_test(a_reload_adds_none),
        cmocka_unit_test(wrong_descriptions_are_refused), cmocka_unit_test(memory_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
