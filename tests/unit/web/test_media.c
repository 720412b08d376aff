/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

/* Media types: src/web/media.c. */

static struct mk_str str(const char *text)
{
    return (struct mk_str){text, strlen(text)};
}

/* RFC 9110 section 8.3.1, RFC 6838 section 4.2.8. */
static void media_types_are_compared(void **state)
{
    static const struct {
        const char *value;
        bool is_json;
    } cases[] = {
        {"application/json", true},
        {"APPLICATION/JSON", true},
        {"application/json;charset=utf-8", true},
        {" application/json ; a=\"b;c\" ", true},
        {"application/json;", true},
        {"application/json; ;a=b", true},
        {"application/vnd.api+json", true},
        {"application/problem+JSON; a=b", true},
        {"text/x+json", true},
        {"application/jsonp", false},
        {"application/json+xml", false},
        {"application/+json", false},
        {"+json", false},
        {"json", false},
        {"application/ json", false},
        {"application/json/x+json", false},
        {"application/json; a", false},
        {"application/json; =b", false},
        {"application/json, application/json", false},
        {"text/json", false},
        {"", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (mk_media_is(str(cases[i].value), MK_STR("application/json")) != cases[i].is_json)
            fail_msg("%s", cases[i].value);
    }
    assert_false(mk_media_is((struct mk_str){NULL, 0}, MK_STR("application/json")));
    assert_true(mk_media_is(MK_STR("text/HTML;level=1"), MK_STR("text/html")));
    assert_true(mk_media_is(MK_STR("image/svg+xml"), MK_STR("application/xml")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(media_types_are_compared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
