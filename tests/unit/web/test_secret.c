/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

static void texts_are_compared_as_bytes(void **state)
{
    static const struct {
        struct mk_str a, b;
        bool is_same;
        const char *why;
    } rows[] = {
        {MK_STR_INIT("key"), MK_STR_INIT("key"), true, "the same"},
        {MK_STR_INIT("key"), MK_STR_INIT("Key"), false, "the first byte differs"},
        {MK_STR_INIT("key"), MK_STR_INIT("kez"), false, "the last byte differs"},
        {MK_STR_INIT("key"), MK_STR_INIT("keys"), false, "a longer one"},
        {MK_STR_INIT("key"), MK_STR_INIT("ke"), false, "a shorter one"},
        {MK_STR_INIT("k\0y"), MK_STR_INIT("k\0z"), false, "behind a NUL"},
        {MK_STR_INIT(""), MK_STR_INIT(""), true, "both are empty"},
        {{NULL, 0}, {NULL, 0}, false, "there is no secret"},
        {{NULL, 0}, MK_STR_INIT(""), false, "there is no secret, and an empty text"},
        {MK_STR_INIT(""), {NULL, 0}, false, "there is no text"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (mk_secret_eq(rows[i].a, rows[i].b) != rows[i].is_same)
            fail_msg("%s", rows[i].why);
    }
}

/* All bytes count: none of 64 may be left out. */
static void every_byte_counts(void **state)
{
    char a[64], b[64];

    (void)state;
    memset(a, 'x', sizeof(a));
    for (size_t i = 0; i < sizeof(a); i++) {
        memcpy(b, a, sizeof(b));
        b[i] = 'X';
        assert_false(mk_secret_eq((struct mk_str){a, sizeof(a)}, (struct mk_str){b, sizeof(b)}));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_compared_as_bytes),
        cmocka_unit_test(every_byte_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
