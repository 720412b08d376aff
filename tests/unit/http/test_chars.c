/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "http/chars_int.h"

#define ALNUM "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define UNRESERVED ALNUM "-._~"
#define SUB_DELIMS "!$&'()*+,;="

/* The classes again, as the grammars write them. */
static const struct {
    const char *rfc, *bytes;
    unsigned class;
} classes[] = {
    {"RFC 9110 5.6.2: tchar", ALNUM "!#$%&'*+-.^_`|~", MK_CHAR_TOKEN},
    {"RFC 3986 2: all but the number sign, and what browsers leave",
     UNRESERVED SUB_DELIMS ":/?@[]%^`{|}", MK_CHAR_TARGET},
    {"RFC 3986 2: without the question mark", UNRESERVED SUB_DELIMS ":/@[]%^`{|}", MK_CHAR_PATH},
    {"RFC 3986 3.2.2: reg-name", UNRESERVED SUB_DELIMS, MK_CHAR_HOST},
    {"RFC 3986 3.3: pchar and slash", UNRESERVED SUB_DELIMS ":@/", MK_CHAR_SEGMENT},
    {"RFC 5234: HEXDIG in either case", "0123456789abcdefABCDEF", MK_CHAR_HEX},
};

static void classes_are_those_of_the_grammars(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
            bool expected = c != 0 && c < 0x80 && strchr(classes[i].bytes, c) != NULL;

            if (mk_char_is((char)c, classes[i].class) != expected)
                fail_msg("%s: byte %d", classes[i].rfc, c);
        }
        assert_int_equal(mk_char_is((char)c, MK_CHAR_TEXT), c == '\t' || (c >= 0x20 && c != 0x7f));
    }
}

static void skips_to_the_first_other_byte(void **state)
{
    struct guard area = guard_open(64);

    (void)state;
    for (size_t len = 0; len < 40; len++) {
        char *text = guard_end(&area, len);

        memset(text, 'a', len);
        assert_ptr_equal(mk_chars_skip(text, text + len, MK_CHAR_TOKEN), text + len);
        for (size_t at = 0; at < len; at++) {
            text[at] = ' ';
            assert_ptr_equal(mk_chars_skip(text, text + len, MK_CHAR_TOKEN), text + at);
            text[at] = 'a';
        }
    }
    guard_close(&area);
}

static void reads_hexadecimal_digits(void **state)
{
    static const char digits[] = "0123456789abcdef", capitals[] = "0123456789ABCDEF";

    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        assert_int_equal(mk_hex_value(digits[i]), i);
        assert_int_equal(mk_hex_value(capitals[i]), i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_those_of_the_grammars),
        cmocka_unit_test(skips_to_the_first_other_byte),
        cmocka_unit_test(reads_hexadecimal_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
