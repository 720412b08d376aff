/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "service/gather.h"

#include <errno.h>
#include <monkey/request.h>
#include <stdlib.h>
#include <string.h>

/* A request whose body arrives in these pieces. */
static struct source {
    size_t left, piece, held;
    ssize_t end; /* after the last byte */
    unsigned pauses;
} source;

ssize_t mk_request_read(struct mk_request *r, char *dst, size_t len)
{
    (void)r;
    if (source.pauses > 0) {
        source.pauses--;
        return MK_E_AGAIN;
    }
    if (source.left == 0)
        return source.end;
    if (len > source.piece)
        len = source.piece;
    if (len > source.left)
        len = source.left;
    memset(dst, 'x', len);
    source.left -= len;
    return (ssize_t)len;
}

void mk_request_hold(struct mk_request *r, size_t bytes)
{
    (void)r;
    source.held = bytes;
}

static void gathers_in_memory_or_a_file(void **state)
{
    static const struct {
        size_t len;
        bool is_mapped;
    } rows[] = {
        {0, false},
        {1, false},
        {4095, false},
        {4096, false},
        {MK_DUDA_BODY_MEMORY, false},
        {MK_DUDA_BODY_MEMORY + 1, true},
        {MK_DUDA_BODY_MEMORY * 4, true}, /* whole pages: the end of the text is on one more */
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        struct mk_duda_body b = {.fd = -1};

        source = (struct source){.left = rows[i].len, .piece = 1000};
        assert_int_equal(mk_duda_gather(&b, NULL, "/tmp"), 0);
        assert_int_equal(b.len, rows[i].len);
        assert_int_equal(b.is_mapped, rows[i].is_mapped);
        assert_int_equal(b.bytes != NULL, rows[i].len > 0);
        if (b.bytes) {
            assert_int_equal(strlen(b.bytes), rows[i].len);
            b.bytes[0] = 'y'; /* services may */
        }
        assert_true(rows[i].is_mapped ? source.held == 0 : source.held <= 2 * MK_DUDA_BODY_MEMORY);
        assert_int_equal(b.fd, -1);
        mk_duda_body_fini(&b);
    }
}

static void goes_on_after_a_pause(void **state)
{
    struct mk_duda_body b = {.fd = -1};

    (void)state;
    source = (struct source){.left = 10, .piece = 10, .pauses = 2};
    assert_int_equal(mk_duda_gather(&b, NULL, "/tmp"), MK_E_AGAIN);
    assert_int_equal(mk_duda_gather(&b, NULL, "/tmp"), MK_E_AGAIN);
    assert_int_equal(mk_duda_gather(&b, NULL, "/tmp"), 0);
    assert_string_equal(b.bytes, "xxxxxxxxxx");
    mk_duda_body_fini(&b);
}

/* In memory and in a file: what was gathered is given back. */
static void a_client_may_leave(void **state)
{
    (void)state;
    for (size_t len = 100; len <= 1000000; len *= 100) {
        struct mk_duda_body b = {.fd = -1};

        source = (struct source){.left = len, .piece = 5000, .end = MK_E_PEER};
        assert_int_equal(mk_duda_gather(&b, NULL, "/tmp"), MK_E_PEER);
        mk_duda_body_fini(&b);
        assert_null(b.bytes);
    }
}

static void a_folder_may_be_missing(void **state)
{
    struct mk_duda_body b = {.fd = -1};

    (void)state;
    source = (struct source){.left = MK_DUDA_BODY_MEMORY, .piece = 5000};
    assert_int_equal(mk_duda_gather(&b, NULL, "/tmp/there/is/none"), 0);
    mk_duda_body_fini(&b);
    source = (struct source){.left = MK_DUDA_BODY_MEMORY + 1, .piece = 5000};
    assert_int_equal(mk_duda_gather(&b, NULL, "/tmp/there/is/none"), MK_E_SYS);
    assert_int_equal(errno, ENOENT);
    mk_duda_body_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gathers_in_memory_or_a_file),
        cmocka_unit_test(goes_on_after_a_pause),
        cmocka_unit_test(a_client_may_leave),
        cmocka_unit_test(a_folder_may_be_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
