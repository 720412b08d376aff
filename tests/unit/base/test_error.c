/* SPDX-License-Identifier: Apache-2.0 */
#include "base_test.h"

#include "base/invariant.h"

#include <errno.h>

static void errno_has_a_meaning(void **state)
{
    static const struct {
        int err, error;
    } rows[] = {
        {0, 0},
        {EAGAIN, MK_E_AGAIN},
        {ENOMEM, MK_E_NOMEM},
        {ENOBUFS, MK_E_NOMEM},
        {EMFILE, MK_E_NOFD},
        {ENFILE, MK_E_NOFD},
        {ENOENT, MK_E_NOENT},
        {ENOTDIR, MK_E_NOENT},
        {EACCES, MK_E_ACCESS},
        {EPERM, MK_E_ACCESS},
        {EROFS, MK_E_ACCESS},
        {ELOOP, MK_E_ACCESS},
        {EADDRINUSE, MK_E_BUSY},
        {ECONNRESET, MK_E_PEER},
        {EPIPE, MK_E_PEER},
        {EEXIST, MK_E_EXISTS},
        {EIO, MK_E_SYS},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++)
        assert_int_equal(mk_error_from_errno(rows[i].err), rows[i].error);
}

static void every_error_has_a_sentence(void **state)
{
    (void)state;
#define SENTENCE(name, value, text) assert_string_equal(mk_error_text(name), text);
    MK_ERRORS(SENTENCE)
#undef SENTENCE
    assert_string_equal(mk_error_text(0), "no error");
    assert_string_equal(mk_error_text(-1000), "unknown error");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errno_has_a_meaning),
        cmocka_unit_test(every_error_has_a_sentence),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
