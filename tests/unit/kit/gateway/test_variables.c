/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake.h"
#include "variables.h"

#include <monkey/notes.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct block {
    char text[8192]; /* NAME=VALUE, a line each */
    size_t len, count, max;
};

static int put(void *arg, struct mk_str name, struct mk_str value)
{
    struct block *b = arg;

    if (b->max && b->count == b->max)
        return MK_E_LIMIT;
    b->count++;
    assert_non_null(value.p);
    b->len += (size_t)snprintf(b->text + b->len, sizeof(b->text) - b->len, "%.*s=%.*s\n",
                               (int)name.len, name.p, (int)value.len, value.p);
    return 0;
}

static struct mk_request request(const struct fake_field *fields)
{
    return (struct mk_request){.facts = {.method = MK_STR("POST"),
                                         .target = MK_STR("/%61.php/x?y=%20"),
                                         .path = MK_STR("/a.php/x"),
                                         .query = MK_STR("y=%20"),
                                         .host = MK_STR("example.org:8080"),
                                         .scheme = "http",
                                         .protocol = MK_STR_INIT("HTTP/1.1"),
                                         .minor = 1,
                                         .document_root = "/srv",
                                         .site_name = ""},
                               .conn = {.peer_port = 4711, .listen = "127.0.0.1:2001"},
                               .fields = fields,
                               .peer = "192.0.2.1"};
}

static const struct gateway_script script = {.name = MK_STR_INIT("/a.php"),
                                             .info = MK_STR_INIT("/x"),
                                             .filename = "/srv/a.php",
                                             .translated = "/srv/x"};

static void require(const struct block *b, const char *line)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "\n%s\n", line);
    if (!strstr(b->text, text) && strncmp(b->text, text + 1, strlen(text) - 1) != 0)
        fail_msg("no %s in\n%s", line, b->text);
}

static void require_none(const struct block *b, const char *name)
{
    if (strstr(b->text, name))
        fail_msg("%s in\n%s", name, b->text);
}

static void test_meta_variables(void **state)
{
    static const char *const lines[] = {
        "GATEWAY_INTERFACE=CGI/1.1",
        "SERVER_PROTOCOL=HTTP/1.1",
        "SERVER_SOFTWARE=Monkey/9.9",
        "SERVER_NAME=example.org",
        "SERVER_PORT=2001",
        "SERVER_ADDR=127.0.0.1",
        "REQUEST_METHOD=POST",
        "REQUEST_URI=/%61.php/x?y=%20",
        "QUERY_STRING=y=%20",
        "SCRIPT_NAME=/a.php",
        "SCRIPT_FILENAME=/srv/a.php",
        "PATH_INFO=/x",
        "PATH_TRANSLATED=/srv/x",
        "DOCUMENT_ROOT=/srv",
        "REMOTE_ADDR=192.0.2.1",
        "REMOTE_HOST=192.0.2.1",
        "REMOTE_PORT=4711",
        "CONTENT_LENGTH=12",
        "CONTENT_TYPE=text/x",
        "REDIRECT_STATUS=200",
        "HTTP_HOST=example.org:8080",
        "HTTP_ACCEPT_LANGUAGE=de",
        "HTTP_X_EMPTY=",
    };
    static const struct fake_field fields[] = {
        {"Host", "example.org:8080"},
        {"Content-Type", "text/x"},
        {"Content-Length", "12"},
        {"accept-language", "de"},
        {"X-Empty", ""},
        {NULL, NULL},
    };
    const struct gateway_variables v = {.script = &script, .content_length = 12, .has_body = true};
    struct mk_request r = request(fields);
    struct block b = {.len = 0};

    (void)state;
    assert_int_equal(gateway_variables_each(&v, &r, put, &b), 0);
    for (size_t i = 0; i < COUNT(lines); i++)
        require(&b, lines[i]);
    require_none(&b, "HTTPS=");
    require_none(&b, "REMOTE_USER");
    require_none(&b, "AUTH_TYPE");
    require_none(&b, "HTTP_CONTENT_");
    fake_end(&r);
}

