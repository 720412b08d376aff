/* SPDX-License-Identifier: Apache-2.0 */
#include "areas.h"

#include "http/escape.h"
#include "http/uri.h"

static void assert_text(const char *sentence, const char *p, size_t len, struct mk_str expected)
{
    if (len != expected.len || memcmp(p, expected.p, len) != 0)
        fail_msg("%s: gave %s", sentence, show((struct mk_str){p, len}));
}

static void escapes_paths(void **state)
{
    static const struct {
        const char *sentence;
        struct mk_str in, out;
    } rows[] = {
        {"what may stay", MK_STR_INIT("/aZ09-._~!$&'()*+,;=:@"),
         MK_STR_INIT("/aZ09-._~!$&'()*+,;=:@")},
        {"a blank and a percent sign", MK_STR_INIT("/a b%20"), MK_STR_INIT("/a%20b%2520")},
        {"what would end the path", MK_STR_INIT("/a?b#c"), MK_STR_INIT("/a%3Fb%23c")},
        {"line ends", MK_STR_INIT("/\r\n"), MK_STR_INIT("/%0D%0A")},
        {"bytes above 0x7f", MK_STR_INIT("\xff\x80"), MK_STR_INIT("%FF%80")},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str in = guard_str(&in_area, rows[i].in);
        char *dst = guard_end(&out_area, in.len * MK_ESCAPE_URI_GROWTH);

        assert_text(rows[i].sentence, dst, mk_escape_path(dst, in), rows[i].out);
    }
}

static void an_escaped_path_decodes_to_itself(void **state)
{
    char in[256] = "/", escaped[768], out[768];
    size_t n = 1, len;

    (void)state;
    for (int c = 1; c < 256; c++) {
        if (c != '/' && c != '.')
            in[n++] = (char)c;
    }
    len = mk_escape_path(escaped, (struct mk_str){in, n});
    assert_true(mk_uri_is_target((struct mk_str){escaped, len}));
    assert_int_equal(mk_uri_normalise((struct mk_str){escaped, len}, out, &len), 0);
    assert_int_equal(len, n);
    assert_memory_equal(in, out, n);
}

static void escapes_log_lines(void **state)
{
    static const struct {
        const char *sentence;
        size_t max;
        struct mk_str in, out;
    } rows[] = {
        {"plain text", 9, MK_STR_INIT("GET / a"), MK_STR_INIT("GET / a")},
        {"what could break a line", 99, MK_STR_INIT("a\r\n\"\\\x1b\xff"),
         MK_STR_INIT("a\\x0D\\x0A\\x22\\x5C\\x1B\\xFF")},
        {"it fits exactly", 5, MK_STR_INIT("abcde"), MK_STR_INIT("abcde")},
        {"one byte too many", 5, MK_STR_INIT("abcdef"), MK_STR_INIT("ab...")},
        {"an escape is not cut", 6, MK_STR_INIT("a\n\n"), MK_STR_INIT("a...")},
        {"an escape that fits exactly", 4, MK_STR_INIT("\n"), MK_STR_INIT("\\x0A")},
        {"room for the dots only", 3, MK_STR_INIT("abcd"), MK_STR_INIT("...")},
        {"no room for the dots", 2, MK_STR_INIT("abcd"), MK_STR_INIT("..")},
        {"no room at all", 0, MK_STR_INIT("abcd"), MK_STR_INIT("")},
        {"nothing", 0, MK_STR_INIT(""), MK_STR_INIT("")},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str in = guard_str(&in_area, rows[i].in);
        char *dst = guard_end(&out_area, rows[i].max);

        assert_text(rows[i].sentence, dst, mk_escape_log(dst, rows[i].max, in), rows[i].out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {

        cmocka_unit_test(escapes_paths),
        cmocka_unit_test(an_escaped_path_decodes_to_itself),
        cmocka_unit_test(escapes_log_lines),
    };

    return cmocka_run_group_tests(tests, open_areas, close_areas);
}
