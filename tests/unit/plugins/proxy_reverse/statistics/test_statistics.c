/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../kit/gateway/fake.h"
#include "fake_facts.h"
#include "statistics/statistics.h"

#include <monkey/inspect.h>

/* ---- what the fake server has not ---- */

static char body[1 << 20];

void mk_server_facts(const struct mk_server *server, struct mk_server_facts *facts)
{
    (void)server;
    facts->uptime_ms = 90061000;
}

int mk_request_on_end(struct mk_request *r, void (*fn)(void *arg), void *arg)
{
    (void)fn;
    r->memory[r->nmemory++] = arg;
    return 0;
}

int mk_reply_memory(struct mk_request *r, struct mk_str bytes)
{
    (void)r;
    assert_true(bytes.len < sizeof(body));
    memcpy(body, bytes.p, bytes.len);
    body[bytes.len] = '\0';
    return 0;
}

/* ---- two entries: one of every site, one of the second ---- */

static const struct proxy_facts facts[] = {
    {.name = "<b>\xC3\xA9",
     .weight = 2,
     .health = {.state = HEALTH_UP, .share = 1000, .check_ago_ms = -1},
     .requests = 42,
     .status = {0, 0, 40}},
    {.name = "down",
     .weight = 1,
     .health = {.state = HEALTH_OFFLINE, .wait_ms = 2500, .check_ago_ms = 3000}},
};

struct scene {
    struct mk_str networks[1];
    struct proxy_settings sets[2];
    struct proxy_group groups[2];
    struct proxy_entry entries[2];
    struct proxy_config config;
    struct proxy_site site;
    struct mk_context ctx;
    struct mk_request r;
};

static struct scene scene;

static void prepare(const char *method, const char *query, const struct fake_field *fields)
{
    static const char *const names[] = {"everywhere", "second"};
    struct scene *s = &scene;

    memset(s, 0, sizeof(*s));
    body[0] = '\0';
    s->networks[0] = MK_STR("192.0.2.0/24");
    for (unsigned i = 0; i < 2; i++) {
        s->sets[i] = (struct proxy_settings){
            .statistics_url = "/backends", .statistics_allow = {.items = s->networks, .count = 1}};
        s->groups[i] = (struct proxy_group){1, &facts[i]};
        s->entries[i] = (struct proxy_entry){
            .set = &s->sets[i], .name = names[i], .site = i * 2, .group = &s->groups[i]};
    }
    s->entries[0].next = &s->entries[1];
    s->config.entries = s->entries;
    s->site.number = 2;
    s->ctx = (struct mk_context){.size = sizeof(s->ctx), .config = &s->config, .site = &s->site};
    s->r.facts = (struct mk_request_facts){.size = sizeof(s->r.facts),
                                           .method = mk_str_from(method),
                                           .path = MK_STR("/backends"),
                                           .query = mk_str_from(query)};
    s->r.conn = (struct mk_conn_facts){.size = sizeof(s->r.conn)};
    memcpy(s->r.conn.peer_ip, (uint8_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1},
           16);
    s->r.fields = fields;
}

static const char *answer(void)
{
    assert_int_equal(proxy_statistics(&scene.r, &scene.ctx), MK_VERDICT_DONE);
    fake_end(&scene.r);
    return scene.r.said;
}

static bool says_json(const char *said)
{
    bool json = strstr(said, "Content-Type: application/json\n") != NULL;

    assert_int_equal(json, body[0] == '{');
    assert_int_equal(!json, strncmp(body, "<!DOCTYPE html>", 15) == 0);
    return json;
}

