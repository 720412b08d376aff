/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exchange/variables.h"

static void expect(const struct proxy_request *q, const char *name, const char *wanted, bool path)
{
    char scratch[PROXY_PORT_TEXT];
    bool is_path;
    struct mk_str value = proxy_variable(mk_str_from(name), q, scratch, &is_path);

    if (value.len != strlen(wanted) || (value.len > 0 && memcmp(value.p, wanted, value.len) != 0) ||
        is_path != path)
        fail_msg("$%s is \"%.*s\", not \"%s\"", name, (int)value.len, value.p, wanted);
}

static void test_of_a_whole_request(void **state)
{
    const struct proxy_request q = {
        .path = MK_STR("/a b"),
        .query = MK_STR("c=d"),
        .host = MK_STR("example.org:8080"),
        .scheme = "https",
        .peer = MK_STR("192.0.2.1"),
        .port = 65535,
    };

    (void)state;
    expect(&q, "remote_addr", "192.0.2.1", false);
    expect(&q, "scheme", "https", false);
    expect(&q, "host", "example.org", false);
    expect(&q, "http_host", "example.org:8080", false);
    expect(&q, "server_port", "65535", false);
    expect(&q, "query", "c=d", false);
    expect(&q, "args", "c=d", false);
    expect(&q, "uri", "/a b", true);
}

static void test_of_one_that_has_little(void **state)
{
    const struct proxy_request q = {.path = MK_STR("/"), .scheme = "http"};

    (void)state;
    expect(&q, "remote_addr", "unknown", false);
    expect(&q, "host", "", false);
    expect(&q, "http_host", "", false);
    expect(&q, "server_port", "", false);
    expect(&q, "query", "", false);
}

static void test_hosts(void **state)
{
    static const struct {
        const char *host, *alone;
    } rows[] = {{"a", "a"}, {"a:", "a"}, {"[::1]", "[::1]"}, {"[::1]:80", "[::1]"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct proxy_request q = {.host = mk_str_from(rows[i].host), .scheme = "http"};

        expect(&q, "host", rows[i].alone, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_a_whole_request),
        cmocka_unit_test(test_of_one_that_has_little),
        cmocka_unit_test(test_hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
