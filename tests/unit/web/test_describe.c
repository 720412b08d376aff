/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#define NUMBER_OF(rows) (sizeof(rows) / sizeof((rows)[0]))

static const struct mk_member place[] = {
    {.name = "shelf", .type = MK_MEMBER_TEXT, .is_required = true}, {0}};
static const struct mk_member item[] = {
    {.name = "id", .type = MK_MEMBER_INTEGER, .is_required = true, .about = "Its number"},
    {.name = "price", .type = MK_MEMBER_NUMBER},
    {.name = "new", .type = MK_MEMBER_FLAG},
    {.name = "tags", .type = MK_MEMBER_TEXT, .is_list = true},
    {.name = "places", .type = MK_MEMBER_OBJECT, .is_list = true, .members = place},
    {.name = "more", .type = MK_MEMBER_OBJECT},
    {0}};
static const struct mk_route_answer item_answers[] = {
    {.status = 200, .type = "application/json", .about = "The item", .members = item},
    {.status = 200, .type = "text/plain"},
    {.status = 404, .type = "application/problem+json", .about = "There is none"},
    {0}};
static const struct mk_route_answer list_answers[] = {
    {.status = 200, .type = "application/json", .members = place, .is_list = true},
    {.status = 204, .about = "Nothing"},
    {0}};

static enum mk_verdict answer(struct mk_request *r, void *arg)
{
    int64_t status = 0;

    (void)arg;
    if (mk_query_int(r, MK_STR("status"), &status) != 1)
        status = 200;
    return mk_reply_bytes(r, (unsigned)status, "text/plain", MK_STR("x"));
}

static enum mk_verdict refuse(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_request_header(r, MK_STR("X-Refuse")).p ? mk_reply_error(r, 403, NULL)
                                                      : MK_VERDICT_PASS;
}

static struct mk_routes *routes_of(struct mk_config *config)
{
    struct mk_routes *api;

    assert_int_equal(mk_routes_group(mk_config_routes(config), "/api", &api), 0);
    assert_int_equal(mk_routes_add(api, "GET", "/items/:id<int>", answer, NULL), 0);
    assert_int_equal(mk_routes_add(api, "GET PUT", "/items", answer, NULL), 0);
    assert_int_equal(mk_routes_add(api, "DELETE", "/items", answer, NULL), 0);
    assert_int_equal(mk_routes_add(api, "GET", "/files/*", answer, NULL), 0);
    assert_int_equal(mk_routes_add(api, NULL, "/all", answer, NULL), 0);
    return api;
}

static void the_document_has_routes_and_answers(void **state)
{
    static const char *const parts[] = {
        "{\"openapi\":\"3.1.1\",\"info\":{\"title\":\"Shop\",\"version\":\"1.0\"},\"servers\":"
        "[{\"url\":\"/\"}],\"paths\":{\"/api/items/{id}\":{\"get\":{\"summary\":\"One item\","
        "\"parameters\":[{\"name\":\"id\",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":"
        "\"integer\"}}],\"responses\":{\"200\":{\"description\":\"The item\",\"content\":{"
        "\"application/json\":{\"schema\":{\"type\":\"object\",\"properties\":{\"id\":{"
        "\"description\":\"Its number\",\"type\":\"integer\",\"format\":\"int64\"},\"price\":{"
        "\"type\":\"number\"},\"new\":{\"type\":\"boolean\"},\"tags\":{\"type\":\"array\","
        "\"items\":{\"type\":\"string\"}},\"places\":{\"type\":\"array\",\"items\":{\"type\":"
        "\"object\",\"properties\":{\"shelf\":{\"type\":\"string\"}},\"required\":[\"shelf\"],"
        "\"additionalProperties\":false}},\"more\":{\"type\":\"object\"}},\"required\":[\"id\"],"
        "\"additionalProperties\":false}},\"text/plain\":{}}},\"404\":{\"description\":"
        "\"There is none\",\"content\":{\"application/problem+json\":{}}}}}}",
        ("\"/api/items\":{\"get\":{\"parameters\":[],\"responses\":{\"200\":{\"description\":\"\","
         "\"content\":{\"application/json\":{\"schema\":{\"type\":\"array\",\"items\":{"),
        "\"204\":{\"description\":\"Nothing\"}",
        "\"delete\":{\"parameters\":[],\"responses\":{\"default\":{",
        "\"/api/files/{rest}\":{\"get\":{\"parameters\":[{\"name\":\"rest\",",
    };
    struct mk_config *config = web_config();
    struct mk_routes *api = routes_of(config);
    struct mk_openapi *document;
    struct mk_server *server;
    struct mk_str text;
    char copy[8192];

    (void)state;
    assert_int_equal(mk_routes_describe(api, "GET", "/items/:id<int>", "One item", item_answers),
                     0);
    assert_int_equal(mk_routes_describe(api, "PUT GET", "/items", NULL, list_answers), 0);
    assert_int_equal(mk_openapi_new(&document, api, "Shop", "1.0"), 0);
    assert_int_equal(mk_config_handle(config, "GET", "/openapi.json", mk_reply_openapi, document),
                     0);
    text = mk_openapi_text(document);
    (void)snprintf(copy, sizeof(copy), "%.*s", (int)text.len, text.p);
    for (size_t i = 0; i < NUMBER_OF(parts); i++) {
        if (!strstr(copy, parts[i]))
            fail_msg("%s is not in %s", parts[i], copy);
    }
    assert_null(strstr(copy, "/all"));
    assert_null(strstr(copy, "openapi.json"));
    server = web_serve(config);
    web_expect(server, "/openapi.json", 200, copy);
    mk_server_free(server);
    mk_openapi_free(document);
}

