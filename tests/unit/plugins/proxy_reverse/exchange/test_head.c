/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/head.h"

#include "../../template_of.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* The head that a backend gets, byte by byte, and in every room that is too small for it. */

struct fields {
    const char *lines[8][2];
};

static bool next(const void *of, uint32_t *at, struct mk_str *name, struct mk_str *value)
{
    const struct fields *f = of;

    if (*at == 8 || !f->lines[*at][0])
        return false;
    *name = mk_str_from(f->lines[*at][0]);
    *value = mk_str_from(f->lines[*at][1]);
    ++*at;
    return true;
}

static struct mk_str variable(const void *of, int which, char room[MK_VARIABLE_ROOM])
{
    (void)of;
    memcpy(room, "v/ \n", 4);
    return which == MK_VARIABLE_PATH ? (struct mk_str){room, 4} : MK_STR("value");
}

static struct proxy_request request(const struct fields *f)
{
    return (struct proxy_request){
        .method = MK_STR("GET"),
        .target = MK_STR("/a%20b?c"),
        .path = MK_STR("/a b"),
        .query = MK_STR("c"),
        .host = MK_STR("example.org"),
        .scheme = "https",
        .peer = MK_STR("192.0.2.1"),
        .minor = 1,
        .hops = -1,
        .keeps = true,
        .next = next,
        .variable = variable,
        .of = f,
    };
}

/* Exactly so much room, so that a byte too many is seen by the sanitizer. */
static ssize_t write_in(size_t room, char **text, const struct proxy_request *q,
                        const struct proxy_settings *set)
{
    *text = malloc(room > 0 ? room : 1);
    assert_non_null(*text);
    return proxy_head_write(*text, room, q, set, MK_STR("backend:80"));
}

static void check(const struct proxy_request *q, const struct proxy_settings *set,
                  const char *expected)
{
    size_t len = strlen(expected);
    char *text;

    assert_int_equal(write_in(len, &text, q, set), len);
    assert_memory_equal(text, expected, len);
    free(text);
    for (size_t room = 0; room < len; room++) {
        assert_int_equal(write_in(room, &text, q, set), MK_E_NOMEM);
        free(text);
    }
}

#define FORWARDED                                                                                  \
    "X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: example.org\r\n"  \
    "Forwarded: for=192.0.2.1;host=\"example.org\";proto=https\r\n"

static void a_head_is_made_anew(void **state)
{
    static const struct fields f = {{{"Host", "example.org"},
                                     {"Accept", "*/*"},
                                     {"Connection", "close, x-gone"},
                                     {"X-Gone", "1"},
                                     {"Transfer-Encoding", "chunked"},
                                     {"Keep-Alive", "1"}}};
    const struct proxy_settings set = {.forwarded = PROXY_FORWARDED_APPEND};
    struct proxy_request q = request(&f);

    (void)state;
    check(&q, &set,
          "GET /a%20b?c HTTP/1.1\r\nHost: example.org\r\nAccept: */*\r\n" FORWARDED
          "Via: 1.1 monkey\r\n\r\n");
}

static void bodies_are_framed(void **state)
{
    static const struct {
        const char *method;
        int64_t length;
        const char *line;
    } rows[] = {
        {"GET", 0, ""},
        {"POST", 0, "Content-Length: 0\r\n"},
        {"PUT", 0, "Content-Length: 0\r\n"},
        {"PATCH", 0, "Content-Length: 0\r\n"},
        {"DELETE", 0, ""},
        {"GET", 5, "Content-Length: 5\r\n"},
        {"POST", INT64_MAX, "Content-Length: 9223372036854775807\r\n"},
        {"POST", -1, "Transfer-Encoding: chunked\r\n"},
    };
    static const struct fields none = {{{NULL, NULL}}};
    const struct proxy_settings set = {.forwarded = PROXY_FORWARDED_OFF};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct proxy_request q = request(&none);
        char expected[256];

        q.method = mk_str_from(rows[i].method);
        q.content_length = rows[i].length;
        (void)snprintf(expected, sizeof(expected),
                       "%s /a%%20b?c HTTP/1.1\r\nHost: example.org\r\nVia: 1.1 monkey\r\n%s\r\n",
                       rows[i].method, rows[i].line);
        check(&q, &set, expected);
    }
}