static void test_in_which_form(void **state)
{
    static const struct {
        const char *query, *accept;
        bool json;
    } rows[] = {
        {"", NULL, false},
        {"format=json", NULL, true},
        {"format=html", "application/json", false},
        {"format=JSON", NULL, false},
        {"a=b&format=json&c", NULL, true},
        {"xformat=json", NULL, false},
        {"format", "application/json", true},
        {"format=", "application/json", false},
        {"", "application/json", true},
        {"", "APPLICATION/JSON", true},
        {"", "*/*", false},
        {"", "text/html, application/json", false},
        {"", "text/html;q=0.5, application/json", true},
        {"", "text/html;q=0.5 , application/json;q=0.4", false},
        {"", "text/html;q=0.25, application/json; q=0.251", true},
        {"", "application/json;q=0", false},
        {"", "application/jsonx", false},
        {"", "application/json;charset=utf-8;Q=0.9, text/html;q=0.8", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct fake_field fields[] = {{"Accept", rows[i].accept}, {NULL, NULL}};

        prepare("GET", rows[i].query, rows[i].accept ? fields : NULL);
        if (says_json(answer()) != rows[i].json)
            fail_msg("%s, %s: the other form", rows[i].query, rows[i].accept);
    }
}

static void test_refresh(void **state)
{
    static const struct {
        const char *query, *there;
    } rows[] = {
        {"refresh=5", "content=\"5\""},
        {"refresh=3600", "content=\"3600\""},
        {"refresh=3601", NULL},
        {"refresh=99999999999999999999", NULL},
        {"refresh=0", NULL},
        {"refresh=5x", NULL},
        {"refresh=", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        prepare("GET", rows[i].query, NULL);
        assert_false(says_json(answer()));
        if ((strstr(body, "http-equiv=\"refresh\"") != NULL) != (rows[i].there != NULL) ||
            (rows[i].there && !strstr(body, rows[i].there)))
            fail_msg("%s", rows[i].query);
    }
}

static void test_methods(void **state)
{
    (void)state;
    prepare("POST", "", NULL);
    assert_non_null(strstr(answer(), "error 405 Allow: GET, HEAD\r\n"));
    prepare("HEAD", "", NULL);
    assert_false(says_json(answer()));
}

static void test_who_may_see_it(void **state)
{
    (void)state;
    prepare("GET", "", NULL);
    scene.r.conn.peer_ip[15] = 255;
    scene.r.conn.peer_ip[14] = 3;
    assert_non_null(strstr(answer(), "error 403"));
    prepare("GET", "", NULL);
    scene.r.conn.peer_is_unix = true;
    assert_non_null(strstr(answer(), "error 403"));
    scene.networks[0] = MK_STR("unix");
    scene.r.said_len = 0;
    assert_null(strstr(answer(), "error"));
}

/* Other sites may belong to others. */
static void test_whose_entries_it_shows(void **state)
{
    (void)state;
    prepare("GET", "format=json", NULL);
    assert_true(says_json(answer()));
    assert_non_null(strstr(body, "\"everywhere\""));
    assert_non_null(strstr(body, "\"second\""));
    prepare("GET", "format=json", NULL);
    scene.site.number = 1;
    assert_true(says_json(answer()));
    assert_non_null(strstr(body, "\"everywhere\""));
    assert_null(strstr(body, "\"second\""));
    assert_true(proxy_is_statistics(&scene.ctx, MK_STR("/backends")));
    assert_false(proxy_is_statistics(&scene.ctx, MK_STR("/backends/")));
    scene.entries[0].site = 2;
    assert_false(proxy_is_statistics(&scene.ctx, MK_STR("/backends")));
}

static void test_names_of_others_become_no_markup(void **state)
{
    (void)state;
    prepare("GET", "", NULL);
    (void)answer();
    assert_non_null(strstr(body, "&lt;b&gt;\xC3\xA9"));
    assert_null(strstr(body, "<b>\xC3\xA9"));
    prepare("GET", "format=json", NULL);
    (void)answer();
    assert_non_null(strstr(body, "\"name\": \"<b>\xC3\xA9\", \"weight\": 2"));
    assert_non_null(strstr(body, "\"requests\": 42"));
    assert_non_null(strstr(body, "\"answers_2xx\": 40"));
    assert_non_null(strstr(body, "\"state\": \"offline\""));
    assert_non_null(strstr(body, "\"next_try_ms\": 2500"));
    assert_non_null(strstr(body, "\"last_check\": null"));
    assert_non_null(strstr(body, "\"last_check\": {\"good\": false, \"ago_ms\": 3000}"));
    assert_non_null(strstr(body, "\"uptime_s\": 90061"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_which_form),
        cmocka_unit_test(test_refresh),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_who_may_see_it),
        cmocka_unit_test(test_whose_entries_it_shows),
        cmocka_unit_test(test_names_of_others_become_no_markup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
