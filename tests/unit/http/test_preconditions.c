/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "base/limits.h"
#include "http/preconditions.h"

/* The file: modified at 08:49:37 on 6 November 1994, asked for a day later. */
#define SAME "Sun, 06 Nov 1994 08:49:37 GMT"
#define EARLIER "Sun, 06 Nov 1994 08:49:36 GMT"
#define LATER "Sun, 06 Nov 1994 08:49:38 GMT"

static const struct mk_validators file = {
    .etag = MK_STR_INIT("\"abc\""), .last_modified = 784111777, .now = 784111777 + 86400};

#define PASS MK_PRECONDITION_PASS
#define UNCHANGED MK_PRECONDITION_NOT_MODIFIED
#define FAILED MK_PRECONDITION_FAILED

static const struct {
    const char *sentence, *rfc;
    const char *if_match, *if_none_match, *if_modified_since, *if_unmodified_since;
    enum mk_precondition read, write;
} rows[] = {
    {"no precondition", "RFC 9110 13.2", NULL, NULL, NULL, NULL, PASS, PASS},
    {"If-Match that matches", "RFC 9110 13.1.1", "\"abc\"", NULL, NULL, NULL, PASS, PASS},
    {"If-Match in a list", "RFC 9110 13.1.1", "\"x\", \"a,b\" ,\"abc\"", NULL, NULL, NULL, PASS,
     PASS},
    {"If-Match of anything", "RFC 9110 13.1.1", "*", NULL, NULL, NULL, PASS, PASS},
    {"If-Match that does not match", "RFC 9110 13.1.1", "\"x\"", NULL, NULL, NULL, FAILED, FAILED},
    {"If-Match with a weak tag", "RFC 9110 13.1.1", "W/\"abc\"", NULL, NULL, NULL, FAILED, FAILED},
    {"If-Match without quotes", "RFC 9110 8.8.3", "abc", NULL, NULL, NULL, FAILED, FAILED},
    {"If-Match with an open quote", "RFC 9110 8.8.3", "\"abc", NULL, NULL, NULL, FAILED, FAILED},
    {"an empty If-Match", "RFC 9110 13.1.1", "", NULL, NULL, NULL, FAILED, FAILED},
    {"If-None-Match that matches", "RFC 9110 13.1.2", NULL, "\"abc\"", NULL, NULL, UNCHANGED,
     FAILED},
    {"If-None-Match with a weak tag", "RFC 9110 13.1.2", NULL, "W/\"abc\"", NULL, NULL, UNCHANGED,
     FAILED},
    {"If-None-Match in a list", "RFC 9110 13.1.2", NULL, "\"x\",,W/\"y\", \"abc\"", NULL, NULL,
     UNCHANGED, FAILED},
    {"If-None-Match of anything", "RFC 9110 13.1.2", NULL, " * ", NULL, NULL, UNCHANGED, FAILED},
    {"If-None-Match that does not match", "RFC 9110 13.1.2", NULL, "\"ab\", \"abcd\"", NULL, NULL,
     PASS, PASS},
    {"If-None-Match is case-sensitive", "RFC 9110 8.8.3", NULL, "\"ABC\"", NULL, NULL, PASS, PASS},
    {"If-None-Match with a small w", "RFC 9110 8.8.3", NULL, "w/\"abc\"", NULL, NULL, PASS, PASS},
    {"If-Modified-Since the same second", "RFC 9110 13.1.3", NULL, NULL, SAME, NULL, UNCHANGED,
     PASS},
    {"If-Modified-Since later", "RFC 9110 13.1.3", NULL, NULL, LATER, NULL, UNCHANGED, PASS},
    {"If-Modified-Since earlier", "RFC 9110 13.1.3", NULL, NULL, EARLIER, NULL, PASS, PASS},
    {"If-Modified-Since that is no date", "RFC 9110 13.1.3", NULL, NULL, "yesterday", NULL, PASS,
     PASS},
    {"If-None-Match rules over If-Modified-Since", "RFC 9110 13.1.3", NULL, "\"x\"", SAME, NULL,
     PASS, PASS},
    {"If-None-Match rules the other way too", "RFC 9110 13.1.3", NULL, "\"abc\"", EARLIER, NULL,
     UNCHANGED, FAILED},
    {"If-Unmodified-Since the same second", "RFC 9110 13.1.4", NULL, NULL, NULL, SAME, PASS, PASS},
    {"If-Unmodified-Since earlier", "RFC 9110 13.1.4", NULL, NULL, NULL, EARLIER, FAILED, FAILED},
    {"If-Unmodified-Since that is no date", "RFC 9110 13.1.4", NULL, NULL, NULL, "", PASS, PASS},
    {"If-Match rules over If-Unmodified-Since", "RFC 9110 13.1.4", "\"abc\"", NULL, NULL, EARLIER,
     PASS, PASS},
    {"If-Match fails before If-None-Match", "RFC 9110 13.2.2", "\"x\"", "\"abc\"", NULL, NULL,
     FAILED, FAILED},
    {"If-Match holds, then If-None-Match", "RFC 9110 13.2.2", "\"abc\"", "\"abc\"", NULL, NULL,
     UNCHANGED, FAILED},
};

