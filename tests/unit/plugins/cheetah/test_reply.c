/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "reply.h"

static const struct reply_column columns[] = {{"name", 6}, {"count", 5}, {"about", 0}};

static void add_row(struct reply *r, const char *name, uint64_t count, const char *about)
{
    cheetah_reply_row(r, columns);
    cheetah_reply_text(r, "name", mk_str_from(name));
    cheetah_reply_number(r, "count", count);
    cheetah_reply_text(r, "about", mk_str_from(about));
    cheetah_reply_row_end(r);
}

static void assert_reply(struct reply *r, const char *expected)
{
    assert_int_equal(r->len, strlen(expected));
    assert_memory_equal(r->p, expected, r->len);
    cheetah_reply_free(r);
}

static void write_sample(struct reply *r, bool json)
{
    cheetah_reply_begin(r, json);
    cheetah_reply_text(r, "text", MK_STR("value"));
    cheetah_reply_number(r, "number", UINT64_MAX);
    cheetah_reply_list(r, "rows", columns, 3);
    add_row(r, "a", 1, "first");
    add_row(r, "longer than six", 100000, "");
    cheetah_reply_list_end(r);
    cheetah_reply_text(r, "last", MK_STR(""));
    cheetah_reply_end(r);
}

static void test_one_description_has_two_forms(void **state)
{
    struct reply r;

    (void)state;
    write_sample(&r, false);
    assert_reply(&r, "text: value\n"
                     "number: 18446744073709551615\n"
                     "rows:\n"
                     "  name    count  about\n"
                     "  a       1      first\n"
                     "  longer than six  100000  -\n"
                     "last: \n");
    write_sample(&r, true);
    assert_reply(&r, "{\"text\": \"value\", \"number\": 18446744073709551615, \"rows\": "
                     "[{\"name\": \"a\", \"count\": 1, \"about\": \"first\"}, "
                     "{\"name\": \"longer than six\", \"count\": 100000, \"about\": \"\"}], "
                     "\"last\": \"\"}\n");
}

static void test_nothing_is_an_object_too(void **state)
{
    struct reply r;

    (void)state;
    cheetah_reply_begin(&r, true);
    cheetah_reply_end(&r);
    assert_reply(&r, "{}\n");
    cheetah_reply_begin(&r, true);
    cheetah_reply_list(&r, "rows", columns, 3);
    cheetah_reply_list_end(&r);
    cheetah_reply_end(&r);
    assert_reply(&r, "{\"rows\": []}\n");
}

/* RFC 8259 section 7: a quote, a backslash and control bytes must be escaped. */
static void test_every_byte_is_escaped_or_harmless(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        for (int c = 0; c < 256; c++) {
            char byte = (char)c;
            struct reply r;

            cheetah_reply_begin(&r, json);
            cheetah_reply_text(&r, "k", (struct mk_str){&byte, 1});
            cheetah_reply_end(&r);
            for (size_t i = 0; i + 1 < r.len; i++)
                assert_true(r.p[i] >= ' ' && r.p[i] < 0x7f);
            if (c == '"' || c == '\\')
                assert_int_equal(r.len, (json ? 11 : 5) + (json || c == '\\'));
            else if (c >= ' ' && c < 0x7f)
                assert_int_equal(r.len, json ? 11 : 5);
            else
                assert_int_equal(r.len, json ? 16 : 8);
            cheetah_reply_free(&r);
        }
    }
}

static void test_own_backslash_is_seen_in_words(void **state)
{
    struct reply r;

    (void)state;
    cheetah_reply_begin(&r, false);
    cheetah_reply_own(&r, "short", "\\h");
    cheetah_reply_end(&r);
    assert_reply(&r, "short: \\h\n");
    cheetah_reply_begin(&r, true);
    cheetah_reply_own(&r, "short", "\\h");
    cheetah_reply_end(&r);
    assert_reply(&r, "{\"short\": \"\\\\h\"}\n");
}

static void test_error_drops_what_was_there(void **state)
{
    struct reply r;

    (void)state;
    cheetah_reply_begin(&r, true);
    cheetah_reply_text(&r, "half", MK_STR("done"));
    cheetah_reply_error(&r, true, "no \"%s\"", "way");
    assert_reply(&r, "{\"error\": \"no \\\"way\\\"\"}\n");
    cheetah_reply_error(&r, false, "no way");
    assert_reply(&r, "error: no way\n");
}

static bool ends(const struct reply *r, const char *with)
{
    size_t len = strlen(with);

    return r->len >= len && memcmp(r->p + r->len - len, with, len) == 0;
}

static void test_what_is_too_long_ends_at_a_row(void **state)
{
    static char about[3000];

    (void)state;
    memset(about, 'x', sizeof(about) - 1);
    for (int json = 0; json < 2; json++) {
        struct reply r;

        cheetah_reply_begin(&r, json);
        cheetah_reply_list(&r, "rows", columns, 3);
        for (int i = 0; i < 2000; i++)
            add_row(&r, "a", 1, about);
        cheetah_reply_list_end(&r);
        cheetah_reply_text(&r, "last", MK_STR("fits"));
        cheetah_reply_end(&r);
        assert_true(r.len <= REPLY_MAX);
        assert_true(r.len > REPLY_MAX - REPLY_RESERVE - 2 * sizeof(about));
        assert_true(ends(&r, json ? "x\"}], \"last\": \"fits\", \"truncated\": true}\n"
                                  : "x\nlast: fits\ntruncated: the reply is longer than 4 MB\n"));
        cheetah_reply_add(&r, "> ");
        assert_true(ends(&r, "\n> "));
        cheetah_reply_free(&r);
    }
}

static void test_first_row_that_is_too_long_leaves_a_whole_reply(void **state)
{
    char *text = malloc(REPLY_MAX);
    struct reply r;

    (void)state;
    assert_non_null(text);
    memset(text, '\\', REPLY_MAX);
    cheetah_reply_begin(&r, true);
    cheetah_reply_list(&r, "rows", columns, 3);
    cheetah_reply_row(&r, columns);
    cheetah_reply_text(&r, "name", (struct mk_str){text, REPLY_MAX});
    cheetah_reply_row_end(&r);
    add_row(&r, "a", 1, "b");
    cheetah_reply_list_end(&r);
    cheetah_reply_end(&r);
    free(text);
    assert_reply(&r, "{\"rows\": [], \"truncated\": true}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_description_has_two_forms),
        cmocka_unit_test(test_nothing_is_an_object_too),
        cmocka_unit_test(test_every_byte_is_escaped_or_harmless),
        cmocka_unit_test(test_own_backslash_is_seen_in_words),
        cmocka_unit_test(test_error_drops_what_was_there),
        cmocka_unit_test(test_what_is_too_long_ends_at_a_row),
        cmocka_unit_test(test_first_row_that_is_too_long_leaves_a_whole_reply),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
