/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/sessions/sessions.h"
#include "objects/session/session_values.h"

#include "duda_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values of a session in Redis, as a request sees them. */

enum { NOW = 1000 };

static const struct mk_duda_session_value *of(struct mk_duda_session_values *values,
                                              const char *name)
{
    return *mk_duda_session_values_find(values, name, NOW);
}

static int add(struct mk_duda_session_values *values, const char *name, const char *text)
{
    return mk_duda_session_values_add(values, name, text, 0, NOW);
}

static void a_change_says_where_it_comes_from(void **state)
{
    struct mk_duda_session_values values = {.first = NULL};

    (void)state;
    assert_int_equal(add(&values, "a", "1"), 0);
    assert_int_equal(of(&values, "a")->state, MK_DUDA_SESSION_VALUE_NEW);
    assert_int_equal(of(&values, "a")->origin, MK_DUDA_SESSION_ORIGIN_OWN);
    assert_int_equal(add(&values, "a", "2"), 0);
    assert_int_equal(of(&values, "a")->state, MK_DUDA_SESSION_VALUE_NEW);
    values.first->state = MK_DUDA_SESSION_VALUE_KNOWN;
    values.first->origin = MK_DUDA_SESSION_ORIGIN_FETCHED;
    assert_int_equal(add(&values, "a", "3"), 0);
    assert_int_equal(of(&values, "a")->state, MK_DUDA_SESSION_VALUE_CHANGED);
    assert_int_equal(of(&values, "a")->origin, MK_DUDA_SESSION_ORIGIN_CHANGED);
    assert_string_equal(of(&values, "a")->text, "3");
    assert_string_equal(of(&values, "a")->field, "0 3");
    assert_int_equal(values.n, 1);
    mk_duda_session_values_clear(&values);
    assert_int_equal(values.n, 0);
    assert_int_equal(values.bytes, 0);
}

static void values_expire(void **state)
{
    struct mk_duda_session_values values = {.first = NULL};
    bool is_idle;

    (void)state;
    assert_int_equal(mk_duda_session_values_ttl(&values, NOW, &is_idle), 1);
    assert_false(is_idle);
    assert_int_equal(mk_duda_session_values_add(&values, "a", "1", NOW + 10, NOW), 0);
    assert_int_equal(mk_duda_session_values_add(&values, "b", "1", NOW + 20, NOW), 0);
    assert_int_equal(mk_duda_session_values_ttl(&values, NOW, &is_idle), 20);
    assert_false(is_idle);
    assert_non_null(*mk_duda_session_values_find(&values, "a", NOW + 9));
    assert_null(*mk_duda_session_values_find(&values, "a", NOW + 10));
    assert_int_equal(values.n, 1);
    assert_int_equal(add(&values, "c", "1"), 0);
    assert_int_equal(mk_duda_session_values_ttl(&values, NOW, &is_idle), SESSION_IDLE_S);
    assert_true(is_idle);
    mk_duda_session_values_clear(&values);
}

static void values_have_bounds(void **state)
{
    struct mk_duda_session_values values = {.first = NULL};
    char *text = calloc(1, SESSION_VALUE_MAX + 1);
    char name[16];
    unsigned n = 0;

    (void)state;
    assert_non_null(text);
    memset(text, 'x', SESSION_VALUE_MAX);
    assert_int_equal(add(&values, "a", text), -1);
    text[SESSION_VALUE_MAX - 1] = '\0';
    assert_int_equal(add(&values, "a", text), 0);
    mk_duda_session_values_clear(&values);
    while (snprintf(name, sizeof(name), "%u", n) > 0 && add(&values, name, "") == 0)
        n++;
    assert_int_equal(n, SESSION_NAMES_MAX);
    assert_int_equal(add(&values, "0", "other"), 0);
    mk_duda_session_values_clear(&values);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_says_where_it_comes_from),
        cmocka_unit_test(values_expire),
        cmocka_unit_test(values_have_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