static void evaluates(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct guard areas[4] = {guard_open(1), guard_open(1), guard_open(1), guard_open(1)};
        const struct mk_preconditions p = {
            .if_match = guard_str(&areas[0], mk_str_from(rows[i].if_match)),
            .if_none_match = guard_str(&areas[1], mk_str_from(rows[i].if_none_match)),
            .if_modified_since = guard_str(&areas[2], mk_str_from(rows[i].if_modified_since)),
            .if_unmodified_since = guard_str(&areas[3], mk_str_from(rows[i].if_unmodified_since)),
        };

        if (mk_preconditions_eval(&p, &file, true) != rows[i].read ||
            mk_preconditions_eval(&p, &file, false) != rows[i].write)
            fail_msg("%s (%s)", rows[i].sentence, rows[i].rfc);
        for (int k = 0; k < 4; k++)
            guard_close(&areas[k]);
    }
}

static void looks_at_so_many_tags(void **state)
{
    char list[2048] = "";
    struct mk_preconditions p = {0};
    size_t len = 0;

    (void)state;
    for (int i = 0; i < MK_LIMIT_ETAGS - 1; i++)
        len += (size_t)snprintf(list + len, sizeof(list) - len, "\"x\",");
    snprintf(list + len, sizeof(list) - len, "\"abc\"");
    p.if_none_match = mk_str_from(list);
    assert_int_equal(mk_preconditions_eval(&p, &file, true), UNCHANGED);
    memmove(list + 4, list, strlen(list) + 1);
    p.if_none_match = mk_str_from(list);
    assert_int_equal(mk_preconditions_eval(&p, &file, true), PASS);
}

static void without_an_etag_only_anything_matches(void **state)
{
    const struct mk_validators bare = {.last_modified = 1, .now = 2};
    struct mk_preconditions p = {.if_match = MK_STR("\"abc\"")};

    (void)state;
    assert_int_equal(mk_preconditions_eval(&p, &bare, true), FAILED);
    p.if_match = MK_STR("\"\"");
    assert_int_equal(mk_preconditions_eval(&p, &bare, true), FAILED);
    p.if_match = MK_STR("*");
    assert_int_equal(mk_preconditions_eval(&p, &bare, true), PASS);
    assert_false(mk_if_range_holds(MK_STR("\"\""), &bare));
}

static void a_weak_etag_matches_weakly(void **state)
{
    const struct mk_validators weak = {.etag = MK_STR("W/\"abc\""), .now = 2};
    struct mk_preconditions p = {.if_none_match = MK_STR("\"abc\"")};

    (void)state;
    assert_int_equal(mk_preconditions_eval(&p, &weak, true), UNCHANGED);
    p = (struct mk_preconditions){.if_match = MK_STR("W/\"abc\"")};
    assert_int_equal(mk_preconditions_eval(&p, &weak, true), FAILED);
    assert_false(mk_if_range_holds(MK_STR("W/\"abc\""), &weak));
    assert_false(mk_if_range_holds(MK_STR("\"abc\""), &weak));
}

static void judges_if_range(void **state)
{
    static const struct {
        const char *sentence, *value;
        bool holds;
    } values[] = {
        {"absent", NULL, true},
        {"the entity tag", "\"abc\"", true},
        {"another entity tag", "\"x\"", false},
        {"a weak tag", "W/\"abc\"", false},
        {"a tag and more", "\"abc\", \"d\"", false},
        {"no list and no wildcard", "*", false},
        {"the very date", SAME, true},
        {"a later date is not the same", LATER, false},
        {"an earlier date", EARLIER, false},
        {"no date", "abc", false},
        {"nothing", "", false},
    };
    struct mk_validators fresh = file;

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        if (mk_if_range_holds(mk_str_from(values[i].value), &file) != values[i].holds)
            fail_msg("%s (RFC 9110 13.1.5)", values[i].sentence);
    }
    fresh.now = fresh.last_modified; /* could change again within this second: 8.8.2.2 */
    assert_false(mk_if_range_holds(MK_STR(SAME), &fresh));
    fresh.now++;
    assert_true(mk_if_range_holds(MK_STR(SAME), &fresh));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evaluates),
        cmocka_unit_test(looks_at_so_many_tags),
        cmocka_unit_test(without_an_etag_only_anything_matches),
        cmocka_unit_test(a_weak_etag_matches_weakly),
        cmocka_unit_test(judges_if_range),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
