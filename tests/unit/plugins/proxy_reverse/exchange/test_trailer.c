/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exchange/exchange.h"

#include "../no_calls.h"
#include "exchange/head.h"

static char passed[1 << 16]; /* NAME=VALUE; each */
static unsigned npassed, break_off_at;

int mk_reply_trailer(struct mk_request *r, struct mk_str name, struct mk_str value)
{
    (void)r;
    if (++npassed == break_off_at)
        return MK_E_PEER;
    (void)snprintf(passed + strlen(passed), sizeof(passed) - strlen(passed), "%.*s=%.*s;",
                   (int)name.len, name.p, (int)value.len, value.p);
    return 0;
}

/* A whole section in pieces. @param missing  bytes that never came */
static const char *pass(const char *section, size_t step, size_t missing)
{
    struct proxy_worker home = {0};
    struct proxy_exchange x = {.home = &home};
    size_t len = strlen(section);

    passed[0] = '\0';
    npassed = 0;
    x.body.trailers = (uint32_t)len;
    for (size_t at = 0, n; at < len - missing; at += n) {
        n = len - missing - at < step ? len - missing - at : step;
        proxy_trailers_take(&x, section + at, n);
    }
    proxy_trailers_pass(&x);
    proxy_buffer_put(&home.buffers, x.trailers);
    proxy_buffers_free(&home.buffers);
    return passed;
}

static void test_fields_that_may_trail(void **state)
{
    static const char section[] = "X-A: 1\r\nContent-Length: 5\r\nServer-Timing:x\r\n"
                                  "Transfer-Encoding: chunked\r\nX-B: \r\n\r\n";

    (void)state;
    for (size_t step = 1; step <= sizeof(section); step++)
        assert_string_equal(pass(section, step, 0), "X-A=1;Server-Timing=x;X-B=;");
}

static void test_a_section_that_is_not_whole(void **state)
{
    (void)state;
    assert_string_equal(pass("X-A: 1\r\n\r\n", 100, 1), "");
    assert_string_equal(pass("\r\n", 100, 0), "");
}

/* Longer than the buffer: the body does without. */
static void test_a_section_that_is_too_long(void **state)
{
    static char section[PROXY_BUFFER + 100];

    (void)state;
    memset(section, 'x', sizeof(section) - 1);
    memcpy(section, "A: ", 3);
    memcpy(section + sizeof(section) - 5, "\r\n\r\n", 4);
    assert_string_equal(pass(section, 1000, 0), "");
}

/* What does not fit any more is left out, and what is shorter and follows is not. */
static void test_as_much_as_an_answer_takes(void **state)
{
    static char section[PROXY_BUFFER];

    (void)state;
    (void)snprintf(section, sizeof(section), "A: %05000d\r\nB: %05000d\r\nC: 1\r\n\r\n", 0, 0);
    (void)pass(section, 1000, 0);
    assert_int_equal(npassed, 2);
    assert_null(strstr(passed, "B="));
    assert_non_null(strstr(passed, "C=1;"));
}

static void test_how_many_there_may_be(void **state)
{
    char section[4096] = "";

    (void)state;
    for (unsigned i = 0; i < PROXY_TRAILED_MAX + 3; i++)
        strcat(section, "X: y\r\n");
    strcat(section, "\r\n");
    (void)pass(section, 4096, 0);
    assert_int_equal(npassed, PROXY_TRAILED_MAX);
}

static void test_an_answer_that_is_broken_off(void **state)
{
    (void)state;
    break_off_at = 2;
    assert_string_equal(pass("A: 1\r\nB: 2\r\nC: 3\r\n\r\n", 100, 0), "A=1;");
    break_off_at = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_that_may_trail),
        cmocka_unit_test(test_a_section_that_is_not_whole),
        cmocka_unit_test(test_a_section_that_is_too_long),
        cmocka_unit_test(test_as_much_as_an_answer_takes),
        cmocka_unit_test(test_how_many_there_may_be),
        cmocka_unit_test(test_an_answer_that_is_broken_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