static void variables_are_replaced(void **state)
{
    static const struct fields none = {{{NULL, NULL}}};
    struct mk_template_piece pieces[MK_TEMPLATE_MAX];
    struct proxy_line line = {.name = MK_STR("X-Set")};
    const struct proxy_settings set = {
        .forwarded = PROXY_FORWARDED_OFF, .host = PROXY_HOST_SERVER, .sets = &line};
    struct proxy_request q = request(&none);

    (void)state;
    assert_int_equal(template_read(&line.value, MK_STR("a$uri, $host$$query $$"), 0, pieces), 0);
    check(&q, &set,
          "GET /a%20b?c HTTP/1.1\r\nHost: backend:80\r\nVia: 1.1 monkey\r\n"
          "X-Set: av/%20%0A, value$query $\r\n\r\n");
}

static void connections_are_ours(void **state)
{
    static const struct fields none = {{{NULL, NULL}}};
    const struct proxy_settings set = {.forwarded = PROXY_FORWARDED_OFF, .host = PROXY_HOST_SERVER};
    struct proxy_request q = request(&none);

    (void)state;
    q.keeps = false;
    check(&q, &set,
          "GET /a%20b?c HTTP/1.1\r\nHost: backend:80\r\nVia: 1.1 monkey\r\nConnection: "
          "close\r\n\r\n");
    q.upgrade = MK_STR("websocket");
    q.expects = true;
    check(&q, &set,
          "GET /a%20b?c HTTP/1.1\r\nHost: backend:80\r\nVia: 1.1 monkey\r\nConnection: upgrade\r\n"
          "Upgrade: websocket\r\nExpect: 100-continue\r\n\r\n");
    q.expects = false;
    q.trailers = true;
    check(&q, &set,
          "GET /a%20b?c HTTP/1.1\r\nHost: backend:80\r\nVia: 1.1 monkey\r\nConnection: upgrade, "
          "TE\r\n"
          "Upgrade: websocket\r\nTE: trailers\r\n\r\n");
    q.upgrade = (struct mk_str){NULL, 0};
    q.keeps = true;
    check(&q, &set,
          "GET /a%20b?c HTTP/1.1\r\nHost: backend:80\r\nVia: 1.1 monkey\r\nConnection: TE\r\n"
          "TE: trailers\r\n\r\n");
}

struct target {
    const char *target, *path, *query, *from, *sent; /* sent NULL: refused */
};

static void check_target(const char *method, const struct target *t)
{
    static const struct fields none = {{{NULL, NULL}}};
    const struct proxy_settings set = {.forwarded = PROXY_FORWARDED_OFF,
                                       .rewrite_from = mk_str_from(t->from),
                                       .rewrite_to = MK_STR("/to/")};
    struct proxy_request q = request(&none);
    char expected[256], *text;

    q.method = mk_str_from(method);
    q.target = mk_str_from(t->target);
    q.path = mk_str_from(t->path);
    q.query = mk_str_from(t->query);
    if (!t->sent) {
        assert_int_equal(write_in(1024, &text, &q, &set), MK_E_BAD);
        free(text);
        return;
    }
    (void)snprintf(expected, sizeof(expected),
                   "%s %s HTTP/1.1\r\nHost: example.org\r\nVia: 1.1 monkey\r\n\r\n", method,
                   t->sent);
    check(&q, &set, expected);
}

