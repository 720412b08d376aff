/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "line.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void test_words(void **state)
{
    static const struct {
        const char *text;
        unsigned count;
        bool json;
        const char *first, *last;
    } rows[] = {
        {"", 0, false, NULL, NULL},
        {" \t\r", 0, false, NULL, NULL},
        {"status", 1, false, "status", "status"},
        {"  status\r", 1, false, "status", "status"},
        {"loglevel\tdebug", 2, false, "loglevel", "debug"},
        {"--json", 0, true, NULL, NULL},
        {"a --json b", 2, true, "a", "b"},
        {"--json--json --jso", 2, false, "--json--json", "--jso"},
        {"a b c d", 4, false, "a", "d"},
        {"a b c d e", LINE_MAX_WORDS + 1, false, "a", NULL},
        {"a b c d e f --json", LINE_MAX_WORDS + 1, true, "a", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct line line;

        cheetah_line_parse(&line, mk_str_from(rows[i].text));
        assert_int_equal(line.count, rows[i].count);
        assert_int_equal(line.json, rows[i].json);
        if (rows[i].first) {
            assert_int_equal(line.words[0].len, strlen(rows[i].first));
            assert_memory_equal(line.words[0].p, rows[i].first, line.words[0].len);
        }
        if (rows[i].last)
            assert_memory_equal(line.words[line.count - 1].p, rows[i].last, strlen(rows[i].last));
    }
}

static void test_distances(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned distance;
    } rows[] = {
        {"", "", 0},
        {"", "abc", 3},
        {"status", "status", 0},
        {"statsu", "status", 2},
        {"metric", "metrics", 1},
        {"quti", "quit", 2},
        {"kitten", "sitting", 3},
        {"aaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", 16},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mk_str a = mk_str_from(rows[i].a), b = mk_str_from(rows[i].b);

        assert_int_equal(cheetah_line_distance(a, b), rows[i].distance);
        assert_int_equal(cheetah_line_distance(b, a), rows[i].distance);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_distances),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