static void test_nothing_where_there_is_nothing(void **state)
{
    static const struct gateway_script bare = {.name = MK_STR_INIT("/a.php"),
                                               .info = MK_STR_INIT("")};
    static const struct fake_field fields[] = {{"Content-Type", "text/x"}, {NULL, NULL}};
    const struct gateway_variables v = {.script = &bare};
    struct mk_request r = request(fields);
    struct block b = {.len = 0};

    (void)state;
    r.facts.query = (struct mk_str){NULL, 0};
    r.facts.document_root = NULL;
    assert_int_equal(gateway_variables_each(&v, &r, put, &b), 0);
    require(&b, "QUERY_STRING=");
    require_none(&b, "PATH_INFO");
    require_none(&b, "PATH_TRANSLATED");
    require_none(&b, "SCRIPT_FILENAME");
    require_none(&b, "DOCUMENT_ROOT");
    require_none(&b, "CONTENT_");
    fake_end(&r);
}

static void test_fields_that_are_not_given(void **state)
{
    static const struct fake_field fields[] = {
        {"Proxy", "http://evil"},
        {"PROXY", "http://evil"},
        {"Proxy-Authorization", "evil"},
        {"Transfer-Encoding", "chunked"},
        {"Expect", "100-continue"},
        {"TE", "trailers"},
        {"X_Forwarded_For", "evil"},
        {"X-Forwarded-For", "good"},
        {"Content_Length", "evil"},
        {"X.Y", "evil"},
        {"X!Y", "evil"},
        {NULL, NULL},
    };
    const struct gateway_variables v = {.script = &script};
    struct mk_request r = request(fields);
    struct block b = {.len = 0};

    (void)state;
    assert_int_equal(gateway_variables_each(&v, &r, put, &b), 0);
    require_none(&b, "evil");
    require_none(&b, "HTTP_PROXY");
    require_none(&b, "HTTP_TRANSFER");
    require_none(&b, "HTTP_EXPECT");
    require_none(&b, "HTTP_TE");
    require(&b, "HTTP_X_FORWARDED_FOR=good");
    fake_end(&r);
}

static void test_notes_take_the_place_of_fields(void **state)
{
    static const struct fake_field fields[] = {
        {"X-Request-Id", "evil"}, {"TraceState", "evil"}, {"x-request-id", "evil"},
        {"X-Request", "good"},    {NULL, NULL},
    };
    static const struct mk_note notes[] = {
        {.name = "request_id", .text = MK_STR_INIT("7f"), .field = "X-Request-ID"},
        {.name = "tracestate", .text = MK_STR_INIT(""), .field = "tracestate"},
        {.name = "x", .number = 1, .field = "X-Request"}, /* without text it is no field */
        {.name = "y", .text = MK_STR_INIT("y")},
    };
    struct mk_notes list = {.notes = notes, .count = COUNT(notes)};
    const struct gateway_variables v = {.script = &script};
    struct mk_request r = request(fields);
    struct block b = {.len = 0};

    (void)state;
    r.notes = &list;
    assert_int_equal(gateway_variables_each(&v, &r, put, &b), 0);
    require_none(&b, "evil");
    require_none(&b, "TRACESTATE");
    require(&b, "HTTP_X_REQUEST_ID=7f");
    require(&b, "HTTP_X_REQUEST=good");
    fake_end(&r);
}

static void test_repeated_fields_are_one(void **state)
{
    static const struct fake_field fields[] = {
        {"Accept", "a"},   {"Cookie", "x=1"}, {"ACCEPT", "b"},
        {"cookie", "y=2"}, {"accept", ""},    {NULL, NULL},
    };
    const struct gateway_variables v = {.script = &script};
    struct mk_request r = request(fields);
    struct block b = {.len = 0};

    (void)state;
    assert_int_equal(gateway_variables_each(&v, &r, put, &b), 0);
    require(&b, "HTTP_ACCEPT=a, b, ");
    require(&b, "HTTP_COOKIE=x=1; y=2");
    assert_null(strstr(strstr(b.text, "HTTP_ACCEPT=") + 1, "HTTP_ACCEPT="));
    fake_end(&r);
}

