/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kit/backends/repeat.h"

enum { HEARD = 1, LEFT = 2, IDEMPOTENT = 4, KEEPS = 8, FRESH = 16, LAST = 32, ALL = 64 };

static struct backend_loss loss_of(unsigned bits)
{
    return (struct backend_loss){
        .was_heard = bits & HEARD,
        .has_left = bits & LEFT,
        .is_idempotent = bits & IDEMPOTENT,
        .keeps_body = bits & KEEPS,
        .is_fresh = bits & FRESH,
        .is_last = bits & LAST,
    };
}

static void test_row_by_row(void **state)
{
    static const struct {
        const char *what;
        unsigned bits;
        enum backend_repeat verdict;
        const char *why; /* words of the row that decides */
    } rows[] = {
        {"GET, and half an answer", HEARD | LEFT | IDEMPOTENT | KEEPS | FRESH, BACKEND_REPEAT_NEVER,
         "had begun"},
        {"half an answer by a kept connection", HEARD | LEFT | IDEMPOTENT | KEEPS,
         BACKEND_REPEAT_NEVER, "had begun"},
        {"PUT whose body is gone", LEFT | IDEMPOTENT | FRESH, BACKEND_REPEAT_NEVER, "not kept"},
        {"the same by a kept connection", LEFT | IDEMPOTENT, BACKEND_REPEAT_NEVER, "not kept"},
        {"POST of which some has left", LEFT | KEEPS | FRESH, BACKEND_REPEAT_NEVER, "9.2.2"},
        {"POST by a kept connection", LEFT | KEEPS, BACKEND_REPEAT_NEVER, "9.2.2"},
        {"GET by a kept connection", LEFT | IDEMPOTENT | KEEPS, BACKEND_REPEAT_SAME, "9.3.1"},
        {"the same with no other backend", LEFT | IDEMPOTENT | KEEPS | LAST, BACKEND_REPEAT_SAME,
         "9.3.1"},
        {"POST of which nothing has left, by a kept one", KEEPS, BACKEND_REPEAT_SAME, "9.3.1"},
        {"GET, a second backend to ask", LEFT | IDEMPOTENT | KEEPS | FRESH, BACKEND_REPEAT_OTHER,
         "another"},
        {"POST of which nothing has left", KEEPS | FRESH, BACKEND_REPEAT_OTHER, "another"},
        {"GET, no more to ask", LEFT | IDEMPOTENT | KEEPS | FRESH | LAST, BACKEND_REPEAT_NEVER,
         "as may be asked"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct backend_loss loss = loss_of(rows[i].bits);
        const char *why;

        if (backend_repeat(&loss, &why) != rows[i].verdict || !strstr(why, rows[i].why))
            fail_msg("%s: %s", rows[i].what, why);
    }
}

/* RFC 9110 section 9.2.2: whatever else is known, no backend may act on a request twice unless its method allows it. */
static void test_no_request_is_acted_on_twice(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < ALL; bits++) {
        struct backend_loss loss = loss_of(bits);
        enum backend_repeat verdict = backend_repeat(&loss, NULL);

        if (bits & HEARD || !(bits & KEEPS) || (bits & LEFT && !(bits & IDEMPOTENT)))
            assert_int_equal(verdict, BACKEND_REPEAT_NEVER);
        else if (bits & FRESH)
            assert_int_equal(verdict, bits & LAST ? BACKEND_REPEAT_NEVER : BACKEND_REPEAT_OTHER);
        else
            assert_int_equal(verdict, BACKEND_REPEAT_SAME);
    }
}

/* RFC 9110 section 9.1: methods are told apart by case. */
static void test_methods(void **state)
{
    (void)state;
    assert_true(backend_is_idempotent(MK_STR("GET")));
    assert_true(backend_is_idempotent(MK_STR("PUT")));
    assert_false(backend_is_idempotent(MK_STR("POST")));
    assert_false(backend_is_idempotent(MK_STR("PATCH")));
    assert_false(backend_is_idempotent(MK_STR("get")));
    assert_false(backend_is_idempotent(MK_STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_row_by_row),
        cmocka_unit_test(test_no_request_is_acted_on_twice),
        cmocka_unit_test(test_methods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
