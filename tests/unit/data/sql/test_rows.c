/* SPDX-License-Identifier: Apache-2.0 */
#include "data_test.h"

#include "data/sql/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add(struct rows *rows, const char *text)
{
    assert_int_equal(rows_add(rows, text, text ? strlen(text) : 0), ROWS_OK);
}

static void assert_cell(const struct rows *rows, size_t cell, const char *text)
{
    size_t len = 7;
    const char *got = rows_text(rows, cell, &len);

    if (!text) {
        assert_null(got);
        assert_int_equal(len, 0);
        return;
    }
    assert_string_equal(got, text);
    assert_int_equal(len, strlen(text));
}

static void cells_are_what_was_added(void **state)
{
    static const char *const cells[] = {"a", NULL, "", NULL, NULL, "long long text", ""};
    struct rows rows = {0};

    (void)state;
    rows_init(&rows, 1 << 20);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < 70 * NUMBER_OF(cells); i++)
            add(&rows, cells[i % NUMBER_OF(cells)]);
        for (size_t i = 0; i < 70 * NUMBER_OF(cells); i++)
            assert_cell(&rows, i, cells[i % NUMBER_OF(cells)]);
        assert_cell(&rows, 70 * NUMBER_OF(cells), NULL);
        rows_clear(&rows);
        assert_cell(&rows, 0, NULL);
    }
    rows_fini(&rows);
}

static void texts_and_nulls_have_a_bound(void **state)
{
    const char *const texts[] = {"0123456789", "", NULL};
    const size_t costs[] = {11 + sizeof(size_t), 1 + sizeof(size_t), sizeof(size_t)};

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(texts); i++) {
        struct rows rows = {0};

        rows_init(&rows, 10 * costs[i]);
        for (int n = 0; n < 10; n++)
            add(&rows, texts[i]);
        assert_int_equal(rows_add(&rows, texts[i], texts[i] ? strlen(texts[i]) : 0), ROWS_FULL);
        assert_int_equal(rows_add(&rows, "", SIZE_MAX - 1), ROWS_FULL);
        assert_cell(&rows, 9, texts[i]);
        rows_fini(&rows);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_what_was_added),
        cmocka_unit_test(texts_and_nulls_have_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
