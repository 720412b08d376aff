/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/json/write.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What libmonkey-web and services write JSON with: src/kit/json/write.c. The faces have tests of their own. */

static void begin(struct mk_json *j, char *room, size_t size, uint64_t *outer)
{
    *j = (struct mk_json){.p = room, .size = size, .outer = outer, .after = JSON_AT_END};
}

/* Every third level is an array. */
static bool is_array(size_t level)
{
    return level % 3 == 0;
}

static void open_levels(struct mk_json *j, size_t count)
{
    bool has_comma;

    for (size_t i = 0; i < count; i++) {
        if (j->place == JSON_AT_FIRST_KEY && json_begin_key(j, &has_comma))
            (void)json_put_plain(j, MK_STR("k"), has_comma, true);
        json_open(j, is_array(i));
    }
}

static void levels_close_as_they_were_opened(void **state)
{
    (void)state;
    for (size_t depth = 1; depth <= JSON_WRITE_DEPTH; depth++) {
        uint64_t outer[JSON_WRITE_OUTER];
        char room[4096];
        struct mk_json j;
        size_t opened;

        begin(&j, room, sizeof(room), outer);
        open_levels(&j, depth);
        opened = j.len;
        for (size_t i = 0; i < depth; i++)
            json_close(&j);
        assert_int_equal(json_finish(&j), 0);
        for (size_t i = 0; i < depth; i++)
            assert_int_equal(room[opened + i], is_array(depth - 1 - i) ? ']' : '}');
    }
}

static void levels_have_a_bound(void **state)
{
    static const struct {
        bool has_outer;
        size_t depth;
    } cases[] = {{false, 64}, {true, JSON_WRITE_DEPTH}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t outer[JSON_WRITE_OUTER];
        char room[4096];
        struct mk_json j;

        begin(&j, room, sizeof(room), cases[i].has_outer ? outer : NULL);
        open_levels(&j, cases[i].depth);
        assert_int_equal(j.error, 0);
        open_levels(&j, 1);
        assert_int_equal(j.error, MK_E_LIMIT);
        for (size_t level = 0; level <= cases[i].depth; level++)
            json_close(&j);
        assert_int_equal(json_finish(&j), MK_E_LIMIT);
    }
}

static void is_number(uint64_t n)
{
    char expected[24], text[24];

    *json_put_digits(text, n) = '\0';
    (void)snprintf(expected, sizeof(expected), "%" PRIu64, n);
    assert_string_equal(text, expected);
    *json_put_int64(text, (int64_t)n) = '\0';
    (void)snprintf(expected, sizeof(expected), "%" PRId64, (int64_t)n);
    assert_string_equal(text, expected);
}

static void numbers_have_all_digits(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= UINT64_MAX / 10; n *= 10) {
        is_number(n - 1);
        is_number(n);
        is_number(10 * n - 1);
        is_number(0 - n);
    }
    is_number(UINT64_MAX);
    is_number((uint64_t)INT64_MAX);
    is_number((uint64_t)INT64_MIN);
}

static size_t escape_all(char *dst, struct mk_str piece)
{
    for (size_t i = 0; i < piece.len; i++)
        memcpy(dst + 6 * i, "\\u0041", 6);
    return 6 * piece.len;
}

static int write_one_of_each(struct mk_json *j)
{
    bool has_comma;

    json_open(j, false);
    for (int i = 0; i < 2; i++) {
        if (json_begin_key(j, &has_comma) &&
            !json_put_plain(j, MK_STR("some key"), has_comma, true))
            json_fail(j, MK_E_LIMIT);
        json_put_integer(j, true, 12345678);
    }
    if (json_begin_key(j, &has_comma) && !json_put_plain(j, MK_STR(""), has_comma, true))
        json_fail(j, MK_E_LIMIT);
    json_open(j, true);
    if (json_begin_value(j))
        json_put_bool(j, false);
    if (json_begin_value(j))
        json_put_escaped(j, MK_STR("A"), escape_all);
    json_close(j);
    json_close(j);
    return json_finish(j);
}

/* Under a sanitizer a byte too far is found: the room is no larger than it says. */
static void room_is_never_exceeded(void **state)
{
    static const char expected[] =
        "{\"some key\":-12345678,\"some key\":-12345678,\"\":[false,\"\\u0041\"]}";
    const size_t len = sizeof(expected) - 1;

    (void)state;
    for (size_t size = 0; size < len + 8; size++) {
        char *room = malloc(size ? size : 1);
        struct mk_json j;

        begin(&j, room, size, NULL);
        if (size < len)
            assert_int_equal(write_one_of_each(&j), MK_E_LIMIT);
        else
            assert_int_equal(write_one_of_each(&j), 0);
        assert_true(j.len <= size);
        assert_memory_equal(room, expected, j.len);
        free(room);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_close_as_they_were_opened),
        cmocka_unit_test(levels_have_a_bound),
        cmocka_unit_test(numbers_have_all_digits),
        cmocka_unit_test(room_is_never_exceeded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
