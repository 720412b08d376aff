/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "base/limits.h"
#include "base/str.h"
#include "setup/plugin.h"

#include <monkey/plugin.h>

static const struct row sites[] = {
    {"SERVER", "HideVersion", "on", 0},
    {"HOST", "ServerName", "first", 0},
    {"HOST", "ServerName", "Second.Example *.wild.example", 1},
    {"HOST", "Header", "X-A: b", 1},
    {"HOST", "Header", "Server: mine", 1},
    {"HOST", "Header", "X-Gone", 1},
    {"HANDLERS", "Match", "^/a echo", 1},
    {"HANDLERS", "Match", "^/(b|c) echo", 1},
    {"HOST", "ServerName", "*.example deep.wild.example", 2},
    {"HANDLERS", "Match", "^/(d|e) echo", 2},
    {NULL, NULL, NULL, 0},
};

static void names_choose_sites(void **state)
{
    static const struct {
        const char *host;
        unsigned site;
    } rows[] = {
        {"first", 0},          {"FIRST", 0},
        {"second.example", 1}, {"SECOND.example", 1},
        {"a.wild.example", 1}, {"a.b.wild.example", 1},
        {"wild.example", 2},   {"deep.wild.example", 2}, /* a name goes before a wildcard */
        {"x.example", 2},      {"example", 0},
        {".example", 0},       {"xexample", 0},
        {"unknown", 0},        {"", 0},
        {"192.0.2.1", 0},
    };
    char long_name[300];
    struct plan plan;

    (void)state;
    plan_make(&plan, sites);
    assert_string_equal(plan_faults(&plan), "");
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        unsigned index = mk_snapshot_site(&plan.snapshot, mk_str_from(rows[i].host))->index;

        if (index != rows[i].site)
            fail_msg("\"%s\" leads to %u", rows[i].host, index);
    }
    memset(long_name, 'a', sizeof(long_name));
    memcpy(long_name + 255 - 8, ".example", 8);
    assert_int_equal(mk_snapshot_site(&plan.snapshot, (struct mk_str){long_name, 255})->index, 2);
    assert_int_equal(mk_snapshot_site(&plan.snapshot, (struct mk_str){long_name, 256})->index, 0);
    plan_free(&plan);
}

/* With addresses of their own, the first and the third answer at no others. */
static void sites_with_addresses_have_no_names_elsewhere(void **state)
{
    static const struct row rows[] = {
        {"SERVER", "Listen", "8000", 0},
        {"HOST", "ServerName", "first", 0},
        {"HOST", "Listen", "8001", 0},
        {"HOST", "ServerName", "second", 1},
        {"HOST", "ServerName", "third *.third", 2},
        {"HOST", "Listen", "8002", 2},
        {"HOST", "Listen", "8003", 2},
        {"HOST", "ServerName", "third", 3},
        {NULL, NULL, NULL, 0},
    };
    static const unsigned site_of[] = {0, 1, 3, 3};
    struct plan plan;

    (void)state;
    plan_make(&plan, rows);
    assert_string_equal(plan_faults(&plan), "");
    assert_int_equal(plan.snapshot.usual, 1);
    assert_int_equal(mk_snapshot_site(&plan.snapshot, MK_STR("first"))->index, 1);
    assert_int_equal(mk_snapshot_site(&plan.snapshot, MK_STR("a.third"))->index, 1);
    assert_int_equal(mk_snapshot_site(&plan.snapshot, MK_STR("third"))->index, 3);
    assert_int_equal(plan.snapshot.set.nlistens, MK_ARRAY_LEN(site_of));
    for (size_t i = 0; i < MK_ARRAY_LEN(site_of); i++)
        assert_int_equal(plan.snapshot.set.listens[i].via.site, site_of[i]);
    plan_free(&plan);
}

static void sites_that_all_have_addresses_need_no_others(void **state)
{
    static const struct row rows[] = {
        {"HOST", "Listen", "8001", 0},
        {"HOST", "Listen", "8002", 1},
        {NULL, NULL, NULL, 0},
    };
    struct plan plan;

    (void)state;
    plan_make(&plan, rows);
    assert_string_equal(plan_faults(&plan), "");
    assert_int_equal(plan.snapshot.set.nlistens, 2);
    plan_free(&plan);
}

static void a_name_belongs_to_one_site(void **state)
{
    static const struct {
        const char *sentence;
        struct row rows[4];
        bool is_fault;
    } cases[] = {
        {"two sites",
         {{"HOST", "ServerName", "a", 0}, {"HOST", "ServerName", "A", 1}, {NULL, NULL, NULL, 0}},
         true},
        {"two sites, a wildcard",
         {{"HOST", "ServerName", "*.a", 0},
          {"HOST", "ServerName", "*.a", 1},
          {NULL, NULL, NULL, 0}},
         true},
        {"twice in one",
         {{"HOST", "ServerName", "a a", 0}, {"HOST", "ServerName", "b", 1}, {NULL, NULL, NULL, 0}},
         false},
        {"three names, two sites",
         {{"HOST", "ServerName", "a a", 0}, {"HOST", "ServerName", "a", 1}, {NULL, NULL, NULL, 0}},
         true},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(cases); i++) {
        struct plan plan;

        plan_make(&plan, cases[i].rows);
        if ((strstr(plan_faults(&plan), "also belongs to row") != NULL) != cases[i].is_fault)
            fail_msg("%s: %s", cases[i].sentence, plan_faults(&plan));
        plan_free(&plan);
    }
}

