/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "subject.h"

#include <mbedtls/oid.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A chain of parts, as the library has them: the first one first. */
static void chain(mbedtls_x509_name *parts, size_t count, const char *const *kinds,
                  const char *const *values)
{
    memset(parts, 0, count * sizeof(*parts));
    for (size_t i = 0; i < count; i++) {
        parts[i].oid.p = (unsigned char *)(uintptr_t)kinds[i];
        parts[i].oid.len = strlen(kinds[i]);
        parts[i].val.p = (unsigned char *)(uintptr_t)values[i];
        parts[i].val.len = strlen(values[i]);
        parts[i].next = i + 1 < count ? &parts[i + 1] : NULL;
    }
}

/* RFC 2253; `openssl x509 -subject -nameopt RFC2253` writes the same. */
static void names(void **state)
{
    static const struct {
        size_t count;
        const char *kinds[3], *values[3], *text;
    } rows[] = {
        {1, {MBEDTLS_OID_AT_CN}, {"alice"}, "CN=alice"},
        {3,
         {MBEDTLS_OID_AT_COUNTRY, MBEDTLS_OID_AT_ORGANIZATION, MBEDTLS_OID_AT_CN},
         {"CH", "Example, Inc.", "bob"},
         "CN=bob,O=Example\\, Inc.,C=CH"},
        {1, {MBEDTLS_OID_AT_CN}, {" a "}, "CN=\\ a\\ "},
        {1, {MBEDTLS_OID_AT_CN}, {"#1"}, "CN=\\#1"},
        {1, {MBEDTLS_OID_AT_CN}, {"a+b=\"c\"<d>;\\"}, "CN=a\\+b=\\\"c\\\"\\<d\\>\\;\\\\"},
        {1, {MBEDTLS_OID_AT_CN}, {"a\r\nX: 1\x7f"}, "CN=a\\0D\\0AX: 1\\7F"},
        {1, {MBEDTLS_OID_AT_CN}, {"\xc3\xa4"}, "CN=\\C3\\A4"},
        {1, {MBEDTLS_OID_AT_CN}, {""}, "CN="},
        {1, {"\x2a\x03"}, {"x"}, "?=x"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        mbedtls_x509_name parts[3];
        char *text;

        chain(parts, rows[i].count, rows[i].kinds, rows[i].values);
        text = mbed_subject(parts);
        assert_string_equal(text, rows[i].text);
        free(text);
    }
}

static void long_ones_are_cut(void **state)
{
    char value[2000];
    const char *kinds[40], *values[40];
    mbedtls_x509_name parts[40];
    char *text;

    (void)state;
    memset(value, ',', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    for (size_t i = 0; i < COUNT(kinds); i++) {
        kinds[i] = MBEDTLS_OID_AT_CN;
        values[i] = i == 0 ? value : "x";
    }
    chain(parts, 1, kinds, values);
    text = mbed_subject(parts);
    assert_int_equal(strlen(text), 1024);
    free(text);
    chain(parts, COUNT(parts) - 1, kinds + 1, values + 1);
    free(mbed_subject(parts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(long_ones_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
