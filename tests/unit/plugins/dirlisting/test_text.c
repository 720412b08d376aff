/* SPDX-License-Identifier: Apache-2.0 */
#include "listing_test.h"

#include "text.h"

struct row {
    const char *sentence;
    struct mk_str in, out;
};

/* Each in memory of exactly the promised size, which ASan watches. */
static void check(const struct row *rows, size_t count, size_t growth,
                  size_t (*fn)(char *dst, struct mk_str s))
{
    for (size_t i = 0; i < count; i++) {
        char *in = malloc(rows[i].in.len ? rows[i].in.len : 1);
        char *out = malloc(rows[i].in.len * growth + 1);
        size_t len;

        assert_non_null(in);
        assert_non_null(out);
        memcpy(in, rows[i].in.p, rows[i].in.len);
        len = fn(out, (struct mk_str){in, rows[i].in.len});
        if (len != rows[i].out.len || memcmp(out, rows[i].out.p, len) != 0)
            fail_msg("%s: gave %.*s", rows[i].sentence, (int)len, out);
        assert_true(len <= rows[i].in.len * growth);
        free(in);
        free(out);
    }
}

#define CHECK(rows, growth, fn) check(rows, sizeof(rows) / sizeof((rows)[0]), growth, fn)

static void urls_keep_every_byte(void **state)
{
    static const struct row rows[] = {
        {"unreserved", MK_STR_INIT("aZ09-._~"), MK_STR_INIT("aZ09-._~")},
        {"what means something in a URL", MK_STR_INIT("%?#&;/\\"),
         MK_STR_INIT("%25%3F%23%26%3B%2F%5C")},
        {"no scheme", MK_STR_INIT("javascript:x"), MK_STR_INIT("javascript%3Ax")},
        {"any byte", MK_STR_INIT("\x01\n \xFF\"<"), MK_STR_INIT("%01%0A%20%FF%22%3C")},
    };

    (void)state;
    CHECK(rows, DIRLISTING_URL_GROWTH, dirlisting_url);
}

static void sizes_are_for_people(void **state)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {1, "1 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {10188, "9.9 KiB"},
        {10189, "10 KiB"},
        {1023 * 1024, "1023 KiB"},
        {1024 * 1024 - 1, "1.0 MiB"},
        {INT64_C(5) << 30, "5.0 GiB"},
        {INT64_MAX, "8.0 EiB"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[DIRLISTING_SIZE_MAX];
        size_t len = dirlisting_size(text, rows[i].bytes);

        assert_string_equal(text, rows[i].text);
        assert_int_equal(len, strlen(text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(urls_keep_every_byte),
        cmocka_unit_test(sizes_are_for_people),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
