/* SPDX-License-Identifier: Apache-2.0 */
#include "types.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Types: which media types a list has. */

static const struct {
    const char *pattern, *type;
    bool fits;
} rows[] = {
    {"text/html", "text/html", true},
    {"text/html", "text/html; charset=utf-8", true},
    {"text/html", "Text/HTML ;charset=utf-8", true},
    {"text/html", "text/htmlx", false},
    {"text/html", "text/htm", false},
    {"text/*", "text/event-stream", true},
    {"text/*", "text/", true},
    {"text/*", "textual/x", false},
    {"*+json", "application/problem+json", true},
    {"*+json", "application/json", false},
    {"*+json", "application/x+jsonx", false},
    {"*+json", "+json", true},
    {"*", "image/png", true},
    {"*", "", false},
    {"*", ";text/html", false},
    {"text/html", "", false},
};

static void types_fit_as_written_here(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str items[] = {MK_STR("never/ever"), mk_str_from(rows[i].pattern)};
        struct mk_words words = {items, 2};

        if (compress_types_have(&words, mk_str_from(rows[i].type)) != rows[i].fits)
            fail_msg("%s, %s", rows[i].pattern, rows[i].type);
    }
}

static void patterns_are_checked(void **state)
{
    static const char *const good[] = {"text/html", "text/*", "*", "*+json", "a/b"};
    static const char *const bad[] = {"html",    "/html", "text/", "*/html", "te*t/x",
                                      "text/h*", "*json", "*+",    "text*",  "**"};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        if (!compress_types_is_pattern(mk_str_from(good[i])))
            fail_msg("%s", good[i]);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (compress_types_is_pattern(mk_str_from(bad[i])))
            fail_msg("%s", bad[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_fit_as_written_here),
        cmocka_unit_test(patterns_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
