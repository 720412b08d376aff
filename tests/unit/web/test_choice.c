/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

/* What a client prefers: src/web/choice.c. */

static void types_are_chosen(void **state)
{
    static const struct mk_str offers[] = {
        MK_STR_INIT("application/json"), MK_STR_INIT("text/html; charset=utf-8"),
        MK_STR_INIT("text/plain"), MK_STR_INIT("text/html;level=1")};
    static const struct {
        const char *accept;
        int chosen;
    } cases[] = {
        {NULL, 0},
        {"", -1},
        {"*/*", 0},
        {"text/*", 1},
        {"TEXT/HTML", 1},
        {"text/plain, */*;q=0.1", 2},
        {"text/html;level=1", 3},
        {"text/html;level=2, text/plain;q=0.5", 2},
        {"text/html;level=1;q=0.3, text/html;q=0.7, application/*;q=0.8", 0},
        {"application/json;q=0, */*", 1},
        {"application/json;q=0.2, text/*;q=0.2", 0},
        {"image/png", -1},
        {"text/html;q=2, text/plain;q=0.1", 2},
        {"text/html;q=1.0001", -1},
        {"text/html;;, text/plain", 2},
        {"text/html;charset=\"UTF-8\"", 1},
        {"text/html ; q=0.5 , text/plain;q=0.6", 2},
        {",, text/plain ,", 2},
        {"/, */html, ;q=1", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int chosen = mk_choose_type(mk_str_from(cases[i].accept), offers, 4);

        if (chosen != cases[i].chosen)
            fail_msg("%s: %d", cases[i].accept, chosen);
    }
    assert_int_equal(mk_choose_type(MK_STR("*/*"), NULL, 0), -1);
}

static void languages_are_chosen(void **state)
{
    static const struct mk_str offers[] = {MK_STR_INIT("en"), MK_STR_INIT("de-CH"),
                                           MK_STR_INIT("fr-CA")};
    static const struct {
        const char *accept;
        int chosen;
    } cases[] = {
        {NULL, 0},
        {"*", 0},
        {"de", 1},
        {"DE-ch", 1},
        {"de-CH-1901", 1},
        {"en-US", 0},
        {"en-US,fr", 2},
        {"en-US,en;q=0.9,fr;q=0.8", 0},
        {"fr;q=0.8,de;q=0.9", 1},
        {"*;q=0.5,en;q=0", 1},
        {"fr-FR", -1},
        {"d", -1},
        {"it", -1},
        {"en;q=0", -1},
        {"it, *;q=0.1", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int chosen = mk_choose_language(mk_str_from(cases[i].accept), offers, 3);

        if (chosen != cases[i].chosen)
            fail_msg("%s: %d", cases[i].accept, chosen);
    }
}

static void codings_are_chosen(void **state)
{
    static const struct mk_str offers[] = {MK_STR_INIT("br"), MK_STR_INIT("gzip"),
                                           MK_STR_INIT("identity")};

    (void)state;
    assert_int_equal(mk_choose_coding(MK_STR("gzip, br"), offers, 3), 0);
    assert_int_equal(mk_choose_coding(MK_STR("gzip, br;q=0.5"), offers, 3), 1);
    assert_int_equal(mk_choose_coding((struct mk_str){NULL, 0}, offers, 3), 2);
    assert_int_equal(mk_choose_coding(MK_STR("identity;q=0"), offers, 3), -1);
}

static void dates_read_back(void **state)
{
    char text[MK_DATE_TEXT];
    int64_t t;

    (void)state;
    mk_date_write(text, 784111777);
    assert_memory_equal(text, "Sun, 06 Nov 1994 08:49:37 GMT", MK_DATE_TEXT);
    assert_int_equal(mk_date_read((struct mk_str){text, MK_DATE_TEXT}, 0, &t), 0);
    assert_int_equal(t, 784111777);
    assert_int_equal(mk_date_read(MK_STR("yesterday"), 0, &t), MK_E_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_are_chosen),
        cmocka_unit_test(languages_are_chosen),
        cmocka_unit_test(codings_are_chosen),
        cmocka_unit_test(dates_read_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
