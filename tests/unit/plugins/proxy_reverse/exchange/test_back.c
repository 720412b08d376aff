/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/back.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct proxy_back to_root = {
    .from = MK_STR_INIT("/reg/"),
    .to = MK_STR_INIT("/"),
    .authority = MK_STR_INIT("10.0.0.1:8000"),
    .told = MK_STR_INIT("inner.test"),
    .host = MK_STR_INIT("www.test"),
};
static const struct proxy_back to_below = {
    .from = MK_STR_INIT("/api/"),
    .to = MK_STR_INIT("/v1/"),
    .authority = MK_STR_INIT("app:80"),
    .host = MK_STR_INIT("www.test:8080"),
};

/* Into memory of exactly the promised size, from memory of exactly the value's, which ASan watches. */
static void expect(const struct proxy_back *b, const char *name, const char *text,
                   const char *wanted)
{
    const size_t n = strlen(text);
    char *given = malloc(n ? n : 1), *dst;
    struct mk_str value = {given, n};
    size_t len;

    assert_non_null(given);
    memcpy(given, text, n);
    dst = malloc(proxy_back_room(b, value));
    assert_non_null(dst);
    len = proxy_back_value(b, mk_str_from(name), value, dst);
    if (len != (wanted ? strlen(wanted) : 0) || (wanted && memcmp(dst, wanted, len) != 0))
        fail_msg("%s: %s became \"%.*s\"", name, text, (int)len, dst);
    free(dst);
    free(given);
}

struct row {
    const char *text, *wanted; /* NULL: it stays */
};

static void expect_rows(const struct proxy_back *b, const char *name, const struct row *rows,
                        size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect(b, name, rows[i].text, rows[i].wanted);
}

#define EXPECT_ROWS(b, name, rows) expect_rows(b, name, rows, sizeof(rows) / sizeof((rows)[0]))

static void paths_become_those_of_clients(void **state)
{
    static const struct row rows[] = {
        {"/login?a=/b", "/reg/login?a=/b"},
        {"/", "/reg/"},
        {"", NULL},
        {"login", NULL},
        {"?page=2", NULL},
        {"//other.test/x", NULL},
        {"mailto:a@b", NULL},
    };
    static const struct row below[] = {
        {"/v1/x", "/api/x"}, {"/v1/", "/api/"},  {"/v1", "/api"}, {"/v1?a", "/api?a"},
        {"/v1#b", "/api#b"}, {"/v1x/y", NULL},   {"/v2/x", NULL}, {"/", NULL},
        {"/V1/x", NULL},     {"/api/v1/", NULL},
    };

    (void)state;
    EXPECT_ROWS(&to_root, "Location", rows);
    EXPECT_ROWS(&to_below, "location", below);
    EXPECT_ROWS(&to_below, "CONTENT-LOCATION", below);
}

static void urls_of_the_backend_become_paths(void **state)
{
    static const struct row rows[] = {
        {"http://10.0.0.1:8000/x?y", "/reg/x?y"},
        {"http://10.0.0.1:8000", "/reg/"},
        {"HTTPS://INNER.test/x", "/reg/x"},
        {"http://inner.test:80/x", "/reg/x"},
        {"http://inner.test?x", NULL},
        {"http://10.0.0.1/x", NULL},
        {"http://10.0.0.1:8000.evil.test/x", NULL},
        {"http://other.test/x", NULL},
        {"http://user@inner.test/x", NULL},
        {"ftp://inner.test/x", NULL},
    };

    (void)state;
    EXPECT_ROWS(&to_root, "Location", rows);
    expect(&to_below, "Location", "http://app/v1/x", "/api/x");
    expect(&to_below, "Location", "http://app/other", NULL);
}

static void urls_of_the_site_stay_urls(void **state)
{
    (void)state;
    expect(&to_root, "Location", "https://www.test/x", "https://www.test/reg/x");
    expect(&to_root, "Location", "https://WWW.test:443/x", "https://WWW.test:443/reg/x");
    expect(&to_below, "Location", "http://www.test:8080/v1", "http://www.test:8080/api");
    expect(&to_below, "Location", "http://www.test/v1/", NULL);
}

static void a_refresh_has_a_url(void **state)
{
    static const struct row rows[] = {
        {"5; url=/x", "5; url=/reg/x"},
        {"0;URL='/x'", "0;URL='/reg/x'"},
        {"0; url=\"http://inner.test/x\"", "0; url=\"/reg/x\""},
        {"5", NULL},
        {"5;", NULL},
        {"5; url", NULL},
        {"5; url=", NULL},
        {"5; url='", NULL},
        {"5; /x", NULL},
    };

    (void)state;
    EXPECT_ROWS(&to_root, "Refresh", rows);
}

/* RFC 6265 sections 4.1.2.3 and 4.1.2.4 */
static void cookies_have_a_path_and_a_domain(void **state)
{
    static const struct row rows[] = {
        {"a=b; Path=/; HttpOnly", "a=b; Path=/reg; HttpOnly"},
        {"a=b;path=/x;Secure", "a=b; Path=/reg/x;Secure"},
        {"a=b; Domain=inner.test; Path=/", "a=b; Path=/reg"},
        {"a=b; Domain=.INNER.test", "a=b"},
        {"a=b; Domain=10.0.0.1", "a=b"},
        {"a=b; Domain=test; Max-Age=5", NULL},
        {"a=/; HttpOnly", NULL},
        {"a=b", NULL},
        {"a=b;", NULL},
        {"", NULL},
        {"a=b; Path", NULL},
        {"a=b; Path=x", NULL},
    };
    static const struct row below[] = {
        {"a=b; Path=/", "a=b; Path=/api"},
        {"a=b; Path=/v1", "a=b; Path=/api"},
        {"a=b; Path=/v1/", "a=b; Path=/api"},
        {"a=b; Path=/v1/x", "a=b; Path=/api/x"},
        {"a=b; Path=/v2", NULL},
        {"a=b; Domain=app; Path=/v2", "a=b; Path=/v2"},
    };

    (void)state;
    EXPECT_ROWS(&to_root, "Set-Cookie", rows);
    EXPECT_ROWS(&to_below, "Set-Cookie", below);
}

static void many_attributes_find_room(void **state)
{
    char text[2000] = "a=b";

    (void)state;
    for (size_t at = 3; at + 7 < sizeof(text); at += 7)
        memcpy(text + at, ";Path=/", 8);
    {
        const struct mk_str value = mk_str_from(text);
        char *dst = malloc(proxy_back_room(&to_root, value));

        assert_non_null(dst);
        assert_true(proxy_back_value(&to_root, MK_STR("Set-Cookie"), value, dst) <=
                    proxy_back_room(&to_root, value));
        free(dst);
    }
}

static void other_fields_are_unknown(void **state)
{
    (void)state;
    assert_true(proxy_back_knows(MK_STR("set-cookie")));
    assert_false(proxy_back_knows(MK_STR("Link")));
    assert_false(proxy_back_knows(MK_STR("Set-Cookie2")));
    assert_false(proxy_back_knows(MK_STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_become_those_of_clients),
        cmocka_unit_test(urls_of_the_backend_become_paths),
        cmocka_unit_test(urls_of_the_site_stay_urls),
        cmocka_unit_test(a_refresh_has_a_url),
        cmocka_unit_test(cookies_have_a_path_and_a_domain),
        cmocka_unit_test(many_attributes_find_room),
        cmocka_unit_test(other_fields_are_unknown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
