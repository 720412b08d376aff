/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "alt_names.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define LABEL_63 "a23456789012345678901234567890123456789012345678901234567890123"

static void is_encoded(const char *const *names, const char *expected)
{
    struct tls_alt_names to;
    const char *wrong;
    char hex[2 * TLS_ALT_NAMES_MAX + 1];

    assert_int_equal(tls_alt_names_encode(&to, names, &wrong), 0);
    for (size_t i = 0; i < to.len; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", to.der[i]);
    assert_string_equal(hex, expected);
}

/* As `openssl asn1parse` shows such an extension; X.690 section 8.1.3 for the lengths. */
static void names_and_addresses(void **state)
{
    static const struct {
        const char *names[4], *hex;
    } rows[] = {
        {{"a.test"},
         "3008"
         "8206612e74657374"},
        {{"*.a.test"},
         "300a"
         "82082a2e612e74657374"},
        {{"10.0.0.255"},
         "3006"
         "87040a0000ff"},
        {{"::1"},
         "3012"
         "871000000000000000000000000000000001"},
        {{"localhost", "127.0.0.1", "2001:db8::"},
         "3023"
         "82096c6f63616c686f7374"
         "87047f000001"
         "871020010db8000000000000000000000000"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        is_encoded(rows[i].names, rows[i].hex);
}

/* The three forms of a length: below 128, below 256, above. */
static void lengths(void **state)
{
    static const char long_name[] = LABEL_63 "." LABEL_63 "." LABEL_63; /* 191 bytes */
    static const struct {
        const char *names[4];
        uint8_t head[4];
        size_t head_len, len;
    } rows[] = {
        {{LABEL_63 "." LABEL_63, NULL}, {0x30, 0x81, 0x81}, 3, 3 + 2 + 127},
        {{LABEL_63 "." LABEL_63 ".a", NULL}, {0x30, 0x81, 0x84}, 3, 3 + 3 + 129},
        {{long_name, LABEL_63, NULL}, {0x30, 0x82, 0x01, 0x03}, 4, 4 + 3 + 191 + 2 + 63},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct tls_alt_names to;
        const char *wrong;

        assert_int_equal(tls_alt_names_encode(&to, rows[i].names, &wrong), 0);
        assert_memory_equal(to.der, rows[i].head, rows[i].head_len);
        assert_int_equal(to.len, rows[i].len);
    }
}

static void what_is_no_name(void **state)
{
    static const char *const rows[] = {
        "",
        ".",
        "a..b",
        "a.",
        ".a",
        "a b",
        "a,DNS:b",
        "a\nb",
        "\xc3\xa4.test",
        "*",
        "a.*.test",
        "*.",
        "127.0.0.300",
        "1.2.3",
        "::g",
        "a/b",
        "http://a",
        "[::1]",
        LABEL_63 "4.test",
        LABEL_63 "." LABEL_63 "." LABEL_63 "." LABEL_63, /* 255 bytes */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *const names[] = {"good.test", rows[i], NULL};
        struct tls_alt_names to;
        const char *wrong = NULL;

        if (tls_alt_names_encode(&to, names, &wrong) != MK_E_INVALID)
            fail_msg("\"%s\" was taken for a name", rows[i]);
        assert_ptr_equal(wrong, rows[i]);
    }
}

static void only_so_many(void **state)
{
    const char *names[100] = {NULL};
    struct tls_alt_names to;
    const char *wrong;
    size_t count = 0;

    (void)state;
    for (; count < COUNT(names) - 1; count++) {
        int err =
            tls_alt_names_encode(&to, count ? names : (const char *const[]){"a", NULL}, &wrong);

        if (err == MK_E_LIMIT)
            break;
        assert_int_equal(err, 0);
        assert_true(to.len <= sizeof(to.der));
        names[count] = LABEL_63;
    }
    assert_in_range(count, 30, 32); /* of 65 bytes each in 2048 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_addresses),
        cmocka_unit_test(lengths),
        cmocka_unit_test(what_is_no_name),
        cmocka_unit_test(only_so_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
