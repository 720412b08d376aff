/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/json_text.h"

#include "../../http/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* However long, and wherever a byte stands that does not stand for itself: between inaccessible pages. */
static void text_that_stands_for_itself_is_copied(void **state)
{
    static const char others[] = "\"\\\x1f\x7f\x80\xff\n";
    struct guard in = guard_open(1), out = guard_open(1);

    (void)state;
    for (size_t len = 0; len <= 26; len++) {
        char *text = guard_end(&in, len), *copy = guard_end(&out, len);

        for (size_t at = 0; at < len; at++)
            text[at] = (char)(at % 3 == 0 ? ' ' : '~' - (int)at);
        assert_true(json_text_copy(copy, text, len));
        assert_memory_equal(copy, text, len);
        for (size_t at = 0; at < len; at++) {
            const char before = text[at];

            for (size_t i = 0; i < sizeof(others); i++) { /* NUL too */
                text[at] = others[i];
                assert_false(json_text_copy(copy, text, len));
            }
            text[at] = before;
        }
    }
    guard_close(&in);
    guard_close(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_that_stands_for_itself_is_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
