/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "service/table.h"

static void finds_those_that_live(void **state)
{
    enum { COUNT = 1000 };
    struct mk_duda_table *t = mk_duda_table_new();
    struct mk_duda_request *rq[COUNT], other;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        rq[i] = mk_duda_table_add(t);
        assert_non_null(rq[i]);
        rq[i]->dr.socket = i;
    }
    for (int i = 0; i < COUNT; i += 2)
        mk_duda_table_remove(t, rq[i]);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(mk_duda_table_has(t, &rq[i]->dr), i % 2);
        assert_int_equal(mk_duda_table_has_socket(t, i), i % 2);
    }
    assert_false(mk_duda_table_has(t, &other.dr));
    assert_false(mk_duda_table_has(t, NULL));
    assert_false(mk_duda_table_has_socket(t, COUNT));
    assert_false(mk_duda_table_has_socket(t, -1));
    for (int i = 0; i < COUNT; i++) {
        mk_duda_table_remove(t, rq[i]); /* a second time it does nothing */
        mk_duda_table_drop(t, rq[i]);
    }
    mk_duda_table_free(t);
    mk_duda_table_free(NULL);
}

/* An old pointer is not at once that of another request. */
static void the_dropped_rest(void **state)
{
    enum { RESTING = 32 };
    struct mk_duda_table *t = mk_duda_table_new();
    struct mk_duda_request *first = mk_duda_table_add(t);

    (void)state;
    assert_true(mk_duda_table_has(t, &first->dr));
    mk_duda_table_remove(t, first);
    assert_false(mk_duda_table_has(t, &first->dr));
    assert_false(mk_duda_table_has(t, NULL));
    mk_duda_table_drop(t, first);
    for (int i = 0; i < RESTING; i++) {
        struct mk_duda_request *rq = mk_duda_table_add(t);

        assert_ptr_not_equal(rq, first);
        assert_false(mk_duda_table_has(t, &first->dr));
        mk_duda_table_remove(t, rq);
        mk_duda_table_drop(t, rq);
    }
    mk_duda_table_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_those_that_live),
        cmocka_unit_test(the_dropped_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
