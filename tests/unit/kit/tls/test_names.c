/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/tls/names.h"

enum { NOBODY = 1000 };

static unsigned find(const struct tls_names *n, const char *name)
{
    unsigned value = NOBODY;

    (void)tls_names_find(n, mk_str_from(name), &value);
    return value;
}

static void add(struct tls_names *n, const char *name, unsigned value)
{
    assert_int_equal(tls_names_add(n, mk_str_from(name), value), 0);
}

static void test_who_has_a_name(void **state)
{
    static const struct {
        const char *name;
        unsigned value;
    } rows
        [] =
            {
                {"a.example", 1},
                {"A.Example", 1},
                {"b.example", 2},      /* an exact name goes before a wildcard */
                {"c.example", 3},      /* below *.example */
                {"d.c.example", 3},    /* at any depth, as for ServerName */
                {"x.deep.example", 4}, /* the longest wildcard */
                {"deep.example", 3},   /* a wildcard is not for its own name */
                {"example", NOBODY},
                {".example", NOBODY}, /* no label before it */
                {"a.example.", 1},    /* the root at its end */
                {"a.example..", NOBODY},
                {".", NOBODY},
                {"xa.example.org", NOBODY},
                {"", NOBODY},
                {"*.example", 3}, /* a strange label, but one below */
                {"zz", NOBODY},
            };
    struct tls_names n = {0};

    (void)state;
    add(&n, "b.example", 2);
    add(&n, "*.deep.example", 4);
    add(&n, "*.example", 3);
    add(&n, "a.EXAMPLE", 1);
    add(&n, "a.example", 9); /* twice: it stays the first one's */
    tls_names_sort(&n);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        print_message("%s\n", rows[i].name);
        assert_int_equal(find(&n, rows[i].name), rows[i].value);
    }
    tls_names_fini(&n);
}

static void test_without_names(void **state)
{
    struct tls_names n = {0};

    (void)state;
    tls_names_sort(&n);
    assert_int_equal(find(&n, "a.example"), NOBODY);
    assert_false(tls_names_find(&n, (struct mk_str){NULL, 0}, &(unsigned){0}));
    tls_names_fini(&n);
}

static void test_what_is_no_name(void **state)
{
    char text[TLS_NAME_MAX + 2];
    struct tls_names n = {0};

    (void)state;
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(tls_names_add(&n, mk_str_from(text), 1), MK_E_INVALID);
    assert_int_equal(tls_names_add(&n, mk_str_from(""), 1), MK_E_INVALID);
    assert_int_equal(tls_names_add(&n, mk_str_from("a*.example"), 1), MK_E_INVALID);
    assert_int_equal(tls_names_add(&n, mk_str_from("*.*.example"), 1), MK_E_INVALID);
    text[TLS_NAME_MAX] = '\0';
    add(&n, text, 1);
    assert_int_equal(find(&n, text), 1);
    tls_names_fini(&n);
}

static void test_a_name_longer_than_any_asks_for_nobody(void **state)
{
    char text[5000];
    struct tls_names n = {0};

    (void)state;
    add(&n, "*.a", 1);
    memset(text, '.', sizeof(text));
    text[sizeof(text) - 2] = 'a';
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(find(&n, text), NOBODY);
    tls_names_fini(&n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_has_a_name),
        cmocka_unit_test(test_without_names),
        cmocka_unit_test(test_what_is_no_name),
        cmocka_unit_test(test_a_name_longer_than_any_asks_for_nobody),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
