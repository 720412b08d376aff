/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/tls/pace.h"
#include "kit/tls/plain.h"

static size_t send_all(struct tls_pace *p, int64_t now_ms, size_t len)
{
    size_t records = 0;

    for (; len > 0; records++)
        len -= tls_pace_next(p, now_ms, len, 0);
    return records;
}

static void test_what_fits_goes_in_one_record(void **state)
{
    struct tls_pace p = {0};

    (void)state;
    assert_int_equal(send_all(&p, 5000, 300), 1);
    assert_int_equal(send_all(&p, 5000, 13000), 1);
    assert_int_equal(send_all(&p, 5000, TLS_RECORD_MAX), 1);
}

static void test_a_long_body_begins_in_small_records(void **state)
{
    struct tls_pace p = {0};
    size_t sent = 0;

    (void)state;
    while (sent < TLS_PACE_SMALL_BYTES) {
        assert_int_equal(tls_pace_next(&p, 5000, 1 << 20, 0), TLS_RECORD_SMALL);
        sent += TLS_RECORD_SMALL;
    }
    assert_int_equal(tls_pace_next(&p, 5000, 1 << 20, 0), TLS_RECORD_MAX);
    assert_int_equal(tls_pace_next(&p, 5000 + TLS_PACE_PAUSE_MS - 1, 1 << 20, 0), TLS_RECORD_MAX);
}

static void test_after_a_pause_it_begins_again(void **state)
{
    struct tls_pace p = {0};

    (void)state;
    (void)send_all(&p, 5000, 1 << 20);
    assert_int_equal(tls_pace_next(&p, 5000 + TLS_PACE_PAUSE_MS, 1 << 20, 0), TLS_RECORD_SMALL);
}

static void test_a_head_with_more_behind_it(void **state)
{
    struct tls_pace p = {0};

    (void)state;
    assert_int_equal(tls_pace_next(&p, 5000, 10000, 1), TLS_RECORD_SMALL);
    assert_int_equal(tls_pace_next(&p, 5000, 300, 1), 300);
}

/* RFC 8446 section 5.1: the types of records; RFC 9112 section 3: a method is a token. */
static void test_requests_are_told_from_records(void **state)
{
    (void)state;
    for (int byte = 20; byte <= 24; byte++)
        assert_false(tls_is_request((uint8_t)byte));
    assert_false(tls_is_request(0x80)); /* SSL 2 */
    assert_false(tls_is_request(0));
    assert_true(tls_is_request('G'));
    assert_true(tls_is_request('p'));
}

static void test_the_plain_answer(void **state)
{
    static const char wanted[] =
        "HTTP/1.1 400 Bad Request\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
        "Content-Type: text/plain\r\nContent-Length: 62\r\nConnection: close\r\n\r\n"
        "This port speaks TLS. Write https:// in front of the address.\n";
    char answer[TLS_PLAIN_MAX];

    (void)state;
    assert_int_equal(tls_plain_answer(answer, 784111777), sizeof(wanted) - 1);
    assert_string_equal(answer, wanted);
    assert_true(tls_plain_answer(answer, 253402300799) > 0); /* the end of year 9999 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_fits_goes_in_one_record),
        cmocka_unit_test(test_a_long_body_begins_in_small_records),
        cmocka_unit_test(test_after_a_pause_it_begins_again),
        cmocka_unit_test(test_a_head_with_more_behind_it),
        cmocka_unit_test(test_requests_are_told_from_records),
        cmocka_unit_test(test_the_plain_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
