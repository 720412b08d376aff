/* SPDX-License-Identifier: Apache-2.0 */
#include "listing_test.h"

#include "text.h"

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
        cmocka_unit_test(sizes_are_for_people),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
