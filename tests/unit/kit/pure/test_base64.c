/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/base64.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* RFC 4648 section 10, and every tail. */
static const struct {
    const char *bytes, *text;
} vectors[] = {
    {"", ""},
    {"f", "Zg=="},
    {"fo", "Zm8="},
    {"foo", "Zm9v"},
    {"foob", "Zm9vYg=="},
    {"fooba", "Zm9vYmE="},
    {"foobar", "Zm9vYmFy"},
    {"hello", "aGVsbG8="},
    {"\xff\xfe\xfd", "//79"},
    {"\xfb\xef\xbe", "++++"},
};

static void test_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        const unsigned char *bytes = (const unsigned char *)vectors[i].bytes;
        const char *text = vectors[i].text;
        size_t len = strlen(vectors[i].bytes), text_len = strlen(vectors[i].text);
        unsigned char out[32];
        char written[32];

        assert_int_equal(base64_encoded_len(len), text_len);
        assert_int_equal(base64_encode(written, bytes, len), text_len);
        assert_memory_equal(written, text, text_len);
        assert_true(base64_decoded_room(text_len) <= sizeof(out));
        assert_int_equal(base64_decode_among(out, text, text_len), len);
        assert_memory_equal(out, bytes, len);
    }
}

static ssize_t decode_among(const char *text, unsigned char *out)
{
    return base64_decode_among(out, text, strlen(text));
}

static void test_foreign_characters_are_left_out(void **state)
{
    unsigned char out[32];

    (void)state;
    assert_int_equal(decode_among("aGVs\r\nbG8=\n", out), 5);
    assert_memory_equal(out, "hello", 5);
    assert_int_equal(decode_among("a-G_V s", out), 3);
}

static void test_incomplete_groups_are_refused(void **state)
{
    static const char *const bad[] = {
        "a", "aG", "aGV", "aGVsbG8", "====", "a===", "aG=V", "aGVs====", "aG==aGVs"};
    unsigned char out[32];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(decode_among(bad[i], out), -1);
}

/* The room is enough for any text: a sanitizer watches the bytes behind it. */
static void test_room(void **state)
{
    (void)state;
    for (size_t len = 0; len <= 64; len++) {
        unsigned char bytes[64], *back;
        char *text = malloc(base64_encoded_len(len) + !len);

        for (size_t i = 0; i < len; i++)
            bytes[i] = (unsigned char)(i * 37 + len);
        assert_non_null(text);
        assert_int_equal(base64_encode(text, bytes, len), base64_encoded_len(len));
        back = malloc(base64_decoded_room(base64_encoded_len(len)));
        assert_non_null(back);
        assert_int_equal(base64_decode(back, text, base64_encoded_len(len)), len);
        assert_memory_equal(back, bytes, len);
        free(back);
        free(text);
    }
}

static void test_base64(void **state)
{
    static const struct {
        const char *text;
        const char *bytes; /* NULL: refused */
    } rows[] = {
        {"", ""},
        {"Zg==", "f"},
        {"Zm8=", "fo"},
        {"Zm9v", "foo"},
        {"Zm9vYg==", "foob"},
        {"Zm9vYmE=", "fooba"},
        {"Zm9vYmFy", "foobar"},
        {"+/+/", "\xfb\xff\xbf"},
        {"Zg=", NULL},
        {"Zg", NULL},
        {"Z===", NULL},
        {"====", NULL},
        {"Zm=v", NULL},
        {"Zm9 ", NULL},
        {"Zm-_", NULL},
        {"=Zm9", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t bytes[32];
        ssize_t n = base64_decode(bytes, rows[i].text, strlen(rows[i].text));

        if (n != (rows[i].bytes ? (ssize_t)strlen(rows[i].bytes) : -1))
            fail_msg("%s: %zd", rows[i].text, n);
        if (n > 0)
            assert_memory_equal(bytes, rows[i].bytes, (size_t)n);
        if (n > 0) {
            char again[32];

            assert_int_equal(base64_encode(again, bytes, (size_t)n), strlen(rows[i].text));
            assert_memory_equal(again, rows[i].text, strlen(rows[i].text));
        }
    }
}

/* RFC 7515 section 2, RFC 4648 section 5. */
static void test_base64url(void **state)
{
    static const struct {
        const char *text;
        ssize_t len;
        const char *bytes;
    } rows[] = {
        {"", 0, ""},        {"Zg", 1, "f"},         {"Zm8", 2, "fo"},
        {"Zm9v", 3, "foo"}, {"_-8", 2, "\xff\xef"}, {"Z", -1, NULL},
        {"Zh", -1, NULL},   {"Zm9", -1, NULL},      {"Zg==", -1, NULL},
        {"/+8", -1, NULL},  {"Zm9vZ", -1, NULL},    {"Zm 9", -1, NULL},
    };
    uint8_t room[16];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        ssize_t len = base64url_decode(room, rows[i].text, strlen(rows[i].text));

        assert_int_equal(len, rows[i].len);
        if (len > 0)
            assert_memory_equal(room, rows[i].bytes, (size_t)len);
    }
}

/* RFC 4648 sections 5 and 10; what is encoded is read again. */
static void base64url_is_written_as_it_is_read(void **state)
{
    static const struct {
        const char *bytes, *text;
    } rows[] = {{"", ""},        {"f", "Zg"},        {"fo", "Zm8"},
                {"foo", "Zm9v"}, {"foob", "Zm9vYg"}, {"\xfb\xff\xfe", "-__-"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[16], again[16];
        const size_t len = strlen(rows[i].bytes), got = base64url_encode(text, rows[i].bytes, len);

        assert_int_equal(got, strlen(rows[i].text));
        assert_int_equal(got, base64url_encoded_len(len));
        assert_memory_equal(text, rows[i].text, got);
        assert_int_equal(base64url_decode((uint8_t *)again, text, got), len);
        assert_memory_equal(again, rows[i].bytes, len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_foreign_characters_are_left_out),
        cmocka_unit_test(test_incomplete_groups_are_refused),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_base64url),
        cmocka_unit_test(base64url_is_written_as_it_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