static void test_users_and_certificates(void **state)
{
    static const struct fake_field fields[] = {{"Authorization", "Basic abc"}, {NULL, NULL}};
    const struct gateway_variables v = {.script = &script};
    struct mk_request r = request(fields);
    struct block b = {.len = 0};

    (void)state;
    assert_int_equal(gateway_variables_each(&v, &r, put, &b), 0);
    require(&b, "HTTP_AUTHORIZATION=Basic abc"); /* nobody here looked at it */
    r.facts.user = MK_STR("alice");
    r.facts.scheme = "https";
    r.conn.tls_version = "TLSv1.3";
    r.conn.client_subject = MK_STR("CN=alice");
    b = (struct block){.len = 0};
    assert_int_equal(gateway_variables_each(&v, &r, put, &b), 0);
    require(&b, "REMOTE_USER=alice");
    require(&b, "AUTH_TYPE=Basic");
    require(&b, "HTTPS=on");
    require(&b, "SSL_PROTOCOL=TLSv1.3");
    require(&b, "SSL_CLIENT_S_DN=CN=alice");
    require_none(&b, "HTTP_AUTHORIZATION");
    fake_end(&r);
}

static void test_own_variables_win(void **state)
{
    static const struct gateway_variable own[] = {
        {MK_STR_INIT("HTTPS"), MK_STR_INIT("on")},
        {MK_STR_INIT("SERVER_NAME"), MK_STR_INIT("mine")}};
    const struct gateway_variables v = {.script = &script, .own = own, .nown = COUNT(own)};
    struct mk_request r = request(NULL);
    struct block b = {.len = 0};

    (void)state;
    assert_int_equal(gateway_variables_each(&v, &r, put, &b), 0);
    require(&b, "HTTPS=on");
    require(&b, "SERVER_NAME=mine");
    require_none(&b, "SERVER_NAME=example.org");
    fake_end(&r);
}

static void test_who_takes_may_stop(void **state)
{
    const struct gateway_variables v = {.script = &script};
    struct mk_request r = request(NULL);
    struct block b = {.max = 3};

    (void)state;
    assert_int_equal(gateway_variables_each(&v, &r, put, &b), MK_E_LIMIT);
    assert_int_equal(b.count, 3);
    fake_end(&r);
}

static void test_addresses(void **state)
{
    static const struct {
        const char *address, *host, *port;
    } rows[] = {
        {"127.0.0.1:80", "127.0.0.1", "80"}, {"0.0.0.0:80", "", "80"},
        {"[::1]:443", "::1", "443"},         {"[::]:443", "", "443"},
        {"unix:/run/x:1", "", ""},           {"", "", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mk_str host, port;

        gateway_split_address(rows[i].address, &host, &port);
        assert_true(fake_is(host, rows[i].host));
        assert_true(fake_is(port, rows[i].port));
    }
}

static void test_names_of_servers(void **state)
{
    static const struct {
        const char *host, *line;
    } rows[] = {
        {"a.example", "SERVER_NAME=a.example"}, {"a.example:1", "SERVER_NAME=a.example"},
        {"[::1]:80", "SERVER_NAME=[::1]"},      {"[::1]", "SERVER_NAME=[::1]"},
        {"", "SERVER_NAME=127.0.0.1"},
    };
    const struct gateway_variables v = {.script = &script};

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mk_request r = request(NULL);
        struct block b = {.len = 0};

        r.facts.host = mk_str_from(rows[i].host);
        assert_int_equal(gateway_variables_each(&v, &r, put, &b), 0);
        require(&b, rows[i].line);
        fake_end(&r);
    }
}

static void test_names_of_fields_have_a_bound(void **state)
{
    char text[GATEWAY_NAME_MAX], name[GATEWAY_NAME_MAX];

    (void)state;
    memset(name, 'a', sizeof(name));
    assert_int_equal(gateway_field_name(text, (struct mk_str){name, GATEWAY_NAME_MAX - 5}),
                     GATEWAY_NAME_MAX);
    assert_int_equal(gateway_field_name(text, (struct mk_str){name, GATEWAY_NAME_MAX - 4}), 0);
    assert_int_equal(gateway_field_name(text, (struct mk_str){name, 0}), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meta_variables),
        cmocka_unit_test(test_nothing_where_there_is_nothing),
        cmocka_unit_test(test_fields_that_are_not_given),
        cmocka_unit_test(test_notes_take_the_place_of_fields),
        cmocka_unit_test(test_repeated_fields_are_one),
        cmocka_unit_test(test_users_and_certificates),
        cmocka_unit_test(test_own_variables_win),
        cmocka_unit_test(test_who_takes_may_stop),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_names_of_servers),
        cmocka_unit_test(test_names_of_fields_have_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
