/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <monkey/plugin.h>

#include "base/heap.h"

/* An embedder without files: plugins that are linked in, set in C. The plugin "sections" is. */

struct line {
    const char *section, *key, *value;
};

static struct mk_config *configure(const struct line *lines)
{
    struct mk_config *config;

    assert_int_equal(mk_config_new(&config, NULL), 0);
    for (; lines->section; lines++)
        assert_int_equal(
            mk_config_set(config, lines->section, lines->key, lines->value, "the program"), 0);
    return config;
}

static void add_text(void *arg, const char *text, size_t len)
{
    char *all = arg;

    assert_true(strlen(all) + len < 16000);
    (void)strncat(all, text, len);
}

static void is_told(struct mk_config *config, const char *expected)
{
    char all[16000] = "";

    mk_config_faults(config, add_text, all);
    if (!strstr(all, expected))
        fail_msg("\"%s\" is not in: %s", expected, all);
}

static void sections_can_be_set(void **state)
{
    static const struct line lines[] = {
        {"PLUGINS", "Load", "monkey-sections.so"},
        {"SHARED", "Number", "5"},
        {"EACH", "Match", "^/x"},
        {"HANDLERS", "Match", "^/y sections text"},
        {NULL, NULL, NULL},
    };
    struct mk_config *config = configure(lines);
    char all[16000] = "";

    (void)state;
    assert_int_equal(mk_config_check(config), 0);
    assert_int_equal(mk_config_set(config, "SHARED", "Word", "later", "the program"), 0);
    assert_int_equal(mk_config_check(config), 0);
    assert_int_equal(mk_config_dump(config, add_text, all), 0);
    assert_non_null(strstr(all, "# the program\n    Load monkey-sections.so\n"));
    assert_non_null(
        strstr(all, "# the program\n    Word later\n    # the program\n    Number 5\n"));
    assert_non_null(strstr(all, "[EACH]\n    # the program\n    Match ^/x\n"));
    mk_config_free(config);
}

static void faults_name_who_set_them(void **state)
{
    static const struct line unloaded[] = {{"SHARED", "Number", "5"}, {NULL, NULL, NULL}};
    static const struct line wrong[] = {
        {"PLUGINS", "Load", "sections"}, {"SHARED", "Number", "100"}, {NULL, NULL, NULL}};
    static const struct line twice[] = {
        {"PLUGINS", "Load", "sections"}, {"PLUGINS", "Load", "sections"}, {NULL, NULL, NULL}};
    struct mk_config *config = configure(unloaded);

    (void)state;
    assert_int_equal(mk_config_check(config), 1);
    is_told(config, "the program: error: unknown section [SHARED]");
    mk_config_free(config);
    config = configure(wrong);
    assert_int_equal(mk_config_check(config), 1);
    is_told(config, "the program: error: Number: expected a whole number from 1 to 99");
    mk_config_free(config);
    config = configure(twice);
    assert_int_equal(mk_config_check(config), 1);
    is_told(config, "the program: error: Load: the plugin \"sections\" is loaded already");
    mk_config_free(config);
}

static struct mk_server *serve(void)
{
    static const struct line lines[] = {
        {"SERVER", "Listen", "127.0.0.1:0"},
        {"SERVER", "Workers", "1"},
        {"SERVER", "LogLevel", "error"},
        {"PLUGINS", "Load", "sections"},
        {NULL, NULL, NULL},
    };
    struct mk_server *server;

    assert_int_equal(mk_server_new(&server, configure(lines), NULL), 0);
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    return server;
}

static void a_server_tells_its_plugins(void **state)
{
    static const char *const names[] = {"liana", "sections"};
    long live = mk_heap_live();
    struct mk_server *server = serve();
    struct mk_plugin_facts facts = {.size = sizeof(facts)};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_true(mk_server_plugin(server, i, &facts));
        assert_string_equal(facts.name, names[i]);
        assert_null(facts.file);
        assert_int_equal(facts.major, MK_PLUGIN_MAJOR);
        assert_int_equal(facts.has_transport, i == 0);
    }
    assert_false(mk_server_plugin(server, 2, &facts));
    facts = (struct mk_plugin_facts){.size = offsetof(struct mk_plugin_facts, about)};
    assert_true(mk_server_plugin(server, 0, &facts));
    assert_null(facts.about); /* an older caller has no room for it */
    mk_server_free(server);
    assert_int_equal(mk_heap_live(), live);
}

static void a_reload_keeps_the_plugins(void **state)
{
    static const struct line others[] = {{"SERVER", "Listen", "127.0.0.1:0"},
                                         {"SERVER", "LogLevel", "error"},
                                         {"PLUGINS", "Load", "there_is_none"},
                                         {"SHARED", "Number", "6"},
                                         {NULL, NULL, NULL}};
    struct mk_server *server = serve();
    struct mk_config *config = configure(others);
    struct mk_plugin_facts facts = {.size = sizeof(facts)};

    (void)state;
    assert_int_equal(mk_server_reload(server, config), 0); /* follows by itself */
    config = configure(others);
    mk_config_follow(config, mk_server_config(server));
    assert_int_equal(mk_config_check(config), 0);
    is_told(config, "warning: Load: a change of plugins needs a restart");
    assert_int_equal(mk_server_reload(server, config), 0);
    assert_true(mk_server_plugin(server, 1, &facts));
    assert_string_equal(facts.name, "sections");
    mk_server_free(server);
}

/* It goes to a plugin that no configuration loads. */
static void a_plugin_carries_out_commands(void **state)
{
    static const struct {
        const char *plugin, *words[3];
        int err;
        const char *text;
    } rows[] = {
        {"sections", {"say", "a word"}, 0, "a word"},
        {"sections", {"say"}, MK_E_INVALID, ""},
        {"sections", {"sing"}, MK_E_UNSUPPORTED, "the plugin sections has no command \"sing\""},
        {"there_is_none",
         {"say", "a word"},
         MK_E_NOENT,
         "cannot load \"/nowhere/monkey-there_is_none.so\": No such file or directory"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t live = mk_heap_live();
        struct mk_config *config;
        char text[100] = "not told", short_text[4];

        assert_int_equal(mk_config_new(&config, NULL), 0);
        assert_int_equal(mk_config_plugin_dir(config, "/nowhere"), 0);
        assert_int_equal(
            mk_config_command(config, rows[i].plugin, rows[i].words, text, sizeof(text)),
            rows[i].err);
        assert_string_equal(text, rows[i].text);
        assert_int_equal(mk_config_command(config, rows[i].plugin, rows[i].words, short_text,
                                           sizeof(short_text)),
                         rows[i].err);
        assert_memory_equal(short_text, rows[i].text, strnlen(rows[i].text, 3));
        mk_config_free(config);
        assert_int_equal(mk_heap_live(), live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sections_can_be_set),
        cmocka_unit_test(faults_name_who_set_them),
        cmocka_unit_test(a_server_tells_its_plugins),
        cmocka_unit_test(a_reload_keeps_the_plugins),
        cmocka_unit_test(a_plugin_carries_out_commands),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
