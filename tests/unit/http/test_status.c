/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "http/status.h"

static void assert_reason(unsigned status, const char *text)
{
    struct mk_str reason = mk_status_reason(status);

    if (reason.len != strlen(text) || memcmp(reason.p, text, reason.len) != 0)
        fail_msg("%u is %s", status, show(reason));
}

static void names_statuses(void **state)
{
    (void)state;
    assert_reason(100, "Continue");
    assert_reason(200, "OK");
    assert_reason(206, "Partial Content");
    assert_reason(304, "Not Modified");
    assert_reason(404, "Not Found");
    assert_reason(431, "Request Header Fields Too Large");
    assert_reason(505, "HTTP Version Not Supported");
    assert_reason(511, "Network Authentication Required");
    assert_reason(299, "Success");
    assert_reason(499, "Client Error");
    assert_reason(599, "Server Error");
    assert_reason(0, "Unknown");
    assert_reason(4294967295U, "Unknown");
}

static void every_reason_is_text(void **state)
{
    (void)state;
    for (unsigned status = 0; status < 1000; status++) {
        struct mk_str reason = mk_status_reason(status);

        assert_true(reason.len > 0);
        for (size_t i = 0; i < reason.len; i++)
            assert_in_range(reason.p[i], 0x20, 0x7e);
    }
}

static void knows_which_have_content(void **state)
{
    (void)state;
    for (unsigned status = 100; status < 600; status++)
        assert_int_equal(mk_status_has_content(status),
                         status >= 200 && status != 204 && status != 304);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_statuses),
        cmocka_unit_test(every_reason_is_text),
        cmocka_unit_test(knows_which_have_content),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
