/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "batch.h"

static char a[] = "abc", b[] = "defgh", none[] = "", c[] = "ij";

static const struct iovec pieces[] = {{a, 3}, {none, 0}, {b, 5}, {c, 2}};

enum { NPIECES = 4, ALL = 10 };

/* From every place, with every room: the bytes that lie there. */
static void every_place_and_room(void **state)
{
    (void)state;
    assert_int_equal(tls_batch_len(pieces, NPIECES), ALL);
    for (size_t at = 0; at <= ALL; at++) {
        for (size_t room = 1; room <= ALL + 1; room++) {
            char to[ALL + 1];
            const char *bytes = NULL;
            size_t n = tls_batch_take(pieces, NPIECES, at, to, room, &bytes);

            assert_int_equal(n, room < ALL - at ? room : ALL - at);
            assert_memory_equal(bytes, &"abcdefghij"[at], n);
        }
    }
}

static void one_piece_is_not_copied(void **state)
{
    char to[ALL];
    const char *bytes;

    (void)state;
    assert_int_equal(tls_batch_take(pieces, NPIECES, 0, to, 3, &bytes), 3);
    assert_ptr_equal(bytes, a);
    assert_int_equal(tls_batch_take(pieces, NPIECES, 8, to, ALL, &bytes), 2);
    assert_ptr_equal(bytes, c);
    assert_int_equal(tls_batch_take(pieces, NPIECES, 0, to, 4, &bytes), 4);
    assert_ptr_equal(bytes, to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_place_and_room),
        cmocka_unit_test(one_piece_is_not_copied),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
