/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "claims.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define AFTER "\"exp\":2000"

enum { NOW_S = 1000, LEEWAY_MS = 60000 };

static void test_claims(void **state)
{
    struct mk_str audience[] = {MK_STR("us"), MK_STR("our friends")};
    struct demand level = {NULL, "level", MK_STR("7")};
    struct demand scope = {&level, "scope", MK_STR("admin")};
    const struct demands any = {.leeway_ms = LEEWAY_MS},
                         endless = {.leeway_ms = LEEWAY_MS, .may_last = true},
                         ours = {.leeway_ms = LEEWAY_MS, .issuer = "me", .audience = {audience, 2}},
                         admin = {.leeway_ms = LEEWAY_MS, .first = &scope};
    const struct {
        const struct demands *demands;
        const char *claims;
        enum claims_verdict verdict;
    } rows[] = {
        /* section 4.1.4 */
        {&any, "{" AFTER "}", CLAIMS_RIGHT},
        {&any, "{\"exp\":1000}", CLAIMS_RIGHT},
        {&any, "{\"exp\":941}", CLAIMS_RIGHT},
        {&any, "{\"exp\":940}", CLAIMS_INVALID},
        {&any, "{\"exp\":940.9}", CLAIMS_INVALID},
        {&any, "{\"exp\":\"2000\"}", CLAIMS_INVALID},
        {&any, "{\"exp\":-1}", CLAIMS_INVALID},
        {&any, "{\"exp\":null}", CLAIMS_INVALID},
        {&any, "{\"exp\":99999999999999999999}", CLAIMS_INVALID},
        {&any, "{\"exp\":1e999}", CLAIMS_INVALID},
        {&any, "{\"exp\":2.0e3}", CLAIMS_RIGHT}, /* section 2: a number of any form */
        {&any, "{}", CLAIMS_INVALID},
        {&endless, "{}", CLAIMS_RIGHT},
        {&endless, "{\"exp\":1}", CLAIMS_INVALID},
        /* section 4.1.5 */
        {&any, "{" AFTER ",\"nbf\":1060}", CLAIMS_RIGHT},
        {&any, "{" AFTER ",\"nbf\":1061}", CLAIMS_INVALID},
        {&any, "{" AFTER ",\"nbf\":\"1\"}", CLAIMS_INVALID},
        /* sections 4.1.1 and 4.1.3 */
        {&ours, "{" AFTER ",\"iss\":\"me\",\"aud\":\"us\"}", CLAIMS_RIGHT},
        {&ours, "{" AFTER ",\"iss\":\"me\",\"aud\":[\"them\",\"our friends\"]}", CLAIMS_RIGHT},
        {&ours, "{" AFTER ",\"iss\":\"me\",\"aud\":[\"them\",[\"us\"]]}", CLAIMS_INVALID},
        {&ours, "{" AFTER ",\"iss\":\"me\",\"aud\":\"us them\"}", CLAIMS_INVALID},
        {&ours, "{" AFTER ",\"iss\":\"me\"}", CLAIMS_INVALID},
        {&ours, "{" AFTER ",\"iss\":\"Me\",\"aud\":\"us\"}", CLAIMS_INVALID},
        {&ours, "{" AFTER ",\"iss\":[\"me\"],\"aud\":\"us\"}", CLAIMS_INVALID},
        {&ours, "{" AFTER ",\"aud\":\"us\"}", CLAIMS_INVALID},
        /* further demands */
        {&admin, "{" AFTER ",\"scope\":\"admin\",\"level\":7}", CLAIMS_RIGHT},
        {&admin, "{" AFTER ",\"scope\":\"read admin write\",\"level\":\"7\"}", CLAIMS_RIGHT},
        {&admin, "{" AFTER ",\"scope\":[\"read\",\"admin\"],\"level\":7}", CLAIMS_RIGHT},
        {&admin, "{" AFTER ",\"scope\":\"administrator\",\"level\":7}", CLAIMS_LACKING},
        {&admin, "{" AFTER ",\"scope\":{\"admin\":\"admin\"},\"level\":7}", CLAIMS_LACKING},
        {&admin, "{" AFTER ",\"scope\":\"admin\",\"level\":70}", CLAIMS_LACKING},
        {&admin, "{" AFTER ",\"scope\":\"admin\"}", CLAIMS_LACKING},
        {&admin, "{\"exp\":1,\"scope\":\"read\"}", CLAIMS_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct mk_json_value *claims;

        assert_int_equal(mk_json_read(mk_str_from(rows[i].claims), NULL, &claims, NULL), 0);
        if (jwt_claims_judge(claims, rows[i].demands, NOW_S) != rows[i].verdict)
            fail_msg("row %zu: %s", i, rows[i].claims);
        mk_json_free(claims);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_claims)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
