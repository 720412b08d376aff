/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/protocol.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const uint8_t v4_a[16] = {[10] = 0xff, [11] = 0xff, 192, 0, 2, 1};
static const uint8_t v4_b[16] = {[10] = 0xff, [11] = 0xff, 198, 51, 100, 2};
static const uint8_t v6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
static const uint8_t v6_long[16] = {0x20, 0x01, 0x0d, 0xb8, 0xff, 0xff, 0xff, 0xff,
                                    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static struct proxy_ends ends_of(const uint8_t *source, const uint8_t *local)
{
    struct proxy_ends e = {.is_known = true, .source_port = 65535, .local_port = 443};

    memcpy(e.source_ip, source, 16);
    memcpy(e.local_ip, local, 16);
    return e;
}

static void the_first_version_is_a_line(void **state)
{
    static const struct {
        const uint8_t *source, *local;
        const char *line;
    } rows[] = {
        {v4_a, v4_b, "PROXY TCP4 192.0.2.1 198.51.100.2 65535 443\r\n"},
        {v6, v6, "PROXY TCP6 2001:db8::1 2001:db8::1 65535 443\r\n"},
        {v4_a, v6, "PROXY TCP6 ::ffff:192.0.2.1 2001:db8::1 65535 443\r\n"},
        {v6_long, v6_long,
         "PROXY TCP6 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff "
         "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff 65535 443\r\n"},
    };
    char text[PROXY_PROTOCOL_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct proxy_ends e = ends_of(rows[i].source, rows[i].local);
        size_t n = proxy_protocol_write(text, PROXY_PROTOCOL_V1, &e);

        assert_int_equal(n, strlen(rows[i].line));
        assert_memory_equal(text, rows[i].line, n);
    }
    assert_int_equal(proxy_protocol_write(text, PROXY_PROTOCOL_V1, &(struct proxy_ends){0}), 15);
    assert_memory_equal(text, "PROXY UNKNOWN\r\n", 15);
}

static void the_second_version_is_binary(void **state)
{
    char text[PROXY_PROTOCOL_MAX];
    struct proxy_ends e = ends_of(v4_a, v4_b);

    (void)state;
    assert_int_equal(proxy_protocol_write(text, PROXY_PROTOCOL_V2, &e), 28);
    assert_memory_equal(text,
                        "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c\xc0\0\x02\x01\xc6\x33\x64\x02\xff\xff"
                        "\x01\xbb",
                        28);
    e = ends_of(v6, v4_b);
    assert_int_equal(proxy_protocol_write(text, PROXY_PROTOCOL_V2, &e), 52);
    assert_memory_equal(text + 12, "\x21\x21\0\x24", 4);
    assert_memory_equal(text + 16, v6, 16);
    assert_memory_equal(text + 32, v4_b, 16);
    assert_int_equal(proxy_protocol_write(text, PROXY_PROTOCOL_V2, &(struct proxy_ends){0}), 16);
    assert_memory_equal(text + 12, "\x20\0\0\0", 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_version_is_a_line),
        cmocka_unit_test(the_second_version_is_binary),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
