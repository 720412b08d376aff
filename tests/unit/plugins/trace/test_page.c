/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "page.h"

#include <monkey/plugin.h>

#include <stdlib.h>

#define OWN                                                                                        \
    "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\">"                                    \
    "<meta name=\"viewport\" content=\"width=device-width\">"                                      \
    "<meta name=\"color-scheme\" content=\"light dark\">"

enum { ROOM = 8192 };

/* In pieces of so many bytes, as a filter gets them: what it did not use comes again. */
static char *filtered(const char *in, size_t piece)
{
    struct trace_page page = {.id = MK_STR("ID7")};
    size_t left = strlen(in), len = 0;
    char *text = malloc(strlen(in) + 2 * ROOM);
    int done = MK_FILTER_MORE;

    assert_non_null(text);
    while (done != MK_FILTER_DONE) {
        size_t used = left < piece ? left : piece, out = ROOM;

        done = trace_page_filter(&page, in, &used, text + len, &out, used == left);
        assert_true(done >= 0);
        in += used;
        left -= used;
        len += out;
    }
    assert_int_equal(left, 0);
    text[len] = '\0';
    return text;
}

static void the_mark_becomes_the_id(void **state)
{
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"<p>$request_id</p>", "<p>ID7</p>"},
        {"$request_id$request_id", "ID7ID7"},
        {"$request_i", "$request_i"},
        {"$request$request_id$", "$requestID7$"},
        {"$$request_idx", "$ID7x"},
        {"", ""},
        {"plain", "plain"},
        {OWN "<h1>404</h1>\n", OWN "<h1>404</h1>\n<p><code>ID7</code></p>\n"},
        {OWN "$request_id", OWN "ID7"},
        {OWN, OWN "<p><code>ID7</code></p>\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t piece = 1; piece < 300; piece++) {
            char *text = filtered(rows[i].in, piece);

            assert_string_equal(text, rows[i].out);
            free(text);
        }
    }
}

/* More marks than there is room for what they become. */
static void a_page_of_marks_fits(void **state)
{
    enum { MARKS = 5000 };
    static char in[MARKS * 11 + 1];
    char *text;

    (void)state;
    for (int i = 0; i < MARKS; i++)
        memcpy(in + i * 11, "$request_id", 11);
    text = filtered(in, ROOM);
    assert_int_equal(strlen(text), MARKS * 3);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mark_becomes_the_id),
        cmocka_unit_test(a_page_of_marks_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