static void a_table_is_of_a_route(void **state)
{
    static const struct mk_member
        twice[] = {{.name = "a", .type = MK_MEMBER_TEXT},
                   {.name = "a", .type = MK_MEMBER_TEXT},
                   {0}},
        untyped[] = {{.name = "a"}, {0}}, empty[] = {{0}},
        inner[] = {{.name = "a", .type = MK_MEMBER_OBJECT, .members = twice}, {0}},
        of_text[] = {{.name = "a", .type = MK_MEMBER_TEXT, .members = place}, {0}};
    static const struct mk_member deep[] = {
        {.name = "a", .type = MK_MEMBER_OBJECT, .members = deep}, {0}};
    static struct mk_member wide[MK_MEMBERS + 2];
    static char names[MK_MEMBERS + 1][8];
    static struct mk_route_answer many[MK_ROUTE_ANSWERS + 2];
    static const struct {
        struct mk_route_answer answers[3];
        int err;
        const char *why;
    } rows[] = {
        {{{0}}, MK_E_INVALID, "no row"},
        {{{.status = 199}, {0}}, MK_E_INVALID, "an interim answer"},
        {{{.status = 600}, {0}}, MK_E_INVALID, "no status"},
        {{{.status = 200, .type = "json"}, {0}}, MK_E_INVALID, "no type"},
        {{{.status = 200, .type = "text/plain; charset=utf-8"}, {0}}, MK_E_INVALID, "a parameter"},
        {{{.status = 204, .type = "text/plain"}, {0}}, MK_E_INVALID, "204 with a body"},
        {{{.status = 200, .type = "text/plain", .is_list = true}, {0}}, MK_E_INVALID, "no JSON"},
        {{{.status = 200, .members = place}, {0}}, MK_E_INVALID, "no type of the members"},
        {{{.status = 200}, {.status = 200}, {0}}, MK_E_INVALID, "the same twice"},
        {{{.status = 200, .type = "application/json", .members = twice}, {0}},
         MK_E_INVALID,
         "a member twice"},
        {{{.status = 200, .type = "application/json", .members = inner}, {0}},
         MK_E_INVALID,
         "a member twice, in another"},
        {{{.status = 200, .type = "application/json", .members = untyped}, {0}},
         MK_E_INVALID,
         "a member without a type"},
        {{{.status = 200, .type = "application/json", .members = empty}, {0}},
         MK_E_INVALID,
         "a table without members"},
        {{{.status = 200, .type = "application/json", .members = of_text}, {0}},
         MK_E_INVALID,
         "members of a text"},
        {{{.status = 200, .type = "application/json", .members = deep}, {0}},
         MK_E_LIMIT,
         "tables without an end"},
        {{{.status = 200, .type = "application/json", .members = wide}, {0}},
         MK_E_LIMIT,
         "too many members"},
    };
    struct mk_config *config = web_config();
    struct mk_routes *api = routes_of(config);

    (void)state;
    for (unsigned i = 0; i <= MK_MEMBERS; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "n%u", i);
        wide[i] = (struct mk_member){.name = names[i], .type = MK_MEMBER_FLAG};
    }
    for (unsigned i = 0; i <= MK_ROUTE_ANSWERS; i++)
        many[i].status = 200 + i;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        if (mk_routes_describe(api, "DELETE", "/items", NULL, rows[i].answers) != rows[i].err)
            fail_msg("%s", rows[i].why);
    }
    many[4].status = 290; /* 204 may have no type, but these have none */
    assert_int_equal(mk_routes_describe(api, "DELETE", "/items", NULL, many), MK_E_LIMIT);
    assert_int_equal(mk_routes_describe(api, "GET", "/items", NULL, list_answers), MK_E_NOENT);
    assert_int_equal(mk_routes_describe(api, "GET PUT", "/item", NULL, list_answers), MK_E_NOENT);
    assert_int_equal(mk_routes_describe(api, "GET", "/api/files/*", NULL, list_answers),
                     MK_E_NOENT);
    assert_int_equal(
        mk_routes_describe(mk_config_routes(config), "GET", "/files/*", NULL, list_answers),
        MK_E_NOENT);
    assert_int_equal(mk_routes_describe(api, NULL, "/all", NULL, list_answers), 0);
    assert_int_equal(mk_routes_describe(api, NULL, "/all", NULL, list_answers), MK_E_EXISTS);
    mk_config_free(config);
}

