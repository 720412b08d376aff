/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/utf8.h"

#include "guard.h"

/* RFC 3629; each row split at each byte, at an inaccessible page. */
static const struct {
    const char *text;
    size_t len;
    bool is_valid, is_whole;
} rows[] = {
#define ROW(text, valid, whole)                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1, valid, whole                                                       \
    }
    ROW("", true, true),
    ROW("plain text of many letters", true, true),
    ROW("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", true, true),
    ROW("eight by\xc3\xa4 and eight more", true, true),
    ROW("\0", true, true),
    ROW("\xf4\x8f\xbf\xbf", true, true),
    ROW("\xed\x9f\xbf\xee\x80\x80", true, true),
    ROW("\xf4\x90\x80\x80", false, false),
    ROW("\xed\xa0\x80", false, false),
    ROW("\xc0\xaf", false, false),
    ROW("\xe0\x80\xaf", false, false),
    ROW("\xf0\x80\x80\xaf", false, false),
    ROW("\xf5\x80\x80\x80", false, false),
    ROW("\x80", false, false),
    ROW("a\xff", false, false),
    ROW("\xc3(", false, false),
    ROW("\xe2\x82", true, false),
    ROW("\xf0\x9f\x98", true, false),
#undef ROW
};

static void test_rows_split_at_each_byte(void **state)
{
    struct guard g = guard_open(64);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t cut = 0; cut <= rows[i].len; cut++) {
            struct ws_utf8 u = {0};
            bool valid = ws_utf8_feed(&u, guard_put(&g, rows[i].text, cut), cut) &&
                         ws_utf8_feed(&u, guard_put(&g, rows[i].text + cut, rows[i].len - cut),
                                      rows[i].len - cut);

            if (valid != rows[i].is_valid || (valid && ws_utf8_is_whole(&u) != rows[i].is_whole))
                fail_msg("row %zu, split at %zu", i, cut);
        }
    guard_close(&g);
}

/* RFC 6455 section 8.1: a client is told at the wrong byte, not at the end of the message. */
static void test_refuses_at_the_first_wrong_byte(void **state)
{
    struct ws_utf8 u = {0};

    (void)state;
    assert_true(ws_utf8_feed(&u, "\xf4", 1));
    assert_false(ws_utf8_feed(&u, "\x90", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_split_at_each_byte),
        cmocka_unit_test(test_refuses_at_the_first_wrong_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
