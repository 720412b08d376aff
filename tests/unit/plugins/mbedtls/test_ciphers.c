/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ciphers.h"
#include "kit/tls/settings.h"

/* Numbers are those of the registry "TLS Cipher Suites". */

static void lists(void **state)
{
    static const struct {
        const char *list;
        bool with_dh;
        int err;
        int numbers[4]; /* of what it comes to */
        const char *unknown;
    } rows[] = {
        {"ECDHE-RSA-AES128-GCM-SHA256", false, 0, {0xc02f}, NULL},
        {"ECDHE-RSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES256-GCM-SHA384",
         false,
         0,
         {0xcca8, 0xc02c},
         NULL},
        {"ECDHE-RSA-AES128-GCM-SHA256, ECDHE-RSA-AES256-GCM-SHA384",
         false,
         0,
         {0xc02f, 0xc030},
         NULL},
        {"::ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:", false, 0, {0xc02f}, NULL},
        {"DHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256", false, 0, {0xc02f}, NULL},
        {"DHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256", true, 0, {0x009e, 0xc02f}, NULL},
        {"DHE-RSA-AES128-GCM-SHA256", false, MK_E_NOENT, {0}, NULL},
        {"", false, MK_E_NOENT, {0}, NULL},
        {":", false, MK_E_NOENT, {0}, NULL},
        {"HIGH", false, MK_E_INVALID, {0}, "HIGH"},
        {"ECDHE-RSA-AES128-GCM-SHA256:!aNULL", false, MK_E_INVALID, {0}, "!aNULL"},
        {"ECDHE-RSA-AES128-GCM-SHA25", false, MK_E_INVALID, {0}, "ECDHE-RSA-AES128-GCM-SHA25"},
        {"ecdhe-rsa-aes128-gcm-sha256", false, MK_E_INVALID, {0}, "ecdhe-rsa-aes128-gcm-sha256"},
        {"AES128-SHA", false, MK_E_INVALID, {0}, "AES128-SHA"}, /* no forward secrecy */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int to[MBED_CIPHERS_MAX + 1];
        struct mk_str unknown = {NULL, 0};

        assert_int_equal(mbed_ciphers_parse(to, rows[i].list, rows[i].with_dh, &unknown),
                         rows[i].err);
        for (size_t at = 0; rows[i].err == 0 && (at == 0 || rows[i].numbers[at - 1]); at++)
            assert_int_equal(to[at], rows[i].numbers[at]);
        if (rows[i].unknown) {
            assert_int_equal(unknown.len, strlen(rows[i].unknown));
            assert_memory_equal(unknown.p, rows[i].unknown, unknown.len);
        }
    }
}

static void the_usual_list_is_known(void **state)
{
    int to[MBED_CIPHERS_MAX + 1], count = 0;
    struct mk_str unknown;

    (void)state;
    assert_int_equal(mbed_ciphers_parse(to, TLS_CIPHERS, true, &unknown), 0);
    for (; to[count]; count++)
        assert_non_null(mbed_cipher_name(to[count]));
    assert_int_equal(count, 9);
    assert_null(mbed_cipher_name(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists),
        cmocka_unit_test(the_usual_list_is_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