static char kept[4096];

static void keep_line(void *arg, enum mk_log_level level, const char *component,
                      const char *message)
{
    const size_t len = strlen(kept);

    (void)arg, (void)level, (void)component;
    (void)snprintf(kept + len, sizeof(kept) - len, "%s\n", message);
}

static const struct mk_host host = {.size = sizeof(host), .log = keep_line};

static void other_answers_are_logged(void **state)
{
    struct mk_config *config;
    struct mk_routes *api;
    struct mk_server *server;

    (void)state;
    config = web_config();
    api = routes_of(config);
    assert_int_equal(mk_routes_describe(api, "GET", "/items/:id<int>", NULL, item_answers), 0);
    assert_int_equal(mk_routes_before(api, refuse, NULL), 0);
    assert_int_equal(mk_routes_check(api), 0);
    assert_int_equal(mk_server_new(&server, config, &host), 0);
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    web_expect(server, "/api/items/1", 200, NULL);
    web_expect(server, "/api/items/1?status=404", 404, NULL);
    web_expect(server, "/api/items/1?status=412", 412, NULL);
    web_expect(server, "/api/items?status=500", 500, NULL);
    web_is(web_ask(server, "GET", "/api/items/1", "X-Refuse: 1\r\n", NULL), 403, NULL);
    web_is(web_ask(server, "POST", "/api/items/1", NULL, NULL), 405, NULL);
    assert_null(strstr(kept, "the table of a route"));
    web_expect(server, "/api/items/1?status=201", 201, NULL);
    mk_server_free(server);
    assert_non_null(
        strstr(kept, "the table of a route has no answer 201 pattern=/api/items/:id<int>"));
}

static void without_memory_there_is_no_document(void **state)
{
    struct mk_config *config = web_config();
    struct mk_routes *api = routes_of(config);
    const long live = mk_heap_live();
    struct mk_openapi *document;
    int err = MK_E_NOMEM;

    (void)state;
    assert_int_equal(mk_routes_describe(api, "GET PUT", "/items", NULL, list_answers), 0);
    for (long n = 0; err < 0 && n < 40; n++) {
        mk_heap_fail_after(n);
        err = mk_openapi_new(&document, api, "Shop", "1.0");
        mk_heap_fail_after(-1);
        assert_true(err == 0 || (err == MK_E_NOMEM && mk_heap_live() == live));
    }
    assert_int_equal(err, 0);
    mk_openapi_free(document);
    assert_int_equal(mk_heap_live(), live);
    mk_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_document_has_routes_and_answers),
        cmocka_unit_test(a_table_is_of_a_route),
        cmocka_unit_test(other_answers_are_logged),
        cmocka_unit_test(without_memory_there_is_no_document),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
