/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/plain/monkey_time.h"

static void writes_dates_of_http(void **state)
{
    static const struct {
        time_t t;
        const char *text;
    } rows[] = {
        {1893456000, "Tue, 01 Jan 2030 00:00:00 GMT\r\n"},
        {337606980, "Fri, 12 Sep 1980 11:43:00 GMT\r\n"},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        char room[32], *own = room, *made = NULL;

        assert_int_equal(mk_duda_time_to_gmt(&own, rows[i].t), strlen(rows[i].text));
        assert_string_equal(room, rows[i].text);
        assert_int_equal(mk_duda_time_to_gmt(&made, rows[i].t), strlen(rows[i].text));
        assert_string_equal(made, rows[i].text);
        free(made);
    }
    assert_int_equal(mk_duda_time_to_gmt(NULL, 1), -1);
}

static void no_time_is_now(void **state)
{
    char now[32], *text = now;

    (void)state;
    assert_int_equal(mk_duda_time_to_gmt(&text, 0), 31);
    assert_null(strstr(now, " 1970 "));
}

static void writes_times_for_people(void **state)
{
    char text[MK_DUDA_TIME_HUMAN_MAX];
    const mk_pointer *now = mk_duda_time_human();

    (void)state;
    assert_int_equal(mk_duda_time_text(text, 1795207823), 28);
    assert_string_equal(text, "[20/Nov/2026 20:50:23 +0000]");
    assert_int_equal(now->len, 28);
    assert_int_equal(now->data[0], '[');
    assert_int_equal(now->data[27], ']');
}

static void clocks_agree(void **state)
{
    time_t before = time(NULL), now = mk_duda_xtime.now(), after;
    int seconds = mk_duda_time_unix();
    time_t tomorrow = mk_duda_xtime.tomorrow(), hours = mk_duda_xtime.next_hours(3);

    (void)state;
    after = time(NULL);
    /* the clock of the last tick may still show the second before */
    assert_in_range(now, before - 1, after);
    assert_in_range(seconds, before - 1, after);
    assert_in_range(tomorrow, before - 1 + TIME_DAY, after + TIME_DAY);
    assert_in_range(hours, before - 1 + 3 * TIME_HOUR, after + 3 * TIME_HOUR);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_dates_of_http),
        cmocka_unit_test(no_time_is_now),
        cmocka_unit_test(writes_times_for_people),
        cmocka_unit_test(clocks_agree),
    };

    (void)setenv("TZ", "UTC", 1);
    tzset();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
