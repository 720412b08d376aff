/* SPDX-License-Identifier: Apache-2.0 */
#include "listing_test.h"

#include "ask.h"

static void queries_choose_the_order(void **state)
{
    static const struct {
        const char *query;
        enum dirlisting_sort sort;
        bool descending;
    } rows[] = {
        {NULL, DIRLISTING_BY_NAME, false},
        {"", DIRLISTING_BY_NAME, false},
        {"sort=name", DIRLISTING_BY_NAME, false},
        {"sort=time", DIRLISTING_BY_TIME, false},
        {"sort=size&order=desc", DIRLISTING_BY_SIZE, true},
        {"order=desc&sort=time", DIRLISTING_BY_TIME, true},
        {"order=desc", DIRLISTING_BY_NAME, true},
        {"order=asc", DIRLISTING_BY_NAME, false},
        {"order=desc&order=asc", DIRLISTING_BY_NAME, false},
        {"sort=nothing&order=down", DIRLISTING_BY_NAME, false},
        {"sort=size&sort=nothing", DIRLISTING_BY_SIZE, false},
        {"x=y&&=&sort&sort=&sort==size", DIRLISTING_BY_NAME, false},
        {"SORT=time&sort=TIME", DIRLISTING_BY_NAME, false},
        {"asort=time&sorts=time", DIRLISTING_BY_NAME, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct dirlisting_ask ask = dirlisting_ask_of(mk_str_from(rows[i].query));

        if (ask.sort != rows[i].sort || ask.descending != rows[i].descending)
            fail_msg("%s: gave %d %d", rows[i].query, ask.sort, ask.descending);
    }
}

static void accept_chooses_the_form(void **state)
{
    static const struct {
        const char *accept;
        bool json;
    } rows[] = {
        {"", false},
        {"*/*", false},
        {"application/json", true},
        {"Application/JSON", true},
        {"application/json, text/plain, */*", true},
        {"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", false},
        {"text/html, application/json", false},
        {"text/html;q=0.5, application/json;q=0.6", true},
        {"text/html;q=0.6, application/json;q=0.5", false},
        {"application/json;q=0", false},
        {"application/json;q=0, */*", false},
        {"application/*", true},
        {"application/*, text/html;q=0.9", true},
        {"text/*, application/json;q=0.9", false},
        {"application/json;charset=utf-8", true},
        {"application/json;profile=\"a,b;q=0\"", true},
        {"application/json ; Q=1.000", true},
        {"application/json;q=1.001", false},
        {"application/json;q=2", false},
        {"application/json;q=0.1234", false},
        {"application/json;q=", false},
        {"application/json;q=x, text/html;q=0.1", false},
        {"application/jsonx, xapplication/json, application", false},
        {",,;,\"", false},
        {"application/json;x=\"unfinished", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct dirlisting_accept accept = {{0, 0}, {0, 0}};
        size_t len = strlen(rows[i].accept);
        char *exact = malloc(len ? len : 1);

        assert_non_null(exact);
        memcpy(exact, rows[i].accept, len);
        dirlisting_accept_add(&accept, (struct mk_str){exact, len});
        if (dirlisting_accept_json(&accept) != rows[i].json)
            fail_msg("%s", rows[i].accept);
        free(exact);
    }
}

static void lines_of_accept_are_one_list(void **state)
{
    struct dirlisting_accept accept = {{0, 0}, {0, 0}};

    (void)state;
    dirlisting_accept_add(&accept, MK_STR("text/html;q=0.3"));
    dirlisting_accept_add(&accept, MK_STR("application/json;q=0.4"));
    assert_true(dirlisting_accept_json(&accept));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_choose_the_order),
        cmocka_unit_test(accept_chooses_the_form),
        cmocka_unit_test(lines_of_accept_are_one_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
