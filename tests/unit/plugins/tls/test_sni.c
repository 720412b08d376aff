/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sni.h"

#include <stdlib.h>

#define ROW(text, name)                                                                            \
    {                                                                                              \
        (text), sizeof(text) - 1, (name)                                                           \
    }

/* RFC 6066 section 3: a list of (type, name), each with its length before it. */
static const struct {
    const char *bytes;
    size_t len;
    const char *name; /* NULL: none */
} rows[] = {
    ROW("\0\4\0\0\1a", "a"),
    ROW("\0\14\0\0\11a.example", "a.example"),
    ROW("\0\4\0\0\1ab", NULL),        /* bytes behind the list */
    ROW("\0\5\0\0\1a", NULL),         /* a list longer than the extension */
    ROW("\0\4\1\0\1a", NULL),         /* another type of name */
    ROW("\0\3\0\0\0", NULL),          /* an empty name */
    ROW("\0\4\0\0\2a", NULL),         /* a name longer than the list */
    ROW("\0\10\0\0\1a\0\0\1b", NULL), /* two names of one type */
    ROW("\0\6\0\0\3a\0b", NULL),      /* a zero byte, behind which C would not look */
    ROW("\0\0", NULL),
    ROW("\0", NULL),
    ROW("", NULL),
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        unsigned char *bytes = malloc(rows[i].len + 1); /* so that a sanitizer sees its end */
        struct mk_str name;

        print_message("row %zu\n", i);
        assert_non_null(bytes);
        memcpy(bytes, rows[i].bytes, rows[i].len);
        name = openssl_sni_parse(bytes, rows[i].len);
        assert_int_equal(name.p != NULL, rows[i].name != NULL);
        if (rows[i].name) {
            assert_int_equal(name.len, strlen(rows[i].name));
            assert_memory_equal(name.p, rows[i].name, name.len);
        }
        free(bytes);
    }
}

static void test_each_shorter_input(void **state)
{
    static const char whole[] = "\0\14\0\0\11a.example";

    (void)state;
    for (size_t len = 0; len < sizeof(whole) - 1; len++) {
        unsigned char *bytes = malloc(len + 1);

        assert_non_null(bytes);
        memcpy(bytes, whole, len);
        assert_null(openssl_sni_parse(bytes, len).p);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_each_shorter_input),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
