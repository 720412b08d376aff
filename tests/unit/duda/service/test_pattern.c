/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "service/pattern.h"

static void takes_types_out(void **state)
{
    static const struct {
        const char *text, *plain;
        unsigned ntyped;
        const char *name; /* of the last one */
        enum text_type type;
    } rows[] = {
        {"/", "/", 0, NULL, 0},
        {"", "", 0, NULL, 0},
        {"/a/:b/*c", "/a/:b/*c", 0, NULL, 0},
        {"/a/:id<int>", "/a/:id", 1, "id", TEXT_TYPE_INT},
        {"/:a<hex>/:b<uuid>/c/", "/:a/:b/c/", 2, "b", TEXT_TYPE_UUID},
        {"/a<int>/:b", "/a<int>/:b", 0, NULL, 0}, /* not a variable */
        {"/a:b<int>", "/a:b<int>", 0, NULL, 0},
    };
    struct mk_duda_pattern p;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        assert_null(mk_duda_pattern_read(&p, mk_str_from(rows[i].text)));
        assert_string_equal(p.plain, rows[i].plain);
        assert_int_equal(p.ntyped, rows[i].ntyped);
        if (rows[i].ntyped == 0)
            continue;
        assert_int_equal(p.typed[p.ntyped - 1].type, rows[i].type);
        assert_int_equal(p.typed[p.ntyped - 1].name.len, strlen(rows[i].name));
        assert_memory_equal(p.typed[p.ntyped - 1].name.p, rows[i].name, strlen(rows[i].name));
    }
}

static void refuses_patterns(void **state)
{
    static const char *const rows[] = {"/:a<", "/:a<int", "/:a<float>", "/:a<>", "/:a<int>b"};
    char many[MK_ROUTE_PATTERN + 2] = "";
    struct mk_duda_pattern p;

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        assert_non_null(mk_duda_pattern_read(&p, mk_str_from(rows[i])));
    for (unsigned i = 0; i < MK_ROUTE_VALUES; i++)
        strcat(many, "/:a<int>");
    assert_null(mk_duda_pattern_read(&p, mk_str_from(many)));
    strcat(many, "/:a<int>");
    assert_non_null(mk_duda_pattern_read(&p, mk_str_from(many)));
    memset(many, 'a', sizeof(many) - 1);
    assert_non_null(mk_duda_pattern_read(&p, (struct mk_str){many, sizeof(many) - 1}));
    assert_null(mk_duda_pattern_read(&p, (struct mk_str){many, sizeof(many) - 2}));
}

static void tells_types(void **state)
{
    static const struct {
        enum text_type type;
        const char *value;
        bool fits;
    } rows[] = {
        {TEXT_TYPE_INT, "0", true},
        {TEXT_TYPE_INT, "-12", true},
        {TEXT_TYPE_INT, "2147483647", true},
        {TEXT_TYPE_INT, "99999999999999999999", false},
        {TEXT_TYPE_INT, "", false},
        {TEXT_TYPE_INT, "-", false},
        {TEXT_TYPE_INT, "1a", false},
        {TEXT_TYPE_UINT, "7", true},
        {TEXT_TYPE_UINT, "-7", false},
        {TEXT_TYPE_UINT, "-", false},
        {TEXT_TYPE_HEX, "09afAF", true},
        {TEXT_TYPE_HEX, "g", false},
        {TEXT_TYPE_HEX, "", false},
        {TEXT_TYPE_WORD, "a-Z_9", true},
        {TEXT_TYPE_WORD, "a b", false},
        {TEXT_TYPE_WORD, "\xc3\xa9", false},
        {TEXT_TYPE_UUID, "0190163d-8694-739b-aea5-966c26f8ad91", true},
        {TEXT_TYPE_UUID, "0190163D-8694-739B-AEA5-966C26F8AD91", true},
        {TEXT_TYPE_UUID, "0190163d-8694-739b-aea5-966c26f8ad9", false},
        {TEXT_TYPE_UUID, "0190163d-8694-739b-aea5-966c26f8ad911", false},
        {TEXT_TYPE_UUID, "0190163d08694-739b-aea5-966c26f8ad91", false},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++)
        assert_int_equal(mk_duda_type_fits(rows[i].type, mk_str_from(rows[i].value)), rows[i].fits);
}

static void reads_numbers(void **state)
{
    long n = 7;

    (void)state;
    assert_true(mk_duda_number_read(MK_STR("-12"), &n));
    assert_int_equal(n, -12);
    assert_false(mk_duda_number_read(MK_STR("99999999999999999999"), &n));
    assert_int_equal(n, -12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_types_out),
        cmocka_unit_test(refuses_patterns),
        cmocka_unit_test(tells_types),
        cmocka_unit_test(reads_numbers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
