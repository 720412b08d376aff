/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include <monkey/field.h>

enum {
    MESSAGE = MK_RULE_MESSAGE,
    HOP = MK_RULE_HOP,
    EARLY = MK_RULE_NO_TRAILER,
    MOMENT = MK_RULE_NOT_FIXED,
    ALL = MESSAGE | HOP | EARLY | MOMENT,
};

static void each_name_has_its_rules(void **state)
{
    static const struct {
        const char *section, *name;
        unsigned rules;
    } rows[] = {
        {"RFC 9112 6.2", "Content-Length", ALL},
        {"RFC 9112 6.1", "Transfer-Encoding", ALL},
        {"RFC 9110 7.6.1", "Connection", ALL},
        {"RFC 9110 7.6.1", "Keep-Alive", ALL},
        {"RFC 9110 7.6.1", "Proxy-Connection", ALL},
        {"RFC 9110 7.6.1", "TE", ALL},
        {"RFC 9110 7.8", "Upgrade", ALL},
        {"RFC 9113 3.1", "HTTP2-Settings", ALL},
        {"RFC 9110 6.6.2", "Trailer", HOP | EARLY | MOMENT},
        {"RFC 9110 11.7.1", "Proxy-Authenticate", HOP | EARLY},
        {"RFC 9110 11.7.2", "Proxy-Authorization", HOP | EARLY},
        {"RFC 9110 11.7.3", "Proxy-Authentication-Info", HOP | EARLY},
        {"RFC 9110 6.6.1", "Date", EARLY | MOMENT},
        {"RFC 9110 14.4", "Content-Range", EARLY | MOMENT},
        {"RFC 9110 8.3", "Content-Type", EARLY},
        {"RFC 9110 8.4", "Content-Encoding", EARLY},
        {"RFC 9110 7.2", "Host", EARLY},
        {"RFC 9110 10.1.1", "Expect", EARLY},
        {"RFC 9110 11.6.2", "Authorization", EARLY},
        {"RFC 6265 4.1", "Set-Cookie", EARLY},
        {"RFC 9110 13.1.4", "If-Unmodified-Since", EARLY},
        {"in any case", "cONTENT-lENGTH", ALL},
        {"as applications read it", "Content_Length", ALL},
        {"one that is longer", "Content-LengthX", 0},
        {"one that is shorter", "Content-Lengt", 0},
        {"a usual one", "ETag", 0},
        {"one behind a body", "Server-Timing", 0},
        {"longer than all", "Proxy-Authentication-Info-And-More", 0},
        {"empty", "", 0},
    };
    struct guard area = guard_open(64);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str name = guard_str(&area, mk_str_from(rows[i].name));

        if (mk_field_rules(name) != rows[i].rules)
            fail_msg("%s: %s has %u", rows[i].section, rows[i].name, mk_field_rules(name));
    }
    guard_close(&area);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_name_has_its_rules),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