static void targets(void **state)
{
    static const struct target rows[] = {
        {"/x", "/x", NULL, NULL, "/x"},
        {"*", "*", NULL, NULL, "*"},
        {"http://h/x?y", "/x", "y", NULL, "/x?y"},
        {"http://h", "/", NULL, NULL, "/"},
        {"http://h?y", "/", "y", NULL, "/?y"},
        {"HTTP://h:80/", "/", NULL, NULL, "/"},
        {"h:80", "", NULL, NULL, NULL},
        {"h:80", "/", NULL, "/", NULL},
        {"http:/x", "/x", NULL, NULL, NULL},
        {"", "", NULL, NULL, NULL},
        {"/a/x", "/a/x", NULL, "/a/", "/to/x"},
        {"/%61/x?q", "/a/x", "q", "/a/", "/to/x?q"},
        {"/a/%00", "/a/\r\n \x01\xff%?#", NULL, "/a/", "/to/%0D%0A%20%01%FF%25%3F%23"},
        {"/b", "/b", NULL, "/a/", "/b"},
        {"/%61%2fb//c?d%20", "/a/b/c", "d%20", NULL, "/%61%2fb//c?d%20"},
        {"/%C3%a4", "/\xc3\xa4", NULL, NULL, "/%C3%a4"},
        {"/%%20", "/x", NULL, NULL, "/x"},
        {"/%", "/%", NULL, NULL, "/%"},
        {"//", "/", NULL, NULL, "//"},
        /* not the path that matched */
        {"/private/../b?c", "/b", "c", NULL, "/b?c"},
        {"/private/%2E%2e/b c", "/b c", NULL, NULL, "/b%20c"},
        {"/a/./b", "/a/b", NULL, NULL, "/a/b"},
        {"http://h/a/../b", "/b", NULL, NULL, "/b"},
        {"/", "/index.php", NULL, NULL, "/index.php"},
        {"/index.php", "/", NULL, NULL, "/"},
        {"/old?a", "/new", "b", NULL, "/new?b"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_target("GET", &rows[i]);
}

/* RFC 9112 section 3.2.4: without path and query it is about the server, unless Rewrite shows a part of it only. */
static void options_of_a_whole_server(void **state)
{
    static const struct target rows[] = {
        {"http://h", "/", NULL, NULL, "*"},    {"https://h:8443", "/", NULL, NULL, "*"},
        {"*", "*", NULL, NULL, "*"},           {"http://h/", "/", NULL, NULL, "/"},
        {"http://h?y", "/", "y", NULL, "/?y"}, {"http://h", "/", NULL, "/", "/to/"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        check_target("OPTIONS", &rows[i]);
    check_target("options", &(struct target){"http://h", "/", NULL, NULL, "/"});
}

static void clients_without_an_address(void **state)
{
    static const struct fields none = {{{NULL, NULL}}};
    const struct proxy_settings set = {.forwarded = PROXY_FORWARDED_APPEND};
    struct proxy_request q = request(&none);

    (void)state;
    q.peer.len = 0;
    q.host = (struct mk_str){NULL, 0};
    q.scheme = "http";
    check(&q, &set,
          "GET /a%20b?c HTTP/1.1\r\nHost: backend:80\r\nX-Forwarded-For: unknown\r\n"
          "X-Forwarded-Proto: http\r\nForwarded: for=unknown;proto=http\r\nVia: 1.1 "
          "monkey\r\n\r\n");
}

static void connection_names_too_much(void **state)
{
    static char list[2000];
    struct fields f = {{{"Connection", list}}};
    const struct proxy_settings set = {.forwarded = PROXY_FORWARDED_OFF};
    struct proxy_request q = request(&f);
    char *text;

    (void)state;
    memset(list, 'x', sizeof(list) - 1);
    assert_int_equal(write_in(4096, &text, &q, &set), MK_E_LIMIT);
    free(text);
}

static void tokens(void **state)
{
    static const struct {
        const char *list, *token;
        bool has;
    } rows[] = {
        {"a, b ,c", "b", true},  {"a, b ,c", "C", true}, {"ab", "a", false},
        {"", "a", false},        {" , ,", "a", false},   {"a b, c", "a", false},
        {"a b, c", "a b", true}, {"x_y", "x-y", true},   {"Upgrade", "upgrade", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(proxy_has_token(mk_str_from(rows[i].list), mk_str_from(rows[i].token)),
                         rows[i].has);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_is_made_anew),
        cmocka_unit_test(bodies_are_framed),
        cmocka_unit_test(variables_are_replaced),
        cmocka_unit_test(connections_are_ours),
        cmocka_unit_test(targets),
        cmocka_unit_test(options_of_a_whole_server),
        cmocka_unit_test(clients_without_an_address),
        cmocka_unit_test(connection_names_too_much),
        cmocka_unit_test(tokens),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