static void headers_add_replace_and_remove(void **state)
{
    const struct mk_site *site;
    struct plan plan;

    (void)state;
    plan_make(&plan, sites);
    site = &plan.snapshot.sites[1];
    assert_true(mk_str_eq(site->extra_lines, MK_STR("X-A: b\r\nServer: mine\r\n")));
    assert_true(mk_site_overrides(site, MK_STR("server")));
    assert_true(mk_site_overrides(site, MK_STR("x-gone")));
    assert_false(mk_site_overrides(site, MK_STR("Date")));
    assert_int_equal(plan.snapshot.sites[0].extra_lines.len, 0);
    assert_true(mk_str_eq(plan.snapshot.server_name, MK_STR("Monkey")));
    plan_free(&plan);
}

static void routes_are_those_of_their_site(void **state)
{
    struct plan plan;

    (void)state;
    plan_make(&plan, sites);
    assert_int_equal(plan.snapshot.sites[1].nroutes, 2);
    assert_string_equal(plan.snapshot.sites[2].routes[0].who.plugin->name, "echo");
    plan_free(&plan);
}

static void types_have_a_charset_and_a_fallback(void **state)
{
    static const struct row own[] = {{"SERVER", "DefaultCharset", "off", 0},
                                     {"SERVER", "DefaultMimeType", "text/x-any", 0},
                                     {"MIMETYPES", "HTML", "text/html", 0},
                                     {NULL, NULL, NULL, 0}};
    static const struct {
        const char *name, *usual, *own;
    } rows[] = {
        {"a.html", "text/html; charset=utf-8", "text/html"},
        {"a.png", "image/png", "image/png"}, /* built in: there is no file of types */
        {"a.js", "text/javascript; charset=utf-8", "text/javascript"},
        {"a", "application/octet-stream", "text/x-any"},
    };
    struct plan usual, mine;

    (void)state;
    plan_make(&usual, NULL);
    plan_make(&mine, own);
    assert_string_equal(plan_faults(&mine), "");
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        assert_true(mk_str_eq(mk_mime_of(&usual.snapshot.mime, mk_str_from(rows[i].name)),
                              mk_str_from(rows[i].usual)));
        assert_true(mk_str_eq(mk_mime_of(&mine.snapshot.mime, mk_str_from(rows[i].name)),
                              mk_str_from(rows[i].own)));
    }
    plan_free(&usual);
    plan_free(&mine);
}

static void sites_need_roots_where_they_come_from_files(void **state)
{
    struct plan plan;

    (void)state;
    for (int needed = 0; needed < 2; needed++) {
        struct mk_setup ctx = {.arena = &plan.arena, .faults = &plan.faults};

        plan_make(&plan, NULL);
        plan.source.need_roots = needed;
        memset(&plan.snapshot, 0, sizeof(plan.snapshot));
        assert_int_equal(mk_snapshot_build(&plan.snapshot, &plan.source, &ctx), 0);
        assert_int_equal(plan.faults.count, needed);
        plan_free(&plan);
    }
}

static void on_unused(struct mk_snapshot *s, void *arg)
{
    (void)s;
    ++*(int *)arg;
}

static void the_last_reference_says_so(void **state)
{
    struct plan plan;
    int unused = 0;

    (void)state;
    plan_make(&plan, NULL);
    plan.snapshot.on_unused = on_unused;
    plan.snapshot.arg = &unused;
    mk_snapshot_get(&plan.snapshot);
    mk_snapshot_put(&plan.snapshot);
    assert_int_equal(unused, 0);
    mk_snapshot_put(&plan.snapshot);
    assert_int_equal(unused, 1);
    plan_free(&plan);
}

/* Lines of a site that fill its bound to the last byte, then one byte more. */
static void lines_of_a_site_are_bounded(void **state)
{
    char value[MK_LIMIT_SITE_LINES + 16] = "X-A: ";
    const struct row rows[] = {
        {"HOST", "Header", "X-B: b", 0}, {"HOST", "Header", value, 0}, {NULL, NULL, NULL, 0}};
    size_t room = MK_LIMIT_SITE_LINES - strlen("X-B: b\r\n") - strlen("\r\n");

    (void)state;
    for (size_t len = room; len <= room + 1; len++) {
        struct plan plan;

        memset(value + 5, 'a', len - 5);
        value[len] = '\0';
        plan_make(&plan, rows);
        assert_int_equal(plan.error, 0);
        if (len == room)
            assert_int_equal(plan.snapshot.sites[0].extra_lines.len, MK_LIMIT_SITE_LINES);
        else
            assert_non_null(strstr(plan_faults(&plan), "may have 8192 bytes in all"));
        assert_int_equal(plan.faults.count, len - room);
        plan_free(&plan);
    }
}

static void names_of_plugins_are_bounded(void **state)
{
    char name[MK_LIMIT_PLUGIN_NAME + 2];
    const struct mk_plugin plugin = {MK_PLUGIN(name, "has a long name")};

    (void)state;
    memset(name, 'a', sizeof(name));
    name[MK_LIMIT_PLUGIN_NAME] = '\0';
    assert_true(mk_plugin_is_usable(&plugin));
    memset(name, 'a', sizeof(name));
    name[MK_LIMIT_PLUGIN_NAME + 1] = '\0';
    assert_false(mk_plugin_is_usable(&plugin));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_choose_sites),
        cmocka_unit_test(sites_with_addresses_have_no_names_elsewhere),
        cmocka_unit_test(sites_that_all_have_addresses_need_no_others),
        cmocka_unit_test(a_name_belongs_to_one_site),
        cmocka_unit_test(headers_add_replace_and_remove),
        cmocka_unit_test(routes_are_those_of_their_site),
        cmocka_unit_test(types_have_a_charset_and_a_fallback),
        cmocka_unit_test(sites_need_roots_where_they_come_from_files),
        cmocka_unit_test(the_last_reference_says_so),
        cmocka_unit_test(lines_of_a_site_are_bounded),
        cmocka_unit_test(names_of_plugins_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
