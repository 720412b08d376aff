/* SPDX-License-Identifier: Apache-2.0 */
#include "logger_test.h"

#include "text.h"

static void escapes_what_a_peer_sends(void **state)
{
    static const struct {
        const char *sentence;
        struct mk_str in;
        const char *text, *json;
    } rows[] = {
        {"nothing", MK_STR_INIT(""), "", ""},
        {"plain text stays", MK_STR_INIT("GET /a b?c=d&e='f'"), "GET /a b?c=d&e='f'",
         "GET /a b?c=d&e='f'"},
        {"line ends", MK_STR_INIT("a\r\nb"), "a\\x0D\\x0Ab", "a\\u000D\\u000Ab"},
        {"quotes and backslashes", MK_STR_INIT("\"\\"), "\\x22\\x5C", "\\u0022\\u005C"},
        {"NUL, escape, DEL", MK_STR_INIT("\0\x1b\x7f"), "\\x00\\x1B\\x7F", "\\u0000\\u001B\\u007F"},
        {"UTF-8 and what is not", MK_STR_INIT("\xc3\xa9\xff"), "\\xC3\\xA9\\xFF",
         "\\u00C3\\u00A9\\u00FF"},
        {"behind eight plain bytes", MK_STR_INIT("12345678\"123456789"), "12345678\\x22123456789",
         "12345678\\u0022123456789"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int style = LOGGER_TEXT; style <= LOGGER_JSON; style++) {
            char room[128];
            struct logger_text t = {.at = room, .end = room + sizeof(room)};

            logger_put_escaped(&t, rows[i].in, 100, (enum logger_style)style);
            assert_false(t.full);
            assert_text(rows[i].sentence, room, (size_t)(t.at - room),
                        style == LOGGER_TEXT ? rows[i].text : rows[i].json);
        }
    }
}

/* Of every byte, at every place among plain ones: it is itself or its escape, and nothing else. */
static void every_byte_is_itself_or_an_escape(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        for (size_t at = 0; at < 17; at++) {
            char in[17], room[64], expected[64];
            struct logger_text t = {.at = room, .end = room + sizeof(room)};
            const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
            char one[8];

            memset(in, 'x', sizeof(in));
            in[at] = (char)c;
            (void)snprintf(one, sizeof(one), plain ? "%c" : "\\x%02X", c);
            (void)snprintf(expected, sizeof(expected), "%.*s%s%.*s", (int)at, "xxxxxxxxxxxxxxxxx",
                           one, (int)(16 - at), "xxxxxxxxxxxxxxxxx");
            logger_put_escaped(&t, (struct mk_str){in, sizeof(in)}, 60, LOGGER_TEXT);
            assert_text("a byte among others", room, (size_t)(t.at - room), expected);
        }
    }
}

static void a_long_field_is_clipped_and_marked(void **state)
{
    static const struct {
        const char *sentence;
        struct mk_str in;
        size_t max;
        const char *out;
    } rows[] = {
        {"what just fits is whole", MK_STR_INIT("0123456789"), 10, "0123456789"},
        {"one byte more", MK_STR_INIT("0123456789a"), 10, "0123456789..."},
        {"an escape is not cut", MK_STR_INIT("01234567\n"), 10, "01234567..."},
        {"an escape that fits", MK_STR_INIT("012345\n"), 10, "012345\\x0A"},
        {"behind an escape", MK_STR_INIT("\n\n\n\n\n\n\n"), 10, "\\x0A\\x0A..."},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char room[64];
        struct logger_text t = {.at = room, .end = room + sizeof(room)};

        logger_put_escaped(&t, rows[i].in, rows[i].max, LOGGER_TEXT);
        assert_false(t.full);
        assert_text(rows[i].sentence, room, (size_t)(t.at - room), rows[i].out);
    }
}

static void nothing_is_written_behind_the_room(void **state)
{
    static const struct mk_str in = MK_STR_INIT("plain text\nwith \xff escapes \"and\" more");
    char room[128];

    (void)state;
    for (size_t size = 0; size < 70; size++) {
        struct logger_text t = {.at = room, .end = room + size};

        memset(room, '#', sizeof(room));
        logger_put_escaped(&t, in, 100, LOGGER_TEXT);
        logger_put(&t, MK_STR("!!"));
        assert_true(t.at <= t.end);
        assert_int_equal(t.full, size < in.len + 4 * 3 + 2);
        for (size_t i = size; i < sizeof(room); i++)
            assert_int_equal(room[i], '#');
    }
}

static void writes_numbers(void **state)
{
    char room[64];
    struct logger_text t = {.at = room, .end = room + sizeof(room)};

    (void)state;
    logger_put_uint(&t, 0);
    logger_put(&t, MK_STR(" "));
    logger_put_uint(&t, UINT64_MAX);
    assert_text("numbers", room, (size_t)(t.at - room), "0 18446744073709551615");
}

static void a_line_that_is_cut_has_an_end(void **state)
{
    char room[8 + LOGGER_CUT];
    struct logger_text t = {.at = room, .end = room + 8};

    (void)state;
    logger_put_part(&t, MK_STR("12345"));
    assert_false(t.full);
    logger_put_part(&t, MK_STR("6789"));
    assert_true(t.full);
    logger_put_cut(&t);
    assert_false(t.full);
    assert_text("cut", room, (size_t)(t.at - room), "12345678...\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_what_a_peer_sends),
        cmocka_unit_test(every_byte_is_itself_or_an_escape),
        cmocka_unit_test(a_long_field_is_clipped_and_marked),
        cmocka_unit_test(nothing_is_written_behind_the_room),
        cmocka_unit_test(writes_numbers),
        cmocka_unit_test(a_line_that_is_cut_has_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
