/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/session/session_value.h"
#include "data/redis/url.h"

#include "duda_test.h"

#include <monkey/types.h>

/* Where a server of Redis is, and how a value of a session is written there. */

static const struct {
    const char *text, *host, *user, *password;
    unsigned port, db;
} urls[] = {
    {"redis://a", "a", "", "", 6379, 0},
    {"redis://a/", "a", "", "", 6379, 0},
    {"redis://a.b-c_d:1", "a.b-c_d", "", "", 1, 0},
    {"redis://127.0.0.1:65535/15", "127.0.0.1", "", "", 65535, 15},
    {"redis://[::1]", "::1", "", "", 6379, 0},
    {"redis://[::1]:7000/3", "::1", "", "", 7000, 3},
    {"redis://:pw@a", "a", "", "pw", 6379, 0},
    {"redis://me:pw@a:7/1", "a", "me", "pw", 7, 1},
    {"redis://m%65:p%40%3a%2F%25@a", "a", "me", "p@:/%", 6379, 0},
    {"redis://me:a:b@a", "a", "me", "a:b", 6379, 0},
};

static void test_urls(void **state)
{
    struct redis_url url;

    (void)state;
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        assert_null(redis_url_read(&url, urls[i].text));
        assert_string_equal(url.place.host, urls[i].host);
        assert_string_equal(url.user, urls[i].user);
        assert_string_equal(url.password, urls[i].password);
        assert_int_equal(url.place.port, urls[i].port);
        assert_int_equal(url.db, urls[i].db);
    }
}

static void test_tls(void **state)
{
    struct redis_url url;

    (void)state;
    assert_null(redis_url_read(&url, "rediss://:pw@a:7/2?connections=8"));
    assert_true(url.place.is_secure);
    assert_string_equal(url.place.host, "a");
    assert_int_equal(url.place.port, 7);
    assert_int_equal(url.place.connections, 8);
    assert_int_equal(url.db, 2);
    assert_null(redis_url_read(&url, "redis://a"));
    assert_false(url.place.is_secure);
    assert_int_equal(url.place.connections, 0);
    assert_non_null(redis_url_read(&url, "rediss://a?"));
    assert_non_null(redis_url_read(&url, "rediss://a?connections=0"));
    assert_non_null(redis_url_read(&url, "rediss://a?ca=/x"));
}

static void test_what_is_none(void **state)
{
    static const char *const texts[] = {
        "",
        "redis:/a",
        "Redis://a",
        "redis://",
        "redis://:1",
        "redis:///1",
        "redis://@a",
        "redis://me@a",
        "redis://me:@a",
        "redis://a:",
        "redis://a:0",
        "redis://a:65536",
        "redis://a:x",
        "redis://a:+1",
        "redis://a:1/x",
        "redis://a:1/65536",
        "redis://a:1/1/",
        "redis://a b",
        "redis://a?b",
        "redis://[::1",
        "redis://[]",
        "redis://[::1]x",
        "redis://::1",
        "redis://:%@a",
        "redis://:%4@a",
        "redis://:%4x@a",
        "redis://:%00@a",
        "redis://a\xff",
        "redis://a:123456",
        "redis://a:1/-1",
        "redis://a:1/1?",
        "redis://a:b",
        "redis://a,b",
        "redis://1.2.3",
        "redis://1.2.3.4.5",
        "redis://[a]",
        "redis://[1.2.3.4]",
        "redis://[::g]:1",
    };
    struct redis_url url;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_non_null(redis_url_read(&url, texts[i]));
}

/* @return whether a URL with n letters in one place is taken */
static bool fits(const char *before, size_t n, const char *after)
{
    char text[512];
    struct redis_url url;
    size_t at = strlen(before);

    memcpy(text, before, at);
    memset(text + at, 'x', n);
    strcpy(text + at + n, after);
    return !redis_url_read(&url, text);
}

static void test_bounds(void **state)
{
    (void)state;
    assert_true(fits("redis://", REMOTE_HOST_MAX - 1, ""));
    assert_false(fits("redis://", REMOTE_HOST_MAX, ""));
    assert_true(fits("redis://:", REDIS_URL_NAME_MAX - 1, "@a"));
    assert_false(fits("redis://:", REDIS_URL_NAME_MAX, "@a"));
    assert_true(fits("redis://", REDIS_URL_NAME_MAX - 1, ":p@a"));
    assert_false(fits("redis://", REDIS_URL_NAME_MAX, ":p@a"));
}

static void test_values_of_sessions(void **state)
{
    static const int64_t times[] = {0, 1, 1800000000, INT32_MAX};
    char bytes[64];
    int64_t expires;

    (void)state;
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        const size_t n = mk_duda_session_value_prefix(bytes, times[i]);

        strcpy(bytes + n, "a text");
        assert_string_equal(mk_duda_session_value_read(bytes, strlen(bytes), &expires), "a text");
        assert_true(expires == times[i]);
    }
}

static void test_what_is_no_value(void **state)
{
    static const struct mk_str none[] = {
        MK_STR_INIT(""),       MK_STR_INIT("1"),
        MK_STR_INIT("x"),      MK_STR_INIT(" a"),
        MK_STR_INIT("-1 a"),   MK_STR_INIT("1a"),
        MK_STR_INIT("1 a\0b"), MK_STR_INIT("1234567890123456789 a"),
    };
    int64_t expires;

    (void)state;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_null(mk_duda_session_value_read(none[i].p, none[i].len, &expires));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_tls),
        cmocka_unit_test(test_what_is_none),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_values_of_sessions),
        cmocka_unit_test(test_what_is_no_value),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
