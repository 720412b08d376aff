/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "packages/base64/coding.h"

#include <stdlib.h>
#include <string.h>

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
        const unsigned char *text = (const unsigned char *)vectors[i].text;
        size_t len = strlen(vectors[i].bytes), text_len = strlen(vectors[i].text);
        unsigned char out[32];

        assert_int_equal(base64_encoded_len(len), text_len);
        assert_int_equal(base64_encode(out, bytes, len), text_len);
        assert_memory_equal(out, text, text_len);
        assert_true(base64_decoded_room(text_len) <= sizeof(out));
        assert_int_equal(base64_decode(out, text, text_len), len);
        assert_memory_equal(out, bytes, len);
    }
}

static ssize_t decode(const char *text, unsigned char *out)
{
    return base64_decode(out, (const unsigned char *)text, strlen(text));
}

static void test_foreign_characters_are_left_out(void **state)
{
    unsigned char out[32];

    (void)state;
    assert_int_equal(decode("aGVs\r\nbG8=\n", out), 5);
    assert_memory_equal(out, "hello", 5);
    assert_int_equal(decode("a-G_V s", out), 3);
}

static void test_incomplete_groups_are_refused(void **state)
{
    static const char *const bad[] = {
        "a", "aG", "aGV", "aGVsbG8", "====", "a===", "aG=V", "aGVs====", "aG==aGVs"};
    unsigned char out[32];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(decode(bad[i], out), -1);
}

/* The room is enough for any text: a sanitizer watches the bytes behind it. */
static void test_room(void **state)
{
    (void)state;
    for (size_t len = 0; len <= 64; len++) {
        unsigned char bytes[64], *text = malloc(base64_encoded_len(len) + !len), *back;

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_foreign_characters_are_left_out),
        cmocka_unit_test(test_incomplete_groups_are_refused),
        cmocka_unit_test(test_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
